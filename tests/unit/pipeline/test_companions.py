"""The ControllerRevisions that are emitted beside a VM."""

import pytest

from render import Settings, render
from tests.support.pools import Json

_NAME = "instancetype.kubevirt.io/object-name"


@pytest.mark.parametrize(("length", "is_labelled"), [(1, True), (63, True), (64, False)])
def test_a_name_that_no_label_can_hold_is_left_out(length: int, *, is_labelled: bool) -> None:
    """Kubernetes takes 63 characters in a label, and would refuse the whole object for one more."""
    name = "a" * length
    instancetype: Json = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": name, "namespace": "prod"},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}},
    }
    vm: Json = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            "instancetype": {"name": name, "kind": "VirtualMachineInstancetype"},
            "template": {"spec": {"domain": {"devices": {}}}},
        },
    }
    found = render([instancetype, vm], Settings(emit="revisions"))
    (revision,) = (
        resource for resource in found.resources if resource["kind"] == "ControllerRevision"
    )
    assert revision["metadata"]["labels"].get(_NAME) == (name if is_labelled else None)
    assert revision["data"]["metadata"]["name"] == name
