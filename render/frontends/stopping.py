"""Being told to stop while files are written."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

from render.frontends.exits import Exit


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM end the work inside with all the cleaning up that an exception brings."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise SystemExit(Exit.TERMINATED)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
