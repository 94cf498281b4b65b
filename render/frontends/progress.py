"""What a command is doing: for whoever waits at a terminal, whoever asks where the time went, and whoever stops it."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from types import TracebackType

from render.frontends.parts import FleetPart
from render.manifests.documents import Documents
from render.model.counting import counted
from render.model.hints import TYPE_CHECKING, Any, Self
from render.system import signals
from render.system.streams import PRINTED

if TYPE_CHECKING:
    from render.system.programs.box import Walls

_STDERR = 2
_PATIENCE = 1.0  # seconds before there is anything to say
_PAUSE = 0.2
_COLUMNS = 80  # of a terminal that does not know
_ERASE = "\r\x1b[K"
_NAMED = 3
#: Walls by what they are made of.
_BY = ("nothing keeps it from that here", "by Landlock", "by a filter of calls", "by namespaces")


class Work:
    """The parts of a command's work, one after the other, from the start of the process.

    *doing* is what is done now, in words; *inputs* what has been read so far, *parts* those that the command looks at,
    and *rendered* what was made of them, if that is counted. Who stops the work inside of ``with`` is told what was
    being done, or that he is too late: *has_printed*.
    """

    __slots__ = (
        "_cpu", "_laps", "_part", "_wall", "doing", "has_printed", "inputs", "parts", "rendered",
    )  # fmt: skip

    def __init__(self) -> None:
        self.doing = "reading the settings"
        self.has_printed = False
        self.inputs: list[Documents] = []
        self.parts: list[FleetPart] = []
        self.rendered: list[Any] = []
        self._part = "start"
        self._laps: dict[str, tuple[float, float]] = {}
        self._cpu, self._wall = 0.0, time.perf_counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if error is not None:
            signals.add_moment(error, PRINTED if self.has_printed else f"while {self.doing}")

    def end_output(self) -> None:
        """All of the answer is printed."""
        self.has_printed = True

    def begin(self, part: str, doing: str) -> None:
        """From now on the work is a *part*, ``read``, ``render`` or ``write``, and in words *doing*."""
        self._lap()
        self._part, self.doing = part, doing

    def loaded(self) -> list[Documents]:
        """What the parts were read as, each once: for several releases it is the same."""
        return [*dict.fromkeys(part.loaded for part in self.parts)]

    def _lap(self) -> None:
        now = time.process_time(), time.perf_counter()
        cpu, wall = self._laps.get(self._part, (0.0, 0.0))
        self._laps[self._part] = cpu + now[0] - self._cpu, wall + now[1] - self._wall
        self._cpu, self._wall = now

    def timings(self) -> str:
        """The CPU and wall seconds of each part; the wall time before any code of ours is not known."""
        self._lap()
        rows = [f"{name:<8}{cpu:>9.3f}{wall:>9.3f}\n" for name, (cpu, wall) in self._laps.items()]
        cpu, wall = (sum(column) for column in zip(*self._laps.values(), strict=True))
        return f"seconds       CPU     wall\n{''.join(rows)}{'all':<8}{cpu:>9.3f}{wall:>9.3f}\n"

    def __str__(self) -> str:
        """How far the work is."""
        files = sum(len(loaded.data) for loaded in self.inputs)
        objects = sum(len(loaded.documents) for loaded in self.inputs)
        read = f"{counted(files, 'file')}, {counted(objects, 'object')} read"
        if self._part == "read":
            return read
        return (
            f"{read}, {len(self.rendered):,} rendered" if self.rendered else f"{read}; {self.doing}"
        )

    @contextlib.contextmanager
    def on_terminal(self) -> Iterator[None]:
        """Say how far the work inside is, on a line of a terminal on standard error, once it takes long."""
        if not os.isatty(_STDERR):
            yield
            return
        import threading

        done = threading.Event()

        def show() -> None:
            pause = _PATIENCE
            while not done.wait(pause):
                columns = os.get_terminal_size(_STDERR).columns or _COLUMNS
                line = str(self)[: columns - 1]  # one that is wrapped could not be erased
                sys.stderr.write(f"{_ERASE}{line}")
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


def in_words(paths: Sequence[str]) -> str:
    """*paths* in words: the first few of them."""
    names = ["standard input" if path == "-" else path for path in paths or (".",)]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def isolation() -> str:
    """What was taken from kustomize or helm, a line a way in which that went; nothing where none ran."""
    from render.manifests.boxed import program as boxed

    return "".join(f"{box_in_words(walls)}\n" for walls in sorted(boxed.WALLS))


def box_in_words(walls: "Walls") -> str:
    """Which *walls* stood around kustomize and helm, in a line."""
    network, reading, _ = (_BY[wall] for wall in walls)
    if not any(walls):
        return "kustomize, helm: no box (none is to be had here, or --allow-remote opens it)"
    what = "no TCP" if network == _BY[1] else "no network"
    return (
        f"kustomize, helm: {what} ({network}), files of the repository alone, read-only ({reading})"
    )
