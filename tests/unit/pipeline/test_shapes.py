"""A stage is left out for machines of a shape of which it found nothing: whatever is found is the same without that."""

import json
from typing import Any

import pytest

from render import Settings, render
from render.model import shape, tree
from render.model.release import VERSIONS, Version, tag
from render.model.resource import Resource
from render.pipeline.input import definitions
from tests.support import goldens

Json = dict[str, Any]
FAMILIES = sorted(
    path.name.removesuffix(".ndjson.gz") for path in goldens.FOLDER.glob("admission-*.gz")
)
#: Values of what is a machine's own, plain ones and others.
NAMES = ["a", "web-1", "", "Web", "a.b", "a_b", "-a", "w" * 64, "web-root", "ü"]
TEXTS = ["#cloud-config", "", "a" * 2048, "a" * 2049, "ü" * 1025, "YWJj", "YQ="]
ADDRESSES = [
    "52:54:00:00:00:01", "52-54-00-00-00-01", "53:54:00:00:00:01", "02:00:00:00:00:00", "5254.0000.0001", "52:54", "",
]  # fmt: skip
IDENTITIES = ["5d307ca9-b3ef-428c-8861-06e72d69f223", "5d307ca9", "", "a b", "s" * 257, "x.y+z"]
SPEC = ("spec", "template", "spec")
LEAVES: dict[tuple[str | int, ...], list[str]] = {
    (*SPEC, "hostname"): NAMES,
    (*SPEC, "domain", "firmware", "uuid"): IDENTITIES,
    (*SPEC, "domain", "firmware", "serial"): IDENTITIES,
    (*SPEC, "domain", "devices", "disks", 0, "serial"): IDENTITIES,
    (*SPEC, "domain", "devices", "interfaces", 0, "macAddress"): ADDRESSES,
    (*SPEC, "domain", "devices", "interfaces", 1, "macAddress"): ADDRESSES,
    (*SPEC, "networks", 1, "multus", "networkName"): [*NAMES, "a/b", "A/b", "a/b/c"],
    (*SPEC, "volumes", 0, "dataVolume", "name"): NAMES,
    (*SPEC, "volumes", 1, "persistentVolumeClaim", "claimName"): NAMES,
    (*SPEC, "volumes", 2, "cloudInitNoCloud", "userData"): TEXTS,
    (*SPEC, "volumes", 2, "cloudInitNoCloud", "networkDataBase64"): TEXTS,
    (*SPEC, "volumes", 3, "cloudInitConfigDrive", "secretRef", "name"): NAMES,
    ("spec", "dataVolumeTemplates", 0, "metadata", "name"): NAMES,
    ("spec", "template", "metadata", "labels", "app"): [*NAMES, "A_b", "a b"],
    ("metadata", "name"): NAMES,
    ("metadata", "namespace"): ["", "team-1", "Team", "a.b"],
}


def machine(number: int) -> Json:
    """A VM that has all that is a machine's own."""
    name = f"web-{number}"
    disks = [
        {"name": disk, "disk": {"bus": "virtio"}} for disk in ("root", "data", "init", "drive")
    ]
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "team-1"},
        "spec": {
            "runStrategy": "Halted",
            "dataVolumeTemplates": [
                {
                    "metadata": {"name": f"{name}-root"},
                    "spec": {
                        "sourceRef": {"kind": "DataSource", "name": "fedora"},
                        "storage": {"resources": {"requests": {"storage": "20Gi"}}},
                    },
                }
            ],
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "hostname": name,
                    "domain": {
                        "memory": {"guest": "2Gi"},
                        "firmware": {"uuid": IDENTITIES[0], "serial": name},
                        "devices": {
                            "disks": [{**disks[0], "serial": name}, *disks[1:]],
                            "interfaces": [
                                {"name": "lan", "masquerade": {}, "macAddress": ADDRESSES[0]},
                                {"name": "net", "bridge": {}, "macAddress": f"52:54:00:00:00:{number:02}"},
                            ],
                        },
                    },
                    "networks": [
                        {"name": "lan", "pod": {}},
                        {"name": "net", "multus": {"networkName": f"net/{name}"}},
                    ],
                    "volumes": [
                        {"name": "root", "dataVolume": {"name": f"{name}-root"}},
                        {"name": "data", "persistentVolumeClaim": {"claimName": f"{name}-data"}},
                        {"name": "init", "cloudInitNoCloud": {"userData": "#c", "networkDataBase64": "YWJj"}},
                        {"name": "drive", "cloudInitConfigDrive": {"secretRef": {"name": name}}},
                    ],
                },
            },
        },
    }  # fmt: skip


def answers(objects: list[Json], monkeypatch: pytest.MonkeyPatch, **settings: Any) -> list[Any]:
    """What is found in *objects* and what becomes of them: with what shapes spare, and without."""
    found = []
    for holds in (shape.Verdicts.hold, lambda *_: False):
        monkeypatch.setattr(shape.Verdicts, "hold", holds)
        rendered = render(tree.copy(objects), Settings(**settings))
        found.append((rendered.diagnostics, json.dumps(rendered.resources)))
    monkeypatch.undo()
    return found


@pytest.mark.parametrize("release", [VERSIONS[0], VERSIONS[-1]], ids=tag)
@pytest.mark.parametrize("path", LEAVES, ids=lambda path: ".".join(map(str, path)))
def test_whatever_a_machine_calls_its_own_the_same_is_found(
    path: tuple[str | int, ...], release: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = [machine(0)]
    for number, value in enumerate(LEAVES[path], 1):
        other = machine(number)
        tree.get(other, *path[:-1])[path[-1]] = value
        objects.append(other)
    objects += [machine(98), machine(99)]
    spared, whole = answers(objects, monkeypatch, kubevirt=tag(release))
    assert "web-99" in spared[1]
    assert spared == whole


def test_a_second_machine_of_a_shape_is_spared(monkeypatch: pytest.MonkeyPatch) -> None:
    known: list[bool] = []
    contained = shape.Verdicts.__contains__

    def contains(verdicts: shape.Verdicts, key: Any) -> bool:
        known.append(contained(verdicts, key))
        return known[-1]

    monkeypatch.setattr(shape.Verdicts, "__contains__", contains)
    render([machine(1), machine(2)], Settings())
    half = len(known) // 2
    assert known == [False] * half + [True] * half
    assert half


@pytest.mark.parametrize(("storage", "settled"), [("20Gi", "spec"), ("20480Mi", "")])
def test_a_second_spec_of_a_shape_is_decoded_only_where_that_changes_it(
    storage: str, settled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    decode = definitions.decode

    def decoding(resource: Resource, loaded: definitions.Definitions, **named: str) -> Json:
        read.append(named["settled"])
        return decode(resource, loaded, settled=named["settled"])

    monkeypatch.setattr(definitions, "decode", decoding)
    machines = [machine(number) for number in range(3)]
    for each in machines:
        resources = each["spec"]["dataVolumeTemplates"][0]["spec"]["storage"]["resources"]
        resources["requests"]["storage"] = storage
    machines[2]["spec"]["template"]["spec"]["nodeSelektor"] = {}
    rendered = render(machines, Settings())
    assert read == ["", settled, ""]
    assert [found.code for found in rendered.diagnostics if found.is_error] == ["VR105"]


@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_cases_are_judged_alike(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a second VM of each, whose names are others: what is refused of the first is of the second."""
    for case in goldens.cases(family):
        objects = list(case["objects"])
        for body in case["objects"]:
            if body["kind"] == "VirtualMachine" and body["metadata"].get("name"):
                other = tree.copy(body)
                other["metadata"]["name"] += "-b"
                objects.append(other)
        if len(objects) > len(case["objects"]):
            spared, whole = answers(objects, monkeypatch, preset_conflicts="override")
            assert spared == whole, case["id"]
