"""Symbolic locations to file, line and column; looked up only for what is reported."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from render.diagnostics.diagnostic import Location
from render.model.resource import Origin

if TYPE_CHECKING:
    from render.diagnostics.secrets import Masked


class Place(NamedTuple):
    """A position to show: *line* and *column* count from 1, 0 where unknown; *source* is the line's text."""

    file: str = ""
    line: int = 0
    column: int = 0
    source: str = ""

    def __str__(self) -> str:
        return ":".join([self.file, *(str(n) for n in (self.line, self.column) if n)])


class Sources:
    """Where the objects of one input were read.

    *origins*: by input index; *data*: the bytes of the files, by the name that origins use. An origin whose
    file is not in *data* (it came through kustomize, say) gives a place without a line.
    """

    __slots__ = ("_data", "_lines", "_origins")

    def __init__(
        self, origins: Sequence[Origin | None] = (), data: Mapping[str, bytes] | None = None
    ) -> None:
        self._origins = origins
        self._data = data or {}
        self._lines: dict[str, Masked] = {}

    def place(self, location: Location) -> Place:
        """Where *location* stands; a missing field has the place of the nearest field around it."""
        file, line, column = location.file, location.line, location.column
        if location.index is not None and location.index < len(self._origins):
            origin = self._origins[location.index]
            if origin is None:
                return Place()
            file, line, column = origin.file, 0, 0
            if file in self._data:
                from render.manifests import positions

                line, column = positions.locate(self._data[file], origin, location.path)
        return Place(file, line, column, self._source(file, line, column, location))

    def _source(self, file: str, line: int, column: int, location: Location) -> str:
        """The text of *line*, without what is secret in it."""
        if not line or file not in self._data:
            return ""
        from render.diagnostics import secrets

        if file not in self._lines:
            lines = self._data[file].decode("utf-8", "replace").splitlines()
            self._lines[file] = secrets.Masked(lines)
        if line > len(self._lines[file]):
            return ""
        text = self._lines[file].line(line)
        kind = location.resource.kind if location.resource else ""
        if secrets.MASK in text or not secrets.is_secret(location.path, kind):
            return text
        before = max(column - 1, 0)
        key, colon, value = text[before:].partition(":")
        return f"{text[:before]}{key}: {secrets.MASK}" if colon and value.strip() else text
