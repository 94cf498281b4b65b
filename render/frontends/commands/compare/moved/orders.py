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
from render.model.tree import Tree

_OWNERS = "ownerReferences"
#: What in an object's metadata decides how it is applied, or whether it lasts.
ORDERS_OF_METADATA = (*ORDERS, _OWNERS)


def changed_orders(before: Side, after: Side) -> Counter[str]:
    """The VMs that say otherwise *after* how a sync applies them, if at all, or who owns them, by what says so."""
    old, new = _orders(before), _orders(after)
    return Counter(
        f"VM with other {key}"
        for machine, orders in new.items()
        for key in ORDERS_OF_METADATA
        if orders.get(key) != old.get(machine, {}).get(key)
    )


def said_of(body: Tree) -> Mapping[str, Any]:
    """What the metadata of the object *body* says of that: its annotations, and its owners."""
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        return {}
    annotations, owners = metadata.get("annotations"), metadata.get(_OWNERS)
    orders = annotations if isinstance(annotations, dict) else {}
    return {**orders, _OWNERS: owners} if owners else orders


def _orders(side: Side) -> dict[tuple[str, ResourceRef], Mapping[str, Any]]:
    """What the VMs of *side* say of how they are applied, and of their owners, by input."""
    return {
        (name, from_body(body, 0).ref): said_of(body)
        for name, state in side.items()
        for body in state.objects
        if text_at(body, "kind") in MACHINES
    }
