"""What the webhooks of instancetypes and preferences refuse.

Upstream: pkg/instancetype/webhooks/admitter.go, pkg/instancetype/preference/webhooks/admitter.go.
"""

from collections.abc import Iterator

from render.diagnostics.cause import Cause
from render.diagnostics.fix import respelled
from render.model import topology, tree
from render.model.fieldpath import FieldPath
from render.model.tree import Tree

_ALL = 100  # percent
_THREADS_PER_CORE = 2
_TOPOLOGY: FieldPath = ("spec", "cpu", "preferredCPUTopology")


def validate_instancetype(spec: Tree) -> Iterator[Cause]:
    """What the webhook of instancetypes refuses."""
    memory = spec.get("memory") or {}
    percent = memory.get("overcommitPercent", 0)
    path = ("spec", "memory", "overcommitPercent")
    if not 0 <= percent <= _ALL:
        yield Cause(
            "instancetype/overcommit-range",
            path,
            f"spec.memory.overcommitPercent '{percent}': must be in range between 0 and 100.",
            "write the percent of guest memory that the pod does not ask for: 0 to 100",
        )
    if percent and memory.get("hugepages") is not None:
        yield Cause(
            "instancetype/overcommit-hugepages",
            path,
            "spec.memory.overcommitPercent and spec.memory.hugepages should not be requested "
            "together.",
            "remove one of the two: huge pages are never overcommitted",
        )


def validate_preference(spec: Tree) -> Iterator[Cause]:
    """What the webhook of preferences refuses."""
    preferred = tree.get(spec, "cpu", "preferredCPUTopology")
    if preferred is None:
        return
    if preferred not in topology.KNOWN:
        known = sorted(set(topology.SUCCESSORS.values()))
        yield Cause(
            "preference/topology",
            _TOPOLOGY,
            f"unknown preferredCPUTopology {preferred}",
            f"use one of {', '.join(known)}",
            fixes=respelled(_TOPOLOGY, preferred, known),
        )
        return
    if topology.preferred(spec) != "spread":
        return
    across, ratio = topology.spread(spec)
    if across not in topology.SPREAD_DIMENSIONS:
        yield Cause(
            "preference/spread-across",
            ("spec", "cpu", "spreadOptions", "across"),
            f"across {across} is not supported",
            f"use one of {', '.join(topology.SPREAD_DIMENSIONS)}",
        )
    elif across == "CoresThreads" and ratio != _THREADS_PER_CORE:
        yield Cause(
            "preference/spread-ratio",
            ("spec", "cpu", "spreadOptions", "ratio"),
            "only a ratio of 2 (1 core 2 threads) is allowed when spreading vCPUs over cores and "
            "threads",
            "set ratio: 2, or leave it out",
        )
