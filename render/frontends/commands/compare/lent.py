"""What inputs found in others of the first state that cannot be read in the second: nobody has deleted that."""

from render.frontends.commands.compare.states import NamedState, Side
from render.model.resource import ResourceRef, from_body


def with_what_is_kept(before: Side, after: Side) -> Side:
    """*after*, in which the inputs have what they found *before* in those that cannot be read any more.

    What such an input had is in the cluster: who cannot build it prunes nothing. What *after* has anywhere counts.
    """
    unread = [
        before[name]
        for name, state in after.items()
        if state.fault and not state.unread and name in before and not before[name].fault
    ]
    kept = {ref for state in unread for ref in _refs(state) if ref not in state.lent}
    if not kept:
        return after
    kept.difference_update(*map(_refs, after.values()))
    return {
        name: _keeping(state, before[name], kept) if name in before and not state.fault else state
        for name, state in after.items()
    }


def with_objects_of(other: NamedState, state: NamedState) -> NamedState:
    """*state* with the objects of *other*, which stand nowhere in it."""
    if not other.objects:
        return state
    known = range(len(state.objects)) if state.positions is None else state.positions
    return state._replace(
        objects=[*state.objects, *other.objects],
        positions=[*known, *(None for _ in other.objects)],
        files=[*state.files, *other.files],
    )


def _keeping(state: NamedState, former: NamedState, kept: set[ResourceRef]) -> NamedState:
    """*state* with those objects that were lent to *former*, and are *kept*."""
    lent = former.lent & kept
    positions = [index for index, ref in enumerate(_refs(former)) if ref in lent]
    return with_objects_of(former.of(positions), state)._replace(lent=state.lent | lent)


def _refs(state: NamedState) -> list[ResourceRef]:
    return [from_body(body, 0).ref for body in state.objects]
