"""Which field of which object brought a change of a VM."""

from collections.abc import Mapping, Sequence
from itertools import takewhile

from render.diff.compare import ORDER, Item, Route, leaves
from render.diff.impact import RolloutStrategy
from render.diff.source import ChangeSource, SideName
from render.kubevirt import preset_mutator, vm_controller
from render.legacy import machines
from render.machine import Machine, SettingsSource, ref_of
from render.model import catalogue, tree
from render.model.catalogue import Definition
from render.model.cluster_config import DECIDED, ROLLOUT_GATE, ClusterConfig
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.kinds import INSTANCETYPES, KIND_CLASSES, KindClass
from render.model.named_tuple import NamedTuple
from render.model.provenance import Provenance, field_in
from render.model.release import Version, minor
from render.model.resource import CLUSTER_SCOPED, LOCK_KIND, ResourceRef, from_body, text_at
from render.model.tree import Tree
from render.pipeline.result import Rendered
from render.pipeline.stages import pins

_TEMPLATE: Route = ("spec", "template")
_REVISION = "ControllerRevision"
#: Of the end of a name that says what the content is.
_HASH_LENGTH = len("-f79c7m9t64")
_CONFIGURATION = ("spec", "configuration")
_ROLLOUT = "vmRolloutStrategy"
Key = tuple[str, str, str]

_RESOURCES: Route = ("spec", "domain", "resources")
_REQUESTS: Route = (*_RESOURCES, "requests")
_LIMITS: Route = (*_RESOURCES, "limits")
_POLICY: FieldPath = ("instancetype", "referencePolicy")
_GUEST: Route = ("spec", "domain", "memory", "guest")
_HUGEPAGES: Route = ("spec", "domain", "memory", "hugepages")
_SOCKETS: Route = ("spec", "domain", "cpu", "sockets")
_VCPUS: FieldPath = ("cpu", "guest")
#: What a preference says of how the vCPUs of an instancetype become sockets, cores and threads.
_LAYOUT: tuple[FieldPath, ...] = (
    ("cpu", "preferredCPUTopology"),
    ("cpu", "spreadOptions"),
    ("preferSpreadSocketToCoreRatio",),
)
#: Fields of a VMI, and of which others KubeVirt computes them.
_COMPUTED: tuple[tuple[Route, tuple[Route, ...]], ...] = (
    ((*_REQUESTS, "memory"), ((*_LIMITS, "memory"), _GUEST, _HUGEPAGES)),
    ((*_LIMITS, "memory"), (_GUEST,)),
    ((*_REQUESTS, "cpu"), ((*_LIMITS, "cpu"), _SOCKETS)),
    ((*_LIMITS, "cpu"), (_SOCKETS,)),
    (("spec", "domain", "cpu", "maxSockets"), (_SOCKETS,)),
    (
        ("spec", "domain", "memory", "maxGuest"),
        (
            _GUEST,
            (*_REQUESTS, "memory"),
            (*_LIMITS, "memory"),
            _HUGEPAGES,
            ("spec", "domain", "launchSecurity"),
            ("spec", "domain", "cpu", "realtime"),
            ("spec", "domain", "cpu", "numa"),
            ("spec", "architecture"),
        ),
    ),
    (("spec", "domain", "cpu"), ((*_REQUESTS, "cpu"), (*_LIMITS, "cpu"), _RESOURCES)),
    (("spec", "domain", "memory"), ((*_REQUESTS, "memory"), (*_LIMITS, "memory"), _RESOURCES)),
    (("spec", "domain", "devices", "disks"), (("spec", "volumes"),)),
    (("spec", "domain", "devices", "interfaces"), (("spec", "networks"),)),
    (("spec", "networks"), (("spec", "domain", "devices", "interfaces"),)),
)
#: So much of a VMI that what differs in it says nothing.
_BROAD: frozenset[Route] = frozenset(
    {("spec",), ("spec", "domain"), ("spec", "domain", "devices"), ("metadata",)}
)


class SideIndex(NamedTuple):
    """Where the objects of one side were given, by identity.

    *rendered* are the machines of the rendering that came before, if any;
    *cluster* is where the settings of the cluster come from, if they are not the defaults; *copied*: of which object
    of the input an object is a copy that the rendering made.
    """

    side: SideName
    places: Mapping[Key, int]
    rendered: Mapping[Key, Machine]
    cluster: SettingsSource | None
    copied: Mapping[Key, ResourceRef] = {}


class Transition:
    """A VM *before* and *after* a change, the *sides* that they belong to, and the identity of the VM.

    *manifests* are those of the VM on both sides: what is stored may have more, which nobody wrote.
    """

    __slots__ = ("_provenance", "after", "before", "key", "manifests", "sides")

    def __init__(
        self,
        before: Machine,
        after: Machine,
        sides: tuple[SideIndex, SideIndex],
        key: Key,
        manifests: tuple[Tree, Tree] | None = None,
    ) -> None:
        self.before = before
        self.after = after
        self.sides = sides
        self.key = key
        self.manifests = manifests or (before.decoded, after.decoded)
        self._provenance: dict[int, list[Provenance]] = {}

    def of_rendered(self) -> "Transition":
        """The same VM as it was given, where a rendering came before."""
        old, new = self.sides
        before, after = self.origin(old) or self.before, self.origin(new) or self.after
        if before is self.before and after is self.after:
            return self
        return Transition(before, after, self.sides, self.key)

    def provenance(self, machine: Machine, side: SideIndex) -> list[Provenance]:
        """What definitions and presets decide in the VMI of *machine*, which is that of *side*."""
        provenance = self._provenance.get(id(machine))
        if provenance is None:
            rendered = self.origin(side)
            provenance = [*_traced(machine), *(_traced(rendered) if rendered else ())]
            self._provenance[id(machine)] = provenance
        return provenance

    def origin(self, side: SideIndex) -> Machine | None:
        """The machine of the input from which the VM of *side* was rendered, None where it is that itself."""
        return side.rendered.get(self.key)


def of_vm(route: Route, change: Transition) -> ChangeSource | None:
    """Where a field of the stored VM was written that changed, or which definition has it changed in a rendered one."""
    place = _in_order(route)
    return defined(place, change) or _written(place, change) or _rewritten(route, change)


def of_vmi(route: Route, change: Transition) -> ChangeSource | None:
    """What brought the change at *route* of the VMI; None if nobody can say."""
    route = _in_order(route)
    old, new = change.sides
    return (
        _named(route, change, change.after, new)
        or _decided(route, change, change.after, new, whole=True)
        or _derived(route, change)
        or _partner(route, change.of_rendered())
        or _lost(route, change)
        or _written((*_TEMPLATE, *route), change)
        or _decided(route, change, change.after, new)
        or _decided(route, change, change.before, old)
        or _named(route, change, change.before, old)
        or _computed(route, change, around=False)
        or _setting(route, change.sides)
        or _computed(route, change)
        or _around(route, change)
        or _nearest(route, change)
        or _only_stored(route, change)
    )


def defined(route: Route, change: Transition) -> ChangeSource | None:
    """What decides a field of a VM that was rendered, and that its authors have alike in both states."""
    authored = change.of_rendered()
    if authored.before is change.before and authored.after is change.after:
        return None
    was, now = (tree.get(manifest, *path_of(route, manifest)) for manifest in authored.manifests)
    if was != now:
        return None
    old, new = change.sides
    inner = route[len(_TEMPLATE) :] if route[: len(_TEMPLATE)] == _TEMPLATE else ()
    decided = inner and (
        _decided(inner, change, change.after, new, whole=True)
        or _decided(inner, change, change.before, old, whole=True)
    )
    return decided or redefined(authored)


def _lost(route: Route, change: Transition) -> ChangeSource | None:
    """What decided *route* of a VM that was rendered, and says nothing of it any more: its authors never wrote that."""
    authored = change.of_rendered()
    if authored.before is change.before and authored.after is change.after:
        return None
    place = (*_TEMPLATE, *route)
    if any(_has(manifest, place) for manifest in authored.manifests):
        return None
    return _decided(route, change, change.before, change.sides[0], whole=True)


def of_leaf(route: Route, change: Transition, *, is_of_vm: bool) -> ChangeSource | None:
    """What brought the change at *route*, below a list that changed, where that is not the list as it is now.

    An item that is no longer in the manifest stood in the one before. *is_of_vm*: *route* is one of the VM.
    """
    decided = defined(route, change) if is_of_vm else None
    place = route if is_of_vm else (*_TEMPLATE, *route)
    old, new = change.manifests
    return decided or (
        _written(place, change) if _has(old, place) and not _has(new, place) else None
    )


def redefined(change: Transition) -> ChangeSource | None:
    """The only definition that a VM has otherwise, at the field around all that differs in it; none that is bundled."""
    redefined = [
        (old, new)
        for old, new in (
            [getattr(machine, kind_class.word) for machine in (change.before, change.after)]
            for kind_class in KIND_CLASSES
        )
        if (old and old.spec) != (new and new.spec)
    ]
    if len(redefined) != 1:
        return None
    ((old, new),) = redefined
    was, now = (definition.spec if definition else {} for definition in (old, new))
    steps = zip(*(_in_order(leaf.route) for leaf in leaves(was, now)), strict=False)
    route = tuple(step for step, *_ in takewhile(lambda found: len({*found}) == 1, steps))
    is_new = new is not None and (old is None or _has(now, route))
    definition, spec = (new, now) if is_new else (old, was)
    ref = ref_of(definition)
    switched = _switched(ref, change)
    if switched or not (definition.resource or definition.elsewhere):
        return switched  # another release brings another content along, which nobody has edited
    return _source(ref, path_of(route, spec), change.sides[is_new])


def _in_order(route: Route) -> Route:
    """The list whose order changed, if *route* is an order."""
    return route[:-1] if route and route[-1] is ORDER else route


def _computed(route: Route, change: Transition, *, around: bool = True) -> ChangeSource | None:
    """The source of what KubeVirt computes from another field: one that was edited, else, if asked, one *around* it."""
    for place, sources in _COMPUTED:
        if route[: len(place)] == place:
            for source in sources:
                origin = _edited(source, change)
                if origin:
                    return origin
            for source in sources if around else ():
                item = (route[len(place)],) if _is_item(route, place) else ()
                origin = _around((*source, *item), change) or _around(source, change)
                if origin:
                    return origin
    return _written(route, change) if around and route[:1] == ("metadata",) else None


def _partner(route: Route, change: Transition) -> ChangeSource | None:
    """The volume of a disk, or the network of an interface, that only one manifest has: KubeVirt adds the other to it.

    What a preference says of it is no news then.
    """
    for place, sources in _COMPUTED:
        if route[: len(place)] != place or not _is_item(route, place):
            continue
        own = (*_TEMPLATE, *route[: len(place) + 1])
        if any(_has(manifest, own) for manifest in change.manifests):
            return None
        for source in sources:
            partner = (*_TEMPLATE, *source, own[-1])
            if len({_has(manifest, partner) for manifest in change.manifests}) > 1:
                return _written(partner, change)
    return None


def _has(manifest: Tree, route: Route) -> bool:
    """Whether *manifest* has the item of a list at the end of *route*."""
    path = path_of(route, manifest)
    return len(path) == len(route) and tree.get(manifest, *path) is not None


def _derived(route: Route, change: Transition) -> ChangeSource | None:
    """The source of a request or limit that the manifests have alike, and that KubeVirt computes from another field."""
    path = (*_TEMPLATE, *route)
    was, now = (tree.get(manifest, *path_of(path, manifest)) for manifest in change.manifests)
    is_resource = route[:-1] in {_REQUESTS, _LIMITS}
    return _computed(route, change) if is_resource and was == now else None


def _edited(route: Route, change: Transition) -> ChangeSource | None:
    """The field at *route* itself, if the two manifests or VMIs have it otherwise."""
    path = (*_TEMPLATE, *route)
    manifests = [tree.get(manifest, *path_of(path, manifest)) for manifest in change.manifests]
    vmis = [
        tree.get(machine.vmi, *path_of(route, machine.vmi))
        for machine in (change.before, change.after)
    ]
    if manifests[0] == manifests[1] and vmis[0] == vmis[1]:
        return None
    old, new = change.sides
    return (
        _decided(route, change, change.after, new, whole=True)
        or _decided(route, change, change.before, old, whole=True)
        or _written(path, change)
    )


def _is_item(route: Route, place: Route) -> bool:
    return len(route) > len(place) and isinstance(route[len(place)], Item)


def _around(route: Route, change: Transition) -> ChangeSource | None:
    """The field at *route*, or the nearest one around it, that the two states have otherwise."""
    old_side, new_side = change.sides
    source = _decided(route, change, change.after, new_side) or _decided(
        route, change, change.before, old_side
    )
    while source is None and route and route not in _BROAD:
        old, new = (
            tree.get(manifest, *path_of((*_TEMPLATE, *route), manifest))
            for manifest in change.manifests
        )
        source = _written((*_TEMPLATE, *route), change) if old != new else None
        route = route[:-1]
    return source


def _nearest(route: Route, change: Transition) -> ChangeSource | None:
    """The nearest field around *route* that a manifest has: the controller did something with it by itself.

    Nothing where the controller is that of another release, and what it did need not come from an edit.
    """
    if change.before.context.release != change.after.context.release:
        return None
    while route and route not in _BROAD:
        source = _written((*_TEMPLATE, *route), change)
        if source:
            return source
        route = route[:-1]
    return None


def _setting(route: Route, sides: tuple[SideIndex, SideIndex]) -> ChangeSource | None:
    """The setting of the cluster behind *route* that the two states have otherwise."""
    for place, fields in DECIDED:
        if route[: len(place)] == place:
            for field in fields:
                source = _configured(field, sides)
                if source:
                    return source
    return None


def _configured(field: FieldPath, sides: tuple[SideIndex, SideIndex]) -> ChangeSource | None:
    """The *field* of the cluster's configuration, if the two states have it otherwise."""
    path = (*_CONFIGURATION, *field)
    old, new = (tree.get(side.cluster and side.cluster.kubevirt, *path) for side in sides)
    side = sides[1] if new is not None else sides[0]
    if old == new or side.cluster is None:
        return None
    return _source(side.cluster.resource.ref, side.cluster.origin(path) or (), side)


def rollout_strategy(config: ClusterConfig, release: Version, side: SideIndex) -> RolloutStrategy:
    """The rollout strategy of *config*, which is what *release* makes of the cluster of *side*, and who decided it."""
    found = RolloutStrategy(config.rollout_strategy, minor(release))
    cluster = side.cluster
    configured = tree.get(cluster.kubevirt, *_CONFIGURATION, _ROLLOUT) if cluster else None
    if cluster is None or configured is None:
        return found
    path = cluster.origin((*_CONFIGURATION, _ROLLOUT)) or ()
    is_off = configured != found.value and not config.has_gate(ROLLOUT_GATE, release)
    gate = ROLLOUT_GATE if is_off else ""
    return found._replace(source=_source(cluster.resource.ref, path, side), gate=gate)


def _traced(machine: Machine) -> list[Provenance]:
    """What instancetype, preference and presets decide in the VMI of *machine*; the fields are those of the VMI."""
    above = len(machine.vmi_path) - 1
    return [
        provenance._replace(field=provenance.field[above:]) for provenance in _recorded(machine)
    ]


def _recorded(machine: Machine) -> list[Provenance]:
    if not machine.template or (machine.context.traced and machine.vmi):
        return machine.provenance
    traced = machine.under(machine.context.settings)
    traced.context = traced.context._replace(traced=True)
    traced.diagnostics, traced.provenance = [], [*machine.provenance]
    vm_controller.create_vmi(traced)
    if traced.context.presets:
        preset_mutator.merge_presets(traced)
    return traced.provenance


def _decided(
    route: Route, change: Transition, machine: Machine, side: SideIndex, *, whole: bool = False
) -> ChangeSource | None:
    """What a definition or a preset says of *route*, or of the field around it; unless *whole*, of part of it."""
    path = path_of(route, machine.vmi or tree.get(machine.vm, *_TEMPLATE) or {})
    nearest = -1
    found: tuple[ResourceRef, FieldPath] | None = None
    for provenance in change.provenance(machine, side):
        field = provenance.field
        short = len(field) if whole else min(len(field), len(path))
        if (
            provenance.source
            and not provenance.decider
            and field[:short] == path[:short]
            and short > nearest
        ):
            nearest, found = short, (provenance.source, provenance.source_field)
    if found is None:
        return None
    source, field = found
    return (
        _layout(source, field, change) or _switched(source, change) or _source(source, field, side)
    )


def _layout(source: ResourceRef, field: FieldPath, change: Transition) -> ChangeSource | None:
    """Where a preference lays the vCPUs out otherwise that *field* of *source* says, which are as many as before.

    Upstream: pkg/instancetype/apply/cpu.go, pkg/instancetype/preference/apply/cpu.go.
    """
    rendered = change.of_rendered()
    both = rendered.before, rendered.after
    if source.kind not in INSTANCETYPES or field != _VCPUS:
        return None
    if len({tree.get(each.instancetype and each.instancetype.spec, *_VCPUS) for each in both}) > 1:
        return None
    old, new = (each.preference for each in both)
    for path in _LAYOUT:
        was, now = (tree.get(each and each.spec, *path) for each in (old, new))
        preference = old if now is None else new
        if was != now and preference is not None:
            side = change.sides[now is not None]
            return _switched(ref_of(preference), change) or _source(ref_of(preference), path, side)
    return None


def _switched(source: ResourceRef, change: Transition) -> ChangeSource | None:
    """The matcher, or the pin, through which the VM has the definition *source* now, or no longer has it."""
    old, new = change.sides
    rendered = change.of_rendered()
    before, after = rendered.before, rendered.after
    for kind_class in KIND_CLASSES:
        word = kind_class.word
        if not any(_uses(machine, word, source) for machine in (before, after)):
            continue
        was, now = (tree.get(manifest, "spec", word) or {} for manifest in rendered.manifests)
        if was != now:
            key = next(key for key in (*now, *was) if now.get(key) != was.get(key))
            return _written(("spec", word, key), rendered)
        if pins.pinned_content(before, kind_class) != pins.pinned_content(after, kind_class):
            if pins.has_edit(before, after, kind_class, catalogue.Key(*source)):
                return None
            return _pinned(after, word, new) or _pinned(before, word, old)
        return _labelled(kind_class, rendered)
    return None


def _labelled(kind_class: KindClass, change: Transition) -> ChangeSource | None:
    """The label from which the matcher of *kind_class* is inferred that the two states have otherwise, if it is."""
    from render.resolve import infer

    found = []
    for machine in (change.before, change.after):
        volume = tree.get(machine.decoded, "spec", kind_class.word, "inferFromVolume")
        if not volume:
            return None
        context = machine.context
        spec = machine.decoded["spec"]
        found.append(
            infer.infer(
                kind_class, volume, spec, machine.namespace, context.catalogue, context.release
            )
        )
    was, now = (each if isinstance(each, infer.Inferred) else None for each in found)
    known = now or was
    if known is None or (was and now and was[:2] == now[:2]):
        return None
    label = kind_class.name_label
    if was and now and was.name == now.name:
        label = f"{label}-kind"
    side, ref = change.sides[now is not None], known.source.ref
    return ChangeSource(ref, ("metadata", "labels", label), _place(ref, side), side.side)


def _uses(machine: Machine, word: str, source: ResourceRef) -> bool:
    definition: Definition | None = getattr(machine, word)
    if definition is None:
        return False
    holder = definition.resource.ref if definition.resource else None
    return source == holder or (source.kind, source.name) == (definition.kind, definition.name)


def _pinned(machine: Machine, word: str, side: SideIndex) -> ChangeSource | None:
    """What the lock of *side* says of *machine*, if it says something."""
    pin = pins.pin_of(machine)
    lock = next((key for key in side.places if key[0] == LOCK_KIND), None)
    if pin is None or word not in pin.entries or lock is None:
        return None
    path = ("pins", pins.name_of(machine.resource), word)
    named = pin.entries[word].ref
    definition = None
    if named is not None:
        scope = "" if named.kind in CLUSTER_SCOPED else machine.namespace
        ref = ResourceRef(named.kind, scope, named.name)
        index = _place(ref, side)
        definition = None if index is None else ChangeSource(ref, (), index, side.side)
    return ChangeSource(ResourceRef(*lock), path, side.places[lock], side.side, definition)


def path_of(route: Route, root: Tree) -> FieldPath:
    """*route* in *root* with the positions of items instead of their names."""
    path: list[str | int] = []
    node: object = root
    for step in route:
        if isinstance(step, Item) and isinstance(node, list):
            place = _position_of(step, node)
            if place is None:
                break
            path.append(place)
        else:
            path.append(str(step))
        node = tree.get(node, path[-1])
    return tuple(path)


def _position_of(name: str, items: Sequence[Any]) -> int | None:
    """The position of the first of *items* that is called *name*."""
    for place, item in enumerate(
        items
    ):  # asked for each change of a list, each time through all of it
        if item.__class__ is dict and "name" in item and item["name"] == name:
            return place
    return None


def _only_stored(route: Route, change: Transition) -> ChangeSource | None:
    """The VM, where it stores what no manifest has: what left the manifest may have brought it."""
    path = (*_TEMPLATE, *route)
    stored = change.before.decoded
    is_stored = tree.get(stored, *path_of(path, stored)) is not None
    return _rewritten(path, change) if is_stored else None


def _named(
    route: Route, change: Transition, machine: Machine, side: SideIndex
) -> ChangeSource | None:
    """The matcher that an annotation of the VMI names, or the policy by which a VM has matchers or not."""
    written = change.origin(side) or machine
    for kind_class in KIND_CLASSES:
        matcher = tree.get(written.decoded, "spec", kind_class.word)
        annotation = matcher and kind_class.annotation_for(matcher.get("kind", ""))
        if annotation and ("metadata", "annotations", annotation)[: len(route)] == route:
            policy = _configured(_POLICY, change.sides)
            before, after = (
                tree.get(manifest, "spec", kind_class.word) for manifest in change.manifests
            )
            if policy and before == after:
                return policy
            if label := _labelled(kind_class, change.of_rendered()):
                return label
            path = ("spec", kind_class.word, "name")
            ref = machine.resource.ref
            return ChangeSource(ref, path, _place(ref, side), side.side)
    return None


def _written(route: Route, change: Transition) -> ChangeSource | None:
    """The field of the manifest: of the one after the change, or of the one before if it is gone from there."""
    old, new = change.manifests
    for manifest, machine, side in (
        (new, change.after, change.sides[1]),
        (old, change.before, change.sides[0]),
    ):
        path = path_of(route, manifest)
        if len(path) == len(route) and tree.get(manifest, *path) is not None:
            return _in_manifest(machine, path, change, side)
    return None


def _in_manifest(
    machine: Machine, path: FieldPath, change: Transition, side: SideIndex
) -> ChangeSource:
    """*path* of *machine*, where its author wrote it: a machine of another time was rendered to this one."""
    origin = change.origin(side)
    written = origin.resource if origin else machine.resource
    path = machines.in_manifest(written, path)
    return ChangeSource(written.ref, path, _place(machine.resource.ref, side), side.side)


def _rewritten(route: Route, change: Transition) -> ChangeSource | None:
    """The VM itself, for a field that neither manifest has: the cluster wrote it, and the apply takes it back."""
    side = change.sides[1]
    return ChangeSource(
        change.after.resource.ref,
        path_of(route, change.after.vm),
        _place(change.after.resource.ref, side),
        side.side,
    )


def _source(ref: ResourceRef, field: FieldPath, side: SideIndex) -> ChangeSource:
    """The *field* of the object *ref*: of the spec of a definition, of any other object as it is."""
    original = side.copied.get((ref.kind, ref.namespace, ref.name), ref)
    return ChangeSource(original, field_in(original, field), _place(original, side), side.side)


def copies(rendered: Rendered, places: Mapping[Key, int]) -> dict[Key, ResourceRef]:
    """The definitions that a rendering wrote under names of their own, and the objects of the input behind them."""
    originals: dict[Key, ResourceRef] = {}
    for body, source in zip(rendered.resources, rendered.sources, strict=True):
        companion = from_body(body, 0).ref if source is None else None
        if companion is None:
            continue
        kind, name = companion.kind, companion.name[:-_HASH_LENGTH]
        if kind == _REVISION:
            data = body.get("data")
            kind, name = text_at(data, "kind"), tree.get(data, "metadata", "name") or ""
        for namespace in dict.fromkeys((companion.namespace, "")):
            if (kind, namespace, name) in places:
                originals[companion.kind, companion.namespace, companion.name] = ResourceRef(
                    kind, namespace, name
                )
                break
    return originals


def _place(ref: ResourceRef, side: SideIndex) -> int | None:
    return side.places.get((ref.kind, ref.namespace, ref.name))
