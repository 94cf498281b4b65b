"""Exit statuses: what a caller can tell without reading the report. `docs/options.md` and ``--help`` list them."""

import errno
from enum import IntEnum

from render.model.hints import Self


class Exit(IntEnum):
    """The exit statuses of every front end, a row each.

    *meaning* is what the documentation says of one, *brief* what the help does; ``""`` for those of signals.
    """

    meaning: str
    brief: str

    def __new__(cls, number: int, meaning: str = "", brief: str = "") -> Self:
        """A row of the table."""
        status = int.__new__(cls, number)
        status._value_ = number
        status.meaning, status.brief = meaning, brief
        return status

    OK = 0, "fine; warnings and notes do not count", "fine"
    FINDINGS = (
        1,
        (
            "errors in the input: anything with a position or an object, syntax errors too;"
            " what `--fail-on` or `--exit-code` asks for"
        ),
        "findings",
    )
    USAGE = (
        2,
        "usage, settings, a name that nothing has (a revision of git, a VM), no git or kustomize binary",
        "usage or settings",
    )
    UNREADABLE = 3, "unreadable or unwritable path, failing kustomize, limits", "unreadable input"
    INTERNAL = 4, "a defect of virt-render", "our own fault"
    DEADLINE = 5, "out of time", "deadline"
    HUNG_UP = 129, "hung up (SIGHUP, the terminal is gone)"
    INTERRUPTED = 130, "interrupted (SIGINT, ctrl-C)"
    BROKEN_PIPE = 141, "whoever read the output stopped reading"
    TERMINATED = 143, "terminated (SIGTERM)"


def is_exhausted(error: BaseException) -> bool:
    """Whether *error* says that the system lets us, or anybody, open no more files."""
    return isinstance(error, OSError) and error.errno in {errno.EMFILE, errno.ENFILE}


def failure(error: BaseException) -> Exit:
    """The status of a process that *error* ends."""
    if isinstance(error, BrokenPipeError):
        return Exit.BROKEN_PIPE
    if isinstance(error, OSError) and error.filename is None:  # `os.getcwd`, or one of our streams
        return Exit.UNREADABLE
    if is_exhausted(error):
        return Exit.UNREADABLE
    return Exit.INTERNAL
