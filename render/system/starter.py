"""A copy of this process that starts programs for it, and stays as small as this one was.

A process that does something before it becomes a program (it enters its box) has to be a copy of another one: the
kernel copies the tables of all memory, and after that each page that either of the two writes to. Of a process like
ours that takes as long as a small build of kustomize. A program that the copy has started is a child of this process,
as if started here; and nobody waits for it to enter its box.
"""

import array
import contextlib
import errno
import marshal
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NoReturn, Self

from render.system.signals import signal

if TYPE_CHECKING:
    import ctypes
    import socket
else:
    import _socket as socket  # all of it but the enums, whose making takes as long as some starts

_CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220}
_OUR_CHILD = 0x8000  # CLONE_PARENT (linux/sched.h)
_NUMBER = 4
"""Bytes of a number on its way."""
_MOST_PASSED = 16
"""Descriptors in one message, at most."""

Make = Callable[[tuple[Any, ...], Sequence[int]], Callable[[], None]]
"""Makes of plain arguments and of descriptors what a new process calls before it becomes a program."""


class StartedProgram:
    """A program that was started with *command*: what `Popen` has of one that we use."""

    def __init__(
        self, command: Sequence[str], pid: int, streams: Sequence[int], refusal: int
    ) -> None:
        self.args = command
        self.pid = pid
        self.returncode: int | None = None
        stdin, stdout, stderr = streams
        self.stdin: IO[bytes] | None = os.fdopen(stdin, "wb", 0)
        self.stdout: IO[bytes] | None = os.fdopen(stdout, "rb", 0)
        self.stderr: IO[bytes] | None = os.fdopen(stderr, "rb", 0)
        self._refusal = refusal

    def close(self) -> OSError | None:
        """Why the program could not be started, once it has ended; None where it was."""
        number = int.from_bytes(os.read(self._refusal, _NUMBER), sys.byteorder)
        os.close(self._refusal)
        return OSError(number, os.strerror(number)) if number else None


class Starter:
    """A copy of this process; what its programs enter is made by *make*. It ends with this one at the latest."""

    def __init__(self, make: Make, system: "ctypes.CDLL") -> None:
        self._socket, other = socket.socketpair()
        self._pid = os.fork()
        if not self._pid:
            _serve(other, make, system)
        other.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)

    def start(
        self,
        command: Sequence[str],
        folder: str,
        environ: Mapping[str, str],
        arguments: tuple[Any, ...],
        descriptors: Sequence[int],
    ) -> StartedProgram:
        """Start *command* in *folder*, in a session of its own, after what is made of *arguments* and *descriptors*.

        Raises OSError where there is no new process; why it did not become the program, `StartedProgram.close` answers.
        """
        words = [os.fsencode(word) for word in command]
        variables = {os.fsencode(name): os.fsencode(value) for name, value in environ.items()}
        message = marshal.dumps((words, os.fsencode(os.path.abspath(folder)), variables, arguments))
        with contextlib.ExitStack() as stack:
            pipes = [os.pipe() for _ in range(4)]  # its input, output, errors; and why not
            pipes[0] = pipes[0][::-1]
            for _, its in pipes:
                stack.callback(os.close, its)
            with contextlib.ExitStack() as kept:
                for own, _ in pipes:
                    kept.callback(os.close, own)
                passed = array.array("i", [*(its for _, its in pipes), *descriptors])
                size = len(message).to_bytes(_NUMBER, sys.byteorder)
                rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)
                self._socket.sendmsg([size], [rights])
                self._socket.sendall(message)
                answer = self._socket.recv(_NUMBER, socket.MSG_WAITALL)
                number = int.from_bytes(answer, sys.byteorder)
                if not number:
                    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
                kept.pop_all()
        *streams, refusal = (own for own, _ in pipes)
        return StartedProgram(command, number, streams, refusal)


def is_possible() -> bool:
    """Whether this process can be copied safely, and the copy can start children of it."""
    has_one_thread = len(sys._current_frames()) == 1  # noqa: SLF001 - it is public, but for its name
    return has_one_thread and sys.platform == "linux" and os.uname().machine in _CLONE


def _serve(connection: "socket.socket", make: Make, system: "ctypes.CDLL") -> NoReturn:
    """Start what comes over *connection*, until nobody holds its other end."""
    try:
        _become_nobody(connection.fileno())
        clone = _CLONE[os.uname().machine]
        room = socket.CMSG_SPACE(_MOST_PASSED * array.array("i").itemsize)
        while True:
            size, passed, _, _ = connection.recvmsg(_NUMBER, room, socket.MSG_CMSG_CLOEXEC)
            if not size:
                break
            message = _received(connection, int.from_bytes(size, sys.byteorder))
            descriptors = array.array("i", passed[0][2])
            number = system.syscall(clone, _OUR_CHILD | signal.SIGCHLD, 0, 0, 0, 0)
            if not number:
                _become(marshal.loads(message), make, descriptors)  # noqa: S302 - it is ours
            connection.sendall(max(number, 0).to_bytes(_NUMBER, sys.byteorder))
            for descriptor in descriptors:
                os.close(descriptor)
    finally:
        os._exit(0)


def _become_nobody(connection: int) -> None:
    """Leave the terminal, its signals and all that is open but *connection*: who waits for its end waits for us."""
    os.setsid()
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.closerange(3, connection)
    os.closerange(connection + 1, os.sysconf("SC_OPEN_MAX"))


def _received(connection: "socket.socket", size: int) -> bytes:
    message = bytearray()
    while len(message) < size:
        piece = connection.recv(size - len(message))
        if not piece:
            os._exit(0)
        message += piece
    return bytes(message)


def _become(message: tuple[Any, ...], make: Make, descriptors: Sequence[int]) -> NoReturn:
    """Become the program that *message* is about, as `subprocess` would."""
    command, folder, environ, arguments = message
    streams, refusal, others = descriptors[:3], descriptors[3], descriptors[4:]
    try:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.chdir(folder)
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
            signal.signal(ignored, signal.SIG_DFL)
        make(arguments, others)()
        os.execve(command[0], command, environ)  # noqa: S606 - no shell
    except OSError as error:
        os.write(refusal, (error.errno or errno.EIO).to_bytes(_NUMBER, sys.byteorder))
    finally:
        os._exit(1)
