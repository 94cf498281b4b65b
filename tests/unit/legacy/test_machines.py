"""Which VM of kubevirt.io/v1alpha1 a document is."""

from typing import Any

import pytest

from render.diagnostics import codes
from render.diagnostics.diagnostic import at
from render.legacy import machines
from render.model import tree
from render.model.resource import TEMPLATE, VM, VMI, from_body


def body(kind: str = "VirtualMachine", **more: Any) -> dict[str, Any]:
    return {"apiVersion": "kubevirt.io/v1alpha1", "kind": kind, "metadata": {"name": "vm"}, **more}


@pytest.mark.parametrize(
    ("stated", "which"),
    [
        (body(spec={"domain": {}}), "runtime"),
        (body("VM", spec={"domain": {}}), "store"),
        (body(spec={"domain": {}, "restartPolicy": "always"}), "store"),
        (body(spec={"domain": {"os": {"type": {"os": "hvm"}}}}), "store"),
        (body(metadata={"name": "vm", "annotations": {machines.REVISION: "15"}}), "store"),
        (body("VirtualMachinePreset"), ""),
        ({**body(), "apiVersion": "kubevirt.io/v1"}, ""),
        ({**body(), "apiVersion": "example.com/v1alpha1"}, ""),
    ],
)
def test_age(stated: dict[str, Any], which: str) -> None:
    assert machines.age(from_body(stated, 0)) == which


@pytest.mark.parametrize(
    ("policy", "strategy"), [("always", "Always"), ("never", "Once"), (None, "Halted")]
)
def test_restart_policy(policy: str | None, strategy: str) -> None:
    spec: dict[str, Any] = {"domain": {}} if policy is None else {"restartPolicy": policy}
    inputs = body(spec=spec)
    made = machines.from_store(inputs, machines.as_instance(inputs))
    assert made["spec"]["runStrategy"] == strategy


def test_firmware_uuid_is_kubevirts() -> None:
    assert machines.firmware_uuid("testvm") == "5a9fc181-957e-5c32-9e5a-2de5e9673531"


def test_a_machine_of_today_is_itself() -> None:
    inputs = from_body({**body(), "apiVersion": "kubevirt.io/v1"}, 0)
    assert machines.modernise(inputs) is inputs


def test_a_stored_machine_has_a_template_and_its_author_has_none() -> None:
    inputs = from_body(body("VM", spec={"domain": {}}), 3)
    made = machines.modernise(inputs)
    assert (made.version, made.kind, made.written, made.ref) == ("v1", VM, inputs, inputs.ref)
    assert tree.get(made.body, *TEMPLATE, "spec", "domain") is not None
    cores = ("spec", "domain", "cpu", "cores")
    assert machines.in_machine(made, cores) == (*TEMPLATE, *cores)
    assert machines.in_manifest(made, (*TEMPLATE, *cores)) == cores
    assert machines.in_manifest(made, ("metadata", "name")) == ("metadata", "name")
    (found,) = machines.located([codes.WRONG_TYPE.at(at(made, (*TEMPLATE, *cores)), "")], [made])
    assert found.location == at(inputs, cores)


def test_a_machine_of_the_runtime_is_a_vmi_in_the_same_places() -> None:
    inputs = from_body(body(spec={"domain": {}}), 0)
    made = machines.modernise(inputs)
    assert (made.body["apiVersion"], made.kind) == ("kubevirt.io/v1", VMI)
    assert machines.in_manifest(made, ("spec", "domain")) == ("spec", "domain")
    assert machines.in_machine(made, ("spec", "domain")) == ("spec", "domain")
