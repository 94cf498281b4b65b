"""A command line in a folder of its own, in this process, and what a caller sees of it."""

from collections.abc import Callable
from typing import NamedTuple

from render.diagnostics.exits import Exit


class Answer(NamedTuple):
    """Exit status, standard output, standard error."""

    exit: Exit
    out: str
    err: str


#: Runs a command line; ``files`` are written before, ``stdin`` is what it reads.
Ask = Callable[..., Answer]
