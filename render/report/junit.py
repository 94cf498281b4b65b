"""JUnit XML: each finding is a test case, and an error is a failed one."""

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from render.report import text
from render.report.findings import Finding, Group
from render.report.summary import Tally
from render.report.tested import TriedExpectation


def report(findings: Sequence[Finding], tally: Tally) -> str:
    """One test suite; without findings it holds one passed case, so that a reader sees that there was a run.

    Where VMs were held to expectations each of these is a case, with all that is found of it.
    """
    failures = sum(finding.diagnostic.is_error for finding in findings)
    others = list(findings)
    tried = []
    for expectation in tally.tried:
        own_findings = [finding for finding in others if _is_of(finding, expectation)]
        others = [finding for finding in others if finding not in own_findings]
        failures -= max(0, len(own_findings) - 1)
        tried.append(_tried(expectation, own_findings))
    cases = [*tried, *(_case(finding) for finding in others)] or [
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
                f"    <system-out>{escape(text.printable(sentence))}</system-out>"
                for sentence in tally.withheld()
            ),
            "  </testsuite>",
            "</testsuites>",
            "",
        ]
    )


def _is_of(finding: Finding, tried: TriedExpectation) -> bool:
    place = finding.diagnostic.position or finding.diagnostic.location
    return place.file == tried.file and place.path[:3] == ("spec", "expect", tried.number)


def _tried(expectation: TriedExpectation, findings: Sequence[Finding]) -> str:
    opening = f"    <testcase classname={_attribute(expectation.file)} name={_attribute(expectation.name)}"
    if not findings:
        return f"{opening}/>"
    inner = _failure("; ".join(dict.fromkeys(finding.text for finding in findings)), findings)
    return f"{opening}>\n      {inner}\n    </testcase>"


def _failure(message: str, findings: Sequence[Finding]) -> str:
    title = _attribute(findings[0].title)
    return f"<failure type={title} message={_attribute(message)}>{_body(findings)}</failure>"


def _output(findings: Sequence[Finding]) -> str:
    return f"<system-out>{_body(findings)}</system-out>"


def _body(findings: Sequence[Finding]) -> str:
    lines = text.report([Group(finding) for finding in findings]).splitlines()
    return escape("\n".join(text.printable(line) for line in lines))


def _case(finding: Finding) -> str:
    diagnostic = finding.diagnostic
    resource = f" {diagnostic.resource}" if diagnostic.resource else ""
    name = f"{finding.title}{resource}"
    opening = f"    <testcase classname={_attribute(finding.place.file or 'virt-render')} name={_attribute(name)}>"
    is_error = diagnostic.is_error
    inner = _failure(finding.text, [finding]) if is_error else _output([finding])
    return f"{opening}\n      {inner}\n    </testcase>"


def _attribute(value: str) -> str:
    return quoteattr(" ".join(text.printable(line) for line in value.splitlines()))
