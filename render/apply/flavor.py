"""How a flavor of flavor.kubevirt.io/v1alpha1 reaches a VM: whole blocks, as KubeVirt v0.47 to v0.55 did it.

Upstream of that time: pkg/flavor/flavor.go. What flavors did as instancetypes still do is taken from there.
"""

from collections.abc import Iterable

from render.apply.instancetype import devices, iothreads, launch_security
from render.model.draft import Draft
from render.model.tree import Tree
from render.rules import Conflict, Edit, Result, Rules, custom, plain, spec

_CPU = spec("domain", "cpu")
_MEMORY = spec("domain", "memory")
_ATTRIBUTES = {
    "model": "model",
    "dedicatedCPUPlacement": "dedicatedCpuPlacement",
    "numa": "numa",
    "isolateEmulatorThread": "isolateEmulatorThread",
    "realtime": "realtime",
}


def _cpu(flavor: Tree, draft: Draft) -> Iterable[Result]:
    cpu = flavor.get("cpu")
    if cpu is None:
        return ()
    if draft.get(*_CPU) is not None:
        # Any CPU block of the VM, even an empty one.
        return (Conflict(_CPU, ("cpu",), _CPU),)
    if "guest" not in cpu:
        return (Edit(_CPU, cpu, ("cpu",)),)
    return tuple(
        Edit((*_CPU, target), plain(cpu[source]), ("cpu", source))
        for source, target in _ATTRIBUTES.items()
        if source in cpu
    )


def _memory(flavor: Tree, draft: Draft) -> Iterable[Result]:
    memory = flavor.get("memory") or {}
    if memory.get("guest") is None:
        return ()
    if draft.get(*_MEMORY) is not None:
        return (Conflict(_MEMORY, ("memory", "guest"), _MEMORY),)
    return tuple(Edit((*_MEMORY, key), value, ("memory", key)) for key, value in memory.items())


RULES: Rules = (
    custom(_cpu, reads=("cpu",), writes=("domain.cpu",)),
    custom(_memory, reads=("memory.guest", "memory.hugepages"), writes=("domain.memory",)),
    *iothreads.RULES,
    *launch_security.RULES,
    *devices.RULES,
)
