"""What the operator writes into the KubeVirt custom resource.

Upstream: controllers/handlers/kubevirt.go of the hyperconverged-cluster-operator (1.14 and 1.15:
controllers/operands/kubevirt.go).
"""

import json
from collections.abc import Callable

from render.convert.hyperconverged import fields, gates
from render.convert.hyperconverged.cluster import Cluster
from render.convert.hyperconverged.decoding import decoded
from render.convert.hyperconverged.desired import Desired, Setting
from render.convert.hyperconverged.gates import PASST, Question
from render.model import tree
from render.model.cluster_config import EMULATOR_THREAD
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Windowed, in_force, since, until
from render.model.tree import Tree

#: Where a value of the KubeVirt resource comes from: its path there, and that below ``spec`` in the HyperConverged.
Origins = dict[FieldPath, FieldPath]

TUNING_ANNOTATION = "hco.kubevirt.io/tuningPolicy"


class TuningError(Exception):
    """The operator cannot make rate limits of the tuning policy."""


class Written(NamedTuple):
    """The KubeVirt resource, and where its values come from."""

    body: Tree
    origins: Origins


def _same(value: Any) -> Any:
    return value


def _empty_if_true(value: Any) -> Any:
    return {} if value else None


def _certificates(value: Tree) -> Tree:
    return {"selfSigned": value}


def _mediated_types(nodes: list[Tree]) -> list[Tree]:
    return [
        {
            "nodeSelector": each["nodeSelector"],
            "mediatedDeviceTypes": each.get("mediatedDeviceTypes")
            or each.get("mediatedDevicesTypes"),
        }
        for each in nodes
    ]


class SettingRow(NamedTuple):
    """A *setting* becomes the field at *target*, by *change*; what *change* makes None is left out."""

    setting: Setting
    target: FieldPath
    change: Callable[[Any], Any] = _same


def _row(field: Setting, target: str, change: Callable[[Any], Any] = _same) -> SettingRow:
    return SettingRow(field, ("spec", *target.split(".")), change)


_DEVELOPER = "configuration.developerConfiguration"
_OPTIONS = "configuration.virtualMachineOptions"
_MEDIATED = "configuration.mediatedDevicesConfiguration"
_ROWS: tuple[SettingRow | Windowed[SettingRow], ...] = (
    _row(fields.UNINSTALL, "uninstallStrategy"),
    _row(fields.CERTIFICATES, "certificateRotateStrategy", _certificates),
    _row(fields.UPDATE_STRATEGY, "workloadUpdateStrategy"),
    _row(fields.WORKLOADS, "workloads.nodePlacement"),
    _row(fields.OVERCOMMIT, f"{_DEVELOPER}.memoryOvercommit"),
    _row(fields.CPU_RATIO, f"{_DEVELOPER}.cpuAllocationRatio"),
    _row(fields.LOG_VERBOSITY, f"{_DEVELOPER}.logVerbosity"),
    _row(fields.MIGRATIONS, "configuration.migrations"),
    _row(fields.EVICTION, "configuration.evictionStrategy"),
    _row(fields.CPU_MODEL, "configuration.cpuModel"),
    _row(fields.RUNTIME_CLASS, "configuration.defaultRuntimeClass"),
    _row(fields.STATE_CLASS, "configuration.vmStateStorageClass"),
    _row(fields.FREE_PAGES, f"{_OPTIONS}.disableFreePageReporting", _empty_if_true),
    _row(fields.SERIAL_LOG, f"{_OPTIONS}.disableSerialConsoleLog", _empty_if_true),
    until("1.7", _row(fields.MIN_CPU_MODEL, "configuration.minCPUModel")),
    _row(fields.MEDIATED, _MEDIATED, lambda _: {}),
    _row(fields.MEDIATED_TYPES, f"{_MEDIATED}.mediatedDeviceTypes"),
    _row(fields.MEDIATED_NODES, f"{_MEDIATED}.nodeMediatedDeviceTypes", _mediated_types),
    _row(fields.MEDIATED_ENABLED, f"{_MEDIATED}.enabled"),
    _row(fields.RESERVATION, "configuration.persistentReservationConfiguration.enabled"),
    _row(fields.AUTO_CPU_LIMIT, "configuration.autoCPULimitNamespaceLabelSelector"),
    _row(fields.LIVE_UPDATE, "configuration.liveUpdateConfiguration"),
    _row(fields.KSM, "configuration.ksmConfiguration"),
    _row(fields.NETWORK_BINDING, "configuration.network.binding"),
    _row(fields.CATALOGUE, "configuration.commonInstancetypesDeployment"),
    _row(fields.INSTANCETYPES, "configuration.instancetype"),
    _row(fields.BLOCK_TRACKING, "configuration.changedBlockTrackingLabelSelectors"),
    _row(fields.HYPERVISORS, "configuration.hypervisors"),
    _row(fields.ROLE_AGGREGATION, "configuration.roleAggregationStrategy"),
)

_OVMF = {"amd64": "/usr/share/OVMF", "arm64": "/usr/share/AAVMF"}
_EMULATED = {
    "amd64": ["q35*", "pc-q35*"],
    "arm64": ["virt*"],
    "s390x": ["s390-ccw-virtio*"],
}
_ARCHITECTURES: tuple[str | Windowed[str], ...] = ("amd64", "arm64", since("1.7", "s390x"))
#: CPU models that no node is labelled with, whatever the HyperConverged says; each with every suffix.
_OBSOLETE = (
    "486",
    "pentium",
    "pentium2",
    "pentium3",
    "pentiumpro",
    "coreduo",
    "n270",
    "core2duo",
    "Conroe",
    "athlon",
    "phenom",
    "qemu64",
    "qemu32",
    "kvm64",
    "kvm32",
    "Opteron_G1",
    "Opteron_G2",
)
_SUFFIXES: tuple[str | Windowed[str], ...] = ("", since("1.5", "-v1"))
_DEVICES: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("pciHostDevices", "pciHostDevices", {"pciDeviceSelector": "pciVendorSelector"}),
    ("mediatedDevices", "mediatedDevices", {}),
    ("usbHostDevices", "usb", {}),
)


def written(desired: Desired, cluster: Cluster) -> Written:
    """The KubeVirt resource that comes of *desired*, a HyperConverged as stored; TuningError."""
    body = _constants(desired, cluster)
    origins: Origins = {}
    for setting, target, change in in_force(_ROWS, desired.release):
        desired_value = desired.get(setting)
        value = None if desired_value is None else change(tree.copy(desired_value))
        if value is not None:
            tree.put(body, target, value)
            _remember(origins, target, setting, desired)
    for add in in_force(_STEPS, desired.release):
        add(body, origins, desired, cluster)
    if gates.is_on(desired, "alignCPUs"):
        tree.put(body, ("metadata", "annotations"), {EMULATOR_THREAD: ""})
    return Written(decoded({}, body, "kubevirt.KubeVirt", desired.release), origins)


def _remember(
    origins: Origins, target: FieldPath, setting: Setting, desired: Desired, *path: str | int
) -> None:
    start = setting.of(desired.api_version)
    if start is not None:
        origins[target] = (*start, *path)


def _constants(desired: Desired, cluster: Cluster) -> Tree:
    """What stands in every KubeVirt resource of the operator."""
    machine_types = dict(cluster.machine_types)
    architectures: Tree = {}
    for name in in_force(_ARCHITECTURES, desired.release):
        ovmf = {"ovmfPath": _OVMF[name]} if name in _OVMF else {}
        if machine_types.get(name):
            architectures[name] = {
                **ovmf,
                "emulatedMachines": list(_EMULATED[name]),
                "machineType": machine_types[name],
            }
    profile = {"customProfile": {"localhostProfile": "kubevirt/kubevirt.json"}}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt-kubevirt-hyperconverged"},
        "spec": {
            "workloadUpdateStrategy": {},
            "uninstallStrategy": "BlockUninstallIfWorkloadsExist",
            "configuration": {
                "developerConfiguration": {
                    "diskVerification": {"memoryLimit": "2G"},
                    "useEmulation": cluster.emulation,
                },
                "network": {"defaultNetworkInterface": "masquerade"},
                "smbios": {"manufacturer": "KubeVirt", "product": "None", "family": "KubeVirt"},
                "architectureConfiguration": architectures,
                "seccompConfiguration": {"virtualMachineInstanceProfile": profile},
                "vmRolloutStrategy": "LiveUpdate",
            },
            "customizeComponents": {},
        },
    }


def _default_architecture(
    body: Tree, _origins: Origins, desired: Desired, cluster: Cluster
) -> None:
    default = cluster.default_architecture(desired.get(fields.WORKLOADS))
    body["spec"]["configuration"]["architectureConfiguration"]["defaultArchitecture"] = default


def _gates(body: Tree, origins: Origins, desired: Desired, cluster: Cluster) -> None:
    decided = list(gates.kubevirt_gates(Question(desired, cluster)))
    names = [name for name, _ in decided]
    developer: Tree = body["spec"]["configuration"]["developerConfiguration"]
    developer["featureGates"] = names
    start = ("spec", "configuration", "developerConfiguration", "featureGates")
    for index, (_, place) in enumerate(decided):
        if place is not None:
            origins[*start, index] = place
    developer["disabledFeatureGates"] = gates.to_disable(names, desired.release)


def _bindings(body: Tree, _origins: Origins, _desired: Desired, _cluster: Cluster) -> None:
    network: Tree = body["spec"]["configuration"]["network"]
    binding: Tree = network.setdefault("binding", {})
    binding["l2bridge"] = {"domainAttachmentType": "managedTap", "migration": {}}


def _add_passt(body: Tree, migration: Tree, memory: str) -> None:
    """The binding that the operator adds for passt, but for the image of its build."""
    body["spec"]["configuration"]["network"]["binding"]["passt"] = {
        "networkAttachmentDefinition": "default/primary-udn-kubevirt-binding",
        "migration": migration,
        "computeResourceOverhead": {"requests": {"memory": memory}},
    }


def _passt(body: Tree, _origins: Origins, _desired: Desired, _cluster: Cluster) -> None:
    _add_passt(body, {"method": "link-refresh"}, "500Mi")


def _annotated_passt(body: Tree, _origins: Origins, desired: Desired, _cluster: Cluster) -> None:
    if desired.annotations.get(PASST) == "true":
        _add_passt(body, {}, "250Mi")


def _obsolete_models(body: Tree, origins: Origins, desired: Desired, _cluster: Cluster) -> None:
    suffixes = in_force(_SUFFIXES, desired.release)
    models = {name + suffix: True for name in _OBSOLETE for suffix in suffixes}
    target = ("spec", "configuration", "obsoleteCPUModels")
    for index, name in enumerate(desired.get(fields.OBSOLETE_CPUS) or ()):
        models[name] = True
        _remember(origins, (*target, name), fields.OBSOLETE_CPUS, desired, index)
    tree.put(body, target, models)


def _devices(body: Tree, origins: Origins, desired: Desired, _cluster: Cluster) -> None:
    permitted_devices = desired.get(fields.PERMITTED_DEVICES)
    if permitted_devices is None:
        return
    start: FieldPath = ("spec", "configuration", "permittedHostDevices")
    _remember(origins, start, fields.PERMITTED_DEVICES, desired)
    permitted: Tree = {}
    for source, target, renamed in _DEVICES:
        devices: list[Tree] = []
        for index, device in enumerate(permitted_devices.get(source) or ()):
            if device.get("disabled"):
                continue
            kept = {key: item for key, item in device.items() if key != "disabled"}
            place = (*start, target, len(devices))
            _remember(origins, place, fields.PERMITTED_DEVICES, desired, source, index)
            devices.append({renamed.get(key, key): item for key, item in kept.items()})
        permitted[target] = devices
    tree.put(body, start, permitted)


_MEDIATED_PATH = ("spec", "configuration", "mediatedDevicesConfiguration")
_RESERVATION_PATH = ("spec", "configuration", "persistentReservationConfiguration", "enabled")


def _old_types(body: Tree, origins: Origins, desired: Desired, _cluster: Cluster) -> None:
    types = (*_MEDIATED_PATH, "mediatedDeviceTypes")
    old = desired.get(fields.MEDIATED, "mediatedDevicesTypes")
    if old and tree.get(body, *types) is None:
        tree.put(body, types, old)
        _remember(origins, types, fields.MEDIATED, desired, "mediatedDevicesTypes")


def _mediation_gate(body: Tree, _origins: Origins, desired: Desired, _cluster: Cluster) -> None:
    enabled = (*_MEDIATED_PATH, "enabled")
    if gates.is_on(desired, "disableMDevConfiguration") and tree.get(body, *enabled) is None:
        tree.put(body, enabled, value=False)


def _reservation_gate(body: Tree, _origins: Origins, desired: Desired, _cluster: Cluster) -> None:
    on = gates.is_on(desired, "persistentReservation")
    if on and tree.get(body, *_RESERVATION_PATH) is None:
        tree.put(body, _RESERVATION_PATH, value=True)


def _components(body: Tree, origins: Origins, desired: Desired, cluster: Cluster) -> None:
    """Where KubeVirt's own components run, and how many of them."""
    placement = desired.get(fields.INFRA)
    several = cluster.has_several_control_planes(desired.release)
    if placement is None and several:
        return
    single_replica = {"replicas": 1}
    if placement is not None:
        config = {"nodePlacement": placement, **({} if several else single_replica)}
        _remember(origins, ("spec", "infra", "nodePlacement"), fields.INFRA, desired)
    elif cluster.has_control_plane():
        config = single_replica
    else:
        config = {"nodePlacement": {}, **({} if cluster.is_highly_available() else single_replica)}
    body["spec"]["infra"] = config


_HIGH_BURST = (200, 400)


def _limits(body: Tree, _origins: Origins, desired: Desired, _cluster: Cluster) -> None:
    """Rate limits of KubeVirt's components."""
    policy, text = desired.get(fields.TUNING), desired.annotations.get(TUNING_ANNOTATION)
    if policy == "highBurst" and desired.api_version == "v1beta1":
        if text is not None:
            raise TuningError(
                f"highBurst profile is enabled and the annotation {TUNING_ANNOTATION} is present"
            )
        qps, burst = _HIGH_BURST
    elif policy == "annotation":
        qps, burst = _rates(text)
    else:
        return
    limiter = {"tokenBucketRateLimiter": {"qps": qps, "burst": burst}}
    for name in ("api", "webhook", "controller", "handler"):
        target = ("spec", "configuration", f"{name}Configuration")
        tree.put(body, target, {"restClient": {"rateLimiter": tree.copy(limiter)}})


def _rates(text: str | None) -> tuple[Any, Any]:
    if text is None:
        raise TuningError("tuning policy set but annotation not present or wrong")
    try:
        rates: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TuningError(f"the annotation {TUNING_ANNOTATION} is no JSON: {error}") from None
    for name in ("qps", "burst"):
        value = rates.get(name) if isinstance(rates, dict) else None
        if not isinstance(value, (int, float)) or value <= 0:
            raise TuningError(f"{name} parameter not found in annotation")
    return rates["qps"], rates["burst"]


Step = Callable[[Tree, Origins, Desired, Cluster], None]
_STEPS: tuple[Step | Windowed[Step], ...] = (
    since("1.8", _default_architecture),
    _gates,
    _bindings,
    until("1.5", _passt),
    since("1.6", until("1.9", _annotated_passt)),
    _obsolete_models,
    _devices,
    _old_types,
    since("1.8", _mediation_gate),
    since("1.9", _reservation_gate),
    _components,
    _limits,
)
