"""Which checks concern a VMI spec: those for whose `Check.where`, or `Check.also`, it has a value.

One walk over the spec finds all of them, instead of a look-up for each check.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeVar

from render.admission.checks import EACH, Check
from render.model.tree import Tree

#: Machines of one shape are asked the same; so many shapes are remembered.
_SHAPES = 1024

T = TypeVar("T")


class _PlaceNode:
    """A step of the places that checks stand at; *mask* has a bit for each check whose place ends here."""

    __slots__ = ("children", "mask")

    def __init__(self) -> None:
        self.children: dict[str, _PlaceNode] = {}
        self.mask = 0


def _mask(node: _PlaceNode, value: Any) -> int:
    """The bits of the checks at or below *node* whose place has a value in *value*."""
    mask, children = node.mask, node.children
    if not children:
        return mask
    if isinstance(value, dict):
        for key, item in value.items():
            child = children.get(key)
            if child is not None and item is not None:
                mask |= _mask(child, item)
    elif isinstance(value, list):
        child = children.get(EACH)
        if child is not None:
            for item in value:
                mask |= _mask(child, item)
    return mask


def selection(
    checks: Iterable[Check], then: Callable[[tuple[Check, ...]], T]
) -> Callable[[Tree], T]:
    """A function from a VMI spec to what *then* makes of those of *checks* that it gives reason to ask, in their order.

    That is worked out once a shape.
    """
    known = tuple(checks)
    root = _PlaceNode()
    for index, check in enumerate(known):
        for place in (check.where, *check.also):
            node = root
            for step in place:
                node = node.children.setdefault(str(step), _PlaceNode())
            node.mask |= 1 << index

    @lru_cache(maxsize=_SHAPES)
    def selected(mask: int) -> T:
        return then(tuple(check for index, check in enumerate(known) if mask >> index & 1))

    return lambda spec: selected(_mask(root, spec))
