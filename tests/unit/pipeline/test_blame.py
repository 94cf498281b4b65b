"""Where the value of a preference is refused in a VM, its line is the position."""

from typing import Any

import pytest

from render import Settings, render
from render.pipeline.comparison.fleet import compare
from render.report.impact.review import leaves
from tests.support.pools import Json

_VOLUMES: list[Json] = [{"name": "data", "emptyDisk": {"capacity": "1Gi"}}]
_OFF = {"ipi": {}, "vpindex": {"enabled": False}}


def preference(spec: Json) -> Json:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachinePreference",
        "metadata": {"name": "odd", "namespace": "prod"},
        "spec": spec,
    }


def vm(disks: list[Json]) -> Json:
    domain = {"memory": {"guest": "1Gi"}, "devices": {"disks": disks}}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            "preference": {"name": "odd", "kind": "VirtualMachinePreference"},
            "template": {"spec": {"domain": domain, "volumes": _VOLUMES}},
        },
    }


@pytest.mark.parametrize(
    ("spec", "disks", "path"),
    [
        ({"machine": {"preferredMachineType": "pc"}}, [], "machine.preferredMachineType"),
        ({"preferredArchitecture": "ppc64le"}, [], "preferredArchitecture"),
        ({"devices": {"preferredDiskBus": "ide"}}, [{"name": "data"}], "devices.preferredDiskBus"),
        ({"devices": {"preferredDiskBus": "ide"}}, [], "devices.preferredDiskBus"),
        ({"features": {"preferredHyperv": _OFF}}, [], "features.preferredHyperv.ipi"),
        ({"firmware": {"preferredEfi": {"secureBoot": True}}}, [], "firmware.preferredEfi"),
    ],
)
def test_the_preference_is_blamed_for_what_it_wrote(
    spec: Json, disks: list[Json], path: str
) -> None:
    found = render([preference(spec), vm(disks)], Settings(kubevirt="1.9", admission="strict"))
    (error,) = [diagnostic for diagnostic in found.diagnostics if diagnostic.is_error]
    assert error.resource is not None
    assert error.resource.kind == "VirtualMachine"
    assert error.position is not None
    assert error.position.path == ("spec", *path.split("."))
    assert error.position.index == 0
    assert error.related[0].location == error.position


@pytest.mark.parametrize(
    ("emit", "spec", "is_vm_admitted"),
    [
        ("vm", {"devices": {"preferredDiskBus": "floppy"}}, False),
        ("source", {"devices": {"preferredDiskBus": "floppy"}}, True),
        ("vm", {}, True),
    ],
)
def test_a_vm_is_called_admitted_as_it_is_printed(
    emit: Any, spec: Json, *, is_vm_admitted: bool
) -> None:
    """The disk of the volume comes at the start: the rendered VM has it, with the bus, and is refused itself."""
    machine = vm([])
    if not spec:
        machine = vm([{"name": "data", "cdrom": {}}])  # by default on virtio there
        machine["spec"]["template"]["spec"]["architecture"] = "s390x"
    found = render([preference(spec), machine], Settings(kubevirt="1.9", emit=emit))
    errors = [diagnostic for diagnostic in found.diagnostics if diagnostic.is_error]
    assert errors
    admitted = "the VM is admitted, but KubeVirt refuses its VMI at every start"
    assert {error.help.startswith(admitted) for error in errors} == {is_vm_admitted}


def test_what_a_preference_says_of_a_new_interface_is_its_own() -> None:
    """KubeVirt 1.6 stores the kind of a matcher, which its author left out: that is no edit of it."""
    linux = preference({"devices": {"preferredInterfaceModel": "virtio"}})
    linux |= {"kind": "VirtualMachineClusterPreference", "metadata": {"name": "odd"}}
    before, after = vm([]), vm([])
    for each, names in ((before, ["one"]), (after, ["two", "one"])):
        each["spec"]["preference"] = {"name": "odd"}
        spec = each["spec"]["template"]["spec"]
        spec["networks"] = [{"name": name, "multus": {"networkName": name}} for name in names]
        interfaces = [{"name": name, "bridge": {}} for name in names]
        spec["domain"]["devices"]["interfaces"] = interfaces
    settings = Settings(emit="source", kubevirt="1.6")
    (machine,) = compare([linux, before], [linux, after], settings).machines
    fields = {change.field: change.cause for change in leaves(machine.changes)}
    cause = fields["spec.domain.devices.interfaces[two].model"]
    assert cause is not None
    assert (cause.resource.kind, cause.path) == (
        "VirtualMachineClusterPreference",
        ("spec", "devices", "preferredInterfaceModel"),
    )
