"""The lock document: read back as it was written, and refused where it was not."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from render import Settings, render
from render.diagnostics.diagnostic import Location
from render.model import tree
from render.revisions import lockfile
from render.revisions.hashes import Ref, content_hash
from render.revisions.lockfile import Content, Entry, Lock, Pin

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "schemas" / "revisionlock.schema.json").read_text(encoding="utf-8")
)
SMALL = {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}}
LARGE = {"cpu": {"guest": 4}, "memory": {"guest": "4Gi"}}
PROFILES = {"profiles": [{"name": "wide", "default": True, "cpu": {"cores": 4}}]}
FEDORA: dict[str, Any] = {"firmware": {}}
RENDERED = "sha256:" + "0" * 64


def ref(name: str, spec: Any) -> Ref:
    kind_class = "preference" if spec is FEDORA else "instancetype"
    return Ref(f"VirtualMachine{kind_class.title()}", name, content_hash(kind_class, spec))


def sample() -> Lock:
    contents = {
        content_hash("instancetype", SMALL): Content("instancetype", SMALL),
        content_hash("instancetype", LARGE): Content("instancetype", LARGE),
        content_hash("preference", FEDORA): Content("preference", FEDORA),
        content_hash("flavor", PROFILES): Content("flavor", PROFILES),
    }
    flavor = Ref("VirtualMachineFlavor", "wide", content_hash("flavor", PROFILES))
    flavour = Ref("VirtualMachineInstancetype", "it", content_hash("instancetype", SMALL))
    pins = {
        "prod/web": Pin(
            3,
            {
                "instancetype": Entry(ref("it", LARGE), "", ref("it", SMALL)),
                "preference": Entry(ref("fedora", FEDORA), "root"),
            },
            RENDERED,
        ),
        "db": Pin(1, {"preference": Entry(None, "root")}, RENDERED),
        "plain": Pin(7, {}, RENDERED),
        "named": Pin(1, {"instancetype": Entry(ref("it", SMALL), revision_name="r-1")}, RENDERED),
        "stored": Pin(16, {"flavor": Entry(flavor, "", flavour)}, RENDERED),
    }
    return Lock(contents, pins)


def read(body: Any) -> tuple[Lock, list[str]]:
    lock, faults = lockfile.read(body, Location())
    return lock, [fault.code for fault in faults]


def test_round_trip() -> None:
    body = lockfile.document(sample())
    assert read(body) == (sample(), [])
    assert list(body["pins"]) == ["db", "named", "plain", "prod/web", "stored"]
    assert list(body["revisions"]) == sorted(body["revisions"])
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(body)


def test_contents_that_nobody_needs_go() -> None:
    lock = sample()
    rest = Lock(lock.revisions, {"plain": lock.pins["plain"]})
    assert lockfile.document(rest)["revisions"] == {}


def test_empty_lock_is_a_lock() -> None:
    assert read(lockfile.document(lockfile.EMPTY)) == (lockfile.EMPTY, [])


#: (path, value, code; whether the schema sees it too)
FLAWS: list[tuple[tuple[str, ...], Any, str, bool]] = [
    (("apiVersion",), "virt-render.dev/v1", "VR604", True),
    (("apiVersion",), "virt-render.dev/v1beta1", "VR604", True),
    (("apiVersion",), "v2", "VR604", True),
    (("apiVersion",), "other", "VR601", True),
    (("kind",), "Lock", "VR601", True),
    (("surplus",), {}, "VR601", True),
    (("pins",), [], "VR601", True),
    (("pins",), None, "VR601", True),
    (("revisions",), "none", "VR601", True),
    (("revisions", "sha256:12"), {"instancetype": {}}, "VR601", True),
    (("revisions", content_hash("preference", {})), {"preset": {}}, "VR601", True),
    (("revisions", content_hash("preference", {})), {"preference": []}, "VR601", True),
    (("revisions", content_hash("preference", {})), {"instancetype": {}}, "VR603", False),
    (("revisions", content_hash("preference", FEDORA)), {"preference": {}}, "VR603", False),
    (("pins", "plain", "revision"), 0, "VR601", True),
    (("pins", "plain", "revision"), "1", "VR601", True),
    (("pins", "plain", "revision"), True, "VR601", True),
    (("pins", "plain", "rendered"), "sha256:abc", "VR601", True),
    (("pins", "plain", "surplus"), 1, "VR601", True),
    (("pins", "plain"), None, "VR601", True),
    (("pins", "plain", "instancetype"), "small", "VR601", True),
    (("pins", "plain", "flavorVolume"), "root", "VR601", True),
    (
        ("pins", "stored", "flavor"),
        f"VirtualMachineFlavor/it@{content_hash('instancetype', SMALL)}",
        "VR603",
        False,
    ),
    (("pins", "plain", "instancetype"), "", "VR601", True),
    (("pins", "plain", "instancetypeBefore"), 3, "VR601", True),
    (("pins", "plain", "preferenceVolume"), 3, "VR601", True),
    (("pins", "plain", "preferenceRevisionName"), 3, "VR601", True),
    (("pins", "plain", "preference"), str(ref("it", SMALL)), "VR603", False),
    (("pins", "plain", "instancetype"), f"Kind/it@{RENDERED}", "VR603", False),
]


@pytest.mark.parametrize(("path", "value", "code", "in_schema"), FLAWS)
def test_flaw_is_refused(path: tuple[str, ...], value: Any, code: str, *, in_schema: bool) -> None:
    body = tree.copy(lockfile.document(sample()))
    tree.put(body, path, value)
    lock, found = read(body)
    assert found == [code]
    assert lock == lockfile.EMPTY
    assert Draft202012Validator(SCHEMA).is_valid(body) is not in_schema


@pytest.mark.parametrize("key", ["apiVersion", "kind", "pins", "revisions"])
def test_missing_part_is_refused(key: str) -> None:
    body = lockfile.document(sample())
    del body[key]
    assert read(body)[1] == ["VR601"]


def test_own_metadata_means_nothing() -> None:
    body = lockfile.document(sample())
    for metadata in ({"name": "dev-lock", "namespace": "prod", "labels": {"a": "b"}}, {}):
        assert read({**body, "metadata": metadata})[0] == sample()


def test_flaws_name_the_vm() -> None:
    body = tree.copy(lockfile.document(sample()))
    body["pins"]["prod/web"]["revision"] = -1
    (fault,) = lockfile.read(body, Location(file="lock"))[1]
    assert fault.location.path == ("pins", "prod/web")
    assert "the pin of prod/web" in fault.message
    assert fault.help


def test_content_that_this_release_does_not_know_is_refused() -> None:
    """Its hash fits, but a field of it would be lost in silence."""
    spec = {"cpu": {"guest": 2, "quantum": True}, "memory": {"guest": "2Gi"}}
    hash_ = content_hash("instancetype", spec)
    pin = Pin(1, {"instancetype": Entry(Ref("VirtualMachineInstancetype", "it", hash_))}, RENDERED)
    body = lockfile.document(Lock({hash_: Content("instancetype", spec)}, {"web": pin}))
    assert read(body)[1] == []
    (fault,) = render([], Settings(lock=body)).diagnostics
    assert fault.code == "VR601"
    assert "quantum" in fault.message
