"""The text report: one line a finding that tools can read, then the source line, the other party and the way out."""

from collections.abc import Sequence

from render.diagnostics.diagnostic import Severity
from render.report.findings import Finding
from render.report.places import Place

_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}
_WIDTH = 120


def report(findings: Sequence[Finding], *, colour: bool = False) -> str:
    """All *findings*; the first line of each is ``FILE:LINE:COLUMN: SEVERITY CODE SLUG: OBJECT: MESSAGE``.

    Notes come without the source line: there may be one for every VM, and nothing in it to mend.
    """
    return "".join(f"{line}\n" for found in findings for line in _lines(found, colour=colour))


def _lines(found: Finding, *, colour: bool) -> list[str]:
    diagnostic = found.diagnostic
    severity = _painted(diagnostic.severity, f"1;{_COLOURS[diagnostic.severity]}", colour=colour)
    first, *rest = found.text.splitlines() or [""]
    lines = [f"{_at(found.place)}: {severity} {found.title}: {printable(first)}"]
    lines += [f"    {printable(line)}" for line in rest]
    if diagnostic.severity is not Severity.INFO:
        lines += _excerpt(found.place, colour=colour)
    for related, place in zip(diagnostic.related, found.related, strict=True):
        where = f"{place}: " if place.file else ""
        lines.append(printable(f"  {where}{related.message}"))
    if diagnostic.help:
        help_lines = [printable(line) for line in diagnostic.help.splitlines()]
        lines.append(f"  {_painted('help:', '1', colour=colour)} {help_lines[0]}")
        lines += [f"        {line}" for line in help_lines[1:]]
    return lines


def _at(place: Place) -> str:
    return printable(str(place)) if place.file else "virt-render"


def _excerpt(place: Place, *, colour: bool) -> list[str]:
    """The source line and a caret under the column; of a long line the part around the column."""
    if not place.source.strip():
        return []
    start = max(0, place.column - 1 - _WIDTH // 2) if len(place.source) > _WIDTH else 0
    lead = "..." if start else ""
    shown = printable(place.source[start : start + _WIDTH]).rstrip()
    lines = [f"  {place.line} | {lead}{shown}"]
    if 0 < place.column <= len(place.source):
        before = place.source[start : place.column - 1]
        pad = " " * len(lead) + "".join("\t" if char == "\t" else " " for char in before)
        lines.append(
            f"  {' ' * len(str(place.line))} | {pad}{_painted('^', '1;31', colour=colour)}"
        )
    return lines


def _painted(text: str, style: str, *, colour: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if colour else text


def printable(text: str) -> str:
    """*text* without control characters: a manifest must not be able to drive the terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in text)
