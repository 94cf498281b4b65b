"""Built objects to the files of the user: what kustomize printed, traced back to what it read."""

import os
from collections.abc import Iterator

from render.manifests import relevance
from render.manifests.kustomization import Reach
from render.model.resource import Origin, Resource, from_body
from render.model.tree import Tree, get
from render.system import files
from render.yaml.budget import Limits
from render.yaml.reader import Document, read

_ANNOTATION = "config.kubernetes.io/origin"
_Key = tuple[str, str, str]


Known = dict[str, list[Resource]]
"""The objects of files that were read already: overlays share their bases."""


def trace(
    folder: str, built: list[Document], reach: Reach, limits: Limits, known: Known | None = None
) -> list[Document]:
    """*built* with the origin in a source file of *folder*'s build, and what that says, where one document alone fits.

    The origin annotation of kustomize decides where there is one (``buildMetadata: [originAnnotations]``). Otherwise
    group, kind, name (with and without the prefixes and suffixes in use) and, among several, version and namespace.
    """
    by_key: dict[_Key, list[Resource]] = {}
    for resource in sources(reach, limits, {} if known is None else known):
        by_key.setdefault((resource.group, resource.kind, resource.name), []).append(resource)
    traced = []
    for document in built:
        origin, source = _origin(folder, from_body(document.body, 0), by_key, reach)
        traced.append(
            document._replace(
                origin=origin or document.origin,
                printed=document.origin,
                before=source.body if source else None,
            )
        )
    return traced


def left_out(built: list[Document], reach: Reach, limits: Limits, known: Known) -> list[Origin]:
    """Where VMs stand in the resources of a build of which nothing is in *built*, as far as `trace` could tell.

    What was printed and has no source that is known may be any of them, and so stands for the first ones.
    """
    printed = {document.origin for document in built}
    untraced = sum(
        document.before is None and relevance.is_of_machine(document.body) for document in built
    )
    left = [
        resource.origin
        for resource in sources(reach, limits, known)
        if resource.origin
        and resource.origin not in printed
        and relevance.is_of_machine(resource.body)
    ]
    return left[untraced:]


def sources(reach: Reach, limits: Limits, known: Known) -> Iterator[Resource]:
    """The objects in the resources of *reach*, those of files that are *known* as they were read."""
    for file in dict.fromkeys(reach.resources):
        if file not in known:
            data = files.read(file, file, limits.file_bytes)
            documents = read(data, file, limits).documents if isinstance(data, bytes) else []
            known[file] = [from_body(document.body, 0, document.origin) for document in documents]
        yield from known[file]


def _origin(
    folder: str, built: Resource, sources: dict[_Key, list[Resource]], reach: Reach
) -> tuple[Origin | None, Resource | None]:
    candidates = [
        source
        for name in former_names(built.name, reach)
        for source in sources.get((built.group, built.kind, name), ())
    ]
    file = _annotated(folder, built.body)
    if file:
        candidates = [
            source for source in candidates if source.origin and source.origin.file == file
        ]
    if len(candidates) > 1:
        version = built.body.get("apiVersion")
        candidates = [
            candidate for candidate in candidates if candidate.body.get("apiVersion") == version
        ] or candidates
    if len(candidates) > 1:
        same = [source for source in candidates if source.namespace == built.namespace]
        candidates = same or [source for source in candidates if not source.namespace]
    if len(candidates) == 1:
        return candidates[0].origin, candidates[0]
    return (Origin(file) if file else None), None


def former_names(name: str, reach: Reach) -> list[str]:
    """*name*, and what remains of it without any of the prefixes and suffixes."""
    names = [name]
    for known in names:  # grows while it is read
        for prefix in reach.prefixes:
            if known.startswith(prefix) and (former := known[len(prefix) :]) not in names:
                names.append(former)
        for suffix in reach.suffixes:
            if known.endswith(suffix) and (former := known[: -len(suffix)]) not in names:
                names.append(former)
    return names


def _annotated(folder: str, body: Tree) -> str:
    """The file that kustomize's origin annotation names, ``""`` without one (or for one in another repository).

    It is seen from the folder that kustomize builds, which is not *folder* where a component there has us run.
    """
    text = get(body, "metadata", "annotations", _ANNOTATION)
    if not isinstance(text, str):
        return ""
    fields = dict(line.partition(": ")[::2] for line in text.splitlines())
    path = fields.get("path", "")
    file = os.path.normpath(os.path.join(folder, path))
    return file if path and "repo" not in fields and os.path.lexists(file) else ""
