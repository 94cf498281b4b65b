"""The JSON report (``schemas/report.schema.json``): everything that is known of each finding."""

from collections.abc import Sequence

from render.diagnostics import secrets
from render.diagnostics.codes import CODES
from render.diagnostics.diagnostic import Location, Severity
from render.manifests.fixes import FileEdit
from render.model import fieldpath
from render.model.hints import Any
from render.report import escaping
from render.report.findings import Finding
from render.report.places import Place
from render.report.summary import Tally

FORMAT_VERSION = 1.1


def report(findings: Sequence[Finding], tally: Tally) -> str:
    """One JSON document; keys are stable within a `FORMAT_VERSION`, new ones may be added."""
    document = {
        "formatVersion": FORMAT_VERSION,
        "summary": {
            **{f"{severity}s": tally.severities.get(severity, 0) for severity in Severity},
            "machines": tally.machines,
            "kustomizations": tally.kustomizations,
            "charts": tally.charts,
            "unseen": dict(sorted(tally.unseen.items())),
            "accepted": tally.accepted,
            "before": tally.before,
            "unknown": tally.unknown,
            "cut": tally.cut,
            "ignoring": tally.ignoring,
            "fixable": tally.fixable,
            "fixableUnsafely": tally.fixable_unsafely,
            "waived": [waiver.plain() for waiver in tally.waivers],
            "bundled": tally.bundled,
            "borrowed": dict(sorted(tally.borrowed.items())),
            "objects": tally.objects,
            "files": tally.files,
        },
        "diagnostics": [finding(found) for found in findings],
    }
    return escaping.dumps(document, indent=2) + "\n"


def finding(found: Finding) -> dict[str, Any]:
    """*found* as a tree of plain values."""
    diagnostic = found.diagnostic
    return {
        "code": diagnostic.code,
        "slug": CODES[diagnostic.code].slug,
        "check": diagnostic.check or None,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **_where(diagnostic.location, found.place),
        "related": [
            {"message": related.message, **_where(related.location, place)}
            for related, place in zip(diagnostic.related, found.related, strict=True)
        ],
        "help": diagnostic.help,
        "releases": list(found.releases),
        "fingerprint": found.fingerprint,
        "builds": list(found.builds),
        "fixes": [
            {"title": fix.title, "safe": fix.safe, "edits": [_edit(edit) for edit in fix.edits]}
            for fix in found.fixes
        ],
    }


def _edit(file_edit: FileEdit) -> dict[str, Any]:
    """*file_edit*; what is moved has the field as its value to which it is moved."""
    is_moved = file_edit.edit.action == "move"
    value = (
        fieldpath.text((*file_edit.route, *file_edit.edit.value))
        if is_moved
        else file_edit.edit.value
    )
    value = secrets.MASK if secrets.is_secret(file_edit.path) else secrets.redacted(value)
    return {
        "file": file_edit.file,
        "document": file_edit.document,
        "field": fieldpath.text(file_edit.path),
        "action": file_edit.edit.action,
        "value": value,
    }


def _where(location: Location, place: Place) -> dict[str, Any]:
    return {
        "resource": location.resource._asdict() if location.resource else None,
        "field": fieldpath.text(location.path),
        "file": place.file or None,
        "line": place.line or None,
        "column": place.column or None,
    }
