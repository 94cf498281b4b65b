"""For one VM: the definitions that give exactly the VMI that it has, or what new ones would have to say."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import inf, log2

from render.admission import requirements
from render.model import tree
from render.model.edits import Operation, Put, Remove
from render.model.fieldpath import FieldPath, text
from render.model.kinds import INSTANCETYPE, PREFERENCE
from render.model.named_tuple import NamedTuple
from render.model.topology import CPUTopology
from render.model.tree import Tree
from render.pipeline.factor import instancetypes, places, preferences
from render.pipeline.factor.answers import DefinitionName, Hindrance
from render.pipeline.factor.catalogue import (
    Offer,
    Offers,
    ProfileOffer,
    SizeOffer,
    hints_of,
    kind_class_of,
    rank,
)
from render.pipeline.factor.instancetypes import GuestSize
from render.pipeline.factor.subject import PlainMachine

#: How often a size may be doubled or halved, and a definition still be near.
_NEAR_SIZE = 2.0
_SHRUNK = 1.5
#: So many definitions that fit are tried, the best first.
_TRIED = 3


class DefinitionChoice(NamedTuple):
    """A definition for a VM, one that exists (*offer*) or the *content* of a new one, and the fields that it brings.

    *text*: the content of a new one, as a text.
    """

    word: str
    offer: Offer | None
    content: Tree
    brings: tuple[FieldPath, ...]
    text: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What tells contents apart."""
        return self.word, self.text


class MachinePlan(NamedTuple):
    """What a VM may be given: at most one instancetype and one preference."""

    choices: tuple[DefinitionChoice, ...]

    @property
    def new(self) -> tuple[DefinitionChoice, ...]:
        """Those that do not exist."""
        return tuple(choice for choice in self.choices if choice.offer is None)


class MachineSearch:
    """What can be done for one VM with *offers*."""

    def __init__(self, subject: PlainMachine, offers: Offers) -> None:
        self.subject = subject
        self._offers = offers
        self._changes = offers.profiles.changes(subject)
        self._made: dict[bool, DefinitionChoice | None] = {}
        self._brought: dict[str, tuple[FieldPath, ...]] = {}

    @cached_property
    def obstacles(self) -> tuple[Hindrance, ...]:
        """Why there can be no instancetype that gives the VMI."""
        obstacles = tuple(instancetypes.obstacles(self.subject))
        applied = self.subject.applied.get(PREFERENCE.word)
        if obstacles or applied is None or self._keeps_topology(applied.spec, sized=True):
            return obstacles
        message = "with its preference an instancetype would lay out the vCPUs in another way"
        return (Hindrance(INSTANCETYPE.word, message, ("spec", "domain", "cpu")),)

    @cached_property
    def _hints(self) -> str:
        return hints_of(self.subject)

    @property
    def _has_instancetype(self) -> bool:
        return INSTANCETYPE.word in self.subject.applied

    @property
    def _has_preference(self) -> bool:
        return PREFERENCE.word in self.subject.applied

    def _keeps_topology(self, spec: Tree | None, *, sized: bool) -> bool:
        """Whether the preference *spec* leaves the topology as it is, *sized*: with an instancetype."""
        if not sized:
            return True
        return preferences.lays_out(spec, self._wanted_topology)

    @cached_property
    def _wanted_topology(self) -> CPUTopology:
        """The topology that the VMI has; with an instancetype the VM itself writes none."""
        cpu = self.subject.final(("spec", "domain", "cpu")) or {}
        return CPUTopology(*(cpu.get(key) or 1 for key in ("sockets", "cores", "threads")))

    def _is_met(self, spec: Tree, *, sized: bool) -> bool:
        """Whether the VM, *sized* with an instancetype of its size, is all that the preference *spec* requires."""
        size = instancetypes.wanted_size(self.subject)
        memory = {"guest": self.subject.final(("spec", "domain", "memory", "guest")) or "0"}
        instancetype: Tree = {"cpu": {"guest": size.vcpus}, "memory": memory}
        vmi = self.subject.started.vmi
        return requirements.check(vmi, instancetype if sized else None, spec) is None

    def plans(self) -> Iterator[MachinePlan]:
        """What may be done, the best first: as many definitions as possible, existing ones before new ones."""
        sized = self._has_instancetype
        if not sized and not self.obstacles:
            for size in self._instancetypes():
                for profile in self._preferences(sized=True):
                    yield MachinePlan(tuple(filter(None, (size, profile))))
        for profile in self._preferences(sized=sized):
            if profile is not None:
                yield MachinePlan((profile,))

    def _instancetypes(self) -> Iterator[DefinitionChoice]:
        """Instancetypes for the VM, the best first: the last is new."""
        subject = self.subject
        fitting = [
            DefinitionChoice(
                INSTANCETYPE.word, offered.offer, {}, instancetypes.brought(subject, offered.size)
            )
            for offered in self._offers.sizes.get(instancetypes.wanted_size(subject), ())
            if offered.offer.reaches(subject) and not instancetypes.changes(subject, offered.size)
        ]
        yield from sorted(fitting, key=self._rank)[:_TRIED]
        content = instancetypes.content_for(subject)
        size = instancetypes.size_of(content, subject.release)
        brings = instancetypes.brought(subject, size)
        yield DefinitionChoice(INSTANCETYPE.word, None, content, brings, size.content)

    def _rank(self, choice: DefinitionChoice) -> tuple[object, ...]:
        assert choice.offer is not None  # noqa: S101 - only existing ones are ranked
        is_foreign = self._offers.is_foreign(choice.offer, self._hints)
        return is_foreign, -len(choice.brings), rank(choice.offer, self._hints)

    def _preferences(self, *, sized: bool) -> Iterator[DefinitionChoice | None]:
        """Preferences for the VM, the best first, then a new one and none, where that leaves the topology as it is."""
        if self._has_preference:
            applied = self.subject.applied[PREFERENCE.word]
            if applied is not None and self._keeps_topology(applied.spec, sized=sized):
                yield None
            return
        yield from self._existing_profiles(sized=sized)[:_TRIED]
        new = self._new_profile(sized=sized)
        if new is not None:
            yield new
        if self._keeps_topology(None, sized=sized):
            yield None

    @cached_property
    def _fitting_profiles(self) -> list[DefinitionChoice]:
        """Preferences that change nothing and bring something, the best first."""
        subject = self.subject
        fitting: list[DefinitionChoice] = []
        for group in self._offers.preferences:
            spec = group[0].profile.spec
            near = [offered for offered in group if offered.offer.reaches(subject)]
            if near and self._changes.is_none(group[0].profile):
                brings = preferences.brought(subject, spec)
                fitting += (
                    DefinitionChoice(PREFERENCE.word, offered.offer, {}, brings) for offered in near
                )
        fitting.sort(key=self._rank)
        return fitting

    def _existing_profiles(self, *, sized: bool) -> list[DefinitionChoice]:
        is_needed = not self._keeps_topology(None, sized=sized)
        return [
            choice
            for choice in self._fitting_profiles
            if (choice.brings or is_needed)
            and choice.offer is not None
            and self._keeps_topology(choice.offer.spec, sized=sized)
            and self._is_met(choice.offer.spec, sized=sized)
        ]

    @cached_property
    def _content(self) -> Tree:
        return preferences.content_for(self.subject, self._offers.profiles)

    def _new_profile(self, *, sized: bool) -> DefinitionChoice | None:
        """The preference that brings all it can and gives the topology; None where there is nothing to bring."""
        if sized not in self._made:
            self._made[sized] = self._made_profile(sized=sized)
        return self._made[sized]

    def _made_profile(self, *, sized: bool) -> DefinitionChoice | None:
        layout_content = preferences.topology_content(self._wanted_topology) if sized else {}
        if layout_content is None:
            return None
        content = {"cpu": layout_content, **self._content} if layout_content else self._content
        return self._new_choice(content) if content else None

    def _new_choice(self, content: Tree) -> DefinitionChoice:
        """A new preference of this *content* for the VM."""
        shared = self._offers.profiles.shared(content)
        if shared.content not in self._brought:
            self._brought[shared.content] = preferences.brought(self.subject, shared.spec)
        brings = self._brought[shared.content]
        return DefinitionChoice(PREFERENCE.word, None, shared.spec, brings, shared.content)

    def words(self) -> frozenset[str]:
        """The kind classes of which any plan has a definition."""
        return frozenset(choice.word for plan in self.plans() for choice in plan.choices)

    def fits(self, choice: DefinitionChoice, *, sized: bool) -> DefinitionChoice | None:
        """The new preference *choice* of another VM for this one, None where it would change it or brings nothing."""
        is_none = self._changes.is_none(self._offers.profiles.shared(choice.content))
        if not is_none or not self._keeps_topology(choice.content, sized=sized):
            return None
        own = self._new_choice(choice.content)
        is_needed = not self._keeps_topology(None, sized=sized)
        return own if own.brings or is_needed else None

    def nearest(self) -> MachinePlan:
        """The definitions that exist and change the fewest fields; without any that is far off."""
        size = None if self._has_instancetype else self._nearest_size()
        sized = self._has_instancetype or size is not None
        profile = None if self._has_preference else self._nearest_profile(sized=sized)
        return MachinePlan(tuple(filter(None, (size, profile))))

    def _nearest_size(self) -> DefinitionChoice | None:
        subject = self.subject
        wanted = instancetypes.wanted_size(subject)
        ranked: list[tuple[object, SizeOffer]] = []
        for size, offers in self._offers.sizes.items():
            distance = _distance(wanted, size)
            if distance <= _NEAR_SIZE:
                for offered in offers:
                    if offered.offer.reaches(subject):
                        count = instancetypes.changes(subject, offered.size)
                        order = (count + distance, rank(offered.offer, self._hints))
                        ranked.append((order, offered))
        if not ranked:
            return None
        best = min(ranked, key=lambda pair: pair[0])[1]  # type: ignore[return-value,arg-type]
        brings = instancetypes.brought(subject, best.size)
        return DefinitionChoice(INSTANCETYPE.word, best.offer, {}, brings)

    def _nearest_profile(self, *, sized: bool) -> DefinitionChoice | None:
        subject = self.subject
        best: tuple[tuple[object, ...], ProfileOffer, tuple[FieldPath, ...]] | None = None
        is_needed = not self._keeps_topology(None, sized=sized)
        for group in self._offers.preferences:
            spec = group[0].profile.spec
            count = self._changes.of(group[0].profile) + 2 * (
                not self._keeps_topology(spec, sized=sized)
            )
            brings = preferences.brought(subject, spec)
            if count >= len(brings) + is_needed:
                continue
            for offered in group:
                if offered.offer.reaches(subject) and self._is_met(offered.offer.spec, sized=sized):
                    is_foreign = self._offers.is_foreign(offered.offer, self._hints)
                    order = (
                        count - len(brings),
                        count,
                        is_foreign,
                        rank(offered.offer, self._hints),
                    )
                    if best is None or order < best[0]:
                        best = order, offered, brings
        return DefinitionChoice(PREFERENCE.word, best[1].offer, {}, best[2]) if best else None


def _distance(wanted: GuestSize, size: GuestSize) -> float:
    """How far a size is from the wanted one, in doublings, less being farther; infinite for one without a measure."""
    pairs = tuple(zip(wanted, size, strict=True))
    if not all(min(pair) > 0 for pair in pairs):
        return inf
    return sum(
        log2(have / want) if have >= want else _SHRUNK * log2(want / have) for want, have in pairs
    )


def edits_of(
    subject: PlainMachine, plan: Sequence[tuple[DefinitionChoice, DefinitionName]]
) -> tuple[Operation, ...]:
    """The edits of the VM that give it what was chosen, and take away what that brings."""
    manifest = subject.manifest
    brings = dict.fromkeys(path for choice, _ in plan for path in choice.brings)
    own = [path for path in brings if tree.get(manifest, *path) is not None]
    edits: list[Operation] = [*places.removals(manifest, own)]
    for choice, name in plan:
        edits.append(Put(("spec", choice.word), matcher_of(choice.word, name)))
    return tuple(edits)


def matcher_of(word: str, name: DefinitionName) -> Tree:
    """The matcher of a VM for the definition *name*."""
    kind_class = kind_class_of(word)
    if name.kind == kind_class.cluster:
        return {"name": name.name}
    return {"name": name.name, "kind": name.kind}


def removed_fields(edits: Sequence[Operation]) -> tuple[str, ...]:
    """The fields that *edits* take out of the VM, as they are written."""
    return tuple(text(edit.path) for edit in edits if isinstance(edit, Remove))
