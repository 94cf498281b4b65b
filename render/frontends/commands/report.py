"""``virt-render report``: the VMs of a repository as one HTML page."""

from collections.abc import Collection, Sequence
from functools import cache

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.diagnostics.exits import Exit
from render.diff.sizes import size_of
from render.frontends.answer import Answer, RefusedError
from render.frontends.figures import tally_of
from render.frontends.origin import origin_of
from render.frontends.parts import FleetPart
from render.frontends.progress import Work
from render.frontends.reporting import findings_of
from render.frontends.request.request import Request
from render.frontends.session import fleet, render_part
from render.machine import Machine
from render.manifests.discover import tidy
from render.model.release import minor
from render.model.resource import Resource, ResourceRef
from render.model.tree import Tree
from render.pipeline import deciders
from render.pipeline.input import definitions
from render.pipeline.stages import emit, stamping
from render.report.deciders import Input, input_of
from render.report.findings import Finding, merge
from render.report.fleet.machines import Fleet, FleetMachine, Wording
from render.report.page_origin import PageOrigin
from render.report.places import Place
from render.report.text import table
from render.revisions import hashes
from render.revisions.hashes import Ref
from render.room.figures import ClusterCapacity


def report(asked: Request, work: Work) -> Answer:
    """Write the page; what is wrong with a VM stands in it."""
    from render.report.fleet import data

    of_table = asked.own["format"] == "csv"
    origin = PageOrigin() if of_table else origin_of(asked)  # a table does not say whence it comes
    fleet_ = _fleet(asked, work)
    work.begin("write", f"writing about {len(fleet_.machines):,} VMs")
    every = [*fleet_.findings, *(found for one in fleet_.machines for found in one.findings)]
    ours = [found for found in every if found.diagnostic.code == codes.INTERNAL.number]
    match asked.own["format"]:
        case "json":
            written = data.as_json(fleet_, origin)
        case "csv":
            written = data.as_csv(fleet_)
        case _:
            from render.report.fleet import html

            written = html.report(fleet_, origin)
    return Answer([written], ours, Exit.OK, tally=tally_of(work.parts).counting(every))


def used_by(asked: Request, work: Work) -> Answer:
    """List the VMs that use a definition; none is an answer too, where the definition is there."""
    name = asked.own["name"]
    machines = _fleet(asked, work).machines
    names = {ref.name for one in machines for ref in one.definitions.values()}
    users = [(one, ref) for one in machines for ref in one.definitions.values() if ref.name == name]
    defined = {
        one.name for part in work.parts for one in part.resources if definitions.is_definition(one)
    }
    if not users and name not in defined:
        from render.model.nearest import nearest

        near = nearest(name, sorted(names | defined))
        message = f"no instancetype or preference {name} is here, and no VM uses one"
        cure = f"did you mean {near}?" if near else ""
        return Answer(findings=(), faults=[codes.USAGE.at(Location(), message, help=cure)])
    if asked.own["format"] == "json":
        from render.report.fleet import data

        return Answer([data.users_as_json(name, users)], (), Exit.OK)
    return Answer(_users(users) if users else [f"no VM uses {name}\n"], (), Exit.OK)


def _users(users: Sequence[tuple[FleetMachine, Ref]]) -> list[str]:
    """A line a VM, in columns."""
    rows = [
        (
            "/".join(filter(None, (one.resource.namespace, one.resource.name))),
            f"{ref.kind} {ref.name}",
            hashes.suffix(ref.hash),
            f"pinned ({', '.join(one.pins)})" if one.pins else "",
            str(one.place) if one.place.file else one.kustomization,
        )
        for one, ref in users
    ]
    return [*table(sorted(rows))]


def _fleet(asked: Request, work: Work) -> Fleet:
    """Everything below the paths, each kustomization by itself. Raises RefusedError for a path that is unreadable."""
    named = {tidy(path) for path in asked.paths or (".",)}
    wording = Wording()
    machines: list[FleetMachine] = []
    findings: list[Finding] = []
    capacity: list[tuple[str, ClusterCapacity]] = []
    for part in fleet(asked._replace(settings=deciders.explaining(asked.settings)), work):
        _demand(part, named)
        of_input, others, figures = _part(part, work, wording)
        machines += of_input
        findings += others
        if figures is not None and any(figures):
            capacity.append((part.loaded.folder, figures))
    if any(part.loaded.documents for part in work.parts):  # a part of its own may well hold nothing
        findings = [one for one in findings if one.diagnostic.code != codes.NO_OBJECTS.number]
    if len(capacity) == 1:
        capacity = [("", figures) for _, figures in capacity]
    return Fleet(machines, wording, merge(findings), capacity)


def _demand(part: FleetPart, named: Collection[str]) -> None:
    """Raise RefusedError where one of the paths *named* cannot be read."""
    faults = [
        one
        for one in part.diagnostics
        if one.code == codes.UNREADABLE.number and tidy(one.location.file) in named
    ]
    if faults:
        raise RefusedError(merge(findings_of(part.loaded, faults, part.request)))


def _part(
    part: FleetPart, work: Work, wording: Wording
) -> tuple[list[FleetMachine], list[Finding], ClusterCapacity | None]:
    """The VMs of *part*, what is found about anything else there, and what pods ask for, if anything limits that."""
    loaded, asked = part.loaded, part.request
    kustomization = loaded.folder if loaded.is_built else ""
    machines: list[FleetMachine] = []

    @cache  # only the rendering says which documents count: it chooses the lock
    def given() -> Input:
        return input_of(loaded, asked.around, asked.reading.limits)

    def observe(machine: Machine, _: Tree) -> None:
        machines.append(_machine(machine, kustomization, wording, given()))

    rendered = render_part(part, work, _forget, observe)
    machines += _refused(part, machines, kustomization, given())
    findings = findings_of(loaded, filter(_counts, part.diagnostics), asked)
    by_machine: dict[ResourceRef, list[Finding]] = {one.resource: [] for one in machines}
    others: list[Finding] = []
    for finding in findings:
        resource = finding.diagnostic.resource
        its = by_machine.get(resource) if resource else None
        (others if its is None else its).append(finding)
    blamed = [one._replace(findings=tuple(merge(by_machine[one.resource]))) for one in machines]
    return blamed, others, rendered.capacity


def _refused(
    part: FleetPart, known: Sequence[FleetMachine], kustomization: str, given: Input
) -> list[FleetMachine]:
    """The VMs of *part* whose manifests are refused, so that they are none of the *known* ones."""
    resources = filter(definitions.is_machine, part.resources)
    seen = {one.resource for one in known}
    release = next((one.release for one in known), "")
    return [
        FleetMachine(kustomization, one.ref, _beginning(one, given), None, release)
        for one in resources
        if one.ref not in seen
    ]


def _beginning(resource: Resource, given: Input) -> Place:
    return given.places.unpatched(Location(resource.ref, ("metadata",), resource.index))


def _forget(_body: Tree, _source: int | None) -> None:
    """Nobody wants the objects."""


def _counts(one: Diagnostic) -> bool:
    return one.severity is not Severity.INFO


def _machine(machine: Machine, kustomization: str, wording: Wording, given: Input) -> FleetMachine:
    resource = machine.resource
    place = _beginning(resource, given)
    release = minor(machine.context.release)
    if machine.failed:
        return FleetMachine(kustomization, resource.ref, place, None, release)
    body = emit.vmi(machine)
    decisions = deciders.decisions(machine, body)
    name = machine.instancetype.name if machine.instancetype else ""
    return FleetMachine(
        kustomization,
        resource.ref,
        place,
        size_of(body, name),
        release,
        stamping.refs(machine),
        tuple(sorted(machine.pinned)),
        wording.add(decisions, given, resource.ref, place),
    )
