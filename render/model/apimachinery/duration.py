"""Durations as Go reads and writes them: ``1h30m``, ``1m0s``, ``250ms``.

Upstream: the standard library of Go, time.ParseDuration and Duration.String.
"""

import re

_UNITS = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,
    "\u03bcs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_LONGEST = 19
"""Digits of the largest number that there is: the rest of a fraction counts for nothing."""
_PART = r"(\d+(?:\.\d*)?|\.\d+)([a-z\u00b5\u03bc]+)"


class DurationError(ValueError):
    """A text that is no duration, in the words of Go."""


def nanoseconds(text: str) -> int:
    """The length of the duration *text* in nanoseconds; DurationError where it is none."""
    sign, rest = (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    total, end = 0, 0
    while end < len(rest):
        part = re.compile(_PART).match(rest, end)
        if part is None or part[2] not in _UNITS:
            break
        whole, _, fraction = part[1].partition(".")
        unit = _UNITS[part[2]]
        if len(whole.lstrip("0")) > _LONGEST:
            break
        fraction = fraction[:_LONGEST]
        total += int(whole[-_LONGEST:] or "0") * unit
        total += int(fraction or "0") * unit // 10 ** len(fraction)
        end = part.end()
    if end < len(rest) or not rest or total > 2**63 - 1:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        raise DurationError(f'time: invalid duration "{escaped}"')
    return sign * total


def is_duration(text: str) -> bool:
    """Whether *text* is a duration to Go."""
    try:
        nanoseconds(text)
    except DurationError:
        return False
    return True


def text(length: int) -> str:
    """*length* nanoseconds as Go writes them."""
    if length == 0:
        return "0s"
    sign, rest = ("-", -length) if length < 0 else ("", length)
    if rest < 10**9:
        for unit, size in (("ms", 10**6), ("\u00b5s", 10**3), ("ns", 1)):
            if rest >= size:
                return f"{sign}{_decimal(rest, size)}{unit}"
    minutes, rest = divmod(rest, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    seconds_text = f"{_decimal(rest, 10**9)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds_text}"
    return f"{sign}{minutes}m{seconds_text}" if minutes else f"{sign}{seconds_text}"


def _decimal(length: int, unit: int) -> str:
    whole, rest = divmod(length, unit)
    fraction = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{fraction}" if fraction else str(whole)


def canonical(duration: str) -> str:
    """*duration* as Go writes it after reading it; DurationError where it is none."""
    return text(nanoseconds(duration))
