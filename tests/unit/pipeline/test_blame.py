"""Where the value of a preference is refused in a VM, its line is the position."""

import pytest

from render import Settings, render
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
