"""Exit statuses: what a caller can tell without reading the report."""

from collections.abc import Iterable
from enum import IntEnum

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic


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


_OF_CODE = {
    codes.USAGE.number: Exit.USAGE,
    codes.INVALID_SETTING.number: Exit.USAGE,
    codes.SEVERAL_ROOTS.number: Exit.USAGE,
    codes.KUSTOMIZE_MISSING.number: Exit.USAGE,
    codes.UNREADABLE.number: Exit.UNREADABLE,
    codes.LIMIT_EXCEEDED.number: Exit.UNREADABLE,
    codes.KUSTOMIZE_FAILED.number: Exit.UNREADABLE,
    codes.UNWRITABLE.number: Exit.UNREADABLE,
    codes.INTERNAL.number: Exit.INTERNAL,
    codes.DEADLINE.number: Exit.DEADLINE,
}
_STRONGEST_FIRST = (Exit.INTERNAL, Exit.DEADLINE, Exit.USAGE, Exit.UNREADABLE, Exit.FINDINGS)


def status(diagnostics: Iterable[Diagnostic]) -> Exit:
    """The status for *diagnostics*: `Exit.OK` without errors, else that of the error that says least of the input."""
    seen = {_OF_CODE.get(d.code, Exit.FINDINGS) for d in diagnostics if d.is_error}
    return next((exit_ for exit_ in _STRONGEST_FIRST if exit_ in seen), Exit.OK)


def failure(error: BaseException) -> Exit:
    """The status of a process that *error* ends."""
    if isinstance(error, BrokenPipeError):
        return Exit.BROKEN_PIPE
    if isinstance(error, OSError) and error.filename is None:  # `os.getcwd`, or one of our streams
        return Exit.UNREADABLE
    return Exit.INTERNAL
