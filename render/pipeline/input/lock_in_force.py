"""The revision lock as input: which lock is in force, and what it holds, decoded."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from render import schemas
from render.diagnostics.cause import Cause
from render.diagnostics.codes import LOCK_INVALID, LOCKS_DISAGREE, PINS_NOT_ASKED, UNKNOWN_FIELD
from render.diagnostics.diagnostic import Diagnostic, Location, Related, at
from render.model.fieldpath import FieldPath
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
    Where *settings* ignore pins, it is an empty lock.
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
    whole, places, diagnostics = _merged(documents)
    contents = {}
    for hash_, content in whole.revisions.items():
        contents[hash_], causes = _decoded(content)
        # Missing required fields are no fault: KubeVirt does not validate what it has stored.
        if contents[hash_] != content.spec:
            words = causes[0].message if causes else "it is not in canonical notation"
            message = f"KubeVirt {minor(NEWEST)} does not know the content under {hash_}: {words}"
            diagnostics.append(LOCK_INVALID.at(places["revisions", hash_], message))
    diagnostics += _lock_notes(whole, release, places, settings)
    return LockInForce(whole, contents, diagnostics)


def _merged(
    documents: Iterable[tuple[Tree, Location]],
) -> tuple[Lock, dict[FieldPath, Location], list[Diagnostic]]:
    """What all locks say together, where its contents and pins stand, and what is wrong with them.

    Of two locks that disagree about a VM the first counts.
    """
    diagnostics: list[Diagnostic] = []
    whole = Lock({}, {})
    places: dict[FieldPath, Location] = {}
    for body, document in documents:
        lock, faults = lockfile.read(body, document)
        diagnostics += faults
        for vm, pin in lock.pins.items():
            place = document._replace(path=("pins", vm))
            if whole.pins.get(vm, pin) != pin:
                diagnostics.append(_disagreement(vm, place, places[place.path]))
            places.setdefault(place.path, place)
        for hash_ in lock.revisions:
            place = document._replace(path=("revisions", hash_))
            places.setdefault(place.path, place)
        whole = Lock(
            {**whole.revisions, **lock.revisions}, {**lock.pins, **whole.pins}, lock.kubevirt
        )
    return whole, places, diagnostics


def _lock_notes(
    lock: Lock, release: Version, places: Mapping[FieldPath, Location], settings: Settings
) -> Iterator[Diagnostic]:
    """What is to be said of *lock*, of which *places* has contents and pins, for this rendering."""
    if lock.pins and lock_role(settings) is LockRole.UNASKED:
        pin = next(place for path, place in places.items() if path[0] == "pins")
        yield PINS_NOT_ASKED.at(
            pin._replace(path=("pins",)),
            "with --emit expand the lock has no say: expand-vm-spec answers what the objects of the input say",
            help="--emit vm renders what the lock pins, and so does --stored, which asks for stored VMs",
        )
    if release != NEWEST:
        yield from _unknown(lock, release, places)


def _decoded(content: Content) -> tuple[Tree, Sequence[Cause]]:
    if content.kind_class != FLAVOR.word:
        return schemas.decode(content.spec, _TYPES[content.kind_class], NEWEST)
    from render.legacy import decoding

    return decoding.flavor_content(content.spec), ()


def _unknown(
    lock: Lock, release: Version, places: Mapping[FieldPath, Location]
) -> Iterator[Diagnostic]:
    """What *release* does not know of the contents in force."""
    vms: dict[str, list[str]] = {}
    for vm, pin in lock.pins.items():
        for entry in pin.entries.values():
            if entry.ref is not None:
                vms.setdefault(entry.ref.hash, []).append(vm)
    for hash_, pinned in vms.items():
        content = lock.revisions[hash_]
        if content.kind_class == FLAVOR.word:  # no release serves it: read as it was in its time
            continue
        _, causes = schemas.decode(content.spec, _TYPES[content.kind_class], release)
        for cause in causes:
            if cause.check == UNKNOWN_FIELD.slug:
                place = places["revisions", hash_]
                yield UNKNOWN_FIELD.at(
                    place._replace(path=(*place.path, content.kind_class, *cause.path)),
                    f"KubeVirt {minor(release)} does not know {'.'.join(map(str, cause.path))}, which "
                    f"{', '.join(sorted(pinned))} {'is' if len(pinned) == 1 else 'are'} pinned to",
                    help=f"virt-render pin --upgrade {min(pinned)}; {cause.help}",
                )


def _disagreement(vm: str, place: Location, other: Location) -> Diagnostic:
    return LOCKS_DISAGREE.at(
        place,
        f"two locks pin {vm} differently",
        Related("the other pin", other),
        help="remove one of the locks, or bring both to the same state with virt-render pin",
    )
