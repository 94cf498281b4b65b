"""Saying the same in today's words: changes that are planned, tried out, and kept only if no VM changes."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from render.diagnostics.diagnostic import Diagnostic
from render.model import tree
from render.model.edits import Operation, edited
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.resource import Resource, from_body
from render.pipeline.input import definitions
from render.pipeline.migration import trial
from render.pipeline.migration.plan import Unit, plan, stays
from render.settings import Settings


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
    for unit in plan(resources, trial.comparable(settings), diagnostics):
        reason = _hindrance(unit, fixed, patches)
        if reason:
            diagnostics.append(stays(unit.resource, reason))
        else:
            units.append(unit)
    want = trial.started(resources, settings)

    def why_not(chosen: Sequence[Unit]) -> str:
        if not want.becomes(trial.started(_edited(resources, chosen), settings)):
            return "a VM would change"
        return objection(chosen)

    accepted: list[Unit] = []
    pending = list(_verifiable(units, resources, want.vmis, diagnostics))
    while pending:
        refused = list(trial.add(accepted, pending, why_not))
        if len(refused) in (0, len(pending)):
            diagnostics += (stays(u.resource, f"with {u.words}, {why}") for u, why in refused)
            break
        # One may go well with what was accepted after it.
        pending = [unit for unit, _ in refused]
    return Migration(
        combined(accepted), [(unit.resource, unit.words) for unit in accepted], diagnostics
    )


def combined(units: Iterable[Unit]) -> dict[int, list[Operation]]:
    """The edits of all *units*, by the index of the object."""
    edits: dict[int, list[Operation]] = {}
    for unit in units:
        for index, operations in unit.edits.items():
            edits.setdefault(index, []).extend(operations)
    return edits


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
    for index, changes in combined(units).items():
        body = edited(rewritten[index].body, changes)
        rewritten[index] = from_body(body, index, rewritten[index].origin)
    return rewritten


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
