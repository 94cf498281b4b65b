"""``kubevirt.io/flavour``: looked up as flavor, then instancetype, then preset; the VM wins."""

from typing import Any

import pytest

from render import Settings, render

FLAVOR = {
    "apiVersion": "flavor.kubevirt.io/v1alpha1",
    "kind": "VirtualMachineFlavor",
    "metadata": {"name": "big"},
    "spec": {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}},
}
INSTANCETYPE = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "big"},
    "spec": {"cpu": {"guest": 4}, "memory": {"guest": "4Gi"}},
}
PRESET = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachineInstancePreset",
    "metadata": {"name": "big"},
    "spec": {
        "selector": {"matchLabels": {"no": "vm"}},
        "domain": {"memory": {"guest": "8Gi"}, "devices": {"rng": {}}},
    },
}


def vm(name: str = "big", **domain: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kubevirt.io/v1alpha1",
        "kind": "VM",
        "metadata": {"name": "vm", "annotations": {"kubevirt.io/flavour": name}},
        "spec": {"domain": domain},
    }


def rendered(*bodies: dict[str, Any]) -> dict[str, Any]:
    found = render(bodies, Settings())
    assert not [diagnostic for diagnostic in found.diagnostics if diagnostic.is_error]
    (made,) = [body for body in found.resources if body["kind"] == "VirtualMachine"]
    domain: dict[str, Any] = made["spec"]["template"]["spec"]["domain"]
    return domain


@pytest.mark.parametrize(
    ("objects", "memory"),
    [
        ([PRESET, INSTANCETYPE, FLAVOR], "2Gi"),
        ([PRESET, INSTANCETYPE], "4Gi"),
        ([PRESET], "8Gi"),
    ],
    ids=["flavor", "instancetype", "preset"],
)
def test_the_first_sort_that_has_the_name(objects: list[dict[str, Any]], memory: str) -> None:
    assert rendered(*objects, vm())["memory"] == {"guest": memory}


def test_an_instancetype_that_kubevirt_deploys() -> None:
    assert rendered(vm("u1.medium"))["memory"] == {"guest": "4Gi"}


def test_a_preset_fills_parts_that_no_selector_would_merge() -> None:
    assert rendered(PRESET, vm(devices={"sound": {"name": "s"}}))["devices"] == {
        "sound": {"name": "s"},
        "rng": {},
    }


@pytest.mark.parametrize(
    ("own", "cpu"),
    [
        ({}, {"sockets": 4, "cores": 1, "threads": 1}),
        (
            {"cpu": {"model": "host-model"}},
            {"sockets": 4, "cores": 1, "threads": 1, "model": "host-model"},
        ),
        ({"cpu": {"threads": 2}}, {"threads": 2}),
    ],
)
def test_a_topology_is_one_value(own: dict[str, Any], cpu: dict[str, Any]) -> None:
    assert rendered(INSTANCETYPE, vm(**own))["cpu"] == cpu


def test_memory_that_the_vm_requests_is_its_own() -> None:
    made = rendered(INSTANCETYPE, vm(resources={"requests": {"memory": "1Gi"}}))
    assert "memory" not in made or "guest" not in made["memory"]
