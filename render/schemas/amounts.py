"""What somebody meant who wrote no quantity where one belongs: in a unit of daily life, or with none."""

from collections.abc import Sequence

from render.diagnostics.fix import Fix, choice, quote, set_to
from render.model.fieldpath import FieldPath
from render.model.regex import pattern

_NUMBER = r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?"
_AMOUNT = pattern(rf"({_NUMBER})([a-zA-Z]{{0,10}})")
_UNIT_FIRST = pattern(rf"([a-zA-Z]{{1,10}})({_NUMBER})")
_THOUSANDS = pattern(r"(?<=[0-9])[,_](?=[0-9]{3}(?![0-9]))")
_COMMA = pattern(r"(?<=[0-9]),(?=[0-9])")
#: What stands behind an amount for a slip: the end of a quote, of a sentence or of an item.
_BEHIND = "'\"`.,;"
_PREFIXES = {"k": "k", "m": "M", "g": "G", "t": "T", "p": "P", "e": "E"}
#: What daily life writes behind a prefix, in any case; French counts octets.
_BYTES = frozenset({"b", "byte", "bytes", "o", "octets"})
_DECIMAL_WORDS = ("kilo", "mega", "giga", "tera", "peta", "exa")
_BINARY_WORDS = ("kibi", "mebi", "gibi", "tebi", "pebi", "exbi")
#: Fields that are counted in bytes.
_OF_BYTES = frozenset(
    {"capacity", "ephemeral-storage", "guest", "maxGuest", "memory", "size", "storage"}
)
_THOUSANDTH = "m"


def meant(value: str | float, place: FieldPath) -> tuple[str, tuple[Fix, ...]]:
    """What to do about *value*, which stands at *place* and is no quantity, and the fixes that do it."""
    field = place[-1] if place else ""
    if not isinstance(value, str):
        return _number(value, place, field)
    texts, is_safe = _readings(value)
    if field == "cpu":
        texts = [text for text in texts if text[-1:].isdigit() or text.endswith(_THOUSANDTH)]
    elif field in _OF_BYTES and texts and texts[0].endswith(_THOUSANDTH):
        number = texts[0].removesuffix(_THOUSANDTH)
        texts, is_safe = (f"{number}Mi", f"{number}M"), False
    options = choice(*((f"write {text}", set_to(place, text)) for text in texts))
    cure = f"write {' or '.join(texts)}" if texts else _example(field)
    return cure, tuple(fix._replace(safe=is_safe) for fix in options)


def _example(field: str | int) -> str:
    if field == "cpu":
        return 'write it like 2, 500m or "1.5"'
    return f"write it like 2Gi{'' if field in _OF_BYTES else ', 1500m'} or 500M"


def _number(value: float, place: FieldPath, field: str | int) -> tuple[str, tuple[Fix, ...]]:
    """The same for what stands there as a number: one too long, or with a fraction, which no byte has."""
    if isinstance(value, int):
        return _example(field), ()
    is_of_bytes = field in _OF_BYTES
    quoted = Fix("put the value in quotes", (quote(place),), safe=not is_of_bytes)
    if not is_of_bytes:
        return f'write "{value}", in quotes', (quoted,)
    with_unit = f"{value}Gi"
    fix = Fix(f"write {with_unit}", (set_to(place, with_unit),))
    return f"the unit is missing, most likely: {with_unit}", (fix, quoted)


def _readings(text: str) -> tuple[Sequence[str], bool]:
    """What *text* may have been meant to be as quantities are written, and whether it can be nothing else."""
    compact = "".join(text.split())
    plain = _COMMA.sub(".", _THOUSANDS.sub("", compact.rstrip(_BEHIND)))
    if match := _AMOUNT.fullmatch(plain):
        texts, is_sure = _in_unit(match[1], match[2])
        return texts, is_sure and plain == compact
    match = _UNIT_FIRST.fullmatch(plain)
    return (_in_unit(match[2], match[1])[0] if match else ()), False


def _in_unit(number: str, unit: str) -> tuple[Sequence[str], bool]:
    """The quantities that *number* of *unit* may be, and whether that is one beyond doubt."""
    lower = unit.lower()
    if not unit or lower in _BYTES or unit == _THOUSANDTH:
        return (number + (unit if unit == _THOUSANDTH else ""),), True
    prefix, rest = _PREFIXES.get(lower[0]), lower[1:]
    if prefix is None:
        return (), False
    binary, decimal = f"{number}{prefix.upper()}i", f"{number}{prefix}"
    is_word = lower.startswith(_DECIMAL_WORDS)
    if not is_word and (rest.startswith("i") or lower.startswith(_BINARY_WORDS)):
        return (binary,), rest in ("i", "ib")
    if unit == prefix:
        return (decimal,), True
    is_unit = is_word or len(rest) <= 1 or rest in _BYTES
    return ((binary, decimal) if is_unit else ()), False
