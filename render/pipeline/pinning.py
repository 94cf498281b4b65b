"""``pin``: what the lock should say, given the input, the lock as it is, and what to upgrade."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from render.diagnostics.codes import (
    INVALID_VALUE,
    LEFT_OUT,
    PIN_ENDED,
    RELEASE,
    REVISION_NOT_FOUND,
)
from render.diagnostics.diagnostic import Diagnostic, Location, Severity, at
from render.kubevirt import replicas
from render.legacy import machines
from render.machine import Context, Machine
from render.model import tree
from render.model.catalogue import Catalogue, Definition
from render.model.counting import counted
from render.model.kinds import KIND_CLASSES, KindClass, class_of
from render.model.named_tuple import NamedTuple
from render.model.release import NEWEST, release_named, tag
from render.model.resource import LOCK_KIND, OWN, VMI, Resource
from render.model.tree import Tree
from render.pipeline.input import definitions, lock_in_force, releases
from render.pipeline.input.context import shared
from render.pipeline.run import run
from render.pipeline.stages import pins, stamping
from render.resolve.find import OBJECT_NAME_LABEL, Missing, find
from render.revisions import lockfile
from render.revisions.hashes import PREFIX, Ref, content_hash
from render.revisions.lockfile import CLASSES, Content, Entry, Lock, Pin
from render.settings import Settings

_UNKNOWN = f"{PREFIX}{'0' * 64}"


class PinMove(NamedTuple):
    """What the lock will say of *vm* (*new*, None: nothing any more), and what it said (*old*)."""

    vm: str
    old: Pin | None
    new: Pin | None
    resource: Resource | None


class Pinned(NamedTuple):
    """The lock as it should be, what that changes by VM, and the findings of the rendering.

    *before*: the release that the lock was written for until now. *left*: VMs of the input whose pin stays as it is,
    for what they are made of could not be read or rendered.
    """

    lock: Lock
    moves: list[PinMove]
    diagnostics: list[Diagnostic]
    before: str
    left: tuple[str, ...] = ()


class Adopted(NamedTuple):
    """Entries by VM and kind class with their contents, taken from a cluster's objects."""

    entries: dict[str, dict[str, Entry]]
    contents: dict[str, Content]
    diagnostics: list[Diagnostic]


def is_pinned(resource: Resource) -> bool:
    """Whether a lock has a place for *resource*: any VM with a name, of any time; what decides a VMI is not pinned."""
    is_vm = definitions.is_machine(resource) and (resource.kind != VMI or resource.older)
    return bool(is_vm and resource.name)


def vms(resources: Iterable[Resource]) -> dict[str, Resource]:
    """The VMs among *resources* by the name that a lock gives them, the first of each pool included."""
    return {
        pins.name_of(resource): resource
        for resource in map(replicas.machine_of, resources)
        if is_pinned(resource)
    }


def without_locks(resources: Iterable[Resource]) -> list[Resource]:
    """*resources*, the locks among them emptied."""
    empty = lockfile.document(lockfile.EMPTY)
    return [
        resource._replace(body=empty)
        if (resource.group, resource.kind) == (OWN, LOCK_KIND)
        else resource
        for resource in resources
    ]


def pin(
    resources: Sequence[Resource],
    settings: Settings,
    upgrade: Collection[str] = (),
    adopted: Adopted | None = None,
    unread: Collection[bytes] = (),
) -> Pinned:
    """Pin every VM of *resources*: what is pinned stays, but for the VMs of *upgrade*, and what *adopted* says counts.

    Where the diagnostics have an error, the lock is not to be written. *unread*: texts of the input that nobody could
    read. VMs may stand there, and what others are made of: as far as they may, pins stay as they are.
    """
    settings = settings._replace(
        emit="vm", stored=False, defaults="manifest", firmware_uuid="none", pins="auto", annotations=False
    )  # fmt: skip
    in_force = lock_in_force.find(resources, settings, NEWEST)
    old = in_force.lock
    start = _start(old, resources, upgrade, adopted)
    contents = dict(start.revisions)
    unlocked = without_locks(resources)
    release = tag(releases.target(resources, settings).release)
    settings = settings._replace(lock=lockfile.document(start))
    rendered, of_rendering = _rendered(unlocked, settings, old, contents, unread)
    known = vms(resources)
    next_pins = rendered | _kept(old.pins, rendered, None if unread else known)
    otherwise = _otherwise(unlocked, settings, old, next_pins, release)
    for vm in otherwise:
        next_pins[vm] = next_pins[vm]._replace(revision=old.pins[vm].revision)
    found = (
        *in_force.diagnostics,
        *_impossible(known),
        *(adopted.diagnostics if adopted else ()),
        *of_rendering,
        *([_by_another_release(len(otherwise), old, release)] if otherwise else ()),
    )
    diagnostics = [diagnostic for diagnostic in found if diagnostic.code not in _NO_NEWS]
    moves = [move for move in _moves(old.pins, next_pins, known) if move.vm not in otherwise]
    left = tuple(sorted(known.keys() - rendered.keys()))
    return Pinned(Lock(contents, next_pins, release), moves, diagnostics, old.kubevirt, left)


def _rendered(
    resources: Sequence[Resource],
    settings: Settings,
    old: Lock,
    contents: dict[str, Content],
    unread: Collection[bytes],
) -> tuple[dict[str, Pin], Sequence[Diagnostic]]:
    """The pins of the VMs that can be rendered, and what is found in all; *unread* decides nothing of theirs.

    What they are pinned to is added to *contents*.
    """
    next_pins: dict[str, Pin] = {}

    def observe(machine: Machine, body: Tree) -> None:
        if not machine.failed and is_pinned(machine.resource):
            vm = pins.name_of(machine.resource)
            next_pins[vm] = _pinned(machine, body, old.pins.get(vm), contents)

    rendered = run(resources, settings, observe)
    certain = {vm: pin for vm, pin in next_pins.items() if not _may_differ(pin, unread)}
    return certain, rendered.diagnostics


def _kept(
    old: Mapping[str, Pin], rendered: Mapping[str, Pin], known: Collection[str] | None
) -> dict[str, Pin]:
    """The *old* pins of VMs that are not *rendered*: of those *known*, None: of all, as they may stand anywhere."""
    return {
        vm: pin for vm, pin in old.items() if vm not in rendered and (known is None or vm in known)
    }


#: That a pin ends is what the caller does; and nothing is printed, so that nothing is left out.
_NO_NEWS = frozenset({PIN_ENDED.number, LEFT_OUT.number})


def _moves(
    old: Mapping[str, Pin], new: Mapping[str, Pin], known: Mapping[str, Resource]
) -> Iterator[PinMove]:
    """Which pins differ, by the name of their VMs."""
    for vm in sorted(old.keys() | new.keys()):
        if old.get(vm) != new.get(vm):
            yield PinMove(vm, old.get(vm), new.get(vm), known.get(vm))


def joined(several: Iterable[Pinned]) -> tuple[Lock, tuple[str, ...]]:
    """The one lock of *several* renderings of a folder, and the VMs of which they say different things."""
    contents: dict[str, Content] = {}
    pins: dict[str, Pin] = {}
    clashes: dict[str, None] = {}
    release = ""
    for lock in (rendering.lock for rendering in several):
        contents |= lock.revisions
        release = release or lock.kubevirt
        for vm, pin in lock.pins.items():
            if pins.setdefault(vm, pin) != pin:
                clashes[vm] = None
    return Lock(contents, pins, release), tuple(clashes)


def _may_differ(pin: Pin, unread: Iterable[bytes]) -> bool:
    """Whether one of the texts *unread* may hold another definition of a name that *pin* has."""
    names = [entry.ref.name.encode() for entry in pin.entries.values() if entry.ref is not None]
    return any(name in text for text in unread for name in names)


def _impossible(known: Mapping[str, Resource]) -> Iterator[Diagnostic]:
    """Which of the VMs *known* by their names in a lock have one that no lock can have."""
    for vm, resource in known.items():
        if not lockfile.is_vm(vm):
            yield INVALID_VALUE.at(
                at(resource, ("metadata", "name")),
                f"{vm} cannot be the name of a VM in a lock, nor that of an object in Kubernetes",
                help="name it in lower-case letters, digits, - and .",
            )


def _by_another_release(count: int, old: Lock, release: str) -> Diagnostic:
    """That so many VMs are another only because the *old* lock was written for another release."""
    before = old.kubevirt or lockfile.UNSAID
    vms_ = counted(count, "VM")
    message = f"rendered otherwise by KubeVirt {release} than by {before}, which the lock was written for: {vms_}"
    return RELEASE.at(Location(), message, help="no VM gets a new revision by that")


def _otherwise(
    resources: Sequence[Resource],
    settings: Settings,
    old: Lock,
    next_pins: Mapping[str, Pin],
    release: str,
) -> frozenset[str]:
    """The VMs that are rendered otherwise than *old* says for no reason but the *release*.

    Where nobody knows how the other release renders, that is taken to be the reason.
    """
    before = old.kubevirt or lockfile.UNSAID
    suspects = {
        vm
        for vm, pin in next_pins.items()
        if vm in old.pins
        and pin.rendered != old.pins[vm].rendered
        and pin.entries == old.pins[vm].entries
    }
    if not suspects or release == before:
        return frozenset()
    if release_named(before) is None:
        return frozenset(suspects)
    earlier = _hashes(resources, settings._replace(kubevirt=before))
    return frozenset(vm for vm in suspects if earlier.get(vm) == old.pins[vm].rendered)


def _hashes(resources: Sequence[Resource], settings: Settings) -> dict[str, str]:
    """What each VM renders to, as a hash."""
    by_name: dict[str, str] = {}

    def observe(machine: Machine, body: Tree) -> None:
        by_name[pins.name_of(machine.resource)] = stamping.manifest_hash(machine, body)

    run(resources, settings, observe)
    return by_name


def _start(
    old: Lock, resources: Iterable[Resource], upgrade: Collection[str], adopted: Adopted | None
) -> Lock:
    """The pins that hold while the VMs are rendered."""
    kept = {vm: pin for vm, pin in old.pins.items() if vm not in upgrade}
    if adopted is None:
        return Lock(old.revisions, kept, old.kubevirt)
    for vm, resource in vms(resources).items():
        if vm not in adopted.entries:
            continue
        entries = dict(kept[vm].entries) if vm in kept else {}
        for word, entry in adopted.entries[vm].items():
            volume = tree.get(resource.spec, word, "inferFromVolume") or ""
            entries[word] = entry._replace(volume=volume if isinstance(volume, str) else "")
        kept[vm] = Pin(1, entries, _UNKNOWN)
    return Lock({**old.revisions, **adopted.contents}, kept, old.kubevirt)


def _pinned(machine: Machine, body: Tree, old: Pin | None, contents: dict[str, Content]) -> Pin:
    """The pin of the VM that was rendered to *body*; its contents are added to *contents*."""
    refs = stamping.refs(machine)
    entries = {}
    for word in CLASSES:
        ref = refs.get(word)
        matcher = tree.get(machine.resource.spec, word) or {}
        volume = matcher.get("inferFromVolume")
        if ref is None and not volume:
            continue
        was = old.entries.get(word, Entry()) if old else Entry()
        before = was.before if was.ref == ref else was.ref
        entries[word] = Entry(ref, volume or "", before, pins.named_revision(matcher))
    for word, definition in stamping.in_force(machine):
        if word in refs and refs[word].hash not in contents:
            content = Content(class_of(definition.kind), pins.content_of(definition))
            contents[refs[word].hash] = content
    rendered = stamping.manifest_hash(machine, body)
    stored = machines.stored_revision(machine.resource)
    if old is None:
        return Pin(stored or 1, entries, rendered)
    if rendered == old.rendered:
        return Pin(old.revision, entries, rendered)
    return Pin(max(old.revision + 1, stored), entries, rendered)


def adopt(dump: Sequence[Resource], resources: Iterable[Resource], settings: Settings) -> Adopted:
    """What the VMs of *dump*, objects of a cluster, run at present, for the VMs of *resources* with their names.

    Only what a ControllerRevision holds is certain; a VM whose revisions *dump* lacks is reported.
    """
    loaded = definitions.load(dump, settings)
    context = shared(dump, loaded, settings, len(dump), traced=False)
    running = {_placed(live, settings): live for live in vms(dump).values()}
    adopted = Adopted({}, {}, [])
    for vm, resource in vms(resources).items():
        live = running.get(_placed(resource, settings))
        if live is None:
            continue
        if live.holder is not None:
            adopted.diagnostics.append(_unrecorded(live.holder))
            continue
        entries = dict(_running(live, context, adopted))
        if entries:
            adopted.entries[vm] = entries
    return adopted


def _running(live: Resource, context: Context, adopted: Adopted) -> Iterator[tuple[str, Entry]]:
    """What the VM *live* runs, by the word of its matchers; *adopted* gets the contents, and what is not certain."""
    status = live.body.get("status")
    for kind_class in KIND_CLASSES:
        matcher = live.spec.get(kind_class.word)
        if not isinstance(matcher, dict):
            continue
        definition = find(
            kind_class,
            matcher,
            status if isinstance(status, dict) else {},
            live.namespace or context.settings.namespace,
            context.catalogue,
            context.release,
        )
        revision = None if isinstance(definition, Missing) else definition.resource
        if isinstance(definition, Missing) or not revision or revision.group != "apps":
            message, cure = _unadopted(kind_class, live, definition, context.catalogue)
            place = at(live, ("spec", kind_class.word))
            adopted.diagnostics.append(REVISION_NOT_FOUND.at(place, message, help=cure))
            continue
        content = pins.content_of(definition)
        hash_ = content_hash(kind_class.word, content)
        ref = Ref(definition.kind, matcher.get("name") or definition.name, hash_)
        adopted.contents[hash_] = Content(kind_class.word, content)
        yield kind_class.word, Entry(ref, revision_name=revision.name)


def _unrecorded(pool: Resource) -> Diagnostic:
    """That a pool of a cluster does not say what its VMs run: each of them has a record of its own."""
    return REVISION_NOT_FOUND.at(
        at(pool),
        "a pool records no revisions, each of its VMs does: it is pinned as without --from",
        help="compare with what its VMs run: status.instancetypeRef and status.preferenceRef of each",
        severity=Severity.WARNING,
    )


def _placed(vm: Resource, settings: Settings) -> str:
    """The name of *vm* with the namespace that it gets."""
    namespace = vm.namespace or settings.namespace
    return pins.name_of(vm.written._replace(namespace=namespace))


def _unadopted(
    kind_class: KindClass, live: Resource, definition: Definition | Missing, catalogue: Catalogue
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
    if isinstance(definition, Missing) and definition.code is REVISION_NOT_FOUND:
        return definition.message, cure
    return f"no ControllerRevision of its {kind_class.word} is known", cure


def merge(base: Lock, ours: Lock, incoming: Lock) -> tuple[Lock, list[str]]:
    """Both sides' changes of *base* by VM, and the VMs that both changed to something else."""
    pinned: dict[str, Pin] = {}
    refused = []
    for vm in sorted(base.pins.keys() | ours.pins.keys() | incoming.pins.keys()):
        was, current, other = (side.pins.get(vm) for side in (base, ours, incoming))
        if current not in (was, other) and other != was:
            refused.append(vm)
            continue
        chosen = other if current == was else current
        if chosen is not None:
            pinned[vm] = chosen
    contents: Mapping[str, Content] = {**base.revisions, **ours.revisions, **incoming.revisions}
    release = incoming.kubevirt if ours.kubevirt == base.kubevirt else ours.kubevirt
    return Lock(contents, pinned, release), refused
