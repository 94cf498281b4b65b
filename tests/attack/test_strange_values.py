"""What stands beside objects of KubeVirt, with a value of another kind in each of its places: nothing ends the run."""

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from render.frontends import dispatch
from tests.support.manifests import put, vm

REPOSITORY = "https://git.example.com/a/r.git"
BIG = "9" * 5_000
"""More digits than Python reads."""
STRANGE: tuple[Any, ...] = (5, ["x", 5], {"a": {"b": 5}}, "a\0b", "http://[::1", BIG, "../" * 300)

APPLICATION = {
    "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "a", "namespace": "n"},
    "spec": {
        "destination": {"namespace": "d"},
        "source": {
            "repoURL": REPOSITORY, "path": "k", "targetRevision": "HEAD", "directory": {"include": "*", "exclude": "x"},
            "kustomize": {
                "namePrefix": "x-", "images": ["a=b"], "commonLabels": {"a": "b"}, "components": ["../comp"],
                "patches": [{"target": {"kind": "VirtualMachine"}, "patch": "[]"}],
            },
        },
    },
}  # fmt: skip
FILLED = {
    "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "f"},
    "spec": {
        "destination": {"namespace": "d"},
        "sources": [
            {
                "repoURL": REPOSITORY, "path": "c",
                "helm": {
                    "valueFiles": ["v.yaml"], "valuesObject": {"a": "b"}, "releaseName": "r",
                    "parameters": [{"name": "a.b", "value": "1"}], "fileParameters": [{"name": "x", "path": "v.yaml"}],
                },
            },
            {"repoURL": REPOSITORY, "ref": "values"},
        ],
    },
}  # fmt: skip
SET = {
    "apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": "s"},
    "spec": {
        "generators": [
            {"matrix": {"generators": [
                {"git": {"repoURL": REPOSITORY, "directories": [{"path": "k*"}], "values": {"a": "b"}}},
                {"list": {"elements": [{"cluster": "a"}]}},
            ]}},
            {"merge": {"mergeKeys": ["a"], "generators": [
                {"list": {"elements": [{"a": "1"}]}}, {"git": {"repoURL": REPOSITORY, "files": [{"path": "c/v.yaml"}]}},
            ]}},
        ],
        "template": {
            "metadata": {"name": "x-{{cluster}}"},
            "spec": {"destination": {}, "source": {"repoURL": REPOSITORY, "path": "{{path}}"}},
        },
    },
}  # fmt: skip
FLUX = {
    "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "k"},
    "spec": {
        "path": "./k", "sourceRef": {"kind": "GitRepository", "name": "flux-system"}, "targetNamespace": "t",
        "components": ["../comp"], "patches": [{"patch": "[]", "target": {"kind": "VirtualMachine"}}],
        "postBuild": {"substitute": {"A": "b"}, "substituteFrom": [{"kind": "ConfigMap", "name": "vars"}]},
    },
}  # fmt: skip
RELEASE = {
    "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": "h"},
    "spec": {
        "chart": {"spec": {"chart": "./c", "sourceRef": {"kind": "GitRepository", "name": "flux-system"}}},
        "values": {"a": 1},
        "valuesFrom": [{"kind": "ConfigMap", "name": "vars", "valuesKey": "k", "targetPath": "a.b"}],
    },
}  # fmt: skip
VARIABLES = {
    "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "vars"}, "data": {"k": "a: b"},
}  # fmt: skip
KUSTOMIZATION = {
    "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": ["vm.yaml"],
    "components": ["../comp"], "namePrefix": "p-", "commonLabels": {"a": "b"}, "labels": [{"pairs": {"a": "b"}}],
    "patches": [{"path": "p.yaml", "target": {"kind": "VirtualMachine", "name": "w.*"}}, {"patch": "[]"}],
    "configMapGenerator": [{"name": "g", "files": ["k=vm.yaml"], "literals": ["a=b"]}],
    "replacements": [{"source": {"kind": "ConfigMap"}, "targets": [{"select": {"kind": "VirtualMachine"}}]}],
    "generators": ["g.yaml"], "transformers": ["{apiVersion: builtin, kind: PrefixTransformer}"], "crds": ["c.json"],
    "configurations": ["n.yaml"], "openapi": {"path": "o.json"}, "helmCharts": [{"name": "c"}],
}  # fmt: skip
CHART = {
    "apiVersion": "v2", "name": "c", "version": "0.1.0",
    "dependencies": [
        {"name": "d", "version": "1.0.0", "repository": "file://../d", "condition": "d.enabled", "tags": ["a"]}
    ],
}  # fmt: skip
DOCUMENTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "an Application": ("a.yaml", APPLICATION),
    "an Application of a chart": ("a.yaml", FILLED),
    "an ApplicationSet": ("a.yaml", SET),
    "a Kustomization of Flux": ("a.yaml", FLUX),
    "a HelmRelease": ("a.yaml", RELEASE),
    "a ConfigMap": ("c.yaml", VARIABLES),
    "a kustomization": ("k/kustomization.yaml", KUSTOMIZATION),
    "a chart": ("c/Chart.yaml", CHART),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in *value*."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


def changed(document: Mapping[str, Any], path: tuple[Any, ...], value: Any) -> str:
    """*document* with *value* at *path*."""
    body = copy.deepcopy(dict(document))
    above: Any = body
    for key in path[:-1]:
        above = above[key]
    above[path[-1]] = value
    return json.dumps(body)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kustomize: str, helm: str) -> Path:
    """One with a kustomization, a chart, what fills these in, and a VM with a finding."""
    monkeypatch.setenv("VIRT_RENDER_KUSTOMIZE", kustomize)
    monkeypatch.setenv("VIRT_RENDER_HELM", helm)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    put(tmp_path / "bad.yaml", vm("bad", memory="much"))
    for folder in ("k", "c/templates"):
        put(tmp_path / folder / "vm.yaml", vm("${A}" if folder == "k" else "web", memory="1Gi"))
    put(tmp_path / "k/p.yaml", vm("web"))
    put(tmp_path / "comp/kustomization.yaml", "kind: Component\n")
    put(tmp_path / "c/v.yaml", "a: '1'\n")
    put(tmp_path / "k/kustomization.yaml", "resources: [vm.yaml]\n")
    for file, document in (("c/Chart.yaml", CHART), ("c.yaml", VARIABLES), ("f.yaml", FLUX)):
        put(tmp_path / file, json.dumps(document))
    return tmp_path


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_value_of_another_kind_hides_no_finding(
    name: str, repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, document = DOCUMENTS[name]
    for number, path in enumerate(places(document)):
        value = STRANGE[number % len(STRANGE)]
        put(repository / file, changed(document, path, value))
        dispatch.invoke(["check", "."])
        done = capfd.readouterr()
        assert "VR901" not in done.out + done.err, (path, value)
        assert "bad.yaml:12:11: error VR108" in done.out, (path, value)


@pytest.mark.parametrize("key", ["components", "patches", "commonLabels"])
def test_an_edit_of_what_is_no_list_ends_nothing(
    key: str, repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository / "a.yaml", json.dumps(APPLICATION))
    put(repository / "k/kustomization.yaml", f"resources: [vm.yaml]\n{key}: 5\n")
    dispatch.invoke(["check", "."])
    done = capfd.readouterr()
    assert "VR901" not in done.out + done.err
    assert "bad.yaml:12:11: error VR108" in done.out
