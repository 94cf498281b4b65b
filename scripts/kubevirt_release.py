"""Read a KubeVirt release: its Go types, feature gates, bundled definitions and CRD rules, as data to review.

Usage: python -m scripts.kubevirt_release CHECKOUT VERSION

CHECKOUT is a git checkout of KubeVirt at the tag VERSION (``v1.9.0``). It is read as text, nothing of it is built:
``scripts/read_kubevirt`` reads the Go source. Written is ``scripts/data/kubevirt/VERSION``, in the place of another
patch release of the same minor. VERSION may be ``main``, whatever the checkout is at: that is the release to preview,
in ``main-COMMIT``.

    types.json        Go type -> JSON name -> type and marks, of everything that our kinds reach; enumerations
    gates.json        feature gate -> state
    catalog.json      kind -> name -> spec of the instancetypes and preferences that are deployed
    validations.json  kind -> path -> what its CRD says there beyond types, required fields and enumerations

``make generate`` makes ``schemas/`` of them (`scripts.make_types`).
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from render.model.release import MAIN
from scripts import make_types

READER = Path(__file__).parent / "read_kubevirt"
GENERATED = Path("pkg/virt-operator/resource/generate/components")
BUNDLES = {
    "VirtualMachineClusterInstancetype": "common-clusterinstancetypes-bundle.yaml",
    "VirtualMachineClusterPreference": "common-clusterpreferences-bundle.yaml",
}
#: The kinds whose CRDs count; the cluster kinds have the schema of the namespaced ones.
KINDS = (
    "VirtualMachine",
    "VirtualMachineInstance",
    "VirtualMachineInstancePreset",
    "VirtualMachineInstanceReplicaSet",
    "VirtualMachineInstancetype",
    "VirtualMachinePool",
    "VirtualMachinePreference",
)
#: Rules of a CRD that the type table does not have.
KEYWORDS = (
    "default",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
)
#: Kinds that have another one in them: where, and which.
EMBEDDED = (
    ("VirtualMachinePool", "spec.virtualMachineTemplate.", "VirtualMachine"),
    ("VirtualMachineInstanceReplicaSet", "spec.template.", "VirtualMachineInstance"),
    ("VirtualMachine", "spec.template.", "VirtualMachineInstance"),
    ("VirtualMachineInstancePreset", "", "VirtualMachineInstance"),
)
#: Quantities: the type table says so.
QUANTITY = "x-kubernetes-int-or-string"


class ReleaseError(Exception):
    """The checkout is not what was asked for."""


def source(checkout: Path) -> dict[str, Any]:
    """What ``scripts/read_kubevirt`` says of *checkout*. ReleaseError with its words."""
    command = [
        "go",
        "run",
        ".",
        str(checkout.resolve()),
        *make_types.ROOTS.values(),
        *make_types.OTHER_ROOTS,
    ]
    done = subprocess.run(command, cwd=READER, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(done.stderr.strip())
    return dict(json.loads(done.stdout))


def git(checkout: Path, *words: str) -> list[str]:
    """The words that git prints of *checkout*; none for a folder that is no git checkout."""
    command = ["git", "-C", str(checkout), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


def place(checkout: Path, version: str) -> tuple[str, str]:
    """The folder for what is read of *checkout*, and the pattern of those whose place it takes.

    ReleaseError if the checkout is not at *version*.
    """
    if version == MAIN:
        commit = git(checkout, "rev-parse", "--short=10", "HEAD")
        if not commit:
            raise ReleaseError(f"{checkout} is no git checkout")
        return f"{MAIN}-{commit[0]}", f"{MAIN}-*"
    if not re.fullmatch(r"v\d+\.\d+\.\d+", version):
        raise ReleaseError(f"{version} is no tag of a release, such as v1.9.0, nor {MAIN}")
    if version not in (tags := git(checkout, "tag", "--points-at", "HEAD")):
        at = ", ".join(tags) or "a commit without a tag"
        raise ReleaseError(f"{checkout} is not at {version}, but at {at}")
    return version, f"{version.rpartition('.')[0]}.*"


def catalogue(checkout: Path) -> dict[str, Any]:
    """The bundled instancetypes and preferences: the version of the bundle, and kind -> name -> spec."""
    found: dict[str, Any] = {"common-instancetypes": ""}
    for kind, name in BUNDLES.items():
        [file] = (checkout / GENERATED / "data").rglob(name)
        with file.open(encoding="utf-8") as stream:
            bundle = [item for item in YAML(typ="safe").load_all(stream) if item]
        found[kind] = {item["metadata"]["name"]: item["spec"] for item in bundle}
        labels = bundle[0]["metadata"]["labels"]
        found["common-instancetypes"] = labels[
            "instancetype.kubevirt.io/common-instancetypes-version"
        ]
    return found


def rules(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The path of each node of an OpenAPI *schema* that has one of KEYWORDS, and these."""
    found = {key: schema[key] for key in KEYWORDS if key in schema}
    if schema.get("x-kubernetes-list-type") == "set":
        found["x-kubernetes-list-type"] = "set"
    if schema.get(QUANTITY):
        found.pop("pattern", None)
    if found:
        yield path, found
    for name, child in schema.get("properties", {}).items():
        if not (path == "" and name == "status"):
            yield from rules(child, f"{path}.{name}" if path else name)
    if "items" in schema:
        yield from rules(schema["items"], f"{path}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from rules(schema["additionalProperties"], f"{path}{{}}")


def validations(schemas: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Kind -> path -> its rules. What a kind has of another one (a VMI in a VM) stands in that one only."""
    yaml = YAML(typ="safe")
    found = {}
    for kind in KINDS:
        known = next(text for name, text in schemas.items() if name.lower() == kind.lower())
        found[kind] = dict(rules(yaml.load(known)["openAPIV3Schema"]))
    for kind, prefix, inner in EMBEDDED:
        found[kind] = {
            path: rule
            for path, rule in found[kind].items()
            if not path.startswith(prefix) or found[inner].get(path.removeprefix(prefix)) != rule
        }
    return found


def text(value: dict[str, Any]) -> str:
    """*value* as JSON, a line for each entry of its entries."""
    parts = []
    for name, entry in value.items():
        if isinstance(entry, dict):
            lines = ",\n".join(
                f"  {json.dumps(key)}: {json.dumps(item)}" for key, item in entry.items()
            )
            parts.append(
                f"{json.dumps(name)}: {{\n{lines}\n}}" if lines else f"{json.dumps(name)}: {{}}"
            )
        else:
            parts.append(f"{json.dumps(name)}: {json.dumps(entry)}")
    return "{" + ",\n".join(parts) + "}\n"


def write(checkout: Path, version: str) -> Path:
    """Read *checkout*, write the data of *version*, and say where. ReleaseError if it is another release."""
    if not (checkout / GENERATED).is_dir():
        raise ReleaseError(f"{checkout} is no checkout of kubevirt/kubevirt: it has no {GENERATED}")
    name, replaced = place(checkout, version)
    found = source(checkout)
    files = {
        "types": {
            **dict(sorted(found["structs"].items())),
            "enums": dict(sorted(found["enums"].items())),
        },
        "gates": dict(sorted(found["gates"].items())),
        "catalog": catalogue(checkout),
        "validations": validations(found["schemas"]),
    }
    for older in make_types.DATA.glob(replaced):
        shutil.rmtree(older)
    folder = make_types.DATA / name
    folder.mkdir()
    for file, content in files.items():
        (folder / f"{file}.json").write_text(text(content), encoding="utf-8")
    return folder


def main() -> None:
    """Do as the words of the command say."""
    match sys.argv[1:]:
        case [checkout, version]:
            try:
                print(write(Path(checkout), version))
            except ReleaseError as error:
                raise SystemExit(f"kubevirt_release: {error}") from None
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
