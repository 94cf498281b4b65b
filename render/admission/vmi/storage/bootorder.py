"""Disks against volumes, and the boot order of disks and interfaces.

Upstream: validateBootOrder in admitters/vmi-create-admitter.go.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property

from render.admission import faults
from render.admission.checks import EACH, Check, Evaluate, Subject, Violation
from render.diagnostics.cause import Cause
from render.diagnostics.fix import Fix, choice, set_to
from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.release import Windowed, since, until
from render.model.tree import Tree

_SILENT = frozenset({"name", "disk"})
_DISKS = ("domain", "devices", "disks")
_INTERFACES = ("domain", "devices", "interfaces")


class _Orders:
    """The boot orders that devices have so far."""

    def __init__(self, devices: Tree) -> None:
        self._taken: set[int] = set()
        self._devices = devices

    @cached_property
    def behind(self) -> int:
        """The first order after all that devices have."""
        every = (
            device for key in ("disks", "interfaces") for device in self._devices.get(key) or ()
        )
        return max((device.get("bootOrder") or 0 for device in every), default=0) + 1

    def take(self, order: int) -> bool:
        """Whether nobody had *order* before."""
        is_free = order not in self._taken
        self._taken.add(order)
        return is_free


def _volumes(subject: Subject) -> dict[str, Tree]:
    """The volumes by name, the last one where there are several."""
    return {volume.get("name", ""): volume for volume in subject.spec.get("volumes") or ()}


def _devices(*, empty_cdroms: bool) -> Evaluate:
    """The rules of all devices; *empty_cdroms*: a CD-ROM without a volume is a matter of a feature gate."""

    def evaluate(subject: Subject) -> Iterator[Cause]:
        devices = subject.spec["domain"]["devices"]
        used = _Orders(devices)
        if devices.get("disks"):
            yield from _disks(subject, devices["disks"], used, empty_cdroms=empty_cdroms)
        for index, interface in enumerate(devices.get("interfaces") or ()):
            if interface.get("bootOrder") is not None:
                yield from _interface(subject, index, interface["bootOrder"], used)

    return evaluate


def _disks(
    subject: Subject, disks: list[Tree], used: _Orders, *, empty_cdroms: bool
) -> Iterator[Cause]:
    volumes = _volumes(subject)
    # A volume without a disk has got one by now, behind those of the author, that says nothing of itself.
    named = {disk.get("name", "") for disk in disks if not disk.keys() <= _SILENT}
    free = {name: None for name in volumes if name not in named}
    for index, disk in enumerate(disks):
        free.pop(disk.get("name", ""), None)
        volume = volumes.get(disk.get("name", ""))
        if volume is None:
            if not empty_cdroms or disk.get("cdrom") is None:
                yield _no_volume(subject, index, disk, free)
        elif disk.get("lun") is not None or volume.get("downwardMetrics") is not None:
            yield from _target(disk, volume, subject.at(*_DISKS, index))
        order = disk.get("bootOrder")
        if order is not None and not used.take(order):
            yield _used_twice(subject, (*_DISKS, index, "bootOrder"), used.behind)


def _interface(subject: Subject, index: int, order: int, used: _Orders) -> Iterator[Cause]:
    place = subject.at(*_INTERFACES, index, "bootOrder")
    if not order:
        # The list is missing here, as in KubeVirt: spec.template.spec[0].
        yield faults.boot_order(subject.at(index), place)
        return
    if not used.take(order):
        yield _used_twice(subject, (*_INTERFACES, index, "bootOrder"), used.behind)


def _no_volume(subject: Subject, index: int, disk: Tree, free: Iterable[str]) -> Cause:
    """That *disk* has no volume; *free* are the volumes that no disk of the author names."""
    name = disk.get("name", "")
    cure = "give the disk the name of a volume, add a volume of that name, or drop the disk"
    return Cause(
        "disks/volume",
        subject.at(*_DISKS, index, "name"),
        f"{subject.text(*_DISKS, index, 'Name')} '{name}' not found.",
        faults.misnamed(name, free, cure),
        fixes=faults.unpaired(subject.at(*_DISKS, index), name, free, "disk"),
    )


def _target(disk: Tree, volume: Tree, place: FieldPath) -> Iterator[Cause]:
    claims = ("persistentVolumeClaim", "dataVolume")
    if disk.get("lun") is not None and all(volume.get(source) is None for source in claims):
        yield Cause(
            "disks/lun-volume",
            (*place, "lun"),
            f"{fieldpath.text((*place, 'lun'))} can only be mapped to a DataVolume or PersistentVolumeClaim volume.",
            "use a disk instead of a LUN, or a volume with a claim",
        )
    if volume.get("downwardMetrics") is None:
        return
    target, named = disk.get("disk"), fieldpath.text((*place, "disk"))
    if target is None:
        yield Cause(
            "disks/metrics-target",
            (*place, "disk"),
            f"DownwardMetrics volume must be mapped to a disk, but disk is not set on {named}.",
            "write disk: {bus: virtio}",
        )
    elif target.get("bus", "") not in {"", "virtio"}:
        yield Cause(
            "disks/metrics-bus",
            (*place, "disk", "bus"),
            f"DownwardMetrics volume must be mapped to virtio bus, but {named}.bus is set to {target['bus']}",
            "write disk: {bus: virtio}",
            fixes=choice(("write virtio", set_to((*place, "disk", "bus"), "virtio"))),
        )


def _used_twice(subject: Subject, path: FieldPath, free: int) -> Cause:
    place = subject.at(*path)
    message = f"Boot order for {fieldpath.text(place)} already set for a different device."
    fix = Fix(f"give it the boot order {free}, after all others", (set_to(place, free),))
    cure = "give each device its own boot order"
    return Cause("boot-order/unique", place, message, cure, fixes=(fix,))


def _empty_cdroms(subject: Subject) -> Iterator[Violation]:
    disks = subject.spec["domain"]["devices"]["disks"]
    cdroms = [(index, disk) for index, disk in enumerate(disks) if disk.get("cdrom") is not None]
    if not cdroms or subject.has_gate("DeclarativeHotplugVolumes"):
        return
    volumes = _volumes(subject)
    for index, disk in cdroms:
        if disk.get("name", "") not in volumes:
            yield Violation(
                subject.at(*_DISKS, index, "name"),
                "DeclarativeHotplugVolumes feature gate not enabled, cannot define an empty CD-ROM disk",
                "add a volume of that name, or enable the feature gate DeclarativeHotplugVolumes",
            )


CHECKS: tuple[Check | Windowed[Check], ...] = (
    until("1.6", Check("disks", _devices(empty_cdroms=False), where=("domain", "devices"))),
    since("1.6", Check("disks", _devices(empty_cdroms=True), where=("domain", "devices"))),
    since(
        "1.6",
        Check(
            "disks/empty-cdrom",
            _empty_cdroms,
            needs="gate DeclarativeHotplugVolumes",
            where=(*_DISKS, EACH, "cdrom"),
        ),
    ),
)
