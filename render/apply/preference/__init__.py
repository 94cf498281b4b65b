"""How a preference reaches a VM: a module a concern, in upstream's order. Preferences never conflict."""

from render.apply.preference import (
    annotations,
    clock,
    cpu,
    devices,
    disks,
    features,
    firmware,
    general,
    interfaces,
)
from render.rules import Rules

AUTO_ATTACH: Rules = devices.AUTO_ATTACH
RULES: Rules = (
    *cpu.RULES,
    *devices.RULES,
    *disks.RULES,
    *interfaces.RULES,
    *features.RULES,
    *firmware.RULES,
    *general.MACHINE,
    *clock.RULES,
    *general.RULES,
    *annotations.RULES,
    *general.LAUNCH_SECURITY,
)
#: Fields of a preference that no rule of this package reads, and why.
ELSEWHERE: dict[str, str] = {
    "cpu.preferredCPUTopology": "lays out the instancetype's vCPUs: render.model.topology",
    "cpu.spreadOptions.across": "lays out the instancetype's vCPUs: render.model.topology",
    "cpu.spreadOptions.ratio": "lays out the instancetype's vCPUs: render.model.topology",
    "preferSpreadSocketToCoreRatio": "lays out the instancetype's vCPUs: render.model.topology",
    "volumes.preferredStorageClassName": "written by the VM webhook: render.defaults.vm",
    "requirements.cpu.guest": "checked, never written: render.admission.requirements",
    "requirements.memory.guest": "checked, never written: render.admission.requirements",
    "requirements.architecture": "checked, never written: render.admission.requirements",
    "devices.preferredVirtualGPUOptions": "no code of KubeVirt v1.9.0 reads it",
}
