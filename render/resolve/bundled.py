"""The cluster instancetypes and preferences that KubeVirt deploys itself, per release.

Upstream: pkg/virt-operator/resource/generate/components/data/common-instancetypes. Facts only: names and specs.
``scripts/make_types.py`` writes a spec a line; one is parsed when it is asked for.
"""

import json
import os
from collections.abc import Iterator, Mapping
from functools import cache

from render.model import types
from render.model.release import Version, row
from render.model.tree import Tree

KINDS = ("VirtualMachineClusterInstancetype", "VirtualMachineClusterPreference")
_KIND = '"VirtualMachine'


class Shipped(Mapping[tuple[str, str], Tree]):
    """(kind, name) -> spec, each parsed once, of the *lines* with their JSON text."""

    def __init__(self, lines: dict[tuple[str, str], str]) -> None:
        self._lines = lines
        self._specs: dict[tuple[str, str], Tree] = {}

    def __getitem__(self, key: tuple[str, str]) -> Tree:
        if key not in self._specs:
            self._specs[key] = json.loads(self._lines[key])
        return self._specs[key]

    def __contains__(self, key: object) -> bool:
        return key in self._lines

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


@cache
def definitions(release: Version) -> Shipped:
    """(kind, name) -> spec of everything that KubeVirt *release* deploys."""
    path = os.path.join(types.schemas_folder(), "catalog", row(release).catalogue)
    with open(path, encoding="utf-8") as file:
        _, *parts = file.read().split(f",\n{_KIND}")
    lines = {}
    for part in parts:
        head, *rows = part.split("\n")
        kind = f"{_KIND}{head}".split('"')[1]
        for entry in rows:
            name, _, text = entry.partition(":")
            if text:
                lines[kind, name.strip('"')] = text.removesuffix(",")
    return Shipped(lines)


def body(release: Version, kind: str, name: str) -> Tree:
    """The shipped object as a manifest. Raises KeyError for an unknown one."""
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": definitions(release)[kind, name],
    }
