"""``virt-render check``: what is wrong, and no manifests."""

import os
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from functools import cached_property

from render.diagnostics import codes
from render.diagnostics.codes import is_missed
from render.frontends.answer import Answer, Files
from render.frontends.commands.baseline import (
    Before,
    KnownFinding,
    accepted_by,
    before,
    weighty,
    without,
)
from render.frontends.commits import back_at
from render.frontends.figures import tally_of
from render.frontends.inputs.copies import copies
from render.frontends.inputs.elsewhere import DefinitionPlaces
from render.frontends.parts import FleetPart
from render.frontends.progress import Work, in_words
from render.frontends.reporting import as_note, findings_of, outcome
from render.frontends.request.request import Request, again
from render.frontends.session import (
    around,
    fleet,
    lend,
    read_roots,
    render_part,
)
from render.manifests import kustomization
from render.manifests.discover import outermost
from render.manifests.documents import Documents
from render.model.counting import counted
from render.model.hints import TYPE_CHECKING
from render.model.kinds import INSTANCETYPES, PREFERENCES
from render.model.named_tuple import NamedTuple
from render.report.findings import Finding, merge, of_all_inputs
from render.report.summary import Tally
from render.system import git
from render.system.files import inside, real_path, repository

if TYPE_CHECKING:
    from render.frontends import fixing


def check(request: Request, work: Work) -> Answer:
    """Findings only, on stdout: of everything below the paths, each kustomization by itself."""
    request = _demanding(request)
    known = _Known(request, work)
    if any(request.own[name] for name in ("fix", "unsafe_fixes", "diff")):
        return _mended(request, work, known)
    found = _found(request, work)
    findings, tally = known.without(found)
    findings, tally = _with_options(findings, tally, request)
    if any(_is_far_reaching(finding) for finding in findings):
        parts, inputs = [*work.parts], [*work.inputs]
        _, fixed = _tried(request, work, known, unsafe=True)
        work.parts[:], work.inputs[:] = parts, inputs
        findings, tally = _with_options(findings, tally, request, fixed.left)
    return Answer(findings=findings, tally=tally)


def _demanding(request: Request) -> Request:
    """*request*, by which an empty standard input is an error unless somebody allows it: its writer has failed."""
    if request.paths != ("-",) or "allow-empty" in request.beside.named:
        return request
    return request._replace(settings=request.settings._replace(allow_empty=False))


def _is_far_reaching(finding: Finding) -> bool:
    """Whether an option is named by which *finding*, of a definition, is mended, and VMs may start otherwise.

    It is not done where these stand in other files: whether they do, it has to be tried to know.
    """
    subject = finding.diagnostic.resource
    is_of_definition = subject is not None and subject.kind in INSTANCETYPES | PREFERENCES
    return is_of_definition and finding.option == "--unsafe-fixes"


def _with_options(
    findings: list[Finding], tally: Tally, request: Request, refused: Collection[Hashable] = ()
) -> tuple[list[Finding], Tally]:
    """*findings* with the options that mend them, but for what was *refused*, and *tally* with how many there are."""
    if not any(finding.fixes for finding in findings):
        return findings, tally
    from render.frontends import fixing

    findings = fixing.with_options(findings, request, refused)
    options = Counter(finding.option for finding in findings)
    return findings, tally._replace(
        fixable=options["--fix"], fixable_unsafely=options["--unsafe-fixes"]
    )


class _Found(NamedTuple):
    """Everything that is found in *parts*, and the figures of what was looked at, those of the first release."""

    findings: list[Finding]
    tally: Tally
    parts: list[FleetPart]


class _RootCheck(NamedTuple):
    """What is found in some of the paths, with what they refer to below *root*; parts as in `_Found`.

    Those *looked_at* are of the first release, the *others* of more releases.
    """

    root: str
    findings: list[Finding]
    looked_at: list[FleetPart]
    others: list[FleetPart]


def _tried(
    request: Request, work: Work, known: "_Known", *, unsafe: bool
) -> "tuple[list[_Found], fixing.Fixed]":
    """What is left once files have been fixed, which are not written; and each look at them."""
    from render.frontends import fixing

    looks: list[_Found] = []

    def look() -> fixing.Look:
        del work.parts[:], work.inputs[:]
        looks.append(_found(request, work))
        mended, _ = known.without(looks[-1])
        return fixing.Look(looks[-1].findings, mended, looks[-1].parts)

    return looks, fixing.fixed(request, look, unsafe=unsafe)


def _mended(request: Request, work: Work, known: "_Known") -> Answer:
    """What is left once files have been fixed, and these files; ``--diff`` prints them as a patch instead."""
    from render.frontends import patching

    looks, fixed = _tried(request, work, known, unsafe=request.own["unsafe_fixes"])
    last = next(found for found in looks if found.findings is fixed.last.findings)
    findings, tally = known.without(last)
    findings, tally = _with_options(findings, tally, request, fixed.left)
    changes = [
        patching.FileChange(file, fixed.known[file].decode(), text)
        for file, text in sorted(fixed.texts.items())
    ]
    exit_ = outcome((finding.diagnostic for finding in findings), request)
    notes = [*(f"fixed: {line}" for line in fixed.done), *fixed.left.values()]
    if request.own["diff"]:
        notes = [line.replace("fixed: ", "would fix: ", 1) for line in notes]
        return Answer([patching.painted(changes)], findings, exit_, tally=tally, notes=notes)
    written = Files([(change.file, change.after) for change in changes], fixed.known.items())
    return Answer(findings=findings, exit=exit_, tally=tally, files=written, notes=notes)


def _found(request: Request, work: Work) -> _Found:
    places = DefinitionPlaces()
    named = request.own["root"]
    checks = [
        _check_root(request, root, paths, work, places)
        for root, paths in _by_root(request.paths or (".",), named).items()
    ]
    looked_at = [part for checked in checks for part in checked.looked_at]
    tally = tally_of(looked_at, request.paths if any(checked.root for checked in checks) else ())
    findings = of_all_inputs(merge([each for checked in checks for each in checked.findings]))
    return _Found(
        findings, tally, [*looked_at, *(part for checked in checks for part in checked.others)]
    )


def _check_root(
    request: Request, root: str, paths: Sequence[str], work: Work, places: DefinitionPlaces
) -> _RootCheck:
    """Look at *paths*, with what they refer to below *root* if that is one, else with what they miss around them."""
    findings: list[Finding] = []
    looked_at: list[FleetPart] = []
    others: list[FleetPart] = []
    releases = _for_releases(request)
    several = len(releases) > 1
    inputs: list[Documents] = []
    beside: list[Documents] = []
    for number, release_request in enumerate(releases):
        inputs = _load_for(release_request, inputs, root, paths, work)
        parts = [*fleet(release_request, work, inputs)]
        places.beside = parts
        for part in parts:
            part.loaded.unreported = _unreported(part, paths) if root else frozenset()
        checked = [_checked(part, work, places, several=several) for part in parts]
        missed = (finding.diagnostic for found in checked for finding in found)
        misses = not root and any(map(is_missed, missed))
        if misses and (not beside or any(loaded.filled for loaded in beside)):
            beside = around(release_request, work, paths, request.own["root"])
        if misses and lend(beside, parts, release_request):
            checked = [_checked(part, work, places, several=several) for part in parts]
        for part, found in zip(parts, checked, strict=True):
            findings += _about(found, paths, part) if root else found
        (others if number else looked_at).extend(parts)
        for part in copies(release_request, inputs, beside if misses else ()):
            errors = [
                finding._replace(fixes=())
                for finding in _checked(part, work, places, several=several)
                if finding.diagnostic.is_error
            ]
            findings += _about(errors, paths, part) if root else errors
    return _RootCheck(root, findings, looked_at, others)


def _for_releases(request: Request) -> list[Request]:
    """*request* for each release that is asked for."""
    named = dict.fromkeys(release.removeprefix("v") for release in request.own["kubevirt"])
    return [
        request.in_run_of(request)._replace(settings=request.settings._replace(kubevirt=release))
        for release in named or (request.settings.kubevirt,)
    ]


def _load_for(
    request: Request, before: Sequence[Documents], root: str, paths: Sequence[str], work: Work
) -> list[Documents]:
    """The inputs for the release of *request*: those *before*, for another one, but for charts, which may ask."""
    if before and not any(loaded.filled for loaded in before):
        return list(before)
    files = [path for path in paths if path != "-"] if before else paths
    work.begin("read", f"reading {in_words(files)}")
    found = _load_around(request, root, files, work) if root else read_roots(files, request, work)
    if not before:
        return found
    same = [loaded for loaded in before if not loaded.filled]
    return [*same, *(loaded for loaded in found if loaded.filled)]


class _Known:
    """The findings of the baseline and of the commit that is compared with, read once they are asked for."""

    def __init__(self, request: Request, work: Work) -> None:
        self._request = request
        self._work = work

    @cached_property
    def _accepted(self) -> Sequence[KnownFinding]:
        return accepted_by(self._request.own["baseline"], self._request)

    @cached_property
    def _before(self) -> Before:
        revision = self._request.own["changed_since"]
        self._work.begin("compare", f"checking {revision}")
        return _at(revision, self._request, self._work)

    def without(self, found: "_Found") -> tuple[list[Finding], Tally]:
        """What is *found* but for these, which its tally counts. Raises RefusedError or GitError, if one is unread."""
        findings, tally, parts = found
        if self._request.own["baseline"]:
            findings, accepted = without(findings, self._accepted, parts)
            tally = tally._replace(accepted=accepted)
        if self._request.own["changed_since"]:
            findings, there_before = without(findings, self._before.findings, parts)
            known = self._before.without_unknown(findings)
            unknown = weighty(findings) - weighty(known)
            findings, tally = known, tally._replace(before=there_before, unknown=unknown)
        return findings, tally


def _at(revision: str, request: Request, work: Work) -> Before:
    """What is found where the work tree left *revision*."""
    here = real_path(".")
    paths = [os.path.relpath(real_path(path), here) for path in request.paths]
    top = real_path(git.root(here))
    base = git.merge_base(top, revision)
    moved = [*_moved_into(paths, top, base)]
    with back_at(top, base, request.reading.limits) as tree:
        paths += (os.path.relpath(os.path.join(tree, name)) for name in moved)
        present = [path for path in paths if os.path.lexists(path)]
        then = again(request, *present)
        if then.faults.diagnostics or len(present) < len(paths[:1]):
            return Before()
        findings, _, parts = _found(then, work)
        return before(findings, parts, git.changed_since(top, base))


def _moved_into(paths: Sequence[str], top: str, commit: str) -> Iterator[str]:
    """What of the repository *top* was elsewhere at *commit* and is among *paths* now.

    Those are files, and where a folder is named their folders: these are read by themselves, a file with all that is
    around it.
    """
    moved = git.moved_since(top, commit) if paths else ()
    for path in paths:
        below = [real_path(path)]
        olds = [
            old
            for old, new in moved
            if inside(os.path.join(top, new), below) and not inside(os.path.join(top, old), below)
        ]
        if olds and os.path.isdir(path):
            folders = outermost(os.path.dirname(os.path.join(top, old)) for old in olds)
            yield from (os.path.relpath(folder, top) for folder in folders)
        else:
            yield from olds


def _checked(
    part: FleetPart, work: Work, places: DefinitionPlaces, *, several: bool
) -> list[Finding]:
    """What is found in *part*; with *several* releases each finding names that of the part.

    *places* know where that stands which is not found.
    """
    render_part(part, work, lambda _, source: work.rendered.append(source))
    places.name_in(part)
    work.doing = f"looking up the places of {counted(len(part.diagnostics), 'finding')}"
    found = findings_of(part.loaded, map(as_note, part.diagnostics), part.request)
    release = part.request.settings.kubevirt
    return [finding._replace(releases=(release,)) for finding in found] if several else found


def _by_root(paths: Sequence[str], named: str) -> dict[str, list[str]]:
    """*paths* by the root where the objects stand that its files refer to: *named*, else the git root of each file.

    A folder goes with the root that holds it, if a file does; what has none (``""``) is checked by itself.
    """
    if "-" in paths:
        return {"": list(paths)}
    files = [path for path in paths if not os.path.isdir(path)]
    root_of = {
        path: real_path(named) if named else repository(os.path.dirname(real_path(path)))
        for path in files
    }
    known = sorted({*root_of.values()} - {""}, key=len, reverse=True)
    grouped: dict[str, list[str]] = {}
    for path in paths:
        real = real_path(path)
        root = root_of.get(path, next((root for root in known if inside(real, [root])), ""))
        grouped.setdefault(root, []).append(path)
    return grouped


def _about(findings: Iterable[Finding], named: Sequence[str], part: FleetPart) -> Iterator[Finding]:
    """The *findings* of *part* in those of *paths* that are files (by their names there), below folders, or nowhere.

    *paths* are what was *named*, and what the settings name. What is found in a kustomization or chart is about its
    folder and its own file, wherever the objects stand, and in a chart about the files of values that fill it in. Why a
    kustomization was not built is about every file that it reads: none of them was checked. And what a file is a cause
    of, or where another makes something else of it, is about that too.
    """
    loaded = part.loaded
    paths = [*named, *part.request.beside.files]
    files = _files(paths)
    read = (
        {real_path(file) for file in loaded.files} if loaded.is_built or loaded.unbuilt else set()
    )
    named_files = read & files.keys()
    # What is made of a file that has no objects itself, as generators do.
    is_made = not named_files <= {real_path(each.origin.file) for each in loaded.documents}
    folders = [real_path(path) for path in paths if path not in files.values()]
    own = kustomization.find(loaded.folder) if loaded.is_built else None
    deciding = [own or "", *(file for filled in loaded.filled for file in filled.files)]
    is_named = any(real_path(file) in files for file in filter(None, deciding))
    is_named |= loaded.is_one_root and inside(real_path(loaded.folder), folders)
    unchecked = set(loaded.unbuilt) if named_files else set()
    for finding in findings:
        real = real_path(finding.place.file)
        is_about_all = is_named or not finding.place.file or finding.diagnostic in unchecked
        is_of_cause = any(real_path(place.file) in files for place in finding.related if place.file)
        is_of_generated = is_made and not os.path.lexists(real)
        if real in files:
            placed = finding._replace(place=finding.place._replace(file=files[real]))
            yield placed if loaded.is_one_root else _perhaps_of_patch(placed)
        elif is_about_all or is_of_cause or is_of_generated or inside(real, folders):
            yield finding


def _perhaps_of_patch(finding: Finding) -> Finding:
    """*finding* of a loose file, which may be a patch that the kustomization beside it does not list any more."""
    beside = kustomization.find(os.path.dirname(finding.place.file) or os.curdir)
    diagnostic = finding.diagnostic
    if beside is None or diagnostic.code != codes.MISSING_FIELD.number:
        return finding
    cure = f"list it among the patches of {beside}, if it is one; else {diagnostic.help}"
    return finding._replace(diagnostic=diagnostic._replace(help=cure))


def _unreported(part: FleetPart, paths: Sequence[str]) -> frozenset[str]:
    """The files of *part* that cannot be read, and of which nothing is said, since they are in none of *paths*."""
    named = [real_path(path) for path in (*paths, *part.request.beside.files)]
    return frozenset(
        file for file in part.loaded.unread_files if not inside(real_path(file), named)
    )


def _files(paths: Sequence[str]) -> dict[str, str]:
    """The files among *paths*, by resolved name."""
    return {real_path(path): path for path in paths if not os.path.isdir(path)}


def _load_around(request: Request, root: str, paths: Sequence[str], work: Work) -> list[Documents]:
    """What is below *root*, where the objects stand that the files of *paths* refer to, and *paths* themselves.

    A patch is read by its kustomization, and not as an object of its own; a template of Helm is read by nobody.
    Another file that was passed over (hidden, outside the root, or missing) is read because it was named, whatever it
    holds: pre-commit names all that changed.
    """
    named = _files(paths)
    wanted = [os.path.relpath(root), *(path for path in paths if os.path.isdir(path))]
    known = len(work.inputs)
    inputs = read_roots(wanted, request, work)
    read = {real_path(file) for loaded in inputs for file in (*loaded.files, *loaded.passed)}
    templates = _templates(inputs)
    missed = [
        path for real, path in named.items() if real not in read and not inside(real, templates)
    ]
    if not missed:
        return inputs
    del work.inputs[known:]
    return read_roots([*wanted, *missed], request, work, anything=True)


def _templates(inputs: Iterable[Documents]) -> list[str]:
    """The folders with templates of Helm charts that were passed over."""
    notes = (note for loaded in inputs for note in loaded.diagnostics)
    skipped = {note.location.file for note in notes if note.code == codes.FILE_SKIPPED.number}
    return [real_path(name) for name in skipped if os.path.basename(name) == "templates"]
