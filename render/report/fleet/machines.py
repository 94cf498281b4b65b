"""The VMs of a fleet, what they ask for together, and in which words each of their fields stands in a page."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from render.diagnostics.diagnostic import Severity
from render.diff.sizes import Size
from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.provenance import Decider, Decision
from render.model.resource import ResourceRef
from render.report.deciders import Evidence, Input, brief, trace, words
from render.report.findings import Finding
from render.report.impact.review import Total
from render.report.places import Place
from render.report.text import printable
from render.revisions.hashes import Ref
from render.room.figures import ClusterCapacity

#: A field in numbers of `Wording.texts`: the field, then value, decider and place of who decided and of each who lost.
Entry = tuple[int, ...]
#: Who decided, for people.
DECIDERS: Mapping[Decider, str] = {
    "vm": "VM", "patch": "patch", "instancetype": "instancetype", "preference": "preference", "flavor": "flavor",
    "preset": "preset", "cluster": "cluster setting", "kubevirt": "KubeVirt",
}  # fmt: skip
#: What a place in the VM itself begins with.
OWN = "+"
_IDENTITY = frozenset({("metadata", "name"), ("metadata", "namespace")})


class FleetMachine(NamedTuple):
    """A VM at *place* in the *kustomization*, ``""`` where there is none.

    *size* is None where it does not start. *definitions* by the word of the VM; *pins* are those that the lock decides;
    *fields* are numbers of `Wording.entries`.
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

    def count(self, severity: Severity) -> int:
        """How many findings of *severity* it has."""
        return sum(one.diagnostic.severity is severity for one in self.findings)


class Fleet(NamedTuple):
    """All *machines*, the *wording* of their fields, and the *findings* about nothing that is one of them.

    *capacity*: what pods ask for against what there is, by the root that says so.
    """

    machines: Sequence[FleetMachine]
    wording: "Wording"
    findings: Sequence[Finding]
    capacity: Sequence[tuple[str, ClusterCapacity]] = ()


class Wording:
    """The *texts* of fields, and the *entries* that are made of them, each once: most VMs of a fleet say the same."""

    __slots__ = ("_numbers", "entries", "texts")

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.entries: dict[Entry, int] = {}
        self._numbers: dict[str, int] = {}  # of texts as they were before they were made printable

    def add(
        self, decisions: Iterable[Decision], given: Input, resource: ResourceRef, place: Place
    ) -> tuple[int, ...]:
        """The numbers of the entries for *decisions* on the VM *resource*, which stands at *place*."""
        return tuple(
            self.entries.setdefault(self._entry(one, given, resource, place), len(self.entries))
            for one in decisions
            if one.field not in _IDENTITY
        )

    def _entry(self, one: Decision, given: Input, resource: ResourceRef, place: Place) -> Entry:
        said = [one.text]
        for each in trace(one, given):
            contender = each.contender
            where = _where(each, one.field, resource, place)
            said += (brief(contender.value), DECIDERS[contender.decider], where)
        return tuple(map(self._number, said))

    def _number(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            number = self.texts.setdefault(printable(text), len(self.texts))
            self._numbers[text] = number
        return number


def _where(one: Evidence, field: FieldPath, resource: ResourceRef, place: Place) -> str:
    """Where a contender says so; in the VM itself how many lines behind its beginning, in which VMs are alike."""
    contender = one.contender
    if contender.source is None:
        return ""
    if contender.source != resource or not one.place.line or one.place.file != place.file:
        return words(one)
    written = contender.source_field
    position = f"{OWN}{one.place.line - place.line}:{one.place.column}"
    if written[-len(field) :] == field:
        return position
    return f"{position} {fieldpath.text(written)}"


def total(machines: Iterable[FleetMachine]) -> Total:
    """What those of *machines* ask for that start."""
    amounts = Total()
    for one in machines:
        amounts = amounts.adding(one.size) if one.size is not None else amounts
    return amounts


def totals(
    machines: Iterable[FleetMachine], key: Callable[[FleetMachine], str]
) -> dict[str, Total]:
    """The totals of VMs by *key*."""
    groups: dict[str, list[FleetMachine]] = {}
    for one in machines:
        if one.size is not None:
            groups.setdefault(key(one), []).append(one)
    return {name: total(groups[name]) for name in sorted(groups)}
