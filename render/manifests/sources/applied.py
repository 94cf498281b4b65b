"""The folders that objects apply as they are written, asked of many files."""

import os
from collections.abc import Callable, Iterable, Iterator

from render.manifests import kustomization
from render.manifests.uses.use import FolderUse
from render.system.files import real_path

#: In so many ways objects may apply a folder before nobody tries each of them for each of its files.
_MOST_ALIKE = 64


class AppliedFolders:
    """The folders of *uses*, all plain, that nothing builds. A file asks those that it stands in, not each use."""

    def __init__(self, uses: Iterable[FolderUse]) -> None:
        self._applying: dict[str, dict[object, Callable[[str], bool]]] = {}
        for use in uses:
            if kustomization.find(use.folder) is None:
                alike = self._applying.setdefault(real_path(use.folder), {})
                if len(alike) < _MOST_ALIKE:
                    alike.setdefault((use.is_deep, use.patterns), use.applying())
                else:  # whoever applies a folder in so many ways may well apply all of it
                    every = FolderUse(use.title, use.document, use.folder, is_deep=True)
                    alike["", ""] = every.applying()

    def around(self, real: str) -> Iterator[str]:
        """The resolved folders with which the resolved file *real* is applied."""
        folder = real
        while self._applying and folder != (folder := os.path.dirname(folder)):
            if any(applies(real) for applies in self._applying.get(folder, {}).values()):
                yield folder

    def has(self, real: str) -> bool:
        """Whether the resolved file *real* is applied."""
        return any(True for _ in self.around(real))
