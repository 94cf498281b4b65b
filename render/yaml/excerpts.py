"""Lines of a text to show beside a finding, without what is secret in them.

What is secret is decided by where it stands in the parsed document, whatever the notation: below which keys, and in an
object of which kind. Of a document that cannot be parsed no line is shown if it speaks of anything secret.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from render.diagnostics import secrets
from render.model.named_tuple import NamedTuple
from render.yaml import positions
from render.yaml.libyaml import ALIAS, MAPPING, SCALAR, SEQUENCE
from render.yaml.nodes import Node, child, is_merge, key_of, merged_into, target_of, value_of
from render.yaml.stream import Chunk

WIDTH = 120
_HEADER = re.compile(r"[|>][-+0-9]*")
"""How a block begins: nothing of what it says."""
_VALUE = re.compile(r"""\bvalue["']?\s*:""")
"""What an operation or an environment variable is set to."""
_CONTENT = re.compile(r"""(?<![\w./-])(?:data|binaryData)["']?+\s*+:""")
"""What a ConfigMap or a Secret holds."""
_PAST = "..."
_COMMENT = re.compile(r"\s#")
_LONGEST = 10_000
_NAMES = ("name", "key", "op", "path")

Span = tuple[int, int]
Excerpt = tuple[str, int]
"""What of a line is shown, and the character in it (from 1) that the finding is about; 0 where that is hidden."""


class Excerpts:
    """The lines of one file, with what is secret in them hidden."""

    __slots__ = ("_chunks", "_data", "_hidden", "_lines", "_starts", "_text")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._text = data.decode(errors="replace")
        self._lines = [0]
        at = self._text.find("\n") + 1
        while at:
            self._lines.append(at)
            at = self._text.find("\n", at) + 1
        self._chunks = positions.chunks(data)
        self._starts = [chunk.start for chunk in self._chunks]
        self._hidden: dict[int, tuple[list[Span], bool]] = {}

    def at(self, line: int, column: int) -> Excerpt:
        """What to show of *line* (from 1) around *column*."""
        if not 0 < line <= len(self._lines):
            return "", 0
        start = self._lines[line - 1]
        end = self._lines[line] - 1 if line < len(self._lines) else len(self._text)
        caret = start + max(column, 1) - 1
        first = max(start, caret - WIDTH // 2) if end - start > WIDTH else start
        last = min(end, first + WIDTH)
        text, at = self._masked(first, last, caret)
        lead = _PAST if first > start else ""
        if not text.strip():
            return "", 0
        return lead + text, at + len(lead) if at and 0 < column <= end - start + 1 else 0

    def _masked(self, first: int, last: int, caret: int) -> Excerpt:
        """The characters from *first* to *last* without what is hidden, and which of them *caret* now is."""
        text, at, begin = "", 0, first
        for hidden, until in (*self._spans(first, last), (last, last)):
            if begin <= caret <= hidden:
                at = len(text) + caret - begin + 1
            text += self._text[begin:hidden]
            if hidden < until:
                part = self._text[hidden:until]
                text += part[: len(part) - len(part.lstrip(" "))]
                text += secrets.MASK
            begin = until
        masked = secrets.masked(text).rstrip()
        return masked, at if text.startswith(masked[: at - 1]) and at <= len(masked) + 1 else 0

    def end(self, line: int, column: int) -> int:
        """The column behind what stands in *line* from *column* on, a comment left out; 0 where nothing does."""
        if not 0 < line <= len(self._lines):
            return 0
        start = self._lines[line - 1] + max(column, 1) - 1
        stop = self._lines[line] - 1 if line < len(self._lines) else len(self._text)
        rest = _COMMENT.split(self._text[start : min(stop, start + _LONGEST)], maxsplit=1)[
            0
        ].rstrip()
        return max(column, 1) + len(rest) if rest else 0

    def private(self) -> frozenset[int]:
        """The numbers, from 0, of the lines with something secret in them."""
        private_lines: set[int] = set()
        for index in range(len(self._chunks)):
            for start, end in self._hidden_in(index):
                first = bisect_right(self._lines, start) - 1
                last = bisect_right(self._lines, max(start, end - 1)) - 1
                for line in range(first, last + 1):
                    begins = max(start, self._lines[line])
                    until = min(end, *self._lines[line + 1 : line + 2], end)
                    part = self._text[begins:until].strip()
                    if part and not _HEADER.fullmatch(part):
                        private_lines.add(line)
        return frozenset(private_lines)

    @property
    def documents(self) -> list[Chunk]:
        """The documents of the file."""
        return self._chunks

    def hidden_in(self, index: int) -> Iterator[str]:
        """What is secret in the document *index*, as it is written and as it is read."""
        for start, end in self._hidden_in(index):
            yield self._text[start:end]
        root, end = positions.document(self._data, index)
        if root is not None and end >= 0:
            for node in _nodes(root, _secret_nodes(root)):
                yield node.text

    def _spans(self, first: int, last: int) -> Iterator[Span]:
        """What is hidden between two characters, from left to right."""
        index = max(bisect_right(self._starts, first) - 1, 0)
        begin = first
        while begin < last:
            if index >= len(self._chunks):
                yield begin, last
                return
            chunk = self._chunks[index]
            end = chunk.start + len(chunk.text)
            if begin < chunk.start:  # what stands between documents is for nobody to read
                if self._text[begin : chunk.start].strip():
                    yield begin, min(chunk.start, last)
                begin = min(chunk.start, last)
            if begin < end and begin < last:
                for hidden, until in self._hidden_in(index):
                    if until > begin and hidden < last:
                        yield max(hidden, begin), min(until, last)
                begin = end
            index += 1

    def _hidden_in(self, index: int) -> list[Span]:
        """What is hidden of a document: all of one that came of a broken one that speaks of secrets."""
        spans, _ = self._looked_at(index)
        if index and self._looked_at(index - 1)[1]:
            chunk = self._chunks[index]
            return [(chunk.start, chunk.start + len(chunk.text))]
        return spans

    def _looked_at(self, index: int) -> tuple[list[Span], bool]:
        """What is hidden of a document, and whether it is broken and speaks of secrets."""
        if index not in self._hidden:
            chunk = self._chunks[index]
            root, end = positions.document(self._data, index)
            whole = end >= 0
            hidden = list(_hidden(root, end, chunk)) if root and whole else []
            rest = max(end, 0)
            broken = _is_doubtful(chunk.text[rest:])
            if broken or chunk.separator:
                hidden.append((rest, len(chunk.text)))
            spans = [(chunk.start + a, chunk.start + b) for a, b in hidden]
            self._hidden[index] = spans, broken and not whole
        return self._hidden[index]


def hidden_texts(data: bytes) -> Iterator[str]:
    """Everything in *data* that is secret, as it is written and as it is read."""
    excerpts = Excerpts(data)
    for index in range(len(excerpts.documents)):
        yield from excerpts.hidden_in(index)


def _is_doubtful(text: str) -> bool:
    """Whether *text*, of which we do not know the structure, may say something secret; escapes may hide the word."""
    is_content = _VALUE.search(text) is not None or _CONTENT.search(text) is not None
    return "\\" in text or is_content or secrets.speaks_of_secrets(text)


def _hidden(root: Node, end: int, chunk: Chunk) -> Iterator[Span]:
    """The secret parts of the document *root*, which ends at *end*, in order."""
    if root.kind == SCALAR:  # no object at all: a password in a file of its own, perhaps
        yield root.index, end
        return
    secret = _secret_nodes(root)
    begins = -1
    for node, ends_region in _in_order(root, secret):
        if begins >= 0:
            yield begins, _before(chunk.text, begins, node.index)
            begins = -1
        if ends_region:
            begins = node.index
    if begins >= 0:
        yield begins, end


def _in_order(root: Node, secret: set[int]) -> Iterator[tuple[Node, bool]]:
    """Each node as it is written, and whether it is secret; what is inside of a secret one is left out."""
    pending = [root]
    while pending:
        node = pending.pop()
        is_secret = id(node) in secret and (node.kind != SCALAR or node.text != "")
        yield node, is_secret
        if not is_secret and node.kind != ALIAS:
            pending += reversed(node.children)


def _nodes(root: Node, secret: set[int]) -> Iterator[Node]:
    """The *secret* scalars."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.kind == SCALAR and id(node) in secret:
            yield node
        elif node.kind != ALIAS:
            pending += node.children


def _before(text: str, begins: int, following: int) -> int:
    """Where a secret part ends before the next node: with the line before, if only dashes precede that one."""
    line = text.rfind("\n", begins, following)
    return line if line >= 0 and not text[line:following].strip(" -?\t\n") else following


def _secret_nodes(root: Node) -> set[int]:
    """The nodes whose text is for nobody to read, with what their aliases name."""
    secret: set[int] = set()
    seen: set[_Visit] = set()
    pending = [(root, _Visit(id(root), hidden=False, kind="", in_data=False))]
    while pending:
        node, visit = pending.pop()
        if node.kind != SCALAR:  # most are, and nothing follows from them
            if visit in seen:
                continue
            seen.add(visit)
        if visit.hidden or (node.kind == SCALAR and secrets.may_contain_secrets(node.text)):
            secret.add(id(node))
        if node.kind == MAPPING:
            pending += _entries(node, visit)
        else:
            pending += ((item, visit._replace(node=id(item))) for item in node.children)
    return secret


class _Visit(NamedTuple):
    """A node on the way through a document: whether all of it is *hidden*, and the *kind* of the object it is part of.

    That kind is of use where the node is the object, or the list of its items. *in_data*: what a guest boots with
    stands around it.
    """

    node: int
    hidden: bool
    kind: str
    in_data: bool


def _is_plain(operation: Node, value: Node) -> bool:
    """Whether the *value* of an *operation* of a JSON patch is true, false or null, and its path leads to no secret."""
    path = child(operation, "path")
    place = target_of(path[1]) if path else None
    if place is None or place.kind != SCALAR or value.kind != SCALAR:
        return False
    word = value_of(value)
    return (word is None or isinstance(word, bool)) and not secrets.speaks_of_secrets(place.text)


def _entries(node: Node, visit: _Visit) -> Iterator[tuple[Node, _Visit]]:
    """The keys and values of a mapping; of what it merges, the mappings themselves."""
    entry = child(node, "kind")
    kind_node = target_of(entry[1]) if entry else None
    kind = visit.kind
    if kind_node is not None and kind_node.kind == SCALAR:
        # What many merge is visited once a kind.
        kind = secrets.holder(str(value_of(kind_node)))
    valued = any(child(node, name) for name in _NAMES)
    for key, value in node.pairs():
        if is_merge(key):  # it takes mappings: what else stands there is a value out of place
            sources = value.children if value.kind == SEQUENCE else (value,)
            strays = (source for source in sources if source.kind not in (MAPPING, ALIAS))
            yield from (
                (stray, _Visit(id(stray), hidden=True, kind="", in_data=False)) for stray in strays
            )
            continue
        name = key_of(key)
        is_mapping = value.kind in (MAPPING, ALIAS)
        hidden = visit.hidden or (
            name is None
            or (visit.in_data and secrets.is_datum(name, is_mapping=is_mapping))
            or secrets.is_secret_key(name)
            or secrets.is_content(kind, name)
            or secrets.is_unquoted(name, is_mapping=is_mapping)
            or (name == "value" and valued and not _is_plain(node, value))
        )
        listed = kind.removesuffix("List") if name == "items" else ""
        in_data = visit.in_data or (name is not None and secrets.holds_data(name))
        yield key, _Visit(id(key), visit.hidden, "", in_data=False)
        yield value, _Visit(id(value), hidden, listed, in_data)
    for source in merged_into(node):
        target = target_of(source)
        if target is not None:
            yield target, _Visit(id(target), visit.hidden, kind, visit.in_data)
