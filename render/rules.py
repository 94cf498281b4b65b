"""Rules: how an instancetype or a preference reaches a VM.

A rule is a pure function that yields edits and conflicts; `run` alone applies them, to a draft,
and keeps what set which field. Most rules are rows (`fill`, `override`, `ensure`, `claim`, `each`);
where a row would need another condition, a named function is wrapped by `custom`.

Many VMs share an instancetype, so a rule is bound to its source once, and asked about each VM.

Paths of *source* start at the spec of the instancetype or preference; paths of the *target* start
at the spec of the VMI.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from render.model import tree
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.hints import Any, Final
from render.model.named_tuple import NamedTuple
from render.model.release import Items, Version, in_force
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

    *spelling* is KubeVirt's spelling of the path.
    """

    path: FieldPath
    source: FieldPath
    spelling: FieldPath


Result = Edit | Conflict
Step = Callable[[Draft], Iterable[Result]]
"""What a rule has to say about a template, once it is bound to an instancetype or a preference."""


class Rule(NamedTuple):
    """*bind* to a source answers the step that it means, None where the source has nothing of what the rule reads.

    *reads* and *writes* are paths in the source and in the VMI spec.
    """

    bind: Callable[[Tree], Step | None]
    reads: tuple[FieldPath, ...]
    writes: tuple[FieldPath, ...]


Rules = Items[Rule]
"""Rules in upstream's order, some of them of some releases only."""


class RuleOutcome(NamedTuple):
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


def fill(source: str, target: str) -> Rule:
    """Set *target* from *source* where the VM leaves it open."""
    origin, place = path(source), spec(*path(target))

    def bind(definition: Tree) -> Step | None:
        value = tree.get(definition, *origin)
        edits = (Edit(place, value, origin),)
        return None if value is None else lambda draft: edits if draft.get(*place) is None else ()

    return Rule(bind, (origin,), (place[1:],))


def override(source: str, target: str) -> Rule:
    """Set *target* from *source* whatever the VM says; a Go zero value removes it."""
    origin, place = path(source), spec(*path(target))

    def bind(definition: Tree) -> Step | None:
        value = tree.get(definition, *origin)
        edits = (Edit(place, plain(value), origin),)
        return None if value is None else lambda _: edits

    return Rule(bind, (origin,), (place[1:],))


def ensure(source: str, target: str) -> Rule:
    """Create an empty *target* where *source* is present: upstream does, and it shows in the output."""
    origin, place = path(source), spec(*path(target))

    def bind(definition: Tree) -> Step | None:
        edits = (Edit(place, {}, origin),)
        if tree.get(definition, *origin) is None:
            return None
        return lambda draft: edits if draft.get(*place) is None else ()

    return Rule(bind, (origin,), (place[1:],))


def claim(source: str, target: str) -> Rule:
    """Set *target* from *source*; a VM that sets it too is in conflict, equal or not."""
    origin, place = path(source), spec(*path(target))

    def bind(definition: Tree) -> Step | None:
        value = tree.get(definition, *origin)
        edits, conflicts = (Edit(place, value, origin),), (Conflict(place, origin, place),)
        if value is None:
            return None
        return lambda draft: edits if draft.get(*place) is None else conflicts

    return Rule(bind, (origin,), (place[1:],))


def each(items: str, *rows: tuple[str, str]) -> Rule:
    """For every entry of the list *items*, fill the text fields that each row's (source, key) names.

    They are no pointers in Go: an empty text, which a field without omitempty keeps, means unset.
    """
    place = spec(*path(items))
    pairs = tuple((path(source), key) for source, key in rows)

    def bind(definition: Tree) -> Step | None:
        entries = [(source, key, tree.get(definition, *source)) for source, key in pairs]
        values = [(source, key, value) for source, key, value in entries if value is not None]

        def step(draft: Draft) -> Iterable[Result]:
            for source, key, value in values:
                for index, item in enumerate(draft.get(*place) or ()):
                    if not item.get(key):
                        yield Edit((*place, index, key), value, source)

        return step if values else None

    return Rule(
        bind,
        tuple(source for source, _ in pairs),
        tuple((*place[1:], key) for _, key in pairs),
    )


def custom(
    evaluate: Callable[[Tree, Draft], Iterable[Result]],
    *,
    reads: Sequence[str],
    writes: Sequence[str],
    always: bool = False,
) -> Rule:
    """A rule implemented by a function, which is asked about every source if *always*."""
    origins = tuple(map(path, reads))

    def bind(definition: Tree) -> Step | None:
        concerned = always or any(tree.get(definition, *origin) is not None for origin in origins)
        return partial(evaluate, definition) if concerned else None

    return Rule(bind, origins, tuple(map(path, writes)))


class Bound:
    """Those rules that have something to say about one source, in order: the *steps*, and what each *writes*."""

    __slots__ = ("steps", "writes")

    def __init__(self, rules: Iterable[Rule], source: Tree) -> None:
        steps = ((rule.bind(source), rule.writes) for rule in rules)
        known = [(step, writes) for step, writes in steps if step is not None]
        self.steps = tuple(step for step, _ in known)
        self.writes = tuple(writes for _, writes in known)


_bound: dict[tuple[int, int, Version], tuple[Tree, Rules, Bound]] = {}
_ROOM = 1000


def bound(rules: Rules, source: Tree, release: Version) -> Bound:
    """Those of *rules* that exist in *release* and have something to say about *source*.

    The answer is kept: *source* must not be changed later.
    """
    key = id(rules), id(source), release
    known = _bound.get(key)
    if known is None:
        if len(_bound) >= _ROOM:
            _bound.clear()
        # What is identified is kept too: an id is unique only while its object lives.
        known = _bound[key] = source, rules, Bound(in_force(rules, release), source)
    return known[2]


def run(rules: Rules, source: Tree, draft: Draft, release: Version) -> RuleOutcome:
    """Apply *rules* in order to the *draft* of a template, a mapping with ``spec`` and perhaps ``metadata``."""
    return perform(bound(rules, source, release).steps, draft)


def perform(steps: Iterable[Step], draft: Draft) -> RuleOutcome:
    """Apply *steps* in order to the *draft* of a template."""
    edits: list[Edit] = []
    conflicts: list[Conflict] = []
    for step in steps:
        for result in tuple(step(draft)):  # all of it before any of it changes the draft
            if isinstance(result, Conflict):
                conflicts.append(result)
                continue
            place, value, _ = result
            if value is ABSENT:
                draft.remove(place)
            else:
                draft.put(place, value)
            edits.append(result)
    return RuleOutcome(tuple(edits), tuple(conflicts))
