"""Where the pod may run: node selector and affinity.

Upstream: pkg/virt-controller/services/nodeselectorrenderer.go, template.go (setNodeAffinityForPod),
pkg/virt-controller/watch/topology (hinter.go, tsc.go, filter.go).
"""

from collections.abc import Callable, Iterator, Mapping

from render.launcher import devices
from render.launcher.launch import Launch, PodError
from render.model import tree
from render.model.apimachinery.go import atoi
from render.model.hints import Any
from render.model.release import Rows, rows, since, until
from render.model.tree import Tree

_FEATURE = "cpu-feature.node.kubevirt.io/"
_RESERVATION = "pr.kubevirt.io/"
_TSC = "scheduling.node.kubevirt.io/tsc-frequency"
_NODE_TSC = "cpu-timer.node.kubevirt.io/tsc-frequency"
_SCHEDULABLE = "kubevirt.io/schedulable"
_ARCHITECTURE = "kubernetes.io/arch"
_HOSTNAME = "kubernetes.io/hostname"
_HOST_MODEL_OBSOLETE = "node-labeller.kubevirt.io/obsolete-host-model"
_HOST_MODELS = ("host-model", "host-passthrough")
#: Features of Hyper-V that need the kernel of the node.
_HYPERV = (
    "vpindex", "runtime", "reset", "synic", "synictimer", "frequencies", "reenlightenment", "tlbflush", "ipi",
)  # fmt: skip
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_CROSS = "CrossArchitectureVirtualization"


def node_selector(launch: Launch) -> Tree:
    """The labels that a node must have."""
    selector = {_SCHEDULABLE: "true"}
    if launch.architecture:
        selector[_ARCHITECTURE] = launch.architecture.lower()
    selector |= launch.cluster.node_selectors
    selector |= launch.spec.get("nodeSelector") or {}
    if _CROSS in launch.gates and launch.architecture:
        selector.pop(_ARCHITECTURE, None)
        selector[f"kubevirt.io/vm-arch-{launch.architecture}"] = "true"
    for labels in _LABELS(launch.release):
        selector.update(dict.fromkeys(labels(launch), "true"))
    return selector


def _dedicated(label: str) -> Callable[[Launch], Iterator[str]]:
    return lambda launch: iter((label,) if launch.is_dedicated else ())


def _hyperv(launch: Launch) -> Iterator[str]:
    features = tree.get(launch.domain, "features", "hyperv")
    if features is None or "HypervStrictCheck" not in launch.gates:
        return
    for name in _HYPERV:
        if tree.get(features, name, "enabled"):
            yield f"hyperv.node.kubevirt.io/{name}"
    evmcs = features.get("evmcs")
    if evmcs is not None and evmcs.get("enabled") is not False:
        yield "cpu-vendor.node.kubevirt.io/Intel"


def _model(launch: Launch) -> Iterator[str]:
    cpu = launch.cpu or {}
    model = cpu.get("model")
    if not model:
        return
    if model not in _HOST_MODELS:
        yield f"cpu-model.node.kubevirt.io/{model}"
    for feature in cpu.get("features") or ():
        if (feature.get("policy") or "require") == "require":
            yield _FEATURE + (feature.get("name") or "")


def _machine_type(launch: Launch) -> Iterator[str]:
    machine = tree.get(launch.status, "machine", "type") or tree.get(
        launch.domain, "machine", "type"
    )
    if machine:
        yield f"machine-type.node.kubevirt.io/{machine}"


def _tsc(launch: Launch) -> Iterator[str]:
    frequency = tree.get(launch.status, "topologyHints", "tscFrequency") or 0
    if frequency > 0 and requires_tsc(launch):
        yield f"{_TSC}-{frequency}"


def _realtime(launch: Launch) -> Iterator[str]:
    if (launch.cpu or {}).get("realtime") is not None:
        yield "kubevirt.io/realtime"


def _encrypted(launch: Launch) -> Iterator[str]:
    if launch.is_sev:
        yield "kubevirt.io/sev"
    if launch.is_sev_es:
        yield "kubevirt.io/sev-es"


def _snp(launch: Launch) -> Iterator[str]:
    if launch.security.get("snp") is not None:
        yield "kubevirt.io/sev-snp"


def _secure_execution(launch: Launch) -> Iterator[str]:
    if launch.architecture == "s390x" and launch.domain.get("launchSecurity") is not None:
        yield "kubevirt.io/s390-pv"


def _tdx(launch: Launch) -> Iterator[str]:
    if launch.security.get("tdx") is not None:
        yield "kubevirt.io/tdx"


_LABELS: Rows[Callable[[Launch], Iterator[str]]] = rows(
    until("1.8", _dedicated("cpumanager")),
    since("1.8", _dedicated("kubevirt.io/cpumanager")),
    _hyperv,
    _model,
    since("1.5", _machine_type),
    _tsc,
    since("1.5", _realtime),
    since("1.5", _encrypted),
    since("1.7", _snp),
    since("1.6", _secure_execution),
    since("1.7", _tdx),
)


def _is_for_boot(launch: Launch) -> bool:
    """Whether the guest cannot boot without a fixed TSC frequency."""
    return any(
        feature.get("name") == "invtsc" and feature.get("policy") in ("require", "force")
        for feature in (launch.cpu or {}).get("features") or ()
    )


def requires_tsc(launch: Launch) -> bool:
    """Whether the TSC frequency of the node counts, for booting or for migrating."""
    path = ("features", "hyperv", "reenlightenment", "enabled")
    return _is_for_boot(launch) or bool(tree.get(launch.domain, *path))


def topology_hints(launch: Launch) -> Tree | None:
    """The hints that virt-controller writes into the status of a VMI which needs them and has none.

    Raises `PodError` where the settings of the cluster forbid it.
    """
    known = launch.status.get("topologyHints")
    if known is not None or launch.architecture != "amd64" or not requires_tsc(launch):
        return None
    path = ("developerConfiguration", "minimumClusterTSCFrequency")
    least = tree.get(launch.cluster.configuration, *path)
    if least is None:
        return {"tscFrequency": lowest_frequency(launch.cluster.objects.nodes)}
    if least > 0:
        return {"tscFrequency": least}
    if _is_for_boot(launch):
        raise PodError(
            "topology: failed to determine the lowest tsc frequency on the cluster: the configured"
            f" minimumClusterTSCFrequency must be greater 0, but got {least}",
            ("spec", "domain", "cpu", "features"),
            path,
        )
    return None


def lowest_frequency(nodes: tuple[Tree, ...]) -> int:
    """The lowest TSC frequency of the *nodes* that run VMs; 0 where none says."""
    frequencies = [
        frequency
        for node in nodes
        if (labels := tree.get(node, "metadata", "labels") or {}).get(_SCHEDULABLE) == "true"
        and isinstance(frequency := atoi(labels.get(_NODE_TSC, "")), int)
        and frequency > 0
    ]
    return min(frequencies, default=0)


def affinity(launch: Launch, uids: list[str]) -> Tree | None:
    """The affinity of the VMI, and what it brings; *uids* of the claims that hold reservations."""
    combined: Tree | None = launch.spec.get("affinity")
    for label in _rejected(launch):
        combined = _rejecting(combined, label)
    for uid in uids:
        term = {
            "labelSelector": {
                "matchExpressions": [{"key": _RESERVATION + uid, "operator": "Exists"}]
            },
            "topologyKey": _HOSTNAME,
        }
        combined = _apart(combined, term)
    if _CROSS in launch.gates and launch.architecture:
        combined = _preferring(combined, launch.architecture.lower())
    return combined


def reservation_labels(uids: list[str]) -> Mapping[str, str]:
    """The labels that keep pods apart which use one claim with reservations."""
    return {_RESERVATION + uid: "" for uid in uids}


def _rejected(launch: Launch) -> Iterator[str]:
    cpu = launch.cpu or {}
    if (cpu.get("model") or "host-model") == "host-model":
        yield _HOST_MODEL_OBSOLETE
    for feature in cpu.get("features") or ():
        if feature.get("policy") == "forbid":
            yield _FEATURE + (feature.get("name") or "")


def _rejecting(affinity: Tree | None, label: str) -> Tree:
    """*affinity*, and no node with *label*."""
    requirement = {"key": label, "operator": "DoesNotExist"}
    nodes: Tree = (affinity or {}).get("nodeAffinity") or {}
    required = nodes.get(_REQUIRED)
    terms: Any = [{"matchExpressions": [requirement]}]
    if required is not None:
        # QUIRK(template.go): without a term there is none that the rule could be added to.
        terms = required.get("nodeSelectorTerms")
        terms = terms and [
            {**term, "matchExpressions": [*(term.get("matchExpressions") or ()), requirement]}
            for term in terms
        ]
    own = {**nodes, _REQUIRED: {**(required or {}), "nodeSelectorTerms": terms}}
    return {**(affinity or {}), "nodeAffinity": own}


def _apart(affinity: Tree | None, term: Tree) -> Tree:
    """*affinity*, and not beside the pods of *term*."""
    pods: Tree = (affinity or {}).get("podAntiAffinity") or {}
    own = {**pods, _REQUIRED: [*(pods.get(_REQUIRED) or ()), term]}
    return {**(affinity or {}), "podAntiAffinity": own}


def apart_from_source(affinity: Tree | None, uid: str) -> Tree:
    """*affinity*, and on another node than the pod that the VMI runs in."""
    labels = {"matchLabels": {"kubevirt.io/created-by": uid}}
    return _apart(affinity, {"labelSelector": labels, "topologyKey": _HOSTNAME})


def _preferring(affinity: Tree | None, architecture: str) -> Tree:
    nodes: Tree = (affinity or {}).get("nodeAffinity") or {}
    expression = {"key": _ARCHITECTURE, "operator": "In", "values": [architecture]}
    term = {"weight": 100, "preference": {"matchExpressions": [expression]}}
    own = {**nodes, _PREFERRED: [*(nodes.get(_PREFERRED) or ()), term]}
    return {**(affinity or {}), "nodeAffinity": own}


def reservations(launch: Launch) -> list[str]:
    """The uids of the claims with reservations that keep pods apart (since 1.9)."""
    return [uid for rule in _RESERVATIONS(launch.release) for uid in rule(launch)]


_RESERVATIONS: Rows[Callable[[Launch], list[str]]] = rows(
    since("1.9", devices.reserved_claims),
)
