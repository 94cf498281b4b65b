"""Upper bounds for memory that grows, by release and architecture, and strategies for volumes that need a gate."""

import pytest

from render import Settings, render
from render.model.cluster.liveupdate import memory_fault
from render.model.release import NEWEST
from tests.support.pools import Json

_OF_TWO = "Memory hotplug is only available for x86_64 and arm64 VMs"
_OF_ONE = "Memory hotplug is only available for x86_64 VMs"
_GATES = ["VMLiveUpdateFeatures", "MultiArchitecture"]
_LIVE: Json = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "KubeVirt",
    "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
    "spec": {
        "configuration": {
            "vmRolloutStrategy": "LiveUpdate",
            "developerConfiguration": {"featureGates": _GATES},
        }
    },
}


@pytest.mark.parametrize(
    ("release", "architecture", "text"),
    [
        ("1.4", "amd64", ""),
        ("1.4", "arm64", ""),
        ("1.4", "s390x", _OF_TWO),
        ("1.5", "arm64", _OF_ONE),
        ("1.9", "arm64", _OF_ONE),
        ("1.9", "amd64", ""),
    ],
)
def test_which_vms_can_grow(release: str, architecture: str, text: str) -> None:
    memory = {"guest": "1Gi", "maxGuest": "2Gi"}
    spec = {"architecture": architecture, "domain": {"devices": {}, "memory": memory}}
    vm: Json = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {"runStrategy": "Halted", "template": {"spec": spec}},
    }
    found = render([_LIVE, vm], Settings(kubevirt=release, admission="strict")).diagnostics
    assert [diagnostic.message for diagnostic in found if diagnostic.is_error] == (
        [text] if text else []
    )


_STRATEGY = "VolumesUpdateStrategy"
_MOVE = "VolumeMigration"
_OFF = "{} feature gate is not enabled in kubevirt-config"


@pytest.mark.parametrize(
    ("strategy", "cluster", "gates", "missing"),
    [
        ("Migration", ("1.4", "LiveUpdate"), [], [_STRATEGY, _MOVE]),
        ("Migration", ("1.4", "LiveUpdate"), [_STRATEGY], [_MOVE]),
        ("Migration", ("1.4", "LiveUpdate"), [_MOVE], [_STRATEGY]),
        ("Migration", ("1.4", "LiveUpdate"), [_STRATEGY, _MOVE], []),
        ("Replacement", ("1.4", "LiveUpdate"), [], [_STRATEGY]),
        ("Replacement", ("1.4", "LiveUpdate"), [_STRATEGY], []),
        ("", ("1.4", "LiveUpdate"), [], [_STRATEGY]),  # a pointer: empty is a strategy, too
        (None, ("1.4", "LiveUpdate"), [], []),
        ("Migration", ("1.4", "Stage"), [], []),
        ("Migration", ("1.5", "LiveUpdate"), [], []),
    ],
)
@pytest.mark.parametrize("kind", ["VirtualMachine", "VirtualMachinePool"])
def test_a_strategy_for_volumes_needs_its_gates(
    kind: str, strategy: str | None, cluster: tuple[str, str], gates: list[str], missing: list[str]
) -> None:
    release, rollout = cluster
    developer = {"featureGates": ["VMLiveUpdateFeatures", *gates]}
    config = {"vmRolloutStrategy": rollout, "developerConfiguration": developer}
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}},
    }
    spec: Json = {"runStrategy": "Halted", "template": template}
    if strategy is not None:
        spec["updateVolumesStrategy"] = strategy
    body: Json = {"metadata": {"name": "web", "namespace": "prod"}, "kind": kind}
    if kind == "VirtualMachine":
        body |= {"apiVersion": "kubevirt.io/v1", "spec": spec}
    else:
        of_each = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
        selector = {"matchLabels": {"app": "web"}}
        body["apiVersion"] = "pool.kubevirt.io/v1alpha1"
        body["spec"] = {"selector": selector, "virtualMachineTemplate": of_each}
    settings = {**_LIVE, "spec": {"configuration": config}}
    found = render([settings, body], Settings(kubevirt=release, admission="strict")).diagnostics
    diagnostics = [diagnostic for diagnostic in found if diagnostic.is_error]
    assert {diagnostic.message for diagnostic in diagnostics} == {
        _OFF.format(gate) for gate in missing
    }
    for diagnostic in diagnostics:
        assert diagnostic.code == "VR434"
        assert diagnostic.location.path == ("updateVolumesStrategy",)  # as KubeVirt names it
        assert diagnostic.position is not None
        assert diagnostic.position.path[-1] == "updateVolumesStrategy"
        assert diagnostic.position.path[0] == "spec"


def test_without_settings_of_the_cluster_no_gate_is_asked_for_volumes() -> None:
    vm: Json = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {
            "runStrategy": "Halted",
            "updateVolumesStrategy": "Migration",
            "template": {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}},
        },
    }
    # What 1.4 does where its resource says nothing is Stage, which asks for no gate.
    assert not render([vm], Settings(kubevirt="1.4", admission="full")).diagnostics


@pytest.mark.parametrize(
    ("memory", "text"),
    [
        ({"guest": "1026Mi", "maxGuest": "2050Mi"}, ""),
        ({"guest": "1025Mi", "maxGuest": "2Gi"}, "Guest memory must be 2Mi aligned"),
        ({"guest": "1Gi", "maxGuest": "2049Mi"}, "MaxGuest must be 2Mi aligned"),
        (
            {"guest": "1026Mi", "maxGuest": "2Gi", "hugepages": {"pageSize": "1Gi"}},
            "Guest memory must be 1Gi aligned",
        ),
        (
            {"guest": "2050Mi", "maxGuest": "2Gi"},
            "Guest memory is greater than the configured maxGuest memory",
        ),
        (
            {"guest": "1022Mi", "maxGuest": "2Gi"},
            "Memory hotplug is only available for VMs with at least 1Gi of guest memory",
        ),
    ],
)
def test_sizes_that_memory_can_grow_from_and_to(memory: Json, text: str) -> None:
    fault = memory_fault(
        {"architecture": "amd64", "domain": {"memory": memory}}, memory["maxGuest"], NEWEST
    )
    assert (fault.text if fault else "") == text
