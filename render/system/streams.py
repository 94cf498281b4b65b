"""The standard streams of the process: whole texts, written at once."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator

from render.model.hints import BinaryIO
from render.system import signals
from render.system.signals import STOPS, deferred

STDOUT, STDERR = 1, 2
#: When somebody who asks us to end is too late for what was printed.
PRINTED = "after printing everything"
_PIECE = 1 << 16


def emit(text: str | bytes, to: int) -> None:
    """Write *text* (bytes, where names of files are in it) to the file descriptor *to*, whole.

    A failing write is an OSError here, not a surprise at exit. Not so on standard error: where nobody listens the exit
    status has to do.
    """
    emit_all((text,), to)


def emit_all(
    texts: Iterable[str | bytes], to: int, printed: Callable[[], None] = lambda: None
) -> None:
    """Write *texts* to the file descriptor *to*, one after the other. On standard output no deadline passes any more.

    Who asks us to end waits for standard output, lest its reader takes half of it for all; not at a terminal, and no
    longer than until he asks again. *printed* is called once all is there, before he is heard.
    """
    pieces = _pieces(
        text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
        for text in texts
    )
    if to == STDERR:
        with contextlib.suppress(OSError):
            _write_all(pieces, to)
        return
    signals.lift_deadline()
    if os.isatty(to):
        _write_all(pieces, to)
        printed()
        return
    when = "while printing"
    try:
        with deferred(STOPS):
            _write_all(pieces, to)
            when = PRINTED
            printed()
    except signals.STOPPED as stopped:
        signals.add_moment(stopped, when)
        raise


def _pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    """*parts* joined to pieces that are worth a call of the system."""
    kept: list[bytes] = []
    size = 0
    for part in parts:
        kept.append(part)
        size += len(part)
        if size >= _PIECE:
            yield b"".join(kept)
            kept, size = [], 0
    yield b"".join(kept)


def _write_all(pieces: Iterable[bytes], to: int) -> None:
    """Without a buffer, which would be written in the end even where nobody reads any more."""
    for piece in pieces:
        left = memoryview(piece)
        while left:
            left = left[os.write(to, left) :]


def standard_input() -> BinaryIO | None:
    """The stream that ``-`` means; None in a process without one."""
    return sys.stdin.buffer if sys.stdin else None
