"""What a Python program hands over: taken apart and looked at, since no reader of YAML has done that before."""

import math
from collections.abc import Iterable

from render.diagnostics.codes import LIMIT_EXCEEDED, NOT_AN_OBJECT, WRONG_TYPE, Code
from render.diagnostics.diagnostic import Diagnostic, Location, at, ordered
from render.model import lists
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.resource import Resource, ResourceRef, from_body
from render.pipeline.result import Rendered
from render.settings import MOST_BITS, Settings
from render.yaml.budget import Limits

_DEPTH = Limits().depth
_SURROGATE = "half of a pair of surrogates stands alone in it"
_SCALARS = frozenset({str, int, bool, type(None)})


class Intake:
    """The objects, Lists taken apart, and for each the position at which it was given; what is wrong with the rest."""

    __slots__ = ("diagnostics", "positions", "resources")

    def __init__(self) -> None:
        self.resources: list[Resource] = []
        self.positions: list[int] = []
        self.diagnostics: list[Diagnostic] = []


def parse(values: Iterable[Any], known: Iterable[Resource] = ()) -> Intake:
    """Look at each of *values* but those that are *known*. TypeError where they are one object instead of several."""
    if isinstance(values, dict | str | bytes):
        raise TypeError(f"render takes a list of objects, not one {type(values).__name__}")
    intake = Intake()
    fitting = {id(resource.body) for resource in known}
    for position, value in enumerate(values):
        if id(value) in fitting:
            intake.resources.append(from_body(value, len(intake.resources)))
            intake.positions.append(position)
        elif isinstance(value, dict) and lists.is_list(value):
            for route, item in lists.items(value):
                _add(intake, position, item, "".join(f".items[{index}]" for index in route))
        else:
            _add(intake, position, value, "")
    return intake


def parse_catalog(settings: Settings) -> tuple[Settings, tuple[Diagnostic, ...]]:
    """*settings* with the objects of its catalogue as `parse` leaves them, and what is wrong with the others."""
    if not isinstance(settings.catalog, list | tuple):
        return settings, ()
    words = [word for word in settings.catalog if isinstance(word, str)]
    intake = parse(entry for entry in settings.catalog if not isinstance(entry, str))
    faults = (
        diagnostic._replace(location=diagnostic.location._replace(index=None))
        for diagnostic in intake.diagnostics
    )
    bodies = [resource.body for resource in intake.resources]
    return settings._replace(catalog=[*words, *bodies]), tuple(faults)


def _add(intake: Intake, position: int, value: Any, route: str) -> None:
    if not isinstance(value, dict):
        kind = "None" if value is None else f"a value of type {type(value).__name__}"
        message = f"resources[{position}]{route} is {kind}, not a Kubernetes object"
        intake.diagnostics.append(NOT_AN_OBJECT.at(Location(index=position), message))
        return
    misfit = _misfit(value, _DEPTH)
    if misfit is None:
        intake.resources.append(from_body(value, len(intake.resources)))
        intake.positions.append(position)
    else:
        path, code, message = misfit
        resource = from_body(value, position)
        place = at(resource, path)._replace(resource=ResourceRef(*map(_printable, resource.ref)))
        intake.diagnostics.append(code.at(place, message))


def _misfit(value: Any, room: int) -> tuple[FieldPath, Code, str] | None:
    """What in *value* no JSON tree can hold, and where; None if nothing."""
    children: Iterable[tuple[Any, Any]]
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    else:
        return None if _is_scalar(value) else ((), WRONG_TYPE, _alien(value))
    if not room:
        return (), LIMIT_EXCEEDED, f"nested deeper than {_DEPTH} levels"
    for step, child in children:
        odd = child.__class__ not in _SCALARS or (
            child.bit_length() > MOST_BITS
            if child.__class__ is int
            else child.__class__ is str and not child.isascii()
        )
        if odd and (misfit := _misfit(child, room - 1)):
            path, code, message = misfit
            return (step, *path), code, message
        if not isinstance(step, str) and isinstance(value, dict):
            return (), WRONG_TYPE, f"the key {step!r} is of type {type(step).__name__}, not a text"
        if isinstance(step, str) and not _is_utf8(step):
            return (), WRONG_TYPE, f"the key {step!r} is not UTF-8: {_SURROGATE}"
    return None


def _is_utf8(text: str) -> bool:
    """Whether *text* has no half of a pair of surrogates, which UTF-8 cannot write."""
    return text.isascii() or _printable(text) == text


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _is_scalar(value: Any) -> bool:
    if isinstance(value, int):
        return value.bit_length() <= MOST_BITS
    if isinstance(value, str):
        return _is_utf8(value)
    return isinstance(value, float) and math.isfinite(value)


def _alien(value: Any) -> str:
    if isinstance(value, int):
        return f"a whole number of {value.bit_length():,} bits, which no reader takes"
    if isinstance(value, str):
        return f"a text that is not UTF-8: {_SURROGATE}"
    kind = "infinity and NaN" if isinstance(value, float) else f"the type {type(value).__name__}"
    return f"a manifest can hold text, numbers, booleans, lists and mappings, but not {kind}"


def answered(rendered: Rendered, intake: Intake, *, elsewhere: bool = False) -> Rendered:
    """*rendered*, in which objects are counted as they were taken, with the positions at which they were given.

    *elsewhere*: there are objects beside the input, which have none.
    """
    places = intake.positions
    if not intake.diagnostics and not elsewhere and places == list(range(len(places))):
        return rendered
    return Rendered(
        rendered.resources,
        ordered(
            (
                *intake.diagnostics,
                *(moved(diagnostic, places) for diagnostic in rendered.diagnostics),
            )
        ),
        tuple(
            provenance
            if provenance.position is None
            else provenance._replace(position=_position(provenance.position, places))
            for provenance in rendered.provenance
        ),
        tuple(None if index is None else places[index] for index in rendered.sources),
        capacity=rendered.capacity,
    )


def moved(diagnostic: Diagnostic, places: list[int]) -> Diagnostic:
    """*diagnostic* of objects as they were taken, with the positions at which they were given: *places*."""
    return diagnostic._replace(
        location=_at_position(diagnostic.location, places),
        related=tuple(
            related._replace(location=_at_position(related.location, places))
            for related in diagnostic.related
        ),
        position=diagnostic.position and _at_position(diagnostic.position, places),
    )


def _position(index: int, places: list[int]) -> int | None:
    return places[index] if index < len(places) else None


def _at_position(location: Location, places: list[int]) -> Location:
    index = location.index
    if index is None:
        return location
    return location._replace(index=_position(index, places))
