"""What a module of checks says of a VMI spec."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from render.admission.checks import Check, Subject
from render.admission.selection import selection
from render.model import fieldpath
from render.model.cluster_config import ClusterConfig
from render.model.release import Windowed, in_force, version

Json = dict[str, Any]
Rows = Iterable[Check | Windowed[Check]]


class Refusal(NamedTuple):
    """A cause: the name of the check, the field that is reported, and the text."""

    check: str
    field: str
    message: str


def subject_of(spec: Json, *, release: str = "1.9.0", **more: Any) -> Subject:
    """A VMI with that *spec*; *more* is what else its `Subject` has."""
    known = Subject(
        kind="VirtualMachineInstance",
        spec={"domain": {}, **spec},
        metadata={},
        root=("spec",),
        config=ClusterConfig(),
        release=version(release),
        vm={},
        vm_root=(),
        namespace="default",
    )
    return known._replace(**more)


def refusals(checks: Rows, spec: Json, **more: Any) -> list[Refusal]:
    """What *checks* say of a VMI with that *spec*, in their order; *more* as for `subject_of`."""
    subject = subject_of(spec, **more)
    known = in_force(checks, subject.release)
    requested = selection(
        (check for check in known if not check.only or subject.kind in check.only), tuple
    )
    return [
        Refusal(cause.check, fieldpath.text(cause.path), cause.message)
        for check in requested(subject.spec)
        for cause in map(check.named, check.evaluate(subject))
    ]


def names(checks: Rows, spec: Json, **more: Any) -> list[str]:
    """The names of the checks that refuse a VMI with that *spec*."""
    return [refusal.check for refusal in refusals(checks, spec, **more)]
