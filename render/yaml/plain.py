"""The YAML that people write most, read line by line: much faster than libyaml, and it never guesses.

It knows block mappings and sequences, scalars on one line, literal blocks, flow mappings and sequences on one line
(``{name: web}``, ``[a, b]``) and comments on lines of their own. It returns None for anything else, including invalid
YAML, and libyaml decides. Lines repeat a lot in manifests, so what a line says is remembered.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, count, repeat

from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any, Final
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree
from render.yaml import scalars

_Line = tuple[int, int, str | None, Any]
"""What a line says: the indent of its beginning, that of what follows a dash (0 without one), key, value.

The key is None in a sequence's entry that is a scalar, and where nothing is said. The value may be one of these:
"""
_NESTED: Final = object()
_CLIPPED: Final = object()
_STRIPPED: Final = object()


class _Flow:
    """A flow mapping or sequence: what it *holds*, which is never given away itself, and how many *levels* it has."""

    __slots__ = ("holds", "levels")

    def __init__(self, holds: Any, levels: int) -> None:
        self.holds = holds
        self.levels = levels


_UNFINISHED: Final = frozenset((object, _Flow))
"""The classes of values that only begin on their line, or have to be made anew each time."""
_MARKS: Final = {
    "": _NESTED,
    "|": _CLIPPED,
    "|-": _STRIPPED,
    "{}": _Flow({}, 1),
    "[]": _Flow([], 1),
}
_END: Final[_Line] = (-1, 0, None, None)
_BLANK: Final[_Line] = (-2, 0, None, None)
#: With these a key or a plain text may begin: no sign with which YAML begins anything else, nor one that may be one.
_FIRST = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/.0123456789")
_KEY = _FIRST | {"-"}
_LONGEST_KEY = 128
_PRINTABLE = bytes((ord("\n"), *range(ord(" "), ord("~") + 1)))

#: Of a flow collection: brackets, commas, a colon that ends a key, quoted text without escapes, bare words.
_TOKENS: Final = (
    r"""[{\[] *|[}\]] *|, +|: +|"[^"\\]*" *|'[^']*' *|[A-Za-z0-9_/.][A-Za-z0-9_/.+=~ -]*"""
)
_CLOSING: Final = {"{": "}", "[": "]"}
_DEEPEST_FLOW: Final = 16

_LINES: Final[dict[str, _Line]] = {}
_KEYS: Final[set[str]] = set()
_LAST = "\0"  # stands behind the lines of a text, in which there is none
_ROOM = 20_000
"""Lines that are remembered, and keys, and forms; then all are forgotten: memory does not grow with the input."""
_MOST_PLACED = 50_000
"""Lines of a text whose places are remembered: each takes more than it has."""
_LONGEST_PLACED = 4_000
"""Characters of a line whose form is remembered: a flow collection takes many times what it is written with."""
_MOST_OUTLINES = 32
"""Texts of one outline differ in nothing but values: the manifests of a fleet have few."""
_PLACED: "Final[dict[tuple[int, ...], PlainPlaces | None]]" = {}
_FORMS: Final[dict[tuple[object, ...], int]] = {}
_NUMBERS: Final = count()  # none twice: who has one may know more than is remembered here


class _UnsureError(Exception):
    """The text is not of the kind that is read here."""


def read(text: str, depth: int) -> tuple[Tree, int] | None:
    """The mapping in *text*, nested up to *depth*, and its first line (from 0); None where libyaml has to look.

    *text* ends in a line break.
    """
    if not _is_printable(text):
        return None
    try:
        return _LineReader(text, depth).document()
    except _UnsureError:
        return None


class PlainPlaces(NamedTuple):
    """Line and column, from 0, of each field and item of a text, by path: *at*, those *within* flow collections apart.

    *within* are the fields that have such a collection; where what is in it stands, libyaml has to say. No two outlines
    have the same *number*.
    """

    at: dict[FieldPath, tuple[int, int]]
    within: frozenset[FieldPath]
    number: int


def places(text: str, depth: int) -> PlainPlaces | None:
    """Where the fields of *text* stand that `read` knows; None where libyaml has to look.

    A field stands where its key does, an item where what follows its dash does; ``()`` is the first key.
    """
    if text.count("\n") > _MOST_PLACED or not _is_printable(text):
        return None
    lines = _lines(text)
    if max(map(len, lines)) > _LONGEST_PLACED:
        return None
    outline = (depth, *map(_form, lines))
    if outline not in _PLACED:
        if len(_PLACED) >= _MOST_OUTLINES:
            _PLACED.clear()
        known = read(text, depth)
        _PLACED[outline] = None if known is None else _placed(lines, known[1])
    return _PLACED[outline]


@lru_cache(maxsize=_ROOM)
def _form(text: str) -> int:
    """A number for all lines that differ from *text* in nothing but a value: they lead to the same places."""
    content = text.lstrip(" ")
    line: tuple[object, ...]
    try:
        begins, inner, key, value = _LINES.get(text) or _line(text)
        mark = (value.levels, bool(value.holds)) if isinstance(value, _Flow) else None
        line = begins, inner, key, value if value.__class__ is object else mark
    except _UnsureError:  # as the text of a block it is in order
        line = ()
    form = len(text) - len(content), bool(content), line
    if len(_FORMS) >= _ROOM:
        _FORMS.clear()
    return _FORMS.setdefault(form, next(_NUMBERS))


def forget() -> None:
    """Give back what is remembered of places."""
    _PLACED.clear()


class _Open(NamedTuple):
    """A mapping or sequence that may go on: its *indent* and *path*, and how many *items* a sequence has so far."""

    indent: int
    path: FieldPath
    items: int = -1


def _placed(lines: list[str], first: int) -> PlainPlaces:
    """The places in *lines*, which are known to be right, and of which the *first* says something."""
    at: dict[FieldPath, tuple[int, int]] = {(): (first, 0)}
    within: set[FieldPath] = set()
    opened = [_Open(0, ())]
    path: FieldPath = ()  # of what the last line said
    skipped = 0  # lines up to here are text of a block
    for number, text in enumerate(lines):
        if number < skipped:
            continue
        begins, inner, key, value = _LINES.get(text) or _remembered(text)
        if begins < 0:
            continue
        if inner:
            path = _enter_item(opened, begins, path)
            at[path] = number, inner
        if key is not None:
            path = (*_enter_mapping(opened, inner or begins, path), key)
            at[path] = number, inner or begins
        if value is _CLIPPED or value is _STRIPPED:
            skipped = _block_end(lines, number + 1)
        elif isinstance(value, _Flow) and value.holds:
            within.add(path)
    return PlainPlaces(at, frozenset(within), next(_NUMBERS))


def _enter_item(opened: list[_Open], indent: int, path: FieldPath) -> FieldPath:
    """The path of the item whose dash stands at *indent*: the next one of those *opened*, or the first of *path*.

    What ends there is taken off *opened*, and the sequence is the last of them afterwards.
    """
    while opened[-1].indent > indent:
        opened.pop()
    is_next = opened[-1].indent == indent and opened[-1].items >= 0
    last = opened.pop() if is_next else _Open(indent, path, 0)
    opened.append(last._replace(items=last.items + 1))
    return (*last.path, last.items)


def _enter_mapping(opened: list[_Open], indent: int, path: FieldPath) -> FieldPath:
    """The path of the mapping at *indent*: the one of those *opened*, or else what stands at *path*.

    What ends there is taken off *opened*, and the mapping is the last of them afterwards.
    """
    while opened[-1].indent > indent or (opened[-1].indent == indent and opened[-1].items >= 0):
        opened.pop()
    if opened[-1].indent < indent:
        opened.append(_Open(indent, path))
    return opened[-1].path


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    lines[-1] = _LAST
    return lines


def _block_end(lines: list[str], start: int) -> int:
    """The line behind the literal block that begins at *start*, and the blank lines after it."""
    first = lines[start]
    margin = first[: len(first) - len(first.lstrip(" "))]
    end = start + 1
    while lines[end].startswith(margin) or not lines[end].strip(" "):
        end += 1
    return end


def _is_printable(text: str) -> bool:
    if text.isascii():  # the quick way for nearly all
        return not text.encode().translate(None, _PRINTABLE)
    return text.replace("\n", "").isprintable()


class _LineReader:
    """The lines of one text, and how far they are read."""

    __slots__ = ("_at", "_depth", "_lines")

    def __init__(self, text: str, depth: int) -> None:
        self._lines = _lines(text)
        self._at = 0
        self._depth = depth

    def document(self) -> tuple[Tree, int]:
        """The whole text."""
        indent, inner, key, value = self._peek()
        if indent or inner or key is None:
            raise _UnsureError
        line = self._at
        self._at += 1
        return self._mapping(0, key, value, 1), line

    def _peek(self) -> _Line:
        """What the next line says that says anything."""
        lines, at = self._lines, self._at
        while (line := _LINES.get(lines[at]) or _remembered(lines[at])) is _BLANK:
            at += 1
        self._at = at
        return line

    def _mapping(self, indent: int, key: str, value: Any, level: int) -> Tree:
        """The mapping at *indent* of which the first entry is read already."""
        if level > self._depth:
            raise _UnsureError
        body: Tree = {}
        lines, known = self._lines, _LINES
        while True:
            unfinished = type(value) in _UNFINISHED
            body[key] = self._finished_value(value, indent, level) if unfinished else value
            # Most lines are known, and say something.
            line = known.get(lines[self._at]) or self._peek()
            begins, inner, following, value = line if line is not _BLANK else self._peek()
            if begins < indent:
                return body
            if begins > indent or inner or following is None or following in body:
                raise _UnsureError
            key = following
            self._at += 1

    def _sequence(self, indent: int, level: int) -> list[Any]:
        """The sequence whose dashes stand at *indent*."""
        if level > self._depth:
            raise _UnsureError
        items: list[Any] = []
        while True:
            line = _LINES.get(self._lines[self._at]) or _BLANK
            begins, inner, key, value = line if line is not _BLANK else self._peek()
            if begins < indent or (begins == indent and not inner):
                return items
            if begins > indent:
                raise _UnsureError
            self._at += 1
            if key is not None:
                items.append(self._mapping(inner, key, value, level + 1))
            elif type(value) in _UNFINISHED:
                items.append(self._finished_value(value, inner, level))
            else:
                items.append(value)

    def _finished_value(self, mark: object, indent: int, level: int) -> Any:
        """The value that begins with *mark* in a collection at *indent*."""
        if mark is _NESTED:
            line = _LINES.get(self._lines[self._at]) or _BLANK
            begins, inner, key, value = line if line is not _BLANK else self._peek()
            if inner and begins >= indent:
                return self._sequence(begins, level + 1)
            if begins <= indent:
                return None
            if key is None:
                raise _UnsureError
            self._at += 1
            return self._mapping(begins, key, value, level + 1)
        if isinstance(mark, _Flow):
            if level + mark.levels > self._depth:
                raise _UnsureError
            return tree.copy(mark.holds) if mark.levels > 1 else mark.holds.copy()
        return self._literal(indent) + ("\n" if mark is _CLIPPED else "")

    def _literal(self, indent: int) -> str:
        """The text of a literal block, without its last line break."""
        lines, start = self._lines, self._at
        first = lines[start]
        width = len(first) - len(first.lstrip(" "))
        if not indent < width < len(first):
            raise _UnsureError
        end = _block_end(lines, start)
        self._at = end
        while not lines[end - 1].strip(" "):
            end -= 1
        content = [line[width:] for line in lines[start:end]]
        if any(line.isspace() for line in lines[end : self._at]):
            raise _UnsureError
        return "\n".join(content)


def _remembered(text: str) -> _Line:
    if len(_LINES) >= _ROOM:
        _LINES.clear()
    line = _LINES[text] = _line(text)
    return line


def _line(text: str) -> _Line:
    content = text.lstrip(" ")
    if content == _LAST:
        return _END
    if not content or content[0] == "#":
        return _BLANK
    if content[-1] == " ":
        raise _UnsureError
    indent, inner = len(text) - len(content), 0
    if content.startswith("- "):
        content = content[2:].lstrip(" ")
        inner = len(text) - len(content)
    key, colon, rest = content.partition(":")
    if colon and rest[:1] in ("", " ") and key[:1] in _FIRST:
        if key not in _KEYS:
            _check_key(key)
        return indent, inner, key, _value(rest.lstrip(" "))
    if not inner:
        raise _UnsureError
    return indent, inner, None, _value(content)


def _check_key(key: str) -> None:
    if len(key) > _LONGEST_KEY or not _KEY.issuperset(key) or _scalar(key) != key:
        raise _UnsureError
    if len(_KEYS) >= _ROOM:
        _KEYS.clear()
    _KEYS.add(key)


def _value(text: str) -> Any:
    if text in _MARKS:
        return _MARKS[text]
    return _flow(text) if text[0] in "{[" else _scalar(text)


def _flow(text: str) -> _Flow:
    """The flow mapping or sequence that *text* consists of."""
    tokens = re.findall(_TOKENS, text)
    if "".join(tokens) != text:
        raise _UnsureError
    rest = chain((token.strip(" ") for token in tokens), repeat(""))
    flow = _collection(next(rest), rest)
    if next(rest):
        raise _UnsureError
    return flow


def _collection(opening: str, rest: Iterator[str], level: int = 1) -> _Flow:
    """The collection behind *opening*, up to its end in *rest*."""
    if level > _DEEPEST_FLOW:
        raise _UnsureError
    closing = _CLOSING[opening]
    body: Tree = {}
    items: list[Any] = []
    levels = 1
    word = next(rest)
    while word != closing:
        key = ""
        if opening == "{":
            key, colon, word = word, next(rest), next(rest)
            if key[:1] not in _FIRST or colon != ":" or key in body:
                raise _UnsureError
            _check_key(key)
        if word in _CLOSING:
            inner = _collection(word, rest, level + 1)
            levels = max(levels, inner.levels + 1)
            value = inner.holds
        else:
            value = _flow_scalar(word)
        if opening == "{":
            body[key] = value
        else:
            items.append(value)
        word = _next_entry(rest, closing)
    return _Flow(body if opening == "{" else items, levels)


def _flow_scalar(word: str) -> Any:
    if not word or word in "}],:":
        raise _UnsureError
    return _scalar(word)


def _next_entry(rest: Iterator[str], closing: str) -> str:
    """The first word of the next entry of a collection, or its *closing* bracket."""
    word = next(rest)
    if word == closing:
        return word
    following = next(rest)
    # A comma before the end is allowed, but nobody writes it.
    if word != "," or following == closing:
        raise _UnsureError
    return following


def _scalar(text: str) -> Any:
    quote = text[0]
    if quote in _FIRST:
        if ": " in text or " #" in text or text[-1] == ":":
            raise _UnsureError
        value = scalars.UNAMBIGUOUS.get(text, scalars.AMBIGUOUS)
        if value is scalars.AMBIGUOUS:
            value = scalars.unambiguous(text)
        if value is scalars.AMBIGUOUS:
            raise _UnsureError
        return value
    inside = text[1:-1]
    if (
        quote not in "\"'"
        or text[-1] != quote
        or quote in inside
        or "\\" in inside
        or text == quote
    ):
        raise _UnsureError
    return inside
