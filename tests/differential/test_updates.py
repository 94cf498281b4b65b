"""What an edit does to a VM that runs is what each KubeVirt release did, for every recorded edit."""

from collections import Counter
from functools import cache

import pytest

from render.diff.compare import differences
from render.diff.impact import MachineImpact
from render.model.types import VMI_TYPE
from tests.support import updates
from tests.support.updates import RELEASES, Json

#: The key of the answer, and the effects whose changes it lists.
FIELDS = {
    "live": ("live", "migrate"),
    "pending": ("restart", "next"),
    "recreate": ("recreate",),
}
pytestmark = pytest.mark.parametrize("release", RELEASES)


@cache
def answers(release: str) -> list[tuple[Json, MachineImpact]]:
    cases = updates.without_missing(updates.cases(release))
    return [(case, updates.impact(case, kubevirt=release)) for case in cases]


def of_class(release: str, name: str) -> list[tuple[Json, MachineImpact]]:
    return [(case, found) for case, found in answers(release) if case["want"]["class"] == name]


def test_the_effects_are_kubevirts(release: str) -> None:
    wrong = [
        (case["id"], found.effects, case["want"]["effects"])
        for case, found in answers(release)
        if list(found.effects) != case["want"]["effects"]
    ]
    assert not wrong
    classes = {case["want"]["class"] for case, _ in answers(release)}
    assert len(classes) >= 10  # all, or all but one


def test_the_text_of_restart_required_is_kubevirts(release: str) -> None:
    texts: Counter[str] = Counter()
    for case, found in answers(release):
        expected = updates.restart_text(case["want"])
        texts.update(expected)
        assert ("restart" in found.effects) == bool(expected), case["id"]
        assert set(expected) <= set(found.messages), case["id"]
    assert len(texts) > 3


def test_every_cause_of_a_refusal_is_said(release: str) -> None:
    compared = 0
    for case, found in of_class(release, "refused"):
        # Those of a schema come with the value in front.
        in_schema = case["want"]["admit"].get("stage") == "mutate"
        for cause in case["want"]["admit"]["causes"]:
            compared += 1
            text = cause["message"]
            ours = found.messages
            assert text in ours or (in_schema and any(text in our for our in ours)), case["id"]
    assert compared > 10


def test_why_the_controller_fails_is_said(release: str) -> None:
    assert of_class(release, "error")
    for case, found in of_class(release, "error"):
        assert case["want"]["error"] in found.messages, case["id"]


def test_why_the_next_start_fails_is_said(release: str) -> None:
    failing = [
        (case, found) for case, found in answers(release) if case["want"].get("vmi_next_error")
    ]
    assert failing
    for case, found in failing:
        error = case["want"]["vmi_next_error"]
        assert any(message in error for message in found.messages), case["id"]


@pytest.mark.parametrize("key", FIELDS)
def test_the_changed_fields_are_kubevirts(release: str, key: str) -> None:
    compared = 0
    for case, found in answers(release):
        # What waits for the next start of a VM that stops has no paths, see below.
        is_stopped = key == "pending" and case["want"]["class"] == "stop"
        if case["want"]["admit"]["allowed"] and not is_stopped:
            expected = set(case["want"].get(key) or ())
            compared += len(expected)
            assert updates.fields(found, *FIELDS[key]) == expected, case["id"]
    assert compared > 10


def test_what_a_stopped_vm_starts_with_later_is_told(release: str) -> None:
    stopped = of_class(release, "stop")
    assert stopped
    for case, found in stopped:
        later = case["want"].get("vmi_next")
        expected = (
            {
                difference.field
                for difference in differences(case["want"]["vmi_before"], later, VMI_TYPE)
            }
            if later
            else set()
        )
        assert updates.fields(found, "next", "restart") == expected, case["id"]


def test_what_changes_nothing_but_the_stored_vm_names_its_fields(release: str) -> None:
    for case, found in of_class(release, "none"):
        assert updates.fields(found, "none") == set(case["want"]["stored"]), case["id"]


def test_what_becomes_of_a_vmi_that_waits_for_a_migration(release: str) -> None:
    actions: Counter[str] = Counter()
    for case, found in answers(release):
        workload = case["want"].get("workload") or {}
        expected = workload["action"] if workload.get("needs") else ""
        actions[found.workload] += 1
        # What the updater leaves it leaves for either of two reasons, and does not tell them apart.
        assert {"unmigratable": "none"}.get(found.workload, found.workload) == expected, case["id"]
    assert actions.keys() - {"none", "unmigratable"} == {"", "migrate", "evict"}
    assert actions["none"] or actions["unmigratable"]


def test_each_change_has_a_cause_in_the_manifests(release: str) -> None:
    """A change without one comes from KubeVirt itself: it is computed from another."""
    unknown = Counter(
        change.field
        for _, found in answers(release)
        for change in found.changes
        if not change.cause
    )
    assert not unknown


def test_what_becomes_of_data_volumes_is_told(release: str) -> None:
    compared = 0
    for case, found in answers(release):
        # Where the controller fails the recorder counts what is left otherwise.
        if case["want"]["class"] in {"refused", "error"}:
            continue
        expected = case["want"].get("datavolumes", {})
        compared += len(expected)
        ours = {"stale": found.stale, "created": found.made, "left": found.left}
        told = {key: sorted(names) for key, names in ours.items() if names}
        assert told == {key: sorted(names) for key, names in expected.items()}, case["id"]
    assert compared > 5
