"""Who decided each field of the VMI that a VM starts, and who wanted it otherwise.

The decider is what `Machine.provenance` says, in which every write of another than the author stands. Of those who
lost, presets tell it by themselves; a preference, and a setting of the cluster, would decide a field if who has it now
did not: they are asked once more, without that.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from render import presets, rules
from render.apply import preference
from render.apply.preference.interfaces import BINDINGS
from render.defaults.vmi import fill_vmi
from render.diagnostics import secrets
from render.diagnostics.diagnostic import Diagnostic
from render.diff import compare
from render.kubevirt import replicas
from render.legacy import machines
from render.machine import Machine, place_in, ref_of
from render.model import tree
from render.model.cluster_config import DECIDED
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.kinds import FLAVOR, INSTANCETYPE, KIND_CLASSES
from render.model.provenance import HIDDEN, Contender, Decider, Decision, Provenance
from render.model.release import Version, in_force
from render.model.resource import TEMPLATE, Resource, ResourceRef
from render.model.tree import Tree
from render.pipeline import attribution
from render.pipeline.run import run
from render.pipeline.stages import emit, pins
from render.rules import Edit
from render.settings import Settings

#: Of each group only one is in force, so that one keeps the others out.
_EXCLUSIVE = (
    frozenset({"bios", "efi"}),
    frozenset({"utc", "timezone"}),
    frozenset(BINDINGS),
)
_IDENTITIES = tuple(("metadata", step) for step in ("name", "generateName", "namespace"))
_DOMAIN = ("spec", "domain")


class Explained(NamedTuple):
    """Who decided the fields of the VMI that *resource* starts; nobody where *diagnostics* keep it from that."""

    resource: ResourceRef
    decisions: tuple[Decision, ...]
    diagnostics: tuple[Diagnostic, ...]


def explain(
    resources: Sequence[Resource], settings: Settings, *, pods: bool = False
) -> list[Explained]:
    """Each VM of *resources*, as it starts with its definitions; with *pods* the fields of its pod instead."""
    machines: list[Machine] = []
    rendered = run(
        resources, explaining(settings), lambda machine, _: machines.append(machine), traced=True
    )
    explained = []
    for one in machines:
        known = len(one.diagnostics)
        decide = pod_decisions if pods else decisions
        decided = () if one.failed else tuple(decide(one, emit.vmi(one)))
        ref = one.resource.ref
        found = (each for each in rendered.diagnostics if each.resource == ref)
        explained.append(Explained(ref, decided, (*found, *one.diagnostics[known:])))
    return explained


def pod_decisions(machine: Machine, vmi: Tree) -> Iterator[Decision]:
    """The fields of the pod that *vmi*, which came of *machine*, gets; those that are sums with the sum."""
    from render.kubevirt import vmi_controller
    from render.launcher.sums import sums

    launched = vmi_controller.launched(machine, vmi)
    if launched is None:
        return
    said = sums(*launched)
    shown = {key: launched.pod[key] for key in ("metadata", "spec")}
    for path, route, value in _leaves(shown):
        winner = Contender(_shown(path, value), "kubevirt")
        text = f"pod.{compare.text(route)}"
        yield Decision(("pod", *path), text, winner, sum=said.get(path, ""))


def explaining(settings: Settings) -> Settings:
    """*settings* with the mode that of all modes knows every machine that starts, and leaves out no default."""
    return settings._replace(
        emit="vm", stored=False, defaults="cluster", firmware_uuid="none", annotations=False
    )


def decisions(machine: Machine, vmi: Tree) -> Iterator[Decision]:
    """Who decided each field of *vmi*, which came of *machine* with provenance."""
    judge = _Judge(machine)
    shown = {key: vmi[key] for key in ("metadata", "spec") if vmi.get(key)}
    for path, route, value in _leaves(shown):
        winner = judge.winner(path, value)
        yield Decision(path, compare.text(route), winner, judge.losers(path, value, winner))


def _leaves(
    node: Any, path: FieldPath = (), route: compare.Route = ()
) -> Iterator[tuple[FieldPath, compare.Route, Any]]:
    """Every scalar in *node*, and every list and mapping without an entry."""
    children: Any = ()
    if isinstance(node, dict):
        children = ((key, key, value) for key, value in node.items())
    elif isinstance(node, list):
        names = compare.by_name(node)
        words = map(str, range(len(node))) if names is None else names
        children = zip(range(len(node)), map(compare.Item, words), node, strict=True)
    if not children or not node:
        yield path, route, node
        return
    for step, word, child in children:
        yield from _leaves(child, (*path, step), (*route, word))


def _shown(path: FieldPath, value: Any) -> Any:
    return HIDDEN if secrets.is_secret(path) or secrets.redacted(value) != value else value


class _Judge:
    """What is known of one *machine*: who wrote where, and which preferences would have."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        holder = machine.resource.holder
        #: Where a pool or a replica set has what it makes.
        self.holding = replicas.template_of(holder) if holder else ()
        #: Where the machine has metadata and spec of the VMI.
        self.own = machine.template
        self.writes: dict[FieldPath, Provenance] = {}
        for one in machine.provenance:
            field = one.field[len(self.holding) :]
            field = field[len(TEMPLATE) :] if field[: len(TEMPLATE)] == TEMPLATE else field
            self.writes.pop(field, None)  # the last one counts, and stands last
            self.writes[field] = one
        self.order = {field: number for number, field in enumerate(self.writes)}
        self.wishes = dict(self._preferred())

    def winner(self, path: FieldPath, value: Any) -> Contender:
        """Who decided that *path* of the VMI has *value*."""
        shown = _shown(path, value)
        given, written = self._given(path)
        by = self._write(path)
        if by is not None and given is not None and self._is_authors(by, path, given == value):
            by = None
        if by is None:
            return self._vm(shown, written) if given is not None else Contender(shown, "kubevirt")
        field, one = by
        return self._contender(shown, one, path[len(field) :])

    def losers(self, path: FieldPath, value: Any, winner: Contender) -> tuple[Contender, ...]:
        """Who wanted *path* to be anything but *value*, in the order in which they would have it."""
        losers: list[Contender] = []
        given, written = self._given(path)
        if winner.decider != "vm" and given is not None and given != value:
            losers.append(self._vm(_shown(path, given), written))
        yields = winner.decider in ("vm", "instancetype")
        if yields:
            losers += self._wishes(path, value)
        losers += self._presets(path, value, winner)
        if yields:
            losers += self._setting(path, value)
        return tuple(one for n, one in enumerate(losers) if one not in losers[:n])

    def _presets(self, path: FieldPath, value: Any, winner: Contender) -> Iterator[Contender]:
        for preset in self.machine.merged if path[:2] == _DOMAIN else ():
            wanted = presets.wanted(preset, path[2:])
            ref = preset.resource.ref
            if wanted is not None and wanted != value and ref != winner.source:
                shown = _shown(path, wanted)
                yield Contender(shown, "preset", ref, path, preset.resource.index)

    def _vm(self, shown: Any, written: FieldPath) -> Contender:
        resource = self.machine.resource
        if resource.holder is not None and written in _IDENTITIES:
            written = ("metadata", "namespace" if written[-1] == "namespace" else "name")
        else:
            written = (*self.holding, *machines.in_manifest(resource, written))
        return Contender(shown, "vm", resource.ref, written, resource.index)

    def _given(self, path: FieldPath) -> tuple[Any, FieldPath]:
        """What the VM itself says of *path* of the VMI, and where."""
        given = self.machine.decoded
        place = path if path in _IDENTITIES else (*self.own, *path)
        value = tree.get(given, *place)
        if value is not None:
            return value, place
        for kind_class in KIND_CLASSES:
            matcher: Tree | None = self.machine.spec.get(kind_class.word)
            annotation = matcher and kind_class.annotation_for(matcher.get("kind", ""))
            if annotation and path == ("metadata", "annotations", annotation):
                is_flavor = kind_class is INSTANCETYPE and self.machine.flavor is not None
                word = FLAVOR.word if is_flavor else kind_class.word
                return matcher and matcher.get("name"), ("spec", word, "name")
        return None, ()

    def _write(self, path: FieldPath) -> tuple[FieldPath, Provenance] | None:
        """The last write of *path*, or of something around it, by another than the author."""
        fields = (path[:end] for end in range(1, len(path) + 1))
        known = [field for field in fields if field in self.writes]
        last = max(known, key=self.order.__getitem__, default=None)
        return None if last is None else (last, self.writes[last])

    @staticmethod
    def _is_authors(by: tuple[FieldPath, Provenance], path: FieldPath, same: bool) -> bool:  # noqa: FBT001
        """Whether the author's value is there in spite of the write *by*: put back as it was, or one item of a list."""
        field, one = by
        is_item = any(isinstance(step, int) for step in path[len(field) :])
        return same and (bool(one.decider) or is_item)

    def _contender(self, shown: Any, one: Provenance, rest: FieldPath) -> Contender:
        """Who wrote *one*, and *rest* as part of that."""
        if one.source is None:
            return Contender(shown, "kubevirt")
        if one.decider:
            return Contender(shown, "cluster", one.source, one.source_field, one.position)
        written = one.source_field
        if rest and any(
            tree.get(spec, *written, *rest) is not None for spec in self._specs(one.source)
        ):
            written = (*written, *rest)
        inside = attribution.field_in(one.source, written)
        by, content = self._kind(one.source), self._pinned_content(one.source)
        return Contender(
            shown, by, one.source, inside, one.position, content is not None, content or ""
        )

    def _pinned_content(self, ref: ResourceRef) -> str | None:
        """The hash under which the lock has what counts of the definition *ref*; None where the lock has no say."""
        pinned = self.machine.pinned
        word = next((word for word, one in pinned.items() if ref_of(one) == ref), None)
        pin = pins.pin_of(self.machine)
        entry = pin.entries.get(word) if pin and word else None
        return None if word is None else entry.ref.hash if entry and entry.ref else ""

    def _specs(self, ref: ResourceRef) -> Iterator[Tree]:
        """What `Provenance.source_field` is a path in, of the object *ref*."""
        machine = self.machine
        for definition in (machine.instancetype, machine.preference, machine.flavor):
            if definition is not None and ref_of(definition) == ref:
                yield definition.spec
        for preset in self.machine.merged:
            if preset.resource.ref == ref:
                yield {"spec": preset.spec}

    def _kind(self, ref: ResourceRef) -> Decider:
        if ref.kind.endswith(("Preset", "Flavor")):
            return "preset" if ref.kind.endswith("Preset") else "flavor"
        definition = self.machine.preference
        is_preference = definition is not None and ref_of(definition) == ref
        return "preference" if is_preference else "instancetype"

    def _wishes(self, path: FieldPath, value: Any) -> Iterator[Contender]:
        """What the preference would make of *path*."""
        for end in range(1, len(path) + 1):
            wish = self.wishes.get(path[:end])
            if wish is None or any(isinstance(step, int) for step in path[end : end + 1]):
                continue  # of an item of a list that it would write whole it says nothing
            inside = tree.get(wish.value, *path[end:]) if end < len(path) else None
            wanted = wish.value if inside is None else inside
            if wanted != value:
                yield self._preference(path, wanted, wish.source)

    def _preference(self, path: FieldPath, value: Any, source: FieldPath) -> Contender:
        definition = self.machine.preference
        assert definition is not None  # noqa: S101 - it made the wish
        place = place_in(definition, source)
        content = self._pinned_content(ref_of(definition))
        return Contender(
            _shown(path, value), "preference", place.resource, place.path, place.index,
            pinned=content is not None, content=content or "",
        )  # fmt: skip

    def _preferred(self) -> Iterator[tuple[FieldPath, Edit]]:
        """What the preference would write, by the place that keeps it from that."""
        definition = self.machine.preference
        if definition is None:
            return
        known = {(edit.path, edit.source) for edit in self._edits(definition.spec, None)}
        targets = _targets(definition.spec, self.machine.context.release)
        for place in self._occupied(targets):
            for edit in self._edits(definition.spec, place):
                if (edit.path, edit.source) in known or _is_section(edit, definition.spec):
                    continue
                wish = _instead(edit, place, self.machine.vmi)
                if wish is not None:
                    yield place, wish
                    break

    def _occupied(self, targets: Iterable[FieldPath]) -> Iterator[FieldPath]:
        """The places that the VM or its instancetype has and a preference with these *targets* might have written."""
        given = tree.get(self.machine.decoded, *self.own) or {}
        decided = (
            edit.path
            for one in self.machine.decided
            if one.definition is self.machine.instancetype
            for edit in one.edits
        )
        for path in dict.fromkeys((*_nodes(given), *decided)):
            if _is_preferable(path, targets) and tree.get(self.machine.vmi, *path) is not None:
                yield path

    def _edits(self, spec: Tree, without: FieldPath | None) -> Iterable[Edit]:
        draft = Draft(self.machine.vmi)
        if without is not None:
            draft.remove(without)
        return rules.run(preference.RULES, spec, draft, self.machine.context.release).edits

    def _setting(self, path: FieldPath, value: Any) -> Iterator[Contender]:
        """The setting of the cluster that would decide *path*."""
        context = self.machine.context
        source = context.config_source
        if source is None or not any(path[: len(field)] == field for field, _ in DECIDED):
            return
        draft = Draft(self.machine.vmi)
        draft.remove(path)
        fill_vmi(draft, context.config, context.release)
        wanted = draft.get(*path)
        architecture = draft.get("spec", "architecture") or "amd64"
        setting = source.deciding(path, wanted, architecture)
        if wanted is not None and wanted != value and setting is not None:
            place = source.place(setting)
            shown = _shown(path, wanted)
            yield Contender(shown, "cluster", place.resource, place.path, place.index)


def _nodes(node: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Every place in *node*, the outer ones first."""
    children: Any = ()
    if isinstance(node, dict):
        children = node.items()
    elif isinstance(node, list):
        children = enumerate(node)
    for step, child in children:
        yield (*path, step)
        yield from _nodes(child, (*path, step))


def _targets(spec: Tree, release: Version) -> frozenset[FieldPath]:
    """What the preference *spec* may write below ``spec``, or keep others from: lists without positions."""
    targets = {
        _without_positions(write)
        for row in in_force(preference.RULES, release)
        if row.bind(spec) is not None
        for write in row.writes
    }
    groups = ((one, group) for one in targets for group in _EXCLUSIVE if one[-1] in group)
    return frozenset(targets | {(*one[:-1], name) for one, group in groups for name in group})


def _without_positions(path: FieldPath) -> FieldPath:
    return tuple(step for step in path if isinstance(step, str))


def _is_preferable(path: FieldPath, targets: Iterable[FieldPath]) -> bool:
    if path[0] == "metadata":
        return path[:2] == ("metadata", "annotations")
    plain = _without_positions(path)[1:]
    if not plain or plain in (("domain",), ("domain", "devices")):
        return False
    return any(_touches(plain, target) for target in targets)


def _touches(one: FieldPath, other: FieldPath) -> bool:
    size = min(len(one), len(other))
    return one[:size] == other[:size]


def _is_section(edit: Edit, spec: Tree) -> bool:
    """Whether *edit* only makes an empty place for what a section of a preference has in it."""
    value = tree.get(spec, *edit.source)
    return edit.value == {} and isinstance(value, dict) and value != {}


def _instead(edit: Edit, place: FieldPath, template: Tree) -> Edit | None:
    """What *edit*, which is only made where *place* is empty, would have in its stead."""
    if edit.value is rules.ABSENT:
        return None
    if edit.path == place:
        return edit
    if edit.path == place[:-1] and isinstance(place[-1], int):
        name = tree.get(template, *place, "name")
        named = [one for one in edit.value if name is not None and one.get("name") == name]
        return edit._replace(path=place, value=named[0]) if named else None
    pair = {edit.path[-1], place[-1]}
    if edit.path[:-1] == place[:-1] and any(pair <= group for group in _EXCLUSIVE):
        return edit._replace(value={edit.path[-1]: edit.value})
    return None
