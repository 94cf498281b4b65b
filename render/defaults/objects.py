"""Defaults that a VMI object gets field by field.

Upstream: staging/src/kubevirt.io/api/core/v1/defaults.go, zz_generated.defaults.go.
"""

from render.defaults.vm import FIRMWARE, RANDOM
from render.model.draft import Draft
from render.model.fieldpath import FieldPath

_FEATURES = ("spec", "domain", "features")
_DEVICES = ("spec", "domain", "devices")
_TIMER = ("spec", "domain", "clock", "timer")
_STATES = ("apic", "smm", "pvspinlock")
#: Nested feature states of Hyper-V features.
_NESTED = (("synictimer", "direct"), ("tlbflush", "direct"), ("tlbflush", "extended"))
_PROBE = (
    ("timeoutSeconds", 1),
    ("periodSeconds", 10),
    ("successThreshold", 1),
    ("failureThreshold", 3),
)


def fill(draft: Draft) -> None:
    """Fill what present objects leave open, and create firmware and features."""
    if not draft.get(*FIRMWARE, "uuid"):
        draft.put((*FIRMWARE, "uuid"), RANDOM)
    _fill_features(draft)
    for timer in draft.get(*_TIMER) or ():
        _enable(draft, (*_TIMER, timer), "present")
    _fill_disks(draft)
    _fill_inputs(draft)
    for index in range(len(draft.get(*_DEVICES, "gpus") or ())):
        _enable(draft, (*_DEVICES, "gpus", index, "virtualGPUOptions", "display", "ramFB"))
    for probe in ("readinessProbe", "livenessProbe"):
        _fill_probe(draft, ("spec", probe))


def _fill_inputs(draft: Draft) -> None:
    for index, device in enumerate(draft.get(*_DEVICES, "inputs") or ()):
        for key, value in (("bus", "usb"), ("type", "tablet")):
            if not device.get(key):
                draft.put((*_DEVICES, "inputs", index, key), value)


def _fill_probe(draft: Draft, path: FieldPath) -> None:
    probe = draft.get(*path)
    if probe is not None:
        for key, value in _PROBE:
            if probe.get(key, 0) < 1:
                draft.put((*path, key), value)


def _enable(draft: Draft, path: FieldPath, key: str = "enabled") -> None:
    """Set *key* of the object at *path*, if that is there, unless it says otherwise."""
    state = draft.get(*path)
    if state is not None and state.get(key) is None:
        draft.put((*path, key), value=True)


def _fill_features(draft: Draft) -> None:
    draft.ensure((*_FEATURES, "acpi"))
    _enable(draft, (*_FEATURES, "acpi"))
    for feature in _STATES:
        _enable(draft, (*_FEATURES, feature))
    for feature in draft.get(*_FEATURES, "hyperv") or ():
        _enable(draft, (*_FEATURES, "hyperv", feature))
    for steps in _NESTED:
        _enable(draft, (*_FEATURES, "hyperv", *steps))
    spinlocks = draft.get(*_FEATURES, "hyperv", "spinlocks")
    if spinlocks is not None and spinlocks["enabled"] and spinlocks.get("spinlocks") is None:
        draft.put((*_FEATURES, "hyperv", "spinlocks", "spinlocks"), 4096)


def _fill_disks(draft: Draft) -> None:
    place = (*_DEVICES, "disks")
    for index, disk in enumerate(draft.get(*place) or ()):
        if all(disk.get(target) is None for target in ("disk", "cdrom", "lun")):
            draft.put((*place, index, "disk"), {})
        cdrom = disk.get("cdrom")
        if cdrom is not None:
            _enable(draft, (*place, index, "cdrom"), "readonly")
            if not cdrom.get("tray"):
                draft.put((*place, index, "cdrom", "tray"), "closed")
        _enable(draft, (*place, index, "blockSize", "matchVolume"))
