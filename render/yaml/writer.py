"""Plain trees into YAML that every reader takes the same way.

Block style, keys in their order, one line a value. A string stands bare only where no YAML reader, of version 1.1 or
1.2, could take it for anything else; the rest is double quoted, or a literal block where it has several lines. No
aliases, no tags, no directives.
"""

from collections.abc import Iterable

from render.model.hints import Any, Final
from render.model.tree import Tree
from render.yaml import scalars

_FIRST = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/")
_REST = _FIRST | frozenset("0123456789.:@%+-")
#: In any spelling: another reader may know more of them than ours.
_WORDS = frozenset(word.lower() for word in scalars.WORDS)
_LONGEST_WORD = max(map(len, _WORDS))
_ESCAPES = {
    "\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\",
}  # fmt: skip
_BYTE, _WORD = 0x100, 0x10000
_SURROGATES = range(0xD800, 0xE000)
_LONGEST_KEY = 1000  # a key without ? must fit into 1,024 bytes, its quotes included

_QUOTED: Final[dict[str, str]] = {}
_KEYS: Final[dict[str, str]] = {}
_ROOM = 100_000


def write(documents: Iterable[Tree | str]) -> str:
    """A stream of *documents*, each behind a ``---`` line; a string is a document's text, written as it is."""
    parts: list[str] = []
    for document in documents:
        parts.append("---\n")
        if isinstance(document, str):
            parts.append(document if document.endswith("\n") else document + "\n")
        else:
            parts.append(dump(document))
    return "".join(parts)


def dump(body: Tree) -> str:
    """One document, without a separator. ValueError for a number that JSON does not have."""
    lines: list[str] = []
    if body:
        _mapping(lines, body, "", "")
    else:
        lines.append("{}")
    lines.append("")
    return "\n".join(lines)


def _mapping(lines: list[str], body: dict[str, Any], lead: str, indent: str) -> None:
    """Write *body*; its first line begins with *lead*, the others with *indent*."""
    inner = indent + "  "
    for key, value in body.items():
        try:
            head = _KEYS[key]
        except KeyError:
            head = _key(key, indent)
        kind = type(value)
        if kind is str:
            try:
                lines.append(f"{lead}{head} {_QUOTED[value]}")
            except KeyError:
                lines.append(f"{lead}{head} {_string(value, inner)}")
        elif kind is dict and value:
            lines.append(lead + head)
            _mapping(lines, value, inner, inner)
        elif kind is list and value:
            lines.append(lead + head)
            _sequence(lines, value, indent + "- ", indent)
        else:
            lines.append(f"{lead}{head} {_other(value)}")
        lead = indent


def _sequence(lines: list[str], items: list[Any], lead: str, indent: str) -> None:
    """Write *items*, the dashes at *indent*; the first line begins with *lead*."""
    dash, inner = indent + "- ", indent + "  "
    for value in items:
        kind = type(value)
        if kind is str:
            lines.append(lead + (_QUOTED.get(value) or _string(value, inner)))
        elif kind is dict and value:
            _mapping(lines, value, lead, inner)
        elif kind is list and value:
            _sequence(lines, value, lead + "- ", inner)
        else:
            lines.append(lead + _other(value))
        lead = dash


def _other(value: Any) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return quoted(str(value))
    if not value and isinstance(value, dict | list):
        return "{}" if isinstance(value, dict) else "[]"
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _float(value: float) -> str:
    import math

    if not math.isfinite(value):
        raise ValueError("infinity and NaN are no JSON numbers")
    mantissa, exponent, power = repr(value).partition("e")
    # YAML 1.1 takes 1e+22 for text, 1.0e+22 for a number.
    return mantissa + ("" if "." in mantissa else ".0") + exponent + power if exponent else mantissa


def _key(key: str, indent: str) -> str:
    """*key* and its colon."""
    text = quoted(key)
    if len(text.encode(errors="replace")) > _LONGEST_KEY:
        return f"? {text}\n{indent}:"
    if len(_KEYS) >= _ROOM:
        _KEYS.clear()
    _KEYS[key] = text + ":"
    return text + ":"


def _string(value: str, indent: str) -> str:
    if "\n" in value and _fits_block(value):
        body = value.removesuffix("\n")
        indented = (
            body.replace("\n", "\n" + indent) if "\n\n" not in body else _indented(body, indent)
        )
        return f"{'|' if len(body) < len(value) else '|-'}\n{indent}{indented}"
    text = quoted(value)
    if len(_QUOTED) >= _ROOM:
        _QUOTED.clear()
    _QUOTED[value] = text
    return text


def _indented(body: str, indent: str) -> str:
    return "\n".join([line and indent + line for line in body.split("\n")])[len(indent) :]


def _fits_block(value: str) -> bool:
    """Whether a literal block keeps *value* in every reader."""
    if value[0] in " \t\n" or value.endswith("\n\n"):
        return False
    if not value.replace("\n", "").replace("\t", "").isprintable():
        return False
    return " \n" not in value and "\t\n" not in value and value[-1] not in " \t"


def quoted(value: str) -> str:
    """*value* as a scalar on one line: bare where that is safe, else in double quotes."""
    if value and value[0] in _FIRST and _REST.issuperset(value) and value[-1] != ":":
        word = len(value) <= _LONGEST_WORD and value.lower() in _WORDS
        return f'"{value}"' if word else value
    if value.isprintable():
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return f'"{"".join(map(_escaped, value))}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code in _SURROGATES:  # half a pair is no character: Go's JSON writes the same for it
        return "\ufffd"
    if code < _BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < _WORD else f"\\U{code:08x}"
