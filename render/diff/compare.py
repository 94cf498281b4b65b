"""What differs between two objects of KubeVirt, by the types of their fields.

The notation of a quantity, the order of a mapping and an empty list or mapping beside none are no difference; an empty
``{}`` behind a pointer of Go is one (upstream: equality.Semantic of apimachinery). Items of lists count by their names.
"""

from collections.abc import Iterator
from functools import cache

from render.model import tree, types
from render.model.apimachinery import quantity
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import NEWEST
from render.model.tree import Tree

TEMPLATE_SPEC = "kubevirt.VirtualMachineInstanceSpec"

#: The last step of a difference that is only in the order of a list.
ORDER = " (order)"


class Item(str):
    """A step into a list: the name of the item."""

    __slots__ = ()


Route = tuple[str, ...]


class Difference(NamedTuple):
    """*before* becomes *after* at *route*; None is nothing there."""

    route: Route
    before: Any
    after: Any

    @property
    def field(self) -> str:
        """The route as text: ``spec.volumes[root].dataVolume``; ``spec.volumes (order)`` for an order."""
        return text(self.route)


def text(route: Route) -> str:
    """*route* as text: dotted, with ``[name]`` for an item of a list."""
    out = ""
    for step in route:
        if isinstance(step, Item):
            out += f"[{step}]"
        elif step is ORDER:
            out += step
        else:
            out += f".{step}" if out else step
    return out


def differences(before: Any, after: Any, go_type: str) -> list[Difference]:
    """What differs between two values of *go_type*, sorted by field."""
    return sorted(_walk((), before, after, go_type), key=lambda difference: difference.field)


def written_differences(before: Any, after: Any, go_type: str) -> list[Difference]:
    """What differs as it is stored: a list counts as one field, and another notation of a quantity is a difference."""
    return sorted(
        _walk((), before, after, go_type, whole=True), key=lambda difference: difference.field
    )


def leaves(before: Any, after: Any) -> list[Difference]:
    """What differs between two lists or mappings, down to the last field that both have: an item is one by its key.

    The way down is that of the values alone, whatever their types are.
    """
    return list(_leaves((), before, after))


def _leaves(route: Route, before: Any, after: Any) -> Iterator[Difference]:
    if before == after:
        return
    if before and after and isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from _leaves((*route, key), before.get(key), after.get(key))
    elif before and after and isinstance(before, list) and isinstance(after, list):
        old, new = _by_key(before), _by_key(after)
        if old is None or new is None:
            old, new = (
                dict(zip(map(str, range(len(items))), items, strict=True))
                for items in (before, after)
            )
        found = [
            difference
            for key in {**old, **new}
            for difference in _leaves((*route, Item(key)), old.get(key), new.get(key))
        ]
        yield from found or [Difference((*route, ORDER), list(old), list(new))]
    else:
        yield Difference(route, before, after)


#: By what Kubernetes and KubeVirt tell the items of a list apart, the first that all of them have.
_KEYS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("name",),),
    (("metadata", "name"),),
    (("type",),),
    (("topologyKey",), ("whenUnsatisfiable",)),
    (("topologyKey",),),
    (("port",), ("protocol",)),
    (("port",),),
    (("containerPort",),),
    (("key",), ("operator",), ("value",), ("effect",)),
    (("key",), ("effect",)),
    (("key",),),
)


def _by_key(items: list[Any]) -> dict[str, Any] | None:
    """The *items* of a list by what tells them apart; None where nothing does."""
    for key in _KEYS:
        names = [[tree.get(item, *path) for path in key] for item in items]
        if all(isinstance(value, str | int) for name in names for value in name):
            keyed = dict(zip((" ".join(map(str, name)) for name in names), items, strict=True))
            if len(keyed) == len(items):
                return keyed
    return None


class PathFinder:
    """Where the routes that `leaves` told are in one of both values. The keys of a list are made out once."""

    __slots__ = ("_indexes", "_value")

    def __init__(self, value: Any) -> None:
        self._value = value
        self._indexes: dict[int, dict[str, int]] = {}

    def path(self, route: Route) -> FieldPath:
        """The way of *route*, as far as the value has it."""
        path: list[str | int] = []
        value = self._value
        for step in route:
            if isinstance(step, Item) and isinstance(value, list):
                index = self._keys(value).get(step)
                if index is None:
                    break
                path.append(index)
            elif isinstance(value, dict) and step in value:
                path.append(step)
            else:
                break
            value = value[path[-1]]
        return tuple(path)

    def _keys(self, items: list[Any]) -> dict[str, int]:
        found = self._indexes.get(id(items))
        if found is None:
            keyed = _by_key(items)
            names = map(str, range(len(items))) if keyed is None else keyed
            found = self._indexes[id(items)] = {name: index for index, name in enumerate(names)}
        return found


def same(before: Any, after: Any, go_type: str) -> bool:
    """Whether nothing differs between two values of *go_type*."""
    return before == after or next(_walk((), before, after, go_type), None) is None


def _walk(
    route: Route, before: Any, after: Any, go_type: str, *, whole: bool = False
) -> Iterator[Difference]:
    if before == after:
        return
    if not route or not isinstance(route[-1], Item):
        before, after = _meant(before, go_type), _meant(after, go_type)
        if before == after:
            return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            kind = _type_at(go_type, key)
            yield from _walk((*route, key), before.get(key), after.get(key), kind, whole=whole)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _walk_lists(route, before, after, go_type, whole=whole)
    elif whole or not _same_scalar(before, after, go_type):
        yield Difference(route, before, after)


def _walk_lists(
    route: Route, before: list[Any], after: list[Any], go_type: str, *, whole: bool
) -> Iterator[Difference]:
    item_type = _item_type(go_type)
    if whole:
        if not _same_items(before, after, item_type):
            yield Difference(route, before, after)
        return
    old, new = by_name(before), by_name(after)
    if old is None or new is None:
        if not _same_items(before, after, item_type):
            yield Difference(route, before, after)
        return
    differences = [
        difference
        for name in {**old, **new}
        for difference in _walk((*route, Item(name)), old.get(name), new.get(name), item_type)
    ]
    yield from differences
    if not differences and list(old) != list(new):
        yield Difference((*route, ORDER), list(old), list(new))


def _same_items(before: list[Any], after: list[Any], item_type: str) -> bool:
    return len(before) == len(after) and all(
        same(old, new, item_type) for old, new in zip(before, after, strict=True)
    )


def by_name(items: list[Any]) -> dict[str, Tree] | None:
    """The items of a list by their names; None where one has none, or two have the same."""
    named = {
        item["name"]: item
        for item in items
        if isinstance(item, dict) and isinstance(item.get("name"), str)
    }
    return named if len(named) == len(items) else None


def _meant(value: Any, go_type: str) -> Any:
    """*value* as Go would have it: nothing for an empty list or mapping, a struct where no pointer can be nil."""
    if value is None or value in ({}, []):
        if go_type.startswith(("[]", "map[")):
            return None
        if value is None and types.is_struct(go_type):
            return {}
    return value


def _same_scalar(before: Any, after: Any, go_type: str) -> bool:
    if go_type.removeprefix("*") != "quantity" or before is None or after is None:
        return False
    try:
        return quantity.compare(before, after) == 0
    except quantity.QuantityError:
        return False


@cache
def _type_at(go_type: str, key: str) -> str:
    """The type of the field or value *key* of *go_type*, ``""`` where the table does not know."""
    base = go_type.removeprefix("*")
    if base.startswith("map["):
        return base.partition("]")[2]
    if types.is_struct(base):
        field = types.fields(base, NEWEST).get(key)
        return field.type if field else ""
    return ""


def _item_type(go_type: str) -> str:
    return go_type.removeprefix("*").removeprefix("[]")
