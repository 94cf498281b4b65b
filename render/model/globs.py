"""Patterns for paths below a folder: those of ``exclude``, ``roots`` and ``shared``, and of generators of Argo CD."""

from collections.abc import Callable, Iterable
from functools import cache

from render.model.named_tuple import NamedTuple


class Globs(NamedTuple):
    """Patterns for paths below the folder *top*, as in a .gitignore without negation.

    One without a slash means a name at any depth; what matches a folder matches everything below it.
    """

    top: str = ""
    patterns: tuple[str, ...] = ()

    def match(self, real: str) -> str:
        """The first pattern that the resolved path *real*, or a folder around it, matches; ``""`` if none does."""
        names = self._below(real)
        return next(
            (pattern for pattern in self.patterns if names and _matches(pattern, names)), ""
        )

    def match_whole(self, real: str) -> bool:
        """Whether a pattern matches the resolved path *real* itself."""
        names = self._below(real)
        return bool(names) and any(
            _matches(pattern, names, whole=True) for pattern in self.patterns
        )

    def _below(self, real: str) -> list[str]:
        """The names on the way from the folder to *real*; none where that is elsewhere, or nobody asks for it."""
        below = real.removeprefix(self.top.rstrip("/") + "/")
        return below.split("/") if self.patterns and below != real else []


def unmatched(globs: Globs, paths: Iterable[str]) -> list[str]:
    """The patterns of *globs* that none of the resolved *paths* matches; no more of these are asked for than needed."""
    left = dict.fromkeys(globs.patterns)
    top = globs.top.rstrip("/") + "/"
    for path in paths if left else ():
        names = path.removeprefix(top).split("/")
        for pattern in [candidate for candidate in left if _matches(candidate, names, whole=True)]:
            del left[pattern]
        if not left:
            break
    return list(left)


def _matches(pattern: str, names: list[str], *, whole: bool = False) -> bool:
    """Whether *pattern* matches the way *names*, or, but for *whole*, the beginning of it.

    No way of matching is tried twice: patterns come from whoever wrote the repository.
    """
    steps = _steps(pattern)
    reached = _skipped({0}, steps)
    for name in names:
        after = set()
        for at in reached - {len(steps)}:
            step = steps[at]
            if step is None:
                after |= {at, at + 1}
            elif step(name):
                after.add(at + 1)
        reached = _skipped(after, steps)
        if not whole and len(steps) in reached:
            return True
    return len(steps) in reached


def _skipped(reached: set[int], steps: "_Steps") -> set[int]:
    """*reached* and what follows where ``**`` stands for no folder; at the end it stands for all that is inside."""
    for at in range(len(steps) - 1):
        if at in reached and steps[at] is None:
            reached.add(at + 1)
    return reached


_Steps = tuple[Callable[[str], bool] | None, ...]
"""What each name on the way has to be; None for ``**``, any number of names."""


@cache
def _steps(pattern: str) -> _Steps:
    from render.model import patterns

    words = pattern.strip("/").split("/")
    if "/" not in pattern.rstrip("/"):
        words = ["**", *words]
    once = [word for n, word in enumerate(words) if word != "**" or words[n - 1 : n] != ["**"]]
    return tuple(None if word == "**" else patterns.named(word) for word in once)
