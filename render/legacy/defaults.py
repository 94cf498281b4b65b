"""The defaults of kubevirt.io/v1alpha1 (upstream at v0.6: pkg/api/v1/defaults.go)."""

from render.defaults import objects
from render.legacy.machines import firmware_uuid
from render.model import tree
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.resource import TEMPLATE
from render.model.tree import Tree

_DOMAIN: FieldPath = ("spec", "domain")
_REQUESTS: FieldPath = (*_DOMAIN, "resources", "requests")
_MEMORY = "8Mi"


def with_memory(vm: Tree) -> Tree:
    """*vm*, of the store, with the memory that it got in its time if nobody gave it any."""
    domain = tree.get(vm, *TEMPLATE, *_DOMAIN) or {}
    amounts = (tree.get(domain, "resources", key, "memory") for key in ("requests", "limits"))
    if domain.get("memory") is not None or any(amounts):
        return vm
    draft = Draft(vm)
    draft.put((*TEMPLATE, *_REQUESTS, "memory"), _MEMORY)
    return draft.tree


def with_defaults(vmi: Tree, name: str) -> Tree:
    """*vmi*, called *name*, which was a VM of kubevirt.io/v1alpha1, with the defaults of its time."""
    draft = Draft(vmi)
    if "memory" not in (draft.get(*_REQUESTS) or {}):
        # QUIRK(pkg/api/v1/defaults.go at v0.6): other requests are lost.
        draft.put(_REQUESTS, {"memory": _MEMORY})
    if not draft.get(*_DOMAIN, "firmware", "uuid"):
        draft.put((*_DOMAIN, "firmware", "uuid"), firmware_uuid(name))
    if not draft.get(*_DOMAIN, "machine", "type"):
        draft.put((*_DOMAIN, "machine", "type"), "q35")
    objects.fill(draft)
    return draft.tree
