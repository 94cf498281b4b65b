"""The Namespace objects of a state that stand in files with nothing of KubeVirt's: no input has them among its own."""

import os
from collections.abc import Iterable

from render.manifests.documents import Documents
from render.model.named_tuple import NamedTuple
from render.model.resource import from_body, text_at
from render.model.tree import Tree
from render.report.places import Place
from render.system import files
from render.yaml.budget import Limits
from render.yaml.reader import read

NAMESPACE = "Namespace"


class PlacedNamespace(NamedTuple):
    """The Namespace *body*, and where it stands."""

    body: Tree
    place: Place


class NamespacesBeside:
    """Those in what *inputs* passed over, seen from *folder*, and among the objects of those *around* them."""

    def __init__(
        self, folder: str, inputs: Iterable[Documents], around: Iterable[Documents], limits: Limits
    ) -> None:
        others = [*around]
        self._folder, self._limits = folder, limits
        self._files = [file for loaded in (*inputs, *others) for file in loaded.namespaces]
        self._objects = [document for loaded in others for document in loaded.documents]

    def standing(self) -> dict[str, PlacedNamespace]:
        """The first of each name."""
        documents = [*self._objects]
        for file in dict.fromkeys(self._files):
            data = files.read(os.path.join(self._folder, file), file, self._limits.file_bytes)
            if isinstance(data, bytes):
                documents += read(data, file, self._limits).documents
        found: dict[str, PlacedNamespace] = {}
        for document in documents:
            if is_namespace(document.body):
                origin = document.origin
                place = Place(origin.file, origin.line, 1)
                found.setdefault(
                    from_body(document.body, 0).name, PlacedNamespace(document.body, place)
                )
        return found


def is_namespace(body: Tree) -> bool:
    """Whether *body* is a Namespace."""
    return text_at(body, "kind") == NAMESPACE and text_at(body, "apiVersion") == "v1"
