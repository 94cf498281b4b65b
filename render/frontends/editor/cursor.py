"""What stands under a cursor: the object, and the path of the field in it."""

from render.frontends.editor.notes import Span, lines_of
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.yaml import positions
from render.yaml.libyaml import MAPPING, SCALAR, SEQUENCE
from render.yaml.nodes import Node, is_merge, key_of, parsed, target_of
from render.yaml.stream import Chunk

_PLACEHOLDER = "virtrendercursor"
"""Stands for the word that is being typed: no key of anybody's."""
_TYPED_KEY = pattern(r"^(\s*+(?:- +)*)([\w./-]*)$")
_TYPED_VALUE = pattern(r"""^(\s*+(?:- +)*[\w./-]+\s*: +|\s*+(?:- +)+)(["']?[\w./-]*)$""")
_REST = pattern(r"^[\w./-]*(\s*:(?:\s.*)?)$")
"""What stands behind a key in which somebody types."""


class Cursor(NamedTuple):
    """A place in the *text* of a *file*: *line* and *column* from 0, in characters."""

    file: str
    text: str
    line: int
    column: int


class FieldAt(NamedTuple):
    """A field under a cursor: the number of its *document*, its *path* there, and whether its key is meant.

    *span* is that of the word, *value* what a scalar says.
    """

    document: int
    path: FieldPath
    is_key: bool
    span: Span
    value: str = ""


class Typing(NamedTuple):
    """What is being typed: a key of the mapping at *path*, or the value at *path*; *prefix* is there already.

    *siblings* are the keys that the mapping has.
    """

    document: int
    path: FieldPath
    is_key: bool
    prefix: str
    siblings: frozenset[str] = frozenset()


def field_at(cursor: Cursor) -> FieldAt | None:
    """The field whose key or plain value stands under *cursor*; None between them."""
    number, chunk = _chunk(cursor.text, cursor.line)
    node = parsed(chunk)[0] if chunk else None
    if node is None:
        return None
    path: list[str | int] = []
    while node.kind != SCALAR:
        step, inner, key = _child(cursor, node)
        span = _span(cursor, key) if key else None
        if span and isinstance(step, str):
            return FieldAt(number, (*path, step), is_key=True, span=span, value=step)
        if step is None or inner is None:
            return None
        path.append(step)
        node = inner
    span = _span(cursor, node)
    if span is None:
        return None
    return FieldAt(number, tuple(path), is_key=False, span=span, value=node.text)


def _child(cursor: Cursor, node: Node) -> tuple[str | int | None, Node | None, Node | None]:
    """The step from *node* towards *cursor*, where that leads, and the key of it, if it has one."""
    place = cursor.line + 1, cursor.column + 1
    last: tuple[str | int | None, Node | None, Node | None] = None, None, None
    if node.kind == MAPPING:
        for key, value in node.pairs():
            if key.at > place:
                break
            last = None if is_merge(key) else key_of(key), value, key
    elif node.kind == SEQUENCE:
        for index, item in enumerate(node.children):
            if item.at > place:
                break
            last = index, item, None
    step, inner, key_node = last
    is_before = inner is None or inner.at > place
    return (step, None if is_before else inner, key_node)


def _span(cursor: Cursor, node: Node) -> Span | None:
    """The characters of the scalar *node*, if *cursor* is on them; of a text of several lines none."""
    line, column = node.at
    if node.kind != SCALAR or line != cursor.line + 1:
        return None
    width = len(node.text) + (0 if node.plain else 2)
    start = column - 1
    return Span(line - 1, start, start + width) if start <= cursor.column <= start + width else None


def typing_at(cursor: Cursor) -> Typing | None:
    """What is being typed at *cursor*, None where that is a comment, say, or free text."""
    lines = lines_of(cursor.text)
    before = lines[cursor.line][: cursor.column]
    typed = _TYPED_VALUE.match(before)
    if typed:
        new = f"{typed[1]}{_PLACEHOLDER}"
    else:
        typed = _TYPED_KEY.match(before)
        if typed is None:
            return None
        rest = _REST.match(lines[cursor.line][cursor.column :])
        new = f"{typed[1]}{_PLACEHOLDER}{rest[1] if rest else ': 0'}"
    text = "\n".join((*lines[: cursor.line], new, *lines[cursor.line + 1 :]))
    number, chunk = _chunk(text, cursor.line)
    node = parsed(chunk)[0] if chunk else None
    found = _placeholder(node, ()) if node else None
    if found is None:
        return None
    path, holder, is_key = found
    keys = frozenset(key_of(key) or "" for key, _ in holder.pairs()) if is_key and holder else ()
    return Typing(number, path, is_key, typed[2].lstrip("\"'"), frozenset(keys) - {_PLACEHOLDER})


def _placeholder(node: Node, path: FieldPath) -> tuple[FieldPath, Node | None, bool] | None:
    """The path of the mapping or the value with the placeholder, the mapping if it is one, and whether it is a key."""
    pending: list[tuple[Node, FieldPath]] = [(node, path)]
    while pending:
        node, path = pending.pop()
        if node.kind == SCALAR and node.text == _PLACEHOLDER:
            return path, None, False
        if node.kind == SEQUENCE:
            pending += ((item, (*path, number)) for number, item in enumerate(node.children))
        elif node.kind == MAPPING:
            for key, value in node.pairs():
                if key.kind == SCALAR and key.text == _PLACEHOLDER:
                    return path, node, True
                pending.append((value, (*path, key_of(key) or "")))
    return None


def _chunk(text: str, line: int) -> tuple[int, Chunk | None]:
    """The document in which *line* (from 0) of *text* stands, and its number."""
    chunks = list(positions.chunks(text.encode("utf-8", "surrogatepass")))
    at = [number for number, chunk in enumerate(chunks) if chunk.line <= line + 1]
    return (at[-1], chunks[at[-1]]) if at else (0, None)


def body_text(cursor: Cursor, path: FieldPath) -> str:
    """The scalar at *path* of the document under *cursor*, ``""`` where there is none."""
    _, chunk = _chunk(cursor.text, cursor.line)
    node = parsed(chunk)[0] if chunk else None
    for step in path:
        named = target_of(node) if node else None
        if named is None:
            return ""
        if isinstance(step, int):
            items = named.children if named.kind == SEQUENCE else ()
            node = items[step] if step < len(items) else None
        else:
            node = (
                named.fields()[step][1]
                if named.kind == MAPPING and step in named.fields()
                else None
            )
    named = target_of(node) if node else None
    return named.text if named is not None and named.kind == SCALAR else ""
