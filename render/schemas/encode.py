"""Encoding: what Go always writes, added where it is absent.

Go's omitempty never leaves out a struct, and a field without omitempty is written with the zero
value of its type, a nil pointer as null. ``status`` is the server's and never added.
"""

from collections.abc import Callable
from functools import cache
from operator import is_

from render.model import types
from render.model.hints import Any
from render.model.release import Version
from render.model.tree import Tree

Complete = Callable[[Any], Any]

_WRITTEN_STRUCTS = ("intstr", "quantity")  # scalars in JSON, structs in Go
_ROOM = 10_000
_ZEROES = {"bool": False, "intstr": 0, "quantity": "0", "string": "", "float32": 0}


def encode(tree: Tree, type_name: str, release: Version) -> Tree:
    """*tree*, a value of the Go type *type_name*, with the fields that the Go types of *release* always write.

    The input is not changed; parts that are complete already are shared with it.
    """
    return _plan(type_name, release).encode(tree)


class _StructPlan(dict[tuple[str, ...], tuple[list[tuple[str, Complete]], list[tuple[str, Any]]]]):
    """What is to be done with a struct, by the keys it has: the values to complete, and the fields to add."""

    def __init__(self, type_name: str, release: Version) -> None:
        super().__init__()
        self.release = release
        self.fields = types.fields(type_name, release)
        self.always = [
            (name, field.type)
            for name, field in self.fields.items()
            if not field.omitempty or field.type in _WRITTEN_STRUCTS or types.is_struct(field.type)
        ]

    def encode(self, tree: Tree) -> Tree:
        """*tree*, a value of this struct, completed."""
        parts, absent = self[tuple(tree)]
        encoded = tree
        for name, complete in parts:
            value = tree[name]
            if value is not None:
                completed = complete(value)
                if completed is not value:
                    if encoded is tree:
                        encoded = tree.copy()
                    encoded[name] = completed
        if absent:
            if encoded is tree:
                encoded = tree.copy()
            encoded.update(absent)
        return encoded

    def __missing__(self, keys: tuple[str, ...]) -> Any:
        if len(self) >= _ROOM:
            self.clear()
        completed = [
            (key, _part(self.fields[key].type, self.release)) for key in keys if key in self.fields
        ]
        self[keys] = (
            [(key, complete) for key, complete in completed if complete],
            [
                (name, _zero(go_type, self.release))
                for name, go_type in self.always
                if name not in keys
            ],
        )
        return self[keys]


_plan = cache(_StructPlan)


@cache
def _part(go_type: str, release: Version) -> Complete | None:
    """What completes a value of *go_type*; None where there is nothing to add."""
    go_type = go_type.removeprefix("*")
    if go_type.startswith("[]"):
        return _each(_part(go_type[2:], release))
    if go_type.startswith("map["):
        return _each_value(_part(go_type.partition("]")[2], release))
    if not types.is_struct(go_type) or _is_complete(go_type, release):
        return None
    return _plan(go_type, release).encode


def _each(complete: Complete | None) -> Complete | None:
    if complete is None:
        return None

    def each(value: list[Any]) -> list[Any]:
        items = [complete(item) for item in value]
        return value if all(map(is_, items, value)) else items

    return each


def _each_value(complete: Complete | None) -> Complete | None:
    return complete and (lambda value: {key: complete(item) for key, item in value.items()})


@cache
def _is_complete(type_name: str, release: Version) -> bool:
    """Whether nothing is always written in a struct, nor anywhere below it."""
    plan = _plan(type_name, release)
    return not plan.always and not any(_part(field.type, release) for field in plan.fields.values())


def _zero(go_type: str, release: Version) -> Any:
    if types.is_struct(go_type):
        return encode({}, go_type, release)
    if go_type.startswith(("*", "[]", "map[")):
        return None
    if go_type.startswith("enum:"):
        return ""
    return _ZEROES.get(go_type, 0)
