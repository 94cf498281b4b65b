"""`typing.NamedTuple`, of which a class costs hardly anything as long as no object is made of it.

A command imports a hundred of them and uses a few: the constructors alone, which the standard library compiles with
each class, would be an eighth of what a process takes to render one VM.
"""

from collections.abc import Callable, Iterable

from render.model.hints import TYPE_CHECKING, Any, Self

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple  # noqa: TID251 - what checks types knows that one
else:
    from collections import _tuplegetter
    from types import CodeType, FunctionType

    class _Fields(tuple):
        """What all of them share, as `collections.namedtuple` has it."""

        __slots__ = ()

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Self:
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes: object) -> Self:
            replaced = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return replaced

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            pairs = zip(self._fields, self, strict=True)
            return (
                f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"
            )

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    class _Meta(type):
        """Makes of the body of a class that names `NamedTuple` as its base a tuple with these fields."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace.pop(field) for field in fields if field in namespace}

            def first(subclass: type, /, *values: object, **named: object) -> tuple[Any, ...]:
                made.__new__ = _constructor(made.__qualname__, fields, tuple(defaults.values()))
                return made.__new__(subclass, *values, **named)

            namespace |= {field: _tuplegetter(index, None) for index, field in enumerate(fields)}
            namespace |= {"__slots__": (), "__match_args__": fields, "__new__": first}
            namespace |= {"_fields": fields, "_field_defaults": defaults}
            made = type(
                name, tuple(_Fields if base is NamedTuple else base for base in bases), namespace
            )
            return made

    _scope = {"_new": tuple.__new__, "__builtins__": {}}
    _codes: dict[int, CodeType] = {}

    def _constructor(
        name: str, fields: tuple[str, ...], defaults: tuple[Any, ...]
    ) -> Callable[..., Any]:
        """What makes an object of the class *name*, in the way of `collections.namedtuple`.

        Classes with as many fields share what the compiler takes longest for: only the names differ.
        """
        code = _codes.get(len(fields))
        if code is None:
            listed = "".join(f"_{index}, " for index in range(len(fields)))
            template = eval(f"lambda _cls, {listed}: _new(_cls, ({listed}))")  # noqa: S307 - numbers
            code = _codes[len(fields)] = template.__code__
        named = code.replace(co_name="__new__", co_varnames=("_cls", *fields))
        new = FunctionType(named, _scope, "__new__", defaults)
        new.__qualname__ = f"{name}.__new__"
        return staticmethod(new)

    class NamedTuple(metaclass=_Meta):
        """A tuple with fields, as `typing.NamedTuple` has it."""
