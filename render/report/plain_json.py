"""The JSON report (``schemas/report.schema.json``): everything that is known of each finding."""

from collections.abc import Sequence
from typing import Any

from render.diagnostics import secrets
from render.diagnostics.codes import CODES
from render.diagnostics.diagnostic import Location, Severity
from render.diagnostics.fix import Action
from render.manifests.fixes import FileEdit
from render.model import fieldpath
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
            "unseen": dict(sorted(tally.unseen.items())),
            "accepted": tally.accepted,
            "before": tally.before,
            "cut": tally.cut,
            "ignoring": tally.ignoring,
            "fixable": tally.fixable,
            "fixableUnsafely": tally.fixable_unsafely,
            "waived": [one.plain() for one in tally.waivers],
            "bundled": tally.bundled,
            "objects": tally.objects,
            "files": tally.files,
        },
        "diagnostics": [finding(one) for one in findings],
    }
    return escaping.dumps(document, indent=2) + "\n"


def finding(one: Finding) -> dict[str, Any]:
    """*one* as a tree of plain values."""
    diagnostic = one.diagnostic
    return {
        "code": diagnostic.code,
        "slug": CODES[diagnostic.code].slug,
        "check": diagnostic.check or None,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **_where(diagnostic.location, one.place),
        "related": [
            {"message": related.message, **_where(related.location, place)}
            for related, place in zip(diagnostic.related, one.related, strict=True)
        ],
        "help": diagnostic.help,
        "releases": list(one.releases),
        "fingerprint": one.fingerprint,
        "builds": list(one.builds),
        "fixes": [
            {"title": fix.title, "safe": fix.safe, "edits": [_edit(edit) for edit in fix.edits]}
            for fix in one.fixes
        ],
    }


def _edit(one: FileEdit) -> dict[str, Any]:
    """*one*; what is moved has the field as its value to which it is moved."""
    is_moved = one.edit.action is Action.MOVE
    value = fieldpath.text((*one.route, *one.edit.value)) if is_moved else one.edit.value
    if secrets.is_secret(one.path):
        value = secrets.MASK
    return {
        "file": one.file,
        "document": one.document,
        "field": fieldpath.text(one.path),
        "action": one.edit.action,
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
