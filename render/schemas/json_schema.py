"""JSON Schemas of KubeVirt's kinds, for editors: fields and types of a release, with our words for what they are."""

import os
from collections.abc import Mapping
from functools import cache

from render.model import types
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.release import Version, newest_patch, tag

#: The Go type of each kind that has a schema.
ROOTS = {
    "VirtualMachine": "kubevirt.VirtualMachine",
    "VirtualMachineInstance": "kubevirt.VirtualMachineInstance",
    "VirtualMachineInstancePreset": "kubevirt.VirtualMachineInstancePreset",
    "VirtualMachineInstanceReplicaSet": "kubevirt.VirtualMachineInstanceReplicaSet",
    "VirtualMachinePool": "pool.VirtualMachinePool",
    "VirtualMachineInstancetype": "instancetype.VirtualMachineInstancetype",
    "VirtualMachineClusterInstancetype": "instancetype.VirtualMachineInstancetype",
    "VirtualMachinePreference": "instancetype.VirtualMachinePreference",
    "VirtualMachineClusterPreference": "instancetype.VirtualMachinePreference",
    "KubeVirt": "kubevirt.KubeVirt",
}
#: What a pool is in releases before its v1beta1.
_OLDER = {"pool.VirtualMachinePool": "poolv1alpha1.VirtualMachinePool"}
_QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
_SCALARS: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "float32": {"type": "number"},
    "quantity": {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": _QUANTITY}]},
    "intstr": {"type": ["integer", "string"]},
    "time": {"type": ["string", "null"]},
    "duration": {"type": "string"},
    "ip": {"type": "string"},
    "cidr": {"type": "string"},
    "any": {},
}
#: What is said of a field by its type alone.
_OF_TYPES = {"quantity": "An amount, like 2Gi or 500m.", "duration": "A duration, like 1h30m."}
Words = Mapping[tuple[str, str], tuple[str, ...]]
"""The words that a text field of a type may be, beside what its type says."""


@cache
def descriptions() -> Mapping[tuple[str, str], str]:
    """What fields are, by their Go type and JSON name."""
    with open(os.path.join(types.schemas_folder(), "descriptions.tsv"), encoding="utf-8") as file:
        rows = (line.rstrip("\n").partition("\t") for line in file)
        return {(*name.rpartition(".")[::2],): text for name, _, text in rows}


def document(kind: str, release: Version, words: Words) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of *kind* in *release*; KeyError for a kind without one."""
    root = ROOTS[kind]
    if not types.fields(root, release):
        root = _OLDER[root]
    reached: set[str] = set()
    top = _struct(root, release, words, reached)
    top["properties"] |= {"kind": {"const": kind}, "status": {}}
    top["required"] = ["apiVersion", "kind", *top.get("required", ())]
    definitions: dict[str, Any] = {}
    while open_names := sorted(reached - set(definitions)):
        for name in open_names:
            definitions[name] = _struct(name, release, words, reached)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{kind} as KubeVirt {tag(newest_patch(release))} reads it",
        **top,
        "$defs": dict(sorted(definitions.items())),
    }


def _struct(type_name: str, release: Version, words: Words, reached: set[str]) -> dict[str, Any]:
    """The schema of a struct; the structs that its fields are go into *reached*."""
    fields = types.fields(type_name, release)
    properties: dict[str, Any] = {}
    for name, field in fields.items():
        schema = _typed(field.type, release, reached)
        if schema == {"type": "string"} and (type_name, name) in words:
            schema = {"enum": list(words[type_name, name])}
        if field.nullable or not (field.omitempty or field.required):
            schema = {"anyOf": [schema, {"type": "null"}]}
        text = description(type_name, name, field.type)
        properties[name] = schema | ({"description": text} if text else {})
    required = [name for name, field in fields.items() if field.required]
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": required} if required else {})


def description(type_name: str, name: str, go_type: str) -> str:
    """What the field *name* of a struct is, and since when; ``""`` where its name says it."""
    text = descriptions().get((type_name, name), _OF_TYPES.get(go_type.removeprefix("*"), ""))
    since = types.came_with(type_name, name)
    return " ".join(filter(None, (text, since and f"Since KubeVirt {since}.")))


def _typed(go_type: str, release: Version, reached: set[str]) -> dict[str, Any]:
    go_type = go_type.removeprefix("*")
    if go_type.startswith("[]"):
        return {"type": "array", "items": _typed(go_type[2:], release, reached)}
    if go_type.startswith("map["):
        values = _typed(go_type.partition("]")[2], release, reached)
        return {"type": "object", "additionalProperties": values}
    if go_type.startswith("enum:"):
        return {"enum": list(types.enum(go_type.removeprefix("enum:"), release))}
    if go_type in _SCALARS:
        return _SCALARS[go_type]
    if go_type in types.INTEGERS:
        return {"type": "integer"} | ({"minimum": 0} if go_type.startswith("uint") else {})
    reached.add(go_type)
    return {"$ref": f"#/$defs/{go_type}"}


def place(type_name: str, path: FieldPath, release: Version) -> tuple[str, str] | None:
    """The struct and the field that *path* (with ``[]`` for the items of a list) means in a struct, if it has one."""
    *above, last = path
    for step in above:
        if step == "[]":
            continue
        field = types.fields(type_name, release).get(str(step))
        if field is None:
            return None
        type_name = field.type.removeprefix("*").removeprefix("[]").removeprefix("*")
    return (type_name, str(last)) if types.is_struct(type_name) else None
