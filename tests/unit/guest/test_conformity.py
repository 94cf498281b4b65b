"""`conforms` is sure where it says so: it is compared with jsonschema, which has the last word."""

import datetime as dt
import random
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft4Validator

from render.guest import conformity, schemas, validator
from render.guest.conformity import conforms
from render.guest.schemas import Schema

TRIED = 200
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, 1.0, -1, 3, 70000, 1e300, float("nan"), "", "x", "true", "1", b"x", "2024-01-01",
    "9" * 5000, dt.date(2024, 1, 1), [], ["x"], ["x", "x"], [1, True], [[1], [1]], {}, {"x": 1}, {1: "x"},
    {"type": "x"},
)  # fmt: skip


class Tagged(str):
    """A text that cloud-init's type checker takes for none."""

    __slots__ = ()


def every_schema() -> Iterator[tuple[str, Schema]]:
    for key in sorted(schemas.known_keys()):
        for number, schema in enumerate(schemas.of_key(key)):
            yield f"{key}-{number}", schema
    for version in (1, 2):
        yield f"network-{version}", schemas.of_network(version)


SCHEMAS = dict(every_schema())


def instance(schema: Any, chance: random.Random, depth: int = 0) -> Any:
    """A value that *schema* might take; once in a while one that it does not expect."""
    if not isinstance(schema, dict) or depth > 6 or chance.random() < 0.04:
        return chance.choice(ODD)
    for several in ("oneOf", "anyOf", "allOf"):
        if several in schema and ("type" not in schema or chance.random() < 0.3):
            return instance(chance.choice(schema[several]), chance, depth + 1)
    if "enum" in schema and chance.random() < 0.9:
        return chance.choice(schema["enum"])
    types = schema.get("type", "object" if "properties" in schema else "string")
    match chance.choice(types) if isinstance(types, list) else types:
        case "object":
            return mapping(schema, chance, depth)
        case "array":
            items = schema.get("items", {})
            options = items if isinstance(items, list) else [items] * chance.randint(0, 3)
            return [instance(item, chance, depth + 1) for item in options]
        case "boolean":
            return chance.random() < 0.5
        case "integer" | "number":
            return chance.choice((0, 1, 2, 5, 100, 1500))
        case "null":
            return None
        case _:
            return text(chance)


def text(chance: random.Random) -> str:
    return chance.choice(("x", "on", "1", "10G", "0644", "http://x", Tagged("x")))


def mapping(schema: Schema, chance: random.Random, depth: int) -> dict[Any, Any]:
    required = schema.get("required", ())
    made = {
        key: instance(inner, chance, depth + 1)
        for key, inner in schema.get("properties", {}).items()
        if chance.random() < (0.97 if key in required else 0.25)
    }
    for pattern, inner in schema.get("patternProperties", {}).items():
        if chance.random() < 0.8:
            made["x" if "x" not in pattern else pattern] = instance(inner, chance, depth + 1)
    if isinstance(schema.get("additionalProperties"), dict) or chance.random() < 0.05:
        inner = schema.get("additionalProperties")
        made[chance.choice(("x", "y", 1))] = instance(inner, chance, depth + 1)
    return made


def is_right(schema: Schema, value: Any) -> bool:
    try:
        return not list(validator.problems(schema, value, ()))
    except TypeError:  # a pattern is tried on a key that is no text
        return False


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_conforms_has_no_error(name: str) -> None:
    chance = random.Random(name)  # noqa: S311 - the same values each time
    schema = SCHEMAS[name]
    for value in (*ODD, *(instance(schema, chance) for _ in range(TRIED))):
        assert not conforms(schema, value) or is_right(schema, value), value


def test_jsonschema_is_hardly_asked_for_nothing() -> None:
    chance = random.Random(1)  # noqa: S311 - the same values each time
    tried = [(schema, instance(schema, chance)) for schema in SCHEMAS.values() for _ in range(20)]
    right = [conforms(*each) for each in tried if is_right(*each)]
    assert len(right) > len(tried) / 2
    assert sum(right) > 0.9 * len(right)


def test_no_keyword_is_forgotten() -> None:
    known = {*Draft4Validator.VALIDATORS, *validator.validator_class().VALIDATORS}
    assert known == set(conformity.RULES)


@pytest.mark.parametrize(
    ("schema", "value", "is_sound"),
    [
        ({"enum": [1]}, True, False),
        ({"enum": [True]}, 1, False),
        ({"enum": [1]}, 1.0, True),
        ({"enum": [None]}, None, True),
        ({"type": "integer"}, True, False),
        ({"type": "integer"}, 1.0, False),
        ({"type": "number"}, True, False),
        ({"type": "string"}, b"x", True),
        ({"type": "string"}, Tagged("x"), False),
        ({"uniqueItems": True}, [1, True], True),
        ({"uniqueItems": True}, [[1], [1]], False),
        ({"not": {"deprecated": True}}, 1, True),
        ({"anyOf": [{"type": "string"}, {"deprecated": True}]}, 1, False),
        ({"anyOf": [{"deprecated": True}, {}]}, 1, False),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 1, False),
        ({"oneOf": [{"type": "string"}, {"type": "number"}]}, 1, True),
        ({"items": [{}], "additionalItems": False}, [1, 2], False),
        ({"items": [{}], "additionalItems": False}, [1], True),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}, True),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"b": 1}, False),
        ({"patternProperties": {"^b": {"type": "null"}}, "additionalProperties": False}, {"b": None}, True),
        ({"format": "date"}, 1, True),
        ({"format": "uri"}, "x y", True),
        ({"pattern": "^x$"}, "y" * 5000, True),
        ({"maximum": 3}, 4, False),
        ({"minimum": 3}, True, True),
        ({"maxItems": 1}, [1, 2], False),
        ({"minProperties": 1}, {}, False),
    ],
)  # fmt: skip
def test_keyword_is_read_as_jsonschema_reads_it(
    schema: Schema, value: Any, *, is_sound: bool
) -> None:
    assert conforms(schema, value) is is_sound
    assert is_right(schema, value) is is_sound


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"format": "date"}, "2024-01-01"),
        ({"multipleOf": 2}, 2),
        ({"exclusiveMinimum": True, "minimum": 1}, 2),
        ({"patternProperties": {"x": {}}}, {1: 1}),
        ({"enum": [[1]]}, [1]),
        ({"properties": {"a": True}}, {"a": 1}),
    ],
)
def test_what_only_jsonschema_can_tell_is_left_to_it(schema: Schema, value: Any) -> None:
    assert not conforms(schema, value)
