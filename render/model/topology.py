"""Preferred CPU topology and spread options, as a preference states them.

Upstream: pkg/instancetype/apply/cpu.go, pkg/instancetype/preference/apply/cpu.go.
"""

from render.model import tree
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree

#: Deprecated value -> its successor.
SUCCESSORS = {
    "preferSockets": "sockets",
    "preferCores": "cores",
    "preferThreads": "threads",
    "preferSpread": "spread",
    "preferAny": "any",
}
KNOWN = frozenset(SUCCESSORS) | frozenset(SUCCESSORS.values())
#: What vCPUs may be spread over -> the dimensions of a topology.
SPREAD_DIMENSIONS = {
    "SocketsCores": ("sockets", "cores"),
    "CoresThreads": ("cores", "threads"),
    "SocketsCoresThreads": ("sockets", "cores", "threads"),
}


class Spread(NamedTuple):
    """How vCPUs are spread: over which dimensions, and in what ratio."""

    across: str
    ratio: int


class CPUTopology(NamedTuple):
    """A guest CPU topology."""

    sockets: int
    cores: int
    threads: int


def preferred(preference: Tree | None) -> str:
    """The preferred topology under its current name; ``sockets`` where nothing is preferred."""
    value = ((preference or {}).get("cpu") or {}).get("preferredCPUTopology")
    return "sockets" if value is None else SUCCESSORS.get(value, value)


def spread(preference: Tree | None) -> Spread:
    """The spread options in force, the older ratio knob included."""
    options = tree.get(preference, "cpu", "spreadOptions") or {}
    older = tree.get(preference, "preferSpreadSocketToCoreRatio") or 2
    return Spread(options.get("across", "SocketsCores"), options.get("ratio", older))


def layout(vcpus: int, preference: Tree | None) -> CPUTopology:
    """Lay *vcpus* out as *preference* asks; spreading truncates.

    Raises ZeroDivisionError for a spread ratio of 0, where KubeVirt itself crashes.
    """
    if vcpus == 1:
        return CPUTopology(1, 1, 1)
    match preferred(preference):
        case "sockets" | "any":
            return CPUTopology(vcpus, 1, 1)
        case "cores":
            return CPUTopology(1, vcpus, 1)
        case "threads":
            return CPUTopology(1, 1, vcpus)
        case "spread":
            return _spread(vcpus, spread(preference))
        case _:
            # QUIRK(pkg/instancetype/apply/cpu.go): an unknown topology loses the vCPUs.
            return CPUTopology(1, 1, 1)


def _spread(vcpus: int, options: Spread) -> CPUTopology:
    match options.across:
        case "SocketsCores":
            return CPUTopology(vcpus // options.ratio, options.ratio, 1)
        case "CoresThreads":
            return CPUTopology(1, vcpus // options.ratio, options.ratio)
        case "SocketsCoresThreads":
            return CPUTopology(vcpus // 2 // options.ratio, options.ratio, 2)
        case _:
            return CPUTopology(1, 1, 1)
