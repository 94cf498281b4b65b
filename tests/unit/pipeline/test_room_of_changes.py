"""What a change does to the room of namespaces: requests before and after, quotas that begin to fail, and why."""

from typing import Any

from render import Settings, compare
from render.diff.impact import Impact
from render.diff.room import QuotaImpact, RequestTotals
from tests.unit.pipeline.test_capacity import GI, POD, kubevirt, pool, quota, vm

Json = dict[str, Any]
CPU = 105


def impact(before: list[Json], after: list[Json], **settings: Any) -> Impact:
    inputs = Settings(**{"kubevirt": "1.9", "emit": "source", **settings})
    return compare([*before, kubevirt()], [*after, kubevirt()], inputs)


def blamed(item: QuotaImpact) -> list[tuple[str, str]]:
    return [(cause.resource.name, cause.field) for cause in item.causes]


def sized(name: str, guest: str, run: str = "Always") -> Json:
    return vm(name, run, domain={"memory": {"guest": guest}})


def test_nothing_is_said_without_a_quota() -> None:
    found = impact([vm()], [vm(), vm("b")])
    assert (found.requests, found.quotas) == ((), ())


def test_a_larger_guest() -> None:
    """The guest of a grows by 1 GiB, and nothing else of its pod does."""
    limit = quota(requests_memory=2 * POD)
    found = impact([vm("a"), vm("b"), limit], [sized("a", "2Gi"), vm("b"), limit])
    (prod,) = found.requests
    assert prod == (
        "prod", RequestTotals(2, 2 * CPU, 2 * POD), RequestTotals(2, 2 * CPU, 2 * POD + GI),
    )  # fmt: skip
    (row,) = found.quotas
    assert (row.namespace, row.quota, row.resource) == ("prod", "team", "requests.memory")
    assert (row.needed, row.hard, row.severity) == (str(2 * POD + GI), str(2 * POD), "error")
    assert blamed(row) == [("a", "spec.template.spec.domain.memory.guest")]


def test_a_refused_update_takes_no_pod_away() -> None:
    """The pod of a runs on, and the second state has not counted it; a new VM that is refused has none."""
    limit = quota(requests_memory=9 * POD)
    for refused in (vm("a", "always"), sized("a", "1GB of it")):
        assert not impact([vm("a"), vm("b"), limit], [refused, vm("b"), limit]).requests
    (prod,) = impact([vm("b"), limit], [vm("a", "always"), sized("b", "2Gi"), limit]).requests
    assert (prod.before.pods, prod.after.pods) == (1, 1)


def test_a_new_vm_and_a_started_one() -> None:
    limit = quota(pods=1)
    (row,) = impact([vm("a"), limit], [vm("a"), vm("b"), limit]).quotas
    assert blamed(row) == [("b", "")]
    (row,) = impact([vm("a"), vm("b", "Halted"), limit], [vm("a"), vm("b"), limit]).quotas
    assert blamed(row)[0][0] == "b"


def test_a_smaller_quota_is_to_blame_itself() -> None:
    (row,) = impact([vm("a"), quota(pods=1)], [vm("a"), quota(pods=0)]).quotas
    assert blamed(row) == [("team", "spec.hard.pods")]
    (row,) = impact([vm("a")], [vm("a"), quota(pods=0)]).quotas
    assert blamed(row)[0] == ("team", "spec.hard.pods")


def test_more_replicas() -> None:
    (row,) = impact([pool(2), quota(pods=2)], [pool(3), quota(pods=2)]).quotas
    assert (row.needed, row.hard) == ("3", "2")
    assert blamed(row) == [("web", "spec.replicas")]


def test_what_failed_before_does_not_begin_to() -> None:
    limit = quota(pods=1)
    assert not impact([vm("a"), vm("b"), limit], [vm("a"), vm("b"), vm("c"), limit]).quotas
    assert not impact([vm("a"), vm("b"), limit], [vm("a"), limit]).quotas


def test_a_warning_that_becomes_an_error_begins_to_fail() -> None:
    limit = quota(pods=1)
    (row,) = impact([vm("a"), vm("b", "Manual"), limit], [vm("a"), vm("b"), limit]).quotas
    assert row.severity == "error"
    (mild,) = impact([vm("a"), limit], [vm("a"), vm("b", "Manual"), limit]).quotas
    assert mild.severity == "warning"


def test_a_silenced_quota_is_not_named() -> None:
    limit = quota(pods=1)
    limit["metadata"]["annotations"] = {"virt-render.dev/ignore.VR444": "grows next week"}
    assert not impact([vm("a"), limit], [vm("a"), vm("b"), limit]).quotas


def test_an_edited_instancetype_is_to_blame() -> None:
    def small(memory: str) -> Json:
        return {
            "apiVersion": "instancetype.kubevirt.io/v1beta1",
            "kind": "VirtualMachineInstancetype",
            "metadata": {"name": "small", "namespace": "prod"},
            "spec": {"cpu": {"guest": 1}, "memory": {"guest": memory}},
        }

    machine = vm("a")
    machine["spec"]["instancetype"] = {"name": "small", "kind": "VirtualMachineInstancetype"}
    machine["spec"]["template"]["spec"]["domain"] = {"devices": {}}
    limit = quota(requests_memory=POD)
    for emit in ("vm", "source"):
        (single,) = impact(
            [machine, small("1Gi"), limit], [machine, small("2Gi"), limit], emit=emit
        ).quotas or (None,)
        if emit == "vm":
            assert single is not None
            assert blamed(single) == [("small", "spec.memory.guest")]
