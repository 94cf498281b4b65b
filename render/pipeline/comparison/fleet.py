"""What a change of a repository does to the VMs of a cluster: its second state applied to its first."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from render.diff.impact import (
    HolderImpact,
    Impact,
    MachineImpact,
)
from render.diff.sizes import Size, size_of
from render.diff.source import ChangeSource
from render.machine import Machine
from render.model import catalogue, tree
from render.model.resource import CDI, TEMPLATE, VM, Resource, ResourceRef
from render.model.tree import Tree
from render.pipeline.comparison import edits, judgement, templates
from render.pipeline.comparison.edits import (
    ChangedDefinitions,
    changed_between,
    deletions_at_fault,
    deletions_without_effect,
    edits_at_fault,
    edits_without_effect,
)
from render.pipeline.comparison.machines import impact_of
from render.pipeline.comparison.replicas import holder_impacts
from render.pipeline.comparison.sides import (
    Side,
    State,
    settings_edited,
    side_of,
    state_of,
    synced_alike_in,
)
from render.pipeline.provenance.attribution import SideIndex, Transition
from render.settings import Settings

_NOTHING_RUNS_OTHERWISE = frozenset({"none", "same"})


def compare(
    before: Iterable[Tree],
    after: Iterable[Tree],
    settings: Settings = Settings(),  # noqa: B008 - frozen
    after_settings: Settings | None = None,
) -> Impact:
    """What becomes of each VM when a cluster that holds the objects *before* gets the objects *after*.

    Both are what is in the repository; they are rendered as *settings* say, the second with *after_settings* if given.
    Every VM of *before* runs, but halted ones, as it was then created and started; claims that are in neither state
    exist and are ReadWriteMany. Never raises for what the objects hold, as `render`.
    """
    first = state_of(before, settings, "before")
    second = state_of(after, after_settings or settings, "after", first)
    synced_alike = synced_alike_in(first, second)
    old = side_of(first, synced_alike)
    new = side_of(second, synced_alike, old)
    impacts = [impact_of(key, old, new) for key in {**old.resources, **new.resources}]
    impacts += (MachineImpact(ref, ("same",)) for ref in synced_alike.values())
    impacts = _reading(impacts, (first, second), (old, new))
    changes = changed_between(old, new), settings_edited(old, new)
    described = [_described(machine_impact, (old, new), *changes) for machine_impact in impacts]
    described += _imports(first, second, new.settings)
    objects = first.intake.resources, second.intake.resources
    described = _without_shared_volumes(described, objects, new.settings.namespace)
    redefined = edits.redefined(*objects, _names_used(old, new, objects))
    named = [redefinition.resource for redefinition in redefined]
    holders = (*holder_impacts(old, new, changes[0].edited), *_templates(old, new, objects, named))
    machines = tuple(sorted(described, key=lambda impact: impact.resource))
    found = Impact(machines, old.diagnostics, new.diagnostics, holders, tuple(redefined))
    if old.capacity is None and new.capacity is None:
        return found
    from render.pipeline.comparison import room

    return room.described(found, old, new)


def _reading(
    impacts: list[MachineImpact], states: tuple[State, State], sides: tuple[Side, Side]
) -> list[MachineImpact]:
    """*impacts* with what VMs read of Secrets and ConfigMaps that have other contents."""
    if not any(resource.kind in ("ConfigMap", "Secret") for resource in states[0].intake.resources):
        return impacts
    from render.pipeline.comparison import contents

    edited = contents.edited_between(*states)
    if not edited:
        return impacts
    before, after = sides
    return [
        contents.reading(
            each, (_machine(each.resource, before), _machine(each.resource, after)), sides, edited
        )
        for each in impacts
    ]


def _templates(
    old: Side,
    new: Side,
    objects: tuple[Sequence[Resource], Sequence[Resource]],
    redefined: Sequence[ResourceRef],
) -> Iterator[HolderImpact]:
    """What becomes of the templates among the *objects*, of whose definitions some are *redefined*."""
    places, blamed = (old.places, new.places), (_blamed(old), _blamed(new))
    yield from templates.template_impacts(*objects, places, redefined, blamed)


def _blamed(side: Side) -> set[ResourceRef | None]:
    """The objects of *side* against which the cluster has something."""
    return {error.resource for error in judgement.errors_of_cluster(side.diagnostics)}


def _names_used(old: Side, new: Side, objects: Iterable[Iterable[Resource]]) -> set[str]:
    """The names of definitions that machines of either side use, or templates among the *objects*."""
    return {
        *(name for side in (old, new) for name in edits.names_used(_all_machines(side))),
        *(name for state in objects for each in state for name in templates.names_used(each)),
    }


def _all_machines(side: Side) -> Iterator[Machine]:
    yield from side.machines.values()
    yield from side.places.rendered.values()


def _imports(first: State, second: State, settings: Settings) -> list[MachineImpact]:
    """What CDI and the API server refuse to have edited of disks, if the first state has any."""
    before, after = first.intake.resources, second.intake.resources
    found: list[MachineImpact] = []
    if settings.admission == "off":
        return found
    if any(resource.group == CDI for resource in before):
        from render.pipeline.comparison.imports import import_impacts

        found += import_impacts(before, after, settings.namespace)
    if any(resource.kind == "PersistentVolumeClaim" for resource in before):
        from render.pipeline.comparison.claims import claim_impacts

        found += claim_impacts(before, after, settings.namespace)
    return found


def _described(
    machine_impact: MachineImpact,
    sides: tuple[Side, Side],
    changed: ChangedDefinitions,
    settings: tuple[ChangeSource, ...],
) -> MachineImpact:
    """*machine_impact* with the VM's size in both states, its pins, and the *changed* definitions without an effect.

    *settings* of the cluster that are edited are named where nothing else is.
    """
    machines = [_machine(machine_impact.resource, side) for side in sides]
    before, after = (
        machine if machine is not None and not machine.failed else None for machine in machines
    )
    effects = machine_impact.effects
    if "repaired" in effects or "new" in effects:
        # Nothing of it ran; one of no namespace is another one, whatever the default has.
        before = None
    if "gone" in effects or "after" in machine_impact.unrendered:
        after = None
    now = machines[1]
    is_refused = "refused" in effects or (now is not None and now.failed)
    # What is refused has what it was created with, if it was there.
    keeps = is_refused and not machine_impact.unrendered
    then = _size(before) if keeps else _restarted(machine_impact, _size(after))
    described = machine_impact._replace(
        sizes=(_size(before), then),
        pins=tuple(sorted(after.pinned)) if after else (),
        unpinned=tuple(_unpinned(before, now)) if before and now and "gone" not in effects else (),
    )
    if not _NOTHING_RUNS_OTHERWISE.issuperset(effects):
        places = sides[0].places, sides[1].places
        return _blaming(described, (machines[0], now), places, changed.deleted)
    edited = tuple(edits_without_effect(now, changed.edited)) if now else ()
    both = (before, now) if before and now else None
    deleted = tuple(deletions_without_effect(*both, changed.deleted)) if both else ()
    is_explained = described.changes or edited or deleted or effects != ("none",)
    return described._replace(
        edited=edited, deleted=deleted, configured=() if is_explained else settings
    )


def _unpinned(before: Machine, after: Machine) -> Iterator[str]:
    """For which of its definitions a VM has a pin *before* alone, while it goes on to ask for one."""
    for word in sorted(before.pinned.keys() - after.pinned.keys()):
        if tree.get(after.decoded, "spec", word):
            yield word


def _blaming(
    machine_impact: MachineImpact,
    machines: tuple[Machine | None, Machine | None],
    sides: tuple[SideIndex, SideIndex],
    deleted: Collection[catalogue.Key],
) -> MachineImpact:
    """*machine_impact* with the definitions, *deleted* or edited, for which the second of its *machines* has errors.

    Not those that its changes name.
    """
    before, after = machines
    if after is None:
        return machine_impact
    messages = machine_impact.messages
    named = {change.cause.resource for change in machine_impact.changes if change.cause}
    key = after.resource.kind, after.namespace, after.resource.name
    edited = edits_at_fault(Transition(before, after, sides, key), messages) if before else ()
    return machine_impact._replace(
        lacking=tuple(deletions_at_fault(after, deleted, messages, sides[0])),
        redefined=tuple(dict.fromkeys(each for each in edited if each.resource not in named)),
    )


def _without_shared_volumes(
    impacts: list[MachineImpact], objects: Iterable[Iterable[Resource]], default: str
) -> list[MachineImpact]:
    """*impacts* without the DataVolumes for which several VMs of a namespace, the *default* or another, have templates.

    Such a DataVolume belongs to the VM that came first, and goes with that one alone: which one it is nobody knows.
    """
    if not any(impact.stale or impact.made or impact.left for impact in impacts):
        return impacts
    users: dict[tuple[str, str], set[str]] = {}
    for resource in (resource for state in objects for resource in state if resource.kind == VM):
        declared = tree.get(resource.body, "spec", "dataVolumeTemplates")
        for template in declared if isinstance(declared, list) else ():
            name = tree.get(template, "metadata", "name")
            if isinstance(name, str):
                namespace = resource.namespace or default
                users.setdefault((namespace, name), set()).add(resource.name)

    def own(impact: MachineImpact, names: Iterable[str]) -> tuple[str, ...]:
        namespace = impact.resource.namespace or default
        return tuple(name for name in names if len(users.get((namespace, name), ())) <= 1)

    return [
        impact._replace(
            stale=own(impact, impact.stale),
            made=own(impact, impact.made),
            left=own(impact, impact.left),
        )
        if impact.stale or impact.made or impact.left
        else impact
        for impact in impacts
    ]


def _restarted(machine_impact: MachineImpact, rendered: Size | None) -> Size | None:
    """How large a VM is at its next start, which is not *rendered* where it keeps what it was created with."""
    known = machine_impact.sizes[1]
    return known._replace(instancetype=rendered.instancetype) if known and rendered else rendered


def _machine(ref: ResourceRef, side: Side) -> Machine | None:
    """The VM *ref* as *side* has it, also of a VMI that was made of it."""
    names = ref.namespace or side.settings.namespace, ref.name
    rendered, key = side.places.rendered, (ref.kind, *names)
    return rendered.get(key) or rendered.get((VM, *names)) or side.machines.get(key)


def _size(machine: Machine | None) -> Size | None:
    if machine is None:
        return None
    instancetype = machine.instancetype.name if machine.instancetype else ""
    return size_of(machine.vmi or tree.get(machine.vm, *TEMPLATE) or {}, instancetype)
