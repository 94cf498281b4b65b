"""Findings as an editor shows them: plain values, by file."""

import re
from collections.abc import Mapping, Sequence

from render.diagnostics import codes
from render.frontends.editor.workspace import Workspace
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.report.findings import Finding


class Span(NamedTuple):
    """Characters *start* to *end* of a *line*, all from 0."""

    line: int
    start: int
    end: int


class RelatedNote(NamedTuple):
    """What is said of a place in another *file*, or further on in the same."""

    file: str
    span: Span
    message: str


class Note(NamedTuple):
    """A finding at a *span* of a file: its *title*, its *severity* as findings have it, and what to say."""

    span: Span
    severity: str
    code: str
    title: str
    message: str
    elsewhere: tuple[RelatedNote, ...] = ()


_TOKEN = pattern(r""""(?:[^"\\]|\\.)*+"|'[^']*+'|[^\s:,\[\]{}]++(?::[^\s,\[\]{}]++)*+|\S""")
"""A key, a plain scalar without spaces, or one in quotes."""


def by_file(workspace: Workspace) -> dict[str, tuple[Note, ...]]:
    """The findings of *workspace*; what has no file is said of the folder's settings, if it has any."""
    lines: dict[str, list[str]] = {}
    notes: dict[str, list[Note]] = {}
    for finding in workspace.findings:
        file, line, column = workspace.place_of(finding)
        if file:
            notes.setdefault(file, []).append(_note(finding, _span(workspace, lines, file, line, column), [
                RelatedNote(place.file, _span(workspace, lines, place.file, place.line, place.column), related.message)
                for place, related in zip(finding.related, finding.diagnostic.related, strict=True)
                if place.file
            ]))  # fmt: skip
    return {file: tuple(several) for file, several in notes.items()}


def _note(finding: Finding, span: Span, elsewhere: Sequence[RelatedNote]) -> Note:
    diagnostic = finding.diagnostic
    name = diagnostic.check or codes.CODES[diagnostic.code].slug
    message = f"{finding.text}\nhelp: {diagnostic.help}" if diagnostic.help else finding.text
    return Note(span, str(diagnostic.severity), diagnostic.code, name, message, tuple(elsewhere))


def _span(
    workspace: Workspace, known: dict[str, list[str]], file: str, line: int, column: int
) -> Span:
    """The word at *line* and *column*, which count from 1; the beginning of the file where these are not known."""
    if not line:
        return Span(0, 0, 0)
    if file not in known:
        known[file] = lines_of(workspace.text(file) or "")
    if line > len(known[file]):
        return Span(line - 1, 0, 0)
    start = max(column - 1, 0)
    word = _TOKEN.match(known[file][line - 1], start)
    return Span(line - 1, start, word.end() if word else start)


def lines_of(text: str) -> list[str]:
    """The lines of *text*, as every client counts them."""
    return re.split(r"\r\n|\n|\r", text)


def changed(
    before: Mapping[str, Sequence[Note]], after: Mapping[str, Sequence[Note]]
) -> dict[str, Sequence[Note]]:
    """The files of which something else is said than *before*, with that."""
    files = dict.fromkeys((*before, *after))
    return {file: after.get(file, ()) for file in files if before.get(file) != after.get(file)}
