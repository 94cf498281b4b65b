"""The words of `typing` that our annotations are written in, without the module: nothing of them matters at run time.

Importing `typing` is a fourteenth of all that a process does to render one VM.
"""

from collections.abc import Callable
from types import GenericAlias

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import (  # noqa: TID251 - what checks types knows these
        IO,
        Any,
        BinaryIO,
        Final,
        Generic,
        Literal,
        NoReturn,
        Protocol,
        Self,
        TypeVar,
        Union,
        cast,
        overload,
    )
else:

    class _Word:
        """What stands for a type: with what is in brackets behind it, and as a base that brings nothing."""

        __slots__ = ()
        __class_getitem__ = classmethod(GenericAlias)

    Any = BinaryIO = Final = Generic = IO = NoReturn = Protocol = Self = Union = _Word

    class Literal:
        """One of several values; no alias, of which `typing` would take the texts for the names of types."""

        __slots__ = ("__args__",)

        def __class_getitem__(cls, values: Any) -> "Literal":
            made = cls()
            made.__args__ = values if isinstance(values, tuple) else (values,)
            return made

        def __or__(self, other: object) -> GenericAlias:
            return Union[self, other]

        __ror__ = __or__

    class TypeVar:
        """A type that a generic one has open."""

        def __init__(self, name: str) -> None:
            self.__name__ = name

        def __or__(self, _: object) -> "TypeVar":
            return self

        __ror__ = __or__

        def __typing_subst__(self, argument: object) -> object:  # as `types.GenericAlias` asks it
            return argument

    def cast(_: object, value: object) -> object:
        """*value*, which checkers take for something else."""
        return value

    def overload(function: Callable[..., object]) -> Callable[..., object]:
        """*function*, one of several ways to call the next of its name."""
        return function


def choices(literal: Any) -> tuple[Any, ...]:
    """The values of a `Literal`."""
    values: tuple[Any, ...] = literal.__args__
    return values


__all__ = [
    "IO",
    "TYPE_CHECKING",
    "Any",
    "BinaryIO",
    "Final",
    "Generic",
    "Literal",
    "NoReturn",
    "Protocol",
    "Self",
    "TypeVar",
    "Union",
    "cast",
    "choices",
    "overload",
]
