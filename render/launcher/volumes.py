"""The pod's volumes, and where compute mounts them.

Upstream: pkg/virt-controller/services/rendervolumes.go.
"""

import posixpath
from collections.abc import Callable, Iterator

from render.launcher import networks
from render.launcher.launch import Launch, PodError
from render.model import tree
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import MAIN, Form, form, since, until
from render.model.tree import Tree

PRIVATE = "/var/run/kubevirt-private"
SHARE = "/var/run/kubevirt"
CONTAINER_DISKS = f"{SHARE}/container-disks"
HOTPLUG_DISKS = "hotplug-disks"
HOOK_SOCKETS = "hook-sidecar-sockets"
HOOK_FOLDER = "/var/run/kubevirt-hooks"
NETWORK_INFO = "network-info-annotation"
NETWORK_INFO_FOLDER = "/etc/podinfo"
VIRTIOFS = "virtiofs-containers"
VIRTIOFS_FOLDER = f"{SHARE}/{VIRTIOFS}"
BINARIES = "virt-bin-share-dir"
LAUNCHER_VOLUME = "launcher-volume"
KERNEL_BOOT = "kernel-boot-volume"
_STATE = "vm-state"
_DIGEST = "@sha256:"
_NO_DIGEST = "kubevirt.io/image-volume-skip-digest-resolution"
_HOST_PATH_TYPES = {"Disk": "Directory", "DiskOrCreate": "DirectoryOrCreate"}
#: Volumes that a disk or filesystem shows as files -> where in the launcher they lie.
SOURCES = {"secret": "secret", "configMap": "config-map", "downwardAPI": "downwardapi"}


class Mounted(NamedTuple):
    """Volumes of a pod, and what compute sees of them: *mounts*, block *devices*, and which mounts others *share*."""

    volumes: list[Tree]
    mounts: list[Tree]
    devices: list[Tree]
    shared: list[str]

    def add(self, name: str, source: Tree) -> None:
        """Add the volume *name*."""
        self.volumes.append({"name": name, **source})

    def mount(self, name: str, path: str, **more: Any) -> None:
        """Mount a volume at *path*."""
        self.mounts.append(_mount(name, path, **more))


def _mount(name: str, path: str, **more: Any) -> Tree:
    return {"name": name, "mountPath": path, **more}


def _empty(name: str) -> Tree:
    return {"name": name, "emptyDir": {}}


_FIRST = (
    _mount("private", PRIVATE),
    _mount("public", SHARE),
    _mount("ephemeral-disks", "/var/run/kubevirt-ephemeral-disks"),
)
_LAST = (
    _mount("libvirt-runtime", "/var/run/libvirt"),
    _mount("sockets", f"{SHARE}/sockets"),
)
_DISKS = _mount("container-disks", CONTAINER_DISKS, mountPropagation="HostToContainer")
#: What compute always mounts; the disks of containers only where these are no volumes of their own.
_BASE: Form[tuple[Tree, ...]] = form(
    until("1.6", (*_FIRST, _DISKS, *_LAST)),
    since("1.6", (*_FIRST, *_LAST, _DISKS)),
)
_EMPTY = tuple(
    map(_empty, ("private", "public", "sockets", BINARIES, "libvirt-runtime", "ephemeral-disks"))
)


def mounted(launch: Launch, *, has_sidecars: bool) -> Mounted:
    """All volumes. Raises `PodError` where one cannot be."""
    mounts = _BASE(launch.release)
    volumes = [*_EMPTY, _empty("container-disks")]
    if launch.uses_image_volumes:
        mounts = tuple(mount for mount in mounts if mount is not _DISKS)
        volumes.pop()
    mounted = Mounted(volumes, [*mounts], [], [])
    _add_configuration(launch, mounted)
    _add_volumes(launch, mounted)
    _add_credentials(launch, mounted)
    if launch.needs_state:
        _add_state(launch, mounted)
    if launch.uses_image_volumes:
        _IMAGES(launch.release)(launch, mounted)
    if has_sidecars:
        _add_folder(mounted, HOOK_SOCKETS, HOOK_FOLDER)
    if "Plugins" in launch.gates:
        _add_folder(mounted, "kubevirt-plugin-sockets", "/var/run/kubevirt-plugin")
    _add_folders(launch, mounted)
    return mounted


def _add_folders(launch: Launch, mounted: Mounted) -> None:
    """Folders that features of the VMI need."""
    if launch.has_hugepages:
        mounted.add("hugepages", {"emptyDir": {"medium": "HugePages"}})
        mounted.mount("hugepages", "/dev/hugepages")
        mounted.add("hugetblfs-dir", {"emptyDir": _HUGETLBFS(launch.release)})
        mounted.mount("hugetblfs-dir", "/dev/hugepages/libvirt/qemu")
    if not launch.devices.get("disableHotplug"):
        path = f"{SHARE}/{HOTPLUG_DISKS}"
        _add_folder(mounted, HOTPLUG_DISKS, path, mountPropagation="HostToContainer")
    if networks.shows_devices(launch):
        mounted.mount(NETWORK_INFO, NETWORK_INFO_FOLDER)
        mounted.add(NETWORK_INFO, _NETWORK_INFO_SOURCE)
    if any(filesystem.get("virtiofs") is not None for filesystem in launch.filesystems):
        _add_folder(mounted, VIRTIOFS, VIRTIOFS_FOLDER)


_HUGETLBFS: Form[Tree] = form(until(MAIN, {}), since(MAIN, {"medium": "HugePages"}))
_NETWORK_INFO_SOURCE = {
    "downwardAPI": {
        "items": [
            {
                "path": "network-info",
                "fieldRef": {"fieldPath": "metadata.annotations['kubevirt.io/network-info']"},
            }
        ]
    }
}


def _add_folder(mounted: Mounted, name: str, path: str, **more: str) -> None:
    """An empty folder, at *path* of compute."""
    mounted.volumes.append(_empty(name))
    mounted.mount(name, path, **more)


def source_path(kind: str, name: str) -> str:
    """Where the files of the volume *name* lie that a disk or a filesystem shows."""
    return f"{PRIVATE}/{SOURCES[kind]}/{name}"


def _add_configuration(launch: Launch, mounted: Mounted) -> None:
    """Secrets, ConfigMaps and downward API, which are mounted where a disk shows them."""
    by_name = {}
    for volume in launch.volumes:
        name = volume.get("name") or ""
        by_name[name] = volume
        for kind, convert in _CONFIGURATION:
            if volume.get(kind) is not None:
                mounted.add(name, {kind: convert(volume[kind])})
    for disk in launch.disks:
        volume = by_name.get(disk.get("name") or "", {})
        for kind, _ in _CONFIGURATION:
            if volume.get(kind) is not None:
                name = volume.get("name") or ""
                mounted.mount(name, source_path(kind, name), readOnly=True)


def _nonempty(source: Tree, *keys: str) -> Tree:
    return {key: source[key] for key in keys if source.get(key) not in (None, "")}


def _downward_api(source: Tree) -> Tree:
    return {"items": source["fields"]} if source.get("fields") else {}


_CONFIGURATION: tuple[tuple[str, Callable[[Tree], Tree]], ...] = (
    ("secret", lambda source: _nonempty(source, "secretName", "optional")),
    ("configMap", lambda source: _nonempty(source, "name", "optional")),
    ("downwardAPI", _downward_api),
)


def _add_volumes(launch: Launch, mounted: Mounted) -> None:
    for index, volume in enumerate(launch.volumes):
        name = volume.get("name") or ""
        if name in launch.hotplugged:
            continue
        for kind, add in _SOURCES:
            if volume.get(kind) is not None:
                try:
                    add(launch, mounted, name, volume[kind])
                except PodError as error:
                    raise PodError(str(error), ("spec", "volumes", index, kind)) from None


def _add_claim(launch: Launch, mounted: Mounted, name: str, source: Tree) -> None:
    _attach(launch, mounted, name, source.get("claimName") or "")
    claim = {"claimName": source.get("claimName") or "", **_nonempty(source, "readOnly")}
    if not claim.get("readOnly"):
        claim.pop("readOnly", None)
    mounted.add(name, {"persistentVolumeClaim": claim})


def _add_ephemeral(launch: Launch, mounted: Mounted, name: str, source: Tree) -> None:
    _add_claim(launch, mounted, name, source.get("persistentVolumeClaim") or {})


def _add_data_volume(launch: Launch, mounted: Mounted, name: str, source: Tree) -> None:
    _add_claim(launch, mounted, name, {"claimName": source.get("name")})


def _attach(launch: Launch, mounted: Mounted, name: str, claim_name: str) -> None:
    claim = launch.claim(claim_name)
    if claim is None and launch.cluster.objects.is_complete:
        raise PodError(f"didn't find PVC {claim_name}")
    if tree.get(claim, "spec", "volumeMode") == "Block":
        mounted.devices.append({"name": name, "devicePath": f"/dev/{name}"})
        return
    path = f"{PRIVATE}/vmi-disks/{name}"
    mounted.mount(name, path)
    if "ReadWriteMany" in (tree.get(claim, "spec", "accessModes") or ()):
        mounted.shared.append(path)


def _add_host_disk(_launch: Launch, mounted: Mounted, name: str, source: Tree) -> None:
    mounted.mount(name, f"{PRIVATE}/vmi-disks/{name}")
    kind = _HOST_PATH_TYPES.get(source.get("type") or "", "")
    path = _folder_of(source.get("path") or "")
    mounted.add(name, {"hostPath": {"path": path, "type": kind}})


def _folder_of(path: str) -> str:
    """Go's ``filepath.Dir``."""
    cleaned = posixpath.normpath(path.rpartition("/")[0] + "/" if "/" in path else ".")
    return "/" + cleaned.lstrip("/") if cleaned.startswith("/") else cleaned


def _add_metrics(_launch: Launch, mounted: Mounted, name: str, _source: Tree) -> None:
    mounted.add(name, {"emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}})
    mounted.mount(name, f"{PRIVATE}/downwardmetric-disk")


def _add_cloud_init(_launch: Launch, mounted: Mounted, name: str, source: Tree) -> None:
    for reference, suffix, files in (
        ("secretRef", "udata", ("userdata", "userData")),
        ("networkDataSecretRef", "ndata", ("networkdata", "networkData")),
    ):
        secret = source.get(reference)
        if secret is None:
            continue
        own = f"{name}-{suffix}"
        secret_name = secret.get("name")
        mounted.add(own, {"secret": {"secretName": secret_name} if secret_name else {}})
        for file in files:
            path = f"{PRIVATE}/secret/{name}/{file}"
            mounted.mount(own, path, subPath=file, readOnly=True)


def _add_sysprep(_launch: Launch, mounted: Mounted, name: str, source: Tree) -> None:
    secret, config_map = source.get("secret"), source.get("configMap")
    if secret is not None:
        secret_source = {"secretName": secret["name"]} if secret.get("name") else {}
        mounted.add(name, {"secret": secret_source})
    elif config_map is not None:
        mounted.add(name, {"configMap": _nonempty(config_map, "name")})
    else:
        raise PodError("Sysprep must have Secret or ConfigMap reference set {nil nil}")
    mounted.mount(name, f"{PRIVATE}/sysprep/{name}", readOnly=True)


_SOURCES: tuple[tuple[str, Callable[[Launch, Mounted, str, Tree], None]], ...] = (
    ("persistentVolumeClaim", _add_claim),
    ("ephemeral", _add_ephemeral),
    ("hostDisk", _add_host_disk),
    ("dataVolume", _add_data_volume),
    ("downwardMetrics", _add_metrics),
    ("cloudInitNoCloud", _add_cloud_init),
    ("sysprep", _add_sysprep),
    ("cloudInitConfigDrive", _add_cloud_init),
)


def _add_credentials(launch: Launch, mounted: Mounted) -> None:
    # QUIRK(rendervolumes.go): a secret of two credentials comes twice, and the API server refuses the pod.
    for credential in launch.spec.get("accessCredentials") or ():
        secret = _secret_of(credential)
        if secret:
            name = f"{secret}-access-cred"
            mounted.add(name, {"secret": {"secretName": secret}})
            mounted.mount(name, f"{PRIVATE}/secret/{name}", readOnly=True)


def _secret_of(credential: Tree) -> str:
    for kind in ("sshPublicKey", "userPassword"):
        secret = tree.get(credential, kind, "source", "secret")
        if secret is not None:
            return secret.get("secretName") or ""
    return ""


def _add_state(launch: Launch, mounted: Mounted) -> None:
    """The claim that keeps what persistent devices remember."""
    mounted.add(_STATE, {"persistentVolumeClaim": {"claimName": launch.state_claim}})
    for sub_path in _META(launch.release):
        mounted.mount(_STATE, "/run/kubevirt-private/backend-storage-meta", subPath=sub_path)
    if launch.is_nonroot:
        for name, path in (
            ("private-libvirt", "libvirt"),
            ("private-libvirt-qemu", "libvirt/qemu"),
        ):
            _add_folder(mounted, name, f"{PRIVATE}/{path}")
    for is_used, sub_path, as_root in (
        (launch.has_persistent_tpm, "swtpm", "/var/lib/libvirt/swtpm"),
        (launch.has_persistent_tpm, "swtpm-localca", "/var/lib/swtpm-localca"),
        (launch.has_persistent_efi, "nvram", "/var/lib/libvirt/qemu/nvram"),
        (launch.tracks_blocks, "cbt", "/var/lib/libvirt/qemu/cbt"),
    ):
        if is_used:
            own = f"{PRIVATE}/{_UNPRIVILEGED.get(sub_path, f'libvirt/qemu/{sub_path}')}"
            path = own if launch.is_nonroot else as_root
            mounted.mount(_STATE, path, subPath=sub_path)


_UNPRIVILEGED = {"swtpm-localca": "var/lib/swtpm-localca"}
_META: Form[tuple[str, ...]] = form(until("1.5", ()), since("1.5", ("meta",)))


def _image_source(image: str, policy: object) -> Tree:
    fields = {"reference": image, "pullPolicy": policy}
    return {"image": {key: value for key, value in fields.items() if value}}


def _add_disk_images(launch: Launch, mounted: Mounted, kernel_boot: str) -> None:
    for index, volume in enumerate(launch.volumes):
        disk = volume.get("containerDisk")
        if disk is not None:
            name = volume.get("name") or ""
            image = _RUNNING_IMAGE(launch.release)(launch, name, disk.get("image") or "")
            mounted.add(name, _image_source(image, disk.get("imagePullPolicy")))
            path = f"/var/run/kubevirt-image-volume/disk_{index}"
            mounted.mount(name, path, readOnly=True)
    boot = launch.kernel_boot
    if boot is not None:
        image = _RUNNING_IMAGE(launch.release)(launch, KERNEL_BOOT, boot.get("image") or "")
        mounted.add(kernel_boot, _image_source(image, boot.get("imagePullPolicy")))
        mounted.mount(kernel_boot, "/var/run/kubevirt-kernel-boot", readOnly=True)


_RUNNING_IMAGE: Form[Callable[[Launch, str, str], str]] = form(
    until("1.7", lambda _launch, _volume, image: image),
    since("1.7", Launch.image),
)


def _add_images_alone(launch: Launch, mounted: Mounted) -> None:
    _add_disk_images(launch, mounted, "kernel-boot")


def _add_images(launch: Launch, mounted: Mounted) -> None:
    _add_disk_images(launch, mounted, KERNEL_BOOT)
    if any(True for _ in unknown_digests(launch)):
        mounted.add(
            LAUNCHER_VOLUME, _image_source(launch.cluster.image, launch.cluster.pull_policy)
        )


_IMAGES: Form[Callable[[Launch, Mounted], None]] = form(
    until("1.7", _add_images_alone),
    since("1.7", _add_images),
)


_SKIPS_DIGESTS: Form[Callable[[Launch], bool]] = form(
    until(MAIN, lambda _launch: False),
    since(MAIN, lambda launch: launch.annotations.get(_NO_DIGEST) == "true"),
)


def unknown_digests(launch: Launch) -> Iterator[tuple[str, Tree]]:
    """The container disks of which nobody knows yet which image runs, by the name of their volume."""
    if _SKIPS_DIGESTS(launch.release)(launch):
        return
    disks = [
        (volume.get("name") or "", volume["containerDisk"])
        for volume in launch.volumes
        if volume.get("containerDisk") is not None
    ]
    if launch.kernel_boot is not None:
        disks.append((KERNEL_BOOT, launch.kernel_boot))
    yield from (disk for disk in disks if _DIGEST not in launch.images.get(disk[0], ""))


def pull_secrets(launch: Launch) -> list[Tree]:
    """The secrets with which images are pulled, each once."""
    names = [
        tree.get(volume, "containerDisk", "imagePullSecret") or "" for volume in launch.volumes
    ]
    names += _KERNEL_SECRET(launch.release)(launch)
    return [{"name": name} for name in dict.fromkeys(filter(None, names))]


_KERNEL_SECRET: Form[Callable[[Launch], list[str]]] = form(
    until("1.6", lambda _launch: []),
    since("1.6", lambda launch: [(launch.kernel_boot or {}).get("imagePullSecret") or ""]),
)
