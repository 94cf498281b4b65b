"""Encoding: what Go always writes, added where it is absent.

Go's omitempty never leaves out a struct, and a field without omitempty is written with the zero
value of its type, a nil pointer as null. ``status`` is the server's and never added.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from render.model import types
from render.model.tree import Tree

Complete = Callable[[Any], Any]

_ZEROES = {"bool": False, "intstr": 0, "quantity": "0", "string": "", "float32": 0}


def encode(tree: Tree, type_name: str) -> Tree:
    """*tree*, a value of the Go type *type_name*, with the fields that Go always writes.

    The input is not changed; parts that are complete already are shared with it.
    """
    return _completed(tree, type_name)


def _completed(tree: Tree, type_name: str) -> Tree:
    always, parts = _plan(type_name)
    found = dict(tree)
    for name, complete in parts.items():
        if found.get(name) is not None:
            found[name] = complete(found[name])
    for name, go_type in always:
        if name not in found:
            found[name] = _zero(go_type)
    return found


@cache
def _plan(type_name: str) -> tuple[tuple[tuple[str, str], ...], dict[str, Complete]]:
    """What is always written of a struct (name and Go type), and the fields to look into."""
    fields = types.fields(type_name)
    always = tuple(
        (name, field.type)
        for name, field in fields.items()
        if not field.omitempty
        or field.type in ("quantity", "intstr")
        or types.is_struct(field.type)
    )
    parts = {
        name: complete
        for name, field in fields.items()
        if (complete := _part(field.type)) is not None
    }
    return always, parts


def _part(go_type: str) -> Complete | None:
    """What completes a value of *go_type*; None where there is never anything to add."""
    go_type = go_type.removeprefix("*")
    if go_type.startswith("[]"):
        item = _part(go_type[2:])
        return item and (lambda value: [item(entry) for entry in value])
    if go_type.startswith("map["):
        item = _part(go_type.partition("]")[2])
        return item and (lambda value: {key: item(entry) for key, entry in value.items()})
    if not types.is_struct(go_type) or not any(_plan(go_type)):
        return None
    return lambda value: _completed(value, go_type)


def _zero(go_type: str) -> Any:
    if types.is_struct(go_type):
        return _completed({}, go_type)
    if go_type.startswith(("*", "[]", "map[")):
        return None
    if go_type.startswith("enum:"):
        return ""
    return _ZEROES.get(go_type, 0)
