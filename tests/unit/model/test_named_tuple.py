"""The tuples with fields of the package do what those of the standard library do."""

import copy
import pickle
import typing
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import pytest

from render.model.named_tuple import NamedTuple

T = TypeVar("T")


class Ours(NamedTuple):
    """A place."""

    name: str
    line: int = 1
    words: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return f"{self.name}:{self.line}"


class Standard(typing.NamedTuple):
    """A place."""

    name: str
    line: int = 1
    words: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return f"{self.name}:{self.line}"


class Below(Ours):
    __slots__ = ()


class Held(NamedTuple, Generic[T]):
    value: T


class Empty(NamedTuple):
    pass


Made = Callable[[Any], object]


USES: dict[str, Made] = {
    "default": lambda cls: cls("a"),
    "positional": lambda cls: cls("a", 2, ("b",)),
    "named": lambda cls: cls(name="a", words=("b",)),
    "method": lambda cls: cls("a", line=3).text,
    "field": lambda cls: cls("a").line,
    "replace": lambda cls: cls("a")._replace(line=4, name="b"),
    "make": lambda cls: cls._make(["a", 5, ()]),
    "asdict": lambda cls: cls("a")._asdict(),
    "equal": lambda cls: cls("a") == ("a", 1, ()),
    "hash": lambda cls: hash(cls("a")),
    "order": lambda cls: cls("b") > cls("a"),
    "copy": lambda cls: copy.copy(cls("a")),
    "deepcopy": lambda cls: copy.deepcopy(cls("a", 2, ("b",))),
    "pickle": lambda cls: pickle.loads(pickle.dumps(cls("a"))),  # noqa: S301 - what was written here
    "repr": lambda cls: repr(cls("a")).partition("(")[2],
    "iterate": lambda cls: (*cls("a"), len(cls("a"))),
    "class": lambda cls: (
        cls._fields,
        cls._field_defaults,
        cls.__match_args__,
        cls.__doc__,
    ),
    "no dict": lambda cls: hasattr(cls("a"), "__dict__"),
    "isinstance": lambda cls: isinstance(cls("a"), cls) and type(cls("a")) is cls,
    "annotations": lambda cls: cls.__annotations__,
}
MISUSES: dict[str, Made] = {
    "made of too few": lambda cls: cls._make(["a"]),
    "missing": lambda cls: cls(),
    "too many": lambda cls: cls("a", 1, (), 4),
    "unknown": lambda cls: cls("a", other=1),
    "replace of another field": lambda cls: cls("a")._replace(other=1),
    "another field": lambda cls: cls("a").other,
    "set": lambda cls: setattr(cls("a"), "line", 2),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_it_is_what_the_standard_library_has(use: Made) -> None:
    assert use(Ours) == use(Standard)


@pytest.mark.parametrize("use", MISUSES.values(), ids=MISUSES)
def test_it_refuses_what_the_standard_library_refuses(use: Made) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError)) as expected:
        use(Standard)
    with pytest.raises(expected.type, match=r".*") as found:
        use(Ours)
    assert str(found.value).replace("Ours", "Standard") == str(expected.value)


def test_it_is_matched_by_position() -> None:
    match Ours("a", 2):
        case Ours(name, line):
            assert (name, line) == ("a", 2)


def test_a_class_below_is_made_by_the_constructor_of_the_one_above() -> None:
    assert type(Below("a")) is Below
    assert type(Ours("a")) is Ours
    assert Below("a")._replace(line=2) == Below("a", 2)


def test_one_may_be_generic_or_without_fields() -> None:
    assert Held[int](1).value == 1
    assert Empty() == ()
    assert repr(Empty()) == "Empty()"
