"""Input devices (upstream: validateInputDevices in admitters/vmi-create-admitter.go)."""

from render.admission.checks import EACH, Check, one_of

_INPUT = ("domain", "devices", "inputs", EACH)

CHECKS: tuple[Check, ...] = (
    one_of(
        "inputs/bus",
        (*_INPUT, "bus"),
        ("virtio", "usb", ""),
        "Input device can have only virtio or usb bus.",
    ),
    one_of(
        "inputs/type", (*_INPUT, "type"), ("tablet",), "Input device can have only tablet type."
    ),
)
