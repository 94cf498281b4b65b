"""JUnit XML: each finding is a test case, and an error is a failed one."""

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from render.report import text
from render.report.findings import Finding, Group
from render.report.summary import Tally


def report(findings: Sequence[Finding], tally: Tally) -> str:
    """One test suite; without findings it holds one passed case, so that a reader sees that there was a run."""
    failures = sum(finding.diagnostic.is_error for finding in findings)
    cases = [_case(finding) for finding in findings] or [
        '    <testcase classname="virt-render" name="no findings"/>'
    ]
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuites name="virt-render" {counts}>',
            f'  <testsuite name="virt-render" {counts}>',
            *cases,
            *(
                f"    <system-out>{escape(text.printable(said))}</system-out>"
                for said in tally.waived()
            ),
            "  </testsuite>",
            "</testsuites>",
            "",
        ]
    )


def _case(finding: Finding) -> str:
    diagnostic = finding.diagnostic
    resource = f" {diagnostic.resource}" if diagnostic.resource else ""
    name = f"{finding.title}{resource}"
    opening = f"    <testcase classname={_attribute(finding.place.file or 'virt-render')} name={_attribute(name)}>"
    body = escape(
        "\n".join(text.printable(line) for line in text.report([Group(finding)]).splitlines())
    )
    if diagnostic.is_error:
        inner = f"<failure type={_attribute(finding.title)} message={_attribute(finding.text)}>{body}</failure>"
    else:
        inner = f"<system-out>{body}</system-out>"
    return f"{opening}\n      {inner}\n    </testcase>"


def _attribute(value: str) -> str:
    return quoteattr(" ".join(text.printable(line) for line in value.splitlines()))
