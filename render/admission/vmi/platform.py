"""What the machine as a whole needs a feature gate for: another architecture, reboot policy, reserved memory.

Upstream: validateArchitecture, validateRebootPolicy, validateReservedOverheadMemlock in vmi-create-admitter.go.
"""

from render.admission.checks import Check, FieldValue, Subject, judged, needs_gate
from render.model.release import Windowed, since, until

_ARCHITECTURE = ("architecture",)
_GATE = "MultiArchitecture"


def _foreign(subject: Subject, at: FieldValue) -> str:
    """An architecture other than that of the nodes of virt-api, which is taken to be amd64, as in most clusters."""
    if at.value in ("", "amd64") or subject.has_gate(_GATE):
        return ""
    return f"{_GATE} feature gate is not enabled in kubevirt-config, invalid entry {subject.text(*at.path)}"


CHECKS: tuple[Check | Windowed[Check], ...] = (
    until(
        "1.8",
        judged(
            "gates/architecture",
            _ARCHITECTURE,
            _foreign,
            needs=f"gate {_GATE}",
            help=f"enable the feature gate {_GATE} in the KubeVirt CR",
        ),
    ),
    since(
        "1.8",
        needs_gate(
            "gates/reboot-policy",
            ("domain", "rebootPolicy"),
            "RebootPolicy",
            "RebootPolicy is specified but the RebootPolicy feature gate is not enabled",
        ),
    ),
    since(
        "1.8",
        needs_gate(
            "gates/reserved-overhead",
            ("domain", "memory", "reservedOverhead"),
            "ReservedOverheadMemlock",
            "Reserved overhead memlock feature gate is not enabled in kubevirt-config",
        ),
    ),
)
