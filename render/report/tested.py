"""What expectations of VMs came to: for JUnit, which has those that are met too, and for the last line."""

from collections.abc import Sequence
from typing import NamedTuple

from render.model.counting import counted


class TriedExpectation(NamedTuple):
    """The expectation *name*, *number* of *file*, of so many *machines*; *failed*: not all are as expected."""

    file: str
    number: int
    name: str
    machines: int
    failed: bool = False


def line(tried: Sequence[TriedExpectation]) -> str:
    """``5 expectations in 2 files, 12 VMs looked at: 1 failed``."""
    files = len({one.file for one in tried})
    failed = sum(one.failed for one in tried)
    machines = counted(sum(one.machines for one in tried), "VM")
    said = f"{counted(len(tried), 'expectation')} in {counted(files, 'file')}, {machines} looked at"
    return f"{said}: {f'{failed:,} failed' if failed else 'all met'}"
