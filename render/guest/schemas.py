"""cloud-init's JSON schemas.

``schemas/cloud-init`` holds them as they are. Of that for cloud-config, which is a list of modules, only those are
asked that define a key of the document: the others have nothing to say.
"""

import json
import os
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache

from render.model import types
from render.model.hints import Any

Schema = dict[str, Any]
_NETWORKS = {1: "network-v1", 2: "network-v2"}
#: Without a version cloud-init takes the newest.
_NETWORK = "network-v2"
NAME = "x-name"
"""In a schema to which another one refers: how it is called there."""
LONGEST = 4096
"""Characters of a text that a pattern is tried on: some of cloud-init's take the square of that in steps."""

_MOST_KEYS = 512
"""That are remembered: documents may have any."""


def known_keys() -> frozenset[str]:
    """The keys that a cloud-config may have on top."""
    return frozenset(_schema("cloud-config")["properties"])


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


@lru_cache(_MOST_KEYS)
def of_key(key: Any) -> tuple[Schema, ...]:
    """What the modules of cloud-config that define *key* demand of its value."""
    definitions = _schema("cloud-config")["$defs"]
    return tuple(_without_references(inner, definitions) for inner in _modules().get(key, ()))


@cache
def _modules() -> Mapping[str, list[Schema]]:
    """The schemas of each key that the modules of cloud-config define."""
    schema = _schema("cloud-config")
    modules = defaultdict(list)
    for reference in schema["allOf"]:
        module = schema["$defs"][reference["$ref"].rpartition("/")[2]]
        for key, inner in module["properties"].items():
            modules[key].append(inner)
    return modules


def of_network(version: Any) -> Schema:
    """The schema of network data of a *version*."""
    return _inlined(_NETWORKS.get(version, _NETWORK) if isinstance(version, int) else _NETWORK)


@cache
def _inlined(name: str) -> Schema:
    schema = _schema(name)
    inlined: Schema = _without_references(schema, schema["$defs"])
    return inlined


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
    return {**target, **inlined, NAME: name}


def hashable(value: Any) -> Any:
    """*value* for comparison: as jsonschema, which tells true from 1, and 1 not from 1.0."""
    if isinstance(value, dict):
        return "{}", frozenset((key, hashable(item)) for key, item in value.items())
    if isinstance(value, list):
        return "[]", tuple(map(hashable, value))
    return isinstance(value, bool), value
