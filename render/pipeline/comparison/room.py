"""What a change does to the room of namespaces: requests before and after, quotas that begin to fail, and why."""

from collections.abc import Iterable, Iterator

from render.diagnostics.codes import QUOTA
from render.diagnostics.diagnostic import Diagnostic
from render.diff.impact import FieldChange, Impact
from render.diff.room import NamespaceImpact, QuotaImpact, RequestTotals
from render.diff.source import ChangeSource
from render.model.resource import ResourceRef
from render.pipeline.comparison.sides import Side
from render.room.figures import CapacityGroup, ClusterCapacity, QuotaFigure

_MOST_CAUSES = 5
_NOTHING = ClusterCapacity()
#: Words in the fields that make a pod ask for more of a resource.
_WORDS = {"memory": ("memory", "hugepages"), "cpu": ("cpu",)}
#: What leaves a VM as it is in the cluster, and what of it is not known.
_STAYING = frozenset({"refused", "unrenderable"})
#: What of a VM itself, and of a pool, decides how many pods there are.
_RUNNING = ("runStrategy", "running", "replicas")


def described(impact: Impact, old: Side, new: Side) -> Impact:
    """*impact* with the requests of namespaces, and the quotas that begin to fail."""
    before, after = old.capacity or _NOTHING, new.capacity or _NOTHING
    uncounted = {namespace or new.settings.namespace for namespace in _uncounted(impact)}
    return impact._replace(
        requests=tuple(
            requested
            for requested in _requests(before.namespaces, after.namespaces)
            if requested.namespace not in uncounted
        ),
        quotas=tuple(_beginning(impact, before, after, new)),
    )


def _uncounted(impact: Impact) -> Iterator[str]:
    """The namespaces of VMs and pools that stay as they are, since the second state cannot be had of them.

    What their pods request goes on, and the second state has not counted it.
    """
    failed = {error.resource for error in impact.new_errors}
    for machine in impact.machines:
        has_failed = machine.resource in failed
        if "new" not in machine.effects and (
            has_failed or not _STAYING.isdisjoint(machine.effects)
        ):
            yield machine.resource.namespace
    for holder in impact.holders:
        if holder.outcome == "refused":
            yield holder.resource.namespace


def _requests(
    before: Iterable[CapacityGroup], after: Iterable[CapacityGroup]
) -> Iterator[NamespaceImpact]:
    first, second = ({group.name: _totals(group) for group in groups} for groups in (before, after))
    nothing = RequestTotals()
    for name in sorted({**first, **second}):
        yield NamespaceImpact(name, first.get(name, nothing), second.get(name, nothing))


def _totals(group: CapacityGroup) -> RequestTotals:
    return RequestTotals(group.pods, group.cpu.always, group.memory.always)


_Key = tuple[str, str, str]


def _figures(capacity: ClusterCapacity) -> dict[_Key, QuotaFigure]:
    return {(figure.namespace, figure.quota, figure.resource): figure for figure in capacity.quotas}


def _beginning(
    impact: Impact, before: ClusterCapacity, after: ClusterCapacity, new: Side
) -> Iterator[QuotaImpact]:
    known, figures = _figures(before), _figures(after)
    for key, figure in figures.items():
        first = known.get(key)
        if not _fails(figure) or (first is not None and _fails(first) >= _fails(figure)):
            continue
        finding = _finding(impact.after, figure, new)
        if finding is not None:
            needed = finding.message.partition(f"{figure.resource}=")[2].partition(",")[0]
            yield QuotaImpact(
                figure.namespace,
                figure.quota,
                figure.resource,
                figure.hard,
                needed,
                finding.severity.value,
                tuple(_causes(impact, first, figure, new))[:_MOST_CAUSES],
            )


def _fails(figure: QuotaFigure) -> int:
    """2 where what always runs does not fit a quota, 1 where what may be started does not, else 0."""
    is_nothing = figure.hard == "0"
    if figure.part > 1 or (is_nothing and figure.part > 0):
        return 2
    return int(
        figure.part + figure.startable_part > 1 or (is_nothing and figure.startable_part > 0)
    )


def _finding(
    diagnostics: Iterable[Diagnostic], figure: QuotaFigure, new: Side
) -> Diagnostic | None:
    """What is said of the quota of *figure*; None where that is silenced."""
    for diagnostic in diagnostics:
        resource = diagnostic.location.resource
        if (
            diagnostic.code == QUOTA.number
            and resource is not None
            and (resource.namespace or new.settings.namespace) == figure.namespace
            and resource.name == figure.quota
            and f"{figure.resource}=" in diagnostic.message
        ):
            return diagnostic
    return None


def _causes(
    impact: Impact, first: QuotaFigure | None, figure: QuotaFigure, new: Side
) -> Iterator[ChangeSource]:
    """The fields that brought it: that of the quota, then those of VMs, that which adds most first."""
    if first is None or first.hard != figure.hard:
        ref = ResourceRef("ResourceQuota", figure.namespace, figure.quota)
        path = ("spec", "hard", figure.resource)
        place = _source(ref, path, new) or _source(ref._replace(namespace=""), path, new)
        if place is not None:
            yield place
    known = {(need.resource, need.always): need.amount for need in (first.needs if first else ())}
    growing = [
        (need.amount - known.get((need.resource, need.always), 0.0), need.resource)
        for need in figure.needs
    ]
    for growth, ref in sorted(growing, key=lambda pair: (-pair[0], pair[1])):
        if growth > 0:
            inner = ("spec", "replicas") if _has_more(impact, ref) else ()
            place = _of_machine(impact, ref, figure.resource) or _source(ref, inner, new)
            if place is not None:
                yield place


def _has_more(impact: Impact, ref: ResourceRef) -> bool:
    """Whether a pool or a replica set makes more of what it made before."""
    return any(
        holder.resource == ref and 0 < holder.replicas[0] < holder.replicas[1]
        for holder in impact.holders
    )


def _of_machine(impact: Impact, ref: ResourceRef, resource: str) -> ChangeSource | None:
    """The edited field of a VM or a pool by which its pods ask for more of *resource*."""
    of_machines = [machine.changes for machine in impact.machines if machine.resource == ref]
    of_holders = [holder.changes for holder in impact.holders if holder.resource == ref]
    changes: list[FieldChange] = [
        leaf
        for several in (*of_machines, *of_holders)
        for change in several
        for leaf in change.leaves or (change,)
    ]
    name = resource.removeprefix("requests.").removeprefix("limits.")
    words = (*_WORDS.get(name, (name,)), *_RUNNING)
    causes = [
        change.cause
        for word in words
        for change in changes
        if word in change.field and change.cause
    ]
    return next(iter(causes), next((change.cause for change in changes if change.cause), None))


def _source(ref: ResourceRef, path: tuple[str, ...], side: Side) -> ChangeSource | None:
    index = side.places.places.get((ref.kind, ref.namespace, ref.name))
    return None if index is None else ChangeSource(ref, path, index, "after")
