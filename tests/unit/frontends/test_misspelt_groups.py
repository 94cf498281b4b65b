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


def test_a_slip_is_a_warning_and_other_groups_are_not_looked_at(ask: Ask) -> None:
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
    assert answer.exit == Exit.OK
    found = [line for line in answer.out.splitlines() if " VR" in line]
    assert [line.partition(":")[0] for line in found] == ["small.yaml", "web.yaml"]
    assert all(f": {Severity.WARNING} VR123 unknown-kind: " in line for line in found)
    assert "help: write apiVersion: kubevirt.io/v1 (--unsafe-fixes)" in answer.out
    assert ask("check", "--unsafe-fixes").exit == Exit.OK
    assert ask("check").err.startswith("1 VM: no findings; ")
