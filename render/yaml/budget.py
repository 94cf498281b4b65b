"""What input may cost: limits on what is read, and what aliases, which make much of little text, may stand for."""

from typing import NamedTuple

DEEPEST = 400
"""Levels of nesting; somewhat beyond, Python's own limit on recursion comes first."""


class Limits(NamedTuple):
    """What input may cost. *total_bytes* is for whoever reads several files; the rest holds for each call of `read`.

    *chart_seconds* of a processor and *chart_bytes* of data are what helm may take for one chart. *depth* may be raised
    to `DEEPEST`.
    """

    file_bytes: int = 64 << 20
    total_bytes: int = 512 << 20
    documents: int = 500_000
    depth: int = 200
    alias_nodes: int = 200_000
    chart_seconds: int = 10
    chart_bytes: int = 1 << 30


MISTAKES = 1_000
"""Of one file; it is not read on beyond them: each costs more than the text in which it is made."""
TOO_MANY = f"more than {MISTAKES:,} mistakes in one file: it is not read on"

_BYTES = 16  # of input, for which another value may come from an alias


class Budget:
    """What aliases may still stand for: so many values at first, and more with each byte that is read.

    One budget is for a whole run, however many documents and files share it.
    """

    __slots__ = ("left", "values")

    def __init__(self, values: int) -> None:
        self.values = self.left = values

    def read(self, size: int) -> None:
        """Count *size* bytes of input."""
        self.left += size // _BYTES
