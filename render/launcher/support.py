"""Containers beside compute that need no author: container disks, virtiofsd, the log of the console.

Upstream: pkg/container-disk/container-disk.go, pkg/virt-controller/services/virtiofs.go, serialconsolelog.go,
pkg/virt-api/webhooks/mutating-webhook/mutators/virt-launcher-pod-mutator.go, pkg/virtiofs/containerpath.go.
"""

from collections.abc import Callable, Iterator

from render.launcher import resources, security, volumes
from render.launcher.launch import Launch
from render.launcher.resources import BINARY_COPY, CONSOLE_LOG, CONTAINER_DISK, SupportRow
from render.launcher.volumes import (
    BINARIES,
    KERNEL_BOOT,
    LAUNCHER_VOLUME,
    PRIVATE,
    VIRTIOFS,
    VIRTIOFS_FOLDER,
)
from render.model import tree
from render.model.release import MAIN, Form, Rows, form, rows, since, until
from render.model.tree import Tree

_BINARY = "/usr/bin/container-disk"
_BINARY_FOLDER = "/container-disk-binary"
_SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount/"
_OWNER = f"--translate-uid=host:{security.USER}:0:1"
_MIGRATION = ("--migration-on-error=guest-error", "--migration-mode=find-paths")
_DATA = ("configMap", "secret", "projected", "downwardAPI", "emptyDir")


def _resources(launch: Launch, row: SupportRow) -> Tree:
    return resources.support(launch.cluster, row, guaranteed=launch.is_guaranteed)


def _pulled(image: str, policy: object) -> Tree:
    fields = {"image": image, "imagePullPolicy": policy}
    return {key: value for key, value in fields.items() if value}


def _container_disk(
    launch: Launch, name: str, disk: Tree, suffix: str, arguments: list[str]
) -> Tree:
    return {
        "name": f"volume{name}{suffix}",
        **_pulled(launch.image(name, disk.get("image") or ""), disk.get("imagePullPolicy")),
        "command": [_BINARY],
        "args": arguments,
        "resources": _resources(launch, CONTAINER_DISK),
        "volumeMounts": [
            {"name": "container-disks", "mountPath": _folder(launch)},
            {"name": BINARIES, "mountPath": "/usr/bin"},
        ],
        "securityContext": security.SUPPORT,
    }


def _folder(launch: Launch) -> str:
    return f"{volumes.CONTAINER_DISKS}/{launch.uid}"


def _disks(launch: Launch) -> Iterator[tuple[str, Tree, str]]:
    """Name, source and place of each container disk that needs containers."""
    if launch.uses_image_volumes:
        return
    for index, volume in enumerate(launch.volumes):
        disk, name = volume.get("containerDisk"), volume.get("name") or ""
        # QUIRK(container-disk.go): a volume of this name is taken for the one with the kernel.
        if disk is not None and name != KERNEL_BOOT:
            yield name, disk, f"disk_{index}"
    if launch.kernel_boot is not None:
        yield KERNEL_BOOT, launch.kernel_boot, "kernel-boot"


def container_disks(launch: Launch) -> Iterator[Tree]:
    """The containers that hold the disks while the VM runs."""
    for name, disk, place in _disks(launch):
        yield _container_disk(launch, name, disk, "", ["--copy-path", f"{_folder(launch)}/{place}"])


def pulling(launch: Launch) -> Iterator[Tree]:
    """The init containers that copy the binary of container disks, and have their images pulled."""
    has_disks = "containerDisk" in launch.sources or launch.kernel_boot is not None
    if launch.uses_image_volumes or not has_disks:
        return
    yield {
        "name": "container-disk-binary",
        "image": launch.cluster.image,
        "imagePullPolicy": launch.cluster.pull_policy,
        **STARTED(launch.release)(
            ["/usr/bin/cp", *_COPYING(launch.release), _BINARY, f"/init{_BINARY}"]
        ),
        **({"env": XDG} if launch.is_nonroot else {}),
        "resources": _resources(launch, BINARY_COPY),
        "volumeMounts": [{"name": BINARIES, "mountPath": "/init/usr/bin"}],
        **TERMINATION(launch.release),
        "securityContext": security.of_container(launch, {"drop": ["ALL"]}),
    }
    for name, disk, _ in _disks(launch):
        yield _container_disk(launch, name, disk, "-init", ["--no-op"])


_COPYING: Form[tuple[str, ...]] = form(until("1.8", ()), since("1.8", ("--preserve=all",)))
#: How a container of the launcher's image is told what to run.
STARTED: Form[Callable[[list[str]], Tree]] = form(
    until(MAIN, lambda words: {"command": words}),
    since(MAIN, lambda words: {"command": words[:1], "args": words[1:]}),
)
#: What a container that runs as the user of qemu knows.
XDG = [
    {"name": "XDG_CACHE_HOME", "value": PRIVATE},
    {"name": "XDG_CONFIG_HOME", "value": PRIVATE},
    {"name": "XDG_RUNTIME_DIR", "value": "/var/run"},
]
#: What a container that runs as compute does says of its end.
TERMINATION: Form[Tree] = form(
    until("1.6", {}),
    since("1.6", {"terminationMessagePolicy": "FallbackToLogsOnError"}),
)


def _probes(launch: Launch) -> Iterator[Tree]:
    """The init containers that only tell which images run, where container disks are volumes."""
    if not launch.uses_image_volumes:
        return
    for name, disk in volumes.unknown_digests(launch):
        yield {
            "name": f"volume{name}",
            **_pulled(disk.get("image") or "", disk.get("imagePullPolicy")),
            "command": [f"{_BINARY_FOLDER}{_BINARY}"],
            "args": ["--no-op"],
            "resources": _resources(launch, CONTAINER_DISK),
            "volumeMounts": [
                {"name": LAUNCHER_VOLUME, "mountPath": _BINARY_FOLDER, "readOnly": True}
            ],
            "securityContext": security.SUPPORT,
        }


def virtiofs(launch: Launch) -> Iterator[Tree]:
    """The containers that serve volumes as filesystems."""
    if not launch.filesystems:
        return
    names = {filesystem.get("name") for filesystem in launch.filesystems}
    for volume in launch.volumes:
        if volume.get("name") in names and _SERVED(launch.release)(volume):
            yield _virtiofs(launch, volume)


_SERVED: Form[Callable[[Tree], bool]] = form(
    until("1.8", lambda _volume: True),
    since("1.8", lambda volume: volume.get("containerPath") is None),
)


def _virtiofs(launch: Launch, volume: Tree) -> Tree:
    name = volume.get("name") or ""
    path = _served_path(volume)
    mounts = [{"name": VIRTIOFS, "mountPath": VIRTIOFS_FOLDER}]
    if volume.get("serviceAccount") is None:
        mounts.append({"name": name, "mountPath": path})
    return {
        **_virtiofsd(launch, name),
        "args": _ARGUMENTS(launch.release)(launch, volume, _served(name, path)),
        "volumeMounts": mounts,
        "securityContext": security.of_virtiofs(volume, launch),
    }


def _virtiofsd(launch: Launch, name: str) -> Tree:
    return {
        "name": f"virtiofs-{name}",
        "image": launch.cluster.image,
        "imagePullPolicy": _VIRTIOFS_PULL(launch.release)(launch),
        "command": ["/usr/libexec/virtiofsd"],
        "resources": _resources(launch, resources.VIRTIOFS),
    }


_VIRTIOFS_PULL: Form[Callable[[Launch], str]] = form(
    until(MAIN, lambda _launch: "IfNotPresent"),
    since(MAIN, lambda launch: launch.cluster.pull_policy),
)


def _served(name: str, path: str) -> list[str]:
    return [f"--socket-path={VIRTIOFS_FOLDER}/{name}.sock", f"--shared-dir={path}"]


def _served_path(volume: Tree) -> str:
    name = volume.get("name") or ""
    for kind in ("configMap", "secret", "serviceAccount", "downwardAPI"):
        if volume.get(kind) is not None:
            return _SERVICE_ACCOUNT if kind == "serviceAccount" else volumes.source_path(kind, name)
    return f"/{name}"


def _with_sandbox(launch: Launch, volume: Tree, served: list[str]) -> list[str]:
    if security.serves_as_root(volume, launch):
        return [*served, "--cache=auto", "--xattr", "--sandbox=chroot"]
    return [*served, "--cache=auto", "--sandbox=none"]


def _migratable(_launch: Launch, _volume: Tree, served: list[str]) -> list[str]:
    return [*served, "--sandbox=none", "--cache=auto", *_MIGRATION]


def _with_owner(launch: Launch, volume: Tree, served: list[str]) -> list[str]:
    owner = [] if volume.get("serviceAccount") is None else [_OWNER]
    return [*_migratable(launch, volume, served), *owner]


_ARGUMENTS: Form[Callable[[Launch, Tree, list[str]], list[str]]] = form(
    until("1.5", _with_sandbox),
    since("1.5", until("1.9", _migratable)),
    since("1.9", _with_owner),
)


def container_paths(launch: Launch, compute: Tree, pod_volumes: list[Tree]) -> list[Tree]:
    """The containers that virt-api's webhook adds to serve paths of *compute* (since 1.8)."""
    if "containerPath" not in launch.sources:
        return []
    served = {
        filesystem.get("name")
        for filesystem in launch.filesystems
        if filesystem.get("virtiofs") is not None
    }
    containers = []
    for volume in launch.volumes:
        source, name = volume.get("containerPath"), volume.get("name") or ""
        if source is None or name not in served or not source.get("readOnly"):
            continue
        mount, below = _mount_above(source.get("path") or "", compute)
        pod_volume = next(
            (
                candidate
                for candidate in pod_volumes
                if mount and candidate["name"] == mount["name"]
            ),
            {},
        )
        if mount is None or not any(key in pod_volume for key in _DATA):
            continue
        path = f"/virtiofs-data/{name}"
        own = {"name": mount["name"], "mountPath": path, "subPath": below, "readOnly": True}
        containers.append(
            {
                **_virtiofsd(launch, name),
                "args": _migratable(launch, volume, _served(name, path)),
                "volumeMounts": [
                    {"name": VIRTIOFS, "mountPath": VIRTIOFS_FOLDER},
                    {key: value for key, value in own.items() if value},
                ],
                "securityContext": security.VIRTIOFS,
            }
        )
    return containers


def _mount_above(path: str, compute: Tree) -> tuple[Tree | None, str]:
    """The innermost mount of *compute* that has *path*, and where *path* is in it."""
    best: Tree | None = None
    for mount in compute["volumeMounts"]:
        folder = mount["mountPath"]
        if path == folder:
            return mount, ""
        if path.startswith(f"{folder}/") and (best is None or len(folder) > len(best["mountPath"])):
            best = mount
    return (best, path.removeprefix(f"{best['mountPath']}/")) if best else (None, "")


def _has_console_log(launch: Launch) -> bool:
    if launch.devices.get("autoattachSerialConsole") is False:
        return False
    own = launch.devices.get("logSerialConsole")
    if own is not None:
        return bool(own)
    options = tree.get(launch.cluster.configuration, "virtualMachineOptions") or {}
    return options.get("disableSerialConsoleLog") is None


def console_log(launch: Launch, verbosity: int) -> Iterator[Tree]:
    """The container that prints what the serial console shows."""
    if _has_console_log(launch):
        key = ("console-log", launch.uid, verbosity, launch.is_guaranteed)
        yield launch.cluster.once(key, lambda: _console_log(launch, verbosity))


def _console_log(launch: Launch, verbosity: int) -> Tree:
    arguments = ["--logfile", f"{PRIVATE}/{launch.uid}/virt-serial0-log"]
    return {
        "name": "guest-console-log",
        "image": launch.cluster.image,
        "imagePullPolicy": _LOG_PULL_POLICY(launch.release)(launch),
        "command": ["/usr/bin/virt-tail"],
        "args": arguments + _LOG_ARGUMENTS(launch.release),
        "env": [{"name": "VIRT_LAUNCHER_LOG_VERBOSITY", "value": str(verbosity)}],
        "resources": _resources(launch, CONSOLE_LOG),
        "volumeMounts": [{"name": "private", "mountPath": PRIVATE, "readOnly": True}],
        "securityContext": security.SUPPORT,
        **_LOG_RESTARTS(launch.release),
    }


_LOG_PULL_POLICY: Form[Callable[[Launch], str]] = form(
    until("1.6", lambda _launch: "IfNotPresent"),
    since("1.6", lambda launch: launch.cluster.pull_policy),
)
_LOG_ARGUMENTS: Form[list[str]] = form(
    until("1.6", ["--socket-timeout", "RANDOM"]),
    since("1.6", []),
)
_LOG_RESTARTS: Form[Tree] = form(until("1.6", {}), since("1.6", {"restartPolicy": "Always"}))

#: Containers that start before the pod's own, in order.
_INITIAL: Rows[Callable[[Launch], Iterator[Tree]]] = rows(pulling, since("1.7", _probes))


def initial(launch: Launch) -> list[Tree]:
    """The init containers, but for the log."""
    return [container for row in _INITIAL(launch.release) for container in row(launch)]
