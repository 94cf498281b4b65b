"""Who decided each field of the VMI that a VM starts: the VM, a definition, a preset, a setting, or KubeVirt itself."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from render.diagnostics.diagnostic import Diagnostic
from render.diagnostics.secrets import is_secret
from render.model import fieldpath, tree
from render.model.fieldpath import FieldPath
from render.model.kinds import FLAVOR, INSTANCETYPE, KIND_CLASSES
from render.model.provenance import Provenance
from render.model.resource import Resource, ResourceRef
from render.model.tree import Tree
from render.pipeline import attribution, order
from render.pipeline.machine import TEMPLATE, Machine
from render.pipeline.stages import emit, holders
from render.settings import Settings

HIDDEN = "(hidden)"
#: ``kubevirt`` is its default, or what it computes from other fields: which of them is not known.
Decider = Literal["vm", "definition", "preset", "cluster", "kubevirt"]


class Decision(NamedTuple):
    """*field* of a VMI has *value*, because of *source_field* of *source*, which the input has at *index*.

    No source: KubeVirt's own. No index: an object that is not in the input.
    """

    field: str
    value: Any
    decider: Decider
    source: ResourceRef | None = None
    source_field: FieldPath = ()
    index: int | None = None  # type: ignore[assignment] # nobody searches it as a tuple


class Explained(NamedTuple):
    """Who decided the fields of the VMI that *resource* starts; nobody where *diagnostics* keep it from that."""

    resource: ResourceRef
    decisions: tuple[Decision, ...]
    diagnostics: tuple[Diagnostic, ...]


def explain(resources: Sequence[Resource], settings: Settings) -> list[Explained]:
    """Each VM of *resources*, as it is synced with its definitions."""
    found: list[Machine] = []
    # Of all modes this one knows every machine that starts; what is synced without a lock is what decides.
    plain = settings._replace(
        emit="vm", stored=False, defaults="manifest", firmware_uuid="none", pins="ignore", annotations=False
    )  # fmt: skip
    rendered = order.run(resources, plain, lambda machine, _: found.append(machine), traced=True)
    return [
        Explained(
            one.resource.ref,
            () if one.failed else tuple(_decisions(one, len(resources))),
            tuple(each for each in rendered.diagnostics if each.resource == one.resource.ref),
        )
        for one in found
    ]


def _decisions(machine: Machine, count: int) -> Iterator[Decision]:
    """*count*: how many objects the input has."""
    vmi = emit.started(machine)
    cluster = machine.context.config_source
    for path, value in _leaves({key: vmi[key] for key in ("metadata", "spec") if vmi.get(key)}):
        shown = HIDDEN if is_secret(path) else value
        field = fieldpath.text(path)
        by = _definition(path, machine)
        setting = attribution.setting_of(tuple(map(str, path)), cluster.kubevirt if cluster else {})
        if by is not None and by.source is not None:
            decider: Decider = "preset" if by.source.kind.endswith("Preset") else "definition"
            inside = attribution.field_in(by.source, by.source_field)
            yield Decision(field, shown, decider, by.source, inside, by.position)
        elif (written := _written(path, machine)) is not None:
            yield Decision(
                field, shown, "vm", machine.resource.ref, written, machine.resource.index
            )
        elif setting is not None and cluster is not None:
            held = cluster.resource
            written = cluster.origin(setting) or ()
            index = held.index if held.index < count else None
            yield Decision(field, shown, "cluster", held.ref, written, index)
        else:
            yield Decision(field, shown, "kubevirt")


def _leaves(node: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Every scalar in *node*, and every list and mapping without an entry."""
    children: Any = ()
    if isinstance(node, dict):
        children = node.items()
    elif isinstance(node, list):
        children = enumerate(node)
    if not children or not node:
        yield path, node
        return
    for step, child in children:
        yield from _leaves(child, (*path, step))


def _definition(path: FieldPath, machine: Machine) -> Provenance | None:
    """What an instancetype, a preference or a preset says of *path*: the nearest, the last of several."""
    above = len(_above(machine))
    best: Provenance | None = None
    for one in machine.provenance:
        field = one.field[above:]
        if (
            not one.decider
            and path[: len(field)] == field
            and (best is None or len(field) >= len(best.field) - above)
        ):
            best = one
    return best


def _written(path: FieldPath, machine: Machine) -> FieldPath | None:
    """Where the VM itself says *path*."""
    prefix = () if machine.is_bare_today else TEMPLATE
    if tree.get(machine.decoded, *prefix, *path) is not None:
        return (*_above(machine), *path)
    for kind_class in KIND_CLASSES:
        given: Tree | None = machine.spec.get(kind_class.word)
        annotation = given and kind_class.annotation_for(given.get("kind", ""))
        if annotation and path == ("metadata", "annotations", annotation):
            word = FLAVOR.word if kind_class is INSTANCETYPE and machine.flavor else kind_class.word
            return (*_holding(machine), "spec", word, "name")
    return None


def _above(machine: Machine) -> FieldPath:
    """Where metadata and spec of the VMI stand in the object of the input."""
    return (*_holding(machine), *(() if machine.is_bare else TEMPLATE))


def _holding(machine: Machine) -> FieldPath:
    """Where a pool or a replica set has what it makes, nothing for a machine of its own."""
    holder = machine.resource.holder
    return holders.template_of(holder) if holder else ()
