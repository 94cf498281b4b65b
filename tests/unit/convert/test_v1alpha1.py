"""Which VM of kubevirt.io/v1alpha1 a document is."""

from typing import Any

import pytest

from render.convert import v1alpha1
from render.model.resource import from_body


def body(kind: str = "VirtualMachine", **more: Any) -> dict[str, Any]:
    return {"apiVersion": "kubevirt.io/v1alpha1", "kind": kind, "metadata": {"name": "vm"}, **more}


@pytest.mark.parametrize(
    ("given", "era"),
    [
        (body(spec={"domain": {}}), "runtime"),
        (body("VM", spec={"domain": {}}), "store"),
        (body(spec={"domain": {}, "restartPolicy": "always"}), "store"),
        (body(spec={"domain": {"os": {"type": {"os": "hvm"}}}}), "store"),
        (body(metadata={"name": "vm", "annotations": {v1alpha1.REVISION: "15"}}), "store"),
        (body("VirtualMachinePreset"), ""),
        ({**body(), "apiVersion": "kubevirt.io/v1"}, ""),
        ({**body(), "apiVersion": "example.com/v1alpha1"}, ""),
    ],
)
def test_era(given: dict[str, Any], era: str) -> None:
    assert v1alpha1.era(from_body(given, 0)) == era


@pytest.mark.parametrize(
    ("policy", "strategy"), [("always", "Always"), ("never", "Once"), (None, "Halted")]
)
def test_restart_policy(policy: str | None, strategy: str) -> None:
    spec: dict[str, Any] = {"domain": {}} if policy is None else {"restartPolicy": policy}
    given = body(spec=spec)
    made = v1alpha1.from_store(given, v1alpha1.as_instance(given))
    assert made["spec"]["runStrategy"] == strategy


def test_firmware_uuid_is_kubevirts() -> None:
    assert v1alpha1.firmware_uuid("testvm") == "5a9fc181-957e-5c32-9e5a-2de5e9673531"
