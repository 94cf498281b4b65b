"""`typing.NamedTuple`, of which a class costs hardly anything as long as no object is made of it.

A command imports a hundred of them and uses a few: the constructors alone, which the standard library compiles with
each class, would be an eighth of what a process takes to render one VM.
"""

from collections.abc import Callable, Iterable

from render.model.hints import TYPE_CHECKING, Any

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple  # noqa: TID251 - what checks types knows that one
else:
    from collections import _tuplegetter
    from types import CodeType, FunctionType

    def _first(cls: type, /, *values: object, **named: object) -> tuple[Any, ...]:
        """The first object of a class, whose constructor it leaves there for the next."""
        made = next(each for each in cls.__mro__ if "_fields" in each.__dict__)
        defaults = tuple(made._field_defaults.values())
        made.__new__ = _constructor(made.__qualname__, made._fields, defaults)
        return made.__new__(cls, *values, **named)

    def _make(cls: type, values: Iterable[Any]) -> tuple[Any, ...]:
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self: tuple[Any, ...], /, **changes: object) -> tuple[Any, ...]:
        replaced = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return replaced

    def _asdict(self: tuple[Any, ...]) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def _repr(self: tuple[Any, ...]) -> str:
        pairs = zip(self._fields, self, strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    def _arguments(self: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(self)

    #: What all of them have, as `collections.namedtuple` has it: to inherit it would make each class dearer.
    _COMMON = {
        "__slots__": (),
        "__new__": staticmethod(_first),
        "_make": classmethod(_make),
        "_replace": _replace,
        "_asdict": _asdict,
        "__repr__": _repr,
        "__getnewargs__": _arguments,
    }
    _items: list[object] = []

    class _Meta(type):
        """Makes of the body of a class that names `NamedTuple` as its base a tuple with these fields."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace.pop(field) for field in fields if field in namespace}
            own = {**_COMMON, **namespace}
            while len(_items) < len(fields):
                _items.append(_tuplegetter(len(_items), None))
            own.update(zip(fields, _items, strict=False))
            own["_fields"] = own["__match_args__"] = fields
            own["_field_defaults"] = defaults
            return type(name, tuple(tuple if base is NamedTuple else base for base in bases), own)

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
