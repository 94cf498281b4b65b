"""VMs that one input of a state holds and another one of the next: the same by kind, namespace and name."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from render.diff.impact import HolderImpact, Impact, MachineImpact
from render.model.named_tuple import NamedTuple
from render.model.resource import ResourceRef

_GONE, _NEW, _REPAIRED = "gone", "new", "repaired"


class ComparedInput(NamedTuple):
    """What becomes of the VMs of the input *name*, and the namespaces in which those without one are, per state.

    *is_repaired*: nobody could read it in the first state, so that none of its VMs is known to have been there.
    """

    name: str
    impact: Impact
    namespaces: tuple[str, str] = ("default", "default")
    is_repaired: bool = False

    def marks(self, machine: MachineImpact) -> frozenset[str]:
        """``gone`` or ``new`` if *machine* is that, as far as anybody knows."""
        if self.is_repaired and _REPAIRED in machine.effects:
            return frozenset((_NEW,))
        return frozenset((_GONE, _NEW)).intersection(machine.effects)


class Relocation(NamedTuple):
    """That VMs, pools and replica sets of the input *before* are in the input *after* now.

    *gone* and *new* are what they are called in each.
    """

    before: str
    after: str
    gone: frozenset[ResourceRef]
    new: frozenset[ResourceRef]


class _Occurrence(NamedTuple):
    """An object as an input has it."""

    input: str
    resource: ResourceRef


def moves(inputs: Sequence[ComparedInput]) -> list[Relocation]:
    """What moved between the *inputs*, as far as that is certain.

    An object that is gone from one input and new in another has moved where the first state has one of that identity:
    to the nearest where the second has several, the others are copies. Where the first has several, its way must lead
    to a folder of the same name: ``overlays/prod``, ``clusters/prod``.
    """
    present = _counted(inputs)
    gone, new = _by_identity(inputs, _GONE, 0), _by_identity(inputs, _NEW, 1)
    ways: dict[tuple[str, str], list[tuple[ResourceRef, ResourceRef]]] = {}
    for identity in gone.keys() & new.keys():
        pairs = (
            [(gone[identity][0], _ranked(gone[identity][0], new[identity])[0])]
            if present[identity][0] == 1
            else _alike(gone[identity], new[identity])
        )
        for old, now in pairs:
            ways.setdefault((old.input, now.input), []).append((old.resource, now.resource))
    return [
        Relocation(*way, *map(frozenset, zip(*resources, strict=True)))
        for way, resources in sorted(ways.items())
    ]


def _states(compared_input: ComparedInput) -> Iterator[tuple[ResourceRef, frozenset[str]]]:
    """Every VM, pool and replica set of an input, with ``gone`` or ``new`` if it is that."""
    for machine in compared_input.impact.machines:
        yield machine.resource, compared_input.marks(machine)
    for holder in compared_input.impact.holders:
        yield holder.resource, frozenset((_GONE, _NEW)).intersection((_mark(holder),))


def _mark(holder: HolderImpact) -> str:
    return _GONE if holder.outcome == "withdrawn" else holder.outcome


def identity_of(resource: ResourceRef, namespace: str) -> ResourceRef:
    """What *resource* is called in a cluster, in *namespace* where it names none."""
    return resource._replace(namespace=resource.namespace or namespace)


def _counted(inputs: Iterable[ComparedInput]) -> Mapping[ResourceRef, tuple[int, int]]:
    """How many objects of each identity both states have."""
    counts: dict[ResourceRef, tuple[int, int]] = {}
    for compared_input in inputs:
        for resource, marks in _states(compared_input):
            for state, absent in enumerate((_NEW, _GONE)):
                if absent not in marks:
                    identity = identity_of(resource, compared_input.namespaces[state])
                    before, after = counts.get(identity, (0, 0))
                    counts[identity] = (before + (not state), after + state)
    return counts


def _by_identity(
    inputs: Iterable[ComparedInput], mark: str, state: int
) -> dict[ResourceRef, list[_Occurrence]]:
    """The objects that are *mark*, by their identity in the *state* that has them."""
    known: dict[ResourceRef, list[_Occurrence]] = {}
    for compared_input in inputs:
        for resource, marks in _states(compared_input):
            if mark in marks:
                identity = identity_of(resource, compared_input.namespaces[state])
                known.setdefault(identity, []).append(_Occurrence(compared_input.name, resource))
    return known


def _alike(
    gone: Sequence[_Occurrence], new: Sequence[_Occurrence]
) -> Iterator[tuple[_Occurrence, _Occurrence]]:
    """Of objects of one identity those whose inputs end alike, where each is the nearest of the other alone."""
    for old in gone:
        now = _nearest(old, new)
        if now is not None and _nearest(now, gone) is old:
            yield old, now


def _nearest(occurrence: _Occurrence, others: Sequence[_Occurrence]) -> _Occurrence | None:
    """The only one of *others* with most of its last folders in common with *occurrence*, if it has any."""
    ranked = _ranked(occurrence, others)
    most = _shared_end(occurrence.input, ranked[0].input)
    is_only = len(ranked) == 1 or _shared_end(occurrence.input, ranked[1].input) < most
    return ranked[0] if most and is_only else None


def _ranked(occurrence: _Occurrence, others: Sequence[_Occurrence]) -> list[_Occurrence]:
    """*others*, those first that have most of their last folders in common with *occurrence*, then by name."""
    return sorted(
        others, key=lambda other: (-_shared_end(occurrence.input, other.input), other.input)
    )


def _shared_end(path: str, other: str) -> int:
    """How many folders two paths have in common, counted from the end."""
    count = 0
    for left, right in zip(reversed(path.split("/")), reversed(other.split("/")), strict=False):
        if not left or left != right:
            break
        count += 1
    return count


def whole(inputs: Iterable[ComparedInput], moved: Iterable[Relocation]) -> frozenset[Relocation]:
    """Those of *moved* that took all of an input along, and found nothing where they went: its quotas moved as well."""
    states = {
        compared_input.name: {resource for resource, _ in _states(compared_input)}
        for compared_input in inputs
    }
    return frozenset(
        relocation
        for relocation in moved
        if states[relocation.before] <= relocation.gone
        and states[relocation.after] <= relocation.new
    )


def without(
    compared_input: ComparedInput,
    moved: Iterable[Relocation],
    entire: Container[Relocation] = (),
) -> Impact:
    """The impact of an input but for what *moved* away from it, or came to it from elsewhere.

    What is said of the room for pods goes with the *entire* ones.
    """
    impact, name = compared_input.impact, compared_input.name
    moved = [relocation for relocation in moved if name in {relocation.before, relocation.after}]
    if any(relocation in entire for relocation in moved):
        impact = impact._replace(requests=(), quotas=())
    left = [(relocation.gone, _GONE) for relocation in moved if relocation.before == name]
    left += ((relocation.new, _NEW) for relocation in moved if relocation.after == name)

    def stays(resource: ResourceRef, marks: Iterable[str]) -> bool:
        return not any(resource in resources and mark in marks for resources, mark in left)

    return impact._replace(
        machines=tuple(
            machine
            for machine in impact.machines
            if stays(machine.resource, compared_input.marks(machine))
        ),
        holders=tuple(
            holder for holder in impact.holders if stays(holder.resource, (_mark(holder),))
        ),
    )


def of(impact: Impact, move: Relocation, entire: Container[Relocation] = ()) -> Impact:
    """Of the *impact* of comparing both inputs of a *move*, what it is about; each finding belongs to one input."""
    return Impact(
        requests=impact.requests if move in entire else (),
        quotas=impact.quotas if move in entire else (),
        machines=tuple(machine for machine in impact.machines if machine.resource in move.new),
        holders=tuple(holder for holder in impact.holders if holder.resource in move.new),
    )
