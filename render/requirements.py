"""What the admission of VMs and the webhooks of instancetypes and preferences check.

Upstream: pkg/instancetype/preference/requirements/, pkg/instancetype/preference/validation/cpu.go,
pkg/instancetype/webhooks/admitter.go, pkg/instancetype/preference/webhooks/admitter.go.
"""

from collections.abc import Iterator
from typing import NamedTuple

from render.model import quantity, topology, tree
from render.model.fieldpath import FieldPath
from render.model.tree import Tree


class Finding(NamedTuple):
    """A refused field and KubeVirt's text; *source* is the field of the preference that asks for more."""

    path: FieldPath
    message: str
    source: FieldPath = ()


_ALL = 100  # percent
_THREADS_PER_CORE = 2
_PREFIX = "failure checking preference requirements: "
_CPU: FieldPath = ("spec", "template", "spec", "domain", "cpu")
_MEMORY: FieldPath = ("spec", "template", "spec", "domain", "memory")
#: topology -> the dimensions whose product must reach the requirement, and what the text calls them.
_DIMENSIONS = {
    "threads": (("threads",), "threads"),
    "cores": (("cores",), "cores"),
    "sockets": (("sockets",), "sockets"),
    "any": (("cores", "sockets", "threads"), "cores, sockets and threads"),
}
_SPREAD_DIMENSIONS = {
    "SocketsCores": ("sockets", "cores"),
    "CoresThreads": ("cores", "threads"),
    "SocketsCoresThreads": ("sockets", "cores", "threads"),
}


def check(template: Tree, instancetype: Tree | None, preference: Tree) -> Finding | None:
    """The first requirement of *preference* that the VM fails, after application and spec defaults."""
    required = preference.get("requirements") or {}
    return (
        _check_cpu(template, instancetype, preference, required)
        or _check_memory(template, instancetype, required)
        or _check_architecture(template, required)
    )


def _check_cpu(
    template: Tree, instancetype: Tree | None, preference: Tree, required: Tree
) -> Finding | None:
    if required.get("cpu") is None:
        return None
    wanted, source = required["cpu"].get("guest", 0), ("requirements", "cpu", "guest")
    if instancetype is not None:
        provided = tree.get(instancetype, "cpu", "guest") or 0
        if provided >= wanted:
            return None
        return Finding(
            ("spec", "instancetype"),
            f"{_PREFIX}insufficient CPU resources of {provided} vCPU provided by instance type, "
            f"preference requires {wanted} vCPU",
            source,
        )
    preferred = topology.preferred(preference)
    if preferred == "spread":
        name = topology.spread(preference).across
        dimensions = _SPREAD_DIMENSIONS.get(name, ())
    elif preferred in _DIMENSIONS:
        dimensions, name = _DIMENSIONS[preferred]
    else:
        return None
    cpu = tree.get(template, "spec", "domain", "cpu") or {}
    provided = 1 if dimensions else 0
    for dimension in dimensions:
        provided = provided * cpu.get(dimension, 0) & 0xFFFFFFFF
    if provided >= wanted:
        return None
    return Finding(
        (*_CPU, dimensions[0]) if dimensions else _CPU,
        f"{_PREFIX}insufficient CPU resources of {provided} vCPU provided by VirtualMachine, "
        f"preference requires {wanted} vCPU provided as {name}",
        source,
    )


def _check_memory(template: Tree, instancetype: Tree | None, required: Tree) -> Finding | None:
    if required.get("memory") is None:
        return None
    wanted = required["memory"].get("guest", "0")
    provided = tree.get(instancetype, "memory", "guest") or "0"
    provided = tree.get(template, "spec", "domain", "memory", "guest") or provided
    if quantity.compare(provided, wanted) >= 0:
        return None
    by, path = ("VirtualMachine", _MEMORY)
    if instancetype is not None:
        by, path = "instance type", ("spec", "instancetype")
    return Finding(
        path,
        f"{_PREFIX}insufficient Memory resources of {provided} provided by {by}, preference "
        f"requires {wanted}",
        ("requirements", "memory", "guest"),
    )


def _check_architecture(template: Tree, required: Tree) -> Finding | None:
    wanted = required.get("architecture")
    requested = tree.get(template, "spec", "architecture") or ""
    if wanted is None or wanted == requested:
        return None
    return Finding(
        ("spec", "template", "spec", "architecture"),
        f"{_PREFIX}preference requires architecture {wanted} but {requested} is being requested",
        ("requirements", "architecture"),
    )


def check_spread(instancetype: Tree, preference: Tree | None) -> Finding | None:
    """Whether the instancetype's vCPUs can be spread as preferred; the path is the instancetype's."""
    if topology.preferred(preference) != "spread":
        return None
    vcpus = tree.get(instancetype, "cpu", "guest") or 0
    across, ratio = topology.spread(preference)
    ratio_name = "Spec.PreferSpreadSocketToCoreRatio or Spec.CPU.PreferSpreadOptions.Ratio"
    match across:
        case "SocketsCores" if vcpus % ratio:
            reason = f"the {ratio_name} of {ratio} provided by the preference"
        case "CoresThreads" if vcpus % ratio:
            reason = f"the number of threads per core {ratio}"
        case "SocketsCoresThreads" if vcpus % 2 or vcpus // 2 % ratio:
            reason = f"the number of threads per core 2 and {ratio_name} of {ratio}"
        case _:
            return None
    return Finding(
        ("spec", "cpu", "guest"),
        f"{vcpus} vCPUs provided by the instance type are not divisible by {reason}",
        ("cpu", "spreadOptions"),
    )


def ratio_is_zero(preference: Tree | None) -> bool:
    """Whether spreading divides by zero: KubeVirt's own code crashes on it."""
    return topology.preferred(preference) == "spread" and topology.spread(preference).ratio == 0


def validate_instancetype(spec: Tree) -> Iterator[Finding]:
    """What the webhook of instancetypes refuses."""
    memory = spec.get("memory") or {}
    percent = memory.get("overcommitPercent", 0)
    path = ("spec", "memory", "overcommitPercent")
    if not 0 <= percent <= _ALL:
        yield Finding(
            path,
            f"spec.memory.overcommitPercent '{percent}': must be in range between 0 and 100.",
        )
    if percent and memory.get("hugepages") is not None:
        yield Finding(
            path,
            "spec.memory.overcommitPercent and spec.memory.hugepages should not be requested "
            "together.",
        )


def validate_preference(spec: Tree) -> Iterator[Finding]:
    """What the webhook of preferences refuses."""
    preferred = tree.get(spec, "cpu", "preferredCPUTopology")
    if preferred is None:
        return
    if preferred not in topology.KNOWN:
        yield Finding(
            ("spec", "cpu", "preferredCPUTopology"), f"unknown preferredCPUTopology {preferred}"
        )
        return
    if topology.preferred(spec) != "spread":
        return
    across, ratio = topology.spread(spec)
    if across not in _SPREAD_DIMENSIONS:
        yield Finding(
            ("spec", "cpu", "spreadOptions", "across"), f"across {across} is not supported"
        )
    elif across == "CoresThreads" and ratio != _THREADS_PER_CORE:
        yield Finding(
            ("spec", "cpu", "spreadOptions", "ratio"),
            "only a ratio of 2 (1 core 2 threads) is allowed when spreading vCPUs over cores and "
            "threads",
        )
