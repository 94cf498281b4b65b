import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from render.frontends.options import Call, Request, request
from render.manifests.reader import Limits

CONFIG = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec:\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(*paths: str, environ: Mapping[str, str] | None = None, **flags: str) -> Request:
    spelled: dict[str, str | bool] = {
        f"--{name.replace('_', '-')}": value for name, value in flags.items()
    }
    return request(Call("build", paths, spelled), environ or {})


def faults(found: Request) -> list[str]:
    return [diagnostic.message for diagnostic in found.diagnostics]


def test_defaults() -> None:
    found = asked()
    assert not found.diagnostics
    assert (found.kustomize, found.allow_remote, found.format) == ("auto", False, "text")
    assert found.limits == Limits()


def test_limits_can_all_be_set() -> None:
    names = Limits._fields
    flags = {f"max_{name}": str(7 + i) for i, name in enumerate(names)}
    found = asked(environ=None, **flags)
    assert found.limits == Limits(*range(7, 7 + len(names)))
    assert faults(asked(max_documents="0")) == [
        "--max-documents: '0' is not a positive whole number"
    ]


def test_environment_of_the_process_and_of_argocd() -> None:
    plain = {"VIRT_RENDER_EMIT": "vmi", "VIRT_RENDER_KUSTOMIZE": "never"}
    found = asked(environ=plain)
    assert (found.settings.emit, found.kustomize) == ("vmi", "never")
    found = asked(environ={**plain, "ARGOCD_ENV_VIRT_RENDER_EMIT": "source"})
    assert found.settings.emit == "source"
    assert asked(environ=plain, emit="vm").settings.emit == "vm"


def test_names_that_kubernetes_sets_are_not_ours_but_an_applications_are() -> None:
    assert not asked(environ={"VIRT_RENDER_PORT": "tcp://10.0.0.1:80"}).diagnostics
    found = asked(environ={"ARGOCD_ENV_VIRT_RENDER_EMITT": "vm"})
    assert faults(found) == [
        "unknown environment variable VIRT_RENDER_EMITT; did you mean VIRT_RENDER_EMIT?"
    ]


def test_an_application_does_not_decide_what_is_executed() -> None:
    assert asked(environ={"ARGOCD_ENV_VIRT_RENDER_KUSTOMIZE": "./evil"}).diagnostics
    Path(".virt-render.yaml").write_text(f"{CONFIG}  kustomize: ./evil\n")
    assert asked().diagnostics


def test_empty_variables_say_nothing() -> None:
    environ = {
        "VIRT_RENDER_EMIT": "",
        "ARGOCD_ENV_VIRT_RENDER_EMIT": "",
        "ARGOCD_APP_NAMESPACE": "",
    }
    found = asked(environ=environ)
    assert not found.diagnostics
    assert (found.settings.emit, found.settings.namespace) == ("vm", "default")


def test_destination_namespace_is_the_weakest() -> None:
    environ = {"ARGOCD_APP_NAMESPACE": "prod"}
    assert asked(environ=environ).settings.namespace == "prod"
    Path(".virt-render.yaml").write_text(f"{CONFIG}  namespace: staging\n")
    assert asked(environ=environ).settings.namespace == "staging"


def test_file_of_the_path_comes_before_that_of_the_working_folder() -> None:
    Path("app").mkdir()
    Path(".virt-render.yaml").write_text(f"{CONFIG}  namespace: here\n")
    assert asked("app").settings.namespace == "here"
    Path("app/.virt-render.yaml").write_text(f"{CONFIG}  namespace: there\n")
    assert asked("app").settings.namespace == "there"
    assert asked("-").settings.namespace == "here"
    assert asked("app", config=".virt-render.yaml").settings.namespace == "here"


def test_paths_in_a_file_are_relative_to_it() -> None:
    Path("app").mkdir()
    Path("app/.virt-render.yaml").write_text(
        f"{CONFIG}  catalog: ../catalog\n  clusterConfig: kubevirt.yaml\n"
    )
    Path("app/kubevirt.yaml").write_text(
        "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt}\n"
    )
    settings = asked("app").settings
    assert os.path.normpath(settings.catalog) == "catalog"
    assert settings.cluster_config
    assert settings.cluster_config["kind"] == "KubeVirt"
    Path("app/.virt-render.yaml").write_text(f"{CONFIG}  catalog: none\n")
    assert asked("app").settings.catalog == "none"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds 0 documents"),
        (f"{CONFIG}---\n{CONFIG}", "holds 2 documents"),
        ("kind: RenderConfig\n", "should have apiVersion virt-render.dev/v1alpha1"),
        (f"{CONFIG}emit: vm\n", "unknown key emit; the options stand below spec"),
        (f"{CONFIG}  - emit\n", "spec should be a mapping"),
        (f"{CONFIG}  emit: [\n", ""),
        (f"{CONFIG}  emit: vmx\n", "'vmx' is not one of"),
    ],
)
def test_unfit_file(text: str, message: str) -> None:
    Path(".virt-render.yaml").write_text(text)
    (fault,) = faults(asked())
    assert message in fault


def test_place_in_the_file_is_known() -> None:
    Path(".virt-render.yaml").write_text(f"{CONFIG}  pins: auto\n  emit: vmx\n")
    found = asked()
    place = found.sources.place(found.diagnostics[0].location)
    assert str(place) == ".virt-render.yaml:5:3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot read kv.yaml: No such file or directory"),
        (
            "apiVersion: v1\nkind: ConfigMap\n",
            "kv.yaml holds 0 KubeVirt objects and should hold one",
        ),
        ("kind: [", ""),
    ],
)
def test_unfit_cluster_config(text: str | None, message: str) -> None:
    if text is not None:
        Path("kv.yaml").write_text(text)
    (fault,) = faults(asked(cluster_config="kv.yaml"))
    assert message in fault
