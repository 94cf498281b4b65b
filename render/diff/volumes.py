"""What becomes of the volumes and disks of a VMI that runs when those of its VM change.

Upstream: pkg/storage/hotplug/hotplug.go, pkg/storage/admitters/storagehotplug.go,
pkg/virt-controller/watch/volume-migration/volume-migration.go, pkg/virt-controller/watch/vm/vm.go.
"""

from render.diff import compare
from render.diff.migratability import Claims, claim_of
from render.diff.networks import Named, named
from render.model import tree
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree

MIGRATION = "Migration"
_PLUGGED = ("persistentVolumeClaim", "dataVolume")
_VOLUME, _DISK = "kubevirt.Volume", "kubevirt.Disk"
_VOLUMES, _DISKS = f"[]{_VOLUME}", f"[]{_DISK}"
_SYNCS = 3
"""A volume that changes is unplugged in one turn of the controller, plugged in the next; then nothing changes."""


class Plugged(NamedTuple):
    """Volumes and disks of the VMI, or why its webhook refuses the change."""

    volumes: list[Tree]
    disks: list[Tree]
    error: str = ""


def volumes_of(spec: Tree) -> list[Tree]:
    """The volumes of a VMI *spec*."""
    return spec.get("volumes") or []


def disks_of(spec: Tree) -> list[Tree]:
    """The disks of a VMI *spec*."""
    return tree.get(spec, "domain", "devices", "disks") or []


def is_hotpluggable(volume: Tree | None) -> bool:
    """Whether a volume says that it may be plugged into a VMI that runs."""
    return _is_declared(volume) or bool(tree.get(volume, "memoryDump", "hotpluggable"))


def _is_declared(volume: Tree | None) -> bool:
    return any(tree.get(volume, kind, "hotpluggable") for kind in _PLUGGED)


def are_volumes_live(before: Tree, after: Tree, strategy: str) -> bool:
    """Whether every change of a volume between two VMI specs belongs to one that may change without a restart."""
    old = named(volumes_of(before))
    for volume in volumes_of(after):
        other = old.pop(volume.get("name", ""), None)
        if is_hotpluggable(volume):
            continue
        if other is None:
            return False
        if strategy == MIGRATION and any(volume.get(kind) is not None for kind in _PLUGGED):
            continue
        if not compare.same(other, volume, _VOLUME):
            return False
    return all(map(is_hotpluggable, old.values()))


def are_disks_live(before: Tree, after: Tree, *, keeps_drives: bool) -> bool:
    """Whether every change of a disk between two VMI specs belongs to a volume that may be plugged.

    *keeps_drives*: the drive of a CD-ROM must stay.
    """
    old, volumes = named(disks_of(before)), named(volumes_of(after))
    gone = dict(old)
    for disk in disks_of(after):
        name = disk.get("name", "")
        gone.pop(name, None)
        if is_hotpluggable(volumes.get(name)):
            continue
        if name not in old or not compare.same(old[name], disk, _DISK):
            return False
    former = named(volumes_of(before))
    if not keeps_drives:
        return all(is_hotpluggable(former.get(name)) for name in gone)
    return all(
        (name not in former or is_hotpluggable(former[name])) and disk.get("cdrom") is None
        for name, disk in gone.items()
    )


def plug(spec: Tree, running: Tree, *, empty_drives: bool) -> Plugged:
    """Volumes and disks of the VMI *running* once those of *spec*, its VM's template, are plugged and unplugged."""
    volumes, disks = volumes_of(running), disks_of(running)
    filesystems = len(tree.get(running, "domain", "devices", "filesystems") or ())
    for _ in range(_SYNCS):
        plugged = _turn(spec, volumes, disks)
        if compare.same(volumes, plugged.volumes, _VOLUMES) and compare.same(
            disks, plugged.disks, _DISKS
        ):
            break
        error = _refusal(Plugged(volumes, disks), plugged, filesystems, empty_drives=empty_drives)
        if error:
            return Plugged(volumes, disks, error)
        volumes, disks, _ = plugged
    return Plugged(volumes, disks)


def _turn(spec: Tree, volumes: list[Tree], disks: list[Tree]) -> Plugged:
    wanted, drives = named(volumes_of(spec)), named(disks_of(spec))
    running = [volume for volume in volumes if _stays(volume, wanted)]
    present = named(volumes)
    running += (
        volume
        for volume in volumes_of(spec)
        if _is_declared(volume) and volume.get("name", "") not in present
    )
    now = named(running)
    left = [disk for disk in disks if disk["name"] in now or _is_emptied(disk, drives, wanted)]
    known = named(disks)
    left += (
        disk
        for disk in disks_of(spec)
        if _is_declared(now.get(disk.get("name", ""))) and disk.get("name", "") not in known
    )
    return Plugged(running, left)


def _stays(volume: Tree, wanted: Named) -> bool:
    if not _is_declared(volume):
        return True
    other = wanted.get(volume.get("name", ""))
    return other is not None and (not _is_declared(other) or compare.same(volume, other, _VOLUME))


def _is_emptied(disk: Tree, drives: Named, wanted: Named) -> bool:
    """Whether the *disk* of a volume that goes stays, as the drive of a CD-ROM does."""
    other = drives.get(disk["name"])
    if other is None:
        return False
    both = disk.get("cdrom") is not None and other.get("cdrom") is not None
    return disk["name"] not in wanted or both


def _refusal(before: Plugged, after: Plugged, filesystems: int, *, empty_drives: bool) -> str:
    """What the VMI webhook says against the change, in its words."""
    names = {volume["name"] for volume in after.volumes if volume.get("memoryDump") is None}
    required = filesystems + sum(
        disk["name"] in names or disk.get("cdrom") is None or not empty_drives
        for disk in after.disks
    )
    if required != len(names):
        return f"mismatch between volumes declared ({len(names)}) and required ({required})"
    present, old, new = named(before.volumes), named(before.disks), named(after.disks)
    for volume in after.volumes:
        name = volume["name"]
        if name in present or volume.get("memoryDump") is not None:
            continue
        if name not in new:
            return f"disk {name} does not exist"
        if name not in old:
            error = _disk_fault(new[name])
            if error:
                return error
    return ""


def _disk_fault(disk: Tree) -> str:
    name, prefix = disk["name"], "Hotplug configuration for"
    # A disk that names no device is one of type disk.
    target = next((kind for kind in ("disk", "lun", "cdrom") if disk.get(kind) is not None), "")
    bus = tree.get(disk, target, "bus") or ""
    if target == "disk" and bus not in ("scsi", "virtio"):
        return f"{prefix} disk [{name}] requires bus to be 'scsi' or 'virtio'. [{bus}] is not permitted."
    if target == "lun" and bus != "scsi":
        return f"{prefix} LUN [{name}] requires bus to be 'scsi'. [{bus}] is not permitted."
    if target not in ("disk", "lun"):
        return f"{prefix} [{name}] requires diskDevice of type 'disk' or 'lun' to be used."
    if disk.get("dedicatedIOThread") and bus != "virtio":
        return f"{prefix} [{name}] requires virtio bus for IOThreads."
    return ""


def moved(spec: Tree, running: Tree) -> list[str]:
    """The volumes of the VMI *running* that have another claim in *spec*, in the order of *spec*."""
    current = {volume["name"]: claim_of(volume) for volume in volumes_of(running)}
    return [
        volume["name"]
        for volume in volumes_of(spec)
        if claim_of(volume)
        and current.get(volume["name"])
        and current[volume["name"]] != claim_of(volume)
    ]


def immovable(names: list[str], running: Tree) -> str:
    """Which of the volumes *names* of the VMI *running* cannot move to other claims, in KubeVirt's words."""
    disks = named(disks_of(running))
    shared = named(tree.get(running, "domain", "devices", "filesystems") or [])
    by_kind: dict[str, list[str]] = {"filesystems": [], "shareable": [], "luns": []}
    for name in names:
        disk = disks.get(name, {})
        if name in shared:
            by_kind["filesystems"].append(name)
        elif disk.get("shareable"):
            by_kind["shareable"].append(name)
        elif disk.get("lun") is not None:
            by_kind["luns"].append(name)
    texts = [f" {kind}: [{' '.join(names)}]" for kind, names in by_kind.items() if names]
    return f"invalid volumes to update with migration:{''.join(texts)}" if texts else ""


def are_replaced(spec: Tree, running: Tree) -> bool:
    """Whether *spec* has other volumes than the VMI *running*, and not because one was unplugged from that."""
    wanted, current = named(volumes_of(spec)), volumes_of(running)
    if any(_is_declared(volume) and volume["name"] not in wanted for volume in current):
        return False
    policies = {
        volume["name"]: tree.get(volume, "containerDisk", "imagePullPolicy") for volume in current
    }
    written = [
        {**volume, "containerDisk": {**volume["containerDisk"], "imagePullPolicy": policy}}
        if volume.get("containerDisk") is not None and (policy := policies.get(volume["name"]))
        else volume
        for volume in volumes_of(spec)
    ]
    return not compare.same(current, written, _VOLUMES)


def left_behind(names: list[str], running: Tree, claims: Claims) -> str:
    """The first volume of the VMI *running* that only one node can mount and that does not move, ``""`` if none."""
    for volume in sorted(volumes_of(running), key=lambda volume: str(volume["name"])):
        claim = claim_of(volume)
        if claim and volume["name"] not in names and claims.is_single_node(claim):
            return str(volume["name"])
    return ""


def migrated(names: list[str], spec: Tree, running: Tree) -> list[Tree]:
    """The volumes of the VMI *running* with those of *names* as *spec* has them."""
    wanted = named(volumes_of(spec))
    return [
        wanted[volume["name"]] if volume["name"] in names else volume
        for volume in volumes_of(running)
    ]
