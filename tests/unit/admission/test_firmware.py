"""Boot loader, kernel boot and serial number."""

import pytest

from render.admission.vmi.domain.firmware import CHECKS
from tests.support.refusals import Json, refusals

FIRMWARE = "spec.domain.firmware"


def messages(domain: Json, release: str = "1.9") -> list[tuple[str, str]]:
    return [
        (name.partition("/")[2], field)
        for name, field, _ in refusals(CHECKS, {"domain": domain}, release=release)
    ]


def boot(**container: str) -> Json:
    return {"firmware": {"kernelBoot": {"container": container}}}


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ({"firmware": {"bootloader": {"bios": {}}}}, []),
        ({"firmware": {"bootloader": {"efi": {"secureBoot": False}}}}, []),
        ({"firmware": {"bootloader": {"efi": {}}}, "features": {"smm": {}}}, []),
        ({"firmware": {"bootloader": {"efi": {}}}, "launchSecurity": {"tdx": {}}}, []),
        (
            {"firmware": {"bootloader": {"efi": {}}}, "features": {"smm": {"enabled": False}}},
            [("secure-boot-smm", "spec.domain")],
        ),
        (
            {"firmware": {"bootloader": {"efi": {"secureBoot": True}, "bios": {}}}},
            [("one-bootloader", f"{FIRMWARE}.bootloader"), ("secure-boot-smm", "spec.domain")],
        ),
        (boot(image="a", kernelPath="/boot/vmlinuz", initrdPath="/boot/initrd"), []),
        (boot(image="a"), [("kernel-files", f"{FIRMWARE}.kernelBoot.container")]),
        (boot(kernelPath="/a"), [("kernel-image", f"{FIRMWARE}.kernelBoot.container.image")]),
        (
            boot(image="a", kernelPath="/", initrdPath="./a"),
            [
                ("kernel-path", f"{FIRMWARE}.kernelBoot.container.kernelPath"),
                ("kernel-path", f"{FIRMWARE}.kernelBoot.container.initrdPath"),
            ],
        ),
        (
            {"firmware": {"kernelBoot": {"kernelArgs": "quiet"}}},
            [("kernel-args", f"{FIRMWARE}.kernelBoot.kernelArgs")],
        ),
        ({"firmware": {"kernelBoot": {}, "serial": "a b"}}, []),
    ],
)
def test_firmware(domain: Json, expected: list[tuple[str, str]]) -> None:
    assert messages(domain) == expected


def test_tdx_with_secure_boot_needs_smm_before_1_9() -> None:
    domain = {"firmware": {"bootloader": {"efi": {}}}, "launchSecurity": {"tdx": {}}}
    assert messages(domain, "1.8") == [("secure-boot-smm", "spec.domain")]


@pytest.mark.parametrize(
    ("serial", "expected"),
    [("a-1_B.+", []), ("a b", ["serial"]), ("x" * 257, ["serial-length"])],
)
def test_the_serial_number_is_checked_in_1_4(serial: str, expected: list[str]) -> None:
    domain = {"firmware": {"serial": serial}}
    assert messages(domain, "1.4") == [(name, f"{FIRMWARE}.serial") for name in expected]
    assert messages(domain, "1.5.3") == []
