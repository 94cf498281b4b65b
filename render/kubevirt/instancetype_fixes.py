"""What would mend an instancetype that does not fit: another one, or a VM that leaves it what it claims."""

from collections.abc import Iterable, Iterator
from math import prod

from render.admission import requirements
from render.admission.vmi.domain.memory import UNIT_MISSING, units_missing
from render.diagnostics.cause import Cause
from render.diagnostics.fix import Fix, FixEdit, choice, removal, set_to
from render.machine import Machine, ref_of
from render.model import topology, tree
from render.model.apimachinery import quantity
from render.model.apimachinery.quantity import QuantityError
from render.model.catalogue import Definition, Key
from render.model.counting import counted
from render.model.fieldpath import FieldPath
from render.model.kinds import INSTANCETYPE
from render.model.resource import TEMPLATE
from render.model.tree import Tree
from render.rules import Conflict

_MATCHED: FieldPath = ("spec", "instancetype")
_OFFERED = 3
#: What every instancetype that the API server takes has.
_AMOUNTS = frozenset({("cpu", "guest"), ("memory", "guest")})


def cure(cause: Cause, preference: Definition, fixes: tuple[Fix, ...]) -> str:
    """What to do about the requirement of *cause*, with the definitions that the *fixes* name."""
    wanted = tree.get(preference.spec, *cause.source)
    if cause.path != _MATCHED:
        if len(fixes) > 1:
            return UNIT_MISSING
        return cause.help or f"give the VM the {cause.source[1]} that is required: {wanted}"
    names = [str(fix.edits[0].value) for fix in fixes]
    return f"these would do: {', '.join(names)}" if names else f"choose one with {wanted} or more"


def unstated(instancetype: Definition | None, cause: Cause) -> str:
    """The cure where *instancetype* itself is without the amount that *cause* is about, ``""`` where it has that."""
    path = cause.source[1:]
    if instancetype is None or path not in _AMOUNTS or tree.get(instancetype.spec, *path):
        return ""
    return f"mend {ref_of(instancetype)} first: it has no {'.'.join(path)}"


def sufficient(machine: Machine, preference: Definition, cause: Cause) -> tuple[Fix, ...]:
    """The smallest instancetypes that meet what *preference* requires, those of the input before KubeVirt's own.

    Or the amount or architecture itself.
    """
    if machine.resource.older:
        return ()
    wanted = tree.get(preference.spec, *cause.source)
    if cause.path != _MATCHED:
        is_amount = cause.source[1] == "cpu"  # which of cores, sockets and threads is to grow?
        path = cause.path if cause.source[1] == "architecture" else (*cause.path, "guest")
        without_unit = units_missing(tree.get(machine.raw, *path), path)
        if without_unit and not is_amount:
            return without_unit
        return () if is_amount else choice((f"write {wanted}", set_to(path, wanted)))
    current = machine.instancetype
    matcher = tree.get(machine.raw, *_MATCHED)
    if current is None or not isinstance(matcher, dict) or "name" not in matcher:
        return ()
    rows = sorted(
        (
            _unlike(spec, current.spec),
            is_bundled,
            quantity.value(spec["memory"]["guest"]),
            vcpus,
            name,
            kind,
        )
        for kind, name, spec, is_bundled in _within_reach(machine)
        if (vcpus := tree.get(spec, "cpu", "guest") or 0)
        and requirements.meets(spec, preference.spec)
    )
    return tuple(
        Fix(f"name {name}", _naming(matcher, kind, name)) for *_, name, kind in rows[:_OFFERED]
    )


def _naming(matcher: Tree, kind: str, name: str) -> tuple[FixEdit, ...]:
    """The edits by which *matcher* names another instancetype."""
    edits = (set_to((*_MATCHED, "name"), name),)
    if INSTANCETYPE.kind_of(str(matcher.get("kind") or "")) == kind:
        return edits
    return (*edits, set_to((*_MATCHED, "kind"), kind))


def _unlike(spec: Tree, other: Tree) -> bool:
    """Whether the two differ in more than their amounts of CPU and memory."""
    return _without_amounts(spec) != _without_amounts(other)


def _without_amounts(spec: Tree) -> Tree:
    parts = {key: spec.get(key) or {} for key in ("cpu", "memory")}
    return spec | {
        key: {name: amount for name, amount in part.items() if name != "guest"}
        for key, part in parts.items()
    }


def _within_reach(machine: Machine) -> Iterator[tuple[str, str, Tree, bool]]:
    """Kind, name and spec of the instancetypes that the VM may name, and whether it is one of KubeVirt's own."""
    catalogue = machine.context.catalogue
    for kind in (INSTANCETYPE.namespaced, INSTANCETYPE.cluster):
        scope = machine.namespace if kind == INSTANCETYPE.namespaced else ""
        for name in catalogue.known(kind, scope):
            definition = catalogue.definition(Key(kind, scope, name))
            spec = definition.spec if definition else catalogue.bundled.get((kind, name))
            if spec is not None and tree.get(spec, "memory", "guest") is not None:
                yield kind, name, spec, definition is None


_TOPOLOGY: FieldPath = (*TEMPLATE, "spec", "domain", "cpu")


def without(machine: Machine, definition: Definition, conflict: Conflict) -> tuple[Fix, ...]:
    """The VM without what is in *conflict*: nothing is lost where *definition* says the same amount.

    Of vCPUs the topology has to be the same, too: guests may have licences for sockets.
    """
    path = (*TEMPLATE, *conflict.path)
    current, claimed = tree.get(machine.raw, *path), tree.get(definition.spec, *conflict.source)
    if current is None or machine.resource.older:
        return ()
    paths = [path]
    if path[:-1] == _TOPOLOGY and conflict.source == ("cpu", "guest"):
        cpu: Tree = tree.get(machine.raw, *_TOPOLOGY)
        paths = [(*_TOPOLOGY, key) for key in topology.CPUTopology._fields if key in cpu]
        current, claimed = _topologies(machine, cpu, claimed)
    is_same = _is_same_amount(current, claimed)
    told = f": {_brief(current)} -> {_brief(claimed)}" if not is_same else ""
    title = f"leave {'.'.join(map(str, conflict.spelling[1:]))} to {ref_of(definition)}{told}"
    return (Fix(title, removal(machine.raw, paths), is_same),)


def _topologies(machine: Machine, cpu: Tree, vcpus: object) -> tuple[object, object]:
    """What *cpu* of the VM asks for, and what an instancetype of so many *vcpus* gives: their numbers if these differ.

    Else their topologies, in words.
    """
    counts = [cpu.get(key, 1) for key in topology.CPUTopology._fields]
    if not all(type(count) is int for count in counts):
        return None, vcpus
    if prod(counts) != vcpus or not isinstance(vcpus, int):
        return prod(counts), vcpus
    preference = machine.preference.spec if machine.preference else None
    try:
        laid_out = topology.layout(vcpus, preference)
    except ZeroDivisionError:  # KubeVirt crashes, as it does without the fix
        return _in_words(counts), None
    return _in_words(counts), _in_words(laid_out)


def _in_words(counts: Iterable[int]) -> str:
    """``1 socket, 4 cores``, of the *counts* of a topology, without those of one but for the sockets."""
    sockets, *others = zip(topology.CPUTopology._fields, counts, strict=True)
    told = [sockets, *(pair for pair in others if pair[1] != 1)]
    return ", ".join(counted(count, name.removesuffix("s")) for name, count in told)


def _is_same_amount(value: object, other: object) -> bool:
    if isinstance(value, str | int) and isinstance(other, str | int):
        try:
            return bool(quantity.compare(str(value), str(other)) == 0)
        except QuantityError:
            return value == other
    return value == other and type(value) is type(other)


def _brief(value: object) -> str:
    return str(value) if isinstance(value, str | int) else "another value"
