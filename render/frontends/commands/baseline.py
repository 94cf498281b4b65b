"""Findings that are accepted: what a report of before holds is counted, and no more."""

import json
from collections.abc import Collection

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.frontends.answer import refused
from render.frontends.reporting import with_fingerprints
from render.frontends.request.request import Request
from render.report.findings import Finding
from render.system import files


def without(findings: list[Finding], known: Collection[str]) -> tuple[list[Finding], int]:
    """*findings* but for those whose fingerprint is *known*; and how many of these are more than notes."""
    whole = with_fingerprints(findings)
    gone = [finding for finding in whole if finding.fingerprint in known]
    count = sum(finding.diagnostic.severity is not Severity.INFO for finding in gone)
    return [finding for finding in whole if finding.fingerprint not in known], count


def accepted_by(baseline: str, request: Request) -> frozenset[str]:
    """The fingerprints in the JSON report *baseline*. Raises RefusedError."""
    data = files.read(baseline, baseline, request.reading.limits.file_bytes)
    if isinstance(data, Diagnostic):
        raise refused(data)
    try:
        return frozenset(
            diagnostic["fingerprint"] for diagnostic in json.loads(data)["diagnostics"]
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        message = f"{baseline} is no JSON report of virt-render"
        cure = "write one: virt-render check --json-file FILE"
        raise refused(
            codes.INVALID_SETTING.at(Location(file=baseline), message, help=cure)
        ) from None
