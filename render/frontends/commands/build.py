"""``virt-render build``: render, and print or save what came of it."""

from collections.abc import Callable, Iterator
from functools import cache

from render.diagnostics import codes
from render.diagnostics.diagnostic import Location
from render.frontends.answer import Answer
from render.frontends.parts import FleetPart
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.frontends.session import content, render_part, single, written
from render.machine import Machine
from render.manifests.documents import Documents
from render.model.tree import Tree
from render.pipeline import Rendered
from render.yaml import writer

#: The machines of a rendering, each with what became of it.
_Machines = list[tuple[Machine, Tree]]


def build(request: Request, work: Work) -> Answer:
    """Render; manifests on stdout or to ``-o`` if there is no error, findings on stderr."""
    texts: list[str] = []
    explains = request.own["explain"]
    if explains and request.settings.emit != "vmi":
        return _inexplicable(request)
    machines: _Machines = []
    part = single(request, work)
    work.rendered = texts
    append = None if request.reporting.output or explains else _into(texts, part.loaded)
    observe = (lambda machine, body: machines.append((machine, body))) if explains else None
    rendered = render_part(part, work, append, observe)
    if part.diagnostics:
        from render.frontends.inputs.elsewhere import DefinitionPlaces

        DefinitionPlaces().name_in(part)
    if not explains:
        objects = _paired(rendered, lambda: written(part.loaded, rendered))
        return Answer(texts, objects=objects)
    contents = cache(lambda: _commented(part, rendered, machines))
    return Answer(_texts(contents), objects=_paired(rendered, contents))


def _inexplicable(request: Request) -> Answer:
    message = f"--explain is for --emit vmi, and not for --emit {request.settings.emit}"
    cure = "add --emit vmi, or use virt-render explain"
    return Answer(faults=[codes.USAGE.at(Location(), message, help=cure)])


def _paired(
    rendered: Rendered, contents: Callable[[], list[Tree | str]]
) -> Iterator[tuple[Tree, Tree | str]]:
    """Each object of *rendered* with what is written for it, made when it is asked for."""
    yield from zip(rendered.resources, contents(), strict=True)


def _texts(contents: Callable[[], list[Tree | str]]) -> Iterator[str]:
    yield writer.write(contents())


def _commented(part: FleetPart, rendered: Rendered, machines: _Machines) -> list[Tree | str]:
    """What to write for each rendered object: of a VMI, who decided each field, behind it."""
    from render.pipeline.provenance import deciders
    from render.report.deciders import comment, input_of
    from render.yaml.commented import commented

    loaded, request = part.loaded, part.request
    manifests = input_of(loaded, request.around, request.reading.limits)
    known = {id(body): machine for machine, body in machines if not machine.failed}

    def explained(body: Tree, source: int | None) -> Tree | str:
        machine = known.get(id(body))
        if machine is None:
            return content(loaded, body, source)
        decisions = {decision.field: decision for decision in deciders.decisions(machine, body)}
        return commented(
            body, lambda path: comment(decisions[path], manifests) if path in decisions else ""
        )

    return [
        explained(body, source)
        for body, source in zip(rendered.resources, rendered.sources, strict=True)
    ]


def _into(texts: list[str], loaded: Documents) -> Callable[[Tree, int | None], None]:
    """What puts the text of each resource into *texts*: it is a sixth of the tree, of which there is then only one."""

    def append(body: Tree, source: int | None) -> None:
        texts.append(writer.write([content(loaded, body, source)]))

    return append
