"""Machines that a second state of an input has as the first has them: what was made of them there holds here too."""

import copy
from collections.abc import Iterable, Mapping, Sequence

from render.legacy import machines
from render.machine import Context, Machine
from render.model import tree
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.resource import INSTANCETYPE_GROUP, Resource, ResourceRef
from render.model.tree import Tree
from render.pipeline import outcomes
from render.pipeline.input import definitions

_CURRENT = ("vm", "vmi")


class Unchanged:
    """The *machines* of a first state that no object but their own, and the *named* definitions, can make another."""

    __slots__ = ("_machines",)
    is_printed = True

    def __init__(self, machines: Iterable[Machine], named: frozenset[str]) -> None:
        self._machines: dict[object, Machine] = {
            (machine.resource.group, machine.resource.ref): machine
            for machine in machines
            if _is_reusable(machine) and named.isdisjoint(names(machine))
        }

    def find(self, resource: Resource, context: Context) -> Machine | None:
        """The machine that a rendering in *context* makes of *resource*, None where that is not known."""
        known = self._machines.get((resource.group, resource.ref))
        # What is said of presets names them by their positions, which are others here.
        if known is None or context.presets:
            return None
        if known.resource._replace(index=resource.index) != resource:
            return None
        machine = copy.copy(known)
        machine.context, machine.resource = context, resource
        machine.diagnostics, machine.provenance, machine.companions = [], [], []
        return machine


def between(
    before: Sequence[Resource], after: Sequence[Resource], machines: Iterable[Machine]
) -> Unchanged | None:
    """Which of the *machines* that were made of *before* are the same ones, made of *after* with the same settings.

    None where more differs than machines and definitions: presets, claims and settings reach any VM.
    """
    old, new = _shared(before), _shared(after)
    if old.others != new.others:
        return None
    edited = {
        ref.name
        for ref in {**old.definitions, **new.definitions}
        if old.definitions.get(ref) != new.definitions.get(ref)
    }
    return Unchanged(machines, frozenset(edited))


class _SharedObjects(NamedTuple):
    """What machines may read of an input: its definitions, and all else but the machines themselves."""

    definitions: Mapping[ResourceRef, list[Tree]]
    others: list[Tree]


def _shared(resources: Iterable[Resource]) -> _SharedObjects:
    bodies: dict[ResourceRef, list[Tree]] = {}
    others = []
    for resource in resources:
        if resource.group == INSTANCETYPE_GROUP and definitions.is_definition(resource):
            bodies.setdefault(resource.ref, []).append(resource.body)
        elif not is_current(resource):
            others.append(resource.body)
    return _SharedObjects(bodies, others)


def is_current(resource: Resource) -> bool:
    """Whether *resource* is a machine that nothing but definitions of today is looked up for by name."""
    return (
        definitions.is_machine(resource)
        and outcomes.machine_kind(machines.modernise(resource)) in _CURRENT
    )


def _is_reusable(machine: Machine) -> bool:
    """Whether nothing is to be said of *machine*: a finding has places, and hints at what else is there."""
    is_silent = not (machine.failed or machine.diagnostics or machine.has_decode_findings)
    return is_silent and machine.resource.holder is None and is_current(machine.resource)


def names(machine: Machine) -> Iterable[str]:
    """What the definitions of *machine* are called, by its author, on its way, and by themselves."""
    for kind_class in KIND_CLASSES:
        for vm in (machine.decoded, machine.vm):
            yield tree.get(vm, "spec", kind_class.word, "name") or ""
        for definition in (
            getattr(machine, kind_class.word),
            machine.pinned.get(kind_class.word),
        ):
            if definition is not None:
                yield definition.name
