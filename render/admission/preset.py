"""What the webhook of VirtualMachineInstancePresets refuses: of their firmware, and of disks, though no VM gets these.

Upstream: pkg/virt-api/webhooks/validating-webhook/admitters/vmi-preset-admitter.go.
"""

from collections.abc import Iterator

from render.admission.checks import Subject
from render.admission.selection import selection
from render.diagnostics.cause import Cause
from render.model.cluster_config import ClusterConfig
from render.model.release import Version, in_force
from render.model.tree import Tree

#: Of the domain as a whole (validateDomainSpec), which the webhook does not ask of a preset.
_EXEMPT = "firmware/secure-boot-smm"


def causes(domain: Tree, release: Version) -> Iterator[Cause]:
    """Why a preset with this decoded *domain* is refused."""
    devices = domain.get("devices") or {}
    if not devices.get("disks") and not domain.get("firmware"):
        return
    from render.admission.vmi.domain import firmware
    from render.admission.vmi.storage import disks

    subject = Subject(
        kind="VirtualMachineInstancePreset",
        spec={"domain": domain},
        metadata={},
        root=("spec",),
        config=ClusterConfig(),
        release=release,
        vm={},
        vm_root=(),
    )
    checks = in_force((*disks.CHECKS, *firmware.CHECKS), release)
    for check in selection(checks, tuple)(subject.spec):
        if check.name != _EXEMPT:
            yield from map(check.named, check.evaluate(subject))
