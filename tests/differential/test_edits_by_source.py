"""Edits under the releases that were not recorded: where 1.5 and 1.7 part from their neighbours, by their source."""

import pytest

from tests.support import updates


@pytest.mark.parametrize(
    ("recorded", "case", "since_then"),
    [
        # pkg/defaults/defaults.go stores the kind of a matcher until 1.6.
        ("1.6", "hand-pref-remove", {"1.5": ("refused",), "1.7": ("restart",)}),
        # vmi-update-admitter.go asks the whole VMI until 1.6: two pod networks at once.
        (
            "1.6",
            "hand-x-rename-pod-bridge",
            {"1.5": ("error", "restart"), "1.7": ("restart", "live")},
        ),
        # vm.go compares the disks that go with the volumes of now until 1.5.
        ("1.6", "hand-hotplug-remove", {"1.5": ("restart",), "1.7": ("next",)}),
        # pkg/network/controllers/vm.go looks at VMs without a VMI since 1.6.
        ("1.6", "hand-x-halted-vm-add-absent", {"1.5": ("next",), "1.7": ("none",)}),
        # pkg/instancetype/webhooks/vm/admitter.go asks for the revision until 1.5.
        ("1.4", "hand-z-missing-revision-running", {"1.5": ("refused",), "1.7": ("error", "next")}),
    ],
)
def test_windows_of_releases_without_recorded_edits(
    recorded: str, case: str, since_then: dict[str, tuple[str, ...]]
) -> None:
    edit = next(each_case for each_case in updates.cases(recorded) if each_case["id"] == case)
    assert list(updates.impact(edit, kubevirt=recorded).effects) == edit["want"]["effects"]
    for release, effects in since_then.items():
        assert updates.impact(edit, kubevirt=release).effects == effects
