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
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
Json = dict[str, Any]
_DEVICES = ("disks", "filesystems", "interfaces", "gpus", "autoattachPodInterface")


def vm(name: str, namespace: str = "prod", run: str = "Always", **parts: Any) -> Json:
    devices = {key: parts.pop(key) for key in _DEVICES if key in parts}
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


def messages(*objects: Json, **settings: Any) -> list[tuple[str, str, str]]:
    found = render(list(objects), Settings(**settings)).diagnostics
    assert not [diagnostic for diagnostic in found if diagnostic.is_error]
    return [
        (diagnostic.code, diagnostic.check, diagnostic.resource.name if diagnostic.resource else "")
        for diagnostic in found
        if diagnostic.code in ("VR713", "VR714", "VR120")
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
        (storing(), {"volumes": [CLAIM]}, "claim"),
        (storing(), storing(disk={"name": "data"}), "claim"),
        (storing(), storing(disk={"name": "data", "lun": {}}), "claim"),
        (networked(), networked(macAddress="02-00-5E-00-53-01"), "mac-address"),
        ({"uuid": "6a1a24a1-0000-4000-8000-000000000001"},) * 2 + ("firmware-uuid",),
    ],
)
def test_what_two_vms_use_is_said_of_the_second_by_name(
    parts: Json, other: Json, check: str
) -> None:
    assert messages(vm("db", **parts), vm("web", **other)) == [
        ("VR713", f"used-twice/{check}", "web")
    ]
    assert not messages(vm("db", **parts), vm("db", "test", **other))
    assert not messages(vm("db", **parts), vm("web", ignore=f"VR713.{check}", **other))
    assert not messages(vm("db", **parts), vm("web", **other), admission="off")
    assert not messages(vm("db", **parts), vm("web", **other), emit="expand")


@pytest.mark.parametrize(
    "other",
    [
        vm("db", "test", **storing()),
        vm("db", run="Halted", **storing()),
        vm("db", **storing(disk={**DISK, "shareable": True})),
        vm("db", **storing(disk={"name": "data", "cdrom": {"bus": "sata"}})),
        vm("db", **storing(disk={"name": "data", "lun": {"readonly": True}})),
        vm("db", **storing(disk={"name": "data", "lun": {"reservation": True}})),
        vm("db", volumes=[CLAIM], filesystems=[{"name": "data", "virtiofs": {}}]),
        vm("db", **storing(disk={"name": "data", "disk": {"bus": "virtio", "readonly": True}})),
        vm("db", **storing(volume={"name": "data", "ephemeral": CLAIM})),
    ],
)
def test_claims_may_be_shared_by_those_who_do_not_write_at_once(other: Json) -> None:
    if "ephemeral" in other["spec"]["template"]["spec"]["volumes"][0]:
        claim = {"persistentVolumeClaim": {"claimName": "data"}}
        other["spec"]["template"]["spec"]["volumes"][0]["ephemeral"] = claim
    assert not messages(vm("web", **storing()), other)


@pytest.mark.parametrize(
    "other",
    [
        networked({"name": "vlan", "multus": {"networkName": "vlan8"}}),
        networked({"name": "vlan", "pod": {}}, masquerade={}, bridge=None),
    ],
)
def test_an_address_counts_on_one_network(other: Json) -> None:
    assert not messages(vm("web", **networked()), vm("db", **other))


def holder(kind: str, item: Json, name: str = "set", **more: Any) -> Json:
    """What makes *item* by the number."""
    labels = {"labels": {"app": "web"}}
    of_pool = kind == "VirtualMachinePool"
    made = {"metadata": labels, "spec": item["spec"]} if of_pool else item["spec"]["template"]
    made.setdefault("metadata", labels)
    template = {"virtualMachineTemplate" if of_pool else "template": made}
    return {
        "apiVersion": "pool.kubevirt.io/v1beta1" if of_pool else "kubevirt.io/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "prod"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **template, **more},
    }


POOL, SET = "VirtualMachinePool", "VirtualMachineInstanceReplicaSet"
WITHIN_POOL = "spec.virtualMachineTemplate.spec.template.spec"
UUID = "6a1a24a1-0000-4000-8000-000000000001"
OWN_CLAIM: Json = {
    "metadata": {"name": "data"},
    "spec": {
        "storage": {"resources": {"requests": {"storage": "1Gi"}}},
        "source": {"blank": {}},
    },
}


@pytest.mark.parametrize(
    ("kind", "parts", "place", "text"),
    [
        (
            POOL,
            networked(),
            f"{WITHIN_POOL}.domain.devices.interfaces[0].macAddress",
            "MAC address",
        ),
        (POOL, {"uuid": UUID}, f"{WITHIN_POOL}.domain.firmware.uuid", "firmware uuid"),
        (POOL, storing(), f"{WITHIN_POOL}.volumes[0]", "claim data"),
        (SET, storing(), "spec.template.spec.volumes[0]", "claim data"),
        (SET, {"uuid": UUID}, "spec.template.spec.domain.firmware.uuid", "firmware uuid"),
    ],
)
def test_what_a_template_gives_all_its_replicas(
    kind: str, parts: Json, place: str, text: str
) -> None:
    def found(**spec: Any) -> list[tuple[str, str]]:
        body = holder(kind, vm("web", **parts), **spec)
        return [
            (diagnostic.field, diagnostic.message)
            for diagnostic in render([body]).diagnostics
            if diagnostic.code == "VR713" or diagnostic.is_error
        ]

    ((where, message),) = found(replicas=3)
    assert where == place
    assert f"the {text}" in message
    assert message.endswith("is that of all 3 replicas")
    for spec in ({}, {"replicas": 0}, {"replicas": 1}, {"replicas": 3, "paused": True}):
        assert not found(**spec)


def test_a_pool_makes_a_claim_of_its_own_templates_for_each_vm() -> None:
    first = vm("web", **storing(volume={"name": "data", "dataVolume": {"name": "data"}}))
    first["spec"]["dataVolumeTemplates"] = [OWN_CLAIM]
    pool = holder(POOL, first, replicas=3)
    assert not messages(pool)
    assert not messages(pool, vm("db", **storing()))
    assert not messages(pool, emit="vmi")


def test_a_pool_and_a_vm_clash() -> None:
    pool = holder(POOL, vm("web", **storing()))
    assert messages(vm("db", **storing()), pool) == [("VR713", "used-twice/claim", "set")]
    halted = holder(POOL, vm("web", run="Halted", **storing()), replicas=3)
    assert not messages(vm("db", **storing()), halted)


def test_a_pool_whose_vms_cannot_migrate() -> None:
    pool = holder(POOL, vm("web", **MIGRATES, **storing()), replicas=1)
    found = [
        diagnostic for diagnostic in render([pool, RWO]).diagnostics if diagnostic.code == "VR714"
    ]
    assert [item.field for item in found] == [f"{WITHIN_POOL}.evictionStrategy"]


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
    assert messages(*objects) == ([("VR714", "", "web")] if expected else [])


@pytest.mark.parametrize(
    ("volume", "text"),
    [
        (CLAIM, "the claim data is not ReadWriteMany"),
        (
            {"name": "data", "hostDisk": {"path": "/data.img", "type": "Disk"}},
            "the host disk data is not shared",
        ),
    ],
)
@pytest.mark.parametrize(
    ("release", "has_volumes_first"), [("1.4", True), ("1.5", True), ("1.6", False), ("1.9", False)]
)
def test_of_two_reasons_the_one_is_named_that_the_release_names(
    volume: Json, text: str, release: str, *, has_volumes_first: bool
) -> None:
    bridged: Json = {"networks": [ON_POD], "interfaces": [{"name": "default", "bridge": {}}]}
    body = vm("web", **MIGRATES, **bridged, **storing(volume=volume))
    found = render([body, RWO], Settings(kubevirt=release)).diagnostics
    message = next(diagnostic.message for diagnostic in found if diagnostic.code == "VR714")
    assert (text in message) is has_volumes_first
    assert ("to connect to the pod network" in message) is not has_volumes_first


def kubevirt(**configuration: Any) -> Json:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
        "spec": {"configuration": configuration},
    }


def templated(**spec: Any) -> Json:
    first = vm(
        "web", **MIGRATES, **storing(volume={"name": "data", "dataVolume": {"name": "made"}})
    )
    first["spec"]["dataVolumeTemplates"] = [{"metadata": {"name": "made"}, "spec": spec}]
    return first


GPU = {"name": "one", "deviceName": "vendor/gpu"}
ON_MASQUERADE: Json = {"networks": [ON_POD], "interfaces": [{"name": "default", "masquerade": {}}]}
GATED = kubevirt(
    developerConfiguration={"featureGates": ["VGPULiveMigration"]},
    permittedHostDevices={
        "mediatedDevices": [{"mdevNameSelector": "a", "resourceName": "vendor/gpu"}]
    },
)


@pytest.mark.parametrize(
    ("objects", "admission", "expected"),
    [
        ((vm("web", **MIGRATES),), "full", False),
        ((vm("web", **MIGRATES),), "strict", True),
        ((vm("web", **MIGRATES), kubevirt()), "full", True),
        ((vm("web", **MIGRATES, autoattachPodInterface=False), kubevirt()), "full", False),
        (
            (vm("web", **MIGRATES), kubevirt(network={"defaultNetworkInterface": "masquerade"})),
            "full",
            False,
        ),
        ((vm("web", **MIGRATES, **ON_MASQUERADE, gpus=[GPU]),), "full", False),
        ((vm("web", **MIGRATES, **ON_MASQUERADE, gpus=[GPU]),), "strict", True),
        ((vm("web", **MIGRATES, **ON_MASQUERADE, gpus=[GPU]), kubevirt()), "full", True),
        ((vm("web", **MIGRATES, **ON_MASQUERADE, gpus=[GPU]), GATED), "full", False),
        (
            (vm("web", **MIGRATES, **ON_MASQUERADE, gpus=[GPU, {**GPU, "name": "two"}]),),
            "full",
            True,
        ),
        (
            (templated(storage={"accessModes": ["ReadWriteOnce"]}, source={"blank": {}}),),
            "full",
            True,
        ),
        ((templated(pvc={"accessModes": ["ReadWriteMany"]}, source={"blank": {}}),), "full", False),
        ((templated(storage={}, source={"blank": {}}),), "full", False),
    ],
)
def test_what_kubevirt_adds_and_the_cluster_decides_counts_where_it_is_certain(
    objects: tuple[Json, ...],
    admission: Any,
    expected: bool,  # noqa: FBT001
) -> None:
    found = render(list(objects), Settings(admission=admission)).diagnostics
    assert [diagnostic.code for diagnostic in found if diagnostic.code == "VR714"] == (
        ["VR714"] if expected else []
    )


INSTANCETYPE: Json = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineInstancetype",
    "metadata": {"name": "gpu", "namespace": "prod"},
    "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}, "gpus": [GPU]},
}
PREFERENCE: Json = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachinePreference",
    "metadata": {"name": "masquerade", "namespace": "prod"},
    "spec": {"devices": {"preferredInterfaceMasquerade": {}}},
}
RESERVED = {"name": "data", "lun": {"reservation": True}}
ON_BRIDGE = {"networks": [ON_POD], "interfaces": [{"name": "default", "bridge": {}}]}


def unable(release: str, *objects: Json, **settings: Any) -> list[str]:
    found = render(list(objects), Settings(kubevirt=release, **settings)).diagnostics
    return [
        diagnostic.message.partition("cannot: ")[2]
        for diagnostic in found
        if diagnostic.code == "VR714"
    ]


@pytest.mark.parametrize(
    ("parts", "texts"),
    [
        (
            {**ON_MASQUERADE, "gpus": [GPU]},
            {
                "1.4": ["VMI uses a PCI host devices"],
                "1.8": ["VMI uses a PCI host devices"],
                "1.9": ["VMI specifies a GPU but feature gate VGPULiveMigration is not enabled"],
            },
        ),
        (
            {**ON_MASQUERADE, **storing(disk=RESERVED)},
            {
                "1.6": ["VMI uses SCSI persitent reservation"],
                "1.8": ["VMI uses SCSI persistent reservation"],
                "1.9": [],
            },
        ),
        (
            {
                **ON_MASQUERADE,
                "filesystems": [{"name": "data", "virtiofs": {}}],
                "volumes": [CLAIM],
            },
            {"1.4": ["VMI uses virtiofs"], "1.5": []},
        ),
        (
            ON_BRIDGE,
            {
                "1.7": [
                    (
                        "cannot migrate VMI which does not use masquerade, bridge with"
                        " kubevirt.io/allow-pod-bridge-network-live-migration VM annotation or a migratable plugin to"
                        " connect to the pod network"
                    )
                ],
                "1.8": [
                    (
                        "cannot migrate VMI which does not use masquerade or a migratable plugin to connect to the pod"
                        " network"
                    )
                ],
            },
        ),
        (networked(), {"1.7": [], "1.8": []}),
    ],
)
def test_what_keeps_a_vm_from_migrating_in_a_release(
    parts: Json, texts: dict[str, list[str]]
) -> None:
    for release, expected in texts.items():
        assert unable(release, vm("web", **MIGRATES, **parts), kubevirt()) == expected


def test_what_its_definitions_bring_counts() -> None:
    first = vm("web", **MIGRATES, **ON_MASQUERADE)
    del first["spec"]["template"]["spec"]["domain"]["memory"]
    first["spec"]["instancetype"] = {"name": "gpu", "kind": INSTANCETYPE["kind"]}
    assert unable("1.8", first, INSTANCETYPE) == ["VMI uses a PCI host devices"]
    assert unable("1.8", first, INSTANCETYPE, emit="source") == ["VMI uses a PCI host devices"]
    first = vm("web", **MIGRATES, networks=[ON_POD], interfaces=[{"name": "default"}])
    first["spec"]["preference"] = {"name": "masquerade", "kind": PREFERENCE["kind"]}
    assert not unable("1.8", first, PREFERENCE, kubevirt())
