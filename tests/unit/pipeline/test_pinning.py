"""What becomes of locks: two that are merged, and one that follows what a cluster runs."""

from typing import Any

import pytest

from render import Settings
from render.model.resource import Resource, from_body
from render.pipeline import pinning
from render.revisions.hashes import Ref, content_hash
from render.revisions.lockfile import Content, Entry, Lock, Pin
from tests.support.pools import Json

KIND = "VirtualMachineInstancetype"
SPECS: list[Json] = [{"cpu": {"guest": count}, "memory": {"guest": "1Gi"}} for count in (1, 2, 3)]
HASHES = [content_hash("instancetype", spec) for spec in SPECS]
CONTENTS = {item: Content("instancetype", spec) for item, spec in zip(HASHES, SPECS, strict=True)}


def lock(release: str = "v1.9.0", /, **vms: int) -> Lock:
    """A lock in which each of *vms* is pinned to one of `SPECS`."""
    refs = {vm: Ref(KIND, "small", HASHES[number]) for vm, number in vms.items()}
    pins = {vm: Pin(1, {"instancetype": Entry(ref)}, ref.hash) for vm, ref in refs.items()}
    return Lock({ref.hash: CONTENTS[ref.hash] for ref in refs.values()}, pins, release)


@pytest.mark.parametrize(
    ("ours", "upstream", "merged", "refused"),
    [
        ({"a": 0}, {"a": 0}, {"a": 0}, []),
        ({"a": 1}, {"a": 0}, {"a": 1}, []),
        ({"a": 0}, {"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, {}, ["a"]),
        ({}, {"a": 0}, {}, []),
        ({"a": 0}, {}, {}, []),
        ({}, {"a": 1}, {}, ["a"]),
        ({"a": 0, "b": 1}, {"a": 0, "c": 2}, {"a": 0, "b": 1, "c": 2}, []),
    ],
)
def test_both_sides_changes_of_a_lock(
    ours: dict[str, int], upstream: dict[str, int], merged: dict[str, int], refused: list[str]
) -> None:
    found, conflicts = pinning.merge(lock(a=0), lock(**ours), lock(**upstream))
    assert found.pins == lock(**merged).pins
    assert conflicts == refused


def test_the_release_of_a_merged_lock_is_that_of_who_changed_it() -> None:
    old, new = lock("v1.8.4"), lock("v1.9.0")
    for ours, item in ((new, old), (old, new), (new, new)):
        assert pinning.merge(old, ours, item)[0].kubevirt == "v1.9.0"


METADATA = {"name": "web", "namespace": "prod"}
RUNNING_FROM = "web-small-1"


def vm(matcher: Json, status: Any = None) -> Json:
    inner: Json = {
        "domain": {"devices": {}},
        "volumes": [{"name": "root", "persistentVolumeClaim": {"claimName": "root"}}],
    }
    spec = {"runStrategy": "Always", "instancetype": matcher, "template": {"spec": inner}}
    body: Json = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": METADATA,
        "spec": spec,
    }
    return body if status is None else {**body, "status": status}


def instancetype(spec: Json) -> Json:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": KIND,
        "metadata": {"name": "small", "namespace": "prod"},
        "spec": spec,
    }


REVISION: Json = {
    "apiVersion": "apps/v1",
    "kind": "ControllerRevision",
    "metadata": {
        "name": RUNNING_FROM,
        "namespace": "prod",
        "labels": {"instancetype.kubevirt.io/object-name": "small"},
    },
    "data": instancetype(SPECS[0]),
    "revision": 0,
}


def resources(*bodies: Json) -> list[Resource]:
    return [from_body(body, index) for index, body in enumerate(bodies)]


@pytest.mark.parametrize(
    ("matcher", "status", "name"),
    [
        ({"name": "small", "kind": KIND, "revisionName": RUNNING_FROM}, None, "small"),
        ({"name": "tiny", "kind": KIND, "revisionName": RUNNING_FROM}, None, "tiny"),
        ({"revisionName": RUNNING_FROM}, None, "small"),
        (
            {"name": "small", "kind": KIND},
            {"instancetypeRef": {"controllerRevisionRef": {"name": RUNNING_FROM}}},
            "small",
        ),
        ({"name": "small", "kind": KIND}, {}, ""),
        ({"name": "small", "kind": KIND}, [], ""),
        ({"name": "u1.nano"}, None, ""),
    ],
)
def test_only_what_a_revision_holds_is_certain(matcher: Json, status: Any, name: str) -> None:
    dump = resources(vm(matcher, status), REVISION, instancetype(SPECS[2]))
    found = pinning.adopt(dump, resources(vm({"name": "small", "kind": KIND})), Settings())
    entry = Entry(Ref(KIND, name, HASHES[0]), revision_name=RUNNING_FROM)
    assert found.entries == ({"prod/web": {"instancetype": entry}} if name else {})
    assert [diagnostic.code for diagnostic in found.diagnostics] == ([] if name else ["VR207"])


def test_what_a_cluster_runs_is_pinned_where_the_repository_infers_it() -> None:
    """The volume says something else today, and goes on doing so for new VMs."""
    labels = {
        "instancetype.kubevirt.io/default-instancetype": "small",
        "instancetype.kubevirt.io/default-instancetype-kind": KIND,
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "root", "namespace": "prod", "labels": labels},
    }
    dump = resources(vm({"name": "small", "kind": KIND, "revisionName": RUNNING_FROM}), REVISION)
    inputs = resources(vm({"inferFromVolume": "root"}), claim, instancetype(SPECS[1]))
    adopted = pinning.adopt(dump, inputs, Settings())
    assert adopted.diagnostics == []
    found = pinning.pin(inputs, Settings(), adopted=adopted)
    assert [diagnostic for diagnostic in found.diagnostics if diagnostic.is_error] == []
    entry = found.lock.pins["prod/web"].entries["instancetype"]
    assert (entry.ref, entry.volume) == (Ref(KIND, "small", HASHES[0]), "root")
