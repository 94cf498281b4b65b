"""What the writer makes of a tree, with a comment a field."""

from collections.abc import Callable, Iterable

from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.tree import Tree
from render.yaml import writer


def commented(body: Tree, comment: Callable[[FieldPath], str]) -> str:
    """One document as `writer.dump` has it, with what *comment* says of each field, in one line of printable text.

    A field is what has no fields of its own; of a block the comment stands in the line in which that begins.
    """
    lines = writer.dump(body).split("\n")
    places: list[tuple[int, FieldPath]] = []
    if body:
        _walk(body, (), 0, places)
    for line, path in places:
        text = comment(path)
        if text:
            lines[line] += f"  # {text}"
    return "\n".join(lines)


def _walk(node: Any, path: FieldPath, line: int, places: list[tuple[int, FieldPath]]) -> int:
    """Find the lines of the fields in *node*, which begins at *line*; the answer is the line behind it."""
    is_mapping = isinstance(node, dict)
    children: Iterable[tuple[str | int, Any]] = node.items() if is_mapping else enumerate(node)
    for step, child in children:
        inner = (*path, step)
        if not child or not isinstance(child, dict | list):
            places.append((line, inner))
            line += _height(step, child)
            continue
        # Items of a list begin in the line of their dash.
        above = _height(step, None) if is_mapping else 0
        line = _walk(child, inner, line + above, places)
    return line


def _height(step: str | int, value: Any) -> int:
    """How many lines the writer gives *value*, a field or an item."""
    if isinstance(step, int):
        return writer.dump({"x": [value]}).count("\n") - 1
    return writer.dump({step: value}).count("\n")
