"""Where things stand in the text, looked up only once there is something to report."""

import contextlib
from collections.abc import Iterator
from functools import lru_cache

from render.manifests import libyaml, scalars, stream
from render.manifests.contents import RECENT
from render.manifests.libyaml import ALIAS, CLOSE, END, FINISHED, MAPPING, OTHER, SCALAR, SEQUENCE
from render.manifests.stream import Chunk
from render.model.fieldpath import FieldPath
from render.model.resource import Origin


class _Node:
    """A node of the document. *children*: of a mapping, keys and values in turn; of an alias, what it names."""

    __slots__ = ("_fields", "at", "children", "kind", "plain", "tag", "text")

    def __init__(self, kind: int, at: tuple[int, int], tag: str | None = None) -> None:
        self.kind = kind
        self.at = at
        self.tag = tag
        self.text = ""
        self.plain = False
        self.children: list[_Node] = []
        self._fields: _Fields | None = None

    def pairs(self) -> Iterator[tuple["_Node", "_Node"]]:
        return zip(self.children[::2], self.children[1::2], strict=False)

    def fields(self) -> "_Fields":
        """What stands in a complete mapping itself, by key; of a key that stands twice the first."""
        if self._fields is None:
            self._fields = {}
            for key, value in self.pairs():
                name = None if _is_merge(key) else _key(key)
                if name is not None:
                    self._fields.setdefault(name, (key.at, value))
        return self._fields


def locate(data: bytes, origin: Origin, path: FieldPath) -> tuple[int, int]:
    """Line and column (from 1) of the key at *path* in the object of *origin*, of the item where the last step is one.

    Where there is no such field: of the nearest thing above it that exists, at worst the document's first line.
    """
    node = _document(data, origin.document)
    return _place(node, (*_prefix(origin), *path)) if node else (origin.line, 1)


def place(chunk: Chunk, path: FieldPath = ()) -> tuple[int, int]:
    """The same in *chunk*."""
    node = _compose(chunk)
    return _place(node, path) if node else (chunk.line, chunk.column)


def ambiguous(data: bytes, origin: Origin) -> list[tuple[FieldPath, str, str, str]]:
    """The plain scalars in the object of *origin* that kubectl and kustomize read differently.

    Each with its path, its text, and what the one and the other make of it, as JSON (``error``: kustomize refuses it).
    """
    node = _document(data, origin.document)
    for step in _prefix(origin):
        node = (_child(node, step) or (None, None))[1] if node else None
    return list(_differences(node, (), set())) if node else []


def bad_keys(chunk: Chunk) -> list[tuple[str, tuple[int, int], tuple[int, int] | None]]:
    """The keys of *chunk* that stand twice (with the second place and the first) or cannot be keys (no first place)."""
    root_node = _compose(chunk)
    return list(_bad_keys(root_node)) if root_node else []


@lru_cache(maxsize=RECENT)
def _chunks(data: bytes) -> list[Chunk]:
    return list(stream.split(data.decode(errors="replace")))


@lru_cache(maxsize=32)
def _document(data: bytes, index: int) -> "_Node | None":
    chunks = _chunks(data)
    return _compose(chunks[index]) if index < len(chunks) else None


def _prefix(origin: Origin) -> FieldPath:
    return tuple(step for index in origin.item for step in ("items", index))


def _compose(chunk: Chunk) -> _Node | None:
    """The node tree of *chunk*, as far as it can be read."""
    top = _Node(SEQUENCE, (chunk.line, chunk.column))

    def parse(text: str) -> None:
        top.children = []
        _fill(top, chunk, libyaml.marked_events(text))

    with contextlib.suppress(
        *libyaml.ERRORS
    ):  # what stands before a mistake is all that is asked for
        libyaml.tolerantly(chunk.text, parse)
    return top.children[0] if top.children else None


def _fill(top: _Node, chunk: Chunk, get: libyaml.Next) -> None:
    open_nodes, anchors = [top], dict[str, _Node]()
    while (event := get()) is not FINISHED:
        if event is END:
            open_nodes.pop()
            continue
        kind, anchor, tag, mark, *scalar = event
        if kind == CLOSE:
            return
        if kind == OTHER:
            continue
        node = _Node(kind, chunk.position(mark.line, mark.column), tag)
        open_nodes[-1].children.append(node)
        if kind == ALIAS:
            named = anchors.get(anchor)
            node.children = [named] if named and named not in open_nodes else []
            continue
        if anchor is not None:
            anchors[anchor] = node
        if kind == SCALAR:
            node.text, node.plain = libyaml.restored(scalar[0]), scalar[1]
        else:
            open_nodes.append(node)


def _place(node: _Node, path: FieldPath) -> tuple[int, int]:
    at = node.at
    for step in path:
        found = _child(node, step)
        if found is None:
            break
        at, node = found
    return at


def _named(node: _Node) -> _Node | None:
    """What *node* stands for: itself, unless it is an alias."""
    while node.kind == ALIAS:
        if not node.children:
            return None
        node = node.children[0]
    return node


def _key(node: _Node) -> str | None:
    named = _named(node)
    if named is None or named.kind != SCALAR:
        return None
    return scalars.key(_value(named))


def _value(node: _Node) -> scalars.Value:
    if node.tag is not None:
        try:
            return scalars.tagged(node.tag, node.text)
        except ValueError:
            return node.text
    return scalars.resolved(node.text) if node.plain else node.text


_Found = tuple[tuple[int, int], _Node]
_Fields = dict[str, _Found]


def _child(node: _Node, step: str | int) -> _Found | None:
    """Where the child at *step* is written, and the child."""
    named = _named(node)
    if named is None:
        return None
    if isinstance(step, int):
        if named.kind != SEQUENCE or not 0 <= step < len(named.children):
            return None
        return named.children[step].at, named.children[step]
    if named.kind != MAPPING:
        return None
    return named.fields().get(step) or _merged(named, step)


def _merged(node: _Node, step: str) -> _Found | None:
    """The same of what a mapping merges into itself; each mapping is looked into once, by however many ways."""
    seen = {id(node)}
    pending = _sources(node)
    while pending:
        source = _named(pending.pop())
        if source is None or source.kind != MAPPING or id(source) in seen:
            continue
        seen.add(id(source))
        if found := source.fields().get(step):
            return found
        pending += _sources(source)
    return None


def _sources(node: _Node) -> list[_Node]:
    """What the mapping *node* merges into itself, the first last."""
    merged: list[_Node] = []
    for key, value in node.pairs():
        if _is_merge(key):
            source = _named(value)
            merged.extend(source.children if source and source.kind == SEQUENCE else [value])
    return merged[::-1]


def _is_merge(key: _Node) -> bool:
    return key.kind == SCALAR and key.text == "<<" and key.plain


def _bad_keys(node: _Node) -> Iterator[tuple[str, tuple[int, int], tuple[int, int] | None]]:
    places: dict[str, tuple[int, int]] = {}
    for index, child in enumerate(node.children if node.kind != ALIAS else ()):
        if node.kind == SEQUENCE or index % 2:
            yield from _bad_keys(child)
            continue
        text = _key(child)
        if text is None:
            yield "", child.at, None
        elif not _is_merge(child):
            if text in places:
                yield text, child.at, places[text]
            places.setdefault(text, child.at)


def _differences(
    node: _Node, path: FieldPath, seen: set[int]
) -> Iterator[tuple[FieldPath, str, str, str]]:
    named = _named(node)
    if named is None or id(named) in seen:
        return
    seen.add(id(named))
    if named.kind == SCALAR:
        texts = _texts(named)
        if texts:
            yield path, *texts
    elif named.kind == SEQUENCE:
        for index, item in enumerate(named.children):
            yield from _differences(item, (*path, index), seen)
    else:
        for key, value in named.pairs():
            here = path if _is_merge(key) else (*path, _key(key) or "")
            if key.kind == SCALAR and (texts := _key_texts(key)):
                yield here, *texts
            yield from _differences(value, here, seen)


def _texts(node: _Node) -> tuple[str, str, str] | None:
    """The text of a scalar and what the two make of it, if that differs."""
    if node.tag is not None:
        refused = isinstance(_value(node), bool) and not isinstance(
            scalars.kustomize(node.text), bool
        )
        return (node.text, _json(_value(node)), "error") if refused else None
    if not node.plain:
        return None
    ours, theirs = scalars.kubectl(node.text), scalars.kustomize(node.text)
    return None if ours == theirs else (node.text, _json(ours), _json(theirs))


def _key_texts(node: _Node) -> tuple[str, str, str] | None:
    """The same for a key: kustomize refuses what it does not read as text."""
    value = _value(node)
    theirs = scalars.kustomize(node.text) if node.plain and node.tag is None else value
    if isinstance(value, str) and theirs == value:
        return None
    told = _json(theirs) if isinstance(theirs, str) else "error"
    return node.text, _json(_key(node)), told


def _json(value: scalars.Value) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
