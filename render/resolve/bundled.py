"""The cluster instancetypes and preferences that KubeVirt deploys itself, per release.

Upstream: pkg/virt-operator/resource/generate/components/data/common-instancetypes. Facts only: names and specs.
"""

import json
import os
from functools import cache
from typing import Any

from render.model import types
from render.model.release import Version, row
from render.model.tree import Tree

KINDS = ("VirtualMachineClusterInstancetype", "VirtualMachineClusterPreference")


@cache
def catalog(release: Version) -> dict[str, Any]:
    """The shipped catalogue: a mapping of names to specs for each of KINDS, and where it comes from."""
    path = os.path.join(types.schemas_folder(), "catalog", row(release).catalogue)
    with open(path, "rb") as file:
        loaded: dict[str, Any] = json.loads(file.read())
    return loaded


def definitions(release: Version) -> dict[tuple[str, str], Tree]:
    """(kind, name) -> spec of everything that KubeVirt *release* deploys."""
    shipped = catalog(release)
    return {(kind, name): spec for kind in KINDS for name, spec in shipped[kind].items()}


def body(release: Version, kind: str, name: str) -> Tree:
    """The shipped object as a manifest. Raises KeyError for an unknown one."""
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": catalog(release)[kind][name],
    }
