"""Which function answers a call, and what is done with its answer: nobody else prints, publishes, saves or exits.

But for hosts (kustomize, Argo CD, an editor), to which a command speaks in their own protocol.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from render.diagnostics.codes import worth_saying
from render.diagnostics.diagnostic import Diagnostic, Location
from render.diagnostics.exits import Exit
from render.frontends import waived
from render.frontends.answer import Answer, Files, RefusedError
from render.frontends.progress import Work, in_words, isolation
from render.frontends.request.commands import COMMANDS, Call
from render.frontends.request.request import Request, request
from render.system import signals
from render.system.streams import STDERR, STDOUT, emit, emit_all

if TYPE_CHECKING:
    from render.report.findings import Finding
    from render.report.summary import Tally

_Function = Callable[[Request, Work], Answer]


def execute(call: Call, environ: Mapping[str, str]) -> Exit:
    """Do what *call* says, with the process's own streams."""
    command = COMMANDS[call.command]
    module, _, name = command.function.partition(":")
    function = getattr(import_module(f"render.frontends.{module}"), name)
    if command.hosted:
        hosted: Exit = function(call, environ)
        return hosted
    with Work() as work:
        asked = request(call, environ)
        if asked.faults.diagnostics:
            return _deliver(Answer(faults=asked.faults.diagnostics), asked, work)
        outcome = _in_time(function, asked, work)
        if asked.called.timings:
            emit(work.timings(), STDERR)
        if asked.reporting.verbose:
            emit(isolation(), STDERR)
        return outcome


def _in_time(function: _Function, asked: Request, work: Work) -> Exit:
    """Deliver what *function* answers, or that the deadline has passed, and in the midst of which *work*."""
    try:
        with signals.deadline(asked.called.deadline):
            with work.shown():
                answer = _answered(function, asked, work)
            return _deliver(answer, asked, work)
    except signals.OverdueError:
        from render.diagnostics import codes

        said = f"the deadline of {asked.called.deadline} s has passed while {work.doing}"
        overdue = codes.DEADLINE.at(Location(), said, help="raise --deadline")
        return _deliver(Answer(findings=(), faults=[overdue]), asked, work)


def _answered(function: _Function, asked: Request, work: Work) -> Answer:
    """What *function* answers, or raises in its stead."""
    try:
        return function(asked, work)
    except RefusedError as refused:
        return Answer(findings=refused.findings)
    except Exception as error:
        from render.system.git import GitError

        if isinstance(error, GitError):
            return Answer(findings=(), faults=[error.diagnostic])
        raise


def _deliver(answer: Answer, asked: Request, work: Work) -> Exit:
    """Publish what was found, and if that does not speak against it save and print the rest; figures come last."""
    diagnostics = _diagnostics(answer, work)
    tally = _figures(answer, work)
    exit_ = Exit.OK
    if _has_report(asked) or worth_saying(diagnostics):
        from render.frontends import reporting
        from render.model.counting import counted

        work.begin("write", f"reporting {counted(len(diagnostics), 'finding')}")
        refused = reporting.refused_reports(work.inputs, asked)
        if refused:
            answer, asked = Answer(findings=(), faults=refused), _unfiled(asked)
            diagnostics, tally = refused, None
        findings = _findings(answer, asked, work)
        if tally is not None and not tally.severities:
            tally = tally.counting(findings)
        faults = reporting.publish(findings, asked, tally)
        exit_ = reporting.outcome((*diagnostics, *faults), asked)
    if answer.exit is None and exit_ is not Exit.OK:
        _summarize(tally, asked, work)
        return exit_
    work.begin("write", "writing the answer")
    if answer.unread:
        emit(f"not read: {', '.join(answer.unread)}; virt-render check says why\n", STDERR)
    if answer.notes:
        from render.report.text import printable

        emit("".join(f"{printable(line)}\n" for line in answer.notes), STDERR)
    fault = _saved(answer.files, work) or _printed(answer, asked, work)
    if fault is not None:
        return _deliver(Answer(findings=(), faults=[fault]), _unfiled(asked), work)
    _summarize(tally, asked, work)
    return exit_ if answer.exit is None or exit_ is Exit.INTERNAL else answer.exit


def _unfiled(asked: Request) -> Request:
    """*asked* without reports in files."""
    return asked._replace(reporting=asked.reporting._replace(files=()))


def _diagnostics(answer: Answer, work: Work) -> Sequence[Diagnostic]:
    """What is found, which decides the exit status of *answer* unless it says one."""
    if answer.findings is not None:
        return [*answer.faults, *(one.diagnostic for one in answer.findings)]
    return [*answer.faults, *(one for part in work.parts for one in part.diagnostics)]


def _has_report(asked: Request) -> bool:
    """Whether a report says something though nothing was found."""
    how = asked.reporting
    return bool(how.format != "text" or how.files or how.verbose or os.isatty(STDERR))


def _findings(answer: Answer, asked: Request, work: Work) -> "list[Finding]":
    """The findings of *answer*, those of all parts if it has none of its own."""
    from render.frontends import reporting

    findings = reporting.find(answer.faults, asked.faults.sources)
    if answer.findings is not None:
        return reporting.merge([*findings, *answer.findings])
    for part in work.parts:
        findings += reporting.findings_of(part.loaded, part.diagnostics, part.request)
    return reporting.merge(findings)


def _figures(answer: Answer, work: Work) -> "Tally | None":
    """What was looked at for *answer*, None if nothing was."""
    if answer.findings is not None:
        return answer.tally
    if not work.parts:
        return None
    from render.frontends import figures

    return figures.tally_of(work.parts)


def _summarize(tally: "Tally | None", asked: Request, work: Work) -> None:
    """Print what was waived, and the last line of a command that read manifests.

    The last line not where standard error is a document of another format.
    """
    waived.tell(asked, work.loaded(), tally)
    how = asked.reporting
    if tally is None or how.quiet or (how.format != "text" and how.stream == STDERR):
        return
    from render.report import summary

    emit(f"{summary.line(tally)}\n", STDERR)


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


def _printed(answer: Answer, asked: Request, work: Work) -> Diagnostic | None:
    """Print the output of *answer*, or write it where *asked* says; the answer is what the system refuses."""
    if asked.reporting.output:
        from render.manifests import output

        work.doing = f"writing {asked.reporting.output}"
        if answer.objects is not None:
            return output.save(asked.reporting.output, list(answer.objects))
        return output.save_text(asked.reporting.output, answer.output)
    texts = tuple(answer.output)
    try:
        emit_all(texts, STDOUT)
    except BrokenPipeError:
        raise
    except OSError as error:
        from render.diagnostics import codes
        from render.system.files import reason

        what, done = (
            ("the table ", f"; {answer.files.done}")
            if answer.files and answer.files.done
            else ("", "")
        )
        message = f"cannot write {what}to standard output: {reason(error)}{done}"
        return codes.UNWRITABLE.at(Location(), message)
    return None
