"""The nodes of a document with their places: what is looked at again once there is something to report."""

import contextlib
import sys
from collections.abc import Iterator, Sequence

from render.yaml import libyaml, scalars
from render.yaml.budget import DEEPEST
from render.yaml.libyaml import ALIAS, CLOSE, END, FINISHED, MAPPING, OTHER, SCALAR, SEQUENCE
from render.yaml.stream import Chunk

_MOST = 200_000
"""Nodes of one document, each a few hundred bytes: what follows has the place of what stands around it."""

_COLUMN = 32
"""Bits of a column."""


class Node:
    """A node of the document. *children*: of a mapping, keys and values in turn; of an alias, what it names.

    *index* is where it begins in the text, *at* the same as line and column of the stream.
    """

    __slots__ = (
        "_at", "_fields", "_merged", "_merges", "children", "index", "kind", "plain", "tag", "text",
    )  # fmt: skip

    def __init__(
        self, kind: int, line: int, column: int, tag: str | None = None, index: int = 0
    ) -> None:
        self.kind = kind
        # One number where a pair takes thrice as much: there are many nodes.
        self._at = line << _COLUMN | column
        self.index = index
        self.tag = tag
        self.text = ""
        self.plain = False
        self.children: Sequence[Node] = ()
        self._fields: _Fields | None = None
        self._merged: dict[str, _PlacedNode | None] | None = None
        self._merges = True

    @property
    def at(self) -> tuple[int, int]:
        """Line and column."""
        return self._at >> _COLUMN, self._at & (1 << _COLUMN) - 1

    def pairs(self) -> Iterator[tuple["Node", "Node"]]:
        """The keys of a mapping with their values."""
        return zip(self.children[::2], self.children[1::2], strict=False)

    def fields(self) -> "_Fields":
        """What stands in a complete mapping itself, by key; of a key that stands twice the first."""
        if self._fields is None:
            self._fields = {}
            self._merges = any(map(is_merge, self.children[::2]))
            for key, value in self.pairs():
                name = None if is_merge(key) else key_of(key)
                if name is not None:
                    self._fields.setdefault(name, (key.at, value))
        return self._fields

    def merges(self) -> bool:
        """Whether a complete mapping may merge others into itself: most do not, and are asked for many keys."""
        self.fields()
        return self._merges

    def inherited(self) -> "dict[str, _PlacedNode | None]":
        """What was found by key in what a complete mapping merges into itself, None where nothing was."""
        if self._merged is None:
            self._merged = {}
        return self._merged


def parsed(chunk: Chunk) -> tuple[Node | None, int]:
    """The node tree of *chunk*, as far as it can be read, and where the document ends (-1: in a mistake)."""
    top = Node(SEQUENCE, chunk.line, chunk.column)
    end = -1

    def parse(text: str) -> int:
        top.children = []
        return _fill(top, top.children, chunk, libyaml.marked_events(text))

    # What stands before a mistake is all that is asked for.
    with contextlib.suppress(*libyaml.ERRORS):
        end, _ = libyaml.tolerantly(chunk.text, parse)
    return (top.children[0] if top.children else None), end


def _fill(top: Node, children: list[Node], chunk: Chunk, get: libyaml.Next) -> int:
    """Put the nodes into *children*, those of *top*; where the document ends, -1 where it is too large for that."""
    open_nodes, anchors = [top], dict[str, Node]()
    open_children = [children]
    room = _MOST
    while (event := get()) is not FINISHED:
        if event is END:
            open_nodes.pop().children = open_children.pop() or ()  # no list for each that is empty
            continue
        kind, anchor, tag, mark, *scalar = event
        if kind == CLOSE:
            return int(mark.index)
        if kind == OTHER:
            continue
        room -= 1
        if room < 0:
            return -1
        node = Node(kind, *chunk.position(mark.line, mark.column), tag, mark.index)
        open_children[-1].append(node)
        if kind == ALIAS:
            named = anchors.get(anchor)
            node.children = (named,) if named and named not in open_nodes else ()
            continue
        if anchor is not None:
            anchors[anchor] = node
        if kind == SCALAR:
            node.text, node.plain = sys.intern(libyaml.restored(scalar[0])), scalar[1]
        elif len(open_nodes) > DEEPEST:  # libyaml looks at all that is open with each token
            return -1
        else:
            open_nodes.append(node)
            open_children.append([])
            node.children = open_children[-1]
    return len(chunk.text)


def target_of(node: Node) -> Node | None:
    """What *node* stands for: itself, unless it is an alias."""
    while node.kind == ALIAS:
        if not node.children:
            return None
        node = node.children[0]
    return node


def key_of(node: Node) -> str | None:
    """The text of the key *node*, None where it can be none."""
    named = target_of(node)
    if named is None or named.kind != SCALAR:
        return None
    return scalars.key(value_of(named))


def value_of(node: Node) -> scalars.Value:
    """The value of the scalar *node*."""
    if node.tag is not None:
        try:
            return scalars.tagged(node.tag, node.text)
        except ValueError:
            return node.text
    return scalars.resolved(node.text) if node.plain else node.text


_PlacedNode = tuple[tuple[int, int], Node]
_Fields = dict[str, _PlacedNode]


def child(node: Node, step: str | int) -> _PlacedNode | None:
    """Where the child at *step* is written, and the child."""
    named = target_of(node)
    if named is None:
        return None
    if isinstance(step, int):
        if named.kind != SEQUENCE or not 0 <= step < len(named.children):
            return None
        return named.children[step].at, named.children[step]
    if named.kind != MAPPING:
        return None
    return named.fields().get(step) or _merged(named, step)


def _merged(node: Node, step: str) -> _PlacedNode | None:
    """The same of what a mapping merges into itself; each is looked into once for a *step*, whoever merges it."""
    found: _PlacedNode | None = None
    pending = [(node, sources)] if (sources := merged_into(node)) else []
    while pending:
        holder, sources = pending[-1]
        if found is not None or not sources:
            holder.inherited()[step] = found
            pending.pop()
            continue
        source = target_of(sources.pop())
        if source is not None and source.kind == MAPPING:
            known = source.inherited()
            found = source.fields().get(step) or known.get(step)
            if found is None and step not in known:
                pending.append((source, merged_into(source)))
    return found


def merged_into(node: Node) -> list[Node]:
    """What the mapping *node* merges into itself, the first last."""
    merged: list[Node] = []
    for key, value in node.pairs() if node.merges() else ():
        if is_merge(key):
            source = target_of(value)
            merged.extend(source.children if source and source.kind == SEQUENCE else [value])
    return merged[::-1]


def is_merge(key: Node) -> bool:
    """Whether what follows *key* is merged into its mapping."""
    return key.kind == SCALAR and key.text == "<<" and key.plain
