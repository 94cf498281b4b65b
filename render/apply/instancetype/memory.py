"""Memory of an instancetype (upstream: pkg/instancetype/apply/memory.go)."""

from collections.abc import Iterable
from functools import partial

from render.model import tree
from render.model.apimachinery import quantity
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.release import since, until
from render.model.tree import Tree
from render.rules import Conflict, Edit, Result, Rule, Rules, custom, spec

#: (field of the VMI, field of the instancetype that claims it), in upstream's order.
_CLAIMED = (
    (spec("domain", "memory", "guest"), ("memory", "guest")),
    (spec("domain", "memory", "hugepages"), ("memory", "hugepages")),
    (spec("domain", "memory", "maxGuest"), ("memory", "maxGuest")),
    (spec("domain", "resources", "requests", "memory"), ("memory", "guest")),
    (spec("domain", "resources", "limits", "memory"), ("memory", "guest")),
)
#: The same before memory was merged: any memory of the VM, even an empty one.
_CLAIMED_WHOLE = (
    (spec("domain", "memory"), ("memory", "guest")),
    *_CLAIMED[-2:],
)


def _single(value: float) -> float:
    """Round to IEEE binary32, as every step of Go's float32 arithmetic does."""
    import struct

    return float(struct.unpack("f", struct.pack("f", value))[0])


def overcommitted(guest: str, percent: int) -> str:
    """The memory request of a pod whose guest memory is overcommitted by *percent*.

    QUIRK(pkg/instancetype/apply/memory.go): float32 arithmetic, in the format of *guest*; edge case 15 of the recorded
    cases.
    """
    share = _single(1.0 - _single(percent / 100.0))
    request = int(_single(_single(float(quantity.value(guest))) * share))
    return quantity.from_int(request, quantity.format_of(guest))


def _claim(
    claimed: tuple[tuple[FieldPath, FieldPath], ...], definition: Tree, draft: Draft
) -> Iterable[Result]:
    domain = draft.get("spec", "domain") or {}
    if domain.get("memory") is not None or domain.get("resources"):
        for place, origin in claimed:
            if draft.get(*place) is not None and tree.get(definition, *origin) is not None:
                # Only the first memory conflict is reported upstream.
                return (Conflict(place, origin, place),)
    memory = definition.get("memory") or {}
    edits = [Edit(spec("domain", "memory", "guest"), memory.get("guest", "0"), ("memory", "guest"))]
    percent = memory.get("overcommitPercent") or 0
    if percent > 0:
        request = overcommitted(memory.get("guest", "0"), percent)
        edits.append(
            Edit(
                spec("domain", "resources", "requests", "memory"),
                request,
                ("memory", "overcommitPercent"),
            )
        )
    edits += (
        Edit(spec("domain", "memory", key), memory[key], ("memory", key))
        for key in ("hugepages", "maxGuest")
        if memory.get(key) is not None
    )
    return edits


def _rule(claimed: tuple[tuple[FieldPath, FieldPath], ...]) -> Rule:
    return custom(
        partial(_claim, claimed),
        reads=("memory.guest", "memory.overcommitPercent", "memory.hugepages", "memory.maxGuest"),
        writes=(
            "domain.memory.guest",
            "domain.resources.requests.memory",
            "domain.memory.hugepages",
            "domain.memory.maxGuest",
        ),
        always=True,
    )


RULES: Rules = (until("1.7", _rule(_CLAIMED_WHOLE)), since("1.7", _rule(_CLAIMED)))
