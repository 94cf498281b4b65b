"""What we refuse is what KubeVirt v1.9.0 refuses, and in its words, for every recorded case."""

import re
from typing import Any

import pytest

from render import Settings, render
from tests.support import admission, answers, checks
from tests.support.goldens import FAMILIES, cases
from tests.support.releases import RELEASES

#: Families with verdicts; the others have no VMs, or two states of them.
VERDICTS = tuple(name for name in FAMILIES if name not in ("hyperconverged", "update"))


@pytest.fixture(scope="module", params=VERDICTS)
def family(request: pytest.FixtureRequest) -> str:
    """Each family, with its tests in a row: they share what it renders to."""
    return str(request.param)


def test_every_verdict_and_every_cause_is_ours(family: str) -> None:
    """No cause is missing, nothing is let through, and nothing is refused that a cluster takes."""
    wrong = [found for found in admission.differences(family) if found.what in admission.WRONG]
    assert not wrong


def test_the_table_of_checks_has_the_shortest_of_each(family: str) -> None:
    missing = []
    for case in cases(family):
        found = answers.rendered(case, admission="strict").diagnostics
        missing += checks.missing(checks.examples_of(family, case, checks.NEWEST, found))
    assert not missing, checks.CURE


_FIELD = re.compile(r"(\S+) in body |(\S+): ")


def _fields(entry: dict[str, Any]) -> set[str]:
    """The fields that a schema or the mutating webhook names, without indexes."""
    crd = entry.get("crd") or {}
    texts = [*crd.get("invalid", ()), *crd.get("cel", ()), *crd.get("duplicate", ())]
    texts += [f"{path}: pruned" for path in crd.get("pruned", ())]
    error = entry.get("mutate_error") or {}
    texts += [cause["message"] for cause in error.get("causes") or ()]
    found = {match[1] or match[2] for text in texts if (match := _FIELD.match(text))}
    found |= {cause["field"] for cause in error.get("causes") or () if cause.get("field")}
    return {_unindexed(field) for field in found}


def _unindexed(field: str) -> str:
    return re.sub(r"\[\d+\]", "", field).replace("[", ".").replace("]", "")


def test_what_a_schema_refuses_is_refused_at_its_field(family: str) -> None:
    missing = []
    for case in cases(family):
        rendered = answers.rendered(case, admission="strict")
        for machine, entry in zip(answers.machines(case), case["want"], strict=True):
            wanted = _fields(entry)
            if wanted:
                text = {_unindexed(field) for field in admission.fields(rendered, machine)}
                # What stands below a value of the wrong type is refused with it.
                missing += [
                    (case["id"], field)
                    for field in wanted
                    if field not in text and field.rpartition(".")[0] not in text
                ]
    assert not missing


def test_nothing_that_only_an_unknown_setting_decides_is_an_error() -> None:
    """In `full`, without a KubeVirt resource: warnings in the place of the errors of `strict`."""
    seen = 0
    for case in cases("admission-gates"):
        if any(body["kind"] == "KubeVirt" for body in case["objects"]):
            continue
        strict = answers.rendered(case, admission="strict")
        full = answers.rendered(case)
        for diagnostic, other in zip(strict.diagnostics, full.diagnostics, strict=True):
            assert (diagnostic.code, diagnostic.location, diagnostic.check) == (
                other.code,
                other.location,
                other.check,
            )
            if diagnostic.severity is not other.severity:
                seen += 1
                assert other.message.startswith(diagnostic.message)
                assert "decides" in other.message or "by KubeVirt " in other.message
    assert seen


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_refuses_in_its_own_words(release: str) -> None:
    wrong, missing = [], []
    for case in checks.recorded_cases("releases", release):
        wrong += [
            found
            for found in admission.differences_of(case, kubevirt=release)
            if found.what in admission.WRONG and not _LOOKS_UP.search(found.answer.message)
        ]
        rendered = answers.rendered(case, admission="strict", kubevirt=release)
        found = checks.examples_of("releases", case, release, rendered.diagnostics)
        missing += checks.missing(found)
    assert not wrong
    assert not missing, checks.CURE


#: The webhook of KubeVirt 1.4 looks for what a DataVolume is cloned from, in namespaces that only the cluster has.
_LOOKS_UP = re.compile(r'^(namespace|datasource\.cdi\.kubevirt\.io) "[^"]*" not found$')


def test_what_not_every_release_refuses_is_a_warning_where_none_is_named() -> None:
    body = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web"},
        "spec": {
            "runStrategy": "Always",
            "template": {
                "spec": {
                    "domain": {
                        "memory": {"guest": "1Gi"},
                        "devices": {"interfaces": [{"name": "default"}]},
                    },
                    "networks": [{"name": "default", "pod": {}}],
                }
            },
        },
    }

    def severity(**settings: Any) -> str:
        (found,) = (d for d in render([body], Settings(**settings)).diagnostics if d.check)
        assert found.check == "network/binding"
        assert found.severity == "error" or "by KubeVirt 1.9 alone" in found.message
        return found.severity

    assert severity() == "warning"
    assert severity(admission="strict") == "error"
    assert severity(kubevirt="1.9") == "error"
