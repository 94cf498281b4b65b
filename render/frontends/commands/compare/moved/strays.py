"""VMs that stand in another folder: where no object of Argo CD and Flux applies them any more, or nobody knows."""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from render.diff.impact import MachineImpact
from render.frontends.commands.compare.states import NamedState, Side
from render.manifests.relevance import is_of_machine
from render.model.resource import ResourceRef, from_body


def without_strays(before: Side, after: Side) -> Side:
    """*after* without the VMs that objects applied *before*, and that stand where none applies them now.

    Where no object applies it, a VM that names no namespace may be the one of any.
    """
    strays = _applied(before) - _applied(after)
    if not strays:
        return after
    strays |= {ref._replace(namespace="") for ref in strays}
    return {name: _without(state, strays) for name, state in after.items()}


def folders(
    machines: Collection[MachineImpact], old: NamedState, new: NamedState
) -> Mapping[tuple[str, str], int]:
    """How many of the *machines* stand in loose files of another folder in *new* than in *old*, by both folders."""
    if (
        old.is_one_root
        or new.is_one_root
        or not (old.files and new.files)
        or old.files == new.files
    ):
        return {}
    was, now = _folders(old), _folders(new)
    found = Counter(
        (was[machine.resource], now[machine.resource])
        for machine in machines
        if machine.resource in was.keys() & now.keys()
    )
    return {ways: number for ways, number in found.items() if ways[0] != ways[1]}


def _folders(state: NamedState) -> dict[ResourceRef, str]:
    return {ref: os.path.dirname(state.files[index]) for index, ref in _machines(state)}


def _applied(side: Side) -> set[ResourceRef]:
    return {
        ref
        for state in side.values()
        for index, ref in _machines(state)
        if _is_applied(state, index)
    }


def _without(state: NamedState, strays: Collection[ResourceRef]) -> NamedState:
    left_out = {
        index for index, ref in _machines(state) if ref in strays and not _is_applied(state, index)
    }
    if not left_out:
        return state
    return state.of([index for index in range(len(state.objects)) if index not in left_out])


def _machines(state: NamedState) -> Iterator[tuple[int, ResourceRef]]:
    """The VMs of *state* with their positions there."""
    return (
        (index, from_body(body, 0).ref)
        for index, body in enumerate(state.objects)
        if is_of_machine(body)
    )


def _is_applied(state: NamedState, index: int) -> bool:
    """Whether an object applies what has that *index* in *state*."""
    is_whole = bool(state.user or state.appliers)
    return is_whole or (bool(state.files) and state.files[index] in state.users)
