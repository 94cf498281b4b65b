"""What pools and replica sets do with the VMs that they have made, by release and update strategy."""

from typing import Any

import pytest

from render import Settings, compare
from render.diff.impact import HolderImpact
from render.diff.pools import Outcome
from render.model import tree
from render.model.resource import ResourceRef

Json = dict[str, Any]
Fields = dict[tuple[str | int, ...], Any]
POOL = ("spec", "virtualMachineTemplate", "spec")
VOLUME = {
    "metadata": {"name": "root"},
    "spec": {"source": {"blank": {}}, "storage": {"resources": {"requests": {"storage": "1Gi"}}}},
}
HOSTNAME: Fields = {(*POOL, "template", "spec", "hostname"): "x"}
HALTED: Fields = {(*POOL, "runStrategy"): "Halted"}
LARGER: Fields = {
    (*POOL, "dataVolumeTemplates", 0, "spec", "storage", "resources", "requests", "storage"): "2Gi"
}


def pool(api: str = "v1beta1") -> Json:
    labels = {"app": "web"}
    spec = {
        "domain": {"devices": {"disks": [{"name": "root", "disk": {}}]}},
        "volumes": [{"name": "root", "dataVolume": {"name": "root"}}],
    }
    return {
        "apiVersion": f"pool.kubevirt.io/{api}",
        "kind": "VirtualMachinePool",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": labels},
            "virtualMachineTemplate": {
                "metadata": {"labels": labels},
                "spec": {
                    "runStrategy": "Always",
                    "instancetype": {"name": "small"},
                    "dataVolumeTemplates": [VOLUME],
                    "template": {"metadata": {"labels": labels}, "spec": spec},
                },
            },
        },
    }


def replica_set() -> Json:
    labels = {"app": "cache"}
    spec = {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstanceReplicaSet",
        "metadata": {"name": "cache", "namespace": "shop"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def instancetype(cpus: int = 2) -> Json:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": "small"},
        "spec": {"cpu": {"guest": cpus}, "memory": {"guest": "2Gi"}},
    }


def edited(item: Json, fields: Fields) -> Json:
    made: Json = tree.copy(item)
    for path, value in fields.items():
        node: Any = made
        for step in path[:-1]:
            node = node.setdefault(step, {}) if isinstance(node, dict) else node[step]
        node[path[-1]] = value
    return made


def only(before: Json, after: Json, cpus: int = 2, **settings: Any) -> HolderImpact:
    """What becomes of the one holder of both states; the instancetype gets *cpus*."""
    states = [[instancetype(), before], [instancetype(cpus), after]]
    found = compare(states[0], states[1], Settings(**settings))
    assert not any(diagnostic.is_error for diagnostic in found.diagnostics), found.diagnostics
    assert found.machines == ()
    (holder,) = found.holders
    return holder


@pytest.mark.parametrize(
    ("release", "strategy", "fields", "outcome"),
    [
        ("1.9", {}, HOSTNAME, "restarted"),
        ("1.9", {}, HALTED, "updated"),
        ("1.9", {}, LARGER, "replaced"),
        ("1.9", {}, {("spec", "replicas"): 5}, "scaled"),
        ("1.9", {"proactive": {}}, HOSTNAME, "restarted"),
        ("1.9", {"opportunistic": {}}, HOSTNAME, "updated"),
        ("1.9", {"opportunistic": {}}, LARGER, "updated"),
        ("1.9", {"unmanaged": {}}, HOSTNAME, "later"),
        ("1.7", {"unmanaged": {}}, HOSTNAME, "later"),
        ("1.6", {}, HOSTNAME, "restarted"),
        ("1.6", {}, LARGER, "replaced"),
        ("1.5", {}, LARGER, "updated"),
        ("1.5", {}, HOSTNAME, "restarted"),
    ],
)
def test_what_a_pool_does(release: str, strategy: Json, fields: Fields, outcome: Outcome) -> None:
    before = pool("v1alpha1" if release in ("1.5", "1.6") else "v1beta1")
    if strategy:
        before["spec"]["updateStrategy"] = strategy
    found = only(before, edited(before, fields), kubevirt=release, emit="source")
    assert found.outcome == outcome
    assert bool(found.changes) == (outcome != "scaled")
    assert not found.is_selective
    (path,) = fields
    for change in found.changes:
        assert change.cause is not None
        assert path[: len(change.cause.path)] == change.cause.path


def test_an_edited_instancetype_reaches_what_a_pool_makes_later() -> None:
    found = only(pool(), pool(), cpus=4, emit="source")
    assert (found.outcome, found.changes, found.replicas) == ("later", (), (3, 3))
    assert found.edited == (ResourceRef("VirtualMachineClusterInstancetype", "", "small"),)


def test_an_edited_instancetype_that_is_written_into_the_pool_restarts() -> None:
    found = only(pool(), pool(), cpus=4, emit="vm")
    (change,) = found.changes
    assert (found.outcome, found.edited) == ("restarted", ())
    assert (change.field, change.before, change.after) == (
        "spec.template.spec.domain.cpu.sockets",
        2,
        4,
    )
    assert change.cause is not None
    assert (change.cause.resource.name, change.cause.field) == ("small", "spec.cpu.guest")


def test_a_pool_may_select_what_it_updates() -> None:
    before = pool()
    selectors = {"labelSelector": {"matchLabels": {"ring": "first"}}}
    before["spec"]["updateStrategy"] = {"proactive": {"selectionPolicy": {"selectors": selectors}}}
    found = only(before, edited(before, HOSTNAME), emit="source")
    assert (found.outcome, found.is_selective) == ("restarted", True)


def test_a_replica_set_updates_nothing() -> None:
    after = edited(
        replica_set(), {("spec", "template", "spec", "domain", "memory", "guest"): "2Gi"}
    )
    found = only(replica_set(), after, emit="source")
    (change,) = found.changes
    assert (found.outcome, change.field) == ("later", "spec.domain.memory.guest")
    assert change.cause is not None
    assert change.cause.field == "spec.template.spec.domain.memory.guest"


@pytest.mark.parametrize("strategy", [{}, {"updateStrategy": {"unmanaged": {}}}])
@pytest.mark.parametrize("fields", [{}, LARGER])
def test_a_pool_without_replicas_has_no_vm(strategy: Json, fields: Fields) -> None:
    before = edited(pool(), {})
    before["spec"] |= strategy
    found = only(before, edited(before, {**fields, ("spec", "replicas"): 0}), emit="source")
    assert (found.outcome, found.replicas) == ("emptied", (3, 0))
    waiting: Fields = {("spec", "replicas"): 0, ("spec", "scaleInStrategy", "unmanaged"): {}}
    assert only(before, edited(before, waiting), emit="source").outcome == "scaled"


@pytest.mark.parametrize(
    ("fields", "outcome", "changed"),
    [
        ({("spec", "replicas"): 1}, "scaled", False),
        ({("spec", "replicas"): 1, **HOSTNAME}, "restarted", True),
        ({("spec", "replicas"): 1, **LARGER}, "replaced", True),
        ({("spec", "replicas"): 0, **HOSTNAME}, "emptied", True),
    ],
)
def test_a_pool_that_shrinks_deletes_vms_whatever_else_it_does(
    fields: Fields, outcome: Outcome, *, changed: bool
) -> None:
    found = only(pool(), edited(pool(), fields), emit="source")
    assert (found.outcome, bool(found.changes)) == (outcome, changed)
    assert found.deleted == 3 - found.replicas[1]
    waiting: Fields = {**fields, ("spec", "scaleInStrategy", "unmanaged"): {}}
    assert only(pool(), edited(pool(), waiting), emit="source").deleted == 0


def test_a_replica_set_that_shrinks_deletes_vmis() -> None:
    fields: Fields = {("spec", "replicas"): 1, ("spec", "template", "spec", "hostname"): "x"}
    found = only(replica_set(), edited(replica_set(), fields), emit="source")
    assert (found.outcome, found.deleted) == ("later", 1)


NO_VOLUME = {"disks": [{"name": "absent", "disk": {}}]}


@pytest.mark.parametrize("emit", ["source", "vm"])
@pytest.mark.parametrize(
    ("holder", "fields", "outcome"),
    [
        (pool(), {(*POOL, "template", "spec", "domain", "devices"): NO_VOLUME}, "refused"),
        (pool(), {(*POOL, "template", "spec", "hostname"): {"a": "b"}}, "refused"),
        (pool(), {(*POOL, "instancetype", "name"): "absent"}, "unusable"),
        (replica_set(), {("spec", "template", "spec", "domain", "devices"): NO_VOLUME}, "refused"),
    ],
)
def test_what_is_refused_changes_nothing(
    holder: Json, fields: Fields, outcome: Outcome, emit: Any
) -> None:
    """The webhook refuses the pool, or takes it and refuses its VMs; a hostname beside that is no reason."""
    place = (
        (*POOL, "template", "spec")
        if holder["kind"].endswith("Pool")
        else ("spec", "template", "spec")
    )
    broken = edited(holder, {(*place, "hostname"): "x", **fields})
    settings = Settings(emit=emit)
    (found,) = compare([instancetype(), holder], [instancetype(), broken], settings).holders
    assert (found.outcome, found.deleted) == (outcome, 0)
    if NO_VOLUME in fields.values():
        assert all("disks" in change.field for change in found.changes)
    (back,) = compare([instancetype(), broken], [instancetype(), holder], settings).holders
    assert back.outcome == "repaired"
    assert compare([instancetype(), broken], [instancetype(), broken], settings).holders == ()
    new = compare([instancetype()], [instancetype(), broken], settings).holders
    assert {item.outcome for item in new} <= {outcome}


def test_holders_come_and_go() -> None:
    states: list[list[Json]] = [[instancetype(), pool()], [instancetype(), replica_set()]]
    found = compare(states[0], states[1], Settings(emit="source")).holders
    assert [(item.resource.name, item.outcome, item.replicas) for item in found] == [
        ("cache", "new", (0, 2)),
        ("web", "gone", (3, 0)),
    ]


@pytest.mark.parametrize("emit", ["source", "vm"])
def test_what_stays_as_it_is_is_not_listed(emit: Any) -> None:
    both = [instancetype(), pool(), replica_set()]
    assert compare(both, both, Settings(emit=emit)).holders == ()
