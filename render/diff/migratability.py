"""Whether a VMI that runs can migrate to another node.

Upstream: pkg/virt-handler/vm.go (calculateLiveMigrationCondition, calculateLiveStorageMigrationCondition),
pkg/network/vmispec/interface.go, pkg/util/util.go.
"""

from collections.abc import Callable, Mapping

from render.model import tree
from render.model.cluster_config import ClusterConfig
from render.model.named_tuple import NamedTuple
from render.model.release import Items, Version, in_force, since, until
from render.model.tree import Tree

_ALLOWED_BRIDGE = "kubevirt.io/allow-pod-bridge-network-live-migration"


class Claims(NamedTuple):
    """The access modes of the claims of a VM's namespace; what is not there is ReadWriteMany."""

    modes: Mapping[str, tuple[str, ...]] = {}

    def is_shared(self, name: str) -> bool:
        """Whether two nodes can mount the claim *name* at a time."""
        return "ReadWriteMany" in self.modes.get(name, ("ReadWriteMany",))

    def is_single_node(self, name: str) -> bool:
        """Whether only one node can mount the claim *name*."""
        modes = self.modes.get(name, ("ReadWriteMany",))
        return not {"ReadWriteMany", "ReadOnlyMany"} & set(modes)


class Obstacle(NamedTuple):
    """What may keep a VMI from migrating: KubeVirt's *reason*, and its *message* of a VMI, ``""`` where nothing does.

    *moves_volumes*: it counts where volumes move along, too; *only_then*: it counts nowhere else.
    """

    reason: str
    message: Callable[[Tree, ClusterConfig, Version], str]
    moves_volumes: bool = True
    only_then: bool = False


def claim_of(volume: Tree) -> str:
    """The name of the claim behind a volume, ``""`` for one without."""
    name = tree.get(volume, "persistentVolumeClaim", "claimName")
    return str(name or tree.get(volume, "dataVolume", "name") or "")


def _pod_network(vmi: Tree) -> tuple[Tree | None, Tree | None]:
    """The pod network and its interface, None where there is none; of a VMI without interfaces both are."""
    interfaces = tree.get(vmi, "spec", "domain", "devices", "interfaces") or []
    networks = tree.get(vmi, "spec", "networks") or []
    pod = next((network for network in networks if network.get("pod") is not None), None)
    if not interfaces or pod is None:
        return None, None
    return pod, next(
        (interface for interface in interfaces if interface.get("name") == pod.get("name")), None
    )


def _is_allowed(primary: Tree, vmi: Tree, config: ClusterConfig) -> bool:
    """Whether *vmi* or the cluster says that the bridge or the plugin of its *primary* interface may migrate."""
    if primary.get("bridge") is not None:
        return _ALLOWED_BRIDGE in (tree.get(vmi, "metadata", "annotations") or {})
    return tree.get(primary, "binding", "name") in config.migratable_bindings


def _primary_interface(vmi: Tree, config: ClusterConfig, _release: Version) -> str:
    _, primary = _pod_network(vmi)
    if primary is None or primary.get("masquerade") is not None:
        return ""
    if _is_allowed(primary, vmi, config):
        return ""
    return (
        f"cannot migrate VMI which does not use masquerade, bridge with {_ALLOWED_BRIDGE} VM annotation"
        " or a migratable plugin to connect to the pod network"
    )


def _network(vmi: Tree, config: ClusterConfig, _release: Version) -> str:
    pod, primary = _pod_network(vmi)
    if pod is None:
        return ""
    if primary is None:
        return f"no primary interface found for network {pod.get('name', '')}"
    if primary.get("masquerade") is not None or primary.get("passtBinding") is not None:
        return ""
    if _is_allowed(primary, vmi, config):
        return ""
    return "cannot migrate VMI which does not use masquerade or a migratable plugin to connect to the pod network"


def _virtiofs(vmi: Tree, *_: object) -> str:
    filesystems = tree.get(vmi, "spec", "domain", "devices", "filesystems") or []
    return (
        "VMI uses virtiofs" if any("virtiofs" in filesystem for filesystem in filesystems) else ""
    )


def _any_device(vmi: Tree, *_: object) -> str:
    devices = tree.get(vmi, "spec", "domain", "devices") or {}
    return (
        "VMI uses a PCI host devices" if devices.get("hostDevices") or devices.get("gpus") else ""
    )


def _devices(vmi: Tree, config: ClusterConfig, release: Version) -> str:
    devices = tree.get(vmi, "spec", "domain", "devices") or {}
    gpus = devices.get("gpus") or []
    if devices.get("hostDevices"):
        return "VMI specifies non-migratable generic PCI host device"
    if len(gpus) > 1:
        return "VMI specifies too many GPUs"
    if gpus and not config.has_gate("VGPULiveMigration", release):
        return "VMI specifies a GPU but feature gate VGPULiveMigration is not enabled"
    if gpus and gpus[0].get("deviceName") not in config.mediated_devices:
        return "VMI specifies non-migratable GPU device"
    return ""


def _security(kind: str, text: str) -> Callable[[Tree, ClusterConfig, Version], str]:
    def message(vmi: Tree, *_: object) -> str:
        security = tree.get(vmi, "spec", "domain", "launchSecurity")
        return text if security is not None and security.get(kind) is not None else ""

    return message


def _secure_execution(vmi: Tree, *_: object) -> str:
    is_z = tree.get(vmi, "spec", "architecture") == "s390x"
    secured = tree.get(vmi, "spec", "domain", "launchSecurity") is not None
    return "VMI uses Secure Execution" if is_z and secured else ""


def _reservation(text: str) -> Callable[[Tree, ClusterConfig, Version], str]:
    def message(vmi: Tree, *_: object) -> str:
        disks = tree.get(vmi, "spec", "domain", "devices", "disks") or []
        return text if any(tree.get(disk, "lun", "reservation") for disk in disks) else ""

    return message


def _passthrough(vmi: Tree, *_: object) -> str:
    enabled = tree.get(vmi, "spec", "domain", "features", "hypervPassthrough", "enabled")
    return "VMI uses hyperv passthrough" if enabled else ""


_RESERVED = "PersistentReservationNotLiveMigratable"
_RESERVES_MISSPELT = _reservation("VMI uses SCSI persitent reservation")
_RESERVES = _reservation("VMI uses SCSI persistent reservation")
_OBSTACLES: Items[Obstacle] = (
    until("1.8", Obstacle("InterfaceNotLiveMigratable", _primary_interface)),
    since("1.8", Obstacle("InterfaceNotLiveMigratable", _network)),
    until("1.5", Obstacle("VirtIOFSNotLiveMigratable", _virtiofs)),
    until("1.9", Obstacle("HostDeviceNotLiveMigratable", _any_device)),
    since("1.9", Obstacle("HostDeviceNotLiveMigratable", _devices)),
    Obstacle("SEVNotLiveMigratable", _security("sev", "VMI uses SEV")),
    since("1.7", Obstacle("SEVNotLiveMigratable", _security("snp", "VMI uses SEV"))),
    since("1.7", Obstacle("TDXNotLiveMigratable", _security("tdx", "VMI uses TDX"))),
    since(
        "1.6", Obstacle("SecureExecutionNotLiveMigratable", _secure_execution, moves_volumes=False)
    ),
    until("1.7", Obstacle(_RESERVED, _RESERVES_MISSPELT)),
    since("1.7", until("1.9", Obstacle(_RESERVED, _RESERVES))),
    since("1.9", Obstacle(_RESERVED, _RESERVES, only_then=True)),
    Obstacle("HypervPassthroughNotLiveMigratable", _passthrough),
)


def obstacle(vmi: Tree, config: ClusterConfig, release: Version) -> str:
    """What keeps *vmi* from migrating wherever its volumes are, in the words of *release*; ``""`` if nothing does."""
    found = (
        row.message(vmi, config, release)
        for row in in_force(_OBSTACLES, release)
        if not row.only_then
    )
    return next(filter(None, found), "")


def is_migratable(vmi: Tree, config: ClusterConfig, claims: Claims, release: Version) -> bool:
    """Whether KubeVirt *release* finds *vmi* LiveMigratable, on nodes that can take it."""
    if obstacle(vmi, config, release):
        return False
    for volume in tree.get(vmi, "spec", "volumes") or ():
        claim = claim_of(volume)
        if claim and not claims.is_shared(claim):
            return False
        disk = volume.get("hostDisk")
        if disk is not None and not disk.get("shared"):
            return False
    return True


def storage_obstacles(vmi: Tree, config: ClusterConfig, release: Version) -> str:
    """What keeps *vmi* from migrating together with its volumes, in the words of *release*; ``""`` if nothing does."""
    moving = (row for row in in_force(_OBSTACLES, release) if row.moves_volumes)
    obstacles = ((row.reason, row.message(vmi, config, release)) for row in moving)
    return ", ".join(f"{reason}: {text}" for reason, text in obstacles if text)
