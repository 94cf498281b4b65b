"""The figures of a fleet: what its pods ask for by namespace, instancetype and node pool, against what there is."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from render.model.resource import Resource
from render.pipeline.capacity import quotas
from render.pipeline.capacity.namespaces import NamespaceRules
from render.pipeline.capacity.quotas import PodUse
from render.room import amounts, quota
from render.room.amounts import Amounts
from render.room.figures import (
    CapacityGroup,
    ClusterCapacity,
    MachineNeed,
    PoolFigure,
    QuotaFigure,
    ResourceShare,
)
from render.room.nodes import SchedulableNode

_CPU, _MEMORY = "cpu", "memory"


def capacity(
    uses: Sequence[PodUse], rules: Mapping[str, NamespaceRules], nodes: Sequence[SchedulableNode]
) -> ClusterCapacity:
    """The figures of *uses* in namespaces with *rules* and on *nodes*."""
    by_namespace: dict[str, list[PodUse]] = {}
    for use in uses:
        by_namespace.setdefault(use.namespace, []).append(use)
    return ClusterCapacity(
        tuple(
            _limited(group, rules.get(group.name))
            for group in _groups(uses, lambda use: use.namespace)
        ),
        _groups(uses, lambda use: use.size.instancetype),
        tuple(
            figure
            for namespace in sorted(rules)
            for resource in rules[namespace].quotas
            for figure in _of_quota(resource, namespace, by_namespace.get(namespace, ()))
        ),
        tuple(_pools(uses, nodes)),
    )


def _groups(uses: Iterable[PodUse], key: Callable[[PodUse], str]) -> tuple[CapacityGroup, ...]:
    groups: dict[str, CapacityGroup] = {}
    for use in uses:
        name = key(use)
        groups[name] = groups.get(name, CapacityGroup(name)).adding(_of_use(use))
    return tuple(groups[name] for name in sorted(groups))


def _of_use(use: PodUse) -> CapacityGroup:
    cpu = int(amounts.number_of(use.requests, _CPU) * 1000)
    memory = int(amounts.number_of(use.requests, _MEMORY))
    count = use.replicas if use.always else 0
    startable = 0 if use.always else use.replicas
    overhead = max(memory - use.size.memory, 0)
    return CapacityGroup(
        "",
        count,
        ResourceShare(cpu * count, 0, cpu * startable),
        ResourceShare(memory * count, overhead * count, memory * startable),
    )


def _limited(group: CapacityGroup, rules: NamespaceRules | None) -> CapacityGroup:
    """*group* with what the quotas of its namespace that look at all pods grant it: the least of them."""
    granted = [
        quota.hard(limiting.body)
        for limiting in (rules.quotas if rules else ())
        if not quota.scoped(limiting.body)
    ]
    return group._replace(
        cpu=group.cpu._replace(limit=_least(granted, _CPU, 1000)),
        memory=group.memory._replace(limit=_least(granted, _MEMORY, 1)),
    )


def _least(granted: Iterable[Amounts], name: str, unit: int) -> int | None:
    limits = [
        int(amounts.number(grant[key]) * unit)
        for grant in granted
        for key in (name, f"requests.{name}")
        if key in grant
    ]
    return min(limits, default=None)


def _of_quota(resource: Resource, namespace: str, uses: Iterable[PodUse]) -> Iterable[QuotaFigure]:
    its = [use for use in uses if resource.index in use.usage]
    always = quotas.steady((use for use in its if use.always), resource.index)
    startable = quotas.steady((use for use in its if not use.always), resource.index)
    for name, hard in sorted(quota.hard(resource.body).items()):
        most = amounts.number(hard)
        parts = [amounts.number_of(demand, name) for demand in (always, startable)]
        texts = [amounts.text_of(demand, name) for demand in (always, startable)]
        share = [float(part / most) if most else float(part > 0) for part in parts]
        yield QuotaFigure(
            namespace,
            resource.name,
            name,
            amounts.text_of({name: hard}, name),
            texts[0],
            texts[1],
            share[0],
            share[1],
            tuple(
                MachineNeed(
                    use.where.resource,
                    float(amounts.number_of(use.usage[resource.index], name) * use.replicas),
                    use.always,
                )
                for use in its
                if use.where.resource is not None
            ),
        )


def _pools(uses: Sequence[PodUse], nodes: Sequence[SchedulableNode]) -> Iterable[PoolFigure]:
    """Every pool with what can run there alone, and, where there are several, all of them with everything."""
    if not nodes:
        return
    bound: dict[str, list[PodUse]] = {}
    pools_of: dict[str, set[str]] = {}
    for use in uses:
        key = repr(use.placement)
        if key not in pools_of:
            pools_of[key] = {node.pool for node in nodes if node.takes(use.placement)}
        if len(pools_of[key]) == 1:
            (pool,) = pools_of[key]
            bound.setdefault(pool, []).append(use)
    names = sorted({node.pool for node in nodes})
    for name in names:
        its = bound.get(name, ()) if len(names) > 1 else uses
        yield _pool(name, [node for node in nodes if node.pool == name], its)
    if len(names) > 1:
        yield _pool("", nodes, uses)


def _pool(name: str, nodes: Sequence[SchedulableNode], uses: Iterable[PodUse]) -> PoolFigure:
    total = amounts.sums(node.allocatable for node in nodes)
    cpu = int(amounts.number_of(total, _CPU) * 1000)
    memory = int(amounts.number_of(total, _MEMORY))
    group = CapacityGroup(name)
    for use in uses:
        group = group.adding(_of_use(use))
    largest = max(nodes, key=lambda node: amounts.number_of(node.allocatable, _MEMORY))
    return PoolFigure(
        group._replace(
            cpu=group.cpu._replace(limit=cpu), memory=group.memory._replace(limit=memory)
        ),
        len(nodes),
        largest.name,
        cpu - int(amounts.number_of(largest.allocatable, _CPU) * 1000) - group.cpu.always,
        memory - int(amounts.number_of(largest.allocatable, _MEMORY)) - group.memory.always,
    )
