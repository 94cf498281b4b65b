"""What is suggested for a name that nobody knows."""

import pytest

from render.model.nearest import nearest

DEVICES = ("mediatedDevices", "pciHostDevices", "usb")


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("usbHostDevices", DEVICES, "usb"),
        ("pciHostDevice", DEVICES, "pciHostDevices"),
        ("hostDevices", DEVICES, "pciHostDevices"),
        ("memmory", ("cpu", "memory"), "memory"),
        ("x" * 65, ("x" * 64,), ""),
    ],
)
def test_the_nearest(word: str, known: tuple[str, ...], near: str) -> None:
    """One that the word begins with rather than another with which it shares but the end."""
    assert nearest(word, iter(known)) == near
