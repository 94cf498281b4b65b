"""What objects of Argo CD and Flux apply in one state alone: what stands in their folders is not applied by itself."""

from collections import Counter

from render.frontends.commands.compare.states import NamedState, Side

_SETS = "ApplicationSet"
#: How what is not evaluated is called where it is an object that applies a folder.
_OBJECTS = ("Application", "Flux", "HelmRelease", "Kustomization")


def applied(before: Side, after: Side) -> tuple[Side, Side]:
    """Both sides without what nobody applies there.

    A folder that objects fill in in the one state, and that has none in the other, is read as it is there, and yet is
    applied by nobody. So is one that objects apply as it is written *before*, where others go on to apply theirs
    *after*: nobody else is known to take it over. The same is true of a kustomization that is a part of what objects
    apply in the one state, and of nothing in the other.
    """
    first = {
        name: state
        for name, state in before.items()
        if not _is_filled_alone(state, after) and not _is_part_alone(name, state, before, after)
    }
    second = {
        name: state
        for name, state in after.items()
        if not _is_filled_alone(state, before)
        and not _is_let_go(name, state, before, after)
        and not _is_part_alone(name, state, after, before)
    }
    return first, second


def _is_filled_alone(state: NamedState, other: Side) -> bool:
    """Whether nobody applies what *state* has, and in the *other* side objects fill in its folder, and nothing else."""
    if state.user or state.appliers or not state.folder:
        return False
    users = [each.user for each in other.values() if each.folder == state.folder]
    return bool(users) and all(users)


def _is_let_go(name: str, state: NamedState, before: Side, after: Side) -> bool:
    """Whether objects apply what *state* has *before*, and nobody does *after*, where others are applied."""
    known = before.get(name)
    if known is None or not known.appliers or state.appliers or state.user:
        return False
    has_others = any(each.has_appliers for each in after.values())
    return has_others and not _may_apply_more(unseen(before), unseen(after))


def _is_part_alone(name: str, state: NamedState, side: Side, other: Side) -> bool:
    """Whether nobody applies *state* on its *side*, and objects of the *other* apply its kustomization as a part.

    Where the kustomization that it is a part of cannot be read, nobody knows what is.
    """
    if not state.folder or state.appliers or state.user or name in other:
        return False
    users = {key: each for key, each in other.items() if name in each.bases}
    is_part = bool(users) and all(each.appliers or each.user for each in users.values())
    if any(key in side and side[key].fault is not None for key in users):
        return False
    has_others = any(each.has_appliers for each in side.values())
    return is_part and has_others and not _may_apply_more(unseen(other), unseen(side))


def _may_apply_more(was: Counter[str], now: Counter[str]) -> bool:
    """Whether what is not evaluated *now* may apply folders: a set, or an object that *was* evaluated."""
    return any(word.startswith(_SETS) for word in now) or any(
        word.startswith(_OBJECTS) for word in now - was
    )


def unseen(side: Side) -> Counter[str]:
    """What of *side* was not looked at, by what it is."""
    return sum((Counter(state.unseen) for state in side.values()), Counter[str]())
