"""Texts that Flux and Argo CD fill in many times: what becomes too much of them is not made."""

import json
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.manifests import put, vm
from tests.support.process import argv, environ
from tests.support.repository import Repository

_FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: k, namespace: flux-system}
spec:
  path: ./k
  sourceRef: {kind: GitRepository, name: flux-system}
  postBuild: {substitute: {x: "VALUE"}}
"""
_LIMIT = 4 << 20


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with nothing in it."""
    return Repository(tmp_path / "repository")


def check(repository: Repository, **more: str) -> subprocess.CompletedProcess[str]:
    """What ``check`` says of *repository* with little memory."""

    def little() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (400 << 20, resource.RLIM_INFINITY))

    return subprocess.run(
        argv("check", "."), cwd=repository.folder, env=environ(**more), check=False,
        capture_output=True, encoding="utf-8", preexec_fn=little, timeout=300,
    )  # fmt: skip


def test_variables_of_flux(repository: Repository, kustomize: str) -> None:
    """A value of a megabyte in three thousand places took six gigabytes before its size was looked at."""
    annotated = f"  annotations: {{x: '{'${x}' * 3_000}'}}\nspec:"
    repository.write("flux.yaml", _FLUX.replace("VALUE", "a" * 1_000_000))
    repository.write("k/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.write("k/vm.yaml", vm(memory="1Gi").replace("spec:", annotated, 1))
    done = check(
        repository, VIRT_RENDER_KUSTOMIZE=kustomize, VIRT_RENDER_MAX_FILE_BYTES=str(_LIMIT)
    )
    assert done.returncode == 3
    assert f"is larger than the limit of {_LIMIT} bytes" in done.stdout


@pytest.mark.parametrize("expression", ["${x:=" * 40 + "}" * 40, "${x%%*a*b}"])
def test_variables_of_flux_that_we_do_not_substitute(
    repository: Repository, kustomize: str, expression: str
) -> None:
    """Flux may substitute them: the VM, which nobody has looked at, does not pass."""
    annotated = f"  annotations: {{x: '{expression}'}}\nspec:"
    repository.write("flux.yaml", _FLUX.replace("VALUE", "a" * 2_000))
    repository.write("k/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.write("k/vm.yaml", vm(memory="1Gi").replace("spec:", annotated, 1))
    done = check(repository, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert done.returncode == 3
    assert "error VR111 limit-exceeded: Kustomization flux-system/k cannot be" in done.stdout


def test_the_template_of_an_applicationset(repository: Repository) -> None:
    values = f"x: '{'y' * 1_000_000}'\n"
    source = {
        "repoURL": "https://x/y.git",
        "path": "charts/vm",
        "helm": {"values": "{{name}}: 1\n" + values},
    }
    spec = {
        "generators": [{"list": {"elements": [{"name": f"e{index}"} for index in range(900)]}}],
        "template": {"metadata": {"name": "{{name}}"}, "spec": {"source": source}},
    }
    head = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\n"
    put(repository.folder / "set.yaml", f"{head}spec: {json.dumps(spec)}\n")
    put(repository.folder / "charts/vm/Chart.yaml", "apiVersion: v2\nname: vm\nversion: 0.1.0\n")
    put(repository.folder / "charts/vm/templates/vm.yaml", vm(memory="1Gi"))
    done = check(repository, VIRT_RENDER_HELM="never")
    assert done.returncode == 0
    assert "ApplicationSet" in done.stderr


@pytest.mark.parametrize(
    "source",
    [
        {"path": "charts/vm\0"},
        {"path": "charts/vm", "helm": {"valueFiles": ["a\0b"]}},
        {"path": "charts/vm", "helm": {"fileParameters": [{"name": "x", "path": "a\0b"}]}},
    ],
)
def test_a_path_that_no_system_has(repository: Repository, source: dict[str, Any]) -> None:
    spec = {"source": {"repoURL": "https://x/y.git", **source}}
    head = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: s}\n"
    repository.write("a.yaml", f"{head}spec: {json.dumps(spec)}\n")
    repository.write("charts/vm/Chart.yaml", "apiVersion: v2\nname: vm\nversion: 0.1.0\n")
    repository.write("charts/vm/templates/vm.yaml", vm(memory="1Gi"))
    done = repository.run("check", "-v", ".")
    assert done.returncode == 0
    assert "leads out of the repository" in done.stdout + done.stderr
