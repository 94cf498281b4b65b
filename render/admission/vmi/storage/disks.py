"""Disks, each by itself (upstream: pkg/storage/admitters/disks.go)."""

import re
from collections.abc import Iterator

from render.admission import faults
from render.admission.checks import EACH, Check, Evaluate, Subject
from render.diagnostics.cause import Cause
from render.diagnostics.fix import choice, respelled, set_to
from render.model import fieldpath
from render.model.apimachinery.dns1123 import label_faults
from render.model.apimachinery.go import is_pci_address, listed
from render.model.fieldpath import FieldPath
from render.model.release import Windowed, since, until
from render.model.tree import Tree

_DISKS = ("domain", "devices", "disks")
_TARGETS = ("disk", "lun", "cdrom")
BUSES = ("virtio", "scsi", "sata", "usb")
_CACHES = frozenset({"", "none", "writethrough", "writeback"})
_IO_MODES = frozenset({"", "native", "threads"})
_ERROR_POLICIES = frozenset({"stop", "ignore", "report", "enospace"})
_SERIAL = r"[A-Za-z0-9_.+-]+"
_LONGEST_SERIAL = 256
_LEAST_BLOCK, _MOST_BLOCK = 512, 2097152
_NAME_HELP = "use lower case letters, digits and '-', at most 63 of them, no dot"
_BLOCK_HELP = "use powers of two from 512 to 2097152, the logical size not above the physical one"
#: Disks with no more than this, an order, and a usual bus, have nothing but a name that could be wrong.
_PLAIN = frozenset({"name", "disk", "bootOrder"})


def _disks(*, sectors: bool) -> Evaluate:
    """The rules of disks; *sectors*: with those of SATA's sector size and of the granularity of discards."""

    def evaluate(subject: Subject) -> Iterator[Cause]:
        places: dict[str, list[int]] = {}
        list_place = subject.at(*_DISKS)
        for index, disk in enumerate(subject.spec["domain"]["devices"]["disks"]):
            name = disk.get("name", "")
            if name in places:
                for earlier in places[name]:
                    yield _same_name(list_place, index, earlier)
            places.setdefault(name, []).append(index)
            plain = disk.keys() <= _PLAIN and disk.get("bootOrder") != 0
            plain = plain and _is_plain(disk.get("disk") or {})
            if not plain:
                yield from _targets(disk, (*list_place, index), list_place)
                yield from _settings(disk, (*list_place, index), list_place)
            for fault in label_faults(name):
                # The list is named twice here, and in a few other places, as KubeVirt does.
                reported_path = (*list_place, *_DISKS, index, "name")
                place = (*list_place, index, "name")
                cure = _NAME_HELP if name else f"{faults.NAMELESS}: that of its volume"
                yield Cause("disks/name", reported_path, fault, cure, place=place)
            if not plain:
                yield from _blocks(disk, (*list_place, index), sectors=sectors)

    return evaluate


def _is_plain(target: Tree) -> bool:
    return not target or (len(target) == 1 and target.get("bus") in BUSES)


def _same_name(disks: FieldPath, index: int, earlier: int) -> Cause:
    return Cause(
        "disks/name-unique",
        (*disks, index, "name"),
        f"{fieldpath.text((*disks, index))} and {fieldpath.text((*disks, earlier))} must not have the same Name.",
        "give each disk the name of a volume of its own",
    )


def _targets(disk: Tree, place: FieldPath, disks: FieldPath) -> Iterator[Cause]:
    targets = [target for target in _TARGETS if disk.get(target) is not None]
    if len(targets) > 1:
        yield Cause(
            "disks/target",
            place,
            f"{fieldpath.text(place)} can only have a single target type defined",
            "leave one of disk, lun and cdrom",
        )
    yield from _address(disk, place, disks)
    if disk.get("bootOrder") == 0:
        yield faults.boot_order(place, (*place, "bootOrder"))
    if targets and disk[targets[0]].get("bus"):
        yield from _bus(disk, targets[0], place, disks)


def _address(disk: Tree, place: FieldPath, disks: FieldPath) -> Iterator[Cause]:
    target = disk.get("disk") or {}
    address = target.get("pciAddress")
    if not address:
        return
    numbered = (*disks, *_DISKS, "disk", place[-1])
    reported_path, named = (*numbered, "pciAddress"), fieldpath.text((*numbered, "name"))
    real = (*place, "disk", "pciAddress")
    if target.get("bus") != "virtio":
        yield Cause(
            "disks/pci-bus",
            reported_path,
            f"disk {named} - setting a PCI address is only possible with bus type virtio.",
            "set bus: virtio, or leave the address out",
            place=real,
        )
    if not is_pci_address(address):
        yield Cause(
            "disks/pci-address",
            reported_path,
            f"disk {named} has malformed PCI address ({address}).",
            "write it as 0000:81:00.1",
            place=real,
        )


def _bus(disk: Tree, target: str, place: FieldPath, disks: FieldPath) -> Iterator[Cause]:
    bus, where = disk[target]["bus"], (*place, target, "bus")
    if bus == "ide":
        cure = "use sata, or virtio for a disk"
        buses = ("sata",) if target == "cdrom" else ("sata", "virtio")
        fixes = choice(*((f"write {candidate}", set_to(where, candidate)) for candidate in buses))
        yield Cause("disks/ide-bus", where, "IDE bus is not supported", cure, fixes=fixes)
    elif bus not in BUSES:
        yield Cause(
            "disks/bus",
            where,
            f"{fieldpath.text(place)} is set with an unrecognized bus {bus}, must be one of: {listed(BUSES)}",
            f"use one of {', '.join(BUSES)}",
            fixes=respelled(where, bus, BUSES),
        )
    elif bus == "virtio" and target == "cdrom":
        message = "Bus type virtio is invalid for CD-ROM device"
        fixes = choice(
            *((f"write {candidate}", set_to(where, candidate)) for candidate in ("sata", "scsi"))
        )
        cure = "use sata or scsi for the CD-ROM"
        yield Cause("disks/cdrom-bus", where, message, cure, fixes=fixes)
    elif bus == "sata" and target == "disk" and disk[target].get("readonly"):
        message = "sata hard-disks do not support read-only."
        yield Cause("disks/sata-read-only", where, message, "use another bus, or a CD-ROM")
    if bus != "virtio" and disk.get("dedicatedIOThread"):
        yield Cause(
            "disks/io-thread-bus",
            (*disks, *_DISKS, place[-1]),
            f"IOThreads are not supported for disks on a {bus} bus",
            "set bus: virtio, or leave dedicatedIOThread out",
            place=(*place, "dedicatedIOThread"),
        )


def _settings(disk: Tree, place: FieldPath, disks: FieldPath) -> Iterator[Cause]:
    yield from _serial(disk, place)
    yield from _modes(disk, place, disks)


def _serial(disk: Tree, place: FieldPath) -> Iterator[Cause]:
    serial = disk.get("serial") or ""
    where = (*place, "serial")
    if serial and not re.fullmatch(_SERIAL, serial):
        yield Cause(
            "disks/serial",
            where,
            f"{fieldpath.text(place)} must be made up of the following characters [A-Za-z0-9_.+-], if specified",
            "use no other characters",
        )
    if len(serial) > _LONGEST_SERIAL:
        yield Cause(
            "disks/serial-length",
            where,
            f"{fieldpath.text(place)} must be less than or equal to 256 in length, if specified",
            "use at most 256 characters",
        )


def _modes(disk: Tree, place: FieldPath, disks: FieldPath) -> Iterator[Cause]:
    cache = disk.get("cache", "")
    if cache not in _CACHES:
        where = (*place, "cache")
        message = f"{fieldpath.text(where)} has invalid value {cache}"
        cure = "use one of none, writethrough, writeback"
        fixes = respelled(where, cache, _CACHES)
        yield Cause("disks/cache", where, message, cure, fixes=fixes)
    if disk.get("io", "") not in _IO_MODES:
        yield Cause(
            "disks/io",
            (*disks, *_DISKS, place[-1], "io"),
            f"Disk IO mode for {fieldpath.text(disks)} is not supported. Supported modes are: native, threads.",
            "use native or threads",
            place=(*place, "io"),
            fixes=respelled((*place, "io"), disk["io"], _IO_MODES),
        )
    policy = disk.get("errorPolicy")
    if policy is not None and policy not in _ERROR_POLICIES:
        where = (*place, "errorPolicy")
        message = f'{fieldpath.text(where)} has invalid value "{policy}"'
        yield Cause(
            "disks/error-policy",
            where,
            message,
            "use one of stop, ignore, report, enospace",
            fixes=respelled(where, policy, _ERROR_POLICIES),
        )


def _blocks(disk: Tree, place: FieldPath, *, sectors: bool) -> Iterator[Cause]:
    size = disk.get("blockSize") or {}
    custom, matched = size.get("custom"), size.get("matchVolume")
    if custom is None:
        return
    where = (*place, "blockSize")
    if matched is not None and matched.get("enabled", True):
        message = "Block size matching can't be enabled together with a custom value"
        yield Cause("disks/block-size", where, message, "leave one of custom and matchVolume")
        return
    logical, physical = custom.get("logical") or 0, custom.get("physical") or 0
    granularity = custom.get("discardGranularity")
    fault = ""
    key = "logical"
    if logical > physical:
        fault = (
            f"Logical size {logical} must be the same or less than the physical size of {physical}"
        )
    elif sectors and _bus_of(disk) == "sata" and logical != _LEAST_BLOCK:
        fault = f"Logical size {logical} must be {_LEAST_BLOCK} for SATA devices"
    elif sectors and granularity is not None and logical and granularity % logical:
        key = "discardGranularity"
        fault = f"Discard granularity {granularity} must be multiples of logical size {logical}"
    if fault:
        yield Cause("disks/block-size", (*where, "custom", key), fault, _BLOCK_HELP)
        return
    for key, number in (("logical", logical), ("physical", physical)):
        fault = _block_fault(number)
        if fault:
            message = f"Provided size of {number} is {fault}"
            yield Cause("disks/block-size", (*where, "custom", key), message, _BLOCK_HELP)


def _bus_of(disk: Tree) -> str:
    targets = (disk[key] for key in _TARGETS if disk.get(key) is not None)
    target: Tree = next(targets, {})
    bus: str = target.get("bus", "")
    return bus


def _block_fault(size: int) -> str:
    if size < _LEAST_BLOCK:
        return f"less than the supported minimum size of {_LEAST_BLOCK}"
    if size > _MOST_BLOCK:
        return f"greater than the supported maximum size of {_MOST_BLOCK}"
    return "not a power of 2" if size & (size - 1) else ""


CHECKS: tuple[Check | Windowed[Check], ...] = (
    until("1.7", Check("disks", _disks(sectors=False), where=_DISKS)),
    since("1.7", Check("disks", _disks(sectors=True), where=_DISKS)),
)
#: All that a text field may be, by its place below the VMI spec.
WORDS: dict[FieldPath, tuple[str, ...]] = {
    **{(*_DISKS, EACH, target, "bus"): ("", *BUSES) for target in _TARGETS},
    (*_DISKS, EACH, "cache"): tuple(sorted(_CACHES)),
    (*_DISKS, EACH, "io"): tuple(sorted(_IO_MODES)),
    (*_DISKS, EACH, "errorPolicy"): tuple(sorted(_ERROR_POLICIES)),
}
