"""What an architecture does not support, Hyper-V, container paths: of VMIs only."""

from typing import Any

import pytest

from render.admission.vmi import start
from render.admission.vmi.domain import architecture, hyperv
from tests.support.asking import Ask
from tests.support.refusals import Json, names, refusals

DEVICES = "spec.domain.devices"


def of(name: str, domain: Json | None = None, **devices: Any) -> Json:
    return {"architecture": name, "domain": {"devices": devices, **(domain or {})}}


@pytest.mark.parametrize(
    ("name", "release", "expected"),
    [
        ("amd64", "1.9.0", []),
        ("s390x", "1.5.2", []),
        ("riscv64", "1.9.0", ["unsupported architecture: riscv64"]),
        ("", "1.9.0", ["unsupported architecture: "]),
        ("ppc64le", "1.5.3", ["unsupported architecture: ppc64le"]),
        ("ppc64le", "1.6.6", []),
        ("ppc64le", "1.7.0", ["unsupported architecture: ppc64le"]),
        ("ppc64le", "1.5.1", []),
    ],
)
def test_architectures(name: str, release: str, expected: list[str]) -> None:
    found = refusals(architecture.CHECKS, of(name), release=release)
    assert [refusal.message for refusal in found] == expected
    assert {refusal.field for refusal in found} <= {"spec.architecture"}


def test_what_linux_calls_an_architecture_is_told_as_kubevirt_does(ask: Ask) -> None:
    """That its memory cannot grow follows, and stands below."""
    text = (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web, namespace: prod}\n"
        "spec:\n  runStrategy: Always\n  template:\n    spec:\n      architecture: NAME\n      domain:\n"
        "        memory: {guest: 2Gi, maxGuest: 4Gi}\n        devices: {}\n"
    )
    for written, meant in (("x86_64", "amd64"), ("aarch64", "arm64"), ("amd46", "amd64")):
        told = ask("check", "-", stdin=text.replace("NAME", written)).out
        assert f"did you mean {meant}?" in told
        assert "\n  also, until that is mended: <stdin>:10:" in told
    assert (
        "use one of amd64, arm64, s390x" in ask("check", "-", stdin=text.replace("NAME", "vax")).out
    )


@pytest.mark.parametrize(
    ("name", "model", "refused"),
    [
        ("amd64", "bochs", False),
        ("amd64", "", True),
        ("amd64", "vmvga", True),
        ("arm64", "ramfb", False),
        ("arm64", "vga", True),
        ("s390x", "virtio", False),
        ("s390x", "ramfb", True),
    ],
)
def test_video(name: str, model: str, *, refused: bool) -> None:
    message = f"video model '{model}' is not supported on {name} architecture"
    expected = [("architecture/video", f"{DEVICES}.video.type", message)] if refused else []
    spec = of(name, video={"type": model} if model else {})
    assert refusals(architecture.CHECKS, spec) == expected
    assert refusals(architecture.CHECKS, spec, release="1.5.3") == []


def test_video_of_ppc64le() -> None:
    spec = of("ppc64le", video={"type": "ramfb"})
    assert names(architecture.CHECKS, spec, release="1.6.6") == ["architecture/video"]
    assert names(architecture.CHECKS, spec) == ["architecture/supported"]


@pytest.mark.parametrize(
    ("name", "watchdog", "message"),
    [
        ("amd64", {"i6300esb": {}}, ""),
        ("amd64", {"diag288": {}}, "amd64 only supports I6300ESB watchdog device"),
        ("amd64", {"diag288": {}, "i6300esb": {}}, "amd64 only supports I6300ESB watchdog device"),
        ("s390x", {"diag288": {}}, ""),
        ("s390x", {"i6300esb": {}}, "s390x only supports Diag288 watchdog device"),
        ("arm64", {"i6300esb": {}}, "Arm64 not support Watchdog device"),
    ],
)
def test_watchdogs(name: str, watchdog: Json, message: str) -> None:
    expected = [("architecture/watchdog", f"{DEVICES}.watchdog", message)] if message else []
    assert refusals(architecture.CHECKS, of(name, watchdog=watchdog)) == expected


def test_arm64() -> None:
    bus = "Arm64 not support this disk bus type, please use virtio or scsi"
    disks = [
        {"name": "a", "disk": {"bus": "sata"}},
        {"name": "b", "cdrom": {"bus": "usb"}},
        {"name": "c", "lun": {}},
    ]
    domain: Json = {"firmware": {"bootloader": {"bios": {}}}, "cpu": {"model": "host-model"}}
    assert refusals(architecture.CHECKS, of("arm64", domain, disks=disks, sound={"name": "a"})) == [
        (
            "architecture/bios",
            "spec.domain.firmware.bootloader.bios",
            "Arm64 does not support bios boot, please change to uefi boot",
        ),
        (
            "architecture/cpu-model",
            "spec.domain.cpu.model",
            "currently, host-passthrough is the only model supported on Arm64",
        ),
        ("architecture/disk-bus", f"{DEVICES}.disks[0].disk.bus", bus),
        ("architecture/disk-bus", f"{DEVICES}.disks[1].cdrom.bus", bus),
        ("architecture/sound", f"{DEVICES}.sound", "Arm64 not support sound device"),
    ]
    assert refusals(architecture.CHECKS, of("amd64", domain, disks=disks, sound={})) == []


@pytest.mark.parametrize(
    ("model", "release", "refused"),
    [
        ("host-passthrough", "1.9.0", False),
        ("", "1.9.0", False),
        ("cortex-a57", "1.6.0", True),
        ("cortex-a57", "1.5.3", False),
        ("host-model", "1.5.3", True),
    ],
)
def test_cpu_models_of_arm64(model: str, release: str, *, refused: bool) -> None:
    found = names(architecture.CHECKS, of("arm64", {"cpu": {"model": model}}), release=release)
    assert found == (["architecture/cpu-model"] if refused else [])


@pytest.mark.parametrize(
    ("efi", "refused"), [({}, True), ({"secureBoot": True}, True), ({"secureBoot": False}, False)]
)
def test_secure_boot_of_arm64(efi: Json, *, refused: bool) -> None:
    spec = of("arm64", {"firmware": {"bootloader": {"efi": efi}}})
    message = "UEFI secure boot is currently not supported on aarch64 Arch"
    field = "spec.domain.firmware.bootloader.efi.secureboot"
    expected = [("architecture/secure-boot", field, message)] if refused else []
    assert refusals(architecture.CHECKS, spec, release="1.8.2") == expected
    assert refusals(architecture.CHECKS, spec, release="1.8.3") == []


HYPERV = "spec.domain.features.hyperv"


def with_hyperv(cpu: Json | None = None, **features: Json) -> Json:
    return {"domain": {"features": {"hyperv": features}, **({"cpu": cpu} if cpu else {})}}


def test_hyperv_requirements() -> None:
    on, off = {"enabled": True}, {"enabled": False}
    spec = with_hyperv(ipi=on, tlbflush=on, synictimer=on, synic=off, vpindex=off)
    inner = f"{HYPERV}.domain.features.hyperv"
    assert refusals(hyperv.CHECKS, spec) == [
        (
            "hyperv/requires",
            f"{inner}.{name}",
            f"'{inner}.{name}' requires '{inner}.{needed}', which was disabled.",
        )
        for name, needed in (("ipi", "vpindex"), ("tlbflush", "vpindex"), ("synictimer", "synic"))
    ]
    assert refusals(hyperv.CHECKS, with_hyperv(ipi=on, vpindex=on, synic=off)) == []
    assert refusals(hyperv.CHECKS, with_hyperv(ipi={}, synic=off)) == []


def test_evmcs_needs_vmx() -> None:
    place = "spec.domain.cpu.features"
    needed = ("hyperv/vmx", place, "vmx cpu feature is required when evmcs is set")
    policy = (
        "hyperv/vmx-policy",
        f"{place}[1].policy",
        "vmx cpu feature has to be set to require policy",
    )
    features = [{"name": "aes"}, {"name": "vmx", "policy": "optional"}]
    assert refusals(hyperv.CHECKS, with_hyperv(evmcs={})) == [needed]
    assert refusals(hyperv.CHECKS, with_hyperv({"features": features}, evmcs={})) == [policy]
    required = [{"name": "vmx", "policy": "require"}]
    assert refusals(hyperv.CHECKS, with_hyperv({"features": required}, evmcs={})) == []
    assert refusals(hyperv.CHECKS, with_hyperv(evmcs={"enabled": False})) == []


def test_hyperv_passthrough() -> None:
    spec: Json = {"domain": {"features": {"hyperv": {}, "hypervPassthrough": {"enabled": False}}}}
    ((check, field, message),) = refusals(hyperv.CHECKS, spec)
    assert (check, field) == ("hyperv/passthrough", HYPERV)
    assert message.endswith("Please use either HyperV or HypervPassthrough.")


def test_container_paths() -> None:
    def path(name: str, text: str) -> Json:
        return {"name": name, "containerPath": {"path": text}}

    spec: Json = {
        "domain": {
            "memory": {"guest": "1Gi"},
            "devices": {"disks": [{"name": "disk"}], "filesystems": [{"name": "fs"}]},
        },
        "volumes": [
            path("fs", "/data"),
            path("disk", "/data"),
            path("fs", "/var/run/kubevirt-x"),
            {"name": "other", "emptyDisk": {"capacity": "1Gi"}},
            {**path("dump", "/data"), "memoryDump": {"claimName": "a"}},
        ],
    }
    at = "spec.domain.volumes"
    content = "ContainerPath volume"
    assert refusals(start.CHECKS, spec) == [
        (
            "volumes/container-path-disk",
            f"{at}[1]",
            f"{content} 'disk' must be mapped to a filesystem, not a disk",
        ),
        (
            "volumes/container-path-filesystem",
            f"{at}[1]",
            f"{content} 'disk' must have a matching filesystem defined in spec.domain.devices.filesystems",
        ),
        (
            "volumes/container-path-reserved",
            f"{at}[2].containerPath.path",
            f"{content} 'fs' uses reserved path prefix '/var/run/kubevirt'",
        ),
    ]
    assert refusals(start.CHECKS, spec, release="1.7.4") == []
    assert refusals(start.CHECKS, spec, kind="VirtualMachine") == []
