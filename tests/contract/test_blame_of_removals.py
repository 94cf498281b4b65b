"""What a patch of a kustomization takes away is told at the patch: kustomize replaces the lists of a VM whole."""

from pathlib import Path

import pytest

from tests.support import manifests, overlays, process
from tests.support.asking import Ask
from tests.support.repository import RepositoryInProcess

VM = overlays.vm(
    "4Gi",
    devices="""\
              serial: data01
              cache: none
          interfaces:
            - name: default
              masquerade: {}
            - name: storage
              bridge: {}
""",
    networks="""\
networks:
        - name: default
          pod: {}
        - name: storage
          multus: {networkName: storage}
      """,
    volume="persistentVolumeClaim: {claimName: data}",
)
STRATEGIC = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
spec:
  template:
    spec:
"""
REPEAT = "help: a patch of a list replaces all of it: repeat the others in it"
VOLUMES = f"""\
{STRATEGIC}      volumes:
        - name: root
          containerDisk: {{image: registry.example.com/root:2}}
"""
NETWORKS = f"""\
{STRATEGIC}      networks:
        - name: default
          pod: {{}}
"""
INTERFACES = f"""\
{STRATEGIC}      domain:
        devices:
          interfaces:
            - name: default
              bridge: {{}}
"""
REMOVED = "- {op: remove, path: /spec/template/spec/volumes/1}\n"
REPLACED = (
    "- op: replace\n  path: /spec/template/spec/networks\n  value: [{name: default, pod: {}}]\n"
)
MEMORY = f"{STRATEGIC}      domain:\n        memory:\n"
ROWS = [
    (VOLUMES, "prod/p0.yaml:8:7: error VR420 disks/volume: ", "base/vm.yaml:33:11: data of volumes", REPEAT),
    (NETWORKS, "prod/p0.yaml:8:7: error VR418 network/interface-without-network: ", "base/vm.yaml:28:11: ", REPEAT),
    (INTERFACES, "prod/p0.yaml:10:11: error VR418 network/network-without-interface: ", "base/vm.yaml:23:15: ", REPEAT),
    (REMOVED, "prod/p0.yaml:1:16: error VR420 disks/volume: ", "base/vm.yaml:33:11: ", "help: keep data of volumes"),
    (REPLACED, "prod/p0.yaml:3:3: error VR418 network/interface-without-network: ", "base/vm.yaml:28:11: ", REPEAT),
    (MEMORY, "prod/p0.yaml:9:9: error VR412 memory/required: ", "base/vm.yaml:11:11: domain.memory", "help: keep"),
]  # fmt: skip


MOVED = "- {op: move, from: /spec/template/spec/networks, path: /spec/template/spec/networkz}\n"


@pytest.fixture
def repository(tmp_path: Path, kustomize: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIRT_RENDER_KUSTOMIZE", kustomize)
    overlays.base(tmp_path / "base", VM)
    overlays.overlay(tmp_path / "prod")
    return tmp_path


@pytest.mark.parametrize(("text", "place", "former", "cure"), ROWS)
def test_the_patch_that_drops_what_is_missed_is_told(
    repository: Path, text: str, place: str, former: str, cure: str
) -> None:
    assert process.run("check", cwd=repository).stdout == ""
    overlays.overlay(repository / "prod", text)
    done = process.run("check", cwd=repository)
    assert done.stdout.startswith(place), done.stdout
    assert f"\n  {former}" in done.stdout
    assert f"\n  {cure}" in done.stdout
    assert done.stdout.count(": error ") == 1


def test_what_another_patch_has_added_is_dropped_too(repository: Path) -> None:
    added = """\
- {op: add, path: /spec/template/spec/domain/devices/interfaces/-, value: {name: more, bridge: {}}}
- {op: add, path: /spec/template/spec/networks/-, value: {name: more, multus: {networkName: more}}}
- {op: remove, path: /spec/template/spec/networks/1}
"""
    overlays.overlay(repository / "prod", added, INTERFACES)
    done = process.run("check", cwd=repository)
    place = "prod/p1.yaml:10:11: error VR418 network/network-without-interface: "
    assert done.stdout.startswith(place), done.stdout
    assert "\n  prod/p0.yaml:1:68: more of interfaces stands here" in done.stdout, done.stdout


def test_a_template_whose_volume_a_patch_drops_is_told_at_the_patch(repository: Path) -> None:
    template = "  dataVolumeTemplates:\n    - metadata: {name: root}\n      spec:\n"
    spec = "        source: {blank: {}}\n        storage: {resources: {requests: {storage: 1Gi}}}\n"
    disk = "containerDisk: {image: registry.example.com/root:1}"
    text = VM.replace("spec:\n", f"spec:\n{template}{spec}", 1).replace(
        disk, "dataVolume: {name: root}"
    )
    manifests.put(repository / "base/vm.yaml", text)
    volumes = "      volumes:\n        - name: data\n          emptyDisk: {capacity: 1Gi}\n"
    overlays.overlay(repository / "prod", STRATEGIC + volumes)
    done = process.run("check", cwd=repository)
    assert "\nprod/p0.yaml:8:7: error VR436 data-volume-templates/used: " in f"\n{done.stdout}"
    assert "base/vm.yaml" in done.stdout


def test_a_move_is_told_at_its_path(repository: Path) -> None:
    overlays.overlay(repository / "prod", MOVED)
    done = process.run("check", cwd=repository)
    assert done.stdout.startswith("prod/p0.yaml:1:50: error VR105 "), done.stdout


SERIAL = f"""\
{STRATEGIC}      domain:
        devices:
          disks:
            - name: root
              disk: {{bus: scsi}}
"""
ITEM = SERIAL.replace("root", "data")


def test_diff_names_the_patch_that_drops_a_field(repository: Path, ask: Ask) -> None:
    """Of a disk that KubeVirt attaches again, or of one that stays: its serial, which the base still has."""
    made = RepositoryInProcess(repository, ask)
    made.commit("a VM")
    overlays.overlay(repository / "prod", SERIAL)
    text = made.run("diff").stdout
    assert "disks[data].serial: data01 -> none (restart)  prod/p0.yaml:10:11\n" in text
    assert 'disks[data].cache: "none" -> none (restart)  prod/p0.yaml:10:11\n' in text
    overlays.overlay(repository / "prod", ITEM)
    assert (
        "disks[data].serial: data01 -> none (restart)  prod/p0.yaml:11:15\n"
        in made.run("diff").stdout
    )
    overlays.overlay(repository / "prod", VOLUMES)
    text = made.run("diff").stdout
    assert "\n  prod/p0.yaml:8:7  VirtualMachine web: " in text
    assert (
        "volumes[data]: {persistentVolumeClaim: {claimName: data}} -> none (refused)  prod/p0.yaml:8:7"
        in text
    )
