"""Texts that count in the place of what files say: what an editor has open and has not saved."""

import os
from collections.abc import Mapping
from types import MappingProxyType

from render.diagnostics.diagnostic import Diagnostic
from render.system import files
from render.system.files import real_path


class Buffers:
    """Texts by path, of files that there need not be yet: they win over the disk, whichever link leads to it.

    So for loose files and locks. What kustomize and helm build, these read from the disk themselves.
    """

    __slots__ = ("_folders", "_texts")

    def __init__(self, texts: Mapping[str, str] = MappingProxyType({})) -> None:
        self._texts = {
            real_path(path): text.encode("utf-8", "surrogatepass") for path, text in texts.items()
        }
        self._folders: dict[str, list[str]] = {}
        for real in self._texts:
            folder, name = os.path.split(real)
            self._folders.setdefault(folder, []).append(name)

    def __contains__(self, file: str) -> bool:
        return bool(self._texts) and real_path(file) in self._texts

    def names(self, folder: str) -> list[str]:
        """What the resolved *folder* has, beside what the disk says, sorted."""
        return sorted(self._folders.get(folder, ()))

    def read(self, file: str, limit: int) -> bytes | Diagnostic:
        """What *file* says, from a buffer or the disk, or why it cannot be read: see `files.read`."""
        text = self._texts.get(real_path(file)) if self._texts else None
        if text is None:
            return files.read(file, file, limit)
        return text if len(text) <= limit else files.too_large(file, limit)


NO_BUFFERS = Buffers()
