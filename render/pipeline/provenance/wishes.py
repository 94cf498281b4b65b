"""What a preference would write where a VM or its instancetype keeps it from that."""

import marshal
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from render import rules
from render.apply import preference
from render.apply.preference.interfaces import BINDINGS
from render.machine import Machine
from render.model import tree
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.tree import Tree
from render.rules import Bound, Edit, Step

#: Of each group only one is in force, so that one keeps the others out.
_EXCLUSIVE = (
    frozenset({"bios", "efi"}),
    frozenset({"utc", "timezone"}),
    frozenset(BINDINGS),
)

#: So that the bytes follow from the value alone, and not from which of its parts are one object.
_WITHOUT_REFERENCES = 2
_MOST_ALIKE = 64
_Targets = dict[FieldPath, bool]
"""Where a preference writes, by path without positions; False for what is around such a place."""


class _VMIContent:
    """What a *vmi* has at paths, in a form that only a value of the same types with the same content has."""

    def __init__(self, vmi: Tree) -> None:
        self.vmi = vmi
        self._known: dict[FieldPath, object] = {}

    def at(self, path: FieldPath) -> object:
        """The content at *path*."""
        known = self._known.get(path)
        if known is None:
            try:
                known = marshal.dumps(tree.get(self.vmi, *path), _WITHOUT_REFERENCES)
            except (
                ValueError
            ):  # what nobody knows (`render.defaults.vm.Unknown`) is like nothing else
                known = object()
            self._known[path] = known
        return known


class _ReadDraft(Draft):
    """A draft that adds to *read* the paths whose values it is asked for."""

    __slots__ = ()

    def __init__(self, source: Tree, read: set[FieldPath]) -> None:
        super().__init__(source)
        get = self.get

        def reading(*path: str | int) -> Any:
            read.add(path)
            return get(*path)

        self.get = reading


class _KnownWishes:
    """What is wished for one place in some VMIs, by the contents of all *paths* of those that the answers depend on."""

    __slots__ = ("paths", "wishes")

    def __init__(self) -> None:
        self.paths: tuple[FieldPath, ...] = ()
        self.wishes: dict[tuple[object, ...], Edit | None] = {}


def wishes(machine: Machine) -> dict[FieldPath, Edit]:
    """What the preference of *machine* would write, by the place that keeps it from that."""
    definition = machine.preference
    if definition is None:
        return {}
    bound = rules.bound(preference.RULES, definition.spec, machine.context.release)
    targets = _targets(bound, tuple(definition.spec.get("annotations") or ()))
    contents = _VMIContent(machine.vmi)
    found: dict[FieldPath, Edit] = {}
    for place in _occupied(machine, targets):
        wish = _remembered(bound, definition.spec, place, contents)
        if wish is not None:
            found[place] = wish
    return found


def _remembered(bound: Bound, spec: Tree, place: FieldPath, contents: _VMIContent) -> Edit | None:
    """The same as `_wish`, which is asked once for VMIs that are alike wherever it looks."""
    known = _known(bound, place)
    key = tuple(map(contents.at, known.paths))
    if key not in known.wishes:
        read = {*known.paths}
        wish = _wish(bound, spec, place, contents.vmi, read)
        if len(read) > len(known.paths):
            known.paths = tuple(read)
            known.wishes.clear()
            key = tuple(map(contents.at, known.paths))
        elif len(known.wishes) >= _MOST_ALIKE:
            known.wishes.clear()
        known.wishes[key] = wish
    return known.wishes[key]


@lru_cache(maxsize=4096)
def _known(_bound: Bound, _place: FieldPath) -> _KnownWishes:
    """What is known of a place and the preference of the rules that are *_bound*."""
    return _KnownWishes()


def _wish(
    bound: Bound, spec: Tree, place: FieldPath, vmi: Tree, read: set[FieldPath]
) -> Edit | None:
    """What the preference *spec* would write if *vmi* had nothing at *place*, and does not write as it is.

    *read* gets the paths that this follows from.
    """
    steps = _concerned(bound, _without_positions(place))
    made: set[tuple[FieldPath, FieldPath]] | None = None
    for edit in _edits(vmi, steps, read, place):
        wish = _instead(edit, place, vmi, read)
        if wish is None or _is_section(edit, spec):
            continue
        if made is None:
            made = {(each.path, each.source) for each in _edits(vmi, steps, read)}
        if (edit.path, edit.source) not in made:
            return wish
    return None


def _occupied(machine: Machine, targets: _Targets) -> Iterator[FieldPath]:
    """Those of *targets* that the VM or its instancetype has."""
    found: list[FieldPath] = []
    _gather(tree.get(machine.decoded, *machine.template), (), (), targets, found)
    written = dict.fromkeys(found)
    for applied in machine.decided:
        if applied.definition is machine.instancetype:
            paths = (edit.path for edit in applied.edits)
            written |= {path: None for path in paths if targets.get(_without_positions(path))}
    return (path for path in written if tree.get(machine.vmi, *path) is not None)


def _gather(
    node: Any, path: FieldPath, plain: FieldPath, targets: _Targets, found: list[FieldPath]
) -> None:
    """Add to *found* every place in *node*, which is at *path*, that is one of *targets*; *plain* has no positions."""
    if isinstance(node, dict):
        for key, child in node.items():
            inner = (*plain, key)
            is_target = targets.get(inner)
            if is_target is not None:
                if is_target:
                    found.append((*path, key))
                if isinstance(child, dict | list):
                    _gather(child, (*path, key), inner, targets, found)
    elif isinstance(node, list):
        for index, child in enumerate(node):
            if targets[plain]:
                found.append((*path, index))
            _gather(child, (*path, index), plain, targets, found)


def _edits(
    vmi: Tree, steps: Sequence[Step], read: set[FieldPath], without: FieldPath = ()
) -> Iterable[Edit]:
    """What *steps* write into *vmi*, *without* what stands at a place of it; *read* gets the paths where they look."""
    draft = _ReadDraft(vmi, read)
    if without:
        draft.remove(without)
    if len(steps) == 1:  # as most are, and no other reads what it writes
        return [result for result in steps[0](draft) if isinstance(result, Edit)]
    return rules.perform(steps, draft).edits


@lru_cache(maxsize=1024)
def _targets(bound: Bound, annotations: tuple[str, ...]) -> _Targets:
    """Where the steps of *bound* write, or keep others from that; those without a field write *annotations*."""
    paths = [path for writes in bound.writes for path in _fields(writes)]
    paths += (("metadata", "annotations", key) for key in annotations)
    around = {path[:end]: False for path in paths for end in range(len(path))}
    return around | dict.fromkeys(paths, True)


@lru_cache(maxsize=4096)
def _concerned(bound: Bound, place: FieldPath) -> tuple[Step, ...]:
    """Those steps of *bound* that may write at *place* or around it, or keep others from that."""
    rows = zip(bound.steps, bound.writes, strict=True)
    if place[0] == "metadata":  # nothing below spec is written there
        return tuple(step for step, writes in rows if not writes)
    return tuple(
        step for step, writes in rows if any(_touches(place, target) for target in _fields(writes))
    )


@cache
def _fields(writes: tuple[FieldPath, ...]) -> frozenset[FieldPath]:
    """The fields of a row that *writes* below ``spec``, and those that keep it from that."""
    targets = frozenset(("spec", *target) for target in writes)
    groups = ((target, group) for target in targets for group in _EXCLUSIVE if target[-1] in group)
    return targets | {(*target[:-1], name) for target, group in groups for name in group}


def _without_positions(path: FieldPath) -> FieldPath:
    return tuple(step for step in path if isinstance(step, str))


def _touches(path: FieldPath, other: FieldPath) -> bool:
    size = min(len(path), len(other))
    return path[:size] == other[:size]


def _is_section(edit: Edit, spec: Tree) -> bool:
    """Whether *edit* only makes an empty place for what a section of a preference has in it."""
    value = tree.get(spec, *edit.source)
    return edit.value == {} and isinstance(value, dict) and value != {}


def _instead(edit: Edit, place: FieldPath, template: Tree, read: set[FieldPath]) -> Edit | None:
    """What *edit*, which is only made where *place* is empty, would have in its stead."""
    if edit.value is rules.ABSENT:
        return None
    if edit.path == place:
        return edit
    if edit.path == place[:-1] and isinstance(place[-1], int):
        read.add((*place, "name"))
        name = tree.get(template, *place, "name")
        named = [item for item in edit.value if name is not None and item.get("name") == name]
        return edit._replace(path=place, value=named[0]) if named else None
    pair = {edit.path[-1], place[-1]}
    if edit.path[:-1] == place[:-1] and any(pair <= group for group in _EXCLUSIVE):
        return edit._replace(value={edit.path[-1]: edit.value})
    return None
