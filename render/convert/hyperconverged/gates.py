"""Feature gates: those of a HyperConverged, and those of KubeVirt that come of them.

Upstream: controllers/handlers/kubevirt.go (getKvFeatureGateList), api/v1/featuregates,
api/v1beta1/zz_generated.featuregates_conversion.go, pkg/featuregatedetails/feature-gates.json of
the hyperconverged-cluster-operator.
"""

from collections.abc import Callable
from functools import cache

from render.convert.hyperconverged import fields
from render.convert.hyperconverged.cluster import Cluster
from render.convert.hyperconverged.desired import Desired, Setting
from render.model.cluster.gates import on_by_default
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Version, Windowed, in_force, since, until
from render.model.tree import Tree

_FIELD = "featureGates"


class Phase(NamedTuple):
    """How far a gate of v1 is: beta is on by itself, alpha and deprecated are off, ignored stays off."""

    name: str
    phase: str


#: v1 came with 1.8.
_PHASES: tuple[Phase | Windowed[Phase], ...] = (
    Phase("decentralizedLiveMigration", "beta"),
    until("1.9", Phase("declarativeHotplugVolumes", "alpha")),
    since("1.9", Phase("declarativeHotplugVolumes", "beta")),
    since("1.9", Phase("template", "beta")),
    until("1.9", Phase("videoConfig", "beta")),
    Phase("alignCPUs", "alpha"),
    Phase("containerPathVolumes", "alpha"),
    Phase("deployKubeSecondaryDNS", "alpha"),
    since("1.9", Phase("deployObservabilityController", "alpha")),
    Phase("downwardMetrics", "alpha"),
    Phase("incrementalBackup", "alpha"),
    Phase("objectGraph", "alpha"),
    until("1.9", Phase("disableMDevConfiguration", "alpha")),
    since("1.9", Phase("disableMDevConfiguration", "deprecated")),
    until("1.9", Phase("enableMultiArchBootImageImport", "alpha")),
    since("1.9", Phase("enableMultiArchBootImageImport", "deprecated")),
    until("1.9", Phase("persistentReservation", "alpha")),
    since("1.9", Phase("persistentReservation", "deprecated")),
    until("1.9", Phase("autoResourceLimits", "ignored")),
    until("1.9", Phase("deployKubevirtIpamController", "ignored")),
    until("1.9", Phase("deployTektonTaskResources", "ignored")),
    until("1.9", Phase("deployVmConsoleProxy", "ignored")),
    until("1.9", Phase("enableApplicationAwareQuota", "ignored")),
    until("1.9", Phase("enableCommonBootImageImport", "ignored")),
    until("1.9", Phase("enableManagedTenantQuota", "ignored")),
    until("1.9", Phase("nonRoot", "ignored")),
    until("1.9", Phase("primaryUserDefinedNetworkBinding", "ignored")),
    until("1.9", Phase("withHostPassthroughCPU", "ignored")),
)


@cache
def phases(release: Version) -> dict[str, str]:
    """The gates of v1 that *release* knows, with their phases."""
    known: tuple[Phase, ...] = in_force(_PHASES, release)
    return dict(known)


def phase_of(name: str, release: Version) -> str | None:
    """The phase of a gate under any name that *release* accepts for it; None if it is unknown."""
    known = phases(release)
    return known.get(name) or next(
        (known[each] for each in known if _same(each, name, release)), None
    )


def _same_letters(name: str, other: str) -> bool:
    return name.lower() == other.lower()


_Comparison = Callable[[str, str], bool]
_SAME: tuple[_Comparison | Windowed[_Comparison], ...] = (
    until("1.9", str.__eq__),
    since("1.9", _same_letters),
)


def _same(name: str, other: str, release: Version) -> bool:
    """Whether two names mean the same gate."""
    return in_force(_SAME, release)[0](name, other)


def index(gates: list[Tree], name: str, release: Version) -> int | None:
    """Where in the list of v1 the gate *name* stands."""
    return next(
        (i for i, gate in enumerate(gates) if _same((gate or {}).get("name", ""), name, release)),
        None,
    )


def explicit(desired: Desired, name: str) -> bool | None:
    """What a HyperConverged says about a gate; None where it says nothing."""
    gates = desired.spec.get(_FIELD)
    if isinstance(gates, list):
        position = index(gates, name, desired.release)
        return None if position is None else gates[position].get("state", "Enabled") == "Enabled"
    return None if gates is None else gates.get(name)


def is_on(desired: Desired, name: str) -> bool:
    """Whether a gate is on for the operator."""
    if desired.api_version == "v1beta1":
        return bool(explicit(desired, name))
    phase = phases(desired.release).get(name)
    if phase in (None, "ignored"):
        return False
    enabled = explicit(desired, name)
    return phase == "beta" if enabled is None else enabled


def converted(desired: Desired, api_version: str, annotated: list[Tree]) -> Any:
    """The gates in the form of *api_version*, over those *annotated* on the object."""
    if api_version == "v1beta1":
        return {
            name: is_on(desired, name)
            for name, phase in phases(desired.release).items()
            if phase != "ignored"
        }
    entries = [dict(gate) for gate in annotated]
    for name, phase in phases(desired.release).items():
        # Not in v1beta1; nothing is said about them there.
        if phase == "deprecated" or name in ("template", "deployObservabilityController"):
            continue
        enabled = explicit(desired, name)
        at = index(entries, name, desired.release)
        if enabled is None:
            if at is not None:
                del entries[at]
            continue
        if at is None:
            if enabled != (phase == "beta"):
                entries.append({"name": name, "state": _state(enabled)})
        else:
            entries[at]["state"] = _state(enabled)
    return entries


def _state(on: bool) -> str:  # noqa: FBT001
    return "Enabled" if on else "Disabled"


class Question(NamedTuple):
    """What a row of gates may ask: the HyperConverged as stored, and the cluster."""

    desired: Desired
    cluster: Cluster


class Gate(NamedTuple):
    """Gates of KubeVirt that are on where *holds*, and the field of the HyperConverged that decides it."""

    names: tuple[str, ...]
    holds: Callable[[Question], bool]
    decided_by: Callable[[Desired], FieldPath | None]


def _nowhere(_desired: Desired) -> FieldPath | None:
    return None


def _always(name: str) -> Gate:
    return Gate((name,), lambda _: True, _nowhere)


def _by_gate(gate: str, *names: str, on: bool = True) -> Gate:
    """The gates *names*, where the gate of HyperConverged is *on*."""

    def where(desired: Desired) -> FieldPath | None:
        gates = desired.spec.get(_FIELD)
        if isinstance(gates, list):
            at = index(gates, gate, desired.release)
            return None if at is None else (_FIELD, at)
        return (_FIELD, gate)

    return Gate(names, lambda question: is_on(question.desired, gate) is on, where)


def _annotated(annotation: str, *names: str) -> Gate:
    return Gate(
        names, lambda question: question.desired.annotations.get(annotation) == "true", _nowhere
    )


def _by_field(field: Setting, name: str) -> Gate:
    """The gate *name*, where *field* is there and not empty."""
    return Gate(
        (name,),
        lambda question: bool(question.desired.get(field)),
        lambda desired: field.of(desired.api_version),
    )


def _injects(question: Question) -> bool:
    # The operator also waits until its injector runs; in the end it does.
    return question.desired.get(fields.INJECTOR) is not False


def _has_s390x(question: Question) -> bool:
    placement = question.desired.get(fields.WORKLOADS)
    return "s390x" in question.cluster.workload_architectures(placement)


PASST = "hco.kubevirt.io/deployPasstNetworkBinding"
_AIE = "hco.kubevirt.io/deployAIE"

#: In the order of the operator, which JSON patches by index depend on.
_ROWS: tuple[Gate | Windowed[Gate], ...] = (
    _always("CPUManager"),
    _always("Snapshot"),
    until("1.6", _always("HotplugVolumes")),
    until("1.9", _always("ExpandDisks")),
    until("1.5", _always("GPU")),
    _always("HostDevices"),
    until("1.9", _always("VMExport")),
    until("1.5", _always("DisableCustomSELinuxPolicy")),
    _always("KubevirtSeccompProfile"),
    until("1.7", _always("VMPersistentState")),
    since("1.5", until("1.7", _always("InstancetypeReferencePolicy"))),
    until("1.5", _always("NetworkBindingPlugins")),
    until("1.5", _always("VMLiveUpdateFeatures")),
    until("1.5", _always("DynamicPodInterfaceNaming")),
    until("1.5", _always("VolumesUpdateStrategy")),
    until("1.5", _always("VolumeMigration")),
    since("1.8", until("1.9", _always("LiveUpdateNADRef"))),
    since("1.8", until("1.9", _always("PanicDevices"))),
    until("1.9", _always("WithHostModelCPU")),
    Gate(("HypervStrictCheck",), lambda question: not question.cluster.emulation, _nowhere),
    _by_gate("downwardMetrics", "DownwardMetrics"),
    until("1.8", _by_gate("disableMDevConfiguration", "DisableMDEVConfiguration")),
    until("1.9", _by_gate("persistentReservation", "PersistentReservation")),
    until("1.5", _by_gate("autoResourceLimits", "AutoResourceLimitsGate")),
    _by_gate("alignCPUs", "AlignCPUs"),
    since("1.7", until("1.9", _by_gate("videoConfig", "VideoConfig"))),
    since("1.7", _by_gate("objectGraph", "ObjectGraph")),
    since("1.6", _by_gate("decentralizedLiveMigration", "DecentralizedLiveMigration")),
    since("1.6", until("1.8", _by_gate("enableMultiArchBootImageImport", "MultiArchitecture"))),
    since("1.6", _by_gate("declarativeHotplugVolumes", "DeclarativeHotplugVolumes")),
    since("1.6", _by_gate("declarativeHotplugVolumes", "HotplugVolumes", on=False)),
    since("1.6", until("1.8", _annotated(PASST, "PasstIPStackMigration"))),
    since("1.8", _annotated(PASST, "PasstBinding")),
    since("1.8", _annotated(_AIE, "PCINUMAAwareTopology")),
    since("1.9", _annotated(_AIE, "GraceIOVirtualization", "IOMMUFD")),
    since("1.7", Gate(("SecureExecution",), _has_s390x, _nowhere)),
    since("1.8", _by_gate("incrementalBackup", "IncrementalBackup", "UtilityVolumes")),
    since("1.8", _by_field(fields.HYPERVISORS, "ConfigurableHypervisor")),
    since("1.8", _by_field(fields.ROLE_AGGREGATION, "OptOutRoleAggregation")),
    since("1.8", _by_gate("containerPathVolumes", "ContainerPathVolumes")),
    since("1.9", _by_gate("template", "Template")),
    since("1.9", Gate(("ExternalNetResourceInjection",), _injects, _nowhere)),
)

Decided = list[tuple[str, FieldPath | None]]


def _by_name(decided: Decided) -> Decided:
    return sorted(decided, key=lambda each: each[0])


_Sorting = Callable[[Decided], Decided]
_ORDER: tuple[_Sorting | Windowed[_Sorting], ...] = (
    until("1.9", list),
    since("1.9", _by_name),
)


def kubevirt_gates(question: Question) -> Decided:
    """The gates of KubeVirt that are on, each with the field of *question* that decided it."""
    desired = question.desired
    decided = [
        (name, row.decided_by(desired))
        for row in in_force(_ROWS, desired.release)
        if row.holds(question)
        for name in row.names
    ]
    return in_force(_ORDER, desired.release)[0](decided)


def to_disable(on: list[str], release: Version) -> list[str]:
    """The gates that the operator turns off: those that KubeVirt turns on by itself, and it does not."""
    return [name for name in sorted(on_by_default(release)) if name not in on]
