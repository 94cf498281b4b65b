"""Requests and limits of the pod's containers.

Upstream: pkg/virt-controller/services/renderresources.go, template.go (VMIResourcePredicates),
pkg/container-disk/container-disk.go, pkg/virtiofs/resources.go, pkg/virt-controller/services/serialconsolelog.go.
"""

import re
from collections.abc import Callable, Mapping

from render.launcher import cpu, devices, memory
from render.launcher.cluster import LauncherCluster
from render.launcher.launch import Launch
from render.launcher.memory import ZERO, Overhead
from render.model import tree
from render.model.apimachinery import selectors
from render.model.apimachinery.quantity import (
    BINARY,
    DECIMAL,
    Quantity,
    is_zero,
    parse,
    plus,
    scaled,
    text_of,
)
from render.model.cluster_config import EMULATOR_THREAD
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Form, Rows, form, rows, since, until
from render.model.tree import Tree

_EPHEMERAL = "ephemeral-storage"
_STORAGE = parse("50M")
_UNIT = Quantity(1, 0, DECIMAL)
_MEMORY_RATIO = "alpha.kubevirt.io/auto-memory-limits-ratio"
_FLOAT = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_DEFAULT_RATIO = 2.0
List = dict[str, Quantity]


class ComputeResources:
    """Requests and limits of the compute container while the rules make them.

    What is *wanted*, by the author of the VMI and by the rules that change that, wins over what is *computed*.
    """

    def __init__(self, launch: Launch, overhead: Overhead) -> None:
        self.launch = launch
        self.overhead = overhead
        self.wanted_requests: List = {key: parse(text) for key, text in launch.requests.items()}
        self.wanted_limits: List = {key: parse(text) for key, text in launch.limits.items()}
        self.requests: List = {}
        self.limits: List = {}

    def result(self) -> Tree:
        """What the container says."""
        requests = self.requests | self.wanted_requests
        limits = self.limits | self.wanted_limits
        claims = devices.claims(self.launch)
        return {
            **({"claims": claims} if claims else {}),
            **({"limits": _texts(limits)} if limits else {}),
            **({"requests": _texts(requests)} if requests else {}),
        }


def _texts(amounts: List) -> Tree:
    return {key: text_of(amounts[key]) for key in sorted(amounts)}


def compute(launch: Launch, overhead: Overhead) -> Tree:
    """The resources of the compute container. Raises `PodError` for devices that are not permitted."""
    state = ComputeResources(launch, overhead)
    for rule in _RULES(launch.release):
        rule(state)
    return state.result()


def _add_storage(state: ComputeResources) -> None:
    state.wanted_requests[_EPHEMERAL] = plus(state.wanted_requests.get(_EPHEMERAL, ZERO), _STORAGE)
    limit = state.wanted_limits.get(_EPHEMERAL)
    if limit is not None:
        state.wanted_limits[_EPHEMERAL] = plus(limit, _STORAGE)


def _add_virtualization(state: ComputeResources) -> None:
    for device in devices.of_virtualization(state.launch):
        state.wanted_limits[device] = _UNIT


def _request_memory(state: ComputeResources) -> None:
    """The request of a VMI that makes none: its limit, or what comes of the guest's memory."""
    request, limit = state.wanted_requests.get("memory"), state.wanted_limits.get("memory")
    if request is not None and request.mantissa:
        return
    if limit is not None and limit.mantissa:
        state.wanted_requests["memory"] = limit
    elif request is None:
        guest = memory.of_guest(state.launch)
        if guest is not None:
            state.wanted_requests["memory"] = guest


def _pin_cpus(state: ComputeResources) -> None:
    launch = state.launch
    requests, limits = state.wanted_requests, state.wanted_limits
    count = cpu.vcpus(launch.cpu or {})
    threads = _supplemental(launch)
    if count:
        limits["cpu"] = requests["cpu"] = Quantity(count + threads, 0, BINARY)
    else:
        for amounts in (limits, requests):
            if "cpu" in amounts:
                amounts["cpu"] = plus(amounts["cpu"], Quantity(threads, 0, BINARY))
    if (launch.cpu or {}).get("isolateEmulatorThread"):
        pool = threads if launch.domain.get("ioThreadsPolicy") == "supplementalPool" else 0
        _isolate_emulator(state, limits.get("cpu", ZERO), pool)
    if "memory" in requests:
        limits["memory"] = requests["memory"]


def _pin_cpus_by_limit(state: ComputeResources) -> None:
    launch = state.launch
    requests, limits = state.wanted_requests, state.wanted_limits
    count = cpu.vcpus(launch.cpu or {})
    if count:
        state.limits["cpu"] = Quantity(count, 0, BINARY)
    elif "cpu" in limits:
        requests["cpu"] = limits["cpu"]
    elif "cpu" in requests:
        limits["cpu"] = requests["cpu"]
    if (launch.cpu or {}).get("isolateEmulatorThread"):
        _isolate_emulator(state, state.limits.get("cpu", ZERO), 0)
    limits["memory"] = requests.get("memory", Quantity(0, 0, BINARY))


def _isolate_emulator(state: ComputeResources, limit: Quantity, pool: int) -> None:
    """CPUs for the emulator, beside *limit*: two where the annotation wants an even number of all of them."""
    is_even = (scaled(limit) + pool) % 2 == 0
    wants_even = EMULATOR_THREAD in state.launch.annotations
    extra = Quantity(2 if wants_even and is_even else 1, 0, BINARY)
    state.wanted_limits["cpu"] = plus(limit, extra)
    request = state.wanted_requests.get("cpu")
    if request is not None:
        state.wanted_requests["cpu"] = plus(request, extra)


_PINNING: Form[Callable[[ComputeResources], None]] = form(
    until("1.5", _pin_cpus_by_limit),
    since("1.5", _pin_cpus),
)


def _supplemental(launch: Launch) -> int:
    return tree.get(launch.domain, "ioThreads", "supplementalPoolThreadCount") or 0


def _none(_launch: Launch) -> int:
    return 0


_IO_THREADS: Form[Callable[[Launch], int]] = form(until("1.5", _none), since("1.5", _supplemental))


def _request_cpus(state: ComputeResources) -> None:
    launch = state.launch
    if launch.is_dedicated:
        _PINNING(launch.release)(state)
        return
    count = 1 if launch.cpu is None else cpu.vcpus(launch.cpu)
    count += _IO_THREADS(launch.release)(launch)
    ratio = launch.cluster.config.cpu_allocation_ratio
    if count and ratio > 0:
        state.requests["cpu"] = cpu.share(count, ratio)
        if _limits_cpus(launch):
            state.limits["cpu"] = Quantity(count, 0, DECIMAL)


def _add_overhead(state: ComputeResources) -> None:
    launch, extra = state.launch, state.overhead.total
    request, limit = state.wanted_requests.get("memory", ZERO), state.wanted_limits.get("memory")
    if launch.has_hugepages:
        pages = memory.with_hugepages(launch, request, limit, extra)
        name = f"hugepages-{launch.memory['hugepages'].get('pageSize') or ''}"
        state.requests[name] = state.limits[name] = pages.pages
        request, limit = pages.request, pages.limit
    else:
        resources = launch.domain.get("resources") or {}
        if not resources.get("overcommitGuestOverhead"):
            request = plus(request, extra)
        limit = None if limit is None else plus(limit, extra)
    state.wanted_requests["memory"] = request
    if limit is not None:
        state.wanted_limits["memory"] = limit


def _limit_memory(state: ComputeResources) -> None:
    """In a namespace with a quota on limits of memory, the request times a ratio."""
    launch = state.launch
    if not _has_quota(launch, "memory"):
        return
    request = state.wanted_requests["memory"]
    amount = int(float(scaled(request)) * memory_ratio(launch))
    state.limits["memory"] = Quantity(amount, 0, request.format)


def memory_ratio(launch: Launch) -> float:
    """How many times the request the limit is that a quota on limits.memory asks for."""
    labels = launch.cluster.objects.namespaces.get(launch.namespace) or {}
    text = labels.get(_MEMORY_RATIO, "")
    ratio = float(text) if re.fullmatch(_FLOAT, text) else 0.0
    return ratio if 1.0 <= ratio < float("inf") else _DEFAULT_RATIO


def _has_quota(launch: Launch, resource: str) -> bool:
    """Whether a quota of the namespace is on limits of *resource*, which the VMI does not have itself."""
    if resource in launch.limits or "AutoResourceLimitsGate" not in launch.gates:
        return False
    quotas = launch.cluster.objects.quotas.get(launch.namespace, ())
    return any(f"limits.{resource}" in (tree.get(quota, "spec", "hard") or {}) for quota in quotas)


def _limits_cpus(launch: Launch) -> bool:
    if _has_quota(launch, "cpu"):
        return True
    selector = launch.cluster.configuration.get("autoCPULimitNamespaceLabelSelector")
    labels = launch.cluster.objects.namespaces.get(launch.namespace)
    if selector is None or labels is None or "cpu" in launch.limits:
        return False
    try:
        return selectors.selects(selector, dict(labels), launch.release)
    except selectors.SelectorError:
        return False


def _add_devices(state: ComputeResources) -> None:
    # What the author asks for himself stays: upstream the sum is computed, and what is wanted wins over that.
    for name in devices.requested(state.launch):
        for amounts in (state.limits, state.requests):
            amounts[name] = plus(amounts[name], _UNIT) if name in amounts else _UNIT


_RULES: Rows[Callable[[ComputeResources], None]] = rows(
    _add_storage,
    _add_virtualization,
    since("1.6", _request_memory),
    _request_cpus,
    _add_overhead,
    _limit_memory,
    _add_devices,
)


class SupportRow(NamedTuple):
    """Resources of a container beside compute, which `supportContainerResources` of *kind* may override.

    *storage*: it asks for ephemeral storage; *guaranteed*: what it asks for where requests are to equal limits, None
    for its limits.
    """

    kind: str
    requests: Mapping[str, str]
    limits: Mapping[str, str]
    storage: bool = False
    guaranteed: Mapping[str, str] | None = None


CONTAINER_DISK = SupportRow(
    "container-disk", {"cpu": "1m", "memory": "1M"}, {"cpu": "10m", "memory": "40M"}, storage=True
)
BINARY_COPY = SupportRow(
    "container-disk",
    {"cpu": "10m", "memory": "1M"},
    {"cpu": "100m", "memory": "40M"},
    guaranteed={"cpu": "10m", "memory": "40M"},
)
VIRTIOFS = SupportRow("virtiofs", {"cpu": "10m", "memory": "1M"}, {"cpu": "100m", "memory": "80M"})
SIDECAR = SupportRow("sidecar", {}, {}, guaranteed={"cpu": "200m", "memory": "64M"})
CONSOLE_LOG = SupportRow(
    "guest-console-log", {"cpu": "5m", "memory": "35M"}, {"cpu": "15m", "memory": "60M"}
)
HOTPLUG = SupportRow("hotplug-disk", {"cpu": "10m", "memory": "2M"}, {"cpu": "100m", "memory": "80M"})  # fmt: skip


def support(cluster: LauncherCluster, row: SupportRow, *, guaranteed: bool = False) -> Tree:
    """The resources of a container that *row* is about."""
    key = (row.kind, row.storage, tuple(row.limits.values()), guaranteed)
    return cluster.once(key, lambda: _support(cluster, row, guaranteed=guaranteed))


def _support(cluster: LauncherCluster, row: SupportRow, *, guaranteed: bool) -> Tree:
    defaults: Mapping[str, str] = row.limits
    if guaranteed and row.guaranteed is not None:
        defaults = row.guaranteed
    limits = _overridden(cluster, row.kind, "limits", defaults)
    requests = _overridden(cluster, row.kind, "requests", row.requests)
    if guaranteed:
        requests |= limits
    if row.storage:
        requests[_EPHEMERAL] = "50M"
    parts = {"limits": limits, "requests": requests}
    return {key: dict(sorted(value.items())) for key, value in parts.items() if value}


def _overridden(
    cluster: LauncherCluster, kind: str, part: str, defaults: Mapping[str, Any]
) -> dict[str, Any]:
    entries = [
        tree.get(entry, "resources", part) or {}
        for entry in cluster.configuration.get("supportContainerResources") or ()
        if entry.get("type") == kind
    ]
    amounts = dict(defaults)
    for resource in ("cpu", "memory"):
        own = (entry[resource] for entry in entries if not is_zero(entry.get(resource, 0)))
        first = next(own, None)
        if first is not None:
            amounts[resource] = first
    return amounts
