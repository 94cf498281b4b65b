"""The type table: which fields KubeVirt's Go types have in a release, and when Go writes them.

``schemas/kubevirt.types.json`` holds it for all releases, made by ``scripts/make_types.py``, which also says how a
field is written there. The file is read once, and a type, which is one line of it, is parsed when it is asked for.
What the CRDs of CDI have (pkg/operator/resources/crds_generated.go there), by its own versions, is written in the same
way in ``schemas/cdi.types.json``: types named ``importer.NAME``.
"""

import json
import os
from functools import cache

from render.model import packaged
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.release import Version, version

VM_TYPE = "kubevirt.VirtualMachine"
VMI_TYPE = "kubevirt.VirtualMachineInstance"
#: Go's whole numbers -> the least and the greatest value.
INTEGERS = {
    "int": (-(2**63), 2**63 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint": (0, 2**64 - 1),
    "uint8": (0, 2**8 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}


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
    return packaged.folder("_schemas", "schemas")


_KUBEVIRT, _CDI = "kubevirt.types.json", "cdi.types.json"
_OF_CDI = "importer."


def owner(type_name: str) -> str:
    """Whose API has the type."""
    return "CDI" if type_name.startswith(_OF_CDI) else "KubeVirt"


def _file_of(type_name: str) -> str:
    return _CDI if type_name.startswith(_OF_CDI) else _KUBEVIRT


@cache
def _table(name: str) -> tuple[dict[str, str], str]:
    """The JSON text of each struct of a file, and that of its enumerations."""
    with open(os.path.join(schemas_folder(), name), encoding="utf-8") as file:
        enums, _, structs = file.read().partition(_TYPES)
    lines = (line.partition(":") for line in structs[: -len(_END)].split(",\n"))
    return {name[1:-1]: text for name, _, text in lines}, enums.removeprefix('{"enums":')


_TYPES, _END = ',\n"types":{\n', "\n}}\n"


@cache
def _words(type_name: str) -> dict[str, str]:
    """The words of a struct by JSON name, as they are written; KeyError for a name without a struct."""
    words: dict[str, str] = json.loads(_table(_file_of(type_name))[0][type_name])
    return words


@cache
def _enums(file: str) -> dict[str, list[str]]:
    enums: dict[str, list[str]] = json.loads(_table(file)[1])
    return enums


@cache
def fields(type_name: str, release: Version) -> dict[str, Field]:
    """The fields of a struct in *release* by JSON name, in Go's order; KeyError for a name without a struct."""
    return {
        name: _field(word)
        for name, words in _words(type_name).items()
        if (word := _in_release(words, release) if "@" in words else words)
    }


def _in_release(words: str, release: Version) -> str:
    """The one of *words* that *release* has, ``""`` if none: each with what it came with, the newest first."""
    for word in words.split("|"):
        text, _, came = word.partition("@")
        if not came or version(came) <= release:
            return text
    return ""


@cache
def _field(word: str) -> Field:
    mark = word[-1]
    return Field(
        type=word.rstrip("!=~"),
        omitempty=mark not in "!=",
        required=mark == "!",
        nullable=mark == "~" or (mark == "=" and word.startswith("*")),
    )


def came_with(type_name: str, field: str) -> str:
    """The release (``1.8``) that brought a *field* which an older one lacks, ``""`` where none did."""
    *words, oldest = _words(type_name).get(field, "").split("|")
    return words[-1].partition("@")[2] if words and not oldest else ""


def is_struct(type_name: str) -> bool:
    """Whether the table has a struct of that name."""
    return type_name in _table(_file_of(type_name))[0]


def enum(name: str, release: Version) -> tuple[str, ...]:
    """The values of an enumeration in *release*, in the order of KubeVirt's messages."""
    values = _enums(_file_of(name))[name]
    return tuple(value.partition("@")[0] for value in values if _in_release(value, release))


def type_names() -> tuple[str, ...]:
    """The names of all structs of KubeVirt, sorted."""
    return tuple(sorted(_table(_KUBEVIRT)[0]))


#: Go type -> the value that it has where nothing is given.
_ZEROS: dict[str, str | int | bool] = {"string": "", "bool": False}


def zero_at(type_name: str, path: FieldPath, release: Version) -> str | int | bool | None:
    """Go's zero value of the field at *path* of a struct; None for what is no text, number or boolean."""
    go_type = type_name
    for step in path:
        if isinstance(step, int) or go_type.startswith("map["):
            go_type = go_type.removeprefix("[]").partition("]")[2] or go_type.removeprefix("[]")
        else:
            go_type = fields(go_type.removeprefix("*"), release)[step].type
        go_type = go_type.removeprefix("*")
    if go_type.startswith("enum:"):
        return ""
    if go_type.startswith(("int", "uint")) and not go_type.startswith("intstr"):
        return 0
    return _ZEROS.get(go_type)
