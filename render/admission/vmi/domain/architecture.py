"""What an architecture does not support.

Upstream: pkg/virt-api/webhooks/amd64.go, arm64.go, s390x.go, ppc64le.go.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from render.admission.checks import Check, Subject, Violation
from render.diagnostics.cause import Cause
from render.diagnostics.fix import choice, set_to
from render.model.nearest import did_you_mean
from render.model.release import Windowed, since, until

_KINDS = ("VirtualMachineInstance",)
_VIDEO = ("domain", "devices", "video", "type")
_WATCHDOG = ("domain", "devices", "watchdog")
_BOOTLOADER = ("domain", "firmware", "bootloader")
_VIDEO_TYPES = {
    "amd64": ("vga", "cirrus", "virtio", "ramfb", "bochs"),
    "arm64": ("virtio", "ramfb"),
    "s390x": ("virtio",),
}
_PPC64LE_VIDEO_TYPES = {"ppc64le": ("virtio", "bochs", "vga", "cirrus")}
#: The one watchdog of an architecture, and KubeVirt's name for it.
_WATCHDOGS = {"amd64": ("i6300esb", "I6300ESB"), "s390x": ("diag288", "Diag288")}
#: What Go calls the architectures that Linux calls otherwise.
_OF_LINUX = {
    **dict.fromkeys(("x86_64", "x86-64", "x64"), "amd64"),
    **dict.fromkeys(("aarch64", "armv8"), "arm64"),
}
_MODEL = ("domain", "cpu", "model")
_PASSTHROUGH = "host-passthrough"


def _known(*architectures: str) -> Check:
    """An architecture of a VMI other than one of *architectures*."""
    name = "architecture/supported"

    def evaluate(subject: Subject) -> Iterable[Violation]:
        architecture = subject.spec.get("architecture") or ""
        if architecture in architectures:
            return ()
        message = f"unsupported architecture: {architecture}"
        meant = _OF_LINUX.get(architecture.casefold(), architecture)
        known = f"use one of {', '.join(architectures)}"
        cure = did_you_mean(meant, architectures, known)
        return (Violation(subject.at("architecture"), message, cure),)

    return Check(name, evaluate, only=_KINDS)


def _video(types: Mapping[str, tuple[str, ...]]) -> Check:
    """A video model other than those of the architecture."""
    name = "architecture/video"

    def evaluate(subject: Subject) -> Iterator[Violation]:
        architecture = subject.spec.get("architecture") or ""
        model, allowed = subject.get(*_VIDEO) or "", types.get(architecture)
        if allowed and model not in allowed:
            message = f"video model '{model}' is not supported on {architecture} architecture"
            yield Violation(subject.at(*_VIDEO), message, f"use one of {', '.join(allowed)}")

    return Check(name, evaluate, where=_VIDEO[:-1], only=_KINDS)


def _watchdog(subject: Subject) -> Iterator[Violation]:
    architecture = subject.spec.get("architecture") or ""
    if architecture not in _WATCHDOGS:
        return
    wanted, title = _WATCHDOGS[architecture]
    watchdog = subject.get(*_WATCHDOG)
    if [key for key, _ in _WATCHDOGS.values() if watchdog.get(key) is not None] != [wanted]:
        message = f"{architecture} only supports {title} watchdog device"
        yield Violation(subject.at(*_WATCHDOG), message, f"use {wanted}")


def _arm64(*rules: Callable[[Subject], Iterator[Cause]]) -> Check:
    """What arm64 does not support."""

    def evaluate(subject: Subject) -> Iterator[Cause]:
        if subject.spec.get("architecture") == "arm64":
            for rule in rules:
                yield from rule(subject)

    return Check("architecture", evaluate, only=_KINDS)


def _bios(subject: Subject) -> Iterator[Cause]:
    if subject.get(*_BOOTLOADER, "bios") is not None:
        place, message = (
            subject.at(*_BOOTLOADER, "bios"),
            "Arm64 does not support bios boot, please change to uefi boot",
        )
        yield Cause("architecture/bios", place, message, "use bootloader.efi")


def _secure_boot(subject: Subject) -> Iterator[Cause]:
    efi = subject.get(*_BOOTLOADER, "efi")
    if efi is not None and efi.get("secureBoot", True):
        yield Cause(
            "architecture/secure-boot",
            subject.at(*_BOOTLOADER, "efi", "secureboot"),
            "UEFI secure boot is currently not supported on aarch64 Arch",
            "set bootloader.efi.secureBoot: false",
            place=subject.at(*_BOOTLOADER, "efi"),
        )


def _host_model(subject: Subject) -> Iterator[Cause]:
    if subject.get(*_MODEL) == "host-model":
        message = "Arm64 not support CPU host-model"
        yield Cause("architecture/cpu-model", subject.at(*_MODEL), message, f"use {_PASSTHROUGH}")


def _model(subject: Subject) -> Iterator[Cause]:
    if (subject.get(*_MODEL) or _PASSTHROUGH) != _PASSTHROUGH:
        message = f"currently, {_PASSTHROUGH} is the only model supported on Arm64"
        yield Cause("architecture/cpu-model", subject.at(*_MODEL), message, f"use {_PASSTHROUGH}")


def _buses(subject: Subject) -> Iterator[Cause]:
    for index, disk in enumerate(subject.get("domain", "devices", "disks") or ()):
        for target in ("disk", "cdrom", "lun"):
            if (disk.get(target) or {}).get("bus", "") not in {"", "virtio", "scsi"}:
                place = subject.at("domain", "devices", "disks", index, target, "bus")
                message = "Arm64 not support this disk bus type, please use virtio or scsi"
                cure = "use virtio or scsi"
                fixes = choice(
                    *((f"write {bus}", set_to(place, bus)) for bus in ("virtio", "scsi"))
                )
                yield Cause("architecture/disk-bus", place, message, cure, fixes=fixes)


def _devices(subject: Subject) -> Iterator[Cause]:
    for key, title in (("watchdog", "Watchdog"), ("sound", "sound")):
        if subject.get("domain", "devices", key) is not None:
            place, message = (
                subject.at("domain", "devices", key),
                f"Arm64 not support {title} device",
            )
            yield Cause(f"architecture/{key}", place, message, "leave it out")


CHECKS: tuple[Check | Windowed[Check], ...] = (
    since("1.5.2", Check("architecture/watchdog", _watchdog, where=_WATCHDOG, only=_KINDS)),
    until("1.6", _arm64(_bios, _secure_boot, _host_model, _buses, _devices)),
    since("1.6", until("1.8.3", _arm64(_bios, _secure_boot, _model, _buses, _devices))),
    since("1.8.3", _arm64(_bios, _model, _buses, _devices)),
    since("1.6", _video(_VIDEO_TYPES)),
    since("1.6", until("1.7", _video(_PPC64LE_VIDEO_TYPES))),
    since("1.5.2", until("1.6", _known("amd64", "arm64", "s390x"))),
    since("1.6", until("1.7", _known("amd64", "arm64", "s390x", "ppc64le"))),
    since("1.7", _known("amd64", "arm64", "s390x")),
)
