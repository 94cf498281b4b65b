"""Which function answers a call, and what is done with its answer: nobody else prints, publishes, saves or exits.

But for hosts (kustomize, Argo CD, an editor), to which a command speaks in their own protocol.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence

from render.diagnostics import codes
from render.diagnostics.codes import worth_saying
from render.diagnostics.diagnostic import Diagnostic, Location
from render.diagnostics.exits import Exit
from render.frontends import waived
from render.frontends.answer import Answer, Files, RefusedError
from render.frontends.progress import Work, in_words, isolation
from render.frontends.request.commands import COMMANDS, Call
from render.frontends.request.request import Request, request
from render.model import packaged
from render.model.counting import counted
from render.model.hints import TYPE_CHECKING
from render.report import summary, terminal
from render.system import signals
from render.system.files import real_path, reason, unreadable
from render.system.streams import STDERR, STDOUT, emit, emit_all

if TYPE_CHECKING:
    from render.report.findings import Finding
    from render.report.summary import Tally

_Function = Callable[[Request, Work], Answer]


def execute(call: Call, environ: Mapping[str, str]) -> Exit:
    """Do what *call* says, with the process's own streams."""
    command = COMMANDS[call.command]
    module, _, name = command.function.partition(":")
    function = getattr(packaged.module(f"render.frontends.{module}"), name)
    if command.hosted:
        hosted: Exit = function(call, environ)
        return hosted
    with Work() as work:
        parsed = request(call, environ)
        faults = parsed.faults.diagnostics or tuple(_missing_values(parsed))
        if faults:
            return _deliver(Answer(faults=faults), parsed, work)
        outcome = _in_time(function, parsed, work)
        if parsed.called.timings:
            emit(work.timings(), STDERR)
        if parsed.reporting.verbose:
            emit(isolation(), STDERR)
        return outcome


def _missing_values(request: Request) -> Iterator[Diagnostic]:
    """That a values file is not there: else only a chart would say so, and perhaps none is read.

    A commit may have one that the working tree has not.
    """
    of_commits = COMMANDS[request.called.call.command].of_commits
    for file in () if of_commits else request.reading.chart.values:
        try:
            os.stat(file)
        except OSError as error:
            yield unreadable(file, error)


def _in_time(function: _Function, request: Request, work: Work) -> Exit:
    """Deliver what *function* answers, or that the deadline has passed, and in the midst of which *work*."""
    try:
        with signals.deadline(request.called.deadline):
            with work.on_terminal():
                answer = _answered(function, request, work)
            return _deliver(answer, request, work)
    except signals.OverdueError:
        message = f"the deadline of {request.called.deadline} s has passed while {work.doing}"
        overdue = codes.DEADLINE.at(Location(), message, help="raise --deadline")
        # Perhaps nobody comes to read a pipe, and nobody would end it if that was waited for now.
        files = [row for row in request.reporting.files if not _is_named_pipe(row[1])]
        return _deliver(Answer(findings=(), faults=[overdue]), _unfiled(request, files), work)


def _answered(function: _Function, request: Request, work: Work) -> Answer:
    """What *function* answers, or raises in its stead."""
    try:
        return function(request, work)
    except RefusedError as refused:
        return Answer(findings=refused.findings)
    except Exception as error:
        from render.system.git import GitError

        if isinstance(error, GitError):
            return Answer(findings=(), faults=[error.diagnostic])
        raise


def _deliver(answer: Answer, request: Request, work: Work) -> Exit:
    """Publish what was found, and if that does not speak against it save and print the rest; figures come last."""
    if answer.waivers is not None:
        request = request._replace(beside=request.beside._replace(waivers=tuple(answer.waivers)))
    diagnostics = _diagnostics(answer, work)
    tally = _figures(answer, work)
    exit_ = Exit.OK
    if _has_report(request) or worth_saying(diagnostics):
        from render.frontends import reporting

        work.begin("write", f"reporting {counted(len(diagnostics), 'finding')}")
        refused = reporting.refused_reports(work.inputs, request)
        if refused:
            answer, request = Answer(findings=(), faults=refused), _unfiled(request)
            diagnostics, tally = refused, None
        findings = _findings(answer, request, work)
        if tally is not None and not tally.severities:
            tally = tally.counting(findings)
            tally = tally._replace(infos=reporting.infos_shown(findings, request))
        faults = reporting.publish(
            findings, request, tally, lambda file: _begin_file(file, request, work)
        )
        exit_ = reporting.outcome((*diagnostics, *faults), request)
    if answer.exit is None and exit_ is not Exit.OK:
        _summarize(tally, request, work)
        return exit_
    work.begin("write", "writing the answer")
    lines = [*answer.notes]
    if answer.unread:
        lines.insert(0, f"not read: {', '.join(answer.unread)}; virt-render check says why")
    if lines:
        from render.report.text import printable

        notes = "".join(f"{printable(line)}\n" for line in lines)
        emit(terminal.fold(notes, terminal.width(STDERR)), STDERR)
    fault = _saved(answer.files, work) or _printed(answer, request, work)
    if fault is not None:
        return _deliver(Answer(findings=(), faults=[fault]), _unfiled(request), work)
    _summarize(tally, request, work)
    return exit_ if answer.exit is None or exit_ is Exit.INTERNAL else answer.exit


def _unfiled(request: Request, but_for: Sequence[tuple[str, str]] = ()) -> Request:
    """*request* without reports in files, *but_for* some."""
    return request._replace(reporting=request.reporting._replace(files=tuple(but_for)))


def _diagnostics(answer: Answer, work: Work) -> Sequence[Diagnostic]:
    """What is found, which decides the exit status of *answer* unless it says one."""
    if answer.findings is not None:
        return [*answer.faults, *(finding.diagnostic for finding in answer.findings)]
    return [*answer.faults, *(diagnostic for part in work.parts for diagnostic in part.diagnostics)]


def _has_report(request: Request) -> bool:
    """Whether a report says something though nothing was found."""
    how = request.reporting
    return bool(how.format != "text" or how.files or how.verbose or os.isatty(STDERR))


def _findings(answer: Answer, request: Request, work: Work) -> "list[Finding]":
    """The findings of *answer*, those of all parts if it has none of its own."""
    from render.frontends import reporting

    findings = reporting.find(answer.faults, request.faults.sources)
    if answer.findings is not None:
        return reporting.merge([*findings, *answer.findings])
    for part in work.parts:
        findings += reporting.findings_of(part.loaded, part.diagnostics, part.request)
    return reporting.of_all_inputs(reporting.merge(findings))


def _figures(answer: Answer, work: Work) -> "Tally | None":
    """What was looked at for *answer*, None if nothing was."""
    if answer.findings is not None:
        return answer.tally
    if not work.parts:
        return None
    from render.frontends import figures

    return figures.tally_of(work.parts)


def _summarize(tally: "Tally | None", request: Request, work: Work) -> None:
    """Print what was waived, and the last line of a command that read manifests; quietly what was not looked at.

    The last line not where standard error is a document of another format.
    """
    waived.tell(request, work.loaded(), tally)
    how = request.reporting
    if tally is None or (how.format != "text" and how.stream == STDERR):
        return

    colour = terminal.is_coloured(STDERR)
    text = summary.unseen(tally) if how.quiet else summary.line(tally, colour=colour)
    if text:
        emit(terminal.fold(f"{text}\n", terminal.width(STDERR)), STDERR)


def _saved(files: Files | None, work: Work) -> Diagnostic | None:
    """Replace *files*, all or none; the answer is what the system refuses."""
    if files is None or not files.contents:
        return None
    from render.system import writing

    names = [path for path, _ in files.contents]
    work.doing = f"writing {in_words(names)}"
    try:
        writing.write_all(files.contents, sync=True, known=files.known)
    except OSError as error:
        return writing.unwritable(error, in_words(names))
    return None


def _folded(answer: Answer) -> tuple[str | bytes, ...]:
    """The output of *answer*, of which text for people is as wide as their terminal."""
    if not (answer.for_people and os.isatty(STDOUT)):
        return tuple(answer.output)

    columns = terminal.width(STDOUT)
    return tuple(
        terminal.fold(text, columns) if isinstance(text, str) else text for text in answer.output
    )


def _is_named_pipe(path: str) -> bool:
    """Whether *path* is one: who opens it to write waits until somebody reads."""
    with contextlib.suppress(OSError):
        # One without a name, behind /dev/stdout, has its reader: its real path leads nowhere.
        return stat.S_ISFIFO(os.stat(real_path(path)).st_mode)
    return False


def _begin_file(path: str, request: Request, work: Work) -> None:
    """Say that *path* is written next, and of a named pipe that it wants a reader."""
    work.doing = f"writing {path}"
    if _is_named_pipe(path):
        work.doing = f"waiting for a reader of the named pipe {path}"
        if os.isatty(STDERR) and not request.reporting.quiet:
            emit(f"{work.doing}\n", STDERR)


def _printed(answer: Answer, request: Request, work: Work) -> Diagnostic | None:
    """Print the output of *answer*, or write it where *request* says; the answer is what the system refuses."""
    if request.reporting.output:
        from render.manifests import output

        _begin_file(request.reporting.output, request, work)
        if answer.objects is not None:
            return output.save(request.reporting.output, list(answer.objects))
        return output.save_text(request.reporting.output, answer.output)
    texts = _folded(answer)
    try:
        emit_all(texts, STDOUT, work.end_output)
    except BrokenPipeError:
        raise
    except OSError as error:
        what, done = (
            ("the table ", f"; {answer.files.done}")
            if answer.files and answer.files.done
            else ("", "")
        )
        message = f"cannot write {what}to standard output: {reason(error)}{done}"
        return codes.UNWRITABLE.at(Location(), message)
    return None
