"""``virt-render build``: render, and print or save what came of it."""

import os
from collections.abc import Callable, Iterable

from render.diagnostics import codes
from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Diagnostic, Location
from render.diagnostics.exits import Exit
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.frontends.session import content, load, render_loaded, rendering, written
from render.manifests.sources import Documents
from render.model.tree import Tree
from render.pipeline import Rendered
from render.system.streams import STDERR, STDOUT, emit_all, standard_input
from render.yaml import writer


def build(asked: Request, work: Work) -> Exit:
    """Render; manifests on stdout or to ``-o`` if there is no error, findings on stderr."""
    texts: list[str] = []
    with work.shown():
        loaded = load(asked, work, standard_input())
        append = None if asked.output else _into(texts, loaded)
        work.rendered = texts
        work.begin("render", rendering(loaded))
        rendered, diagnostics = render_loaded(loaded, asked, append)
    work.begin("write", f"reporting {len(diagnostics):,} findings")
    outcome = Exit.OK
    if diagnostics or asked.format != "text" or asked.reports or asked.verbose or os.isatty(STDERR):
        from render.frontends import figures, reporting

        findings = reporting.findings_of(loaded, diagnostics, asked)
        tally = figures.tally_of([(loaded, asked.settings)])
        diagnostics += reporting.publish(reporting.merge(findings), asked, tally)
        outcome = reporting.outcome(diagnostics, asked)
    if outcome is not Exit.OK:
        return outcome
    if asked.output:
        work.doing = f"writing {asked.output}"
        return _save(loaded, rendered, asked)
    return _print(loaded, texts, asked)


def _into(texts: list[str], loaded: Documents) -> Callable[[Tree, int | None], None]:
    """What puts the text of each resource into *texts*: it is a sixth of the tree, of which there is then only one."""

    def append(body: Tree, source: int | None) -> None:
        texts.append(writer.write([content(loaded, body, source)]))

    return append


def _save(loaded: Documents, rendered: Rendered, asked: Request) -> Exit:
    """All manifests into files: what was not changed as its author wrote it."""
    from render.manifests import output

    contents = written(loaded, rendered)
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
