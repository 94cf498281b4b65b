"""A text as PyYAML's ``safe_load`` reads it, with which cloud-init reads user data: YAML 1.1.

Kubernetes' reader is another one (`render.yaml.reader`): here ``10:30`` is a number, ``2026-01-01`` a date, and of two
keys that are alike the last counts. Upstream: cloudinit/config/schema.py (validate_cloudconfig_file), whose marks are
those of PyYAML.
"""

import binascii
import re
from collections.abc import Callable

from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.yaml import libyaml, positions, scalars
from render.yaml.libyaml import ALIAS, END, FINISHED, MAPPING, SCALAR
from render.yaml.stream import Chunk

_TAG = "tag:yaml.org,2002:"
_MOST = 10_000
"""Values, those of aliases counted where they are used: what says more is no document that a person wrote."""
_DEEPEST = 60
_UNKNOWN_TAG = "a tag that cloud-init does not know"
#: PyYAML has no ``y`` and ``n``.
_BOOLEANS = {word: value for word, value in scalars.BOOLEANS.items() if len(word) > 1}
_NULLS = frozenset(scalars.NULLS)
_INTEGER = pattern(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*(?::[0-5]?[0-9])*)")
_FLOAT = pattern(
    r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_DATE = pattern(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
    r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?"
)
_TAB_OR_COMMENT = pattern(r"\t|(?:^|(?<=[ \t\n]))#[^\n]*", re.MULTILINE)
_LONGEST = 128
"""Characters of a plain number; a longer text is none that anybody means as one."""
_SIXTY = 60


class Date(str):
    """A date or a time, which is no text to a schema: by what is written."""

    __slots__ = ()


class Fault(NamedTuple):
    """Why a text is not YAML, without a word of it; line and column from 1.

    They are those of cloud-init: where that began which cannot be read to its end. *seen*: the line where that shows.
    """

    words: str
    line: int
    column: int
    seen: int = 0


class Loaded(NamedTuple):
    """What a text says, or the *fault* that keeps it from saying anything.

    *literal* are the parts of the text, from and to which character, that are in quotes or in blocks.
    """

    value: Any
    fault: Fault | None
    literal: tuple[tuple[int, int], ...]


class TooMuchError(Exception):
    """More than anybody wrote by hand: aliases of aliases, or brackets in brackets."""


class _NoValueError(Exception):
    def __init__(self, words: str, mark: libyaml.Mark) -> None:
        super().__init__(words)
        self.mark = mark


def load(text: str) -> Loaded:
    """The value of *text*, or why it is none. Raises `TooMuchError`.

    Bytes stand for what is tagged ``!!binary``, `Date` for dates and times. A key that is no text becomes one: there is
    no such key in any schema.
    """
    literal: list[tuple[int, int]] = []
    value, fault = None, None
    try:
        value, _ = libyaml.tolerantly(text, lambda attempt: _Constructor(attempt, literal).load())
    except _NoValueError as refused:
        fault = _tab(text, literal, refused.mark.index) or _fault(str(refused), refused.mark)
    except libyaml.ERRORS as error:
        fault = _syntax_fault(error, text, literal)
    else:
        fault = _tab(text, literal, len(text))
    return Loaded(None if fault else value, fault, tuple(literal))


def _syntax_fault(error: Any, text: str, literal: list[tuple[int, int]]) -> Fault:
    """Where PyYAML sees it: where that began which could not be read to its end."""
    words = libyaml.problem(error, text).words
    end = getattr(error, "problem_mark", None)
    if end is None:
        return Fault(words, 1, 1)
    begin = getattr(error, "context_mark", None) or end
    known = begin if "quoted scalar" in words else end
    return _tab(text, literal, known.index) or _fault(words, begin)._replace(seen=end.line + 1)


def _fault(words: str, mark: libyaml.Mark) -> Fault:
    return Fault(words, mark.line + 1, mark.column + 1)


def _tab(text: str, literal: list[tuple[int, int]], end: int) -> Fault | None:
    """That a tab stands before *end* where a blank may: libyaml takes that, PyYAML does not.

    *literal* are the quoted and the block scalars; comments may hold anything too.
    """
    if "\t" not in text[:end]:
        return None
    at = 0
    for start, until in (*literal, (end, end)):
        for match in _TAB_OR_COMMENT.finditer(text, at, max(at, min(start, end))):
            if match[0] == "\t":
                before = text[: match.start()]
                line, column = before.count("\n"), match.start() - before.rfind("\n")
                return Fault("found a tab where only blanks may stand", line + 1, column)
        at = max(at, until)
    return None


def placer(text: str) -> Callable[[FieldPath], tuple[int, int]]:
    """What gives line and column (from 1) of what stands at a path of *text*, or of the nearest thing above it."""
    return positions.placer(Chunk(text if text.endswith("\n") else f"{text}\n", 1))


class _Constructor:
    """Builds the one document of a text from libyaml's events; *literal* gets where quoted and block scalars stand."""

    def __init__(self, text: str, literal: list[tuple[int, int]]) -> None:
        self._get = libyaml.marked_events(text)
        self._literal = literal
        literal.clear()
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._values = 0
        self._depth = 0
        self._refused: list[_NoValueError] = []

    def load(self) -> Any:
        get = self._get
        get()
        if get() is FINISHED:
            return None
        root = get()
        value = self._value(root)
        get()
        if get() is not FINISHED:
            raise _NoValueError("expected a single document", root[3])
        if self._refused:
            raise self._refused[0]
        return value

    def _refuse(self, words: str, mark: libyaml.Mark) -> None:
        """PyYAML reads a whole document before it makes values of it."""
        self._refused.append(_NoValueError(words, mark))

    def _value(self, event: Any) -> Any:
        kind, anchor, tag, mark = event[:4]
        self._values += 1
        if self._values > _MOST:
            raise TooMuchError
        if kind == ALIAS:
            if anchor not in self._anchors:
                raise _NoValueError("an alias without an anchor before it", mark)
            value, size = self._anchors[anchor]
            self._values += size
            return value
        before = self._values
        if kind == SCALAR:
            if not event[5]:
                self._literal.append((mark.index, event[6].index))
            value = self._scalar(tag, libyaml.restored(event[4]), mark, plain=event[5])
        else:
            self._depth += 1
            if self._depth > _DEEPEST:
                raise TooMuchError
            value = self._mapping(tag, mark) if kind == MAPPING else self._sequence(tag, mark)
            self._depth -= 1
        if anchor is not None:
            self._anchors[anchor] = value, self._values - before
        return value

    def _sequence(self, tag: str | None, mark: libyaml.Mark) -> Any:
        items = []
        while (event := self._get()) is not END:
            items.append(self._value(event))
        if tag in (None, "!", f"{_TAG}seq"):
            return items
        if tag in (f"{_TAG}omap", f"{_TAG}pairs"):
            return [next(iter(item.items())) for item in items if isinstance(item, dict) and item]
        self._refuse(_UNKNOWN_TAG, mark)
        return items

    def _mapping(self, tag: str | None, mark: libyaml.Mark) -> Any:
        merged: dict[Any, Any] = {}
        own: dict[Any, Any] = {}
        while (event := self._get()) is not END:
            if event[0] == SCALAR and event[2] is None and event[5] and event[4] == "<<":
                self._merge(merged, mark)
                continue
            key = self._value(event)
            value = self._value(self._get())
            if isinstance(key, list | dict):
                self._refuse("a key that is a list or a mapping", mark)
            else:
                own[key if isinstance(key, str) else str(key)] = value
        if tag not in (None, "!", f"{_TAG}map", f"{_TAG}set"):
            self._refuse(_UNKNOWN_TAG, mark)
        return {**merged, **own}

    def _merge(self, merged: dict[Any, Any], mark: libyaml.Mark) -> None:
        """Of several that are merged the first counts, of several ``<<`` the last."""
        value = self._value(self._get())
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            self._refuse("<< takes a mapping or a list of mappings", mark)
            return
        for source in reversed(sources):
            merged.update(source)

    def _scalar(self, tag: str | None, text: str, mark: libyaml.Mark, *, plain: bool) -> Any:
        if tag is None:
            return plain_value(text) if plain else text
        if tag in ("!", f"{_TAG}str"):
            return text
        if tag == f"{_TAG}binary":
            try:
                return binascii.a2b_base64(text.encode("ascii"))
            except (UnicodeEncodeError, binascii.Error):
                self._refuse("no base64", mark)
                return text
        if tag.startswith(_TAG) and tag.removeprefix(_TAG) in _SCALARS:
            value = plain_value(text)
            return value if isinstance(value, _SCALARS[tag.removeprefix(_TAG)]) else text
        self._refuse(_UNKNOWN_TAG, mark)
        return text


_SCALARS: dict[str, type | tuple[type, ...]] = {
    "null": type(None),
    "bool": bool,
    "int": int,
    "float": (int, float),
    "timestamp": Date,
}


def plain_value(text: str) -> Any:
    """The value of a plain scalar in YAML 1.1 as PyYAML resolves it."""
    hint = text[:1]
    if hint not in "0123456789+-.yYnNtTfFoO~":
        return text
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if hint not in "0123456789+-." or len(text) > _LONGEST:
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return _float(text)
    return Date(text) if _DATE.fullmatch(text) else text


def _integer(text: str) -> Any:
    digits = text.replace("_", "")
    sign = -1 if digits[0] == "-" else 1
    digits = digits.lstrip("+-")
    try:
        if ":" in digits:
            return sign * int(_sixties(digits))
        if digits[:2] in ("0b", "0x"):
            return sign * int(digits, 0)
        return sign * int(digits, 8 if digits[0] == "0" and len(digits) > 1 else 10)
    except ValueError:  # underscores alone, where PyYAML fails too
        return text


def _float(text: str) -> Any:
    digits = text.replace("_", "").lower()
    sign = -1.0 if digits[0] == "-" else 1.0
    digits = digits.lstrip("+-")
    try:
        if digits in (".inf", ".nan"):
            return sign * float(digits[1:])
        return sign * (_sixties(digits) if ":" in digits else float(digits))
    except ValueError:
        return text


def _sixties(digits: str) -> float:
    value = 0.0
    for part in digits.split(":"):
        value = value * _SIXTY + float(part)
    return value
