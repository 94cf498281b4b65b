"""Which checks are asked of an object, and in which order.

Upstream: pkg/virt-api/webhooks/validating-webhook/admitters/ (vms-admitter.go, vmi-create-admitter.go,
vmpool-admitter.go, vmirs-admitter.go).
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice

from render.admission.checks import Check, Subject
from render.admission.selection import selection
from render.diagnostics.cause import Cause
from render.model import packaged
from render.model.fieldpath import FieldPath
from render.model.hints import Literal
from render.model.named_tuple import NamedTuple
from render.model.release import Version, in_force
from render.model.resource import HOLDER_GROUPS
from render.model.tree import Tree

Again = Literal["never", "filled", "always"]
"""Whether the VMI of a VM that has passed is asked again: it can fail what nobody asks of a VM, or its defaults.

``filled``: where its defaults, or its own rules, have a say in what it holds.
"""
CheckScope = Literal["all", "schema", "started", "unchanged"]
"""Which concerns are asked: all, the schema's, those of a VMI whose VM has passed, or of one just like its VM."""


class Concern(NamedTuple):
    """A module of checks, by its name below `render.admission`.

    *places*: below the VMI spec, divided by blanks; a concern that has some looks nowhere else, and is imported with
    the first object that has a field there. *only*: of which kinds of objects it is asked, all if empty.
    """

    name: str
    places: str = ""
    again: Again = "never"
    only: tuple[str, ...] = ()


#: In upstream's order.
CONCERNS = (
    Concern("schema"),
    Concern(
        "vmi.network.discontinued",
        places="domain.devices.interfaces.[].slirp domain.devices.interfaces.[].macvtap "
        "domain.devices.interfaces.[].passt",
    ),
    Concern("vmi.metadata"),
    Concern("vmi.hostname", places="hostname subdomain"),
    Concern("vmi.domain.memory"),
    Concern("vmi.domain.machine"),
    Concern("vmi.domain.acpi", places="domain.firmware.acpi"),
    Concern("vmi.domain.cpu"),
    Concern("vmi.startstrategy", places="startStrategy"),
    Concern("vmi.placement", places="affinity topologySpreadConstraints"),
    Concern("vmi.network.networks"),
    Concern("vmi.network.bindings"),
    Concern("vmi.network.connections"),
    Concern("vmi.network.interfaces"),
    Concern(
        "vmi.domain.claims", places="resourceClaims domain.devices.gpus domain.devices.hostDevices"
    ),
    Concern("vmi.storage.bootorder", again="filled"),
    Concern("vmi.domain.inputs", places="domain.devices.inputs"),
    Concern("vmi.domain.iothreads", places="domain.ioThreadsPolicy"),
    Concern("vmi.probes", places="readinessProbe livenessProbe"),
    Concern("vmi.storage.disks", again="filled"),
    Concern(
        "vmi.domain.firmware",
        places="domain.firmware.serial domain.firmware.bootloader domain.firmware.kernelBoot",
    ),
    Concern("vmi.storage.volumes"),
    Concern(
        "vmi.storage.cloudinit",
        places="volumes.[].cloudInitNoCloud volumes.[].cloudInitConfigDrive",
    ),
    Concern("vmi.credentials", places="accessCredentials"),
    Concern("vmi.network.dns", places="dnsPolicy dnsConfig"),
    Concern("vmi.eviction"),
    Concern("vmi.domain.security", places="domain.launchSecurity"),
    Concern("vmi.grace", places="domain.devices.gpus domain.devices.hostDevices"),
    Concern(
        "vmi.domain.devices",
        places="domain.devices.gpus domain.devices.hostDevices domain.devices.sound "
        "domain.devices.autoattachVSOCK domain.devices.disks.[].lun domain.devices.tpm "
        "domain.firmware.bootloader.efi domain.devices.downwardMetrics domain.devices.filesystems "
        "domain.devices.video domain.devices.panicDevices",
    ),
    Concern("vmi.platform"),
    Concern("vmi.accounts", places="serviceAccountName"),
    Concern("datavolumetemplates"),
    Concern("vm"),
    Concern("liveupdate", places="domain.memory.maxGuest"),
    Concern("vmi.start", again="always"),
    Concern("vmi.domain.hyperv", places="domain.features.hyperv", again="filled"),
    Concern("vmi.domain.architecture", again="filled"),
    Concern("pool", only=tuple(HOLDER_GROUPS)),
)


def _concerns(scope: CheckScope) -> tuple[Concern, ...]:
    match scope:
        case "all":
            return CONCERNS
        case "schema":
            return CONCERNS[:1]
        case "started":
            return tuple(concern for concern in CONCERNS if concern.again != "never")
        case "unchanged":
            return tuple(concern for concern in CONCERNS if concern.again == "always")


class _ApplicableChecks(NamedTuple):
    """The *checks* that an object gives reason to ask, and the concerns *to_import* before they can be asked."""

    checks: tuple[Check, ...]
    to_import: frozenset[str]


def _applicable_checks(checks: tuple[Check, ...]) -> _ApplicableChecks:
    to_import = frozenset(check.name for check in checks if check.evaluate is _not_imported)
    return _ApplicableChecks(checks, to_import)


def _not_imported(_subject: Subject) -> tuple[Cause, ...]:
    """Stands for the checks of a concern with places until an object has a field there."""
    return ()


def _at_places(concern: Concern, check: Check) -> Check:
    """*check* where *concern* looks."""
    first, *others = (tuple(place.split(".")) for place in concern.places.split())
    return check._replace(where=first, also=tuple(others))


@cache
def _checks(
    kind: str, release: Version, scope: CheckScope, imported: frozenset[str]
) -> Callable[[Tree], _ApplicableChecks]:
    """The checks of *scope* that *release* asks of an object of *kind*, given its VMI spec.

    Of a concern with places that is not *imported*, one check stands for all.
    """
    checks: list[Check] = []
    for concern in _concerns(scope):
        if concern.only and kind not in concern.only:
            continue
        if concern.places and concern.name not in imported:
            checks.append(_at_places(concern, Check(concern.name, _not_imported)))
            continue
        rows = in_force(packaged.module(f"render.admission.{concern.name}").CHECKS, release)
        its = (check for check in rows if not check.only or kind in check.only)
        checks += (
            _at_places(concern, check) if concern.places and not check.where else check
            for check in its
        )
    return selection(checks, _applicable_checks)


#: One set, of the concerns with places at which an object had a field.
_imported: list[frozenset[str]] = [frozenset()]


MOST_CAUSES = 1_000
"""Of one object: KubeVirt has one for each pair of disks that are called alike, and nobody reads more."""


def causes(subject: Subject, scope: CheckScope = "all") -> Iterator[tuple[Check, Cause]]:
    """Why schema and webhooks refuse *subject*: each cause, with the check of *scope* that yields it.

    No more than `MOST_CAUSES` are looked for.
    """
    return islice(_causes(subject, scope), MOST_CAUSES)


def refuses(subject: Subject, check: Check, name: str) -> bool:
    """Whether schema or webhooks refuse *subject* by the check of that *name*, which *check* yields in some release.

    In another release a row of that name may stand for it, or one of the whole concern; the others are not asked.
    """
    names = {check.name, name, name.partition("/")[0]}
    return any(
        row.named(found).check == name
        for row in _applicable(subject, "all")
        if row.name in names
        for found in islice(row.evaluate(subject), MOST_CAUSES)
    )


def _causes(subject: Subject, scope: CheckScope) -> Iterator[tuple[Check, Cause]]:
    for check in _applicable(subject, scope):
        for found in check.evaluate(subject):
            yield check, check.named(found)


def _applicable(subject: Subject, scope: CheckScope) -> tuple[Check, ...]:
    """The checks of *scope* that *subject* gives reason to ask; concerns that it is the first to need are imported."""
    while True:
        select = _checks(subject.kind, subject.release, scope, _imported[0])
        checks, to_import = select(subject.spec)
        if not to_import:
            return checks
        _imported[0] |= to_import


def words(release: Version) -> dict[FieldPath, tuple[str, ...]]:
    """All that a text field of a VMI spec may be in *release*, by its place, as far as checks say so."""
    known: dict[FieldPath, tuple[str, ...]] = {}
    for concern in CONCERNS:
        module = packaged.module(f"render.admission.{concern.name}")
        known |= getattr(module, "WORDS", {})
        for check in in_force(module.CHECKS, release):
            if check.words and check.where and check.where not in known:
                known[check.where] = check.words
    return known
