"""Lists of objects (``kind: List``, ``VirtualMachineList``...), taken apart."""

from collections.abc import Iterator

from render.model.hints import Any
from render.model.tree import Tree

Route = tuple[int, ...]
"""The way through ``items`` to an object, list within list."""


def is_list(body: Tree) -> bool:
    """Whether kubectl and Argo CD apply what is in *body* in its place: a List of any kind.

    Besides, they take apart whatever has ``items``, a ConfigMap too (unstructured/helpers.go of apimachinery); we do
    where any of these says that it is an object. The message of a KRM function is none: it is taken apart elsewhere.
    """
    kind = body.get("kind")
    if not isinstance(kind, str):
        return False
    if kind == "ResourceList" and str(body.get("apiVersion")).startswith("config.kubernetes.io/"):
        return False
    items = body.get("items", False)
    if not kind.endswith("List"):
        return isinstance(items, list) and any(_is_object(item) for item in items)
    return isinstance(items, list) or (items is None and not {"spec", "status"} & body.keys())


def _is_object(item: Any) -> bool:
    return isinstance(item, dict) and all(
        isinstance(item.get(key), str) for key in ("apiVersion", "kind")
    )


def items(body: Tree, route: Route = ()) -> Iterator[tuple[Route, Any]]:
    """What the list *body*, itself at *route*, holds, lists in it taken apart; not everything need be an object."""
    for index, item in enumerate(body["items"] or ()):
        here = (*route, index)
        if not isinstance(item, dict):
            yield here, item
            continue
        # As the API server's list types do: their items may leave out what the list says.
        kind = body["kind"].removesuffix("List")
        if kind and "kind" not in item and "apiVersion" not in item:
            item = {"apiVersion": body.get("apiVersion"), "kind": kind, **item}  # noqa: PLW2901
        if is_list(item):
            yield from items(item, here)
        else:
            yield here, item
