"""The definitions that a change edits or deletes, and whom that does not reach."""

from collections.abc import Container, Iterable, Iterator, Sequence

from render.diff.impact import ChangedDefinition, DefinitionWithoutEffect
from render.diff.source import ChangeSource
from render.machine import Machine
from render.model import catalogue, tree
from render.model.catalogue import Catalogue, Definition
from render.model.fieldpath import FieldPath
from render.model.kinds import INSTANCETYPES, KIND_CLASSES, PREFERENCES, KindClass
from render.model.named_tuple import NamedTuple
from render.model.resource import Resource, ResourceRef
from render.model.tree import Tree
from render.pipeline.comparison.sides import Side
from render.pipeline.input import definitions
from render.pipeline.provenance import attribution
from render.pipeline.provenance.attribution import SideIndex, Transition
from render.pipeline.stages import pins
from render.resolve.find import NOT_FOUND
from render.revisions import hashes


class ChangedDefinitions(NamedTuple):
    """The definitions that both states have, with different contents, and those that only the first has."""

    edited: frozenset[catalogue.Key] = frozenset()
    deleted: frozenset[catalogue.Key] = frozenset()


def changed_between(old: Side, new: Side) -> ChangedDefinitions:
    """What became of the definitions; nothing where one of the states has no VM that could use them."""
    machines = [
        next(iter((side.places.rendered or side.machines).values()), None) for side in (old, new)
    ]
    before, after = (machine.context.catalogue if machine else None for machine in machines)
    if before is None or after is None:
        return ChangedDefinitions()
    edited = {*_edited(before, after)}
    releases = {machine.context.release for machine in machines if machine}
    if len(releases) == 1:  # else another release brings along others, which nobody has edited
        edited.update(_edited_beside(before, after))
    return ChangedDefinitions(frozenset(edited), frozenset(_deleted(before, after)))


def redefined(
    old: Sequence[Resource], new: Sequence[Resource], used: Container[str]
) -> list[ChangedDefinition]:
    """The definitions among the objects of both states that differ, come or go, and whether a VM asks for their names.

    They are compared as they are written: what nobody uses is nowhere else.
    """
    specs: tuple[dict[ResourceRef, Tree], ...] = tuple(
        {resource.ref: resource.spec for resource in state if definitions.is_definition(resource)}
        for state in (old, new)
    )
    before, after = specs
    return [
        ChangedDefinition(ref, ref.name in used, before.get(ref), after.get(ref))
        for ref in sorted({**before, **after})
        if before.get(ref) != after.get(ref)
    ]


def names_used(machines: Iterable[Machine]) -> Iterator[str]:
    """What the definitions of *machines* are called, by whoever found them, and by their authors."""
    for machine in machines:
        for kind_class in KIND_CLASSES:
            definition: Definition | None = getattr(machine, kind_class.word)
            if definition is not None:
                yield definition.name
            yield tree.get(machine.decoded, "spec", kind_class.word, "name") or ""


def _edited(before: Catalogue, after: Catalogue) -> Iterator[catalogue.Key]:
    for key in before.definitions.keys() & after.definitions.keys():
        if not _is_alike(before.definitions[key], after.definitions[key]):
            yield key


def _edited_beside(before: Catalogue, after: Catalogue) -> Iterator[catalogue.Key]:
    """The definitions that both states have beside their inputs, with other contents."""
    if before.bundled != after.bundled:
        for kind, name in before.bundled.keys() & after.bundled.keys():
            key = catalogue.Key(kind, "", name)
            is_defined = key in before.definitions or key in after.definitions
            if not is_defined and before.bundled[kind, name] != after.bundled[kind, name]:
                yield key


def _deleted(before: Catalogue, after: Catalogue) -> Iterator[catalogue.Key]:
    for key in before.definitions.keys() - after.definitions.keys() - after.elsewhere.keys():
        named = key.kind, key.name
        if key.namespace or (named not in after.bundled and named not in after.unclear):
            yield key


def _is_alike(definition: Definition, other: Definition) -> bool:
    """Whether nobody has edited it: as it is written, where both are in the input, and be it by a zero."""
    if definition.resource and other.resource:
        return definition.resource.spec == other.resource.spec
    spec, other_spec = definition.content, other.content
    return spec == other_spec or hashes.content(spec) == hashes.content(other_spec)


def edits_without_effect(
    machine: Machine, edited: Container[catalogue.Key]
) -> Iterator[DefinitionWithoutEffect]:
    """The *edited* definitions that *machine* uses, each with its pin."""
    for kind_class in KIND_CLASSES:
        key = _key(machine, kind_class)
        if key is not None and key in edited:
            yield DefinitionWithoutEffect(
                ResourceRef(*key), pins.pinned_content(machine, kind_class)
            )


def deletions_without_effect(
    before: Machine, after: Machine, deleted: Container[catalogue.Key]
) -> Iterator[DefinitionWithoutEffect]:
    """The *deleted* definitions that a VM used *before*, and refers to *after*, each with its pin.

    *after* may have errors: as it is synced, KubeVirt has what the VM was created with, and a rendering has not.
    """
    for kind_class in KIND_CLASSES:
        key = _key(before, kind_class)
        matchers = [
            tree.get(machine.decoded, "spec", kind_class.word) for machine in (before, after)
        ]
        if key is not None and key in deleted and matchers[0] == matchers[1]:
            yield DefinitionWithoutEffect(ResourceRef(*key), pins.pinned_content(after, kind_class))


def deletions_at_fault(
    machine: Machine, deleted: Container[catalogue.Key], messages: Iterable[str], first: SideIndex
) -> Iterator[ChangeSource]:
    """The *deleted* definitions that *machine* asks for, where the *first* state has them.

    Only those of which *messages* say that they are missing: KubeVirt may keep what the VM was created with.
    """
    texts = tuple(messages)
    if not texts:
        return
    for kind_class in KIND_CLASSES:
        matcher: Tree = machine.spec.get(kind_class.word) or {}
        kind = kind_class.kind_of(matcher.get("kind") or "")
        namespace = "" if "Cluster" in kind else machine.namespace
        key = catalogue.Key(kind, namespace, matcher.get("name") or "")
        code = NOT_FOUND[kind_class.word].number
        is_missing = any(
            diagnostic.code == code and diagnostic.message.endswith(texts)
            for diagnostic in machine.diagnostics
        )
        if is_missing and key in deleted:
            places = (first.places.get(each) for each in (key, key._replace(namespace="")))
            index = next((place for place in places if place is not None), None)
            yield ChangeSource(ResourceRef(*key), (), index, first.side)


def edits_at_fault(change: Transition, messages: Iterable[str]) -> Iterator[ChangeSource]:
    """The edited fields of definitions that those errors of a VM after its *change* are about which *messages* tell.

    Of a VM that nobody edited, and that only one definition has changed, it is that: where others do not fit it.
    """
    before, after, second = change.before, change.after, change.sides[1]
    texts = tuple(messages)
    places = [
        (place.resource, place.path)
        for diagnostic in after.diagnostics
        if diagnostic.is_error and any(text in diagnostic.message for text in texts)
        for place in (diagnostic.position, *(each.location for each in diagnostic.related))
        if place and place.resource and place.resource.kind in INSTANCETYPES | PREFERENCES
    ]
    edited = [place for place in places if _is_edited(*place, before, after)]
    for ref, path in edited:
        yield ChangeSource(ref, path, second.places.get(ref), second.side)
    if places and not edited and before.decoded == after.decoded:
        source = attribution.redefined(change)
        if source is not None:
            yield source


def _is_edited(ref: ResourceRef, path: FieldPath, before: Machine, after: Machine) -> bool:
    """Whether both states have the definition *ref*, and other values at *path* of it."""
    namespace = "" if "Cluster" in ref.kind else ref.namespace or after.namespace
    key = catalogue.Key(ref.kind, namespace, ref.name)
    was, now = (machine.context.catalogue.definitions.get(key) for machine in (before, after))
    if was is None or now is None or was.resource is None or now.resource is None:
        return False
    old, new = (tree.get(each.body, *path) for each in (was.resource, now.resource))
    return bool(old != new)


def _key(machine: Machine, kind_class: KindClass) -> catalogue.Key | None:
    definition: Definition | None = getattr(machine, kind_class.word)
    if definition is None:
        return None
    namespace = "" if "Cluster" in definition.kind else machine.namespace
    return catalogue.Key(definition.kind, namespace, definition.name)
