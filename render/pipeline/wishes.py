"""What a preference would write where a VM or its instancetype keeps it from that."""

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
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
_BROAD = frozenset({(), ("domain",), ("domain", "devices")})
"""Places around so much that nothing is said of them."""


def wishes(machine: Machine) -> dict[FieldPath, Edit]:
    """What the preference of *machine* would write, by the place that keeps it from that."""
    definition = machine.preference
    if definition is None:
        return {}
    bound = rules.bound(preference.RULES, definition.spec, machine.context.release)
    known = {(edit.path, edit.source) for edit in _edits(machine, bound.steps)}
    found: dict[FieldPath, Edit] = {}
    for place, steps in _occupied(machine, bound):
        for edit in _edits(machine, steps, place):
            if (edit.path, edit.source) in known or _is_section(edit, definition.spec):
                continue
            wish = _instead(edit, place, machine.vmi)
            if wish is not None:
                found[place] = wish
                break
    return found


def _occupied(machine: Machine, bound: Bound) -> Iterator[tuple[FieldPath, tuple[Step, ...]]]:
    """The places that the VM or its instancetype has, with the steps of a preference that might have written there."""
    template = tree.get(machine.decoded, *machine.template) or {}
    decided = (
        edit.path
        for applied in machine.decided
        if applied.definition is machine.instancetype
        for edit in applied.edits
    )
    for path in dict.fromkeys((*_nodes(template), *decided)):
        if path[0] == "metadata" and path[:2] != ("metadata", "annotations"):
            continue
        steps = _concerned(bound, _without_positions(path))
        if steps and tree.get(machine.vmi, *path) is not None:
            yield path, steps


def _edits(machine: Machine, steps: Iterable[Step], without: FieldPath = ()) -> Iterable[Edit]:
    """What *steps* write into the VMI of *machine*, *without* what stands at a place of it."""
    draft = Draft(machine.vmi)
    if without:
        draft.remove(without)
    return rules.perform(steps, draft).edits


@lru_cache(maxsize=4096)
def _concerned(bound: Bound, place: FieldPath) -> tuple[Step, ...]:
    """Those steps of *bound* that may write at *place* of the VMI or around it, or keep others from that."""
    if place[0] != "metadata" and place[1:] in _BROAD:
        return ()
    rows = zip(bound.steps, bound.writes, strict=True)
    if place[0] == "metadata":  # nothing below spec is written there
        return tuple(step for step, writes in rows if not writes)
    return tuple(
        step
        for step, writes in rows
        if any(_touches(place[1:], target) for target in _targets(writes))
    )


@cache
def _targets(writes: tuple[FieldPath, ...]) -> frozenset[FieldPath]:
    """What a row that *writes* may write below ``spec``, or keep others from: lists without positions."""
    targets = frozenset(map(_without_positions, writes))
    groups = ((target, group) for target in targets for group in _EXCLUSIVE if target[-1] in group)
    return targets | {(*target[:-1], name) for target, group in groups for name in group}


def _nodes(node: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Every place in *node*, the outer ones first."""
    children: Any = ()
    if isinstance(node, dict):
        children = node.items()
    elif isinstance(node, list):
        children = enumerate(node)
    for step, child in children:
        yield (*path, step)
        yield from _nodes(child, (*path, step))


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
