"""``virt-render test``: the VMs beside files with expectations, held to these."""

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends.answer import Answer, RefusedError
from render.frontends.commands.expectations import conditions, verdict
from render.frontends.commands.expectations.conditions import GivenFleet
from render.frontends.commands.expectations.document import (
    FORMS,
    Expectation,
    ExpectationsFile,
    found,
    loaded,
)
from render.frontends.commands.expectations.verdict import MOST_STEPS, TrialWork
from render.frontends.progress import Work
from render.frontends.request.layers import host_values
from render.frontends.request.request import Request
from render.frontends.request.waivers import waivers_of_flags
from render.model.counting import counted
from render.model.resource import ResourceRef
from render.report.findings import Finding, find, merge
from render.report.places import Sources
from render.report.summary import Tally
from render.report.tested import TriedExpectation
from render.report.waivers import Waiver
from render.yaml.budget import MOST_ERRORS


def test(request: Request, work: Work) -> Answer:
    """What is not as expected; as JUnit also what is."""
    names, faults = found(request.paths or (".",), request.reading.limits)
    if not names and not faults:
        where = " ".join(request.paths) or "the current folder"
        message = f"no file *.virt-test.yaml in {where}"
        cure = "write one beside the VMs: docs/testing.md begins with an example"
        return Answer(findings=(), faults=[codes.NO_OBJECTS.at(Location(), message, help=cure)])
    findings: list[Finding] = find(faults, Sources())
    trial = _Trial(request, work)
    call, environ = request.called.call, request.called.environ
    locked = host_values(call, environ).values.get("locked", "")
    waivers: list[Waiver] = []
    for name in names:
        file = loaded(name, request.reading.limits, locked)
        waivers += waivers_of_flags(file.flags, name, call.flags)
        diagnostics: list[Diagnostic] = []
        try:
            if not file.faults:
                diagnostics = trial.of(file)
        except RefusedError as refused:
            findings += refused.findings
        sources = Sources([file.origin] if file.origin else [], {name: file.data})
        findings += find((*file.faults, *diagnostics), sources)
    for fleet in trial.fleets.values():
        findings += fleet.findings
    if trial.unmet > MOST_ERRORS:
        message = f"and {counted(trial.unmet - MOST_ERRORS, 'more unmet expectation')}"
        findings += find([codes.LIMIT_EXCEEDED.at(Location(), message)], Sources())
    tally = Tally(len(trial.machines), waivers=tuple(waivers), tried=tuple(trial.tried))
    return Answer(findings=merge(findings), tally=tally if trial.tried else None)


class _Trial:
    """What is given in several files, rendered once where it is the same; the expectations *tried* on *machines*."""

    def __init__(self, request: Request, work: Work) -> None:
        self._request = request
        self._work = work
        self.fleets: dict[object, GivenFleet] = {}
        self._surroundings: conditions.Surroundings = {}
        self.tried: list[TriedExpectation] = []
        self.machines: set[tuple[tuple[str, ...], ResourceRef]] = set()
        self.unmet = 0
        self._trial_work = TrialWork()
        self._has_room = True

    def of(self, file: ExpectationsFile) -> list[Diagnostic]:
        """What of the expectations in *file* is not met. Raises RefusedError where what is given cannot be known."""
        changes = [expectation for expectation in file.expectations if expectation.change]
        if changes and not file.before:
            place = file.at(*changes[0].at("change"))
            message = "a change is expected, and given.before does not say of what"
            cure = "name the revision, or the folder, that is compared with: before: origin/main"
            return [codes.INVALID_SETTING.at(place, message, help=cure)]
        fleet = self._fleet(file)
        diagnostics: list[Diagnostic] = []
        for expectation in file.expectations if self._has_room else ():
            outcome = verdict.tried(expectation, fleet, file, self._trial_work)
            if outcome is None:
                self._has_room = False
                return [*diagnostics, _exceeded(file, expectation)]
            machines, unmet = outcome
            self.machines |= {(file.paths, machine.resource) for machine in machines}
            self.tried.append(
                TriedExpectation(file.path, expectation.number, expectation.name, bool(unmet))
            )
            room = max(0, MOST_ERRORS - self.unmet)
            self.unmet += len(unmet)
            diagnostics += unmet[:room]
        return diagnostics

    def _fleet(self, file: ExpectationsFile) -> GivenFleet:
        """What is given in *file*, in the forms that it has expectations of."""
        flags = {**file.flags, **self._request.called.call.flags}
        forms = tuple(
            form
            for form in FORMS
            if any(form in expectation.forms for expectation in file.expectations)
        )
        before = file.before if any(expectation.change for expectation in file.expectations) else ""
        key = (file.paths, before, tuple(sorted(map(repr, flags.items()))), forms)
        if key not in self.fleets:
            fleet = conditions.fleet(
                self._request, self._work, file.paths, flags, forms, self._surroundings
            )
            if before:
                fleet = conditions.with_effects(fleet, file, self._request, self._work, flags)
            self.fleets[key] = fleet
        return self.fleets[key]


def _exceeded(file: ExpectationsFile, expectation: Expectation) -> Diagnostic:
    """That *expectation* and those after it are not held against the VMs, since that would take too long."""
    message = (
        "this expectation and all that come after it are not tried: names and fields would be compared in more than"
        f" {MOST_STEPS:,} steps"
    )
    found = codes.LIMIT_EXCEEDED.at(
        file.at(), message, help="let vms name fewer VMs, or test some of the files by themselves"
    )
    return found._replace(position=file.at(*expectation.at()))
