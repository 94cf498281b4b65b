"""The two states of a repository, and what a cluster makes of each."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic
from render.diff.source import ChangeSource, SideName
from render.legacy import machines
from render.machine import Machine
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.resource import (
    CDI,
    INSTANCETYPE_GROUP,
    KUBEVIRT,
    VM,
    VMI,
    Resource,
    ResourceRef,
    from_body,
)
from render.model.tree import Tree
from render.pipeline.input import definitions, library, unchanged
from render.pipeline.provenance import attribution
from render.pipeline.provenance.attribution import SideIndex
from render.pipeline.result import Rendered
from render.pipeline.run import run
from render.room.figures import ClusterCapacity
from render.settings import Settings

KINDS = (VM, VMI)
#: What KubeVirt refuses of a VM with an instancetype and a preference alone.
_UNEXPANDED = frozenset(code.number for code in (codes.REQUIREMENT_UNMET, codes.SPREAD_INDIVISIBLE))
_CLUSTERS = ("KubeVirt", "HyperConverged")
Key = tuple[str, str, str]
#: The errors of a state, by the object that they are about.
ObjectErrors = Mapping[ResourceRef | None, Sequence[Diagnostic]]


def errors_by_object(diagnostics: Iterable[Diagnostic]) -> ObjectErrors:
    """The errors among *diagnostics*, by the object that they are about."""
    errors: dict[ResourceRef | None, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        if diagnostic.is_error:
            errors.setdefault(diagnostic.resource, []).append(diagnostic)
    return errors


class Side(NamedTuple):
    """One state: its VMs by identity, and what is to be said of it.

    *machines* are those that could be decoded, *resources* all, and *objects* what they were made of; *is_source*: the
    VMs are synced as they were written. *claims*: access modes, by namespace and name; *clusters*: its settings
    as they are written. *capacity*: what pods ask for, where something says what there is. *refused*: why the schema of
    the API server refuses machines that could be decoded all the same.
    """

    settings: Settings
    objects: Sequence[Resource]
    resources: dict[Key, Resource]
    machines: dict[Key, Machine]
    claims: dict[str, dict[str, tuple[str, ...]]]
    clusters: list[object]
    places: SideIndex
    diagnostics: tuple[Diagnostic, ...]
    errors: "ObjectErrors"
    is_source: bool = False
    capacity: ClusterCapacity | None = None
    refused: Mapping[ResourceRef, tuple[str, ...]] = MappingProxyType({})


def settings_edited(old: Side, new: Side) -> tuple[ChangeSource, ...]:
    """The settings of the cluster that the states have otherwise: of each object the narrowest field with all of it."""
    if old.clusters == new.clusters:
        return ()
    before, after = (
        {
            resource.ref: resource.spec
            for resource in (*side.objects, *_configured_beside(side))
            if resource.kind in _CLUSTERS
        }
        for side in (old, new)
    )
    sources = []
    for ref in sorted({**before, **after}):
        was, now = before.get(ref), after.get(ref)
        if was != now:
            path = ("spec", *_edited(was, now))
            side = new if tree.get({"spec": now}, *path) is not None else old
            index = side.places.places.get((ref.kind, ref.namespace, ref.name))
            sources.append(ChangeSource(ref, path, index, side.places.side))
    return tuple(sources)


def _configured_beside(side: Side) -> Iterator[Resource]:
    """The object with the settings of the cluster that is in no input of *side*, if there is one."""
    if side.settings.cluster_config is not None:
        yield from_body(side.settings.cluster_config, 0)


def _edited(before: object, after: object) -> FieldPath:
    """The narrowest field of two trees that holds all in which they differ."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return ()
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    if len(keys) != 1:
        return ()
    return (keys[0], *_edited(before.get(keys[0]), after.get(keys[0])))


class State(NamedTuple):
    """The objects of one side, as they were given and as they are synced.

    *synced* is what a rendering made of *intake*, and *machines* what it was made with; None and nothing where it
    leaves the VMs as they are. *errors* are those of the rendering.
    """

    side: SideName
    settings: Settings
    intake: library.Intake
    synced: Rendered | None
    machines: dict[Key, Machine]
    errors: ObjectErrors


def state_of(
    objects: Iterable[Tree],
    settings: Settings,
    side: SideName,
    first: State | None = None,
) -> State:
    """The state that *objects* are, some of which may be those of the *first* one."""
    intake = library.parse(objects, first.intake.resources if first else ())
    intake = _last_copies(intake, settings)
    machines: dict[Key, Machine] = {}

    def observe(machine: Machine, _: Tree) -> None:
        machines.setdefault(_key(machine.resource, settings), machine)

    synced = run(intake.resources, settings, observe) if settings.emit != "source" else None
    errors = errors_by_object(synced.diagnostics) if synced else {}
    return State(side, settings, intake, synced, machines, errors)


def _last_copies(intake: library.Intake, settings: Settings) -> library.Intake:
    """*intake* with the last of those objects alone that have one name, which Argo CD syncs, and the error that is."""
    pairs = [*definitions.duplicates(intake.resources, settings)]
    if not pairs:
        return intake
    copies: dict[int, list[int]] = {}
    for resource, same in pairs:
        copies.setdefault(same.index, [same.index]).append(resource.index)
    replaced = {index for indexes in copies.values() for index in indexes[:-1]}
    kept = library.Intake()
    kept.diagnostics = [
        *intake.diagnostics,
        *(
            library.moved(definitions.duplicate(resource, same), intake.positions)
            for resource, same in pairs
        ),
    ]
    for resource, position in zip(intake.resources, intake.positions, strict=True):
        if resource.index not in replaced:
            kept.resources.append(resource._replace(index=len(kept.resources)))
            kept.positions.append(position)
    return kept


def synced_alike_in(old: State, new: State) -> dict[Key, ResourceRef]:
    """The VMs that both states sync alike, and in which nothing differs that such a VM reads.

    Only of states that were rendered: what is synced then says everything that definitions decide.
    """
    if old.synced is None or new.synced is None or old.settings != new.settings:
        return {}
    vms, others = _split(old.synced, old.settings)
    later_vms, later_others = _split(new.synced, new.settings)
    if others != later_others:
        return {}
    blamed = {
        diagnostic.resource
        for state in (old.synced, new.synced)
        for diagnostic in state.diagnostics
        if diagnostic.is_error
    }
    misled = {
        key for state in (old, new) for key in _of_refused_definitions(state.machines, state.errors)
    }
    return {
        key: ref
        for key, (ref, body) in vms.items()
        if not (ref in blamed or key in misled) and key in later_vms and later_vms[key][1] == body
    }


def _split(
    rendered: Rendered, settings: Settings
) -> tuple[dict[Key, tuple[ResourceRef, Tree]], list[Tree]]:
    """The machines of a rendering by identity, and what all of them may read but for hashed definitions."""
    machines: dict[Key, tuple[ResourceRef, Tree]] = {}
    others = []
    for body in rendered.resources:
        resource = from_body(body, 0)
        if definitions.is_machine(resource):
            machines[_key(resource, settings)] = resource.ref, body
        elif resource.group != INSTANCETYPE_GROUP:
            others.append(body)
    return machines, others


def side_of(state: State, synced_alike: Container[Key], first: Side | None = None) -> Side:
    """What a cluster makes of a *state*, but for the VMs that are *synced_alike*; *first* is the one before."""
    _, settings, intake, synced, rendered, errors = state
    places = _places(intake)
    if synced is None:
        side = _started_side(state, intake, settings, first)
        return _with_errors(side, (codes.MISSING_FIELD,))._replace(is_source=True)
    rest = [
        resource
        for resource in intake.resources
        if not _is_among(_key(resource, settings), synced_alike)
    ]
    plain = settings._replace(
        emit="source", stored=False, defaults="manifest", firmware_uuid="none", pins="ignore",
        lock=None,
    )  # fmt: skip
    refused = _refused_unexpanded(synced, settings)
    refused |= _of_refused_definitions(rendered, errors)
    left = [
        body
        for body in synced.resources
        if (key := _key(from_body(body, 0), settings)) not in synced_alike and key not in refused
    ]
    side = _started_side(state, library.parse(left), plain, first)
    diagnostics = library.answered(synced, intake).diagnostics
    if diagnostics is not synced.diagnostics:
        errors = errors_by_object(diagnostics)
    told = side._replace(diagnostics=diagnostics)
    return _with_errors(told, (codes.MISSING_FIELD, codes.UNKNOWN_FIELD), errors)._replace(
        resources={**_withheld(rest, side), **side.resources},
        capacity=synced.capacity,
        places=side.places._replace(
            places=places,
            rendered=rendered,
            copied=attribution.copies(synced, places),
        ),
    )


def _refused_unexpanded(synced: Rendered, settings: Settings) -> frozenset[Key]:
    """The VMs of which a rendering is printed by nobody for what the cluster would not see in it any more.

    It refuses a VM with its instancetype and preference for it, and ``build`` in its place.
    """
    refs = {found.resource for found in synced.diagnostics if found.code in _UNEXPANDED}
    return frozenset(
        (kind, ref.namespace or settings.namespace, ref.name)
        for ref in refs
        if ref is not None and ref.kind in KINDS
        for kind in KINDS
    )


def _of_refused_definitions(
    rendered: Mapping[Key, Machine], errors: ObjectErrors
) -> frozenset[Key]:
    """Those of the VMs *rendered* that nobody can render: the API server refuses an instancetype or preference of them.

    The cluster goes on with the older content of that, which is not the one that was read.
    """
    return frozenset(
        (kind, *key[1:])
        for key, machine in rendered.items()
        if any(errors_of_definitions(machine, errors))
        for kind in KINDS
    )


def errors_of_definitions(machine: Machine, errors: ObjectErrors) -> Iterator[Diagnostic]:
    """Those of *errors* for which the API server refuses a definition that *machine* takes from the input."""
    for kind_class in KIND_CLASSES if errors else ():
        definition = getattr(machine, kind_class.word)
        if definition is None or definition.resource is None or kind_class.word in machine.pinned:
            continue
        yield from filter(definitions.withholds, errors.get(definition.resource.ref, ()))


def _started_side(
    state: State, objects: library.Intake, settings: Settings, first: Side | None
) -> Side:
    """What a cluster makes of *objects*, under *settings* that leave them as they are.

    What it made the same already on the *first* side is not made again. Its errors are not sorted yet.
    """
    same = None
    if first is not None and first.settings == settings:
        same = unchanged.between(first.objects, objects.resources, first.machines.values())
    machines: dict[Key, Machine] = {}

    def observe(machine: Machine, _: Tree) -> None:
        machines.setdefault(_key(machine.resource, settings), machine)

    rendered = library.answered(run(objects.resources, settings, observe, unchanged=same), objects)
    keys = {_key(resource, settings): resource for resource in objects.resources}
    clusters = [resource for key, resource in keys.items() if key[0] in _CLUSTERS]
    if settings.cluster_config is not None and not clusters:
        clusters = [from_body(settings.cluster_config, 0)]
    source = next((machine.context.config_source for machine in machines.values()), None)
    return Side(
        settings,
        objects.resources,
        {
            key: resource
            for key, resource in keys.items()
            if key[0] in KINDS and resource.group == KUBEVIRT
        },
        machines,
        _claims(objects.resources, settings),
        [cluster.spec for cluster in clusters],
        SideIndex(state.side, _places(objects), {}, source),
        rendered.diagnostics,
        {},
        capacity=rendered.capacity,
    )


def _with_errors(
    side: Side, reasons: Iterable[codes.Code], errors: ObjectErrors | None = None
) -> Side:
    """*side* with its *errors* by object, and with what its API server does not take for one of *reasons*."""
    found = side.diagnostics
    return side._replace(
        errors=errors_by_object(found) if errors is None else errors,
        refused=_refused_by_schema(found, reasons),
    )


def _refused_by_schema(
    diagnostics: Iterable[Diagnostic], reasons: Iterable[codes.Code]
) -> dict[ResourceRef, tuple[str, ...]]:
    """Why objects are not taken for one of these *reasons*, though KubeVirt's own code would go on.

    The API server refuses one of which a field is missing. What it does not know it drops; ``build`` prints nothing.
    """
    numbers = {code.number for code in reasons}
    refused: dict[ResourceRef, tuple[str, ...]] = {}
    for diagnostic in diagnostics:
        ref = diagnostic.resource
        is_reason = diagnostic.is_error and diagnostic.code in numbers
        if is_reason and ref is not None and not definitions.withholds(diagnostic):
            refused[ref] = (*refused.get(ref, ()), diagnostic.message)
    return refused


def _withheld(resources: Sequence[Resource], side: Side) -> dict[Key, Resource]:
    """The VMs among *resources* that the rendering left out, because of their errors."""
    withheld = {}
    for resource in resources:
        key = _key(resource, side.settings)
        is_machine = key[0] in KINDS and resource.group == KUBEVIRT
        if is_machine and not _is_among(key, side.resources):
            withheld[key] = resource
    return withheld


def _is_among(key: Key, known: Container[Key]) -> bool:
    """Whether the VM or VMI *key* is among those that are *known*, if only as what was made of it."""
    return key in known or (key[0] in KINDS and any((kind, *key[1:]) in known for kind in KINDS))


def _places(objects: library.Intake) -> dict[Key, int]:
    """Where each of *objects* was given."""
    return {
        (machines.kind_today(resource), resource.namespace, resource.name): position
        for resource, position in zip(objects.resources, objects.positions, strict=True)
    }


def _key(resource: Resource, settings: Settings) -> Key:
    ref = resource.ref
    kind = ref.kind if resource.holder else machines.kind_today(resource)
    return kind, ref.namespace or settings.namespace, ref.name


def _claims(
    resources: Sequence[Resource], settings: Settings
) -> dict[str, dict[str, tuple[str, ...]]]:
    """The access modes of the claims of the input, by namespace; a claim wins over the DataVolume of its name."""
    by_namespace: dict[str, dict[str, tuple[str, ...]]] = {}
    for resource in resources:
        modes = _modes(resource)
        if modes:
            claims = by_namespace.setdefault(resource.namespace or settings.namespace, {})
            if resource.kind == "PersistentVolumeClaim" or resource.name not in claims:
                claims[resource.name] = modes
    return by_namespace


def _modes(resource: Resource) -> tuple[str, ...]:
    modes = None
    if resource.kind == "PersistentVolumeClaim" and not resource.group:
        modes = resource.spec.get("accessModes")
    elif resource.kind == "DataVolume" and resource.group == CDI:
        modes = template_modes(resource.spec)
    return tuple(map(str, modes)) if isinstance(modes, list) else ()


def template_modes(spec: Tree) -> list[str] | None:
    """The access modes that the *spec* of a DataVolume asks for."""
    modes: list[str] | None = tree.get(spec, "pvc", "accessModes")
    return modes or tree.get(spec, "storage", "accessModes")
