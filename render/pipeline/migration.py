"""Saying the same in today's words: changes that are planned, tried out, and kept only if no VM changes."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from render.diagnostics.diagnostic import Diagnostic
from render.machine import Machine
from render.model import tree
from render.model.edits import Operation, edited
from render.model.kinds import KIND_CLASSES
from render.model.resource import Resource, from_body
from render.model.tree import Tree
from render.pipeline.input import definitions
from render.pipeline.migration_plan import Unit, plan, stays
from render.pipeline.run import run
from render.presets import APPLIED
from render.settings import Settings

_NAMES = tuple(
    f"kubevirt.io/{scope}{one.annotation}" for one in KIND_CLASSES for scope in ("", "cluster-")
)


class Migration(NamedTuple):
    """The edits of each object by index, what they do, and what stays as it is and why."""

    edits: dict[int, list[Operation]]
    done: list[tuple[Resource, str]]
    diagnostics: list[Diagnostic]


def migrate(
    resources: Sequence[Resource],
    settings: Settings,
    fixed: frozenset[int] = frozenset(),
    patches: Mapping[str, str] = {},
    objection: Callable[[Sequence[Unit]], str] = lambda _: "",
) -> Migration:
    """Plan the migration of *resources*; those at the indexes *fixed* cannot be edited.

    What a VM becomes is compared before and after, apart from the annotations that name where it comes from. A change
    by which one would differ is left out, and so is one that takes away what one of *patches* (texts by file) looks
    for, or one with which there is an *objection* to all changes so far.
    """
    diagnostics: list[Diagnostic] = []
    units: list[Unit] = []
    for unit in plan(resources, _comparable(settings), diagnostics):
        reason = _hindrance(unit, fixed, patches)
        if reason:
            diagnostics.append(stays(unit.resource, reason))
        else:
            units.append(unit)
    want = started(resources, settings)

    def why_not(chosen: Sequence[Unit]) -> str:
        if not want.becomes(started(_edited(resources, chosen), settings)):
            return "a VM would change"
        return objection(chosen)

    accepted: list[Unit] = []
    pending = list(_verifiable(units, resources, want.vmis, diagnostics))
    while pending:
        refused = list(_add(accepted, pending, why_not))
        if len(refused) in (0, len(pending)):
            diagnostics += (stays(u.resource, f"with {u.words}, {why}") for u, why in refused)
            break
        # One may go well with what was accepted after it.
        pending = [unit for unit, _ in refused]
    edits: dict[int, list[Operation]] = {}
    for unit in accepted:
        for index, operations in unit.edits.items():
            edits.setdefault(index, []).extend(operations)
    return Migration(edits, [(unit.resource, unit.words) for unit in accepted], diagnostics)


def _add(
    accepted: list[Unit], units: Sequence[Unit], why_not: Callable[[Sequence[Unit]], str]
) -> Iterator[tuple[Unit, str]]:
    """Add those of *units* to *accepted* that nothing speaks against; the others, with the reasons."""
    why = why_not([*accepted, *units])
    if not why:
        accepted += units
    elif len(units) == 1:
        yield units[0], why
    else:
        half = len(units) // 2
        yield from _add(accepted, units[:half], why_not)
        yield from _add(accepted, units[half:], why_not)


def _comparable(settings: Settings) -> Settings:
    return settings._replace(
        emit="vmi", preset_conflicts="override", annotations=False, pins="ignore"
    )


def _verifiable(
    units: Iterable[Unit],
    resources: Sequence[Resource],
    seen: Collection[int],
    left: list[Diagnostic],
) -> Iterator[Unit]:
    """Those of *units* of which a rendering tells whether they change a VM; reasons against others go to *left*."""
    for unit in units:
        vm = _unseen(unit, resources, seen)
        if vm is None:
            yield unit
        else:
            why = f"{vm.ref}, which it may be about, cannot be rendered: see `virt-render check`"
            left.append(stays(unit.resource, why))


def _hindrance(unit: Unit, fixed: frozenset[int], patches: Mapping[str, str]) -> str:
    """Why *unit* cannot be made, whatever the VMs become; ``""`` if it can."""
    if fixed & unit.edits.keys():
        return "it is JSON, which is not rewritten"
    for file, text in patches.items():
        for word in unit.gone:
            if re.search(rf"\b{re.escape(word)}\b", text):
                return f"{file} patches {word}, which it would not find any more"
    return ""


def _edited(resources: Sequence[Resource], units: Iterable[Unit]) -> list[Resource]:
    rewritten = list(resources)
    for unit in units:
        for index, changes in unit.edits.items():
            body = edited(rewritten[index].body, changes)
            rewritten[index] = from_body(body, index, rewritten[index].origin)
    return rewritten


class Started(NamedTuple):
    """What VMs and VMIs start as, by index, without the names of what they were made from; and the errors there are.

    An error is its code and the object that it is about.
    """

    vmis: dict[int, Tree]
    errors: frozenset[tuple[str, str]]

    def becomes(self, after: "Started") -> bool:
        """Whether *after* starts the same, and no error came up that was not there."""
        same = list(self.vmis.values()) == list(after.vmis.values())
        return same and after.errors <= self.errors


def started(resources: Sequence[Resource], settings: Settings) -> Started:
    """What becomes of *resources*."""
    instances: dict[int, Tree] = {}

    def observe(machine: Machine, body: Tree) -> None:
        if not machine.failed:
            instances[machine.resource.index] = _unnamed(body)

    rendered = run(resources, _comparable(settings), observe)
    errors = (
        (one.code, str(one.location.resource)) for one in rendered.diagnostics if one.is_error
    )
    return Started(instances, frozenset(errors))


def _unseen(unit: Unit, resources: Sequence[Resource], seen: Collection[int]) -> Resource | None:
    """A VM that *unit* may be about and that is not rendered, so that nothing tells whether it stays the same."""
    if unit.safe:
        return None
    matchers = ("flavor", *(kind_class.word for kind_class in KIND_CLASSES))
    for vm in resources:
        if not definitions.is_machine(vm) or vm.index in seen:
            continue
        named = any(tree.get(vm.spec, word, "name") == unit.resource.name for word in matchers)
        if named or vm.index in unit.edits:
            return vm
    return None


def _unnamed(body: Tree) -> Tree:
    metadata = body["metadata"]
    annotations = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if key not in _NAMES and not key.startswith(APPLIED)
    }
    return {**body, "metadata": {**metadata, "annotations": annotations}}
