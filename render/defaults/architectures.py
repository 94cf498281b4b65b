"""Defaults by architecture (upstream: pkg/defaults/amd64.go, arm64.go, s390x.go)."""

from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft

_DISKS = ("spec", "domain", "devices", "disks")
_WATCHDOG = ("spec", "domain", "devices", "watchdog")
_MODEL = ("spec", "domain", "cpu", "model")
_BOOTLOADER = ("spec", "domain", "firmware", "bootloader")


def fill_s390x_features(draft: Draft) -> None:
    """ACPI is off on s390x unless the VM says otherwise; elsewhere nothing happens."""
    acpi = ("spec", "domain", "features", "acpi", "enabled")
    if draft.get("spec", "architecture") == "s390x" and draft.get(*acpi) is None:
        draft.put(acpi, value=False)


def fill(draft: Draft, config: ClusterConfig) -> None:
    """Disk bus, watchdog, bootloader and CPU model."""
    match draft.get("spec", "architecture"):
        case "arm64":
            if not draft.get(*_MODEL):
                draft.put(_MODEL, "host-passthrough")
            _fill_uefi(draft)
            _fill_bus(draft, "virtio")
        case "s390x":
            _fill_bus(draft, "virtio")
            _fill_watchdog(draft, "diag288")
        case _:
            _fill_bus(draft, "sata")
            _fill_watchdog(draft, "i6300esb")
    if not draft.get(*_MODEL):
        draft.put(_MODEL, config.cpu_model or "host-model")


def _fill_bus(draft: Draft, bus: str) -> None:
    for index, disk in enumerate(draft.get(*_DISKS) or ()):
        for target in ("disk", "cdrom", "lun"):
            device = disk.get(target)
            if device is not None and not device.get("bus"):
                draft.put((*_DISKS, index, target, "bus"), bus)


def _fill_watchdog(draft: Draft, device: str) -> None:
    if draft.get(*_WATCHDOG) is not None and not draft.get(*_WATCHDOG, device, "action"):
        draft.put((*_WATCHDOG, device, "action"), "reset")


def _fill_uefi(draft: Draft) -> None:
    if draft.get(*_BOOTLOADER) is None:
        draft.put((*_BOOTLOADER, "efi"), {})
    efi = draft.get(*_BOOTLOADER, "efi")
    if efi is not None and efi.get("secureBoot") is None:
        draft.put((*_BOOTLOADER, "efi", "secureBoot"), value=False)
