"""What is given: the VMs that expectations are about, what they are in each form, and what a change does to them."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic
from render.frontends.answer import RefusedError
from render.frontends.commands.committed.snapshots import request_at
from render.frontends.commands.diff import reviewed
from render.frontends.commands.expectations.document import ExpectationsFile
from render.frontends.inputs.neighbours import with_neighbours
from render.frontends.parts import FleetPart
from render.frontends.progress import Work
from render.frontends.reporting import findings_of
from render.frontends.request.commands import COMMANDS
from render.frontends.request.request import Call, Request, request
from render.frontends.session import parts, read_roots, render_part
from render.machine import Machine
from render.manifests.documents import Documents
from render.manifests.repository.neighbours import Neighbours
from render.model import naming
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.resource import ResourceRef
from render.model.tree import Tree
from render.pipeline.input import definitions
from render.report.findings import Finding, find, merge
from render.report.impact.review import worst
from render.report.places import Sources
from render.settings import Source
from render.system import git
from render.system.files import real_path, repository
from render.system.git import GitError


class GivenMachine(NamedTuple):
    """A VM of an input: what it is in each of the *forms* that somebody asks for, and what was found about it.

    *is_rendered*: something comes of it at all. *definitions*: the files of what it names and that is in force, ``""``
    for what was found around the input.
    *effect*: the worst that becomes of it by the change, ``""`` where nobody asks or knows.
    """

    resource: ResourceRef
    forms: dict[str, Tree]
    diagnostics: tuple[Diagnostic, ...] = ()
    is_rendered: bool = True
    definitions: frozenset[str] = frozenset()
    effect: str = ""

    @property
    def name(self) -> str:
        """How people name it."""
        return naming.name_of(self.resource)


class GivenFleet:
    """The VMs of what is given, and the *findings* that keep some of it from being known."""

    def __init__(self, machines: Sequence[GivenMachine], findings: Sequence[Finding] = ()) -> None:
        self.machines = machines
        self.findings = findings
        self._places: dict[str, list[int]] = {}
        for place, machine in enumerate(machines):
            self._places.setdefault(machine.name, []).append(place)
        self.names = naming.KnownNames(self._places)

    def called(self, names: Iterable[str]) -> list[GivenMachine]:
        """The VMs with one of *names*, in their order."""
        places = sorted(place for name in names for place in self._places[name])
        return [self.machines[place] for place in places]


def _request(base: Request, call: Call) -> Request:
    """What *call* asks for, where *base* was. Raises RefusedError where what that says is wrong."""
    parsed = request(call, base.called.environ).in_run_of(base)
    faults = parsed.faults
    if faults.diagnostics:
        raise RefusedError(merge(find(faults.diagnostics, faults.sources)))
    return parsed


Surroundings = dict[tuple[str, str], list[Documents]]
"""The inputs of repositories, by their top and by how they were read."""


def fleet(  # noqa: PLR0913, PLR0917 - what is read, and what was read before
    request: Request,
    work: Work,
    paths: tuple[str, ...],
    flags: Mapping[str, Any],
    forms: Sequence[str],
    surroundings: Surroundings,
) -> GivenFleet:
    """The VMs below *paths*, in *forms*, with *flags* as a command line has them. Raises RefusedError.

    *surroundings*: the repositories that have been read.
    """
    fleet_request = _request(request, request.called.call._replace(paths=paths, flags=flags))
    machines: list[GivenMachine] = []
    findings: list[Finding] = []
    read = parts(fleet_request, work)
    _look_around(read, fleet_request, surroundings, work)
    is_somewhere = any(part.loaded.documents for part in read)
    for part in read:
        ours = _machines(part, work, forms)
        machines += ours
        known = {machine.resource for machine in ours}
        others = (
            diagnostic
            for diagnostic in part.diagnostics
            if diagnostic.is_error
            and diagnostic.resource not in known
            # A part of its own may well hold nothing.
            and not (is_somewhere and diagnostic.code == codes.NO_OBJECTS.number)
        )
        findings += findings_of(part.loaded, others, part.request)
    return GivenFleet(machines, merge(findings))


def _look_around(
    read: Sequence[FleetPart], request: Request, surroundings: Surroundings, work: Work
) -> None:
    """Let the VMs of *read* find what stands elsewhere in their repository, as those of a file that is checked do."""
    tops = {repository(real_path(path)) for path in request.paths}
    if len(tops) != 1 or "" in tops or tops & set(map(real_path, request.paths)):
        return
    (top,) = tops
    whole = request_at(request, os.path.relpath(top))
    key = top, repr(request.called.call.flags)
    if key not in surroundings:
        surroundings[key] = read_roots(whole.paths, whole, work)
    own = [part.loaded for part in read]
    neighbours = Neighbours([*own, *surroundings[key]], whole.reading.layout.shared)
    for part in read:
        part.request = with_neighbours(request, part.loaded, neighbours)


def _machines(part: FleetPart, work: Work, forms: Iterable[str]) -> list[GivenMachine]:
    """The VMs of *part*: what is found about them is what ``check`` says, and what keeps a form from being made."""
    made: dict[ResourceRef, dict[str, Tree]] = {
        resource.ref: {} for resource in part.resources if definitions.is_machine(resource)
    }
    diagnostics: dict[ResourceRef, dict[object, Diagnostic]] = {}
    definers: dict[ResourceRef, frozenset[str]] = {}
    for form in dict.fromkeys(("vm", *forms)):

        def observe(machine: Machine, body: Tree, form: str = form) -> None:
            bodies = made.setdefault(machine.resource.ref, {})
            if not machine.failed:
                bodies[form] = body
                definers[machine.resource.ref] = frozenset(_definers(machine))

        settings = part.request.settings._replace(emit=form)  # type: ignore[arg-type] # one of the words
        render_part(part, work, _forget, observe, settings)
        for diagnostic in part.diagnostics:
            if diagnostic.resource:
                identity = (diagnostic.code, diagnostic.message, diagnostic.location)
                diagnostics.setdefault(diagnostic.resource, {}).setdefault(identity, diagnostic)
    return [
        GivenMachine(
            ref,
            bodies,
            tuple(diagnostics.get(ref, {}).values()),
            "vm" in bodies,
            definers.get(ref, frozenset()),
        )
        for ref, bodies in made.items()
    ]


def _definers(machine: Machine) -> Iterator[str]:
    """The files of the definitions that are in force for *machine*; ``""`` for one that was found around the input."""
    for definition in (machine.instancetype, machine.preference):
        resource = definition and (definition.resource or definition.elsewhere)
        if resource:
            yield real_path(resource.origin.file) if resource.origin else ""


def _forget(_body: Tree, _source: int | None) -> None:
    """Leave the objects out: the findings alone count."""


def with_effects(
    now: GivenFleet, file: ExpectationsFile, request: Request, work: Work, flags: Mapping[str, Any]
) -> GivenFleet:
    """*now* with what becomes of each VM by the change since *file* says, and with those that are gone.

    Of what could not be read before that is not known, nor of what is defined there. Raises RefusedError where it is of
    nothing.
    """
    words = _words(file)
    effects, unread = _effects(words, request, work, flags)
    # Of these the definitions stand elsewhere in the repository.
    open_ = {
        machine.resource
        for machine in now.machines
        if machine.forms and effects.get(machine.resource) == "unrenderable"
    }
    if open_ and not os.path.isdir(file.before):
        top = os.path.relpath(git.root(_folder(file)))
        whole, unread = _effects((*words[:-1], top), request, work, flags)
        effects |= {resource: effect for resource, effect in whole.items() if resource in open_}
    machines = []
    for machine in now.machines:
        effect = effects.pop(machine.resource, "")
        is_known = unread.isdisjoint(machine.definitions)
        machines.append(machine._replace(effect=effect if is_known else ""))
    machines += (GivenMachine(ref, {}, effect=effect) for ref, effect in effects.items())
    return GivenFleet(machines, now.findings)


def _effects(
    words: tuple[str, ...], request: Request, work: Work, flags: Mapping[str, Any]
) -> tuple[dict[ResourceRef, str], set[str]]:
    """The worst that becomes of each VM of what ``diff`` compares with *words*, and what it cannot compare.

    Raises RefusedError.
    """
    diff_request = _request(request, Call("diff", words, _of_diff(flags)))
    *_, path = words
    folder = path if os.path.isdir(words[-2]) else git.root(os.path.dirname(path) or path)
    with contextlib.ExitStack() as trees:
        review = reviewed(diff_request, work, trees)
        effects = {machine.resource: worst(machine) for machine in review.machines}
    return effects, {real_path(os.path.join(folder, each.name)) for each in review.uncompared}


def _folder(file: ExpectationsFile) -> str:
    """Where the one path stands that *file* gives."""
    (path,) = file.paths
    return path if os.path.isdir(path) else os.path.dirname(path) or "."


def _words(file: ExpectationsFile) -> tuple[str, ...]:
    """The words by which ``diff`` compares what *file* gives with what was before. Raises RefusedError."""
    (path,) = file.paths
    if os.path.isdir(file.before):
        return ("--", file.before, path)
    try:
        top = git.root(_folder(file))
        return (git.merge_base(top, file.before), "--", path)
    except GitError as error:
        place = file.at("spec", "given", "before")
        fault = codes.INVALID_SETTING.at(place, str(error), help=error.cure)
        sources = Sources([file.origin], {file.path: file.data})
        raise RefusedError(find([fault], sources)) from error


_OTHERS = frozenset({"--format", "--fail-on"})
"""Options that ``diff`` has too, and that mean something else there."""


def _of_diff(flags: Mapping[str, Any]) -> dict[str, Any]:
    names = {option.spelled(Source.FLAG) for option in COMMANDS["diff"].options}
    return {name: value for name, value in flags.items() if name in names - _OTHERS}
