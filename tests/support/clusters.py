"""The clusters of the recorded HyperConverged cases, by the names that the cases use."""

from render.convert.hyperconverged import Cluster, ClusterNode

PLANE = ClusterNode(worker=False, control_plane=True)
WORKER = ClusterNode()
BOTH = ClusterNode(control_plane=True)
PLAIN = ClusterNode(worker=False)
ARBITER = ClusterNode(worker=False, arbiter=True)


def on(architecture: str, node: ClusterNode) -> ClusterNode:
    return node._replace(architecture=architecture)


def cluster(*groups: tuple[int, ClusterNode]) -> Cluster:
    return Cluster(nodes=tuple(node for count, node in groups for _ in range(count)))


CLUSTERS = {
    "ha": cluster((3, PLANE), (3, WORKER)),
    "kubernetes": cluster((3, PLANE), (3, WORKER)),
    "no-worker-label": cluster((3, PLANE), (3, PLAIN)),
    "single-node": cluster((1, BOTH)),
    "compact": cluster((3, BOTH)),
    "two-node": cluster((2, BOTH)),
    "two-node-arbiter": cluster((2, BOTH), (1, ARBITER)),
    "one-worker": cluster((3, PLANE), (1, WORKER)),
    "hosted": cluster((2, WORKER)),
    "hosted-one": cluster((1, WORKER)),
    "arm64": cluster((3, on("arm64", PLANE)), (2, on("arm64", WORKER))),
    "s390x": cluster((3, on("s390x", PLANE)), (2, on("s390x", WORKER))),
    "mixed": cluster((3, PLANE), (2, WORKER), (3, on("arm64", WORKER))),
    "mixed-arm-control": cluster((3, on("arm64", PLANE)), (3, WORKER), (1, on("arm64", WORKER))),
    "control-other": cluster((3, on("s390x", PLANE)), (1, WORKER), (2, on("arm64", WORKER))),
    "amd64-s390x": cluster((3, PLANE), (2, WORKER), (1, on("s390x", WORKER))),
}
