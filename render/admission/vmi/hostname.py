"""Host name and subdomain (upstream: admitters/vmi-create-admitter.go)."""

from render.admission.checks import Check, FieldValue, Subject, judged
from render.diagnostics.fix import Fix, set_to
from render.model.apimachinery.dns1123 import as_label, label_faults, subdomain_faults
from render.model.fieldpath import FieldPath


def _hostname(subject: Subject, at: FieldValue) -> str:
    faults = label_faults(at.value) if at.value else ()
    if not faults:
        return ""
    field = subject.text("hostname")
    return f"{field} does not conform to the kubernetes DNS_LABEL rules : {', '.join(faults)}"


def _as_label(path: FieldPath, value: str) -> tuple[Fix, ...]:
    """The fix that writes *value* as a DNS label; it is safe where only the case differs: host names have none."""
    label = as_label(value)
    return (
        (Fix(f"write {label}", (set_to(path, label),), safe=label == value.lower()),)
        if label
        else ()
    )


def _subdomain(subject: Subject, at: FieldValue) -> str:
    faults = subdomain_faults(at.value) if at.value else ()
    if not faults:
        return ""
    field = subject.text("subdomain")
    return f"{field} does not conform to the kubernetes DNS_SUBDOMAIN rules : {', '.join(faults)}"


CHECKS: tuple[Check, ...] = (
    judged(
        "names/hostname",
        ("hostname",),
        _hostname,
        help="use lower case letters, digits and '-', at most 63 of them, no dot",
        mend=_as_label,
    ),
    judged(
        "names/subdomain",
        ("subdomain",),
        _subdomain,
        help="use lower case letters, digits, '-' and '.', at most 253 of them",
    ),
)
