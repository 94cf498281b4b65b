"""A value of the wrong type hides nothing else that is wrong with its VM, and brings no false alarm."""

from collections.abc import Iterator
from typing import Any

import pytest

from render import Settings, render
from render.model import tree
from render.model.fieldpath import FieldPath

SOUND: dict[str, Any] = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "namespace": "prod", "labels": {"app": "web"}},
    "spec": {
        "runStrategy": "Always",
        "instancetype": {"name": "small"},
        "dataVolumeTemplates": [
            {
                "metadata": {"name": "web-root"},
                "spec": {
                    "storage": {"resources": {"requests": {"storage": "10Gi"}}},
                    "source": {"blank": {}},
                },
            }
        ],
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "evictionStrategy": "None",
                "terminationGracePeriodSeconds": 30,
                "nodeSelector": {"zone": "a"},
                "domain": {
                    "ioThreadsPolicy": "shared",
                    "firmware": {"bootloader": {"efi": {"secureBoot": False}}},
                    "devices": {
                        "disks": [
                            {"name": "root", "bootOrder": 1, "disk": {"bus": "virtio"}},
                            {"name": "init", "disk": {"bus": "sata"}},
                        ],
                        "interfaces": [
                            {
                                "name": "default",
                                "masquerade": {},
                                "macAddress": "02:00:00:00:00:01",
                                "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
                            }
                        ],
                        "watchdog": {"name": "dog", "i6300esb": {"action": "reset"}},
                    },
                },
                "networks": [{"name": "default", "pod": {}}],
                "volumes": [
                    {"name": "root", "dataVolume": {"name": "web-root"}},
                    {"name": "init", "cloudInitNoCloud": {"userData": "#cloud-config\n"}},
                ],
            },
        },
    },
}
SMALL = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineInstancetype",
    "metadata": {"name": "small", "namespace": "prod"},
    "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}},
}
SMALL["kind"] = "VirtualMachineClusterInstancetype"
SMALL["metadata"] = {"name": "small"}
TYPES = {"VR105", "VR106", "VR107", "VR108", "VR109"}


def leaves(value: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Each field below *value* that holds one value."""
    items: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, dict | list) and item:
            yield from leaves(item, (*path, key))
        else:
            yield (*path, key)


def found(body: dict[str, Any]) -> list[tuple[str, str]]:
    rendered = render([body, SMALL], Settings(admission="strict", kubevirt="1.9"))
    return [
        (diagnostic.code, diagnostic.field)
        for diagnostic in rendered.diagnostics
        if diagnostic.severity != "info"
    ]


def mistyped(path: FieldPath, value: object) -> dict[str, Any]:
    body: dict[str, Any] = tree.copy(SOUND)
    tree.put(body, path, value)
    return body


def test_it_is_sound() -> None:
    assert found(SOUND) == []


@pytest.mark.parametrize("value", [7, "7x", ["7"], True], ids=repr)
@pytest.mark.parametrize("path", [*leaves(SOUND["spec"], ("spec",))], ids=str)
def test_a_mistyped_value_brings_no_false_alarm(path: FieldPath, value: object) -> None:
    """What is said beside the type is at the field itself, which may as well hold a text that is not allowed there."""
    diagnostics = found(mistyped(path, value))
    if not any(code in {"VR106", "VR108"} for code, _ in diagnostics):
        return  # a value of the right type, of which another is refused: not what is asked here
    assert {code for code, _ in diagnostics} <= TYPES, diagnostics


MISTAKES: dict[FieldPath, object] = {
    ("disks", 0, "bootOrder"): 0,
    ("disks", 1, "disk", "bus"): "ide",
    ("interfaces", 0, "macAddress"): "02:00:00",
}
SPEC: FieldPath = ("spec", "template", "spec")


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ((*SPEC, "terminationGracePeriodSeconds"), "x", "VR106"),
        ((*SPEC, "evictionStrategi"), "None", "VR105"),
        ((*SPEC, "volumes", 1), {"name": "init", "emptyDisk": {"capacity": "8 Gi"}}, "VR108"),
    ],
)
def test_it_hides_nothing_else(path: FieldPath, value: object, code: str) -> None:
    body = mistyped(path, value)
    for place, wrong in MISTAKES.items():
        tree.put(body, (*SPEC, "domain", "devices", *place), wrong)
    diagnostics = found(body)
    assert code in {item for item, _ in diagnostics}
    assert {"VR418", "VR420", "VR421"} <= {item for item, _ in diagnostics}, diagnostics


def test_more_mistakes_than_are_told_are_no_place() -> None:
    """Of those beyond the first 1,000 nobody knows where they are: then the rest is not looked at."""
    machine = tree.copy(SOUND)
    (template,) = machine["spec"]["dataVolumeTemplates"]
    tree.put(template, ("spec", "storage", "resources", "requests", "storage"), "1x")
    machine["spec"]["dataVolumeTemplates"] = [template] * 1001
    found = render([machine], Settings()).diagnostics
    assert {diagnostic.code for diagnostic in found} == {"VR108"}
    assert sum("and 1 more mistake" in diagnostic.message for diagnostic in found) == 1
