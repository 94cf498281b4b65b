"""Upper bounds for CPU and memory hotplug.

Upstream: pkg/defaults/defaults.go (setupHotplug), pkg/liveupdate/memory/memory.go.
"""

from render.model import quantity
from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft

_CPU = ("spec", "domain", "cpu")
_MEMORY = ("spec", "domain", "memory")
_MAX_VCPUS = 512
_UINT32 = 0xFFFFFFFF
_MIB = 1 << 20
_GIB = 1 << 30


def fill(draft: Draft, config: ClusterConfig) -> None:
    """Set ``maxSockets`` and ``maxGuest`` where live update is possible."""
    if draft.get("spec", "architecture") == "arm64" or config.rollout_strategy != "LiveUpdate":
        return
    _fill_max_sockets(draft, config)
    _fill_max_guest(draft, config)


def _fill_max_sockets(draft: Draft, config: ClusterConfig) -> None:
    cpu = draft.get(*_CPU) or {}
    if cpu.get("maxSockets"):
        return
    sockets, cores, threads = (cpu.get(key, 0) for key in ("sockets", "cores", "threads"))
    maximum = config.max_cpu_sockets
    if maximum:
        maximum = max(maximum, sockets)
    else:
        maximum = sockets * config.hotplug_ratio & _UINT32
        if maximum * cores * threads & _UINT32 > _MAX_VCPUS:
            maximum = max(_MAX_VCPUS // (cores * threads), sockets)
    if maximum:
        draft.put((*_CPU, "maxSockets"), maximum)


def _fill_max_guest(draft: Draft, config: ClusterConfig) -> None:
    guest = draft.get(*_MEMORY, "guest")
    if draft.get(*_MEMORY, "maxGuest") is not None:
        return
    maximum = config.max_guest
    if maximum is None and guest is not None:
        maximum = quantity.from_int(quantity.value(guest) * config.hotplug_ratio, "BinarySI")
    if maximum is not None and _fits(draft, maximum):
        draft.put((*_MEMORY, "maxGuest"), maximum)


def _fits(draft: Draft, maximum: str) -> bool:
    """Whether memory can grow to *maximum* (upstream: ValidateLiveUpdateMemory)."""
    guest = draft.get(*_MEMORY, "guest")
    domain = draft.get("spec", "domain") or {}
    cpu = domain.get("cpu") or {}
    if (
        guest is None
        or cpu.get("realtime") is not None
        or (cpu.get("numa") or {}).get("guestMappingPassthrough") is not None
        or domain.get("launchSecurity") is not None
        or draft.get("spec", "architecture") != "amd64"
        or quantity.compare(guest, maximum) > 0
    ):
        return False
    huge = draft.get(*_MEMORY, "hugepages", "pageSize") == "1Gi"
    alignment = _GIB if huge else 2 * _MIB
    size = quantity.value(guest)
    aligned = size % alignment == 0 and quantity.value(maximum) % alignment == 0
    return aligned and size >= _GIB
