"""The revision lock: which content each VM is pinned to, and every such content once.

A value is made from the document by `read`, which believes nothing: a content has to fit its hash, a pin the contents.
The document is ``schemas/revisionlock.schema.json``; this reader is its own, since a build with ten thousand pins must
not cost more than one without.
"""

import re
from collections.abc import Iterable, Mapping

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.kinds import FLAVOR, class_of
from render.model.named_tuple import NamedTuple
from render.model.release import is_version
from render.model.resource import LOCK_KIND, OWN
from render.model.tree import Tree
from render.revisions.hashes import Ref, content_hash, is_hash, read_ref

VERSION = "v1alpha1"
CLASSES = ("instancetype", "preference", "flavor")
_KEYS = frozenset({"apiVersion", "kind", "metadata", "kubevirt", "revisions", "pins"})
#: What a lock was written for that does not say so: there was no other release then.
UNSAID = "v1.9.0"
_VERSION_SHAPE = r"v\d+((alpha|beta)\d+)?"
_VM = r"(VirtualMachinePool/)?([^/\s]+/)?[^/\s]+"
#: How the fields of an `Entry` are called in the document, after the kind class.
_PARTS = ("", "Volume", "Before", "RevisionName")
_EDITED = "take the lock from git again; removed and pinned anew, its VMs get what they name today"
_TORN = f"run virt-render pin --resolve if git merged it from two branches, else {_EDITED}"


def is_vm(text: str) -> bool:
    """Whether *text* can name a VM in a lock: ``NAMESPACE/NAME`` or ``NAME``, that of a pool with its kind before."""
    return re.fullmatch(_VM, text) is not None


class Content(NamedTuple):
    """The decoded *spec* of an instancetype or a preference (as v1beta1), or of a flavor (*kind_class*)."""

    kind_class: str
    spec: Tree


class Entry(NamedTuple):
    """What a VM is pinned to in one kind class.

    *volume*: the matcher was inferred from it; without a *ref*, to nothing. *before*: what it was pinned to until the
    last change. *revision_name*: the ControllerRevision that the matcher named.
    """

    ref: Ref | None = None
    volume: str = ""
    before: Ref | None = None
    revision_name: str = ""


class Pin(NamedTuple):
    """One VM: the number of its edit revision, its entries by kind class, and the hash of what it renders to."""

    revision: int
    entries: Mapping[str, Entry]
    rendered: str


class Lock(NamedTuple):
    """Contents by hash, pins by VM (``NAMESPACE/NAME``, or ``NAME`` where the manifest has no namespace; see `naming`).

    *kubevirt*: the release that the VMs were rendered for (``v1.9.0``), empty where the lock does not say.
    """

    revisions: Mapping[str, Content]
    pins: Mapping[str, Pin]
    kubevirt: str = ""


EMPTY = Lock({}, {})


class _LockFault(NamedTuple):
    code: codes.Code
    path: FieldPath
    message: str
    cure: str = _EDITED


def read(body: Tree, place: Location) -> tuple[Lock, list[Diagnostic]]:
    """The lock in the document *body*, which stands at *place*, or an empty one and what is wrong with it."""
    faults = list(_frame_faults(body))
    contents: dict[str, Content] = {}
    pins: dict[str, Pin] = {}
    if not faults:
        contents = _contents(body, faults)
        pins = _pins(body, contents, faults)
    diagnostics = [
        code.at(Location(place.resource, path, place.index, place.file), message, help=cure)
        for code, path, message, cure in faults
    ]
    lock = Lock(contents, pins, body.get("kubevirt", ""))
    return (EMPTY if diagnostics else lock), diagnostics


def _frame_faults(body: Tree) -> Iterable[_LockFault]:
    version = str(body.get("apiVersion", "")).removeprefix(f"{OWN}/")
    if version != VERSION and re.fullmatch(_VERSION_SHAPE, version):
        message = f"the lock has the format {version}, this program reads {VERSION}"
        cure = "use the version of virt-render that wrote it, or a later one"
        yield _LockFault(codes.LOCK_NEWER, ("apiVersion",), message, cure)
        return
    if version != VERSION or body.get("kind") != LOCK_KIND:
        message = f"a lock has apiVersion {OWN}/{VERSION} and kind {LOCK_KIND}"
        yield _LockFault(codes.LOCK_INVALID, ("apiVersion",), message)
    for key in sorted(map(str, body.keys() - _KEYS)):
        yield _LockFault(codes.LOCK_INVALID, (key,), f"unknown field {key}")
    release = body.get("kubevirt", UNSAID)
    if not isinstance(release, str) or not is_version(release):
        message = "kubevirt should be the release that was rendered for, like v1.9.0"
        yield _LockFault(codes.LOCK_INVALID, ("kubevirt",), message)
    for key in ("revisions", "pins"):
        if not isinstance(body.get(key), dict):
            yield _LockFault(codes.LOCK_INVALID, (key,), f"{key} should be a mapping")


def _contents(body: Tree, faults: list[_LockFault]) -> dict[str, Content]:
    contents = {}
    for hash_, entry in body["revisions"].items():
        fault = _content_fault(hash_, entry)
        if fault:
            faults.append(fault)
        else:
            ((kind_class, spec),) = entry.items()
            contents[hash_] = Content(kind_class, spec)
    return contents


def _pins(body: Tree, contents: dict[str, Content], faults: list[_LockFault]) -> dict[str, Pin]:
    pins = {}
    complete = not faults
    for vm, entry in body["pins"].items():
        pin = _pin(entry) if is_vm(vm) else "a VM is named NAME or NAMESPACE/NAME"
        if isinstance(pin, str):
            faults.append(_LockFault(codes.LOCK_INVALID, ("pins", vm), f"the pin of {vm}: {pin}"))
            continue
        pins[vm] = pin
        for kind_class, ref in _refs(pin):
            content = contents.get(ref.hash)
            # A flavour may be a flavor or an instancetype.
            wanted = class_of(ref.kind) if kind_class == FLAVOR.word else kind_class
            if complete and (content is None or content.kind_class != wanted):
                message = (
                    f"the pin of {vm} needs the {wanted} {ref.name} as {ref.hash}, "
                    "which is not among the revisions of the lock"
                )
                faults.append(_LockFault(codes.LOCK_EDITED, ("pins", vm), message, _TORN))
    return pins


def _content_fault(hash_: str, entry: Any) -> _LockFault | None:
    path = ("revisions", hash_)
    if not is_hash(hash_) or not isinstance(entry, dict) or len(entry) != 1:
        message = f"the revision {hash_} is not one content under its hash"
        return _LockFault(codes.LOCK_INVALID, path, message)
    ((kind_class, spec),) = entry.items()
    if kind_class not in CLASSES or not isinstance(spec, dict):
        message = f"the revision {hash_} is none of {', '.join(CLASSES)}"
        return _LockFault(codes.LOCK_INVALID, path, message)
    actual = content_hash(kind_class, spec)
    if actual == hash_:
        return None
    message = f"the content under {hash_} was edited: its hash is {actual}"
    return _LockFault(codes.LOCK_EDITED, (*path, kind_class), message)


def _pin(entry: Any) -> Pin | str:
    """The pin that *entry* holds, or what is wrong with it."""
    if not isinstance(entry, dict):
        return "it should be a mapping"
    revision, rendered = entry.get("revision"), entry.get("rendered")
    if type(revision) is not int or revision < 1:
        return "revision should be a number from 1"
    if not isinstance(rendered, str) or not is_hash(rendered):
        return "rendered should be sha256: and 64 hexadecimal digits"
    entries = {}
    known = 2
    for kind_class in CLASSES:
        now, volume, before, named = (entry.get(kind_class + part) for part in _PARTS)
        if kind_class == FLAVOR.word:
            volume = None  # no flavor is inferred from one
        count = sum(field is not None for field in (now, volume, before, named))
        if not count:
            continue
        known += count
        texts = ["" if text is None else text for text in (volume, named)]
        of_class = Entry(read_ref(now), texts[0], read_ref(before), texts[1])
        unread = (now is not None and not of_class.ref) or (
            before is not None and not of_class.before
        )
        if unread or not all(isinstance(text, str) for text in texts):
            return f"{kind_class} is not written as LOCK_KIND/NAME@sha256:..."
        entries[kind_class] = of_class
    if known != len(entry):
        return "it has an unknown field"
    return Pin(revision, entries, rendered)


def _refs(pin: Pin) -> Iterable[tuple[str, Ref]]:
    for kind_class, entry in pin.entries.items():
        for ref in (entry.ref, entry.before):
            if ref is not None:
                yield kind_class, ref


def document(lock: Lock) -> Tree:
    """The document of *lock*: sorted, and only contents that a pin needs."""
    needed = {ref.hash for pin in lock.pins.values() for _, ref in _refs(pin)}
    return {
        "apiVersion": f"{OWN}/{VERSION}",
        "kind": LOCK_KIND,
        "metadata": {"name": "virt-render-lock"},
        **({"kubevirt": lock.kubevirt} if lock.kubevirt else {}),
        "revisions": {
            hash_: {lock.revisions[hash_].kind_class: _sorted(lock.revisions[hash_].spec)}
            for hash_ in sorted(needed)
        },
        "pins": {vm: _pin_document(lock.pins[vm]) for vm in sorted(lock.pins)},
    }


def _pin_document(pin: Pin) -> Tree:
    document: Tree = {"revision": pin.revision}
    for kind_class in CLASSES:
        entry = pin.entries.get(kind_class, Entry())
        for part, value in zip(_PARTS, entry, strict=True):
            if value:
                document[kind_class + part] = str(value)
    document["rendered"] = pin.rendered
    return document


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
