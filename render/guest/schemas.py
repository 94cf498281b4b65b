"""cloud-init's JSON schemas, and jsonschema with the keywords that cloud-init adds to it.

``schemas/cloud-init`` holds them as they are. Of that for cloud-config, which is a list of modules, only those are
asked that define a key of the document: the others have nothing to say. Upstream: cloudinit/config/schema.py
(get_jsonschema_validator).
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from jsonschema import Draft4Validator, FormatChecker, ValidationError
from jsonschema.exceptions import best_match
from jsonschema.validators import create

from render.guest.problem import Problem
from render.model import types
from render.model.fieldpath import FieldPath
from render.model.hints import Any

Schema = dict[str, Any]
Errors = Iterator[ValidationError]
_NETWORKS = {1: "network-v1", 2: "network-v2"}
#: Without a version cloud-init takes the newest.
_NETWORK = "network-v2"
_TYPED = "anyOf_type_"
_NAME = "x-name"
_LONGEST = 4096
"""Characters of a text that a pattern is tried on: some of cloud-init's take the square of that in steps."""


class _DeprecationError(ValidationError):
    """No error: that something is deprecated, since *version*."""

    def __init__(self, version: str, cure: str) -> None:
        super().__init__("deprecated")
        self.version = version
        self.cure = cure


def cloud_config(value: dict[Any, Any]) -> list[Problem]:
    """What the schema says of a cloud-config that is a mapping."""
    modules, known = _modules()
    unknown = tuple(str(key) for key in value if key not in known)
    # cloud-init takes the name out of a message, where it stands between quotes.
    place = unknown if len(unknown) == 1 and "'" not in unknown[0] else ()
    problems = [Problem(place, "additionalProperties", keys=unknown)] if unknown else []
    for key, item in value.items():
        for module in modules.get(key, ()):
            problems += _problems(module, item, (key,))
    return list(dict.fromkeys(problems))


def _network_version(value: dict[Any, Any]) -> Any:
    """The version of network data that say *value*, with or without the key ``network`` on top."""
    inner = value.get("network", value)
    return inner.get("version") if isinstance(inner, dict) else None


def network(value: dict[Any, Any]) -> list[Problem]:
    """What the schema of its version says of network data that are a mapping."""
    version = _network_version(value)
    name = _NETWORKS.get(version, _NETWORK) if isinstance(version, int) else _NETWORK
    return list(dict.fromkeys(_problems(_inlined(name), value, ())))


def known_keys() -> frozenset[str]:
    """The keys that a cloud-config may have on top."""
    return _modules()[1]


@cache
def words() -> frozenset[str]:
    """Every name of a field in the schemas: what else stands in a path, somebody else made up."""
    names: set[str] = set()
    for name in ("cloud-config", *_NETWORKS.values()):
        _collect(_schema(name), names)
    return frozenset(names)


def _collect(schema: Any, names: set[str]) -> None:
    if isinstance(schema, dict):
        properties = schema.get("properties")
        names.update(properties if isinstance(properties, dict) else ())
    for item in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(item, dict | list):
            _collect(item, names)


@cache
def _schema(name: str) -> Schema:
    path = os.path.join(types.schemas_folder(), "cloud-init", f"{name}.json")
    with open(path, encoding="utf-8") as file:
        schema: Schema = json.load(file)
    return schema


@cache
def _inlined(name: str) -> Schema:
    schema = _schema(name)
    inlined: Schema = _without_references(schema, schema["$defs"])
    return inlined


@cache
def _modules() -> tuple[Mapping[str, tuple[Schema, ...]], frozenset[str]]:
    """The schemas of each key that the modules of cloud-config define, and all keys that there may be."""
    schema = _schema("cloud-config")
    modules: dict[str, tuple[Schema, ...]] = {}
    for reference in schema["allOf"]:
        module = schema["$defs"][reference["$ref"].rpartition("/")[2]]
        for key, inner in module["properties"].items():
            inlined = _without_references(inner, schema["$defs"])
            modules[key] = (*modules.get(key, ()), inlined)
    return modules, frozenset(schema["properties"])


def _without_references(schema: Any, definitions: Mapping[str, Schema]) -> Any:
    """*schema* with what it refers to in its place: following references takes most of the time of a check."""
    if isinstance(schema, list):
        return [_without_references(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inlined = {
        key: _without_references(item, definitions)
        for key, item in schema.items()
        if key not in ("$ref", "$defs", "$schema")
    }
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return inlined
    name = reference.rpartition("/")[2]
    target = _without_references(definitions[name], definitions)
    if inlined.keys() & target.keys():
        return {**inlined, "allOf": [*inlined.get("allOf", ()), target]}
    return {**target, **inlined, _NAME: name}


def _problems(schema: Schema, value: Any, above: FieldPath) -> Iterator[Problem]:
    for error in _validator()(schema, format_checker=_formats()).iter_errors(value):
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
        name = schema.get(_NAME, "")
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
    if isinstance(instance, str) and len(instance) <= _LONGEST and not re.search(pattern, instance):
        yield ValidationError("matches no pattern")


def _unique(_validator: Any, wanted: bool, instance: Any, _schema: Schema) -> Errors:  # noqa: FBT001 - jsonschema's call
    if (
        wanted
        and isinstance(instance, list)
        and len({_hashable(element) for element in instance}) < len(instance)
    ):
        yield ValidationError("has an item twice")


def _hashable(value: Any) -> Any:
    """*value* for comparison: as jsonschema, which tells true from 1, and 1 not from 1.0."""
    if isinstance(value, dict):
        return "{}", frozenset((key, _hashable(item)) for key, item in value.items())
    if isinstance(value, list):
        return "[]", tuple(map(_hashable, value))
    return isinstance(value, bool), value


@cache
def _validator() -> Any:
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
