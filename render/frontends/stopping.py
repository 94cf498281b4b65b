"""Being asked to end, by SIGTERM, SIGHUP or ctrl-C: an exception, so that all that cleans up after itself does."""

import _thread
import contextlib
import os
import sys
import time
from types import FrameType
from typing import NamedTuple

from render.frontends.exits import Exit
from render.manifests.signals import PATIENCE, STOPS, signal


class Terminated(BaseException):
    """SIGTERM came. No Exception, so that nobody on the way takes it for a failure of his own."""


class HungUp(BaseException):
    """SIGHUP came: the terminal is gone."""


STOPPED = (KeyboardInterrupt, Terminated, HungUp)


class _Stop(NamedTuple):
    """What a signal raises, and how the process that it stopped ends: its status, and the word for it."""

    raised: type[BaseException]
    status: Exit
    word: str


_STOPS: dict[int, _Stop] = {
    signal.SIGINT: _Stop(KeyboardInterrupt, Exit.INTERRUPTED, "interrupted"),
    signal.SIGTERM: _Stop(Terminated, Exit.TERMINATED, "terminated"),
    signal.SIGHUP: _Stop(HungUp, Exit.HUNG_UP, "hung up"),
}


def arm() -> None:
    """Let what asks us to end raise one of `STOPPED`; once more after `PATIENCE` it ends the process on the spot.

    A signal that was ignored when the process started (``nohup``, a job in the background) stays so.
    """
    since: list[float] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if not since:
            since.append(now)
            raise _STOPS[number].raised
        if now - since[0] >= PATIENCE:
            os._exit(_STOPS[number].status)

    def swallowed(lost: "sys.UnraisableHookArgs") -> None:
        """Python ignores what is raised in a finalizer or a callback: have the signal sent again."""
        if not issubclass(lost.exc_type, STOPPED):
            sys.__unraisablehook__(lost)
            return
        since.clear()
        number = next(n for n, stop in _STOPS.items() if issubclass(lost.exc_type, stop.raised))
        _thread.start_new_thread(os.kill, (os.getpid(), number))

    sys.unraisablehook = swallowed
    for number in STOPS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def disarm() -> None:
    """Let what asks us to end do so without a word: there is nothing left to say or to clean up."""
    for number in STOPS:
        with contextlib.suppress(*STOPPED):  # too late: all is done
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)


def note(stopped: BaseException, when: str) -> None:
    """Let *stopped* say *when* the work was stopped, unless it does already."""
    if isinstance(stopped, STOPPED) and not stopped.args:
        stopped.args = (when,)


def behind(error: BaseException) -> BaseException | None:
    """What stopped us, if *error* only came of that: Python wraps what is raised while it makes a class."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, STOPPED):
        cause = cause.__cause__ or cause.__context__
    return cause


def outcome(stopped: BaseException) -> tuple[Exit, str]:
    """The status and the one line of a process that was *stopped*."""
    when = stopped.args[0] if stopped.args else "while starting"
    _, status, word = next(stop for stop in _STOPS.values() if isinstance(stopped, stop.raised))
    return status, f"virt-render: {word} {when}\n"
