"""The commands that render: read, call, report, write, exit status. No decision about a VM is made here."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, at
from render.diagnostics.suppression import suppress
from render.frontends import config, locks, stopping
from render.frontends.exits import Exit, status
from render.frontends.options import Call, Request, request
from render.frontends.progress import Work, in_words
from render.manifests import kustomization, sources, writer
from render.manifests.discover import inside, tidy
from render.manifests.files import reason, write_atomic
from render.manifests.reader import Document
from render.manifests.signals import STOPS, held
from render.manifests.sources import Loaded
from render.model.resource import INSTANCETYPE, KUBEVIRT, Resource, from_body
from render.model.tree import Tree
from render.pipeline import Rendered, run
from render.report import formats
from render.report.findings import Finding, find, merge, worth_saying
from render.report.places import Place, Sources

STDOUT, STDERR = 1, 2
_PIECE = 1 << 16
_FOR_PEOPLE = frozenset({"text", "github", "sarif", "junit"})
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
            report = merge(find(asked.diagnostics, asked.sources))
            faults = publish(report, asked, to=STDERR if call.command == "build" else STDOUT)
            return status((*asked.diagnostics, *faults))
        if call.command == "build":
            return timed(build(asked, work), asked, work)
        from render.frontends.check import check

        return timed(check(asked, work), asked, work)


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
        diagnostics += publish(merge(findings_of(loaded, diagnostics, asked)), asked)
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
    work.inputs.append(Loaded())
    return sources.load(
        paths,
        stdin=stdin,
        limits=asked.limits,
        kustomize=asked.kustomize,
        allow_remote=asked.allow_remote,
        into=work.inputs[-1],
    )


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


def findings_of(loaded: Loaded, diagnostics: Iterable[Diagnostic], asked: Request) -> list[Finding]:
    """*diagnostics* with their places in *loaded*; without those that `tell` would leave out, if nobody wants them."""
    if asked.format in _FOR_PEOPLE and not asked.verbose and not asked.reports:
        diagnostics = worth_saying(diagnostics)
    found = find(diagnostics, Sources([d.origin for d in loaded.documents], loaded.data))
    named = (asked.lock, asked.settings.catalog)
    foreign = [os.path.realpath(path) for path in named if path and not config.is_ours(path)]
    return [_without_lines(one, foreign) for one in found] if foreign else found


def _without_lines(found: Finding, foreign: Sequence[str]) -> Finding:
    """*found* with no text of the *foreign* files: who let settings name them need not be allowed to read them."""

    def hidden(place: Place) -> Place:
        foreigner = place.source and inside(os.path.realpath(place.file), foreign)
        return place._replace(source="") if foreigner else place

    return found._replace(place=hidden(found.place), related=tuple(map(hidden, found.related)))


def publish(findings: Sequence[Finding], asked: Request, *, to: int = STDERR) -> list[Diagnostic]:
    """Report *findings* where it was asked for: on *to*, and in files; what could not be written comes back."""
    tell(findings, asked, to=to)
    faults: list[Diagnostic] = []
    for name, file in asked.reports:
        said = formats.report(name, _told(findings, name, asked))
        if file == "-":  # where nothing else goes there
            emit(said, STDOUT)
            continue
        try:
            write_atomic(file, said)
        except OSError as error:
            message = f"cannot write {file}: {reason(error)}"
            faults.append(codes.UNWRITABLE.at(Location(file=file), message))
    if faults:
        tell(find(faults, Sources()), asked)
    return faults


def _told(findings: Sequence[Finding], name: str, asked: Request) -> Sequence[Finding]:
    """What the format *name* shows of *findings*: people are told of every skipped file with ``-v`` only.

    SARIF and JUnit end before people too; JSON holds everything.
    """
    if name not in _FOR_PEOPLE or asked.verbose:
        return findings
    said = set(worth_saying(found.diagnostic for found in findings))
    return [found for found in findings if found.diagnostic in said]


def tell(findings: Sequence[Finding], asked: Request, *, to: int = STDERR) -> None:
    """Report *findings* in the format that was asked for; in colours on a terminal that wants them."""
    findings = _told(findings, asked.format, asked)
    colour = asked.format == "text" and os.isatty(to) and not os.environ.get("NO_COLOR")
    emit(formats.report(asked.format, findings, colour=colour), to)


def _save(loaded: Loaded, rendered: Rendered, asked: Request) -> Exit:
    """All manifests into files: what was not changed as its author wrote it."""
    from render.manifests import output

    contents = written(loaded, rendered)
    faults = output.save(asked.output, list(zip(rendered.resources, contents, strict=True)))
    if faults:
        tell(findings_of(loaded, faults, asked), asked)
    return status(faults)


def _print(loaded: Loaded, texts: Iterable[str], asked: Request) -> Exit:
    """All manifests on standard output."""
    try:
        emit_all(texts, STDOUT)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"cannot write to standard output: {error.strerror}"
        faults = [codes.UNWRITABLE.at(Location(), message)]
        tell(findings_of(loaded, faults, asked), asked)
        return status(faults)
    return Exit.OK


def written(loaded: Loaded, rendered: Rendered) -> list[Tree | str]:
    """What to write for each rendered object: the text of its author where nothing was changed."""
    return [
        _content(loaded, tree, source)
        for tree, source in zip(rendered.resources, rendered.sources, strict=True)
    ]


def _content(loaded: Loaded, tree: Tree, source: int | None) -> Tree | str:
    text = None if source is None else loaded.documents[source].text
    return tree if text is None else text


def emit(text: str, to: int) -> None:
    """Write *text* to the file descriptor *to*, whole: a failing write is an OSError here, not a surprise at exit."""
    emit_all((text,), to)


def emit_all(texts: Iterable[str], to: int) -> None:
    """Write *texts* to the file descriptor *to*, one after the other.

    Who asks us to end waits for standard output, lest its reader takes half of it for all; not at a terminal, and no
    longer than until he asks again.
    """
    pieces = _pieces(text.encode("utf-8", "backslashreplace") for text in texts)
    if to != STDOUT or os.isatty(to):
        _write_all(pieces, to)
        return
    when = "while printing"
    try:
        with held(STOPS):
            _write_all(pieces, to)
            when = "after printing everything"
    except stopping.STOPPED as stopped:
        stopping.note(stopped, when)
        raise


def _pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    """*parts* joined to pieces that are worth a call of the system."""
    kept: list[bytes] = []
    size = 0
    for part in parts:
        kept.append(part)
        size += len(part)
        if size >= _PIECE:
            yield b"".join(kept)
            kept, size = [], 0
    yield b"".join(kept)


def _write_all(pieces: Iterable[bytes], to: int) -> None:
    """Without a buffer, which would be written in the end even where nobody reads any more."""
    for piece in pieces:
        left = memoryview(piece)
        while left:
            left = left[os.write(to, left) :]


def standard_input() -> BinaryIO | None:
    """The stream that ``-`` means; None in a process without one."""
    return sys.stdin.buffer if sys.stdin else None
