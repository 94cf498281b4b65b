"""What of the input cannot be read: what is not found may stand there."""

from collections.abc import Iterable, Iterator
from itertools import chain

from render.diagnostics.diagnostic import Severity
from render.frontends.parts import FleetPart
from render.frontends.reporting import findings_of
from render.frontends.session import unread
from render.report.findings import Finding


def names(parts: Iterable[FleetPart]) -> list[str]:
    """What of *parts* cannot be read, each with the codes that say why."""
    return [reason for part in parts if (reason := unread(part))]


def faults(parts: Iterable[FleetPart]) -> list[Finding]:
    """Why parts of *parts* cannot be read."""
    return [
        finding
        for part in parts
        if unread(part)
        for finding in findings_of(part.loaded, part.loaded.diagnostics, part.request)
    ]


def beside(parts: Iterable[FleetPart]) -> Iterator[Finding]:
    """What could not be opened or filled in, and that is no error since nobody says that a VM stands in it."""
    for part in parts:
        left = [*part.loaded.unopened.values(), *chain(*part.loaded.unfilled.values())]
        noted = [fault._replace(severity=Severity.WARNING) for fault in left]
        yield from findings_of(part.loaded, noted, part.request)


def unopened(parts: Iterable[FleetPart]) -> list[str]:
    """A line with the files and folders that could not be opened, and that nobody named; none without any."""
    paths = sorted({path for part in parts for path in part.loaded.unopened})
    return [f"not looked at: {', '.join(paths)}, which cannot be read"] if paths else []
