"""What the API server makes of a HyperConverged before anyone reads it: pruned, defaulted, validated.

Upstream: deploy/crds/hco00.crd.yaml of the hyperconverged-cluster-operator; the rules and the texts
are those of k8s.io/apiextensions-apiserver (pkg/apiserver/schema) and k8s.io/kube-openapi.
``schemas/hyperconverged.json`` holds the schema of every release, made by
``scripts/make_hyperconverged.py``, which also says what its words mean.
"""

import json
import os
import re
from collections.abc import Callable, Collection, Iterator
from functools import cache

from render.diagnostics.cause import Cause
from render.diagnostics.fix import respelled, retyped
from render.model import fieldpath, tree
from render.model.apimachinery import quantity
from render.model.apimachinery.duration import is_duration
from render.model.apimachinery.quantity import QuantityError
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Version, version
from render.model.tree import Tree
from render.model.types import INTEGERS, schemas_folder

Schema = dict[str, Any]

_CHECK = "hyperconverged/schema"
_JSON_NAMES = {
    bool: "boolean",
    dict: "object",
    float: "number",
    int: "integer",
    list: "array",
    str: "string",
    type(None): "null",
}


@cache
def _file() -> dict[str, dict[str, Schema]]:
    with open(os.path.join(schemas_folder(), "hyperconverged.json"), "rb") as file:
        document: dict[str, dict[str, Schema]] = json.loads(file.read())
    return document


@cache
def schema(api_version: str, release: Version) -> Schema | None:
    """The schema of *api_version* (``v1beta1``) in the KubeVirt *release*; None where it is not served."""
    node = _file()["versions"].get(api_version)
    return _in_force(node, release) if node is not None and _exists(node, release) else None


def _exists(node: Schema, release: Version) -> bool:
    since, until = node.get("since"), node.get("until")
    return (since is None or release >= version(since)) and (
        until is None or release < version(until)
    )


_WINDOW = frozenset(("since", "until", "windows"))


def _in_force(node: Schema, release: Version) -> Schema:
    """*node* without windows and references."""
    if "$ref" in node:
        node = _file()["definitions"][node["$ref"]]
    keywords = {key: value for key, value in node.items() if key not in _WINDOW}
    for windowed in node.get("windows", ()):
        if _exists(windowed, release):
            keywords |= {key: value for key, value in windowed.items() if key not in _WINDOW}
    if "properties" in keywords:
        keywords["properties"] = {
            name: _in_force(child, release)
            for name, child in keywords["properties"].items()
            if _exists(child, release)
        }
    for key in ("items", "additionalProperties"):
        if key in keywords:
            keywords[key] = _in_force(keywords[key], release)
    return keywords


def window(api_version: str, path: FieldPath) -> tuple[str | None, str | None]:
    """The KubeVirt release since which there is a field at *path*, and until which; None for either if always.

    Both are None, too, where no release has the field.
    """
    node: Schema | None = _file()["versions"].get(api_version)
    bounds: tuple[str | None, str | None] = None, None
    for step in path:
        if node is not None and "$ref" in node:
            node = _file()["definitions"][node["$ref"]]
        node = node and (node.get("items") if isinstance(step, int) else _child(node, step))
        if node is None:
            return None, None
        bounds = node.get("since", bounds[0]), node.get("until", bounds[1])
    return bounds


class UnknownField(NamedTuple):
    """A field that nobody knows: where it stands, and the *known* ones there."""

    path: FieldPath
    known: Collection[str]


def pruned(spec: Any, node: Schema) -> tuple[Any, list[UnknownField]]:
    """*spec* without the fields that *node* does not know, and these."""
    unknown: list[UnknownField] = []
    return _prune(spec, node, ("spec",), unknown), unknown


def _prune(value: Any, node: Schema | None, place: FieldPath, unknown: list[UnknownField]) -> Any:
    if isinstance(value, list):
        items = None if node is None else node.get("items")
        return [_prune(item, items, (*place, i), unknown) for i, item in enumerate(value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)  # 5.0 in YAML is 5 in the request
    if not isinstance(value, dict):
        return value
    pruned: Tree = {}
    for key, item in value.items():
        child = _child(node, key)
        if child is None:
            known = [] if node is None else node.get("properties", ())
            unknown.append(UnknownField((*place, key), known))
        else:
            pruned[key] = _prune(item, child, (*place, key), unknown)
    return pruned


def _child(node: Schema | None, key: str) -> Schema | None:
    """The schema of the field *key*."""
    if node is None:
        return None
    child: Schema | None = node.get("properties", {}).get(key) or node.get("additionalProperties")
    return child


def defaulted(value: Any, node: Schema) -> Any:
    """*value* with the defaults of *node*, and without nulls that *node* does not accept."""
    if isinstance(value, list):
        items = node.get("items")
        return value if items is None else [defaulted(item, items) for item in value]
    if not isinstance(value, dict):
        return value
    filled = dict(value)
    for key, item in value.items():
        child = _child(node, key)
        if item is None and child is not None and not child.get("nullable"):
            del filled[key]
    for key, child in node.get("properties", {}).items():
        if key not in filled and "default" in child:
            filled[key] = tree.copy(child["default"])
    for key, item in filled.items():
        child = _child(node, key)
        if child is not None:
            filled[key] = defaulted(item, child)
    return filled


def undecodable(value: Any, node: Schema, place: FieldPath = ("spec",)) -> Iterator[FieldPath]:
    """Where *value* does not fit the operator's Go types: its webhooks cannot read such an object."""
    if value is None:
        return
    if not _decodes(value, node):
        yield place
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from undecodable(item, node.get("items", {}), (*place, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from undecodable(item, _child(node, key) or {}, (*place, key))


def _decodes(value: Any, node: Schema) -> bool:
    if node.get("intOrString"):
        if type(value) not in (int, str):
            return False
        return "pattern" not in node or _is_quantity(value)
    if type(value) is not _PYTHON.get(node.get("type", ""), type(value)):
        return False
    go = node.get("go") or node.get("format") or node.get("type")
    if go == "duration":
        return is_duration(str(value))
    if type(value) is int:
        least, most = INTEGERS.get(go or "", INTEGERS["int64"])
        return least <= value <= most
    return True


_PYTHON = {"array": list, "boolean": bool, "integer": int, "object": dict, "string": str}


def _is_quantity(value: int | str) -> bool:
    try:
        quantity.canonical(value)
    except QuantityError:
        return False
    return True


def invalid(body: Tree, node: Schema) -> list[Cause]:
    """Why the schema refuses *body*, a HyperConverged that is pruned and defaulted; in document order."""
    name, spec = tree.get(body, "metadata", "name"), body.get("spec")
    causes: list[Cause] = []
    top = node["properties"]
    name_node = top["metadata"]["properties"]["name"]
    causes += _invalid(name if isinstance(name, str) else "", name_node, ("metadata", "name"))
    causes += _invalid(spec, top["spec"], ("spec",)) if spec is not None else ()
    # The API server asks the rules of an object only if it has the right shape.
    return causes or list(_broken(spec, top["spec"], ("spec",)))


def _cause(place: FieldPath, message: str, help_text: str) -> Cause:
    return Cause(_CHECK, place, message, help_text)


def _wrong(value: Any, place: FieldPath, rest: str, help_text: str) -> Cause:
    literal = json.dumps(value, ensure_ascii=False)
    message = f"Invalid value: {literal}: {fieldpath.text(place)} in body {rest}"
    return _cause(place, message, help_text)


def _invalid(value: Any, node: Schema, place: FieldPath) -> Iterator[Cause]:
    if value is None and node.get("nullable"):
        yield from _not_listed(value, node, place)
        return
    expected = node.get("type")
    # A number is an integer too where JSON Schema asks for a number; HyperConverged has no such field.
    if expected is not None and type(value) is not _PYTHON[expected]:
        actual = _JSON_NAMES[type(value)]
        rest = f'must be of type {expected}: "{actual}"'
        cause = _wrong(actual, place, rest, f"write it as {_WORDS[expected]}")
        yield cause._replace(fixes=retyped(place, value, expected))
        return
    yield from _not_listed(value, node, place)
    if isinstance(value, dict):
        yield from _invalid_object(value, node, place)
    elif isinstance(value, list):
        yield from _invalid_list(value, node, place)
    elif isinstance(value, str):
        yield from _invalid_text(value, node, place)
    elif "minimum" in node and value < node["minimum"]:
        least = node["minimum"]
        yield _wrong(
            value, place, f"should be greater than or equal to {least}", f"give {least} or more"
        )


_WORDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "object": "a mapping",
    "string": "a string",
}


def _not_listed(value: Any, node: Schema, place: FieldPath) -> Iterator[Cause]:
    if "enum" in node and value not in node["enum"]:
        values = ", ".join(json.dumps(each) for each in node["enum"])
        message = f"Unsupported value: {json.dumps(value)}: supported values: {values}"
        cause = _cause(place, message, f"give one of {values}")
        known = [each for each in node["enum"] if isinstance(each, str)]
        yield cause._replace(fixes=respelled(place, value, known) if isinstance(value, str) else ())


def _invalid_object(value: Tree, node: Schema, place: FieldPath) -> Iterator[Cause]:
    for name in node.get("required", ()):
        if name not in value:
            yield _cause((*place, name), "Required value", f"add {name}")
    for key, item in value.items():
        child = _child(node, key)
        if child is not None:
            yield from _invalid(item, child, (*place, key))


def _invalid_list(value: list[Any], node: Schema, place: FieldPath) -> Iterator[Cause]:
    most = node.get("maxItems")
    if most is not None and len(value) > most:
        message = f"Too many: {len(value)}: must have at most {most} item{'s' if most > 1 else ''}"
        yield _cause(place, message, "take entries out")
    keys = node.get("listKeys")
    seen: list[Any] = []
    for index, item in enumerate(value):
        if node.get("set") or (keys and isinstance(item, dict)):
            known = {key: item[key] for key in keys if key in item} if keys else item
            if known in seen:
                duplicate = json.dumps(known, ensure_ascii=False, separators=(",", ":"))
                yield _cause(
                    (*place, index), f"Duplicate value: {duplicate}", "take one of them out"
                )
            seen.append(known)
    items = node.get("items")
    if items is not None:
        for index, item in enumerate(value):
            yield from _invalid(item, items, (*place, index))


def _invalid_text(value: str, node: Schema, place: FieldPath) -> Iterator[Cause]:
    pattern = node.get("pattern")
    if pattern is not None and not re.search(pattern, value):
        yield _wrong(
            value, place, f"should match '{pattern}'", "write it in the form that is asked for"
        )
    if len(value) < node.get("minLength", 0):
        least = node["minLength"]
        yield _wrong(value, place, f"should be at least {least} chars long", "give a value")
    if len(value.encode(errors="surrogatepass")) > node.get("maxLength", 2**31):
        message = f"Too long: may not be more than {node['maxLength']} bytes"
        yield _cause(place, message, "shorten it")


def _named_once(gates: list[Tree]) -> bool:
    names = [gate["name"].lower() for gate in gates]
    return len(set(names)) == len(names)


def _has_types(devices: Tree) -> bool:
    return bool(devices.get("mediatedDeviceTypes") or devices.get("mediatedDevicesTypes"))


def _none_is_alone(values: list[Any]) -> bool:
    return len(values) <= 1 or "none" not in values


#: What x-kubernetes-validations ask for, by the message of the one that asks.
_RULES: dict[str, Callable[[Any], bool]] = {
    "feature gate names must be unique (case-insensitive)": _named_once,
    "for mediatedDevicesConfiguration a non-empty mediatedDeviceTypes or mediatedDevicesTypes(deprecated) "
    "is required": _has_types,
    "for nodeMediatedDeviceTypes a non-empty mediatedDeviceTypes or mediatedDevicesTypes(deprecated) "
    "is required": _has_types,
    "both rangeStart and rangeEnd must be configured together, or both omitted": lambda pool: (
        ("rangeStart" in pool) == ("rangeEnd" in pool)
    ),
    "vmiCPUAllocationRatio must be greater than 0": lambda held: (
        held.get("vmiCPUAllocationRatio", 1) > 0
    ),
    "'none' cannot be combined with other values": _none_is_alone,
}


def _broken(value: Any, node: Schema, place: FieldPath) -> Iterator[Cause]:
    """The rules of *node*, and of what is below it, that *value* breaks."""
    if value is None:
        return
    for message in node.get("rules", ()):
        if not _RULES[message](value):
            yield _cause(place, f"Invalid value: {message}", "follow what it asks for")
    if isinstance(value, dict):
        for key, item in value.items():
            child = _child(node, key)
            if child is not None:
                yield from _broken(item, child, (*place, key))
    elif isinstance(value, list) and "items" in node:
        for index, item in enumerate(value):
            yield from _broken(item, node["items"], (*place, index))
