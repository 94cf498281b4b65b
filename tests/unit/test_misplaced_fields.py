"""Unknown fields that the schema knows elsewhere: what is said of them, and what puts them there."""

from typing import Any

import pytest

from render.diagnostics.cause import Cause
from render.diagnostics.fix import operation
from render.model import fieldpath, tree, types
from render.model.edits import edited
from render.model.release import NEWEST, version
from render.schemas import decode

VM = "kubevirt.VirtualMachine"
SPEC = "spec.template.spec"


def written(place: str, value: Any) -> dict[str, Any]:
    """A VM with *value* at *place*."""
    devices = {"disks": [{"name": "root", "disk": {}}, {"name": "data"}], "rng": {}}
    vm: dict[str, Any] = {
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"domain": {"devices": devices}}}},
    }
    tree.put(vm, fieldpath.parse(place), value)
    return vm


def cause_of(body: dict[str, Any], type_name: str = VM, release: str = "1.9") -> Cause:
    _, causes = decode(body, type_name, version(release))
    assert len(causes) == 1, causes
    return causes[0]


@pytest.mark.parametrize(
    ("place", "value", "target"),
    [
        (f"{SPEC}.domain.volumes", [{"name": "root"}], f"{SPEC}.volumes"),
        (f"{SPEC}.domain.devices.volumes", [{"name": "root"}], f"{SPEC}.volumes"),
        (f"{SPEC}.domain.networks", [{"name": "a", "pod": {}}], f"{SPEC}.networks"),
        (f"{SPEC}.domain.interfaces", [{"name": "a"}], f"{SPEC}.domain.devices.interfaces"),
        (f"{SPEC}.interfaces", [{"name": "a"}], f"{SPEC}.domain.devices.interfaces"),
        ("spec.cpu", {"cores": 2}, f"{SPEC}.domain.cpu"),
        ("spec.template.runStrategy", "Always", "spec.runStrategy"),
        (f"{SPEC}.domain.devices.runStrategy", "Always", "spec.runStrategy"),
        # Beside startStrategy, which is near in name.
        (f"{SPEC}.runStrategy", "Always", "spec.runStrategy"),
        # Beside runStrategy, which is no slip of it.
        ("spec.evictionStrategy", "LiveMigrate", f"{SPEC}.evictionStrategy"),
        ("instancetype", {"name": "small"}, "spec.instancetype"),
        (f"{SPEC}.domain.requests", {"memory": "1Gi"}, f"{SPEC}.domain.resources.requests"),
        (f"{SPEC}.domain.guest", "1Gi", f"{SPEC}.domain.memory.guest"),
        ("namespace", "prod", "metadata.namespace"),
        (
            f"{SPEC}.domain.devices.disks[0].disk.bootOrder",
            1,
            f"{SPEC}.domain.devices.disks[0].bootOrder",
        ),
        # One of several that are begun.
        (
            f"{SPEC}.domain.devices.disks[0].bus",
            "sata",
            f"{SPEC}.domain.devices.disks[0].disk.bus",
        ),
    ],
)
def test_a_field_is_moved_where_it_belongs(place: str, value: Any, target: str) -> None:
    body = written(place, value)
    cause = cause_of(body)
    assert cause.help == f"move it to {target}"
    assert [fix.title for fix in cause.fixes] == [cause.help]
    assert not cause.fixes[0].safe
    after = edited(body, map(operation, cause.fixes[0].edits))
    assert tree.get(after, *fieldpath.parse(target)) == value
    assert decode(after, VM, NEWEST)[1] == []


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ({"volumes": [{"name": "a", "persistentVolumeClaim": None, "claimName": "b"}]},
         "volumes[0].persistentVolumeClaim.claimName"),
        ({"domain": {"devices": None, "disks": []}}, "domain.devices.disks"),
        # Whatever is wrong inside.
        ({"domain": {"devices": {}, "features": None, "hyperv": {"zz": 1}}}, "domain.features.hyperv"),
    ],
)  # fmt: skip
def test_what_stands_beside_an_empty_field_belongs_in_that(
    body: dict[str, Any], target: str
) -> None:
    body = {
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"domain": {"devices": {}}, **body}}},
    }
    _, causes = decode(body, VM, NEWEST)
    unknown = [cause for cause in causes if cause.check == "unknown-field"]
    assert unknown[0].help == f"move it to {SPEC}.{target}"
    empty = next(cause for cause in causes if cause.check != "unknown-field")
    assert empty.help == f"move {fieldpath.text(unknown[0].path)} there"
    assert empty.fixes == ()


def test_what_stands_there_already_stays() -> None:
    body = written(f"{SPEC}.domain.volumes", [{"name": "root"}])
    body["spec"]["template"]["spec"]["volumes"] = []
    cause = cause_of(body)
    assert cause.help == f"KubeVirt has it as {SPEC}.volumes, where something else is"
    assert cause.fixes == ()


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        # It takes another value.
        ("spec.cpu", 2, f"as {SPEC}.domain.cpu"),
        (f"{SPEC}.domain.volumes", [{"nam": "root"}], f"as {SPEC}.volumes"),
        # Neither above nor below.
        (f"{SPEC}.domain.cpu.guest", 4, f"as {SPEC}.domain.memory.guest"),
        # Beside a name that is near, and no slip of it.
        ("metadata.hostname", "web", f"as {SPEC}.hostname"),
        ("spec.labels", {"a": "b"}, "as spec.template.metadata.labels or metadata.labels"),
    ],
)
def test_where_else_it_is_may_be_all_there_is_to_say(place: str, value: Any, words: str) -> None:
    cause = cause_of(written(place, value))
    assert cause.help == f"KubeVirt has it {words}"
    assert cause.fixes == ()


def test_several_places_are_a_choice() -> None:
    place = f"{SPEC}.domain.devices.disks[1]"
    cause = cause_of(written(f"{place}.bus", "sata"))
    assert cause.help == f"KubeVirt has it in {place} as disk.bus, lun.bus or cdrom.bus"
    assert [fix.title for fix in cause.fixes] == [
        f"move it to {place}.{name}.bus" for name in ("disk", "lun", "cdrom")
    ]


@pytest.mark.parametrize(
    ("place", "value", "cure"),
    [
        # More places than anybody wants to read.
        (f"{SPEC}.domain.features.enabled", True, "remove it"),
        # A name that says nothing of what is far away.
        ("spec.port", 22, "remove it"),
        # What is near in name, and takes the value.
        (f"{SPEC}.domain.cpu.core", 2, "call it cores"),
        (f"{SPEC}.domain.devices.disk", [{"name": "a"}], "call it disks"),
        # What an object says of itself, where another one is named.
        ("spec.preference", {"name": "a", "namespace": "b"}, "remove it"),
        ("spec.instancetype", {"name": "a", "apiVersion": "b"}, "remove it"),
        # Nothing that anybody wrote.
        (f"{SPEC}.domain.volumes", None, "remove it"),
    ],
)
def test_what_is_no_misplaced_field(place: str, value: Any, cure: str) -> None:
    body = written(f"{SPEC}.domain.firmware", {})
    if place.endswith("disk"):
        del body["spec"]["template"]["spec"]["domain"]["devices"]["disks"]
    tree.put(body, fieldpath.parse(place), value)
    assert [fix.title for fix in cause_of(body).fixes] == [cure]


@pytest.mark.parametrize(
    ("type_name", "body", "name"),
    [
        ("kubevirt.Volume", {"name": "a", "persistentVolumeClaim": {"name": "b"}}, "claimName"),
        ("kubevirt.Volume", {"name": "a", "secret": {"name": "b"}}, "secretName"),
        ("kubevirt.Network", {"name": "a", "multus": {"name": "b"}}, "networkName"),
        ("instancetype.VirtualMachineInstancetypeSpec", {"cpu": {"cores": 2}}, "guest"),
    ],
)
def test_what_a_type_calls_otherwise_is_no_field_of_what_is_around(
    type_name: str, body: dict[str, Any], name: str
) -> None:
    _, causes = decode(body, type_name, NEWEST)
    cause = next(cause for cause in causes if cause.check == "unknown-field")
    assert cause.help == f'did you mean "{name}"?'
    assert [fix.edits[0].value for fix in cause.fixes] == [name]


def test_a_field_of_a_later_release_stays_one() -> None:
    body = written(f"{SPEC}.utilityVolumes", [])
    assert cause_of(body, release="1.6").help.startswith("remove it: KubeVirt has it from 1.8 on")


def test_every_field_of_a_machine_is_found_from_its_top() -> None:
    """Whatever stands in structs alone, once, in a VM: none is in a list of cases."""
    for name, field in types.fields("kubevirt.DomainSpec", NEWEST).items():
        if not types.is_struct(field.type.removeprefix("*")) or name == "devices":
            continue
        cause = cause_of(written(f"spec.{name}", {}))
        assert f"{SPEC}.domain.{name}" in cause.help, name
