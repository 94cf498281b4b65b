"""VMs that come to one input, or go from it, while another one has a VM of that name, then and now."""

import os
from collections.abc import Iterable, Sequence

from render.diff.impact import MachineImpact
from render.frontends.commands.compare.states import NamedState
from render.model.named_tuple import NamedTuple
from render.model.resource import ResourceRef, from_body
from render.pipeline.comparison.moves import ComparedInput, identity_of

_States = tuple[NamedState, NamedState]


class _Names(NamedTuple):
    """The VMs of an input *before* and *after*, by what they are called in a cluster."""

    before: frozenset[ResourceRef]
    after: frozenset[ResourceRef]


def noted(inputs: Sequence[ComparedInput], states: Sequence[_States]) -> list[ComparedInput]:
    """*inputs*, whose *states* are these, with a word at each VM that comes or goes while another input keeps its name.

    Said is that of loose files and a kustomization or chart, of two inputs with VMs that had no name in common, and of
    an input that is new where no two of the others had: of others each may be meant for a cluster of its own.
    """
    is_any = any(each.marks(machine) for each in inputs for machine in each.impact.machines)
    return _Namesakes(inputs, states).noted() if is_any else [*inputs]


class _Namesakes:
    """Which *inputs* have VMs of one name."""

    def __init__(self, inputs: Sequence[ComparedInput], states: Sequence[_States]) -> None:
        self._inputs = inputs
        self._states = states
        self._names = [_names(each) for each in inputs]
        self._is_disjoint = _are_disjoint([each.before for each in self._names])
        self._lasting: dict[ResourceRef, list[int]] = {}
        for index, (before, after) in enumerate(self._names):
            for identity in before & after:
                self._lasting.setdefault(identity, []).append(index)

    def noted(self) -> list[ComparedInput]:
        """The inputs with what is to be said of their VMs."""
        return [
            each._replace(
                impact=each.impact._replace(
                    machines=tuple(
                        self._told(index, machine) if each.marks(machine) else machine
                        for machine in each.impact.machines
                    )
                )
            )
            for index, each in enumerate(self._inputs)
        ]

    def _told(self, index: int, machine: MachineImpact) -> MachineImpact:
        compared = self._inputs[index]
        is_new = "new" in compared.marks(machine)
        identity = identity_of(machine.resource, compared.namespaces[is_new])
        others = [
            self._place(other, identity)
            for other in self._lasting.get(identity, ())
            if other != index and self._is_one_cluster(index, other)
        ]
        if not others:
            return machine
        where = ", ".join(others)
        text = f"stands in {where}, too" if is_new else f"still stands in {where}"
        return machine._replace(messages=(*machine.messages, text))

    def _is_one_cluster(self, index: int, other: int) -> bool:
        before, known = self._names[index].before, self._names[other].before
        if not before & known and (before or self._is_disjoint):
            return True
        return self._is_loose(index) != self._is_loose(other) and (
            self._is_root(index) != self._is_root(other)
        )

    def _is_root(self, index: int) -> bool:
        return any(state.is_one_root for state in self._states[index])

    def _is_loose(self, index: int) -> bool:
        return not (self._is_root(index) or self._inputs[index].name)

    def _place(self, index: int, identity: ResourceRef) -> str:
        """Where the input has the VM: the file of a loose one, else what the input is called."""
        state, namespace = self._states[index][1], self._inputs[index].namespaces[1]
        if self._is_loose(index):
            for body, file in zip(state.objects, state.files, strict=True):
                if identity_of(from_body(body, 0).ref, namespace) == identity:
                    return file
        return self._inputs[index].name or os.curdir


def _are_disjoint(names: Iterable[frozenset[ResourceRef]]) -> bool:
    """Whether there are several sets with *names*, and no two have one in common."""
    sets = [each for each in names if each]
    return len(sets) > 1 and sum(map(len, sets)) == len(frozenset().union(*sets))


def _names(compared: ComparedInput) -> _Names:
    before, after = compared.namespaces
    then, now = set[ResourceRef](), set[ResourceRef]()
    for machine in compared.impact.machines:
        marks = compared.marks(machine)
        if "new" not in marks:
            then.add(identity_of(machine.resource, before))
        if "gone" not in marks:
            now.add(identity_of(machine.resource, after))
    return _Names(frozenset(then), frozenset(now))
