"""NVIDIA Grace GPUs that are passed through.

Upstream: grace_io_virtualization.go, pkg/util/hardware/grace.go.
"""

from collections.abc import Callable, Iterator

from render.admission.checks import Check, Evaluate, Subject, Violation
from render.diagnostics.cause import Cause
from render.model.apimachinery.go import quoted
from render.model.fieldpath import FieldPath
from render.model.release import Windowed, since

_DEVICES = ("domain", "devices")
_LISTS = ("gpus", "hostDevices")
_GATE = "GraceIOVirtualization"
_PERMITTED = "permittedHostDevices"
_VENDOR = "10DE"
_GRACE = frozenset({"2342", "2348", "2941"})
_MACHINE = "virt"
_DIGITS = 4
_HEX = frozenset("0123456789ABCDEF")
#: annotation -> KubeVirt's text, what to do.
_ANNOTATIONS = {
    "kubevirt.io/placePCIDevicesOnRootComplex": (
        "root-complex",
        "GraceIOVirtualization is not compatible with placing PCI devices on the root complex",
    ),
    "kubevirt.io/disablePCIHole64": (
        "pci-hole",
        "GraceIOVirtualization requires the 64-bit PCI hole",
    ),
}


def _identifier(text: str) -> str:
    return text.strip().upper().removeprefix("0X")


def _device_of(selector: str) -> str:
    """The device that a selector names of NVIDIA's, ``*`` for all, ``""`` for another vendor's."""
    vendor, colon, device = map(_identifier, selector.partition(":"))
    if not colon or vendor != _VENDOR:
        return ""
    is_device_id = len(device) == _DIGITS and _HEX.issuperset(device)
    return device if is_device_id or device == "*" else ""


def _nvidia_devices(
    subject: Subject, matches: Callable[[str], bool]
) -> Iterator[tuple[FieldPath, str]]:
    """The places of device names that the cluster maps to NVIDIA devices that match, and the names."""
    selectors = {
        name: selector for name, selector in subject.config.pci_host_devices if name and selector
    }
    if not selectors:
        return
    for key in _LISTS:
        for index, device in enumerate(subject.get(*_DEVICES, key) or ()):
            name = device.get("deviceName")
            if name and name in selectors and matches(_device_of(selectors[name])):
                yield (*_DEVICES, key, index, "deviceName"), name


def _is_grace(device: str) -> bool:
    return device in _GRACE


def _ambiguous(subject: Subject) -> Iterator[Violation]:
    for path, name in _nvidia_devices(subject, "*".__eq__):
        if subject.has_gate(_GATE):
            yield Violation(
                subject.at(*path),
                "GraceIOVirtualization requires an exact pciVendorSelector for NVIDIA PCI host device resource "
                f"{quoted(name)}",
                f"name vendor and device in {_PERMITTED} of the KubeVirt CR",
            )


def _gate(subject: Subject) -> Iterator[Violation]:
    for path, name in _nvidia_devices(subject, _is_grace):
        if not subject.has_gate(_GATE):
            yield Violation(
                subject.at(*path),
                "GraceIOVirtualization feature gate must be enabled for NVIDIA Grace GPU passthrough resource "
                f"{quoted(name)}",
                f"enable the feature gate {_GATE} in the KubeVirt CR",
            )


def _machine(subject: Subject) -> Iterator[Cause]:
    grace_device = next(_nvidia_devices(subject, _is_grace), None)
    if grace_device is None or not subject.has_gate(_GATE):
        return
    place = subject.at(*grace_device[0])
    config = subject.config
    architecture = subject.spec.get("architecture") or config.default_architecture
    if architecture != "arm64":
        yield Cause(
            "grace/architecture",
            subject.at("architecture"),
            "GraceIOVirtualization requires arm64 architecture",
            "set architecture: arm64",
            place=place,
        )
    machine = subject.get("domain", "machine", "type") or config.machine_type_for(architecture)
    if not machine.startswith(_MACHINE):
        yield Cause(
            "grace/machine-type",
            subject.at("domain", "machine", "type"),
            f"GraceIOVirtualization requires {quoted(_MACHINE)} machine type",
            f"set machine.type: {_MACHINE}",
        )
    if not subject.get("domain", "cpu", "dedicatedCpuPlacement"):
        yield Cause(
            "grace/pinned",
            subject.at("domain", "cpu", "dedicatedCpuPlacement"),
            "GraceIOVirtualization requires dedicated CPU placement",
            "set dedicatedCpuPlacement: true",
            place=place,
        )


def _companion(gate: str) -> Evaluate:
    """Another gate that Grace GPUs need."""

    def evaluate(subject: Subject) -> Iterator[Cause]:
        grace_device = next(_nvidia_devices(subject, _is_grace), None)
        if grace_device is None or not subject.has_gate(_GATE) or subject.has_gate(gate):
            return
        yield Cause(
            f"grace/{gate.lower()}",
            subject.at(*_DEVICES),
            f"{gate} feature gate must be enabled when GraceIOVirtualization is used",
            f"enable the feature gate {gate} in the KubeVirt CR",
            place=subject.at(*grace_device[0]),
        )

    return evaluate


def _annotations(subject: Subject) -> Iterator[Cause]:
    annotations = subject.metadata.get("annotations") or {}
    refused = [key for key in _ANNOTATIONS if annotations.get(key) == "true"]
    if refused and next(_nvidia_devices(subject, _is_grace), None) is not None:
        for key in refused:
            rule, message = _ANNOTATIONS[key]
            yield Cause(
                f"grace/{rule}",
                (*subject.root[:-1], "metadata", "annotations", key),
                message,
                "drop the annotation",
            )


def _row(name: str, evaluate: Evaluate, needs: str) -> Windowed[Check]:
    """A check of all devices."""
    first, *others = ((*_DEVICES, key) for key in _LISTS)
    return since("1.9", Check(name, evaluate, needs, where=first, also=tuple(others)))


CHECKS: tuple[Check | Windowed[Check], ...] = (
    _row("grace/selector", _ambiguous, _PERMITTED),
    _row("grace/gate", _gate, f"gate {_GATE}"),
    _row("grace", _machine, _PERMITTED),
    *(
        _row(f"grace/{gate.lower()}", _companion(gate), f"gate {gate}")
        for gate in ("PCINUMAAwareTopology", "IOMMUFD")
    ),
    _row("grace", _annotations, _PERMITTED),
)
