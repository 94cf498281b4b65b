"""The tables behind docs/admission.md: what each check says, and which check answers for each rule of KubeVirt's."""

import csv
from functools import cache

import pytest

from render.diagnostics.codes import CODES, of_check
from tests.support import checks
from tests.support.goldens import FOLDER

EXAMPLES = checks.read()
with (FOLDER.parent / "admission-rules.tsv").open(encoding="utf-8", newline="") as lines:
    RULES = list(csv.DictReader(lines, dialect="excel-tab"))


@cache
def by_id(family: str, release: str) -> dict[str, checks.Json]:
    return {case["id"]: case for case in checks.recorded_cases(family, release)}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.check)
def test_a_check_says_what_the_table_has(example: checks.Example) -> None:
    case = by_id(example.family, example.release)[example.case]
    codes = {
        (diagnostic.check, diagnostic.code, diagnostic.message, diagnostic.help)
        for diagnostic in checks.findings(case, example.release)
    }
    assert (example.check, example.code, example.message, example.help) in codes
    assert of_check(example.check).number == example.code


def test_each_rule_of_kubevirt_has_a_check_or_a_reason() -> None:
    """By check, or by the code alone where definitions bring it; else why a repository cannot decide it."""
    known = {example.check for example in EXAMPLES} | CODES.keys()
    assert len({rule["rule"] for rule in RULES}) == len(RULES)
    assert len(RULES) == 336, "as many as there are: a new one is counted here"
    for rule in RULES:
        assert bool(rule["checks"]) is not bool(rule["reason"]), rule
        assert set(rule["checks"].split()) <= known, rule
