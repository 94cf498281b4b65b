"""Who decided each field of the VMI that a VM starts, and who wanted it otherwise.

The decider is what `Machine.provenance` says, in which every write of another than the author stands. Of those who
lost, presets tell it by themselves; a preference, and a setting of the cluster, would decide a field if who has it now
did not: they are asked once more, without that.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from render import presets
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
from render.model.resource import TEMPLATE, Resource, ResourceRef
from render.model.tree import Tree
from render.pipeline import attribution
from render.pipeline.run import run
from render.pipeline.stages import emit, pins
from render.pipeline.wishes import wishes
from render.settings import Settings

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
        yield Decision(path, compare.text(route), *judge.decide(path, value))


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
    """What is known of one *machine*: who wrote where, and who would have."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        holder = machine.resource.holder
        #: Where a pool or a replica set has what it makes.
        self.holding = replicas.template_of(holder) if holder else ()
        #: Where the machine has metadata and spec of the VMI.
        self.own = machine.template
        #: Who wrote where, by when that was: the last one counts.
        self.writes: dict[FieldPath, tuple[int, Provenance]] = {}
        for number, one in enumerate(machine.provenance):
            field = one.field[len(self.holding) :]
            field = field[len(TEMPLATE) :] if field[: len(TEMPLATE)] == TEMPLATE else field
            self.writes[field] = number, one
        self.named = dict(self._named())
        self.kinds: dict[ResourceRef, tuple[Decider, str | None]] = {}
        self.wishes = wishes(machine)

    def decide(self, path: FieldPath, value: Any) -> tuple[Contender, tuple[Contender, ...]]:
        """Who decided that *path* of the VMI has *value*, and who wanted it to be anything else."""
        given, written = self._given(path)
        winner = self._winner(path, value, given, written)
        return winner, self._losers(path, value, winner, given, written)

    def _winner(self, path: FieldPath, value: Any, given: Any, written: FieldPath) -> Contender:
        """Who decided: the VM itself has it *given* where it is *written*."""
        shown = _shown(path, value)
        by = self._write(path)
        if by is not None and given is not None and self._is_authors(by, path, given == value):
            by = None
        if by is None:
            return self._vm(shown, written) if given is not None else Contender(shown, "kubevirt")
        field, one = by
        return self._contender(shown, one, path[len(field) :])

    def _losers(
        self, path: FieldPath, value: Any, winner: Contender, given: Any, written: FieldPath
    ) -> tuple[Contender, ...]:
        """Who wanted anything else, in the order in which they would have it."""
        losers: list[Contender] = []
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
        place = path if path in _IDENTITIES else (*self.own, *path)
        value = tree.get(self.machine.decoded, *place)
        return self.named.get(path, (None, ())) if value is None else (value, place)

    def _named(self) -> Iterator[tuple[FieldPath, tuple[Any, FieldPath]]]:
        """The annotations of the VMI that name definitions, with the name that the VM itself has, and where."""
        for kind_class in KIND_CLASSES:
            matcher: Tree | None = self.machine.spec.get(kind_class.word)
            if matcher:
                annotation = kind_class.annotation_for(matcher.get("kind", ""))
                is_flavor = kind_class is INSTANCETYPE and self.machine.flavor is not None
                word = FLAVOR.word if is_flavor else kind_class.word
                place = ("spec", word, "name")
                yield ("metadata", "annotations", annotation), (matcher.get("name"), place)

    def _write(self, path: FieldPath) -> tuple[FieldPath, Provenance] | None:
        """The last write of *path*, or of something around it, by another than the author."""
        last: tuple[int, FieldPath, Provenance] | None = None
        for end in range(1, len(path) + 1):
            write = self.writes.get(path[:end])
            if write is not None and (last is None or write[0] > last[0]):
                last = write[0], path[:end], write[1]
        return None if last is None else last[1:]

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
        if one.source not in self.kinds:
            self.kinds[one.source] = self._kind(one.source), self._pinned_content(one.source)
        by, content = self.kinds[one.source]
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
        for end in range(1, len(path) + 1) if self.wishes else ():
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
