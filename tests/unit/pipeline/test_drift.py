"""Which VMs are said to run what an object held before."""

import pytest

from render import Settings, render
from render.model.resource import from_body
from render.pipeline import pinning
from render.revisions import lockfile
from tests.support.pools import Json


def instancetype(memory: str) -> Json:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "small", "namespace": "prod"},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": memory}},
    }


def vm(name: str) -> Json:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
            "template": {"spec": {"domain": {"devices": {}}}},
        },
    }


@pytest.mark.parametrize(
    ("count", "who"),
    [
        (1, "prod/a is pinned to; it keeps the old content"),
        (3, "prod/a, prod/b, prod/c are pinned to; they keep the old content"),
        (4, "prod/a, prod/b, prod/c and 1 more are pinned to; they keep the old content"),
        (5, "prod/a, prod/b, prod/c and 2 more are pinned to; they keep the old content"),
    ],
)
def test_the_first_three_are_named(count: int, who: str) -> None:
    vms = [vm(name) for name in "abcde"[:count]]
    pinned = [from_body(body, index) for index, body in enumerate([*vms, instancetype("1Gi")])]
    lock = lockfile.document(pinning.pin(pinned, Settings()).lock)
    found = render([*vms, instancetype("2Gi"), lock]).diagnostics
    (changed,) = (diagnostic.message for diagnostic in found if diagnostic.code == "VR608")
    assert changed == (f"VirtualMachineInstancetype prod/small differs from what {who}")


def test_it_is_told_at_the_field_that_was_edited() -> None:
    """Where several differ, or the VMs are pinned to different contents, at its spec."""
    before, after, more = instancetype("1Gi"), instancetype("2Gi"), instancetype("2Gi")
    more["spec"]["cpu"]["guest"] = 2
    added = instancetype("1Gi")
    added["spec"]["schedulerName"] = "own"
    less = instancetype("1Gi")
    lock = lockfile.document(
        pinning.pin([from_body(vm("a"), 0), from_body(before, 1)], Settings()).lock
    )
    of_added = lockfile.document(
        pinning.pin([from_body(vm("a"), 0), from_body(added, 1)], Settings()).lock
    )
    for now, pins, path in (
        (after, lock, ("spec", "memory", "guest")),
        (more, lock, ("spec",)),
        (added, lock, ("spec", "schedulerName")),
        (less, of_added, ("spec",)),
    ):
        found = render([vm("a"), now, pins]).diagnostics
        (changed,) = (diagnostic for diagnostic in found if diagnostic.code == "VR608")
        assert changed.location.path == path


@pytest.mark.parametrize(
    ("memory", "codes"), [("1Gi", []), ("2Gi", ["VR608"]), ("", ["VR609"])], ids=str
)
def test_what_a_matcher_without_its_kind_means_by_now_is_compared(
    memory: str, codes: list[str]
) -> None:
    """KubeVirt goes on with the old one; who writes a pin of another kind by hand is told as with the right one."""
    pinned = [from_body(body, index) for index, body in enumerate([vm("a"), instancetype("1Gi")])]
    lock = lockfile.document(pinning.pin(pinned, Settings()).lock)
    without = vm("a")
    del without["spec"]["instancetype"]["kind"]
    meant = {**instancetype(memory), "kind": "VirtualMachineClusterInstancetype"}
    meant["metadata"] = {"name": "small"}
    found = render([without, lock, *([meant] if memory else [])])
    told = [each for each in found.diagnostics if each.code in ("VR607", "VR608", "VR609")]
    assert [each.code for each in told] == codes
    if memory == "2Gi":
        (changed,) = told
        assert changed.message.startswith("VirtualMachineClusterInstancetype small differs from")
    (machine,) = (body for body in found.resources if body["kind"] == "VirtualMachine")
    assert machine["spec"]["template"]["spec"]["domain"]["memory"]["guest"] == "1Gi"
