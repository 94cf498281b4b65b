"""Stages of the start path: the VMI that the controller creates (upstream: pkg/virt-controller/watch/vm/vm.go)."""

from render.apply import application
from render.defaults import devices, network
from render.defaults.vm import FIRMWARE, RANDOM
from render.kubevirt.instancetype import (
    applied_to,
    check_conflicts,
    report_conflicts,
    with_definitions,
)
from render.machine import NO_ADDITIONS, Additions, Machine
from render.model.draft import Draft
from render.model.kinds import INSTANCETYPE, PREFERENCE


def create_vmi(machine: Machine) -> None:
    """The VMI as the controller creates it, in `machine.vmi`."""
    context = machine.context
    template = machine.spec.get("template") or {}
    preference = machine.preference
    draft = machine.draft(template)
    if not draft.get(*FIRMWARE, "uuid"):
        draft.put((*FIRMWARE, "uuid"), RANDOM)  # upstream derives it from the name
    added = devices.add_disks(draft)
    machine.record_defaults(draft)
    if preference is not None:
        edits = application.auto_attach(draft, preference.spec, context.release)
        machine.record(preference, edits)
        machine.forget(draft)
    has_input = devices.add_input(draft)
    net = network.add_default(draft, context.config)
    if net.error:
        machine.refuse_network(net.error)
        check_conflicts(machine)
        return
    _name_definitions(machine, draft)
    machine.additions = NO_ADDITIONS
    if added or has_input or net.added:
        disks = draft.get(*devices.DISKS) or []
        machine.additions = Additions(
            disks=tuple(disks[len(disks) - added :]),
            inputs=tuple(draft.get(*devices.INPUTS)) if has_input else (),
            interfaces=tuple(draft.get(*network.INTERFACES)) if net.added else (),
        )
    machine.vmi = draft.tree
    machine.record_defaults(draft)
    apply_definitions(machine, draft)


def check_network(machine: Machine) -> None:
    """Report a default network that cannot be attached to a VM whose rendering ends before its VMI is created."""
    draft = with_definitions(machine)
    error = network.add_default(draft, machine.context.config).error if draft else ""
    if error:
        machine.refuse_network(error)


def apply_definitions(machine: Machine, template: Draft) -> None:
    """Apply instancetype and preference to the draft of a *template*."""
    applied = applied_to(machine, template)
    machine.forget(template)
    if applied.conflicts:
        report_conflicts(machine, applied.conflicts)
        return
    if machine.instancetype is not None:
        machine.record(machine.instancetype, applied.from_instancetype)
    if machine.preference is not None:
        machine.record(machine.preference, applied.from_preference)


def _name_definitions(machine: Machine, draft: Draft) -> None:
    """Annotate the VMI with the names of its instancetype and preference, as the controller does."""
    names = {}
    for kind_class, definition in (
        (INSTANCETYPE, machine.instancetype),
        (PREFERENCE, machine.preference),
    ):
        matcher = machine.spec.get(kind_class.word)
        if matcher is not None and definition is not None:
            names[kind_class.annotation_for(matcher.get("kind", ""))] = matcher.get("name", "")
    if names:
        place = ("metadata", "annotations")
        draft.put(place, {**(draft.get(*place) or {}), **names})
