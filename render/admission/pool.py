"""What pools and replica sets say around the VMs or VMIs that they make.

Upstream: pkg/virt-api/webhooks/validating-webhook/admitters/vmpool-admitter.go, vmirs-admitter.go.
"""

import re
from collections.abc import Iterator

from render.admission.checks import Check, Subject
from render.diagnostics.cause import Cause
from render.model import tree
from render.model.apimachinery import go
from render.model.apimachinery.selectors import SelectorError, selects

_STRATEGIES = ("unmanaged", "opportunistic", "proactive")
_POOL = ("VirtualMachinePool",)
_SETS = (*_POOL, "VirtualMachineInstanceReplicaSet")
_INT64 = 2**63
_PERCENT = 100
_is_integer = re.compile(r"[+-]?[0-9]+").fullmatch


def _selector(subject: Subject) -> Iterator[Cause]:
    owner = subject.owner
    template = owner.get("virtualMachineTemplate") or owner.get("template")
    labels = tree.get(template, "metadata", "labels") or {}
    selector = owner.get("selector")
    place = ("spec", "selector")
    try:
        # No selector at all selects nothing, an empty one everything.
        if selector is None or not selects(selector, labels):
            help_text = "give the template the labels that the selector asks for"
            yield Cause("pool/selector", place, "selector does not match labels.", help_text)
    except SelectorError as error:
        yield Cause("pool/selector", place, str(error), "see the rules of Kubernetes' labels")


def _unavailable(subject: Subject) -> Iterator[Cause]:
    fault = _fault(subject.owner.get("maxUnavailable"))
    if fault:
        help_text = "write a number above 0, or a percentage from 1% to 100%"
        yield Cause("pool/max-unavailable", ("spec", "maxUnavailable"), fault, help_text)


def _fault(value: object) -> str:
    """Why *value* is no number of VMs that may be away."""
    if isinstance(value, int):
        return "" if value > 0 else "maxUnavailable must be greater than 0"
    if not isinstance(value, str):
        return ""
    if not value.endswith("%"):
        return "maxUnavailable percentage must end with %"
    number = value.removesuffix("%")
    if not _is_integer(number) or not -_INT64 <= int(number) < _INT64:
        wrong = "value out of range" if _is_integer(number) else "invalid syntax"
        shown = go.quoted(number)
        return f"maxUnavailable percentage value {shown} is invalid: strconv.Atoi: parsing {shown}: {wrong}"
    if not 0 < int(number) <= _PERCENT:
        return f"maxUnavailable percentage value {int(number)} must be between 1 and 100"
    return ""


def _strategies(subject: Subject) -> Iterator[Cause]:
    for key in ("updateStrategy", "scaleInStrategy"):
        strategy = subject.owner.get(key) or {}
        named = [name for name in _STRATEGIES if strategy.get(name) is not None]
        if len(named) > 1:
            # KubeVirt prints the names in random order.
            shown = ", ".join(named)
            text = f"only one strategy can be configured at a time: but found {shown} strategies"
            yield Cause("pool/one-strategy", ("spec", key), text, "keep one of them")


CHECKS = (
    Check("pool/selector", _selector, only=_SETS),
    Check("pool/max-unavailable", _unavailable, only=_POOL),
    Check("pool/one-strategy", _strategies, only=_POOL),
)
