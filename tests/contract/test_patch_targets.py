"""Patches for what is nearly there: kustomize leaves them out, and says nothing."""

from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from tests.support import process
from tests.support.manifests import put, vm

PATCH = """
  patch: |-
    - op: add
      path: /spec/runStrategy
      value: Halted
"""
DELETED = (
    "$patch: delete\napiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: x-gone}\n"
)
#: Targets, and the help where one is missed by a slip.
TARGETS = {
    "kind: VirtualMachine, name: databse": "did you mean database?",
    "kind: VirtualMachine, name: webdata": "did you mean web-data?",
    "kind: VirtualMachine, name: x-wbe": "did you mean x-web?",
    "kind: VirtualMachineInstance, name: app": "app is a VirtualMachine of kubevirt.io/v1",
    "version: v1alpha3, kind: VirtualMachine, name: app": "app is a VirtualMachine of kubevirt.io/v1",
    "group: kubevirt.io/v1, kind: VirtualMachine, name: app": "app is a VirtualMachine of kubevirt.io/v1",
    "kind: Virtualmachine, name: app": "app is a VirtualMachine of kubevirt.io/v1",
    "kind: VirtualMachines, name: x-web": "x-web is a VirtualMachine of kubevirt.io/v1",
    "kind: VirtualMachine, name: app": "",
    "kind: VirtualMachine, name: x-app": "",
    "group: kubevirt.*, version: v1|v2, kind: VirtualMachine, name: app": "",
    "kind: VirtualMachine, name: web-2": "",
    "kind: VirtualMachine, name: db": "",
    "kind: VirtualMachine, name: ap": "",
    "kind: VirtualMachine, name: web1": "",
    "kind: VirtualMachine, name: ap.*": "",
    "kind: VirtualMachine, labelSelector: a=b": "",
    "kind: VirtualMachine, name: ap, labelSelector: a=b": "",
    "kind: VirtualMachine, name: gone": "",
    "kind: VirtualMachineClusterInstancetype, name: app": "",
    "kind: ConfigMap, name: ap": "",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path / "base/kustomization.yaml", "resources: [vms.yaml]\nnamePrefix: x-\n")
    names = ("app", "web-1", "web", "gone", "gones", "database", "web-data")
    put(tmp_path / "base/vms.yaml", "---\n".join(vm(name, memory="1Gi") for name in names))
    return tmp_path


ADDING = {
    "flux": """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  path: ./base
  sourceRef: {kind: GitRepository, name: flux-system}
  patches:
  - target: {kind: VirtualMachine, name: NAME}
    patch: |-
      - {op: add, path: /spec/runStrategy, value: Halted}
""",
    "argocd": """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: apps, namespace: argocd}
spec:
  source:
    repoURL: https://git.example.com/fleet.git
    path: base
    kustomize:
      patches:
      - target: {kind: VirtualMachine, name: NAME}
        patch: |-
          - {op: add, path: /spec/runStrategy, value: Halted}
""",
}


@pytest.mark.usefixtures("kustomize")
@pytest.mark.parametrize("adding", ADDING)
def test_so_is_that_of_a_patch_which_is_added_from_outside(adding: str, folder: Path) -> None:
    (folder / ".git").mkdir()
    put(folder / "apps.yaml", ADDING[adding].replace("NAME", "databse"))
    done = process.run("check", ".", cwd=folder)
    line = 1 + ADDING[adding].splitlines().index(
        next(line for line in ADDING[adding].splitlines() if "target:" in line)
    )
    assert f"apps.yaml:{line}:" in done.stdout
    assert "warning VR132 patch-unmatched: this patch is for VirtualMachine databse" in done.stdout
    assert "help: did you mean database?" in done.stdout
    put(folder / "apps.yaml", ADDING[adding].replace("NAME", "database"))
    assert "VR132" not in process.run("check", ".", cwd=folder).stdout


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_that_is_missed_by_a_slip_is_a_warning(target: str, folder: Path) -> None:
    """What may be there elsewhere is none: a pattern, a label, another name."""
    put(
        folder / "overlay/kustomization.yaml",
        f"resources: [../base]\npatches:\n- target: {{{target}}}{PATCH}",
    )
    if target.endswith("name: gone"):
        put(folder / "overlay/delete.yaml", DELETED)
        with (folder / "overlay/kustomization.yaml").open("a", encoding="utf-8") as stream:
            stream.write("- path: delete.yaml\n")
    done = process.run("check", ".", cwd=folder)
    assert done.returncode == Exit.OK, done.stdout
    place = "overlay/kustomization.yaml:3:3: warning VR132 patch-unmatched: "
    assert (place in done.stdout) == bool(TARGETS[target])
    assert TARGETS[target] in done.stdout


def test_a_target_of_a_component_may_be_missed(folder: Path) -> None:
    put(
        folder / "part/kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n"
        f"- target: {{kind: VirtualMachine, name: ap}}{PATCH}",
    )
    put(folder / "overlay/kustomization.yaml", "resources: [../base]\ncomponents: [../part]\n")
    assert process.run("check", ".", cwd=folder).stdout == ""
