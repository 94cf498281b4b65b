"""Several locks in one input: each finding stands in the lock that has it."""

from typing import Any

import pytest

from render.diagnostics.diagnostic import Diagnostic
from render.model.release import NEWEST, VERSIONS, Version
from render.model.resource import from_body
from render.pipeline.input import lock_in_force
from render.revisions.hashes import content_hash
from render.settings import Settings

FUTURE = {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}, "fromTheFuture": True}
SMALL = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
#: A field that the oldest release does not know.
OF_TODAY = {**SMALL, "ioThreads": {"supplementalPoolThreadCount": 2}}


def lock(**pins: dict[str, Any]) -> dict[str, Any]:
    """A lock in which each VM is pinned to the content of an instancetype."""
    hashes = {vm: content_hash("instancetype", spec) for vm, spec in pins.items()}
    return {
        "apiVersion": "virt-render.dev/v1alpha1",
        "kind": "RevisionLock",
        "metadata": {"name": "lock"},
        "revisions": {hashes[vm]: {"instancetype": spec} for vm, spec in pins.items()},
        "pins": {
            vm: {
                "revision": 1,
                "instancetype": f"VirtualMachineInstancetype/a@{hash_}",
                "rendered": f"sha256:{'0' * 64}",
            }
            for vm, hash_ in hashes.items()
        },
    }


def found(*locks: dict[str, Any], release: Version = NEWEST, **settings: Any) -> list[Diagnostic]:
    resources = [from_body(body, index) for index, body in enumerate(locks)]
    return lock_in_force.find(resources, Settings(**settings), release).diagnostics


@pytest.mark.parametrize("faulty", [0, 1])
def test_a_content_that_nobody_knows_is_reported_in_its_lock(faulty: int) -> None:
    locks = [lock(a=SMALL), lock(b=SMALL)]
    locks[faulty] = lock(c=FUTURE)
    (diagnostic,) = found(*locks)
    hash_ = content_hash("instancetype", FUTURE)
    assert (diagnostic.code, diagnostic.location.index) == ("VR601", faulty)
    assert diagnostic.location.path == ("revisions", hash_)


@pytest.mark.parametrize("newer", [0, 1])
def test_a_field_that_the_release_lacks_is_reported_in_its_lock(newer: int) -> None:
    locks = [lock(a=SMALL), lock(b=SMALL)]
    locks[newer] = lock(c=OF_TODAY, d=OF_TODAY)
    (diagnostic,) = found(*locks, release=VERSIONS[0])
    assert (diagnostic.code, diagnostic.location.index) == ("VR105", newer)
    assert diagnostic.message == "KubeVirt 1.4 does not know ioThreads, which c, d are pinned to"


@pytest.mark.parametrize("pinning", [0, 1])
def test_pins_that_nobody_asks_for_are_named_in_their_lock(pinning: int) -> None:
    locks = [lock(), lock()]
    locks[pinning] = lock(a=SMALL)
    locks[0]["metadata"] = {"name": "first"}
    (diagnostic,) = found(*locks, emit="expand")
    assert (diagnostic.location.index, diagnostic.location.path) == (pinning, ("pins",))


def test_pins_that_are_ignored_are_none() -> None:
    assert not found(lock(a=FUTURE), lock(a=SMALL), pins="ignore")
