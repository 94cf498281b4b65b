"""Disks and input devices that are added automatically.

Upstream: pkg/util/util.go (SetDefaultVolumeDisk), pkg/virt-controller/watch/vm/vm.go (AutoAttachInputDevice).
"""

from render.model.draft import Draft
from render.model.tree import Tree

DISKS = ("spec", "domain", "devices", "disks")
INPUTS = ("spec", "domain", "devices", "inputs")


def domain_of(draft: Draft) -> Tree:
    """The domain as it is now, empty where there is none."""
    return (draft.tree.get("spec") or {}).get("domain") or {}


def devices_of(draft: Draft) -> Tree:
    """The devices of the domain as they are now, empty where there are none."""
    return domain_of(draft).get("devices") or {}


def add_disks(draft: Draft) -> int:
    """Append ``{name: VOLUME}`` for every volume that no disk or filesystem uses; returns how many were added."""
    devices = devices_of(draft)
    used = {
        entry.get("name", "")
        for key in ("disks", "filesystems")
        for entry in devices.get(key) or ()
    }
    # The names are taken before: two volumes of one name give two disks.
    missing = [
        {"name": volume.get("name", "")}
        for volume in draft.get("spec", "volumes") or ()
        if volume.get("name", "") not in used
    ]
    if missing:
        draft.put(DISKS, [*(devices.get("disks") or ()), *missing])
    return len(missing)


def add_input(draft: Draft) -> bool:
    """Append the input ``default-0`` where one is to be attached and there is none."""
    devices = devices_of(draft)
    if devices.get("autoattachInputDevice") is True and not devices.get("inputs"):
        draft.put(INPUTS, [{"name": "default-0"}])
        return True
    return False
