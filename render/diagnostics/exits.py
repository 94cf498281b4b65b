"""Exit statuses: what a caller can tell without reading the report. `docs/options.md` lists them."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit statuses of every front end."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    UNREADABLE = 3
    INTERNAL = 4
    DEADLINE = 5
    HUNG_UP = 129
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


def failure(error: BaseException) -> Exit:
    """The status of a process that *error* ends."""
    if isinstance(error, BrokenPipeError):
        return Exit.BROKEN_PIPE
    if isinstance(error, OSError) and error.filename is None:  # `os.getcwd`, or one of our streams
        return Exit.UNREADABLE
    return Exit.INTERNAL
