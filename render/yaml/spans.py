"""Small edits of YAML text in place: a key renamed, a plain value replaced; every other character stays."""

from collections.abc import Iterable
from typing import Any

from render.model.edits import Move, Operation, Put
from render.model.fieldpath import FieldPath


def replace(text: str, edits: Iterable[tuple[FieldPath, Operation]]) -> str | None:
    """The document *text* with *edits* (pairs of the way to an object and an edit of it), None if that takes more."""
    from ruamel.yaml import YAML

    if "&" in text or "*" in text or "<<" in text:
        return None  # one text may stand in several places
    root = YAML(typ="safe", pure=True).compose(text)
    spans: dict[int, tuple[int, str]] = {}
    for prefix, edit in edits:
        change = _change(root, prefix, edit)
        if change is None:
            return None
        spans[change[0]] = change[1:]
    for start in sorted(spans, reverse=True):
        end, new = spans[start]
        text = text[:start] + new + text[end:]
    return text


def _change(root: Any, prefix: FieldPath, edit: Operation) -> tuple[int, int, str] | None:
    """Where a plain scalar begins and ends, and what is to stand there."""
    match edit:
        case Move(path, to) if path[:-1] == to[:-1]:
            mapping = _at(root, (*prefix, *path[:-1]))
            pair, other = _pair(mapping, path[-1]), _pair(mapping, to[-1])
            if pair is None or other is not None or not _is_plain(pair[0]):
                return None
            key, new = pair[0], str(to[-1])
            key.value = new  # what is edited next is found by its new name
        case Put(path, str(new)) if _is_word(new):
            key = _at(root, (*prefix, *path))
            if not _is_plain(key):
                return None
        case _:
            return None
    return key.start_mark.index, key.end_mark.index, new


def _is_word(text: str) -> bool:
    """Whether *text* means itself without quotes, at least among what a migration writes."""
    return text.replace("/", "").replace(".", "").isalnum() and text[0].isalpha()


def _is_plain(node: Any) -> bool:
    return node is not None and node.id == "scalar" and not node.style and bool(node.value)


def _at(node: Any, path: FieldPath) -> Any:
    for step in path:
        if node is None or node.id == "scalar":
            return None
        if isinstance(step, int):
            node = node.value[step] if node.id == "sequence" else None
        else:
            pair = _pair(node, step)
            node = pair[1] if pair else None
    return node


def _pair(mapping: Any, name: Any) -> tuple[Any, Any] | None:
    if mapping is None or mapping.id != "mapping":
        return None
    return next((pair for pair in mapping.value if pair[0].value == name), None)
