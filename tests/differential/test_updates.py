"""What an edit does to a VM that runs is what KubeVirt v1.9.0 did, for every recorded edit."""

from collections import Counter
from functools import cache

import pytest

from render.diff.impact import MachineImpact
from tests.support import updates
from tests.support.goldens import UPDATES, cases
from tests.support.updates import Json

CLASSES = (
    "refused", "error", "stop", "start", "restart", "migrate", "live", "next", "recreate", "none",
    "same",
)  # fmt: skip
#: The key of the answer, and the effects whose changes it lists.
FIELDS = {
    "live": ("live", "migrate"),
    "pending": ("restart", "next"),
    "recreate": ("recreate",),
}


@cache
def answers() -> list[tuple[Json, MachineImpact]]:
    return [(case, updates.impact(case)) for case in updates.without_missing(cases(UPDATES))]


def of_class(name: str) -> list[tuple[Json, MachineImpact]]:
    return [(case, found) for case, found in answers() if case["want"]["class"] == name]


@pytest.mark.parametrize("name", CLASSES)
def test_the_effects_are_kubevirts(name: str) -> None:
    wrong = [
        (case["id"], found.effects)
        for case, found in of_class(name)
        if list(found.effects) != case["want"]["effects"]
    ]
    assert not wrong
    assert of_class(name)


def test_the_text_of_restart_required_is_kubevirts() -> None:
    texts: Counter[str] = Counter()
    for case, found in answers():
        expected = updates.restart_text(case["want"])
        texts.update(expected)
        assert ("restart" in found.effects) == bool(expected), case["id"]
        assert set(expected) <= set(found.messages), case["id"]
    assert len(texts) > 10


def test_every_cause_of_a_refusal_is_said() -> None:
    for case, found in of_class("refused"):
        for cause in case["want"]["admit"]["causes"]:
            assert cause["message"] in found.messages, case["id"]


def test_why_the_controller_fails_is_said() -> None:
    for case, found in of_class("error"):
        assert case["want"]["error"] in found.messages, case["id"]


def test_why_the_next_start_fails_is_said() -> None:
    failing = [(case, found) for case, found in answers() if case["want"].get("vmi_next_error")]
    for case, found in failing:
        error = case["want"]["vmi_next_error"]
        assert any(message in error for message in found.messages), case["id"]
    assert len(failing) > 10


@pytest.mark.parametrize("key", FIELDS)
def test_the_changed_fields_are_kubevirts(key: str) -> None:
    compared = 0
    for case, found in answers():
        if case["want"]["admit"]["allowed"]:
            expected = set(case["want"].get(key) or ())
            compared += len(expected)
            assert updates.fields(found, *FIELDS[key]) == expected, case["id"]
    assert compared > 10


def test_what_changes_nothing_but_the_stored_vm_names_its_fields() -> None:
    for case, found in of_class("none"):
        assert updates.fields(found, "none") == set(case["want"]["stored"]), case["id"]


def test_what_becomes_of_a_vmi_that_waits_for_a_migration() -> None:
    actions: Counter[str] = Counter()
    for case, found in answers():
        workload = case["want"].get("workload") or {}
        expected = workload["action"] if workload.get("needs") else ""
        actions[expected] += 1
        assert found.workload == expected, case["id"]
    assert set(actions) == {"", "migrate", "evict", "none"}


def test_each_change_has_a_cause_in_the_manifests() -> None:
    """A change without one comes from KubeVirt itself: it is computed from another."""
    unknown = Counter(
        change.field for _, found in answers() for change in found.changes if not change.cause
    )
    assert not unknown
