"""Upper bounds for memory that grows, by release and architecture."""

import pytest

from render import Settings, render
from render.model.cluster.live_update import memory_fault
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
    assert [one.message for one in found if one.is_error] == ([text] if text else [])


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
