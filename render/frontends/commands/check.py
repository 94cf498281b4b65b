"""``virt-render check``: what is wrong, and no manifests."""

import os
from collections.abc import Iterable, Iterator, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Severity
from render.frontends.answer import Answer
from render.frontends.commands.baseline import accepted_by, without
from render.frontends.commits import back_at
from render.frontends.figures import tally_of
from render.frontends.parts import FleetPart
from render.frontends.progress import Work, in_words
from render.frontends.reporting import findings_of, with_fingerprints
from render.frontends.request.request import Request, again
from render.frontends.session import fleet, read_roots, render_part
from render.manifests.discover import inside
from render.manifests.documents import Documents
from render.model.counting import counted
from render.report.findings import Finding, merge
from render.report.summary import Tally
from render.system import git
from render.system.files import repository


def check(asked: Request, work: Work) -> Answer:
    """Findings only, on stdout: of everything below the paths, each kustomization by itself."""
    findings, tally = _new(*_findings(asked, work), asked, work)
    return Answer(findings=findings, tally=tally)


def _findings(asked: Request, work: Work) -> tuple[list[Finding], Tally]:
    """Everything that is found, and the figures of what was looked at, which are those of the first release."""
    findings: list[Finding] = []
    looked_at: list[FleetPart] = []
    releases = _for_releases(asked)
    for root, paths in _by_root(asked.paths or (".",), asked.own["root"]).items():
        inputs: list[Documents] = []
        for number, one in enumerate(releases):
            inputs = _load_for(one, inputs, root, paths, work)
            for part in fleet(one, work, inputs):
                checked = _checked(part, work)
                if len(releases) > 1:
                    checked = [said._replace(releases=(one.settings.kubevirt,)) for said in checked]
                findings += (
                    _about(checked, [*paths, *one.beside.files], part.loaded) if root else checked
                )
                looked_at += [part] if not number else []
    return merge(findings), tally_of(looked_at)


def _for_releases(asked: Request) -> list[Request]:
    """*asked* for each release that is asked for."""
    named = dict.fromkeys(one.removeprefix("v") for one in asked.own["kubevirt"])
    return [
        asked._replace(settings=asked.settings._replace(kubevirt=release))
        for release in named or (asked.settings.kubevirt,)
    ]


def _load_for(
    asked: Request, before: Sequence[Documents], root: str, paths: Sequence[str], work: Work
) -> list[Documents]:
    """The inputs for the release of *asked*: those *before*, for another one, but for charts, which may ask for it."""
    if before and not any(loaded.filled for loaded in before):
        return list(before)
    files = [path for path in paths if path != "-"] if before else paths
    work.begin("read", f"reading {in_words(files)}")
    found = _load_around(asked, root, files, work) if root else read_roots(files, asked, work)
    if not before:
        return found
    same = [loaded for loaded in before if not loaded.filled]
    return [*same, *(loaded for loaded in found if loaded.filled)]


def _new(
    findings: list[Finding], tally: Tally, asked: Request, work: Work
) -> tuple[list[Finding], Tally]:
    """What of *findings* neither the baseline has nor the commit that is compared with; the rest is counted.

    Raises RefusedError or GitError where one of these cannot be read.
    """
    baseline, revision = asked.own["baseline"], asked.own["changed_since"]
    if baseline:
        findings, accepted = without(findings, accepted_by(baseline, asked))
        tally = tally._replace(accepted=accepted)
    if revision:
        work.begin("compare", f"checking {revision}")
        findings, before = without(findings, _at(revision, asked, work))
        tally = tally._replace(before=before)
    return findings, tally


def _at(revision: str, asked: Request, work: Work) -> frozenset[str]:
    """The fingerprints of what is found where the work tree left *revision*."""
    here = os.path.realpath(".")
    paths = [os.path.relpath(os.path.realpath(path), here) for path in asked.paths]
    top = git.root(here)
    with back_at(top, git.merge_base(top, revision), asked.reading.limits):
        there = [path for path in paths if os.path.lexists(path)]
        then = again(asked, *there)
        if then.faults.diagnostics or len(there) < len(paths[:1]):
            return frozenset()
        return frozenset(one.fingerprint for one in with_fingerprints(_findings(then, work)[0]))


def _checked(part: FleetPart, work: Work) -> list[Finding]:
    render_part(part, work, lambda _, source: work.rendered.append(source))
    work.doing = f"looking up the places of {counted(len(part.diagnostics), 'finding')}"
    return findings_of(part.loaded, map(_as_note, part.diagnostics), part.request)


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


def _about(
    findings: Iterable[Finding], paths: Sequence[str], loaded: Documents
) -> Iterator[Finding]:
    """The *findings* in those of *paths* that are files (by the name given), below folders, or without a file.

    *paths* are what was asked for, and what the settings name. Why a kustomization was not built is about every file
    that it reads: none of them was checked.
    """
    files = _files(paths)
    read = {os.path.realpath(file) for file in loaded.files} if loaded.unbuilt else set()
    unchecked = set() if read.isdisjoint(files) else set(loaded.unbuilt)
    folders = [os.path.realpath(path) for path in paths if path not in files.values()]
    for finding in findings:
        real = os.path.realpath(finding.place.file)
        if real in files:
            yield finding._replace(place=finding.place._replace(file=files[real]))
        elif not finding.place.file or inside(real, folders) or finding.diagnostic in unchecked:
            yield finding


def _files(paths: Sequence[str]) -> dict[str, str]:
    """The files among *paths*, by resolved name."""
    return {os.path.realpath(path): path for path in paths if not os.path.isdir(path)}


def _load_around(asked: Request, root: str, paths: Sequence[str], work: Work) -> list[Documents]:
    """What is below *root*, where the objects stand that the files of *paths* refer to, and *paths* themselves.

    A patch is read by its kustomization, and not as an object of its own; a template of Helm is read by nobody.
    Another file that was passed over (hidden, outside the root, or missing) is read because it was named, whatever it
    holds: pre-commit names all that changed.
    """
    named = _files(paths)
    wanted = [os.path.relpath(root), *(path for path in paths if os.path.isdir(path))]
    known = len(work.inputs)
    inputs = read_roots(wanted, asked, work)
    read = {os.path.realpath(file) for loaded in inputs for file in (*loaded.files, *loaded.passed)}
    templates = _templates(inputs)
    missed = [
        path for real, path in named.items() if real not in read and not inside(real, templates)
    ]
    if not missed:
        return inputs
    del work.inputs[known:]
    return read_roots([*wanted, *missed], asked, work, anything=True)


def _templates(inputs: Iterable[Documents]) -> list[str]:
    """The folders with templates of Helm charts that were passed over."""
    notes = (note for loaded in inputs for note in loaded.diagnostics)
    skipped = {note.location.file for note in notes if note.code == codes.FILE_SKIPPED.number}
    return [os.path.realpath(name) for name in skipped if os.path.basename(name) == "templates"]
