"""``pin``: what the lock should say, given the input, the lock as it is, and what to upgrade."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from render.diagnostics.codes import INVALID_VALUE, PIN_ENDED, REVISION_NOT_FOUND
from render.diagnostics.diagnostic import Diagnostic, at
from render.model import tree
from render.model.catalogue import Catalogue, Definition
from render.model.resource import KUBEVIRT, OWN, Resource
from render.model.tree import Tree
from render.pipeline import context, load, order, pins, stamping
from render.pipeline.machine import Machine
from render.resolve.find import OBJECT_NAME_LABEL, Missing, find
from render.resolve.kinds import KIND_CLASSES, KindClass
from render.revisions import lock as locks
from render.revisions.hashes import PREFIX, Ref, content_hash
from render.revisions.lock import CLASSES, Content, Entry, Lock, Pin
from render.settings import Settings

_UNKNOWN = f"{PREFIX}{'0' * 64}"


class Move(NamedTuple):
    """What the lock will say of *vm* (*new*, None: nothing any more), and what it said (*old*)."""

    vm: str
    old: Pin | None
    new: Pin | None
    resource: Resource | None


class Pinned(NamedTuple):
    """The lock as it should be, what that changes by VM, and the findings of the rendering."""

    lock: Lock
    moves: list[Move]
    diagnostics: list[Diagnostic]


class Adopted(NamedTuple):
    """Entries by VM and kind class with their contents, taken from a cluster's objects."""

    entries: dict[str, dict[str, Ref]]
    contents: dict[str, Content]
    diagnostics: list[Diagnostic]


def vms(resources: Iterable[Resource]) -> dict[str, Resource]:
    """The VMs among *resources* by the name that a lock gives them."""
    return {
        pins.name_of(resource): resource
        for resource in resources
        if (resource.group, resource.kind) == (KUBEVIRT, load.VM) and resource.name
    }


def pin(
    resources: Sequence[Resource],
    settings: Settings,
    upgrade: Collection[str] = (),
    adopted: Adopted | None = None,
) -> Pinned:
    """Pin every VM of *resources*: what is pinned stays, but for the VMs of *upgrade*, and what *adopted* says counts.

    Where the diagnostics have an error, the lock is not to be written.
    """
    settings = settings._replace(
        emit="vm", stored=False, defaults="manifest", firmware_uuid="none", pins="auto", annotations=False
    )  # fmt: skip
    found = pins.find(resources, settings)
    old = found.lock
    start = _start(old, resources, upgrade, adopted)
    made: dict[str, Pin] = {}
    contents = dict(start.revisions)

    def note(machine: Machine, body: Tree) -> None:
        if machine.resource.kind == load.VM and machine.resource.name:
            vm = pins.name_of(machine.resource)
            made[vm] = _pinned(machine, body, old.pins.get(vm), contents)

    empty = locks.document(locks.EMPTY)
    unlocked = [
        one._replace(body=empty) if (one.group, one.kind) == (OWN, locks.KIND) else one
        for one in resources
    ]
    rendered = order.run(unlocked, settings._replace(lock=locks.document(start)), note)
    impossible = [
        INVALID_VALUE.at(
            at(resource, ("metadata", "name")),
            f"{vm} cannot be the name of a VM in a lock, nor that of an object in Kubernetes",
            help="name it in lower-case letters, digits, - and .",
        )
        for vm, resource in vms(resources).items()
        if not locks.is_vm(vm)
    ]
    diagnostics = [*found.diagnostics, *impossible, *(adopted.diagnostics if adopted else ())]
    # That a pin ends is what the caller does, and no news.
    diagnostics += [one for one in rendered.diagnostics if one.code != PIN_ENDED.number]
    known = vms(resources)
    moves = [
        Move(vm, old.pins.get(vm), made.get(vm), known.get(vm))
        for vm in sorted(old.pins.keys() | made.keys())
        if old.pins.get(vm) != made.get(vm)
    ]
    return Pinned(Lock(contents, made), moves, diagnostics)


def _start(
    old: Lock, resources: Iterable[Resource], upgrade: Collection[str], adopted: Adopted | None
) -> Lock:
    """The pins that hold while the VMs are rendered."""
    kept = {vm: pin for vm, pin in old.pins.items() if vm not in upgrade}
    if adopted is None:
        return Lock(old.revisions, kept)
    for vm, resource in vms(resources).items():
        if vm not in adopted.entries:
            continue
        entries = dict(kept[vm].entries) if vm in kept else {}
        for word, ref in adopted.entries[vm].items():
            volume = tree.get(resource.spec, word, "inferFromVolume") or ""
            entries[word] = Entry(ref, volume if isinstance(volume, str) else "")
        kept[vm] = Pin(1, entries, _UNKNOWN)
    return Lock({**old.revisions, **adopted.contents}, kept)


def _pinned(machine: Machine, body: Tree, old: Pin | None, contents: dict[str, Content]) -> Pin:
    """The pin of the VM that was rendered to *body*; its contents are added to *contents*."""
    refs = stamping.refs(machine)
    entries = {}
    for word in CLASSES:
        ref = refs.get(word)
        volume = tree.get(machine.resource.spec, word, "inferFromVolume")
        if ref is None and not volume:
            continue
        was = old.entries.get(word, Entry()) if old else Entry()
        before = was.before if was.ref == ref else was.ref
        entries[word] = Entry(ref, volume or "", before)
    for word, definition in (
        ("instancetype", machine.instancetype),
        ("preference", machine.preference),
    ):
        if definition is not None and word in refs and refs[word].hash not in contents:
            contents[refs[word].hash] = Content(word, pins.content_of(definition))
    rendered = stamping.manifest_hash(machine, body)
    if old is None:
        return Pin(1, entries, rendered)
    return Pin(old.revision + (rendered != old.rendered), entries, rendered)


def adopt(dump: Sequence[Resource], resources: Iterable[Resource], settings: Settings) -> Adopted:
    """What the VMs of *dump*, objects of a cluster, run at present, for the VMs of *resources* with their names.

    Only what a ControllerRevision holds is certain; a VM whose revisions *dump* lacks is reported.
    """
    loaded = load.load(dump, settings)
    shared = context.context(dump, loaded, settings, traced=False)
    running = {(one.namespace or settings.namespace, one.name): one for one in vms(dump).values()}
    adopted = Adopted({}, {}, [])
    for vm, resource in vms(resources).items():
        live = running.get((resource.namespace or settings.namespace, resource.name))
        if live is None:
            continue
        status = live.body.get("status")
        entries: dict[str, Ref] = {}
        for kind_class in KIND_CLASSES:
            given = live.spec.get(kind_class.word)
            if not isinstance(given, dict):
                continue
            definition = find(
                kind_class,
                given,
                status if isinstance(status, dict) else {},
                live.namespace or settings.namespace,
                shared.catalogue,
            )
            revision = None if isinstance(definition, Missing) else definition.resource
            if isinstance(definition, Missing) or not revision or revision.group != "apps":
                message, cure = _unadopted(kind_class, live, definition, shared.catalogue)
                place = at(live, ("spec", kind_class.word))
                adopted.diagnostics.append(REVISION_NOT_FOUND.at(place, message, help=cure))
                continue
            held = pins.content_of(definition)
            hash_ = content_hash(kind_class.word, held)
            name = given.get("name") or definition.name
            entries[kind_class.word] = Ref(definition.kind, name, hash_)
            adopted.contents[hash_] = Content(kind_class.word, held)
        if entries:
            adopted.entries[vm] = entries
    return adopted


def _unadopted(
    kind_class: KindClass, live: Resource, found: Definition | Missing, catalogue: Catalogue
) -> tuple[str, str]:
    """Why no ControllerRevision says what *live* runs, and what to do."""
    cure = "dump the ControllerRevisions of the VM's namespace with the VM and its status"
    scope = live.namespace or catalogue.namespace
    recorded = tree.get(live.body, "status", kind_class.status, "controllerRevisionRef", "name")
    revision = recorded and catalogue.find("apps", "ControllerRevision", scope, recorded)
    if revision:
        label = tree.get(revision.body, "metadata", "labels", OBJECT_NAME_LABEL)
        has = "lacks the label" if label is None else f"belongs to {label} by its label"
        message = (
            f"ControllerRevision {recorded} {has} {OBJECT_NAME_LABEL}: KubeVirt would not use it"
        )
        wanted = tree.get(live.spec, kind_class.word, "name")
        return (
            message,
            f"if it holds what runs, label it in the dump: {OBJECT_NAME_LABEL}: {wanted}",
        )
    if isinstance(found, Missing) and found.code is REVISION_NOT_FOUND:
        return found.message, cure
    return f"no ControllerRevision of its {kind_class.word} is known", cure


def merge(base: Lock, ours: Lock, theirs: Lock) -> tuple[Lock, list[str]]:
    """Both sides' changes of *base* by VM, and the VMs that both changed to something else."""
    pinned: dict[str, Pin] = {}
    refused = []
    for vm in sorted(base.pins.keys() | ours.pins.keys() | theirs.pins.keys()):
        was, one, other = (side.pins.get(vm) for side in (base, ours, theirs))
        if one not in (was, other) and other != was:
            refused.append(vm)
            continue
        chosen = other if one == was else one
        if chosen is not None:
            pinned[vm] = chosen
    contents: Mapping[str, Content] = {**base.revisions, **ours.revisions, **theirs.revisions}
    return Lock(contents, pinned), refused
