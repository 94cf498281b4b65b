"""In which namespace objects that name none are applied, as the objects say that apply their folders."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from render.manifests.uses.use import FolderUse
from render.model.hints import TypeVar
from render.model.named_tuple import NamedTuple
from render.model.resource import (
    CLUSTER_SCOPED,
    INSTANCETYPE_GROUP,
    KUBEVIRT,
    SETTINGS_HOLDERS,
    ResourceRef,
    from_body,
)
from render.model.tree import Tree
from render.system.files import real_path
from render.yaml.reader import Document

_MOST_WAYS = 64
"""In so many ways objects may apply a folder before nobody tries each of them for each of its files."""
_Answer = TypeVar("_Answer")


class Destination(NamedTuple):
    """Where a file is applied: with *folder*, and what names no namespace in *namespace*, ``""`` if nobody says so."""

    folder: str = ""
    namespace: str = ""


def agreed_namespace(uses: Iterable[FolderUse]) -> str:
    """The namespace that all of *uses* apply what names none in; ``""`` without any, and where they do not agree."""
    namespaces = {use.namespace for use in uses}
    return namespaces.pop() if len(namespaces) == 1 else ""


class _Way(NamedTuple):
    """A way in which *uses* apply a folder: *applies* tells of a resolved file whether it is among its files."""

    applies: Callable[[str], bool]
    uses: list[FolderUse]


class _AppliedFiles:
    """Which of *uses* apply a file as it is written. A file asks the folders that it stands in, each way once."""

    __slots__ = ("_named", "_ways")

    def __init__(self, uses: Iterable[FolderUse]) -> None:
        self._ways: dict[str, dict[object, _Way]] = {}
        #: Those that apply one file alone, by its path.
        self._named: dict[str, list[FolderUse]] = {}
        for use in uses:
            folder = real_path(use.folder)
            if name := use.patterns.only:
                if use.is_deep or "/" not in name:
                    self._named.setdefault(os.path.join(folder, name), []).append(use)
                continue
            ways = self._ways.setdefault(folder, {})
            way: object = use.is_deep, use.patterns
            if way not in ways and len(ways) >= _MOST_WAYS:
                way, applying = "", FolderUse(use.title, use.document, use.folder, is_deep=True)
            else:
                applying = use
            if way not in ways:
                ways[way] = _Way(applying.applying(), [])
            ways[way].uses.append(use)

    def groups(self, real: str) -> Iterator[list[FolderUse]]:
        """Those that apply the resolved file *real*, in lists that are the same for all files that they apply."""
        if real in self._named:
            yield self._named[real]
        folder = real
        while self._ways and folder != (folder := os.path.dirname(folder)):
            for way in self._ways.get(folder, {}).values():
                if way.applies(real):
                    yield way.uses


def destinations(names: Iterable[str], uses: Iterable[FolderUse]) -> dict[str, Destination]:
    """Where *uses* of folders apply the files *names* as they are written, for those in whose namespace they agree."""

    def agreed(groups: Sequence[Sequence[FolderUse]]) -> Destination:
        applying = [use for group in groups for use in group]
        namespace = agreed_namespace(applying)
        folder = max((use.folder for use in applying), key=len, default="")
        return Destination(folder.removeprefix("."), namespace)

    found = _of_each(names, uses, agreed)
    return {file: destination for file, destination in found.items() if destination.namespace}


def users(names: Iterable[str], uses: Iterable[FolderUse]) -> dict[str, frozenset[str]]:
    """Which *uses* apply each of the files *names* as it is written, by their titles; without those that none does."""

    def titles(groups: Sequence[Sequence[FolderUse]]) -> frozenset[str]:
        return frozenset(use.title for group in groups for use in group)

    return {file: found for file, found in _of_each(names, uses, titles).items() if found}


def _of_each(
    names: Iterable[str],
    uses: Iterable[FolderUse],
    answer: Callable[[Sequence[Sequence[FolderUse]]], _Answer],
) -> dict[str, _Answer]:
    """The *answer* to which of *uses* apply each of the files *names*: once for all that the same apply."""
    applied = _AppliedFiles(uses)
    known: dict[tuple[int, ...], _Answer] = {}
    found: dict[str, _Answer] = {}
    for file in names:
        groups = [*applied.groups(real_path(file))]
        key = tuple(map(id, groups))
        if key not in known:
            known[key] = answer(groups)
        found[file] = known[key]
    return found


def namespace_of(documents: Iterable[Document], known: Mapping[str, Destination]) -> str:
    """The namespace in which what names none of *documents* is applied, where that is *known* and the same for all."""
    namespaces = {
        known[document.origin.file].namespace if document.origin.file in known else ""
        for document in documents
        if _names_no_namespace(document.body)
    }
    return namespaces.pop() if len(namespaces) == 1 else ""


def applied_as(machine: ResourceRef, namespace: str) -> ResourceRef:
    """What *machine* is called in the cluster, where what names no namespace is applied in *namespace*."""
    return machine._replace(namespace=machine.namespace or namespace)


def in_namespace(body: Tree, namespace: str) -> Tree:
    """The VM, definition or preset *body* as it is applied in *namespace*, if it names none; anything else as it is."""
    metadata = body.get("metadata")
    if not namespace or not isinstance(metadata, dict) or not _names_no_namespace(body):
        return body
    return {**body, "metadata": {**metadata, "namespace": namespace}}


def _names_no_namespace(body: Tree) -> bool:
    """Whether *body* is a VM, a definition or a preset that is in some namespace, and does not say in which."""
    resource = from_body(body, 0)
    is_scoped = (
        resource.kind in CLUSTER_SCOPED or (resource.group, resource.kind) in SETTINGS_HOLDERS
    )
    return (
        resource.group in (KUBEVIRT, INSTANCETYPE_GROUP)
        and not is_scoped
        and not resource.namespace
    )
