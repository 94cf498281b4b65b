"""An entry of a kustomization, or of a file that one names: what it says, and where."""

import os

from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree
from render.yaml.reader import Document, locate

Position = tuple[str, int, int]
"""File, line and column."""


class FileEntry(NamedTuple):
    """What stands at *place* of a *document* of *file*, whose *data* these are: its *body*.

    *shift*: so many lines and columns more are in the data than in the file.
    """

    body: Tree
    file: str
    data: bytes
    document: Document
    place: FieldPath
    shift: int = 0

    def at(self, *path: str | int) -> Position:
        """Where its *path* stands."""
        line, column = locate(self.data, self.document.origin, (*self.place, *path))
        return self.file, max(1, line - self.shift), max(1, column - self.shift)

    def beside(self, name: str) -> str:
        """The file that it calls *name*."""
        return os.path.normpath(os.path.join(os.path.dirname(self.file), name))
