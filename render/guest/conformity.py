"""Whether the validator of cloud-init has nothing to say of a value, without asking it: of most it has nothing.

To import jsonschema takes longer than to render a hundred VMs. What is said here is sure; all else is left to
`validator`, which alone has the words. The keywords are those of draft 4, as jsonschema and cloud-init have them.
"""

import re
from collections.abc import Callable, Mapping
from types import NoneType

from render.guest.schemas import LONGEST, Schema, hashable
from render.model.hints import Any

_ERROR, _DEPRECATION = 1, 2

_Rule = Callable[[Any, Any, Schema], int]
"""What a keyword (its value, the instance, the schema around it) finds: errors, deprecations, or both."""


class _UndecidedError(Exception):
    """Only jsonschema can tell."""


def conforms(schema: Schema, value: Any) -> bool:
    """Whether *value* surely has no error by *schema*, in which nothing refers to another, and nothing deprecated."""
    try:
        return not _found(schema, value)
    except _UndecidedError:
        return False


def _found(schema: Any, value: Any) -> int:
    if not isinstance(schema, dict):
        raise _UndecidedError
    found = 0
    for keyword, wanted in schema.items():
        rule = RULES.get(keyword)
        if rule is not None:
            found |= rule(wanted, value, schema)
            if found & _ERROR:
                break
    return found


def _unsure(_wanted: Any, _value: Any, _schema: Schema) -> int:
    raise _UndecidedError


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, bytes) or type(value) is str,
}


def _type(wanted: Any, value: Any, _schema: Schema) -> int:
    if isinstance(wanted, str):  # as most are
        return 0 if _TYPES[wanted](value) else _ERROR
    return 0 if any(_TYPES[name](value) for name in wanted) else _ERROR


def _enum(wanted: Any, value: Any, _schema: Schema) -> int:
    if isinstance(value, str):
        return 0 if value in wanted else _ERROR
    if not isinstance(value, int | float | NoneType):
        raise _UndecidedError
    is_same = (
        each == value and isinstance(each, bool) is isinstance(value, bool) for each in wanted
    )
    return 0 if any(is_same) else _ERROR


def _properties(wanted: Any, value: Any, _schema: Schema) -> int:
    found = 0
    if isinstance(value, dict):
        for key, inner in wanted.items():
            if key in value:
                found |= _found(inner, value[key])
    return found


def _pattern_properties(wanted: Any, value: Any, _schema: Schema) -> int:
    found = 0
    if isinstance(value, dict):
        for pattern, inner in wanted.items():
            for key, item in value.items():
                if _matches(pattern, key):
                    found |= _found(inner, item)
    return found


def _matches(pattern: str, key: Any) -> bool:
    if not isinstance(key, str):
        raise _UndecidedError
    return re.search(pattern, key) is not None


def _additional_properties(wanted: Any, value: Any, schema: Schema) -> int:
    if not isinstance(value, dict) or wanted is True:
        return 0
    known, patterns = schema.get("properties", {}), "|".join(schema.get("patternProperties", ()))
    surplus = [
        key for key in value if key not in known and not (patterns and _matches(patterns, key))
    ]
    if not wanted and isinstance(wanted, bool):
        return _ERROR if surplus else 0
    found = 0
    for key in surplus:
        found |= _found(wanted, value[key])
    return found


def _required(wanted: Any, value: Any, _schema: Schema) -> int:
    return 0 if not isinstance(value, dict) or all(key in value for key in wanted) else _ERROR


def _items(wanted: Any, value: Any, _schema: Schema) -> int:
    found = 0
    if isinstance(value, list):
        if isinstance(wanted, dict):
            wanted = [wanted] * len(value)
        for inner, item in zip(wanted, value, strict=False):
            found |= _found(inner, item)
    return found


def _additional_items(wanted: Any, value: Any, schema: Schema) -> int:
    items = schema.get("items", {})
    if not isinstance(value, list) or isinstance(items, dict) or wanted is True:
        return 0
    if wanted is not False:
        raise _UndecidedError
    return _ERROR if len(value) > len(items) else 0


def _least_items(wanted: Any, value: Any, _schema: Schema) -> int:
    return _ERROR if isinstance(value, list) and len(value) < wanted else 0


def _most_items(wanted: Any, value: Any, _schema: Schema) -> int:
    return _ERROR if isinstance(value, list) and len(value) > wanted else 0


def _least_properties(wanted: Any, value: Any, _schema: Schema) -> int:
    return _ERROR if isinstance(value, dict) and len(value) < wanted else 0


def _longest(wanted: Any, value: Any, _schema: Schema) -> int:
    return _ERROR if _TYPES["string"](value) and len(value) > wanted else 0


def _minimum(wanted: Any, value: Any, schema: Schema) -> int:
    if "exclusiveMinimum" in schema:
        raise _UndecidedError
    return _ERROR if _is_number(value) and value < wanted else 0


def _maximum(wanted: Any, value: Any, schema: Schema) -> int:
    if "exclusiveMaximum" in schema:
        raise _UndecidedError
    return _ERROR if _is_number(value) and value > wanted else 0


def _pattern(wanted: Any, value: Any, _schema: Schema) -> int:
    is_tried = isinstance(value, str) and len(value) <= LONGEST
    return _ERROR if is_tried and not re.search(wanted, value) else 0


def _format(wanted: Any, value: Any, _schema: Schema) -> int:
    """Only one is looked at."""
    if wanted == "date" and isinstance(value, str):
        raise _UndecidedError
    return 0


def _unique(wanted: Any, value: Any, _schema: Schema) -> int:
    if not wanted or not isinstance(value, list):
        return 0
    return _ERROR if len(set(map(hashable, value))) < len(value) else 0


def _all_of(wanted: Any, value: Any, _schema: Schema) -> int:
    found = 0
    for inner in wanted:
        found |= _found(inner, value)
    return found


def _any_of(wanted: Any, value: Any, _schema: Schema) -> int:
    """What the first finds that has no error."""
    for inner in wanted:
        found = _found(inner, value)
        if not found & _ERROR:
            return found
    return _ERROR


def _one_of(wanted: Any, value: Any, _schema: Schema) -> int:
    """What the only one finds that has no error; of none, the validator chooses between errors, and may find none."""
    holding = [found for found in (_found(inner, value) for inner in wanted) if not found & _ERROR]
    if not holding:
        raise _UndecidedError
    return holding[0] if len(holding) == 1 else _ERROR


def _not(wanted: Any, value: Any, _schema: Schema) -> int:
    return 0 if _found(wanted, value) else _ERROR


def _deprecated(wanted: Any, _value: Any, _schema: Schema) -> int:
    return _DEPRECATION if wanted else 0


#: A rule for each keyword by which the validator finds anything.
RULES: Mapping[str, _Rule] = {
    "$ref": _unsure,
    "additionalItems": _additional_items,
    "additionalProperties": _additional_properties,
    "allOf": _all_of,
    "anyOf": _any_of,
    "changed": _deprecated,
    "dependencies": _unsure,
    "deprecated": _deprecated,
    "enum": _enum,
    "format": _format,
    "items": _items,
    "maxItems": _most_items,
    "maxLength": _longest,
    "maxProperties": _unsure,
    "maximum": _maximum,
    "minItems": _least_items,
    "minLength": _unsure,
    "minProperties": _least_properties,
    "minimum": _minimum,
    "multipleOf": _unsure,
    "not": _not,
    "oneOf": _one_of,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "properties": _properties,
    "required": _required,
    "type": _type,
    "uniqueItems": _unique,
}
