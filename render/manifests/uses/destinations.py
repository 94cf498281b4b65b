"""In which namespace objects that name none are applied, as the objects say that apply their folders."""

from collections.abc import Iterable, Mapping

from render.manifests.uses.use import FolderUse
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


class Destination(NamedTuple):
    """Where a file is applied: with *folder*, and what names no namespace in *namespace*, ``""`` if nobody says so."""

    folder: str = ""
    namespace: str = ""


def agreed_namespace(uses: Iterable[FolderUse]) -> str:
    """The namespace that all of *uses* apply what names none in; ``""`` without any, and where they do not agree."""
    namespaces = {use.namespace for use in uses}
    return namespaces.pop() if len(namespaces) == 1 else ""


def destinations(names: Iterable[str], uses: Iterable[FolderUse]) -> dict[str, Destination]:
    """Where *uses* of folders apply the files *names* as they are written, for those in whose namespace they agree."""
    known = [(use, use.applying()) for use in uses]
    found: dict[str, Destination] = {}
    for file in names:
        real = real_path(file)
        applying = [use for use, applies in known if applies(real)]
        namespace = agreed_namespace(applying)
        if namespace:
            folder = max((use.folder for use in applying), key=len)
            found[file] = Destination(folder.removeprefix("."), namespace)
    return found


def users(names: Iterable[str], uses: Iterable[FolderUse]) -> dict[str, frozenset[str]]:
    """Which *uses* apply each of the files *names* as it is written, by their titles; without those that none does."""
    known = [(use.title, use.applying()) for use in uses]
    found = {
        file: frozenset(title for title, applies in known if applies(real_path(file)))
        for file in names
    }
    return {file: titles for file, titles in found.items() if titles}


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
