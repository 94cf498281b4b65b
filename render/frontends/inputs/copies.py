"""VMs that were rendered from others of the same repository: left out, and right by themselves."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Location
from render.frontends.inputs.neighbours import with_neighbours
from render.frontends.parts import FleetPart
from render.frontends.request.request import Request
from render.manifests.documents import Documents
from render.model.resource import ResourceRef, from_body
from render.revisions import stamps
from render.yaml.reader import Document

#: What is counted of a VM that is left out, since it was rendered from another one.
COPY = "rendered VM whose source is read too"
#: The file of a rendered VM, and what it is called there.
RenderedCopy = tuple[str, ResourceRef]
_Identity = tuple[str, str, str, str]
_Placed = tuple[Documents, Document]


def leave_out_rendered(
    inputs: Sequence[Documents],
    namespace: str,
    path: str = "",
    kept: Collection[RenderedCopy] = (),
) -> None:
    """Take VMs out of *inputs* that we have rendered from others there: their stamps are true, and the source is read.

    With them go copies of other objects in the same file, or in the folder that ``build -o DIR/`` filled with them. A
    stamp alone hides nothing. *namespace* is that of those which name none; those *kept* stay, whose files are called
    as seen from *path*.
    """
    stamped: dict[_Identity, list[_Placed]] = {}
    others: dict[_Identity, list[_Placed]] = {}
    genuine = _genuine(inputs)
    if not genuine:
        return
    for loaded in inputs:
        for document in loaded.documents:
            resource = from_body(document.body, 0)
            where = resource.namespace or loaded.namespace or namespace
            identity = resource.group, resource.kind, where, resource.name
            known = stamped if id(document.body) in genuine else others
            known.setdefault(identity, []).append((loaded, document))
    rendered = [
        (loaded, document)
        for identity, found in stamped.items()
        if identity in others
        for loaded, document in found
        if not kept or _copy(document, path) not in kept
    ]
    for loaded, document in (*rendered, *_printed_with(rendered, others.values())):
        loaded.remove(document)
    for loaded, document in rendered:
        file, line = document.origin.file, document.origin.line
        loaded.copies.append(document)
        loaded.unseen.add(COPY, file, which=document.origin)
        message = f"{file} holds what was rendered from {from_body(document.body, 0).ref}, which is read too"
        place = Location(file=file, line=line, column=1)
        loaded.diagnostics.append(codes.FILE_SKIPPED.at(place, message))


def _genuine(inputs: Iterable[Documents]) -> set[int]:
    """The VMs of *inputs* that are what their stamps say was rendered, by the identity of their trees."""
    return {
        id(document.body)
        for loaded in inputs
        for document in loaded.documents
        if stamps.is_rendered(document.body) and stamps.is_genuine(document.body)
    }


def _copy(document: Document, path: str) -> RenderedCopy:
    return os.path.relpath(document.origin.file, path), from_body(document.body, 0).ref


def copies(
    request: Request, inputs: Sequence[Documents], others: Sequence[Documents] = ()
) -> Iterator[FleetPart]:
    """The VMs that `leave_out_rendered` took out of *inputs*, with what they find there and in *others*.

    In one part no name stands twice.

    Anybody can write a true stamp, and a copy may be what a cluster gets: it has to be right by itself. What is found
    in these parts is no part of the command's answer unless that adds it.
    """
    from render.manifests.repository.neighbours import Neighbours

    apart: list[Documents] = []
    for loaded in inputs:
        groups: list[Documents] = []
        before: Counter[_Identity] = Counter()
        for document in loaded.copies:
            resource = from_body(document.body, 0)
            identity = resource.group, resource.kind, resource.namespace, resource.name
            if before[identity] == len(groups):
                groups.append(Documents(folder=loaded.folder, user=loaded.user))
                groups[-1].data, groups[-1].namespace = loaded.data, loaded.namespace
            groups[before[identity]].documents.append(document)
            before[identity] += 1
        apart += groups
    if not apart:
        return
    neighbours = Neighbours([*inputs, *apart, *others], request.reading.layout.shared)
    for loaded in apart:
        yield FleetPart(loaded, with_neighbours(request, loaded, neighbours))


def _printed_with(
    rendered: Sequence[_Placed], others: Iterable[Sequence[_Placed]]
) -> Iterator[_Placed]:
    """Those of *others*, by their names, that were printed with what is *rendered*, and whose original is read too."""
    from render.manifests import output

    files = {document.origin.file for _, document in rendered}
    folders = {
        output.folder_of(document.body, document.origin.file) for _, document in rendered
    } - {""}

    def is_printed(document: Document) -> bool:
        file = document.origin.file
        return file in files or (bool(folders) and output.folder_of(document.body, file) in folders)

    for same in others if files else ():
        originals = [document.body for _, document in same if not is_printed(document)]
        for loaded, document in same:
            if document.body in originals and is_printed(document):
                yield loaded, document
