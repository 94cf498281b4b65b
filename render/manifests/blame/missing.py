"""What is meant by an entry of a kustomization that is not there: a file or folder of a name like it, or moved."""

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress

from render.model.nearest import nearest
from render.system.files import bounds_of, inside, real_path

_MOST = 1_000
"""Names of a folder that are looked at."""
_Names = Callable[[str], Collection[str]]
"""What stands in a folder."""


def near(
    entry: str, folder: str, listed: Collection[str], find: Callable[[str], str | None] | None
) -> str:
    """How *entry* of the kustomization in *folder* was probably meant to read; ``""`` where nothing is near.

    What is *listed* already, by its resolved name, is not meant, nor what stands outside of the repository. A folder is
    meant where *find* has a kustomization in it; none is without.
    """
    real, bounds = real_path(folder), (bounds_of(folder),)

    def is_meant(path: str) -> bool:
        target = real_path(os.path.join(folder, path))
        if target in listed or not inside(target, bounds):
            return False
        if os.path.isdir(target):
            is_around = inside(real, (target,))
            return find is not None and not is_around and find(target) is not None
        # kustomize reads no file that is not in or below the folder
        return os.path.isfile(target) and inside(target, (real,))

    alike = next(filter(is_meant, _misspelt(entry, *_below(folder, bounds))), "")
    if alike:
        return alike
    moved = {path for path in _moved(entry, real, bounds) if is_meant(path)}
    return moved.pop() if len(moved) == 1 else ""


def near_path(path: str) -> str:
    """The file or folder that *path*, which is not there, was probably meant to be; ``""`` where nothing is near."""
    top = "/" if os.path.isabs(path) else "."
    near = next(
        filter(
            os.path.exists,
            (
                os.path.join(top, other)
                for other in _misspelt(path.lstrip("/"), *_below(top, ("/",)))
            ),
        ),
        "",
    )
    return os.path.normpath(near) if near else ""


def near_among(path: str, names: _Names) -> str:
    """What *path*, which is not there, was probably meant to be; *names* has those in a folder, ``""`` the top."""

    def has(path: str) -> bool:
        above, name = os.path.split(path)
        return name in names(above)

    return next(filter(has, _misspelt(path, has, names)), "")


def _below(folder: str, bounds: Collection[str]) -> tuple[Callable[[str], bool], _Names]:
    """What tells whether a path is there, seen from *folder*, and the names in one that is within *bounds*."""
    return (
        lambda path: os.path.lexists(os.path.join(folder, path)),
        lambda path: _names(os.path.join(folder, path), bounds),
    )


def _misspelt(entry: str, has: Callable[[str], bool], names_in: _Names) -> Iterator[str]:
    """*entry* with the first of its steps that is not there as one that is there."""
    before: list[str] = []
    steps = os.path.normpath(entry).split(os.sep)
    for index, step in enumerate(steps):
        if not has(os.path.join(*before, step)):
            names = names_in(os.path.join("", *before))
            alike = [name for name in names if _stem(name) == _stem(step.strip())]
            words = [*alike, nearest(step, names)]
            yield from (os.path.join(*before, word, *steps[index + 1 :]) for word in words if word)
            return
        before.append(step)


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name


def _moved(entry: str, real: str, bounds: Collection[str]) -> Iterator[str]:
    """What is called as the last step of *entry*, in the resolved folder *real* and around it, and below these."""
    name = os.path.basename(os.path.normpath(entry))
    around = real
    while inside(around, bounds):
        for below in ("", *_names(around, bounds)):
            target = os.path.join(around, below, name)
            if os.path.lexists(target):
                yield os.path.relpath(target, real)
        if around == os.path.dirname(around):
            return
        around = os.path.dirname(around)


def _names(folder: str, bounds: Collection[str]) -> list[str]:
    """What stands in *folder*, if that is within *bounds*."""
    if not inside(real_path(folder), bounds):
        return []
    with suppress(OSError):  # it is not there, or closed
        return sorted(name for name in os.listdir(folder)[:_MOST] if not name.startswith("."))
    return []
