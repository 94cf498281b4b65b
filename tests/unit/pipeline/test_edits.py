"""What single edits of a VM that runs do in each release; the answers are those of KubeVirt's own controller."""

from typing import Any

import pytest

from render import Settings, compare
from render.diff.impact import MachineImpact
from render.model import tree
from tests.support.updates import fields

Json = dict[str, Any]
RELEASES = ("1.4", "1.5", "1.6", "1.7", "1.8", "1.9")
GENERAL = "a non-live-updatable field was changed in the template spec"
REDUCED = "Reduction of CPU socket count requires a restart"
_SPEC = ("spec", "template", "spec")
_HOOKS = ("metadata", "annotations", "kubevirt.io/skip-backup-hooks")
VM: Json = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "namespace": "prod"},
    "spec": {
        "runStrategy": "Always",
        "template": {
            "spec": {
                "domain": {
                    "cpu": {"model": "Haswell"},
                    "memory": {"guest": "2Gi"},
                    "devices": {"interfaces": [{"name": "default", "masquerade": {}}]},
                },
                "networks": [{"name": "default", "pod": {}}],
            }
        },
    },
}
LIVE: Json = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "KubeVirt",
    "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
    "spec": {
        "configuration": {
            "vmRolloutStrategy": "LiveUpdate",
            "developerConfiguration": {"featureGates": ["VMLiveUpdateFeatures"]},
        }
    },
}


def edited(body: Json, value: Any, *path: str | int) -> Json:
    changed: Json = tree.copy(body)
    tree.put(changed, path, value)
    return changed


SOCKETS = edited(VM, 1, *_SPEC, "domain", "cpu", "sockets")


def impact(before: Json, after: Json, *others: Json, release: str = "1.9") -> MachineImpact:
    settings = Settings(emit="source", kubevirt=release, catalog="none")
    (found,) = compare([before, *others], [after, *others], settings).machines
    return found


@pytest.mark.parametrize("release", RELEASES)
def test_the_text_that_a_vm_had_from_its_start_stays(release: str) -> None:
    """A CPU without sockets is less than the one socket of the VMI; the condition keeps its first text."""
    found = impact(VM, edited(VM, "x", *_SPEC, "hostname"), LIVE, release=release)
    assert found.effects == ("restart",)
    assert found.messages == (REDUCED,)


def test_a_vm_that_was_started_under_stage_had_no_text() -> None:
    staged = edited(LIVE, "Stage", "spec", "configuration", "vmRolloutStrategy")
    after = edited(VM, "x", *_SPEC, "hostname")
    settings = Settings(emit="source", catalog="none")
    (found,) = compare([VM, staged], [after, LIVE], settings).machines
    assert GENERAL in found.messages
    assert REDUCED not in found.messages


def test_the_text_of_a_vm_with_sockets_is_that_of_the_edit() -> None:
    found = impact(SOCKETS, edited(SOCKETS, "x", *_SPEC, "hostname"), LIVE)
    assert found.messages == (GENERAL,)


def test_an_annotation_that_stays_is_no_change() -> None:
    vm = edited(SOCKETS, "true", *_HOOKS)
    found = impact(vm, edited(vm, "x", *_SPEC, "hostname"))
    assert [change.field for change in found.changes] == ["spec.hostname"]


def test_an_annotation_that_goes_leaves_the_vmi_that_runs() -> None:
    found = impact(edited(SOCKETS, "true", *_HOOKS), SOCKETS)
    assert found.effects == ("live",)
    assert fields(found, "live") == {"metadata.annotations.kubevirt.io/skip-backup-hooks"}
    older = impact(edited(SOCKETS, "true", *_HOOKS), SOCKETS, release="1.5")
    assert older.effects == ("none",)


def test_a_vm_whose_one_interface_was_never_there_has_no_network_to_lose() -> None:
    interface = {"name": "blue", "bridge": {}, "state": "absent"}
    vm = edited(VM, [interface], *_SPEC, "domain", "devices", "interfaces")
    vm = edited(vm, [{"name": "blue", "multus": {"networkName": "blue"}}], *_SPEC, "networks")
    found = impact(vm, edited(vm, "x", *_SPEC, "hostname"))
    assert not fields(found, "live", "migrate")
    assert "restart" in found.effects


@pytest.mark.parametrize("release", ["1.7", "1.8", "1.9"])
@pytest.mark.parametrize(("binding", "is_plugged"), [("bridge", True), ("masquerade", False)])
def test_a_pod_network_that_is_plugged_needs_no_restart(
    release: str,
    binding: str,
    is_plugged: bool,  # noqa: FBT001
) -> None:
    place = (*_SPEC, "domain", "devices", "interfaces")
    vm = edited(SOCKETS, [{"name": "blue", "bridge": {}}], *place)
    blue = {"name": "blue", "multus": {"networkName": "blue"}}
    vm = edited(vm, [blue], *_SPEC, "networks")
    after = edited(vm, [{"name": "blue", "bridge": {}}, {"name": "pod", binding: {}}], *place)
    after = edited(after, [blue, {"name": "pod", "pod": {}}], *_SPEC, "networks")
    found = impact(vm, after, LIVE, release=release)
    assert ("live" in found.effects) is is_plugged
    assert ("restart" in found.effects) is (not is_plugged and release != "1.7")


def instancetype(sockets: int, *, is_cluster: bool = False) -> Json:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": f"VirtualMachine{'Cluster' if is_cluster else ''}Instancetype",
        "metadata": {"name": "small"} if is_cluster else {"name": "small", "namespace": "prod"},
        "spec": {"cpu": {"guest": sockets}, "memory": {"guest": "2Gi"}},
    }


NAMED: Json = {
    **VM,
    "spec": {
        **VM["spec"],
        "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
        "template": {"spec": {"domain": {"devices": {}}}},
    },
}


@pytest.mark.parametrize(
    ("release", "is_another"),
    [("1.4", False), ("1.5", True), ("1.6", True), ("1.7", False), ("1.9", False)],
)
def test_a_kind_that_is_left_out_is_another_one_where_the_webhook_writes_the_default(
    release: str,
    is_another: bool,  # noqa: FBT001
) -> None:
    after = edited(NAMED, {"name": "small"}, "spec", "instancetype")
    missing = 'virtualmachineclusterinstancetypes.instancetype.kubevirt.io "small" not found'
    found = impact(NAMED, after, instancetype(2), LIVE, release=release)
    assert ("error" in found.effects) is is_another
    assert (missing in found.messages) is is_another
    both = (instancetype(2), instancetype(4, is_cluster=True), LIVE)
    found = impact(NAMED, after, *both, release=release)
    assert ("spec.domain.cpu.sockets" in fields(found, "migrate", "live")) is is_another


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "VirtualMachineClusterInstancetype",
            'virtualmachineclusterinstancetypes.instancetype.kubevirt.io "small" not found',
        ),
        ("Foo", "got unexpected kind in InstancetypeMatcher: Foo"),
    ],
)
@pytest.mark.parametrize("release", ["1.5", "1.6"])
def test_the_webhook_looks_for_nothing_of_the_name_that_the_vm_has(
    kind: str, message: str, release: str
) -> None:
    after = edited(NAMED, kind, "spec", "instancetype", "kind")
    found = impact(NAMED, after, instancetype(2), release=release)
    assert found.effects[0] == "error"
    assert message in found.messages
