"""Folders that take long to make, made once for all processes of a run."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def folder(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The folder *name* of this run, which *make* has filled: the first process that asks does it, others wait."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    found = base / "shared" / name
    found.parent.mkdir(exist_ok=True)
    with (found.parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        finished = found.parent / f"{name}.finished"
        if not finished.exists():
            found.mkdir()
            make(found)
            finished.touch()
    return found
