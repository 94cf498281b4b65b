"""Figures of capacity worked out by hand: by namespace, instancetype, quota and node pool."""

from typing import Any

import pytest

from render import Settings, render
from render.report.fleet import capacity as view
from render.room.figures import ClusterCapacity
from tests.unit.pipeline.test_capacity import GI, LOG, MI, POD, kubevirt, pool, quota, vm

Json = dict[str, Any]
OVERHEAD = POD - GI
CPU = 105
WORKER, CONTROL = "node-role.kubernetes.io/worker", "node-role.kubernetes.io/control-plane"
TAINT = {"key": CONTROL, "effect": "NoSchedule"}


def node(name: str, memory: str, labels: Json, *taints: Json, **status: Any) -> Json:
    allocatable = {"cpu": "8", "memory": memory, **status}
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
        "spec": {"taints": [*taints]}, "status": {"allocatable": allocatable},
    }  # fmt: skip


def figures(*objects: Json, **settings: Any) -> ClusterCapacity:
    rendered = render([*objects, kubevirt()], Settings(kubevirt="1.9", **settings))
    assert rendered.capacity is not None
    return rendered.capacity


def test_nothing_is_counted_where_nothing_says_what_there_is() -> None:
    assert render([vm(), kubevirt()]).capacity is None
    plain = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "prod"}}
    assert render([vm(), kubevirt(), plain]).capacity is None


def test_a_namespace_and_its_quota() -> None:
    """2 VMs that always run, a pool of 3 and one that may be started; the halted one counts nothing."""
    found = figures(
        vm("a"), vm("b"), pool(3), vm("c", "Manual"), vm("d", "Halted"),
        quota(requests_memory=10 * GI, pods=10), vm("e", namespace="free"),
    )  # fmt: skip
    (prod,) = found.namespaces
    assert (prod.name, prod.pods) == ("prod", 5)
    assert prod.memory == (5 * POD, 5 * OVERHEAD, POD, 10 * GI)
    assert prod.cpu == (5 * CPU, 0, CPU, None)
    memory, pods = sorted(found.quotas, key=lambda item: item.resource != "requests.memory")
    assert (memory.always, memory.startable, memory.hard) == (str(5 * POD), str(POD), str(10 * GI))
    assert memory.part == 5 * POD / (10 * GI)
    assert (pods.always, pods.startable, pods.hard, pods.part) == ("5", "1", "10", 0.5)


def test_the_overhead_stands_apart() -> None:
    """32Mi less without a video device, and the log of the console."""
    headless = {"memory": {"guest": "1Gi"}, "devices": {"autoattachGraphicsDevice": False}}
    (prod,) = figures(vm(domain=headless), quota(pods=1)).namespaces
    assert prod.memory.overhead == (220 + 8 + 8) * MI + LOG


def test_instancetypes() -> None:
    small = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1", "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "small", "namespace": "prod"},
        "spec": {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}},
    }  # fmt: skip
    machine = vm("a")
    machine["spec"]["instancetype"] = {"name": "small", "kind": small["kind"]}
    machine["spec"]["template"]["spec"]["domain"] = {"devices": {}}
    none, of_small = figures(machine, vm("b"), small, quota(pods=2)).instancetypes
    assert (none.name, none.memory.always) == ("", POD)
    # 2 vCPUs: 8Mi more.
    assert (of_small.name, of_small.memory.always) == ("small", POD + GI + 8 * MI)
    assert of_small.cpu.always == 205


def test_node_pools_and_a_drain() -> None:
    """The VM with the selector can run on w2 alone; nothing runs on what is tainted, cordoned or has no figures."""
    objects = [
        node("w1", "4Gi", {WORKER: ""}),
        node("w2", "2Gi", {WORKER: "", "disk": "ssd", "cloud.google.com/gke-nodepool": "fast"}),
        node("m1", "64Gi", {CONTROL: ""}, TAINT),
        {**node("off", "64Gi", {WORKER: ""}), "spec": {"unschedulable": True}},
        {**node("new", "64Gi", {WORKER: ""}), "status": {}},
        vm("a"), vm("b", nodeSelector={"disk": "ssd"}), vm("c", namespace="other"),
    ]  # fmt: skip
    control, fast, worker, every = figures(*objects).pools
    assert [item.group.name for item in (control, fast, worker, every)] == [
        "control-plane", "fast", "worker", "",
    ]  # fmt: skip
    assert (control.group.pods, fast.group.pods, worker.group.pods, every.group.pods) == (
        0,
        1,
        0,
        3,
    )
    assert fast.group.memory == (POD, OVERHEAD, 0, 2 * GI)
    assert (fast.largest, fast.left_memory) == ("w2", -POD)
    assert (every.nodes, every.group.memory.limit) == (3, 70 * GI)
    assert every.left_memory == 6 * GI - 3 * POD
    assert every.left_cpu == 16_000 - 3 * CPU


def test_nodes_that_cannot_run_vms_do_not_count() -> None:
    device = {"devices.kubevirt.io/kvm": "1k"}
    (pool_,) = figures(node("w", "4Gi", {}, **device), node("no", "4Gi", {}), vm()).pools
    assert (pool_.nodes, pool_.group.memory.limit) == (1, 4 * GI)


def test_a_page_says_the_same_in_words_and_bars() -> None:
    limits = quota(requests_memory=GI, limits_memory=GI)
    tables = view.tables(figures(vm("a"), vm("b", "Manual"), limits, node("w", "4Gi", {})))
    assert [table.word for table in tables] == ["namespace", "quota", "node pool"]
    cpu, memory = tables[0].rows[0].bars
    assert cpu.text == "CPU: 0.105, and 0.105 that may be started"
    assert memory.text == (
        "memory: 1.29 GiB, 0.29 GiB of it overhead, and 1.29 GiB that may be started, of 1 GiB"
    )
    assert memory.is_exceeded
    assert memory.guests + memory.overhead + memory.startable == 100
    assert tables[2].rows[0].notes == ("without w, what always runs lacks 0.105 CPU and 1.29 GiB",)
    assert tables[0].rows[0].notes == ("quota team",)
    (of_quota,) = tables[1].rows[0].bars
    assert of_quota.label == "limits.memory"


def test_what_the_bars_of_a_namespace_show_is_not_said_of_its_quota_again() -> None:
    for resource in ("requests_memory", "memory"):
        tables = view.tables(figures(vm(), quota(**{resource: 4 * GI})))
        assert [table.word for table in tables] == ["namespace"]
    scoped = quota(scopes={"scopes": ["BestEffort"]}, requests_memory=GI)
    assert [table.word for table in view.tables(figures(vm(), quota(pods=9), scoped))] == [
        "namespace", "quota",
    ]  # fmt: skip
    smaller = quota(requests_memory=2 * GI) | {"metadata": {"name": "less", "namespace": "prod"}}
    namespaces, quotas = view.tables(figures(vm(), quota(requests_memory=4 * GI), smaller))
    assert namespaces.rows[0].notes == ("quota less",)
    assert [row.name for row in quotas.rows] == ["prod/team"]


def test_bars_of_what_nothing_limits_are_as_long_as_the_largest_lets_them_be() -> None:
    large = vm("c", namespace="large", domain={"memory": {"guest": "3Gi"}})
    found = figures(vm("a"), large, quota(pods=9), node("w", "64Gi", {}), node("v", "16Gi", {}))
    large_row, small_row = view.tables(found)[0].rows
    assert (large_row.name, small_row.name) == ("large", "prod")
    lengths = [row.bars[1].guests + row.bars[1].overhead for row in (large_row, small_row)]
    assert lengths == [100, pytest.approx(100 * POD / (POD + 2 * GI), abs=0.02)]
    assert large_row.bars[1].limit is None
    assert view.tables(found)[2].rows[0].notes == ("without w, 7.79 CPU and 11.41 GiB are left",)


def test_odd_nodes_are_no_nodes() -> None:
    statuses: list[Any] = [
        {}, None, {"allocatable": [1]}, {"allocatable": {"memory": "much"}},
        {"allocatable": {"memory": {}}},
    ]  # fmt: skip
    odd: list[Json] = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{index}"}, "status": status}
        for index, status in enumerate(statuses)
    ]
    assert figures(vm(), *odd).pools == ()
