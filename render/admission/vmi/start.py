"""What is asked of a VMI alone, when it is created: an amount of memory, and a filesystem for each container path.

Upstream: validateVirtualMachineInstanceSpecVolumeDisks, ValidateVirtualMachineInstanceMandatoryFields in
admitters/vmi-create-admitter.go.
"""

from collections.abc import Iterable, Iterator

from render.admission.checks import Check, Evaluate, Subject, Violation
from render.diagnostics.cause import Cause
from render.model.apimachinery import quantity
from render.model.fieldpath import FieldPath
from render.model.release import Windowed, since, until

_KINDS = ("VirtualMachineInstance",)
_RESERVED = ("/var/run/kubevirt", "/var/run/libvirt")
_REQUEST = ("domain", "resources", "requests", "memory")


def _volumes(subject: Subject) -> Iterator[Cause]:
    """Container paths; that each volume has a device needs no check, since KubeVirt adds a disk where there is none."""
    volumes = subject.spec["volumes"]
    paths = [
        index
        for index, volume in enumerate(volumes)
        if volume.get("containerPath") is not None and volume.get("memoryDump") is None
    ]
    if paths:
        devices = subject.spec["domain"].get("devices") or {}
        disks = {disk.get("name", "") for disk in devices.get("disks") or ()}
        filesystems = {entry.get("name", "") for entry in devices.get("filesystems") or ()}
        for index in paths:
            name = volumes[index].get("name", "")
            yield from _container_path(
                subject, index, is_disk=name in disks, is_filesystem=name in filesystems
            )


def _container_path(
    subject: Subject, index: int, *, is_disk: bool, is_filesystem: bool
) -> Iterator[Cause]:
    volume = subject.spec["volumes"][index]
    reported_path, place = subject.at("domain", "volumes", index), subject.at("volumes", index)
    named = f"ContainerPath volume '{volume.get('name', '')}'"
    if is_disk:
        yield Cause(
            "volumes/container-path-disk",
            reported_path,
            f"{named} must be mapped to a filesystem, not a disk",
            "remove the disk, and add the name to domain.devices.filesystems",
            place=place,
        )
    if not is_filesystem:
        yield Cause(
            "volumes/container-path-filesystem",
            reported_path,
            f"{named} must have a matching filesystem defined in spec.domain.devices.filesystems",
            "add the name to domain.devices.filesystems",
            place=place,
        )
    path = volume["containerPath"].get("path") or ""
    prefix = next((prefix for prefix in _RESERVED if path.startswith(prefix)), "")
    if prefix:
        yield Cause(
            "volumes/container-path-reserved",
            (*reported_path, "containerPath", "path"),
            f"{named} uses reserved path prefix '{prefix}'",
            "use another path",
            place=(*place, "containerPath", "path"),
        )


def _memory(page_size: FieldPath) -> Evaluate:
    """That there is memory; *page_size* is how KubeVirt names the size of huge pages."""

    def evaluate(subject: Subject) -> Iterable[Violation]:
        memory = (subject.spec.get("domain") or {}).get("memory") or {}
        if memory.get("guest") is not None or memory.get("hugepages") is not None:
            return ()
        if quantity.value(subject.get(*_REQUEST) or "0"):
            return ()
        named = (("domain", "memory", "guest"), page_size, _REQUEST)
        guest, pages, request = (f"'{subject.text(*place)}'" for place in named)
        message = f"no memory requested, at least one of {guest}, {pages} or {request} must be set"
        cure = "set domain.memory.guest"
        return (Violation((), message, cure, place=subject.at("domain")),)

    return evaluate


def _required(page_size: FieldPath) -> Check:
    return Check("memory/required", _memory(page_size), only=_KINDS)


CHECKS: tuple[Check | Windowed[Check], ...] = (
    since("1.8", Check("volumes", _volumes, where=("volumes",), only=_KINDS)),
    until("1.8", _required(("domain", "memory", "hugepages", "size"))),
    since("1.8", _required(("domain", "memory", "hugepages", "pageSize"))),
)
