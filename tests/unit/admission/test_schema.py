"""What the CRDs refuse beyond types, required fields and enumerations."""

import pytest

from render.admission.schema import CHECKS
from tests.support.refusals import Json, Refusal, refusals

USERS = "spec.accessCredentials[1].sshPublicKey.propagationMethod.qemuGuestAgent.users"


def credential(*users: str) -> Json:
    agent = {"qemuGuestAgent": {"users": list(users)}}
    return {"sshPublicKey": {"source": {}, "propagationMethod": agent}}


@pytest.mark.parametrize("release", ["1.4", "1.9"])
def test_a_user_is_named_once(release: str) -> None:
    spec = {"accessCredentials": [credential("a", "b"), credential("a", "b", "a", "a")]}
    assert refusals(CHECKS, spec, release=release) == [
        Refusal("schema/unique", f"{USERS}[{index}]", f'{USERS}[{index}]: Duplicate value: "a"')
        for index in (2, 3)
    ]


@pytest.mark.parametrize(
    ("items", "duplicate"),
    [
        ([], ""),
        ([("zone", "DoNotSchedule"), ("zone", "ScheduleAnyway")], ""),
        (
            [("zone", "DoNotSchedule")] * 2,
            '{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}',
        ),
    ],
)
def test_the_keys_of_a_list_map(items: list[tuple[str, str]], duplicate: str) -> None:
    constraints = [{"topologyKey": key, "whenUnsatisfiable": when} for key, when in items]
    place = "spec.topologySpreadConstraints[1]"
    expected = (
        [Refusal("schema/unique", place, f"{place}: Duplicate value: {duplicate}")]
        if duplicate
        else []
    )
    assert refusals(CHECKS, {"topologySpreadConstraints": constraints}) == expected


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/var/log", ""),
        ("var/log", "path must be absolute (start with '/')"),
        ("/var/../etc", "path must not contain '..'"),
        ("/" * 4096, ""),
        ("/" * 4097, "Too long: may not be more than 4096 bytes"),
    ],
)
def test_the_path_in_a_container(path: str, text: str) -> None:
    volume = {"name": "logs", "containerPath": {"path": path, "readOnly": True}}
    place = "spec.volumes[0].containerPath.path"
    expected = [Refusal("schema/container-path", place, f"{place}: {text}")] if text else []
    assert refusals(CHECKS, {"volumes": [volume]}, release="1.8.0") == expected
