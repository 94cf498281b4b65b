"""Launch security.

Upstream: validateLaunchSecurity in vmi-create-admitter.go, pkg/virt-api/webhooks/amd64.go, s390x.go.
"""

from collections.abc import Iterator
from functools import partial

from render.admission.checks import Check, Subject, Violation, needs_gate
from render.diagnostics.cause import Cause
from render.model.release import Windowed, since, until
from render.model.tree import Tree

_SECURITY = ("domain", "launchSecurity")
_REPORTED = ("launchSecurity",)
_SEV_GATE, _TDX_GATE = "WorkloadEncryptionSEV", "WorkloadEncryptionTDX"
#: kind -> KubeVirt's word for it, and the gate that it needs.
_KINDS = {
    "sev": ("SEV", _SEV_GATE),
    "snp": ("SNP", _SEV_GATE),
    "tdx": ("TDX", _TDX_GATE),
}
_ARCHITECTURES = ("amd64", "s390x")


def _cause(subject: Subject, rule: str, message: str, cure: str, *place: str | int) -> Cause:
    return Cause(
        f"security/{rule}",
        subject.at(*_REPORTED),
        message,
        cure,
        place=subject.at(*(place or _SECURITY)),
    )


def _architecture(subject: Subject) -> Iterator[Violation]:
    architecture = subject.spec.get("architecture", "")
    if architecture not in _ARCHITECTURES:
        yield Violation(
            subject.at("architecture"),
            f"No launchSecurity support for architecture: {architecture}",
            "drop launchSecurity, or run the VM on amd64 or s390x",
            place=subject.at(*_SECURITY),
        )


def _kinds(subject: Subject) -> list[str]:
    """The kinds of launch security that a VM of amd64 asks for; none of another architecture."""
    if subject.spec.get("architecture") != "amd64":
        return []
    security = subject.get(*_SECURITY)
    return [kind for kind in _KINDS if security.get(kind) is not None]


def _one_kind(subject: Subject) -> Iterator[Cause]:
    if subject.spec.get("architecture") == "amd64" and len(_kinds(subject)) != 1:
        yield _cause(
            subject,
            "one-kind",
            "One and only one launchSecurity type can be set",
            f"write one of {', '.join(_KINDS)}",
        )


def _gate(gate: str, subject: Subject) -> Iterator[Cause]:
    kinds = _kinds(subject)
    if len(kinds) == 1 and _KINDS[kinds[0]][1] == gate and not subject.has_gate(gate):
        yield _cause(
            subject,
            f"{gate.removeprefix('WorkloadEncryption').lower()}-gate",
            f"{gate} feature gate is not enabled in kubevirt-config",
            f"enable the feature gate {gate} in the KubeVirt CR, or drop launchSecurity",
            *_SECURITY,
            kinds[0],
        )


def _needs_if_gate_is_on(subject: Subject) -> Iterator[Cause]:
    kinds = _kinds(subject)
    if len(kinds) == 1 and subject.has_gate(_KINDS[kinds[0]][1]):
        yield from _needs_of_kind(subject, kinds[0])


def _needs_of_kind(subject: Subject, kind: str) -> Iterator[Cause]:
    """What one *kind* wants of the rest of the VM."""
    word = _KINDS[kind][0]
    smm = subject.get("domain", "features", "smm")
    if kind == "tdx" and smm is not None and smm.get("enabled") is not False:
        yield _cause(
            subject,
            "smm",
            "TDX does not work along with SMM",
            "drop features.smm",
            *("domain", "features", "smm"),
        )
    yield from _firmware(subject, kind, word)
    if kind == "sev":
        yield from _attestation(subject)
    yield from _boot_interfaces(subject, word)


def _firmware(subject: Subject, kind: str, word: str) -> Iterator[Cause]:
    loader = ("domain", "firmware", "bootloader", "efi")
    efi: Tree | None = subject.get(*loader)
    if efi is None:
        yield _cause(
            subject,
            "efi",
            f"{word} requires OVMF (UEFI)",
            "add domain.firmware.bootloader.efi",
        )
        return
    if kind != "tdx" and efi.get("secureBoot") is not False:
        yield _cause(
            subject,
            "secure-boot",
            f"{word} does not work along with SecureBoot",
            "set secureBoot: false of efi",
            *loader,
        )
    if kind != "sev" and efi.get("persistent"):
        yield _cause(
            subject,
            "persistent-efi",
            f"{word} does not work along with Persistent EFI variables",
            "drop persistent of efi",
            *(*loader, "persistent"),
        )


def _attestation(subject: Subject) -> Iterator[Cause]:
    is_paused = subject.spec.get("startStrategy") == "Paused"
    if subject.get(*_SECURITY, "sev", "attestation") is not None and not is_paused:
        yield _cause(
            subject,
            "attestation",
            "SEV attestation requires VMI StartStrategy 'Paused'",
            "set startStrategy: Paused",
            *(*_SECURITY, "sev", "attestation"),
        )


def _boot_interfaces(subject: Subject, word: str) -> Iterator[Cause]:
    for index, interface in enumerate(subject.get("domain", "devices", "interfaces") or ()):
        if interface.get("bootOrder") is not None:
            yield _cause(
                subject,
                "boot-interface",
                f"{word} does not work with bootable NICs: {interface.get('name', '')}",
                "drop the bootOrder of the interface",
                *("domain", "devices", "interfaces", index, "bootOrder"),
            )


def _sev_before_1_7(subject: Subject) -> Iterator[Cause]:
    """SEV before 1.7, of any architecture."""
    sev = subject.get(*_SECURITY, "sev")
    if subject.has_gate(_SEV_GATE) and sev is not None:
        yield from _firmware(subject, "sev", "SEV")
        yield from _attestation(subject)
        yield from _boot_interfaces(subject, "SEV")


def _s390x(subject: Subject) -> Iterator[Cause]:
    if subject.spec.get("architecture") == "s390x" and not subject.has_gate("SecureExecution"):
        yield _cause(
            subject,
            "execution-gate",
            "SecureExecution feature gate is not enabled in kubevirt-config",
            "enable the feature gate SecureExecution in the KubeVirt CR, or drop launchSecurity",
        )


_MESSAGE = f"{_SEV_GATE} feature gate is not enabled in kubevirt-config"
CHECKS: tuple[Check | Windowed[Check], ...] = (
    since("1.7", Check("security/architecture", _architecture, where=_SECURITY)),
    since(
        "1.6",
        until("1.9", Check("security/execution-gate", _s390x, "gate SecureExecution", _SECURITY)),
    ),
    until(
        "1.6",
        needs_gate("security/sev-gate", _SECURITY, _SEV_GATE, _MESSAGE, reported_path=_REPORTED),
    ),
    since(
        "1.6",
        until(
            "1.7",
            needs_gate(
                "security/sev-gate",
                (*_SECURITY, "sev"),
                _SEV_GATE,
                _MESSAGE,
                reported_path=_REPORTED,
            ),
        ),
    ),
    until("1.7", Check("security", _sev_before_1_7, where=_SECURITY)),
    since("1.7", Check("security/one-kind", _one_kind, where=_SECURITY)),
    since(
        "1.7",
        Check("security/sev-gate", partial(_gate, _SEV_GATE), f"gate {_SEV_GATE}", _SECURITY),
    ),
    since(
        "1.7",
        Check("security/tdx-gate", partial(_gate, _TDX_GATE), f"gate {_TDX_GATE}", _SECURITY),
    ),
    since("1.7", Check("security", _needs_if_gate_is_on, where=_SECURITY)),
)
