"""What of a pod counts against a ResourceQuota, whether that is in its scope, and why it refuses one.

Upstream: pkg/quota/v1/evaluator/core/pods.go, staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota
(controller.go), staging/src/k8s.io/apiserver/pkg/quota/v1.
"""

from collections.abc import Iterable

from render.model import tree
from render.model.apimachinery import quantity
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree
from render.room import amounts
from render.room.amounts import Amounts

#: What is quoted under its own name and with ``requests.`` before it.
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
#: If one of these is limited, every container has to say it.
_DEMANDED = frozenset(
    {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}
)
_PLAIN = frozenset(
    {
        "count/pods",
        "pods",
        *(f"{lead}{name}" for name in _COMPUTE for lead in ("", "requests.", "limits.")),
    }
)
_SINGLE, _NONE = quantity.parse("1"), quantity.parse("0")


def usage(spec: Tree) -> Amounts:
    """What a pod with this *spec* counts."""
    counted = _counted(amounts.of_pod(spec, "requests"), amounts.of_pod(spec, "limits"))
    return {"count/pods": _SINGLE, "pods": _SINGLE, **counted}


def _counted(requests: Amounts, limits: Amounts) -> Amounts:
    total: Amounts = {}
    for name in _COMPUTE:
        if name in requests:
            total[name] = total[f"requests.{name}"] = requests[name]
        if name in limits:
            total[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if name.startswith(amounts.HUGE):
            total[name] = total[f"requests.{name}"] = amount
        elif amounts.is_extended(name):
            total[f"requests.{name}"] = amount
    return total


def hard(resource_quota: Tree) -> Amounts:
    """What *resource_quota* grants of what pods ask for; other resources are not judged."""
    granted = amounts.read(tree.get(resource_quota, "spec", "hard"))
    return {name: amount for name, amount in granted.items() if _is_of_pods(name)}


def _is_of_pods(name: str) -> bool:
    requested = name.removeprefix(amounts.REQUESTED)
    return (
        name in _PLAIN
        or requested.startswith(amounts.HUGE)
        or (requested != name and amounts.is_extended(requested))
    )


def scoped(resource_quota: Tree) -> bool:
    """Whether *resource_quota* looks at some pods only."""
    return bool(_expressions(resource_quota))


def _expressions(resource_quota: Tree) -> list[Tree]:
    selector = tree.get(resource_quota, "spec", "scopeSelector", "matchExpressions") or ()
    scopes = tree.get(resource_quota, "spec", "scopes") or ()
    return [*({"scopeName": scope, "operator": "Exists"} for scope in scopes), *selector]


class QuotaRule(NamedTuple):
    """What a ResourceQuota asks of a pod, read once for many pods.

    *limits*: it limits anything of pods; *demanded*: what every container has to say; *scope*: the same for quotas that
    look at the same pods.
    """

    limits: bool
    demanded: frozenset[str]
    expressions: tuple[Tree, ...]
    scope: str

    def matches(self, spec: Tree) -> bool:
        """Whether a pod *spec* is in the scope of the quota, and anything of it is limited there."""
        return self.limits and all(_in_scope(expression, spec) for expression in self.expressions)


def rule(resource_quota: Tree) -> QuotaRule:
    """What *resource_quota* asks of pods."""
    granted, expressions = hard(resource_quota), tuple(_expressions(resource_quota))
    return QuotaRule(bool(granted), _DEMANDED.intersection(granted), expressions, repr(expressions))


def matches(resource_quota: Tree, spec: Tree) -> bool:
    """Whether a pod *spec* is in the scope of *resource_quota*, and anything of it is limited there."""
    return rule(resource_quota).matches(spec)


def _in_scope(expression: Tree, spec: Tree) -> bool:
    scope, operator = expression.get("scopeName"), expression.get("operator")
    deadline = spec.get("activeDeadlineSeconds")
    if scope == "Terminating":
        return deadline is not None and deadline >= 0
    if scope == "NotTerminating":
        return deadline is None or deadline < 0
    if scope == "BestEffort":
        return _is_best_effort(spec)
    if scope == "NotBestEffort":
        return not _is_best_effort(spec)
    if scope == "CrossNamespacePodAffinity":
        return _crosses_namespaces(spec)
    if scope == "PriorityClass":
        name = spec.get("priorityClassName") or ""
        values = expression.get("values") or ()
        return {
            "In": name in values,
            "NotIn": name not in values,
            "Exists": bool(name),
            "DoesNotExist": not name,
        }.get(str(operator), False)
    return False


def _is_best_effort(spec: Tree) -> bool:
    """Whether no container asks for CPU or memory."""
    for group in ("containers", "initContainers"):
        for container in spec.get(group) or ():
            for key in ("requests", "limits"):
                amount = amounts.of_container(container, key)
                if any(name in amount and amount[name].mantissa for name in ("cpu", "memory")):
                    return False
    return True


def _crosses_namespaces(spec: Tree) -> bool:
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity = tree.get(spec, "affinity", kind) or {}
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms = [
            *required,
            *(weighted_term.get("podAffinityTerm") or {} for weighted_term in preferred),
        ]
        if any(
            term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms
        ):
            return True
    return False


def unspoken(demanded: frozenset[str], spec: Tree) -> str:
    """What of the *demanded*, which every container has to say, some do not; ``""`` if all do."""
    missing: dict[str, set[str]] = {}
    for group in ("containers", "initContainers"):
        for container in spec.get(group) or ():
            spoken = _counted(
                amounts.of_container(container, "requests"),
                amounts.of_container(container, "limits"),
            )
            for name in demanded - spoken.keys():
                missing.setdefault(name, set()).add(container["name"])
    return "; ".join(f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing))


def exceeded(granted: Amounts, used: Amounts, requested: Amounts) -> list[str]:
    """The resources of which *used* and *requested* together are more than *granted*."""
    total = amounts.add(
        {name: amount for name, amount in used.items() if name in granted},
        {name: amount for name, amount in requested.items() if name in granted},
    )
    return sorted(
        name for name, amount in total.items()
        if name in requested and quantity.order(amount, granted[name]) > 0
    )  # fmt: skip


def refusal(resource_quotas: Iterable[Tree], spec: Tree) -> str:
    """Why one of *resource_quotas*, with what their status says is used, refuses a pod *spec*; ``""`` if none does."""
    interesting = [
        resource_quota for resource_quota in resource_quotas if matches(resource_quota, spec)
    ]
    for resource_quota in interesting:
        missing = unspoken(rule(resource_quota).demanded, spec)
        if missing:
            return f"failed quota: {resource_quota['metadata']['name']}: must specify {missing}"
    requested = usage(spec)
    for resource_quota in interesting:
        granted = hard(resource_quota)
        used = amounts.read(tree.get(resource_quota, "status", "used"))
        names = exceeded(granted, used, requested)
        if names:
            parts = (
                f"exceeded quota: {resource_quota['metadata']['name']}",
                f"requested: {amounts.listed({name: requested[name] for name in names})}",
                f"used: {amounts.listed({name: used.get(name, _NONE) for name in names})}",
                f"limited: {amounts.listed({name: granted[name] for name in names})}",
            )
            return ", ".join(parts)
    return ""
