"""Reading a changed document into the Go struct that is there already.

Upstream: Go's encoding/json (Unmarshal), which the operator calls on the KubeVirt resource after a
JSON patch. What the document no longer says stays as it was, so removing a field does nothing;
lists are filled entry by entry into the old entries.
"""

from collections.abc import Callable

from render.model import types
from render.model.apimachinery import duration, quantity
from render.model.apimachinery.duration import DurationError
from render.model.apimachinery.quantity import QuantityError
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Version
from render.model.tree import Tree


class DecodingError(Exception):
    """A value that does not fit its Go type, in the words of encoding/json."""


JSON_NAMES = {
    bool: "bool",
    dict: "object",
    float: "number",
    int: "number",
    list: "array",
    str: "string",
}


def _quantity(value: Any) -> str:
    try:
        return quantity.canonical(value)
    except QuantityError as error:
        raise DecodingError(str(error)) from None


def _duration(value: Any) -> str:
    try:
        return duration.canonical(value)
    except DurationError as error:
        raise DecodingError(str(error)) from None


#: Scalars by their name in the type table: what JSON may hold, and how it is read.
_SCALARS: dict[str, tuple[tuple[type, ...], Callable[[Any], Any] | None]] = {
    "any": ((bool, dict, float, int, list, str), None),
    "bool": ((bool,), None),
    "duration": ((str,), _duration),
    "float32": ((float, int), None),
    "intstr": ((int, str), None),
    "quantity": ((float, int, str), _quantity),
    "string": ((str,), None),
    "time": ((str,), None),
}


def decoded(old: Any, new: Any, type_name: str, release: Version) -> Any:
    """*old*, a value of the Go type *type_name* of *release*, after reading *new* into it, as Go writes it.

    DecodingError where it does not fit.

    What has no value (a nil pointer, an empty text of a field with omitempty) is not there.
    """
    return _decoded(old, new, type_name, _ValueContext((), "", release))


class _ValueContext(NamedTuple):
    """Where a value stands: the way from the top, the struct around it, and the *release* whose types are read."""

    path: FieldPath
    struct: str
    release: Version

    def at(self, key: str, struct: str = "") -> "_ValueContext":
        return self._replace(path=(*self.path, key), struct=struct or self.struct)


def _decoded(old: Any, new: Any, go_type: str, place: _ValueContext) -> Any:
    name = go_type.removeprefix("*")
    if new is None:
        return None if name != go_type or name.startswith(("[]", "map[")) else old
    if name.startswith("[]"):
        return _list(old, new, name.removeprefix("[]"), place)
    if name.startswith("map["):
        return _map(old, new, name.partition("]")[2], place)
    if types.is_struct(name):
        return _struct(old, new, name, place)
    if name in types.INTEGERS:
        least, most = types.INTEGERS[name]
        if type(new) is not int or not least <= new <= most:
            raise _mismatch(new, name, place)
        return new
    accepted, read = _SCALARS["string" if name.startswith("enum:") else name]
    if type(new) not in accepted:
        raise _mismatch(new, name, place)
    return new if read is None else read(new)


def _struct(old: Any, new: Any, name: str, place: _ValueContext) -> Tree:
    if not isinstance(new, dict):
        raise _mismatch(new, name, place)
    struct: Tree = dict(old or {})
    fields = types.fields(name, place.release)
    for key, item in new.items():
        if key in fields:
            field = fields[key]
            value = _decoded(struct.get(key), item, field.type, place.at(key, name))
            kept = field.type.startswith("*") or types.is_struct(field.type)
            if value is None or (field.omitempty and not kept and not value):
                struct.pop(key, None)
            else:
                struct[key] = value
    return struct


def _map(old: Any, new: Any, item_type: str, place: _ValueContext) -> Tree:
    if not isinstance(new, dict):
        raise _mismatch(new, f"map[string]{item_type}", place)
    # An entry that is there already is replaced, not filled in.
    entries = {key: _decoded(None, item, item_type, place.at(key)) for key, item in new.items()}
    return {**(old or {}), **entries}


def _list(old: Any, new: Any, item_type: str, place: _ValueContext) -> list[Any]:
    if not isinstance(new, list):
        raise _mismatch(new, f"[]{item_type}", place)
    known = old or []
    return [
        _decoded(known[i] if i < len(known) else None, item, item_type, place)
        for i, item in enumerate(new)
    ]


def _mismatch(value: Any, go_type: str, place: _ValueContext) -> DecodingError:
    """Go's text: the struct that holds the field, and the way to it from the top."""
    actual = JSON_NAMES[type(value)]
    if actual == "number" and (go_type in types.INTEGERS or go_type == "float32"):
        actual = f"number {value}"
    name = go_type.removeprefix("enum:")
    package, _, bare = name.rpartition(".")
    go_name = f"v1.{bare}" if package else name
    owner = place.struct.rpartition(".")[2]
    where = f"{owner}.{'.'.join(map(str, place.path))}"
    return DecodingError(
        f"json: cannot unmarshal {actual} into Go struct field {where} of type {go_name}"
    )
