"""The service account of the launcher pod (upstream: validateServiceAccountName in vmi-create-admitter.go)."""

from collections.abc import Iterator

from render.admission.checks import Check, FieldValue, Subject, Violation, judged
from render.model.apimachinery.dns1123 import subdomain_faults
from render.model.apimachinery.go import quoted
from render.model.release import Windowed, since

_NAME = ("serviceAccountName",)


def _fault(subject: Subject, at: FieldValue) -> str:
    faults = subdomain_faults(at.value) if at.value else ()
    if not faults:
        return ""
    return f"{subject.text(*at.path)} is not a valid service account name: {'; '.join(faults)}"


def _differs(subject: Subject) -> Iterator[Violation]:
    name = subject.spec["serviceAccountName"]
    for index, volume in enumerate(subject.spec.get("volumes") or ()):
        source = volume.get("serviceAccount")
        other = source.get("serviceAccountName", "") if source is not None else name
        if name and other != name:
            yield Violation(
                subject.at(*_NAME),
                f"spec.serviceAccountName {quoted(name)} and serviceAccount volume {quoted(other)} must reference the "
                "same service account",
                "name one account in both places",
                place=subject.at("volumes", index, "serviceAccount", "serviceAccountName"),
            )
            return


CHECKS: tuple[Check | Windowed[Check], ...] = (
    since(
        "1.9",
        judged("accounts/name", _NAME, _fault, help="use a-z, 0-9, hyphens and dots inside"),
    ),
    since("1.9", Check("accounts/differs", _differs, where=_NAME)),
)
