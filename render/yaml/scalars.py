"""What a plain scalar means: to kubectl and Argo CD (sigs.k8s.io/yaml, that is go-yaml v2), and to kustomize.

The two agree on nearly everything. kustomize keeps ``yes``, ``on``, ``y`` and their like as text, where kubectl makes
booleans of them, and writes dates out as timestamps, where kubectl keeps the text. `fixtures/scalars.tsv` has the
recorded answers of both.
"""

import re

from render.model.hints import Final

Value = str | int | float | bool | None

UNAMBIGUOUS: Final[dict[str, Value]] = {}
"""The values of plain scalars met so far, of those that need no second look; filled by `unambiguous`."""
AMBIGUOUS: Final = object()
"""What `unambiguous` answers for a text that needs a second look."""
_ROOM = 100_000
_LONGEST = 128


def _spellings(word: str) -> tuple[str, str, str]:
    return word, word.title(), word.upper()


_TRUE: Final = ("true", "yes", "on", "y")
_FALSE: Final = ("false", "no", "off", "n")
BOOLEANS: Final = {
    spelling: value
    for value, words in ((True, _TRUE), (False, _FALSE))
    for word in words
    for spelling in _spellings(word)
}
"""What is a boolean to kubectl."""
_SWITCHES: Final = frozenset(BOOLEANS).difference(_spellings("true"), _spellings("false"))
NULLS: Final = ("", "~", *_spellings("null"))
WORDS: Final[dict[str, Value]] = {**BOOLEANS, **dict.fromkeys(NULLS)}
"""The words that are something else than text: `resolved` looks for them, and `render.yaml.writer` quotes them."""
_INITIALS: Final = frozenset(word[:1] for word in WORDS)
_INFINITY = float("inf")  # without math, which is a library to load
_SPECIAL: Final = {
    **{sign + word: _INFINITY for sign in ("", "+") for word in (".inf", ".Inf", ".INF")},
    **{"-" + word: -_INFINITY for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_FLOAT = frozenset("0123456789+-.eE")
_INT64 = 1 << 63
_UINT64 = 1 << 64
_FLOAT32 = 3.4028235677973366e38  # what rounds to the largest one
_UNSCALED = range(-4, 6)


def unambiguous(text: str) -> Value | object:
    """The value of the plain scalar *text*, which is now in `UNAMBIGUOUS`; `AMBIGUOUS` if it needs a second look.

    That is so where the two readers may differ, for ``<<``, for floats (as a key they are written as they came, and
    infinities are refused), and for long texts (to save memory).
    """
    if len(text) > _LONGEST or text in _SWITCHES or text == "<<":
        return AMBIGUOUS
    value = resolved(text)
    if value.__class__ is float or (value.__class__ is str and _dated(text)):
        return AMBIGUOUS
    if len(UNAMBIGUOUS) >= _ROOM:
        UNAMBIGUOUS.clear()
    UNAMBIGUOUS[text] = value
    return value  # not what is in there: another thread may have made room since


def resolved(text: str) -> Value:
    """The value of a plain scalar in go-yaml v2, where a float is still told from an integer.

    An integer beyond 64 bits is a float there, and a number that overflows a float stays text.
    """
    hint = text[:1]
    if hint in _INITIALS:
        return WORDS.get(text, text)
    if hint in "0123456789+-.":
        if text in _SPECIAL:
            return _SPECIAL[text]
        return _number(text)
    return text


def in_json(value: Value) -> Value:
    """*value* after Go's JSON, through which kubectl sends it: a float without a fraction is an integer.

    Go writes its fewest digits and fills up with zeros: 3.158110631479287e+17 becomes 315811063147928700.
    """
    if not isinstance(value, float) or not value.is_integer() or abs(value) >= _INT64:
        return value
    mantissa, _, power = repr(value).partition("e+")
    if not power:
        return int(value)
    whole, _, fraction = mantissa.partition(".")
    return int(whole + fraction + "0" * (int(power) - len(fraction)))


def kubectl(text: str) -> Value:
    """The value of a plain scalar as the API server gets it; infinities and NaN are for the caller to refuse."""
    return in_json(resolved(text))


def kustomize(text: str) -> Value:
    """The value of a plain scalar after kustomize (yaml.v3)."""
    if text in _SWITCHES:
        return text
    if _dated(text):
        return timestamp(text) or text
    return kubectl(text)


def key(value: Value) -> str | None:
    """The text that kubectl makes of a mapping key with the `resolved` *value*; None where it refuses it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float_key(value)
    if isinstance(value, int) and value < _INT64:
        return str(value)
    return None


def tagged(tag: str, text: str) -> Value:
    """The `resolved` value of a scalar with an explicit *tag*, quoted or not; ValueError where they do not fit."""
    kind = tag.removeprefix("tag:yaml.org,2002:")
    if kind == "binary":
        import base64

        return base64.b64decode(text, validate=True).decode(errors="replace")
    if kind not in {"null", "bool", "int", "float", "timestamp"}:
        return text
    value = resolved(text)
    match value:
        case None if kind == "null":
            return None
        case bool() if kind == "bool":
            return value
        case int() if kind in {"int", "float"} and value.__class__ is int:
            return value
        case float() if kind == "float":
            return value
        case str() if kind == "timestamp" and timestamp(text):
            return text
    raise ValueError(kind)


def _float_key(number: float) -> str:
    # Go writes it with the fewest digits that tell it from other 32-bit floats (strconv's format g).
    import math
    import struct

    if math.isnan(number):
        return ".nan"
    if abs(number) > _FLOAT32:
        return ".inf" if number > 0 else "-.inf"
    packed = struct.pack("f", number)
    (number,) = struct.unpack("f", packed)
    shortest = next(
        text
        for text in (f"{number:.{precision}e}" for precision in range(10))
        if struct.pack("f", float(text)) == packed
    )
    mantissa, _, power = shortest.partition("e")
    exponent = int(power)
    if exponent not in _UNSCALED:
        return shortest
    digits = len(mantissa.lstrip("-").replace(".", ""))
    return f"{float(shortest):.{max(0, digits - 1 - exponent)}f}"


def _number(text: str) -> Value:
    if text[0] == ".":
        return _dotted(text)
    plain = text.replace("_", "")
    if not plain.isascii():
        return text
    integer = _integer(plain)
    if integer is not None:
        if -_INT64 <= integer < _INT64:
            return integer
        if integer < _UINT64 and plain[0] not in "+-":
            return integer
    return _float(plain, text)


def _dotted(text: str) -> Value:
    # Go reads these by another route, on which an underscore must stand between two digits.
    for at, character in enumerate(text):
        if character == "_" and not (
            text[at - 1].isdecimal() and text[at + 1 : at + 2].isdecimal()
        ):
            return text
    return _float(text.replace("_", ""), text)


def _float(plain: str, text: str) -> Value:
    if not _FLOAT.issuperset(plain):
        return text
    try:
        number = float(plain)
    except ValueError:
        return text
    if abs(number) == _INFINITY:
        return text
    return number


def _integer(plain: str) -> int | None:
    unsigned = plain.lstrip("+-") if plain[0] in "+-" else plain
    octal = len(unsigned) > 1 and unsigned[0] == "0" and unsigned.isdecimal()
    try:
        return int(plain, 8 if octal else 0)
    except ValueError:
        return None


def _dated(text: str) -> bool:
    return text[4:5] == "-" and text[:4].isdecimal() and text.isascii()


def timestamp(text: str) -> str:
    """*text* as kustomize writes a timestamp (RFC 3339); ``""`` if it is none."""
    from datetime import datetime

    clock = r"(\d\d?):(\d\d?):(\d\d?)(?:[.,](\d+))?"
    match = re.fullmatch(
        rf"(\d{{4}})-(\d\d?)-(\d\d?)(?:[Tt]{clock}(Z|[+-]\d\d:\d\d)| {clock})?", text
    )
    if not match:
        return ""
    numbers = (
        int(part or 0) for part in match.group(1, 2, 3, *((4, 5, 6) if match[4] else (9, 10, 11)))
    )
    try:
        moment = datetime(*numbers)  # type: ignore[arg-type]  # noqa: DTZ001 - the zone stays as it is
    except ValueError:
        return ""
    fraction = (match[7] or match[12] or "")[:9].rstrip("0")
    zone = match[8] or "Z"
    return (
        f"{moment.isoformat(timespec='seconds')}{'.' if fraction else ''}{fraction}"
        f"{'Z' if zone[1:] == '00:00' else zone}"
    )
