"""Host name and subdomain (upstream: admitters/vmi-create-admitter.go)."""

from render.admission.checks import Check, FieldValue, Subject, judged
from render.model.apimachinery.dns1123 import label_faults, subdomain_faults


def _hostname(subject: Subject, at: FieldValue) -> str:
    faults = label_faults(at.value) if at.value else ()
    if not faults:
        return ""
    field = subject.text("hostname")
    return f"{field} does not conform to the kubernetes DNS_LABEL rules : {', '.join(faults)}"


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
    ),
    judged(
        "names/subdomain",
        ("subdomain",),
        _subdomain,
        help="use lower case letters, digits, '-' and '.', at most 253 of them",
    ),
)
