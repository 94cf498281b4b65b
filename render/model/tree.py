"""Plain JSON trees: the six verbs with which everything else reads and edits them.

Kubernetes objects stay ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool`` and ``None``, so
unknown fields and key order survive by construction. What Go calls the zero value is decided here
and nowhere else.
"""

from collections.abc import Iterator
from operator import is_

from render.model.fieldpath import FieldPath
from render.model.hints import Any

Tree = dict[str, Any]


def without_nulls(value: Any) -> Any:
    """*value* without the keys that are null, at any depth; itself where there are none."""
    if isinstance(value, dict):
        entries = {key: without_nulls(item) for key, item in value.items() if item is not None}
        is_same = len(entries) == len(value) and all(map(is_, entries.values(), value.values()))
        return value if is_same else entries
    if isinstance(value, list):
        items = [without_nulls(item) for item in value]
        return value if all(map(is_, items, value)) else items
    return value


def leaves(tree: Any) -> Iterator[str]:
    """The texts in *tree*, at any depth; no keys."""
    pending = [tree]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            pending += value.values() if isinstance(value, dict) else value


def get(tree: Any, *path: str | int) -> Any:
    """The value at *path*, or None where any step is missing."""
    for step in path:
        if tree is None:
            return None
        try:  # nearly all are mappings, and this runs a hundred times a VM
            tree = tree.get(step)
        except AttributeError:
            if not (isinstance(tree, list) and isinstance(step, int)):
                return None
            if not -len(tree) <= step < len(tree):
                return None
            tree = tree[step]
    return tree


def put(tree: Tree, path: FieldPath, value: Any) -> None:
    """Set *value* at *path*, creating the mappings on the way; lists must exist already."""
    node: Any = tree
    for step in path[:-1]:
        child = node.get(step) if isinstance(step, str) else node[step]
        if child is None:
            child = node[step] = {}
        node = child
    node[path[-1]] = value


def remove(tree: Tree, *path: str | int) -> None:
    """Drop the key at *path*; nothing happens where it is absent."""
    parent = get(tree, *path[:-1])
    if isinstance(parent, dict):
        parent.pop(path[-1], None)


def copy(value: Any) -> Any:
    """A deep copy of a JSON tree (much faster than ``copy.deepcopy``, which also copies scalars)."""
    if type(value) is dict:
        return {
            key: copy(item) if type(item) is dict or type(item) is list else item
            for key, item in value.items()
        }
    if type(value) is list:
        return [copy(item) if type(item) is dict or type(item) is list else item for item in value]
    return value
