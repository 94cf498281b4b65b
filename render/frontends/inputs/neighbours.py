"""What the VMs of an input find in the others of its repository."""

from collections.abc import Sequence

from render.diagnostics.diagnostic import Diagnostic
from render.frontends.inputs.unlisted import unlisted_claims
from render.frontends.request.request import Request, with_objects
from render.manifests.documents import Documents
from render.model.hints import TYPE_CHECKING
from render.model.resource import from_body

if TYPE_CHECKING:
    from render.manifests.repository.neighbours import Neighbours, Shared


def include(loaded: Documents, request: Request, neighbours: "Neighbours") -> None:
    """Count what the VMs of *loaded*, as *request* has it, find in other folders among its documents."""
    from render.frontends.request.plugins import planned

    shared, _ = _elsewhere(loaded, *planned(loaded, request), neighbours)
    start = len(loaded.documents)
    for place, neighbour in enumerate(shared, start):
        loaded.borrowed[place] = neighbour.loaded, neighbour.index
    loaded.documents.extend(neighbour.document for neighbour in shared)
    loaded.unclear = neighbours.unclear(request.reading.limits)


def with_neighbours(request: Request, loaded: Documents, neighbours: "Neighbours") -> Request:
    """*request* for *loaded*: its namespace, and what its VMs find in other folders of the repository."""
    from render.frontends.request.plugins import planned

    request, beside = planned(loaded, request)
    shared, unclear = _elsewhere(loaded, request, beside, neighbours)
    loaded.diagnostics.extend(unclear)
    limits = request.reading.limits
    around = (*(each.document for each in shared), *request.beside.catalog)
    loaded.diagnostics.extend(unlisted_claims(loaded, around, request.reading))
    loaded.unread_holder = lambda name: neighbours.unread(loaded, name, limits)
    request = request._replace(
        settings=request.settings._replace(unclear=neighbours.unclear(limits))
    )
    if not shared:
        return request
    documents = [neighbour.document for neighbour in shared]
    start = len(loaded.documents) + len(request.beside.catalog)
    loaded.borrowed = {
        start + place: (neighbour.loaded, neighbour.index) for place, neighbour in enumerate(shared)
    }
    settings = request.settings
    return request._replace(
        beside=request.beside._replace(catalog=(*request.beside.catalog, *documents)),
        settings=settings._replace(catalog=with_objects(settings.catalog, documents)),
    )


def _elsewhere(
    loaded: Documents, request: Request, beside: Sequence[str], neighbours: "Neighbours"
) -> tuple[list["Shared"], list[Diagnostic]]:
    """What the VMs of *loaded* find in other folders, first *beside*, and where that is not clear; a catalogue is.

    A catalogue may be a folder of the repository: what stands there is not there twice.
    """
    shared, unclear = neighbours.of(loaded, request.settings.namespace, beside)
    if not request.beside.catalog:
        return shared, unclear
    resources = (from_body(document.body, 0) for document in request.beside.catalog)
    known = {(resource.group, resource.ref) for resource in resources}
    refs = {ref for _, ref in known}
    return (
        [neighbour for neighbour in shared if neighbour.identity not in known],
        [diagnostic for diagnostic in unclear if diagnostic.resource not in refs],
    )
