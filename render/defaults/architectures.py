"""Defaults by architecture (upstream: pkg/defaults/amd64.go, arm64.go, s390x.go)."""

from collections.abc import Callable
from functools import partial

from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft
from render.model.release import Items, Version, in_force, since, until

_DISKS = ("spec", "domain", "devices", "disks")
_WATCHDOG = ("spec", "domain", "devices", "watchdog")
_MODEL = ("spec", "domain", "cpu", "model")
_BOOTLOADER = ("spec", "domain", "firmware", "bootloader")


def fill_s390x_features(draft: Draft) -> None:
    """Turn ACPI off on s390x unless the VM says otherwise; elsewhere nothing happens."""
    acpi = ("spec", "domain", "features", "acpi", "enabled")
    if draft.get("spec", "architecture") == "s390x" and draft.get(*acpi) is None:
        draft.put(acpi, value=False)


def fill(draft: Draft, config: ClusterConfig, release: Version) -> None:
    """Fill in what the architecture decides: disk bus, watchdog, bootloader and CPU model."""
    architecture = draft.get("spec", "architecture")
    for step in in_force(_STEPS.get(architecture, _STEPS["amd64"]), release):
        step(draft)
    if not draft.get(*_MODEL):
        draft.put(_MODEL, config.cpu_model or "host-model")


def _fill_bus(bus: str, draft: Draft) -> None:
    for index, disk in enumerate(draft.get(*_DISKS) or ()):
        for target in ("disk", "cdrom", "lun"):
            device = disk.get(target)
            if device is not None and not device.get("bus"):
                draft.put((*_DISKS, index, target, "bus"), bus)


def _fill_watchdog(device: str, draft: Draft) -> None:
    if draft.get(*_WATCHDOG) is not None and not draft.get(*_WATCHDOG, device, "action"):
        draft.put((*_WATCHDOG, device, "action"), "reset")


def _fill_cpu_model(draft: Draft) -> None:
    if not draft.get(*_MODEL):
        draft.put(_MODEL, "host-passthrough")


def _fill_uefi(draft: Draft) -> None:
    if draft.get(*_BOOTLOADER) is None:
        draft.put((*_BOOTLOADER, "efi"), {"secureBoot": False})


def _fill_secure_boot(draft: Draft) -> None:
    efi = draft.get(*_BOOTLOADER, "efi")
    if efi is not None and efi.get("secureBoot") is None:
        draft.put((*_BOOTLOADER, "efi", "secureBoot"), value=False)


_I6300ESB = partial(_fill_watchdog, "i6300esb")
#: Before 1.5.1 each architecture had the watchdog of amd64.
_STEPS: "dict[str, Items[Callable[[Draft], None]]]" = {
    "amd64": (partial(_fill_bus, "sata"), _I6300ESB),
    "arm64": (
        until("1.5.1", _I6300ESB),
        _fill_cpu_model,
        _fill_uefi,
        since("1.8.3", _fill_secure_boot),
        partial(_fill_bus, "virtio"),
    ),
    "s390x": (
        until("1.5.1", _I6300ESB),
        partial(_fill_bus, "virtio"),
        since("1.5.1", partial(_fill_watchdog, "diag288")),
    ),
}
