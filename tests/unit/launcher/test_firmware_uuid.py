"""UUIDs of the firmware that KubeVirt admits and libvirt takes for none (VR449): as libvirt's parser answered."""

import pytest

from render.diagnostics.exits import Exit
from tests.support.asking import Ask


def machine(uuid: str) -> str:
    return (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web, namespace: prod}\n"
        "spec:\n  runStrategy: Always\n  template:\n    spec:\n      domain:\n"
        f"        firmware: {{uuid: {uuid}}}\n        memory: {{guest: 1Gi}}\n        devices: {{}}\n"
    )


@pytest.mark.parametrize(
    "uuid",
    [
        "564d1234-9abc-def0-123456789abc",
        "564d1234-5678-9abc-def0-123456789abcd",
        "'{564d1234-5678-9abc-def0-123456789abc}'",
        "564d1-2345678-9abc-def0-123456789abc",
        "5-64d1234-5678-9abc-def0-123456789abc",
        "564d1234-5678-9abc-def0-123456789abc-",
        "564d1234-5678-9abc-def0-12345678é9abc",
        "564d1234-5678-9abc-def0-123456789abg",
        "urn:uuid:564d1234-5678-9abc-def0-123456789abc",
    ],
)
def test_libvirt_refuses_the_domain(uuid: str, ask: Ask) -> None:
    answer = ask("check", "-", stdin=machine(uuid))
    assert answer.exit == Exit.FINDINGS
    assert "error VR449 firmware-uuid: VirtualMachine prod/web" in answer.out
    assert "8-4-4-4-12" in answer.out


@pytest.mark.parametrize(
    "uuid",
    [
        "564d1234-5678-9abc-def0-123456789abc",
        "564D1234-5678-9ABC-DEF0-123456789ABC",
        "564d123456789abcdef0123456789abc",
        "'56 4d 12 34 56 78 9a bc-de f0 12 34 56 78 9a bc'",
        "00000000-0000-0000-0000-000000000000",
        "' 564d1234-5678-9abc-def0-123456789abc '",
        "''",
        "${UUID}",
        "'{{ .Values.uuid }}'",
    ],
)
def test_it_takes_it_or_nobody_knows_yet(uuid: str, ask: Ask) -> None:
    assert "VR449" not in ask("check", "-", stdin=machine(uuid)).out
