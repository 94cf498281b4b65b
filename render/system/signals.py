"""What asks us to end, by SIGTERM, SIGHUP or ctrl-C: an exception, and what holds it back.

An exception, so that all that cleans up after itself does; held back where something must not be torn apart.
"""

import _thread
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

from render.diagnostics.exits import Exit
from render.model.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # all of it but the enums, whose making costs every start

__all__ = (
    "PARENT_DEATH", "PATIENCE", "STOPPED", "STOPS", "HungUp", "OverdueError", "Terminated", "add_moment", "arm",
    "behind", "deadline", "deferred", "disarm", "lift_deadline", "outcome", "signal", "trace",
)  # fmt: skip

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks a process to end."""
PARENT_DEATH = 1
"""What has prctl(2) send a signal to the process that asks for it, when its parent ends (linux/prctl.h)."""
_LONGEST = 10**9  # seconds: a timer takes no more than ten times that
_PAUSE = 0.01  # seconds
PATIENCE = 1.0
"""Seconds in which the same signal again is the same request: ``timeout`` sends each twice."""


@contextlib.contextmanager
def deferred(numbers: Sequence[int] = (*STOPS, signal.SIGALRM)) -> Iterator[None]:
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


class Terminated(BaseException):
    """SIGTERM came. No Exception, so that nobody on the way takes it for a failure of his own."""


class HungUp(BaseException):
    """SIGHUP came: the terminal is gone."""


_running: list[int] = []
"""The seconds of the deadline that has not been lifted, if there is one."""


class OverdueError(BaseException):
    """A deadline has passed. No Exception, so that nobody on the way takes it for a failure of his own."""


@contextlib.contextmanager
def deadline(seconds: int) -> Iterator[None]:
    """Raise `OverdueError` in whatever runs when *seconds* (0: never) are over; a child process is killed then."""
    if not seconds:
        yield
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise OverdueError

    before = signal.signal(signal.SIGALRM, interrupt)
    _running.append(seconds)
    signal.setitimer(signal.ITIMER_REAL, min(seconds, _LONGEST))
    try:
        yield
    finally:
        lift_deadline()
        signal.signal(signal.SIGALRM, before)


def lift_deadline() -> None:
    """From now on no deadline passes: what has begun to be printed or replaced is better late than torn."""
    if _running:  # the timer is ours
        signal.setitimer(signal.ITIMER_REAL, 0)
        _running.clear()


STOPPED = (KeyboardInterrupt, Terminated, HungUp)


#: What a signal raises, and how the process that it stopped ends: its status, and the word for it.
_STOPS: dict[int, tuple[type[BaseException], Exit, str]] = {
    signal.SIGINT: (KeyboardInterrupt, Exit.INTERRUPTED, "interrupted"),
    signal.SIGTERM: (Terminated, Exit.TERMINATED, "terminated"),
    signal.SIGHUP: (HungUp, Exit.HUNG_UP, "hung up"),
}


def arm() -> None:
    """Let what asks us to end raise one of `STOPPED`; once more after `PATIENCE` it ends the process on the spot.

    A signal that was ignored when the process started (``nohup``, a job in the background) stays so.
    """
    since: list[float] = []

    def stop(number: int, frame: FrameType | None) -> None:
        while frame is not None:
            if frame.f_code is swallowed.__code__:  # what is raised there is ignored as well
                _send_later(number)
                return
            frame = frame.f_back
        now = time.monotonic()
        if not since:
            since.append(now)
            raised, _, _ = _STOPS[number]
            raise raised
        if now - since[0] >= PATIENCE:
            _, status, _ = _STOPS[number]
            os._exit(status)

    def swallowed(lost: "sys.UnraisableHookArgs") -> None:
        """Python ignores what is raised in a finalizer or a callback: have the signal sent again."""
        if not issubclass(lost.exc_type, STOPPED):
            sys.__unraisablehook__(lost)
            return
        since.clear()
        number = next(n for n, (raised, *_) in _STOPS.items() if issubclass(lost.exc_type, raised))
        _send_later(number)

    sys.unraisablehook = swallowed
    for number in STOPS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def _send_later(number: int) -> None:
    """Have the signal *number* sent again, once what runs now is over."""

    def send() -> None:
        time.sleep(_PAUSE)
        os.kill(os.getpid(), number)

    _thread.start_new_thread(send, ())


def disarm() -> None:
    """Let what asks us to end do so without a word: there is nothing left to say or to clean up."""
    for number in STOPS:
        with contextlib.suppress(*STOPPED):  # too late: all is done
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)


def add_moment(stopped: BaseException, when: str) -> None:
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
    _, status, word = next(stop for stop in _STOPS.values() if isinstance(stopped, stop[0]))
    return status, f"virt-render: {word} {when}\n"


def trace(error: Exception) -> None:
    """Print where *error* was raised, if somebody looks for a defect."""
    if os.environ.get("VIRT_RENDER_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
