"""GitHub workflow commands: findings become annotations on the lines of a pull request."""

from collections.abc import Iterator, Sequence

from render.diagnostics.diagnostic import Severity
from render.manifests.fixes import FileFix
from render.report.findings import Finding
from render.report.summary import more
from render.report.text import printable

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def report(findings: Sequence[Finding], cut: int = 0) -> str:
    """One ``::error file=...,line=...::message`` a finding; the other party and the help follow in its message.

    *cut*: how many others there are, which the last one says.
    """
    commands = [_command(finding) for finding in findings]
    if cut:
        commands.append(f"::notice::{more(cut)}")
    return "".join(f"{command}\n" for command in commands)


def _command(finding: Finding) -> str:
    place, diagnostic = finding.place, finding.diagnostic
    properties = {
        "file": place.file, "line": place.line, "col": place.column, "title": finding.title
    }  # fmt: skip
    parameters = ",".join(
        f"{key}={_property(str(value))}" for key, value in properties.items() if value
    )
    lines = [finding.text]
    for related, other in zip(diagnostic.related, finding.related, strict=True):
        lines.append(f"{other}: {related.message}" if other.file else related.message)
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    for fix in finding.fixes:
        lines += _suggestion(fix)
    message = "\n".join(printable(line) for text in lines for line in text.splitlines())
    return f"::{_COMMANDS[diagnostic.severity]} {parameters}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")


_SUGGESTED = 10
"""Lines of a fix that a message shows."""


def _suggestion(fix: FileFix) -> Iterator[str]:
    """What to write instead, as a person would be told; a workflow command has no other way to say it."""
    how = "fix" if fix.safe else "possible fix"
    for change in fix.changes[:1]:
        where = f"line {change.first}"
        if change.end > change.first + 1:
            where = f"lines {change.first} to {change.end - 1}"
        verb = "in place of" if change.end > change.first else "above"
        yield f"{how}: {fix.title}" + (
            f", {verb} {where}:" if change.text else f": without {where}"
        )
        yield from change.text.splitlines()[:_SUGGESTED]
