"""``virt-render report``: the VMs of a repository as one HTML page."""

from collections.abc import Sequence
from functools import cache

from render.diagnostics import codes
from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.diagnostics.exits import Exit
from render.diff.sizes import size_of
from render.frontends.commands.snapshots import SnapshotError
from render.frontends.progress import Work, in_words
from render.frontends.reporting import findings_of, hand_over, print_findings, refuse
from render.frontends.request.request import Request
from render.frontends.session import (
    load_each,
    render_loaded,
    rendering,
    resources_of,
    with_neighbours,
)
from render.machine import Machine
from render.manifests.discover import tidy
from render.manifests.neighbours import Neighbours
from render.manifests.sources import Documents
from render.model.release import minor
from render.model.resource import Resource, ResourceRef
from render.model.tree import Tree
from render.pipeline import deciders
from render.pipeline.input import definitions
from render.pipeline.stages import emit, stamping
from render.report import extras
from render.report.deciders import Input, input_of
from render.report.extras import MissingExtraError
from render.report.findings import Finding, merge
from render.report.fleet.machines import Fleet, FleetMachine, Wording
from render.report.places import Place
from render.system.streams import standard_input


def report(asked: Request, work: Work) -> Exit:
    """Write the page; what is wrong with a VM stands in it."""
    try:
        page = extras.load("render.report.fleet.html", "the page")
    except MissingExtraError as missing:
        return refuse([missing.diagnostic], asked)
    try:
        with work.shown():
            fleet = _fleet(asked, work)
    except SnapshotError as refused:
        print_findings(refused.findings, asked)
        return refused.exit
    work.begin("write", f"writing about {len(fleet.machines):,} VMs")
    return hand_over(page.report(fleet), asked)


def _fleet(asked: Request, work: Work) -> Fleet:
    """Everything below the paths, each kustomization by itself. Raises SnapshotError for a path that is unreadable."""
    paths = asked.paths or (".",)
    work.begin("read", f"reading {in_words(paths)}")
    inputs = load_each(paths, asked, work, standard_input())
    named = {tidy(path) for path in paths}
    for loaded in inputs:
        faults = [
            one
            for one in loaded.diagnostics
            if one.code == codes.UNREADABLE.number and tidy(one.location.file) in named
        ]
        if faults:
            raise SnapshotError(merge(findings_of(loaded, faults, asked)), status(faults))
    neighbours = Neighbours(inputs, asked.layout.shared)
    wording = Wording()
    machines: list[FleetMachine] = []
    findings: list[Finding] = []
    for loaded in inputs:
        there = with_neighbours(asked, loaded, neighbours)
        work.begin("render", rendering(loaded))
        kustomization = loaded.folder if loaded.is_built else ""
        of_input, others = _part(loaded, there, kustomization, wording)
        machines += of_input
        findings += others
    return Fleet(machines, wording, merge(findings))


def _part(
    loaded: Documents, asked: Request, kustomization: str, wording: Wording
) -> tuple[list[FleetMachine], list[Finding]]:
    """The VMs of *loaded*, and what is found about anything else there."""
    asked = asked._replace(settings=deciders.explaining(asked.settings))
    machines: list[FleetMachine] = []

    @cache  # only the rendering says which documents count: it chooses the lock
    def given() -> Input:
        return input_of(loaded, asked.around, asked.limits)

    def observe(machine: Machine, _: Tree) -> None:
        machines.append(_machine(machine, kustomization, wording, given()))

    _, diagnostics = render_loaded(loaded, asked, _forget, observe)
    machines += _refused(loaded, machines, kustomization, given())
    findings = findings_of(loaded, filter(_counts, diagnostics), asked)
    by_machine: dict[ResourceRef, list[Finding]] = {one.resource: [] for one in machines}
    others: list[Finding] = []
    for finding in findings:
        resource = finding.diagnostic.resource
        its = by_machine.get(resource) if resource else None
        (others if its is None else its).append(finding)
    return [
        one._replace(findings=tuple(merge(by_machine[one.resource]))) for one in machines
    ], others


def _refused(
    loaded: Documents, known: Sequence[FleetMachine], kustomization: str, given: Input
) -> list[FleetMachine]:
    """The VMs of *loaded* whose manifests are refused, so that they are none of the *known* ones."""
    resources = filter(definitions.is_machine, resources_of(loaded))
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
