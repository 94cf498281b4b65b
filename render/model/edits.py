"""Changes of an object that keep the order of its keys: what a fix asks for."""

from collections.abc import Iterable

from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree


class Put(NamedTuple):
    """Set *value* at *path*; a new key comes last, and so does an item behind the last one of a list."""

    path: FieldPath
    value: Any


class Move(NamedTuple):
    """Carry what is at *path* over to *to*; within one mapping the key is renamed in its place."""

    path: FieldPath
    to: FieldPath


class Remove(NamedTuple):
    """Drop the key or the item at *path*."""

    path: FieldPath


Operation = Put | Move | Remove


def within(above: FieldPath, edit: Operation) -> Operation:
    """*edit* of what stands at *above*, as one of the object around it."""
    match edit:
        case Put(path, value):
            return Put((*above, *path), value)
        case Move(path, to):
            return Move((*above, *path), (*above, *to))
        case Remove(path):
            return Remove((*above, *path))


def edited(body: Tree, edits: Iterable[Operation]) -> Tree:
    """A copy of *body* with *edits*, in their order."""
    copy: Tree = tree.copy(body)
    for edit in edits:
        match edit:
            case Put(path, value):
                _put(copy, path, value)
            case Remove(path) if isinstance(path[-1], int):
                del tree.get(copy, *path[:-1])[path[-1]]
            case Remove(path):
                tree.remove(copy, *path)
            case Move(path, to) if path[:-1] == to[:-1]:
                _rename(tree.get(copy, *path[:-1]), path[-1], to[-1])
            case Move(path, to):
                value = tree.get(copy, *path)
                tree.remove(copy, *path)
                tree.put(copy, to, value)
    return copy


def _put(body: Tree, path: FieldPath, value: Any) -> None:
    items = tree.get(body, *path[:-1])
    if isinstance(items, list) and path[-1] == len(items):
        items.append(value)
    else:
        tree.put(body, path, value)


def _rename(mapping: Tree, old: Any, new: Any) -> None:
    kept = (pair for pair in mapping.items() if pair[0] == old or pair[0] != new)
    items = [(new if key == old else key, value) for key, value in kept]
    mapping.clear()
    mapping.update(items)
