"""What expectations of VMs came to: for JUnit, which has those that are met too, and for the last line."""

from collections.abc import Sequence

from render.diagnostics.diagnostic import Severity
from render.model.counting import counted
from render.model.named_tuple import NamedTuple
from render.report.terminal import GREEN, SEVERITY_STYLES, painted


class TriedExpectation(NamedTuple):
    """The expectation *name*, *number* of *file*; *failed*: not all that it looks at is as expected."""

    file: str
    number: int
    name: str
    failed: bool = False


def line(tried: Sequence[TriedExpectation], machines: int, *, colour: bool) -> str:
    """``5 expectations in 2 files, 12 VMs looked at: 1 failed``, of so many *machines*, the end in *colour*."""
    files = len({expectation.file for expectation in tried})
    failed = sum(expectation.failed for expectation in tried)
    expectations = f"{counted(len(tried), 'expectation')} in {counted(files, 'file')}"
    summary = f"{expectations}, {counted(machines, 'VM')} looked at"
    came = (f"{failed:,} failed", SEVERITY_STYLES[Severity.ERROR]) if failed else ("all met", GREEN)
    return f"{summary}: {painted(*came, colour=colour)}"
