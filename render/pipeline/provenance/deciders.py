"""Who decided each field of the VMI that a VM starts, and who wanted it otherwise.

The decider is what `Machine.provenance` says, in which every write of another than the author stands. Of those who
lost, presets tell it by themselves; a preference, and a setting of the cluster, would decide a field if who has it now
did not: they are asked once more, without that.
"""

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

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
from render.model.hints import Any
from render.model.kinds import FLAVOR, INSTANCETYPE, KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.provenance import (
    HIDDEN,
    Contender,
    Decider,
    Decision,
    Provenance,
    field_in,
)
from render.model.resource import TEMPLATE, Resource, ResourceRef
from render.model.tree import Tree
from render.pipeline.input import definitions
from render.pipeline.provenance.wishes import wishes
from render.pipeline.run import run
from render.pipeline.stages import emit, pins
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
    """Each VM of *resources*, as it starts with its definitions; with *pods* the fields of its pod instead.

    One that cannot be rendered has no decisions, and what was found of it.
    """
    machines: list[Machine] = []
    rendered = run(
        resources, explaining(settings), lambda machine, _: machines.append(machine), traced=True
    )
    explained = []
    for machine in machines:
        known = len(machine.diagnostics)
        decide = pod_decisions if pods else decisions
        decided = () if machine.failed else tuple(decide(machine, emit.vmi(machine)))
        ref = machine.resource.ref
        found = (each for each in rendered.diagnostics if each.resource == ref)
        explained.append(Explained(ref, decided, (*found, *machine.diagnostics[known:])))
    taken = {machine.resource.index for machine in machines}
    by_name = {each.resource for each in explained}
    for resource in resources:
        is_refused = resource.index not in taken and definitions.is_machine(resource)
        if is_refused and resource.ref not in by_name:  # of two of one name the first is explained
            about = (each for each in rendered.diagnostics if each.resource == resource.ref)
            explained.append(Explained(resource.ref, (), tuple(about)))
    return explained


def pod_decisions(machine: Machine, vmi: Tree) -> Iterator[Decision]:
    """The fields of the pod that *vmi*, which came of *machine*, gets; those that are sums with the sum."""
    from render.kubevirt import vmi_controller
    from render.launcher.sums import sums

    launched = vmi_controller.launched(machine, vmi)
    if launched is None:
        return
    sum_texts = sums(*launched)
    content = {key: launched.pod[key] for key in ("metadata", "spec")}
    for field, value, *_ in _leaves(content):
        winner = Contender(_redacted(field.path, value, is_secret=field.is_secret), "kubevirt")
        path = ("pod", *field.path)
        yield Decision(path, f"pod.{field.text}", winner, sum=sum_texts.get(field.path, ""))


def explaining(settings: Settings) -> Settings:
    """*settings* with the mode that of all modes knows every machine that starts, and leaves out no default."""
    return settings._replace(
        emit="vm", stored=False, defaults="cluster", firmware_uuid="none", annotations=False
    )


def decisions(machine: Machine, vmi: Tree) -> Iterator[Decision]:
    """Who decided each field of *vmi*, which came of *machine* with provenance."""
    judge = Judge(machine, vmi)
    return map(judge.decide, judge.leaves)


class _FieldNode:
    """A place in VMIs: its *path*, that as a *text* with the names of items, and the fields *inside* it that are known.

    Machines of a fleet have the same ones: each is made once, and whether it *is_secret* found out once.
    """

    __slots__ = ("inside", "is_secret", "path", "text")

    def __init__(self, path: FieldPath, text: str) -> None:
        self.path = path
        self.text = text
        self.is_secret = secrets.is_secret(path)
        self.inside: dict[str | tuple[int, str | int], _FieldNode] = {}

    def at(self, step: str | tuple[int, str | int]) -> "_FieldNode":
        """The field at *step*, the index of an item with its name."""
        if isinstance(step, tuple):
            index, name = step
            field = _FieldNode((*self.path, index), f"{self.text}[{name}]")
        else:
            field = _FieldNode((*self.path, step), f"{self.text}.{step}" if self.text else step)
        if len(self.inside) >= _MOST_INSIDE:
            self.inside.clear()
        self.inside[step] = field
        return field


_ROOT = _FieldNode((), "")
_CONTAINERS = dict, list
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_MOST_INSIDE = 256
"""Fields that are known of one place: names of labels, say, may be others in each machine."""


_Write = tuple[int, FieldPath, Provenance]
"""What came as number so many of all writes, where, and who wrote it."""
_Leaf = tuple[_FieldNode, Any, Any, _Write | None, bool]
"""A scalar of the VMI, or a list or mapping without an entry: its field and value.

Then what the VM itself says there; the last write of it, or of something around it, by another; and whether its
preference has a wish for it. These are plain tuples: a report makes some fifty for each of some hundred machines.
"""


def _leaves(
    node: Any,
    own: Any = None,
    writes: Mapping[FieldPath, _Write] = MappingProxyType({}),
    wishes: Container[FieldPath] = (),
) -> list[_Leaf]:
    """Every leaf of *node*, in order; *own* is the same of the VM itself."""
    found: list[_Leaf] = []
    add, written = found.append, writes.get

    def walk(node: Any, own: Any, field: _FieldNode, by: _Write | None, is_wished: bool) -> None:  # noqa: FBT001
        known = field.inside
        entries: Iterable[tuple[Any, Any]]
        own_entries: Mapping[Any, Any]
        if isinstance(node, dict):
            entries, own_entries = node.items(), own if isinstance(own, dict) else _NOTHING
        else:
            entries, own_entries = _items(node, own)
        of_own = own_entries.get
        for step, value in entries:
            inner = known.get(step) or field.at(step)
            path, item = inner.path, of_own(step)
            write = written(path)
            last = by if write is None or (by and by[0] > write[0]) else write
            wished = is_wished or path in wishes
            if value and isinstance(value, _CONTAINERS):
                walk(value, item, inner, last, wished)  # noqa: F821 - it is there as long
            else:
                add((inner, value, item, last, wished))

    walk(node, own, _ROOT, writes.get(()), False)  # noqa: FBT003
    del walk  # it refers to itself, and all that it has seen would stay
    return found


def _items(node: list[Any], own: Any) -> tuple[Iterable[tuple[Any, Any]], Mapping[Any, Any]]:
    """What `_FieldNode` calls each item of a list with the item, and with what *own* has in its place."""
    steps = [*enumerate(compare.by_name(node) or range(len(node)))]
    own_items = dict(zip(steps, own)) if isinstance(own, list) else _NOTHING  # noqa: B905 - it may be longer
    return zip(steps, node, strict=True), own_items


@lru_cache(maxsize=4096)
def _redacted_text(text: str) -> str:
    return HIDDEN if secrets.may_contain_secrets(text) else secrets.without_credentials(text)


def _redacted(path: FieldPath, value: Any, *, is_secret: bool | None = None) -> Any:
    """*value* for everybody; whether all of *path* *is_secret* is looked up where nobody says it."""
    if isinstance(value, bool):  # automountServiceAccountToken, say
        return value
    if secrets.is_secret(path) if is_secret is None else is_secret:
        return HIDDEN
    if isinstance(value, str):
        return _redacted_text(value)
    return HIDDEN if value and secrets.redacted(value) != value else value


def _is_authors(path: FieldPath, value: Any, own: Any, by: _Write) -> bool:
    """Whether the author's *value* is there in spite of the write *by*: put back as it was, or one item of a list."""
    if own is None or own != value:
        return False
    _, written, provenance = by
    return bool(provenance.decider) or any(isinstance(step, int) for step in path[len(written) :])


@lru_cache(maxsize=4096)
def _is_set_by_clusters(path: FieldPath) -> bool:
    """Whether a setting of the cluster may decide *path*."""
    return any(path[: len(field)] == field for field, _ in DECIDED)


class Judge:
    """What is known of one *machine* and the *vmi* that came of it: who wrote where, and who would have."""

    def __init__(self, machine: Machine, vmi: Tree) -> None:
        self.machine = machine
        holder = machine.resource.holder
        self.ref = machine.resource.ref
        #: Where a pool or a replica set has what it makes.
        self.holding = replicas.template_of(holder) if holder else ()
        #: Where the machine has metadata and spec of the VMI.
        self.own = machine.template
        #: Who wrote where: the last one counts.
        self.writes: dict[FieldPath, _Write] = {}
        above = len(self.holding)
        below = above + len(TEMPLATE)
        for number, provenance in enumerate(machine.provenance):
            field = provenance.field
            field = field[below:] if field[above:below] == TEMPLATE else field[above:]
            self.writes[field] = number, field, provenance
        #: What the VM itself says elsewhere than where the VMI has it.
        self.elsewhere: dict[FieldPath, FieldPath] = {}
        self.own_tree = self._own_fields()
        self.kinds: dict[ResourceRef, tuple[Decider, str | None]] = {}
        self.wishes = wishes(machine)
        self.wish_lengths = sorted(set(map(len, self.wishes)))
        self._is_contested = bool(machine.merged) or machine.context.config_source is not None
        content = {key: vmi[key] for key in ("metadata", "spec") if vmi.get(key)}
        #: The fields of the VMI.
        self.leaves = _leaves(content, self.own_tree, self.writes, self.wishes)

    def decide(self, leaf: _Leaf) -> Decision:
        """Who decided that a field of the VMI has its value, and who wanted it to be anything else."""
        winner = self._winner(leaf)
        return Decision(leaf[0].path, leaf[0].text, winner, self._losers(leaf, winner))

    def likenesses(self) -> Iterator[tuple[_Leaf, Hashable, Any, FieldPath | None]]:
        """Each of `leaves` with what `decide` follows from, where nobody can have lost it.

        That is a key, which decisions have in common that are told alike but for the value, and the value; and where
        the VM itself has the field, if it decides: the key tells that, too, and it must stand in the same place of its
        text. No key where more counts.
        """
        is_moved = bool(self.holding or self.machine.resource.older)
        above, elsewhere = self.own, self.elsewhere
        for leaf in self.leaves:
            field, value, own, by, is_wished = leaf
            path = field.path
            if is_wished or (self._is_contested and self._may_be_contested(path)):
                yield leaf, None, None, None
                continue
            is_plain = value.__class__ is str and not field.is_secret  # as most are
            redacted = (
                _redacted_text(value)
                if is_plain
                else _redacted(path, value, is_secret=field.is_secret)
            )
            if by is not None and (own is None or not _is_authors(path, value, own, by)):
                _, written, (_, _, source, source_field, position, decider) = by
                if source == self.ref or (own is not None and own != value):
                    yield leaf, None, None, None
                    continue
                rank = source and (self.kinds.get(source) or self._rank(source))
                by_whom = source, source_field, position, decider, rank
                yield leaf, (field, len(written), by_whom), redacted, None
            elif own is None:
                yield leaf, (field,), redacted, None
            elif is_moved or path in elsewhere:
                own_place = self._written(path)
                yield leaf, (field, own_place), redacted, own_place
            else:
                yield leaf, (field, above), redacted, (*above, *path)

    def _may_be_contested(self, path: FieldPath) -> bool:
        """Whether presets or a setting may have wanted *path* otherwise."""
        if self.machine.merged and path[:2] == _DOMAIN:
            return True
        return self.machine.context.config_source is not None and _is_set_by_clusters(path)

    def _winner(self, leaf: _Leaf) -> Contender:
        field, value, own, by, _ = leaf
        path = field.path
        redacted = _redacted(path, value, is_secret=field.is_secret)
        if by is not None and not _is_authors(path, value, own, by):
            _, written, provenance = by
            return self._contender(redacted, provenance, path[len(written) :])
        return Contender(redacted, "kubevirt") if own is None else self._vm(redacted, path)

    def _losers(self, leaf: _Leaf, winner: Contender) -> tuple[Contender, ...]:
        """Who wanted anything else, in the order in which they would have it."""
        field, value, own, _, is_wished = leaf
        path = field.path
        losers: list[Contender] = []
        if winner.decider != "vm" and own is not None and own != value:
            losers.append(self._vm(_redacted(path, own), path))
        yields = winner.decider in ("vm", "instancetype")
        if yields and is_wished:
            losers += self._wishes(path, value)
        if self.machine.merged:
            losers += self._presets(path, value, winner)
        if yields and self.machine.context.config_source is not None:
            losers += self._setting(path, value)
        if len(losers) < 2:  # noqa: PLR2004 - nobody can stand there twice
            return tuple(losers)
        return tuple(loser for n, loser in enumerate(losers) if loser not in losers[:n])

    def _presets(self, path: FieldPath, value: Any, winner: Contender) -> Iterator[Contender]:
        for preset in self.machine.merged if path[:2] == _DOMAIN else ():
            wanted = presets.wanted(preset, path[2:])
            ref = preset.resource.ref
            if wanted is not None and wanted != value and ref != winner.source:
                redacted = _redacted(path, wanted)
                yield Contender(redacted, "preset", ref, path, preset.resource.index)

    def _vm(self, redacted: Any, path: FieldPath) -> Contender:
        """That the VM itself has the *redacted* value, for *path* of the VMI."""
        return Contender(redacted, "vm", self.ref, self._written(path), self.machine.resource.index)

    def _written(self, path: FieldPath) -> FieldPath:
        """Where the VM itself has *path* of the VMI."""
        resource = self.machine.resource
        written = self.elsewhere.get(path) or (*self.own, *path)
        if self.holding and written in _IDENTITIES:
            return ("metadata", "namespace" if written[-1] == "namespace" else "name")
        if self.holding or resource.older:
            return (*self.holding, *machines.in_manifest(resource, written))
        return written

    def _own_fields(self) -> Tree:
        """What the VM itself says of the VMI: its template, its own names, and the names of its definitions.

        Where it has these names is put into `elsewhere`.
        """
        draft = Draft(tree.get(self.machine.decoded, *self.own) or {})
        for own in _IDENTITIES:
            name = tree.get(self.machine.decoded, *own)
            if draft.get(*own) != name:
                draft.put(own, name)
            self.elsewhere[own] = own
        for kind_class in KIND_CLASSES:
            matcher: Tree = self.machine.spec.get(kind_class.word) or {}
            annotation = kind_class.annotation_for(matcher.get("kind", ""))
            path: FieldPath = ("metadata", "annotations", annotation)
            if matcher and draft.get(*path) is None:
                is_flavor = kind_class is INSTANCETYPE and self.machine.flavor is not None
                word = FLAVOR.word if is_flavor else kind_class.word
                draft.put(path, matcher.get("name"))
                self.elsewhere[path] = ("spec", word, "name")
        return draft.tree

    def _contender(self, redacted: Any, provenance: Provenance, rest: FieldPath) -> Contender:
        """Who wrote *provenance*, and *rest* as part of that."""
        if provenance.source is None:
            return Contender(redacted, "kubevirt")
        if provenance.decider:
            return Contender(
                redacted, "cluster", provenance.source, provenance.source_field, provenance.position
            )
        written = provenance.source_field
        if rest and any(
            tree.get(spec, *written, *rest) is not None for spec in self._specs(provenance.source)
        ):
            written = (*written, *rest)
        inside = field_in(provenance.source, written)
        by, content = self._rank(provenance.source)
        return Contender(
            redacted,
            by,
            provenance.source,
            inside,
            provenance.position,
            content is not None,
            content or "",
        )

    def _rank(self, ref: ResourceRef) -> tuple[Decider, str | None]:
        """As what the object *ref* decides, and what `_pinned_content` says of it."""
        known = self.kinds.get(ref)
        if known is None:
            known = self.kinds[ref] = self._kind(ref), self._pinned_content(ref)
        return known

    def _pinned_content(self, ref: ResourceRef) -> str | None:
        """The hash under which the lock has what counts of the definition *ref*; None where the lock has no say."""
        pinned = self.machine.pinned
        word = next(
            (word for word, definition in pinned.items() if ref_of(definition) == ref), None
        )
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
        for end in self.wish_lengths:
            wish = self.wishes.get(path[:end]) if end <= len(path) else None
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
            _redacted(path, value), "preference", place.resource, place.path, place.index,
            pinned=content is not None, content=content or "",
        )  # fmt: skip

    def _setting(self, path: FieldPath, value: Any) -> Iterator[Contender]:
        """The setting of the cluster that would decide *path*."""
        context = self.machine.context
        source = context.config_source
        if source is None or not _is_set_by_clusters(path):
            return
        draft = Draft(self.machine.vmi)
        draft.remove(path)
        fill_vmi(draft, context.config, context.release)
        wanted = draft.get(*path)
        architecture = draft.get("spec", "architecture") or "amd64"
        setting = source.deciding(path, wanted, architecture)
        if wanted is not None and wanted != value and setting is not None:
            place = source.place(setting)
            redacted = _redacted(path, wanted)
            yield Contender(redacted, "cluster", place.resource, place.path, place.index)
