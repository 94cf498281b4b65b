"""``virt-render diff`` of VMs that are renamed, or moved to another namespace: the cluster deletes and makes one."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.asking import Ask
from tests.support.cases import ROOT
from tests.support.repository import RepositoryInProcess

VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        memory: {guest: 2Gi}
        devices:
          disks: [{name: root, disk: {bus: virtio}}]
      volumes:
        - name: root
          containerDisk: {image: registry.example.com/fedora:43}
"""
PATCH = """\
namespace: prod
resources: [../../base]
patches:
  - target: {kind: VirtualMachine, name: web}
    patch: |-
      - {op: replace, path: /spec/template/spec/domain/devices/disks/0/disk/bus, value: scsi}
"""


@pytest.fixture
def repository(tmp_path: Path, ask: Ask) -> RepositoryInProcess:
    return RepositoryInProcess(tmp_path / "repository", ask)


def machines(repository: RepositoryInProcess, *words: str) -> dict[str, Any]:
    """What ``diff`` says of each VM, by its namespace and name."""
    document = json.loads(repository.fine("diff", "--format", "json", *words, "HEAD"))
    schema = json.loads((ROOT / "schemas/impact.schema.json").read_bytes())
    jsonschema.validate(document, schema)
    return {
        "{namespace}/{name}".format_map(each["resource"]): each for each in document["machines"]
    }


def called(machine: dict[str, Any]) -> str:
    """What else a VM is called."""
    return "{namespace}/{name}".format_map(machine["renamed"]) if machine["renamed"] else ""


@pytest.mark.parametrize(
    ("file", "text", "other"),
    [
        ("vms/web.yaml", VM.replace("name: web", "name: shop-web"), "prod/shop-web"),
        ("shop/shop-web.yaml", VM.replace("name: web", "name: shop-web"), "prod/shop-web"),
        ("vms/web.yaml", VM.replace("namespace: prod", "namespace: shop"), "shop/web"),
        ("shop/web.yaml", VM.replace("namespace: prod", "namespace: shop").replace("2Gi", "3Gi"), "shop/web"),
        ("shop/a.yaml", VM.replace("web, namespace: prod", "store, namespace: shop"), "shop/store"),
    ],
)  # fmt: skip
def test_a_vm_of_another_name_or_place_is_one_that_was_renamed(
    repository: RepositoryInProcess, file: str, text: str, other: str
) -> None:
    repository.write("vms/web.yaml", VM)
    repository.commit("A VM")
    (repository.folder / "vms/web.yaml").unlink()
    repository.write(file, text)
    found = machines(repository)
    assert [found["prod/web"]["effects"], found[other]["effects"]] == [["gone"], ["new"]]
    assert (called(found["prod/web"]), called(found[other])) == (other, "prod/web")
    fields = [change["field"] for change in found[other]["changes"]]
    assert ("spec.domain.memory.guest" in fields) == ("3Gi" in text)
    lines = repository.fine("diff", "HEAD").splitlines()
    assert lines[0] == "2 VMs: 1 gone, 1 new (1 renamed or moved)"
    word = (
        "moved"
        if other.endswith("/web")
        else "renamed and moved"
        if "shop/" in other
        else "renamed"
    )
    assert f"  {word} to  VirtualMachine {other}" in lines
    assert f"  {word} from  VirtualMachine prod/web" in lines
    assert any(
        line.startswith("  another VM to the cluster: this one is deleted") for line in lines
    )
    markdown = repository.fine("diff", "--format", "markdown", "HEAD")
    assert f"| gone | {word} to `VirtualMachine {other}` |" in markdown
    assert f"| new | {word} from `VirtualMachine prod/web` |" in markdown
    assert f"VirtualMachine {other}" in repository.fine("diff", "--format", "html", "HEAD")


def test_what_a_patch_for_the_old_name_does_no_longer_is_told(
    repository: RepositoryInProcess, kustomize: str
) -> None:
    """With its file and the folder of its overlay: kustomize says nothing of a target that selects nothing."""
    repository.write("base/vm.yaml", VM.replace(", namespace: prod", ""))
    repository.write("base/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.write("overlays/prod/kustomization.yaml", PATCH)
    repository.commit("An overlay")
    repository.git("mv", "base/vm.yaml", "base/shop.yaml")
    repository.git("mv", "overlays/prod", "overlays/production")
    repository.write("base/shop.yaml", VM.replace("web, namespace: prod", "shop-web"))
    repository.write("base/kustomization.yaml", "resources: [shop.yaml]\n")
    found = machines(repository, "--kustomize", kustomize)
    assert called(found["prod/web"]) == "prod/shop-web"
    (change,) = found["prod/shop-web"]["changes"]
    assert (change["field"], change["before"], change["after"]) == (
        "spec.domain.devices.disks[root].disk.bus",
        "scsi",
        "virtio",
    )


def test_each_of_a_fleet_is_the_one_whose_name_is_like_its_own(
    repository: RepositoryInProcess,
) -> None:
    numbers = range(4)
    repository.write("vms.yaml", "---\n".join(VM.replace("web", f"web-{n}") for n in numbers))
    repository.commit("A fleet")
    repository.write("vms.yaml", "---\n".join(VM.replace("web", f"shop-{n}") for n in numbers))
    found = machines(repository)
    assert [called(found[f"prod/web-{n}"]) for n in numbers] == [f"prod/shop-{n}" for n in numbers]
    lines = repository.fine("diff", "HEAD").splitlines()
    listed = ", ".join(f"prod/web-{n} -> prod/shop-{n}" for n in numbers[:3])
    assert sum(line.startswith(f"    {listed}") for line in lines) == 2
    assert lines.count("gone  4 VMs") == lines.count("new  4 VMs") == 1
    assert not any(line.startswith("  renamed") for line in lines)
    assert sum(line.startswith("  another VM to the cluster") for line in lines) == 2


@pytest.mark.parametrize(
    ("claims", "is_one"),
    [(("web", "web"), True), (("web", "web-4"), False), ((), False)],
)
def test_of_a_fleet_one_is_another_only_with_its_disks(
    repository: RepositoryInProcess, claims: tuple[str, ...], *, is_one: bool
) -> None:
    def of(name: str, number: int) -> str:
        text = VM.replace("name: web", f"name: {name}")
        disk = "containerDisk: {image: registry.example.com/fedora:43}"
        return (
            text.replace(disk, f"persistentVolumeClaim: {{claimName: {claims[number]}}}")
            if claims
            else text
        )

    repository.write("vms/web.yaml", of("web", 0))
    repository.write("vms/web-2.yaml", of("web-2", 0))
    repository.commit("Two VMs alike")
    (repository.folder / "vms/web.yaml").unlink()
    repository.write("vms/web-4.yaml", of("web-4", 1))
    assert called(machines(repository)["prod/web"]) == ("prod/web-4" if is_one else "")


def test_a_vm_that_a_base_renames_is_told_in_each_overlay(
    repository: RepositoryInProcess, kustomize: str
) -> None:
    repository.write("base/vm.yaml", VM.replace(", namespace: prod", ""))
    repository.write("base/kustomization.yaml", "resources: [vm.yaml]\n")
    for name in ("prod", "stage"):
        repository.write(f"{name}/kustomization.yaml", f"namespace: {name}\nresources: [../base]\n")
    repository.commit("Two overlays")
    repository.write("base/vm.yaml", VM.replace("web, namespace: prod", "shop"))
    found = machines(repository, "--kustomize", kustomize)
    assert [called(found[f"{name}/web"]) for name in ("prod", "stage")] == [
        "prod/shop",
        "stage/shop",
    ]


def test_of_two_vms_that_a_kustomization_lists_in_turn_neither_is_the_other(
    repository: RepositoryInProcess, kustomize: str
) -> None:
    for name in ("web-1", "web-2", "web-3"):
        repository.write(f"vms/{name}.yaml", VM.replace("name: web", f"name: {name}"))
    listed = "resources:\n  - vms/web-1.yaml\n  - vms/web-{}.yaml\n"
    repository.write("kustomization.yaml", listed.format(2))
    repository.commit("Two VMs of three")
    repository.write("kustomization.yaml", listed.format(3))
    found = machines(repository, "--kustomize", kustomize)
    assert not any(map(called, found.values()))
    source = found["prod/web-3"]["source"]
    assert (source["file"], source["line"]) == ("kustomization.yaml", 3)


@pytest.mark.parametrize("comes", [1, 2])
def test_vms_that_are_not_alike_or_not_clearly_so_are_none(
    repository: RepositoryInProcess, comes: int
) -> None:
    repository.write("vms/web.yaml", VM)
    repository.commit("A VM")
    (repository.folder / "vms/web.yaml").unlink()
    other = VM.replace("2Gi", "64Gi").replace("virtio", "sata").replace("Always", "Halted")
    for number in range(comes):
        text = (other if comes == 1 else VM).replace("name: web", f"name: db-{number}")
        repository.write(f"vms/db-{number}.yaml", text)
    assert not any(map(called, machines(repository).values()))


def test_a_vm_that_moves_leaves_its_claims_behind(repository: RepositoryInProcess) -> None:
    """Claims are of a namespace; in its own one a renamed VM finds those that it names."""
    repository.write("vms/web.yaml", VM)
    repository.commit("A VM")
    words = "made anew, with nothing of the one that it was"
    repository.write("vms/web.yaml", VM.replace("namespace: prod", "namespace: shop"))
    moved = repository.fine("diff", "HEAD")
    assert words in moved
    assert "claims that it names" not in moved
    repository.write("vms/web.yaml", VM.replace("name: web", "name: shop-web"))
    renamed = repository.fine("diff", "HEAD")
    assert f"{words} but claims that it names, unless a dataVolumeTemplate of" in renamed
