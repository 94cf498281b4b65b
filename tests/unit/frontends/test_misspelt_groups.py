"""Groups that are KubeVirt's but for a slip: what is told from the groups of others."""

import pytest

from render.diagnostics.diagnostic import Severity
from render.diagnostics.exits import Exit
from render.model.api_version import group_meant
from tests.support.asking import Ask
from tests.support.manifests import instancetype, vm


@pytest.mark.parametrize(
    ("group", "own"),
    [
        ("kubvirt.io", "kubevirt.io"),
        ("kubevrit.io", "kubevirt.io"),
        ("kubevirt.oi", "kubevirt.io"),
        ("kubevirts.io", "kubevirt.io"),
        ("instancetype.kubvirt.io", "instancetype.kubevirt.io"),
        ("instancetypes.kubevirt.oi", "instancetype.kubevirt.io"),
        ("KubeVirt.io", "kubevirt.io"),
        ("kubevirt", "kubevirt.io"),
        ("kubvirt", "kubevirt.io"),
        ("kubevirt.io", ""),
        ("kubevela", ""),
        ("instancetype.kubevirt.io", ""),
        ("ui.kubevirt.io", ""),
        ("kubevirtmanager.io", ""),
        ("kubevirt.crossplane.io", ""),
        ("vmoperator.vmware.com", ""),
        ("compute.azure.com", ""),
        ("vm.kubevela.io", ""),
        ("kubevela.io", ""),
        ("kubernetes.io", ""),
        ("virt.io", ""),
        ("", ""),
    ],
)
def test_groups(group: str, own: str) -> None:
    assert group_meant(group) == own


def test_a_slip_is_an_error_and_other_groups_are_not_looked_at(ask: Ask) -> None:
    foreign = (
        "apiVersion: vmoperator.vmware.com/v1alpha1\nkind: VirtualMachine\nmetadata: {name: x}\n"
    )
    service = "apiVersion: kubvirt.io/v1\nkind: Service\nmetadata: {name: x}\n"
    files = {
        "web.yaml": vm("web", memory="1Gi").replace("kubevirt.io/v1", "kubvirt.io/v1", 1),
        "small.yaml": instancetype("small").replace("kubevirt.io", "kubevirt.oi", 1),
        "foreign.yaml": foreign,
        "service.yaml": service,
    }
    answer = ask("check", files=files)
    assert answer.exit == Exit.FINDINGS
    found = [line for line in answer.out.splitlines() if " VR" in line]
    assert [line.partition(":")[0] for line in found] == ["small.yaml", "web.yaml"]
    assert all(f": {Severity.ERROR} VR123 unknown-kind: " in line for line in found)
    assert "help: write apiVersion: kubevirt.io/v1 (--unsafe-fixes)" in answer.out
    assert ask("check", "--unsafe-fixes").exit == Exit.OK
    assert ask("check").err.startswith("1 VM: no findings; ")


@pytest.mark.parametrize(
    ("kind", "spec"),
    [("VirtualMachineClass", "template: {}"), ("VirtualMachine", "image: web")],
)
def test_what_may_be_of_others_is_a_warning(ask: Ask, kind: str, spec: str) -> None:
    text = f"apiVersion: kubvirt.io/v1\nkind: {kind}\nmetadata: {{name: x}}\nspec: {{{spec}}}\n"
    answer = ask("check", files={"web.yaml": text})
    assert answer.exit == Exit.OK
    assert f"warning VR123 unknown-kind: {kind} x: " in answer.out


@pytest.mark.parametrize(
    ("group", "kind"),
    [
        ("ui.kubevirt.io", "VirtualMachine"),
        ("snapshot.kubevirt.io", "VirtualMachineSnapshot"),
        ("export.kubevirt.io", "VirtualMachineExport"),
        ("forklift.konveyor.io", "VirtualMachine"),
        ("virtualization.deckhouse.io", "VirtualMachine"),
    ],
)
def test_groups_of_others_are_theirs(ask: Ask, group: str, kind: str) -> None:
    text = f"apiVersion: {group}/v1beta1\nkind: {kind}\nmetadata: {{name: x}}\nspec: {{template: {{}}}}\n"
    answer = ask("check", files={"other.yaml": text, "web.yaml": vm("web", memory="1Gi")})
    assert answer.exit == Exit.OK
    assert "VR123" not in answer.out


def test_a_group_with_a_letter_more_is_told_of_the_kinds_that_kubevirt_has_alone(ask: Ask) -> None:
    text = instancetype("small").replace("instancetype.kubevirt", "instancetypes.kubevirt", 1)
    answer = ask("check", files={"small.yaml": text})
    assert answer.exit == Exit.FINDINGS
    assert "help: write apiVersion: instancetype.kubevirt.io/v1beta1" in answer.out


@pytest.mark.parametrize("version", ["kubevirt.io", "kubevirt.io.v1"])
def test_a_version_without_a_slash_is_told_in_a_folder(ask: Ask, version: str) -> None:
    text = vm("web", memory="1Gi").replace("kubevirt.io/v1", version, 1)
    answer = ask("check", files={"web.yaml": text, "db.yaml": vm("db", memory="1Gi")})
    assert answer.exit == Exit.FINDINGS
    assert "help: write apiVersion: kubevirt.io/v1 (--unsafe-fixes)" in answer.out
