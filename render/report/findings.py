"""Findings: diagnostics with their places, in the order in which every format shows them."""

from collections.abc import Iterable
from typing import NamedTuple

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Severity, ordered
from render.report.places import Place, Sources

_SAID_ALWAYS = frozenset(
    {
        codes.BUNDLED_USED.number,
        codes.BUNDLED_DIFFERS.number,
        codes.HISTORY_ENDS.number,
        codes.OBJECT_GONE.number,
        codes.PLACEHOLDER.number,
    }
)


class Finding(NamedTuple):
    """A diagnostic with its own place, and one for each of its related locations."""

    diagnostic: Diagnostic
    place: Place
    related: tuple[Place, ...] = ()

    @property
    def title(self) -> str:
        """Code and slug: ``VR301 instancetype-conflict``."""
        return f"{self.diagnostic.code} {codes.CODES[self.diagnostic.code].slug}"

    @property
    def text(self) -> str:
        """The message after the object and the field, unless it names them already."""
        diagnostic = self.diagnostic
        parts = [str(diagnostic.resource)] if diagnostic.resource else []
        if parts and diagnostic.message.startswith(parts[0]):
            parts = []
        if diagnostic.field and diagnostic.field not in diagnostic.message:
            parts.append(diagnostic.field)
        return ": ".join([*parts, diagnostic.message])


def find(diagnostics: Iterable[Diagnostic], sources: Sources) -> list[Finding]:
    """Look up the places of *diagnostics* of one input."""
    return [
        Finding(
            diagnostic,
            sources.place(diagnostic.location),
            tuple(sources.place(related.location) for related in diagnostic.related),
        )
        for diagnostic in ordered(diagnostics)
    ]


def merge(findings: Iterable[Finding]) -> list[Finding]:
    """The findings of several inputs in one order: without a file first, then by position.

    A base that several kustomizations share is reported once: objects have another index in each.
    """
    once: dict[object, Finding] = {}
    for found in findings:
        diagnostic = found.diagnostic
        about = (diagnostic.code, diagnostic.message, diagnostic.location.path, diagnostic.resource)
        once.setdefault((about, found.place, found.related), found)
    return sorted(
        once.values(), key=lambda found: (found.place.file, found.place.line, found.place.column)
    )


def worth_saying(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Leave out what only ``-v`` shows: notes on the reading, and repetitions of one note.

    This comes before any place is looked up, since every VM of a fleet may give the same note.
    """
    kept, said = [], set()
    for diagnostic in ordered(diagnostics):
        if diagnostic.severity is Severity.INFO:
            if diagnostic.code not in _SAID_ALWAYS or (diagnostic.code, diagnostic.message) in said:
                continue
            said.add((diagnostic.code, diagnostic.message))
        kept.append(diagnostic)
    return kept
