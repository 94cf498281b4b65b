"""``virt-render diff``: what a change of the repository does to each VM."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from render.diagnostics import codes
from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Location
from render.diagnostics.exits import Exit
from render.frontends.answer import Answer, RefusedError, refused
from render.frontends.commands.compare.inputs import compared, other_emit
from render.frontends.commands.compare.moved.actions import new_actions
from render.frontends.commands.compare.moved.appliers import changed_appliers, left_out, unseen
from render.frontends.commands.compare.moved.dependencies import changed_dependencies
from render.frontends.commands.compare.moved.gitops import changed_gitops
from render.frontends.commands.compare.moved.ignores import changed_ignores
from render.frontends.commands.compare.moved.orders import changed_orders
from render.frontends.commands.compare.moved.texts import changed_texts
from render.frontends.commands.compare.moved.uninstalls import uninstalled
from render.frontends.commands.compare.states import (
    Clusters,
    NamedState,
    Side,
    clusters_of,
    sides_of,
)
from render.frontends.inputs.copies import COPY
from render.frontends.origin import origin_of
from render.frontends.progress import Work
from render.frontends.reporting import in_repository
from render.frontends.request.request import Request
from render.model.release import minor
from render.model.resource import ResourceRef, from_body
from render.model.tree import Tree
from render.pipeline.input import releases
from render.report import terminal
from render.report.findings import Finding
from render.report.impact import formats
from render.report.impact.formats import ImpactStyle
from render.report.impact.review import (
    HOLDER_OUTCOMES,
    RANKED,
    Locked,
    OtherEmit,
    Review,
    ReviewedState,
    ReviewPart,
    SettingChange,
    errors,
    holders,
    unknown,
    worst,
)
from render.report.page_origin import PageOrigin
from render.report.waivers import Waiver
from render.system.streams import STDOUT

_BOTH = ("before", "after")


def diff(request: Request, work: Work) -> Answer:
    """Print what becomes of each VM."""
    with contextlib.ExitStack() as trees:  # where places are looked up until the answer is written
        return _diff(request, work, trees)


def _diff(request: Request, work: Work, trees: contextlib.ExitStack) -> Answer:
    review, faults, waivers = _reviewed(request, work, trees)
    style = _style(request)
    work.begin("write", "writing the answer")
    written = formats.report(request.own["format"], review, style)
    worst_fault = status(finding.diagnostic for finding in faults)
    return Answer([written], faults, worst_fault or _status(review, request), waivers=waivers)


def reviewed(request: Request, work: Work, trees: contextlib.ExitStack) -> Review:
    """What becomes of each VM, and where that was written: as long as *trees* are there.

    Raises RefusedError, also where no input can be read in either state.
    """
    review, faults, _ = _reviewed(request, work, trees)
    if faults:
        raise RefusedError(faults)
    return review


def _reviewed(
    request: Request, work: Work, trees: contextlib.ExitStack
) -> tuple[Review, Sequence[Finding], list[Waiver]]:
    """What becomes of each VM; why nobody knows, where no input can be read in either state; and what was waived."""
    _demand_machines(request)
    work.begin("read", "reading both states")
    clusters = clusters_of(request)
    before, after = sides_of(request, clusters, trees)
    work.begin("render", "rendering both states")
    other = None if "--emit" in request.called.call.flags else other_emit((before, after))
    sides = compared(before, after, request, other)
    emitted = _emit_of(after) or _emit_of(before)
    old_state, new_state = _states(clusters, (before, after))
    limits = request.reading.limits
    texts = changed_texts(before, after, limits)
    removed = uninstalled(before, after, texts, limits)
    told = _told(sides.parts).union(removed)
    unlooked = _passed_over(before, after) + changed_dependencies(after, texts, told, limits)
    otherwise = OtherEmit(other, sides.other_way, _alone(before, after)) if other else None
    review = Review(
        old_state, new_state, emitted, tuple(sides.parts), otherwise, tuple(sides.uncompared),
        _settings_changed(before, after), _locked(before, after), unlooked,
        unseen(before) - unseen(after),
        (*dict.fromkeys((*_releases(before), *_releases(after), *_taken_along(after))),),
        sides.mentioned,
        _releases_told(before, after), _by_plugin(before, after, emitted),
        changed_gitops(after, texts, limits), removed,
    )  # fmt: skip
    return review, sides.faults, _waivers(after)


def _told(parts: Iterable[ReviewPart]) -> frozenset[ResourceRef]:
    """What is told in *parts* that it leaves while VMs name it."""
    return frozenset(
        departure.source.resource
        for part in parts
        for machine in part.impact.machines
        for departure in machine.departed
    )


def _demand_machines(request: Request) -> None:
    """Raise RefusedError where *request* wants to know what becomes of pods."""
    if request.called.call.flags.get("--emit") == "pod":
        message = "--emit pod: no pod is synced: what becomes of VMs can be told of VMs alone"
        cure = "leave it out, or say how they are synced: --emit source, --emit vm"
        raise refused(codes.USAGE.at(Location(), message, help=cure))


def _passed_over(before: Side, after: Side) -> Counter[str]:
    """What was not looked at *after*, with those rendered VMs apart that are not what their files said *before*.

    And with the inputs of which objects apply what was built.
    """
    former: dict[tuple[str, ResourceRef], list[Tree]] = {}
    for state in before.values():
        for file, body in (*zip(state.files, state.objects, strict=False), *state.copies):
            former.setdefault((file, from_body(body, 0).ref), []).append(body)
    passed = unseen(after)
    for file, body in (copy for state in after.values() for copy in state.copies):
        known = former.get((file, from_body(body, 0).ref), [body])
        if body not in known:
            passed[COPY] -= 1
            passed[f"changed {COPY}"] += 1
    passed.update(left_out(before, after))
    told = (changed_appliers, changed_ignores, changed_orders, new_actions)
    return sum((tell(before, after) for tell in told), +passed)


def _alone(before: Side, after: Side) -> str | None:
    """The state that says nothing of how it is synced where the other does; None without one."""
    states = (state for side in (before, after) for state in side.values())
    return next((state.name for state in states if "emit" in state.adopted), None)


def _waivers(after: Side) -> list[Waiver]:
    """What the settings of the second state waive, by which the change is judged."""
    state = next(iter(after.values()), None)
    return [waiver for waiver in state.waivers if waiver.setting not in state.kept] if state else []


def _states(clusters: Clusters, sides: tuple[Side, Side]) -> tuple[ReviewedState, ReviewedState]:
    """Both states for people, with their releases and how they are synced where those differ, whoever chose them."""
    states = [_first(side) for side in sides]
    reviewed = [
        cluster.state(state.name if state else "nothing")
        for cluster, state in zip(clusters, states, strict=True)
    ]
    named = [
        state.settings.kubevirt if state and not state.release_told else "" for state in states
    ]
    if all(named) and named[0] != named[1]:
        reviewed = [
            state._replace(release=release) for state, release in zip(reviewed, named, strict=True)
        ]
    emits = [*map(_emit_of, sides)]
    if all(emits) and emits[0] != emits[1]:
        reviewed = [state._replace(emit=emit) for state, emit in zip(reviewed, emits, strict=True)]
    return reviewed[0], reviewed[1]


def _releases_told(before: Side, after: Side) -> tuple[str, ...]:
    """The releases that resources of one state alone tell, in words."""
    told = (state.release_told for side in (before, after) for state in side.values())
    return tuple(dict.fromkeys(filter(None, told)))


def _by_plugin(before: Side, after: Side, emitted: str) -> tuple[str, ...]:
    """How our plugin of Argo CD emits what it renders, where that is not as all else is *emitted*."""
    states = (state for side in (before, after) for state in side.values() if state.is_by_plugin)
    return tuple(sorted({state.settings.emit for state in states} - {emitted}))


def _emit_of(side: Side) -> str:
    """How *side* is synced, but for what our plugin of Argo CD renders otherwise; nothing without any input."""
    state = _first(side)
    return state.settings.emit if state else ""


def _first(side: Side) -> NamedState | None:
    """A state of *side*, one that our plugin does not render if there is any."""
    return min(side.values(), key=lambda state: state.is_by_plugin, default=None)


def _settings_changed(before: Side, after: Side) -> tuple[SettingChange, ...]:
    """What the settings of the repository itself say otherwise in the second state."""
    old, new = (next((state.configured for state in side.values()), {}) for side in (before, after))
    keys = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    kept = next((state.kept for state in after.values()), frozenset[str]())
    states = [next(iter(side.values()), None) for side in (before, after)]
    adopted = {key for state in states if state for key in state.adopted}
    return tuple(
        SettingChange(key, old.get(key), new.get(key), key not in kept, key in adopted)
        for key in keys
    )


def _locked(before: Side, after: Side) -> Locked:
    """Which inputs are synced rendered since they have a lock."""
    states = {**before, **after}
    locked = sum(state.has_lock for state in states.values())
    return "none" if not locked else "all" if locked == len(states) else "some"


def _releases(side: Side) -> Iterator[str]:
    """For which KubeVirt release the inputs of *side* are rendered, and why, where nobody asked for it."""
    for state in side.values():
        target = releases.target_of(state.objects, state.settings)
        if state.objects and target.reason:
            yield f"KubeVirt {minor(target.release)}, since {target.reason}"


def _taken_along(after: Side) -> Iterator[str]:
    """That a part of other kustomizations is compared as if it was applied by itself."""
    for state in after.values():
        if state.taken:
            what, *takers = state.taken
            yield f"{what} is applied by itself, as well as with {', '.join(takers)}"


def _style(request: Request) -> ImpactStyle:
    most = request.own["max_bytes"]
    origin = origin_of(request) if request.own["format"] == "html" else PageOrigin()
    if request.reporting.output:
        return ImpactStyle(most=most, origin=origin, seen_from=in_repository())
    return ImpactStyle(
        terminal.is_coloured(STDOUT), most, terminal.width(STDOUT), origin, in_repository()
    )


def _status(review: Review, request: Request) -> Exit:
    """The status that new errors ask for, what KubeVirt refuses, and the other effects, as the flags say."""
    machines = review.machines
    listed = [entry.holder for entry in holders(review.parts)]
    outcomes = [HOLDER_OUTCOMES[holder.outcome][1] for holder in listed]
    outcomes += ("gone" for holder in listed if holder.deleted)
    effects = {*map(worst, machines), *outcomes}
    changed = {*(worst(each) for each in machines if len(each.unrendered) < len(_BOTH)), *outcomes}
    refused = "refused" in outcomes or any("refused" in machine.effects for machine in machines)
    fails = refused or bool(errors(review.parts).new)
    differs = request.own["exit_code"] and (outcomes or effects - {"same", "none"})
    limit = request.own["fail_on"]
    worse = limit and changed & set(RANKED[: RANKED.index(limit) + 1])
    # Who asks whether something happens is not told that nothing does where that is not known.
    unclear = (request.own["exit_code"] or limit) and unknown(review.uncompared)
    return Exit.FINDINGS if fails or differs or worse or unclear else Exit.OK
