"""Disks by themselves, against volumes, and the boot order."""

import pytest

from render.admission.vmi.storage import bootorder, disks
from render.model.cluster_config import ClusterConfig
from tests.support.refusals import Json, names, refusals

AT = "spec.domain.devices.disks"
#: The list is named twice in some fields of KubeVirt.
TWICE = f"{AT}.domain.devices.disks"


def of(
    *stated: Json, volumes: list[Json] | None = None, interfaces: list[Json] | None = None
) -> Json:
    devices = {"disks": list(stated), "interfaces": interfaces or []}
    return {"domain": {"devices": devices}, "volumes": volumes or []}


@pytest.mark.parametrize(
    "disk",
    [
        {"name": "a"},
        {"name": "a", "disk": {}},
        *({"name": "a", "disk": {"bus": bus}} for bus in ("virtio", "scsi", "sata", "usb")),
        {"name": "a", "disk": {"bus": "virtio", "pciAddress": "0000:0a:1F.7", "readonly": True}},
        {"name": "a", "cdrom": {"bus": "sata", "readonly": True}, "bootOrder": 1},
        {"name": "a", "lun": {"bus": "sata", "readonly": True}},
        {"name": "a", "disk": {"bus": "virtio"}, "dedicatedIOThread": True},
        {"name": "a", "disk": {}, "dedicatedIOThread": True},
        {"name": "a", "disk": {"bus": "usb"}, "dedicatedIOThread": False},
        {"name": "a", "serial": "A_z.0+-" * 36, "cache": "writeback", "io": "native"},
        {"name": "a", "serial": "x" * 256, "errorPolicy": "enospace"},
        {"name": "a", "blockSize": {"custom": {"logical": 512, "physical": 4096}}},
        {"name": "a", "blockSize": {"matchVolume": {}}},
        {
            "name": "a",
            "blockSize": {
                "matchVolume": {"enabled": False},
                "custom": {"logical": 512, "physical": 512},
            },
        },
    ],
)
def test_good_disks(disk: Json) -> None:
    assert refusals(disks.CHECKS, of(disk)) == []


def custom(logical: int, physical: int, bus: str = "", **more: int) -> Json:
    size = {"custom": {"logical": logical, "physical": physical, **more}}
    return {"disk": {"bus": bus} if bus else {}, "blockSize": size}


@pytest.mark.parametrize(
    ("disk", "check", "field", "message"),
    [
        (
            {"disk": {}, "cdrom": {}},
            "target",
            f"{AT}[0]",
            f"{AT}[0] can only have a single target type defined",
        ),
        (
            {"disk": {"pciAddress": "0000:00:01.0"}},
            "pci-bus",
            f"{TWICE}.disk[0].pciAddress",
            f"disk {TWICE}.disk[0].name - setting a PCI address is only possible with bus type virtio.",
        ),
        (
            {"disk": {"bus": "virtio", "pciAddress": "0000:00:01.8"}},
            "pci-address",
            f"{TWICE}.disk[0].pciAddress",
            f"disk {TWICE}.disk[0].name has malformed PCI address (0000:00:01.8).",
        ),
        ({"disk": {"bus": "ide"}}, "ide-bus", f"{AT}[0].disk.bus", "IDE bus is not supported"),
        (
            {"cdrom": {"bus": "virtio"}},
            "cdrom-bus",
            f"{AT}[0].cdrom.bus",
            "Bus type virtio is invalid for CD-ROM device",
        ),
        (
            {"disk": {"bus": "sata", "readonly": True}},
            "sata-read-only",
            f"{AT}[0].disk.bus",
            "sata hard-disks do not support read-only.",
        ),
        (
            {"lun": {"bus": "nvme"}},
            "bus",
            f"{AT}[0].lun.bus",
            f"{AT}[0] is set with an unrecognized bus nvme, must be one of: [virtio scsi sata usb]",
        ),
        (
            {"disk": {"bus": "sata"}, "dedicatedIOThread": True},
            "io-thread-bus",
            f"{TWICE}[0]",
            "IOThreads are not supported for disks on a sata bus",
        ),
        (
            {"serial": "a b"},
            "serial",
            f"{AT}[0].serial",
            f"{AT}[0] must be made up of the following characters [A-Za-z0-9_.+-], if specified",
        ),
        (
            {"serial": "x" * 257},
            "serial-length",
            f"{AT}[0].serial",
            f"{AT}[0] must be less than or equal to 256 in length, if specified",
        ),
        ({"cache": "unsafe"}, "cache", f"{AT}[0].cache", f"{AT}[0].cache has invalid value unsafe"),
        (
            {"io": "io_uring"},
            "io",
            f"{TWICE}[0].io",
            f"Disk IO mode for {AT} is not supported. Supported modes are: native, threads.",
        ),
        (
            {"errorPolicy": ""},
            "error-policy",
            f"{AT}[0].errorPolicy",
            f'{AT}[0].errorPolicy has invalid value ""',
        ),
        (
            {"blockSize": {"matchVolume": {}, "custom": {}}},
            "block-size",
            f"{AT}[0].blockSize",
            "Block size matching can't be enabled together with a custom value",
        ),
        (
            custom(4096, 512),
            "block-size",
            f"{AT}[0].blockSize.custom.logical",
            "Logical size 4096 must be the same or less than the physical size of 512",
        ),
        (
            custom(4096, 4096, "sata"),
            "block-size",
            f"{AT}[0].blockSize.custom.logical",
            "Logical size 4096 must be 512 for SATA devices",
        ),
        (
            custom(512, 512, discardGranularity=700),
            "block-size",
            f"{AT}[0].blockSize.custom.discardGranularity",
            "Discard granularity 700 must be multiples of logical size 512",
        ),
        (
            custom(256, 512),
            "block-size",
            f"{AT}[0].blockSize.custom.logical",
            "Provided size of 256 is less than the supported minimum size of 512",
        ),
        (
            custom(512, 4194304),
            "block-size",
            f"{AT}[0].blockSize.custom.physical",
            "Provided size of 4194304 is greater than the supported maximum size of 2097152",
        ),
        (
            custom(512, 1000),
            "block-size",
            f"{AT}[0].blockSize.custom.physical",
            "Provided size of 1000 is not a power of 2",
        ),
    ],
)
def test_bad_disks(disk: Json, check: str, field: str, message: str) -> None:
    assert refusals(disks.CHECKS, of({"name": "a", **disk})) == [(f"disks/{check}", field, message)]


def test_a_boot_order_of_zero() -> None:
    message = f"{AT}[0] must have a boot order > 0, if supplied"
    expected = [("boot-order/positive", f"{AT}[0].bootOrder", message)]
    assert refusals(disks.CHECKS, of({"name": "a", "bootOrder": 0})) == expected


def test_names_are_those_of_containers() -> None:
    inputs = refusals(disks.CHECKS, of({"name": "a.b"}, {"name": "x" * 64}, {}))
    assert [(check, field) for check, field, _ in inputs] == [
        ("disks/name", f"{TWICE}[{index}].name") for index in range(3)
    ]
    assert [message.split(" consist")[0] for *_, message in inputs] == [
        "must not contain dots",
        "must be no more than 63 characters",
        "a lowercase RFC 1123 label must",
    ]


def test_each_pair_of_names_is_a_cause() -> None:
    same = [{"name": "a"}, {"name": "a"}, {"name": "a"}]
    assert [refusal.message for refusal in refusals(disks.CHECKS, of(*same))] == [
        f"{AT}[{later}] and {AT}[{earlier}] must not have the same Name."
        for later, earlier in ((1, 0), (2, 0), (2, 1))
    ]


def test_sector_sizes_before_1_7() -> None:
    disk = {"name": "a", **custom(4096, 4096, "sata", discardGranularity=1)}
    assert refusals(disks.CHECKS, of(disk), release="1.6.6") == []


PVC = {"name": "a", "persistentVolumeClaim": {"claimName": "a"}}
METRICS: Json = {"name": "a", "downwardMetrics": {}}


@pytest.mark.parametrize(
    ("disk", "volume", "expected"),
    [
        ({"disk": {}}, PVC, []),
        ({"lun": {}}, PVC, []),
        ({"lun": {}}, {"name": "a", "dataVolume": {"name": "a"}}, []),
        ({"cdrom": {}}, {"name": "b"}, []),
        (
            {"disk": {}},
            {"name": "b"},
            [("disks/volume", f"{AT}[0].name", f"{AT}[0].Name 'a' not found.")],
        ),
        (
            {"lun": {}},
            {"name": "a", "containerDisk": {"image": "x"}},
            [
                (
                    "disks/lun-volume",
                    f"{AT}[0].lun",
                    f"{AT}[0].lun can only be mapped to a DataVolume or PersistentVolumeClaim volume.",
                )
            ],
        ),
        ({"disk": {"bus": "virtio"}}, METRICS, []),
        (
            {},
            METRICS,
            [
                (
                    "disks/metrics-target",
                    f"{AT}[0].disk",
                    f"DownwardMetrics volume must be mapped to a disk, but disk is not set on {AT}[0].disk.",
                )
            ],
        ),
        (
            {"disk": {"bus": "sata"}},
            METRICS,
            [
                (
                    "disks/metrics-bus",
                    f"{AT}[0].disk.bus",
                    f"DownwardMetrics volume must be mapped to virtio bus, but {AT}[0].disk.bus is set to sata",
                )
            ],
        ),
    ],
)
def test_volumes(disk: Json, volume: Json, expected: list[tuple[str, str, str]]) -> None:
    assert refusals(bootorder.CHECKS, of({"name": "a", **disk}, volumes=[volume])) == expected


def test_the_last_volume_of_a_name_counts() -> None:
    spec = of({"name": "a", "lun": {}}, volumes=[{"name": "a", "emptyDisk": {}}, PVC])
    assert refusals(bootorder.CHECKS, spec) == []


def test_an_empty_cdrom_needs_a_gate() -> None:
    spec, gate = of({"name": "a", "cdrom": {}}), "DeclarativeHotplugVolumes"
    off = ClusterConfig(disabled_gates=frozenset({gate}))
    on = ClusterConfig(feature_gates=frozenset({gate}))
    message = f"{gate} feature gate not enabled, cannot define an empty CD-ROM disk"
    expected = [("disks/empty-cdrom", f"{AT}[0].name", message)]
    assert refusals(bootorder.CHECKS, spec) == []  # on by default
    assert refusals(bootorder.CHECKS, spec, config=off) == expected
    assert refusals(bootorder.CHECKS, spec, release="1.8.4") == expected
    assert refusals(bootorder.CHECKS, spec, release="1.8.4", config=on) == []
    assert names(bootorder.CHECKS, spec, release="1.5.3", config=on) == ["disks/volume"]


def test_boot_order() -> None:
    nics = [{"name": "n", "bootOrder": order} for order in (1, 3, 3, 0)]
    devices = [
        {"name": "a", "bootOrder": 1},
        {"name": "a", "bootOrder": 2},
        {"name": "a", "bootOrder": 2},
    ]
    nic = "spec.domain.devices.interfaces"
    taken = "Boot order for {} already set for a different device."
    assert refusals(bootorder.CHECKS, of(*devices, volumes=[PVC], interfaces=nics)) == [
        ("boot-order/unique", f"{AT}[2].bootOrder", taken.format(f"{AT}[2].bootOrder")),
        ("boot-order/unique", f"{nic}[0].bootOrder", taken.format(f"{nic}[0].bootOrder")),
        ("boot-order/unique", f"{nic}[2].bootOrder", taken.format(f"{nic}[2].bootOrder")),
        (
            "boot-order/positive",
            "spec[3].bootOrder",
            "spec[3] must have a boot order > 0, if supplied",
        ),
    ]
