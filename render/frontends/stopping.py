"""Being asked to end, by SIGTERM or ctrl-C: an exception, so that all that cleans up after itself does."""

import _thread
import contextlib
import os
import sys
import time
from types import FrameType

from render.frontends.exits import Exit
from render.manifests.signals import PATIENCE, STOPS, signal


class Terminated(BaseException):
    """SIGTERM came. No Exception, so that nobody on the way takes it for a failure of his own."""


STOPPED = (KeyboardInterrupt, Terminated)
_EXITS: dict[int, Exit] = {signal.SIGINT: Exit.INTERRUPTED, signal.SIGTERM: Exit.TERMINATED}


def arm() -> None:
    """Let SIGINT and SIGTERM raise one of `STOPPED`; once more after `PATIENCE` they end the process on the spot.

    A signal that was ignored when the process started (``nohup``, a job in the background) stays so.
    """
    since: list[float] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if not since:
            since.append(now)
            raise KeyboardInterrupt if number == signal.SIGINT else Terminated
        if now - since[0] >= PATIENCE:
            os._exit(_EXITS[number])

    def swallowed(lost: "sys.UnraisableHookArgs") -> None:
        """Python ignores what is raised in a finalizer or a callback: have the signal sent again."""
        if not issubclass(lost.exc_type, STOPPED):
            sys.__unraisablehook__(lost)
            return
        since.clear()
        number = signal.SIGTERM if issubclass(lost.exc_type, Terminated) else signal.SIGINT
        _thread.start_new_thread(os.kill, (os.getpid(), number))

    sys.unraisablehook = swallowed
    for number in STOPS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def disarm() -> None:
    """Let SIGINT and SIGTERM end the process without a word: there is nothing left to say or to clean up."""
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
    if isinstance(stopped, Terminated):
        return Exit.TERMINATED, f"virt-render: terminated {when}\n"
    return Exit.INTERRUPTED, f"virt-render: interrupted {when}\n"
