"""Warnings that only several VMs, or a VM and its claims, show."""

from typing import Any

import pytest

from render import Settings, render

DISK = {"name": "data", "disk": {"bus": "virtio"}}
CLAIM = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
ON_VLAN = {"name": "vlan", "multus": {"networkName": "vlan7"}}
NIC = {"name": "vlan", "bridge": {}, "macAddress": "02:00:5e:00:53:01"}
RWO = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "prod"},
    "spec": {"accessModes": ["ReadWriteOnce"]},
}
Json = dict[str, Any]


def vm(name: str, namespace: str = "prod", run: str = "Always", **parts: Any) -> Json:
    devices = {key: parts.pop(key) for key in ("disks", "interfaces") if key in parts}
    firmware = {"firmware": {"uuid": parts.pop("uuid")}} if "uuid" in parts else {}
    domain = {"memory": {"guest": "1Gi"}, "devices": devices, **firmware}
    metadata: Json = {"name": name, "namespace": namespace}
    if "ignore" in parts:
        metadata["annotations"] = {f"virt-render.dev/ignore.{parts.pop('ignore')}": "on purpose"}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": {"runStrategy": run, "template": {"spec": {"domain": domain, **parts}}},
    }


def said(*objects: Json, **settings: Any) -> list[tuple[str, str, str]]:
    found = render(list(objects), Settings(**settings)).diagnostics
    assert not [one for one in found if one.is_error]
    return [
        (one.code, one.check, one.resource.name if one.resource else "")
        for one in found
        if one.code in ("VR713", "VR714", "VR120")
    ]


def storing(disk: Json = DISK, volume: Json = CLAIM, **more: Any) -> Json:
    return {"disks": [disk], "volumes": [volume], **more}


def networked(network: Json = ON_VLAN, **interface: Any) -> Json:
    return {"networks": [network], "interfaces": [{**NIC, **interface}]}


@pytest.mark.parametrize(
    ("parts", "other", "check"),
    [
        (storing(), storing(), "claim"),
        (storing(), storing(volume={"name": "data", "dataVolume": {"name": "data"}}), "claim"),
        (networked(), networked(macAddress="02-00-5E-00-53-01"), "mac-address"),
        ({"uuid": "6a1a24a1-0000-4000-8000-000000000001"},) * 2 + ("firmware-uuid",),
    ],
)
def test_what_two_vms_use_is_said_of_the_second_by_name(
    parts: Json, other: Json, check: str
) -> None:
    assert said(vm("db", **parts), vm("web", **other)) == [("VR713", f"used-twice/{check}", "web")]
    assert not said(vm("db", **parts), vm("db", "test", **other))
    assert not said(vm("db", **parts), vm("web", ignore=f"VR713.{check}", **other))
    assert not said(vm("db", **parts), vm("web", **other), admission="off")
    assert not said(vm("db", **parts), vm("web", **other), emit="expand")


@pytest.mark.parametrize(
    "other",
    [
        vm("db", "test", **storing()),
        vm("db", run="Halted", **storing()),
        vm("db", **storing(disk={**DISK, "shareable": True})),
        vm("db", **storing(disk={"name": "data", "cdrom": {"bus": "sata"}})),
        vm("db", **storing(disk={"name": "data", "lun": {}})),
        vm("db", **storing(disk={"name": "data", "disk": {"bus": "virtio", "readonly": True}})),
        vm("db", **storing(volume={"name": "data", "ephemeral": CLAIM})),
    ],
)
def test_claims_may_be_shared_by_those_who_do_not_write_at_once(other: Json) -> None:
    if "ephemeral" in other["spec"]["template"]["spec"]["volumes"][0]:
        claim = {"persistentVolumeClaim": {"claimName": "data"}}
        other["spec"]["template"]["spec"]["volumes"][0]["ephemeral"] = claim
    assert not said(vm("web", **storing()), other)


@pytest.mark.parametrize(
    "other",
    [
        networked({"name": "vlan", "multus": {"networkName": "vlan8"}}),
        networked({"name": "vlan", "pod": {}}, masquerade={}, bridge=None),
    ],
)
def test_an_address_counts_on_one_network(other: Json) -> None:
    assert not said(vm("web", **networked()), vm("db", **other))


MIGRATES = {"evictionStrategy": "LiveMigrate"}
ON_POD = {"name": "default", "pod": {}}


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ((vm("web", **MIGRATES),), False),
        ((vm("web", **MIGRATES, **storing()),), False),
        ((vm("web", **MIGRATES, **storing()), RWO), True),
        ((vm("web", **storing()), RWO), False),
        ((vm("web", evictionStrategy="LiveMigrateIfPossible", **storing()), RWO), False),
        (
            (
                vm(
                    "web",
                    networks=[ON_POD],
                    interfaces=[{"name": "default", "bridge": {}}],
                    **MIGRATES,
                ),
            ),
            True,
        ),
        (
            (
                vm(
                    "web",
                    networks=[ON_POD],
                    interfaces=[{"name": "default", "masquerade": {}}],
                    **MIGRATES,
                ),
            ),
            False,
        ),
        (
            (
                vm(
                    "web",
                    networks=[ON_POD],
                    interfaces=[{"name": "default", "binding": {"name": "vendor"}}],
                    **MIGRATES,
                ),
            ),
            False,
        ),
    ],
)
def test_what_is_to_migrate_can(objects: tuple[Json, ...], expected: bool) -> None:  # noqa: FBT001
    assert said(*objects) == ([("VR714", "", "web")] if expected else [])
