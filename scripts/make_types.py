"""Make the type table, the catalogues, the feature gates and the JSON Schemas for editors in schemas/.

Usage: python -m scripts.make_types

scripts/data/kubevirt/TAG/ describes a KubeVirt release (`scripts.kubevirt_release` reads it). types.json holds every Go
field: JSON name, type and marks; catalog.json the instancetypes and preferences that are deployed, gates.json the state
of each feature gate, validations.json rules of CRDs, which tests hold the checks against. The one table of all releases
keeps what our kinds reach. A field is one word:

    TYPE     Go leaves the empty value out (omitempty); a plain struct is written all the same
    TYPE!    always written, and required by KubeVirt's CRDs
    TYPE=    always written, not required (a pointer as null)
    TYPE~    like TYPE, and null is accepted

TYPE is a Go type: ``*`` before a pointer, ``[]`` before a list, ``map[string]`` before a map, the
name of a struct (with a dot), ``enum:NAME``, or one of the scalars of `render.schemas`.

Where releases differ, a field has several words, the newest first: ``string@1.9|*string@1.6|`` is ``string`` since 1.9,
``*string`` since 1.6, and no field before. A value of an enumeration may have its ``@1.5`` too.
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from render import schemas
from render.model.release import MAIN, NEWEST, release_named, row
from render.pipeline.vocabulary import words
from render.schemas import json_schema

SCHEMAS = Path(__file__).parent.parent / "schemas"
DATA = Path(__file__).parent / "data" / "kubevirt"
RELEASES = sorted(
    (path.name.removeprefix("v").rpartition(".")[0] for path in DATA.glob("v*")),
    key=lambda name: int(name[2:]),
)
#: The releases of the table, the preview included.
ALL = [*RELEASES, MAIN]

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
#: The kinds whose schemas stand beside the table, for editors; ``virt-render schema`` has more, of each release.
FILED = tuple(kind for kind in json_schema.ROOTS if kind.lower() in ROOTS or "Cluster" in kind)


def document(kind: str) -> dict[str, Any]:
    """The JSON Schema of *kind* in the newest release."""
    return json_schema.document(kind, NEWEST, words(NEWEST))


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
# Null is accepted by the API server, which reads metadata without a CRD.
NULLABLE = {("meta.ObjectMeta", "creationTimestamp"), ("meta.ObjectMeta", "deletionTimestamp")}
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

# Kinds of a catalogue, and the type of their specs.
CATALOGUE = {
    "VirtualMachineClusterInstancetype": "instancetype.VirtualMachineInstancetypeSpec",
    "VirtualMachineClusterPreference": "instancetype.VirtualMachinePreferenceSpec",
}

GATE_STATES = ("Alpha", "Beta", "GA", "Deprecated", "Discontinued")

Types = dict[str, dict[str, str]]
"""Go type -> JSON name -> type and marks."""


def resolved(go_type: str) -> str:
    """*go_type*, in the words of the table."""
    prefix, name = re.fullmatch(r"((?:\*|\[\]|map\[string\])*)(.*)", go_type).groups()  # type: ignore[union-attr]
    return prefix + SCALARS.get(name, name)


def word(owner: str, name: str, described: str) -> str:
    """The word of the table for a field, *described* by its type and marks."""
    go_type, *marks = described.split()
    key = (owner, name)
    text = NORMALISED.get(key) or resolved(go_type)
    if go_type == "meta.Time" and "omitzero" not in marks:
        return "*time="  # a struct, which omitempty leaves in: written as null
    if "omitempty" not in marks:
        return text + ("=" if "optional" in marks or "nullable" in marks else "!")
    # A plain struct is written all the same: null is the empty one.
    return text + ("~" if key in NULLABLE or ("nullable" in marks and text.startswith("*")) else "")


def data(release: str, name: str) -> Any:
    """A file of the description of *release*."""
    return json.loads((folder(release) / f"{name}.json").read_text(encoding="utf-8"))


def folder(release: str) -> Path:
    """Where the description of *release* is: its name is the tag that was read."""
    [path] = DATA.glob(f"{MAIN}-*" if release == MAIN else f"v{release}.*")
    return path


def types_of(release: str) -> Types:
    """Every Go type of *release*, those of SUCCESSORS under their later names."""
    types: Types = {
        name: struct for name, struct in data(release, "types").items() if name != "enums"
    }
    for (owner, name, new), old in SUCCESSORS.items():
        described = types[owner].get(name, "")
        if described.partition(" ")[0].endswith(old):
            types[owner][name] = described.replace(old, new, 1)
            types.setdefault(new, types[old])
    return types


Table = dict[str, dict[str, str]]


def table(types: Types) -> Table:
    """Every struct that our kinds reach."""
    found: Table = {}
    open_names = sorted({*ROOTS.values(), *OTHER_ROOTS} & types.keys())
    while open_names:
        name = open_names.pop()
        if name in found:
            continue
        found[name] = {key: word(name, key, described) for key, described in types[name].items()}
        for text in found[name].values():
            struct = re.search(r"[a-z0-9]+\.\w+(?=[!=~]?$)", text)
            if struct and "enum:" not in text:
                open_names.append(struct[0])
    return dict(sorted(found.items()))


def merged(tables: dict[str, Table]) -> Table:
    """One table of all releases, those of *tables* in their order, the oldest first."""
    newest = tables[ALL[-1]]
    others = {name for structs in tables.values() for name in structs} - newest.keys()
    found: Table = {}
    for owner in sorted({*newest, *others}):
        # What reaches a struct has a window of its own: where nothing does, its fields need none.
        known = [release for release in reversed(ALL) if owner in tables[release]]
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


def enums(types: Table) -> dict[str, list[str]]:
    """The values of the enumerations that *types* name; with ``@RELEASE`` what came after the enumeration did."""
    by_release = {release: data(release, "types")["enums"] for release in ALL}
    found: dict[str, list[str]] = {}
    for name in sorted(
        set(
            re.findall(
                r"enum:(\w+\.\w+)",
                " ".join(word for struct in types.values() for word in struct.values()),
            )
        )
    ):
        known = [release for release in ALL if name in by_release[release]]
        oldest = by_release[known[0]][name]
        found[name] = [
            value
            if value in oldest
            else f"{value}@{next(release for release in known if value in by_release[release][name])}"
            for value in by_release[known[-1]][name]
        ]
    return found


def catalogue(release: str) -> dict[str, Any]:
    """The cluster instancetypes and preferences that a release deploys, as `render.resolve.bundled` reads them."""
    found = data(release, "catalog")
    version = release_named(release) or NEWEST
    return {
        "kubevirt": folder(release).name,
        "common-instancetypes": found["common-instancetypes"],
        **{
            kind: {
                name: schemas.decode(spec, type_name, version)[0]
                for name, spec in found[kind].items()
            }
            for kind, type_name in CATALOGUE.items()
        },
    }


def gates(release: str) -> dict[str, list[str]]:
    """The feature gates that *release* registers by their state, as `render.model.cluster.gates` reads them."""
    states = data(release, "gates")
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


def files() -> Iterator[tuple[Path, str]]:
    """Everything that is made from the description of the releases.

    The schemas of kinds are made of the table as it is by then in ``schemas/``: write one before you ask for the next.
    """
    types = merged({release: table(types_of(release)) for release in ALL})
    yield (
        SCHEMAS / "kubevirt.types.json",
        f'{{"enums":{{\n{lines(enums(types))}\n}},\n"types":{{\n{lines(types)}\n}}}}\n',
    )
    known = ",\n".join(f'"{release}": {{\n{lines(gates(release))}\n}}' for release in ALL)
    yield SCHEMAS / "gates.json", f"{{{known}}}\n"
    for release in ALL:
        parts = catalogue(release)
        text = ",\n".join(
            f"{json.dumps(key)}:{{\n{lines(part)}\n}}"
            if isinstance(part, dict)
            else f"{json.dumps(key)}:{json.dumps(part)}"
            for key, part in parts.items()
        )
        file = SCHEMAS / "catalog" / row(release_named(release) or NEWEST).catalogue
        yield file, f"{{{text}}}\n"
    for kind in FILED:
        yield SCHEMAS / f"{kind.lower()}.schema.json", json.dumps(document(kind), indent=1) + "\n"


def main() -> None:
    """Write `files`."""
    for path, text in files():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
