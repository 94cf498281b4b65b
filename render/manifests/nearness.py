"""Which of the objects that are one in a cluster stands nearest to a folder, and whether another stands as near."""

import os
from collections.abc import Iterable, Iterator

from render.model.hints import Any, Generic, TypeVar
from render.model.named_tuple import NamedTuple

T = TypeVar("T")


class _NearObject(NamedTuple):
    """An *object*, the folder in which it was found, and its number among all."""

    folder: str
    number: int
    content: Any
    object: Any


class _Deepest(NamedTuple):
    """Below a folder, those that are the fewest *steps* away: the *first* by name, and the first with other content."""

    steps: int
    first: _NearObject
    other: _NearObject | None = None

    def beside(self, more: Iterable[_NearObject]) -> "_Deepest":
        """These and *more*, which are as many steps away."""
        own = [self.first] if self.other is None else [self.first, self.other]
        known = sorted((*own, *more), key=lambda candidate: candidate[:2])
        first = known[0]
        others = (each for each in known[1:] if each.content != first.content)
        return _Deepest(self.steps, first, next(others, None))


class Nearness(Generic[T]):
    """Objects by the folders around them: what is nearest is found on the way up, however many there are."""

    __slots__ = ("around",)

    def __init__(self) -> None:
        self.around: dict[str, _Deepest] = {}

    def add(self, candidate: T, folder: str, number: int, content: object) -> None:
        """Take in *candidate*, the object *number*, which stands in *folder*; its *content* is what counts of it."""
        new = _NearObject(folder, number, content, candidate)
        for steps, above in enumerate(_upwards(folder)):
            known = self.around.get(above)
            if known is None or steps < known.steps:
                self.around[above] = _Deepest(steps, new)
            elif steps == known.steps:
                self.around[above] = known.beside([new])

    def objects(self) -> Iterator[T]:
        """The first object of each folder, and the first there with another content."""
        for deepest in self.around.values():
            for each in filter(None, (deepest.first, deepest.other)):
                yield each.object


def nearest(folder: str, several: Iterable[Nearness[T]]) -> tuple[T, T | None]:
    """Of *several* the object in the fewest steps up and down from *folder*, and another with other content in as many.

    Of several the first by the name of its folder, and then the one that came first. ValueError where there is none.
    """
    ways = [
        found._replace(steps=steps + found.steps)
        for steps, above in enumerate(_upwards(folder))
        for each in several
        if (found := each.around.get(above)) is not None
    ]
    fewest = min(way.steps for way in ways)
    best, *same = (way for way in ways if way.steps == fewest)
    found = best.beside(
        candidate for way in same for candidate in (way.first, way.other) if candidate
    )
    return found.first.object, found.other.object if found.other else None


def _upwards(folder: str) -> Iterator[str]:
    """*folder* and all around it."""
    path = os.path.abspath(folder)
    yield path
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above
