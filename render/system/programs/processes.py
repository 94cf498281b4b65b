"""Other programs, and folders for them: neither outlives us when somebody stops us."""

import collections
import contextlib
import errno
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from select import PIPE_BUF  # so much can be written at once without waiting
from selectors import EVENT_READ, EVENT_WRITE, BaseSelector, DefaultSelector, SelectorKey
from subprocess import CompletedProcess, TimeoutExpired
from types import FrameType, MappingProxyType

from render.model.hints import IO, TYPE_CHECKING, Self, TypeVar, Union
from render.model.named_tuple import NamedTuple
from render.system.files import is_file_name
from render.system.signals import STOPS, deferred, signal

if TYPE_CHECKING:
    from render.system.programs.supervisor import SupervisedProgram, Supervisor

_T = TypeVar("_T")
_AHEAD = 4
"""For each program that may run, so many more may have ended before their turn."""

_PIECE = 1 << 16
_MOST_STDERR = 1 << 18
_SHORTEST, _LONGEST = 0.0005, 0.05
"""Seconds between two looks whether a process has ended."""
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
    if os.sep in name:
        location = shutil.which(name)
        return os.path.abspath(location) if location else ""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(filter(os.path.isabs, folders))
    return shutil.which(name, path=path or os.devnull) or ""


class Task(NamedTuple):
    """A program to start in *folder* without a shell, with *stdin*.

    It may take *seconds*, and print *most* bytes. *enter* is called in the new process, before it becomes the program.
    *bounds* are set as soon as it runs, by the names that `resource` has for them. *spend* is told in the end which
    seconds of a processor it has taken. With a *supervisor* that starts it, and *enter* and *bounds* do not count.
    """

    command: Sequence[str]
    folder: str
    environ: Mapping[str, str]
    stdin: bytes = b""
    seconds: float | None = None
    most: int = sys.maxsize
    enter: Callable[[], None] | None = None
    bounds: Mapping[str, int] = MappingProxyType({})
    spend: Callable[[float], None] | None = None
    supervisor: "Supervisor | None" = None


Steps = Generator[Task, CompletedProcess[bytes], _T]
"""Work between whose steps programs run: it yields each, gets what that did, or is raised what `run` raises."""


def run(  # noqa: PLR0913 - the options of `subprocess.run`
    command: Sequence[str],
    *,
    folder: str,
    environ: Mapping[str, str],
    stdin: bytes = b"",
    seconds: float | None = None,
    most: int = sys.maxsize,
    enter: Callable[[], None] | None = None,
    bounds: Mapping[str, int] = MappingProxyType({}),
    spend: Callable[[float], None] | None = None,
    supervisor: "Supervisor | None" = None,
) -> CompletedProcess[bytes]:
    """What *command*, started in *folder* without a shell, does; raises as `subprocess.run`.

    It has a session of its own, without our terminal. With all that it started there it is killed if it takes longer
    than *seconds*, if it prints more than *most* bytes (and then the answer is longer than that), and if anything is
    raised here. Of what it says on standard error the first and the last are kept. *enter*, *bounds*, *spend* and
    *supervisor* are those of a `Task`.
    """
    task = Task(command, folder, environ, stdin, seconds, most, enter, bounds, spend, supervisor)

    def steps() -> "Steps[CompletedProcess[bytes]]":
        return (yield task)

    return finish(steps())


def finish(steps: Steps[_T]) -> _T:
    """What comes of *steps*."""
    with contextlib.closing(finish_all([steps], 1)) as answers:
        return next(answers)


def finish_all(
    several: Sequence[Steps[_T]], jobs: int, meanwhile: Callable[[], None] = lambda: None
) -> Generator[_T]:
    """What comes of each of *several*, in their order, while the programs of up to *jobs* of them run.

    *meanwhile* is called each time before they are waited for. Where not all answers are waited for, or anything is
    raised, all programs are killed and all steps closed.
    """
    answers: dict[int, _T] = {}
    pending = collections.deque(enumerate(several))
    with contextlib.ExitStack() as stack:
        for steps in several:
            stack.callback(steps.close)
        children = stack.enter_context(_Children())

        def advance(number: int, done: "CompletedProcess[bytes] | Exception | None") -> None:
            steps = several[number]
            try:
                task = steps.throw(done) if isinstance(done, Exception) else steps.send(done)  # type: ignore[arg-type] # None begins
            except StopIteration as end:
                answers[number] = end.value
                return
            try:
                children.start(number, task)
            except OSError as error:
                advance(number, error)

        for number in range(len(several)):
            while number not in answers:
                while pending and children.count < jobs and pending[0][0] < number + _AHEAD * jobs:
                    advance(pending.popleft()[0], None)
                if number not in answers:
                    meanwhile()
                    for ended, done in children.wait():
                        advance(ended, done)
            yield answers.pop(number)


class _Children:
    """Programs that run at once, each for a number; all are gone in the end."""

    def __init__(self) -> None:
        self._running: dict[int, _Child] = {}
        self._stack = contextlib.ExitStack()
        self._waiting = self._stack.enter_context(DefaultSelector())
        self._started: list[_Program] = []
        self._stack.enter_context(_leaving_takes(self._started))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._running.values():
            child.program.kill()
        with self._stack:
            for child in self._running.values():
                child.end()

    @property
    def count(self) -> int:
        """How many run."""
        return len(self._running)

    def start(self, number: int, task: Task) -> None:
        """Start *task* for *number*. Raises OSError."""
        _check_words(task.command)
        with deferred((*STOPS, signal.SIGALRM, signal.SIGQUIT)):  # until we know of it
            program: _Program
            if task.supervisor is None:
                program = _OwnProgram(task)
            else:
                program = task.supervisor.start(task.command, task.folder, task.environ)
            self._started.append(program)
            self._running[number] = _Child(task, program)
        self._running[number].listen(self._waiting)

    def wait(self) -> Iterator[tuple[int, CompletedProcess[bytes] | TimeoutExpired | OSError]]:
        """Those that have ended, or taken too long, once there is one."""
        left = [child.remaining() for child in self._running.values()]
        for key, _ in self._waiting.select(
            min((seconds for seconds in left if seconds is not None), default=None)
        ):
            key.data(key)
        for number, child in list(self._running.items()):
            done: CompletedProcess[bytes] | TimeoutExpired | OSError | None
            try:
                done = child.done()
            except (TimeoutExpired, OSError) as error:
                done = error
            if done is not None:
                del self._running[number]
                child.leave(self._waiting)
                child.program.kill()
                child.end()
                self._started.remove(child.program)
                yield number, done


def _check_words(command: Sequence[str]) -> None:
    """Raise OSError where no program can be given a word of *command*: with a NUL in it, or half a character."""
    for word in command:
        if not is_file_name(word):
            raise OSError(errno.EINVAL, f"no program can be given {word!r}")


class _Child:
    """A process that was started for a task, and what it has printed and said so far.

    `Popen.communicate` would keep all of it, however much that is.
    """

    def __init__(self, task: Task, program: "_Program") -> None:
        self.program = program
        self._status: int | None = None
        self._task = task
        self._started = time.monotonic()
        self._output, self._stderr = bytearray(), bytearray()
        self._open: list[IO[bytes]] = []

    def listen(self, waiting: BaseSelector) -> None:
        """Do what each pipe is ready for, as *waiting* says it."""
        program, task = self.program, self._task
        for stream, event, work in (
            (program.stdin, EVENT_WRITE, _feeding(task.stdin)),
            (program.stdout, EVENT_READ, _collecting_all(self._output, task.most)),
            (program.stderr, EVENT_READ, _collecting_ends(self._stderr)),
        ):
            if stream is not None:
                self._open.append(stream)
                waiting.register(stream, event, self._step(waiting, stream, work))

    def _step(
        self, waiting: BaseSelector, stream: "IO[bytes]", work: "_Step"
    ) -> "Callable[[SelectorKey], None]":
        def step(key: SelectorKey) -> None:
            if not work(key.fd):
                waiting.unregister(stream)
                stream.close()
                self._open.remove(stream)

        return step

    def leave(self, waiting: BaseSelector) -> None:
        """Listen to no pipe any more."""
        for stream in self._open:
            waiting.unregister(stream)

    def remaining(self) -> float | None:
        """The seconds that it may still take, 0 where there are none left."""
        if self._task.seconds is None:
            return None
        return max(0.0, self._started + self._task.seconds - time.monotonic())

    def done(self) -> CompletedProcess[bytes] | None:
        """What it did, if it has ended, or has printed a byte more than it may. Raises TimeoutExpired, and OSError."""
        task, left = self._task, self.remaining()
        is_whole = len(self._output) <= task.most
        if is_whole and self._open:
            if left == 0:
                raise TimeoutExpired(task.command, task.seconds or 0)
            return None
        if is_whole and not self.program.wait(left):
            raise TimeoutExpired(task.command, task.seconds or 0)
        self.program.kill()  # what it has started and left there goes with it
        status = self._reap()
        output, stderr = bytes(self._output), bytes(self._stderr)
        return CompletedProcess(task.command, status, output, stderr)

    def end(self) -> None:
        """Wait for its end, also after ctrl-C, for which subprocess does not wait; and close its pipes."""
        with contextlib.suppress(OSError):  # it did not start, as has been said
            self._reap()
        for stream in self._open:
            stream.close()

    def _reap(self) -> int:
        """Its exit status. Raises OSError."""
        if self._status is None:
            self._status = -signal.SIGKILL  # where it did not even start
            self._status, seconds = self.program.reap()
            if self._task.spend is not None:
                self._task.spend(seconds)
        return self._status


class _OwnProgram:
    """The program of a task that is a child of ours, the first process of a session."""

    def __init__(self, task: Task) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - no shell
            task.command, cwd=task.folder, env=task.environ, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=task.enter,  # noqa: PLW1509 - it calls the system alone
        )  # fmt: skip
        self.stdin, self.stdout, self.stderr = (
            self._process.stdin, self._process.stdout, self._process.stderr,
        )  # fmt: skip
        _bound(self._process.pid, task.bounds)

    def kill(self) -> None:
        """End its session, unless it has ended by itself: until we have asked, its number is not reused."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def wait(self, seconds: float | None) -> bool:
        """Wait until it has ended, and leave it there: its number stays its own. Whether it has within *seconds*."""
        if not hasattr(os, "waitid"):  # macOS with a Python before 3.13
            with contextlib.suppress(TimeoutExpired):
                self._process.wait(seconds)
            return self._process.returncode is not None
        late = None if seconds is None else time.monotonic() + seconds
        flags = os.WEXITED | os.WNOWAIT | (0 if late is None else os.WNOHANG)
        with contextlib.suppress(ChildProcessError):
            pause = _SHORTEST
            while os.waitid(os.P_PID, self._process.pid, flags) is None:
                if late is not None and time.monotonic() >= late:
                    return False
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST)
        return True

    def reap(self) -> tuple[int, float]:
        """Its exit status once it has ended, and which seconds of a processor it took."""
        process = self._process
        if process.returncode is not None:
            return process.returncode, 0.0
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except ChildProcessError:  # who started us wants nobody to hear of the ends of children
            process.returncode = 0
            return 0, 0.0
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage.ru_utime + usage.ru_stime


_Program = Union[_OwnProgram, "SupervisedProgram"]
"""What a task has become: its pipes, and how to wait for its end, or to end it."""


def _bound(number: int, bounds: Mapping[str, int]) -> None:
    """Set *bounds* for the process *number*, where the system lets us do that from outside; none is raised."""
    for name, wanted in bounds.items() if hasattr(resource, "prlimit") else ():
        kind: int = getattr(resource, name)
        with contextlib.suppress(OSError, ValueError):  # it has ended, or may have less already
            _, hard = resource.prlimit(number, kind)
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.prlimit(number, kind, (most, most))


@contextlib.contextmanager
def _leaving_takes(started: "Sequence[_Program]") -> Iterator[None]:
    """Take what was *started* along when the terminal goes: in a session of its own it is not told."""

    def leave(number: int, _frame: FrameType | None) -> None:
        for program in started:
            program.kill()
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


_Step = Callable[[int], bool]
"""Does what a pipe is ready for, and answers whether there is more to come."""


def _feeding(data: bytes) -> _Step:
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
        if len(collected) > _MOST_STDERR:
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
