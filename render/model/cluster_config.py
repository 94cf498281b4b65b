"""What a cluster's KubeVirt custom resource decides about its VMs.

Upstream: pkg/virt-config/configuration.go, virt-config.go. The resource is read over built-in
defaults; an explicit zero value cannot be told from an absent one there, and so changes nothing, but behind a pointer.
"""

from collections.abc import Iterator
from functools import cache

from render.model import tree
from render.model.cluster import gates
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import RELEASES, Rows, Version, holds, row, rows, since, until
from render.model.resource import text_at
from render.model.tree import Tree

#: The machine types that an architecture has unless the cluster says otherwise.
_EMULATED: Rows[tuple[str, tuple[str, ...]]] = rows(
    ("amd64", ("q35*", "pc-q35*")),
    ("arm64", ("virt*",)),
    until("1.7", ("ppc64le", ("pseries*",))),
    ("s390x", ("s390-ccw-virtio*",)),
)
#: The architectures whose machine types a cluster can set.
_CONFIGURABLE: Rows[str] = rows("amd64", "arm64", until("1.7", "ppc64le"), since("1.7", "s390x"))
_SETTABLE = ("amd64", "arm64", "ppc64le", "s390x")
_RESERVATION_SETTING = since(
    "1.9", "a setting turns persistent reservations on; the gate counts only where it is listed"
)

#: What a cluster sets for each architecture.
ARCHITECTURES: FieldPath = ("architectureConfiguration",)
#: By which sockets and memory are multiplied that a VM may grow to.
RATIO: FieldPath = ("liveUpdateConfiguration", "maxHotplugRatio")
_ROLLOUT: FieldPath = ("vmRolloutStrategy",)
#: Whether VMs refer to instancetypes and preferences, or these are written into them; by a gate where there is one.
REFERENCE_POLICY: FieldPath = ("instancetype", "referencePolicy")
_POLICY_GATE = "InstancetypeReferencePolicy"
#: Without it the rollout strategy is the default of the release, whatever the resource says.
ROLLOUT_GATE = "VMLiveUpdateFeatures"
#: Settings whose value is not that of the field which they decide.
COMPUTED: frozenset[FieldPath] = frozenset({RATIO, ("network", "defaultNetworkInterface")})
#: Fields of a VMI that a setting of the cluster decides where nothing else does: below spec.configuration.
DECIDED: tuple[tuple[FieldPath, tuple[FieldPath, ...]], ...] = (
    (("spec", "architecture"), (("architectureConfiguration", "defaultArchitecture"),)),
    (("spec", "domain", "machine"), (("machineType",), ARCHITECTURES)),
    (("spec", "domain", "cpu", "model"), (("cpuModel",),)),
    (("spec", "domain", "cpu", "maxSockets"), (("liveUpdateConfiguration", "maxCpuSockets"), RATIO, _ROLLOUT)),
    (("spec", "domain", "memory", "maxGuest"), (("liveUpdateConfiguration", "maxGuest"), RATIO, _ROLLOUT)),
    (("spec", "domain", "resources", "requests"), (("cpuRequest",),)),
    (("spec", "domain", "devices", "interfaces"), (("network", "defaultNetworkInterface"),)),
    (("spec", "evictionStrategy"), (("evictionStrategy",),)),
)  # fmt: skip


class ClusterConfig(NamedTuple):
    """Cluster settings that shape a VMI, or decide whether it is admitted.

    *emulated_machines*: patterns of machine types by architecture, those for all of them under ``""``;
    *pci_host_devices*: pairs of resource name and PCI vendor selector; *persistent_reservation* is None where only the
    feature gate decides; *is_assumed*: no KubeVirt custom resource says any of it, so that these are the defaults.
    """

    default_architecture: str = "amd64"
    machine_type: str = ""
    machine_types: tuple[tuple[str, str], ...] = RELEASES[-1].machine_types
    cpu_model: str = ""
    cpu_request: str = "100m"
    eviction_strategy: str = "None"
    default_network: str = "bridge"
    bridge_on_pod_network: bool = True
    slirp_permitted: bool = False
    rollout_strategy: str = "LiveUpdate"
    hotplug_ratio: int = 4
    max_cpu_sockets: int = 0
    max_guest: str | None = None
    feature_gates: frozenset[str] = frozenset()
    disabled_gates: frozenset[str] = frozenset()
    emulated_machines: tuple[tuple[str, tuple[str, ...]], ...] = ()
    pci_host_devices: tuple[tuple[str, str], ...] = ()
    persistent_reservation: bool | None = None
    memory_overcommit: int = 100
    memory_overhead_ratio: str | None = None
    emulator_thread_to_even_parity: bool = False
    qgs_socket_path: str = "/var/run/tdx-qgs/qgs.socket"
    cpu_allocation_ratio: int = 10
    reference_policy: str = "reference"
    workload_update_methods: tuple[str, ...] = ()
    migratable_bindings: frozenset[str] = frozenset()
    mediated_devices: frozenset[str] = frozenset()
    is_assumed: bool = True

    def machine_type_for(self, architecture: str) -> str:
        """The machine type of VMs that name none; an unknown *architecture* counts as amd64."""
        known = dict(self.machine_types)
        return self.machine_type or known.get(architecture) or known["amd64"]

    def emulated_machines_for(self, architecture: str, release: Version) -> tuple[str, ...]:
        """The patterns of machine types that are accepted; an unknown *architecture* counts as amd64."""
        configured = dict(self.emulated_machines)
        if "" in configured:
            return configured[""]
        emulated = dict(_EMULATED(release))
        known = architecture if architecture in emulated else "amd64"
        own = configured.get(known) if known in _CONFIGURABLE(release) else None
        return own or emulated[known]

    def has_gate(self, name: str, release: Version) -> bool:
        """Whether a feature gate counts as on in *release*."""
        return gates.is_on(name, self.feature_gates, self.disabled_gates, release)

    def lists_gate(self, name: str) -> bool:
        """Whether the cluster lists a feature gate: what counts of one that KubeVirt has given up (validator.go)."""
        return name in self.feature_gates

    def with_gate(self, name: str) -> "ClusterConfig":
        """These settings of a cluster that lists a feature gate, too."""
        return self._replace(feature_gates=self.feature_gates | {name})

    def allows_reservations(self, release: Version) -> bool:
        """Whether disks may hold persistent reservations."""
        if not holds(_RESERVATION_SETTING, release):
            return self.has_gate("PersistentReservation", release)
        if self.persistent_reservation is not None:
            return self.persistent_reservation
        return self.lists_gate("PersistentReservation")


@cache
def builtin(release: Version) -> ClusterConfig:
    """The settings of a cluster of KubeVirt *release* whose resource says nothing."""
    facts = row(release)
    return ClusterConfig(machine_types=facts.machine_types, rollout_strategy=facts.rollout_strategy)


#: The key that asks for an even number of emulator threads.
EMULATOR_THREAD = "alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity"


class _ConfigField(NamedTuple):
    """The *field* of `ClusterConfig` that stands at *path* below spec.configuration.

    *is_pointer*: Go tells an empty value from none there; elsewhere an empty one means the default too.
    """

    field: str
    path: FieldPath
    is_pointer: bool = False


_SETTINGS = (
    _ConfigField("machine_type", ("machineType",)),
    _ConfigField("cpu_model", ("cpuModel",)),
    _ConfigField("cpu_request", ("cpuRequest",)),
    _ConfigField("eviction_strategy", ("evictionStrategy",), is_pointer=True),
    _ConfigField("default_network", ("network", "defaultNetworkInterface")),
    _ConfigField("bridge_on_pod_network", ("network", "permitBridgeInterfaceOnPodNetwork"), is_pointer=True),
    _ConfigField("slirp_permitted", ("network", "permitSlirpInterface")),
    _ConfigField("hotplug_ratio", ("liveUpdateConfiguration", "maxHotplugRatio")),
    _ConfigField("max_cpu_sockets", ("liveUpdateConfiguration", "maxCpuSockets")),
    _ConfigField("max_guest", ("liveUpdateConfiguration", "maxGuest"), is_pointer=True),
    _ConfigField("memory_overcommit", ("developerConfiguration", "memoryOvercommit")),
    _ConfigField("memory_overhead_ratio", ("additionalGuestMemoryOverheadRatio",), is_pointer=True),
    _ConfigField("persistent_reservation", ("persistentReservationConfiguration", "enabled"), is_pointer=True),
    _ConfigField("qgs_socket_path", ("confidentialCompute", "tdx", "attestation", "qgsSocketPath")),
    _ConfigField("cpu_allocation_ratio", ("developerConfiguration", "cpuAllocationRatio")),
)  # fmt: skip


def from_kubevirt(body: Tree, release: Version) -> ClusterConfig:
    """Read the settings that *release* takes from a KubeVirt custom resource (decoded, quantities canonical).

    The operator copies ``spec`` to ``status.defaultArchitecture``; in a repository only ``spec`` is there.
    """
    config: Tree = tree.get(body, "spec", "configuration") or {}
    default = builtin(release)
    architectures: Tree = config.get("architectureConfiguration") or {}
    annotations: Tree = tree.get(body, "metadata", "annotations") or {}
    methods = tree.get(body, "spec", "workloadUpdateStrategy", "workloadUpdateMethods")
    values = {
        setting.field: value
        for setting in _SETTINGS
        if _is_set(value := tree.get(config, *setting.path), setting)
    }
    values |= _gated(config, default, release)
    return default._replace(
        **values,
        default_architecture=text_at(body.get("status"), "defaultArchitecture")
        or architectures.get("defaultArchitecture")
        or default.default_architecture,
        machine_types=tuple(
            (name, tree.get(architectures, name, "machineType") or machine)
            for name, machine in default.machine_types
        ),
        emulated_machines=tuple(_emulated_machines(config, architectures)),
        emulator_thread_to_even_parity=EMULATOR_THREAD in annotations,
        workload_update_methods=tuple(methods or ()),
        **_devices(config),
        is_assumed=False,
    )


def _is_set(value: Any, setting: _ConfigField) -> bool:
    return value is not None if setting.is_pointer else bool(value)


def _gated(config: Tree, default: ClusterConfig, release: Version) -> dict[str, Any]:
    """The feature gates, and the settings that only count with one of them."""
    listed, disabled = (
        frozenset(tree.get(config, "developerConfiguration", key) or ())
        for key in ("featureGates", "disabledFeatureGates")
    )
    strategy, policy = config.get("vmRolloutStrategy"), tree.get(config, *REFERENCE_POLICY)
    is_rolled_out, has_policy = (
        gates.is_on(gate, listed, disabled, release) for gate in (ROLLOUT_GATE, _POLICY_GATE)
    )
    return {
        "feature_gates": listed,
        "disabled_gates": disabled,
        "rollout_strategy": (is_rolled_out and strategy) or default.rollout_strategy,
        "reference_policy": (has_policy and policy) or default.reference_policy,
    }


def _emulated_machines(config: Tree, architectures: Tree) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The patterns of machine types by architecture, those for all of them first."""
    named = (
        (architecture, tree.get(architectures, architecture, "emulatedMachines"))
        for architecture in _SETTABLE
    )
    for architecture, patterns in (("", config.get("emulatedMachines")), *named):
        if patterns:
            yield architecture, tuple(patterns)


def _devices(config: Tree) -> dict[str, Any]:
    """The devices of the host that VMIs may have, and the network bindings that let them migrate."""
    bindings: Tree = tree.get(config, "network", "binding") or {}
    return {
        "pci_host_devices": tuple(
            (device.get("resourceName", ""), device.get("pciVendorSelector", ""))
            for device in tree.get(config, "permittedHostDevices", "pciHostDevices") or ()
        ),
        "mediated_devices": frozenset(
            device.get("resourceName", "")
            for device in tree.get(config, "permittedHostDevices", "mediatedDevices") or ()
        ),
        "migratable_bindings": frozenset(
            name for name, plugin in bindings.items() if tree.get(plugin, "migration") is not None
        ),
    }
