"""What becomes of pools and replica sets, and of what they make."""

from collections.abc import Container, Iterable, Iterator, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic
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
from render.model.named_tuple import NamedTuple
from render.model.release import Version
from render.model.resource import TEMPLATE, Resource
from render.model.tree import Tree
from render.model.types import VM_TYPE, VMI_TYPE
from render.pipeline.comparison import judgement, lifecycle
from render.pipeline.comparison.edits import edits_without_effect
from render.pipeline.comparison.sides import Key, ObjectErrors, Side
from render.pipeline.provenance import attribution
from render.pipeline.provenance.attribution import SideIndex, Transition
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
    faults = old.errors, new.errors
    for key in sorted(keys):
        before, after = old.machines.get(key), new.machines.get(key)
        if before is None or after is None:
            outcome = _lone_holder(before, after, faults)
        else:
            outcome = _holder_impact(key, before, after, (old.places, new.places), edited)
        if outcome is not None:
            yield outcome


class _HolderVerdict(NamedTuple):
    """What KubeVirt has against a pool or replica set, because of *errors*: nothing without an *outcome*."""

    outcome: pools.Outcome | None
    errors: Sequence[Diagnostic] = ()


def _verdict(diagnostics: Iterable[Diagnostic]) -> _HolderVerdict:
    """What KubeVirt makes of a pool or replica set of which *diagnostics* are said."""
    errors = judgement.errors_of_cluster(diagnostics)
    refused = [error for error in errors if error.code != codes.POOL_UNUSABLE.number]
    if refused:
        return _HolderVerdict("refused", refused)
    return _HolderVerdict("unusable" if errors else None, errors)


def _lone_holder(
    before: Machine | None, after: Machine | None, faults: tuple[ObjectErrors, ObjectErrors]
) -> HolderImpact | None:
    """What is said of a pool or replica set that one state has, or that errors keep from the other."""
    machine = after or before
    assert machine is not None  # noqa: S101 - one of them
    ref, holder = machine.resource.ref, machine.resource.holder
    count = pools.replicas(holder.body if holder else {})
    unread = [faults[side].get(ref, ()) for side in (0, 1)]
    if after is None and not unread[1]:
        return HolderImpact(ref, "gone", (count, 0))
    outcome = _verdict(after.diagnostics if after else unread[1]).outcome
    if outcome is None and after is not None:
        outcome = "repaired" if unread[0] else "new"
    return (
        HolderImpact(ref, outcome, (0 if outcome == "new" else count, count)) if outcome else None
    )


def _holder_impact(
    key: Key,
    before: Machine,
    after: Machine,
    sides: tuple[SideIndex, SideIndex],
    edited: Container[catalogue.Key],
) -> HolderImpact | None:
    """What becomes of the VMs of a pool, or the VMIs of a replica set; None for one that stays as it is."""
    was, now = before.resource.holder, after.resource.holder
    if was is None or now is None:
        return None
    kind = VM_TYPE if after.template else VMI_TYPE
    old, new = (
        stamps.put(lifecycle.without_status(machine.decoded), {}) for machine in (before, after)
    )
    differing = differences(old, new, kind)
    passed = tuple(definition.resource for definition in edits_without_effect(after, edited))
    stood, verdict = _verdict(before.diagnostics), _verdict(after.diagnostics)
    outcome = _outcome(was.body, now.body, differing, kind, after.context.release)
    outcome = outcome or ("later" if passed else None)
    if verdict.outcome:
        is_as_before = was.body == now.body and stood.outcome == verdict.outcome
        outcome = None if is_as_before else verdict.outcome
        start = len(replicas.template_of(now))
        fields = [error.location.path[start:] for error in verdict.errors]
        differing = judgement.at_fault(differing, fields)
    elif stood.outcome:
        outcome = "repaired"
    if outcome is None:
        return None
    change = Transition(before, after, sides, key)
    template = replicas.template_of(now)
    changes = [_template_change(difference, change, template) for difference in differing]
    found = HolderImpact(after.resource.ref, outcome, _counts(was, now), tuple(changes), passed)
    if outcome in ("refused", "repaired"):
        return found
    return found._replace(
        is_selective=pools.is_selective(now.body, after.context.release),
        deleted=pools.deleted(was.body, now.body),
    )


def _counts(was: Resource, now: Resource) -> tuple[int, int]:
    """How many a holder makes in both states."""
    return pools.replicas(was.body), pools.replicas(now.body)


def _outcome(
    was: Tree, now: Tree, differing: Sequence[Difference], kind: str, release: Version
) -> pools.Outcome | None:
    """What a holder that is *now* another one does with what it has made, of which *differing* differs."""
    if pools.deleted(was, now) and pools.replicas(now) == 0:
        return "emptied"
    if differing:
        return pools.outcome(differing, kind, now, release)
    return "scaled" if pools.replicas(was) != pools.replicas(now) else None


def _template_change(
    difference: Difference, change: Transition, template: FieldPath
) -> FieldChange:
    """What differs in what a pool or replica set makes, which it has at *template*."""
    head, rest = difference.route[: len(TEMPLATE)], difference.route[len(TEMPLATE) :]
    # What was no mapping, or is none now, differs as a whole: there is no field of the VMI to blame.
    cause = attribution.of_vmi(rest, change) if head == TEMPLATE and rest else None
    cause = cause or attribution.of_vm(difference.route, change)
    if cause is not None and cause.resource == change.after.resource.ref:
        cause = cause._replace(path=(*template, *cause.path))
    return impact.field_change(difference, "", cause)
