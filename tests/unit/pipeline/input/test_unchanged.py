"""Which machines of a first state are not rendered again for the second."""

from typing import Any

import pytest

from render import Settings, compare
from render.machine import Machine
from render.model import tree
from render.model.resource import Resource, from_body
from render.pipeline.input import unchanged
from render.pipeline.run import run

Json = dict[str, Any]
SETTINGS = Settings(emit="source")


def vm(name: str, instancetype: str, **template: Any) -> Json:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            "instancetype": {"name": instancetype},
            "template": {"spec": {"domain": {"devices": {}}, **template}},
        },
    }


def instancetype(name: str, cpus: int, kind: str = "VirtualMachineClusterInstancetype") -> Json:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"cpu": {"guest": cpus}, "memory": {"guest": "2Gi"}},
    }


def preset() -> Json:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstancePreset",
        "metadata": {"name": "any", "namespace": "prod"},
        "spec": {"domain": {"devices": {}}},
    }


def claim() -> Json:
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}}


SMALL, LARGE = instancetype("small", 1), instancetype("large", 4)
WEB, DB = vm("web", "small"), vm("db", "large")


def taken_over(before: list[Json], after: list[Json]) -> set[str]:
    """The names of the machines that rendering *after* takes over from *before*."""
    old, new = (
        [from_body(body, index) for index, body in enumerate(objects)]
        for objects in (before, after)
    )
    machines: list[Machine] = []
    run(old, SETTINGS, lambda machine, _: machines.append(machine))
    same = unchanged.between(old, new, machines)
    found: list[Machine] = []
    run(new, SETTINGS, lambda machine, _: found.append(machine), unchanged=same)
    decoded = {id(machine.decoded) for machine in machines}
    return {item.resource.name for item in found if id(item.decoded) in decoded}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([WEB, DB, SMALL, LARGE], [WEB, DB, SMALL, LARGE], {"web", "db"}),
        ([WEB, DB, SMALL, LARGE], [WEB, DB, instancetype("small", 2), LARGE], {"db"}),
        ([WEB, DB, SMALL, LARGE], [LARGE, SMALL, tree.copy(DB), vm("web", "large")], {"db"}),
        ([WEB, DB, SMALL, LARGE], [WEB, DB, LARGE], {"db"}),
        ([WEB, DB, LARGE], [WEB, DB, SMALL, LARGE], {"db"}),
        ([DB, SMALL, LARGE], [WEB, DB, SMALL, LARGE], {"db"}),
        (
            [WEB, DB, SMALL, LARGE],
            [WEB, DB, SMALL, LARGE, instancetype("small", 2, "VirtualMachineInstancetype")],
            {"db"},
        ),
        ([WEB, SMALL], [WEB, SMALL, claim()], set()),
        ([WEB, SMALL], [WEB, SMALL, preset()], set()),
        ([WEB, SMALL, preset()], [WEB, SMALL, preset()], set()),
        ([vm("web", "small", nonsense=1), SMALL], [vm("web", "small", nonsense=1), SMALL], set()),
    ],
    ids=[
        "nothing", "instancetype", "vm-and-order", "instancetype-gone", "instancetype-new", "vm-new", "other-kind",
        "claim", "preset-new", "preset", "finding",
    ],
)  # fmt: skip
def test_only_what_nothing_can_have_changed_is_taken_over(
    before: list[Json], after: list[Json], expected: set[str]
) -> None:
    assert taken_over(before, after) == expected


def test_a_machine_that_is_taken_over_has_its_place_in_the_second_state() -> None:
    before = [from_body(body, index) for index, body in enumerate([WEB, SMALL])]
    after = [from_body(body, index) for index, body in enumerate([SMALL, WEB])]
    places: list[tuple[Resource, Any]] = []

    def observe(machine: Machine, _: Json) -> None:
        places.append((machine.resource, machine.context.catalogue))
        machines.append(machine)

    machines: list[Machine] = []
    run(before, SETTINGS, observe)
    run(after, SETTINGS, observe, unchanged=unchanged.between(before, after, machines))
    assert [resource.index for resource, _ in places] == [0, 1]
    assert places[0][1] is not places[1][1]


def test_the_kind_of_an_edit_reaches_the_machines_that_mean_it() -> None:
    found = compare([WEB, DB, SMALL, LARGE], [DB, WEB, LARGE, instancetype("small", 2)], SETTINGS)
    assert [(machine.resource.name, machine.effects[0]) for machine in found.machines] == [
        ("db", "same"),
        ("web", "recreate"),
    ]
