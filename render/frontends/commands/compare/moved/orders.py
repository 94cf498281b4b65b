"""VMs whose metadata has a sync apply them in another way than before, or has the cluster delete them.

Annotations do the former: as a hook, by force, once, or never. An object all of whose owners are unknown to the API
server is deleted by its garbage collector (Kubernetes' pkg/controller/garbagecollector/garbagecollector.go).
"""

from collections import Counter
from collections.abc import Mapping

from render.diff.sync_annotations import ORDERS
from render.frontends.commands.compare.states import Side
from render.model.hints import Any
from render.model.resource import MACHINES, ResourceRef, from_body, text_at

_OWNERS = "ownerReferences"


def changed_orders(before: Side, after: Side) -> Counter[str]:
    """The VMs that say otherwise *after* how a sync applies them, if at all, or who owns them, by what says so."""
    old, new = _orders(before), _orders(after)
    return Counter(
        f"VM with other {key}" if key == _OWNERS else f"VM with another {key}"
        for machine, orders in new.items()
        for key in (*ORDERS, _OWNERS)
        if orders.get(key) != old.get(machine, {}).get(key)
    )


def _orders(side: Side) -> dict[tuple[str, ResourceRef], Mapping[str, Any]]:
    """What the VMs of *side* say of how they are applied, and of their owners, by input."""
    found: dict[tuple[str, ResourceRef], Mapping[str, Any]] = {}
    for name, state in side.items():
        for body in state.objects:
            metadata = body.get("metadata")
            if text_at(body, "kind") in MACHINES and isinstance(metadata, dict):
                annotations = metadata.get("annotations")
                said = annotations if isinstance(annotations, dict) else {}
                owners = metadata.get(_OWNERS)
                found[name, from_body(body, 0).ref] = {**said, _OWNERS: owners} if owners else said
    return found
