"""What a change of the repository does to the VMs of a cluster: both states rendered, the second applied to the first.

Upstream: pkg/virt-api/webhooks/validating-webhook/admitters/vms-admitter.go, pkg/instancetype/revision/store.go,
pkg/virt-controller/watch/vm/vm.go.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from render import schemas
from render.admission import update
from render.apply import application
from render.defaults.vm import FIRMWARE, RANDOM
from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic
from render.diff import holders, impact, networks, stored
from render.diff.compare import VM, VMI, Difference, differences, written_differences
from render.diff.effects import Ability, Reconciliation, Update, abilities, reconcile
from render.diff.impact import (
    EditedDefinition,
    Facts,
    FieldChange,
    HolderImpact,
    Impact,
    MachineImpact,
    WeighedDifference,
)
from render.diff.migratability import Claims
from render.diff.sizes import Size, size_of
from render.model import catalogue, tree
from render.model.catalogue import Definition
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.kinds import KIND_CLASSES, KindClass
from render.model.release import Version
from render.model.resource import (
    CDI,
    INSTANCETYPE_GROUP,
    KUBEVIRT,
    Resource,
    ResourceRef,
    from_body,
)
from render.model.tree import Tree
from render.pipeline import attribution, order
from render.pipeline.attribution import SideIndex, Transition
from render.pipeline.input import definitions, library, unchanged
from render.pipeline.machine import TEMPLATE, Machine
from render.pipeline.result import Rendered
from render.pipeline.stages import emit, merging, pins, start
from render.pipeline.stages import holders as stages_holders
from render.revisions import hashes, stamps
from render.settings import Settings

_VM = "kubevirt.VirtualMachine"
_KINDS = (definitions.VM, definitions.VMI)
_CLUSTERS = ("KubeVirt", "HyperConverged")
_LOST = ("unrenderable",)
_NOTHING_RUNS_OTHERWISE = frozenset({"none", "same"})
_RESTRICTED = "update of VMI object is restricted"
_REFERENCE = "reference"
_VERSION_LABEL = "instancetype.kubevirt.io/object-version"
_INTERFACES = (*TEMPLATE, "spec", "domain", "devices", "interfaces")
_NETWORKS = (*TEMPLATE, "spec", "networks")
#: What the controller finds out after the update is stored.
_FAILS_LATER = frozenset(
    code.number
    for code in (
        codes.INSTANCETYPE_NOT_FOUND,
        codes.PREFERENCE_NOT_FOUND,
        codes.UNEXPECTED_KIND,
        codes.REVISION_NOT_FOUND,
        codes.REVISION_UNFIT,
    )
)
#: What keeps a VMI from being started, and is known before there is one.
_AT_START = frozenset({codes.DEFAULT_NETWORK.number})
_CONFLICT = codes.INSTANCETYPE_CONFLICT.number
#: Effects of changes whose fields are those of the VM.
_OF_VM = frozenset({"none", "refused", "stop", "start"})
#: What is ours to demand, and not the cluster's.
_OURS = frozenset({codes.PIN_MISSING.number, codes.PRESET_OVERRIDDEN.number})

Key = tuple[str, str, str]


class Side(NamedTuple):
    """One state: its VMs by identity, and what is to be said of it.

    *machines* are those that could be decoded, *resources* all, and *given* what they were made of. *claims*: access
    modes, by namespace and name; *clusters*: the cluster's settings as they are written.
    """

    settings: Settings
    given: Sequence[Resource]
    resources: dict[Key, Resource]
    machines: dict[Key, Machine]
    claims: dict[str, dict[str, tuple[str, ...]]]
    clusters: list[object]
    places: SideIndex
    diagnostics: tuple[Diagnostic, ...]


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
    first = _state(before, settings, "before")
    second = _state(after, after_settings or settings, "after", first)
    synced_alike = _synced_alike(first, second)
    old = _side(first, synced_alike)
    new = _side(second, synced_alike, old)
    found = [_machine_impact(key, old, new) for key in {**old.resources, **new.resources}]
    found += (MachineImpact(ref, ("same",)) for ref in synced_alike.values())
    edited = _edited(old, new)
    described = (_described(one, (old, new), edited) for one in found)
    machines = tuple(sorted(described, key=lambda one: one.resource))
    holders = _holder_impacts(old, new, edited)
    return Impact(machines, old.diagnostics, new.diagnostics, tuple(holders))


def _described(
    found: MachineImpact, sides: tuple[Side, Side], edited: Container[catalogue.Key]
) -> MachineImpact:
    """*found* with the size of the VM in both states, its pins, and which *edited* definitions do not change it."""
    before, after = (_rendered(found.resource, side) for side in sides)
    return found._replace(
        sizes=(_size(before), _size(after)),
        pins=tuple(sorted(after.pinned)) if after else (),
        edited=tuple(_without_effect(after, edited))
        if after and _NOTHING_RUNS_OTHERWISE.issuperset(found.effects)
        else (),
    )


def _edited(old: Side, new: Side) -> frozenset[catalogue.Key]:
    """The definitions that both states have, with different contents."""
    machines = [
        next(iter((one.places.rendered or one.machines).values()), None) for one in (old, new)
    ]
    before, after = (one.context.catalogue if one else None for one in machines)
    if before is None or after is None:
        return frozenset()
    both = before.definitions.keys() & after.definitions.keys()
    found = {
        key
        for key in both
        if not _is_same_content(before.definitions[key].content, after.definitions[key].content)
    }
    if before.bundled != after.bundled:
        for kind, name in before.bundled.keys() & after.bundled.keys():
            key = catalogue.Key(kind, "", name)
            given = key in before.definitions or key in after.definitions
            if not given and before.bundled[kind, name] != after.bundled[kind, name]:
                found.add(key)
    return frozenset(found)


def _is_same_content(one: Tree, other: Tree) -> bool:
    return one == other or hashes.content(one) == hashes.content(other)


def _without_effect(
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


def _rendered(ref: ResourceRef, side: Side) -> Machine | None:
    """The VM *ref* as *side* renders it."""
    key = ref.kind, ref.namespace or side.settings.namespace, ref.name
    machine = side.places.rendered.get(key) or side.machines.get(key)
    return machine if machine is not None and not machine.failed else None


def _size(machine: Machine | None) -> Size | None:
    if machine is None:
        return None
    instancetype = machine.instancetype.name if machine.instancetype else ""
    return size_of(machine.vmi or tree.get(machine.vm, *TEMPLATE) or {}, instancetype)


class State(NamedTuple):
    """The objects of one side, as they were given and as they are synced.

    *synced* is what a rendering made of *given*, and *machines* what it was made with; None and nothing where it leaves
    the VMs as they are.
    """

    side: attribution.SideName
    settings: Settings
    given: library.Intake
    synced: Rendered | None
    machines: dict[Key, Machine]


def _state(
    objects: Iterable[Tree],
    settings: Settings,
    side: attribution.SideName,
    first: State | None = None,
) -> State:
    """The state that *objects* are, some of which may be those of the *first* one."""
    given = library.parse(objects, first.given.resources if first else ())
    machines: dict[Key, Machine] = {}

    def observe(machine: Machine, _: Tree) -> None:
        machines.setdefault(_key(machine.resource, settings), machine)

    synced = order.run(given.resources, settings, observe) if settings.emit != "source" else None
    return State(side, settings, given, synced, machines)


def _synced_alike(old: State, new: State) -> dict[Key, ResourceRef]:
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
        one.resource
        for state in (old.synced, new.synced)
        for one in state.diagnostics
        if one.is_error
    }
    return {
        key: ref
        for key, (ref, body) in vms.items()
        if ref not in blamed and key in later_vms and later_vms[key][1] == body
    }


def _split(
    rendered: Rendered, settings: Settings
) -> tuple[dict[Key, tuple[ResourceRef, Tree]], list[Tree]]:
    """The machines of a rendering by identity, and what all of them may read but for hashed definitions."""
    machines: dict[Key, tuple[ResourceRef, Tree]] = {}
    others = []
    for body in rendered.resources:
        one = from_body(body, 0)
        if definitions.is_machine(one):
            machines[_key(one, settings)] = one.ref, body
        elif one.group != INSTANCETYPE_GROUP:
            others.append(body)
    return machines, others


def _side(state: State, synced_alike: Container[Key], first: Side | None = None) -> Side:
    """What a cluster makes of a *state*, but for the VMs that are *synced_alike*; *first* is the one before."""
    _, settings, given, synced, rendered = state
    places = {_place_key(one): given.positions[one.index] for one in given.resources}
    if synced is None:
        return _started_side(state, given, settings, first)
    rest = [one for one in given.resources if _key(one, settings) not in synced_alike]
    plain = settings._replace(
        emit="source", stored=False, defaults="manifest", firmware_uuid="none", pins="ignore",
        lock=None,
    )  # fmt: skip
    left = [
        body for body in synced.resources if _key(from_body(body, 0), settings) not in synced_alike
    ]
    made = _started_side(state, library.parse(left), plain, first)
    return made._replace(
        resources={**_withheld(rest, made), **made.resources},
        diagnostics=library.answered(synced, given).diagnostics,
        places=made.places._replace(
            places=places,
            rendered=rendered,
            copied=attribution.copies(synced, places),
        ),
    )


def _started_side(
    state: State, taken: library.Intake, settings: Settings, first: Side | None
) -> Side:
    """What a cluster makes of the objects *taken*, under *settings* that leave them as they are.

    What it made the same already on the *first* side is not made again.
    """
    same = None
    if first is not None and first.settings == settings:
        same = unchanged.between(first.given, taken.resources, first.machines.values())
    machines: dict[Key, Machine] = {}

    def observe(machine: Machine, _: Tree) -> None:
        machines.setdefault(_key(machine.resource, settings), machine)

    rendered = library.answered(
        order.run(taken.resources, settings, observe, unchanged=same), taken
    )
    keys = {_key(one, settings): one for one in taken.resources}
    clusters = [one for key, one in keys.items() if key[0] in _CLUSTERS]
    if settings.cluster_config is not None and not clusters:
        clusters = [from_body(settings.cluster_config, 0)]
    places = {_place_key(one): taken.positions[one.index] for one in taken.resources}
    source = next((one.context.config_source for one in machines.values()), None)
    return Side(
        settings,
        taken.resources,
        {key: one for key, one in keys.items() if key[0] in _KINDS and one.group == KUBEVIRT},
        machines,
        _claims(taken.resources, settings),
        [one.spec for one in clusters],
        SideIndex(state.side, places, {}, source),
        rendered.diagnostics,
    )


def _withheld(resources: Sequence[Resource], made: Side) -> dict[Key, Resource]:
    """The VMs among *resources* that the rendering left out, because of their errors."""
    found = {}
    for resource in resources:
        kind, *names = _key(resource, made.settings)
        known = any((other, *names) in made.resources for other in _KINDS)
        if kind in _KINDS and resource.group == KUBEVIRT and not known:
            found[kind, names[0], names[1]] = resource
    return found


def _place_key(resource: Resource) -> Key:
    return definitions.kind_rendered(resource), resource.ref.namespace, resource.ref.name


def _key(resource: Resource, settings: Settings) -> Key:
    ref = resource.ref
    kind = ref.kind if resource.holder else definitions.kind_rendered(resource)
    return kind, ref.namespace or settings.namespace, ref.name


def _claims(
    resources: Sequence[Resource], settings: Settings
) -> dict[str, dict[str, tuple[str, ...]]]:
    """The access modes of the claims of the input, by namespace; a claim wins over the DataVolume of its name."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for resource in resources:
        modes = _modes(resource)
        if modes:
            claims = found.setdefault(resource.namespace or settings.namespace, {})
            if resource.kind == "PersistentVolumeClaim" or resource.name not in claims:
                claims[resource.name] = modes
    return found


def _modes(resource: Resource) -> tuple[str, ...]:
    modes = None
    if resource.kind == "PersistentVolumeClaim" and not resource.group:
        modes = resource.spec.get("accessModes")
    elif resource.kind == "DataVolume" and resource.group == CDI:
        modes = _template_modes(resource.spec)
    return tuple(map(str, modes)) if isinstance(modes, list) else ()


def _template_modes(spec: Tree) -> list[str] | None:
    """The access modes that the *spec* of a DataVolume asks for."""
    modes: list[str] | None = tree.get(spec, "pvc", "accessModes")
    return modes or tree.get(spec, "storage", "accessModes")


def _machine_impact(key: Key, old: Side, new: Side) -> MachineImpact:
    resource = new.resources.get(key) or old.resources[key]
    before, after = old.machines.get(key), new.machines.get(key)
    if key not in new.resources:
        return MachineImpact(resource.ref, ("gone",))
    if key not in old.resources:
        return _new_impact(resource.ref, key, new)
    if before is None or after is None or before.failed:
        return _lost_impact(resource.ref, key, old, new)
    # What is refused or does not start as it was written before is no matter of this change.
    is_rewritten = before.raw != after.raw
    is_suspect = is_rewritten and _has_errors(after)
    if not is_suspect and not _reads_something_else(before, after, old, new):
        return MachineImpact(resource.ref, ("same",))
    if key[0] == definitions.VMI:
        return _bare_impact(before, after, Transition(before, after, (old.places, new.places), key))
    return _Comparison(key, before, after, old, new).impact()


def _new_impact(ref: ResourceRef, key: Key, side: Side) -> MachineImpact:
    """What becomes of a VM that only *side*, the second, has."""
    machine = side.machines.get(key)
    if machine is None or machine.failed:
        return MachineImpact(ref, ("new", *_LOST), _errors(key, side), unrendered=("after",))
    if not _has_errors(machine):
        return MachineImpact(ref, ("new",))
    verdict = _judge(Machine(machine.context, machine.resource, _without_status(machine.decoded)))
    refused = (*verdict.refused, *verdict.creation)
    later = () if refused else (*verdict.faults, *verdict.at_start)
    effects = ("refused",) if refused else ("error",) if later else ()
    return MachineImpact(ref, (*effects, "new"), refused or later or _errors(key, side))


def _lost_impact(ref: ResourceRef, key: Key, old: Side, new: Side) -> MachineImpact:
    """What is known of a VM that one state, or both, cannot render."""
    sides: tuple[tuple[impact.SideName, Side], ...] = (("before", old), ("after", new))
    unrendered = tuple(
        name
        for name, side in sides
        if (machine := side.machines.get(key)) is None or machine.failed
    )
    return MachineImpact(
        ref, _LOST, _errors(key, new if "after" in unrendered else old), unrendered=unrendered
    )


def _bare_impact(before: Machine, after: Machine, change: Transition) -> MachineImpact:
    """What becomes of a VMI without a VM: its spec cannot be updated (upstream: vmi-update-admitter.go)."""
    old, new = (stamps.put(_without_status(one.decoded), {}) for one in (before, after))
    found = written_differences(old, new, VMI)
    refused = any(one.route[0] == "spec" for one in found)
    effect = "refused" if refused else "none"
    other = before.vmi != after.vmi or before.context.config != after.context.config
    effects = (effect,) if found else ("recreate",) if other else ("same",)
    return MachineImpact(
        after.resource.ref,
        effects,
        (_RESTRICTED,) if refused else (),
        tuple(
            FieldChange(
                one.field,
                impact.shown(one.route, one.before),
                impact.shown(one.route, one.after),
                effect,
                attribution.of_vm(one.route, change),
            )
            for one in found
        ),
    )


def _has_errors(machine: Machine) -> bool:
    return any(one.is_error for one in machine.diagnostics)


def _errors(key: Key, side: Side) -> tuple[str, ...]:
    """What keeps the VM of *side* from being rendered."""
    ref = side.resources[key].ref
    found = (one.message for one in side.diagnostics if one.is_error and one.resource == ref)
    return tuple(dict.fromkeys(found))


def _reads_something_else(before: Machine, after: Machine, old: Side, new: Side) -> bool:
    """Whether anything differs of which a VM is made, or what becomes of it."""
    return (
        before.decoded != after.decoded
        or before.vm != after.vm
        or before.vmi != after.vmi
        or _definition_specs(before) != _definition_specs(after)
        or old.clusters != new.clusters
        or _is_rewritten(before)
        or before.context.release != after.context.release
        or old.claims != new.claims
    )


def _is_rewritten(machine: Machine) -> bool:
    """Whether the cluster writes instancetype and preference into the VM; an apply brings the matchers back."""
    return _policy(machine) != _REFERENCE and _has_revision(machine)


def _definition_specs(machine: Machine) -> list[Tree]:
    """The specs of the definitions of a VM, as they are written."""
    found = (one for one in (machine.instancetype, machine.preference) if one is not None)
    return [one.resource.spec if one.resource and one.resource.spec else one.spec for one in found]


def _holder_impacts(
    old: Side, new: Side, edited: Container[catalogue.Key]
) -> Iterator[HolderImpact]:
    """What becomes of the pools and replica sets that change, or of which one of the *edited* definitions does."""
    keys = {
        key: None
        for side in (old, new)
        for key, machine in side.machines.items()
        if machine.resource.holder is not None
    }
    for key in sorted(keys):
        before, after = old.machines.get(key), new.machines.get(key)
        if before is None or after is None:
            found = _lone_holder(before, after, new)
        else:
            found = _holder_impact(key, before, after, (old.places, new.places), edited)
        if found is not None:
            yield found


def _lone_holder(before: Machine | None, after: Machine | None, new: Side) -> HolderImpact | None:
    """What is said of a pool or replica set that one state has; nothing where errors keep it from the other."""
    machine = after or before
    assert machine is not None  # noqa: S101 - one of them
    ref, holder = machine.resource.ref, machine.resource.holder
    if any(one.is_error and one.resource == ref for one in new.diagnostics):
        return None
    count = holders.replicas(holder.body if holder else {})
    if after is None:
        return HolderImpact(ref, "gone", (count, 0))
    return HolderImpact(ref, "new", (0, count))


def _holder_impact(
    key: Key,
    before: Machine,
    after: Machine,
    sides: tuple[SideIndex, SideIndex],
    edited: Container[catalogue.Key],
) -> HolderImpact | None:
    """What becomes of the VMs of a pool, or the VMIs of a replica set; None for one that stays as it is."""
    was, now = before.resource.holder, after.resource.holder
    if was is None or now is None or before.failed or after.failed:
        return None
    kind = VMI if after.is_bare else VM
    old, new = (stamps.put(_without_status(one.decoded), {}) for one in (before, after))
    found = differences(old, new, kind)
    passed = tuple(one.resource for one in _without_effect(after, edited))
    counts = holders.replicas(was.body), holders.replicas(now.body)
    if not found and not passed and counts[0] == counts[1]:
        return None
    release = after.context.release
    outcome: holders.Outcome = "later" if passed else "scaled"
    if found:
        outcome = holders.outcome(found, kind, now.body, release)
    change = Transition(before, after, sides, key)
    return HolderImpact(
        after.resource.ref,
        outcome,
        counts,
        tuple(_template_change(one, change, stages_holders.template_of(now)) for one in found),
        passed,
        holders.is_selective(now.body, release),
    )


def _template_change(one: Difference, change: Transition, template: FieldPath) -> FieldChange:
    """What differs in what a pool or replica set makes, which it has at *template*."""
    of_template = one.route[: len(TEMPLATE)] == TEMPLATE
    cause = attribution.of_vmi(one.route[len(TEMPLATE) :], change) if of_template else None
    cause = cause or attribution.of_vm(one.route, change)
    if cause is not None and cause.resource == change.after.resource.ref:
        cause = cause._replace(path=(*template, *cause.path))
    before, after = (impact.shown(one.route, value) for value in (one.before, one.after))
    return FieldChange(one.field, before, after, "", cause)


class _Comparison:
    """One VM of two states, on its way from the one to the other."""

    def __init__(self, key: Key, before: Machine, after: Machine, old: Side, new: Side) -> None:
        self._key = key
        self._old, self._new = old, new
        self._before, self._after = before, after

    def impact(self) -> MachineImpact:
        """What the update does."""
        created = _created(self._before)
        running = _running(created)
        if self._is_only_redefined():
            outcome = self._outcome(running)
            facts = Facts([], self._is_touched, running, outcome, running, self._recreated())
            return self._weighed(facts, (created, created))
        created.vm = _synced(_pinned(created), running)
        updated = self._updated(created)
        changes = impact.stored_changes(_without_status(created.vm), _without_status(updated.vm))
        verdict = _admit(created.vm, updated)
        _forget_identity(created.vm, updated)
        if verdict.refused:
            found = [WeighedDifference(one, "refused") for one in changes]
            return self._machine_impact(("refused",), verdict.refused, found, (created, updated))
        is_upgrade = self._is_upgrade and not changes
        faults = verdict.faults
        if is_upgrade and verdict.is_unstartable:
            faults = (*faults, *verdict.at_start)
        if faults:
            facts = Facts(changes, self._is_touched, running, None, None, None, faults=faults)
            return self._weighed(facts, (created, updated))
        stale = impact.stale_volumes(created.vm, updated.vm)
        expanded = _restarted(updated, created, running if self._was != "Halted" else None)
        outcome = self._outcome(running)
        if outcome is not None and not is_upgrade:
            outcome = reconcile(self._update(created, expanded, running))
        facts = Facts(
            changes,
            self._is_touched,
            running,
            outcome,
            None if verdict.is_unstartable else emit.started(expanded),
            self._recreated(),
            impact.run_change(self._was, impact.strategy_of(updated.vm)),
            stale=stale,
        )
        judged = self._weighed(facts, (created, expanded))
        return judged._replace(messages=(*judged.messages, *verdict.at_start))

    @property
    def _was(self) -> str:
        """The run strategy before."""
        return impact.strategy_of(self._before.vm)

    @property
    def _is_upgrade(self) -> bool:
        return self._before.context.release != self._after.context.release

    @property
    def _is_touched(self) -> bool:
        """Whether something changed that the VM reads."""
        redefined = _definition_specs(self._before) != _definition_specs(self._after)
        return redefined or self._old.clusters != self._new.clusters

    def _is_only_redefined(self) -> bool:
        """Whether nothing changed but definitions to whose revisions the VM is pinned."""
        before, after = self._before, self._after
        return (
            before.decoded == after.decoded
            and before.context.config == after.context.config
            and _policy(before) == _REFERENCE
            and self._old.claims == self._new.claims
            and not self._is_upgrade
            and not _has_errors(after)
            and not before.merged
            and not after.merged
            and all(_is_pinned(one, before.vm, before.vm) for one in KIND_CLASSES)
        )

    def _outcome(self, running: Tree) -> Reconciliation | None:
        """That nothing happens to the VMI *running*, if it runs."""
        return Reconciliation(running, "", "", "") if self._was != "Halted" else None

    def _recreated(self) -> Tree | None:
        """The VMI of the VM made anew, None where none can be."""
        return None if self._after.failed else emit.started(_created(self._after))

    def _updated(self, created: Machine) -> Machine:
        """The VM as the update sends it on its way through the webhooks."""
        before, after = self._before.decoded, self._after.decoded
        vm = stored.apply(before, after, created.vm)
        context = self._after.context._replace(traced=True)
        updated = Machine(context, self._after.resource, _without_status(vm))
        for kind_class in KIND_CLASSES:
            word = kind_class.word
            given = tree.get(after, "spec", word)
            if given and given.get("inferFromVolume") and given == tree.get(before, "spec", word):
                # What was inferred once is not inferred again.
                tree.put(updated.vm, ("spec", word), tree.get(created.vm, "spec", word))
            definition: Definition | None = getattr(created, word)
            if definition is not None and _is_pinned(kind_class, created.vm, updated.vm):
                updated.pinned[word] = definition
        return updated

    def _update(self, created: Machine, updated: Machine, running: Tree) -> Update:
        namespace = self._key[1]
        claims = dict(self._old.claims.get(namespace, {})) | self._new.claims.get(namespace, {})
        for template in tree.get(updated.vm, "spec", "dataVolumeTemplates") or ():
            modes = _template_modes(template.get("spec") or {})
            if modes:
                claims.setdefault(tree.get(template, "metadata", "name") or "", tuple(modes))
        return Update(
            started=_applied(created, updated.context.release),
            applied=_applied(updated, updated.context.release),
            vm=updated.vm,
            running=running,
            namespace=namespace,
            config=updated.context.config,
            release=updated.context.release,
            claims=Claims(claims),
        )

    def _weighed(self, facts: Facts, machines: tuple[Machine, Machine]) -> MachineImpact:
        effects, found = impact.weigh(facts)
        messages = facts.faults
        if facts.outcome is not None:
            messages = tuple(filter(None, (facts.outcome.restart, facts.outcome.error)))
        judged = self._machine_impact(impact.ordered(effects), messages, found, machines)
        if facts.outcome is None or facts.run:
            return judged._replace(stale=facts.stale)
        context = self._after.context
        rollout = attribution.rollout_strategy(context.config, context.release, self._new.places)
        return judged._replace(
            workload=facts.outcome.action,
            stale=facts.stale,
            rollout=rollout if facts.outcome.is_staged else None,
        )

    def _machine_impact(
        self,
        effects: tuple[str, ...],
        messages: tuple[str, ...],
        found: Sequence[WeighedDifference],
        machines: tuple[Machine, Machine],
    ) -> MachineImpact:
        created, updated = machines
        changes = []
        sides = self._old.places, self._new.places
        manifests = self._before.decoded, self._after.decoded
        now = Transition(created, updated, sides, self._key, manifests)
        then = Transition(updated, self._after, sides, self._key, manifests)
        for difference, effect in found:
            route, before, after = difference
            change = then if effect == "recreate" else now
            of = attribution.of_vm if effect in _OF_VM else attribution.of_vmi
            changes.append(
                FieldChange(
                    difference.field,
                    impact.shown(route, before),
                    impact.shown(route, after),
                    effect,
                    of(route, change),
                )
            )
        return MachineImpact(self._after.resource.ref, effects, messages, tuple(changes))


class _Judgement(NamedTuple):
    """What KubeVirt says of a VM: why it is refused, why the controller fails, and why no VMI starts.

    *creation*: why only a new VM is refused.
    """

    refused: tuple[str, ...]
    faults: tuple[str, ...]
    at_start: tuple[str, ...]
    creation: tuple[str, ...]

    @property
    def is_unstartable(self) -> bool:
        """Whether the next start fails."""
        return bool(self.at_start)


def _admit(before: Tree, updated: Machine) -> _Judgement:
    """Send *updated* through all stages; *before* is what was stored."""
    release = updated.context.release
    causes = [cause.message for cause in update.refused(before, updated.vm, release)]
    verdict = _judge(updated)
    return verdict._replace(
        refused=tuple(dict.fromkeys((*causes, *verdict.refused))),
        faults=verdict.faults or _outdated(updated),
        at_start=tuple(dict.fromkeys((*verdict.creation, *verdict.at_start))),
    )


def _judge(updated: Machine) -> _Judgement:
    """Send *updated* through all stages."""
    admitted = None
    for stage in order.stages(updated.resource, updated.context.settings)[0]:
        if stage is order.FIRST_OF_VMI:
            admitted = len(updated.diagnostics)
        stage(updated)
        if updated.failed:
            break
    found = updated.diagnostics[:admitted]
    later = updated.diagnostics[len(found) :]
    errors = [one for one in found if one.is_error and one.code not in _OURS]
    created = update.creation(updated.context.release)
    creation = [one for one in errors if one.check in created]
    at_start = [one for one in errors if one.code in _AT_START]
    at_once = [one for one in errors if one not in at_start and one not in creation]
    at_start += (one for one in later if one.is_error and one.code not in _OURS)
    causes = (_message(one, updated) for one in at_once if one.code not in _FAILS_LATER)
    faults = (one.message for one in at_once if one.code in _FAILS_LATER)
    return _Judgement(
        tuple(dict.fromkeys(causes)),
        tuple(dict.fromkeys(faults)),
        tuple(dict.fromkeys(one.message for one in at_start)),
        tuple(dict.fromkeys(one.message for one in creation)),
    )


def _forget_identity(before: Tree, updated: Machine) -> None:
    """Take what only a creation makes up out of *updated*, where *before*, of an older release, has it not."""
    place = (*TEMPLATE, *FIRMWARE)
    stored: Tree = tree.get(before, *place) or {}
    given: Tree = tree.get(updated.vm, *place) or {}
    known = {key: value for key, value in given.items() if value is not RANDOM or key in stored}
    if known != given:
        vm, template = Draft(updated.vm), Draft(updated.vmi)
        for draft, path, ids in (
            (vm, place, ("uuid", "serial")),
            (template, FIRMWARE, ("serial",)),
        ):
            for key in ids:
                if key not in known:
                    draft.remove((*path, key))
            if not draft.get(*path):
                draft.remove(path)
        updated.vm, updated.vmi = vm.tree, template.tree


def _message(found: Diagnostic, machine: Machine) -> str:
    """KubeVirt's text: it does not name the instancetype."""
    name = machine.instancetype.name if machine.instancetype else ""
    return found.message.removesuffix(f" {name}") if found.code == _CONFLICT else found.message


def _outdated(machine: Machine) -> tuple[str, ...]:
    """The revisions that KubeVirt replaces by others, while the VM goes on to name them (upstream: upgrade.go)."""
    found = []
    for kind_class in KIND_CLASSES:
        definition: Definition | None = getattr(machine, kind_class.word)
        named = tree.get(machine.vm, "spec", kind_class.word, "revisionName")
        if named and definition and definition.resource and kind_class.word not in machine.pinned:
            labels = tree.get(definition.resource.body, "metadata", "labels") or {}
            if labels.get(_VERSION_LABEL) != "v1beta1":
                found.append(f'controllerrevisions.apps "{named}" not found')
    return tuple(found)


def _without_status(vm: Tree) -> Tree:
    return {key: value for key, value in vm.items() if key != "status"}


def _is_pinned(kind_class: KindClass, before: Tree, after: Tree) -> bool:
    """Whether the VM *after* goes on with the revision that was stored for *before* (syncStatusWithMatcher)."""
    old: Tree = tree.get(before, "spec", kind_class.word) or {}
    new: Tree = tree.get(after, "spec", kind_class.word) or {}
    if new.get("inferFromVolume") or new.get("name", "") != old.get("name", ""):
        return False
    if new.get("revisionName"):
        return bool(new["revisionName"] == old.get("revisionName"))
    return not new.get("kind") or new["kind"] == old.get("kind", "")


def _can(machine: Machine, ability: Ability) -> bool:
    return ability in abilities(machine.context.release)


def _policy(machine: Machine) -> str:
    """What the cluster does with instancetypes and preferences: refer to them, or write them into VMs."""
    config = machine.context.config
    asked = "InstancetypeReferencePolicy" in config.feature_gates
    known = asked or _can(machine, Ability.POLICY_UNASKED)
    return config.reference_policy if known else _REFERENCE


def _pinned(machine: Machine) -> Tree:
    """The stored VM of *machine*, with the names of revisions where the release keeps them in matchers."""
    if _can(machine, Ability.PINS_IN_STATUS):
        return machine.vm
    draft = Draft(machine.vm)
    for kind_class in KIND_CLASSES:
        place = ("spec", kind_class.word, "revisionName")
        if getattr(machine, kind_class.word) is not None and not draft.get(*place):
            draft.put(place, RANDOM)
    return draft.tree


def _created(machine: Machine, before: Machine | None = None) -> Machine:
    """A copy of *machine*, expanded where the cluster's policy for instancetypes says so, and started.

    *before*: what it was; a VM that has a revision stays as it is under the policy ``expand``.
    """
    policy = _policy(machine)
    made = _copied(machine)
    if policy == "expandAll" or (policy == "expand" and not (before and _has_revision(before))):
        _expand(made)
        _started(made)
    return made


def _restarted(updated: Machine, before: Machine, running: Tree | None) -> Machine:
    """*updated*, whose VMI runs or not, as its controllers leave it, and with the VMI that starts next."""
    made = updated
    if _policy(updated) != _REFERENCE:
        made = _created(updated, before)
    vm = _synced(made.vm, running)
    if vm != made.vm:
        made = _copied(made)
        made.vm = vm
        _started(made)
    return made


def _has_revision(machine: Machine) -> bool:
    return machine.instancetype is not None or machine.preference is not None


def _copied(machine: Machine) -> Machine:
    made = machine.under(machine.context.settings)
    made.diagnostics, made.provenance, made.companions = [], [], []
    return made


def _expand(machine: Machine) -> None:
    """Write instancetype and preference into the stored VM (upstream: handleExpand)."""
    if not _has_revision(machine):
        return
    firmware = tree.get(machine.vm, *TEMPLATE, *FIRMWARE)
    machine.context = machine.context._replace(traced=True)
    expanded, _ = schemas.decode(emit.expand(machine), _VM, machine.context.release)
    draft = Draft(expanded)
    if firmware is not None:
        draft.put((*TEMPLATE, *FIRMWARE), {**firmware, **(draft.get(*TEMPLATE, *FIRMWARE) or {})})
    machine.vm = draft.tree
    machine.instancetype = machine.preference = None


def _started(machine: Machine) -> Machine:
    """*machine* with the VMI that the controller creates of it as it is stored now."""
    start.create_vmi(machine)
    if machine.context.presets:
        merging.merge_presets(machine)
    return machine


def _running(machine: Machine) -> Tree:
    """The VMI that *machine* starts, once the network controller has put its networks in order."""
    draft = Draft(emit.started(machine))
    spec = draft.get("spec") or {}
    interfaces, found = networks.retained(spec, spec)
    if interfaces and found != networks.networks_of(spec):
        draft.put(("spec", "networks"), found)
    return draft.tree


def _synced(vm: Tree, running: Tree | None) -> Tree:
    """The stored *vm* after the network controller has seen it beside the VMI *running*."""
    spec = tree.get(vm, *TEMPLATE, "spec") or {}
    interfaces, found = networks.retained(spec, running.get("spec") or {} if running else None)
    draft = Draft(vm)
    for path, value in ((_INTERFACES, interfaces), (_NETWORKS, found)):
        if value != (draft.get(*path) or []):
            draft.put(path, value)
    return draft.tree


def _applied(machine: Machine, release: Version) -> Tree:
    """The template's spec of a VM with its instancetype and preference, as *release* applies them.

    Upstream: ApplyToVM. The controller of now applies what a VM was started with too.
    """
    draft = Draft(tree.get(machine.vm, *TEMPLATE) or {})
    application.apply(
        draft,
        machine.instancetype.spec if machine.instancetype else None,
        machine.preference.spec if machine.preference else None,
        release,
    )
    return draft.tree.get("spec") or {}
