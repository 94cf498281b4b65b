"""The JSON report (``schemas/report.schema.json``): everything that is known of each finding."""

import json
from collections.abc import Sequence
from typing import Any

from render.diagnostics.diagnostic import Location, Severity
from render.model import fieldpath
from render.report.findings import Finding
from render.report.places import Place

FORMAT_VERSION = 1


def report(findings: Sequence[Finding]) -> str:
    """One JSON document; keys are stable within a `FORMAT_VERSION`, new ones may be added."""
    severities = [found.diagnostic.severity for found in findings]
    document = {
        "formatVersion": FORMAT_VERSION,
        "summary": {f"{severity}s": severities.count(severity) for severity in Severity},
        "diagnostics": [_finding(found) for found in findings],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _finding(found: Finding) -> dict[str, Any]:
    diagnostic = found.diagnostic
    code, slug = found.title.split(" ", 1)
    return {
        "code": code,
        "slug": slug,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **_where(diagnostic.location, found.place),
        "related": [
            {"message": related.message, **_where(related.location, place)}
            for related, place in zip(diagnostic.related, found.related, strict=True)
        ],
        "help": diagnostic.help,
    }


def _where(location: Location, place: Place) -> dict[str, Any]:
    return {
        "resource": location.resource._asdict() if location.resource else None,
        "field": fieldpath.text(location.path),
        "file": place.file or None,
        "line": place.line or None,
        "column": place.column or None,
    }
