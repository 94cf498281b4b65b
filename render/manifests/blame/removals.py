"""Which patch of a kustomization takes a field away: it deletes that, or has another list in the place of one.

kustomize knows no names in the lists of a custom resource: a strategic merge patch replaces all of such a list.
"""

from collections.abc import Iterable, Iterator

from render.manifests.blame.patches import (
    OPERATIONS,
    Patch,
    Position,
    operations,
    place_of,
    steps_of,
)
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.resource import text_at
from render.model.tree import Tree

_DIRECTIVE = "$patch"


class Removal(NamedTuple):
    """Where a patch takes something away; *is_list*: by a list of its own, which is all that is left of the former."""

    position: Position
    is_list: bool


def removal(patches: Iterable[Patch], before: Tree, path: FieldPath) -> Removal | None:
    """How the first of *patches* that does so takes away what *before*, the object that they are for, has at *path*."""
    found = (_removal(patch, before, path) for patch in patches)
    return next(filter(None, found), None)


def _removal(patch: Patch, before: Tree, path: FieldPath) -> Removal | None:
    place: FieldPath = ()
    found: tuple[FieldPath, bool] | None = None
    if OPERATIONS not in patch.document.body:
        found = _lacking(patch.document.body, before, path, is_whole=False)
    for index, operation in reversed([*enumerate(operations(patch))]):
        place, found = (OPERATIONS, index), _operated(operation, before, path)
        if found is not None:
            break
    return None if found is None else Removal(patch.at((*place, *found[0])), found[1])


def overwritten(
    patches: Iterable[Patch], built: Tree, place: FieldPath, name: str
) -> tuple[Removal, Position] | None:
    """Which of *patches* has a list at *place* without the item *name* that one before it adds, and where that does.

    They are those of the object that is *built*, the last one first.
    """
    removal: Removal | None = None
    for patch in patches:
        for way, items, is_whole in _lists(patch, built, place):
            names = [text_at(item, "name") for item in items]
            if name in names and removal is not None:
                return removal, patch.at((*way, names.index(name)) if is_whole else way)
            if name in names:
                return None
            if is_whole and removal is None:
                removal = Removal(patch.at(way), is_list=True)
    return None


def _lists(
    patch: Patch, built: Tree, place: FieldPath
) -> Iterator[tuple[FieldPath, list[Any], bool]]:
    """What *patch* has for the list at *place* of *built*, the last first, where, and whether that is all of it."""
    if OPERATIONS not in patch.document.body:
        items = tree.get(patch.document.body, *place)
        if isinstance(items, list):
            yield place, items, True
        return
    for index, operation in reversed([*enumerate(operations(patch))]):
        if text_at(operation, "op") not in ("add", "replace"):
            continue
        steps, way = steps_of(text_at(operation, "path"), built), (OPERATIONS, index, "value")
        value = operation.get("value")
        if steps[:-1] == place:
            yield way, [value], False
        elif steps == place and isinstance(value, list):
            yield way, value, True


def _operated(operation: Any, before: Tree, path: FieldPath) -> tuple[FieldPath, bool] | None:
    """Where an *operation* of a JSON patch takes *path* away, and whether a list of its own does."""
    kind = text_at(operation, "op")
    key = "from" if kind == "move" else "path"
    steps = steps_of(text_at(operation, key), before)
    if not steps or steps != path[: len(steps)]:
        return None
    if kind in ("remove", "move"):
        return (key,), False
    # `add` puts an item beside the others, and replaces a field
    if kind != "replace" and (kind != "add" or isinstance(steps[-1], int)):
        return None
    inner = tree.get(before, *steps)
    found = _lacking(operation.get("value"), inner, path[len(steps) :], is_whole=True)
    return found and (("value", *found[0]), found[1])


def _lacking(
    source: Any, before: Any, path: FieldPath, *, is_whole: bool
) -> tuple[FieldPath, bool] | None:
    """Where *source*, put into *before*, takes *path* away, and whether a list does; *is_whole*: in its place."""
    way: FieldPath = ()
    is_list = False
    for step in path:
        if isinstance(source, list) and isinstance(step, int):
            is_list = True
            index: str | int = place_of(before[step], step, source)
            if not 0 <= int(index) < len(source):
                return way, True
        elif isinstance(source, dict) and isinstance(step, str):
            index = step
            if source.get(_DIRECTIVE) == "delete":
                return (*way, _DIRECTIVE), False
            is_whole = is_whole or source.get(_DIRECTIVE) == "replace"
            if step not in source:
                return (way, is_list) if is_whole or is_list else None
        else:
            return way, False
        way, source, before = (*way, index), source[index], before[step]
    return (way, is_list) if path and source is None else None
