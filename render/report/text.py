"""The text report: one line a finding that tools can read, then the source line, the other party and the way out."""

import os
from collections.abc import Iterator, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Severity
from render.model.counting import counted
from render.report import escaping
from render.report.findings import Finding, Group
from render.report.places import Place
from render.report.style import Style
from render.report.summary import more
from render.report.terminal import BOLD, DIM, GUTTER, HEAD, SEVERITY_STYLES, painted

_NAMED = 3
_SHORT = {"VirtualMachine": "VM", "VirtualMachineInstance": "VMI"}


def report(groups: Sequence[Group], style: Style = Style(), *, cut: int = 0) -> str:  # noqa: B008 - a value
    """All *groups*; the first line of each is ``FILE:LINE:COLUMN: SEVERITY CODE SLUG: OBJECT: MESSAGE``.

    Notes come without the source line: there may be one for every VM, and nothing in it to mend. *cut*: how many
    others there are.
    """
    lines = [line for group in groups for line in _block(group, style)]
    if cut:
        lines.append(more(cut))
    return "".join(f"{line}\n" for line in lines)


def _block(group: Group, style: Style) -> Iterator[str]:
    yield from _lines(group.first, style)
    for below in group.consequences:
        finding = below.first
        severity = finding.diagnostic.severity
        yield printable(
            f"  also, until that is mended: {finding.place}: {severity} {finding.title}: {finding.text}"
        )
        if below.others:
            yield printable(f"    {_others(below)}")
    if group.others:
        yield printable(f"  {_others(group)}")


def _others(group: Group) -> str:
    """Of which other objects *group* says the same: how many, and the first of them."""
    resource = group.first.diagnostic.resource
    kind = resource.kind if resource else "place"
    more = counted(len(group.others), f"more {_SHORT.get(kind, kind)}")
    named = ", ".join(
        f"{finding.place} ({_name(finding)})" if finding.diagnostic.resource else str(finding.place)
        for finding in group.others[:_NAMED]
    )
    rest = (
        f" and {counted(len(group.others) - _NAMED, 'other')}" if len(group.others) > _NAMED else ""
    )
    return f"and in {more}: {named}{rest}"


def _name(finding: Finding) -> str:
    resource = finding.diagnostic.resource
    return "/".join(filter(None, resource[1:])) if resource else ""


def _lines(finding: Finding, style: Style) -> list[str]:
    diagnostic, colour = finding.diagnostic, style.colour
    severity = painted(diagnostic.severity, SEVERITY_STYLES[diagnostic.severity], colour=colour)
    first, *rest = finding.text.splitlines() or [""]
    at = painted(_at(finding.place), BOLD, colour=colour)
    lines = [f"{at}: {severity} {painted(finding.title, BOLD, colour=colour)}: {printable(first)}"]
    lines += [f"    {printable(line)}" for line in rest]
    if diagnostic.severity is not Severity.INFO:
        lines += _excerpt(finding.place, diagnostic.severity, colour=colour)
    for related, place in zip(diagnostic.related, finding.related, strict=True):
        where = f"{painted(printable(str(place)), DIM, colour=colour)}: " if place.file else ""
        lines.append(f"  {where}{printable(related.message)}")
    here = {finding.place.file or ".", os.path.dirname(finding.place.file) or "."}
    builds = [folder for folder in finding.builds if folder not in here]
    is_failed = diagnostic.code == codes.KUSTOMIZE_FAILED.number
    if builds and (diagnostic.resource or is_failed) and diagnostic.severity is not Severity.INFO:
        more = f" and {len(builds) - _NAMED:,} more" if len(builds) > _NAMED else ""
        by = "needed by" if is_failed else "built by"
        lines.append(printable(f"  {by} {', '.join(builds[:_NAMED])}{more}"))
    if finding.user and diagnostic.resource and not finding.place.line:
        lines.append(printable(f"  filled in by {finding.user}"))
    told = _told(finding)
    if told:
        help_lines = [printable(line) for line in told.splitlines()]
        lines.append(f"  {painted('help:', HEAD, colour=colour)} {help_lines[0]}")
        lines += [f"        {line}" for line in help_lines[1:]]
    return lines


def _told(finding: Finding) -> str:
    """What to do, and the option of the command that does it."""
    cure = finding.diagnostic.help
    if not finding.option:
        return cure
    fix = finding.fix(is_safe=True) or finding.fix(is_safe=False)
    return f"{cure or (fix.title if fix else '')} ({finding.option})"


def _at(place: Place) -> str:
    return printable(str(place)) if place.file else "virt-render"


def _excerpt(place: Place, severity: Severity, *, colour: bool) -> list[str]:
    """The source line and a caret under the column."""
    if not place.source:
        return []
    number = painted(f"{place.line} |", GUTTER, colour=colour)
    lines = [f"  {number} {printable(place.source)}"]
    if place.caret:
        before = place.source[: place.caret - 1]
        pad = "".join("\t" if char == "\t" else " " for char in before)
        caret = SEVERITY_STYLES[severity]
        bar = painted(f"{' ' * len(str(place.line))} |", GUTTER, colour=colour)
        lines.append(f"  {bar} {pad}{painted('^', caret, colour=colour)}")
    return lines


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A line for each of *rows*, the cells of a column below each other; a column without any text takes no room."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        line = "  ".join(cell.ljust(width) for cell, width in cells if width)
        yield f"{printable(line.rstrip())}\n"


def printable(text: str) -> str:
    """*text*, one line, without what drives a terminal or whoever reads logs for commands.

    Control characters are replaced, an end of a line by a space. GitHub's runner takes a line that begins with ``::``
    for a command: a backslash is put before that, and into those that count anywhere (``##[``).
    """
    if text.isprintable() and "::" not in text and "##" not in text:  # as most are
        return text
    if not text.isprintable():
        text = text.replace("\n", " ")
        text = "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in text)
    text = escaping.without_commands(text, "\\[")
    begin = len(text) - len(text.lstrip())
    return f"{text[:begin]}\\{text[begin:]}" if text.startswith("::", begin) else text
