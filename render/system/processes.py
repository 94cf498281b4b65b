"""Other programs, and folders for them: neither outlives us when somebody stops us."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING

from render.system.signals import STOPS, deferred, signal

if TYPE_CHECKING:
    from subprocess import CompletedProcess, Popen

    from render.system.box import Box

_PIECE = 1 << 16
_MOST_SAID = 1 << 18
_LEAVING = (signal.SIGHUP, signal.SIGQUIT)
"""What the terminal sends to all that runs in it, and what ends us without a word."""


def chosen(name: str, setting: str) -> tuple[str, str]:
    """Where the program *name* is that *setting* means, as `program`; and in words where it was looked for.

    ``auto`` is the one on the PATH; else it is a name or a path.
    """
    if setting == "auto":
        return program(name), "on the PATH"
    return program(setting), f"at {setting}"


def program(name: str) -> str:
    """The absolute path of the program *name*, ``""`` without one.

    Folders of the PATH that are not absolute, such as ``.``, do not count: they are those of a repository.
    """
    import shutil

    if os.sep in name:
        location = shutil.which(name)
        return os.path.abspath(location) if location else ""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(filter(os.path.isabs, folders))
    return shutil.which(name, path=path or os.devnull) or ""


def run(  # noqa: PLR0913 - the options of `subprocess.run`
    command: Sequence[str],
    *,
    folder: str,
    environ: Mapping[str, str],
    stdin: bytes = b"",
    seconds: float | None = None,
    most: int = sys.maxsize,
    inside: "Box | None" = None,
) -> "CompletedProcess[bytes]":
    """What *command*, started in *folder* without a shell, does; raises as `subprocess.run`.

    It has a session of its own, without our terminal. With all that it started there it is killed if it takes longer
    than *seconds*, if it prints more than *most* bytes (and then the answer is longer than that), and if anything is
    raised here. Of what it says on standard error the first and the last are kept. It starts *inside* of a box, if one
    is given.
    """
    import subprocess

    with contextlib.ExitStack() as stack:
        started: list[subprocess.Popen[bytes]] = []
        stack.enter_context(_leaving_takes(started))
        with deferred(
            (*STOPS, signal.SIGALRM, signal.SIGQUIT)
        ):  # between its start and our knowing of it
            process = stack.enter_context(
                subprocess.Popen(  # noqa: S603 - no shell
                    command, cwd=folder, env=environ, start_new_session=True,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    preexec_fn=inside.enter if inside else None,  # noqa: PLW1509 - it calls the system alone
                )
            )  # fmt: skip
            started.append(process)
            stack.callback(process.wait)  # also after ctrl-C, for which subprocess does not wait
            stack.callback(_kill, process)
        output, said = _talk(process, stdin, seconds, most)
    return subprocess.CompletedProcess(command, process.returncode, output, said)


def _kill(process: "Popen[bytes]") -> None:
    """End *process* and its session, unless it has ended by itself: until we have asked, its number is not reused."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def _leaving_takes(started: "Sequence[Popen[bytes]]") -> Iterator[None]:
    """Take what was *started* along when the terminal goes: in a session of its own it is not told."""

    def leave(number: int, _frame: FrameType | None) -> None:
        for process in started:
            _kill(process)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    taken: list[int] = []
    with contextlib.suppress(ValueError):  # not the main thread
        for number in _LEAVING:
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, leave)
                taken.append(number)
    try:
        yield
    finally:
        for changed in taken:
            signal.signal(changed, signal.SIG_DFL)


def _talk(
    process: "Popen[bytes]", stdin: bytes, seconds: float | None, most: int
) -> tuple[bytes, bytes]:
    """What *process* prints and says until it ends or has printed a byte more than *most*.

    `Popen.communicate` would keep all of it, however much that is.
    """
    import time
    from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
    from subprocess import TimeoutExpired

    def remaining() -> float | None:
        if seconds is None:
            return None
        left = started + seconds - time.monotonic()
        if left <= 0:
            raise TimeoutExpired(process.args, seconds)
        return left

    started = time.monotonic()
    output, said = bytearray(), bytearray()
    with DefaultSelector() as waiting:
        for stream, event, work in (
            (process.stdin, EVENT_WRITE, _feeding(stdin)),
            (process.stdout, EVENT_READ, _collecting_all(output, most)),
            (process.stderr, EVENT_READ, _collecting_ends(said)),
        ):
            if stream:
                waiting.register(stream, event, (work, stream))
        while waiting.get_map() and len(output) <= most:
            for key, _ in waiting.select(remaining()):
                work, stream = key.data
                if not work(key.fd):
                    waiting.unregister(stream)
                    stream.close()
    if len(output) <= most:
        process.wait(remaining())
    return bytes(output), bytes(said)


_Step = Callable[[int], bool]
"""Does what a pipe is ready for, and answers whether there is more to come."""


def _feeding(data: bytes) -> _Step:
    from select import PIPE_BUF  # so much can be written at once without waiting

    unsent = memoryview(data)

    def feed(pipe: int) -> bool:
        nonlocal unsent
        try:
            unsent = unsent[os.write(pipe, unsent[:PIPE_BUF]) :]
        except BrokenPipeError:  # it has read enough
            return False
        return bool(unsent)

    return feed


def _collecting_all(collected: bytearray, most: int) -> _Step:
    """All that comes into *collected*, until that has a byte more than *most*."""

    def collect(pipe: int) -> bool:
        piece = os.read(pipe, min(_PIECE, most + 1 - len(collected)))
        collected.extend(piece)
        return bool(piece)

    return collect


def _collecting_ends(collected: bytearray) -> _Step:
    """The first and the last that comes into *collected*."""

    def collect(pipe: int) -> bool:
        piece = os.read(pipe, _PIECE)
        collected.extend(piece)
        if len(collected) > _MOST_SAID:
            del collected[_PIECE:-_PIECE]
        return bool(piece)

    return collect


@contextlib.contextmanager
def temporary_folder() -> Iterator[str]:
    """A folder that is gone in the end."""
    import tempfile

    with contextlib.ExitStack() as stack:
        with deferred():
            name = stack.enter_context(tempfile.TemporaryDirectory(prefix="virt-render-"))
        yield name
