"""A YAML stream as kubectl and Argo CD take it apart: lines that begin with ``---``, and JSON objects in a row.

They split the text before any YAML is parsed, and so do we: a document with a mistake does not hide the next one, and
each keeps its own text. It is sound, since YAML allows ``---`` at the start of a line nowhere else.
"""

import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator

from render.model.hints import TYPE_CHECKING, Any, Final
from render.model.named_tuple import NamedTuple
from render.yaml import scalars

if TYPE_CHECKING:
    from json import JSONDecoder

MISSING: Final = object()


class Chunk(NamedTuple):
    """The text of one document, which may be empty.

    *line* and *column* (from 1) are where it begins, *start* the same in characters from 0. *separator* is what stands
    on its ``---`` line but must not. *value*: the object, where the text is JSON.
    """

    text: str
    line: int
    column: int = 1
    separator: str = ""
    value: Any = MISSING
    start: int = 0

    def position(self, line: int, column: int) -> tuple[int, int]:
        """A position in the text (from 0) as one in the stream (from 1)."""
        return self.line + line, column + (1 if line else self.column)


def as_utf8(data: bytes) -> bytes:
    """*data* in UTF-8, where it begins with the mark of UTF-16; what is no text then, as the mark of that."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode("utf-8", "replace")
    return data


def split(text: str, most: int = sys.maxsize) -> Iterator[Chunk]:
    """The documents of *text*, byte order marks and separators taken away; each ends in a line break.

    Of JSON objects in a row no more than *most* and one are looked for. kubectl adds the last line break too: without
    it, the last line of a block scalar would lose its own.
    """
    if not text.endswith("\n"):
        text += "\n"
    start, line, separator = (1 if text[:1] == "\ufeff" else 0), 1, ""
    while True:
        end = start if text.startswith("---", start) else text.find("\n---", start) + 1 or len(text)
        if text[start : start + 1] == "\ufeff":
            start += 1
        if start < end or separator:
            yield from _chunks(text[start:end], line, separator, start, most)
        if end == len(text):
            return
        line += text.count("\n", start, end) + 1
        start = text.index("\n", end) + 1
        rest = text[end + 3 : start].strip()
        separator = "" if rest.startswith("#") else rest
        if start == len(text) and not separator:
            return


def _chunks(text: str, line: int, separator: str, offset: int, most: int) -> Iterator[Chunk]:
    head = text[:1] if not text[:1].isspace() else text.lstrip()[:1]
    pieces = _objects(text, most) if head == "{" and not separator else None
    if pieces is None:
        yield Chunk(text, line, separator=separator, start=offset)
        return
    counted = begins = 0  # up to where lines are counted, and where the last of them begins
    decode = _decoder().raw_decode
    for start, end in pieces:
        line += text.count("\n", counted, start)
        begins = max(begins, text.rfind("\n", counted, start) + 1)
        counted = start
        value, _ = decode(text, start)
        yield Chunk(text[start:end], line, start - begins + 1, value=value, start=offset + start)


def _decoder() -> "JSONDecoder":
    import json

    return json.JSONDecoder(
        object_pairs_hook=_unique, parse_float=_number, parse_int=_number, parse_constant=_number
    )


def _objects(text: str, most: int) -> list[tuple[int, int]] | None:
    """The spans of the JSON objects of which *text* consists; None if it is anything else (YAML, perhaps).

    The objects themselves are made again one by one: all at once they may be much larger than their text.
    """
    import json

    decode = _decoder().raw_decode
    escapes = "\\u" in text
    spans: list[tuple[int, int]] = []
    start = _skip(text, 0)
    while start < len(text) and len(spans) <= most:
        try:
            value, end = decode(text, start)
            if escapes:  # half of a surrogate pair is no character
                json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict):
            return None
        spans.append((start, end))
        start = _skip(text, end)
    return spans


def _skip(text: str, start: int) -> int:
    while text[start : start + 1].isspace():
        start += 1
    return start


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    body = dict(pairs)
    if len(body) < len(pairs):
        raise ValueError  # read as YAML, which says where
    return body


def _number(text: str) -> Any:
    value = scalars.kubectl(text)
    if isinstance(value, str):  # NaN, Infinity, 1e400
        raise ValueError(text)  # noqa: TRY004 - for the caller it is text that is no JSON
    return value
