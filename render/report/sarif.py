"""SARIF 2.1.0, for code scanning services (valid with zero results)."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from render.diagnostics.codes import CODES
from render.diagnostics.diagnostic import Severity
from render.diagnostics.explanations import EXPLANATIONS
from render.report import escaping
from render.report.findings import Finding
from render.report.places import Place

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def report(findings: Sequence[Finding]) -> str:
    """One run. A finding without a file is a notification: services refuse results that point nowhere."""
    used = sorted({found.diagnostic.code for found in findings})
    run = {
        "tool": {
            "driver": {
                "name": "virt-render",
                "rules": [_rule(code) for code in used],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not any(
                    found.diagnostic.is_error and not found.place.file for found in findings
                ),
                "toolExecutionNotifications": [
                    _notification(found) for found in findings if not found.place.file
                ],
            }
        ],
        "results": [_result(found, used) for found in findings if found.place.file],
    }
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return escaping.dumps(document, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    explanation = EXPLANATIONS[code]
    return {
        "id": code,
        "name": CODES[code].slug,
        "helpUri": CODES[code].uri,
        "shortDescription": {"text": explanation.meaning},
        "help": {"text": explanation.cure},
        "defaultConfiguration": {"level": _LEVELS[CODES[code].severity]},
    }


def _message(found: Finding) -> dict[str, str]:
    diagnostic = found.diagnostic
    return {"text": f"{found.text}\nhelp: {diagnostic.help}" if diagnostic.help else found.text}


def _notification(found: Finding) -> dict[str, Any]:
    return {
        "descriptor": {"id": found.diagnostic.code},
        "level": _LEVELS[found.diagnostic.severity],
        "message": _message(found),
    }


def _result(found: Finding, rules: list[str]) -> dict[str, Any]:
    diagnostic = found.diagnostic
    location = _physical(found.place)
    if diagnostic.resource:
        name = (
            f"{diagnostic.resource}: {diagnostic.field}"
            if diagnostic.field
            else str(diagnostic.resource)
        )
        location["logicalLocations"] = [{"fullyQualifiedName": name}]
    result = {
        "ruleId": diagnostic.code,
        "ruleIndex": rules.index(diagnostic.code),
        "level": _LEVELS[diagnostic.severity],
        "message": _message(found),
        "locations": [location],
        # The rule stays the code, by which services dismiss and count; a check is one of many below it.
        **({"properties": {"check": diagnostic.check}} if diagnostic.check else {}),
        **(
            {"partialFingerprints": {"virtRender/v1": found.fingerprint}}
            if found.fingerprint
            else {}
        ),
    }
    related = [
        {**_physical(place), "message": {"text": other.message}}
        for other, place in zip(diagnostic.related, found.related, strict=True)
        if place.file
    ]
    return {**result, "relatedLocations": related} if related else result


def _physical(place: Place) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(place.file)}}
    if place.line:
        physical["region"] = {"startLine": place.line, "startColumn": place.column or 1}
    return {"physicalLocation": physical}
