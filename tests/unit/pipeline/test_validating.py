"""What only the VMI is refused for, by a default of its own."""

import pytest

from render import Settings, render
from tests.support.pools import Json

_GATES: Json = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "KubeVirt",
    "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
    "spec": {"configuration": {"developerConfiguration": {"featureGates": ["DownwardMetrics"]}}},
}


def vm(spec: Json) -> Json:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {"runStrategy": "Always", "template": {"spec": spec}},
    }


@pytest.mark.parametrize(("disk", "refused"), [({}, True), ({"bus": "virtio"}, False)])
def test_metrics_want_another_bus_than_the_default(disk: Json, refused: bool) -> None:  # noqa: FBT001
    domain = {"memory": {"guest": "1Gi"}, "devices": {"disks": [{"name": "metrics", "disk": disk}]}}
    spec = {"domain": domain, "volumes": [{"name": "metrics", "downwardMetrics": {}}]}
    errors = [
        diagnostic
        for diagnostic in render([_GATES, vm(spec)], Settings()).diagnostics
        if diagnostic.is_error
    ]
    assert [error.check for error in errors] == (["disks/metrics-bus"] if refused else [])
    assert all("refuses its VMI at every start" in error.help for error in errors)


@pytest.mark.parametrize(
    ("release", "gates", "checks"),
    [
        ("1.4", [], ["network/passt"]),
        ("1.8", [], ["network/passt"]),
        ("1.8", ["Passt"], ["network/passt-gate"]),
        ("1.9", [], ["network/passt"]),
        ("1.9", ["Passt"], ["network/passt-gate"]),
    ],
)
def test_what_only_follows_from_a_finding_is_not_said(
    release: str, gates: list[str], checks: list[str]
) -> None:
    interfaces = [{"name": "a", "passt": {}}]
    domain = {"memory": {"guest": "1Gi"}, "devices": {"interfaces": interfaces}}
    spec = {"domain": domain, "networks": [{"name": "a", "pod": {}}]}
    developer = {"developerConfiguration": {"featureGates": gates}}
    spec["volumes"] = [{"name": "data", "emptyDisk": {"capacity": "1Gi"}}]
    preference: Json = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachinePreference",
        "metadata": {"name": "odd", "namespace": "prod"},
        "spec": {"devices": {"preferredDiskBus": "virtio"}},
    }
    machine = vm(spec)
    # With it, a disk that KubeVirt adds has all of the VMI asked again.
    machine["spec"]["preference"] = {"name": "odd", "kind": preference["kind"]}
    objects = [{**_GATES, "spec": {"configuration": developer}}, preference, machine]
    found = render(objects, Settings(kubevirt=release)).diagnostics
    assert [diagnostic.check for diagnostic in found if diagnostic.is_error] == checks


@pytest.mark.parametrize("architecture", [{}, {"amd64": {"machineType": "pc-old"}}])
def test_the_setting_that_a_bare_vmi_gets_its_value_from_is_blamed(architecture: Json) -> None:
    configuration = {"machineType": "pc", "architectureConfiguration": architecture}
    vmi: Json = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {"domain": {"memory": {"guest": "1Gi"}, "devices": {}}},
    }
    objects = [{**_GATES, "spec": {"configuration": configuration}}, vmi]
    found = render(objects, Settings(kubevirt="1.9", admission="strict")).diagnostics
    (error,) = (diagnostic for diagnostic in found if diagnostic.is_error)
    assert error.check == "machine/supported"
    assert error.position is not None
    assert error.position.path == ("spec", "configuration", "machineType")
