"""Devices of the node that the pod asks for.

Upstream: pkg/virt-controller/services/renderresources.go, pkg/network/vmispec/devices.go,
pkg/storage/reservation/pr.go.
"""

from collections.abc import Callable, Container, Iterator, Mapping
from uuid import UUID, uuid5

from render.launcher.cluster import LauncherCluster
from render.launcher.launch import DEVICES, PERMITTED_DEVICES, Launch, PodError
from render.launcher.networks import network_devices
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.release import Form, Rows, form, rows, since, until
from render.model.tree import Tree

#: The name space of the uids of claims that have none yet.
_UIDS = UUID("0b7b2a53-8d0f-4c55-9f0e-5f8e6c1c0f5d")
_PREFIX = "devices.kubevirt.io/"
_TUN, _VHOST_NET, _VSOCK = f"{_PREFIX}tun", f"{_PREFIX}vhost-net", f"{_PREFIX}vhost-vsock"
_HYPERVISOR_DEVICES: Mapping[str, str] = {"hyperv-direct": "mshv"}
_PERMITTED = ("pciHostDevices", "mediatedDevices", "usb")


def of_virtualization(launch: Launch) -> Iterator[str]:
    """What the hypervisor itself needs."""
    if launch.interfaces or launch.devices.get("autoattachPodInterface") is not False:
        yield _TUN
    if not launch.cluster.is_emulated:
        if any((interface.get("model") or "virtio") == "virtio" for interface in launch.interfaces):
            yield _VHOST_NET
        yield _PREFIX + _HYPERVISOR_DEVICES.get(launch.cluster.hypervisor, "kvm")
    if launch.devices.get("autoattachVSOCK"):
        yield _VSOCK


def requested(launch: Launch) -> Iterator[str]:
    """The devices that are asked for one by one, a name for each."""
    for row in _REQUESTED(launch.release):
        yield from row(launch)


def _plugin_devices(launch: Launch) -> Iterator[str]:
    for kind in ("gpus", "hostDevices"):
        for device in launch.devices.get(kind) or ():
            if device.get("deviceName") and not _is_claimed(device):
                yield device["deviceName"]


def _all_devices(launch: Launch) -> Iterator[str]:
    for kind in ("gpus", "hostDevices"):
        for device in launch.devices.get(kind) or ():
            yield device.get("deviceName") or ""


def _sev(launch: Launch) -> Iterator[str]:
    if launch.is_sev:
        yield f"{_PREFIX}sev"


def _tdx(launch: Launch) -> Iterator[str]:
    if launch.security.get("tdx") is not None:
        yield f"{_PREFIX}tdx"


def _reservation(launch: Launch) -> Iterator[str]:
    if launch.has_reservation:
        yield f"{_PREFIX}pr-helper"


def _iommufd(launch: Launch) -> Iterator[str]:
    if "IOMMUFD" in launch.gates:
        yield f"{_PREFIX}iommufd"


_REQUESTED: Rows[Callable[[Launch], Iterator[str]]] = rows(
    network_devices,
    until("1.6", _all_devices),
    since("1.6", _plugin_devices),
    _sev,
    since("1.9", _tdx),
    _reservation,
    since("1.9", _iommufd),
)


def _is_claimed(device: Tree) -> bool:
    """Whether a device names a claim: upstream an inlined struct behind a pointer."""
    return device.get("claimName") is not None or device.get("requestName") is not None


def claims(launch: Launch) -> list[Tree]:
    """The entries of ``resources.claims``: what is provided by dynamic resource allocation."""
    entries = [
        {"name": device.get("claimName") or "", "request": device.get("requestName") or ""}
        for gate, kind in (("GPUsWithDRA", "gpus"), ("HostDevicesWithDRA", "hostDevices"))
        if gate in launch.gates
        for device in launch.devices.get(kind) or ()
        if not device.get("deviceName") and _NAMES_CLAIM(launch.release)(device)
    ]
    if "NetworkDevicesWithDRA" in launch.gates:
        entries += (
            {"name": source.get("claimName") or "", "request": source.get("requestName") or ""}
            for network in launch.networks
            if (source := network.get("resourceClaim")) is not None
        )
    return [
        {key: value for key, value in claim.items() if value or key == "name"}
        for claim in _CLAIMS(launch.release)(entries)
    ]


def _names_both(device: Tree) -> bool:
    return device.get("claimName") is not None and device.get("requestName") is not None


_NAMES_CLAIM: Form[Callable[[Tree], bool]] = form(
    until("1.9", _names_both),
    since("1.9", _is_claimed),
)


def _each_name_once(entries: list[Tree]) -> list[Tree]:
    return list({claim["name"]: claim for claim in reversed(entries)}.values())[::-1]


_CLAIMS: Form[Callable[[list[Tree]], list[Tree]]] = form(
    until("1.8", _each_name_once),
    since("1.8", list),
)


def check_permitted(launch: Launch) -> None:
    """Raise `PodError` for devices that the cluster does not permit."""
    refused = [*unpermitted(launch.devices, launch.cluster)]
    if refused:
        raise PodError(" ".join(text for _, text in refused), DEVICES, PERMITTED_DEVICES)


def permitted(configuration: Tree) -> dict[str, None] | None:
    """The names of the devices that the *configuration* of a cluster permits, None where it does not say."""
    stated = tree.get(configuration, *PERMITTED_DEVICES)
    if stated is None:
        return None
    devices = (device for kind in _PERMITTED for device in stated.get(kind) or ())
    return dict.fromkeys(device.get("resourceName") or "" for device in devices)


def unpermitted(devices: Tree, cluster: LauncherCluster) -> Iterator[tuple[FieldPath, str]]:
    """Which of the *devices* of a VMI spec the *cluster* does not permit: where they stand, and KubeVirt's text."""
    known = permitted(cluster.configuration)
    if known is None:
        return
    is_asked_for = _CHECKED(cluster.release)
    for word, kind in (("GPU", "gpus"), ("HostDevice", "hostDevices")):
        for index, device in enumerate(devices.get(kind) or ()):
            name = device.get("deviceName") or ""
            if name not in known and is_asked_for(word, device, cluster.gates):
                text = f"{word} {name} is not permitted in permittedHostDevices configuration"
                yield (kind, index), text


def _every(_word: str, _device: Tree, _gates: Container[str]) -> bool:
    return True


def _unless_gpus_of_dra(word: str, _device: Tree, gates: Container[str]) -> bool:
    return word != "GPU" or "GPUsWithDRA" not in gates


def _unless_claimed(word: str, device: Tree, gates: Container[str]) -> bool:
    gate = {"GPU": "GPUsWithDRA", "HostDevice": "HostDevicesWithDRA"}[word]
    return gate not in gates or not _is_claimed(device)


_CHECKED: Form[Callable[[str, Tree, Container[str]], bool]] = form(
    until("1.6", _every),
    since("1.6", until("1.9", _unless_gpus_of_dra)),
    since("1.9", _unless_claimed),
)


def reserved_claims(launch: Launch) -> list[str]:
    """The uids of the claims of which disks may hold persistent reservations."""
    names = {volume.get("name"): volume for volume in launch.volumes}
    uids = []
    for disk in launch.disks:
        volume = names.get(disk.get("name"))
        if volume is None or not tree.get(disk, "lun", "reservation"):
            continue
        claim = launch.claim(claim_name(volume))
        if claim is not None:
            metadata = claim["metadata"]
            # No manifest has one, and each claim gets its own.
            made_up = uuid5(_UIDS, f"{launch.namespace}/{metadata.get('name')}")
            uids.append(metadata.get("uid") or str(made_up))
    return list(dict.fromkeys(uids))


def claim_name(volume: Tree) -> str:
    """The claim that a *volume* attaches, ``""`` for none (upstream: PVCNameFromVirtVolume)."""
    for source, key in (
        ("dataVolume", "name"),
        ("persistentVolumeClaim", "claimName"),
        ("memoryDump", "claimName"),
    ):
        if volume.get(source) is not None:
            return volume[source].get(key) or ""
    return ""
