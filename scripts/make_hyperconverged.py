"""Make schemas/hyperconverged.json: the schema of HyperConverged in every release, merged.

Usage: python scripts/make_hyperconverged.py CLONE

CLONE is a git clone of kubevirt/hyperconverged-cluster-operator with its release branches. Of each
branch deploy/crds/hco00.crd.yaml is read. The file holds one schema per API version, with OpenAPI's
keywords; what is not the same in every release stands in windows:

    since, until   of a field: the KubeVirt releases that have it
    windows        of a node: more keywords, each set with its own since and until

``go`` is the Go type of a scalar that the schema cannot tell (a duration, an unsigned number): the
operator's webhook refuses what does not fit. ``rules`` are messages of x-kubernetes-validations;
`render.convert.hyperconverged.crd` knows what they ask for. ``status`` is left out: it is never
read from a manifest by the API server.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

TARGET = Path(__file__).parent.parent / "schemas" / "hyperconverged.json"
#: Branches of the operator, and the KubeVirt release that each of them brings.
RELEASES = {
    "release-1.14": "1.4",
    "release-1.15": "1.5",
    "release-1.16": "1.6",
    "release-1.17": "1.7",
    "release-1.18": "1.8",
    "release-1.19": "1.9",
}
# Go types (api/v1beta1, api/v1) of fields whose schema says string or integer.
GO = {
    "batchEvictionInterval": "duration",
    "duration": "duration",
    "renewBefore": "duration",
    "maxCpuSockets": "uint32",
    "maxHotplugRatio": "uint32",
    "parallelMigrationsPerCluster": "uint32",
    "parallelOutboundMigrationsPerNode": "uint32",
    "virtAPI": "uint",
    "virtController": "uint",
    "virtHandler": "uint",
    "virtLauncher": "uint",
    "virtOperator": "uint",
    "virtSynchronizationController": "uint",
}
KEYWORDS = {
    "x-kubernetes-int-or-string": "intOrString",
    "x-kubernetes-list-map-keys": "listKeys",
}
LEFT_OUT = {
    "anyOf",  # goes with intOrString
    "description",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
}
WINDOW = ("since", "until")
BELOW = ("items", "additionalProperties")
SHARED = 200  # a node of that many characters that stands in several places is written once

Node = dict[str, Any]


def crd(clone: str, branch: str) -> dict[str, Node]:
    """The schema of each API version that the operator of *branch* serves."""
    source = f"{branch}:deploy/crds/hco00.crd.yaml"
    text = subprocess.run(
        ["git", "-C", clone, "show", source], check=True, capture_output=True, text=True
    ).stdout
    found = {}
    for version in YAML(typ="safe").load(text)["spec"]["versions"]:
        top = version["schema"]["openAPIV3Schema"]["properties"]
        fields = {name: node(name, top[name]) for name in ("metadata", "spec")}
        found[version["name"]] = {"type": "object", "properties": fields}
    return found


def node(name: str, schema: Node) -> Node:
    """*schema*, the field *name*, in the words of our file."""
    found = {KEYWORDS.get(key, key): value for key, value in schema.items() if key not in LEFT_OUT}
    if schema.get("x-kubernetes-list-type") == "set":
        found["set"] = True
    if "x-kubernetes-validations" in schema:
        found["rules"] = [rule["message"] for rule in schema["x-kubernetes-validations"]]
    if name in GO and schema["type"] in ("string", "integer"):
        found["go"] = GO[name]
    if "properties" in schema:
        found["properties"] = {key: node(key, value) for key, value in schema["properties"].items()}
    for key in BELOW:
        if key in schema:
            found[key] = node("", schema[key])
    return found


def window(present: list[str], known: list[str]) -> dict[str, str]:
    """Since and until of what the releases *present* have, out of the releases *known*."""
    first, last = known.index(present[0]), known.index(present[-1])
    if known[first : last + 1] != present:
        raise SystemExit(f"{present} is no window of {known}")
    found = {"since": present[0]} if first else {}
    return found | ({"until": known[last + 1]} if last + 1 < len(known) else {})


def merged(nodes: dict[str, Node]) -> Node:
    """The nodes of one place, by release, as one."""
    known = list(nodes)
    found: Node = {}
    windows: dict[str, Node] = {}
    for key in dict.fromkeys(key for each in nodes.values() for key in each if key != "properties"):
        if key in BELOW and all(key in each for each in nodes.values()):
            found[key] = merged({release: each[key] for release, each in nodes.items()})
            continue
        runs = runs_of(key, nodes)
        if len(runs) == 1:
            found[key] = runs[0][0]
            continue
        for value, releases in runs:
            if value is not None:
                held = window(releases, known)
                windows.setdefault(json.dumps(held), dict(held))[key] = value
    if windows:
        found["windows"] = list(windows.values())
    fields = {release: each.get("properties", {}) for release, each in nodes.items()}
    if names := sorted({name for each in fields.values() for name in each}):
        found["properties"] = {
            name: field({r: each[name] for r, each in fields.items() if name in each}, known)
            for name in names
        }
    return found


def runs_of(key: str, nodes: dict[str, Node]) -> list[tuple[Any, list[str]]]:
    """The values of a keyword, each with the releases in a row that have it; None where it is absent."""
    runs: list[tuple[Any, list[str]]] = []
    for release, each in nodes.items():
        value = each.get(key)
        if not runs or runs[-1][0] != value:
            runs.append((value, []))
        runs[-1][1].append(release)
    return runs


def field(nodes: dict[str, Node], known: list[str]) -> Node:
    """A field, with the window of the releases that have it."""
    return window(list(nodes), known) | merged(nodes)


def children(found: Node) -> list[tuple[str, Node]]:
    """The nodes directly below a node, with their names."""
    below = list(found.get("properties", {}).items())
    return below + [(key, found[key]) for key in BELOW if key in found]


def split(child: Node) -> tuple[dict[str, str], Node, str]:
    """The window of a node, the node without it, and the text that equal nodes share."""
    held: dict[str, str] = {key: child[key] for key in WINDOW if key in child}
    core = {key: value for key, value in child.items() if key not in held}
    return held, core, json.dumps(core, sort_keys=True)


def count(found: Node, seen: Counter[str]) -> None:
    """Count every node that is worth to be written once."""
    for _, child in children(found):
        _, core, text = split(child)
        if len(text) >= SHARED:
            seen[text] += 1
        if seen[text] <= 1:
            count(core, seen)


def shared(
    found: Node, seen: Counter[str], definitions: dict[str, Node], names: dict[str, str]
) -> Node:
    """*found* with what stands in several places replaced by a reference to *definitions*."""

    def place(name: str, child: Node) -> Node:
        held, core, text = split(child)
        if seen[text] < 2:  # noqa: PLR2004
            return held | shared(core, seen, definitions, names)
        if text not in names:
            title = name
            while title in definitions:
                title += "_"
            names[text] = title
            definitions[title] = {}
            definitions[title] = shared(core, seen, definitions, names)
        return held | {"$ref": names[text]}

    found = dict(found)
    if "properties" in found:
        found["properties"] = {key: place(key, child) for key, child in found["properties"].items()}
    for key in BELOW:
        if key in found:
            found[key] = place(key, found[key])
    return found


def main(clone: str) -> None:
    """Write schemas/hyperconverged.json."""
    read = {release: crd(clone, branch) for branch, release in RELEASES.items()}
    versions: dict[str, Node] = {}
    for version in ("v1beta1", "v1"):
        nodes = {release: served[version] for release, served in read.items() if version in served}
        versions[version] = window(list(nodes), list(RELEASES.values())) | merged(nodes)
    seen: Counter[str] = Counter()
    for found in versions.values():
        count(found, seen)
    definitions: dict[str, Node] = {}
    names: dict[str, str] = {}
    versions = {key: shared(found, seen, definitions, names) for key, found in versions.items()}
    blocks = [
        f'"{title}":{{\n'
        + ",\n".join(
            f"{json.dumps(key)}:{json.dumps(value, separators=(',', ':'))}"
            for key, value in part.items()
        )
        + "}"
        for title, part in (("definitions", definitions), ("versions", versions))
    ]
    TARGET.write_text("{" + ",\n".join(blocks) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
