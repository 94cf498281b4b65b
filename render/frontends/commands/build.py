"""``virt-render build``: render, and print or save what came of it."""

import os
from collections.abc import Callable, Iterable

from render.diagnostics import codes
from render.diagnostics.codes import status, worth_saying
from render.diagnostics.diagnostic import Diagnostic, Location
from render.diagnostics.exits import Exit
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.frontends.session import content, load, render_loaded, rendering, written
from render.machine import Machine
from render.manifests.sources import Documents
from render.model.counting import counted
from render.model.tree import Tree
from render.pipeline import Rendered
from render.system.streams import STDERR, STDOUT, emit_all, standard_input
from render.yaml import writer

#: The machines of a rendering, each with what became of it.
_Machines = list[tuple[Machine, Tree]]


def build(asked: Request, work: Work) -> Exit:
    """Render; manifests on stdout or to ``-o`` if there is no error, findings on stderr."""
    texts: list[str] = []
    explains = asked.own["explain"]
    if explains and asked.settings.emit != "vmi":
        return _inexplicable(asked)
    machines: _Machines = []
    with work.shown():
        loaded = load(asked, work, standard_input())
        append = None if asked.output or explains else _into(texts, loaded)
        observe = (lambda machine, body: machines.append((machine, body))) if explains else None
        work.rendered = texts
        work.begin("render", rendering(loaded))
        rendered, diagnostics = render_loaded(loaded, asked, append, observe)
    work.begin("write", f"reporting {counted(len(diagnostics), 'finding')}")
    outcome = Exit.OK
    is_report = asked.format != "text" or asked.reports or asked.verbose or os.isatty(STDERR)
    if is_report or worth_saying(diagnostics):
        from render.frontends import figures, reporting

        refused = reporting.refused_reports([loaded], asked)
        if refused is not None:
            return refused
        findings = reporting.findings_of(loaded, diagnostics, asked)
        tally = figures.tally_of([(loaded, asked.settings)])
        diagnostics += reporting.publish(reporting.merge(findings), asked, tally)
        outcome = reporting.outcome(diagnostics, asked)
    if outcome is not Exit.OK:
        return outcome
    contents = _commented(loaded, rendered, machines, asked) if explains else None
    if asked.output:
        work.doing = f"writing {asked.output}"
        return _save(loaded, rendered, contents or written(loaded, rendered), asked)
    return _print(loaded, [writer.write(contents)] if contents else texts, asked)


def _inexplicable(asked: Request) -> Exit:
    from render.frontends.reporting import refuse

    message = f"--explain is for --emit vmi, and not for --emit {asked.settings.emit}"
    cure = "add --emit vmi, or use virt-render explain"
    return refuse([codes.USAGE.at(Location(), message, help=cure)], asked)


def _commented(
    loaded: Documents, rendered: Rendered, machines: _Machines, asked: Request
) -> list[Tree | str]:
    """What to write for each rendered object: of a VMI, who decided each field, behind it."""
    from render.pipeline import deciders
    from render.report.deciders import comment, input_of
    from render.yaml.commented import commented

    given = input_of(loaded, asked.around, asked.limits)
    known = {id(body): machine for machine, body in machines if not machine.failed}

    def explained(body: Tree, source: int | None) -> Tree | str:
        machine = known.get(id(body))
        if machine is None:
            return content(loaded, body, source)
        said = {one.field: one for one in deciders.decisions(machine, body)}
        return commented(body, lambda path: comment(said[path], given) if path in said else "")

    return [
        explained(body, source)
        for body, source in zip(rendered.resources, rendered.sources, strict=True)
    ]


def _into(texts: list[str], loaded: Documents) -> Callable[[Tree, int | None], None]:
    """What puts the text of each resource into *texts*: it is a sixth of the tree, of which there is then only one."""

    def append(body: Tree, source: int | None) -> None:
        texts.append(writer.write([content(loaded, body, source)]))

    return append


def _save(
    loaded: Documents, rendered: Rendered, contents: list[Tree | str], asked: Request
) -> Exit:
    """All manifests into files: what was not changed as its author wrote it."""
    from render.manifests import output

    faults = output.save(asked.output, list(zip(rendered.resources, contents, strict=True)))
    return _failed(loaded, faults, asked) if faults else Exit.OK


def _print(loaded: Documents, texts: Iterable[str], asked: Request) -> Exit:
    """All manifests on standard output."""
    try:
        emit_all(texts, STDOUT)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"cannot write to standard output: {error.strerror}"
        return _failed(loaded, [codes.UNWRITABLE.at(Location(), message)], asked)
    return Exit.OK


def _failed(loaded: Documents, faults: list[Diagnostic], asked: Request) -> Exit:
    from render.frontends import reporting

    reporting.print_findings(reporting.findings_of(loaded, faults, asked), asked)
    return status(faults)
