"""JUnit XML: each finding is a test case, and an error is a failed one."""

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from render.model.hints import Any
from render.report import text
from render.report.findings import Finding, Group
from render.report.summary import Tally
from render.report.tested import TriedExpectation

_EXPECTATIONS = ("spec", "expect")


def report(findings: Sequence[Finding], tally: Tally) -> str:
    """One test suite; without findings it holds one passed case, so that a reader sees that there was a run.

    Where VMs were held to expectations each of these is a case, with all that is found of it.
    """
    failures = sum(finding.diagnostic.is_error for finding in findings)
    numbers: dict[tuple[str | None, Any], int] = {}
    for index, expectation in enumerate(tally.tried):
        numbers.setdefault((expectation.file, expectation.number), index)
    of_tried: list[list[Finding]] = [[] for _ in tally.tried]
    others: list[Finding] = []
    for finding in findings:
        number = numbers.get(_expectation(finding))
        (others if number is None else of_tried[number]).append(finding)
    failures -= sum(max(0, len(own_findings) - 1) for own_findings in of_tried)
    tried = list(map(_tried, tally.tried, of_tried))
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


def _expectation(finding: Finding) -> tuple[str | None, Any]:
    """The file and the number of the expectation that *finding* is of; the number is None if it is of none."""
    place = finding.diagnostic.position or finding.diagnostic.location
    is_of_one = (
        len(place.path) > len(_EXPECTATIONS) and place.path[: len(_EXPECTATIONS)] == _EXPECTATIONS
    )
    return place.file, place.path[len(_EXPECTATIONS)] if is_of_one else None


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
