"""Stages and findings of the revision lock: what a VM is pinned to decides what it renders to.

As in KubeVirt (pkg/instancetype/revision/store.go), an edit of an object does not reach the VMs that are pinned to it,
and a pin ends when the matcher means another object.
"""

from collections.abc import Sequence
from typing import NamedTuple

from render import schemas
from render.diagnostics.codes import (
    LOCK_INVALID,
    LOCKS_DISAGREE,
    PIN_ENDED,
    PIN_MISSING,
)
from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity, at
from render.model import tree
from render.model.catalogue import Definition, Key
from render.model.draft import Draft
from render.model.resource import INSTANCETYPE as GROUP
from render.model.resource import OWN, Resource, former, from_body
from render.model.tree import Tree
from render.pipeline.machine import TEMPLATE, Machine
from render.resolve.kinds import INSTANCETYPE, KIND_CLASSES, KindClass
from render.revisions import lock as locks
from render.revisions.hashes import Ref, canonical, content, content_hash, hashed_name
from render.revisions.lock import Entry, Lock, Pin
from render.settings import Settings

_TYPES = {
    "instancetype": "instancetype.VirtualMachineInstancetypeSpec",
    "preference": "instancetype.VirtualMachinePreferenceSpec",
}
_ALWAYS_SET = ("model", "dedicatedCPUPlacement", "isolateEmulatorThread")


class Found(NamedTuple):
    """The lock in force, the decoded contents of it by hash, and what is wrong with the documents."""

    lock: Lock
    contents: dict[str, Tree]
    diagnostics: list[Diagnostic]

    @property
    def is_faulty(self) -> bool:
        """Whether nothing is known about what is pinned."""
        return any(diagnostic.is_error for diagnostic in self.diagnostics)


def find(resources: Sequence[Resource], settings: Settings) -> Found:
    """The lock of *settings* and those among *resources*, which must agree about every VM that several of them pin."""
    if settings.pins == "ignore":
        return Found(locks.EMPTY, {}, [])
    documents = [
        (one.body, at(one)) for one in resources if (one.group, one.kind) == (OWN, locks.KIND)
    ]
    if settings.lock is not None:
        given = from_body(settings.lock, 0)
        documents.insert(0, (given.body, Location(resource=given.ref)))
    if len(documents) > 1:
        # Which one counts where they disagree must not depend on the order of the input.
        documents.sort(key=lambda document: canonical(document[0]))
    diagnostics: list[Diagnostic] = []
    whole = Lock({}, {})
    places: dict[str, Location] = {}
    for body, place in documents:
        lock, faults = locks.read(body, place)
        diagnostics += faults
        for vm, pin in lock.pins.items():
            if whole.pins.get(vm, pin) != pin:
                diagnostics.append(_disagreement(vm, place, places[vm]))
            places.setdefault(vm, place)
        whole = Lock({**whole.revisions, **lock.revisions}, {**lock.pins, **whole.pins})
    contents = {}
    for hash_, held in whole.revisions.items():
        contents[hash_], problems = schemas.decode(held.spec, _TYPES[held.kind_class])
        # That something is missing does not matter to KubeVirt in what it has stored.
        if contents[hash_] != held.spec:
            words = problems[0].message if problems else "it is not in canonical notation"
            message = f"{settings.kubevirt} does not know the content under {hash_}: {words}"
            place = Location(documents[0][1].resource, ("revisions", hash_))
            diagnostics.append(LOCK_INVALID.at(place, message))
    return Found(whole, contents, diagnostics)


def _disagreement(vm: str, place: Location, other: Location) -> Diagnostic:
    path = ("pins", vm)
    return LOCKS_DISAGREE.at(
        Location(place.resource, path, place.index),
        f"two locks pin {vm} differently",
        Related("the other pin", Location(other.resource, path, other.index)),
        help="remove one of the locks, or bring both to the same state with virt-render pin",
    )


def name_of(resource: Resource) -> str:
    """How a lock names the VM *resource*: as its manifest does, so that no setting changes it."""
    return f"{resource.namespace}/{resource.name}" if resource.namespace else resource.name


def pin_of(machine: Machine) -> Pin | None:
    """The pin of the VM: under its name, or under one that it had before kustomize renamed it."""
    resource, known = machine.resource, machine.context.lock.pins
    if not known:
        return None
    found = known.get(name_of(resource))
    if found is None:
        for _, namespace, name in former(resource):
            found = found or known.get(f"{namespace}/{name}") or known.get(name)
    return found


def use(machine: Machine) -> None:
    """Let the lock decide what the VM's matchers mean, where it pins them."""
    pin = pin_of(machine)
    if not machine.resource.name:
        return  # one that generates its name has none to be pinned under
    for kind_class in KIND_CLASSES:
        given = machine.spec.get(kind_class.word)
        if given is None or _names_revision(given):
            continue
        entry = pin.entries.get(kind_class.word) if pin else None
        if entry is None:
            _missing(machine, kind_class)
        elif not _is_in_force(machine, entry, given, kind_class):
            _ended(machine, kind_class, entry)
        elif machine.context.settings.emit != "source":  # what goes out as it came asks the cluster
            _apply(machine, kind_class, entry, given)


def _names_revision(given: Tree) -> bool:
    """Whether the VM is pinned by KubeVirt's own means.

    They win: without that ControllerRevision the VM would not start, and the lock must not hide it.
    """
    return bool(given.get("revisionName")) and not given.get("inferFromVolume")


def _is_in_force(machine: Machine, entry: Entry, given: Tree, kind_class: KindClass) -> bool:
    if given.get("inferFromVolume"):
        return bool(given["inferFromVolume"] == entry.volume)
    if entry.ref is None:
        return False
    kind, name = given.get("kind", ""), given.get("name")
    # An empty kind is not compared, nor the notation of one.
    if kind and kind_class.kind_of(kind) != entry.ref.kind:
        return False
    if name in (entry.ref.name, hashed_name(entry.ref.name, entry.ref.hash)):
        return True
    scope = "" if "Cluster" in entry.ref.kind else machine.namespace
    named = machine.context.catalogue.definitions.get(Key(entry.ref.kind, scope, name or ""))
    before = former(named.resource) if named and named.resource else ()
    return any(entry.ref.name == other for _, _, other in before)


def _missing(machine: Machine, kind_class: KindClass) -> None:
    if machine.context.settings.pins == "require":
        machine.report(
            PIN_MISSING,
            ("spec", kind_class.word),
            f"the {kind_class.word} of {name_of(machine.resource)} is not pinned, and pins are required",
            help="run virt-render pin and commit the lock",
        )


def _ended(machine: Machine, kind_class: KindClass, entry: Entry) -> None:
    required = machine.context.settings.pins == "require"
    was = f"{entry.ref.kind} {entry.ref.name}" if entry.ref else f"volume {entry.volume}"
    machine.diagnostics.append(
        PIN_ENDED.at(
            at(machine.resource, ("spec", kind_class.word)),
            f"the matcher no longer means the {was} that {name_of(machine.resource)} is pinned to: "
            + ("the pin is stale" if required else "the current object is used"),
            help="run virt-render pin to pin what it means now",
            severity=Severity.ERROR if required else Severity.WARNING,
        )
    )


def _apply(machine: Machine, kind_class: KindClass, entry: Entry, given: Tree) -> None:
    path = ("spec", kind_class.word)
    inferred = bool(given.get("inferFromVolume"))
    ref = entry.ref
    if inferred:
        draft = Draft(machine.vm)
        if ref is None:
            draft.remove(path)
        else:
            ignore = given.get("inferFromVolumeFailurePolicy") == "Ignore"
            if ignore and kind_class is INSTANCETYPE:
                # As where it is inferred anew.
                draft.remove((*TEMPLATE, "spec", "domain", "memory"))
            draft.put(path, {"name": ref.name, "kind": ref.kind})
        machine.vm = draft.tree
    if ref is not None:
        name = ref.name if inferred else given["name"]
        spec = machine.context.contents[ref.hash]
        machine.pinned[kind_class.word] = Definition(ref.kind, name, spec, None)


def ref_to(machine: Machine, kind_class: str, definition: Definition) -> Ref:
    """*definition* with the hash of its content, which is computed once a rendering."""
    known = machine.context.hashes
    key = id(definition.spec)
    if key not in known:
        # The spec is kept with its hash: an id is unique only while its object lives.
        known[key] = (definition.spec, content_hash(kind_class, content_of(definition)))
    return Ref(definition.kind, definition.name, known[key][1])


def content_of(definition: Definition) -> Tree:
    """What *definition* holds, without what only the decoding of an older revision adds.

    There three fields of an instancetype are always set, empty ones too; applied, the empty ones change nothing.
    """
    held = content(definition.spec)
    resource = definition.resource
    if resource is None or resource.kind != "ControllerRevision" or not held.get("cpu"):
        return held
    if tree.get(resource.body, "data", "apiVersion") == f"{GROUP}/v1beta1":
        return held
    cpu = {key: value for key, value in held["cpu"].items() if value or key not in _ALWAYS_SET}
    return {**held, "cpu": cpu}
