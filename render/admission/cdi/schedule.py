"""When a DataImportCron looks for new images: the expressions that its schedule may be.

Upstream: github.com/robfig/cron/v3 (ParseStandard), which the containerized data importer asks; Go's time.LoadLocation.
"""

import os
from functools import cache

from render.model import types
from render.model.apimachinery import go
from render.model.apimachinery.duration import is_duration
from render.model.named_tuple import NamedTuple

_ZONES = ("TZ=", "CRON_TZ=")
_DESCRIPTORS = (
    "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly",
)  # fmt: skip
_EVERY = "@every "
_ANY = ("*", "?")
_PAIR = 2
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


class _Bounds(NamedTuple):
    """What a field may hold: *least* to *most*, or one of *names*, the first of which means the least."""

    least: int
    most: int
    names: tuple[str, ...] = ()


_FIELDS = (
    _Bounds(0, 59),
    _Bounds(0, 23),
    _Bounds(1, 31),
    _Bounds(1, 12, _MONTHS),
    _Bounds(0, 6, _DAYS),
)


def crashes(text: str) -> bool:
    """Whether CDI's webhook crashes on *text*: a time zone with nothing behind it."""
    return text.startswith(_ZONES) and " " not in text


def is_valid(text: str) -> bool:
    """Whether *text*, which does not crash the webhook, is a schedule."""
    if text.startswith(_ZONES):
        zone, _, text = text.partition(" ")
        if not _is_zone(zone.partition("=")[2]):
            return False
        text = text.strip()
    if text.startswith("@"):
        return text in _DESCRIPTORS or (
            text.startswith(_EVERY) and is_duration(text.removeprefix(_EVERY))
        )
    fields = text.split()
    return len(fields) == len(_FIELDS) and all(
        _is_range(part, bounds)
        for field, bounds in zip(fields, _FIELDS, strict=True)
        for part in field.split(",")
        if part
    )


def _is_range(text: str, bounds: _Bounds) -> bool:
    """Whether *text* is a number, a name, ``*`` or a span, perhaps with a step."""
    span, *steps = text.split("/")
    low, *high = span.split("-")
    start: int | None
    end: int | None
    if low in _ANY:
        start, end = bounds.least, bounds.most
    else:
        start = _number(low, bounds.names, bounds.least)
        if len(high) >= _PAIR:
            return False
        end = _number(high[0], bounds.names, bounds.least) if high else start
    step: int | None = 1
    if steps:
        step = _number(steps[0])
        end = end if high else bounds.most
    if len(steps) > 1 or start is None or end is None or not step:
        return False
    return bounds.least <= start <= end <= bounds.most


def _number(text: str, names: tuple[str, ...] = (), first: int = 0) -> int | None:
    if text.lower() in names:
        return names.index(text.lower()) + first
    number = go.atoi(text)
    return number if isinstance(number, int) and number >= 0 else None


def _is_zone(name: str) -> bool:
    return name in ("", "UTC", "Local") or name in _zones()


@cache
def _zones() -> frozenset[str]:
    """The names of the time zone database."""
    path = os.path.join(types.schemas_folder(), "time-zones.txt")
    with open(path, encoding="ascii") as file:
        return frozenset(file.read().split())
