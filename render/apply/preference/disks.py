"""Disk preferences (upstream: pkg/instancetype/preference/apply/disk.go)."""

from collections.abc import Iterable

from render.model import tree
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.tree import Tree
from render.rules import Edit, Result, Rule, custom, spec

_PLACE = spec("domain", "devices", "disks")
#: (preference, key of the disk target), for plain disks.
_DISK = (
    ("preferredDiskBus", "bus"),
    ("preferredDiskBlockSize", "blockSize"),
    ("preferredDiskCache", "cache"),
    ("preferredDiskIO", "io"),
)
#: Where these stand, by target.
_ON_DISK = frozenset({"blockSize", "cache", "io"})


def _other_target(disk: Tree) -> str | None:
    return next((name for name in ("cdrom", "lun") if disk.get(name) is not None), None)


def _edits(devices: Tree, disk: Tree, place: FieldPath) -> Iterable[Result]:
    target = "disk" if disk.get("disk") is not None else _other_target(disk)
    if target is None:
        # QUIRK(pkg/instancetype/preference/apply/disk.go): any `devices` block makes target-less disks plain disks.
        target = "disk"
        yield Edit((*place, "disk"), {}, ("devices",))
    if target != "disk":
        source = "preferredCdromBus" if target == "cdrom" else "preferredLunBus"
        if devices.get(source) and not tree.get(disk, target, "bus"):
            yield Edit((*place, target, "bus"), devices[source], ("devices", source))
        return
    plain = disk.get("disk") or {}
    for source, key in _DISK:
        preferred = devices.get(source)
        if preferred is None:
            continue
        is_outside = key in _ON_DISK
        if (disk if is_outside else plain).get(key) is None:
            steps = (key,) if is_outside else ("disk", key)
            yield Edit((*place, *steps), preferred, ("devices", source))
    dedicated = devices.get("preferredDiskDedicatedIoThread")
    if dedicated is None or disk.get("dedicatedIOThread") is not None:
        return
    # Only on a bus that is literally virtio now: after preferredDiskBus, before the architecture's default bus.
    if (plain.get("bus") or devices.get("preferredDiskBus")) == "virtio":
        yield Edit(
            (*place, "dedicatedIOThread"), dedicated, ("devices", "preferredDiskDedicatedIoThread")
        )


def _disks(definition: Tree, draft: Draft) -> Iterable[Result]:
    devices = definition.get("devices")
    if devices is not None:
        for index, disk in enumerate(draft.get(*_PLACE) or ()):
            yield from _edits(devices, disk, (*_PLACE, index))


RULES: tuple[Rule, ...] = (
    custom(
        _disks,
        reads=(
            "devices",
            "devices.preferredDiskBus",
            "devices.preferredDiskBlockSize",
            "devices.preferredDiskCache",
            "devices.preferredDiskIO",
            "devices.preferredDiskDedicatedIoThread",
            "devices.preferredCdromBus",
            "devices.preferredLunBus",
        ),
        writes=(
            "domain.devices.disks.disk",
            "domain.devices.disks.disk.bus",
            "domain.devices.disks.cdrom.bus",
            "domain.devices.disks.lun.bus",
            "domain.devices.disks.blockSize",
            "domain.devices.disks.cache",
            "domain.devices.disks.io",
            "domain.devices.disks.dedicatedIOThread",
        ),
    ),
)
