"""What pools and replica sets say around the VMs or VMIs that they make.

Upstream: pkg/virt-api/webhooks/validating-webhook/admitters/vmpool-admitter.go, vmirs-admitter.go;
pkg/virt-operator/resource/generate/components/validations_generated.go.
"""

from collections.abc import Iterator
from functools import partial

from render.admission.checks import Check, Subject, Violation
from render.model import fieldpath, tree
from render.model.apimachinery import go
from render.model.apimachinery.duration import DurationError, nanoseconds
from render.model.apimachinery.selectors import SelectorError, selects
from render.model.fieldpath import FieldPath
from render.model.release import Windowed, since
from render.model.resource import HOLDER_GROUPS, POOL

_STRATEGIES = ("unmanaged", "opportunistic", "proactive")
_PERCENT = 100


def _selector(subject: Subject) -> Iterator[Violation]:
    holder = subject.holder
    template = holder.get("virtualMachineTemplate") or holder.get("template")
    labels = tree.get(template, "metadata", "labels") or {}
    selector = holder.get("selector")
    place = ("spec", "selector")
    try:
        # No selector at all selects nothing, an empty one everything.
        if selector is None or not selects(selector, labels, subject.release):
            help_text = "give the template the labels that the selector asks for"
            yield Violation(place, "selector does not match labels.", help_text)
    except SelectorError as error:
        yield Violation(place, str(error), "see the rules of Kubernetes' labels")


def _unavailable(subject: Subject) -> Iterator[Violation]:
    fault = _fault(subject.holder.get("maxUnavailable"))
    if fault:
        help_text = "write a number above 0, or a percentage from 1% to 100%"
        yield Violation(("spec", "maxUnavailable"), fault, help_text)


def _fault(value: object) -> str:
    """Why *value* is no number of VMs that may be away."""
    if isinstance(value, int):
        return "" if value > 0 else "maxUnavailable must be greater than 0"
    if not isinstance(value, str):
        return ""
    if not value.endswith("%"):
        return "maxUnavailable percentage must end with %"
    number = value.removesuffix("%")
    amount = go.atoi(number)
    if isinstance(amount, str):
        literal = go.quoted(number)
        return f"maxUnavailable percentage value {literal} is invalid: strconv.Atoi: parsing {literal}: {amount}"
    if not 0 < amount <= _PERCENT:
        return f"maxUnavailable percentage value {amount} must be between 1 and 100"
    return ""


def _strategies(subject: Subject) -> Iterator[Violation]:
    for key in ("updateStrategy", "scaleInStrategy"):
        strategy = subject.holder.get(key) or {}
        named = [name for name in _STRATEGIES if strategy.get(name) is not None]
        if len(named) > 1:
            # KubeVirt prints the names in random order.
            listing = ", ".join(named)
            text = f"only one strategy can be configured at a time: but found {listing} strategies"
            yield Violation(("spec", key), text, "keep one of them")


def _least(place: FieldPath, least: int, subject: Subject) -> Iterator[Violation]:
    """A number below what the CRD asks for."""
    value = tree.get(subject.holder, *place)
    if isinstance(value, int) and value < least:
        field = fieldpath.text(("spec", *place))
        text = f"{field}: Invalid value: {value}: {field} in body should be greater than or equal to {least}"
        yield Violation(("spec", *place), text, f"write {least} or more")


def _duration(subject: Subject) -> Iterator[Violation]:
    place = ("autohealing", "minFailingToStartDuration")
    value = tree.get(subject.holder, *place)
    try:
        if value is not None:
            nanoseconds(value)
    except DurationError as error:
        yield Violation(("spec", *place), str(error), "write it like 5m or 1h30m")


CHECKS: tuple[Check | Windowed[Check], ...] = (
    since("1.7", Check("pool/minimum", partial(_least, ("replicas",), 0), only=(POOL,))),
    Check(
        "pool/minimum", partial(_least, ("autohealing", "startUpFailureThreshold"), 1), only=(POOL,)
    ),
    Check("pool/duration", _duration, only=(POOL,)),
    Check("pool/selector", _selector, only=tuple(HOLDER_GROUPS)),
    Check("pool/max-unavailable", _unavailable, only=(POOL,)),
    Check("pool/one-strategy", _strategies, only=(POOL,)),
)
