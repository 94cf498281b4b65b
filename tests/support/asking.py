"""A command line in a folder of its own, in this process, and what a caller sees of it."""

import re
from collections.abc import Callable
from typing import NamedTuple

from render.diagnostics.exits import Exit


class Output(NamedTuple):
    """Exit status, standard output, standard error."""

    exit: Exit
    out: str
    err: str

    @property
    def findings(self) -> str:
        """What standard error says before its last line."""
        return without_last_line(self.err)


_WAIVED = re.compile(r"^waived: .*\n", re.MULTILINE)
_FIGURES = re.compile(r"^((no VM among|[\d,]+ VMs?) .*?: |[\d,]+ VMs?: ).*\n", re.MULTILINE)


def without_last_line(report: str) -> str:
    """*report* without the figures that it ends with, and what is waived."""
    without, count = _FIGURES.subn("", report)
    assert count == 1, report
    return _WAIVED.sub("", without)


#: Runs a command line; ``files`` are written before, ``stdin`` is what it reads.
Ask = Callable[..., Output]
