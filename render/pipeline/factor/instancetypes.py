"""Which instancetypes give the size that a VM has, what they bring of it, and new ones that do.

An instancetype wins over nothing: what it brings, the VM must not set (`render.apply.instancetype`).
"""

import json
import math
from collections.abc import Iterator
from functools import cache

from render import rules
from render.apply import instancetype
from render.apply.instancetype.memory import overcommitted
from render.model import tree, types
from render.model.apimachinery import quantity
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Version, holds, until
from render.model.tree import Tree
from render.pipeline.factor import places
from render.pipeline.factor.answers import Hindrance
from render.pipeline.factor.subject import PlainMachine
from render.rules import Edit

_WORD = "instancetype"
_DOMAIN = ("spec", "domain")
_GUEST = (*_DOMAIN, "memory", "guest")
_REQUESTED = (*_DOMAIN, "resources", "requests", "memory")
_TOPOLOGY = tuple((*_DOMAIN, "cpu", key) for key in ("sockets", "cores", "threads"))
#: In conflict with every instancetype, and brought by none.
_NEVER: tuple[FieldPath, ...] = (
    (*_DOMAIN, "resources", "requests", "cpu"),
    (*_DOMAIN, "resources", "limits", "cpu"),
    (*_DOMAIN, "resources", "limits", "memory"),
)
_CLAIMS_MEMORY = until("1.7", "any memory of the VM is in conflict with an instancetype")
_MAX_SOCKETS = (*_DOMAIN, "cpu", "maxSockets")
_PERCENT = 100
#: Fields of an instancetype beside the vCPUs and the memory -> where a VM has them. What says where a VM runs is left
#: to the VM.
_FIELDS: tuple[tuple[FieldPath, FieldPath], ...] = (
    (("cpu", "model"), (*_DOMAIN, "cpu", "model")),
    (("cpu", "dedicatedCPUPlacement"), (*_DOMAIN, "cpu", "dedicatedCpuPlacement")),
    (("cpu", "isolateEmulatorThread"), (*_DOMAIN, "cpu", "isolateEmulatorThread")),
    (("cpu", "numa"), (*_DOMAIN, "cpu", "numa")),
    (("cpu", "realtime"), (*_DOMAIN, "cpu", "realtime")),
    (("cpu", "maxSockets"), (*_DOMAIN, "cpu", "maxSockets")),
    (("memory", "hugepages"), (*_DOMAIN, "memory", "hugepages")),
    (("memory", "maxGuest"), (*_DOMAIN, "memory", "maxGuest")),
    (("ioThreadsPolicy",), (*_DOMAIN, "ioThreadsPolicy")),
    (
        ("ioThreads", "supplementalPoolThreadCount"),
        (*_DOMAIN, "ioThreads", "supplementalPoolThreadCount"),
    ),
    (("launchSecurity",), (*_DOMAIN, "launchSecurity")),
    (("gpus",), (*_DOMAIN, "devices", "gpus")),
    (("hostDevices",), (*_DOMAIN, "devices", "hostDevices")),
)


class GuestSize(NamedTuple):
    """vCPUs, and bytes of memory."""

    vcpus: int
    memory: int


class InstancetypeProfile(NamedTuple):
    """An instancetype's *spec* with its size, and the *edits* by which it reaches a VM, but for the topology."""

    spec: Tree
    size: GuestSize
    edits: tuple[Edit, ...]
    content: str


def size_of(spec: Tree, release: Version) -> InstancetypeProfile:
    """What the instancetype *spec* brings."""
    outcome = rules.run(instancetype.RULES, spec, Draft({"spec": {"domain": {}}}), release)
    vcpus = tree.get(spec, "cpu", "guest") or 0
    memory = _bytes(tree.get(spec, "memory", "guest")) or 0
    return InstancetypeProfile(
        spec, GuestSize(vcpus, memory), outcome.edits, json.dumps(spec, sort_keys=True)
    )


def _bytes(text: Any) -> int | None:
    try:
        return quantity.value(text) if text is not None else None
    except quantity.QuantityError:
        return None


def wanted_size(subject: PlainMachine) -> GuestSize:
    """The size of the VM, whoever decides it."""
    cpu = subject.final((*_DOMAIN, "cpu")) or {}
    counts = [cpu.get(path[-1]) or 0 for path in _TOPOLOGY]
    vcpus = math.prod(count or 1 for count in counts)
    if not any(counts):
        resources = subject.written("domain", "resources") or {}
        requested = (
            tree.get(resources, "limits", "cpu") or tree.get(resources, "requests", "cpu") or 1
        )
        vcpus = _bytes(requested) or 1
    return GuestSize(vcpus, _bytes(subject.final(_GUEST)) or 0)


def obstacles(subject: PlainMachine) -> Iterator[Hindrance]:
    """Why no instancetype at all gives the VMI of *subject*; nothing where one may."""
    open_places = (*_TOPOLOGY, *_NEVER, _GUEST, _REQUESTED)
    parameters = [*subject.parameters(open_places)]
    if parameters:
        for path, text in parameters:
            message = f"{text} stands here, and an instancetype holds no parameter of a template"
            yield Hindrance(_WORD, message, path)
        return
    for path in _NEVER:
        if tree.get(subject.template, *path) is not None:
            message = "every instancetype is in conflict with it, and none brings it"
            yield Hindrance(_WORD, message, path)
    if not subject.is_laid_out and not subject.restarts:
        left = ", ".join(path[-1] for path in _TOPOLOGY if not tree.get(subject.template, *path))
        message = f"an instancetype writes out {left}, which the VM leaves open: see --restart"
        yield Hindrance(_WORD, message, (*_DOMAIN, "cpu"))
    if subject.written("domain", "memory", "guest") is None:
        message = "an instancetype writes memory.guest, which the VM leaves open"
        yield Hindrance(_WORD, message, (*_DOMAIN, "memory"))
    elif _requested(subject) is not None and _percent(subject) is None:
        message = "no overcommitPercent of an instancetype gives this request"
        yield Hindrance(_WORD, message, _REQUESTED)


def _requested(subject: PlainMachine) -> Any:
    return tree.get(subject.template, *_REQUESTED)


@cache
def _percent_of(guest: str, request: str) -> int | None:
    """The overcommitPercent by which *request* follows from *guest*, None where none does."""
    wanted, whole = _bytes(request), _bytes(guest)
    if wanted is None or not whole:
        return None
    near = round(_PERCENT - _PERCENT * wanted / whole)
    for percent in (near, near - 1, near + 1):
        if 0 < percent <= _PERCENT and _bytes(overcommitted(guest, percent)) == wanted:
            return percent
    return None


def _percent(subject: PlainMachine) -> int | None:
    return _percent_of(str(subject.written("domain", "memory", "guest")), str(_requested(subject)))


def _is_fixed(subject: PlainMachine) -> bool:
    """Whether no socket can be plugged into the VM, because it leaves open how many it has."""
    return not subject.topology.sockets and subject.final(_MAX_SOCKETS) is None


def changes(subject: PlainMachine, size: InstancetypeProfile) -> int:
    """The number of fields of the VMI that an instancetype would change, but for the topology."""
    count = sum(1 for path in _NEVER if tree.get(subject.template, *path) is not None)
    written = {edit.path for edit in size.edits}
    if _requested(subject) is not None and _REQUESTED not in written:
        count += 1
    if _MAX_SOCKETS not in written and _is_fixed(subject):
        count += 1
    for edit in size.edits:
        if edit.path == _GUEST:
            count += _bytes(subject.final(_GUEST)) != size.size.memory
        elif edit.path == _REQUESTED:
            # A request that only comes with overcommitment is farther off than none.
            count += 2 * (_bytes(_requested(subject)) != _bytes(edit.value))
        else:
            count += edit.value is not rules.ABSENT and subject.final(edit.path) != edit.value
    return count


def brought(subject: PlainMachine, size: InstancetypeProfile) -> tuple[FieldPath, ...]:
    """The fields that must leave the VM: the instancetype brings them, or is in conflict with them."""
    written = {edit.path for edit in size.edits}
    candidates = [*_TOPOLOGY, *_NEVER, _REQUESTED, _GUEST, *written]
    if holds(_CLAIMS_MEMORY, subject.release):
        candidates += ((*_DOMAIN, "memory", key) for key in ("hugepages", "maxGuest"))
    present = (path for path in candidates if tree.get(subject.template, *path) is not None)
    return tuple(dict.fromkeys(present))


def content_for(subject: PlainMachine) -> Tree:
    """The instancetype that brings all of the size of a VM without obstacles, and no more sockets than it may have."""
    layout = [count or 1 for count in subject.topology]
    spec: Tree = {
        "cpu": {"guest": math.prod(layout)},
        "memory": {"guest": subject.written("domain", "memory", "guest")},
    }
    if _requested(subject) is not None:
        tree.put(spec, ("memory", "overcommitPercent"), _percent(subject))
    claimed = places.claimed(subject.release)
    for source, place in _FIELDS:
        value = tree.get(subject.template, *place)
        if value is not None and place in claimed and _knows(source, subject.release):
            tree.put(spec, source, value)
    if _is_fixed(subject) and _knows(("cpu", "maxSockets"), subject.release):
        tree.put(spec, ("cpu", "maxSockets"), 1)
    return spec


@cache
def _knows(source: FieldPath, release: Version) -> bool:
    """Whether instancetypes of *release* have the field *source*."""
    kind = "instancetype.VirtualMachineInstancetypeSpec"
    for step in source:
        known = types.fields(kind, release) if types.is_struct(kind) else {}
        if step not in known:
            return False
        kind = known[str(step)].type.removeprefix("*")
    return True
