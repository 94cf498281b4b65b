"""``virt-render check``: what is wrong, and no manifests."""

import os
from collections.abc import Iterable, Iterator, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Severity
from render.frontends.exits import Exit, status
from render.frontends.options import Request
from render.frontends.progress import Work, in_words
from render.frontends.reporting import findings_of, publish
from render.frontends.run import reading, render_loaded, rendering
from render.frontends.streams import STDOUT, standard_input
from render.manifests import sources
from render.manifests.discover import inside, repository
from render.manifests.sources import Loaded
from render.report.findings import Finding, merge


def check(asked: Request, work: Work) -> Exit:
    """Findings only, on stdout: of everything below the paths, each kustomization by itself."""
    findings: list[Finding] = []
    with work.shown():
        for root, paths in _by_root(asked.paths or (".",), asked.root).items():
            work.begin("read", f"reading {in_words(paths)}")
            inputs = (
                _load_around(asked, root, paths, work) if root else _load_all(paths, asked, work)
            )
            for loaded in inputs:
                found = _checked(loaded, asked, work)
                findings += _about(found, [*paths, *asked.read], loaded) if root else found
    work.begin("write", f"reporting {len(findings):,} findings")
    faults = publish(merge(findings), asked, to=STDOUT)
    return status((*(found.diagnostic for found in findings), *faults))


def _checked(loaded: Loaded, asked: Request, work: Work) -> list[Finding]:
    work.begin("render", rendering(loaded))
    _, diagnostics = render_loaded(loaded, asked, lambda _, source: work.made.append(source))
    work.doing = f"looking up where {len(diagnostics):,} findings stand"
    return findings_of(loaded, map(_as_note, diagnostics), asked)


def _as_note(diagnostic: Diagnostic) -> Diagnostic:
    """A placeholder may be filled in later, so ``check`` only notes it."""
    if diagnostic.code == codes.PLACEHOLDER.number:
        return diagnostic._replace(severity=Severity.INFO)
    return diagnostic


def _by_root(paths: Sequence[str], named: str) -> dict[str, list[str]]:
    """*paths* by the root where the objects stand that its files refer to: *named*, else the git root of each file.

    A folder goes with the root that holds it, if a file does; what has none (``""``) is checked by itself.
    """
    if "-" in paths:
        return {"": list(paths)}
    files = [path for path in paths if not os.path.isdir(path)]
    root_of = {path: os.path.realpath(named) if named else _root(path) for path in files}
    known = sorted({*root_of.values()} - {""}, key=len, reverse=True)
    grouped: dict[str, list[str]] = {}
    for path in paths:
        real = os.path.realpath(path)
        root = root_of.get(path, next((root for root in known if inside(real, [root])), ""))
        grouped.setdefault(root, []).append(path)
    return grouped


def _root(file: str) -> str:
    return repository(os.path.dirname(os.path.realpath(file)))


def _about(findings: Iterable[Finding], paths: Sequence[str], loaded: Loaded) -> Iterator[Finding]:
    """The *findings* in those of *paths* that are files (by the name given), below folders, or without a file.

    *paths* are what was asked for, and what the settings name. Why a kustomization was not built is about every file
    that it reads: none of them was checked.
    """
    files = _files(paths)
    read = {os.path.realpath(file) for file in loaded.files} if loaded.unbuilt else set()
    unchecked = set() if read.isdisjoint(files) else set(loaded.unbuilt)
    folders = [os.path.realpath(path) for path in paths if path not in files.values()]
    for found in findings:
        real = os.path.realpath(found.place.file)
        if real in files:
            yield found._replace(place=found.place._replace(file=files[real]))
        elif not found.place.file or inside(real, folders) or found.diagnostic in unchecked:
            yield found


def _files(paths: Sequence[str]) -> dict[str, str]:
    """The files among *paths*, by resolved name."""
    return {os.path.realpath(path): path for path in paths if not os.path.isdir(path)}


def _load_all(
    paths: Sequence[str], asked: Request, work: Work, *, anything: bool = False
) -> list[Loaded]:
    how = reading(asked, standard_input())
    return sources.load_all(paths, how, anything=anything, watch=work.inputs)


def _load_around(asked: Request, root: str, paths: Sequence[str], work: Work) -> list[Loaded]:
    """What is below *root*, where the objects stand that the files of *paths* refer to, and *paths* themselves.

    A patch is read by its kustomization, and not as an object of its own; a template of Helm is read by nobody.
    Another file that was passed over (hidden, outside the root, or missing) is read because it was named, whatever it
    holds: pre-commit names all that changed.
    """
    named = _files(paths)
    wanted = [os.path.relpath(root), *(path for path in paths if os.path.isdir(path))]
    known = len(work.inputs)
    inputs = _load_all(wanted, asked, work)
    read = {os.path.realpath(file) for loaded in inputs for file in loaded.files}
    templates = _templates(inputs)
    missed = [
        path for real, path in named.items() if real not in read and not inside(real, templates)
    ]
    if not missed:
        return inputs
    del work.inputs[known:]
    return _load_all([*wanted, *missed], asked, work, anything=True)


def _templates(inputs: Iterable[Loaded]) -> list[str]:
    """The folders with templates of Helm charts that were passed over."""
    notes = (note for loaded in inputs for note in loaded.diagnostics)
    skipped = {note.location.file for note in notes if note.code == codes.FILE_SKIPPED.number}
    return [os.path.realpath(name) for name in skipped if os.path.basename(name) == "templates"]
