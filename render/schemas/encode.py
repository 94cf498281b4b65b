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

_WRITTEN_STRUCTS = ("intstr", "quantity")  # scalars in JSON, structs in Go
_ZEROES = {"bool": False, "intstr": 0, "quantity": "0", "string": "", "float32": 0}


def encode(tree: Tree, type_name: str) -> Tree:
    """*tree*, a value of the Go type *type_name*, with the fields that Go always writes.

    The input is not changed; parts that are complete already are shared with it.
    """
    return _plan(type_name).encode(tree)


class _Plan(dict[str, Complete | None]):
    """What is to be done with a struct: *always* is written; the items complete a field's value."""

    def __init__(self, type_name: str) -> None:
        super().__init__()
        self.fields = types.fields(type_name)
        self.always = [
            (name, field.type)
            for name, field in self.fields.items()
            if not field.omitempty or field.type in _WRITTEN_STRUCTS or types.is_struct(field.type)
        ]

    def encode(self, tree: Tree) -> Tree:
        """*tree*, a value of this struct, completed."""
        found = {}
        for name, value in tree.items():
            complete = self[name]
            found[name] = value if complete is None or value is None else complete(value)
        for name, go_type in self.always:
            if name not in found:
                found[name] = _zero(go_type)
        return found

    def __missing__(self, name: str) -> Complete | None:
        field = self.fields.get(name)
        complete = self[name] = _part(field.type) if field else None
        return complete


_plan = cache(_Plan)


@cache
def _part(go_type: str) -> Complete | None:
    """What completes a value of *go_type*; None where there is nothing to add."""
    go_type = go_type.removeprefix("*")
    if go_type.startswith("[]"):
        return _each(_part(go_type[2:]))
    if go_type.startswith("map["):
        return _each_value(_part(go_type.partition("]")[2]))
    if not types.is_struct(go_type) or _is_flat(go_type):
        return None
    return _plan(go_type).encode


def _each(complete: Complete | None) -> Complete | None:
    return complete and (lambda value: [complete(item) for item in value])


def _each_value(complete: Complete | None) -> Complete | None:
    return complete and (lambda value: {key: complete(item) for key, item in value.items()})


def _is_flat(type_name: str) -> bool:
    """Whether a struct holds no other, and nothing that is always written."""
    plan = _plan(type_name)
    names = (field.type.lstrip("*[]").removeprefix("map[string]") for field in plan.fields.values())
    return not plan.always and not any(map(types.is_struct, names))


def _zero(go_type: str) -> Any:
    if types.is_struct(go_type):
        return encode({}, go_type)
    if go_type.startswith(("*", "[]", "map[")):
        return None
    if go_type.startswith("enum:"):
        return ""
    return _ZEROES.get(go_type, 0)
