"""What stands where in a JSON tree."""

from collections.abc import Iterable, Iterator
from typing import Any

from render.model.fieldpath import FieldPath


def places(value: Any, at: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Every place in *value* with what stands there, the root first."""
    yield at, value
    children: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for step, child in children:
        yield from places(child, (*at, step))
