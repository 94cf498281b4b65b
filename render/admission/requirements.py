"""What a preference asks of a VM, and whether an instancetype's vCPUs can be spread as it prefers.

Upstream: pkg/instancetype/preference/requirements/, pkg/instancetype/preference/validation/cpu.go.
"""

from collections.abc import Sequence

from render.diagnostics.cause import Cause
from render.model import fieldpath, topology, tree
from render.model.apimachinery import quantity
from render.model.fieldpath import FieldPath
from render.model.tree import Tree

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


def check(template: Tree, instancetype: Tree | None, preference: Tree) -> Cause | None:
    """The first requirement of *preference* that the VM fails, after application and spec defaults."""
    required = preference.get("requirements") or {}
    return (
        _check_cpu(template, instancetype, preference, required)
        or _check_memory(template, instancetype, required)
        or _check_architecture(template, required)
    )


def meets(instancetype: Tree, preference: Tree) -> bool:
    """Whether *instancetype* has what *preference* requires of one, and can be spread as it prefers."""
    required = preference.get("requirements") or {}
    return (
        _check_cpu({}, instancetype, preference, required) is None
        and _check_memory({}, instancetype, required) is None
        and not ratio_is_zero(preference)
        and check_spread(instancetype, preference) is None
    )


def _check_cpu(
    template: Tree, instancetype: Tree | None, preference: Tree, required: Tree
) -> Cause | None:
    if required.get("cpu") is None:
        return None
    wanted, source = required["cpu"].get("guest", 0), ("requirements", "cpu", "guest")
    if instancetype is not None:
        provided = tree.get(instancetype, "cpu", "guest") or 0
        if provided >= wanted:
            return None
        return Cause(
            "requirements/cpu",
            ("spec", "instancetype"),
            f"{_PREFIX}insufficient CPU resources of {provided} vCPU provided by instance type, "
            f"preference requires {wanted} vCPU",
            source=source,
        )
    preferred = topology.preferred(preference)
    if preferred == "spread":
        name = topology.spread(preference).across
        dimensions = topology.SPREAD_DIMENSIONS.get(name, ())
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
    return Cause(
        "requirements/cpu",
        _joined([(*_CPU, dimension) for dimension in dimensions]),
        f"{_PREFIX}insufficient CPU resources of {provided} vCPU provided by VirtualMachine, "
        f"preference requires {wanted} vCPU provided as {name}",
        _topology_cure(cpu, dimensions, wanted),
        source=source,
        place=(*_CPU, dimensions[0]) if dimensions else _CPU,
    )


def _topology_cure(cpu: Tree, dimensions: Sequence[str], wanted: int) -> str:
    """How the topology *cpu* of a VM gets *wanted* vCPUs where *dimensions* alone count, and all are multiplied."""
    if not dimensions:
        return ""
    place, (first, *others) = fieldpath.text(_CPU), dimensions
    if others:
        cure = f"have {', '.join(dimensions)} of {place} make {wanted}, multiplied"
    else:
        cure = f"set {place}.{first} to {wanted}"
    ignored = [
        key
        for key in topology.CPUTopology._fields
        if key not in dimensions and type(cpu.get(key)) is int and cpu[key] > 1
    ]
    return (
        f"{cure}: {', '.join(ignored)} do not count, and are better left out" if ignored else cure
    )


def _joined(paths: list[FieldPath]) -> FieldPath:
    """The one field that KubeVirt writes where it means several: their texts with ``, `` between them."""
    joined: FieldPath = ()
    for path in paths:
        joined = (*joined[:-1], f"{joined[-1]}, {path[0]}", *path[1:]) if joined else path
    return joined


def _check_memory(template: Tree, instancetype: Tree | None, required: Tree) -> Cause | None:
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
    return Cause(
        "requirements/memory",
        path,
        f"{_PREFIX}insufficient Memory resources of {provided} provided by {by}, preference "
        f"requires {wanted}",
        source=("requirements", "memory", "guest"),
    )


def _check_architecture(template: Tree, required: Tree) -> Cause | None:
    wanted = required.get("architecture")
    requested = tree.get(template, "spec", "architecture") or ""
    if wanted is None or wanted == requested:
        return None
    return Cause(
        "requirements/architecture",
        ("spec", "template", "spec", "architecture"),
        f"{_PREFIX}preference requires architecture {wanted} but {requested} is being requested",
        source=("requirements", "architecture"),
    )


def check_spread(instancetype: Tree, preference: Tree | None) -> Cause | None:
    """Whether the instancetype's vCPUs can be spread as preferred."""
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
    return Cause(
        "requirements/spread",
        ("instancetype", "spec", "cpu", "guest"),
        f"{vcpus} vCPUs provided by the instance type are not divisible by {reason}",
        source=("cpu", "spreadOptions"),
    )


def ratio_is_zero(preference: Tree | None) -> bool:
    """Whether spreading divides by zero: KubeVirt's own code crashes on it."""
    return topology.preferred(preference) == "spread" and topology.spread(preference).ratio == 0
