"""Findings that are accepted: what a report of before holds is counted, and no more."""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.frontends.answer import refused
from render.frontends.parts import FleetPart
from render.frontends.reporting import in_repository, with_fingerprints
from render.frontends.request.request import Request
from render.manifests.documents import Documents
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.resource import ResourceRef, from_body
from render.report.findings import Finding, about
from render.system import files
from render.system.files import real_path, repository


class KnownFinding(NamedTuple):
    """A finding of before: of which object, in which *file* of the repository, and what it says there or elsewhere."""

    fingerprint: str
    resource: ResourceRef | None
    file: str
    says: tuple[str, ...]


class Before(NamedTuple):
    """What was found before, and what could not be read then: files, and folders of kustomizations and charts."""

    findings: Sequence[KnownFinding] = ()
    unread: Collection[str] = ()

    def without_unknown(self, findings: Iterable[Finding]) -> list[Finding]:
        """*findings* but for those of which nobody knows that they are new: where they stand could not be read.

        What cannot be read now is told all the same.
        """
        seen_from = in_repository()

        def is_unknown(finding: Finding) -> bool:
            if _says_unread(finding.diagnostic):
                return False
            builds = [_is_below(seen_from(folder), self.unread) for folder in finding.builds]
            places = (seen_from(place.file) for place in (finding.place, *finding.related))
            return any(_is_below(file, self.unread) for file in places) or (
                bool(builds) and all(builds)
            )

        return [finding for finding in findings if not is_unknown(finding)]


def _says_unread(diagnostic: Diagnostic) -> bool:
    """Whether *diagnostic* is about what cannot be read, and about no object."""
    is_about_text = diagnostic.resource is None and codes.CODES[diagnostic.code].withholds
    return diagnostic.is_error and is_about_text


def _is_below(name: str, folders: Iterable[str]) -> bool:
    return any(folder == os.curdir or files.is_below(name, folder) for folder in folders)


def before(
    findings: Sequence[Finding], parts: Iterable[FleetPart], changed: Collection[str]
) -> Before:
    """What was found in *parts*, as it stands here.

    Why something cannot be read that has *changed* since is not among it: nobody knows what the change does there.
    """
    seen_from = in_repository()
    unread: set[str] = set()
    altered: set[str] = set()
    for loaded in (part.loaded for part in parts):
        names = {*map(seen_from, _unread(loaded))}
        read = {*map(seen_from, loaded.files)} if loaded.is_one_root else ()
        unread |= names
        if names and any(file in read or _is_below(file, names) for file in changed):
            altered |= names
    known = [
        each
        for each in as_known(findings)
        if each.resource is not None or not _is_below(each.file, altered)
    ]
    return Before(known, unread)


def _unread(loaded: Documents) -> Iterator[str]:
    """What of *loaded* could not be read: files, or all of the folder that it is made of."""
    for error in loaded.diagnostics:
        if _says_unread(error):
            yield from filter(None, [error.location.file])
            if loaded.is_one_root:
                yield loaded.folder


def as_known(findings: Sequence[Finding]) -> tuple[KnownFinding, ...]:
    """*findings*, found as the files stand here, as those of before."""
    seen_from = in_repository()
    return tuple(
        KnownFinding(
            finding.fingerprint,
            finding.diagnostic.resource,
            seen_from(finding.place.file),
            _says(finding),
        )
        for finding in with_fingerprints(findings)
    )


def _says(finding: Finding) -> tuple[str, ...]:
    diagnostic = finding.diagnostic
    names = diagnostic.resource or ("", "", "")
    file = finding.place.file
    return about(diagnostic.code, names, file, diagnostic.field, diagnostic.message)


def without(
    findings: list[Finding], known: Sequence[KnownFinding], parts: Iterable[FleetPart]
) -> tuple[list[Finding], int]:
    """*findings* of *parts* but for those *known*; and how many of these are more than notes.

    One is the same where its object, or its file, has moved: where it stood, it stands no more.
    """
    whole = with_fingerprints(findings)
    prints = {each.fingerprint for each in known}
    new = [finding for finding in whole if finding.fingerprint not in prints]
    if new:
        left = prints.difference(finding.fingerprint for finding in whole)
        new = _unmoved(new, [each for each in known if each.fingerprint in left], parts)
    return new, weighty(whole) - weighty(new)


def weighty(findings: Iterable[Finding]) -> int:
    """How many of *findings* are more than notes."""
    return sum(finding.diagnostic.severity is not Severity.INFO for finding in findings)


def _unmoved(
    findings: Iterable[Finding], left: Iterable[KnownFinding], parts: Iterable[FleetPart]
) -> list[Finding]:
    """*findings* but for one for each of those *left* that says the same of the same place, or is gone from its own."""
    seen_from, is_gone = in_repository(), _Gone(parts)
    known_by: dict[tuple[str, ...], list[KnownFinding]] = {}
    for each in left:
        known_by.setdefault(each.says, []).append(each)
    new = []
    for finding in findings:
        file = seen_from(finding.place.file)
        others = known_by.get(_says(finding), [])
        # At the same place it is another fingerprint where that of a code was made otherwise before.
        same = next((each for each in others if each.file == file), None)
        found = same or next(filter(is_gone, others), None)
        if found is None:
            new.append(finding)
        else:
            others.remove(found)
    return new


class _Gone:
    """Knows what stands no more where it stood: its file is gone, or *parts* have that, and not the object in it."""

    def __init__(self, parts: Iterable[FleetPart]) -> None:
        inputs = [part.loaded for part in parts]
        self._top = repository(real_path(".")) or real_path(".")
        self._read = {real_path(file) for loaded in inputs for file in loaded.files}
        self._objects = {
            (from_body(document.body, 0).ref, real_path(document.origin.file))
            for loaded in inputs
            for document in loaded.documents
        }

    def __call__(self, finding: KnownFinding) -> bool:
        real = real_path(os.path.join(self._top, finding.file))
        if not finding.file or not os.path.lexists(real):
            return True
        is_there = finding.resource is None or (finding.resource, real) in self._objects
        return real in self._read and not is_there


def accepted_by(baseline: str, request: Request) -> tuple[KnownFinding, ...]:
    """The findings in the JSON report *baseline*. Raises RefusedError."""
    data = files.read(baseline, baseline, request.reading.limits.file_bytes)
    if isinstance(data, Diagnostic):
        raise refused(data)
    try:
        seen_from = in_repository()
        return tuple(_accepted(each, seen_from) for each in json.loads(data)["diagnostics"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        message = f"{baseline} is no JSON report of virt-render"
        cure = "write one: virt-render check --json-file FILE"
        raise refused(
            codes.INVALID_SETTING.at(Location(file=baseline), message, help=cure)
        ) from None


def _accepted(diagnostic: dict[str, Any], seen_from: Callable[[str], str]) -> KnownFinding:
    """A finding of a report, which may have been written down with no more than its fingerprint."""
    named = diagnostic.get("resource")
    resource = ResourceRef(*(str(named[key]) for key in ResourceRef._fields)) if named else None
    code, field, message, file = (
        str(diagnostic.get(key) or "") for key in ("code", "field", "message", "file")
    )
    says = about(code, resource or ("", "", ""), file, field, message)
    return KnownFinding(str(diagnostic["fingerprint"]), resource, seen_from(file), says)
