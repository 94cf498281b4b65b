"""Host name and subdomain (upstream: admitters/vmi-create-admitter.go)."""

from collections.abc import Callable, Collection

from render.admission.checks import Check, FieldValue, Subject, judged
from render.diagnostics.fix import Fix, set_to
from render.model.apimachinery.dns1123 import as_label, label_faults, subdomain_faults
from render.model.fieldpath import FieldPath


def _conforming(
    field: str, rules: str, faults_of: Callable[[str], Collection[str]]
) -> Callable[[Subject, FieldValue], str]:
    """What judges a *field* that has to keep to the *rules* of which *faults_of* knows; an empty one counts as none."""

    def judge(subject: Subject, at: FieldValue) -> str:
        faults = faults_of(at.value) if at.value else ()
        if not faults:
            return ""
        return f"{subject.text(field)} does not conform to the kubernetes {rules} rules : {', '.join(faults)}"

    return judge


def _as_label(path: FieldPath, value: str) -> tuple[Fix, ...]:
    """The fix that writes *value* as a DNS label; it is safe where only the case differs: host names have none."""
    label = as_label(value)
    return (
        (Fix(f"write {label}", (set_to(path, label),), safe=label == value.lower()),)
        if label
        else ()
    )


CHECKS: tuple[Check, ...] = (
    judged(
        "names/hostname",
        ("hostname",),
        _conforming("hostname", "DNS_LABEL", label_faults),
        help="use lower case letters, digits and '-', at most 63 of them, no dot",
        mend=_as_label,
    ),
    judged(
        "names/subdomain",
        ("subdomain",),
        _conforming("subdomain", "DNS_SUBDOMAIN", subdomain_faults),
        help="use lower case letters, digits, '-' and '.', at most 253 of them",
    ),
)
