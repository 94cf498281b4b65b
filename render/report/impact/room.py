"""What a change does to the room of namespaces, in words and as data."""

from collections.abc import Iterable, Sequence

from render.diff.room import NamespaceImpact, QuotaImpact, RequestTotals
from render.diff.sizes import gibibytes
from render.model.hints import Any
from render.report.impact.review import ReviewPart


def lines(parts: Sequence[ReviewPart], *, with_figures: bool = True) -> list[str]:
    """The namespaces whose pods request something else, and the quotas that begin to fail, a line each.

    *with_figures*: quotas have theirs, also where a finding names them.
    """
    several = len(parts) > 1
    return [
        f"{f'{part.title}: ' if several and part.title else ''}{line}"
        for part in parts
        for line in (
            *(
                _namespace(namespace_impact)
                for namespace_impact in part.impact.requests
                if namespace_impact.before != namespace_impact.after
            ),
            *(_quota(quota, part, with_figures=with_figures) for quota in part.impact.quotas),
        )
    ]


def _namespace(namespace_impact: NamespaceImpact) -> str:
    pairs = zip(_words(namespace_impact.before), _words(namespace_impact.after), strict=True)
    changed = ", ".join(
        (f"{old} -> {new}" if old != new else new) + unit
        for (old, new), unit in zip(pairs, (" pods", " CPU", " GiB of memory"), strict=True)
    )
    return f"pods in {namespace_impact.namespace} request: {changed}"


def _words(totals: RequestTotals) -> tuple[str, str, str]:
    cpu = f"{totals.cpu / 1000:,.3f}".rstrip("0").rstrip(".")
    return f"{totals.pods:,}", cpu, gibibytes(totals.memory)


def _quota(quota: QuotaImpact, part: ReviewPart, *, with_figures: bool) -> str:
    causes = ", ".join(
        " ".join(filter(None, (str(place) if place.file else "", str(cause.resource), cause.field)))
        for cause in quota.causes
        for place in (part.locate(cause),)
    )
    because = f", because of {causes}" if causes else ""
    is_bytes = quota.resource.endswith("memory") and quota.needed.isdecimal()
    short = f" ({gibibytes(int(quota.needed))} GiB)" if is_bytes else ""
    figures = f": {quota.resource}={quota.needed}{short} of {quota.hard}" if with_figures else ""
    return (
        f"{quota.severity}: quota {quota.namespace}/{quota.quota} begins to fail{figures}{because}"
    )


def requests(parts: Iterable[ReviewPart]) -> list[dict[str, Any]]:
    """What pods request by namespace, as JSON has it: thousandths of a CPU, and bytes."""
    return [
        {
            "kustomization": part.name or None,
            "namespace": namespace_impact.namespace,
            "before": namespace_impact.before._asdict(),
            "after": namespace_impact.after._asdict(),
        }
        for part in parts
        for namespace_impact in part.impact.requests
    ]
