"""``virt-render report``: the VMs of a repository as one HTML page."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from render.diagnostics import codes
from render.diagnostics.codes import is_missed
from render.diagnostics.diagnostic import Location, Severity
from render.diff.sizes import size_of
from render.frontends import incomplete
from render.frontends.answer import Answer, RefusedError, refused
from render.frontends.figures import tally_of
from render.frontends.inputs.elsewhere import DefinitionPlaces
from render.frontends.origin import origin_of
from render.frontends.parts import FleetPart
from render.frontends.progress import Work
from render.frontends.reporting import as_note, findings_of, in_repository, infos_shown
from render.frontends.request.request import Request
from render.frontends.session import (
    beside_the_rest,
    demand,
    fleet,
    render_part,
    unread_status,
)
from render.machine import Machine
from render.manifests.uses.destinations import applied_as
from render.model import packaged, tree
from render.model.counting import counted
from render.model.kinds import INSTANCETYPES, KIND_CLASSES, PREFERENCES
from render.model.named_tuple import NamedTuple
from render.model.nearest import nearest
from render.model.release import minor
from render.model.resource import VM, Resource, ResourceRef, from_body, text_at
from render.model.tree import Tree
from render.pipeline.input import definitions
from render.pipeline.input.context import bundled_names
from render.pipeline.provenance import deciders
from render.pipeline.stages import emit, stamping
from render.report.deciders import Input, input_of
from render.report.findings import Finding, fingerprints, merge
from render.report.fleet.machines import Fleet, FleetMachine, Wording
from render.report.formats import FLEET_FORMATS
from render.report.page_origin import PageOrigin
from render.report.places import Place
from render.report.text import printable, table
from render.resolve import find
from render.revisions import hashes
from render.revisions.hashes import Ref
from render.room.figures import ClusterCapacity
from render.system.streams import STDOUT

_NOT_FOUND = frozenset(
    code.number
    for code in (codes.INSTANCETYPE_NOT_FOUND, codes.PREFERENCE_NOT_FOUND, codes.REVISION_NOT_FOUND)
)


def report(request: Request, work: Work) -> Answer:
    """Write the page; what is wrong with a VM stands in it."""
    row = FLEET_FORMATS[request.own["format"]]
    if row.name == "html" and _is_for_a_terminal(request):
        message = "report writes a page, and standard output is a terminal"
        cure = "virt-render report -o fleet.html, or --format csv; virt-render check says what is wrong"
        raise refused(codes.USAGE.at(Location(), message, help=cure))
    of_table = row.name == "csv"
    # A table does not say whence it comes.
    origin = PageOrigin() if of_table else origin_of(request)
    fleet_ = _fleet(request, work)
    work.begin("write", f"writing about {counted(len(fleet_.machines), 'VM')}")
    every = _findings(fleet_)
    ours = [found for found in every if found.diagnostic.code == codes.INTERNAL.number]
    unread = incomplete.names(work.parts)
    written: str = getattr(packaged.module(row.module), row.function)(
        fleet_._replace(unread=unread), origin
    )
    found = merge(every)
    tally = tally_of(work.parts).counting(found)._replace(infos=infos_shown(found, request))
    return Answer([written], ours, unread_status(work.parts), tally=tally, unread=unread)


def _is_for_a_terminal(request: Request) -> bool:
    """Whether the output would be printed to a terminal, and nobody has said so."""
    flags = request.called.call.flags
    return os.isatty(STDOUT) and not {"--output", "--format"} & flags.keys()


def used_by(request: Request, work: Work) -> Answer:
    """List the VMs that use a definition; none is an answer too, where the definition is there."""
    name, kinds = _sought(request.own["name"])
    machines = _fleet(request, work).machines
    used = [
        (machine, ref)
        for machine in machines
        for ref in machine.definitions.values()
        if ref.kind in kinds
    ]
    users = [(machine, ref) for machine, ref in used if ref.name == name]
    defined = set() if users else {*_defined(work.parts, kinds)}
    if not users and name not in defined:
        resources = (resource for part in work.parts for resource in part.resources)
        count = sum(_names(resource, name, kinds) for resource in resources)
        who = f"and {counted(count, 'VM')} would need it" if count else "and no VM uses one"
        what = "instancetype or preference" if kinds == _KINDS else " or ".join(kinds)
        known = sorted({*defined, *(ref.name for _, ref in used)})
        is_other = name in _defined(work.parts, _KINDS)
        cure = (
            "leave the kind out: another one has the name"
            if is_other
            else _place(name, kinds, work.parts) or find.meant(name, known)
        )
        raise _unknown(f"{what} {name}", who, cure, work)
    is_json = request.own["format"] == "json"
    lines = _users_as_json(name, users) if is_json else _users(name, users, machines, work)
    return Answer(
        lines,
        (),
        unread_status(work.parts),
        unread=incomplete.names(work.parts),
        notes=incomplete.unopened(work.parts),
        for_people=not is_json,
    )


_KINDS = INSTANCETYPES | PREFERENCES


def _sought(text: str) -> tuple[str, Collection[str]]:
    """The name in *text* and the kinds that it means, which ``KIND/NAME`` says as kubectl takes it."""
    written, _, name = text.rpartition("/")
    kind = written.partition(".")[0]
    for kind_class in KIND_CLASSES:
        if kind.lower() == kind_class.word:
            return name, (kind_class.namespaced, kind_class.cluster)
        if kind and (meant := kind_class.kind_of(kind)):
            return name, (meant,)
    return text, _KINDS


def _defined(parts: Iterable[FleetPart], kinds: Collection[str]) -> Iterator[str]:
    """The names of all definitions of *kinds* that VMs in *parts* can use: of input, catalogue, and KubeVirt's own."""
    for part in parts:
        settings = part.request.settings
        around = settings.catalog if isinstance(settings.catalog, list | tuple) else ()
        bodies = (from_body(body, 0) for body in around if isinstance(body, dict))
        for resource in (*part.resources, *bodies):
            if definitions.is_definition(resource) and resource.kind in kinds:
                yield resource.name
        bundled = bundled_names(part.resources, settings)
        yield from (name for kind, name in bundled if kind in kinds)


def _place(name: str, kinds: Collection[str], parts: Sequence[FleetPart]) -> str:
    """Where in the repository around *parts* the definition *name* stands that none of them has, and what to do."""
    places = DefinitionPlaces()
    file = next(filter(None, (places.file_of(name, kinds, part) for part in parts)), "")
    return f"it stands in {file}: name that path too, or the repository's top" if file else ""


def _unknown(what: str, who: str, cure: str, work: Work) -> RefusedError:
    """That no *what* is there, and *who* would need it; beside what cannot be read, it may stand there."""
    faults = incomplete.faults(work.parts)
    beside = [*incomplete.beside(work.parts)]
    where = "in what can be read" if faults or beside else "is here"
    message = f"no {what} {where}, {who}"
    severity = Severity.WARNING if faults else Severity.ERROR
    known = codes.USAGE.at(Location(), message, severity=severity, help=cure)
    return RefusedError(merge([*faults, *refused(known).findings, *([] if faults else beside)]))


def _users_as_json(name: str, users: Sequence[tuple[FleetMachine, Ref]]) -> list[str]:
    from render.report.fleet import data

    return [data.users_as_json(name, users)]


def _names(resource: Resource, name: str, kinds: Collection[str]) -> bool:
    """Whether *resource* is a VM that names a definition *name* of *kinds*."""
    matchers = ((each, tree.get(resource.spec, each.word)) for each in KIND_CLASSES)
    return resource.kind == VM and any(
        tree.get(matcher, "name") == name and kind_class.kind_of(text_at(matcher, "kind")) in kinds
        for kind_class, matcher in matchers
    )


def _users(
    name: str,
    users: Sequence[tuple[FleetMachine, Ref]],
    machines: Sequence[FleetMachine],
    work: Work,
) -> list[str]:
    """A line a VM that uses *name*, in columns; where none does, which *machines* lack what is called nearly so."""
    if not users:
        is_whole = not (incomplete.names(work.parts) or incomplete.unopened(work.parts))
        where = "" if is_whole else " in what can be read"
        lacking = Counter(
            each
            for machine in machines
            for each in machine.missing.values()
            if each in name or name in each or nearest(each, (name,))
        )
        lacks = (
            f"; {counted(count, 'VM')} {'needs' if count == 1 else 'need'} {printable(each)}, which is not here"
            for each, count in sorted(lacking.items())
        )
        return [f"no VM uses {printable(name)}{where}{''.join(lacks)}\n"]
    rows = [
        (
            "/".join(filter(None, (machine.resource.namespace, machine.resource.name))),
            f"{ref.kind} {ref.name}",
            hashes.suffix(ref.hash),
            "; ".join(_states(machine)),
            str(machine.place) if machine.place.file else machine.kustomization,
        )
        for machine, ref in users
    ]
    return [*table(sorted(rows))]


def _states(machine: FleetMachine) -> Iterator[str]:
    """What there is to say of *machine*: what the lock decides of it, and that it does not start."""
    if machine.pins:
        yield f"pinned ({', '.join(machine.pins)})"
    if machine.size is None:
        yield "does not start"


def _fleet(request: Request, work: Work) -> Fleet:
    """Everything below the paths, each kustomization by itself. Raises RefusedError for a path that is unreadable.

    What a VM misses there may stand elsewhere in the repository.
    """
    explaining = request._replace(settings=deciders.explaining(request.settings))
    read = [*fleet(explaining, work)]

    def judge() -> Fleet:
        return _fleet_of(read, request, work)

    return beside_the_rest(judge, _misses, read, explaining, work)


def _misses(found: Fleet) -> bool:
    return any(is_missed(finding.diagnostic) for finding in _findings(found))


def _fleet_of(parts: Sequence[FleetPart], request: Request, work: Work) -> Fleet:
    """What there is to say of *parts*. Raises RefusedError for a path of *request* that is unreadable."""
    is_page = request.own["format"] == "html"  # nothing else says who decided a field
    wording = Wording()
    machines: list[FleetMachine] = []
    findings: list[Finding] = []
    notes: list[Finding] = []
    capacity: list[tuple[str, ClusterCapacity]] = []
    places = DefinitionPlaces()
    places.beside = parts
    for part in parts:
        demand(part, request)
        of_part = _part(part, work, wording if is_page else None, places)
        machines += of_part.machines
        findings += filter(_is_of_page, of_part.findings)
        notes += (finding for finding in of_part.findings if not _is_of_page(finding))
        if of_part.capacity is not None and any(of_part.capacity):
            capacity.append((part.loaded.folder, of_part.capacity))
    empty = [found for found in findings if found.diagnostic.code == codes.NO_OBJECTS.number]
    if empty and request.paths == ("-",):  # its writer has failed
        raise RefusedError(empty)
    # A page applies nothing: that there is no VM is an answer.
    findings = [finding for finding in findings if finding not in empty]
    if len(capacity) == 1:
        capacity = [("", figures) for _, figures in capacity]
    found = Fleet(machines, wording, merge(findings), capacity, notes)
    return _identified(found) if request.own["format"] == "json" else found


def _identified(found: Fleet) -> Fleet:
    """*found* with the fingerprints that its findings have in the report of ``check``."""
    identified = fingerprints(_findings(found), in_repository())
    machines = [
        machine._replace(findings=tuple(map(identified, machine.findings)))
        for machine in found.machines
    ]
    return found._replace(machines=machines, findings=[*map(identified, found.findings)])


def _findings(found: Fleet) -> list[Finding]:
    """All that is found, also what no page shows."""
    of_machines = (finding for machine in found.machines for finding in machine.findings)
    return [*found.notes, *found.findings, *of_machines]


class _ReportedPart(NamedTuple):
    """The VMs of a part, what is found about anything else there, and what pods ask for, if anything limits that."""

    machines: list[FleetMachine]
    findings: list[Finding]
    capacity: ClusterCapacity | None


def _part(
    part: FleetPart, work: Work, wording: Wording | None, places: DefinitionPlaces
) -> _ReportedPart:
    """What there is to say of *part*, with who decided each field where there is a *wording* for that."""
    loaded, request = part.loaded, part.request
    kustomization = loaded.name if loaded.is_one_root else ""
    machines: list[FleetMachine] = []

    @cache  # only the rendering says which documents count: it chooses the lock
    def manifests() -> Input:
        return input_of(loaded, request.around, request.reading.limits)

    def observe(machine: Machine, vmi: Tree) -> None:
        machines.append(_machine(machine, vmi, kustomization, manifests(), wording))

    is_traced = wording is not None
    rendered = render_part(part, work, _forget, observe, traced=is_traced, emitter=emit.vmi)
    places.name_in(part)
    machines += _refused(part, machines, kustomization, manifests())
    findings = findings_of(loaded, map(as_note, part.diagnostics), request)
    by_machine: dict[ResourceRef, list[Finding]] = {machine.resource: [] for machine in machines}
    others: list[Finding] = []
    for finding in findings:
        resource = finding.diagnostic.resource
        its = by_machine.get(resource) if resource and _is_of_page(finding) else None
        (others if its is None else its).append(finding)
    concerns: dict[ResourceRef, list[Finding]] = {}
    for finding in others:
        for ref in dict.fromkeys(finding.diagnostic.concerned):
            concerns.setdefault(ref, []).append(finding)
    blamed = [
        # Of several of one name the first has what is found of all: were it at each, a page would be its square.
        machine._replace(
            resource=applied_as(machine.resource, loaded.namespace),
            findings=tuple(merge(by_machine.pop(machine.resource, []))),
            concerns=tuple(concerns.pop(machine.resource, ())),
        )
        for machine in machines
    ]
    return _ReportedPart(blamed, others, rendered.capacity)


def _refused(
    part: FleetPart, known: Sequence[FleetMachine], kustomization: str, manifests: Input
) -> list[FleetMachine]:
    """The VMs of *part* whose manifests are refused, so that they are none of the *known* ones."""
    resources = filter(definitions.is_machine, part.resources)
    seen = {machine.resource for machine in known}
    release = next((machine.release for machine in known), "")
    return [
        FleetMachine(kustomization, resource.ref, _beginning(resource, manifests), None, release)
        for resource in resources
        if resource.ref not in seen
    ]


def _beginning(resource: Resource, manifests: Input) -> Place:
    """Where *resource* begins, in the template of a chart that makes it."""
    location = Location(resource.ref, ("metadata",), resource.index)
    place = manifests.places.unpatched(location)
    return place if place.line else manifests.places.place(location)


def _forget(_body: Tree, _source: int | None) -> None:
    """Leave the objects out: the findings alone count."""


def _is_of_page(finding: Finding) -> bool:
    """Whether *finding* is no mere note: it is wrong, or it says why a VM cannot be rendered."""
    diagnostic = finding.diagnostic
    return diagnostic.severity is not Severity.INFO or diagnostic.code == codes.PLACEHOLDER.number


def _missing(machine: Machine) -> dict[str, str]:
    """The names of the definitions that *machine* wants and that are not there, by its word for them."""
    steps = {
        step
        for diagnostic in machine.diagnostics
        if diagnostic.code in _NOT_FOUND
        for step in diagnostic.location.path
    }
    matchers = {
        kind_class.word: machine.spec.get(kind_class.word) or {}
        for kind_class in KIND_CLASSES
        if kind_class.word in steps
    }
    return {
        word: matcher.get("revisionName") or matcher.get("name") or ""
        for word, matcher in matchers.items()
    }


def _machine(
    machine: Machine, vmi: Tree, kustomization: str, manifests: Input, wording: Wording | None
) -> FleetMachine:
    resource = machine.resource
    place = _beginning(resource, manifests)
    release = minor(machine.context.release)
    definitions_, pins = stamping.refs(machine), tuple(sorted(machine.pinned))
    if machine.failed:
        return FleetMachine(
            kustomization, resource.ref, place, None, release, definitions_, pins, missing=_missing(machine)
        )  # fmt: skip
    name = machine.instancetype.name if machine.instancetype else ""
    fields: tuple[int, ...] = ()
    if wording is not None:
        fields = wording.add(deciders.Judge(machine, vmi), manifests, resource, place)
    size = size_of(vmi, name)
    return FleetMachine(
        kustomization, resource.ref, place, size, release, definitions_, pins, fields
    )
