"""Kubernetes quantities: reading, canonical text, integer value.

The behaviour is that of apimachinery's ``pkg/api/resource/quantity.go`` as KubeVirt v1.9.0 vendors
it, down to which texts are printed as they were written and how an integer value overflows. All
arithmetic is on exact integers.
"""

import re
from functools import lru_cache

from render.model.named_tuple import NamedTuple

BINARY = "BinarySI"
DECIMAL = "DecimalSI"
EXPONENT = "DecimalExponent"

FORMAT_WRONG = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_SUFFIX_WRONG = "unable to parse quantity's suffix"
_DIGITS = "0123456789"
#: What may stand behind the number. Possessive: what follows never needs a character back, and a text may be long.
_SUFFIX = "[eEinumkKMGTP]*+[+-]?[0-9]*+"
_EXPONENT = "[eE]([+-]?[0-9]+)"
_DECIMAL_SUFFIXES = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_SUFFIX_OF_EXPONENT = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_UNITS = ("", *_BINARY_SUFFIXES)

_INT64_MAX = 2**63 - 1
_NANO = -9
_MILLI = -3
_KIBI = 1024
_PLAIN_POWERS = range(-6, 21)  # of ten: such JSON numbers have no exponent
_FAST_DIGITS = 18
_MAX_DIGITS = 1000  # ours: nobody means such a number, and Python refuses to print 4,300 digits
_WRAPPING_SCALES = (1, 2, 3, 6, 9)  # Go multiplies by these powers in one unchecked step


class QuantityError(ValueError):
    """The text is not a quantity; the message is that of Kubernetes."""


class Quantity(NamedTuple):
    """The exact number ``mantissa * 10**scale``.

    *kept* is the text as it was written where Kubernetes prints it unchanged, else ``""``; *small*
    says whether Go holds the number in an int64 (its integer value overflows in another way then).
    """

    mantissa: int
    scale: int
    format: str
    kept: str = ""
    small: bool = True


def parse(value: str | float) -> Quantity:
    """Read a JSON string or number; raises `QuantityError`.

    Spaces around a string are ignored here, as the JSON decoder of Kubernetes does; `parse_text`
    refuses them.
    """
    if isinstance(value, str):
        return parse_text(value.strip())
    return parse_text(number_text(value))


@lru_cache(maxsize=4096)
def parse_text(text: str) -> Quantity:
    """Read a quantity exactly as it stands; raises `QuantityError`."""
    if not text:
        raise QuantityError(FORMAT_WRONG)
    unsigned = text[1:] if text[0] in "+-" else text
    behind = unsigned.lstrip(_DIGITS)
    whole = unsigned[: len(unsigned) - len(behind)].lstrip("0") or "0"
    suffix = behind[1:].lstrip(_DIGITS) if behind.startswith(".") else behind
    fraction = behind[1 : len(behind) - len(suffix)]
    sign = -1 if text[0] == "-" else 1
    exponent, quantity_format = _interpret(suffix)
    digits = whole + fraction
    if len(digits) > _MAX_DIGITS:
        raise QuantityError(f"quantities must not have more than {_MAX_DIGITS} digits")
    if quantity_format == BINARY:
        return _binary(text, sign, (whole, fraction), exponent)
    scale = exponent - len(fraction)
    magnitude = int(digits)
    if len(digits) <= _FAST_DIGITS and scale >= _NANO:
        as_written = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
        return Quantity(sign * magnitude, scale, quantity_format, text if as_written else "")
    magnitude, scale = _whole_nanos(magnitude, scale)
    return Quantity(sign * magnitude, scale, quantity_format, small=False)


def _interpret(suffix: str) -> tuple[int, str]:
    """The power (of two in the binary format, else of ten) and the format of *suffix*."""
    if suffix in _DECIMAL_SUFFIXES:
        return _DECIMAL_SUFFIXES[suffix], DECIMAL
    if suffix in _BINARY_SUFFIXES:
        return _BINARY_SUFFIXES[suffix], BINARY
    if not re.fullmatch(_SUFFIX, suffix):
        raise QuantityError(FORMAT_WRONG)
    match = re.fullmatch(_EXPONENT, suffix)
    if match is None or len(match[1]) > _FAST_DIGITS:
        raise QuantityError(_SUFFIX_WRONG)
    return (int(match[1]) + 2**31) % 2**32 - 2**31, EXPONENT  # Go keeps it in an int32


def _binary(text: str, sign: int, digits: tuple[str, str], exponent: int) -> Quantity:
    """A number with a binary suffix; *digits* are those before and after the point."""
    whole, fraction = digits
    magnitude = int(whole + fraction)
    if not fraction and len(whole) <= 14 - exponent * 3 // 10:
        number = magnitude << exponent
        exact = text if magnitude % 8 else ""
        return Quantity(sign * number, 0, BINARY, exact)
    number, scale = _whole_nanos(magnitude << exponent, -len(fraction))
    unit = 10**-scale
    capped = number > _INT64_MAX * unit
    if capped:
        number, scale, unit = _INT64_MAX, 0, 1
    quantity_format = DECIMAL if 0 < number < unit else BINARY
    return Quantity(sign * number, scale, quantity_format, small=capped)


def _whole_nanos(magnitude: int, scale: int) -> tuple[int, int]:
    """Round up to whole nano units; a number without smaller parts stays as it is."""
    drop = _NANO - scale
    if drop <= 0:
        return magnitude, scale
    if drop > 2 * _MAX_DIGITS:
        return min(magnitude, 1), _NANO
    return -(-magnitude // 10**drop), _NANO


def number_text(value: float) -> str:
    """The text of a JSON number as Go's encoder writes it."""
    text = repr(value)
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return text.removesuffix(".0")
    power = int(exponent)
    if power not in _PLAIN_POWERS:
        return f"{mantissa}e{power:+d}"
    whole, _, fraction = mantissa.partition(".")
    if power > 0:
        return whole + fraction.ljust(power, "0")
    sign = "-" if whole.startswith("-") else ""
    return f"{sign}0.{'0' * (-power - 1)}{whole.removeprefix('-')}{fraction}"


def text_of(quantity: Quantity) -> str:
    """The text that Kubernetes prints for *quantity*."""
    if quantity.kept:
        return quantity.kept
    if not quantity.mantissa:
        return "0"
    if quantity.format == BINARY:
        number = _integer(quantity)
        if number is not None and abs(number) >= _KIBI:
            return _binary_text(number)
    mantissa, scale = quantity.mantissa, quantity.scale
    while not mantissa % 10:
        mantissa //= 10
        scale += 1
    mantissa *= 10 ** (scale % 3)
    scale -= scale % 3
    if quantity.format == EXPONENT:
        return f"{mantissa}e{scale}" if scale else str(mantissa)
    # QUIRK(suffix.go): above exa there is no suffix, and the bare mantissa is printed.
    return str(mantissa) + _SUFFIX_OF_EXPONENT.get(scale, "")


def _integer(quantity: Quantity) -> int | None:
    """The number itself where it is whole.

    Only binary quantities, whose scale is never positive, come here.
    """
    whole, rest = divmod(quantity.mantissa, 10**-quantity.scale)
    return None if rest else int(whole)


def _binary_text(number: int) -> str:
    unit = 0
    while unit < len(_BINARY_UNITS) - 1 and not number % _KIBI:
        number //= _KIBI
        unit += 1
    return f"{number}{_BINARY_UNITS[unit]}"


@lru_cache(maxsize=4096)
def _canonical_text(text: str) -> str:
    return text_of(parse_text(text))


def canonical(value: str | float) -> str:
    """The text that a typed round trip makes of a JSON string or number; raises `QuantityError`."""
    return _canonical_text(value.strip() if isinstance(value, str) else number_text(value))


@lru_cache(maxsize=4096)
def value(text: str | float) -> int:
    """Go's ``Value()``: a fraction is rounded away from zero, and an int64 overflows as there."""
    return _scaled(text, 0)


@lru_cache(maxsize=4096)
def milli_value(text: str | float) -> int:
    """Go's ``MilliValue()``: the number in thousandths, rounded and overflowing as `value` is."""
    return _scaled(text, _MILLI)


def _scaled(text: str | float, unit: int) -> int:
    return scaled(parse(text), unit)


def scaled(quantity: Quantity, unit: int = 0) -> int:
    """Go's ``ScaledValue()``: the number in units of ten to the power of *unit*; ``Value()`` with 0."""
    mantissa, scale = quantity.mantissa, quantity.scale
    if not quantity.small and mantissa < 0:
        # QUIRK(scale_int.go): the nano units are cut to 64 bits; a fraction adds one, also below
        # zero.
        nanos = _wrapped(mantissa * 10 ** min(scale - _NANO, 64))
        step: int = 10 ** (unit - _NANO)
        whole, rest = divmod(abs(nanos), step)
        return (-whole if nanos < 0 else whole) + bool(rest)
    scale -= unit
    if scale < 0:
        magnitude: int = -(-abs(mantissa) // 10**-scale)
        return _wrapped(-magnitude if mantissa < 0 else magnitude)
    number = mantissa * 10 ** min(scale, 64)  # 10**64 is a multiple of 2**64
    fits = -_INT64_MAX - 1 <= number <= _INT64_MAX
    if quantity.small and not fits and scale not in _WRAPPING_SCALES:
        return 0
    return _wrapped(number)


def _wrapped(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def is_zero(text: str | float) -> bool:
    """Whether the number is zero."""
    return not parse(text).mantissa


def compare(left: str | float, right: str | float) -> int:
    """-1, 0 or 1 as *left* is less than, equal to or greater than *right*.

    The formats do not count.
    """
    return order(parse(left), parse(right))


def order(a: Quantity, b: Quantity) -> int:
    """-1, 0 or 1 as *a* is less than, equal to or greater than *b*."""
    if (a.mantissa > 0) != (b.mantissa > 0) or not a.mantissa or not b.mantissa:
        return (a.mantissa > b.mantissa) - (a.mantissa < b.mantissa)
    # The sizes are compared first, so that 1e2000000000 is never written out.
    size_a, size_b = len(str(abs(a.mantissa))) + a.scale, len(str(abs(b.mantissa))) + b.scale
    if size_a != size_b:
        return 1 if (size_a > size_b) == (a.mantissa > 0) else -1
    shared = min(a.scale, b.scale)
    scaled_a, scaled_b = (
        a.mantissa * 10 ** (a.scale - shared),
        b.mantissa * 10 ** (b.scale - shared),
    )
    return int(scaled_a > scaled_b) - int(scaled_a < scaled_b)


def add(left: str | float, right: str | float) -> str:
    """The canonical text of the sum, in the format of *left* unless that is zero."""
    return text_of(plus(parse(left), parse(right)))


def plus(left: Quantity, right: Quantity) -> Quantity:
    """The sum, in the format of *left* unless that is zero."""
    shared = min(left.scale, right.scale)
    if max(left.scale, right.scale) - shared > _MAX_DIGITS:
        raise QuantityError(f"quantities must not have more than {_MAX_DIGITS} digits")
    total = left.mantissa * 10 ** (left.scale - shared) + right.mantissa * 10 ** (
        right.scale - shared
    )
    return Quantity(
        total,
        shared,
        (left if left.mantissa else right).format,
        small=left.small and right.small,
    )


def minus(left: Quantity, right: Quantity) -> Quantity:
    """The difference, in the format of *left* unless that is zero."""
    return plus(left, right._replace(mantissa=-right.mantissa))


def in_thousandths(a: Quantity) -> Quantity:
    """*a*, rounded up where it has smaller parts, as the API server stores amounts of resources."""
    drop = _MILLI - a.scale
    if drop <= 0:
        return a
    number = -(-a.mantissa // 10**drop)
    return (
        a if number * 10**drop == a.mantissa else a._replace(mantissa=number, scale=_MILLI, kept="")
    )


def from_int(number: int, quantity_format: str) -> str:
    """The canonical text of a computed whole number (4000000000 is ``3906250Ki`` in BinarySI).

    One that no binary suffix fits has none, and is read as a decimal one from then on: 902824000 becomes ``902824k``.
    """
    return canonical(text_of(Quantity(number, 0, quantity_format)))


def format_of(text: str | float) -> str:
    """The format that the number is printed in."""
    return parse(text).format
