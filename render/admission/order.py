"""Which checks are asked of an object, and in which order.

Upstream: pkg/virt-api/webhooks/validating-webhook/admitters/ (vms-admitter.go, vmi-create-admitter.go,
vmpool-admitter.go, vmirs-admitter.go).
"""

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import islice

from render.admission.checks import Check, Subject
from render.admission.selection import selection
from render.diagnostics.cause import Cause
from render.model.release import Version, in_force
from render.model.tree import Tree

#: The modules of the concerns, in upstream's order.
SCHEMA = ("schema",)
CONCERNS = (
    *SCHEMA,
    "vmi.network.discontinued",
    "vmi.metadata",
    "vmi.names",
    "vmi.domain.memory",
    "vmi.domain.machine",
    "vmi.domain.acpi",
    "vmi.domain.cpu",
    "vmi.startstrategy",
    "vmi.placement",
    "vmi.network.bindings",
    "vmi.network.interfaces",
    "vmi.domain.claims",
    "vmi.storage.bootorder",
    "vmi.domain.inputs",
    "vmi.domain.iothreads",
    "vmi.probes",
    "vmi.storage.disks",
    "vmi.domain.firmware",
    "vmi.storage.volumes",
    "vmi.storage.cloudinit",
    "vmi.credentials",
    "vmi.network.dns",
    "vmi.eviction",
    "vmi.domain.security",
    "vmi.grace",
    "vmi.domain.devices",
    "vmi.platform",
    "vmi.accounts",
    "datavolumetemplates",
    "vm",
    "liveupdate",
    "vmi.start",
    "vmi.domain.hyperv",
    "vmi.domain.architecture",
    "pool",
)

#: Those that a VMI can fail whose VM has passed: its defaults decide them, or nobody asks them of a VM.
STARTED = (
    "vmi.storage.bootorder",
    "vmi.storage.disks",
    "vmi.start",
    "vmi.domain.hyperv",
    "vmi.domain.architecture",
)
#: Those of them that its defaults do not decide.
UNCHANGED = ("vmi.start",)
#: Concerns that few VMs have, and the places below the VMI spec at which alone they look: imported where one is met.
RARE: dict[str, str] = {
    "vmi.network.discontinued": "domain.devices.interfaces.[].slirp domain.devices.interfaces.[].macvtap"
    " domain.devices.interfaces.[].passt",
    "vmi.names": "hostname subdomain",
    "vmi.domain.acpi": "domain.firmware.acpi",
    "vmi.startstrategy": "startStrategy",
    "vmi.placement": "affinity topologySpreadConstraints",
    "vmi.domain.claims": "resourceClaims domain.devices.gpus domain.devices.hostDevices",
    "vmi.domain.inputs": "domain.devices.inputs",
    "vmi.domain.iothreads": "domain.ioThreadsPolicy",
    "vmi.probes": "readinessProbe livenessProbe",
    "vmi.domain.firmware": "domain.firmware.serial domain.firmware.bootloader domain.firmware.kernelBoot",
    "vmi.storage.cloudinit": "volumes.[].cloudInitNoCloud volumes.[].cloudInitConfigDrive",
    "vmi.credentials": "accessCredentials",
    "vmi.network.dns": "dnsPolicy dnsConfig",
    "vmi.domain.security": "domain.launchSecurity",
    "vmi.grace": "domain.devices.gpus domain.devices.hostDevices",
    "vmi.domain.devices": "domain.devices.gpus domain.devices.hostDevices domain.devices.sound"
    " domain.devices.autoattachVSOCK domain.devices.disks.[].lun domain.devices.tpm domain.firmware.bootloader.efi"
    " domain.devices.downwardMetrics domain.devices.filesystems domain.devices.video domain.devices.panicDevices",
    "vmi.accounts": "serviceAccountName",
    "vmi.domain.hyperv": "domain.features.hyperv",
    "liveupdate": "domain.memory.maxGuest",
}


#: Concerns that only what makes VMs or VMIs by the number has.
_OF_SETS = frozenset({"pool"})
_SETS = ("VirtualMachinePool", "VirtualMachineInstanceReplicaSet")


def _not_imported(_subject: Subject) -> tuple[Cause, ...]:
    """What a concern that few VMs have is asked as long as none has it."""
    return ()


def _stand_in(concern: str) -> Check:
    first, *others = (tuple(place.split(".")) for place in RARE[concern].split())
    return Check(concern, _not_imported, where=first, also=tuple(others))


@cache
def _checks(
    kind: str, release: Version, concerns: tuple[str, ...]
) -> Callable[[Tree], tuple[Check, ...]]:
    """The checks of *concerns* that *release* asks of an object of *kind*, given its VMI spec."""
    checks: list[Check] = []
    for concern in concerns:
        if concern in _OF_SETS and kind not in _SETS:
            continue
        if concern in RARE and concerns != (concern,):
            checks.append(_stand_in(concern))
            continue
        rows = in_force(import_module(f"render.admission.{concern}").CHECKS, release)
        checks += (check for check in rows if not check.only or kind in check.only)
    return selection(checks)


MOST_CAUSES = 1_000
"""Of one object: KubeVirt has one for each pair of disks that are called alike, and nobody reads more."""


def causes(subject: Subject, concerns: tuple[str, ...] = CONCERNS) -> Iterator[tuple[Check, Cause]]:
    """Why schema and webhooks refuse *subject*: each cause, with the check of *concerns* that yields it.

    No more than `MOST_CAUSES` are looked for.
    """
    return islice(_causes(subject, concerns), MOST_CAUSES)


def _causes(subject: Subject, concerns: tuple[str, ...]) -> Iterator[tuple[Check, Cause]]:
    for check in _checks(subject.kind, subject.release, concerns)(subject.spec):
        if check.evaluate is _not_imported:
            yield from _causes(subject, (check.name,))
            continue
        for cause in check.evaluate(subject):
            yield check, cause
