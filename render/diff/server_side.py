"""What a server-side apply refuses that one by the client does not: a null, and a field that the schema has not.

Upstream: structured-merge-diff typed/typed.go, and the schemas of CRDs, which a null of such an apply reaches.
"""

from collections.abc import Iterable

from render.diagnostics.codes import CONTENT_DROPPED, UNKNOWN_FIELD
from render.diagnostics.diagnostic import Diagnostic, Severity, without_known
from render.diff.impact import Impact, MachineImpact
from render.model.resource import ResourceRef

_NULL = " is null: "
#: What is said of a null of which nobody knows how it is applied; and where that is known.
_EITHER_WAY, _REFUSED = "leaves the field out, but refuses it", "refuses it"
#: Of whom nothing is applied, or nothing changes.
_UNAPPLIED = frozenset({"gone", "same", "refused", "unrenderable"})


def told(diagnostics: Iterable[Diagnostic], users: Iterable[str]) -> list[Diagnostic]:
    """*diagnostics* of what all its *users* apply server-side as it is written: a null is an error there."""
    names = ", ".join(sorted(users))
    found = []
    for each in diagnostics:
        if _is_null(each):
            text = f"{each.message.replace(_EITHER_WAY, _REFUSED)}, as {names} applies it"
            found.append(each._replace(severity=Severity.ERROR, message=text))
        else:
            found.append(each)
    return found


def refused(impact: Impact) -> Impact:
    """*impact* where the applies are known to be server-side: the VMs that are refused for what the edit has anew."""
    reasons: dict[ResourceRef | None, tuple[str, ...]] = {}
    for diagnostic in without_known(impact.after, impact.before):
        if _is_refused(diagnostic):
            known = reasons.get(diagnostic.resource, ())
            reason = diagnostic.message.replace(_EITHER_WAY, _REFUSED)
            reasons[diagnostic.resource] = (*known, reason)
    if not reasons:
        return impact
    return impact._replace(
        machines=tuple(
            _refused(machine, reasons.get(machine.resource, ())) for machine in impact.machines
        )
    )


def _is_refused(diagnostic: Diagnostic) -> bool:
    return _is_null(diagnostic) or diagnostic.code == UNKNOWN_FIELD.number


def _is_null(diagnostic: Diagnostic) -> bool:
    return diagnostic.code == CONTENT_DROPPED.number and _NULL in diagnostic.message


def _refused(machine: MachineImpact, reasons: tuple[str, ...]) -> MachineImpact:
    """What becomes of *machine* for these *reasons*, if there are any."""
    if not reasons or not _UNAPPLIED.isdisjoint(machine.effects):
        return machine
    effects = ("refused", "new") if "new" in machine.effects else ("refused",)
    return MachineImpact(machine.resource, effects, reasons, source=machine.source)
