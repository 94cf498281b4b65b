"""Patterns for paths below a folder: those of ``exclude``, ``roots`` and ``shared``, and of generators of Argo CD."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from render.model.named_tuple import NamedTuple

_LONGEST_WORD = 1_000
"""Characters of a pattern for a name, which has no more than 255; a longer one matches nothing."""
_MOST_NAMES = 64
"""Of which a pattern remembers where they match: folders come again and again, once for each file below."""


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
    reached = steps.skipped(1)
    for name in names:
        reached = steps.skipped((reached & steps.named(name)) << 1 | reached & steps.anything)
        if not reached or (not whole and reached >> steps.count):
            break
    return bool(reached >> steps.count)


class _Steps:
    """What each name on the way has to be; places are bits, and those of ``**``, any number of names, *anything*."""

    __slots__ = ("_known", "_tests", "anything", "count")

    def __init__(self, words: Sequence[str]) -> None:
        self.count = len(words)
        self.anything = 0
        all_places: dict[str, int] = {}
        for at, word in enumerate(words):
            if word == "**":
                self.anything |= 1 << at
            else:
                all_places[word] = all_places.get(word, 0) | 1 << at
        self._tests = [(_name_test(word), places) for word, places in all_places.items()]
        self._known: dict[str, int] = {}

    def named(self, name: str) -> int:
        """The places of all words that match *name*, and of ``**``."""
        known = self._known.get(name)
        if known is None:
            if len(self._known) >= _MOST_NAMES:
                self._known.clear()
            known = self.anything
            for test, places in self._tests:
                if test(name):
                    known |= places
            self._known[name] = known
        return known

    def skipped(self, reached: int) -> int:
        """*reached* and what follows where ``**`` stands for no folder; at the end it stands for all that is inside."""
        return reached | (reached & self.anything & ~(1 << self.count - 1)) << 1


def _name_test(word: str) -> Callable[[str], object]:
    """What is true of the names that *word* matches: ``*``, ``?``, ``[a-z]`` and ``[!a]`` are as in a .gitignore.

    Python looks but once for what stands between two stars, and a hundred times as fast as an automaton of ours: there
    may be as many tests as patterns times files. Names of files are too short for it to take long.
    """
    if "*" not in word and "?" not in word and "[" not in word:
        return word.__eq__
    import fnmatch

    return re.compile(fnmatch.translate(word)).match if len(word) <= _LONGEST_WORD else _no_name


def _no_name(_name: str) -> bool:
    return False


@cache
def _steps(pattern: str) -> _Steps:
    words = pattern.strip("/").split("/")
    if "/" not in pattern.rstrip("/"):
        words = ["**", *words]
    once = [word for n, word in enumerate(words) if word != "**" or words[n - 1 : n] != ["**"]]
    return _Steps(once)
