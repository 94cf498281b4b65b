"""What objects of Argo CD and Flux apply in one state alone: what stands in their folders is not applied by itself."""

import json
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import chain

from render.frontends.commands.compare.moved.strays import without_strays
from render.frontends.commands.compare.states import NamedState, Side
from render.manifests.relevance import is_of_machine
from render.manifests.uses.destinations import in_namespace
from render.manifests.uses.use import SUSPENDED, UNEVALUATED
from render.model.resource import from_body
from render.model.tree import Tree

_SETS = "ApplicationSet"
#: How what is not evaluated is called where it is an object that applies a folder.
_OBJECTS = ("Application", "Flux", "HelmRelease", "Kustomization")


def applied(before: Side, after: Side) -> tuple[Side, Side]:
    """Both sides without what nobody applies there.

    A folder that objects fill in in the one state, and that has none in the other, is read as it is there, and yet is
    applied by nobody. So is one that objects apply as it is written *before*, where others go on to apply theirs
    *after*: nobody else is known to take it over. The same is true of a loose file, of a kustomization that is a part
    of what objects apply in the one state, and of nothing in the other, and of a folder that an object applies *after*
    which applied another one before. Where no object is left, or there was none, what names no namespace is where it is
    in the other state. Of what was built of others and is applied instead, those others are left out in both.
    """
    made_of = _hydrated(before)
    before, after = (
        {name: state for name, state in side.items() if name not in made_of or state.is_applied}
        for side in (before, after)
    )
    before, after = _in_namespaces(before, after), _in_namespaces(after, before)
    filled_after, filled_before = _filled(after), _filled(before)
    parts_before, parts_after = _parts_alone(before, after), _parts_alone(after, before)
    goes_on = _goes_on(before, after)
    titles = _titles(before)
    first = {
        name: _without_taken_up(state, after.get(name), titles)
        for name, state in before.items()
        if not _is_filled_alone(state, filled_after)
        and name not in parts_before
        and not _is_taken_up(state, after.get(name), titles)
    }
    second = {
        name: _without_let_go(state, before.get(name)) if goes_on else state
        for name, state in after.items()
        if not _is_filled_alone(state, filled_before)
        and name not in parts_after
        and not (goes_on and _is_let_go(state, before.get(name)))
    }
    return first, without_strays(first, second) if goes_on else second


def left_out(before: Side, after: Side) -> Iterator[str]:
    """What is called each input that is not compared, since objects apply what was built of it, and is committed."""
    for name in _hydrated(before) & after.keys():
        if not after[name].is_applied:
            is_same = before[name].objects == after[name].objects
            yield f"{'' if is_same else 'changed '}input whose built VMs are applied instead"


def _hydrated(before: Side) -> frozenset[str]:
    """The kustomizations and charts that nobody applies, while objects apply each VM that comes of them, as it is.

    Somebody builds them and commits what comes of that: what is applied changes with those files alone.
    """
    applying = [state for state in before.values() if state.is_applied]
    sources = [
        (name, state)
        for name, state in (before.items() if applying else ())
        if state.is_one_root and _is_unapplied(state) and any(map(is_of_machine, state.objects))
    ]
    if not sources:
        return frozenset()
    made = {
        _as_text(body)
        for state in applying
        for body, file in zip(state.objects, state.files, strict=True)
        if is_of_machine(body) and (state.user or state.appliers or file in state.users)
    }
    return frozenset(
        name
        for name, state in sources
        if made.issuperset(map(_as_text, filter(is_of_machine, state.objects)))
    )


def _as_text(body: Tree) -> str:
    return json.dumps(body, sort_keys=True)


def _is_unapplied(state: NamedState) -> bool:
    """Whether *state* has a folder that nobody is known to apply."""
    return bool(state.folder) and not state.is_applied


def _filled(side: Side) -> frozenset[str]:
    """The folders of *side* that objects fill in, and that count in no other way."""
    otherwise = {state.folder for state in side.values() if not state.user}
    return frozenset(state.folder for state in side.values()) - otherwise


def _is_filled_alone(state: NamedState, filled: Collection[str]) -> bool:
    """Whether nobody applies what *state* has, and in the other state its folder is *filled*."""
    return _is_unapplied(state) and state.folder in filled


def _is_let_go(state: NamedState, before: NamedState | None) -> bool:
    """Whether objects applied what *state* has *before*, and nobody does now."""
    return before is not None and bool(before.appliers) and not state.is_applied


def _without_let_go(state: NamedState, before: NamedState | None) -> NamedState:
    """*state* without what stands in loose files that objects applied *before*, and that nobody does now.

    A kustomization or chart that objects apply is no loose file.
    """
    if before is None or state.appliers or state.user:
        return state
    return _without_files(state, before.users.keys() - state.users.keys())


def _without_taken_up(
    state: NamedState, after: NamedState | None, titles: frozenset[str]
) -> NamedState:
    """*state* without what stands in loose files that only objects apply *after* that applied something else before."""
    if after is None or state.appliers or state.user:
        return state
    later = {file for file, users in after.users.items() if users <= titles}
    return _without_files(state, later - state.users.keys())


def _without_files(state: NamedState, left_out: Collection[str]) -> NamedState:
    """*state* without what stands in the files *left_out*."""
    if not any(file in left_out for file in state.files):
        return state
    return state.of([index for index, file in enumerate(state.files) if file not in left_out])


def _titles(side: Side) -> frozenset[str]:
    """What objects that apply anything of *side* are called."""
    return frozenset(
        title
        for state in side.values()
        for title in (*state.appliers, *chain.from_iterable(state.users.values()), state.user)
        if title
    )


def _is_taken_up(state: NamedState, after: NamedState | None, titles: frozenset[str]) -> bool:
    """Whether only objects apply what *state* has *after* that applied something else before, as *titles* say."""
    return (
        _is_unapplied(state)
        and after is not None
        and bool(after.appliers)
        and after.appliers <= titles
    )


def _in_namespaces(side: Side, other: Side) -> Side:
    """*side*, of which no object applies anything, with what names no namespace in that in which the *other* has it."""
    if _revisions(side) or unseen(side) - unseen(other):
        return side
    return {
        name: _in_namespace(state, other[name].namespace)
        if name in other and other[name].namespace and not state.has_lock
        else state
        for name, state in side.items()
    }


def _in_namespace(state: NamedState, namespace: str) -> NamedState:
    bodies = (
        body if from_body(body, 0).ref in state.lent else in_namespace(body, namespace)
        for body in state.objects
    )
    return state._replace(objects=[*bodies])


def _parts_alone(side: Side, other: Side) -> frozenset[str]:
    """The kustomizations of *side* that nobody applies, and that objects of the *other* apply as parts of theirs.

    Where the kustomization that one is a part of cannot be read, nobody knows what is.
    """
    if not _goes_on(other, side):
        return frozenset()
    parts: dict[str, bool] = {}
    for name, state in other.items():
        is_unread = name in side and side[name].fault is not None
        is_known = bool(state.appliers or state.user) and not is_unread
        parts.update((base, is_known and parts.get(base, True)) for base in state.bases)
    return frozenset(
        name
        for name, state in side.items()
        if name not in other and _is_unapplied(state) and parts.get(name, False)
    )


def _goes_on(was: Side, now: Side) -> bool:
    """Whether objects apply folders *now*, and none that is not evaluated may apply what was applied before."""
    is_unclear = bool(_unknown(now) - _unknown(was)) or _may_apply_more(unseen(was), unseen(now))
    return bool(_revisions(now)) and not is_unclear


def _unknown(side: Side) -> frozenset[str]:
    """The sets of *side* of which nobody knows what they apply."""
    stated = chain.from_iterable(state.revisions.items() for state in side.values())
    return frozenset(title for title, revision in stated if revision == UNEVALUATED)


def changed_appliers(before: Side, after: Side) -> Counter[str]:
    """The objects whose VMs are compared as if nothing had happened to the objects themselves, by what they are.

    Where no object applies anything *after*, or nobody knows which does, what those *before* applied still stands here.
    What is in another revision nobody has read.
    """
    old, new = _revisions(before), _revisions(after)
    gone = () if _goes_on(before, after) else old.keys() - new.keys()
    moved = [title for title in old.keys() & new.keys() if old[title] != new[title]]
    told = [f"{_kind(title)} with nothing to apply here any more" for title in gone]
    told += (
        f"suspended {_kind(title)}"
        if new[title] == SUSPENDED
        else f"{_kind(title)} with another source or cluster"
        for title in moved
    )
    return Counter(told)


def _kind(title: str) -> str:
    """The kind of the object that is called *title*."""
    return title.partition(" ")[0]


def _revisions(side: Side) -> dict[str, str]:
    """From where each object of *side* that applies something takes it, as it says that."""
    return {
        title: revision
        for state in side.values()
        for title, revision in state.revisions.items()
        if revision != UNEVALUATED
    }


def _may_apply_more(was: Counter[str], now: Counter[str]) -> bool:
    """Whether what is not evaluated *now* may apply folders: a set, or an object that *was* evaluated."""
    return any(word.startswith(_SETS) for word in now) or any(
        word.startswith(_OBJECTS) for word in now - was
    )


def unseen(side: Side) -> Counter[str]:
    """What of *side* was not looked at, by what it is."""
    return sum((Counter(state.unseen) for state in side.values()), Counter[str]())
