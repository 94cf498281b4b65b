"""`re.compile`, put off until somebody asks the pattern: most of those that a process imports are asked nothing."""

import re

from render.model.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from re import compile as pattern
else:

    class pattern:  # noqa: N801 - takes the place of a function
        """A pattern as `re.compile` makes it of the same arguments, once it is asked."""

        def __init__(self, text: str | bytes, flags: int = 0) -> None:
            self._arguments = text, flags

        def __reduce__(self) -> tuple[Any, ...]:
            return re.compile, self._arguments

        def __getattr__(self, name: str) -> Any:
            """Of the compiled pattern, which `re` remembers; each is looked up once."""
            attribute = self.__dict__[name] = getattr(re.compile(*self._arguments), name)
            return attribute


__all__ = ["pattern"]
