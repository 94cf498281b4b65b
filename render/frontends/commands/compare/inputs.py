"""What a change does to the VMs of each input of a repository: ``virt-render diff``, input by input."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, identity, with_places
from render.diff import server_side
from render.diff.impact import (
    ABSENT,
    REFUSED,
    UNBUILT,
    UNREAD,
    FieldChange,
    Impact,
    MachineImpact,
)
from render.diff.source import ChangeSource, SideName
from render.frontends.answer import RefusedError
from render.frontends.commands.compare.edits import behind, entry, is_another
from render.frontends.commands.compare.guests import unless_alike
from render.frontends.commands.compare.lent import with_objects_of, with_what_is_kept
from render.frontends.commands.compare.moved import renames
from render.frontends.commands.compare.moved.appliers import applied
from render.frontends.commands.compare.moved.departures import Departures
from render.frontends.commands.compare.moved.namesakes import noted
from render.frontends.commands.compare.moved.renames import ReviewedPart
from render.frontends.commands.compare.moved.strays import folders
from render.frontends.commands.compare.states import NamedState, Side
from render.frontends.commands.compare.values import EditedValues
from render.frontends.reporting import as_note
from render.frontends.request.request import Request
from render.manifests.uses.destinations import in_namespace
from render.model import tree
from render.model.hints import Literal
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.resource import MACHINES, Resource, ResourceRef, from_body, text_at
from render.model.tree import Tree
from render.pipeline.comparison.fleet import compare
from render.pipeline.comparison.moves import ComparedInput, Relocation, moves, of, whole, without
from render.pipeline.input import definitions
from render.report.findings import Finding, merge
from render.report.impact.review import CLAIMS, QUIET, Locate, ReviewPart, UncomparedInput, is_shown
from render.report.places import Place, Sources
from render.system import files
from render.yaml.budget import Limits

_LOST = ("unrenderable",)
#: What the programs say that make something of folders.
_OF_PROGRAMS = frozenset({codes.KUSTOMIZE_FAILED.number, codes.HELM_FAILED.number})
#: What is said of objects that fill in others, and that the API server does not take.
_OF_REFUSALS = frozenset({codes.UNKNOWN_FIELD.number, codes.UNKNOWN_KIND.number})
#: For which errors of an object an apply of it fails, whoever does it, and if the API server tries it first.
_UNSERVED = frozenset({codes.UNKNOWN_KIND.number})
_UNNAMED = frozenset({codes.METADATA_REFUSED.number})
#: How VMs may be synced: expanded, or as they are written.
Emit = Literal["vm", "source"]


class ComparedSides(NamedTuple):
    """What becomes of the VMs, input by input, and which inputs nobody can compare.

    *other_way*: to how many VMs something else would happen, all synced the other way; 0 where nobody asks. *faults*
    say why nothing can be compared, where no input can be read in either state. *mentioned*: the definitions that
    changed, and that something mentions which a state cannot read.
    """

    parts: Sequence[ReviewPart]
    uncompared: Sequence[UncomparedInput]
    other_way: int
    faults: Sequence[Finding] = ()
    mentioned: frozenset[ResourceRef] = frozenset()


def compared(before: Side, after: Side, request: Request, other: Emit | None) -> ComparedSides:
    """Both sides, compared input by input, and what would be the same with the *other* way to sync for all of them.

    An input that cannot be read takes away itself alone: it is named instead.
    """
    limits = request.reading.limits
    every = after
    before, after = applied(before, after)
    if request.own["format"] != "json":  # which lists what is no news too
        before, after = unless_alike(before, after)
    after = with_what_is_kept(before, after)
    before, after = _warned_once(before), _warned_once(after)
    let_go = _let_go_places(every, after, before)
    known = {state.folder for state in every.values()}
    departures = Departures(before, after, every, limits)
    comparison = _InputComparison(before, after, limits, other, departures)
    for name in sorted({**before, **after}):
        old, new = (side.get(name) or _nothing(side, request) for side in (before, after))
        is_let_go = name not in after and old.folder in known
        comparison.add(name, old, new, _folders([old]) if is_let_go else let_go)
    return comparison.outcome()


def _warned_once(side: Side) -> Side:
    """*side* without warnings of what also is an error there: that an object names what is not there, and had VMs."""
    told = {identity(each) for state in side.values() for each in _why_unread(state)}
    return {
        name: state._replace(
            warnings=tuple(each for each in state.warnings if identity(each) not in told)
        )
        for name, state in side.items()
    }


def _folders(states: Iterable[NamedState]) -> dict[ResourceRef, str]:
    """The folder of each object of *states*."""
    return {from_body(body, 0).ref: state.folder for state in states for body in state.objects}


def _let_go_places(every: Side, kept: Side, before: Side) -> dict[ResourceRef, str]:
    """The folder, or the file among loose ones, of each object of *every* state that is not in those *kept*.

    It is called as *before*, where what names no namespace had one.
    """
    places = _folders(state for name, state in every.items() if name not in kept)
    for name, state in kept.items():
        if len(state.objects) == len(every[name].objects):
            continue
        left = set(state.positions or ())
        namespace = before[name].namespace if name in before else ""
        for index, (body, file) in enumerate(
            zip(every[name].objects, every[name].files, strict=True)
        ):
            if index not in left:
                places[from_body(in_namespace(body, namespace), 0).ref] = file
    return places


class _InputComparison:
    """The inputs of both sides that are compared already."""

    def __init__(
        self, before: Side, after: Side, limits: Limits, other: Emit | None, departures: Departures
    ) -> None:
        self._sides = before, after
        self._departures = departures
        self._limits = limits
        self._unread = _unread(before), _unread(after)
        self._other_emit = other
        self._inputs: list[ComparedInput] = []
        self._states: list[tuple[NamedState, NamedState]] = []
        self._uncompared: list[tuple[UncomparedInput, tuple[NamedState, NamedState]]] = []
        self._edits: dict[str, dict[ChangeSource, Place]] = {}
        self._is_anything_known = False
        self._other_way = 0

    def add(
        self, name: str, old: NamedState, new: NamedState, let_go: Mapping[ResourceRef, str]
    ) -> None:
        """Compare the input *name*, which both sides have as *old* and *new*.

        *let_go*: the folders or files of objects that stand where they stood, and that nobody applies any more.
        """
        old, new, unreadable = _but_for_files(old, new, self._unread)
        states = old, new
        is_read = old.fault is None and new.fault is None
        title = name or "."
        if is_read:
            impact, unreadable = unreadable.told(_compared(old, new), new)
            impact = _unpruned(_let_go(impact, old, let_go), old, new)
            for lost in unreadable.lost:
                impact = _together(impact, lost)
            if old.apart or new.apart:
                impact = _together(impact, Impact((), old.apart, new.apart))
                self._uncompared.append((_uncompared(title, old, new), states))
        else:
            edits = behind(old, new, self._limits)
            self._edits[name] = {edit.cause: edit.place for edit in edits}
            impact = _blaming(_lost(old, new), [edit.change for edit in edits])
            if not impact.machines or new.fault:
                nothing_known = _uncompared_files(old, new) or (_uncompared(title, old, new),)
                self._uncompared += ((each, states) for each in nothing_known)
        self._uncompared += ((each, states) for each in unreadable.uncompared)
        self._is_anything_known |= not (old.fault and new.fault)
        namespaces = (old.settings.namespace, new.settings.namespace)
        self._inputs.append(ComparedInput(name, impact, namespaces, old.fault is not None))
        self._states.append((old, new))
        if is_read:
            self._count(impact, old, new)

    def _count(self, impact: Impact, old: NamedState, new: NamedState) -> None:
        emit = self._other_emit
        if emit and "emit" in {*old.adopted, *new.adopted}:
            self._other_way += _differing_alone(impact, old, new)
        elif emit and (old.settings.emit, new.settings.emit) != (emit, emit):
            self._other_way += _differing(impact, old, new, emit)

    def outcome(self) -> ComparedSides:
        """What came of all of them."""
        before, after = self._sides
        if not self._is_anything_known:
            uncompared = [each for each, _ in self._uncompared]
            return ComparedSides((), uncompared, 0, _faults(after) or _faults(before))
        moved = moves(self._inputs)
        entire = whole(self._inputs, moved)
        reviewed: list[ReviewedPart] = [
            (self._part(each.name, without(each, moved, entire), *states), *states)
            for each, states in zip(noted(self._inputs, self._states), self._states, strict=True)
        ]
        reviewed += (
            (self._moved(move, entire), before[move.before], after[move.after]) for move in moved
        )
        parts = _without_untouched(renames.told(reviewed), self._sides)
        changed = {each.resource for part in parts for each in part.impact.redefined}
        return ComparedSides(
            parts,
            [_reached(each, changed, states) for each, states in self._uncompared],
            self._other_way,
            mentioned=_mentioned(changed, (state for pair in self._states for state in pair)),
        )

    def _moved(self, move: Relocation, entire: Collection[Relocation]) -> ReviewPart:
        """What becomes of the VMs that another input has now."""
        before, after = self._sides
        old = _without_others(before[move.before], move.gone)
        new = _without_others(after[move.after], move.new)
        impact = of(compare(old.objects, new.objects, old.settings, new.settings), move, entire)
        self._count(impact, old, new)
        return self._part(move.after, impact, old, new)._replace(moved_from=move.before)

    def _part(self, name: str, impact: Impact, old: NamedState, new: NamedState) -> ReviewPart:
        impact = self._departures.told(impact, old, new)
        places = {**self._edits.get(name, {}), **self._departures.places(impact)}
        locate = _placing(places, _locator(old, new, self._limits))
        places |= self._entries(impact, locate, old, new)
        noted = impact._replace(
            before=tuple(map(as_note, impact.before)), after=tuple(map(as_note, impact.after))
        )
        alike = [machine for machine in impact.machines if not is_shown(machine)]
        places_of_both = old.places, new.places
        return ReviewPart(name, noted, locate, places_of_both, folders=folders(alike, old, new))

    def _entries(
        self, impact: Impact, locate: Locate, old: NamedState, new: NamedState
    ) -> dict[ChangeSource, Place]:
        """Where kustomizations were edited by which VMs of *impact* come or go that stand in files as they were."""
        states = {"before": (old, new), "after": (new, old)}
        find = cache(lambda side: entry(*states[side], self._limits))
        is_other = cache(lambda file, side: is_another(file, *states[side], self._limits))
        found = {}
        for machine in impact.machines:
            source = machine.source
            if source is not None and not {"new", "gone"}.isdisjoint(machine.effects):
                place = find(source.side)
                if place is not None and not is_other(locate(source).file, source.side):
                    found[source] = place
        return found


def _without_untouched(parts: Sequence[ReviewPart], sides: tuple[Side, Side]) -> list[ReviewPart]:
    """*parts* without the definitions that came to one input, or went from it, and are in others as they were.

    One that others have otherwise was changed, and is neither new nor deleted.
    """
    came_or_went = {
        definition.resource
        for part in parts
        for definition in part.impact.redefined
        if definition.became != "changed"
    }
    if not came_or_went:
        return [*parts]
    before, after = (_definitions(side, came_or_went) for side in sides)
    kept: list[ReviewPart] = []
    for part in parts:
        found = []
        for definition in part.impact.redefined:
            ref = definition.resource
            if definition.before is None and ref in before:
                if definition.after in before[ref]:
                    continue
                found.append(definition._replace(before=before[ref][0]))
            elif definition.after is None and ref in after:
                if definition.before in after[ref]:
                    continue
                found.append(definition._replace(after=after[ref][0]))
            else:
                found.append(definition)
        kept.append(part._replace(impact=part.impact._replace(redefined=tuple(found))))
    return kept


def _definitions(side: Side, refs: Collection[ResourceRef]) -> dict[ResourceRef, list[Tree]]:
    """What the definitions *refs* say in the inputs of *side*, as they are written; not those in none."""
    specs: dict[ResourceRef, list[Tree]] = {}
    for state in side.values():
        for body in state.objects:
            resource = from_body(body, 0)
            if resource.ref in refs and definitions.is_definition(resource):
                specs.setdefault(resource.ref, []).append(resource.spec)
    return specs


class _UnreadFile(NamedTuple):
    """A file that a state cannot read, and why, for people."""

    name: str
    faults: tuple[str, ...]


class _UnreadableFiles(NamedTuple):
    """What becomes of files that cannot be read: those of both states, and what is *lost* with those of one alone.

    *guessed*: the definitions that the first state is taken to have as the second has them, each with the file that
    cannot be read, and why.
    """

    uncompared: tuple[UncomparedInput, ...] = ()
    lost: tuple[Impact, ...] = ()
    guessed: Mapping[ResourceRef, _UnreadFile] = MappingProxyType({})

    def told(self, impact: Impact, new: NamedState) -> "tuple[Impact, _UnreadableFiles]":
        """*impact* without what it says of VMs of *new* of which nobody knows what they were; their files changed."""
        users = _users_of(self.guessed, impact, new) if self.guessed else {}
        machines = tuple(
            _repaired(machine, users[machine.resource].faults)
            if machine.resource in users and QUIET.issuperset(machine.effects)
            else machine
            for machine in impact.machines
        )
        changed = {unread.name for unread in users.values()}
        uncompared = (
            each._replace(changed=each.changed or each.name in changed) for each in self.uncompared
        )
        return impact._replace(machines=machines), self._replace(uncompared=tuple(uncompared))


def _users_of(
    guessed: Mapping[ResourceRef, _UnreadFile], impact: Impact, new: NamedState
) -> dict[ResourceRef, _UnreadFile]:
    """The VMs that ask for a definition that is *guessed*, and are not pinned to one, each with the file of that."""
    pins = {machine.resource: machine.pins for machine in impact.machines}
    found = {}
    for body in filter(_is_machine, new.objects):
        ref = from_body(body, 0).ref
        for kind_class in KIND_CLASSES:
            matcher = tree.get(body, "spec", kind_class.word)
            if not isinstance(matcher, dict) or kind_class.word in pins.get(ref, ()):
                continue
            kind = kind_class.kind_of(text_at(matcher, "kind"))
            for namespace in ("", ref.namespace):
                unread = guessed.get(ResourceRef(kind, namespace, text_at(matcher, "name")))
                if unread is not None:
                    found[ref] = unread
    return found


def _faults(side: Side) -> list[Finding]:
    """Why inputs of *side* cannot be read."""
    return merge(
        finding for state in side.values() if state.fault for finding in state.fault.findings
    )


def _unread(side: Side) -> frozenset[str]:
    """The single files of all inputs of *side* that cannot be read."""
    return frozenset(file for state in side.values() for file in state.unread)


def _but_for_files(
    old: NamedState, new: NamedState, unread: tuple[Collection[str], Collection[str]]
) -> tuple[NamedState, NamedState, _UnreadableFiles]:
    """Both states without the VMs of files that one of them cannot read, where nothing else is at fault.

    What else stands there is taken to be in the other state as it is in this one: nobody has deleted it. *unread*: the
    files of all inputs that either state cannot read, for what VMs refer to may stand in another one.
    """
    is_parted = old.is_read_but_for_files and new.is_read_but_for_files
    if not any(unread) or not is_parted or not (old.objects or new.objects):
        return old, new, _UnreadableFiles()
    both = old.unread.keys() & new.unread.keys()
    uncompared = _uncompared_files(old, new)
    first, second = _parted(old, new, unread[1]), _parted(new, old, unread[0])
    lost = [_lost(*(_broken(state, state.unread.keys() - both) for state in (old, new)))]
    if new.fault and new.unread.keys() - both:
        impact = _lost(first.machines, _broken(new, both))
        lost.append(_of_missed(impact, "before", first))
    if old.fault and old.unread.keys() - both:
        impact = _lost(_broken(old, both), second.machines)
        lost.append(_of_missed(impact, "after", second))
    return (
        with_objects_of(second.others, first.rest),
        with_objects_of(first.others, second.rest),
        _UnreadableFiles(uncompared, tuple(lost), _guessed(second.others, old)),
    )


def _guessed(others: NamedState, old: NamedState) -> dict[ResourceRef, _UnreadFile]:
    """The definitions among *others*, which stand in files that the state *old* cannot read, and why it cannot."""
    findings = old.fault.findings if old.fault else ()
    return {
        resource.ref: _UnreadFile(
            file,
            tuple(
                _failing(old, finding)
                for finding in findings
                if f"/{finding.place.file}".endswith(f"/{file}") and finding.diagnostic.is_error
            )
            or (f"{file} of {old.name}{UNREAD}",),
        )
        for resource, file in zip(map(_resource, others.objects), others.files, strict=True)
        if definitions.is_definition(resource)
    }


def _uncompared_files(old: NamedState, new: NamedState) -> tuple[UncomparedInput, ...]:
    """The single files that one of both states cannot read, where these alone are at fault."""
    if not (old.is_read_but_for_files and new.is_read_but_for_files):
        return ()
    codes = {**old.unread, **new.unread}
    return tuple(
        UncomparedInput(
            file,
            codes[file],
            file in old.unread,
            file in new.unread,
            file in old.unread and file in new.unread and _is_changed(file, old, new),
        )
        for file in sorted(codes)
        if file in new.unread or not _holds_machines_alone(new, file)
    )


def _holds_machines_alone(state: NamedState, file: str) -> bool:
    """Whether *state* has VMs from *file* and nothing else: all of it is told of that which the other cannot read."""
    bodies = [body for body, name in zip(state.objects, state.files, strict=True) if name == file]
    return bool(bodies) and all(map(_is_machine, bodies))


class _PartedState(NamedTuple):
    """A state without the machines that stand in files that the other one cannot read (*rest*).

    *missed*: where these are in the state; *machines*: they, and what they may refer to. *others*: what else stands in
    such files.
    """

    rest: NamedState
    missed: frozenset[int]
    machines: NamedState
    others: NamedState


def _parted(state: NamedState, other: NamedState, unread: Collection[str]) -> _PartedState:
    known = {_identity(body) for body in other.objects}
    found = [
        index
        for index, file in enumerate(state.files)
        if file in unread and _identity(state.objects[index]) not in known
    ]
    missed = [index for index in found if _is_machine(state.objects[index])]
    others = sorted(set(found).difference(missed))
    rest = sorted(set(range(len(state.objects))).difference(missed))
    around = [index for index in rest if not _is_machine(state.objects[index])] if missed else []
    sound = state._replace(fault=None)
    return _PartedState(
        sound.of(rest) if missed else sound,
        frozenset(missed),
        sound.of(sorted([*around, *missed])),
        state.of(others),
    )


def _of_missed(impact: Impact, side: SideName, parted: _PartedState) -> Impact:
    """Of the *impact* of losing all machines of *parted*, the state *side*, what is said of those that are missed.

    What is wrong with the objects around them is said of these.
    """
    state = parted.machines
    found = tuple(
        diagnostic
        for diagnostic in _placed(impact.before if side == "before" else impact.after, state)
        if diagnostic.location.index in parted.missed
    )
    names = {
        from_body(body, 0).ref
        for body, position in zip(state.objects, state.positions or (), strict=True)
        if position in parted.missed
    }
    machines = tuple(machine for machine in impact.machines if machine.resource in names)
    if side == "before":
        return impact._replace(machines=machines, before=found)
    return impact._replace(machines=machines, after=found)


def _compared(old: NamedState, new: NamedState) -> Impact:
    """What becomes of the VMs of *new*. The input that has what is lent to it says what becomes of that."""
    impact = _by_itself(compare(old.objects, new.objects, old.settings, new.settings), old)
    if new.is_server_side and new.settings.emit == "source":
        impact = server_side.refused(impact)
    return impact._replace(
        machines=tuple(machine for machine in impact.machines if machine.resource not in new.lent),
        before=(*_placed(impact.before, old), *old.warnings),
        after=(*_placed(impact.after, new), *new.warnings),
    )


def _by_itself(impact: Impact, old: NamedState) -> Impact:
    """*impact* without those errors of *old*, and of its VMs, that it has only as the second state has it synced.

    Or in the release of that: who writes down what makes a VM one that nobody can render has made it so.
    """
    is_faulty = any(found.is_error for found in impact.before)
    if not old.adopted or not (is_faulty or any(each.unrendered for each in impact.machines)):
        return impact
    settings = old.settings._replace(**old.adopted)
    own = compare(old.objects, old.objects, settings, settings)
    known = {(found.code, found.resource, found.message) for found in own.before}
    lost = {machine.resource for machine in own.machines if machine.unrendered}
    return impact._replace(
        before=tuple(
            found
            for found in impact.before
            if not found.is_error or (found.code, found.resource, found.message) in known
        ),
        machines=tuple(
            machine._replace(unrendered=("after",))
            if "after" in machine.unrendered and machine.resource not in lost
            else machine
            for machine in impact.machines
        ),
    )


def _let_go(impact: Impact, old: NamedState, let_go: Mapping[ResourceRef, str]) -> Impact:
    """*impact* with the reason why VMs of *old* are gone: they stand in the folder or file that *let_go* has for them.

    Nobody applies that any more.
    """
    machines = []
    former = _files_of(old)
    for machine in impact.machines:
        place = ""
        if "gone" in machine.effects:
            nowhere = machine.resource._replace(namespace="")
            place = let_go.get(machine.resource) or let_go.get(nowhere, "")
        file = former.get(machine.resource, "")
        applying = old.appliers or old.users.get(place) or old.users.get(file, frozenset())
        users = ", ".join(sorted(applying)) or old.user
        reason = f"{place} is still there, and {users} applies it no more"
        if place not in ("", ".") and not files.is_below(file, place):
            reason = f"it stands in {place} now, where {users} does not apply it"
        machines.append(machine._replace(messages=(reason,)) if place and users else machine)
    return impact._replace(machines=tuple(machines))


def _unpruned(impact: Impact, old: NamedState, new: NamedState) -> Impact:
    """*impact* of *old* and *new*, in which nothing is gone beside an object of a kind that no API server serves.

    Nor beside one of a name that it refuses where Flux applies all, which has the API server try each of them first.
    A sync fails for that before it prunes (gitops-engine pkg/sync/sync_context.go, getSyncTasks; kustomize-controller
    internal/controller/kustomization_controller.go, reconcile). Of loose files each may be synced by itself.
    """
    users = new.appliers | {new.user} - {""}
    is_of_flux = bool(users) and all(user.startswith("Kustomization ") for user in users)
    fatal = _UNSERVED | _UNNAMED if is_of_flux else _UNSERVED
    failing = [found for found in impact.after if found.code in fatal and found.is_error]
    if not failing:
        return impact
    known, former = _files_of(new), _files_of(old)
    at_fault = {known.get(found.resource) for found in failing if found.resource}
    machines = (
        machine._replace(
            effects=_LOST,
            messages=(f"the sync fails before it prunes: {failing[0].message}",),
            unrendered=(*machine.unrendered, "after"),
            sizes=(machine.sizes[0], None),
        )
        if "gone" in machine.effects
        and (new.is_one_root or former.get(machine.resource, "") in at_fault)
        else machine
        for machine in impact.machines
    )
    return impact._replace(machines=tuple(machines))


def _files_of(state: NamedState) -> dict[ResourceRef, str]:
    """The file of each object of *state*."""
    return {
        from_body(body, 0).ref: file for body, file in zip(state.objects, state.files, strict=False)
    }


def _placed(diagnostics: Sequence[Diagnostic], state: NamedState) -> tuple[Diagnostic, ...]:
    """*diagnostics* about objects of *state*, which may hold but a part of them, as its places have these."""
    positions = state.positions
    if positions is None:
        return tuple(diagnostics)

    def move(place: Location) -> Location:
        return place if place.index is None else place._replace(index=positions[place.index])

    return tuple(with_places(diagnostic, move) for diagnostic in diagnostics)


def _broken(state: NamedState, unread: Collection[str]) -> NamedState:
    """*state* as what nobody can read, but for what is wrong with the files *unread*."""
    return state._replace(objects=[], fault=_without_files(state, unread), warnings=())


def _is_machine(body: Tree) -> bool:
    return body.get("kind") in MACHINES or definitions.is_machine(from_body(body, 0))


def _resource(body: Tree) -> Resource:
    return from_body(body, 0)


def _identity(body: Tree) -> tuple[str, ResourceRef]:
    resource = from_body(body, 0)
    return resource.group, resource.ref


def _without_files(state: NamedState, files: Collection[str]) -> RefusedError | None:
    """Why *state* is at fault, without what is said of *files*."""
    if state.fault is None:
        return None
    tails = tuple(f"/{file}" for file in files)
    return RefusedError(
        [
            finding
            for finding in state.fault.findings
            if not f"/{finding.place.file}".endswith(tails)
        ]
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
    before, after = map(_why_unread, (old, new))
    named = dict.fromkeys(diagnostic.code for diagnostic in after or before if diagnostic.is_error)
    changed = any(_is_changed(file, old, new) for file in {**old.texts, **new.texts})
    return UncomparedInput(name, tuple(named), bool(before), bool(after), changed)


def _is_changed(file: str, old: NamedState, new: NamedState) -> bool:
    """Whether *file*, of which one of both states cannot make anything, is not the same in both."""
    return old.texts.get(file) != new.texts.get(file)


def _reached(
    uncompared: UncomparedInput,
    definitions_changed: Iterable[ResourceRef],
    states: tuple[NamedState, NamedState],
) -> UncomparedInput:
    """*uncompared* of these *states* as changed, too, if its VMs may have another definition by their next sync.

    What is synced as it is written, or has a lock, keeps what it was created with or is pinned to.
    """
    follows = any(state.settings.emit != "source" and not state.has_lock for state in states)
    if uncompared.changed or not follows:
        return uncompared
    is_file = any(uncompared.name in state.unread for state in states)
    mentioned = _mentioned(definitions_changed, states, uncompared.name if is_file else "")
    return uncompared._replace(changed=bool(mentioned))


def _mentioned(
    refs: Iterable[ResourceRef], states: Iterable[NamedState], only: str = ""
) -> frozenset[ResourceRef]:
    """Those of *refs* whose names stand in what of *states* cannot be read: in any file, or *only* in this one."""
    texts = [
        text for state in states for file, text in state.texts.items() if file == only or not only
    ]
    return frozenset(ref for ref in refs if any(_has_name(text, ref.name) for text in texts))


def _has_name(text: bytes, name: str) -> bool:
    """Whether *name* stands in *text*, and not as a part of another one."""
    pattern = rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)"
    return re.search(pattern.encode(), text) is not None


def _why_unread(state: NamedState) -> Sequence[Diagnostic]:
    """What says why *state*, or a part of it, cannot be read."""
    return [finding.diagnostic for finding in state.fault.findings] if state.fault else state.apart


def _noted(state: NamedState) -> tuple[Diagnostic, ...]:
    """Why *state* cannot be read, and what its reading warns of beside that."""
    return (*_why_unread(state), *state.warnings)


def _lost(old: NamedState, new: NamedState) -> Impact:
    """The VMs of the one state that can be read: the other cannot. None where neither can, only why."""
    broken, read = (new, old) if new.fault else (old, new)
    if broken.fault is None or read.fault:
        return Impact((), _noted(old), _noted(new))
    known = compare([], read.objects, read.settings)
    texts = tuple(
        _failing(broken, finding)
        for finding in broken.fault.findings
        if finding.diagnostic.is_error
    )
    if broken is old:
        impacts = tuple(_read_again(machine, texts) for machine in known.machines)
        return Impact(impacts, _noted(old), (*known.after, *new.warnings))
    impacts = tuple(
        MachineImpact(
            machine.resource,
            _LOST,
            texts,
            unrendered=("before", "after") if machine.unrendered else ("after",),
            sizes=(machine.sizes[1], None),
        )
        for machine in known.machines
    )
    return Impact(impacts, (*known.after, *old.warnings), _noted(new))


def _read_again(machine: MachineImpact, faults: tuple[str, ...]) -> MachineImpact:
    """What becomes of a *machine*, new as far as anybody knows, of an input that could not be read for its *faults*."""
    sizes = (None, machine.sizes[1])
    if machine.unrendered:
        both: tuple[SideName, SideName] = ("before", "after")
        now = machine.messages or faults
        return MachineImpact(machine.resource, _LOST, now, unrendered=both, sizes=sizes)
    wrong = tuple(effect for effect in machine.effects if effect != "new")
    if wrong:
        return MachineImpact(machine.resource, wrong, machine.messages, sizes=sizes)
    return _repaired(machine, faults)


def _repaired(machine: MachineImpact, faults: tuple[str, ...]) -> MachineImpact:
    """What becomes of a *machine* of which nobody knows what it was, for these *faults*."""
    sizes = (None, machine.sizes[1])
    return MachineImpact(
        machine.resource, ("repaired",), faults, unrendered=("before",), sizes=sizes
    )


def _failing(state: NamedState, finding: Finding) -> str:
    """For what *finding* nothing comes of an input of *state*: its place, all of that without one, and why."""
    place, code = finding.place, finding.diagnostic.code
    what = f"{place} of {state.name}" if place.file else state.name
    is_named_there = code == codes.UNREADABLE.number and place.line
    failing = ABSENT if is_named_there else UNBUILT if code in _OF_PROGRAMS else UNREAD
    failing = REFUSED if code in _OF_REFUSALS else failing
    return f"{what}{failing}: {finding.text}"


def _differing(impact: Impact, old: NamedState, new: NamedState, emit: Emit) -> int:
    """To how many VMs something else would happen if they were synced with *emit* in both states.

    Only VMs that something happens to, or whose definitions were edited, can be among them.
    """
    effects = {
        machine.resource: machine.effects
        for machine in impact.machines
        if _is_emitted(machine) and (is_shown(machine) or machine.edited)
    }
    if not effects:
        return 0
    before, after = (_without_others(state, effects).objects for state in (old, new))
    settings, later = (state.settings._replace(emit=emit) for state in (old, new))
    machines = compare(before, after, settings, later).machines
    return sum(
        1
        for machine in machines
        if _is_emitted(machine)
        and QUIET.union(effects.get(machine.resource, ())) != QUIET.union(machine.effects)
    )


def _differing_alone(impact: Impact, old: NamedState, new: NamedState) -> int:
    """To how many VMs something else would happen if what says nothing of how it is synced were as by itself."""
    effects = {machine.resource: machine.effects for machine in impact.machines}
    own = [
        state.settings._replace(emit=state.adopted.get("emit", state.settings.emit))
        for state in (old, new)
    ]
    machines = compare(old.objects, new.objects, *own).machines
    return sum(
        QUIET.union(effects.get(machine.resource, ())) != QUIET.union(machine.effects)
        for machine in filter(_is_emitted, machines)
    )


def _is_emitted(machine: MachineImpact) -> bool:
    """Whether *machine* is a VM or makes some, and no object that is applied as it is written in each mode."""
    return machine.resource.kind not in CLAIMS


def _without_others(state: NamedState, kept: Collection[ResourceRef]) -> NamedState:
    """*state* without the VMs, pools and replica sets that are not *kept*."""
    names = {(ref.namespace, ref.name) for ref in kept}
    positions = [
        index
        for index, body in enumerate(state.objects)
        # Most objects are VMs, and most VMs are left out: their identity is read as plainly as can be.
        if body.get("kind") not in MACHINES or from_body(body, index).ref[1:] in names
    ]
    return state.of(positions)


def _blaming(lost: Impact, changes: Sequence[FieldChange]) -> Impact:
    """The impact *lost* with the *changes* for which its VMs cannot be rendered any more."""
    if not changes:
        return lost
    return lost._replace(
        machines=tuple(each._replace(changes=tuple(changes)) for each in lost.machines)
    )


def _placing(places: Mapping[ChangeSource, Place], locate: Locate) -> Locate:
    """What says where a cause stands: as *places* do, else as *locate* does."""
    return lambda cause: places.get(cause) or locate(cause)


def _locator(old: NamedState, new: NamedState, limits: Limits) -> Locate:
    """What says where a cause stands in either state.

    Of a chart whose template is the same in both that is the value with which it was filled in, where that is known and
    differs, else the only one that does: what stands around the line may ask for it.
    """
    values = EditedValues(old, new, limits)
    removed, former = _removals(old, new), _former_values(old)

    def locate(cause: ChangeSource) -> Place:
        state = old if cause.side == "before" else new
        index = cause.index
        if index is None:
            index = state.around.get(cause.resource)
        elif state.positions is not None:
            index = state.positions[index]
        location = Location(cause.resource, cause.path, index)
        place, value = state.places.place(location), state.places.value(location)
        is_filled = bool(state.chart) and index is not None
        edit = values.at(value.file, value.line) if is_filled else None
        if edit is not None and (cause.path or not is_edited(place.file)):
            return edit
        if is_edited(place.file):
            return place
        edits = values.edits() if is_filled and "metadata" not in cause.path else ()
        if len(edits) == 1 and values.is_all():
            return edits[0]
        for where in (state, old):
            spot = value if where is state else former(cause)
            if spot.file and spot.file not in where.values and is_edited(spot.file):
                return spot
        return place

    @cache
    def is_edited(file: str) -> bool:
        texts = (files.read(each.places.path(file), file, limits.file_bytes) for each in (old, new))
        return next(texts) != next(texts)

    return cache(lambda cause: removed(cause) or locate(cause))


def _former_values(old: NamedState) -> Callable[[ChangeSource], Place]:
    """What says where the value stood in the *old* state that was filled in for what a cause names in the new one."""

    @cache
    def earlier() -> dict[ResourceRef, int]:
        return {from_body(body, 0).ref: index for index, body in enumerate(old.objects)}

    def former(cause: ChangeSource) -> Place:
        index = earlier().get(cause.resource) if cause.side == "after" else None
        position = index if old.positions is None or index is None else old.positions[index]
        return old.places.value(Location(cause.resource, cause.path, position))

    return former


def _removals(old: NamedState, new: NamedState) -> Callable[[ChangeSource], Place | None]:
    """What says where a patch of the *new* state takes away what a cause names in the *old* one; None if none does."""

    @cache
    def later() -> dict[ResourceRef, int]:
        return {from_body(body, 0).ref: index for index, body in enumerate(new.objects)}

    def removed(cause: ChangeSource) -> Place | None:
        is_gone = cause.side == "before" and cause.path and new.places.is_patched
        index = later().get(cause.resource) if is_gone else None
        if index is None or cause.index is None:
            return None
        position = index if new.positions is None else new.positions[index]
        location = Location(cause.resource, cause.path, position)
        return new.places.removal(location, old.objects[cause.index])

    return removed


def _nothing(side: Side, request: Request) -> NamedState:
    """A kustomization that one side does not have: its files are looked for where the others of the side are."""
    other = next(iter(side.values()), None)
    if other is None:
        return NamedState("nothing", [], request.settings, Sources())
    return NamedState(
        other.name,
        [],
        other.settings,
        other.places,
        working_folder=other.working_folder,
        path=other.path,
    )


def other_emit(sides: Iterable[Side]) -> Emit:
    """The other way to sync VMs: expanded, where those of an input of *sides* are synced as they are written.

    Where a side says nothing, and has what the other says: as it would be by itself.
    """
    sides = [*sides]
    alone: Emit | None = next(
        (
            state.adopted["emit"]
            for side in sides
            for state in side.values()
            if "emit" in state.adopted
        ),
        None,
    )
    if alone:
        return alone
    emits = {state.settings.emit for side in sides for state in side.values()}
    return "vm" if "source" in emits else "source"
