"""What becomes of pools and replica sets, and of what they make."""

from collections.abc import Container, Iterator

from render.diff import impact, pools
from render.diff.compare import Difference, differences
from render.diff.impact import (
    FieldChange,
    HolderImpact,
)
from render.kubevirt import replicas
from render.machine import Machine
from render.model import catalogue
from render.model.fieldpath import FieldPath
from render.model.resource import TEMPLATE
from render.model.types import VM_TYPE, VMI_TYPE
from render.pipeline import attribution
from render.pipeline.attribution import SideIndex, Transition
from render.pipeline.comparison import lifecycle
from render.pipeline.comparison.edits import edits_without_effect
from render.pipeline.comparison.sides import Key, Side
from render.revisions import stamps


def holder_impacts(
    old: Side, new: Side, edited: Container[catalogue.Key]
) -> Iterator[HolderImpact]:
    """What becomes of the pools and replica sets that change, or of which one of the *edited* definitions does."""
    keys = {
        key: None
        for side in (old, new)
        for key, machine in side.machines.items()
        if machine.resource.holder is not None
    }
    for key in sorted(keys):
        before, after = old.machines.get(key), new.machines.get(key)
        if before is None or after is None:
            outcome = _lone_holder(before, after, new)
        else:
            outcome = _holder_impact(key, before, after, (old.places, new.places), edited)
        if outcome is not None:
            yield outcome


def _lone_holder(before: Machine | None, after: Machine | None, new: Side) -> HolderImpact | None:
    """What is said of a pool or replica set that one state has; nothing where errors keep it from the other."""
    machine = after or before
    assert machine is not None  # noqa: S101 - one of them
    ref, holder = machine.resource.ref, machine.resource.holder
    if any(diagnostic.is_error and diagnostic.resource == ref for diagnostic in new.diagnostics):
        return None
    count = pools.replicas(holder.body if holder else {})
    if after is None:
        return HolderImpact(ref, "gone", (count, 0))
    return HolderImpact(ref, "new", (0, count))


def _holder_impact(
    key: Key,
    before: Machine,
    after: Machine,
    sides: tuple[SideIndex, SideIndex],
    edited: Container[catalogue.Key],
) -> HolderImpact | None:
    """What becomes of the VMs of a pool, or the VMIs of a replica set; None for one that stays as it is."""
    was, now = before.resource.holder, after.resource.holder
    if was is None or now is None or before.failed or after.failed:
        return None
    kind = VM_TYPE if after.template else VMI_TYPE
    old, new = (
        stamps.put(lifecycle.without_status(machine.decoded), {}) for machine in (before, after)
    )
    differing = differences(old, new, kind)
    passed = tuple(definition.resource for definition in edits_without_effect(after, edited))
    counts = pools.replicas(was.body), pools.replicas(now.body)
    if not differing and not passed and counts[0] == counts[1]:
        return None
    release = after.context.release
    outcome: pools.Outcome = "later" if passed else "scaled"
    if pools.empties(was.body, now.body):
        outcome = "emptied"
    elif differing:
        outcome = pools.outcome(differing, kind, now.body, release)
    change = Transition(before, after, sides, key)
    return HolderImpact(
        after.resource.ref,
        outcome,
        counts,
        tuple(
            _template_change(difference, change, replicas.template_of(now))
            for difference in differing
        ),
        passed,
        pools.is_selective(now.body, release),
    )


def _template_change(
    difference: Difference, change: Transition, template: FieldPath
) -> FieldChange:
    """What differs in what a pool or replica set makes, which it has at *template*."""
    of_template = difference.route[: len(TEMPLATE)] == TEMPLATE
    cause = attribution.of_vmi(difference.route[len(TEMPLATE) :], change) if of_template else None
    cause = cause or attribution.of_vm(difference.route, change)
    if cause is not None and cause.resource == change.after.resource.ref:
        cause = cause._replace(path=(*template, *cause.path))
    return impact.field_change(difference, "", cause)
