"""What is said about a rendering, in the format and at the places that were asked for."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from render.diagnostics import codes
from render.diagnostics.codes import status, worth_saying
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.diagnostics.exits import Exit
from render.frontends.request import config
from render.frontends.request.request import Request
from render.manifests.documents import Documents
from render.manifests.fixes import LineChanges, placed
from render.report import formats, terminal
from render.report.findings import Finding, find, identified, merge, of_all_inputs
from render.report.places import Place, Sources
from render.report.style import Style
from render.report.summary import Tally
from render.system.files import inside, real_path, repository
from render.system.streams import STDOUT, emit
from render.system.writing import unwritable, write_atomic

__all__ = ("find", "findings_of", "merge", "of_all_inputs", "print_findings", "publish")


def findings_of(
    loaded: Documents, diagnostics: Iterable[Diagnostic], request: Request
) -> list[Finding]:
    """*diagnostics* with their places in *loaded*; without what `print_findings` leaves out in this format."""
    if (
        formats.FORMATS[request.reporting.format].for_people
        and not request.reporting.verbose
        and not request.reporting.files
    ):
        diagnostics = worth_saying(diagnostics)
    origins = [document.origin for document in (*loaded.documents, *request.around)]
    sources = Sources(origins, loaded.data, loaded=loaded)
    findings = _with_fixes(find(diagnostics, sources), loaded, request)
    if loaded.is_built:
        own = range(len(loaded.documents))
        findings = [
            # What only counts beside them is not built with them.
            finding._replace(builds=(loaded.folder,))
            if (index := finding.diagnostic.location.index) is None or index in own
            else finding
            for finding in findings
        ]
    elif loaded.filled and loaded.user:
        findings = [finding._replace(user=loaded.user) for finding in findings]
    foreign = [real_path(path) for path in request.beside.files if not config.is_ours(path)]
    return [_without_lines(finding, foreign) for finding in findings] if foreign else findings


def as_note(diagnostic: Diagnostic) -> Diagnostic:
    """A placeholder may be filled in later: who only looks at a repository takes it for a note."""
    if diagnostic.code == codes.PLACEHOLDER.number:
        return diagnostic._replace(severity=Severity.INFO)
    return diagnostic


_SUGGESTED = 1000
"""Fixes whose lines are told: they are worked out one by one."""


def _with_fixes(findings: list[Finding], loaded: Documents, request: Request) -> list[Finding]:
    """*findings* with the fixes that have a place in *loaded*, and with their lines where a report shows them."""
    lines = LineChanges(loaded, request.reading.limits)
    left = _SUGGESTED if any(formats.FORMATS[name].suggests for name in _formats(request)) else 0
    for index, finding in enumerate(findings):
        fixes = placed(finding.diagnostic, loaded)
        if fixes:
            with_lines = tuple(
                lines.of(fix) if number < left else fix for number, fix in enumerate(fixes)
            )
            left -= min(left, len(fixes))
            findings[index] = finding._replace(fixes=with_lines)
    return findings


def _formats(request: Request) -> tuple[str, ...]:
    return (request.reporting.format, *(name for name, _ in request.reporting.files))


def _without_lines(finding: Finding, foreign: Sequence[str]) -> Finding:
    """*finding* with no text of the *foreign* files: who let settings name them need not be allowed to read them."""

    def hidden(place: Place) -> Place:
        foreigner = place.source and inside(real_path(place.file), foreign)
        return place._replace(source="", caret=0) if foreigner else place

    return finding._replace(
        place=hidden(finding.place), related=tuple(map(hidden, finding.related))
    )


def refused_reports(inputs: Iterable[Documents], request: Request) -> list[Diagnostic]:
    """That a report file would replace a manifest of the *inputs*."""
    targets = {real_path(to): (name, to) for name, to in request.reporting.files}
    if not targets:
        return []
    read = {real_path(file) for loaded in inputs for file in _manifests(loaded)}
    return [
        codes.USAGE.at(
            Location(),
            f"--{name}-file {to}: this manifest is read, and the report would replace it",
            help="name another file",
        )
        for real, (name, to) in targets.items()
        if real in read
    ]


def _manifests(loaded: Documents) -> Iterator[str]:
    """The files of *loaded* that hold objects, make some, or cannot be read."""
    yield from (document.origin.file for document in loaded.documents)
    yield from (fault.location.file for fault in loaded.diagnostics if fault.is_error)
    yield from loaded.files if loaded.is_one_root else ()


def publish(
    findings: Sequence[Finding],
    request: Request,
    tally: Tally | None,
    begin_file: Callable[[str], None],
) -> list[Diagnostic]:
    """Report *findings* where it was asked for: on a stream, and in files; what could not be written comes back.

    *tally* are the figures of what was looked at; *begin_file* is told each file before it is written.
    """
    counted = (tally or Tally()).counting(findings)
    counted = counted._replace(waivers=(*request.beside.waivers, *counted.waivers))
    if _identifies(request):
        findings = identified(findings, in_repository())
    faults: list[Diagnostic] = []
    # Before anything is printed, since from then on no deadline passes, and a pipe may want for a reader.
    for name, file in sorted(request.reporting.files, key=lambda row: row[1] == "-"):
        report_text = formats.report(
            name, _reported(findings, name, request), counted, _style(request)
        )
        if file == "-":  # where nothing else goes there
            emit(report_text, STDOUT)
            continue
        begin_file(file)
        try:
            write_atomic(file, report_text, is_last=False)
        except OSError as error:
            faults.append(unwritable(error, file))
    print_findings(findings, request, counted)
    if faults:
        print_findings(find(faults, Sources()), request)
    return faults


def outcome(diagnostics: Iterable[Diagnostic], request: Request) -> Exit:
    """The exit status for *diagnostics*; *request* says which count beside errors: warnings, or those of some codes."""
    diagnostics = tuple(diagnostics)
    exit_status = status(diagnostics)
    failing = request.reporting.fail_on
    counts = any(
        diagnostic.code in failing
        or (diagnostic.severity is Severity.WARNING and "warning" in failing)
        for diagnostic in diagnostics
    )
    return Exit.FINDINGS if exit_status is Exit.OK and counts else exit_status


def _identifies(request: Request) -> bool:
    """Whether a report shows fingerprints."""
    return any(name in ("json", "sarif") for name in _formats(request))


def with_fingerprints(findings: Sequence[Finding]) -> list[Finding]:
    """*findings* as a baseline knows them."""
    return identified(findings, in_repository())


def in_repository() -> Callable[[str], str]:
    """What tells how a file is called as seen from the top of its git repository, or from the working directory."""
    top = repository(real_path(".")) or real_path(".")

    @cache
    def name(file: str) -> str:
        real = real_path(file)
        return os.path.relpath(real, top) if file and os.path.lexists(real) else file

    return name


def _reported(findings: Sequence[Finding], name: str, request: Request) -> Sequence[Finding]:
    """What the format *name* shows of *findings*: people are told of every skipped file with ``-v`` only.

    SARIF and JUnit end before people too; JSON holds everything.
    """
    if not formats.FORMATS[name].for_people:
        return findings
    if request.reporting.quiet:
        return [finding for finding in findings if finding.diagnostic.is_error]
    if request.reporting.verbose:
        return findings
    reported = set(worth_saying(finding.diagnostic for finding in findings))
    return [finding for finding in findings if finding.diagnostic in reported]


def infos_shown(findings: Sequence[Finding], request: Request) -> int:
    """How many infos of *findings* people are shown: most of them only with ``-v``."""
    reported = _reported(findings, "text", request)
    return sum(finding.diagnostic.severity is Severity.INFO for finding in reported)


def _style(request: Request) -> Style:
    how = request.reporting
    return Style(how.max_findings, grouped=not how.verbose)


def print_findings(
    findings: Sequence[Finding], request: Request, tally: Tally | None = None
) -> None:
    """Report *findings* in the format that was asked for; in colours on a terminal that wants them."""
    to = request.reporting.stream
    findings = _reported(findings, request.reporting.format, request)
    is_text = request.reporting.format == "text"
    colour = is_text and terminal.is_coloured(to)
    style = _style(request)._replace(colour=colour)
    written = formats.report(request.reporting.format, findings, tally, style)
    emit(terminal.fold(written, terminal.width(to)) if is_text else written, to)
