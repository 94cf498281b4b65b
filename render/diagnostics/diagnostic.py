"""The diagnostic value, and the order in which findings are reported."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from enum import StrEnum

from render.diagnostics.fix import Fix
from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.resource import Resource, ResourceRef


class Severity(StrEnum):
    """KRM's three severities."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Location(NamedTuple):
    """A symbolic place: a field of an input object, or (before objects exist) a position in a file.

    *index* is the object's position in the input. *file* is set only where there is no object to point into; for an
    object the report looks it up. *line* and *column* (from 1) are those of the file, or, of a field with a text of
    several lines, those in this text.
    """

    resource: ResourceRef | None = None
    path: FieldPath = ()
    index: int | None = None  # type: ignore[assignment] # nobody searches a location as a tuple
    file: str = ""
    line: int = 0
    column: int = 0


class Related(NamedTuple):
    """The other party of a finding: where it stands, and what it says there."""

    message: str
    location: Location


class Diagnostic(NamedTuple):
    """One finding. *field* is the path as text; *help* says what to do.

    *check* is the check of KubeVirt's admission that found it, ``""`` for others; *position* where the value at fault
    was written, if not at *location*: in an instancetype, say, or where KubeVirt reports a field that no object has.
    *fixes*: what would mend it; several are a choice. *concerned*: the VMs that a finding about another object is of.
    """

    code: str
    severity: Severity
    message: str
    location: Location = Location()
    related: tuple[Related, ...] = ()
    help: str = ""
    check: str = ""
    position: Location | None = None
    fixes: tuple[Fix, ...] = ()
    concerned: tuple[ResourceRef, ...] = ()

    @property
    def resource(self) -> ResourceRef | None:
        """The object that the finding is about: (kind, namespace, name)."""
        return self.location.resource

    @property
    def field(self) -> str:
        """The field path as text, ``""`` where the finding is about the whole object."""
        return fieldpath.text(self.location.path)

    @property
    def is_error(self) -> bool:
        """Whether this finding keeps manifests from being printed."""
        return self.severity is Severity.ERROR


def with_places(diagnostic: Diagnostic, move: Callable[[Location], Location]) -> Diagnostic:
    """*diagnostic* with each of its places where *move* puts it."""
    return diagnostic._replace(
        location=move(diagnostic.location),
        related=tuple(
            related._replace(location=move(related.location)) for related in diagnostic.related
        ),
        position=diagnostic.position and move(diagnostic.position),
        fixes=tuple(_moved(diagnostic.location, fix, move) for fix in diagnostic.fixes),
    )


def _moved(location: Location, fix: Fix, move: Callable[[Location], Location]) -> Fix:
    def place(path: FieldPath) -> FieldPath:
        return move(location._replace(path=path, line=0, column=0)).path

    edits = (edit.at(place) if edit.index is None else edit for edit in fix.edits)
    return fix._replace(edits=tuple(edits))


_POSITION = r"(?<=\[)\d+(?=\])|(?<=\bline )\d+"
"""An index of a list, or the number of a line."""


def without_positions(text: str) -> str:
    """*text* without indexes of lists and numbers of lines: what stands in front of a finding may change."""
    return re.sub(_POSITION, "", text)


def without_known(
    diagnostics: Iterable[Diagnostic], known: Iterable[Diagnostic], *, are_later: bool = True
) -> Iterator[Diagnostic]:
    """The *diagnostics* that say of an object what none of the *known* ones does; of equal ones each counts.

    What a finding says of VMs, a later one may say of fewer of them: that is no other one. *are_later*: the
    *diagnostics* are those of the later state, and not the *known* ones.
    """
    known = [*known]
    left = Counter(map(identity, known))
    of_several: dict[Hashable, list[frozenset[ResourceRef]]] = {}
    for diagnostic in known:
        if diagnostic.concerned:
            of_several.setdefault(_subject(diagnostic), []).append(frozenset(diagnostic.concerned))
    for diagnostic in diagnostics:
        if left[identity(diagnostic)] > 0:
            left[identity(diagnostic)] -= 1
            continue
        own = frozenset(diagnostic.concerned)
        others = of_several.get(_subject(diagnostic), ()) if own else ()
        if not any(own < other if are_later else other < own for other in others):
            yield diagnostic


def _subject(diagnostic: Diagnostic) -> Hashable:
    """What a finding is about, whatever it says of that."""
    field = without_positions(diagnostic.field)
    return diagnostic.code, diagnostic.check, diagnostic.severity, diagnostic.resource, field


def identity(diagnostic: Diagnostic) -> Hashable:
    """What stays the same of a finding in another state of its object: the file or folder that it is about may move."""
    message = without_place(diagnostic.message, diagnostic.location.file)
    texts = (without_positions(text) for text in (diagnostic.field, message))
    return diagnostic.code, diagnostic.check, diagnostic.resource, *texts


def without_place(message: str, file: str) -> str:
    """*message* without the name of the *file* or folder that it is about."""
    if not file or file not in message:
        return message
    return re.sub(rf"(?<![\w./-]){re.escape(file)}(?![\w-])", "", message)


def at(resource: Resource, path: FieldPath = ()) -> Location:
    """The location of *path* in *resource*."""
    return Location(resource=resource.ref, path=path, index=resource.index)


def _key(
    diagnostic: Diagnostic,
) -> tuple[bool, int, str, int, int, tuple[tuple[bool, str], ...], str, str, str]:
    place = diagnostic.location
    route = tuple((isinstance(s, int), f"{s:09}" if isinstance(s, int) else s) for s in place.path)
    index = -1 if place.index is None else place.index
    return (
        place.index is not None, index, place.file, place.line, place.column, route,
        diagnostic.code, diagnostic.check, diagnostic.message,
    )  # fmt: skip


def ordered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Without repetitions, files first, then by object, field, code and text."""
    return tuple(sorted(dict.fromkeys(diagnostics), key=_key))
