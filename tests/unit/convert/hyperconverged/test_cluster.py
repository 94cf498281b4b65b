"""What the nodes of a cluster decide."""

from typing import Any

import pytest

from render.convert.hyperconverged import Cluster, ClusterNode
from render.convert.hyperconverged.cluster import recorded

PLANE = ClusterNode(worker=False, control_plane=True)
ARM = ClusterNode("arm64")
MIXED = Cluster(nodes=(PLANE, ClusterNode(), ARM, ARM))


def required(key: str, operator: str, *values: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}
    held = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": held}}


def test_the_control_plane_decides_where_workers_have_its_architecture() -> None:
    assert MIXED.default_architecture(None) == "amd64"


def test_else_most_workers_decide_and_the_first_by_name_of_equals() -> None:
    hosted = MIXED._replace(nodes=(ClusterNode(), ARM, ARM))
    assert hosted.default_architecture(None) == "arm64"
    assert hosted._replace(nodes=(ARM, ClusterNode())).default_architecture(None) == "amd64"
    assert hosted._replace(nodes=(PLANE,)).default_architecture(None) == ""


@pytest.mark.parametrize(
    ("placement", "architectures"),
    [
        ({"nodeSelector": {"kubernetes.io/arch": "arm64"}}, {"arm64": 2}),
        (required("kubernetes.io/arch", "In", "arm64"), {"arm64": 2}),
        (required("kubernetes.io/arch", "NotIn", "arm64"), {"amd64": 2}),
        (required("example.com/zone", "Exists"), {"amd64": 1, "arm64": 2}),
        (required("example.com/zone", "DoesNotExist"), {"amd64": 2, "arm64": 2}),
        (required("node-role.kubernetes.io/control-plane", "Exists"), {"amd64": 1}),
        ({"nodeSelector": {"node-role.kubernetes.io/worker": ""}}, {"amd64": 1, "arm64": 2}),
        ({"tolerations": []}, {"amd64": 1, "arm64": 2}),
        (required("kubernetes.io/arch", "Near", "arm64"), {}),
    ],
)
def test_a_placement_chooses_nodes(
    placement: dict[str, Any], architectures: dict[str, int]
) -> None:
    assert MIXED.workload_architectures(placement) == architectures


def test_a_status_tells_of_the_nodes() -> None:
    status = {
        "infrastructureHighlyAvailable": False,
        "nodeInfo": {"controlPlaneArchitectures": ["s390x"], "workloadsArchitectures": ["s390x"]},
    }
    found = recorded({"status": status}, Cluster())
    assert not found.is_highly_available()
    assert found.default_architecture(None) == "s390x"
    assert recorded({"status": {}}, Cluster()) == Cluster()


def test_the_default_that_a_status_names_stays_the_default() -> None:
    info = {
        "controlPlaneArchitectures": ["s390x"],
        "workloadsArchitectures": ["amd64", "arm64"],
        "defaultWorkloadArchitecture": "arm64",
    }
    found = recorded({"status": {"nodeInfo": info}}, Cluster())
    assert found.default_architecture(None) == "arm64"
    assert found.is_highly_available()
