"""virt-render as a process of its own, and in this one."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from render.frontends import dispatch
from tests.support import forkserver
from tests.support.cases import ROOT


def argv(*words: str) -> list[str]:
    """What starts virt-render with *words*."""
    return [sys.executable, "-m", "render", *words]


def environ(**more: str) -> dict[str, str]:
    """The environment at this moment, with this source for whatever folder it is run in, and *more*."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


@contextlib.contextmanager
def ended() -> Iterator[list["subprocess.Popen[bytes]"]]:
    """A list for processes; whoever of them still runs in the end is killed."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


def run(
    *words: str,
    cwd: Path | None = None,
    stdin: str = "",
    timeout: float | None = None,
    **more: str,
) -> subprocess.CompletedProcess[str]:
    """What became of virt-render with *words*, with *more* in its environment."""
    return forkserver.run(words, cwd, environ(**more), stdin, timeout)


def run_inside(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The same, where this process does it: for tests of what is said, not of starting, environment or streams."""
    with contextlib.chdir(cwd), _written_to(2) as err, _written_to(1) as out:
        status = dispatch.invoke(words)
    return subprocess.CompletedProcess([*words], int(status), out[0], err[0])


_NAMES = {1: "stdout", 2: "stderr"}


@contextlib.contextmanager
def _written_to(number: int) -> Iterator[list[str]]:
    """What is written to the file descriptor *number* inside, also by the stream of Python that means it."""
    text: list[str] = []
    with tempfile.TemporaryFile() as file:
        before, stream = os.dup(number), getattr(sys, _NAMES[number])
        os.dup2(file.fileno(), number)
        try:
            with open(number, "w", encoding="utf-8", closefd=False) as written:
                setattr(sys, _NAMES[number], written)
                yield text
        finally:
            setattr(sys, _NAMES[number], stream)
            os.dup2(before, number)
            os.close(before)
            file.seek(0)
            text.append(file.read().decode("utf-8", "replace"))
