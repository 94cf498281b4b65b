"""Where things stand in the text, looked up only once there is something to report."""

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice

from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.resource import Origin
from render.yaml import plain, scalars, stream
from render.yaml.budget import DEEPEST
from render.yaml.libyaml import ALIAS, SCALAR, SEQUENCE
from render.yaml.nodes import Node, child, is_merge, key_of, parsed, target_of, value_of
from render.yaml.stream import Chunk

_DIFFERENCES = 1000  # of one object: each is larger than its text
_DOCUMENTS = 100_000
_BLANK_LINES = 1000
"""Of a block, before its first line."""
_RECENT = 8
"""Files whose documents are remembered: a finding is about a few, and the next often about the same."""


def forget() -> None:
    """Give back what is remembered of documents: all places are looked up."""
    document.cache_clear()
    _plain_places.cache_clear()
    plain.forget()
    _holders.cache_clear()


def locate(
    data: bytes, origin: Origin, path: FieldPath, within: tuple[int, int] = (0, 0)
) -> tuple[int, int]:
    """Line and column (from 1) of the key at *path* in the object of *origin*, of the item where the last step is one.

    Where there is no such field: of the nearest thing above it that exists, at worst the document's first line.
    *within*: line and column (from 1) in the text at *path*, which has places of its own where it is a literal block.
    """
    route = (*origin.route, *path) if origin.item else path
    if not within[0] and (known := _plain_place(data, origin, route)):
        return known
    node = document(data, origin.document)[0]
    if node is None:
        return origin.line, 1
    if within[0]:
        inner = _in_block(chunks(data)[origin.document].text, node, route, within)
        if inner:
            return inner
    return _beside_known(node, route, _holders(data, origin.document))


def _plain_place(data: bytes, origin: Origin, path: FieldPath) -> tuple[int, int] | None:
    """The place of *path* where the document is such that no parser need be asked; else None."""
    places = _plain_places(data, origin.document)
    if places is None:
        return None
    at, within, _ = places
    while path not in at:
        path = path[:-1]
    if path in within:
        return None
    line, column = at[path]
    return chunks(data)[origin.document].position(line, column)


class Outline(NamedTuple):
    """What is *alike* for objects whose fields stand as far behind the first line, but for what is in their *flows*.

    Where nobody knows that, nothing is alike.
    """

    alike: tuple[object, ...] = ()
    flows: frozenset[FieldPath] = frozenset()

    def has(self, path: FieldPath) -> bool:
        """Whether the field at *path* is among what is alike."""
        if not self.alike:
            return False
        return not self.flows or all(
            path[:end] not in self.flows for end in range(1, len(path) + 1)
        )


def outline(data: bytes, origin: Origin) -> Outline:
    """The outline of the object of *origin*."""
    places = _plain_places(data, origin.document)
    if places is None:
        return Outline()
    route = origin.route if origin.item else ()
    flows = places.within
    if route:
        of_object = (path for path in flows if path[: len(route)] == route)
        flows = frozenset(path[len(route) :] for path in of_object)
    return Outline((places.number, chunks(data)[origin.document].column, origin.item), flows)


@lru_cache(maxsize=32)
def _plain_places(data: bytes, index: int) -> plain.PlainPlaces | None:
    every_chunk = chunks(data)
    return plain.places(every_chunk[index].text, DEEPEST) if index < len(every_chunk) else None


def _in_block(
    text: str, node: Node, path: FieldPath, within: tuple[int, int]
) -> tuple[int, int] | None:
    """Where a place *within* the literal block at *path* of *node* stands; None where there is no such block."""
    reached = _reached(node, path)
    named = target_of(reached.node) if reached.is_end else None
    if named is None or named.kind != SCALAR or text[named.index : named.index + 1] != "|":
        return None
    begin = text.find("\n", named.index) + 1
    header = text[named.index : begin]
    first = next((line for line in text[begin:].split("\n", _BLANK_LINES) if line.strip()), "")
    if any(character.isdigit() for character in header.partition("#")[0]) or not first:
        return None  # how far it is indented is not for its first line to say
    line, column = within
    return named.at[0] + line, len(first) - len(first.lstrip(" ")) + column


def plain_text(data: bytes, number: int, path: FieldPath) -> str | None:
    """The scalar at *path* of the document with this *number* as it is written; None where it has quotes or a tag."""
    root = document(data, number)[0]
    reached = _reached(root, path) if root else None
    if reached is None or not reached.is_end:
        return None
    node = reached.node
    return node.text if node.kind == SCALAR and node.plain and node.tag is None else None


def place(chunk: Chunk, path: FieldPath = ()) -> tuple[int, int]:
    """The same in *chunk*."""
    return placer(chunk)(path)


def placer(chunk: Chunk) -> Callable[[FieldPath], tuple[int, int]]:
    """The same for many paths of *chunk*, which is parsed once, for the first of them."""
    nodes: list[Node | None] = []

    def placed(path: FieldPath) -> tuple[int, int]:
        if not nodes:
            nodes.append(parsed(chunk)[0])
        return _reached(nodes[0], path).at if nodes[0] else (chunk.line, chunk.column)

    return placed


def ambiguous(data: bytes, origin: Origin) -> list[tuple[FieldPath, str, str, str]]:
    """The plain scalars in the object of *origin* that kubectl and kustomize read differently.

    Each with its path, its text, and what the one and the other make of it, as JSON (``error``: kustomize refuses it).
    """
    root = document(data, origin.document)[0]
    reached = _reached(root, origin.route) if root else None
    if reached is None or not reached.is_end:
        return []
    return list(islice(_differences(reached.node, (), set()), _DIFFERENCES))


def bad_keys(chunk: Chunk) -> list[tuple[str, tuple[int, int], tuple[int, int] | None]]:
    """The keys of *chunk* that stand twice (with the second place and the first) or cannot be keys (no first place)."""
    root_node = parsed(chunk)[0]
    return list(_bad_keys(root_node)) if root_node else []


@lru_cache(maxsize=_RECENT)
def chunks(data: bytes) -> list[Chunk]:
    """The documents of *data*, as `reader` takes them; of those beyond `_DOCUMENTS` nothing is looked up."""
    pieces = islice(stream.split(data.decode(errors="replace"), _DOCUMENTS), _DOCUMENTS)
    return [chunk._replace(value=stream.MISSING) for chunk in pieces]


@lru_cache(maxsize=32)
def document(data: bytes, index: int) -> tuple[Node | None, int]:
    """The document of *data* with this number, as far as it can be read, and where it ends (-1: in a mistake)."""
    every_chunk = chunks(data)
    return parsed(every_chunk[index]) if index < len(every_chunk) else (None, -1)


class _Reached(NamedTuple):
    """How far a path leads: to *node*, written *at*, and whether that is the end of it."""

    at: tuple[int, int]
    node: Node
    is_end: bool


@lru_cache(maxsize=32)
def _holders(_data: bytes, _index: int) -> dict[FieldPath, _Reached]:
    """What holds the fields of a document that were looked up, by path: the next one is often beside them."""
    return {}


def _beside_known(
    root: Node, path: FieldPath, holders: dict[FieldPath, _Reached]
) -> tuple[int, int]:
    """The place of *path* below *root*, by what *holders* has of what is around it."""
    if not path:
        return root.at
    holder = holders.get(path[:-1])
    if holder is None:
        holder = holders[path[:-1]] = _reached(root, path[:-1])
    inner = child(holder.node, path[-1]) if holder.is_end else None
    return inner[0] if inner else holder.at


def _reached(node: Node, path: FieldPath) -> _Reached:
    at = node.at
    for step in path:
        inner = child(node, step)
        if inner is None:
            return _Reached(at, node, is_end=False)
        at, node = inner
    return _Reached(at, node, is_end=True)


def _bad_keys(node: Node) -> Iterator[tuple[str, tuple[int, int], tuple[int, int] | None]]:
    places: dict[str, tuple[int, int]] = {}
    for index, item in enumerate(node.children if node.kind != ALIAS else ()):
        if node.kind == SEQUENCE or index % 2:
            yield from _bad_keys(item)
            continue
        text = key_of(item)
        if text is None:
            yield "", item.at, None
        elif not is_merge(item):
            if text in places:
                yield text, item.at, places[text]
            places.setdefault(text, item.at)


def _differences(
    node: Node, path: FieldPath, seen: set[int]
) -> Iterator[tuple[FieldPath, str, str, str]]:
    named = target_of(node)
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
            here = path if is_merge(key) else (*path, key_of(key) or "")
            if key.kind == SCALAR and (texts := _key_texts(key)):
                yield here, *texts
            yield from _differences(value, here, seen)


def _texts(node: Node) -> tuple[str, str, str] | None:
    """The text of a scalar and what the two make of it, if that differs."""
    if node.tag is not None:
        refused = isinstance(value_of(node), bool) and not isinstance(
            scalars.kustomize(node.text), bool
        )
        return (node.text, _json(value_of(node)), "error") if refused else None
    if not node.plain:
        return None
    ours, kustomize_value = scalars.kubectl(node.text), scalars.kustomize(node.text)
    return None if ours == kustomize_value else (node.text, _json(ours), _json(kustomize_value))


def _key_texts(node: Node) -> tuple[str, str, str] | None:
    """The same for a key: kustomize refuses what it does not read as text."""
    value = value_of(node)
    kustomize_value = scalars.kustomize(node.text) if node.plain and node.tag is None else value
    if isinstance(value, str) and kustomize_value == value:
        return None
    reading = _json(kustomize_value) if isinstance(kustomize_value, str) else "error"
    return node.text, _json(key_of(node)), reading


def _json(value: scalars.Value) -> str:
    return json.dumps(value, ensure_ascii=False)
