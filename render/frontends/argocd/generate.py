"""``virt-render argocd generate``: the config-management plugin of Argo CD.

The same as ``build``, in the way that Argo CD's plugin server wants it: what failed in the first line and all of it in
4 KiB (the rest of the text goes into every view of the Application), an end before Argo CD's own deadline, which kills
without a word, and one line about each success for the log of the sidecar.
"""

import contextlib
import json
import re
import time
from collections.abc import Mapping, Sequence

import render
from render.diagnostics import codes
from render.diagnostics.codes import status, worth_saying
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.diagnostics.exits import Exit, failure
from render.frontends import waived
from render.frontends.progress import Work
from render.frontends.reporting import findings_of
from render.frontends.request.commands import Call
from render.frontends.request.options import DEADLINE, HOST_OPTIONS
from render.frontends.request.request import Request, request
from render.frontends.session import render_part, single, written
from render.manifests.documents import Documents
from render.model.counting import counted
from render.model.hints import Any
from render.model.release import minor
from render.pipeline import Rendered
from render.pipeline.input.releases import target_of
from render.report import escaping, text
from render.report.findings import Finding, Group, find, merge
from render.report.places import Sources
from render.settings import OPTIONS, Source
from render.system import signals
from render.system.streams import STDERR, STDOUT, emit
from render.yaml import writer

_ROOM = 4096
_MOST = 20
_LINE_ROOM = 512
_WORST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.INFO)


class Run:
    """What is being done, for whoever has to say why it took so long, and what came of it."""

    __slots__ = ("diagnostics", "loaded", "release", "rendered", "started", "work")

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.work = Work()
        self.loaded = Documents()
        self.rendered: Rendered | None = None
        self.diagnostics: list[Diagnostic] = []
        self.release = ""


def generate(call: Call, environ: Mapping[str, str]) -> Exit:
    """Print the manifests of the application in the working directory, or say on stderr why not."""
    run = Run()
    try:
        with run.work:
            return _generate(run, call, environ)
    except (*signals.STOPPED, Exception) as error:
        stopped = signals.behind(error)
        if stopped is None:
            _log(_line(run, failure(error), environ))
            raise
        outcome, message = signals.outcome(stopped)
        _log(message + _line(run, outcome, environ))
        return outcome


def _generate(run: Run, call: Call, environ: Mapping[str, str]) -> Exit:
    parsed = request(call, environ)
    findings: list[Finding] = []
    try:
        with signals.deadline(parsed.called.deadline):
            findings = _render(run, parsed)
            outcome = status(run.diagnostics)
            if outcome is Exit.OK and run.rendered:
                run.work.begin("write", "writing the manifests")
                emit(writer.write(written(run.loaded, run.rendered)), STDOUT)
    except signals.OverdueError:
        outcome = Exit.DEADLINE
        run.diagnostics = [_overdue(parsed, run)]
        findings = find(run.diagnostics, Sources())
    _log(report(list(map(for_application, findings))))
    waived.tell(parsed, [run.loaded])
    if outcome is Exit.OK:  # else all of it stands in the Application
        _log(_line(run, outcome, environ))
    return outcome


def _log(message: str) -> None:
    """Write *message* to standard error; a log that cannot be written makes no manifest wrong."""
    with contextlib.suppress(OSError):
        emit(message, STDERR)


def for_application(finding: Finding) -> Finding:
    """*finding* with what an Application can set where its help names a flag: a parameter, or what the host sets."""
    help_text = finding.diagnostic.help
    for option in (*OPTIONS, DEADLINE, *HOST_OPTIONS):
        if f"--{option.name}" not in help_text:
            continue
        if option in HOST_OPTIONS:
            name = f"{option.spelled(Source.ENVIRONMENT)} of the sidecar"
        else:
            name = f"the parameter {option.spelled(Source.PARAMETER)}"
        help_text = re.sub(rf"--{option.name}(?![\w-])", name, help_text)
    if help_text == finding.diagnostic.help:
        return finding
    return finding._replace(diagnostic=finding.diagnostic._replace(help=help_text))


def _render(run: Run, request: Request) -> list[Finding]:
    """Do the work, noting in *run* what it is; nothing is read where something is wrong with the asking."""
    run.diagnostics = list(request.faults.diagnostics)
    if run.diagnostics:
        return find(run.diagnostics, request.faults.sources)
    part = single(request, run.work)
    run.loaded = part.loaded
    run.rendered = render_part(part, run.work)
    target = target_of((document.body for document in run.loaded.documents), request.settings)
    reason = f", since {target.reason}" if target.reason else ""
    run.release = f"{minor(target.release)}{reason}"
    if any(found.is_error for found in part.diagnostics):
        from render.frontends.inputs.elsewhere import DefinitionPlaces

        DefinitionPlaces().name_in(part)
    run.diagnostics = part.diagnostics
    run.work.doing = f"looking up the places of {counted(len(run.diagnostics), 'finding')}"
    return merge(findings_of(run.loaded, worth_saying(run.diagnostics), request))


def _overdue(request: Request, run: Run) -> Diagnostic:
    return codes.DEADLINE.at(
        Location(),
        f"the deadline of {request.called.deadline} s has passed while {run.work.doing}",
        help="render fewer objects per application, or raise the parameter deadline together with Argo CD's own:"
        " controller.repo.server.timeout.seconds and server.repo.server.timeout.seconds",
    )


def report(findings: Sequence[Finding]) -> str:
    """*findings* as text, the worst first, whole ones only as long as there is room for them.

    Beside errors there is no room for notes.
    """
    ranked = sorted(findings, key=lambda finding: _WORST_FIRST.index(finding.diagnostic.severity))
    if ranked and ranked[0].diagnostic.is_error:
        ranked = [finding for finding in ranked if finding.diagnostic.severity is not Severity.INFO]
    output = ""
    for count, finding in enumerate(ranked):
        block = text.report([Group(finding)])
        room = _ROOM - _LINE_ROOM - len(output.encode())
        if count == _MOST or len(block.encode()) > room:
            if not count:
                output = block.encode()[:room].decode(errors="ignore") + "...\n"
                count = 1  # noqa: PLW2901 - a part of it is shown
            left = len(ranked) - count
            return output + (f"and {left:,} more; 'virt-render check' shows all\n" if left else "")
        output += block
    return output


def _line(run: Run, outcome: Exit, environ: Mapping[str, str]) -> str:
    """One line about the run, for logs.

    Without the duration where it failed: the text is part of the error then, and an error whose text changes every
    time looks like a new one to Argo CD.
    """
    severities = [diagnostic.severity for diagnostic in run.diagnostics]
    facts: dict[str, Any] = {
        "msg": "virt-render argocd generate",
        "version": render.__version__,
        "app": environ.get("ARGOCD_APP_NAME", ""),
        "kubevirt": run.release,
        "status": int(outcome),
        "files": len(run.loaded.files),
        "read": len(run.loaded.documents),
        "printed": len(run.rendered.resources) if run.rendered and not outcome else 0,
        "rendered": run.rendered.sources.count(None) if run.rendered and not outcome else 0,
        "errors": severities.count(Severity.ERROR),
        "warnings": severities.count(Severity.WARNING),
    }
    if outcome is Exit.OK:
        facts["ms"] = round((time.monotonic() - run.started) * 1000)
    line = escaping.dumps(facts)
    return (line if len(line) < _LINE_ROOM else json.dumps({**facts, "app": ""})) + "\n"
