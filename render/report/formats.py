"""The output formats of a report; the choices of ``--format`` are the keys."""

from collections.abc import Sequence
from importlib import import_module

from render.report.findings import Finding

FORMATS = {
    "text": "render.report.text",
    "json": "render.report.plain_json",
    "sarif": "render.report.sarif",
    "github": "render.report.github",
    "junit": "render.report.junit",
}


def report(name: str, findings: Sequence[Finding], *, colour: bool = False) -> str:
    """The report on *findings* in the format *name*; only the text format knows colours."""
    if name == "text":
        from render.report import text

        return text.report(findings, colour=colour)
    written: str = import_module(FORMATS[name]).report(findings)
    return written
