"""How far the work is, and where the time went: for whoever waits at a terminal, and for whoever asks."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator

_STDERR = 2
_PATIENCE = 1.0  # seconds before there is anything to say
_PAUSE = 0.2
_ERASE = "\r\x1b[K"


class Timings:
    """The CPU and wall seconds of each part of the work, from the start of the process."""

    __slots__ = ("_cpu", "_laps", "_wall")

    def __init__(self) -> None:
        self._laps: list[tuple[str, float, float]] = []
        self._cpu, self._wall = 0.0, time.perf_counter()
        self.lap("start")

    def lap(self, name: str) -> None:
        """What was done since the last lap was *name*."""
        cpu, wall = time.process_time(), time.perf_counter()
        self._laps.append((name, cpu - self._cpu, wall - self._wall))
        self._cpu, self._wall = cpu, wall

    def __str__(self) -> str:
        """A line a lap; the wall time of the start, before any code of ours, is not known."""
        rows = [f"{name:<8}{cpu:>9.3f}{wall:>9.3f}\n" for name, cpu, wall in self._laps]
        cpu, wall = sum(lap[1] for lap in self._laps), sum(lap[2] for lap in self._laps)
        return f"seconds       CPU     wall\n{''.join(rows)}{'all':<8}{cpu:>9.3f}{wall:>9.3f}\n"


@contextlib.contextmanager
def line(say: Callable[[], str]) -> Iterator[None]:
    """Show what *say* answers on a line of a terminal on standard error while the work inside takes long."""
    if not os.isatty(_STDERR):
        yield
        return
    import threading

    done = threading.Event()

    def show() -> None:
        pause = _PATIENCE
        while not done.wait(pause):
            sys.stderr.write(f"{_ERASE}{say()}")
            sys.stderr.flush()
            pause = _PAUSE
        if pause == _PAUSE:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()

    showing = threading.Thread(target=show, daemon=True)
    showing.start()
    try:
        yield
    finally:
        done.set()
        showing.join()
