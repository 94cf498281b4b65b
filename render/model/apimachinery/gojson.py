"""JSON as Go's encoding/json reads it, and what it says where it does not.

Upstream: encoding/json/scanner.go (syntax), decode.go (types; keys are found whatever their case).
"""

from collections.abc import Mapping

from render.model.apimachinery.go import quoted
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern


class GoJSONError(ValueError):
    """The text is no JSON, or not of the type; the message is Go's."""


class Scalar(NamedTuple):
    """A Go type of the JSON *kind* (``string``), called *name* in messages."""

    kind: str
    name: str


class List(NamedTuple):
    """A slice of *item*, called *name* in messages."""

    name: str
    item: "GoType"


class Struct(NamedTuple):
    """A struct, its *fields* by their JSON names."""

    name: str
    fields: Mapping[str, "GoType"]


GoType = Scalar | List | Struct
STRING = Scalar("string", "string")
STRINGS = List("[]string", STRING)

_SPACE = " \t\r\n"
_LITERALS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_NUMBER = pattern(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = frozenset("0123456789abcdefABCDEF")
_DEEPEST = 10_000


def unmarshal(text: str, go_type: GoType) -> Any:
    """The value of *text* as Go reads it into *go_type*; unknown keys vanish. Raises `GoJSONError`."""
    reader = _Scanner(text)
    value = reader.document()
    faults: list[str] = []
    typed = _typed(value, go_type, "", faults)
    if faults:
        raise GoJSONError(faults[0])
    return typed


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def document(self) -> Any:
        value = self._value()
        if self._peek():
            self._refuse("after top-level value")
        return value

    def _peek(self) -> str:
        while self.text[self.at : self.at + 1] and self.text[self.at] in _SPACE:
            self.at += 1
        return self.text[self.at : self.at + 1]

    def _refuse(self, where: str) -> None:
        found = self.text[self.at : self.at + 1]
        if not found:
            raise GoJSONError("unexpected end of JSON input")
        character = {"'": "'\\''", '"': "'\"'"}.get(found) or f"'{quoted(found)[1:-1]}'"
        raise GoJSONError(f"invalid character {character} {where}")

    def _value(self) -> Any:
        """The next value. No call for each level of it: Python has not as many as Go allows."""
        around: list[_Pairs | list[Any]] = []
        while True:
            value = self._begun()
            if isinstance(value, list) and not self._ends(value):
                around.append(value)
                if len(around) > _DEEPEST:
                    raise GoJSONError("exceeded max depth")
                continue
            while around and self._is_last(value, around[-1]):
                value = around.pop()
            if not around:
                return value

    def _begun(self) -> Any:
        """The value that begins here, of an object or an array the opening alone; `_Pairs` are an object."""
        start = self._peek()
        if start in ("{", "["):
            self.at += 1
            return _Pairs() if start == "{" else []
        if start == '"':
            return self._string()
        if start in _LITERALS:
            return self._literal(*_LITERALS[start])
        if not start or start not in "-0123456789":
            self._refuse("looking for beginning of value")
        return self._number()

    def _ends(self, opened: "_Pairs | list[Any]") -> bool:
        """Whether what was *opened* has nothing in it; else its first value is next, of an object behind the key."""
        if self._peek() == ("}" if isinstance(opened, _Pairs) else "]"):
            self.at += 1
            return True
        if isinstance(opened, _Pairs):
            self._key(opened)
        return False

    def _key(self, pairs: "_Pairs") -> None:
        """Add the key that is next to *pairs*, without a value yet: which one counts is a matter of the type."""
        if self._peek() != '"':
            self._refuse("looking for beginning of object key string")
        key = self._string()
        if self._peek() != ":":
            self._refuse("after object key")
        self.at += 1
        pairs.append((key, None))

    def _is_last(self, value: Any, around: "_Pairs | list[Any]") -> bool:
        """Put *value* into what is *around* it; whether that ends behind it."""
        if isinstance(around, _Pairs):
            around[-1] = around[-1][0], value
            where, close = "after object key:value pair", "}"
        else:
            around.append(value)
            where, close = "after array element", "]"
        end = self._peek()
        if end not in (",", close):
            self._refuse(where)
        self.at += 1
        if end == "," and isinstance(around, _Pairs):
            self._key(around)
        return end == close

    def _literal(self, word: str, value: Any) -> Any:
        for letter in word:
            if self.text[self.at : self.at + 1] != letter:
                self._refuse(f"in literal {word} (expecting '{letter}')")
            self.at += 1
        return value

    def _number(self) -> float:
        match = _NUMBER.match(self.text, self.at)
        if match is None:  # a minus alone
            self.at += 1
            self._refuse("in numeric literal")
            return 0.0
        self.at = match.end()
        following = self.text[self.at : self.at + 1]
        if following == "." and "." not in match[0] and "e" not in match[0].lower():
            self.at += 1
            self._refuse("after decimal point in numeric literal")
        if following in ("e", "E") and "e" not in match[0].lower():
            self.at += 1
            if self.text[self.at : self.at + 1] in ("+", "-"):
                self.at += 1
            self._refuse("in exponent of numeric literal")
        return float(match[0])

    def _string(self) -> str:
        parts: list[str] = []
        self.at += 1
        while True:
            letter = self.text[self.at : self.at + 1]
            if not letter or letter < " ":
                self._refuse("in string literal")
            self.at += 1
            if letter == '"':
                return "".join(parts)
            parts.append(self._escape() if letter == "\\" else letter)

    def _escape(self) -> str:
        letter = self.text[self.at : self.at + 1]
        if letter in _ESCAPES and letter:
            self.at += 1
            return _ESCAPES[letter]
        if letter != "u":
            self._refuse("in string escape code")
        self.at += 1
        digits = ""
        for _ in range(4):
            if self.text[self.at : self.at + 1] not in _HEX:
                self._refuse("in \\u hexadecimal character escape")
            digits += self.text[self.at]
            self.at += 1
        return chr(int(digits, 16))


class _Pairs(list[tuple[str, Any]]):
    """An object."""


def _kind(value: Any) -> str:
    if isinstance(value, _Pairs):
        return "object"
    return {bool: "bool", str: "string", float: "number", list: "array"}[type(value)]


def _typed(value: Any, go_type: GoType, place: str, faults: list[str]) -> Any:
    if value is None:
        return None
    if isinstance(go_type, Struct) and isinstance(value, _Pairs):
        struct: dict[str, Any] = {}
        for key, item in value:
            name = next((field for field in go_type.fields if field.lower() == key.lower()), None)
            name = key if key in go_type.fields else name
            if name is not None:
                below = f"{place}.{name}" if place else f"{go_type.name.rpartition('.')[2]}.{name}"
                struct[name] = _typed(item, go_type.fields[name], below, faults)
        return struct
    if isinstance(go_type, List) and type(value) is list:
        return [_typed(item, go_type.item, place, faults) for item in value]
    if isinstance(go_type, Scalar) and _kind(value) == go_type.kind:
        return value
    target = f"struct field {place}" if place else "value"
    faults.append(f"json: cannot unmarshal {_kind(value)} into Go {target} of type {go_type.name}")
    return None
