"""What only the cluster knows: its nodes, and what its build of the operator says.

Upstream: pkg/internal/nodeinfo of the hyperconverged-cluster-operator; deploy/operator.yaml for the
machine types of community builds.
"""

from collections import Counter
from collections.abc import Callable

from render.model import tree
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Version, Windowed, in_force, since, until
from render.model.tree import Tree


class ClusterNode(NamedTuple):
    """A node, as far as the operator looks at it: its *architecture* and its roles."""

    architecture: str = "amd64"
    worker: bool = True
    control_plane: bool = False
    arbiter: bool = False


class Cluster(NamedTuple):
    """The facts about a cluster that decide what a HyperConverged becomes.

    *machine_types* is what the operator's environment says for each architecture: builds of Red Hat
    say ``pc-q35-rhel9.6.0`` or the like for amd64. *emulation* is its ``KVM_EMULATION``.
    """

    nodes: tuple[ClusterNode, ...] = (
        *(ClusterNode(worker=False, control_plane=True) for _ in range(3)),
        *(ClusterNode() for _ in range(3)),
    )
    machine_types: tuple[tuple[str, str], ...] = (
        ("amd64", "q35"),
        ("arm64", "virt"),
        ("s390x", "s390-ccw-virtio"),
    )
    emulation: bool = False

    def is_highly_available(self) -> bool:
        """Whether VMs can move to another node: two workers or more."""
        return sum(node.worker for node in self.nodes) > 1

    def has_control_plane(self) -> bool:
        """Whether the control plane has nodes here; that of a hosted cluster has none."""
        return any(node.control_plane for node in self.nodes)

    def has_several_control_planes(self, release: Version) -> bool:
        """Whether components of the control plane get more than one replica in *release*."""
        return in_force(_SEVERAL, release)[0](self)

    def workload_architectures(self, placement: Tree | None) -> Counter[str]:
        """How many nodes of each architecture take VMs under the *placement* of workloads."""
        return Counter(
            node.architecture for node in self.nodes if _is_schedulable(node, placement or {})
        )

    def default_architecture(self, placement: Tree | None) -> str:
        """The architecture of VMs that name none; empty where no node takes VMs."""
        workloads = self.workload_architectures(placement)
        planes = sorted({node.architecture for node in self.nodes if node.control_plane})
        if planes and planes[0] in workloads:
            return planes[0]
        return min(workloads, key=lambda name: (-workloads[name], name), default="")


def _planes(cluster: Cluster) -> int:
    return sum(node.control_plane for node in cluster.nodes)


def _with_arbiter(cluster: Cluster) -> bool:
    arbiter = any(node.arbiter for node in cluster.nodes)
    return _planes(cluster) > (1 if arbiter else 2)


_Count = Callable[[Cluster], bool]
_SEVERAL: tuple[_Count | Windowed[_Count], ...] = (
    until("1.6", lambda cluster: _planes(cluster) > 2),  # noqa: PLR2004 - three make a quorum
    since("1.6", until("1.8", _with_arbiter)),
    since("1.8", lambda cluster: _planes(cluster) > 1),
)


def recorded(body: Tree, cluster: Cluster) -> Cluster:
    """*cluster* with the nodes that the ``status`` of a HyperConverged tells of, if it does."""
    info = tree.get(body, "status", "nodeInfo")
    available = tree.get(body, "status", "infrastructureHighlyAvailable")
    if not isinstance(info, dict) and not isinstance(available, bool):
        return cluster
    workers = [node for node in cluster.nodes if node.worker]
    planes = [node for node in cluster.nodes if node.control_plane and not node.worker]
    default = tree.get(info, "defaultWorkloadArchitecture")
    architectures = tree.get(info, "workloadsArchitectures")
    if isinstance(architectures, list) and architectures:
        first = default if default in architectures else architectures[0]
        # The status says which there are, not how many: the default is the one with the most nodes.
        workers = [ClusterNode(str(name)) for name in (*architectures, first)]
    architectures = tree.get(info, "controlPlaneArchitectures") or [default]
    if isinstance(architectures, list) and architectures != [None]:
        planes = [
            ClusterNode(
                str(architectures[index % len(architectures)]), worker=False, control_plane=True
            )
            for index in range(max(3, len(architectures)))
        ]
    if available is False:
        workers = workers[:1]
    return cluster._replace(nodes=(*planes, *workers))


def _is_schedulable(node: ClusterNode, placement: Tree) -> bool:
    """Whether VMs are placed on *node*: a worker, or what the placement requires."""
    selector = placement.get("nodeSelector") or {}
    terms = tree.get(
        placement,
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    )
    if not selector and terms is None:
        return node.worker
    selected = all(
        _matches(node, {"key": k, "operator": "In", "values": [v]}) for k, v in selector.items()
    )
    return selected and (terms is None or any(_fits(node, term) for term in terms))


def _fits(node: ClusterNode, term: Tree) -> bool:
    requirements = [*(term.get("matchExpressions") or ()), *(term.get("matchFields") or ())]
    return bool(requirements) and all(_matches(node, each) for each in requirements)


def _matches(node: ClusterNode, requirement: Tree) -> bool:
    """Whether *node* meets a requirement. Labels that nobody gave are those of workers."""
    key, operator, values = (
        requirement.get("key"),
        requirement.get("operator"),
        requirement.get("values") or [],
    )
    labels = _labels(node)
    if key in labels or str(key).startswith(_ROLE):
        value: Any = labels.get(str(key))
        return {
            "In": value in values,
            "NotIn": value not in values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }.get(str(operator), False)
    return node.worker or operator in ("NotIn", "DoesNotExist")


_ROLE = "node-role.kubernetes.io/"


def _labels(node: ClusterNode) -> dict[str, str]:
    roles = {
        "worker": node.worker,
        "control-plane": node.control_plane,
        "master": node.control_plane,
    }
    return {
        "kubernetes.io/arch": node.architecture,
        "beta.kubernetes.io/arch": node.architecture,
        "kubernetes.io/os": "linux",
        **{_ROLE + role: "" for role, has_role in roles.items() if has_role},
    }
