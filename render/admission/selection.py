"""Which checks concern a VMI spec: those for whose `Check.where`, or `Check.also`, it has a value.

One walk over the spec finds all of them, instead of a look-up for each check.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache

from render.admission.checks import EACH, Check
from render.model.hints import Any, TypeVar
from render.model.tree import Tree

#: Machines of one shape are asked the same; so many shapes are remembered.
_SHAPES = 1024

T = TypeVar("T")


class _PlaceNode(dict[str, "_PlaceNode"]):
    """A step of the places that checks stand at, with the next ones; *mask* has a bit for each check that ends here."""

    __slots__ = ("mask",)

    def __init__(self) -> None:
        self.mask = 0

    def __missing__(self, step: str) -> "_PlaceNode":
        child = self[step] = _PlaceNode()
        return child


def _mask(node: _PlaceNode, value: Any) -> int:
    """The bits of the checks at or below *node* whose place has a value in *value*."""
    mask = node.mask
    if isinstance(value, dict):
        for key, item in value.items():
            child = node.get(key)
            if child is not None and item is not None:
                mask |= _mask(child, item) if child else child.mask
    elif isinstance(value, list):
        child = node.get(EACH)
        if child is not None:
            for item in value:
                mask |= _mask(child, item) if child else child.mask
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
                node = node[str(step)]
            node.mask |= 1 << index

    @lru_cache(maxsize=_SHAPES)
    def selected(mask: int) -> T:
        return then(tuple(check for index, check in enumerate(known) if mask >> index & 1))

    return lambda spec: selected(_mask(root, spec))
