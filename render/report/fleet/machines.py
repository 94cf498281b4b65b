"""The VMs of a fleet, what they ask for together, and in which words each of their fields stands in a page."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

from render.diagnostics.codes import OBJECT_CHANGED
from render.diagnostics.diagnostic import Severity
from render.diff.sizes import Size, Total
from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.hints import Any, Protocol, TypeVar
from render.model.named_tuple import NamedTuple
from render.model.provenance import Decider, Decision
from render.model.resource import Resource, ResourceRef
from render.report.deciders import Evidence, Input, brief, trace, words
from render.report.findings import Finding
from render.report.places import Place
from render.report.text import printable
from render.revisions.hashes import Ref
from render.room.figures import ClusterCapacity
from render.yaml.positions import Outline

L = TypeVar("L")
#: A field in numbers of `Wording.texts`: the field, then value, decider and place of who decided and of each who lost.
Entry = tuple[int, ...]
#: Entries by what makes them alike but for the value, each with the numbers of those for the values so far.
_Known = dict[Hashable, tuple[Entry, dict[object, int]]]
#: Who decided, for people.
DECIDERS: Mapping[Decider, str] = {
    "vm": "VM", "patch": "patch", "instancetype": "instancetype", "preference": "preference", "flavor": "flavor",
    "preset": "preset", "cluster": "cluster setting", "kubevirt": "KubeVirt",
}  # fmt: skip
#: What a place in the VM itself begins with.
OWN = "+"
_IDENTITY = frozenset({("metadata", "name"), ("metadata", "namespace")})


class FleetMachine(NamedTuple):
    """A VM at *place* in the *kustomization*, ``""`` where there is none; a chart is named there too, and who uses it.

    *size* is None where it does not start. *definitions* by the word of the VM, and the names of those that are
    *missing*; *pins* are those that the lock decides; *fields* are numbers of `Wording.entries`. *concerns* are
    findings about other objects that are of it too: a quota that it counts into, a definition that it is pinned to.
    """

    kustomization: str
    resource: ResourceRef
    place: Place
    size: Size | None
    release: str
    definitions: Mapping[str, Ref] = {}
    pins: tuple[str, ...] = ()
    fields: tuple[int, ...] = ()
    findings: tuple[Finding, ...] = ()
    concerns: tuple[Finding, ...] = ()
    missing: Mapping[str, str] = {}

    @property
    def differs(self) -> bool:
        """Whether a definition says something else than it is pinned to."""
        return any(each.diagnostic.code == OBJECT_CHANGED.number for each in self.concerns)

    def count(self, severity: Severity) -> int:
        """How many findings of *severity* it has."""
        return sum(finding.diagnostic.severity is severity for finding in self.findings)


class Fleet(NamedTuple):
    """All *machines*, the *wording* of their fields, and the *findings* about nothing that is one of them.

    *capacity*: what pods ask for against what there is, by the root that says so. *notes* are findings that stand on no
    page, and count. *unread*: what of the input cannot be read, with the codes that say why: its VMs are not here.
    """

    machines: Sequence[FleetMachine]
    wording: "Wording"
    findings: Sequence[Finding]
    capacity: Sequence[tuple[str, ClusterCapacity]] = ()
    notes: Sequence[Finding] = ()
    unread: Sequence[str] = ()


class FieldJudge(Protocol[L]):
    """Who knows who decided the fields of one VM."""

    def decide(self, leaf: L, /) -> Decision:
        """Who decided a field."""

    def likenesses(self) -> Iterator[tuple[L, Hashable, Any, FieldPath | None]]:
        """Each field with what its decision follows from.

        Those of one input that have the same key are told alike but for the value, which follows; then where the VM
        itself has the field, if it decides: with the same key always there, but it must stand in the same place of its
        text, too. No key where more counts.
        """


class Wording:
    """The *texts* of fields, and the *entries* that are made of them, each once: most VMs of a fleet say the same."""

    __slots__ = ("_known", "_manifests", "_numbers", "_of_outline", "_values", "entries", "texts")

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.entries: dict[Entry, int] = {}
        self._numbers: dict[str, int] = {}  # of texts as they were before they were made printable
        self._values: dict[object, int] = {}  # of the texts of values
        self._known: _Known = {}
        #: Those of VMs of an outline that the VM itself decides.
        self._of_outline: dict[tuple[object, ...], _Known] = {}
        self._manifests: Input | None = None  # in which that is so

    def add(
        self, judge: FieldJudge[L], manifests: Input, resource: Resource, place: Place
    ) -> tuple[int, ...]:
        """The numbers of the entries for what *judge* decides on the VM *resource*, which stands at *place*."""
        if self._manifests is not manifests:
            self._manifests = manifests
            self._known.clear()
            self._of_outline.clear()
        outline = manifests.outline(resource.index) or Outline()
        of_any, numbers = self._known, []
        of_alike = self._of_outline.setdefault(outline.alike, {})  # many VMs have the same outline
        for leaf, key, value, written in judge.likenesses():
            known = of_any if written is None else of_alike
            notation = value if value.__class__ is str else (repr(value),)  # no 1 is True
            entry, its_numbers = known.get(key) or (None, {})
            number = its_numbers.get(notation)
            if number is None:
                if entry is None:
                    entry = self._entry(judge.decide(leaf), manifests, resource.ref, place)
                    if key is not None and (written is None or outline.has(written)):
                        known[key] = entry, its_numbers
                elif entry:
                    entry = entry[0], self._value(notation, value), *entry[2:]
                if not entry:
                    continue
                number = self.entries.setdefault(entry, len(self.entries))
                its_numbers[notation] = number
            numbers.append(number)
        return tuple(numbers)

    def _entry(
        self, decision: Decision, manifests: Input, resource: ResourceRef, place: Place
    ) -> Entry:
        """The entry for *decision*, none where it says no more than what the VM is called."""
        if decision.field in _IDENTITY:
            return ()
        texts = [decision.text]
        for each in trace(decision, manifests):
            contender = each.contender
            where = _where(each, decision.field, resource, place)
            texts += (brief(contender.value), DECIDERS[contender.decider], where)
        return tuple(map(self._number, texts))

    def _value(self, notation: object, value: Any) -> int:
        number = self._values.get(notation)
        if number is None:
            number = self._values[notation] = self._number(brief(value))
        return number

    def _number(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            number = self.texts.setdefault(printable(text), len(self.texts))
            self._numbers[text] = number
        return number


def _where(evidence: Evidence, field: FieldPath, resource: ResourceRef, place: Place) -> str:
    """Where a contender says so; in the VM itself how many lines behind its beginning, in which VMs are alike."""
    contender = evidence.contender
    if contender.source is None:
        return ""
    if contender.source != resource or not evidence.place.line or evidence.place.file != place.file:
        return words(evidence)
    written = contender.source_field
    position = f"{OWN}{evidence.place.line - place.line}:{evidence.place.column}"
    if written[-len(field) :] == field:
        return position
    return f"{position} {fieldpath.text(written)}"


def total(machines: Iterable[FleetMachine]) -> Total:
    """What those of *machines* ask for that start."""
    amounts = Total()
    for machine in machines:
        amounts = amounts.adding(machine.size) if machine.size is not None else amounts
    return amounts


def totals(
    machines: Iterable[FleetMachine], key: Callable[[FleetMachine], str]
) -> dict[str, Total]:
    """The totals of VMs by *key*."""
    groups: dict[str, list[FleetMachine]] = {}
    for machine in machines:
        if machine.size is not None:
            groups.setdefault(key(machine), []).append(machine)
    return {name: total(groups[name]) for name in sorted(groups)}
