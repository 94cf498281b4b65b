"""Rules: how an instancetype or a preference reaches a VM.

A rule is a pure function that yields edits and conflicts; `run` alone applies them, to a draft,
and keeps what set which field. Most rules are rows (`fill`, `override`, `ensure`, `claim`, `each`);
where a row would need another condition, a named function is wrapped by `custom`.

Paths of *source* start at the spec of the instancetype or preference; paths of the *target* start
at the spec of the VMI.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from render.model import tree
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.tree import Tree

#: The value of an edit that removes its field.
ABSENT: Final = object()


class Edit(NamedTuple):
    """Set *value* at *path* of the template, because of *source* in the instancetype or preference.

    *path* starts with ``spec`` or ``metadata``.
    """

    path: FieldPath
    value: Any
    source: FieldPath


class Conflict(NamedTuple):
    """The VM sets *path*, which the instancetype claims with *source*.

    *shown* is KubeVirt's spelling of the path.
    """

    path: FieldPath
    source: FieldPath
    shown: FieldPath


Result = Edit | Conflict
Evaluate = Callable[[Tree, Draft], Iterable[Result]]


class Rule(NamedTuple):
    """*reads* and *writes* are paths in the source and in the VMI spec; *since* and *until* a window of releases.

    About a source that has nothing of what it reads a rule has nothing to say, unless *always*.
    """

    evaluate: Evaluate
    reads: tuple[FieldPath, ...]
    writes: tuple[FieldPath, ...]
    since: tuple[int, int] | None = None
    until: tuple[int, int] | None = None
    always: bool = False

    def holds_in(self, release: tuple[int, int]) -> bool:
        """Whether the rule exists in the KubeVirt *release* (major, minor)."""
        return (self.since is None or release >= self.since) and (
            self.until is None or release < self.until
        )


class Outcome(NamedTuple):
    """Every edit made, and every conflict found, in order."""

    edits: tuple[Edit, ...]
    conflicts: tuple[Conflict, ...]


def path(dotted: str) -> FieldPath:
    """``"domain.devices"`` as a path."""
    return tuple(dotted.split("."))


def spec(*steps: str | int) -> FieldPath:
    """A path below the template's ``spec``."""
    return ("spec", *steps)


def plain(value: Any) -> Any:
    """*value* for a field that is no pointer in Go, where the zero value means unset."""
    return value if value or isinstance(value, dict) else ABSENT


def fill(source: str, target: str, *, since: tuple[int, int] | None = None) -> Rule:
    """Set *target* from *source* where the VM leaves it open."""
    origin, place = path(source), spec(*path(target))

    def evaluate(given: Tree, draft: Draft) -> Iterable[Result]:
        value = tree.get(given, *origin)
        if value is not None and draft.get(*place) is None:
            return (Edit(place, value, origin),)
        return ()

    return Rule(evaluate, (origin,), (place[1:],), since)


def override(source: str, target: str) -> Rule:
    """Set *target* from *source* whatever the VM says; a Go zero value removes it."""
    origin, place = path(source), spec(*path(target))

    def evaluate(given: Tree, _draft: Draft) -> Iterable[Result]:
        value = tree.get(given, *origin)
        return () if value is None else (Edit(place, plain(value), origin),)

    return Rule(evaluate, (origin,), (place[1:],))


def ensure(source: str, target: str) -> Rule:
    """Create an empty *target* where *source* is present: upstream does, and it shows in the output."""
    origin, place = path(source), spec(*path(target))

    def evaluate(given: Tree, draft: Draft) -> Iterable[Result]:
        if tree.get(given, *origin) is not None and draft.get(*place) is None:
            return (Edit(place, {}, origin),)
        return ()

    return Rule(evaluate, (origin,), (place[1:],))


def claim(source: str, target: str, *, since: tuple[int, int] | None = None) -> Rule:
    """Set *target* from *source*; a VM that sets it too is in conflict, equal or not."""
    origin, place = path(source), spec(*path(target))

    def evaluate(given: Tree, draft: Draft) -> Iterable[Result]:
        value = tree.get(given, *origin)
        if value is None:
            return ()
        if draft.get(*place) is not None:
            return (Conflict(place, origin, place),)
        return (Edit(place, value, origin),)

    return Rule(evaluate, (origin,), (place[1:],), since)


def each(items: str, *rows: tuple[str, str]) -> Rule:
    """For every entry of the list *items*, fill the fields that each row's (source, key) names."""
    place = spec(*path(items))
    pairs = tuple((path(source), key) for source, key in rows)

    def evaluate(given: Tree, draft: Draft) -> Iterable[Result]:
        for source, key in pairs:
            value = tree.get(given, *source)
            if value is not None:
                for index, item in enumerate(draft.get(*place) or ()):
                    if item.get(key) is None:
                        yield Edit((*place, index, key), value, source)

    return Rule(
        evaluate,
        tuple(source for source, _ in pairs),
        tuple((*place[1:], key) for _, key in pairs),
    )


def custom(
    evaluate: Evaluate,
    *,
    reads: Sequence[str],
    writes: Sequence[str],
    since: tuple[int, int] | None = None,
    always: bool = False,
) -> Rule:
    """A rule with a mind of its own: a named function."""
    return Rule(evaluate, tuple(map(path, reads)), tuple(map(path, writes)), since, always=always)


_Relevant = tuple[Tree, tuple[Rule, ...], tuple[Rule, ...]]
_relevant: dict[tuple[int, int, tuple[int, int]], _Relevant] = {}
_ROOM = 1000


def relevant(rules: tuple[Rule, ...], source: Tree, release: tuple[int, int]) -> tuple[Rule, ...]:
    """Those of *rules* that exist in *release* and have something to say about *source*.

    Many VMs share an instancetype, so the answer is kept. *source* must not be changed later.
    """
    key = id(rules), id(source), release
    known = _relevant.get(key)
    if known is None:
        found = tuple(
            rule
            for rule in rules
            if rule.holds_in(release)
            and (rule.always or any(tree.get(source, *read) is not None for read in rule.reads))
        )
        if len(_relevant) >= _ROOM:
            _relevant.clear()
        # What is identified is kept too: an id is unique only while its object lives.
        known = _relevant[key] = source, rules, found
    return known[2]


def run(rules: tuple[Rule, ...], source: Tree, draft: Draft, release: tuple[int, int]) -> Outcome:
    """Apply *rules* in order to the *draft* of a template, a mapping with ``spec`` and perhaps ``metadata``."""
    edits: list[Edit] = []
    conflicts: list[Conflict] = []
    for rule in relevant(rules, source, release):
        for result in tuple(rule.evaluate(source, draft)):
            if isinstance(result, Conflict):
                conflicts.append(result)
                continue
            if result.value is ABSENT:
                draft.remove(result.path)
            else:
                draft.put(result.path, result.value)
            edits.append(result)
    return Outcome(tuple(edits), tuple(conflicts))
