"""What a ControllerRevision of old is, and what an older version does not know."""

import base64
import json
from typing import Any

import pytest

from render.convert import instancetypes


def wrap(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "version", ["", "instancetype.kubevirt.io/v1alpha1", "flavor.kubevirt.io/v1alpha1"]
)
def test_a_wrapper_is_opened_whatever_its_version_says(version: str) -> None:
    spec = {"cpu": {"guest": 2}}
    assert instancetypes.unwrap({"apiVersion": version, "spec": wrap(json.dumps(spec))}) == spec


@pytest.mark.parametrize(
    "data",
    [
        {"apiVersion": "", "spec": {"cpu": {}}},
        {"apiVersion": "", "spec": wrap("{}"), "kind": "VirtualMachineInstancetype"},
        {"apiVersion": "", "spec": "no base64"},
        {"apiVersion": "", "spec": wrap("no JSON")},
        {"apiVersion": "", "spec": wrap("[" * 30_000 + "]" * 30_000)},
        {"apiVersion": "", "spec": wrap('{"a":' * 250 + "1" + "}" * 250)},
        {"apiVersion": "", "spec": wrap('{"cpu": {}, "cpu": {}}')},
        {"apiVersion": ""},
    ],
    ids=[
        "an object",
        "a key more",
        "no base64",
        "no JSON",
        "deep",
        "too deep",
        "a key twice",
        "no spec",
    ],
)
def test_other_data_is_no_wrapper(data: dict[str, Any]) -> None:
    assert instancetypes.unwrap(data) is None


def test_volumes_of_a_preference_came_with_v1alpha2() -> None:
    spec = {"volumes": {"preferredStorageClassName": "fast"}}
    newer = instancetypes.newer_fields
    assert newer("VirtualMachinePreference", "v1alpha1", spec) == [("volumes",)]
    assert newer("VirtualMachinePreference", "v1alpha2", spec) == []


def test_a_converted_revision_claims_three_fields_more() -> None:
    spec = {"cpu": {"guest": 2, "isolateEmulatorThread": True}, "memory": {"guest": "1Gi"}}
    assert instancetypes.by_converter(spec)["cpu"] == {
        "guest": 2,
        "isolateEmulatorThread": True,
        "model": "",
        "dedicatedCPUPlacement": False,
    }
    assert spec["cpu"] == {"guest": 2, "isolateEmulatorThread": True}


def test_line_breaks_in_base64_count_for_nothing() -> None:
    whole = wrap('{"cpu": {"guest": 2}}')
    assert instancetypes.unwrap({"spec": f"{whole[:6]}\r\n{whole[6:]}\n"}) == {"cpu": {"guest": 2}}
