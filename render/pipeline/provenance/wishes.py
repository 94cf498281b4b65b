"""What a preference would write where a VM or its instancetype keeps it from that."""

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

_Targets = dict[FieldPath, bool]
"""Where a preference writes, by path without positions; False for what is around such a place."""


def wishes(machine: Machine) -> dict[FieldPath, Edit]:
    """What the preference of *machine* would write, by the place that keeps it from that."""
    definition = machine.preference
    if definition is None:
        return {}
    bound = rules.bound(preference.RULES, definition.spec, machine.context.release)

    @cache  # many places concern the same steps, a few of all
    def made(steps: tuple[Step, ...]) -> set[tuple[FieldPath, FieldPath]]:
        return {(edit.path, edit.source) for edit in _edits(machine, steps)}

    found: dict[FieldPath, Edit] = {}
    for place in _occupied(
        machine, _targets(bound, tuple(definition.spec.get("annotations") or ()))
    ):
        steps = _concerned(bound, _without_positions(place))
        for edit in _edits(machine, steps, place):
            wish = _instead(edit, place, machine.vmi)
            if wish is None or _is_section(edit, definition.spec):
                continue
            if (edit.path, edit.source) not in made(steps):
                found[place] = wish
                break
    return found


def _occupied(machine: Machine, targets: _Targets) -> Iterator[FieldPath]:
    """Those of *targets* that the VM or its instancetype has."""
    written = dict.fromkeys(_written(tree.get(machine.decoded, *machine.template), (), (), targets))
    for applied in machine.decided:
        if applied.definition is machine.instancetype:
            paths = (edit.path for edit in applied.edits)
            written |= {path: None for path in paths if targets.get(_without_positions(path))}
    return (path for path in written if tree.get(machine.vmi, *path) is not None)


def _written(
    node: Any, path: FieldPath, plain: FieldPath, targets: _Targets
) -> Iterator[FieldPath]:
    """Every place in *node*, which is at *path*, that is one of *targets*; *plain* is *path* without positions."""
    if isinstance(node, dict):
        for key, child in node.items():
            is_target = targets.get((*plain, key))
            if is_target is not None:
                if is_target:
                    yield (*path, key)
                yield from _written(child, (*path, key), (*plain, key), targets)
    elif isinstance(node, list):
        for index, child in enumerate(node):
            if targets[plain]:
                yield (*path, index)
            yield from _written(child, (*path, index), plain, targets)


def _edits(machine: Machine, steps: Sequence[Step], without: FieldPath = ()) -> Iterable[Edit]:
    """What *steps* write into the VMI of *machine*, *without* what stands at a place of it."""
    draft = Draft(machine.vmi)
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
