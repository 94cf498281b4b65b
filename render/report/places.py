"""Symbolic locations to file, line and column; looked up only for what is reported."""

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence

from render.diagnostics.diagnostic import Diagnostic, Location
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.model.resource import Origin
from render.model.tree import Tree
from render.yaml.reader import locate

if TYPE_CHECKING:
    from render.manifests.documents import Documents
    from render.yaml.excerpts.lines import Excerpts
    from render.yaml.positions import Outline

_SECRET, _ENCODED = "Secret", ("data",)


class Place(NamedTuple):
    """A position to show: *line* and *column* count from 1, 0 where unknown.

    *source* is what may be shown of the line, and *caret* the character in it, from 1, that is meant; *end* is the
    column behind what is written there in that line.
    """

    file: str = ""
    line: int = 0
    column: int = 0
    source: str = ""
    caret: int = 0
    end: int = 0

    def __str__(self) -> str:
        return ":".join([self.file, *(str(n) for n in (self.line, self.column) if n)])


class Sources:
    """Where the objects of one input were read.

    *origins*: by input index; *data*: the bytes of the files, by the name that origins use. An origin whose
    file is not in *data* (it came through kustomize, say) gives a place without a line. *blame* knows who else wrote a
    field of an object: file, line and column. *quotes*: whether a place has what may be shown of its line. *folder* is
    where the names of files are seen from, for who looks from elsewhere. *values* knows where the value stands with
    which a chart filled in a field, *loaded* both, and which patch took something away.
    """

    __slots__ = (
        "_blame", "_data", "_folder", "_lines", "_loaded", "_origins", "_quotes", "_values"
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - what is known of places
        self,
        origins: Sequence[Origin | None] = (),
        data: Mapping[str, bytes] | None = None,
        blame: Callable[[int, FieldPath, tuple[int, int]], tuple[str, int, int] | None]
        | None = None,
        *,
        quotes: bool = True,
        folder: str = "",
        values: Callable[[int, FieldPath], Sequence[tuple[str, int, int]]] | None = None,
        loaded: "Documents | None" = None,
    ) -> None:
        self._loaded = loaded
        self._quotes = quotes
        if loaded is not None:
            blame, values = loaded.blame, loaded.values
        self._values = values
        self._folder = folder
        self._origins = origins
        self._blame = blame
        self._data = data or {}
        self._lines: dict[str, Excerpts] = {}

    def explained(self, diagnostic: Diagnostic) -> Diagnostic:
        """*diagnostic*, at what brought it about where that is known."""
        if self._loaded is None:
            return diagnostic
        with contextlib.chdir(self._folder) if self._folder else contextlib.nullcontext():
            return self._loaded.explained(diagnostic)

    @property
    def is_patched(self) -> bool:
        """Whether patches may have taken something away."""
        return self._loaded is not None and bool(self._loaded.patched)

    def removal(self, location: Location, of: Tree) -> Place | None:
        """Where a patch took away what *of*, another state of the object, has at *location*; None if none did."""
        if self._loaded is None or location.index is None:
            return None
        with contextlib.chdir(self._folder) if self._folder else contextlib.nullcontext():
            removal = self._loaded.removal(location.index, location.path, of)
            if removal is None:
                return None
            return Place(*removal.position, *self._excerpt(*removal.position))

    def place(self, location: Location) -> Place:
        """Where *location* stands; a missing field has the place of the nearest field around it."""
        with contextlib.chdir(self._folder) if self._folder else contextlib.nullcontext():
            return self._place(location)

    def value(self, location: Location) -> Place:
        """Where the one value stands with which a chart filled in *location*; no place where that is not known."""
        if self._values is None or location.index is None:
            return Place()
        with contextlib.chdir(self._folder) if self._folder else contextlib.nullcontext():
            found = self._values(location.index, location.path)
            is_known = len(found) == 1 and found[0][1]
            return Place(*found[0], *self._excerpt(*found[0])) if is_known else Place()

    def path(self, file: str) -> str:
        """Where *file* is for who looks from elsewhere."""
        return os.path.join(self._folder, file)

    def _place(self, location: Location) -> Place:
        file, line, column = location.file, location.line, location.column
        if location.index is not None and location.index < len(self._origins):
            origin = self._origins[location.index]
            if origin is None:
                return Place()
            written = self._patch(location)
            is_secret = location.resource is not None and location.resource.kind == _SECRET
            if written is None:
                is_encoded = is_secret and location.path[:1] == _ENCODED
                within = (0, 0) if is_encoded else (line, column)  # its lines are none of the text
                return self._in_object(origin, location.path, within)
            file, line, column = written
            if is_secret:  # a file that a kustomization generates it of is not known as that
                return Place(file, line, column)
        return Place(file, line, column, *self._excerpt(file, line, column))

    def written(self, location: Location) -> tuple[Place, bool]:
        """The place of *location*, and whether another than the object itself wrote the field."""
        if self._patch(location) is None:
            return self.unpatched(location), False
        return self.place(location), True

    def unpatched(self, location: Location) -> Place:
        """Where the object itself has the field at *location*, whoever else wrote it; no place outside the input."""
        if location.index is None or location.index >= len(self._origins):
            return Place()
        origin = self._origins[location.index]
        return Place() if origin is None else self._in_object(origin, location.path)

    def outline(self, index: int) -> "Outline | None":
        """What is alike for objects of which each field stands in the same place of its text; None where unknown."""
        origin = self._origins[index] if index < len(self._origins) else None
        data = self._data.get(origin.file) if origin else None
        if origin is None or data is None:
            return None
        from render.yaml import positions

        return positions.outline(data, origin)

    def _patch(self, location: Location) -> tuple[str, int, int] | None:
        if self._blame is None or location.index is None:
            return None
        return self._blame(location.index, location.path, (location.line, location.column))

    def _in_object(
        self, origin: Origin, path: FieldPath, within: tuple[int, int] = (0, 0)
    ) -> Place:
        line = column = 0
        data = self._data.get(origin.file)
        if data is not None:
            line, column = locate(data, origin, path, within)
        return Place(origin.file, line, column, *self._excerpt(origin.file, line, column))

    def close(self) -> None:
        """Give back what was remembered for looking up places."""
        if self._lines:
            from render.yaml import positions

            self._lines.clear()
            positions.forget()

    def _excerpt(self, file: str, line: int, column: int) -> tuple[str, int, int]:
        """What to show of *line*, without what is secret in it, the place there of *column*, and where that ends."""
        if not line or not self._quotes or file not in self._data:
            return "", 0, 0
        if file not in self._lines:
            from render.yaml.excerpts.lines import Excerpts

            self._lines[file] = Excerpts(self._data[file])
        excerpts = self._lines[file]
        return *excerpts.at(line, column), excerpts.end(line, column)
