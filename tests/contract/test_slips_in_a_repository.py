"""Slips of the pen in a repository of kustomizations: each is one finding at its line, with the cure that is meant."""

import re
from pathlib import Path

import pytest

from tests.support.manifests import instancetype, put, vm
from tests.support.process import run

_FILES = {
    "platform/kustomization.yaml": "resources: [small.yaml, shop.yaml]\n",
    "platform/small.yaml": instancetype("small", memory="4Gi"),
    "platform/shop.yaml": (
        "apiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineClusterPreference\n"
        "metadata: {name: shop}\nspec: {requirements: {memory: {guest: 2Gi}}}\n"
    ),
    "web/kustomization.yaml": "resources:\n- vm.yaml\n",
    "web/vm.yaml": vm("web", instancetype="small").replace(
        "  runStrategy", "  preference: {name: shop}\n  runStrategy", 1
    ),
    "prod/kustomization.yaml": (
        "resources:\n- ../platform\n- ../web\nlabels:\n- pairs:\n    stage: prod\npatches:\n- path: larger.yaml\n"
    ),
    "prod/larger.yaml": (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata:\n  name: web\n  labels: {size: l}\n"
    ),
}


@pytest.mark.parametrize(
    ("file", "change", "place", "cure"),
    [
        (
            "web/vm.yaml",
            ("  runStrategy: Always\n", "  runStrategy: Always\n  runStrategy: Halted\n"),
            "web/vm.yaml:8:3: error VR116 ",
            "remove one of them",
        ),
        (
            "web/vm.yaml",
            ("apiVersion:", "apiversion:"),
            "web/vm.yaml:1:1: error VR116 ",
            "write apiVersion in the place of apiversion",
        ),
        (
            "platform/small.yaml",
            ("apiVersion:", "apiversion:"),
            "platform/small.yaml:1:1: error VR104 ",
            "write apiVersion in the place of apiversion",
        ),
        (
            "web/vm.yaml",
            ("kind:", "Kind:"),
            "web/vm.yaml:2:1: error VR116 ",
            "write kind in the place of Kind",
        ),
        (
            "web/vm.yaml",
            ("metadata:", "metdata:"),
            "web/vm.yaml:3:1: error VR116 ",
            "write metadata in the place of metdata",
        ),
        (
            "web/vm.yaml",
            ("  name: web", "  nme: web"),
            "web/vm.yaml:4:3: error VR116 ",
            "write name in the place of nme",
        ),
        (
            "prod/larger.yaml",
            ("kind: VirtualMachine", "kind: VirtualMachin"),
            "prod/larger.yaml:2:1: error VR116 ",
            "did you mean VirtualMachine?",
        ),
        (
            "prod/kustomization.yaml",
            ("stage: prod", "stage: 1"),
            "prod/kustomization.yaml:6:5: error VR116 ",
            "write it in quotes",
        ),
        (
            "prod/kustomization.yaml",
            ("labels:", "namespace: Prod_1\nlabels:"),
            "prod/kustomization.yaml:4:1: error VR129 ",
            "use lower case letters, digits and '-'",
        ),
        (
            "prod/kustomization.yaml",
            ("stage: prod", "stage: prod!"),
            "prod/kustomization.yaml:6:5: error VR129 ",
            "use letters, digits",
        ),
        (
            "web/kustomization.yaml",
            ("- vm.yaml", "- path: vm.yaml"),
            "web/kustomization.yaml:2:3: error VR116 ",
            "write '- FILE', the name alone",
        ),
        (
            "platform/small.yaml",
            ("4Gi", "4GB"),
            "platform/small.yaml:9:5: error VR108 ",
            "write 4Gi or 4G",
        ),
        (
            "platform/small.yaml",
            ("4Gi", "four"),
            "platform/small.yaml:9:5: error VR108 ",
            "write it like 2Gi or 500M",
        ),
    ],
)
def test_a_slip_is_one_finding_at_its_line(
    file: str, change: tuple[str, str], place: str, cure: str, tmp_path: Path
) -> None:
    written, slip = change
    for name, text in _FILES.items():
        put(tmp_path / name, text)
    clean = run("check", ".", cwd=tmp_path)
    assert clean.stdout == ""
    assert written in _FILES[file]
    put(tmp_path / file, _FILES[file].replace(written, slip, 1))
    done = run("check", ".", cwd=tmp_path)
    found = [line for line in done.stdout.splitlines() if re.match(r"\S+: (error|warning)", line)]
    assert len(found) == 1, done.stdout
    assert found[0].startswith(place), done.stdout
    assert f"\n  help: {cure}" in done.stdout
    assert done.returncode


def test_what_runs_twice_in_one_build_and_once_in_another_has_one_cure(tmp_path: Path) -> None:
    """To drop the line would leave the other overlay without a word on when the VM runs."""
    patch = (
        "resources: [../web]\npatches:\n- target: {kind: VirtualMachine}\n"
        '  patch: \'[{"op": "add", "path": "/spec/runStrategy", "value": "Manual"}]\'\n'
    )
    files = {
        "web/kustomization.yaml": "resources: [vm.yaml]\n",
        "web/vm.yaml": vm("web", memory="1Gi").replace("runStrategy: Always", "running: true"),
        "dev/kustomization.yaml": f"namespace: dev\n{patch}",
        "prod/kustomization.yaml": "namespace: prod\nresources: [../web]\n",
    }
    for name, text in files.items():
        put(tmp_path / name, text)
    out = run("check", ".", cwd=tmp_path).stdout
    assert "error VR706 run-strategy/one: VirtualMachine dev/web" in out
    assert out.count("help: write runStrategy: Always\n") == 2
    assert "drop spec.running" not in out


def test_a_label_that_is_refused_is_an_error_of_the_vm_of_each_overlay(tmp_path: Path) -> None:
    """Each is refused for itself; what one kustomization gives all its objects is told once."""
    spaced = vm("web", memory="1Gi").replace(
        "  name: web\n", "  name: web\n  labels: {app: a b}\n", 1
    )
    files = {
        "web/kustomization.yaml": "resources: [vm.yaml]\n",
        "web/vm.yaml": spaced,
        "dev/kustomization.yaml": "namespace: dev\nresources: [../web]\n",
        "prod/kustomization.yaml": "namespace: prod\nresources: [../web]\n",
    }
    for name, text in files.items():
        put(tmp_path / name, text)
    out = run("check", ".", cwd=tmp_path).stdout
    errors = re.findall(r"^(\S+): error VR129 \S+ VirtualMachine (\S+):", out, re.MULTILINE)
    assert [machine for _, machine in errors] == ["dev/web", "prod/web"], out
    assert len({place for place, _ in errors}) == 1
    assert "also, until that is mended" not in out
