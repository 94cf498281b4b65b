"""The revision lock as input: which lock is in force, and what it holds, decoded."""

from collections.abc import Iterable, Iterator, Sequence

from render import schemas
from render.diagnostics.cause import Cause
from render.diagnostics.codes import LOCK_INVALID, LOCKS_DISAGREE, PINS_NOT_ASKED, UNKNOWN_FIELD
from render.diagnostics.diagnostic import Diagnostic, Location, Related, at
from render.model.kinds import FLAVOR
from render.model.named_tuple import NamedTuple
from render.model.release import NEWEST, Version, minor
from render.model.resource import LOCK_KIND, OWN, Resource, from_body
from render.model.tree import Tree
from render.pipeline.lock_roles import LockRole, lock_role
from render.revisions import lockfile
from render.revisions.hashes import canonical
from render.revisions.lockfile import Content, Lock
from render.settings import Settings

_TYPES = {
    "instancetype": "instancetype.VirtualMachineInstancetypeSpec",
    "preference": "instancetype.VirtualMachinePreferenceSpec",
}


class LockInForce(NamedTuple):
    """The lock in force, the decoded contents of it by hash, and what is wrong with the documents."""

    lock: Lock
    contents: dict[str, Tree]
    diagnostics: list[Diagnostic]

    @property
    def is_faulty(self) -> bool:
        """Whether nothing is known about what is pinned."""
        return any(diagnostic.is_error for diagnostic in self.diagnostics)


def find(resources: Sequence[Resource], settings: Settings, release: Version) -> LockInForce:
    """The lock of *settings* and those among *resources*, which must agree about every VM that several of them pin.

    Contents are read as the newest release knows them; what *release* lacks of one that a VM is pinned to is an error.
    """
    if settings.pins == "ignore":
        return LockInForce(lockfile.EMPTY, {}, [])
    documents = [
        (resource.body, at(resource))
        for resource in resources
        if (resource.group, resource.kind) == (OWN, LOCK_KIND)
    ]
    if settings.lock is not None:
        resource = from_body(settings.lock, 0)
        documents.insert(0, (resource.body, Location(resource=resource.ref)))
    if len(documents) > 1:
        # Which one counts where they disagree must not depend on the order of the input.
        documents.sort(key=lambda document: canonical(document[0]))
    whole, diagnostics = _merged(documents)
    contents = {}
    for hash_, content in whole.revisions.items():
        contents[hash_], causes = _decoded(content)
        # That something is missing does not matter to KubeVirt in what it has stored.
        if contents[hash_] != content.spec:
            words = causes[0].message if causes else "it is not in canonical notation"
            message = f"KubeVirt {minor(NEWEST)} does not know the content under {hash_}: {words}"
            place = Location(documents[0][1].resource, ("revisions", hash_))
            diagnostics.append(LOCK_INVALID.at(place, message))
    if documents:
        diagnostics += _of_lock(whole, release, documents[0][1], settings)
    return LockInForce(whole, contents, diagnostics)


def _merged(documents: Iterable[tuple[Tree, Location]]) -> tuple[Lock, list[Diagnostic]]:
    """What all locks say together, and what is wrong with them: of two that disagree about a VM the first counts."""
    diagnostics: list[Diagnostic] = []
    whole = Lock({}, {})
    places: dict[str, Location] = {}
    for body, place in documents:
        lock, faults = lockfile.read(body, place)
        diagnostics += faults
        for vm, pin in lock.pins.items():
            if whole.pins.get(vm, pin) != pin:
                diagnostics.append(_disagreement(vm, place, places[vm]))
            places.setdefault(vm, place)
        whole = Lock(
            {**whole.revisions, **lock.revisions}, {**lock.pins, **whole.pins}, lock.kubevirt
        )
    return whole, diagnostics


def _of_lock(
    lock: Lock, release: Version, place: Location, settings: Settings
) -> Iterator[Diagnostic]:
    """What is to be said of *lock*, which stands at *place*, for this rendering."""
    if lock.pins and lock_role(settings) is LockRole.UNASKED:
        yield PINS_NOT_ASKED.at(
            place._replace(path=("pins",)),
            "with --emit expand the lock has no say: expand-vm-spec answers what the objects of the input say",
            help="--emit vm renders what the lock pins, and so does --stored, which asks for stored VMs",
        )
    if release != NEWEST:
        yield from _unknown(lock, release, place)


def _decoded(content: Content) -> tuple[Tree, Sequence[Cause]]:
    if content.kind_class != FLAVOR.word:
        return schemas.decode(content.spec, _TYPES[content.kind_class], NEWEST)
    from render.legacy import decoding

    return decoding.flavor_content(content.spec), ()


def _unknown(lock: Lock, release: Version, place: Location) -> Iterator[Diagnostic]:
    """What *release* does not know of the contents in force."""
    vms: dict[str, list[str]] = {}
    for vm, pin in lock.pins.items():
        for entry in pin.entries.values():
            if entry.ref is not None:
                vms.setdefault(entry.ref.hash, []).append(vm)
    for hash_, pinned in vms.items():
        content = lock.revisions[hash_]
        if (
            content.kind_class == FLAVOR.word
        ):  # what no release serves is read as it was in its time
            continue
        _, causes = schemas.decode(content.spec, _TYPES[content.kind_class], release)
        for cause in causes:
            if cause.check == UNKNOWN_FIELD.slug:
                path = ("revisions", hash_, content.kind_class, *cause.path)
                yield UNKNOWN_FIELD.at(
                    Location(place.resource, path, place.index, place.file),
                    f"KubeVirt {minor(release)} does not know {'.'.join(map(str, cause.path))}, which "
                    f"{', '.join(sorted(pinned))} is pinned to",
                    help=f"virt-render pin --upgrade {min(pinned)}; {cause.help}",
                )


def _disagreement(vm: str, place: Location, other: Location) -> Diagnostic:
    path = ("pins", vm)
    return LOCKS_DISAGREE.at(
        Location(place.resource, path, place.index),
        f"two locks pin {vm} differently",
        Related("the other pin", Location(other.resource, path, other.index)),
        help="remove one of the locks, or bring both to the same state with virt-render pin",
    )
