"""How Go prints values and matches patterns, where KubeVirt's messages and rules show it."""

import json
import re
from collections.abc import Iterable
from functools import lru_cache

from render.model.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from render.model.patterns import Automaton

#: What ``strconv.ParseBool`` reads as true.
TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_ESCAPES = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
    "\\": "\\\\", '"': '\\"',
}  # fmt: skip
_BYTE, _BASIC_PLANE = 0x80, 0x10000
# Patterns are compiled by the first call that needs them: most processes render one or two machines.
_INTEGER = r"[+-]?[0-9]+"
_INT64, _DIGITS = 2**63, 19
_PCI_ADDRESS = r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"


def quoted(text: str) -> str:
    """*text* as ``%q`` prints it."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < _BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < _BASIC_PLANE else f"\\U{code:08x}"


_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def marshalled(value: Any) -> str:
    """*value* as encoding/json prints it, which escapes what is special in HTML; keys stay in their order."""
    text = _ENCODER.encode(value)
    for character in "<>&\u2028\u2029":
        if character in text:
            text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def listed(items: Iterable[str]) -> str:
    """A list as ``%v`` prints it: ``[a b]``."""
    return f"[{' '.join(items)}]"


def is_pci_address(text: str) -> bool:
    """Whether *text* is a PCI address (upstream: ParsePciAddress in pkg/util/hardware/hw_utils.go)."""
    return re.fullmatch(_PCI_ADDRESS, text) is not None


def path_matches(pattern: str, text: str) -> bool:
    """Go's ``filepath.Match``; what is no pattern matches nothing."""
    start = pattern.removesuffix("*")
    if _SPECIAL.isdisjoint(start):
        rest = text.removeprefix(start)
        return text.startswith(start) and (not rest or (start != pattern and "/" not in rest))
    matcher = _matcher(pattern)
    return matcher is not None and matcher.matches(text)


_SPECIAL = frozenset("*?[\\")
_GLOB = (
    r"(?P<star>\*+)|(?P<any>\?)|\\(?P<escaped>.)"
    r"|\[(?P<not>\^)?(?P<ranges>(?:(?:\\.|[^\]\\-])(?:-(?:\\.|[^\]\\-]))?)+)\]|(?P<plain>[^\[\\])"
)
_RANGE = r"\\?(.)(?:-\\?(.))?"


@lru_cache(maxsize=64)
def _matcher(pattern: str) -> "Automaton | None":
    from render.model.patterns import Characters, automaton_of

    no_slash = Characters("//", is_negated=True)
    tests: list[Characters | None] = []
    end = 0
    for part in re.finditer(_GLOB, pattern, re.DOTALL):
        if part.start() != end:
            return None
        end = part.end()
        if part["star"]:
            tests.append(None)
        elif part["any"]:
            tests.append(no_slash)
        elif part["ranges"]:
            pairs = re.findall(_RANGE, part["ranges"], re.DOTALL)
            ends = "".join(low + (high or low) for low, high in pairs if not high or low <= high)
            tests.append(Characters(ends, part["not"] is not None))
        else:
            tests.append(Characters((part["escaped"] or part["plain"]) * 2))
    return automaton_of(iter(tests), no_slash) if end == len(pattern) else None


def atoi(text: str) -> int | str:
    """What Go's ``strconv.Atoi`` reads in *text*, or why it refuses it."""
    if not re.fullmatch(_INTEGER, text):
        return "invalid syntax"
    # Python reads no number of thousands of digits: beyond 19 none is in range, but for zeros before it.
    digits = text.lstrip("+-").lstrip("0") or "0"
    number = int(text[:1].strip("0123456789") + digits) if len(digits) <= _DIGITS else _INT64
    return number if -_INT64 <= number < _INT64 else "value out of range"
