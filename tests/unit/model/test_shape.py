"""What two machines of a fleet have alike, and what keeps them apart."""

import base64
from typing import Any

import pytest

from render.defaults.vm import RANDOM
from render.model import shape, tree
from render.model.tree import Tree


def spec(number: int) -> Tree:
    """The VMI spec of a machine of a fleet: all that differs from one to the next."""
    name = f"web-{number}"
    return {
        "hostname": name,
        "domain": {
            "firmware": {"uuid": f"5d307ca9-b3ef-428c-8861-06e72d69f{number:03}", "serial": name},
            "devices": {
                "disks": [{"name": "root", "disk": {}, "serial": f"WD-{number}"}],
                "interfaces": [
                    {"name": "lan", "bridge": {}, "macAddress": f"52:54:00:00:01:{number:02x}"}
                ],
            },
        },
        "networks": [{"name": "lan", "multus": {"networkName": f"net/vlan-{number}"}}],
        "volumes": [
            {"name": "root", "dataVolume": {"name": f"{name}-root"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": f"{name}-data"}},
            {
                "name": "init",
                "cloudInitNoCloud": {
                    "userData": f"#cloud-config\nhostname: {name}\n",
                    "networkDataSecretRef": {"name": f"{name}-net"},
                },
            },
            {
                "name": "drive",
                "cloudInitConfigDrive": {
                    "userDataBase64": base64.b64encode(f"hostname: {name}".encode()).decode(),
                    "networkData": f"version: 2 # {name}",
                },
            },
        ],
    }


def key(value: Tree) -> bytes:
    found = shape.key(shape.masked(value))
    assert found is not None
    return found


def test_machines_of_a_fleet_have_one_shape() -> None:
    assert len({key(spec(number)) for number in range(20)}) == 1


def test_nothing_of_what_is_masked_is_changed() -> None:
    whole = spec(1)
    shape.masked(whole)
    assert whole == spec(1)


def test_what_nobody_owns_is_not_copied() -> None:
    plain = {"domain": {"cpu": {"cores": 2}, "devices": {"rng": {}}}, "architecture": "amd64"}
    assert shape.masked(plain) is plain


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("hostname",), ""),
        (("hostname",), "Web-1"),
        (("hostname",), "web.1"),
        (("hostname",), "w" * 64),
        (("hostname",), "web-1\n"),
        (("domain", "firmware", "uuid"), "5d307ca9"),
        (("domain", "firmware", "serial"), "a b"),
        (("domain", "firmware", "serial"), "a" * 257),
        (("domain", "devices", "disks", 0, "serial"), ""),
        (("domain", "devices", "interfaces", 0, "macAddress"), "02:00:00:00:00:00"),
        (("domain", "devices", "interfaces", 0, "macAddress"), "53:54:00:00:01:02"),
        (("domain", "devices", "interfaces", 0, "macAddress"), "52-54-00-00-01-02"),
        (("domain", "devices", "interfaces", 0, "macAddress"), None),
        (("networks", 0, "multus", "networkName"), ""),
        (("networks", 0, "multus", "networkName"), "a/b/c"),
        (("volumes", 0, "dataVolume", "name"), ""),
        (("volumes", 0, "dataVolume", "name"), "Root"),
        (("volumes", 1, "persistentVolumeClaim", "claimName"), 7),
        (("volumes", 1, "persistentVolumeClaim"), None),
        (("volumes", 2, "cloudInitNoCloud", "userData"), ""),
        (("volumes", 2, "cloudInitNoCloud", "userData"), "a" * 2049),
        (("volumes", 2, "cloudInitNoCloud", "userData"), "ü"),
        (("volumes", 2, "cloudInitNoCloud", "networkDataSecretRef", "name"), ""),
        (("volumes", 3, "cloudInitConfigDrive", "userDataBase64"), "YQ="),
        (("volumes", 3, "cloudInitConfigDrive", "userDataBase64"), "YWJj" * 683),
        (("volumes", 3, "name"), "other"),
        (("volumes", 3, "cloudInitConfigDrive", "secretRef"), {"name": "more"}),
    ],
)
def test_what_is_not_plain_has_a_shape_of_its_own(path: tuple[str | int, ...], value: Any) -> None:
    other = spec(1)
    tree.get(other, *path[:-1])[path[-1]] = value
    assert key(other) != key(spec(1))


def test_how_claims_are_shared_is_of_the_shape() -> None:
    shared, apart = spec(1), spec(2)
    shared["volumes"][1]["persistentVolumeClaim"]["claimName"] = "web-1-root"
    apart["volumes"][1]["persistentVolumeClaim"]["claimName"] = "another"
    assert key(shared) != key(spec(1))
    assert key(apart) == key(spec(1))


def test_what_the_cluster_makes_up_is_as_plain_as_what_is_written() -> None:
    made_up = spec(1)
    made_up["domain"]["firmware"] = {"uuid": RANDOM, "serial": RANDOM}
    assert key(made_up) == key(spec(2))


def test_the_same_values_have_the_same_key_whoever_shares_them() -> None:
    """Later versions of marshal tell a text that stands twice from two equal ones, and an interned one."""
    text = "a-text-that-stands-twice"
    again = "".join(list(text))
    assert again is not text
    assert shape.key([text, text]) == shape.key([text, again])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, True),
        (1, 1.0),
        ("1", 1),
        ({"a": None}, {}),
        ({"a": []}, {"a": {}}),
        (["ab"], ["a", "b"]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
def test_what_is_equal_to_python_is_not_to_a_key(first: Any, second: Any) -> None:
    assert shape.key(first) != shape.key(second)


def test_what_is_no_json_has_no_key() -> None:
    assert shape.key({"a": object()}) is None
