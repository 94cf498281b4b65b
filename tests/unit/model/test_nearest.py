"""What is suggested for a name that nobody knows."""

import pytest

from render.model.nearest import is_slip, nearest

DEVICES = ("mediatedDevices", "pciHostDevices", "usb")


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("usbHostDevices", DEVICES, "usb"),
        ("pciHostDevice", DEVICES, "pciHostDevices"),
        ("hostDevices", DEVICES, "pciHostDevices"),
        ("memmory", ("cpu", "memory"), "memory"),
        ("storage", ("resources", "storageClassName"), ""),
        ("storageClass", ("resources", "storageClassName"), "storageClassName"),
        (
            "volumeAttributes",
            ("volumeAttributesClassName", "volumeName"),
            "volumeAttributesClassName",
        ),
        ("x" * 65, ("x" * 64,), ""),
    ],
)
def test_the_nearest(word: str, known: tuple[str, ...], near: str) -> None:
    """One that the word begins with rather than another with which it shares but the end."""
    assert nearest(word, iter(known)) == near


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("cloudinit", "cloudinitt"),
        ("web-init", "web-int"),
        ("web-init", "wbe-init"),
        ("web-cloudinit", "web-cloudlnit"),
        ("cloud-init-web", "cloudinit-web"),
        ("web-disk", "web-disks"),
    ],
)
def test_slips(name: str, other: str) -> None:
    assert is_slip(name, other)
    assert is_slip(other, name)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("web", "web"),
        ("disk-1", "disk-2"),
        ("disk1", "disk"),
        ("disk-a", "disk-b"),
        ("disk-a", "disk-ab"),
        ("data-east", "data-west"),
        ("db", "dbs"),
        ("test", "text"),
        ("web-10", "web-01"),
        ("web-init", "web-inn"),
        ("web", "database"),
        ("a-b", "ab"),
    ],
)
def test_no_slips(name: str, other: str) -> None:
    assert not is_slip(name, other)
    assert not is_slip(other, name)
