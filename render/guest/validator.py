"""jsonschema with the keywords that cloud-init adds to it, and what it finds in a value.

Upstream: cloudinit/config/schema.py (get_jsonschema_validator).
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from jsonschema import Draft4Validator, FormatChecker, ValidationError
from jsonschema.exceptions import best_match
from jsonschema.validators import create

from render.guest.problem import Problem
from render.guest.schemas import LONGEST, NAME, Schema, hashable
from render.model.fieldpath import FieldPath
from render.model.hints import Any

Errors = Iterator[ValidationError]
_TYPED = "anyOf_type_"


class _DeprecationError(ValidationError):
    """No error: that something is deprecated, since *version*."""

    def __init__(self, version: str, cure: str) -> None:
        super().__init__("deprecated")
        self.version = version
        self.cure = cure


def problems(schema: Schema, value: Any, above: FieldPath) -> Iterator[Problem]:
    """What is wrong with *value*, which stands at *above*, or deprecated, by *schema*."""
    for error in validator_class()(schema, format_checker=_formats()).iter_errors(value):
        path = (*above, *error.path)
        if isinstance(error, _DeprecationError):
            yield Problem(path, "deprecated", version=error.version, cure=error.cure)
        else:
            yield _problem(path, error)


def _problem(path: FieldPath, error: ValidationError) -> Problem:
    wanted: Any = error.validator_value
    rule, instance = str(error.validator), error.instance
    schema: Any = error.schema
    if rule == "additionalProperties" and isinstance(instance, dict):
        known = schema.get("properties", {})
        patterns = "|".join(schema.get("patternProperties", ())) or "(?!)"
        surplus = (key for key in instance if key not in known and not re.search(patterns, key))
        return Problem(path, rule, tuple(known), tuple(surplus))
    if rule == "required" and isinstance(instance, dict):
        return Problem(path, rule, keys=tuple(key for key in wanted if key not in instance))
    if isinstance(wanted, list):
        return Problem(path, rule, tuple(value for value in wanted if isinstance(value, str | int)))
    return Problem(path, rule, wanted if isinstance(wanted, str | int | float) else None)


@cache
def _formats() -> FormatChecker:
    """Those that need nothing else installed: an answer depends on no other package."""
    return FormatChecker(formats=("date",))


def _deprecated(_validator: Any, value: Any, _instance: Any, schema: Schema) -> Errors:
    if value:
        version = schema.get("deprecated_version", "devel")
        yield _DeprecationError(version, schema.get("deprecated_description", ""))


def _changed(_validator: Any, value: Any, _instance: Any, schema: Schema) -> Errors:
    if value:
        yield _DeprecationError(
            schema.get("changed_version", "devel"), schema.get("changed_description", "")
        )


def _split(
    errors: Iterable[ValidationError],
) -> tuple[list[ValidationError], list[ValidationError]]:
    """Errors, and deprecations."""
    both: tuple[list[ValidationError], list[ValidationError]] = [], []
    for error in errors:
        both[isinstance(error, _DeprecationError)].append(error)
    return both


def _any_of(validator: Any, schemas: list[Schema], instance: Any, _schema: Schema) -> Errors:
    """The first that has no error holds; of none, the errors of the one for the instance's type, or the best."""
    every: list[ValidationError] = []
    is_typed = False
    for index, schema in enumerate(schemas):
        errors, deprecations = _split(validator.descend(instance, schema, schema_path=index))
        if not errors:
            yield from deprecations
            return
        name = schema.get(NAME, "")
        if isinstance(instance, dict) and f"{_TYPED}{instance.get('type')}" in name:
            is_typed = True
            yield from errors
        every += errors
    if not is_typed:
        yield best_match(every)
    yield ValidationError("valid under none of several schemas", context=every)


def _one_of(validator: Any, schemas: list[Schema], instance: Any, _schema: Schema) -> Errors:
    """Exactly one has no error; of none, the deepest errors."""
    every: list[ValidationError] = []
    for index, schema in enumerate(schemas):
        errors, deprecations = _split(validator.descend(instance, schema, schema_path=index))
        if not errors:
            others = (
                _split(validator.descend(instance, other_schema))[0]
                for other_schema in schemas[index + 1 :]
            )
            if any(not other for other in others):
                yield ValidationError("valid under more than one schema")
            else:
                yield from deprecations
            return
        every += errors
    yield from _deepest(every, instance)


def _deepest(errors: list[ValidationError], instance: Any) -> list[ValidationError]:
    """The errors that are most to the point (upstream: cloud_init_deepest_matches)."""
    best: list[ValidationError] = []
    depth = 0
    is_typed = isinstance(instance, dict) and "type" in instance
    for error in errors:
        schema: Any = error.schema
        if is_typed:
            allowed = schema.get("properties", {}).get("type", {}).get("enum", ())
            if instance["type"] in allowed:
                return [error]
            if error.json_path.endswith("type"):
                best.append(error)
        elif len(error.path) == depth:
            best.append(error)
        elif len(error.path) > depth:
            depth, best = len(error.path), [error]
    return best


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Schema) -> Errors:
    if isinstance(instance, str) and len(instance) <= LONGEST and not re.search(pattern, instance):
        yield ValidationError("matches no pattern")


def _unique(_validator: Any, wanted: bool, instance: Any, _schema: Schema) -> Errors:  # noqa: FBT001 - jsonschema's call
    if (
        wanted
        and isinstance(instance, list)
        and len({hashable(element) for element in instance}) < len(instance)
    ):
        yield ValidationError("has an item twice")


@cache
def validator_class() -> Any:
    """Jsonschema's validator of draft 4 as cloud-init makes it."""
    is_text = Draft4Validator.TYPE_CHECKER.is_type
    checker = Draft4Validator.TYPE_CHECKER.redefine(
        "string",
        lambda _, value: (
            isinstance(value, bytes) or (is_text(value, "string") and type(value) is str)
        ),
    )
    own: dict[str, Any] = {
        "deprecated": _deprecated,
        "changed": _changed,
        "anyOf": _any_of,
        "oneOf": _one_of,
        "pattern": _pattern,
        "uniqueItems": _unique,
    }
    return create(
        meta_schema=Draft4Validator.META_SCHEMA,
        validators={**Draft4Validator.VALIDATORS, **own},
        version="cloud-init",
        type_checker=checker,
    )
