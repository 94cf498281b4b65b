"""The compute container: what runs in it, and what it is asked by probes.

Upstream: pkg/virt-controller/services/template.go (renderLaunchManifest), rendercontainer.go.
"""

from collections.abc import Callable, Iterator

from render.launcher import networks, security
from render.launcher.launch import Launch, PodError
from render.launcher.support import STARTED, TERMINATION, XDG
from render.launcher.volumes import Mounted
from render.model import tree
from render.model.apimachinery import quantity
from render.model.apimachinery.go import atoi, quoted
from render.model.release import MAIN, Rows, rows, since, until
from render.model.tree import Tree

#: What only the clock decides.
RANDOM = "RANDOM"
GRACE_PADDING = 15
_DEFAULT_GRACE = 30
_DEFAULT_VERBOSITY = 2
_EXTENSIVE = 5
_STARTUP_DELAY = 10
_DISK_MEMORY = "2097152000"
_KEEP = "kubevirt.io/keep-launcher-alive-after-failure"
_LOG_FILTERS = "kubevirt.io/libvirt-log-filters"
_FAIL_FAST = "kubevirt.io/func-test-virt-launcher-fail-fast"
_UINT64 = 2**64
_POD_NAME = {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}


def grace_period(launch: Launch) -> int:
    """How long virt-launcher gives the guest to end."""
    seconds = launch.spec.get("terminationGracePeriodSeconds")
    return (_DEFAULT_GRACE if seconds is None else seconds) + GRACE_PADDING


def command(launch: Launch, sidecars: int) -> list[str]:
    """What compute runs, with the number of *sidecars*."""
    words = [
        "/usr/bin/virt-launcher-monitor",
        "--qemu-timeout", RANDOM,
        "--name", launch.name,
        "--uid", launch.uid,
        "--namespace", launch.namespace,
        "--kubevirt-share-dir", "/var/run/kubevirt",
        "--ephemeral-disk-dir", "/var/run/kubevirt-ephemeral-disks",
        "--container-disk-dir", "/var/run/kubevirt/container-disks",
        "--grace-period-seconds", str(grace_period(launch)),
        "--hook-sidecars", str(sidecars),
        "--ovmf-path", launch.cluster.firmware_path(launch.architecture),
    ]  # fmt: skip
    for flags in _FLAGS(launch.release):
        words += flags(launch)
    return [*words, *_closing(launch)]


def provisioning_command(launch: Launch) -> list[str]:
    """What compute runs where the pod is only made to have claims bound."""
    return ["/bin/bash", "-c", "echo", "bound PVCs", *_closing(launch)]


def _disk_memory(launch: Launch) -> tuple[str, ...]:
    path = ("developerConfiguration", "diskVerification", "memoryLimit")
    limit = tree.get(launch.cluster.configuration, *path)
    return "--disk-memory-limit", _DISK_MEMORY if limit is None else str(quantity.value(limit))


def _hypervisor(launch: Launch) -> tuple[str, ...]:
    return "--hypervisor", launch.cluster.hypervisor


def _nonroot(launch: Launch) -> tuple[str, ...]:
    return ("--run-as-nonroot",) if launch.is_nonroot else ()


def _with_gate(gate: str, flag: str) -> Callable[[Launch], tuple[str, ...]]:
    return lambda launch: (flag,) if gate in launch.gates else ()


def _log_filters(launch: Launch) -> tuple[str, ...]:
    filters = launch.annotations.get(_LOG_FILTERS)
    return () if filters is None else ("--libvirt-log-filters", filters)


_FLAGS: Rows[Callable[[Launch], tuple[str, ...]]] = rows(
    since("1.6", _disk_memory),
    since("1.8", _hypervisor),
    _nonroot,
    _with_gate("ImageVolume", "--image-volume"),
    until(MAIN, _with_gate("LibvirtHooksServerAndClient", "--libvirt-hook-server-and-client")),
    _with_gate("PodSecondaryInterfaceNamingUpgrade", "--upgrade-ordinal-ifaces"),
    _with_gate("VGPULiveMigration", "--vgpu-dedicated-hook"),
    _with_gate("VMStatsCollector", "--vm-stats-collector"),
    _with_gate("FirmwareAutoSelection", "--firmware-auto-selection"),
    _log_filters,
)


def _closing(launch: Launch) -> Iterator[str]:
    if launch.cluster.is_emulated:
        yield "--allow-emulation"
    if "CrossArchitectureVirtualization" in launch.gates:
        yield "--allow-cross-arch-emulation"
    if any(
        key.startswith(_KEEP) and (not value or value.startswith("true"))
        for key, value in launch.annotations.items()
    ):
        yield "--keep-after-failure"
    if _FAIL_FAST in launch.annotations:
        yield "--simulate-crash"


def verbosity(launch: Launch) -> int:
    """How much virt-launcher logs. Raises `PodError` for a label that is no number."""
    text = launch.labels.get("logVerbosity")
    if text is None:
        return launch.cluster.verbosity
    level = atoi(text)
    if isinstance(level, str):
        fault = f"strconv.Atoi: parsing {quoted(text)}: {level}"
        raise PodError(
            f"verbosity {text} cannot cast to int: {fault}", ("metadata", "labels", "logVerbosity")
        )
    return level % _UINT64


def _environment(launch: Launch, mounted: Mounted) -> list[Tree]:
    variables = [*XDG] if launch.is_nonroot else []
    for row in _VARIABLES(launch.release):
        variables += row(launch, mounted)
    level = verbosity(launch)
    text = launch.labels.get("logVerbosity")
    if text is not None or launch.cluster.verbosity != _DEFAULT_VERBOSITY:
        value = str(level) if text is None else text
        variables.append({"name": "VIRT_LAUNCHER_LOG_VERBOSITY", "value": value})
    for label, name in (
        ("debugLogs", "LIBVIRT_DEBUG_LOGS"),
        ("virtiofsdDebugLogs", "VIRTIOFSD_DEBUG_LOGS"),
    ):
        if level > _EXTENSIVE or launch.labels.get(label, "").lower() == "true":
            variables.append({"name": name, "value": "1"})
    return [*variables, _POD_NAME]


def _shared_paths(_launch: Launch, mounted: Mounted) -> Iterator[Tree]:
    if mounted.shared:
        yield {"name": "SHARED_FILESYSTEM_PATHS", "value": ":".join(mounted.shared)}


def _network_devices(launch: Launch, _mounted: Mounted) -> Iterator[Tree]:
    for name, device in sorted(networks.resources_of_networks(launch).items()):
        value = {"value": device} if device else {}
        yield {"name": f"KUBEVIRT_RESOURCE_NAME_{name}", **value}


_VARIABLES: Rows[Callable[[Launch, Mounted], Iterator[Tree]]] = rows(
    since("1.5", _shared_paths),
    until("1.7", _network_devices),
)


def _ports(launch: Launch) -> Iterator[Tree]:
    for interface in launch.interfaces:
        for port in interface.get("ports") or ():
            name = {"name": port["name"]} if port.get("name") else {}
            number, protocol = port.get("port") or 0, port.get("protocol") or "TCP"
            yield {**name, "containerPort": number, "protocol": protocol}


def compute(launch: Launch, words: list[str], resources: Tree, mounted: Mounted) -> Tree:
    """The container, which runs *words*. Raises `PodError` for a label that is no number."""
    ports = list(_ports(launch))
    probes = {
        key: _probe(launch, probe)
        for key in ("livenessProbe", "readinessProbe")
        if (probe := launch.spec.get(key)) is not None
    }
    return {
        "name": "compute",
        "image": launch.cluster.image,
        "imagePullPolicy": launch.cluster.pull_policy,
        **STARTED(launch.release)(words),
        **({"ports": ports} if ports else {}),
        "env": _environment(launch, mounted),
        "resources": resources,
        "volumeMounts": mounted.mounts,
        **({"volumeDevices": mounted.devices} if mounted.devices else {}),
        **probes,
        **TERMINATION(launch.release),
        "securityContext": security.of_compute(launch),
    }


def _probe(launch: Launch, declared: Tree) -> Tree:
    """*declared*, a probe of the VMI, as the kubelet carries it out in the container."""
    timeout = max(declared.get("timeoutSeconds") or 0, 1)
    handler = {
        key: declared[key]
        for key in ("exec", "httpGet", "tcpSocket")
        if declared.get(key) is not None
    }
    command = [
        "virt-probe",
        "--domainName",
        f"{launch.namespace}_{launch.name}",
        "--timeoutSeconds",
        str(timeout),
    ]
    words = (handler.get("exec") or {}).get("command") or []
    # The kubelet waits a second more than what it runs there.
    if declared.get("guestAgentPing") is not None:
        handler["exec"] = {"command": [*command, "--guestAgentPing"]}
        timeout += 1
    elif words and words[0] != "virt-probe":
        handler["exec"] = {"command": [*command, "--command", words[0], "--", *words[1:]]}
        timeout += 1

    def at_least_one(key: str, default: int) -> int:
        number: int = declared.get(key) or 0
        return default if number < 1 else number

    probe = {
        **handler,
        "initialDelaySeconds": (declared.get("initialDelaySeconds") or 0) + _STARTUP_DELAY,
        "timeoutSeconds": timeout,
        "periodSeconds": at_least_one("periodSeconds", 10),
        "successThreshold": at_least_one("successThreshold", 1),
        "failureThreshold": at_least_one("failureThreshold", 3),
    }
    return {key: value for key, value in probe.items() if value != 0}
