"""VMs that go and VMs that come which are one to whoever wrote them: it was renamed, or moved to another namespace.

To the cluster they are two: it deletes the one and makes the other. That is said of both, with what else differs.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

from render.diff.impact import FieldChange, MachineImpact
from render.frontends.commands.compare.states import NamedState
from render.model import tree
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.resource import MACHINES, TEMPLATE, VM, ResourceRef, from_body
from render.model.tree import Tree
from render.pipeline.comparison.fleet import compare
from render.report.impact.review import ReviewPart
from render.resolve.references import claims_of, names_in

_ALIKE, _ALIKE_IN_ONE_PLACE = 0.8, 0.5
"""So much of two specs is the same where one is taken for the other."""
_MOST_PAIRS, _MOST_OTHERS = 10_000, 200
#: A part of the review, and the states of its inputs.
ReviewedPart = tuple[ReviewPart, NamedState, NamedState]


class _SpecValues:
    """The scalars in the specs of VMs, each with its place: gathered once for all with which a VM is compared."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        #: With the VM itself: an id is unique only while its object lives.
        self._known: dict[int, tuple[Tree, frozenset[str]]] = {}

    def likeness(self, before: Tree, after: Tree) -> float:
        """How much of the specs of two VMs is the same, from 0 to 1."""
        old, new = self._of(before), self._of(after)
        return 2 * len(old & new) / ((len(old) + len(new)) or 1)

    def _of(self, body: Tree) -> frozenset[str]:
        if id(body) not in self._known:
            self._known[id(body)] = body, frozenset(_values(body.get("spec")))
        return self._known[id(body)][1]


class _RenamedMachine(NamedTuple):
    """A VM that goes or comes: as *machine* of the part of that *number*, with its *body*, *file* and *state*.

    *values* are those of all VMs with which it is compared.
    """

    number: int
    machine: MachineImpact
    body: Tree
    file: str
    state: NamedState
    values: _SpecValues

    def likeness(self, other: "_RenamedMachine") -> float:
        """How much of its spec is the same as that of the *other*, from 0 to 1."""
        return self.values.likeness(self.body, other.body)

    @property
    def ref(self) -> ResourceRef:
        return self.machine.resource


def told(parts: Sequence[ReviewedPart]) -> list[ReviewPart]:
    """*parts* with what each VM that goes or comes was, or is, called."""
    values = _SpecValues()
    pairs = [*_pairs(*([*_candidates(parts, effect, values)] for effect in ("gone", "new")))]
    others: dict[tuple[int, str, ResourceRef], MachineImpact] = {}
    changes = _changes(pairs, parts) if pairs else {}
    for old, new in pairs:
        others[old.number, "gone", old.ref] = old.machine._replace(renamed=new.ref)
        others[new.number, "new", new.ref] = new.machine._replace(
            renamed=old.ref, changes=changes.get((new.number, new.ref), ())
        )
    if not others:
        return [part for part, *_ in parts]
    return [
        part._replace(
            impact=part.impact._replace(
                machines=tuple(
                    others.get((number, effect, machine.resource), machine)
                    for machine in part.impact.machines
                    for effect in ["gone" if "gone" in machine.effects else "new"]
                )
            )
        )
        for number, (part, *_) in enumerate(parts)
    ]


def _candidates(
    parts: Iterable[ReviewedPart], effect: str, values: _SpecValues
) -> Iterator[_RenamedMachine]:
    """The VMs that go, or come, and of which nothing else is said."""
    for number, (part, old, new) in enumerate(parts):
        state = old if effect == "gone" else new
        places: dict[ResourceRef, int] = {}
        for machine in part.impact.machines:
            if machine.effects != (effect,) or machine.messages or machine.resource.kind != VM:
                continue
            places = places or {from_body(body, 0).ref: n for n, body in enumerate(state.objects)}
            index = places.get(machine.resource)
            if index is not None:
                body, file = state.objects[index], state.files[index]
                yield _RenamedMachine(number, machine, body, file, state, values)


def _pairs(
    gone: Sequence[_RenamedMachine], new: Sequence[_RenamedMachine]
) -> Iterator[tuple[_RenamedMachine, _RenamedMachine]]:
    """Who is whom: those alone of one name, or in one file, then the most alike, where each is that of the other."""
    for key in (_by_name, _by_file):
        known, others = _grouped(gone, key), _grouped(new, key)
        found = [
            (known[each][0], others[each][0])
            for each in known.keys() & others.keys()
            if len(known[each]) == len(others[each]) == 1
            and _may_be_one(known[each][0], others[each][0])
        ]
        yield from found
        taken = {id(each) for pair in found for each in pair}
        gone, new = ([each for each in side if id(each) not in taken] for side in (gone, new))
    if len(gone) * len(new) > _MOST_PAIRS:
        return
    for old in gone:
        now = _best(old, new)
        if now is not None and _best(now, gone) is old:
            yield old, now


def _by_name(machine: _RenamedMachine) -> Hashable:
    return machine.ref.name


def _by_file(machine: _RenamedMachine) -> Hashable:
    return machine.number, machine.ref.namespace, machine.file


def _grouped(
    machines: Iterable[_RenamedMachine], key: Callable[[_RenamedMachine], Hashable]
) -> dict[Hashable, list[_RenamedMachine]]:
    groups: dict[Hashable, list[_RenamedMachine]] = {}
    for machine in machines:
        groups.setdefault(key(machine), []).append(machine)
    return groups


def _best(candidate: _RenamedMachine, others: Iterable[_RenamedMachine]) -> _RenamedMachine | None:
    """The one of *others* that *candidate* most likely is; None where there are several, or none."""
    likely = [other for other in others if _may_be_one(candidate, other)]
    pairs = [(_rank(candidate, other), other) for other in likely]
    ranked = sorted(pairs, key=lambda pair: pair[0], reverse=True)
    is_clear = len(ranked) == 1 or (len(ranked) > 1 and ranked[0][0] > ranked[1][0])
    return ranked[0][1] if is_clear else None


def _rank(left: _RenamedMachine, right: _RenamedMachine) -> tuple[bool, bool, bool, float, float]:
    from difflib import SequenceMatcher

    first, second = sorted((left.ref.name, right.ref.name))  # the measure minds the order
    names = SequenceMatcher(None, first, second).ratio()
    return (
        left.ref.namespace == right.ref.namespace,
        left.number == right.number,
        left.file == right.file,
        round(left.likeness(right), 2),
        names,
    )


def _may_be_one(left: _RenamedMachine, right: _RenamedMachine) -> bool:
    """Whether two VMs are so much alike that one is taken for the other; not if but one of them names a namespace.

    Of another name and in another file it is one only with the same disks, or where none are named if there is no
    fleet of such VMs: of these one may as well take the place of another.
    """
    if bool(left.ref.namespace) != bool(right.ref.namespace):
        return False
    if left.file == right.file or left.ref.name == right.ref.name:
        return left.likeness(right) >= _ALIKE_IN_ONE_PLACE
    held = _held(left.body)
    if held != _held(right.body) or left.likeness(right) < _ALIKE:
        return False
    return bool(held) or not any(map(_is_of_fleet, (left, right)))


def _held(body: Tree) -> frozenset[str]:
    """The names of what a VM refers to, and of the disks that are its own."""
    spec = tree.get(body, *TEMPLATE, "spec")
    names = names_in(spec) if isinstance(spec, dict) else ()
    return frozenset((*names, *claims_of(from_body(body, 0))))


def _is_of_fleet(candidate: _RenamedMachine) -> bool:
    """Whether another VM of the same state is as much alike."""
    others = [body for body in candidate.state.objects if body.get("kind") == VM]
    return len(others) > _MOST_OTHERS or any(
        body is not candidate.body and candidate.values.likeness(body, candidate.body) >= _ALIKE
        for body in others
    )


def _values(value: Any) -> Iterator[str]:
    """The scalars in *value*, each with its place."""
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict):
            pending += ((f"{path}.{key}", child) for key, child in value.items())
        elif isinstance(value, list):
            pending += ((f"{path}[{index}]", child) for index, child in enumerate(value))
        else:
            yield f"{path}: {value}"


def _changes(
    pairs: Iterable[tuple[_RenamedMachine, _RenamedMachine]], parts: Sequence[ReviewedPart]
) -> dict[tuple[int, ResourceRef], tuple[FieldChange, ...]]:
    """What else each VM that comes has otherwise than it had, by its part and name: nobody wrote that in a line."""
    ways: dict[tuple[int, int], list[tuple[_RenamedMachine, _RenamedMachine]]] = {}
    for old, new in pairs:
        ways.setdefault((old.number, new.number), []).append((old, new))
    found = {}
    for (first, last), same in ways.items():
        before, after = parts[first][1], parts[last][2]
        former = {id(old.body): _called(old.body, new.ref) for old, new in same}
        later = {id(new.body): new.body for _, new in same}
        impact = compare(
            _with(before.objects, former),
            _with(after.objects, later),
            before.settings,
            after.settings,
        )
        for machine in impact.machines:
            found[last, machine.resource] = tuple(
                change._replace(effect="new", cause=None, leaves=(), waits=False)
                for whole in (() if machine.unrendered else machine.changes)
                for change in whole.leaves or (whole,)
            )
    return found


def _called(body: Tree, ref: ResourceRef) -> Tree:
    """The VM *body* with the name and the namespace of *ref*."""
    names = {"name": ref.name} | ({"namespace": ref.namespace} if ref.namespace else {})
    return {**body, "metadata": {**body["metadata"], **names}}


def _with(bodies: Iterable[Tree], machines: Mapping[int, Tree]) -> list[Tree]:
    """*bodies*, of whose machines those alone that *machines* has by identity, as that has them."""
    return [
        machines.get(id(body), body)
        for body in bodies
        if id(body) in machines or body.get("kind") not in MACHINES
    ]
