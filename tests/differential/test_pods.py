"""The pods that we make are those that virt-controller of each release made, for every recorded case."""

from collections import Counter

import pytest

from render import Settings, pod, render
from tests.support import goldens, pod_rules, pods

#: Of each kind, what has been recorded at least.
_LEAST = {"pod": 3400, "target": 400, "attachment": 100, "temp": 45, "trigger": 30}


@pytest.mark.parametrize("release", pods.RELEASES)
def test_every_pod_is_that_of_the_release(release: str) -> None:
    wrong, compared = [], Counter[str]()
    for case, kind, ours, recorded in pods.compared(release):
        compared[kind] += 1
        if ours not in recorded:
            wrong.append((case, kind))
    assert wrong == []
    assert all(compared[kind] >= least for kind, least in _LEAST.items())


def test_a_vmi_that_the_webhooks_admit_is_a_pod_from_end_to_end() -> None:
    wrong, settings = [], Settings(emit="pod", kubevirt=pods.NEWEST)
    cases = goldens.cases("pod-vmi")
    for case in cases:
        rendered = render(case["objects"], settings).resources
        made = [pods.normalised(body) for body in rendered if body["kind"] == "Pod"]
        if made != [pods.normalised(case["want"]["pod"])]:
            wrong.append(case["id"])
    assert wrong == []
    assert len(cases) > 1400


@pytest.mark.parametrize("is_target", [False, True])
def test_the_library_makes_the_same_pods(*, is_target: bool) -> None:
    kind = "target" if is_target else "pod"
    cases = [case for case in goldens.cases("pod") if kind == "pod" or kind in case.get("also", ())]
    for case in cases[::40]:
        want = case["want"] if kind == "pod" else case["want"][kind]
        if "pod" in want:
            made = pod(case["vmi"], case["objects"], target=is_target)
            assert pods.normalised(made) == pods.normalised(want["pod"])


def test_every_rule_has_a_case() -> None:
    """The table names for each rule a recorded pod that it has a part in (tests/support/pod_rules.py)."""
    rows = [line.split("\t") for line in pod_rules.TABLE.read_text(encoding="utf-8").splitlines()]
    cases = {case["id"]: case for case in goldens.cases("pod")}
    assert {rule for rule, _, _ in rows} == pod_rules.rules()
    for release, case in sorted({(release, case) for _, release, case in rows}):
        wanted = {row[0] for row in rows if row[1:] == [release, case]}
        assert wanted <= pod_rules.printed_sums(release, cases[case])
