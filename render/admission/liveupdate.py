"""What live update demands of a VM that names an upper bound for its memory.

Upstream: pkg/liveupdate/memory/memory.go (ValidateLiveUpdateMemory); that sockets stay below their bound is a rule for
every VMI (`vmi.cpu`), and is repeated here upstream.
"""

from collections.abc import Iterator

from render.admission.checks import Check, Subject
from render.diagnostics.cause import Cause
from render.model.apimachinery import quantity

_MAX_GUEST = ("domain", "memory", "maxGuest")
_GUEST = ("domain", "memory", "guest")
_BLOCK = 2 << 20
_GIB = 1 << 30


def _memory(subject: Subject) -> Iterator[Cause]:
    if subject.config.rollout_strategy == "LiveUpdate":
        fault = _fault(subject)
        if fault is not None:
            rule, text, cure = fault
            yield Cause(f"live-update/{rule}", subject.at(*_GUEST), text, cure)


def _fault(subject: Subject) -> tuple[str, str, str] | None:
    """The first rule that is broken, KubeVirt's text, and what to do."""
    drop = "remove domain.memory.maxGuest"
    for rule, path, text in (
        ("realtime", ("domain", "cpu", "realtime"), "realtime VMs"),
        ("numa", ("domain", "cpu", "numa", "guestMappingPassthrough"), "guest mapping passthrough"),
        ("encrypted", ("domain", "launchSecurity"), "encrypted VMs"),
    ):
        if subject.get(*path) is not None:
            return rule, f"Memory hotplug is not compatible with {text}", drop
    guest, bound = subject.get(*_GUEST), subject.get(*_MAX_GUEST)
    if guest is None:
        text = "Guest memory must be configured when memory hotplug is enabled"
        return "guest", text, "set domain.memory.guest"
    if quantity.compare(guest, bound) > 0:
        text = "Guest memory is greater than the configured maxGuest memory"
        return "bound", text, "raise domain.memory.maxGuest"
    pages = subject.get("domain", "memory", "hugepages", "pageSize")
    block, shown = (_GIB, "1Gi") if pages == "1Gi" else (_BLOCK, "2Mi")
    for name, value in (("Guest memory", guest), ("MaxGuest", bound)):
        if quantity.value(value) % block:
            return "aligned", f"{name} must be {shown} aligned", f"use a multiple of {shown}"
    if subject.spec.get("architecture") != "amd64":
        return "architecture", "Memory hotplug is only available for x86_64 VMs", drop
    if quantity.value(guest) < _GIB:
        text = "Memory hotplug is only available for VMs with at least 1Gi of guest memory"
        return "least", text, f"{drop}, or give the guest 1Gi"
    return None


CHECKS = (
    Check(
        "live-update",
        _memory,
        needs="vmRolloutStrategy",
        where=_MAX_GUEST,
        only=("VirtualMachine", "VirtualMachinePool"),
    ),
)
