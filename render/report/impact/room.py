"""What a change does to the room of namespaces, in words and as data."""

from collections.abc import Iterable, Sequence
from typing import Any

from render.diff.room import NamespaceImpact, QuotaImpact, RequestTotals
from render.report.impact.review import ReviewPart, gibibytes


def lines(parts: Sequence[ReviewPart]) -> list[str]:
    """The namespaces whose pods request something else, and the quotas that begin to fail, a line each."""
    several = len(parts) > 1
    return [
        f"{f'{part.title}: ' if several and part.title else ''}{line}"
        for part in parts
        for line in (
            *(_namespace(one) for one in part.impact.requests if one.before != one.after),
            *(_quota(one, part) for one in part.impact.quotas),
        )
    ]


def _namespace(one: NamespaceImpact) -> str:
    pairs = zip(_words(one.before), _words(one.after), strict=True)
    changed = ", ".join(
        (f"{old} -> {new}" if old != new else new) + unit
        for (old, new), unit in zip(pairs, (" pods", " CPU", " GiB of memory"), strict=True)
    )
    return f"pods in {one.namespace} request: {changed}"


def _words(totals: RequestTotals) -> tuple[str, str, str]:
    cpu = f"{totals.cpu / 1000:,.3f}".rstrip("0").rstrip(".")
    return f"{totals.pods:,}", cpu, gibibytes(totals.memory)


def _quota(one: QuotaImpact, part: ReviewPart) -> str:
    causes = ", ".join(
        " ".join(filter(None, (str(place) if place.file else "", str(cause.resource), cause.field)))
        for cause in one.causes
        for place in (part.locate(cause),)
    )
    because = f", because of {causes}" if causes else ""
    return (
        f"{one.severity}: quota {one.namespace}/{one.quota} begins to fail: {one.resource}={one.needed}"
        f" of {one.hard}{because}"
    )


def requests(parts: Iterable[ReviewPart]) -> list[dict[str, Any]]:
    """What pods request by namespace, as JSON has it: thousandths of a CPU, and bytes."""
    return [
        {
            "kustomization": part.name or None,
            "namespace": one.namespace,
            "before": one.before._asdict(),
            "after": one.after._asdict(),
        }
        for part in parts
        for one in part.impact.requests
    ]
