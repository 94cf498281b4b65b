"""JSON patches (RFC 6902) on the KubeVirt resource, as the operator applies them.

Upstream: controllers/operands/operand.go of the hyperconverged-cluster-operator, which applies the
annotation with github.com/evanphx/json-patch/v5: the texts are that package's, and so is what it
adds to the RFC (indexes from the end). The standard packages of Python would answer in other words,
and stricter.
"""

import json
from collections.abc import Callable

from render.convert.hyperconverged.decoding import JSON_NAMES
from render.diagnostics.secrets import MASK
from render.model import tree
from render.model.apimachinery.labels import MOST_ANNOTATIONS
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.regex import pattern
from render.model.tree import Tree

ANNOTATION = "kubevirt.kubevirt.io/jsonpatch"
#: Those on what else the operator writes. The webhook refuses them too, in that order.
OTHER_ANNOTATIONS = (
    "containerizeddataimporter.kubevirt.io/jsonpatch",
    "networkaddonsconfigs.kubevirt.io/jsonpatch",
    "ssp.kubevirt.io/jsonpatch",
)
_INDEX = pattern(r"[+-]?[0-9]+")
_LONGEST_INDEX = 18
#: Most bytes of a request that an API server takes: the operator could not write what is larger.
_LARGEST = 3 << 20
_DEEPEST = 100
_TOO_DEEP = f"mappings and lists of more than {_DEEPEST} levels, which are not edited here"
#: Most items of a list that is edited: what is put in moves all that is behind, and a patch may do so often.
_MOST_ITEMS = 100_000


class PatchError(Exception):
    """A patch that is none, or that does not fit the document."""


class _MissingKeyError(PatchError):
    """The mapping has no such key."""


def parsed(text: str) -> list[Tree]:
    """The operations of the patch *text*; PatchError where it is none, or reaches beyond ``spec``.

    Where no annotation may be as long it is not read. Values are not quoted: nobody knows what they hold.
    """
    if len(text) > MOST_ANNOTATIONS:
        raise PatchError(
            f"a patch of more than {MOST_ANNOTATIONS} bytes, which no API server takes"
        )
    try:
        read: Any = json.loads(text, parse_constant=_no_json)
    except (ValueError, RecursionError):
        raise PatchError("invalid state detected") from None
    if read is not None and not isinstance(read, list):
        raise PatchError(_not_decoded(read, "jsonpatch.Patch"))
    _bound_depth(read)
    operations: list[Tree] = []
    for operation in read or ():
        if operation is not None and not isinstance(operation, dict):
            raise PatchError(_not_decoded(operation, "jsonpatch.Operation"))
        operations.append(operation or {})
    for operation in operations:
        problem = _problem(operation)
        if problem:
            quoted = {**operation, "value": MASK} if "value" in operation else operation
            literal = json.dumps(quoted, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            raise PatchError(f"invalid operation {literal}: {problem}")
    for operation in operations:
        if not operation["path"].startswith("/spec/"):
            raise PatchError("can only modify spec fields")
    return operations


def _no_json(word: str) -> None:
    """Python reads NaN and Infinity, which are no JSON."""
    raise ValueError(word)


def _not_decoded(value: Any, go_type: str) -> str:
    return f"json: cannot unmarshal {JSON_NAMES[type(value)]} into Go value of type {go_type}"


def _problem(operation: Tree) -> str:
    """What is wrong with an operation; empty if nothing is."""
    kind = operation.get("op")
    if kind in ("add", "replace") and "value" not in operation:
        return "failed to decode 'value': operation, missing value field: missing value"
    if kind in ("move", "copy"):
        problem = _no_pointer(operation, "from", "operation, missing from field")
        if problem:
            return f"failed to decode 'from': {problem}"
    elif kind not in ("add", "replace", "remove", "test"):
        return "unsupported operation"
    problem = _no_pointer(operation, "path", "operation missing path field")
    return f"failed to decode 'path': {problem}" if problem else ""


def _no_pointer(operation: Tree, key: str, absent: str) -> str:
    value = operation.get(key)
    if value is None:
        return f"{absent}: missing value"
    return "" if isinstance(value, str) else _not_decoded(value, "string")


def applied(document: Tree, operations: list[Tree]) -> Tree:
    """*document* after all *operations*, in order; PatchError at the first that does not fit.

    Each copy may double it: PatchError too where copies make more than an API server takes.
    """
    patched: Tree = tree.copy(document)
    copied = 0
    try:
        for operation in operations:
            value = _OPERATIONS[operation["op"]](patched, operation)
            if operation["op"] == "copy":
                copied += len(json.dumps(value))
                if copied > _LARGEST:
                    raise PatchError(
                        f"copies of more than {_LARGEST} bytes, which no API server takes"
                    )
    except RecursionError:
        raise PatchError(_TOO_DEEP) from None
    _bound_depth(patched)
    return patched


def _bound_depth(value: Any) -> None:
    """PatchError for what is nested deeper than a file may be: each operation may put it one level further down."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            child
            for each in level
            if isinstance(each, dict | list)
            for child in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return
    raise PatchError(_TOO_DEEP)


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def steps(pointer: str) -> FieldPath:
    """A JSON pointer as a path of keys; what it says of lists stays text."""
    return tuple(_unescaped(step) for step in pointer.split("/")[1:])


def _container(document: Tree, pointer: str) -> tuple[Any, str] | None:
    """The mapping or list that holds the value at *pointer*, and its key there."""
    if "/" not in pointer:
        return None
    *way, key = (_unescaped(step) for step in pointer.split("/")[1:])
    node: Any = document
    for step in way:
        try:
            node = _get(node, step)
        except PatchError:
            return None
        if not isinstance(node, (dict, list)):
            return None
    return node, key


def _position(key: str, size: int) -> int:
    """The index that *key* means among *size* places; PatchError where there is none."""
    if not _INDEX.fullmatch(key):
        raise PatchError(f'strconv.Atoi: parsing "{key}": invalid syntax')
    if len(key) > _LONGEST_INDEX:
        raise PatchError(f'strconv.Atoi: parsing "{key[:_LONGEST_INDEX]}...": value out of range')
    index = int(key)
    if not -size <= index < size:
        raise PatchError(f"Unable to access invalid index: {index}: invalid index referenced")
    return index if index >= 0 else index + size


def _get(node: Any, key: str) -> Any:
    if isinstance(node, list):
        return node[_position(key, len(node))]
    if key not in node:
        raise _MissingKeyError(f"unable to get nonexistent key: {key}: missing value")
    return node[key]


def _bound(node: list[Any]) -> None:
    """PatchError for a list that is too long to be edited."""
    if len(node) > _MOST_ITEMS:
        raise PatchError(f"a list of more than {_MOST_ITEMS} items, which is not edited here")


def _insert(node: Any, key: str, value: Any) -> None:
    if isinstance(node, dict):
        node[key] = value
        return
    _bound(node)
    if key == "-":
        node.append(value)
    elif not _INDEX.fullmatch(key):
        problem = f'strconv.Atoi: parsing "{key}": invalid syntax'
        raise PatchError(f"value was not a proper array index: '{key}': {problem}")
    else:
        node.insert(_position(key, len(node) + 1), value)


def _delete(node: Any, key: str) -> None:
    if isinstance(node, list):
        _bound(node)
        del node[_position(key, len(node))]
    elif key not in node:
        raise PatchError(f"unable to remove nonexistent key: {key}: missing value")
    else:
        del node[key]


def _add(document: Tree, operation: Tree) -> None:
    path = operation["path"]
    container = _container(document, path)
    if container is None:
        raise PatchError(
            f'add operation does not apply: doc is missing path: "{path}": missing value'
        )
    _or_error(
        f"error in add for path: '{path}'", _insert, *container, tree.copy(operation["value"])
    )


def _remove(document: Tree, operation: Tree) -> None:
    path = operation["path"]
    container = _container(document, path)
    if container is None:
        raise PatchError(
            f'remove operation does not apply: doc is missing path: "{path}": missing value'
        )
    _or_error(f"error in remove for path: '{path}'", _delete, *container)


def _replace(document: Tree, operation: Tree) -> None:
    path = operation["path"]
    container = _container(document, path)
    if container is None:
        raise PatchError(
            f"replace operation does not apply: doc is missing path: {path}: missing value"
        )
    node, key = container
    try:
        _get(node, key)
    except PatchError:
        text = f"replace operation does not apply: doc is missing key: {path}: missing value"
        raise PatchError(text) from None
    node[key if isinstance(node, dict) else _position(key, len(node))] = tree.copy(
        operation["value"]
    )


def _move(document: Tree, operation: Tree) -> None:
    path, origin = operation["path"], operation["from"]
    if origin == "":
        raise PatchError("unable to move entire document to another path: invalid state detected")
    container = _container(document, origin)
    if container is None:
        raise PatchError(
            f"move operation does not apply: doc is missing from path: {origin}: missing value"
        )
    node, key = container
    value = _or_error(f"error in move for path: '{key}'", _get, node, key)
    _or_error(f"error in move for path: '{key}'", _delete, node, key)
    container = _container(document, path)
    if container is None:
        text = (
            f"move operation does not apply: doc is missing destination path: {path}: missing value"
        )
        raise PatchError(text)
    _or_error(f"error in move for path: '{path}'", _insert, *container, value)


def _copy(document: Tree, operation: Tree) -> Any:
    """Copy the value at ``from``, which is the answer."""
    path, origin = operation["path"], operation["from"]
    container = _container(document, origin)
    if container is None:
        raise PatchError(
            f'copy operation does not apply: doc is missing from path: "{origin}": missing value'
        )
    value = _or_error(f"error in copy for from: '{origin}'", _get, *container)
    container = _container(document, path)
    if container is None:
        text = (
            f"copy operation does not apply: doc is missing destination path: {path}: missing value"
        )
        raise PatchError(text)
    copied = tree.copy(value)
    _or_error("error while adding value during copy", _insert, *container, copied)
    return copied


def _test(document: Tree, operation: Tree) -> None:
    path = operation["path"]
    container = _container(document, path)
    if container is None:
        raise PatchError(f"test operation does not apply: is missing path: {path}: missing value")
    try:
        value = _get(*container)
    except _MissingKeyError:
        value = None
    except PatchError as error:
        raise PatchError(f"error in test for path: '{path}': {error}") from None
    if not _equal(value, operation.get("value")):
        raise PatchError(f"testing value {path} failed: test failed")


def _equal(value: Any, other: Any) -> bool:
    """Whether two JSON values are the same; 1 and true are not, though Python says so."""
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(_equal(value[key], other[key]) for key in value)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_equal, value, other))
    return type(value) is type(other) and bool(value == other)


def _or_error(where: str, act: Callable[..., Any], *arguments: Any) -> Any:
    """What *act* answers; its PatchError says *where*."""
    try:
        return act(*arguments)
    except PatchError as error:
        raise PatchError(f"{where}: {error}") from None


_OPERATIONS: dict[str, Callable[[Tree, Tree], Any]] = {
    "add": _add,
    "copy": _copy,
    "move": _move,
    "remove": _remove,
    "replace": _replace,
    "test": _test,
}
