"""Decoding: names and types checked, quantities canonical, what Go's omitempty drops dropped.

A type is compiled into a converter when a value of it is first met, and field by field: a manifest
uses few of the fields that there are. The rules of presence are those of KubeVirt's CRDs
(pkg/virt-operator/resource/generate/components/validations_generated.go), the messages those of its
webhooks.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from operator import is_
from typing import Any, NamedTuple

from render.diagnostics.diagnostic import Diagnostic, at
from render.model import quantity, types
from render.model.addresses import sanitised_cidr, sanitised_ip
from render.model.quantity import QuantityError
from render.model.resource import INSTANCETYPE, KUBEVIRT, Resource
from render.model.tree import Tree
from render.schemas import problems as report
from render.schemas.problems import Link, Problem

_TYPE_OF_KIND = {
    (KUBEVIRT, "KubeVirt"): "kubevirt.KubeVirt",
    (KUBEVIRT, "VirtualMachine"): "kubevirt.VirtualMachine",
    (KUBEVIRT, "VirtualMachineInstance"): "kubevirt.VirtualMachineInstance",
    (KUBEVIRT, "VirtualMachineInstancePreset"): "kubevirt.VirtualMachineInstancePreset",
    (INSTANCETYPE, "VirtualMachineInstancetype"): "instancetype.VirtualMachineInstancetype",
    (INSTANCETYPE, "VirtualMachineClusterInstancetype"): "instancetype.VirtualMachineInstancetype",
    (INSTANCETYPE, "VirtualMachinePreference"): "instancetype.VirtualMachinePreference",
    (INSTANCETYPE, "VirtualMachineClusterPreference"): "instancetype.VirtualMachinePreference",
}
_OBJECTS = frozenset(_TYPE_OF_KIND.values()) | {"cdi.DataVolume", "cdi.DataSource"}
_KEPT_STATUS = ("instancetypeRef", "preferenceRef")
_INTEGERS = {
    "int": (-(2**63), 2**63 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint": (0, 2**64 - 1),
    "uint8": (0, 2**8 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}

Convert = Callable[[Any, Link, list[Problem]], Any]
_DROPPED: Any = object()


class _Reader(NamedTuple):
    """How a value of a Go type is read.

    *python* is its type in a JSON tree (None: *convert* decides), *convert* what changes or checks
    it (None: nothing), *json* the word for its type in messages.
    """

    python: type | None
    convert: Convert | None
    json: str


class _Rule(NamedTuple):
    """A reader with what the field says: whether an empty value is dropped, and null accepted."""

    python: type | None
    convert: Convert | None
    json: str
    drops: bool
    nullable: bool


def decode(tree: Tree, type_name: str) -> tuple[Tree, list[Problem]]:
    """Read *tree* as the Go type *type_name* (``kubevirt.VirtualMachineInstanceSpec``).

    Comes back: a tree of what Go keeps, and the findings in the order of the input. What is
    unknown or mistyped is left out; what stays as it was is shared with *tree*. Of a whole object
    the server's own fields go: ``status`` but for the references to stored revisions,
    ``managedFields``, and null in ``metadata``.
    """
    problems: list[Problem] = []
    if type_name not in _OBJECTS:
        return _struct(type_name)(tree, (), problems), problems
    body = {key: item for key, item in tree.items() if key != "status"}
    metadata = tree.get("metadata")
    if isinstance(metadata, dict):
        body["metadata"] = {
            key: item
            for key, item in metadata.items()
            if item is not None and key != "managedFields"
        }
    found = _struct(type_name)(body, (), problems)
    status = tree.get("status")
    if isinstance(status, dict):
        kept = {key: status[key] for key in _KEPT_STATUS if isinstance(status.get(key), dict)}
        if kept:
            found = {**found, "status": kept}
    return found, problems


def decode_resource(resource: Resource) -> tuple[Tree, list[Diagnostic]]:
    """Read a whole object; one of a kind that is not KubeVirt's comes back as it is."""
    type_name = _TYPE_OF_KIND.get((resource.group, resource.kind))
    if type_name is None:
        return resource.body, []
    tree, problems = decode(resource.body, type_name)
    return tree, [
        code.at(at(resource, path), message, help=help_text)
        for code, path, message, help_text in problems
    ]


class _Rules(dict[str, _Rule]):
    """The rules of a struct by field, made when asked for; KeyError for a field it has not."""

    def __init__(self, type_name: str) -> None:
        super().__init__()
        self.fields = types.fields(type_name)

    def __missing__(self, name: str) -> _Rule:
        field = self.fields[name]
        kept = field.type.startswith("*") or types.is_struct(field.type)
        drops = field.omitempty and not kept
        rule = self[name] = _Rule(*_reader(field.type), drops, field.nullable)
        return rule


@cache
def _struct(type_name: str) -> Convert:
    rules = _Rules(type_name)
    required = {name for name, field in rules.fields.items() if field.required}
    usual = _Usual(rules)

    def convert(value: Tree, link: Link, problems: list[Problem]) -> Tree:
        found = value
        for key, item in value.items():
            python, change, drops = usual[key]
            if type(item) is not python or (drops and not item):
                new = _unusual(key, item, rules, link, problems)
            elif change is None:
                continue
            else:
                new = change(item, (link, key), problems)
            if new is not item:
                if found is value:
                    found = value.copy()
                if new is _DROPPED or (drops and not new):
                    del found[key]
                else:
                    found[key] = new
        if not required <= value.keys():
            problems.extend(
                report.missing(name, link, field.type)
                for name, field in rules.fields.items()
                if name in required and name not in value
            )
        return found

    return convert


class _Usual(dict[str, tuple[type | None, Convert | None, bool]]):
    """Of the rules of a struct what is needed for nearly every value; plain tuples are taken apart fastest."""

    def __init__(self, rules: _Rules) -> None:
        super().__init__()
        self._rules = rules

    def __missing__(self, name: str) -> tuple[type | None, Convert | None, bool]:
        if name not in self._rules.fields:
            return None, None, False
        rule = self._rules[name]
        self[name] = rule.python, rule.convert, rule.drops
        return self[name]


def _unusual(key: str, item: Any, rules: _Rules, link: Link, problems: list[Problem]) -> Any:
    """What becomes of an *item* that is unknown, empty, null, or not of the one type that its field has."""
    if key not in rules.fields:
        problems.append(report.unknown(key, link, rules.fields))
        return _DROPPED
    python, change, json, drops, nullable = rules[key]
    if type(item) is python or (python is None and item is not None):
        new = item if change is None else change(item, (link, key), problems)
        return new if new or not drops else _DROPPED
    if item is not None or not nullable:
        problems.append(report.mistyped(item, json, (link, key)))
    return _DROPPED


@cache
def _reader(go_type: str) -> _Reader:
    go_type = go_type.removeprefix("*")
    if go_type.startswith("[]"):
        return _Reader(list, _list(_reader(go_type[2:])), "array")
    if go_type.startswith("map["):
        return _Reader(dict, _map(_reader(go_type.partition("]")[2])), "object")
    if go_type.startswith("enum:"):
        return _Reader(str, _enum(types.enum(go_type.removeprefix("enum:"))), "string")
    if go_type in _INTEGERS:
        return _Reader(int, _integer(*_INTEGERS[go_type]), "integer")
    return _SCALARS.get(go_type) or _Reader(dict, _struct(go_type), "object")


def _list(reader: _Reader) -> Convert:
    python, change, _ = reader
    read, usual = _item(reader), {python}

    def convert(value: list[Any], link: Link, problems: list[Problem]) -> list[Any]:
        if not usual.issuperset(map(type, value)):
            found = [read(item, (link, index), problems) for index, item in enumerate(value)]
        elif change is None:
            return value
        else:
            found = [change(item, (link, index), problems) for index, item in enumerate(value)]
        if all(map(is_, found, value)):
            return value
        return [item for item in found if item is not _DROPPED]

    return convert


def _map(reader: _Reader) -> Convert:
    python, change, _ = reader
    read, usual = _item(reader), {python}

    def convert(value: Tree, link: Link, problems: list[Problem]) -> Tree:
        if change is None and usual.issuperset(map(type, value.values())):
            return value
        found = {key: read(item, (link, key), problems) for key, item in value.items()}
        if all(map(is_, found.values(), value.values())):
            return value
        return {key: item for key, item in found.items() if item is not _DROPPED}

    return convert


def _item(reader: _Reader) -> Convert:
    """What reads an entry of a list or of a mapping, of whatever type it turns out to be."""
    python, change, json = reader

    def convert(value: Any, link: Link, problems: list[Problem]) -> Any:
        if type(value) is not python and (python is not None or value is None):
            problems.append(report.mistyped(value, json, link))
            return _DROPPED
        return value if change is None else change(value, link, problems)

    return convert


def _enum(values: tuple[str, ...]) -> Convert:
    def convert(value: str, link: Link, problems: list[Problem]) -> Any:
        if value in values:
            return value
        problems.append(report.not_listed(value, values, link))
        return _DROPPED

    return convert


def _integer(least: int, most: int) -> Convert:
    def convert(value: int, link: Link, problems: list[Problem]) -> Any:
        if least <= value <= most:
            return value
        problems.append(report.out_of_range(value, least, most, link))
        return _DROPPED

    return convert


def _one_of(json: str, *accepted: type) -> _Reader:
    """A reader of values of several JSON types."""

    def convert(value: Any, link: Link, problems: list[Problem]) -> Any:
        if type(value) in accepted:
            return value
        problems.append(report.mistyped(value, json, link))
        return _DROPPED

    return _Reader(None, convert, json)


_QUANTITY_JSON = "string,integer,number"


def _quantity(value: Any, link: Link, problems: list[Problem]) -> Any:
    if type(value) is not str and type(value) is not int and type(value) is not float:
        problems.append(report.mistyped(value, _QUANTITY_JSON, link))
        return _DROPPED
    try:
        found = _canonical(value) if isinstance(value, str) else _canonical_number(value)
    except QuantityError as error:
        problems.append(report.no_quantity(value, str(error), link))
        return _DROPPED
    return value if found == value else found


@lru_cache(maxsize=4096)
def _canonical(text: str) -> str:
    """The canonical text; QuantityError also for what Go's parser reads and the CRDs refuse."""
    # QUIRK(pkg/api/resource/quantity.go): Go prints 62.5Ki as 64000, and reads that as 64k. What we write is
    # read again by the cluster, so it is the text that stays.
    found = quantity.canonical(quantity.canonical(text))
    if text != text.strip():
        raise QuantityError("there is a space around it")
    if not text.lstrip("+-.")[:1].isdigit():
        raise QuantityError("there is no number before the suffix")
    return found


def _canonical_number(number: float) -> str:
    if type(number) is float and not number.is_integer():
        raise QuantityError("a fraction must be written as a string, in quotes")
    return quantity.canonical(number)


_SCALARS = {
    "any": _Reader(None, None, "object"),
    "bool": _Reader(bool, None, "boolean"),
    "cidr": _Reader(str, lambda value, _link, _problems: sanitised_cidr(value), "string"),
    "duration": _Reader(str, None, "string"),
    "float32": _one_of("number", int, float),
    "intstr": _one_of("string,integer", int, str),
    "ip": _Reader(str, lambda value, _link, _problems: sanitised_ip(value), "string"),
    "quantity": _Reader(None, _quantity, _QUANTITY_JSON),
    "string": _Reader(str, None, "string"),
    "time": _Reader(str, None, "string"),
}
