"""Saying the same in today's words: changes that are planned, tried out, and kept only if no VM changes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from render.convert import flavors, machines, successors
from render.diagnostics.codes import NOT_CONVERTIBLE
from render.diagnostics.diagnostic import Diagnostic, Severity, at
from render.model import edits as edited
from render.model import tree
from render.model.edits import Edit, Put
from render.model.resource import FLAVOR, INSTANCETYPE, KUBEVIRT, Resource, from_body
from render.model.tree import Tree
from render.pipeline import load, order
from render.presets import APPLIED, HISTORIC, MODERN, SelectorError, selects
from render.resolve.kinds import KIND_CLASSES, PREFERENCE
from render.settings import Settings

_NAMES = tuple(
    f"kubevirt.io/{scope}{one.annotation}" for one in KIND_CLASSES for scope in ("", "cluster-")
)


class Unit(NamedTuple):
    """A change that is made whole or not at all: *words* about *resource*, and the edits of each object by index.

    *gone* and *safe*: see `successors.Step`.
    """

    resource: Resource
    words: str
    edits: dict[int, tuple[Edit, ...]]
    gone: tuple[str, ...]
    safe: bool = False


class Migration(NamedTuple):
    """The edits of each object by index, what they do, and what stays as it is and why."""

    edits: dict[int, list[Edit]]
    done: list[tuple[Resource, str]]
    diagnostics: list[Diagnostic]


def migrate(
    resources: Sequence[Resource],
    settings: Settings,
    fixed: frozenset[int] = frozenset(),
    patches: Mapping[str, str] = {},
) -> Migration:
    """Plan the migration of *resources*; those at the indexes *fixed* cannot be edited.

    What a VM becomes is compared before and after, apart from the annotations that name where it comes from. A change
    by which one would differ is left out, and one that takes away what one of *patches* (texts by file) looks for.
    """
    settings = replace(
        settings, emit="vmi", preset_conflicts="override", annotations=False, pins="ignore"
    )
    diagnostics: list[Diagnostic] = []
    units: list[Unit] = []
    for unit in _units(resources, settings, diagnostics):
        reason = _hindrance(unit, fixed, patches)
        if reason:
            diagnostics.append(_stays(unit.resource, reason))
        else:
            units.append(unit)
    want = _started(resources, settings)
    accepted = units
    if units and _started(_edited(resources, units), settings) != want:
        accepted = []
        for batch in ([unit for unit in units if unit.safe], *([u] for u in units if not u.safe)):
            if _started(_edited(resources, [*accepted, *batch]), settings) == want:
                accepted += batch
            else:
                diagnostics += (
                    _stays(u.resource, f"with {u.words}, a VM would change") for u in batch
                )
    made: dict[int, list[Edit]] = {}
    for unit in accepted:
        for index, found in unit.edits.items():
            made.setdefault(index, []).extend(found)
    return Migration(made, [(unit.resource, unit.words) for unit in accepted], diagnostics)


def _hindrance(unit: Unit, fixed: frozenset[int], patches: Mapping[str, str]) -> str:
    """Why *unit* cannot be made, whatever the VMs become; ``""`` if it can."""
    if fixed & unit.edits.keys():
        return "it is JSON, which is not rewritten"
    for file, text in patches.items():
        for word in unit.gone:
            if re.search(rf"\b{re.escape(word)}\b", text):
                return f"{file} patches {word}, which it would not find any more"
    return ""


def _edited(resources: Sequence[Resource], units: Iterable[Unit]) -> list[Resource]:
    found = list(resources)
    for unit in units:
        for index, changes in unit.edits.items():
            body = edited.apply(found[index].body, changes)
            found[index] = from_body(body, index, found[index].origin)
    return found


def _started(resources: Sequence[Resource], settings: Settings) -> list[tuple[str, str, Any]]:
    """What each VM and VMI becomes (None where it becomes nothing), without the names of what it was made from."""
    rendered = order.run(resources, settings)
    found = {
        (metadata.get("namespace", ""), metadata["name"]): _unnamed(body)
        for body in rendered.resources
        if body.get("kind") == "VirtualMachineInstance"
        for metadata in (body["metadata"],)
    }
    return [
        (one.namespace, one.name, found.get((one.namespace, one.name)))
        for one in resources
        if load.is_machine(one)
    ]


def _unnamed(body: Tree) -> Tree:
    metadata = body["metadata"]
    annotations = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if key not in _NAMES and not key.startswith(APPLIED)
    }
    return {**body, "metadata": {**metadata, "annotations": annotations}}


def _stays(resource: Resource, why: str) -> Diagnostic:
    return NOT_CONVERTIBLE.at(
        at(resource), f"{resource.ref} stays as it is: {why}", severity=Severity.WARNING
    )


def _units(
    resources: Sequence[Resource], settings: Settings, left: list[Diagnostic]
) -> Iterator[Unit]:
    """Every change that may be made; reasons against one go to *left*."""
    taken = {
        (one.kind, _scope(one, settings), one.name)
        for one in resources
        if one.group == INSTANCETYPE
    }
    for resource in resources:
        if resource.group == FLAVOR and resource.kind in flavors.KINDS:
            yield from _flavor(resource, resources, settings, taken, left)
            continue
        if resource.group == FLAVOR and _is_taken(resource, resource.kind, settings, taken, left):
            continue
        if machines.era(resource) or resource.kind == HISTORIC.kind:
            left.append(
                _stays(resource, f"{KUBEVIRT}/{machines.VERSION} is rendered, not rewritten")
            )
            continue
        for step in successors.steps(resource):
            edits = {resource.index: step.edits}
            yield Unit(resource, step.words, edits, step.gone, safe=step.safe)
        if (resource.group, resource.kind) == (KUBEVIRT, MODERN.kind):
            yield from _preset(resource, resources, settings, taken, left)


def _scope(resource: Resource, settings: Settings) -> str:
    return "" if "Cluster" in resource.kind else resource.namespace or settings.namespace


def _is_taken(
    resource: Resource,
    kind: str,
    settings: Settings,
    taken: set[tuple[str, str, str]],
    left: list[Diagnostic],
) -> bool:
    key = (kind, _scope(resource, settings), resource.name)
    if key in taken:
        left.append(_stays(resource, f"there is a {kind} of this name"))
        return True
    taken.add(key)
    return False


def _flavor(
    resource: Resource,
    resources: Sequence[Resource],
    settings: Settings,
    taken: set[tuple[str, str, str]],
    left: list[Diagnostic],
) -> Iterator[Unit]:
    changes = successors.flavor(resource)
    if isinstance(changes, str):
        left.append(_stays(resource, changes))
        return
    kind = flavors.SUCCESSORS[resource.kind]
    if _is_taken(resource, kind, settings, taken, left):
        return
    found: dict[int, tuple[Edit, ...]] = {resource.index: changes}
    for vm in resources:
        given = vm.spec.get("flavor")
        if vm.kind != load.VM or vm.group != KUBEVIRT or not isinstance(given, dict):
            continue
        same = flavors.kind_of(str(given.get("kind") or "")) == resource.kind
        near = "Cluster" in kind or _scope(vm, settings) == _scope(resource, settings)
        if same and near and given.get("name") == resource.name:
            found[vm.index] = successors.flavor_matcher(given)
    yield Unit(resource, f"{kind} of {successors.BETA}", found, ("flavor", resource.kind))


def _preset(
    resource: Resource,
    resources: Sequence[Resource],
    settings: Settings,
    taken: set[tuple[str, str, str]],
    left: list[Diagnostic],
) -> Iterator[Unit]:
    changes = successors.preset(resource)
    if isinstance(changes, str):
        left.append(_stays(resource, changes))
        return
    selected = [vm for vm in resources if _is_selected(vm, resource, settings)]
    if not selected:
        left.append(_stays(resource, "it selects no VM here, so that nothing tells what it is for"))
        return
    for vm in selected:
        if vm.kind != load.VM:
            left.append(_stays(resource, f"{vm.ref} is no VM, and can have no preference"))
            return
        if PREFERENCE.word in vm.spec:
            left.append(_stays(resource, f"{vm.ref} has another preference"))
            return
    if _is_taken(resource, PREFERENCE.namespaced, settings, taken, left):
        return
    matcher = {"name": resource.name, "kind": PREFERENCE.namespaced}
    added = {vm.index: (Put(("spec", PREFERENCE.word), matcher),) for vm in selected}
    yield Unit(
        resource,
        f"{PREFERENCE.namespaced} of {successors.BETA}",
        {resource.index: changes, **added},
        (resource.kind,),
    )


def _is_selected(vm: Resource, preset: Resource, settings: Settings) -> bool:
    if not load.is_machine(vm) or machines.era(vm):
        return False
    metadata = vm.body if vm.kind == load.VMI else tree.get(vm.body, "spec", "template")
    labels = tree.get(metadata, "metadata", "labels") or {}
    excluded = tree.get(metadata, "metadata", "annotations", MODERN.exclude) == "true"
    if excluded or _scope(vm, settings) != _scope(preset, settings):
        return False
    try:
        return selects(preset.spec.get("selector") or {}, labels)
    except SelectorError:
        return False
