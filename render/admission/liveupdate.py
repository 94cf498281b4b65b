"""What live update demands of a VM that names an upper bound for its memory.

What needs a restart says `render.diff.effects`.

Upstream: pkg/liveupdate/memory/memory.go (ValidateLiveUpdateMemory); that sockets stay below their bound is a rule for
every VMI (`vmi.cpu`), and is repeated here upstream.
"""

from collections.abc import Iterator

from render.admission.checks import Check, Subject
from render.diagnostics.cause import Cause
from render.model.cluster.liveupdate import memory_fault

_MAX_GUEST = ("domain", "memory", "maxGuest")
_GUEST = ("domain", "memory", "guest")
_DROP = "remove domain.memory.maxGuest"
#: What to do, by the rule; else the upper bound goes. ``{}`` stands for the alignment.
_CURES = {
    "guest": "set domain.memory.guest",
    "bound": "raise domain.memory.maxGuest",
    "aligned": "use a multiple of {}",
    "least": f"{_DROP}, or give the guest 1Gi",
}


def _memory(subject: Subject) -> Iterator[Cause]:
    if subject.config.rollout_strategy == "LiveUpdate":
        fault = memory_fault(subject.spec, subject.get(*_MAX_GUEST), subject.release)
        if fault is not None:
            cure = _CURES.get(fault.rule, _DROP).format(fault.alignment)
            yield Cause(f"live-update/{fault.rule}", subject.at(*_GUEST), fault.text, cure)


CHECKS = (
    Check(
        "live-update",
        _memory,
        needs="vmRolloutStrategy",
        where=_MAX_GUEST,
        only=("VirtualMachine", "VirtualMachinePool"),
    ),
)
