"""What a cluster's KubeVirt custom resource decides about its VMs.

Upstream: pkg/virt-config/configuration.go, virt-config.go. The resource is read over built-in
defaults; an explicit zero value cannot be told from an absent one there, and so changes nothing.
"""

from typing import Any, NamedTuple

from render.model import tree
from render.model.resource import text_at
from render.model.tree import Tree

#: (key of the developer configuration, least and greatest value, name in KubeVirt's text); 0 is unset.
_BOUNDS = (
    ("memoryOvercommit", 1, 2**63 - 1, "memoryOvercommit"),
    ("cpuAllocationRatio", 1, 2**63 - 1, "cpu allocation ratio"),
    ("pvcTolerateLessSpaceUpToPercent", 0, 100, "lessPVCSpaceToleration"),
)
_MACHINE_TYPES = {"amd64": "q35", "arm64": "virt", "s390x": "s390-ccw-virtio"}


class ClusterConfig(NamedTuple):
    """Cluster settings that shape a VMI. *source* says where they come from, for the output."""

    default_architecture: str = "amd64"
    machine_type: str = ""
    machine_types: tuple[tuple[str, str], ...] = ()
    cpu_model: str = ""
    cpu_request: str = "100m"
    eviction_strategy: str = "None"
    default_network: str = "bridge"
    bridge_on_pod_network: bool = True
    rollout_strategy: str = "LiveUpdate"
    hotplug_ratio: int = 4
    max_cpu_sockets: int = 0
    max_guest: str | None = None
    feature_gates: frozenset[str] = frozenset()
    emulator_thread_to_even_parity: bool = False
    qgs_socket_path: str = "/var/run/tdx-qgs/qgs.socket"

    def machine_type_for(self, architecture: str) -> str:
        """The machine type of VMs that name none; an unknown *architecture* counts as amd64."""
        known = architecture if architecture in _MACHINE_TYPES else "amd64"
        return self.machine_type or dict(self.machine_types).get(known) or _MACHINE_TYPES[known]


def invalid(body: Tree) -> tuple[tuple[str, ...], str] | None:
    """Why KubeVirt would not use a configuration: a field below ``spec.configuration`` and its text.

    None if it would. Upstream: validateConfig in pkg/virt-config/configuration.go; the built-in
    defaults stay in force otherwise.
    """
    config: Tree = tree.get(body, "spec", "configuration") or {}
    network = tree.get(config, "network", "defaultNetworkInterface")
    if network and network not in ("bridge", "slirp", "masquerade"):
        path = ("network", "defaultNetworkInterface")
        return path, f"invalid default-network-interface in config: {network}"
    for key, least, most, text in _BOUNDS:
        value = tree.get(config, "developerConfiguration", key) or least
        if not least <= value <= most:
            return ("developerConfiguration", key), f"invalid {text} in ConfigMap: {value}"
    return None


#: The key that asks for an even number of emulator threads.
EMULATOR_THREAD = "alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity"


def from_kubevirt(body: Tree) -> ClusterConfig:
    """Read the settings out of a KubeVirt custom resource (decoded, quantities canonical).

    The operator copies ``spec`` to ``status.defaultArchitecture``; in a repository only ``spec`` is there.
    """
    config: Tree = tree.get(body, "spec", "configuration") or {}
    builtin = ClusterConfig()

    def setting(default: Any, *path: str) -> Any:
        return tree.get(config, *path) or default

    architectures: Tree = config.get("architectureConfiguration") or {}
    bridge = tree.get(config, "network", "permitBridgeInterfaceOnPodNetwork")
    return ClusterConfig(
        default_architecture=text_at(body.get("status"), "defaultArchitecture")
        or architectures.get("defaultArchitecture")
        or builtin.default_architecture,
        machine_type=setting("", "machineType"),
        machine_types=tuple(
            (name, machine)
            for name in sorted(_MACHINE_TYPES)
            if (machine := tree.get(architectures, name, "machineType"))
        ),
        cpu_model=setting("", "cpuModel"),
        cpu_request=setting(builtin.cpu_request, "cpuRequest"),
        eviction_strategy=setting(builtin.eviction_strategy, "evictionStrategy"),
        default_network=setting(builtin.default_network, "network", "defaultNetworkInterface"),
        # A pointer upstream: an explicit false counts.
        bridge_on_pod_network=True if bridge is None else bridge,
        rollout_strategy=setting(builtin.rollout_strategy, "vmRolloutStrategy"),
        hotplug_ratio=setting(builtin.hotplug_ratio, "liveUpdateConfiguration", "maxHotplugRatio"),
        max_cpu_sockets=setting(0, "liveUpdateConfiguration", "maxCpuSockets"),
        max_guest=tree.get(config, "liveUpdateConfiguration", "maxGuest"),
        feature_gates=frozenset(setting((), "developerConfiguration", "featureGates")),
        emulator_thread_to_even_parity=EMULATOR_THREAD
        in (tree.get(body, "metadata", "annotations") or {}),
        qgs_socket_path=setting(
            builtin.qgs_socket_path,
            "confidentialCompute",
            "tdx",
            "attestation",
            "qgsSocketPath",
        ),
    )
