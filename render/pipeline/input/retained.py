"""Machines that an edit of other objects leaves as they are, with all that was said of them."""

from collections.abc import Iterable, Mapping, Sequence

from render.diagnostics.diagnostic import Diagnostic, Location, with_places
from render.diagnostics.fix import FixEdit
from render.machine import Context, Machine
from render.model import tree
from render.model.named_tuple import NamedTuple
from render.model.resource import INSTANCETYPE_GROUP, Resource
from render.pipeline.input import definitions, unchanged
from render.pipeline.input.unchanged import Unchanged
from render.resolve.references import claims_of, names_in

_Identity = tuple[int, str, int]


class _Edits(NamedTuple):
    """What was edited: names of *definitions*, and names of *claims* that VMs bring, or brought."""

    definitions: frozenset[str]
    claims: frozenset[str]


class Retained(Unchanged):
    """The *machines* of a first rendering that a second one has again.

    Their resources are now at the index that *moved* says for the former one. What is found is taken over: the first
    rendering has it no more. What machines become is not printed.
    """

    __slots__ = ("_moved",)
    is_printed = False

    def __init__(
        self, machines: Iterable[Machine], moved: Mapping[int, int], edits: "_Edits"
    ) -> None:
        self._moved = moved
        self._machines = {
            moved[machine.resource.index]: machine
            for machine in machines
            if machine.resource.index in moved and _is_settled(machine, edits)
        }

    def find(self, resource: Resource, context: Context) -> Machine | None:
        """The machine that a rendering in *context* makes of *resource*, None where that is not known."""
        known = self._machines.get(resource.index)
        # What is said of presets names them by their positions.
        if known is None or known.resource.body != resource.body:
            return None
        if context.presets and known.resource.index != resource.index:
            return None
        diagnostics = self._relocated(known.diagnostics)
        if diagnostics is None:
            return None
        known.context, known.resource, known.diagnostics = context, resource, diagnostics
        return known

    def _relocated(self, diagnostics: list[Diagnostic]) -> list[Diagnostic] | None:
        """*diagnostics* where their objects are now; None where one of these was edited."""
        places = [place for diagnostic in diagnostics for place in _places(diagnostic)]
        if any(place.index is not None and place.index not in self._moved for place in places):
            return None
        if all(place.index is None or self._moved[place.index] == place.index for place in places):
            return diagnostics
        if any(edit.index is not None for diagnostic in diagnostics for edit in _edits(diagnostic)):
            return None  # a fix that edits another object knows it by its position
        return [with_places(diagnostic, self._move) for diagnostic in diagnostics]

    def _move(self, place: Location) -> Location:
        return place if place.index is None else place._replace(index=self._moved[place.index])


def retained(
    before: Sequence[Resource], after: Sequence[Resource], machines: Iterable[Machine]
) -> Retained | None:
    """Which of the *machines* that were made of *before* are made of *after* too, with the same settings.

    An object is the same one where its tree is: not an equal one. Both have what counts beside the input behind it.
    None where more was edited than machines and definitions: presets, claims and settings reach any VM.
    """
    old, new = _by_identity(before), _by_identity(after)
    gone = [resource for key, resource in old.items() if key not in new]
    come = [resource for key, resource in new.items() if key not in old]
    edited = [resource for resource in (*gone, *come) if not unchanged.is_current(resource)]
    if any(
        resource.group != INSTANCETYPE_GROUP or not definitions.is_definition(resource)
        for resource in edited
    ):
        return None
    moved = {resource.index: new[key].index for key, resource in old.items() if key in new}
    claims = _claims(gone) ^ _claims(come)
    return Retained(
        machines, moved, _Edits(frozenset(resource.name for resource in edited), claims)
    )


def _by_identity(resources: Iterable[Resource]) -> dict[_Identity, Resource]:
    """*resources* by tree and file; the same tree may stand in a file twice."""
    known: dict[_Identity, Resource] = {}
    for resource in resources:
        tree, file, number = id(resource.body), resource.origin.file if resource.origin else "", 0
        while (tree, file, number) in known:
            number += 1
        known[tree, file, number] = resource
    return known


def _claims(resources: Iterable[Resource]) -> frozenset[str]:
    return frozenset(name for resource in resources for name in claims_of(resource))


def _places(diagnostic: Diagnostic) -> Iterable[Location]:
    yield diagnostic.location
    yield from (related.location for related in diagnostic.related)
    if diagnostic.position is not None:
        yield diagnostic.position
    yield from (Location(index=edit.index) for edit in _edits(diagnostic))


def _edits(diagnostic: Diagnostic) -> Iterable[FixEdit]:
    return (edit for fix in diagnostic.fixes for edit in fix.edits)


def _is_settled(machine: Machine, edits: _Edits) -> bool:
    """Whether *edits* of definitions, and of other machines, say nothing new of *machine*.

    What is wrong with its manifest is found before it is a machine, and an error or a warning may hint at any
    definition that would do.
    """
    if machine.has_decode_findings or machine.companions or machine.resource.holder is not None:
        return False
    if not unchanged.is_current(machine.resource):
        return False
    if edits.claims:
        spec = tree.get(machine.decoded, *machine.vmi_path)
        if not edits.claims.isdisjoint(names_in(spec if isinstance(spec, dict) else {})):
            return False
    if not edits.definitions:
        return True
    is_hinting = machine.failed or any(
        diagnostic.severity != "info" for diagnostic in machine.diagnostics
    )
    return not is_hinting and edits.definitions.isdisjoint(unchanged.names(machine))
