"""The commands that render: read, call, report, write, exit status. No decision about a VM is made here."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, at
from render.diagnostics.suppression import suppress
from render.frontends import locks
from render.frontends.exits import Exit, status
from render.frontends.options import Call, Request, request
from render.frontends.progress import Work, in_words
from render.frontends.streams import STDERR, STDOUT, emit, emit_all, standard_input
from render.manifests import kustomization, sources, writer
from render.manifests.discover import tidy
from render.manifests.reader import Document
from render.manifests.sources import Loaded, Reading
from render.model.resource import INSTANCETYPE, KUBEVIRT, Resource, from_body
from render.model.tree import Tree
from render.pipeline import Rendered, run

_FOLLOW_UPS = frozenset(
    {
        codes.INSTANCETYPE_NOT_FOUND.number,
        codes.PREFERENCE_NOT_FOUND.number,
        codes.INFERENCE_FAILED.number,
        codes.REVISION_NOT_FOUND.number,
    }
)


def execute(call: Call, environ: Mapping[str, str]) -> Exit:
    """Do what *call* says, with the process's own streams."""
    if call.command == "krm":
        from render.frontends import krm

        return krm.execute(call, environ)
    if call.command == "argocd generate":
        from render.frontends import argocd

        return argocd.generate(call, environ)
    with Work() as work:
        asked = request(call, environ)
        if asked.diagnostics:
            return _refuse(asked, to=STDERR if call.command == "build" else STDOUT)
        if call.command == "build":
            return timed(build(asked, work), asked, work)
        from render.frontends.check import check

        return timed(check(asked, work), asked, work)


def _refuse(asked: Request, *, to: int) -> Exit:
    """Say what is wrong with the settings."""
    from render.frontends import reporting

    found = reporting.find(asked.diagnostics, asked.sources)
    faults = reporting.publish(reporting.merge(found), asked, to=to)
    return status((*asked.diagnostics, *faults))


def timed(outcome: Exit, asked: Request, work: Work) -> Exit:
    """*outcome*, after saying where the time of *work* went, if that was *asked*."""
    if asked.timings:
        emit(work.timings(), STDERR)
    return outcome


def build(asked: Request, work: Work) -> Exit:
    """Render; manifests on stdout or to ``-o`` if there is no error, findings on stderr."""
    texts: list[str] = []
    with work.shown():
        loaded = load(asked, work, standard_input())
        take = None if asked.output else _into(texts, loaded)
        work.made = texts
        work.begin("render", rendering(loaded))
        rendered, diagnostics = render_loaded(loaded, asked, take)
    work.begin("write", f"reporting {len(diagnostics):,} findings")
    if diagnostics or asked.format != "text" or asked.reports:
        from render.frontends import reporting

        findings = reporting.findings_of(loaded, diagnostics, asked)
        diagnostics += reporting.publish(reporting.merge(findings), asked)
    outcome = status(diagnostics)
    if outcome is not Exit.OK:
        return outcome
    if asked.output:
        work.doing = f"writing {asked.output}"
        return _save(loaded, rendered, asked)
    return _print(loaded, texts, asked)


def load(asked: Request, work: Work, stdin: BinaryIO | None) -> Loaded:
    """The documents of the paths of *asked*, of the current folder without one; *work* sees them come in."""
    paths = asked.paths or (".",)
    built = [path for path in paths if asked.kustomize != "never" and kustomization.find(path)]
    doing = f"building {built[0]} with kustomize" if built else f"reading {in_words(paths)}"
    work.begin("read", doing)
    return sources.load(paths, reading(asked, stdin), watch=work.inputs)


def reading(asked: Request, stdin: BinaryIO | None) -> Reading:
    """How *asked* wants input to be read."""
    return Reading(asked.limits, stdin, asked.kustomize, asked.allow_remote)


def rendering(loaded: Loaded) -> str:
    """That *loaded* is being rendered, in words."""
    return f"rendering {len(loaded.documents):,} objects"


def render_loaded(
    loaded: Loaded, asked: Request, take: Callable[[Tree, int | None], None] | None = None
) -> tuple[Rendered, list[Diagnostic]]:
    """Render the documents of *loaded*; the findings of reading and rendering together.

    *take* gets each resource as soon as it is made; `Rendered.resources` then stays empty.

    Where part of the input or the catalogue could not be read, that an object was not found says nothing: it may stand
    there.
    """
    locks.settle(loaded, asked)
    resources = [_resource(document, i) for i, document in enumerate(loaded.documents)]
    rendered = run(resources, asked.settings, take=take)
    found: Iterable[Diagnostic] = rendered.diagnostics
    catalogue = [one for one in found if one.is_error and one.location.index is None]
    for file in {one.location.file for one in catalogue} - {""}:
        loaded.data.note(file, asked.limits.file_bytes)
    if catalogue or any(diagnostic.is_error for diagnostic in loaded.diagnostics):
        found = (diagnostic for diagnostic in found if diagnostic.code not in _FOLLOW_UPS)
    ambiguous = suppress(_ambiguities(loaded, resources), resources, reading=True)
    diagnostics = [*loaded.diagnostics, *ambiguous, *found]
    if not rendered.sources and not asked.settings.allow_empty and not status(diagnostics):
        diagnostics.append(_nothing(asked, loaded))
    return rendered, diagnostics


def _resource(document: Document, index: int) -> Resource:
    """The object of *document*. Its text says at once whether there may be a placeholder in it."""
    text = document.text
    doubtful = text is None or "{{" in text or "${" in text or "\\" in text
    return from_body(document.body, index, document.origin, may_hold_placeholders=doubtful)


def _into(texts: list[str], loaded: Loaded) -> Callable[[Tree, int | None], None]:
    """What puts the text of each resource into *texts*: it is a sixth of the tree, of which there is then only one."""

    def take(body: Tree, source: int | None) -> None:
        texts.append(writer.write([_content(loaded, body, source)]))

    return take


def _nothing(asked: Request, loaded: Loaded) -> Diagnostic:
    """Empty output would tell who applies it to remove everything."""
    where = ", ".join("standard input" if path == "-" else path for path in asked.paths)
    tidied = {tidy(path) for path in asked.paths}
    skipped = [
        d.message for d in loaded.diagnostics if d.location.file in tidied and not d.is_error
    ]
    return codes.NO_OBJECTS.at(
        Location(),
        "; ".join([f"no Kubernetes object in {where or 'the current folder'}", *skipped]),
        help="check the path (-v says what was skipped), or accept an empty input with --allow-empty",
    )


def _ambiguities(loaded: Loaded, resources: Sequence[Resource]) -> Iterator[Diagnostic]:
    """Unquoted values in KubeVirt's objects that kustomize and kubectl read differently."""
    for document, resource in zip(loaded.documents, resources, strict=True):
        if not document.ambiguous or resource.group not in (KUBEVIRT, INSTANCETYPE):
            continue
        from render.manifests import positions

        data = loaded.data[document.origin.file]
        for path, text, kubectl, kustomize in positions.ambiguous(data, document.origin):
            yield codes.AMBIGUOUS_SCALAR.at(
                at(resource, path),
                f"{text} is {kubectl} to kubectl and Argo CD, and {kustomize} to kustomize",
                help=f'write "{text}" if it is a text, or the value that is meant',
            )


def _save(loaded: Loaded, rendered: Rendered, asked: Request) -> Exit:
    """All manifests into files: what was not changed as its author wrote it."""
    from render.manifests import output

    contents = written(loaded, rendered)
    faults = output.save(asked.output, list(zip(rendered.resources, contents, strict=True)))
    return _failed(loaded, faults, asked) if faults else Exit.OK


def _print(loaded: Loaded, texts: Iterable[str], asked: Request) -> Exit:
    """All manifests on standard output."""
    try:
        emit_all(texts, STDOUT)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"cannot write to standard output: {error.strerror}"
        return _failed(loaded, [codes.UNWRITABLE.at(Location(), message)], asked)
    return Exit.OK


def _failed(loaded: Loaded, faults: list[Diagnostic], asked: Request) -> Exit:
    from render.frontends import reporting

    reporting.tell(reporting.findings_of(loaded, faults, asked), asked)
    return status(faults)


def written(loaded: Loaded, rendered: Rendered) -> list[Tree | str]:
    """What to write for each rendered object: the text of its author where nothing was changed."""
    return [
        _content(loaded, tree, source)
        for tree, source in zip(rendered.resources, rendered.sources, strict=True)
    ]


def _content(loaded: Loaded, tree: Tree, source: int | None) -> Tree | str:
    text = None if source is None else loaded.documents[source].text
    return tree if text is None else text
