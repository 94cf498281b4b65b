"""How machines are named: as short as it is unique, and what a user writes for one."""

import pytest

from render.model.naming import ambiguity, fitting, name_of, whole
from render.model.resource import ResourceRef

POOL = "VirtualMachinePool/prod/web"
KNOWN = ["prod/web", POOL, "test/web", "db", "VirtualMachineInstance/prod/db"]


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        (ResourceRef("VirtualMachine", "prod", "web"), "prod/web"),
        (ResourceRef("VM", "prod", "web"), "prod/web"),
        (ResourceRef("VirtualMachine", "", "web"), "web"),
        (ResourceRef("VirtualMachinePool", "prod", "web"), POOL),
        (ResourceRef("VirtualMachinePool", "", "web"), "VirtualMachinePool/web"),
    ],
)
def test_only_what_is_no_virtual_machine_has_its_kind(ref: ResourceRef, name: str) -> None:
    assert name_of(ref) == name
    assert fitting(name, [name]) == [name]
    assert fitting(whole(name), [name]) == [name]


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("prod/web", [POOL, "prod/web"]),
        ("web", [POOL, "prod/web", "test/web"]),
        ("VirtualMachine/prod/web", ["prod/web"]),
        ("VirtualMachine/web", ["prod/web", "test/web"]),
        ("VM/prod/web", ["prod/web"]),
        ("VirtualMachinePool/web", [POOL]),
        (POOL, [POOL]),
        ("test/web", ["test/web"]),
        ("db", ["db"]),
        ("VirtualMachineInstance/db", ["VirtualMachineInstance/prod/db"]),
        ("virtualmachine/web", []),
        ("nobody", []),
    ],
)
def test_what_a_name_means(query: str, meant: list[str]) -> None:
    assert fitting(query, KNOWN) == meant


def test_an_ambiguous_name_comes_with_one_that_is_not() -> None:
    message, cure = ambiguity("web", fitting("prod/web", KNOWN))
    assert message == f"web may be {POOL} or VirtualMachine/prod/web"
    assert cure.endswith(POOL)
    message, cure = ambiguity("web", ["prod/web", "test/web"])
    assert message == "web may be prod/web or test/web"
    assert cure == "name the VM with its namespace"
