"""``virt-render diff``: what a change of the repository does to each VM."""

import contextlib
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache
from typing import Literal, NamedTuple

from render.diagnostics.diagnostic import Location
from render.diagnostics.exits import Exit
from render.diff.impact import Impact, MachineImpact
from render.diff.source import ChangeSource, SideName
from render.frontends.answer import Answer, RefusedError
from render.frontends.commands.diff_states import (
    Clusters,
    NamedState,
    Side,
    clusters_of,
    sides_of,
)
from render.frontends.origin import origin_of
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.model.resource import ResourceRef, from_body
from render.model.tree import Tree
from render.pipeline.input import definitions
from render.report import terminal
from render.report.impact import formats
from render.report.impact.formats import ImpactStyle
from render.report.impact.review import (
    HOLDER_OUTCOMES,
    QUIET,
    RANKED,
    Locate,
    Locked,
    OtherEmit,
    Review,
    ReviewedState,
    ReviewPart,
    SettingChange,
    UncomparedInput,
    errors,
    holders,
    is_shown,
    worst,
)
from render.report.page_origin import PageOrigin
from render.report.places import Place, Sources
from render.system.streams import STDOUT

_MACHINES = frozenset(
    {
        "VirtualMachine",
        "VirtualMachineInstance",
        "VirtualMachinePool",
        "VirtualMachineInstanceReplicaSet",
    }
)


def diff(asked: Request, work: Work) -> Answer:
    """Print what becomes of each VM."""
    with contextlib.ExitStack() as trees:  # where places are looked up until the answer is written
        return _diff(asked, work, trees)


def _diff(asked: Request, work: Work, trees: contextlib.ExitStack) -> Answer:
    review = reviewed(asked, work, trees)
    style = _style(asked)
    work.begin("write", "writing the answer")
    written = formats.report(asked.own["format"], review, style)
    return Answer([written], (), _status(review, asked))


def reviewed(asked: Request, work: Work, trees: contextlib.ExitStack) -> Review:
    """What becomes of each VM, and where that was written: as long as *trees* are there. Raises RefusedError."""
    work.begin("read", "reading both states")
    clusters = clusters_of(asked)
    before, after = sides_of(asked, clusters, trees)
    work.begin("render", "rendering both states")
    parts, uncompared, other_way = _compared(before, after, asked)
    emitted = next(state.settings.emit for side in (after, before) for state in side.values())
    old_state, new_state = _states(clusters, (before, after))
    otherwise = (
        None if "--emit" in asked.called.call.flags else OtherEmit(_other(emitted), other_way)
    )
    return Review(
        old_state, new_state, emitted, tuple(parts), otherwise, tuple(uncompared), _settings_changed(before, after),
        _locked(before, after), _unseen(after),
    )  # fmt: skip


def _compared(
    before: Side, after: Side, asked: Request
) -> tuple[list[ReviewPart], list[UncomparedInput], int]:
    """What becomes of the VMs input by input, and to how many something else would happen, synced the other way.

    An input that cannot be read takes away itself alone: it is named instead. Raises RefusedError where none can be.
    """
    from render.pipeline.comparison import moves
    from render.pipeline.comparison.fleet import compare

    asks_other_way = "--emit" not in asked.called.call.flags
    compared: list[moves.ComparedInput] = []
    sides: list[tuple[NamedState, NamedState]] = []
    uncompared: list[UncomparedInput] = []
    is_anything_known = False
    other_way = 0
    for name in sorted({**before, **after}):
        old, new = (side.get(name) or _nothing(side, asked) for side in (before, after))
        old, new, unreadable = _but_for_files(old, new)
        uncompared += unreadable.uncompared
        is_read = old.fault is None and new.fault is None
        if is_read:
            differing = compare(old.objects, new.objects, old.settings, new.settings)
            for lost in unreadable.lost:
                differing = _together(differing, lost)
        else:
            differing = _lost(old, new)
            if not differing.machines:
                uncompared.append(_uncompared(name, old, new))
            if old.fault and new.fault:
                continue
        is_anything_known |= is_read or bool(differing.machines)
        namespaces = (old.settings.namespace, new.settings.namespace)
        compared.append(moves.ComparedInput(name, differing, namespaces))
        sides.append((old, new))
        if is_read and asks_other_way:
            other_way += _differing(differing, old, new)
    faults = [one.fault for side in (after, before) for one in side.values() if one.fault]
    if faults and not is_anything_known:
        raise faults[0]
    moved = moves.moves(compared)
    entire = moves.whole(compared, moved)
    parts = [
        ReviewPart(
            one.name,
            moves.without(one.impact, moved, one.name, entire),
            _locator(old, new),
            (old.places, new.places),
        )
        for one, (old, new) in zip(compared, sides, strict=True)
    ]
    for move in moved:
        old = _without_others(before[move.before], move.gone)
        new = _without_others(after[move.after], move.new)
        differing = compare(old.objects, new.objects, old.settings, new.settings)
        differing = moves.of(differing, move, entire)
        places = (old.places, new.places)
        parts.append(ReviewPart(move.after, differing, _locator(old, new), places, move.before))
        if asks_other_way:
            other_way += _differing(differing, old, new)
    return parts, uncompared, other_way


class _UnreadableFiles(NamedTuple):
    """What becomes of files that cannot be read: those of both states, and what is *lost* with those of one alone."""

    uncompared: tuple[UncomparedInput, ...] = ()
    lost: tuple[Impact, ...] = ()


def _but_for_files(
    old: NamedState, new: NamedState
) -> tuple[NamedState, NamedState, _UnreadableFiles]:
    """Both states without the VMs of files that one of them cannot read, where nothing else is at fault.

    What else stands there is taken to be in the other state as it is in this one: nobody has deleted it.
    """
    is_parted = old.is_read_but_for_files and new.is_read_but_for_files
    if not (old.unread or new.unread) or not is_parted or not (old.objects or new.objects):
        return old, new, _UnreadableFiles()
    both = old.unread.keys() & new.unread.keys()
    uncompared = tuple(
        UncomparedInput(
            file, {**old.unread, **new.unread}[file], file in old.unread, file in new.unread
        )
        for file in sorted({*old.unread, *new.unread})
    )
    rest, lost, kept = [], [], []
    for state, other in ((old, new), (new, old)):
        known = {_identity(body) for body in other.objects}
        missed = [
            index
            for index, file in enumerate(state.files)
            if file in other.unread and _identity(state.objects[index]) not in known
        ]
        beside = [index for index in missed if not _is_machine(state.objects[index])]
        kept.append(_of(state, beside))
        missed = sorted(set(missed).difference(beside))
        others = sorted(set(range(len(state.objects))).difference(missed))
        rest.append(
            _of(state, others)._replace(fault=None) if missed else state._replace(fault=None)
        )
        if other.fault and other.unread.keys() - both:
            broken = other._replace(objects=[], fault=_without_files(other, both))
            read = _of(state, missed)._replace(fault=None)
            lost.append(_lost(read, broken) if state is old else _lost(broken, read))
    return (
        _with_objects_of(kept[1], rest[0]),
        _with_objects_of(kept[0], rest[1]),
        _UnreadableFiles(uncompared, tuple(lost)),
    )


def _is_machine(body: Tree) -> bool:
    return body.get("kind") in _MACHINES or definitions.is_machine(from_body(body, 0))


def _with_objects_of(other: NamedState, state: NamedState) -> NamedState:
    """*state* with the objects of *other*, which stand nowhere in it."""
    if not other.objects:
        return state
    known = range(len(state.objects)) if state.positions is None else state.positions
    return state._replace(
        objects=[*state.objects, *other.objects],
        positions=[*known, *(None for _ in other.objects)],
        files=[*state.files, *other.files],
    )


def _identity(body: Tree) -> tuple[str, ResourceRef]:
    one = from_body(body, 0)
    return one.group, one.ref


def _without_files(state: NamedState, files: Collection[str]) -> RefusedError | None:
    """Why *state* is at fault, without what is said of *files*."""
    if state.fault is None:
        return None
    tails = tuple(f"/{file}" for file in files)
    return RefusedError(
        [one for one in state.fault.findings if not f"/{one.place.file}".endswith(tails)]
        if tails
        else state.fault.findings
    )


def _together(impact: Impact, lost: Impact) -> Impact:
    """*impact* with the VMs that are *lost*, and why."""
    return impact._replace(
        machines=(*impact.machines, *lost.machines),
        before=(*impact.before, *lost.before),
        after=(*impact.after, *lost.after),
    )


def _uncompared(name: str, old: NamedState, new: NamedState) -> UncomparedInput:
    """That nothing is known of the input *name*, and why."""
    fault = new.fault or old.fault
    diagnostics = [one.diagnostic for one in fault.findings] if fault else []
    named = dict.fromkeys(one.code for one in diagnostics if one.is_error)
    return UncomparedInput(name, tuple(named), old.fault is not None, new.fault is not None)


def _lost(old: NamedState, new: NamedState) -> Impact:
    """The VMs of the one state that can be read: the other cannot. None where neither can."""
    from render.pipeline.comparison.fleet import compare

    broken, read = (new, old) if new.fault else (old, new)
    if broken.fault is None or read.fault:
        return Impact((), (), ())
    known = compare([], read.objects, read.settings)
    faults = tuple(one.diagnostic for one in broken.fault.findings)
    texts = tuple(
        f"{broken.name} cannot be read: {', '.join(filter(None, (str(one.place), one.text)))}"
        for one in broken.fault.findings
        if one.diagnostic.is_error
    )
    sides: tuple[SideName, SideName] = ("before", "after")
    impacts = tuple(
        MachineImpact(
            one.resource,
            ("repaired",) if broken is old and not one.unrendered else ("unrenderable",),
            texts,
            unrendered=sides if one.unrendered else (sides[broken is new],),
            sizes=(None, one.sizes[1]) if broken is old else (one.sizes[1], None),
        )
        for one in known.machines
    )
    if broken is new:
        return Impact(impacts, known.after, faults)
    return Impact(impacts, faults, known.after)


def _states(clusters: Clusters, sides: tuple[Side, Side]) -> tuple[ReviewedState, ReviewedState]:
    """Both states for people, with their releases and how they are synced where those differ, whoever chose them."""
    states = [next(iter(side.values()), None) for side in sides]
    reviewed = [
        cluster.state(one.name if one else "nothing")
        for cluster, one in zip(clusters, states, strict=True)
    ]
    releases = [one.settings.kubevirt if one else "" for one in states]
    if all(releases) and releases[0] != releases[1]:
        reviewed = [
            one._replace(release=release) for one, release in zip(reviewed, releases, strict=True)
        ]
    emits = [one.settings.emit if one else "" for one in states]
    if all(emits) and emits[0] != emits[1]:
        reviewed = [one._replace(emit=emit) for one, emit in zip(reviewed, emits, strict=True)]
    return reviewed[0], reviewed[1]


def _settings_changed(before: Side, after: Side) -> tuple[SettingChange, ...]:
    """What the settings of the repository itself say otherwise in the second state."""
    old, new = (next((one.configured for one in side.values()), {}) for side in (before, after))
    keys = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    return tuple(SettingChange(key, old.get(key), new.get(key)) for key in keys)


def _other(emitted: str) -> Literal["vm", "source"]:
    """The other way to sync VMs: expanded, or as they are written."""
    return "vm" if emitted == "source" else "source"


def _locked(before: Side, after: Side) -> Locked:
    """Which inputs are synced rendered since they have a lock."""
    states = {**before, **after}
    locked = sum(state.has_lock for state in states.values())
    return "none" if not locked else "all" if locked == len(states) else "some"


def _unseen(side: Side) -> Counter[str]:
    """What of *side* was not looked at, by what it is."""
    unseen: Counter[str] = Counter()
    for state in side.values():
        unseen.update(state.unseen)
    return unseen


def _differing(impact: Impact, old: NamedState, new: NamedState) -> int:
    """To how many VMs something else would happen if they were synced the other way.

    Only VMs that something happens to, or whose definitions were edited, can be among them.
    """
    from render.pipeline.comparison.fleet import compare

    effects = {one.resource: one.effects for one in impact.machines if is_shown(one) or one.edited}
    if not effects:
        return 0
    before, after = (_without_others(one, effects).objects for one in (old, new))
    settings, later = (one.settings._replace(emit=_other(one.settings.emit)) for one in (old, new))
    there = compare(before, after, settings, later).machines
    return sum(
        1 for one in there if QUIET.union(effects.get(one.resource, ())) != QUIET.union(one.effects)
    )


def _without_others(state: NamedState, kept: Collection[ResourceRef]) -> NamedState:
    """*state* without the VMs, pools and replica sets that are not *kept*."""
    names = {(one.namespace, one.name) for one in kept}
    positions = [
        index
        for index, body in enumerate(state.objects)
        # Most objects are VMs, and most VMs are left out: their identity is read as plainly as can be.
        if body.get("kind") not in _MACHINES or from_body(body, index).ref[1:] in names
    ]
    return _of(state, positions)


def _of(state: NamedState, positions: Sequence[int]) -> NamedState:
    """*state* with those of its objects alone that have these *positions*."""
    known = state.positions
    return state._replace(
        objects=[state.objects[index] for index in positions],
        positions=positions if known is None else [known[index] for index in positions],
        files=[state.files[index] for index in positions] if state.files else (),
    )


def _style(asked: Request) -> ImpactStyle:
    most = asked.own["max_bytes"]
    origin = origin_of(asked) if asked.own["format"] == "html" else PageOrigin()
    if asked.reporting.output:
        return ImpactStyle(most=most, origin=origin)
    return ImpactStyle(terminal.is_coloured(STDOUT), most, terminal.width(STDOUT), origin)


def _locator(old: NamedState, new: NamedState) -> Locate:
    """What says where a cause stands in either state."""

    def locate(cause: ChangeSource) -> Place:
        state = old if cause.side == "before" else new
        index = cause.index
        if index is None:
            index = state.around.get(cause.resource)
        elif state.positions is not None:
            index = state.positions[index]
        return state.places.place(Location(cause.resource, cause.path, index))

    return cache(locate)


def _nothing(side: Side, asked: Request) -> NamedState:
    """A kustomization that one side does not have."""
    other = next(iter(side.values()), None)
    name, settings = (other.name, other.settings) if other else ("nothing", asked.settings)
    return NamedState(name, [], settings, Sources())


def _status(review: Review, asked: Request) -> Exit:
    """The status that new errors ask for, what KubeVirt refuses, and the other effects, as the flags say."""
    machines = review.machines
    outcomes = [one.holder.outcome for one in holders(review.parts)]
    effects = {*map(worst, machines), *(HOLDER_OUTCOMES[one][1] for one in outcomes)}
    fails = bool(errors(review.parts).new) or any("refused" in one.effects for one in machines)
    differs = asked.own["exit_code"] and (outcomes or effects - {"same", "none"})
    limit = asked.own["fail_on"]
    worse = limit and effects & set(RANKED[: RANKED.index(limit) + 1]) - {"unrenderable"}
    return Exit.FINDINGS if fails or differs or worse else Exit.OK
