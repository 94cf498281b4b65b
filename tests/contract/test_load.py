"""``render.load`` reads what ``build`` reads."""

import io
import os
import sys
from pathlib import Path

import pytest

from render import Diagnostic, ReadError, Settings, load, render
from render.frontends import dispatch
from render.yaml.reader import read
from tests.support.manifests import put

VM = """apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
spec:
  runStrategy: Always
  instancetype: {kind: VirtualMachineInstancetype, name: small}
  template: {spec: {domain: {devices: {}}}}
"""
SMALL = """apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineInstancetype
metadata: {name: small}
spec: {cpu: {guest: 2}, memory: {guest: 2Gi}}
"""
CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 0.1.0\n",
    "chart/templates/vm.yaml": VM.replace("name: web", "name: {{ .Release.Namespace }}-web", 1),
    "chart/templates/small.yaml": SMALL,
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lay(files: dict[str, str]) -> None:
    for name, text in files.items():
        put(name, text)


def refused(path: str) -> tuple[str, tuple[Diagnostic, ...]]:
    with pytest.raises(ReadError) as error:
        load(path)
    return str(error.value), error.value.findings


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("vm.yaml", {"vm.yaml": VM + "---\n" + SMALL}),
        ("vms", {"vms/a.yaml": VM, "vms/below/b.json": '{"apiVersion": "v1", "kind": "Pod", '
                 '"metadata": {"name": "a"}}', "vms/small.yaml": SMALL}),
        ("built", {"built/kustomization.yaml": "namespace: vms\nresources: [vm.yaml, small.yaml]\n",
                   "built/vm.yaml": VM, "built/small.yaml": SMALL}),
        ("above", {"above/built/kustomization.yaml": "resources: [vm.yaml, small.yaml]\n",
                   "above/built/vm.yaml": VM, "above/built/small.yaml": SMALL}),
        ("chart", CHART),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("kustomize", "helm")
def test_the_rendered_objects_are_those_of_build(
    path: str, files: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    lay(files)
    settings = Settings(namespace="prod")
    rendered = render(load(path, settings), settings)
    assert not rendered.diagnostics
    assert dispatch.invoke(["build", "--namespace", "prod", path]) == 0
    printed = read(capfd.readouterr().out.encode(), "-").documents
    assert [document.body for document in printed] == rendered.resources
    assert "VirtualMachine" in [resource["kind"] for resource in rendered.resources]


@pytest.mark.usefixtures("helm")
def test_a_chart_is_filled_in_for_the_namespace_of_the_settings() -> None:
    lay(CHART)
    names = {body["metadata"]["name"] for body in load("chart", Settings(namespace="prod"))}
    assert names == {"prod-web", "small"}


def test_a_path_may_be_any_that_python_has_and_yaml_is_that_of_kubectl(tmp_path: Path) -> None:
    put(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {on: yes, mode: 017, time: 1e3}\n",
    )
    (body,) = load(tmp_path / "a.yaml")
    assert body["data"] == {"true": True, "mode": 15, "time": 1000}


@pytest.mark.parametrize(
    "path", ["vm.yaml", Path("vm.yaml"), b"vm.yaml"], ids=lambda item: type(item).__name__
)
def test_a_path_is_whatever_python_opens(path: str | Path) -> None:
    put("vm.yaml", VM)
    assert [body["kind"] for body in load(path)] == ["VirtualMachine"]


def test_standard_input_is_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(VM.encode())))
    assert [body["kind"] for body in load("-")] == ["VirtualMachine"]


def test_what_cannot_be_read_is_said_with_its_place() -> None:
    lay({"vms/vm.yaml": VM, "vms/broken.yaml": "a: b\n  c: d\n", "vms/notes.yaml": "a: 1\n"})
    text, findings = refused("vms")
    (error,) = (finding for finding in findings if finding.is_error)
    assert (error.code, error.location.file) == ("VR101", "vms/broken.yaml")
    assert (error.location.line, error.location.column) == (2, 4)
    assert text.startswith("vms/broken.yaml:2:4: VR101 yaml-syntax: ")
    assert "vms/notes.yaml" in {finding.location.file for finding in findings}


def test_every_error_has_a_line_and_no_path_is_silent() -> None:
    lay({"a.yaml": "{", "b.yaml": "["})
    text, _ = refused(".")
    assert [line.partition(":")[0] for line in text.splitlines()] == ["a.yaml", "b.yaml"]
    text, (fault,) = refused("missing")
    assert (fault.code, fault.location.file) == ("VR110", "missing")
    assert "missing" in text


def test_nothing_is_an_error_unless_it_may_be() -> None:
    Path("empty").mkdir()
    text, (fault,) = refused("empty")
    assert fault.code == "VR112"
    assert "no Kubernetes object in empty" in text
    assert load("empty", Settings(allow_empty=True)) == []


def test_kustomizations_are_read_one_at_a_time() -> None:
    for name in ("a", "b"):
        lay({f"{name}/kustomization.yaml": "resources: [vm.yaml]\n", f"{name}/vm.yaml": VM})
    text, _ = refused(".")
    assert "2 kustomizations that nothing refers to" in text


def test_a_lock_is_one_of_the_objects_and_a_half_merged_one_an_error() -> None:
    lock = "apiVersion: virt-render.dev/v1alpha1\nkind: RevisionLock\npins: {}\n"
    lay({"vm.yaml": VM, "virt-render.lock.yaml": lock})
    assert [body["kind"] for body in load(".")] == ["RevisionLock", "VirtualMachine"]
    assert [body["kind"] for body in load(".", Settings(pins="ignore"))] == ["VirtualMachine"]
    put("virt-render.lock.yaml", f"<<<<<<< ours\n{lock}=======\n>>>>>>> theirs\n")
    assert [diagnostic.code for diagnostic in refused(".")[1]] == ["VR602"]


def test_neither_the_environment_nor_a_settings_file_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lay({"vm.yaml": VM, ".virt-render.yaml": "namespace: [\n"})
    monkeypatch.setenv("VIRT_RENDER_MAX_FILE_BYTES", "1")
    assert len(load(".")) == 1
    assert os.environ["VIRT_RENDER_MAX_FILE_BYTES"] == "1"
