"""Parts of a repository as they were rendered last: what an edit does not reach is not rendered again."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

from render.diagnostics.codes import worth_saying
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends.parts import FleetPart
from render.frontends.reporting import as_note
from render.frontends.session import render_loaded, resources_of
from render.machine import Machine
from render.model.named_tuple import NamedTuple
from render.model.resource import Origin, Resource
from render.pipeline.input.retained import retained
from render.report.findings import Finding, find
from render.report.places import Sources
from render.settings import Settings
from render.yaml.reader import Document


class PlacedFindings(NamedTuple):
    """The findings of a part, and each of them by what it says of which document."""

    findings: Sequence[Finding] = ()
    by_content: Mapping[Hashable, Finding] = {}


class RenderedPart(NamedTuple):
    """A part as it was *read* and rendered with *base*, the settings of the run.

    *documents* and *resources* are its own and what counts beside them, *machines* what its VMs came to.
    """

    part: FleetPart
    base: Settings
    read: Sequence[Diagnostic]
    documents: Sequence[Document]
    resources: Sequence[Resource]
    machines: Sequence[Machine]
    placed: PlacedFindings


def render(
    part: FleetPart, base: Settings, before: RenderedPart | None, changed: Collection[str]
) -> RenderedPart:
    """Render *part*, or take from *before* what is the same; *changed* are the files that say something else by now.

    What the objects of a part say decides it, but for the lock of another one.
    """
    loaded, around = part.loaded, part.request.around
    read = tuple(loaded.diagnostics)
    documents = (*loaded.documents, *around)
    known = before if before is not None and before.base == base else None
    if known is not None and _is_same(part, read, documents, known):
        placed = known.placed
        part.diagnostics = known.part.diagnostics
        if _touches(placed.findings, changed):
            placed = _placed(part, part.diagnostics, placed, changed)
        return known._replace(part=part, documents=documents, placed=placed)
    resources = resources_of(documents, known.resources if known else ())
    reusable = retained(known.resources, resources, known.machines) if known else None
    machines: list[Machine] = []
    _, part.diagnostics = render_loaded(
        loaded,
        part.request,
        lambda _body, _source: None,
        lambda machine, _body: machines.append(machine),
        reusable,
        traced=False,
        known=resources,
    )
    placed = _placed(part, part.diagnostics, known.placed if known else PlacedFindings(), changed)
    return RenderedPart(part, base, read, documents, resources, machines, placed)


def _is_same(
    part: FleetPart,
    read: Sequence[Diagnostic],
    documents: Sequence[Document],
    known: RenderedPart,
) -> bool:
    if len(documents) != len(known.documents) or part.loaded.locked != known.part.loaded.locked:
        return False
    pairs = zip(documents, known.documents, strict=True)
    return read == known.read and all(
        document is other or (document.body is other.body and document.origin == other.origin)
        for document, other in pairs
    )


def _touches(findings: Iterable[Finding], changed: Collection[str]) -> bool:
    return any(
        place.file in changed for finding in findings for place in (finding.place, *finding.related)
    )


def _placed(
    part: FleetPart,
    diagnostics: Iterable[Diagnostic],
    known: PlacedFindings,
    changed: Collection[str],
) -> PlacedFindings:
    """The *diagnostics* of *part* with their places: as they are *known*, unless one is in a *changed* file."""
    origins = [document.origin for document in (*part.loaded.documents, *part.request.around)]
    by_content: dict[Hashable, Finding] = {}
    missing: dict[Hashable, Diagnostic] = {}
    for fresh in worth_saying(map(as_note, diagnostics)):
        key = _content(fresh, origins)
        finding = known.by_content.get(key)
        if finding is None or _touches([finding], changed):
            missing[key] = fresh
        else:  # the same at another position
            diagnostic = fresh._replace(message=finding.diagnostic.message)
            by_content[key] = finding._replace(diagnostic=diagnostic)
    if missing:
        sources = Sources(origins, part.loaded.data, part.loaded.blame, quotes=False)
        by_content.update(zip(missing, find(missing.values(), sources), strict=True))
    return PlacedFindings(tuple(by_content.values()), by_content)


def _content(diagnostic: Diagnostic, origins: Sequence[Origin]) -> Hashable:
    """What *diagnostic* says of which documents, whatever their positions in the input are."""
    places = [diagnostic.location, *(related.location for related in diagnostic.related)]
    if diagnostic.position is not None:
        places.append(diagnostic.position)
    return (
        diagnostic.code, diagnostic.check, diagnostic.severity, diagnostic.message, diagnostic.help,
        tuple(_anchored(location, origins) for location in places),
    )  # fmt: skip


def _anchored(place: Location, origins: Sequence[Origin]) -> Hashable:
    index = place.index
    origin = origins[index] if index is not None and index < len(origins) else None
    document = origin and (origin.file, origin.document, origin.item)
    return document, place.path, place.file, place.line, place.column
