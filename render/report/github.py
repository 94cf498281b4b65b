"""GitHub workflow commands: findings become annotations on the lines of a pull request."""

from collections.abc import Sequence

from render.diagnostics.diagnostic import Severity
from render.report.findings import Finding
from render.report.text import printable

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def report(findings: Sequence[Finding]) -> str:
    """One ``::error file=...,line=...::message`` a finding; the other party and the help follow in its message."""
    return "".join(f"{_command(finding)}\n" for finding in findings)


def _command(finding: Finding) -> str:
    place, diagnostic = finding.place, finding.diagnostic
    properties = {
        "file": place.file, "line": place.line, "col": place.column, "title": finding.title
    }  # fmt: skip
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value)
    lines = [finding.text]
    for related, other in zip(diagnostic.related, finding.related, strict=True):
        lines.append(f"{other}: {related.message}" if other.file else related.message)
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    message = "\n".join(printable(line) for text in lines for line in text.splitlines())
    return f"::{_COMMANDS[diagnostic.severity]} {shown}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
