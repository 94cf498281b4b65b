"""The definitions that a change edits, and whom that does not reach."""

from collections.abc import Container, Iterator

from render.diff.impact import EditedDefinition
from render.model import catalogue
from render.model.catalogue import Definition
from render.model.kinds import KIND_CLASSES
from render.model.resource import ResourceRef
from render.model.tree import Tree
from render.pipeline.comparison.sides import Side
from render.pipeline.machine import Machine
from render.pipeline.stages import pins
from render.revisions import hashes


def edited_between(old: Side, new: Side) -> frozenset[catalogue.Key]:
    """The definitions that both states have, with different contents."""
    machines = [
        next(iter((one.places.rendered or one.machines).values()), None) for one in (old, new)
    ]
    before, after = (one.context.catalogue if one else None for one in machines)
    if before is None or after is None:
        return frozenset()
    both = before.definitions.keys() & after.definitions.keys()
    edited = {
        key
        for key in both
        if not _is_same_content(before.definitions[key].content, after.definitions[key].content)
    }
    if before.bundled != after.bundled:
        for kind, name in before.bundled.keys() & after.bundled.keys():
            key = catalogue.Key(kind, "", name)
            given = key in before.definitions or key in after.definitions
            if not given and before.bundled[kind, name] != after.bundled[kind, name]:
                edited.add(key)
    return frozenset(edited)


def _is_same_content(one: Tree, other: Tree) -> bool:
    return one == other or hashes.content(one) == hashes.content(other)


def without_effect(
    machine: Machine, edited: Container[catalogue.Key]
) -> Iterator[EditedDefinition]:
    """The *edited* definitions that *machine* uses, each with its pin."""
    for kind_class in KIND_CLASSES:
        definition: Definition | None = getattr(machine, kind_class.word)
        if definition is None:
            continue
        namespace = "" if "Cluster" in definition.kind else machine.namespace
        key = catalogue.Key(definition.kind, namespace, definition.name)
        if key in edited:
            yield EditedDefinition(ResourceRef(*key), pins.pinned_content(machine, kind_class))
