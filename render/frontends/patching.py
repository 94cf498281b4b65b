"""Files with other texts, shown as a patch."""

import os
from collections.abc import Collection, Sequence

from render.diff import unified
from render.model.named_tuple import NamedTuple
from render.report import terminal
from render.system import files
from render.system.files import inside, real_path
from render.system.streams import STDOUT
from render.yaml.excerpts.lines import Excerpts


class FileChange(NamedTuple):
    """A file with its text before and after."""

    file: str
    before: str
    after: str


def painted(changes: Sequence[FileChange]) -> str:
    """The *changes* as a patch for standard output: in colours on a terminal that wants them."""
    return terminal.painted_patch(diff(changes), colour=terminal.is_coloured(STDOUT))


def diff(changes: Sequence[FileChange]) -> str:
    """The *changes* as a patch, with the names that git and patch take: below a folder, through no link."""
    real = [real_path(change.file) for change in changes]
    folder = _folder(real)
    return "".join(
        _patch(change, os.path.relpath(file, folder))
        for change, file in zip(changes, real, strict=True)
    )


def _patch(change: FileChange, name: str) -> str:
    """The patch of one file; one that is not there yet is made by it."""
    patch = unified.diff(change.before, change.after, name, _private)
    if change.before or os.path.lexists(change.file):
        return patch
    _, _, rest = patch.partition("\n")
    return f"--- /dev/null\n{rest}"


def _private(text: str) -> frozenset[int]:
    return Excerpts(text.encode()).private()


def _folder(real: Collection[str]) -> str:
    """Where a patch of the files *real* is applied: one folder for all of them.

    It is the current one, else the root of their git repository, else that of the file system.
    """
    roots = {files.repository(os.path.dirname(file)) for file in real} - {""}
    for folder in (os.getcwd(), *roots):
        if all(inside(file, (folder,)) for file in real):
            return folder
    return "/"
