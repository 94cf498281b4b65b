"""Whether a review looks into what guests boot with: what it says of that is news, or an error."""

from render.frontends.commands.compare.states import NamedState, Side
from render.model.resource import from_body
from render.model.tree import Tree
from render.pipeline.input import definitions


def unless_alike(before: Side, after: Side) -> tuple[Side, Side]:
    """Both sides, without looking into guests where no warning of one can be new: nothing but definitions differs."""
    if before.keys() != after.keys():
        return before, after
    if not all(_boot_alike(before[name], after[name]) for name in before):
        return before, after
    return _without_guests(before), _without_guests(after)


def _boot_alike(old: NamedState, new: NamedState) -> bool:
    """Whether both states have the same guests, all of which can be read, and what is found there is no error."""
    if any(state.fault or state.apart or state.unread for state in (old, new)):
        return False
    levels = {
        (state.settings.guest, state.settings.admission, state.settings.kubevirt)
        for state in (old, new)
    }
    is_mere_warning = levels.pop()[0] == "warning" and not levels
    return is_mere_warning and _but_definitions(old) == _but_definitions(new)


def _but_definitions(state: NamedState) -> list[Tree]:
    """The objects of *state* that guests, or what they boot with, may come of."""
    return [body for body in state.objects if not definitions.is_definition(from_body(body, 0))]


def _without_guests(side: Side) -> Side:
    return {
        name: state._replace(settings=state.settings._replace(guest="off"))
        for name, state in side.items()
    }
