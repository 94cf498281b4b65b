"""What a preference would write where a VM or its instancetype keeps it from that."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any

from render import rules
from render.apply import preference
from render.apply.preference.interfaces import BINDINGS
from render.machine import Machine
from render.model import tree
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.tree import Tree
from render.rules import Bound, Edit, Step

#: Of each group only one is in force, so that one keeps the others out.
_EXCLUSIVE = (
    frozenset({"bios", "efi"}),
    frozenset({"utc", "timezone"}),
    frozenset(BINDINGS),
)

_Targets = dict[FieldPath, tuple[Step, ...]]
"""Where steps of a preference write, by path without positions; what is around such a place has none."""


def wishes(machine: Machine) -> dict[FieldPath, Edit]:
    """What the preference of *machine* would write, by the place that keeps it from that."""
    definition = machine.preference
    if definition is None:
        return {}
    bound = rules.bound(preference.RULES, definition.spec, machine.context.release)
    known = {(edit.path, edit.source) for edit in _edits(machine, bound.steps)}
    found: dict[FieldPath, Edit] = {}
    targets = _targets(bound, tuple(definition.spec.get("annotations") or ()))
    for place, steps in _occupied(machine, targets):
        for edit in _edits(machine, steps, place):
            if (edit.path, edit.source) in known or _is_section(edit, definition.spec):
                continue
            wish = _instead(edit, place, machine.vmi)
            if wish is not None:
                found[place] = wish
                break
    return found


def _occupied(
    machine: Machine, targets: _Targets
) -> Iterator[tuple[FieldPath, tuple[Step, ...]]]:
    """The places that the VM or its instancetype has, with the steps of a preference that might have written there."""
    template = tree.get(machine.decoded, *machine.template)
    found = dict(_written(template, (), (), targets))
    for applied in machine.decided:
        if applied.definition is machine.instancetype:
            for path, _, _ in applied.edits:
                found[path] = targets.get(_without_positions(path), ())
    for path, steps in found.items():
        if steps and tree.get(machine.vmi, *path) is not None:
            yield path, steps


def _written(
    node: Any, path: FieldPath, plain: FieldPath, targets: _Targets
) -> Iterator[tuple[FieldPath, tuple[Step, ...]]]:
    """Every place in *node*, which is at *path*, that is one of *targets*; *plain* is *path* without positions."""
    if isinstance(node, dict):
        for key, child in node.items():
            inner = (*plain, key)
            steps = targets.get(inner)
            if steps is not None:
                yield (*path, key), steps
                yield from _written(child, (*path, key), inner, targets)
    elif isinstance(node, list):
        for index, child in enumerate(node):
            yield (*path, index), targets[plain]
            yield from _written(child, (*path, index), plain, targets)


def _edits(machine: Machine, steps: Iterable[Step], without: FieldPath = ()) -> Iterable[Edit]:
    """What *steps* write into the VMI of *machine*, *without* what stands at a place of it."""
    draft = Draft(machine.vmi)
    if without:
        draft.remove(without)
    return rules.perform(steps, draft).edits


@lru_cache(maxsize=1024)
def _targets(bound: Bound, annotations: tuple[str, ...]) -> _Targets:
    """Where the steps of *bound* write, or keep others from that; those without a field write *annotations*."""
    known = [frozenset(_fields(writes)) for writes in bound.writes]
    fields = frozenset(chain.from_iterable(known))
    targets: _Targets = {}
    for path in (*fields, *(("metadata", "annotations", key) for key in annotations)):
        targets |= {path[:end]: () for end in range(len(path)) if path[:end] not in targets}
        targets[path] = tuple(
            step
            for step, written in zip(bound.steps, known, strict=True)
            if (path not in fields and not written) or any(_touches(path, each) for each in written)
        )
    return targets


def _fields(writes: tuple[FieldPath, ...]) -> Iterator[FieldPath]:
    """Where a row that *writes* below ``spec`` does, or keeps others from it."""
    for target in writes:
        yield ("spec", *target)
        for group in _EXCLUSIVE:
            if target[-1] in group:
                yield from (("spec", *target[:-1], name) for name in group)


def _without_positions(path: FieldPath) -> FieldPath:
    return tuple(step for step in path if isinstance(step, str))


def _touches(path: FieldPath, other: FieldPath) -> bool:
    size = min(len(path), len(other))
    return path[:size] == other[:size]


def _is_section(edit: Edit, spec: Tree) -> bool:
    """Whether *edit* only makes an empty place for what a section of a preference has in it."""
    value = tree.get(spec, *edit.source)
    return edit.value == {} and isinstance(value, dict) and value != {}


def _instead(edit: Edit, place: FieldPath, template: Tree) -> Edit | None:
    """What *edit*, which is only made where *place* is empty, would have in its stead."""
    if edit.value is rules.ABSENT:
        return None
    if edit.path == place:
        return edit
    if edit.path == place[:-1] and isinstance(place[-1], int):
        name = tree.get(template, *place, "name")
        named = [item for item in edit.value if name is not None and item.get("name") == name]
        return edit._replace(path=place, value=named[0]) if named else None
    pair = {edit.path[-1], place[-1]}
    if edit.path[:-1] == place[:-1] and any(pair <= group for group in _EXCLUSIVE):
        return edit._replace(value={edit.path[-1]: edit.value})
    return None
