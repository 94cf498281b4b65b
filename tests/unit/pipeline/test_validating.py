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


@pytest.mark.parametrize(("disk", "refused"), [({}, True), ({"bus": "virtio"}, False)])
def test_metrics_want_another_bus_than_the_default(disk: Json, refused: bool) -> None:  # noqa: FBT001
    domain = {"memory": {"guest": "1Gi"}, "devices": {"disks": [{"name": "metrics", "disk": disk}]}}
    spec = {"domain": domain, "volumes": [{"name": "metrics", "downwardMetrics": {}}]}
    vm: Json = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {"runStrategy": "Always", "template": {"spec": spec}},
    }
    errors = [one for one in render([_GATES, vm], Settings()).diagnostics if one.is_error]
    assert [one.check for one in errors] == (["disks/metrics-bus"] if refused else [])
    assert all("refuses its VMI at every start" in one.help for one in errors)
