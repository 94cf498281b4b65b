"""Where pods may run: which nodes take them, and the pools that these are in.

Upstream: k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go, k8s.io/component-helpers/scheduling/
corev1/helpers.go (taints).
"""

from collections.abc import Iterable, Mapping

from render.model import tree
from render.model.apimachinery.quantity import QuantityError
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree
from render.room import amounts
from render.room.amounts import Amounts

_REQUIRED = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
_ROLE = "node-role.kubernetes.io/"
#: Labels by which installers say in which pool a node is; else its roles do.
_POOLS = (
    "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",
)  # fmt: skip
_KEEPING_OFF = frozenset({"NoSchedule", "NoExecute"})
_KVM = "devices.kubevirt.io/kvm"


class SchedulableNode(NamedTuple):
    """A node that takes pods: its *name*, *labels*, *taints*, *pool*, and what is *allocatable* there."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Tree, ...]
    pool: str
    allocatable: Amounts

    def takes(self, placement: Mapping[str, object]) -> bool:
        """Whether a VM with this *placement* (nodeSelector, affinity, tolerations) may run here."""
        selector = placement.get("nodeSelector")
        terms = tree.get(placement, *_REQUIRED, "nodeSelectorTerms")
        wanted = selector if isinstance(selector, dict) else {}
        declared = placement.get("tolerations")
        tolerations = declared if isinstance(declared, list) else []
        return (
            all(self.labels.get(key) == value for key, value in wanted.items())
            and (terms is None or any(self._matches(term) for term in terms))
            and all(_is_tolerated(taint, tolerations) for taint in self.taints)
        )

    def _matches(self, term: Tree) -> bool:
        expressions = term.get("matchExpressions") or ()
        fields = term.get("matchFields") or ()
        return bool(expressions or fields) and (
            all(_holds(expression, self.labels) for expression in expressions)
            and all(_holds(expression, {"metadata.name": self.name}) for expression in fields)
        )


def nodes(bodies: Iterable[Tree]) -> list[SchedulableNode]:
    """The nodes among *bodies* that take VMs: with figures, not cordoned, with KVM if any node says that it has it."""
    every = [node for body in bodies if (node := _node(body)) is not None]
    with_kvm = [node for node in every if amounts.number_of(node.allocatable, _KVM)]
    return with_kvm or every


def _node(body: Tree) -> SchedulableNode | None:
    declared = tree.get(body, "status", "allocatable")
    if not isinstance(declared, dict) or tree.get(body, "spec", "unschedulable") is True:
        return None
    try:
        allocatable = amounts.read(declared)
    except (QuantityError, TypeError):
        return None
    labels = tree.get(body, "metadata", "labels")
    known = (
        {key: value for key, value in labels.items() if isinstance(value, str)}
        if isinstance(labels, dict)
        else {}
    )
    taints = tree.get(body, "spec", "taints")
    return SchedulableNode(
        str(tree.get(body, "metadata", "name") or ""),
        known,
        tuple(taint for taint in taints if isinstance(taint, dict))
        if isinstance(taints, list)
        else (),
        _pool(known),
        allocatable,
    )


def _pool(labels: Mapping[str, str]) -> str:
    named = next((labels[key] for key in _POOLS if labels.get(key)), "")
    roles = sorted(key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE))
    return named or ",".join(roles)


def _holds(wanted: Tree, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(wanted.get("key") or ""), wanted.get("values") or ()
    match wanted.get("operator"):
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" as operator:
            return _compares(operator, value, values)
        case _:
            return False


def _compares(operator: str, value: str | None, values: Iterable[str]) -> bool:
    try:
        numbers = [int(value or ""), *map(int, values)]
    except ValueError:
        return False
    return len(numbers) == 2 and (  # noqa: PLR2004 - what the node has, and what is asked for
        numbers[0] > numbers[1] if operator == "Gt" else numbers[0] < numbers[1]
    )


def _is_tolerated(taint: Tree, tolerations: Iterable[Tree]) -> bool:
    return taint.get("effect") not in _KEEPING_OFF or any(
        (not toleration.get("effect") or toleration["effect"] == taint["effect"])
        and (not toleration.get("key") or toleration["key"] == taint.get("key"))
        and (
            toleration.get("operator") == "Exists"
            or (toleration.get("value") or "") == (taint.get("value") or "")
        )
        for toleration in tolerations
    )
