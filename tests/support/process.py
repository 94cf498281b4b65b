"""virt-render as a process of its own."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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
