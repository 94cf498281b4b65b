"""Where a name leads, and who uses it."""

from collections.abc import Iterator, Sequence

from render.frontends.editor import links
from render.frontends.editor.cursor import Cursor, FieldAt, field_at
from render.frontends.editor.links import Link
from render.frontends.editor.notes import Span
from render.frontends.editor.workspace import Workspace
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.resource import Origin, Resource, from_body
from render.yaml import positions

_NAME: FieldPath = ("metadata", "name")
Place = tuple[str, Span]


class ObjectField(NamedTuple):
    """The *field* under a cursor, and its *path* in the object that stands there."""

    field: FieldAt
    resource: Resource
    path: FieldPath


def resources(workspace: Workspace) -> list[Resource]:
    """The objects of the folder as their authors wrote them."""
    documents = workspace.plain().documents
    return [
        from_body(document.body, index, document.origin) for index, document in enumerate(documents)
    ]


def here(cursor: Cursor, known: Sequence[Resource]) -> ObjectField | None:
    """What stands under *cursor*, if an object of *known* does."""
    field = field_at(cursor)
    if field is None:
        return None
    for resource in known:
        origin = resource.origin
        if origin is None or (origin.file, origin.document) != (cursor.file, field.document):
            continue
        route = origin.route
        if field.path[: len(route)] == route:
            return ObjectField(field, resource, field.path[len(route) :])
    return None


def definitions(workspace: Workspace, cursor: Cursor) -> list[Place]:
    """Where what is named under *cursor* stands."""
    known = resources(workspace)
    at = here(cursor, known)
    if at is None:
        return []
    namespace = workspace.request.settings.namespace
    found: dict[Place, None] = {}
    for link in links.links(at.resource):
        if not _is_at(link, at):
            continue
        if link.inner:
            found[_place(workspace, at.resource, link.inner)] = None
            continue
        for resource in known:
            if links.leads_to(link, resource, namespace):
                found[_place(workspace, resource, _NAME)] = None
    if links.names_a_label(at.path, at.resource):
        for resource in known:
            if resource.kind == links.PRESET and links.selected(resource, [at.resource], namespace):
                found[_place(workspace, resource, _NAME)] = None
    return list(found)


def references(workspace: Workspace, cursor: Cursor, *, declared: bool) -> list[Place]:
    """Who uses the object that is named under *cursor*, or whose own name stands there; where *declared*, it too."""
    known = resources(workspace)
    at = here(cursor, known)
    if at is None:
        return []
    namespace = workspace.request.settings.namespace
    meant = list(_meant(at, known, namespace))
    found: dict[Place, None] = {}
    for target in meant if declared else ():
        found[_place(workspace, target, _NAME)] = None
    for resource in known:
        for link in links.links(resource):
            is_inner = bool(link.inner) and resource is at.resource and link.inner == at.path
            if is_inner or any(links.leads_to(link, target, namespace) for target in meant):
                found[_place(workspace, resource, link.path)] = None
    for target in meant:
        if target.kind == links.PRESET:
            for resource, path in links.selected(target, known, namespace):
                found[_place(workspace, resource, path)] = None
    return list(found)


def _meant(at: ObjectField, known: Sequence[Resource], namespace: str) -> Iterator[Resource]:
    if at.path in (_NAME, ("kind",)):
        yield at.resource
    for link in links.links(at.resource):
        if _is_at(link, at):
            yield from (resource for resource in known if links.leads_to(link, resource, namespace))


def _is_at(link: Link, at: ObjectField) -> bool:
    """A matcher is meant by the key above its name too."""
    if link.path == at.path:
        return True
    return at.field.is_key and link.path[:-1] == at.path and link.path[-1] == "name"


def _place(workspace: Workspace, resource: Resource, path: FieldPath) -> Place:
    """Where *path* of *resource* stands, as far as there is such a field."""
    origin = resource.origin or Origin("")
    text = (workspace.text(origin.file) or "").encode("utf-8", "surrogatepass")
    line, column = positions.locate(text, origin, path)
    return origin.file, Span(line - 1, column - 1, column - 1 + len(str(path[-1])))
