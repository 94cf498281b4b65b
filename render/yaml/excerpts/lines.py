"""Lines of a text to show beside a finding, without what is secret in them.

What is secret is decided by where it stands in the parsed document, whatever the notation: below which keys, and in an
object of which kind. Of a document that cannot be parsed and speaks of anything secret only lines are shown that stand
before the first word of that, and cannot be part of a text.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from operator import itemgetter

from render.diagnostics import secrets
from render.model.regex import pattern
from render.yaml import positions
from render.yaml.excerpts import hidden
from render.yaml.excerpts.hidden import Span
from render.yaml.stream import Chunk

WIDTH = 120
_HEADER = pattern(r"[|>][-+0-9]*")
"""How a block begins: nothing of what it says."""
_PAST = "..."
_COMMENT = pattern(r"\s#")
_LONGEST = 10_000

Excerpt = tuple[str, int]
"""What of a line is shown, and the character in it (from 1) that the finding is about; 0 where that is hidden."""


class Excerpts:
    """The lines of one file, with what is secret in them hidden; without *quotes*, what words about it may not say."""

    __slots__ = (
        "_chunks", "_data", "_hidden", "_kept_back", "_lines", "_quotes", "_starts", "_text",
    )  # fmt: skip

    def __init__(self, data: bytes, *, quotes: bool = True) -> None:
        self._data = data
        self._quotes = quotes
        self._text = data.decode(errors="replace")
        self._lines = [0]
        at = self._text.find("\n") + 1
        while at:
            self._lines.append(at)
            at = self._text.find("\n", at) + 1
        self._chunks = positions.chunks(data)
        self._starts = [chunk.start for chunk in self._chunks]
        self._hidden: dict[int, tuple[list[Span], bool]] = {}
        self._kept_back: dict[int, list[Span]] = {}

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
        for start, until in (*self._spans(first, last), (last, last)):
            if begin <= caret <= start:
                at = len(text) + caret - begin + 1
            text += self._text[begin:start]
            if start < until:
                part = self._text[start:until]
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
            for start, end in self._kept_back_of(index):
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
            for node in hidden.scalars(root):
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
                spans = self._kept_back_of(index)
                following = bisect_right(spans, begin, key=itemgetter(1))
                for start, until in islice(spans, following, None):
                    if start >= last:
                        break
                    yield max(start, begin), min(until, last)
                begin = end
            index += 1

    def _kept_back_of(self, index: int) -> list[Span]:
        """What is hidden of a document, and the credentials elsewhere in it."""
        if index not in self._kept_back:
            chunk = self._chunks[index]
            credentials = secrets.credentials(chunk.text)
            spans = [(chunk.start + start, chunk.start + end) for start, end in credentials]
            self._kept_back[index] = _joined([*self._hidden_in(index), *spans])
        return self._kept_back[index]

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
            parts = (
                list(hidden.spans(root, end, chunk, quotes=self._quotes)) if root and whole else []
            )
            rest = max(end, 0)
            broken = hidden.is_doubtful(chunk.text[rest:])
            if broken or chunk.separator:
                is_all = whole or chunk.separator or not self._quotes
                parts.append((rest if is_all else hidden.certain(chunk.text), len(chunk.text)))
            spans = [(chunk.start + a, chunk.start + b) for a, b in parts]
            self._hidden[index] = spans, broken and not whole
        return self._hidden[index]


def hidden_texts(data: bytes) -> Iterator[str]:
    """Everything in *data* that is secret, as it is written and as it is read."""
    excerpts = Excerpts(data, quotes=False)
    for index in range(len(excerpts.documents)):
        yield from excerpts.hidden_in(index)


def _joined(spans: list[Span]) -> list[Span]:
    """*spans* from left to right, of those that overlap one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
