"""VMs whose annotations have a sync apply them in another way than before: as a hook, by force, once, or never."""

from collections import Counter
from collections.abc import Mapping

from render.diff.sync_annotations import ORDERS
from render.frontends.commands.compare.states import Side
from render.model.hints import Any
from render.model.resource import MACHINES, ResourceRef, from_body, text_at
from render.model.tree import get


def changed_orders(before: Side, after: Side) -> Counter[str]:
    """The VMs that say otherwise *after* how a sync applies them, if at all, by what says so."""
    old, new = _orders(before), _orders(after)
    return Counter(
        f"VM with another {key}"
        for machine, orders in new.items()
        for key in ORDERS
        if orders.get(key) != old.get(machine, {}).get(key)
    )


def _orders(side: Side) -> dict[tuple[str, ResourceRef], Mapping[str, Any]]:
    """What the VMs of *side* say of how they are applied, by input."""
    found: dict[tuple[str, ResourceRef], Mapping[str, Any]] = {}
    for name, state in side.items():
        for body in state.objects:
            annotations = get(body, "metadata", "annotations")
            if text_at(body, "kind") in MACHINES and isinstance(annotations, dict):
                found[name, from_body(body, 0).ref] = annotations
    return found
