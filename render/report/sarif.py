"""SARIF 2.1.0, for code scanning services (valid with zero results)."""

from collections.abc import Sequence
from urllib.parse import quote

from render.diagnostics.codes import CODES
from render.diagnostics.diagnostic import Severity
from render.diagnostics.exits import Exit
from render.diagnostics.explanations import explanation
from render.manifests.fixes import FileFix
from render.model.hints import Any
from render.report import escaping
from render.report.findings import Finding
from render.report.places import Place
from render.report.summary import Tally
from render.yaml.editing.rewrite import LineChange

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def report(findings: Sequence[Finding], tally: Tally) -> str:
    """One run. A finding without a file is a notification: services refuse results that point nowhere."""
    used = sorted({finding.diagnostic.code for finding in findings})
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
                "executionSuccessful": not any(map(_is_of_run, findings)),
                "toolExecutionNotifications": [
                    *(_notification(finding) for finding in findings if not finding.place.file),
                    *(
                        {"level": "note", "message": {"text": sentence}}
                        for sentence in tally.withheld()
                    ),
                ],
            }
        ],
        "results": [_result(finding, used) for finding in findings if finding.place.file],
    }
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return escaping.dumps(document, indent=2) + "\n"


def _is_of_run(finding: Finding) -> bool:
    """Whether *finding* is an error of the run itself, or of an input that nobody could look into."""
    is_told_of_input = CODES[finding.diagnostic.code].exit is Exit.FINDINGS
    return finding.diagnostic.is_error and not (finding.place.file and is_told_of_input)


def _rule(code: str) -> dict[str, Any]:
    explained = explanation(code)
    return {
        "id": code,
        "name": CODES[code].slug,
        "helpUri": CODES[code].uri,
        "shortDescription": {"text": explained.meaning},
        "help": {"text": explained.cure},
        "defaultConfiguration": {"level": _LEVELS[CODES[code].severity]},
    }


def _message(finding: Finding) -> dict[str, str]:
    diagnostic = finding.diagnostic
    return {"text": f"{finding.text}\nhelp: {diagnostic.help}" if diagnostic.help else finding.text}


def _notification(finding: Finding) -> dict[str, Any]:
    return {
        "descriptor": {"id": finding.diagnostic.code},
        "level": _LEVELS[finding.diagnostic.severity],
        "message": _message(finding),
    }


def _result(finding: Finding, rules: list[str]) -> dict[str, Any]:
    diagnostic = finding.diagnostic
    location = _physical(finding.place)
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
        "message": _message(finding),
        "locations": [location],
        # The rule stays the code, by which services dismiss and count; a check is one of many below it.
        **({"properties": {"check": diagnostic.check}} if diagnostic.check else {}),
        # By the second, it is the same result where its file has moved.
        **(
            {
                "partialFingerprints": {
                    "virtRender/v1": finding.fingerprint,
                    "virtRenderAnywhere/v1": finding.anywhere,
                }
            }
            if finding.fingerprint
            else {}
        ),
    }
    if fixes := [_fix(fix) for fix in finding.fixes if fix.changes]:
        result["fixes"] = fixes
    related = [
        {**_physical(place), "message": {"text": other.message}}
        for other, place in zip(diagnostic.related, finding.related, strict=True)
        if place.file
    ]
    return {**result, "relatedLocations": related} if related else result


def _physical(place: Place) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(place.file)}}
    if place.line:
        physical["region"] = {
            "startLine": place.line,
            "startColumn": place.column or 1,
            **({"endLine": place.line, "endColumn": place.end} if place.end else {}),
        }
    return {"physicalLocation": physical}


def _fix(fix: FileFix) -> dict[str, Any]:
    """The lines that *fix* changes, by file."""
    by_file: dict[str, list[LineChange]] = {}
    for change in fix.changes:
        by_file.setdefault(change.file, []).append(change)
    return {
        "description": {"text": fix.title},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": quote(file)},
                "replacements": [_replacement(change) for change in changes],
            }
            for file, changes in by_file.items()
        ],
        "properties": {"safe": fix.safe},
    }


def _replacement(change: LineChange) -> dict[str, Any]:
    region = {
        "startLine": change.first,
        "startColumn": 1,
        "endLine": change.end,
        "endColumn": 1,
    }
    inserted = {"insertedContent": {"text": change.text}} if change.text else {}
    return {"deletedRegion": region, **inserted}
