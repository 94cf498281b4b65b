"""Which files of a directory Argo CD and Flux apply, where nothing builds it.

Upstream: argo-cd reposerver/repository/repository.go (getPotentiallyValidManifestFile), util/glob/glob.go;
github.com/gobwas/glob without separators; github.com/fluxcd/pkg kustomize/kustomize_generator.go, and
sourceignore/sourceignore.go for what source-controller leaves out of what it fetches.
"""

from collections.abc import Mapping, Sequence

from render.model.named_tuple import NamedTuple

_LONGEST = 1_000
_ANY_TEXT, _ANY = "*", "?"
_OPEN, _COMMA, _CLOSE = "{", ",", "}"
_SIGNS = frozenset("*?{}")
#: What nobody needs for the names of files, and what is refused by rules of its own.
_UNKNOWN = frozenset("[]\\")


class DirectoryPatterns(NamedTuple):
    """Which files of a directory are applied: those that *include* matches, without one all, but for *exclude*'s."""

    include: str = ""
    exclude: str = ""

    @property
    def is_known(self) -> bool:
        """Whether both patterns are such that it is known what they match."""
        return all(map(_is_known, self))

    @property
    def only(self) -> str:
        """The one path that is applied, where they name one; else ``""``."""
        return "" if self.exclude or _SIGNS.intersection(self.include) else self.include

    def select(self, path: str) -> bool:
        """Whether the file *path*, seen from the directory, is applied."""
        is_excluded = bool(self.exclude) and _matches(self.exclude, path)
        return not is_excluded and (not self.include or _matches(self.include, path))


_OF_OTHERS = "appveyor.yml,cloudbuild.yaml,codeship-services.yml,codeship-steps.yml"
#: What Flux applies of a folder without a kustomization; what is hidden is read nowhere here.
OF_FLUX = DirectoryPatterns("{*.yaml,*.yml}", f"{{{{{_OF_OTHERS}}},*/{{{_OF_OTHERS}}}}}")


def _is_known(pattern: str) -> bool:
    depth = 0
    for char in pattern:
        depth += (char == _OPEN) - (char == _CLOSE)
        if depth < 0 or char in _UNKNOWN:
            return False
    return not depth and len(pattern) <= _LONGEST


def _matches(pattern: str, text: str) -> bool:
    """Whether *pattern* matches all of *text*; ``*`` stands for slashes too.

    All ways of matching are followed at once, for patterns come from whoever wrote the repository.
    """
    ways = _ways(pattern)
    reached = _reached({0}, ways)
    for char in text:
        after = set()
        for at in reached - {len(pattern)}:
            if pattern[at] == _ANY_TEXT:
                after.add(at)
            elif at not in ways and pattern[at] in {_ANY, char}:
                after.add(at + 1)
        reached = _reached(after, ways)
    return len(pattern) in reached


def _ways(pattern: str) -> dict[int, list[int]]:
    """Where one gets in *pattern* without a character of the text: from the places of signs, by these."""
    ways: dict[int, list[int]] = {}
    opened: list[list[int]] = []
    for at, char in enumerate(pattern):
        if char == _COMMA and opened:
            ways[opened[-1][0]].append(at + 1)
            opened[-1].append(at)
        elif char in {_ANY_TEXT, _OPEN, _CLOSE}:
            ways[at] = [at + 1]
        if char == _OPEN:
            opened.append([at])
        elif char == _CLOSE:
            ways |= {comma: [at + 1] for comma in opened.pop()[1:]}
    return ways


def _reached(places: set[int], ways: Mapping[int, Sequence[int]]) -> set[int]:
    """*places* and all to which *ways* lead from there."""
    pending = [*places]
    while pending:
        new = set(ways.get(pending.pop(), ())) - places
        places |= new
        pending += new
    return places
