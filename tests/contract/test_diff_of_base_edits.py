"""``virt-render diff`` of edits by which patches and errors elsewhere, in lines that nobody touched, go wrong."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import overlays
from tests.support.asking import Ask
from tests.support.repository import RepositoryInProcess

VM = overlays.vm()
PATCH = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
spec:
  template:
    spec:
      domain:
        memory:
          guest: 4Gi
"""
TEST = """\
- op: test
  path: /spec/template/spec/domain/devices/disks/1/name
  value: data
- op: replace
  path: /spec/template/spec/domain/devices/disks/1/disk/bus
  value: scsi
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  source:
    repoURL: https://git.example.com/shop.git
    path: base
    kustomize:
      patches:
        - patch: |-
            apiVersion: kubevirt.io/v1
            kind: VirtualMachine
            metadata:
              name: web
            spec:
              runStrategy: Halted
  destination: {server: https://kubernetes.default.svc, namespace: prod}
"""
DISK = "            - name: data\n              disk: {bus: virtio}\n"
NAME = "metadata.name: web -> shop-web"
DISKS = "spec.template.spec.domain.devices.disks"


@pytest.fixture
def repository(tmp_path: Path, ask: Ask) -> RepositoryInProcess:
    made = RepositoryInProcess(tmp_path / "repository", ask)
    made.git("remote", "add", "origin", "https://git.example.com/shop.git")
    overlays.base(made.folder / "base", VM)
    return made


def patched(repository: RepositoryInProcess, patch: str) -> None:
    """Write an overlay with *patch*."""
    overlays.overlay(repository.folder / "overlays/prod", patch, of="../../base", namespace="prod")


def _renamed(repository: RepositoryInProcess) -> None:
    repository.write("base/vm.yaml", VM.replace("name: web", "name: shop-web"))


def _renamed_with_its_file(repository: RepositoryInProcess) -> None:
    (repository.folder / "base/vm.yaml").unlink()
    repository.write("base/shop.yaml", VM.replace("name: web", "name: shop-web"))
    repository.write("base/kustomization.yaml", "resources:\n  - shop.yaml\n")


def _taken_out(repository: RepositoryInProcess) -> None:
    (repository.folder / "base/vm.yaml").unlink()
    repository.write("base/kustomization.yaml", "resources: []\n")


def _disk_renamed(repository: RepositoryInProcess) -> None:
    repository.write("base/vm.yaml", VM.replace("name: data", "name: archive"))


def _disk_removed(repository: RepositoryInProcess) -> None:
    repository.write("base/vm.yaml", VM.replace(DISK, ""))


@pytest.mark.parametrize(
    ("edit", "form", "changed", "patch"),
    [
        (_renamed, "merge", f"base/vm.yaml:4:3  {NAME}", "overlays/prod/p0.yaml:4:3"),
        (_renamed_with_its_file, "merge", f"base/shop.yaml:4:3  {NAME}", "overlays/prod/p0.yaml:4:3"),
        (
            _taken_out, "merge", "base/vm.yaml:1:1  resources: VirtualMachine web -> none",
            "overlays/prod/p0.yaml:4:3",
        ),
        (_renamed, "application", f"base/vm.yaml:4:3  {NAME}", "apps/shop.yaml:14:15"),
        (
            _disk_renamed, "json", f"base/vm.yaml:16:15  {DISKS}[1].name: data -> archive",
            "overlays/prod/p0.yaml:2:3",
        ),
        (_disk_removed, "json", f"base/vm.yaml:13:11  {DISKS}: ", "overlays/prod/p0.yaml:2:3"),
    ],
)  # fmt: skip
def test_the_edit_of_the_base_comes_before_the_patch_that_applies_no_longer(  # noqa: PLR0913, PLR0917 - a row
    repository: RepositoryInProcess,
    kustomize: str,
    edit: Callable[[RepositoryInProcess], None],
    form: str,
    changed: str,
    patch: str,
) -> None:
    if form == "application":
        repository.write("apps/shop.yaml", APPLICATION)
    else:
        patched(repository, TEST if form == "json" else PATCH)
    repository.commit("A base that is patched")
    edit(repository)
    words = ("diff", "--kustomize", kustomize, "HEAD")
    done = repository.run(*words)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    at = lines.index("after: 1 error (new), build prints nothing")
    assert lines[at + 1].startswith(f"  {changed}")
    assert lines[at + 2].startswith(f"    {patch}  kustomize build ")
    file, line, column = changed.split("  ", maxsplit=1)[0].split(":")
    machine = json.loads(repository.run(*words, "--format", "json").stdout)["machines"][0]
    cause = machine["changes"][0]["cause"]
    assert (cause["file"], cause["line"], cause["column"]) == (file, int(line), int(column))
    assert machine["effects"] == ["unrenderable"]
    markdown = repository.run(*words, "--format", "markdown").stdout
    assert f"| `{changed.split('  ', maxsplit=1)[0]}` " in markdown
    assert f"- `{changed.replace('->', '→')}"[:40] in markdown
    assert changed.split("  ", maxsplit=1)[0] in repository.run(*words, "--format", "html").stdout


def test_the_edited_line_of_a_template_comes_before_the_object_that_fills_the_chart_in(
    repository: RepositoryInProcess, helm: str
) -> None:
    """The value that an Application has for a chart is no longer the one that the chart wants."""
    source = "    path: chart\n    helm: {valuesObject: {memory: 8Gi}}\n"
    above, _, below = APPLICATION.partition("    path: base\n")
    repository.write("apps/shop.yaml", f"{above}{source}{below[below.index('  destination') :]}")
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n")
    template = VM.replace("guest: 2Gi", "guest: {{ .Values.memory }}")
    repository.write("chart/templates/vm.yaml", template)
    repository.commit("A chart that is filled in")
    wanted = template.replace(".Values.memory", '.Values.guestMemory | required "guestMemory"')
    repository.write("chart/templates/vm.yaml", wanted)
    lines = repository.run("diff", "--helm", helm, "HEAD").stdout.splitlines()
    at = lines.index("after: 1 error (new), build prints nothing")
    assert lines[at + 1].startswith(
        "  chart/templates/vm.yaml:11:1  templates/vm.yaml: guest: {{ .Values.memory }} -> guest: {{ .Values.gu"
    )
    assert lines[at + 2].startswith("    apps/shop.yaml:")


def test_a_patch_that_was_edited_itself_is_blamed_alone(
    repository: RepositoryInProcess, kustomize: str
) -> None:
    patched(repository, PATCH)
    repository.commit("A base that is patched")
    repository.write("overlays/prod/p0.yaml", PATCH.replace("name: web", "name: wbe"))
    repository.write("base/vm.yaml", VM.replace("2Gi", "3Gi"))
    lines = repository.run("diff", "--kustomize", kustomize, "HEAD").stdout.splitlines()
    at = lines.index("after: 1 error (new), build prints nothing")
    assert lines[at + 1].startswith("  overlays/prod/p0.yaml:4:3  kustomize build ")


def test_the_edit_for_which_a_vm_is_refused_comes_before_the_line_that_nobody_touched(
    repository: RepositoryInProcess, kustomize: str
) -> None:
    disks = "      domain:\n        devices:\n          disks: [{name: root, disk: {bus: scsi}}]\n"
    patched(repository, PATCH[: PATCH.index("      domain")] + disks)
    repository.commit("A base whose disks are patched")
    repository.write("base/vm.yaml", VM.replace("name: root", "name: system"))
    lines = repository.run("diff", "--kustomize", kustomize, "HEAD").stdout.splitlines()
    at = lines.index("after: 1 error (new), build prints nothing")
    error = next(number for number, line in enumerate(lines) if "'root' not found" in line)
    assert lines[error].startswith("    overlays/prod/p0.yaml:10:20  VirtualMachine prod/web")
    assert all(line.startswith("  base/vm.yaml:") for line in lines[at + 1 : error])
    places = {"root": "base/vm.yaml:19:11", "system": "base/vm.yaml:19:11"}
    for name, place in places.items():
        assert any(
            f"{place}  spec.template.spec.volumes[{name}]: " in line
            for line in lines[at + 1 : error]
        )


def test_an_edited_content_of_a_lock_is_blamed_at_the_line_that_was_edited(
    repository: RepositoryInProcess,
) -> None:
    repository.instancetype("small")
    repository.vm("web")
    repository.fine("pin")
    repository.commit("Pin")
    text = repository.lock.read_text(encoding="utf-8")
    line = next(n for n, row in enumerate(text.splitlines(), 1) if row.strip() == "guest: 2")
    repository.lock.write_text(text.replace("guest: 2\n", "guest: 8\n"), encoding="utf-8")
    lines = repository.run("diff", "HEAD").stdout.splitlines()
    at = lines.index("after: 1 error (new), build prints nothing")
    assert lines[at + 1].startswith(f"  virt-render.lock.yaml:{line}:")
    assert lines[at + 1].endswith(".instancetype.cpu.guest: 2 -> 8")
    assert "the content under sha256:" in lines[at + 2]
