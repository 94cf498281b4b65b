"""Who decided each field of the VMI that a VM starts, and who wanted it otherwise.

The decider is what `Machine.provenance` says, in which every write of another than the author stands. Of those who
lost, presets tell it by themselves; a preference, and a setting of the cluster, would decide a field if who has it now
did not: they are asked once more, without that.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
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
    for leaf in _leaves(shown):
        winner = Contender(_shown(leaf.path, leaf.value), "kubevirt")
        path = ("pod", *leaf.path)
        yield Decision(path, f"pod.{leaf.text}", winner, sum=said.get(leaf.path, ""))


def explaining(settings: Settings) -> Settings:
    """*settings* with the mode that of all modes knows every machine that starts, and leaves out no default."""
    return settings._replace(
        emit="vm", stored=False, defaults="cluster", firmware_uuid="none", annotations=False
    )


def decisions(machine: Machine, vmi: Tree) -> Iterator[Decision]:
    """Who decided each field of *vmi*, which came of *machine* with provenance."""
    judge = _Judge(machine)
    shown = {key: vmi[key] for key in ("metadata", "spec") if vmi.get(key)}
    for leaf in _leaves(shown, judge.given, judge.writes):
        yield Decision(leaf.path, leaf.text, *judge.decide(leaf))


class _Leaf(NamedTuple):
    """A scalar of the VMI, or a list or mapping without an entry: its *path*, and that with the names of items.

    *given* is what the VM itself says there; *by* the last write of it, or of something around it, by another.
    """

    path: FieldPath
    text: str
    value: Any
    given: Any = None
    by: "_Write | None" = None


class _Write(NamedTuple):
    """What came as number *order* of all writes at *path*."""

    order: int
    path: FieldPath
    provenance: Provenance


def _leaves(
    node: Any, given: Any = None, writes: Mapping[FieldPath, _Write] = MappingProxyType({})
) -> list[_Leaf]:
    """Every leaf of *node*, in order; *given* is the same of the VM itself.

    One walk through both: a report asks for some fifty fields of each of some hundred machines.
    """
    found: list[_Leaf] = []

    def walk(node: Any, given: Any, path: FieldPath, text: str, by: _Write | None) -> None:
        write = writes.get(path)
        if write is not None and (by is None or write.order > by.order):
            by = write
        if node and isinstance(node, dict):
            inner = given if isinstance(given, dict) else {}
            for key, value in node.items():
                word = f"{text}.{key}" if text else key
                walk(value, inner.get(key), (*path, key), word, by)
        elif node and isinstance(node, list):
            items = given if isinstance(given, list) else ()
            names: Iterable[Any] = compare.by_name(node) or range(len(node))
            for index, (word, value) in enumerate(zip(names, node, strict=True)):
                inner_item = items[index] if index < len(items) else None
                walk(value, inner_item, (*path, index), f"{text}[{word}]", by)
        else:
            found.append(_Leaf(path, text, node, given, by))

    walk(node, given, (), "", None)
    return found


@lru_cache(maxsize=4096)
def _is_secret(path: FieldPath) -> bool:
    return secrets.is_secret(path)


def _shown(path: FieldPath, value: Any) -> Any:
    if isinstance(value, bool):  # automountServiceAccountToken, say
        return value
    return HIDDEN if _is_secret(path) or secrets.redacted(value) != value else value


class _Judge:
    """What is known of one *machine*: who wrote where, and who would have."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        holder = machine.resource.holder
        #: Where a pool or a replica set has what it makes.
        self.holding = replicas.template_of(holder) if holder else ()
        #: Where the machine has metadata and spec of the VMI.
        self.own = machine.template
        #: Who wrote where: the last one counts.
        self.writes: dict[FieldPath, _Write] = {}
        for number, one in enumerate(machine.provenance):
            field = one.field[len(self.holding) :]
            field = field[len(TEMPLATE) :] if field[: len(TEMPLATE)] == TEMPLATE else field
            self.writes[field] = _Write(number, field, one)
        #: What the VM itself says elsewhere than where the VMI has it.
        self.elsewhere: dict[FieldPath, FieldPath] = {}
        self.given = self._given()
        self.kinds: dict[ResourceRef, tuple[Decider, str | None]] = {}
        self.wishes = wishes(machine)

    def decide(self, leaf: _Leaf) -> tuple[Contender, tuple[Contender, ...]]:
        """Who decided that a field of the VMI has its value, and who wanted it to be anything else."""
        winner = self._winner(leaf)
        return winner, self._losers(leaf, winner)

    def _winner(self, leaf: _Leaf) -> Contender:
        shown, by = _shown(leaf.path, leaf.value), leaf.by
        if by is not None and not self._is_authors(leaf, by):
            return self._contender(shown, by.provenance, leaf.path[len(by.path) :])
        if leaf.given is not None:
            return self._vm(shown, leaf.path)
        return Contender(shown, "kubevirt")

    def _losers(self, leaf: _Leaf, winner: Contender) -> tuple[Contender, ...]:
        """Who wanted anything else, in the order in which they would have it."""
        path, value = leaf.path, leaf.value
        losers: list[Contender] = []
        if winner.decider != "vm" and leaf.given is not None and leaf.given != value:
            losers.append(self._vm(_shown(path, leaf.given), path))
        yields = winner.decider in ("vm", "instancetype")
        if yields:
            losers += self._wishes(path, value)
        losers += self._presets(path, value, winner)
        if yields:
            losers += self._setting(path, value)
        if len(losers) < 2:  # noqa: PLR2004 - nobody can stand there twice
            return tuple(losers)
        return tuple(one for n, one in enumerate(losers) if one not in losers[:n])

    def _presets(self, path: FieldPath, value: Any, winner: Contender) -> Iterator[Contender]:
        for preset in self.machine.merged if path[:2] == _DOMAIN else ():
            wanted = presets.wanted(preset, path[2:])
            ref = preset.resource.ref
            if wanted is not None and wanted != value and ref != winner.source:
                shown = _shown(path, wanted)
                yield Contender(shown, "preset", ref, path, preset.resource.index)

    def _vm(self, shown: Any, path: FieldPath) -> Contender:
        """That the VM itself has what is *shown*, for *path* of the VMI."""
        resource = self.machine.resource
        written = self.elsewhere.get(path) or (*self.own, *path)
        if resource.holder is not None and written in _IDENTITIES:
            written = ("metadata", "namespace" if written[-1] == "namespace" else "name")
        else:
            written = (*self.holding, *machines.in_manifest(resource, written))
        return Contender(shown, "vm", resource.ref, written, resource.index)

    def _given(self) -> Tree:
        """What the VM itself says of the VMI: its template, its own names, and the names of its definitions.

        Where it has these names is put into `elsewhere`.
        """
        said = Draft(tree.get(self.machine.decoded, *self.own) or {})
        for own in _IDENTITIES:
            name = tree.get(self.machine.decoded, *own)
            if said.get(*own) != name:
                said.put(own, name)
            self.elsewhere[own] = own
        for kind_class in KIND_CLASSES:
            matcher: Tree = self.machine.spec.get(kind_class.word) or {}
            annotation = kind_class.annotation_for(matcher.get("kind", ""))
            path: FieldPath = ("metadata", "annotations", annotation)
            if matcher and said.get(*path) is None:
                is_flavor = kind_class is INSTANCETYPE and self.machine.flavor is not None
                word = FLAVOR.word if is_flavor else kind_class.word
                said.put(path, matcher.get("name"))
                self.elsewhere[path] = ("spec", word, "name")
        return said.tree

    @staticmethod
    def _is_authors(leaf: _Leaf, by: _Write) -> bool:
        """Whether the author's value is there in spite of the write *by*: put back as it was, or one item of a list."""
        if leaf.given is None or leaf.given != leaf.value:
            return False
        rest = leaf.path[len(by.path) :]
        return bool(by.provenance.decider) or any(isinstance(step, int) for step in rest)

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
