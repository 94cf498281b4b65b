"""What can be typed next: fields and values of the release, and names of what there is."""

from collections.abc import Iterable, Iterator

from render.convert.templates import type_at
from render.frontends.editor import links
from render.frontends.editor.cursor import Cursor, Typing, body_text, typing_at
from render.frontends.editor.hover import amounts, release
from render.frontends.editor.navigation import resources
from render.frontends.editor.workspace import Workspace
from render.model import types
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.release import Version
from render.model.resource import CLUSTER_SCOPED, INSTANCETYPE_GROUP, Resource, from_body
from render.model.tree import Tree
from render.pipeline import vocabulary
from render.resolve import bundled
from render.schemas import json_schema
from render.schemas.decode import type_of

_MOST = 500
_NAMED = "virtrendercursor"


class Proposal(NamedTuple):
    """A word to type: *kind* is ``field``, ``name`` or ``value``."""

    label: str
    kind: str
    detail: str = ""
    documentation: str = ""


def proposals(workspace: Workspace, cursor: Cursor) -> list[Proposal]:
    """What fits at *cursor*; those that begin with what is there come first."""
    typing = typing_at(cursor)
    if typing is None:
        return []
    version, kind = (body_text(cursor, (key,)) for key in ("apiVersion", "kind"))
    group = version.rpartition("/")[0]
    found = [*_of_type(type_of(group, kind), typing, release(workspace))]
    if not typing.is_key:
        namespace = body_text(cursor, ("metadata", "namespace"))
        head: Tree = {"apiVersion": version, "kind": kind, "metadata": {"namespace": namespace}}
        found += _names(workspace, cursor, head, typing.path)
    ranked = sorted(found, key=lambda proposal: not proposal.label.startswith(typing.prefix))
    return ranked[:_MOST]


def _of_type(type_name: str, typing: Typing, version: Version) -> Iterator[Proposal]:
    """Fields of the mapping that is typed in, or values of the field, as the types have them."""
    if not type_name:
        return
    here = type_at(type_name, typing.path, version) if typing.path else type_name
    if types.is_struct(here):
        for name, field in types.fields(here, version).items():
            if name not in typing.siblings:
                detail = _words(field.type) + (", required" if field.required else "")
                yield Proposal(
                    name, "field", detail, json_schema.description(here, name, field.type)
                )
        return
    if typing.is_key:
        return
    values: Iterable[str] = ()
    if here.startswith("enum:"):
        values = types.enum(here.removeprefix("enum:"), version)
    elif here == "bool":
        values = ("true", "false")
    elif typing.path:
        around = type_at(type_name, typing.path[:-1], version) if typing.path[1:] else type_name
        known = vocabulary.words(version).get((around, str(typing.path[-1])), ())
        values = filter(None, known)
    yield from (Proposal(value, "value") for value in values)


def _words(type_: str) -> str:
    """A Go type for people."""
    bare = type_.removeprefix("*").removeprefix("enum:")
    if bare.startswith("[]"):
        return f"list of {_words(bare[2:])}"
    return "mapping" if bare.startswith("map[") else bare.rpartition(".")[2]


def _names(workspace: Workspace, cursor: Cursor, head: Tree, path: FieldPath) -> Iterator[Proposal]:
    """Names of objects that the field at *path* of an object that begins with *head* may have."""
    for kind_class in KIND_CLASSES:
        if path[-2:] == (kind_class.word, "kind"):
            yield from (
                Proposal(kind, "value") for kind in (kind_class.cluster, kind_class.namespaced)
            )
            return
        if path[-2:] == (kind_class.word, "name"):
            kind = kind_class.kind_of(body_text(cursor, (*path[:-1], "kind")))
            yield from _definitions(workspace, head, kind)
            return
    known = resources(workspace)
    for link in links.links(from_body(_skeleton(head, path), 0)):
        for resource in known if link.name == _NAMED else ():
            if links.leads_to(
                link._replace(name=resource.name), resource, workspace.request.settings.namespace
            ):
                yield Proposal(
                    resource.name,
                    "name",
                    f"{resource.kind}, {resource.origin.file if resource.origin else ''}",
                )


def _skeleton(head: Tree, path: FieldPath) -> Tree:
    """An object that begins with *head* and has a name at *path*, and nothing else."""
    value: Any = _NAMED
    for step in reversed(path):
        value = [*({} for _ in range(step)), value] if isinstance(step, int) else {step: value}
    return {**value, **head} if isinstance(value, dict) else head


def _definitions(workspace: Workspace, head: Tree, kind: str) -> Iterator[Proposal]:
    """The definitions of *kind* that a matcher can name: of the folder, and then those of KubeVirt itself."""
    namespace = workspace.request.settings.namespace
    own = head["metadata"]["namespace"] or namespace
    seen: set[str] = set()
    for resource in resources(workspace):
        if (
            (resource.group, resource.kind) == (INSTANCETYPE_GROUP, kind)
            and resource.name not in seen
            and _is_near(resource, own, namespace)
        ):
            seen.add(resource.name)
            yield Proposal(
                resource.name,
                "name",
                amounts(resource.spec),
                resource.origin.file if resource.origin else "",
            )
    for (known, name), spec in bundled.definitions(release(workspace)).items():
        if known == kind and name not in seen:
            yield Proposal(name, "name", amounts(spec), "of KubeVirt itself")


def _is_near(resource: Resource, own: str, namespace: str) -> bool:
    return resource.kind in CLUSTER_SCOPED or (resource.namespace or namespace) == own
