"""Texts of a repository that are read again and again: of an edited file alone, where that is enough."""

import os
from collections.abc import Sequence
from copy import copy

from render.manifests import kustomization, relevance
from render.manifests.buffers import Buffers
from render.manifests.discover import SETTINGS_FILE
from render.manifests.documents import Documents
from render.manifests.kustomization import LOCK
from render.manifests.sources.intake import SourceIntake
from render.manifests.sources.reading import Reading
from render.model.hints import Any
from render.yaml.budget import Limits
from render.yaml.reader import Document, Read

_OTHERS = frozenset({LOCK, SETTINGS_FILE, *kustomization.FILES})
"""Names of files that have a say in what others hold."""


class KnownTexts(dict[tuple[bytes, Limits], Read]):
    """What texts hold, and of those of an *earlier* reading what was asked for again: the rest is forgotten."""

    def __init__(self, earlier: "KnownTexts | None" = None) -> None:
        super().__init__()
        self._earlier = earlier

    def get(self, key: tuple[bytes, Limits], default: Any = None) -> Any:
        """What the text of *key* holds, *default* where nobody has read it."""
        contents = super().get(key)
        if contents is None and self._earlier is not None:
            contents = dict.get(self._earlier, key)
            if contents is not None:
                self[key] = contents
        return default if contents is None else contents

    def forget(self) -> None:
        """Let what was not asked for again go."""
        self._earlier = None


def copied(loaded: Documents) -> Documents:
    """*loaded* for a rendering, which adds to its documents and findings."""
    duplicate = copy(loaded)
    duplicate.documents, duplicate.diagnostics = list(loaded.documents), list(loaded.diagnostics)
    duplicate.borrowed = {}
    return duplicate


def edited(loaded: Documents, file: str, text: str, reading: Reading) -> Documents | None:
    """*loaded* where *file* says *text*; None where more than this file has to be read again.

    Documents that say what they said are the same trees.
    """
    data = text.encode("utf-8", "surrogatepass")
    if os.path.basename(file) in _OTHERS or file not in loaded.data or file in loaded.passed:
        return None
    if not relevance.may_hold(data):
        return None
    if relevance.refers(data) and not relevance.refers(loaded.data[file]):
        return None  # of objects to which nobody referred until now no file was read
    fresh = Documents()
    buffers = Buffers({file: text})
    SourceIntake(reading._replace(buffers=buffers, known=None)).add(file, data, fresh, named=False)
    old = [document for document in loaded.documents if document.origin.file == file]
    if any(relevance.is_shared(document.body) for document in (*old, *fresh.documents)):
        return None  # of a name that stands in several files the first counts
    changed = copied(loaded)
    place = _place(loaded.documents, file)
    rest = [document for document in loaded.documents if document.origin.file != file]
    changed.documents = [*rest[:place], *_same_trees(old, fresh.documents), *rest[place:]]
    elsewhere = (
        diagnostic for diagnostic in loaded.diagnostics if diagnostic.location.file != file
    )
    changed.diagnostics = [*elsewhere, *fresh.diagnostics]
    changed.data.add_buffer(file, reading.limits.file_bytes, data)
    return changed


def _place(documents: Sequence[Document], file: str) -> int:
    """How many of *documents* stand before those of *file*."""
    for number, document in enumerate(documents):
        if document.origin.file >= file:
            return number
    return len(documents)


def _same_trees(old: Sequence[Document], new: Sequence[Document]) -> list[Document]:
    """The *new* documents of a file, with the tree of an *old* one where that is equal."""
    left = list(old)
    documents = []
    for document in new:
        same = next((each for each in left if each.body == document.body), None)
        if same is not None:
            left.remove(same)
        documents.append(document if same is None else document._replace(body=same.body))
    return documents
