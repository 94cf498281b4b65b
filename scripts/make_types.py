"""Make the type table and the JSON Schemas for editors in schemas/.

Usage: python scripts/make_types.py FROM.json

FROM.json describes every Go field of the KubeVirt release: per type its kind, and per field JSON
name, type, omitempty and inline. The table keeps what our kinds reach, with inlined structs
flattened and aliases resolved. A field is one word:

    TYPE     Go leaves the empty value out (omitempty); a plain struct is written all the same
    TYPE!    always written, and required by KubeVirt's CRDs
    TYPE=    always written, not required (a pointer as null)
    TYPE~    like TYPE, and null is accepted

TYPE is a Go type: ``*`` before a pointer, ``[]`` before a list, ``map[string]`` before a map, the
name of a struct (with a dot), ``enum:NAME``, or one of the scalars of `render.schemas`.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).parent.parent / "schemas"
RELEASE = "v1.9.0"

ROOTS = {
    "virtualmachine": "kubevirt.VirtualMachine",
    "virtualmachineinstance": "kubevirt.VirtualMachineInstance",
    "virtualmachineinstancepreset": "kubevirt.VirtualMachineInstancePreset",
    "virtualmachineinstancetype": "instancetype.VirtualMachineInstancetype",
    "virtualmachinepreference": "instancetype.VirtualMachinePreference",
}
OTHER_ROOTS = ("kubevirt.KubeVirt", "cdi.DataVolume", "cdi.DataSource")
CLUSTER_KINDS = {
    "virtualmachineclusterinstancetype": "instancetype.VirtualMachineInstancetype",
    "virtualmachineclusterpreference": "instancetype.VirtualMachinePreference",
}
KINDS = {
    "virtualmachineclusterinstancetype": "VirtualMachineClusterInstancetype",
    "virtualmachineclusterpreference": "VirtualMachineClusterPreference",
}

# The table of Go types has no enums. These are KubeVirt's: the first block is what its webhooks
# check (swagger.json), the second what only its CRDs do (validations_generated.go).
ENUMS = {
    "core.DNSPolicy": ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"],
    "core.NodeInclusionPolicy": ["Honor", "Ignore"],
    "core.NodeSelectorOperator": ["DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"],
    "core.PersistentVolumeAccessMode": [
        "ReadOnlyMany",
        "ReadWriteMany",
        "ReadWriteOnce",
        "ReadWriteOncePod",
    ],
    "core.PersistentVolumeMode": ["Block", "Filesystem", "FromStorageProfile"],
    "core.PullPolicy": ["Always", "IfNotPresent", "Never"],
    "core.TaintEffect": ["NoExecute", "NoSchedule", "PreferNoSchedule"],
    "core.TolerationOperator": ["Equal", "Exists"],
    "core.URIScheme": ["HTTP", "HTTPS"],
    "core.UnsatisfiableConstraintAction": ["DoNotSchedule", "ScheduleAnyway"],
    "cdi.DataVolumeContentType": ["kubevirt", "archive"],
    "kubevirt.InstancetypeReferencePolicy": ["reference", "expand", "expandAll"],
    "kubevirt.MemLockRequirement": ["NotRequired", "Required"],
    "kubevirt.RebootPolicy": ["Reboot", "Terminate"],
    "kubevirt.RoleAggregationStrategy": ["AggregateToDefault", "Manual"],
    "kubevirt.TLSProtocolVersion": ["VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"],
    "kubevirt.VMRolloutStrategy": ["Stage", "LiveUpdate"],
}
# Always written (no omitempty), but optional in the CRDs.
OPTIONAL = {
    ("core.TypedLocalObjectReference", "apiGroup"),
    ("core.TypedObjectReference", "apiGroup"),
    ("kubevirt.Machine", "type"),
    ("kubevirt.NodeMediatedDeviceTypesConfig", "mediatedDeviceTypes"),
}
NULLABLE = {
    ("kubevirt.DataVolumeTemplateSpec", "status"),
    ("kubevirt.CommonInstancetypesDeployment", "enabled"),
    ("kubevirt.ConfidentialComputeConfiguration", "tdx"),
    ("kubevirt.InstancetypeConfiguration", "referencePolicy"),
    ("kubevirt.KubeVirtConfiguration", "changedBlockTrackingLabelSelectors"),
    ("kubevirt.KubeVirtConfiguration", "commonInstancetypesDeployment"),
    ("kubevirt.KubeVirtConfiguration", "confidentialCompute"),
    ("kubevirt.KubeVirtConfiguration", "instancetype"),
    ("kubevirt.KubeVirtConfiguration", "persistentReservationConfiguration"),
    ("kubevirt.KubeVirtConfiguration", "virtTemplateDeployment"),
    ("kubevirt.KubeVirtConfiguration", "vmRolloutStrategy"),
    ("kubevirt.PersistentReservationConfiguration", "enabled"),
    ("kubevirt.VirtTemplateDeployment", "enabled"),
    ("meta.ObjectMeta", "creationTimestamp"),
    ("meta.ObjectMeta", "deletionTimestamp"),
}
# Custom decoders of KubeVirt's API package (custom_types.go): the value is sanitised when read.
NORMALISED = {
    ("core.PodDNSConfig", "nameservers"): "[]ip",
    ("kubevirt.DHCPOptions", "ntpServers"): "[]ip",
    ("kubevirt.PodNetwork", "vmNetworkCIDR"): "cidr",
}
SCALARS = {
    "resource.Quantity": "quantity",
    "intstr.IntOrString": "intstr",
    "meta.Time": "time",
    "meta.Duration": "duration",
    "meta.FieldsV1": "any",
    "runtime.RawExtension": "any",
}

Types = dict[str, Any]


def fields(types: Types, name: str) -> list[dict[str, Any]]:
    """The fields of a struct, those of inlined structs included."""
    found: list[dict[str, Any]] = []
    for field in types[name].get("fields", ()):
        if field.get("inline"):
            found += fields(types, field["type"].lstrip("*"))
        else:
            found.append(field)
    return found


def resolved(types: Types, go_type: str) -> str:
    """*go_type* with its aliases resolved."""
    prefix, name = re.fullmatch(r"((?:\*|\[\]|map\[[^\]]*\])*)(.*)", go_type).groups()  # type: ignore[union-attr]
    prefix = re.sub(r"map\[[^\]]*\]", "map[string]", prefix)
    if name in ENUMS:
        return f"{prefix}enum:{name}"
    if name in SCALARS:
        return prefix + SCALARS[name]
    if name in types and types[name]["kind"] == "string":
        return prefix + "string"
    return prefix + name


def word(types: Types, owner: str, field: dict[str, Any]) -> str:
    """The word of the table for *field*."""
    key = (owner, field["name"])
    text = NORMALISED.get(key) or resolved(types, field["type"])
    if not field.get("omitempty"):
        return text + ("=" if key in OPTIONAL else "!")
    return text + ("~" if key in NULLABLE else "")


def table(types: Types) -> dict[str, dict[str, str]]:
    """Every struct that our kinds reach, except through ``status``."""
    roots = {*ROOTS.values(), *OTHER_ROOTS}
    found: dict[str, dict[str, str]] = {}
    open_names = sorted(roots)
    while open_names:
        name = open_names.pop()
        if name in found:
            continue
        found[name] = {}
        for field in fields(types, name):
            if name in roots and field["name"] == "status":
                continue
            found[name][field["name"]] = text = word(types, name, field)
            struct = re.search(r"[a-z0-9]+\.\w+(?=[!=~]?$)", text)
            if struct and not text.lstrip("*[]").startswith("enum:"):
                open_names.append(struct[0])
    return dict(sorted(found.items()))


_QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
JSON_SCALARS: dict[str, dict[str, Any]] = {
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


def json_schema(text: str, reached: set[str]) -> dict[str, Any]:
    """The JSON Schema of a word without its mark; the structs it names go into *reached*."""
    text = text.removeprefix("*")
    if text.startswith("[]"):
        return {"type": "array", "items": json_schema(text[2:], reached)}
    if text.startswith("map[string]"):
        values = json_schema(text.removeprefix("map[string]"), reached)
        return {"type": "object", "additionalProperties": values}
    if text.startswith("enum:"):
        return {"enum": ENUMS[text.removeprefix("enum:")]}
    if text in JSON_SCALARS:
        return JSON_SCALARS[text]
    if "." in text:
        reached.add(text)
        return {"$ref": f"#/$defs/{text}"}
    return {"type": "integer"} | ({"minimum": 0} if text.startswith("uint") else {})


def definition(struct: dict[str, str], reached: set[str]) -> dict[str, Any]:
    """The JSON Schema of a struct."""
    properties: dict[str, Any] = {}
    for name, text in struct.items():
        schema = json_schema(text.rstrip("!=~"), reached)
        properties[name] = {"anyOf": [schema, {"type": "null"}]} if text[-1] in "=~" else schema
    required = [name for name, text in struct.items() if text.endswith("!")]
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": required} if required else {})


def document(structs: dict[str, dict[str, str]], kind: str, root: str) -> dict[str, Any]:
    """The JSON Schema of a kind."""
    reached: set[str] = set()
    top = definition(structs[root], reached)
    top["properties"] |= {"kind": {"const": kind}, "status": {}}
    top["required"] = ["apiVersion", "kind", *top.get("required", ())]
    definitions: dict[str, Any] = {}
    while open_names := sorted(reached - set(definitions)):
        for name in open_names:
            definitions[name] = definition(structs[name], reached)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{kind} as KubeVirt {RELEASE} reads it",
        **top,
        "$defs": dict(sorted(definitions.items())),
    }


def main(source: str) -> None:
    """Write schemas/kubevirt-RELEASE.types.json and one JSON Schema a kind."""
    structs = table(json.loads(Path(source).read_text(encoding="utf-8")))
    lines = ",\n".join(
        f"{json.dumps(name)}:{json.dumps(struct, separators=(',', ':'))}"
        for name, struct in structs.items()
    )
    (SCHEMAS / f"kubevirt-{RELEASE}.types.json").write_text(
        f'{{"release":"{RELEASE}",\n"enums":{json.dumps(ENUMS)},\n"types":{{\n{lines}\n}}}}\n',
        encoding="utf-8",
    )
    for file, root in (ROOTS | CLUSTER_KINDS).items():
        schema = document(structs, KINDS.get(file) or root.partition(".")[2], root)
        text = json.dumps(schema, indent=1) + "\n"
        (SCHEMAS / f"{file}.schema.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
