"""Make the type table, the catalogues, the feature gates and the JSON Schemas for editors in schemas/.

Usage: python -m scripts.make_types

scripts/data/kubevirt/RELEASE/ describes the KubeVirt releases. Of these files, catalog holds the instancetypes and
preferences that are deployed, and gates the state of each feature gate; defaults and validations describe webhooks and
CRDs for who writes rules, and nothing is made of them. kubevirt-types and pool-types hold every Go field: per type its
kind, and per field JSON name, type, omitempty and inline. The one table of all releases keeps what our kinds reach,
with inlined structs flattened and aliases resolved. A field is one word:

    TYPE     Go leaves the empty value out (omitempty); a plain struct is written all the same
    TYPE!    always written, and required by KubeVirt's CRDs
    TYPE=    always written, not required (a pointer as null)
    TYPE~    like TYPE, and null is accepted

TYPE is a Go type: ``*`` before a pointer, ``[]`` before a list, ``map[string]`` before a map, the
name of a struct (with a dot), ``enum:NAME``, or one of the scalars of `render.schemas`.

Where releases differ, a field has several words, the newest first: ``string@1.9|*string@1.6|`` is ``string`` since 1.9,
``*string`` since 1.6, and no field before. A value of an enumeration may have its ``@1.5`` too.
"""

import gzip
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

from render import schemas
from render.model.release import NEWEST, release_named

SCHEMAS = Path(__file__).parent.parent / "schemas"
DATA = Path(__file__).parent / "data" / "kubevirt"
RELEASES = sorted((path.name for path in DATA.iterdir()), key=lambda name: int(name[2:]))

ROOTS = {
    "virtualmachine": "kubevirt.VirtualMachine",
    "virtualmachineinstance": "kubevirt.VirtualMachineInstance",
    "virtualmachineinstancepreset": "kubevirt.VirtualMachineInstancePreset",
    "virtualmachineinstancetype": "instancetype.VirtualMachineInstancetype",
    "virtualmachinepreference": "instancetype.VirtualMachinePreference",
}
OTHER_ROOTS = (
    "kubevirt.KubeVirt",
    "kubevirt.VirtualMachineInstanceReplicaSet",
    "cdi.DataVolume",
    "cdi.DataSource",
    "pool.VirtualMachinePool",
    "poolv1alpha1.VirtualMachinePool",
)
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
    "pool.StatePreservation": ["Disabled", "Offline", "Online"],
    "pool.VirtualMachinePoolSortPolicy": [
        "AscendingOrder",
        "DescendingOrder",
        "Newest",
        "Oldest",
        "Random",
    ],
    "poolv1alpha1.StatePreservation": ["Disabled", "Offline", "Online"],
    "poolv1alpha1.VirtualMachinePoolBasePolicy": ["Random", "DescendingOrder"],
    "poolv1alpha1.VirtualMachinePoolSortPolicy": [
        "AscendingOrder",
        "DescendingOrder",
        "Newest",
        "Oldest",
        "Random",
    ],
}
# The description of the releases has no replica sets; they are the same in all (staging/src/kubevirt.io/api/core/v1).
REPLICA_SET = {
    "kubevirt.VirtualMachineInstanceReplicaSet": {
        "kind": "struct",
        "fields": [
            {"name": "", "type": "meta.TypeMeta", "inline": True},
            {"name": "metadata", "type": "meta.ObjectMeta", "omitempty": True},
            {"name": "spec", "type": "kubevirt.VirtualMachineInstanceReplicaSetSpec"},
        ],
    },
    "kubevirt.VirtualMachineInstanceReplicaSetSpec": {
        "kind": "struct",
        "fields": [
            {"name": "replicas", "type": "*int32", "omitempty": True},
            {"name": "selector", "type": "*meta.LabelSelector"},
            {"name": "template", "type": "*kubevirt.VirtualMachineInstanceTemplateSpec"},
            {"name": "paused", "type": "bool", "omitempty": True},
        ],
    },
}
# Since when a value of an enumeration is known, where not always.
ENUM_SINCE = {("core.PersistentVolumeMode", "FromStorageProfile"): "1.5"}
# Structs that took the place of another one in a field: before, the field had the old one under the name of the new.
SUCCESSORS = {
    ("kubevirt.FeatureHyperv", "tlbflush", "kubevirt.TLBFlush"): "kubevirt.FeatureState",
    (
        "kubevirt.VirtualMachineInstanceSpec",
        "resourceClaims",
        "kubevirt.VirtualMachineInstanceResourceClaim",
    ): "core.PodResourceClaim",
    (
        "cdi.StorageSpec",
        "resources",
        "core.VolumeResourceRequirements",
    ): "core.ResourceRequirements",
}
# Fields that came with a patch release: (release of the data, owner, field) -> the patch release.
PATCHES = {
    ("1.6", "cdi.DataVolumeSourceRegistry", "platform"): "1.6.4",
    ("1.6", "cdi.DataVolumeSourceVDDK", "extraArgs"): "1.6.4",
    ("1.5", "kubevirt.Watchdog", "diag288"): "1.5.1",
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

# Kind, key of the description, and type of the specs in a catalogue.
CATALOGUE = (
    (
        "VirtualMachineClusterInstancetype",
        "instancetypes",
        "instancetype.VirtualMachineInstancetypeSpec",
    ),
    (
        "VirtualMachineClusterPreference",
        "preferences",
        "instancetype.VirtualMachinePreferenceSpec",
    ),
)

GATE_STATES = ("Alpha", "Beta", "GA", "Deprecated", "Discontinued")

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
    if field["type"] == "meta.Time" and not field.get("omitzero"):
        return "*time="  # a struct, which omitempty leaves in: written as null
    if not field.get("omitempty"):
        return text + ("=" if key in OPTIONAL else "!")
    return text + ("~" if key in NULLABLE else "")


def data(release: str, name: str) -> Any:
    """A file of the description of *release*."""
    with gzip.open(DATA / release / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


def types_of(release: str) -> Types:
    """Every Go type of *release*, those of SUCCESSORS under their later names."""
    types: Types = {
        **data(release, "kubevirt-types"),
        **data(release, "pool-types"),
        **REPLICA_SET,
    }
    for (owner, name, new), old in SUCCESSORS.items():
        for field in types[owner]["fields"]:
            if field["name"] == name and field["type"].endswith(old):
                field["type"] = field["type"].replace(old, new)
                types.setdefault(new, types[old])
    return types


Table = dict[str, dict[str, str]]


def table(types: Types) -> Table:
    """Every struct that our kinds reach, except through ``status``."""
    roots = {*ROOTS.values(), *OTHER_ROOTS} & types.keys()
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


def merged(tables: dict[str, Table]) -> Table:
    """One table of all releases, those of *tables* in their order, the oldest first."""
    newest = tables[RELEASES[-1]]
    others = {name for structs in tables.values() for name in structs} - newest.keys()
    found: Table = {}
    for owner in sorted({*newest, *others}):
        # What reaches a struct has a window of its own: where nothing does, its fields need none.
        known = [release for release in reversed(RELEASES) if owner in tables[release]]
        names = dict.fromkeys(name for release in known for name in tables[release][owner])
        found[owner] = {
            name: windowed(owner, name, [(r, tables[r][owner].get(name, "")) for r in known])
            for name in names
        }
    return found


def windowed(owner: str, name: str, words: list[tuple[str, str]]) -> str:
    """The words of a field by release, the newest first, as one."""
    found = []
    for (release, text), (_, before) in pairwise(words):
        if text != before:
            found.append(f"{text}@{PATCHES.get((release, owner, name), release)}")
    return "|".join([*found, words[-1][1]])


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
        "title": f"{kind} as KubeVirt {data(RELEASES[-1], 'catalog')['kubevirt']} reads it",
        **top,
        "$defs": dict(sorted(definitions.items())),
    }


def enums() -> dict[str, list[str]]:
    """ENUMS, with the releases of ENUM_SINCE."""
    return {
        name: [
            f"{value}@{ENUM_SINCE[name, value]}" if (name, value) in ENUM_SINCE else value
            for value in values
        ]
        for name, values in ENUMS.items()
    }


def catalogue(release: str) -> dict[str, Any]:
    """The cluster instancetypes and preferences that a release deploys, as `render.resolve.bundled` reads them."""
    found = data(release, "catalog")
    version = release_named(release) or NEWEST
    return {
        "kubevirt": found["kubevirt"],
        "common-instancetypes": found["common-instancetypes"],
        **{
            kind: {
                name: schemas.decode(spec, type_name, version)[0]
                for name, spec in found[key].items()
            }
            for kind, key, type_name in CATALOGUE
        },
    }


def gates(release: str) -> dict[str, list[str]]:
    """The feature gates that *release* registers by their state, as `render.model.cluster.gates` reads them."""
    states = {name: gate["state"] for name, gate in data(release, "gates")["gates"].items()}
    return {
        state: sorted(name for name in states if states[name] == state)
        for state in GATE_STATES
        if state in states.values()
    }


def lines(structs: dict[str, Any]) -> str:
    """*structs* as JSON, one a line."""
    return ",\n".join(
        f"{json.dumps(name)}:{json.dumps(struct, separators=(',', ':'))}"
        for name, struct in structs.items()
    )


def main() -> None:
    """Write everything that is made from the description of the releases."""
    tables = {release: table(types_of(release)) for release in RELEASES}
    (SCHEMAS / "kubevirt.types.json").write_text(
        f'{{"enums":{json.dumps(enums())},\n"types":{{\n{lines(merged(tables))}\n}}}}\n',
        encoding="utf-8",
    )
    known = ",\n".join(f'"{release}": {{\n{lines(gates(release))}\n}}' for release in RELEASES)
    (SCHEMAS / "gates.json").write_text(f"{{{known}}}\n", encoding="utf-8")
    for release in RELEASES:
        parts = catalogue(release)
        text = ",\n".join(
            f"{json.dumps(key)}:{{\n{lines(part)}\n}}"
            if isinstance(part, dict)
            else f"{json.dumps(key)}:{json.dumps(part)}"
            for key, part in parts.items()
        )
        file = SCHEMAS / "catalog" / f"kubevirt-{parts['kubevirt']}.json"
        file.write_text(f"{{{text}}}\n", encoding="utf-8")
    for file_name, root in (ROOTS | CLUSTER_KINDS).items():
        schema = document(
            tables[RELEASES[-1]], KINDS.get(file_name) or root.partition(".")[2], root
        )
        text = json.dumps(schema, indent=1) + "\n"
        (SCHEMAS / f"{file_name}.schema.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
