"""Findings: diagnostics with their places, in the order in which every format shows them."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from render.diagnostics import codes, secrets
from render.diagnostics.diagnostic import (
    Diagnostic,
    Severity,
    ordered,
    without_place,
    without_positions,
)
from render.manifests.fixes import FileFix
from render.model import naming
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.report.places import Place, Sources
from render.revisions import differing

#: What follows a path that ends there, or one step further.
_NEIGHBOUR = pattern(r"(\.\w+)?(?!\.?[\w\[])")
_INDEX = pattern(r"\[\d+\]")


class Finding(NamedTuple):
    """A diagnostic with its own place, and one for each of its related locations.

    *fingerprint* stays the same while the finding does, wherever its lines are, and *anywhere* where its file moves,
    too; ``""`` where nobody has asked for them.
    *builds* are the folders of the kustomizations in which it is found, *user* is the object by whose values a chart
    has it, ``""`` for none.
    *releases* are the KubeVirt releases that it holds for, where it was asked for several. *fixes* are those of the
    diagnostic whose edits have a place in a file, *option* is that of the command which makes one, ``""`` for none.
    """

    diagnostic: Diagnostic
    place: Place
    related: tuple[Place, ...] = ()
    fingerprint: str = ""
    anywhere: str = ""
    builds: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()
    fixes: tuple[FileFix, ...] = ()
    option: str = ""
    user: str = ""

    @property
    def title(self) -> str:
        """Code and slug, or check: ``VR301 instancetype-conflict``, ``VR420 disks/name-unique``."""
        name = self.diagnostic.check or codes.CODES[self.diagnostic.code].slug
        return f"{self.diagnostic.code} {name}"

    def fix(self, *, is_safe: bool) -> FileFix | None:
        """The safe fix, or if that is not wanted any, that nobody needs to choose."""
        fixes = [fix for fix in self.fixes if fix.safe] if is_safe else self.fixes
        return fixes[0] if len(fixes) == 1 else None

    @property
    def text(self) -> str:
        """The message after the object and the field, unless it names them already."""
        diagnostic = self.diagnostic
        message = _with_indexes(diagnostic.message, diagnostic.field)
        parts = [str(diagnostic.resource)] if diagnostic.resource else []
        if parts and message.startswith(parts[0]):
            parts = []
        if diagnostic.field and not _names(message, diagnostic.field):
            parts.append(diagnostic.field)
        where = f" (KubeVirt {', '.join(self.releases)})" if self.releases else ""
        return ": ".join([*parts, message]) + where


def _with_indexes(message: str, field: str) -> str:
    """*message* with the whole *field* where it has that without indexes of lists, as schemas say it."""
    if "[" not in field or field in message:
        return message
    return message.replace(_INDEX.sub("", field), field, 1)


def _names(message: str, field: str) -> bool:
    """Whether *message* has *field* in it, what that is in, or a neighbour there, as KubeVirt may spell it.

    ``spec.volumes[1].Name 'data' not found`` needs no ``spec.volumes[1].name`` before it.
    """
    message, field = message.casefold(), field.casefold()
    around = field.rpartition(".")[0]
    if field in message or "." not in around:
        return field in message
    _, separator, rest = message.partition(around)
    return bool(separator) and _NEIGHBOUR.match(rest) is not None


def find(diagnostics: Iterable[Diagnostic], sources: Sources) -> list[Finding]:
    """Look up the places of *diagnostics* of one input."""
    findings = [
        Finding(
            _without_credentials(diagnostic),
            sources.place(diagnostic.position or diagnostic.location),
            tuple(sources.place(related.location) for related in diagnostic.related),
        )
        for diagnostic in map(sources.explained, ordered(diagnostics))
    ]
    sources.close()
    return findings


def _without_credentials(diagnostic: Diagnostic) -> Diagnostic:
    """*diagnostic* without the passwords of URLs, which the cluster would quote."""
    message = secrets.without_credentials(diagnostic.message)
    return diagnostic if message == diagnostic.message else diagnostic._replace(message=message)


def merge(findings: Iterable[Finding]) -> list[Finding]:
    """The findings of several inputs in one order: without a file first, then by position.

    A base that several kustomizations share is reported once: objects have another index in each. So is what holds for
    several releases.
    """
    once: dict[object, Finding] = {}
    for finding in findings:
        key = identity(finding)
        other = once.setdefault(key, finding)
        if other is not finding:
            once[key] = other._replace(
                builds=tuple(dict.fromkeys((*other.builds, *finding.builds))),
                releases=tuple(dict.fromkeys((*other.releases, *finding.releases))),
            )
    return sorted(once.values(), key=_order)


def identity(finding: Finding) -> object:
    """What is equal of findings that are one.

    Where a template has no line to mend, each who fills it in may have brought it about.
    """
    diagnostic = finding.diagnostic
    about = (diagnostic.code, diagnostic.message, diagnostic.location.path, diagnostic.resource)
    user = "" if finding.place.line or diagnostic.resource is None else finding.user
    return about, user, finding.place[:3], tuple(place[:3] for place in finding.related)


def _order(finding: Finding) -> tuple[str, int, int]:
    return finding.place.file, finding.place.line, finding.place.column


#: Of ``running``: that ``runStrategy`` is there too, and the help where it is not.
_RUN_TWICE, _IN_ITS_PLACE = "run-strategy/one", "write runStrategy: "
_SINGLE = 3
"""As many equal findings stand each by itself."""


class Group(NamedTuple):
    """A finding, and the *others* that say the same of other objects; *consequences* go with it once it is mended."""

    first: Finding
    others: tuple[Finding, ...] = ()
    consequences: "tuple[Group, ...]" = ()


def groups(findings: Iterable[Finding]) -> list[Group]:
    """*findings*, with those that say the same of many objects put together where the first of them stands."""
    same: dict[object, list[Finding]] = {}
    for finding in findings:
        diagnostic = finding.diagnostic
        kind = diagnostic.resource.kind if diagnostic.resource else finding.place
        related = tuple(other.message for other in diagnostic.related)
        about = (
            diagnostic.code,
            diagnostic.severity,
            kind,
            diagnostic.message,
            diagnostic.field,
            diagnostic.help,
            related,
            finding.option,
        )
        same.setdefault(about, []).append(finding)
    grouped: list[Group] = []
    for members in same.values():
        if len(members) <= _SINGLE:
            grouped += [Group(finding) for finding in members]
        else:
            grouped.append(Group(members[0], tuple(members[1:])))
    return sorted(grouped, key=lambda group: _order(group.first))


def keeping(finding: Finding) -> tuple[Place, str] | None:
    """Which object *finding* is about, if it says that VMs keep an older content of that; each input has its own."""
    diagnostic = finding.diagnostic
    if diagnostic.code != codes.OBJECT_CHANGED.number or not diagnostic.concerned:
        return None
    return finding.place, str(diagnostic.resource)


def kept_by_all(same: Sequence[Finding]) -> str:
    """The message of findings, the *same* by `keeping`, for the VMs of all of them."""
    names = {naming.name_of(ref) for each in same for ref in each.diagnostic.concerned}
    return differing.of_all(same[0].diagnostic.message, names)


def of_all_inputs(findings: Iterable[Finding]) -> list[Finding]:
    """*findings*, with those as one that say of several inputs that VMs keep an older content of an object."""
    same: dict[object, list[Finding]] = {}
    for finding in findings:
        same.setdefault(keeping(finding) or id(finding), []).append(finding)
    found = [_of_all(members) if len(members) > 1 else members[0] for members in same.values()]
    return list(_with_one_cure(found))


def _with_one_cure(findings: Sequence[Finding]) -> Iterator[Finding]:
    """*findings*; where a line is one too many in one build, and the only one in another, with the cure for both."""
    only = {
        finding.place[:3]: finding.diagnostic
        for finding in findings
        if finding.diagnostic.code == codes.DEPRECATED_FIELD.number
        and finding.diagnostic.help.startswith(_IN_ITS_PLACE)
    }
    for finding in findings:
        other = only.get(finding.place[:3]) if finding.diagnostic.check == _RUN_TWICE else None
        if other is None:
            yield finding
        else:
            changed = finding.diagnostic._replace(help=other.help, fixes=other.fixes)
            yield finding._replace(diagnostic=changed)


def _of_all(same: Sequence[Finding]) -> Finding:
    """Findings, the *same* by `keeping`, as one about the VMs of all of them."""
    first = same[0]
    concerned = tuple(dict.fromkeys(ref for each in same for ref in each.diagnostic.concerned))
    diagnostic = first.diagnostic._replace(message=kept_by_all(same), concerned=concerned)
    builds = tuple(dict.fromkeys(build for each in same for build in each.builds))
    return first._replace(diagnostic=diagnostic, builds=builds)


def worst(listed: Sequence[Group], most: int) -> list[Group]:
    """At most *most* of *listed* (0: all), the most severe, in the order that they have."""
    if not most or len(listed) <= most:
        return list(listed)
    ranks = list(Severity)

    def rank(index: int) -> int:
        group = listed[index]
        found = (group.first, *(each.first for each in group.consequences))
        return min(ranks.index(each.diagnostic.severity) for each in found)

    ranked = sorted(range(len(listed)), key=rank)
    return [listed[index] for index in sorted(ranked[:most])]


def identified(findings: Iterable[Finding], seen_from: Callable[[str], str]) -> list[Finding]:
    """*findings* with their fingerprints; *seen_from* tells how a file is called in its repository.

    Neither lines nor positions in lists count, not in messages either: what stands in front of a finding may change. Of
    several that say the same of the same, the first keeps its own where a later one goes.
    """
    from hashlib import sha256  # loads OpenSSL, which costs more than a small rendering

    counts: dict[tuple[str, ...], int] = {}

    def digest(about: tuple[str, ...]) -> str:
        nth = counts[about] = counts.get(about, 0) + 1
        text = "\0".join((*about, str(nth))).encode("utf-8", "backslashreplace")
        return sha256(text).hexdigest()[:32]

    numbered = []
    for finding in findings:
        diagnostic = finding.diagnostic
        code, file = diagnostic.code, seen_from(finding.place.file)
        names = diagnostic.resource or ("", "", "")
        texts = map(without_positions, (diagnostic.field, _told(code, diagnostic.message)))
        fingerprint = digest((code, *names, file, *texts))
        says = about(code, names, finding.place.file, diagnostic.field, diagnostic.message)
        anywhere = digest(("", *says))
        numbered.append(finding._replace(fingerprint=fingerprint, anywhere=anywhere))
    return numbered


def about(code: str, names: Sequence[str], file: str, field: str, message: str) -> tuple[str, ...]:
    """What a finding says, wherever its *file* is: of the object *names*; of none, of files that are called alike.

    *file* is what the *message* calls it, as seen from the working directory.
    """
    place = "" if any(names) else os.path.basename(file)
    text = without_place(_told(code, message), file)
    if code == codes.KUSTOMIZE_FAILED.number:  # told of the folder, and blamed on its kustomization
        text = without_place(text, os.path.dirname(file))
    return (code, *names, place, without_positions(field), without_positions(text))


def _told(code: str, message: str) -> str:
    """What of *message* tells a finding of this *code* from another one about the same object."""
    return "" if code in codes.CODES and codes.CODES[code].of_object else message


def fingerprints(
    findings: Iterable[Finding], seen_from: Callable[[str], str]
) -> Callable[[Finding], Finding]:
    """What gives a finding, of whatever part of *findings*, the fingerprint that it has among all of them."""
    known = {identity(each): each for each in identified(merge(findings), seen_from)}

    def of_all(finding: Finding) -> Finding:
        whole = known[identity(finding)]
        return finding._replace(fingerprint=whole.fingerprint, anywhere=whole.anywhere)

    return of_all
