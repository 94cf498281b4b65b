"""``--firmware-uuid stable``: identity from namespace and name, for VMs that have none."""

from typing import Any

import pytest

from render import Settings, render
from render.model import tree


def vm(firmware: dict[str, str] | None = None, namespace: str = "prod") -> dict[str, Any]:
    domain: dict[str, Any] = {"devices": {}}
    if firmware is not None:
        domain["firmware"] = firmware
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"runStrategy": "Always", "template": {"spec": {"domain": domain}}},
    }


def firmware(body: dict[str, Any], **settings: Any) -> Any:
    rendered = render([body], Settings(**settings)).resources[0]
    steps = ("spec",) if settings.get("emit") == "vmi" else ("spec", "template", "spec")
    return tree.get(rendered, *steps, "domain", "firmware")


def test_none_is_written_unless_asked_for() -> None:
    assert firmware(vm()) is None


@pytest.mark.parametrize("emit", ["vm", "vmi"])
def test_the_identity_is_the_same_every_time_and_another_one_elsewhere(emit: str) -> None:
    first = firmware(vm(), emit=emit, firmware_uuid="stable")
    assert set(first) == {"uuid", "serial"}
    assert first["uuid"] != first["serial"]
    assert firmware(vm(), emit=emit, firmware_uuid="stable") == first
    assert firmware(vm(namespace="test"), emit=emit, firmware_uuid="stable") != first


def test_a_value_that_is_there_stays() -> None:
    fields = {"uuid": "5d307ca9-b3ef-428c-8861-06e72d69f223"}
    filled = firmware(vm(fields), firmware_uuid="stable")
    assert filled["uuid"] == fields["uuid"]
    assert filled["serial"]
