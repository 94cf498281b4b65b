"""GPUs, host devices, resource claims, launch security, and what else a VM has besides disks and networks."""

from typing import Any

import pytest

from render.admission.vmi import accounts, grace
from render.admission.vmi.domain import claims, devices, security
from render.model.cluster_config import ClusterConfig
from tests.support.refusals import Json, refusals

DEVICES = "spec.domain.devices"


def messages(module: Any, spec: Json, **more: Any) -> list[tuple[str, str]]:
    return [
        (name.partition("/")[2], field) for name, field, _ in refusals(module.CHECKS, spec, **more)
    ]


def having(**stated: object) -> Json:
    return {"domain": {"devices": stated}}


def gated(*names: str, **more: Any) -> ClusterConfig:
    return ClusterConfig(feature_gates=frozenset(names), **more)


PRINTED: Json = {"virtualGPUOptions": {"display": {}}}
UNSET: Json = {"virtualGPUOptions": {"display": {"ramFB": {}}}}
HIDDEN: Json = {"virtualGPUOptions": {"display": {"ramFB": {"enabled": False}}}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (having(gpus=[PRINTED, HIDDEN]), []),
        (having(gpus=[PRINTED, {"virtualGPUOptions": {"display": {"enabled": False}}}]), []),
        (having(gpus=[PRINTED, PRINTED]), [("ramfb", "spec.GPUs")]),
        (having(gpus=[PRINTED, UNSET]), []),
        (having(sound={"name": "a", "model": "ac97"}), []),
        (having(sound={"model": "hda"}), [("sound-model", "spec.Sound"), ("sound-name", "spec.Sound")]),
        (having(video={"type": "x"}, autoattachGraphicsDevice=True), []),
        (having(video={}, autoattachGraphicsDevice=False), [("video-graphics", "spec.video")]),
        (having(panicDevices=[{}, {"model": "isa"}]), []),
        (having(panicDevices=[{"model": "x"}]), [("panic-model", f"{DEVICES}.panicDevices[0].model")]),
        ({**having(panicDevices=[{}]), "architecture": "s390x"}, [
            ("panic-architecture", f"{DEVICES}.panicDevices")]),
        (having(autoattachVSOCK=False), []),
        (having(disks=[{"lun": {"reservation": True}}, {"lun": {"reservation": True}}]), [
            ("reservation", f"{DEVICES}.disks.luns.reservation")]),
        (having(disks=[{"lun": {"reservation": False}}]), []),
        (having(tpm={"persistent": True}), []),
    ],
)  # fmt: skip
def test_devices(spec: Json, expected: list[tuple[str, str]]) -> None:
    assert messages(devices, spec) == expected


@pytest.mark.parametrize(
    ("config", "release", "refused"),
    [
        (ClusterConfig(persistent_reservation=True), "1.9", False),
        (gated("PersistentReservation"), "1.9", False),
        (gated("PersistentReservation", persistent_reservation=False), "1.9", True),
        (ClusterConfig(persistent_reservation=True), "1.8", True),
        (gated("PersistentReservation"), "1.8", False),
    ],
)
def test_persistent_reservations(config: ClusterConfig, release: str, refused: bool) -> None:  # noqa: FBT001
    spec = having(disks=[{"lun": {"reservation": True}}])
    found = refusals(devices.CHECKS, spec, config=config, release=release)
    assert bool(found) is refused
    if refused:
        assert ("feature gate" in found[0].message) is (release == "1.8")


@pytest.mark.parametrize("release", ["1.4", "1.5"])
@pytest.mark.parametrize(("enabled", "count"), [(False, 0), (True, 1), (None, 1)])
def test_a_tpm_that_is_off_keeps_no_state(release: str, enabled: bool | None, count: int) -> None:  # noqa: FBT001
    inputs = {} if enabled is None else {"enabled": enabled}
    spec = having(tpm={**inputs, "persistent": True})
    wanted = [("tpm-gate", f"{DEVICES}.tpm.persistent")] * count
    assert messages(devices, spec, release=release) == wanted
    assert messages(devices, spec, release="1.6") == []


def test_folders_of_two_volumes() -> None:
    spec = {
        **having(filesystems=[{"name": name} for name in ("a", "b", "c", "d")]),
        "volumes": [
            {"name": "a", "dataVolume": {"name": "a"}},
            {"name": "b", "persistentVolumeClaim": {"claimName": "b"}},
            {"name": "c", "configMap": {"name": "c"}},
        ],
    }
    place = f"{DEVICES}.filesystems"
    assert messages(devices, spec) == [("filesystem-gate", place)] * 2
    assert messages(devices, spec, release="1.7") == [
        ("config-filesystem-gate", place),
        *[("filesystem-gate", place)] * 2,
    ]
    assert messages(devices, spec, release="1.4") == []
    old = gated("ExperimentalVirtiofsSupport")
    assert messages(devices, spec, release="1.7", config=old) == []
    assert messages(devices, spec, release="1.8", config=old) == [("filesystem-gate", place)] * 2


@pytest.mark.parametrize("release", ["1.5", "1.6", "1.7"])
def test_a_folder_of_two_sources_is_refused_once(release: str) -> None:
    both = {"name": "a", "configMap": {"name": "a"}, "dataVolume": {"name": "a"}}
    spec = {**having(filesystems=[{"name": "a"}]), "volumes": [both]}
    place = f"{DEVICES}.filesystems"
    assert messages(devices, spec, release=release) == [("config-filesystem-gate", place)]
    config = gated("EnableVirtioFsConfigVolumes")
    assert messages(devices, spec, release=release, config=config) == [("filesystem-gate", place)]


NAMED: Json = {"name": "g", "deviceName": "x.org/g"}
CLAIMED: Json = {"name": "g", "claimName": "c", "requestName": "r"}
CLAIM: Json = {"name": "c", "resourceClaimName": "c"}
GPUS, HOSTS = f"{DEVICES}.gpus", f"{DEVICES}.hostDevices"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (having(gpus=[NAMED, NAMED], hostDevices=[NAMED]), []),
        ({**having(gpus=[CLAIMED]), "resourceClaims": [CLAIM]}, []),
        (having(gpus=[CLAIMED]), [("listed", "spec.resourceClaims")]),
        (having(gpus=[NAMED, CLAIMED]), [("uniform", GPUS)]),
        ({**having(hostDevices=[NAMED, CLAIMED]), "resourceClaims": [CLAIM]}, []),
        (having(gpus=[{"name": "g"}, {"name": "h"}]), [("device-name", GPUS)] * 2),
        (having(hostDevices=[{**NAMED, **CLAIMED}]), [("device-or-claim", HOSTS)]),
        (having(gpus=[{"claimName": "c"}]), [("request", f"{GPUS}[0].requestName")]),
        (having(hostDevices=[{"requestName": "c"}]), [("request", f"{HOSTS}[0].claimName")]),
        ({**having(gpus=[CLAIMED, CLAIMED]), "resourceClaims": [CLAIM]}, [
            ("request-unique", f"{GPUS}[1]")]),
        ({**having(gpus=[CLAIMED], hostDevices=[CLAIMED]), "resourceClaims": [CLAIM]}, [
            ("request-shared", f"{HOSTS}[0]")]),
        ({"resourceClaims": [CLAIM, CLAIM]}, [("name-unique", "spec.resourceClaims[1].name")]),
        ({"resourceClaims": [{**CLAIM, "name": "a.b"}]}, [("name", "spec.resourceClaims[0].name")]),
        ({"resourceClaims": [{**CLAIM, "name": ""}]}, [("name", "spec.resourceClaims[0].name")]),
        ({"resourceClaims": [{"name": "c"}]}, [("one-object", "spec.resourceClaims[0]")]),
        ({"resourceClaims": [{**CLAIM, "resourceClaimTemplateName": "A"}]}, [
            ("one-object", "spec.resourceClaims[0]"),
            ("object-name", "spec.resourceClaims[0].resourceClaimTemplateName")]),
    ],
)  # fmt: skip
def test_claims(spec: Json, expected: list[tuple[str, str]]) -> None:
    assert messages(claims, spec) == expected


def test_a_claim_of_a_device_and_of_a_network() -> None:
    network = {"name": "n", "resourceClaim": {"claimName": "c", "requestName": "r"}}
    spec = {**having(gpus=[CLAIMED]), "resourceClaims": [CLAIM], "networks": [network]}
    assert messages(claims, spec) == []
    ((_, field, message),) = refusals(claims.CHECKS, spec, config=gated("NetworkDevicesWithDRA"))
    assert field == "spec.networks[0]"
    assert message == 'duplicate claimName/requestName pair "c/r" between GPUs[0] and Networks[0]'


def test_claims_of_older_releases() -> None:
    printed = "spec.spec.domain.devices.gpus"
    nameless = having(gpus=[{"name": "g"}, {"name": "h"}])
    assert messages(claims, nameless, release="1.7") == [("device-name", printed)]
    both = having(gpus=[{**NAMED, **CLAIMED}])
    assert messages(claims, both, release="1.7") == [("device-or-claim", printed)]
    claimed = having(gpus=[CLAIMED], hostDevices=[{}])
    assert messages(claims, claimed, release="1.7") == [("gpu-gate", printed)]
    config = gated("GPUsWithDRA")
    assert messages(claims, claimed, release="1.7", config=config) == [
        ("listed", "spec.resourceClaims")
    ]
    assert messages(claims, claimed, release="1.5") == []
    twice = {"resourceClaims": [{"name": ""}, {"name": ""}]}
    assert messages(claims, twice, release="1.8") == [
        ("name-unique", "spec.resourceClaims[1].name")
    ]


def secured(kinds: Json, architecture: str = "amd64", **domain: Any) -> Json:
    efi = {"bootloader": {"efi": {"secureBoot": False}}}
    return {
        "architecture": architecture,
        "domain": {"devices": {}, "launchSecurity": kinds, "firmware": efi, **domain},
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (secured({"sev": {}}), []),
        (secured({"tdx": {}}, firmware={"bootloader": {"efi": {}}}), []),
        (secured({}, "s390x"), []),
        (secured({}, "arm64"), ["No launchSecurity support for architecture: arm64"]),
        (secured({}), ["One and only one launchSecurity type can be set"]),
        (secured({"sev": {}, "snp": {}}), ["One and only one launchSecurity type can be set"]),
        (secured({"snp": {}}, firmware={}), ["SNP requires OVMF (UEFI)"]),
        (secured({"sev": {}}, firmware={"bootloader": {"efi": {"persistent": True}}}), [
            "SEV does not work along with SecureBoot"]),
        (secured({"tdx": {}}, firmware={"bootloader": {"efi": {"persistent": True}}}), [
            "TDX does not work along with Persistent EFI variables"]),
        (secured({"tdx": {}}, features={"smm": {}}), ["TDX does not work along with SMM"]),
        (secured({"tdx": {}}, features={"smm": {"enabled": False}}), []),
        (secured({"sev": {"attestation": {}}}), [
            "SEV attestation requires VMI StartStrategy 'Paused'"]),
        ({**secured({"sev": {"attestation": {}}}), "startStrategy": "Paused"}, []),
        (secured({"snp": {}}, devices={"interfaces": [{"name": "a", "bootOrder": 1}]}), [
            "SNP does not work with bootable NICs: a"]),
    ],
)  # fmt: skip
def test_launch_security(spec: Json, expected: list[str]) -> None:
    config = gated("WorkloadEncryptionTDX")
    assert [message for *_, message in refusals(security.CHECKS, spec, config=config)] == expected


def test_launch_security_of_older_releases() -> None:
    field = "spec.launchSecurity"
    assert messages(security, secured({}, "arm64"), release="1.6") == []
    assert messages(security, secured({}, "s390x"), release="1.6") == [("execution-gate", field)]
    assert messages(security, secured({}, "arm64"), release="1.5") == [("sev-gate", field)]
    config = gated("WorkloadEncryptionSEV")
    plain = secured({"sev": {}}, "arm64", firmware={})
    assert messages(security, plain, release="1.6", config=config) == [("efi", field)]


def test_a_gate_hides_what_comes_after_it() -> None:
    spec = secured({"tdx": {}}, firmware={})
    assert messages(security, spec) == [("tdx-gate", "spec.launchSecurity")]


GRACE = "GraceIOVirtualization"
ALL = (GRACE, "PCINUMAAwareTopology", "IOMMUFD")


def permitted(selector: str, *gates: str, **more: Any) -> ClusterConfig:
    return gated(*gates, pci_host_devices=(("x.org/g", selector),), **more)


PINNED: Json = {
    "architecture": "arm64",
    "domain": {
        "devices": {"gpus": [NAMED]},
        "machine": {"type": "virt-9"},
        "cpu": {"dedicatedCpuPlacement": True},
    },
}


@pytest.mark.parametrize(
    ("selector", "gates", "expected"),
    [
        ("10DE:2342", ALL, []),
        ("10de:0x2342", (), [("gate", f"{GPUS}[0].deviceName")]),
        ("10DE:2342", (GRACE,), [("pcinumaawaretopology", DEVICES), ("iommufd", DEVICES)]),
        ("10DE:*", ALL, [("selector", f"{GPUS}[0].deviceName")]),
        ("10DE:*", (), []),
        ("10DE:1234", (), []),
        ("8086:2342", (), []),
        ("10DE", (), []),
    ],
)
def test_grace_gpus(selector: str, gates: tuple[str, ...], expected: list[tuple[str, str]]) -> None:
    assert messages(grace, PINNED, config=permitted(selector, *gates)) == expected
    assert messages(grace, PINNED, config=permitted(selector, *gates), release="1.8") == []


def test_what_grace_needs() -> None:
    spec = having(hostDevices=[NAMED])
    annotations = {"kubevirt.io/disablePCIHole64": "true"}
    found = messages(
        grace, spec, config=permitted("10DE:2941", *ALL), metadata={"annotations": annotations}
    )
    assert found == [
        ("architecture", "spec.architecture"),
        ("machine-type", "spec.domain.machine.type"),
        ("pinned", "spec.domain.cpu.dedicatedCpuPlacement"),
        ("pci-hole", "metadata.annotations[kubevirt.io/disablePCIHole64]"),
    ]
    arm = permitted("10DE:2941", *ALL, default_architecture="arm64")
    assert messages(grace, spec, config=arm) == [
        ("pinned", "spec.domain.cpu.dedicatedCpuPlacement")
    ]


@pytest.mark.parametrize(
    ("name", "volume", "expected"),
    [
        ("a.b", "a.b", []),
        ("A", "A", ["name"]),
        ("a", "b", ["differs"]),
        ("", "b", []),
    ],
)
def test_service_accounts(name: str, volume: str, expected: list[str]) -> None:
    volumes = [{"name": "v", "serviceAccount": {"serviceAccountName": volume}}]
    spec = {"serviceAccountName": name, "volumes": volumes}
    assert messages(accounts, spec) == [(rule, "spec.serviceAccountName") for rule in expected]


def test_ramfb_that_says_nothing_counts_in_main() -> None:
    assert messages(devices, having(gpus=[PRINTED, UNSET]), release="main") == [
        ("ramfb", "spec.GPUs")
    ]
