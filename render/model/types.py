"""The type table: which fields KubeVirt's Go types have, and when Go writes them.

``schemas/kubevirt-RELEASE.types.json`` holds it, made by ``scripts/make_types.py``, which also says
how a field is written there. The file is read once, and a type is looked into when it is asked for.
"""

import json
import os
from functools import cache
from typing import NamedTuple

RELEASE = "v1.9.0"


class Field(NamedTuple):
    """One JSON field of a Go struct.

    *type* is its Go type (``*`` a pointer, ``[]`` a list, ``map[string]`` a map), *omitempty*
    whether Go leaves its empty value out, *required* whether KubeVirt's CRDs ask for it, *nullable*
    whether they accept null.
    """

    type: str
    omitempty: bool
    required: bool
    nullable: bool


def schemas_folder() -> str:
    """The folder of the schemas: in an installed package, or at the top of the source tree."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    installed = os.path.join(package, "_schemas")
    return installed if os.path.isdir(installed) else os.path.join(package, os.pardir, "schemas")


@cache
def _table() -> tuple[dict[str, dict[str, str]], dict[str, list[str]]]:
    path = os.path.join(schemas_folder(), f"kubevirt-{RELEASE}.types.json")
    with open(path, "rb") as file:
        table = json.loads(file.read())
    return table["types"], table["enums"]


@cache
def fields(type_name: str) -> dict[str, Field]:
    """The fields of a struct by JSON name, in Go's order; KeyError for a name without a struct."""
    return {name: _field(word) for name, word in _table()[0][type_name].items()}


def _field(word: str) -> Field:
    mark = word[-1]
    return Field(
        type=word.rstrip("!=~"),
        omitempty=mark not in "!=",
        required=mark == "!",
        nullable=mark == "~" or (mark == "=" and word.startswith("*")),
    )


def is_struct(type_name: str) -> bool:
    """Whether the table has a struct of that name."""
    return type_name in _table()[0]


def enum(name: str) -> tuple[str, ...]:
    """The values of an enumeration, in the order of KubeVirt's messages."""
    return tuple(_table()[1][name])


def type_names() -> tuple[str, ...]:
    """The names of all structs of the table, sorted."""
    return tuple(sorted(_table()[0]))
