"""Defaults of a VMI spec, shared by the VM webhook, expand and the VMI webhook.

Upstream: pkg/defaults/defaults.go (SetDefaultVirtualMachineInstanceSpec).
"""

from collections.abc import Callable

from render.defaults import devices, identity, network
from render.model import tree
from render.model.apimachinery import quantity
from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft
from render.model.release import Rows, Version, rows, since, until

_CPU = ("spec", "domain", "cpu")
_MEMORY = ("spec", "domain", "memory")
_RESOURCES = ("spec", "domain", "resources")
_DEFAULT_REQUEST = "100m"


def fill_spec(draft: Draft, config: ClusterConfig, release: Version) -> str:
    """Fill what the spec leaves open; returns why the default network is impossible, or ``""``."""
    identity.fill_architecture(draft, config)
    identity.fill_machine_type(draft, config)
    _fill_requests(draft, config, release)
    _fill_guest_memory(draft)
    _fill_topology(draft)
    _fill_pull_policies(draft)
    if draft.get("spec", "evictionStrategy") is None:
        draft.put(("spec", "evictionStrategy"), config.eviction_strategy)
    added = network.add_default(draft, config)
    if not added.error:
        devices.add_disks(draft)
    return added.error


def _amount(draft: Draft, *path: str) -> str:
    """The resource at *path* unless it is absent or zero."""
    value = tree.get(devices.domain_of(draft).get("resources"), *path)
    return "" if value is None or quantity.is_zero(value) else str(value)


def _fill_requests(draft: Draft, config: ClusterConfig, release: Version) -> None:
    request = (*_RESOURCES, "requests", "cpu")
    limit = _amount(draft, "limits", "cpu")
    if limit and not _amount(draft, "requests", "cpu"):
        draft.put(request, limit)
    for request_memory in _MEMORY_REQUESTS(release):
        request_memory(draft, config)
    # The default of the cluster means: write nothing.
    if config.cpu_request == _DEFAULT_REQUEST or draft.get(*request) is not None:
        return
    if quantity.compare(config.cpu_request, _DEFAULT_REQUEST) == 0:
        return
    if not draft.get(*_CPU, "dedicatedCpuPlacement"):
        draft.put(request, config.cpu_request)


def _request_memory(draft: Draft, config: ClusterConfig) -> None:
    request = (*_RESOURCES, "requests", "memory")
    limit = _amount(draft, "limits", "memory")
    if limit and not _amount(draft, "requests", "memory"):
        draft.put(request, limit)
    if draft.get(*request) is not None:
        return
    memory = draft.get(*_MEMORY, "guest")
    if memory is None:
        memory = _page_size(draft)
    if not memory or quantity.value(memory) <= 0:
        return
    if config.memory_overcommit != _FULL:
        share = quantity.value(memory) * _FULL // config.memory_overcommit
        memory = quantity.from_int(share, quantity.format_of(memory))
    draft.put(request, memory)


def _request_all_memory(draft: Draft, config: ClusterConfig) -> None:
    _request_memory(draft, config._replace(memory_overcommit=_FULL))


_FULL = 100
#: Memory that a VMI asks for because of its guest: only the launcher pod asks for it today.
_MEMORY_REQUESTS: Rows[Callable[[Draft, ClusterConfig], None]] = rows(
    until("1.6.2", _request_memory),
    since("1.6.2", until("1.6.3", _request_all_memory)),
    since("1.6.3", until("1.6.4", _request_memory)),
)


def _page_size(draft: Draft) -> str:
    """The size of the huge pages of a VM, ``""`` where it has none or no size can be read."""
    hugepages = draft.get(*_MEMORY, "hugepages")
    if hugepages is None:
        return ""
    try:
        return quantity.canonical(hugepages.get("pageSize", ""))
    except quantity.QuantityError:
        return ""


def _fill_guest_memory(draft: Draft) -> None:
    if (devices.domain_of(draft).get("memory") or {}).get("guest") is not None:
        return
    draft.ensure(_MEMORY)
    guest = _amount(draft, "requests", "memory") or _amount(draft, "limits", "memory")
    guest = guest or _page_size(draft)
    if guest:
        draft.put((*_MEMORY, "guest"), guest)


def _fill_topology(draft: Draft) -> None:
    cpu = devices.domain_of(draft).get("cpu") or {}
    if cpu.get("cores") or cpu.get("sockets") or cpu.get("threads"):
        return
    resources = draft.get(*_RESOURCES) or {}
    sockets = 1
    for kind in ("limits", "requests"):
        amount = (resources.get(kind) or {}).get("cpu")
        if amount is not None:
            sockets = quantity.value(amount) & 0xFFFFFFFF
            break
    draft.put((*_CPU, "cores"), 1)
    draft.put((*_CPU, "threads"), 1)
    if sockets:
        draft.put((*_CPU, "sockets"), sockets)


def _fill_pull_policies(draft: Draft) -> None:
    for index, volume in enumerate(draft.get("spec", "volumes") or ()):
        container_disk = volume.get("containerDisk")
        if container_disk is not None and not container_disk.get("imagePullPolicy"):
            image = container_disk.get("image", "")
            # A registry port counts as a tag upstream.
            latest = image.endswith(":latest") or not (":" in image or "@" in image)
            policy = "Always" if latest else "IfNotPresent"
            draft.put(("spec", "volumes", index, "containerDisk", "imagePullPolicy"), policy)
