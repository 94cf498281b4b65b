"""Upper bounds for CPU and memory hotplug.

Upstream: pkg/defaults/defaults.go (setupHotplug).
"""

from render.model.apimachinery import quantity
from render.model.cluster.liveupdate import memory_fault
from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft
from render.model.release import Version, holds, in_force, since, until

_CPU = ("spec", "domain", "cpu")
_MEMORY = ("spec", "domain", "memory")
_UINT32 = 0xFFFFFFFF


def fill(draft: Draft, config: ClusterConfig, release: Version) -> None:
    """Set ``maxSockets`` and ``maxGuest`` where live update is possible."""
    if config.rollout_strategy != "LiveUpdate":
        return
    if draft.get("spec", "architecture") == "arm64" and not holds(_PLUGS_ARM, release):
        return
    _fill_max_sockets(draft, config, release)
    _fill_max_guest(draft, config, release)


_PLUGS_ARM = until("1.5.2", "a VMI on arm64 is prepared for more CPUs and memory")
#: The vCPUs that no default goes beyond.
_MAX_VCPUS = (since("1.4.1", until("1.5", 512)), since("1.5.1", 512))


def _fill_max_sockets(draft: Draft, config: ClusterConfig, release: Version) -> None:
    cpu = draft.get(*_CPU) or {}
    if cpu.get("maxSockets"):
        return
    sockets, cores, threads = (cpu.get(key, 0) for key in ("sockets", "cores", "threads"))
    maximum = config.max_cpu_sockets
    if maximum:
        maximum = max(maximum, sockets)
    else:
        maximum = sockets * config.hotplug_ratio & _UINT32
        for most in in_force(_MAX_VCPUS, release):
            if maximum * cores * threads & _UINT32 > most:
                maximum = max(most // (cores * threads), sockets)
    if maximum:
        draft.put((*_CPU, "maxSockets"), maximum)


def _fill_max_guest(draft: Draft, config: ClusterConfig, release: Version) -> None:
    guest = draft.get(*_MEMORY, "guest")
    if draft.get(*_MEMORY, "maxGuest") is not None:
        return
    maximum = config.max_guest
    if maximum is None and guest is not None:
        maximum = quantity.from_int(quantity.value(guest) * config.hotplug_ratio, "BinarySI")
    if maximum is not None and not memory_fault(draft.get("spec") or {}, maximum, release):
        draft.put((*_MEMORY, "maxGuest"), maximum)
