"""Decoding: names and types checked, quantities canonical, what Go's omitempty drops dropped.

A type is compiled into a converter when a value of it is first met, and field by field: a manifest
uses few of the fields that there are. The rules of presence are those of KubeVirt's CRDs
(pkg/virt-operator/resource/generate/components/validations_generated.go), the messages those of its
webhooks.
"""

from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from operator import is_

from render.diagnostics.cause import Cause
from render.diagnostics.codes import MISSING_FIELD, UNKNOWN_FIELD, of_check
from render.diagnostics.diagnostic import Diagnostic, at
from render.model import types
from render.model.apimachinery import quantity
from render.model.apimachinery.addresses import sanitised_cidr, sanitised_ip
from render.model.apimachinery.quantity import QuantityError
from render.model.counting import counted
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Items, Version, in_force, since
from render.model.resource import INSTANCETYPE_GROUP, KUBEVIRT, Resource
from render.model.tree import Tree
from render.schemas import refusals
from render.schemas.refusals import Link

_TYPE_OF_KIND = {
    (KUBEVIRT, "KubeVirt"): "kubevirt.KubeVirt",
    (KUBEVIRT, "VirtualMachine"): "kubevirt.VirtualMachine",
    (KUBEVIRT, "VirtualMachineInstance"): "kubevirt.VirtualMachineInstance",
    (KUBEVIRT, "VirtualMachineInstancePreset"): "kubevirt.VirtualMachineInstancePreset",
    (INSTANCETYPE_GROUP, "VirtualMachineInstancetype"): "instancetype.VirtualMachineInstancetype",
    (
        INSTANCETYPE_GROUP,
        "VirtualMachineClusterInstancetype",
    ): "instancetype.VirtualMachineInstancetype",
    (INSTANCETYPE_GROUP, "VirtualMachinePreference"): "instancetype.VirtualMachinePreference",
    (
        INSTANCETYPE_GROUP,
        "VirtualMachineClusterPreference",
    ): "instancetype.VirtualMachinePreference",
}
_OBJECTS = frozenset(_TYPE_OF_KIND.values()) | {"cdi.DataVolume", "cdi.DataSource"}
_KEPT_STATUS = ("instancetypeRef", "preferenceRef")
#: Structs with metadata of which a CRD knows nothing, so that the API server leaves nulls there for the webhook.
_TEMPLATES = frozenset(
    {"kubevirt.VirtualMachineInstanceTemplateSpec", "kubevirt.DataVolumeTemplateSpec"}
)

#: What the CRDs fill in, by struct.
_DEFAULTS: dict[str, Tree] = {"kubevirt.ContainerPathVolumeSource": {"readOnly": True}}

#: The least that CRDs allow of a number, by struct and field; of pools the checks of admission say it.
_LEAST: dict[tuple[str, str], Items[int]] = {
    ("kubevirt.DeveloperConfiguration", "memoryOvercommit"): (since("1.6", 10),),
}

_OF_FIELDS = (MISSING_FIELD.number, UNKNOWN_FIELD.number)
_MOST = 1000
_HINTED = 50  # looking for what was meant takes time
Convert = Callable[[Any, Link, list[Cause]], Any]
_DROPPED: Any = object()


class _Reader(NamedTuple):
    """How a value of a Go type is read.

    *python* is its type in a JSON tree (None: *convert* decides), *convert* what changes or checks
    it (None: nothing), *json* the word for its type in messages.
    """

    python: type | None
    convert: Convert | None
    json: str


class _FieldReader(NamedTuple):
    """A reader with what the field says: whether an empty value is dropped, and null accepted."""

    python: type | None
    convert: Convert | None
    json: str
    drops: bool
    nullable: bool


def decode(
    tree: Tree, type_name: str, release: Version, *, settled: str = ""
) -> tuple[Tree, list[Cause]]:
    """Read *tree* as the Go type *type_name* (``kubevirt.VirtualMachineInstanceSpec``) of a KubeVirt *release*.

    Comes back: a tree of what Go keeps, and the findings in the order of the input. What is
    unknown or mistyped is left out; what stays as it was is shared with *tree*. Of a whole object
    the server's own fields go: ``status`` but for the references to stored revisions,
    ``managedFields``, and null in ``metadata``. *settled*: the field of it that is known to come back as it is.
    """
    causes = _Causes()
    if type_name not in _OBJECTS:
        decoded = _struct(type_name, release)(tree, (), causes)
        return decoded, _with_places(causes.all(), tree, type_name, release)
    body = {key: item for key, item in tree.items() if key != "status"}
    metadata = tree.get("metadata")
    if isinstance(metadata, dict):
        body["metadata"] = {
            key: item
            for key, item in metadata.items()
            if item is not None and key != "managedFields"
        }
    decoded = _struct(type_name, release, settled=settled)(body, (), causes)
    status = tree.get("status")
    if isinstance(status, dict):
        kept = {key: status[key] for key in _KEPT_STATUS if isinstance(status.get(key), dict)}
        if kept:
            decoded = {**decoded, "status": kept}
    return decoded, _with_places(causes.all(), tree, type_name, release)


def _with_places(causes: list[Cause], body: Tree, type_name: str, release: Version) -> list[Cause]:
    """*causes* in *body*, unknown fields with the places where they belong."""
    if not any(map(_is_unknown, causes)):
        return causes
    from render.schemas import misplaced

    def misfits(value: Any, go_type: str) -> list[Cause]:
        found: list[Cause] = []
        _item(_reader(go_type, release, opaque=False))(value, (), found)
        return found

    placed = [
        misplaced.placed(cause, body, type_name, release, misfits) if _is_unknown(cause) else cause
        for cause in causes
    ]
    return misplaced.awaiting(placed)


def _is_unknown(cause: Cause) -> bool:
    return cause.check == UNKNOWN_FIELD.slug and bool(cause.path)


class _Causes(list[Cause]):
    """The findings in one object; beyond `_MOST` they are only counted: each is larger than what it is about."""

    def __init__(self) -> None:
        super().__init__()
        self.left_out: list[str] = []

    def append(self, cause: Cause) -> None:
        """Keep *cause*, if there is room."""
        if len(self) < _MOST:
            super().append(cause)
        else:
            self.left_out.append(cause.check)

    def extend(self, causes: Iterable[Cause]) -> None:
        """Keep all of *causes*, if there is room."""
        for cause in causes:
            self.append(cause)

    def all(self) -> list[Cause]:
        """The findings, and how many are left out."""
        if not self.left_out:
            return self
        message = f"and {counted(len(self.left_out), 'more mistake')} in this object"
        return [*self, Cause(self.left_out[0], (), message)]


def type_of(group: str, kind: str) -> str:
    """The Go type of objects of that group and kind, ``""`` where it is not KubeVirt's."""
    return _TYPE_OF_KIND.get((group, kind), "")


def decode_resource(
    resource: Resource, release: Version, *, settled: str = ""
) -> tuple[Tree, list[Diagnostic]]:
    """Read a whole object as *release* does; one of a kind that is not KubeVirt's comes back as it is.

    *settled*: see `decode`.
    """
    type_name = type_of(resource.group, resource.kind)
    if not type_name:
        return resource.body, []
    tree, causes = decode(resource.body, type_name, release, settled=settled)
    if not causes:
        return tree, []
    return tree, questioned(resource, located(resource, causes))


def questioned(resource: Resource, found: list[Diagnostic]) -> list[Diagnostic]:
    """What was *found* about the fields of *resource*; of a spec of another kind nothing is mended field by field."""
    if not any(entry.code in _OF_FIELDS for entry in found):
        return found
    from render.schemas import kinds

    return kinds.questioned(resource, found, _OF_FIELDS)


def located(
    resource: Resource, causes: Iterable[Cause], prefix: FieldPath = ()
) -> list[Diagnostic]:
    """The findings of *causes* at their places in *resource*: what was decoded stands there at *prefix*."""
    return [
        of_check(cause.check).at(
            at(resource, (*prefix, *cause.path)),
            cause.message,
            help=cause.help,
            fixes=tuple(fix.below(prefix) for fix in cause.fixes),
        )
        for cause in causes
    ]


class _Rules(dict[str, _FieldReader]):
    """The rules of a struct by field, made when asked for; KeyError for a field it has not.

    *opaque*: the struct stands where the CRD has no schema; *settled*: the field whose values need no reading.
    """

    def __init__(self, type_name: str, release: Version, *, opaque: bool, settled: str) -> None:
        super().__init__()
        self.opaque = opaque
        self.settled = settled
        self.type_name = type_name
        self.release = release
        self.fields = types.fields(type_name, release)

    def __missing__(self, name: str) -> _FieldReader:
        field = self.fields[name]
        kept = field.type.startswith("*") or types.is_struct(field.type)
        drops = field.omitempty and not kept
        reader = _reader(field.type, self.release, opaque=self.keeps_nulls(name))
        for least in in_force(_LEAST.get((self.type_name, name), ()), self.release):
            reader = reader._replace(convert=_at_least(least))
        if name == self.settled:
            reader = reader._replace(convert=None)
        rule = self[name] = _FieldReader(*reader, drops, field.nullable)
        return rule

    def keeps_nulls(self, name: str) -> bool:
        """Whether a null in this field reaches the webhook."""
        return self.opaque or (name == "metadata" and self.type_name in _TEMPLATES)


@cache
def _struct(
    type_name: str, release: Version, *, opaque: bool = False, settled: str = ""
) -> Convert:
    rules = _Rules(type_name, release, opaque=opaque, settled=settled)
    required = [(name, field.type) for name, field in rules.fields.items() if field.required]
    usual = _Usual(rules)
    defaults = _DEFAULTS.get(type_name)

    def convert(value: Tree, link: Link, causes: list[Cause]) -> Tree:
        decoded = value
        for key, item in value.items():
            python, change, drops = usual[key]
            if type(item) is not python or (drops and not item):
                new = _unusual(key, item, rules, link, causes)
            elif change is None:
                continue
            else:
                new = change(item, (link, key), causes)
            if new is not item:
                if decoded is value:
                    decoded = value.copy()
                if new is _DROPPED or (drops and not new):
                    del decoded[key]
                else:
                    decoded[key] = new
        for name, go_type in required:
            if name not in value:
                causes.append(refusals.missing(name, link, go_type))
        return decoded if defaults is None else decoded | defaults | decoded

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


def _unusual(key: str, item: Any, rules: _Rules, link: Link, causes: list[Cause]) -> Any:
    """What becomes of an *item* that is unknown, empty, null, or not of the one type that its field has."""
    if key not in rules.fields:
        known = rules.fields if len(causes) < _HINTED else ()
        causes.append(refusals.unknown(key, link, known, rules.type_name))
        return _DROPPED
    python, change, json, drops, nullable = rules[key]
    if python is int:
        item = _as_integer(item)
    if type(item) is python or (python is None and item is not None):
        new = item if change is None else change(item, (link, key), causes)
        return new if new or not drops else _DROPPED
    if item is not None:
        causes.append(refusals.mistyped(item, json, (link, key), rules.fields[key].type))
    elif rules.fields[key].required:
        causes.append(refusals.missing(key, link, rules.fields[key].type))
    elif not nullable and rules.keeps_nulls(key):
        causes.append(refusals.mistyped(item, json, (link, key)))
    elif not nullable:
        causes.append(refusals.dropped_null((link, key), rules.fields[key].type))
    return _DROPPED


def _as_integer(value: Any) -> Any:
    """*value*, a whole one written as ``2.0`` as an integer: JSON makes no difference, nor does the API server."""
    return int(value) if type(value) is float and value.is_integer() else value


@cache
def _reader(go_type: str, release: Version, *, opaque: bool) -> _Reader:
    go_type = go_type.removeprefix("*")
    if go_type.startswith("[]"):
        return _Reader(list, _list(_reader(go_type[2:], release, opaque=opaque)), "array")
    if go_type.startswith("map["):
        value = _reader(go_type.partition("]")[2], release, opaque=opaque)
        return _Reader(dict, _map(value, opaque=opaque), "object")
    if go_type.startswith("enum:"):
        return _Reader(str, _enum(types.enum(go_type.removeprefix("enum:"), release)), "string")
    if go_type in types.INTEGERS:
        return _Reader(int, _integer(*types.INTEGERS[go_type]), "integer")
    return _SCALARS.get(go_type) or _Reader(
        dict, _struct(go_type, release, opaque=opaque), "object"
    )


def _list(reader: _Reader) -> Convert:
    python, change, _ = reader
    read, usual = _item(reader), {python}

    def convert(value: list[Any], link: Link, causes: list[Cause]) -> list[Any]:
        if not usual.issuperset(map(type, value)):
            items = [read(item, (link, index), causes) for index, item in enumerate(value)]
        elif change is None:
            return value
        else:
            items = [change(item, (link, index), causes) for index, item in enumerate(value)]
        if all(map(is_, items, value)):
            return value
        return [item for item in items if item is not _DROPPED]

    return convert


def _map(reader: _Reader, *, opaque: bool) -> Convert:
    python, change, _ = reader
    read, usual = _item(reader), {python}

    def entry(item: Any, link: Link, causes: list[Cause]) -> Any:
        if item is not None or opaque:
            return read(item, link, causes)
        causes.append(refusals.dropped_null(link))
        return _DROPPED

    def convert(value: Tree, link: Link, causes: list[Cause]) -> Tree:
        if change is None and usual.issuperset(map(type, value.values())):
            return value
        entries = {key: entry(item, (link, key), causes) for key, item in value.items()}
        if all(map(is_, entries.values(), value.values())):
            return value
        return {key: item for key, item in entries.items() if item is not _DROPPED}

    return convert


def _item(reader: _Reader) -> Convert:
    """What reads an entry of a list or of a mapping, of whatever type it turns out to be."""
    python, change, json = reader

    def convert(value: Any, link: Link, causes: list[Cause]) -> Any:
        if type(value) is not python and (python is not None or value is None):
            causes.append(refusals.mistyped(value, json, link))
            return _DROPPED
        return value if change is None else change(value, link, causes)

    return convert


def _enum(values: tuple[str, ...]) -> Convert:
    def convert(value: str, link: Link, causes: list[Cause]) -> Any:
        if value in values:
            return value
        causes.append(refusals.not_listed(value, values, link))
        return _DROPPED

    return convert


def _at_least(least: int) -> Convert:
    def convert(value: int, link: Link, causes: list[Cause]) -> Any:
        if value < least:
            causes.append(refusals.too_small(value, least, link))
        return value

    return convert


def _integer(least: int, most: int) -> Convert:
    def convert(value: int, link: Link, causes: list[Cause]) -> Any:
        if least <= value <= most:
            return value
        causes.append(refusals.out_of_range(value, least, most, link))
        return _DROPPED

    return convert


def _one_of(json: str, *accepted: type) -> _Reader:
    """A reader of values of several JSON types."""

    def convert(value: Any, link: Link, causes: list[Cause]) -> Any:
        if float not in accepted:
            value = _as_integer(value)
        if type(value) in accepted:
            return value
        causes.append(refusals.mistyped(value, json, link))
        return _DROPPED

    return _Reader(None, convert, json)


_QUANTITY_JSON = "string,integer,number"


def _quantity(value: Any, link: Link, causes: list[Cause]) -> Any:
    if type(value) is not str and type(value) is not int and type(value) is not float:
        causes.append(refusals.mistyped(value, _QUANTITY_JSON, link))
        return _DROPPED
    try:
        canonical = _canonical(value) if isinstance(value, str) else _canonical_number(value)
    except QuantityError as error:
        causes.append(refusals.no_quantity(value, str(error), link))
        return _DROPPED
    return value if canonical == value else canonical


@lru_cache(maxsize=4096)
def _canonical(text: str) -> str:
    """The canonical text; QuantityError also for what Go's parser reads and the CRDs refuse."""
    # QUIRK(pkg/api/resource/quantity.go): Go prints 62.5Ki as 64000, and reads that as 64k. What we write is
    # read again by the cluster, so it is the text that stays.
    canonical = quantity.canonical(quantity.canonical(text))
    if text != text.strip():
        raise QuantityError("there is a space around it")
    if not text.lstrip("+-.")[:1].isdigit():
        raise QuantityError("there is no number before the suffix")
    return canonical


def _canonical_number(number: float) -> str:
    if type(number) is float and not number.is_integer():
        raise QuantityError("a fraction must be written as a string, in quotes")
    return quantity.canonical(number)


_SCALARS = {
    "any": _Reader(None, None, "object"),
    "bool": _Reader(bool, None, "boolean"),
    "cidr": _Reader(str, lambda value, _link, _causes: sanitised_cidr(value), "string"),
    "duration": _Reader(str, None, "string"),
    "float32": _one_of("number", int, float),
    "intstr": _one_of("string,integer", int, str),
    "ip": _Reader(str, lambda value, _link, _causes: sanitised_ip(value), "string"),
    "quantity": _Reader(None, _quantity, _QUANTITY_JSON),
    "string": _Reader(str, None, "string"),
    "time": _Reader(str, None, "string"),
}
