"""Signals that have to wait for what must not be torn apart."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # all of it but the enums, whose making costs every start

__all__ = ("PATIENCE", "STOPS", "held", "signal")

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks a process to end."""
PATIENCE = 1.0
"""Seconds in which the same signal again is the same request: ``timeout`` sends each twice."""


@contextlib.contextmanager
def held(numbers: Sequence[int] = (*STOPS, signal.SIGALRM)) -> Iterator[None]:
    """Let the signals *numbers*, whose handlers may raise, wait until the work inside is done.

    One that comes again after `PATIENCE` waits no longer. Outside of the main thread, where handlers never run, and for
    signals that have no handler in Python, nothing is done.
    """
    waiting: dict[int, float] = {}
    before: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def wait(number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - waiting.setdefault(number, now) >= PATIENCE:
            waiting.clear()
            signal.signal(number, before[number])
            signal.raise_signal(number)

    with contextlib.suppress(ValueError):  # not the main thread
        for number in numbers:
            handler = signal.getsignal(number)
            if callable(handler):
                before[number] = handler
                signal.signal(number, wait)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number in tuple(waiting):
        signal.raise_signal(number)
