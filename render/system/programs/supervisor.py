"""A process that starts programs, one after another: what their walls cost is paid once for many of them.

In a box it is the first of a namespace of processes: the kernel ends all that is in there with it, and it ends what a
program has left there before the next one is started. Without a namespace it is the first of a group that none of them
can leave, and ends with what a program has left there.
"""

import array  # noqa: F401 - `socket` asks for it where nothing can be loaded any more
import contextlib
import fcntl
import gc
import marshal
import os
import resource
import select
import socket
from collections.abc import Callable, Mapping, Sequence

from render.model.hints import IO, NoReturn, Self
from render.model.named_tuple import NamedTuple
from render.system.files import real_path
from render.system.signals import PARENT_DEATH, signal

_LARGEST_ORDER = 1 << 17
"""Bytes of a command with its environment, and of an answer."""
_LINK, _RULES = 3, 4
"""Which files are open in the new processes, beside streams that lead nowhere."""
_NUMBER, _READY, _ENDED, _FAILED = "number", "ready", "ended", "failed"
#: The program has ended, and so does its supervisor now.
_LAST = "last"
_END = b"end"
_PATIENCE = 10.0
"""Seconds in which a system that lets us do what we ask for has done it."""

Bounds = Sequence[tuple[int, int]]
"""Limits of resources, each by its number."""
Prctl = Callable[[int, int, int, int, int], int]


class Recipe(NamedTuple):
    """How a supervisor comes about: *leave* enters new namespaces, *confine* builds the walls in them, with *rules*.

    Both are called in new processes, and answer whether they could. Of our files none is open there but *rules*, if
    there are any, under a number of its own. Without *leave* it stays among our processes.
    """

    leave: Callable[[], bool] | None
    confine: Callable[[int], bool]
    rules: int | None
    prctl: Prctl


class Supervisor:
    """A process of ours that starts programs within *bounds*, which hold for itself too.

    *is_alive*: nobody has ended it. *is_group*: it ends with a program that is ended before its time.
    """

    def __init__(self, number: int, handle: int, link: socket.socket, *, is_group: bool) -> None:
        self._number = number
        self._handle = handle
        self._link = link
        self._is_group = is_group
        self._spent = 0.0
        self._is_closed = False
        self.is_alive = True
        self.bounds: Bounds = ()

    @classmethod
    def made(cls, recipe: Recipe) -> Self | None:
        """One made by *recipe*; None where the system does not let us."""
        if not hasattr(os, "pidfd_open"):
            return None
        link, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with contextlib.ExitStack() as stack:
            stack.callback(link.close)
            with its:
                number = os.fork()
                if not number:
                    _leave(its, recipe)
            stack.callback(_end, number)
            answers = dict(filter(None, (_answer(link, _PATIENCE) for _ in range(2))))
            if not answers.keys() >= {_NUMBER, _READY}:
                return None
            try:
                handle = os.pidfd_open(answers[_NUMBER][0])
            except OSError:
                return None
            stack.pop_all()
            return cls(number, handle, link, is_group=recipe.leave is None)

    def allows(self, bounds: Bounds) -> bool:
        """Whether a program can be given *bounds*: once lowered they stay so."""
        before = dict(self.bounds)
        return all(most <= before.get(kind, most) for kind, most in bounds)

    @staticmethod
    def takes(command: Sequence[str], environ: Mapping[str, str]) -> bool:
        """Whether it can be told of a *command* and its *environ*, which are not too long."""
        words = (*command, *environ, *environ.values())
        return sum(map(len, words)) + 16 * len(words) < _LARGEST_ORDER // 4

    def start(
        self, command: Sequence[str], folder: str, environ: Mapping[str, str]
    ) -> "SupervisedProgram":
        """Have *command* started in *folder*; no other one runs here."""
        ours, its = zip(os.pipe()[::-1], os.pipe(), os.pipe(), strict=True)
        place = real_path(folder)  # the supervisor is elsewhere
        order = marshal.dumps((list(command), place, dict(environ), [*self.bounds]))
        try:
            socket.send_fds(self._link, [order], its)
        except OSError:
            self.is_alive = False  # the answer will say so
        finally:
            for descriptor in its:
                os.close(descriptor)
        return SupervisedProgram(self, ours)

    def end(self) -> None:
        """Have its program ended, with all that this has started."""
        self.is_alive = self.is_alive and not self._is_group
        with contextlib.suppress(OSError):  # it is gone
            self._link.send(_END)

    def is_ready(self, seconds: float | None) -> bool:
        """Whether there is an answer within *seconds*, or it is gone."""
        return _is_ready(self._link, seconds)

    def ended(self) -> tuple[int, float]:
        """The status of its program, and which seconds of a processor it took. Raises OSError: it did not start."""
        answer = _answer(self._link)
        if answer is None:
            before = self._spent
            return -signal.SIGKILL, self.close() - before
        word, (status, seconds) = answer
        self._spent += seconds
        self.is_alive = self.is_alive and word != _LAST
        if word == _FAILED:
            raise OSError(status, os.strerror(status))
        return os.waitstatus_to_exitcode(status), seconds

    def leave(self) -> None:
        """Let it go with all that it has started, which takes it a moment."""
        self.is_alive = False
        with contextlib.suppress(OSError):
            if self._is_group:  # until we have waited for it, its number is not reused
                os.killpg(self._number, signal.SIGKILL)
            else:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def close(self) -> float:
        """End it, and wait until nothing of it is left; the answer is what all of it has spent."""
        if self._is_closed:
            return self._spent
        self.leave()
        self._is_closed = True
        os.close(self._handle)
        self._link.close()
        try:
            _, _, usage = os.wait4(self._number, 0)
        except ChildProcessError:  # who started us wants nobody to hear of the ends of children
            return self._spent
        return usage.ru_utime + usage.ru_stime


class SupervisedProgram:
    """A program that a supervisor has started: its pipes, and its end."""

    def __init__(self, supervisor: Supervisor, descriptors: Sequence[int]) -> None:
        self._supervisor = supervisor
        self._is_over = False
        self.stdin: IO[bytes] = open(descriptors[0], "wb", buffering=0)  # noqa: SIM115 - closed by who asked for it
        self.stdout: IO[bytes] = open(descriptors[1], "rb", buffering=0)  # noqa: SIM115
        self.stderr: IO[bytes] = open(descriptors[2], "rb", buffering=0)  # noqa: SIM115

    def kill(self) -> None:
        """End it with all that it has started, unless it has ended by itself."""
        if not self._is_over:
            self._supervisor.end()

    def wait(self, seconds: float | None) -> bool:
        """Wait until it has ended; whether it has within *seconds*."""
        self._is_over = self._is_over or self._supervisor.is_ready(seconds)
        return self._is_over

    def reap(self) -> tuple[int, float]:
        """Its exit status once it has ended, and which seconds of a processor it took. Raises OSError."""
        self._is_over = True
        return self._supervisor.ended()


_Answer = tuple[str, tuple[int, float]]
"""A word with two numbers: of a process or a status, and of seconds of a processor."""


def _is_ready(link: socket.socket, seconds: float | None) -> bool:
    poll = select.poll()
    poll.register(link, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))


def _answer(link: socket.socket, seconds: float | None = None) -> _Answer | None:
    """What comes through *link* within *seconds*; None where nothing does, or nobody is there any more."""
    try:
        message = link.recv(_LARGEST_ORDER) if _is_ready(link, seconds) else b""
    except ConnectionError:
        return None
    answer: _Answer | None = marshal.loads(message) if message else None  # noqa: S302 - of ours
    return answer


def _end(number: int) -> None:
    """End the process *number*, a child of ours, with which all ends that it has started."""
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)


def _leave(link: socket.socket, recipe: Recipe) -> NoReturn:
    """In a new process: enter new namespaces, leave the rest to the first process in them, and wait for its end."""
    status = 1
    try:
        parent = os.getppid()
        _forget(link, recipe.rules)
        os.setsid()
        if recipe.leave is None:
            os.write(_LINK, marshal.dumps((_NUMBER, (os.getpid(), 0.0))))
            _supervise(recipe, _ended_in_group)
        if recipe.leave():
            recipe.prctl(PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
            number = os.fork() if os.getppid() == parent else -1
            if not number:
                os.setsid()
                recipe.prctl(PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
                _supervise(recipe, _ended)
            if number > 0:
                os.write(_LINK, marshal.dumps((_NUMBER, (number, 0.0))))
                os.close(_LINK)
                os.waitpid(number, 0)
                status = 0
    finally:
        os._exit(status)


def _forget(link: socket.socket, rules: int | None) -> None:
    """Keep nothing of our parent's but *link* and *rules*: no file, no terminal, no handler of a signal."""
    gc.disable()
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    nothing = os.open(os.devnull, os.O_RDWR)
    kept = [link.fileno(), nothing if rules is None else rules]
    kept = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _RULES + 1) for descriptor in kept]
    for stream in range(_LINK):
        os.dup2(nothing, stream)
    for place, descriptor in zip((_LINK, _RULES), kept, strict=True):
        os.dup2(descriptor, place, inheritable=False)
    os.closerange(_RULES + 1, os.sysconf("SC_OPEN_MAX"))


def _supervise(recipe: Recipe, ended: "_Ended") -> NoReturn:
    """In the first process of its namespace, or group: confine it, and do what is ordered until nobody is there."""
    try:
        link = socket.socket(fileno=_LINK)
        if recipe.confine(_RULES):
            os.close(_RULES)
            link.send(marshal.dumps((_READY, (0, 0.0))))
            while _obey(link, ended):
                pass
    finally:
        os._exit(0)


def _obey(link: socket.socket, ended: "_Ended") -> bool:
    """Run one program to its end; whether there was an order."""
    message, streams, _, _ = socket.recv_fds(link, _LARGEST_ORDER, _LINK, socket.MSG_CMSG_CLOEXEC)
    if not message:
        return False
    if message == _END:  # it has ended by itself meanwhile
        return True
    command, folder, environ, bounds = marshal.loads(message)  # noqa: S302 - of ours
    try:
        answer = ended(link, _started(command, folder, environ, bounds, streams))
    except OSError as error:
        answer = _FAILED, (error.errno or 0, 0.0)
    link.send(marshal.dumps(answer))
    return True


def _started(
    command: list[str],
    folder: str,
    environ: Mapping[str, str],
    bounds: Bounds,
    streams: Sequence[int],
) -> int:
    """The number of a program that was started. Raises OSError."""
    try:
        for kind, most in bounds:
            resource.setrlimit(kind, (most, most))
        os.chdir(folder)
        actions = [(os.POSIX_SPAWN_DUP2, stream, place) for place, stream in enumerate(streams)]
        return os.posix_spawn(command[0], command, environ, file_actions=actions)
    finally:
        os.chdir(os.sep)  # nobody is kept from removing the folder
        for stream in streams:
            os.close(stream)


_Ended = Callable[[socket.socket, int], _Answer]


def _is_asked(link: socket.socket, number: int) -> bool:
    """Wait for the end of the program *number*; whether *link* asks for it sooner, or nobody is there any more."""
    handle = os.pidfd_open(number)
    poll = select.poll()
    for file in (link, handle):
        poll.register(file, select.POLLIN)
    ready = [descriptor for descriptor, _ in poll.poll()]
    os.close(handle)
    return handle not in ready


def _ended_in_group(link: socket.socket, number: int) -> _Answer:
    """What there is to say of the program *number* at its end.

    All that is in the group ends, this process too, where it is asked to, and where the program has left anything.
    """
    if _is_asked(link, number):
        os.kill(0, signal.SIGKILL)
    _, status, usage = os.wait4(number, 0)
    answer = status, usage.ru_utime + usage.ru_stime
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        link.send(marshal.dumps((_LAST, answer)))
        os.kill(0, signal.SIGKILL)
    return _ENDED, answer


def _ended(link: socket.socket, number: int) -> _Answer:
    """The same in a namespace, where all but this process are what the program has left behind."""
    _is_asked(link, number)
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    _, status, usage = os.wait4(number, 0)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    return _ENDED, (status, usage.ru_utime + usage.ru_stime)
