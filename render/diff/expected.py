"""What of an expected tree another one does not have: for tests of VMs."""

from collections.abc import Iterator

from render.model.apimachinery import quantity
from render.model.apimachinery.quantity import QuantityError
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple


class _Absent:
    """No value at all, which is another answer than null."""


ABSENT = _Absent()


class Unmet(NamedTuple):
    """At *written* of what is expected, and at *path* of what there is, these two values differ; `ABSENT`: none."""

    written: FieldPath
    path: FieldPath
    expected: Any
    actual: Any


def unmet(expected: Any, actual: Any) -> Iterator[Unmet]:
    """Where *actual* is not what is *expected* of it: it may have more fields, and more items with names.

    Items of a list are told by their names where all that are expected have one; those of another list stand in the
    same order, and there are as many. null expects that a field is not there. A quantity may be written in any way.
    """
    yield from _unmet(expected, actual, (), ())


def _unmet(expected: Any, actual: Any, written: FieldPath, path: FieldPath) -> Iterator[Unmet]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            yield from _unmet(value, actual.get(key, ABSENT), (*written, key), (*path, key))
    elif isinstance(expected, list) and isinstance(actual, list):
        yield from _unmet_items(expected, actual, written, path)
    elif not _is_same(expected, actual):
        yield Unmet(written, path, expected, actual)


def _unmet_items(
    expected: list[Any], actual: list[Any], written: FieldPath, path: FieldPath
) -> Iterator[Unmet]:
    if not expected or not all(map(_is_named, expected)):
        if len(expected) != len(actual):
            yield Unmet(written, path, expected, actual)
            return
        for index, (wanted, other) in enumerate(zip(expected, actual, strict=True)):
            yield from _unmet(wanted, other, (*written, index), (*path, index))
        return
    named = {item["name"]: i for i, item in enumerate(actual) if _is_named(item)}
    for index, wanted in enumerate(expected):
        place = named.get(wanted["name"])
        if place is None:
            yield Unmet((*written, index), (*path, wanted["name"]), wanted, ABSENT)
        else:
            yield from _unmet(wanted, actual[place], (*written, index), (*path, place))


def _is_named(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("name"), str)


def _is_same(expected: Any, actual: Any) -> bool:
    if expected is None:
        return actual is None or actual is ABSENT
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return bool(expected == actual) or _is_same_quantity(expected, actual)


def _is_same_quantity(expected: Any, actual: Any) -> bool:
    """Whether a text that is a quantity says the same as *expected*; two numbers were compared before."""
    if not isinstance(actual, str) or not isinstance(expected, str | int | float):
        return False
    try:
        return quantity.compare(expected, actual) == 0
    except QuantityError:
        return False
