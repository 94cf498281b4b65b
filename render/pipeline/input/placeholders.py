"""Placeholders that nobody filled in: ``{{ value }}`` of Helm and Jinja, ``${NAME}`` of envsubst and templates.

Flux has values to fall back on too: ``${NAME:=value}`` and ``${NAME:-value}``. In names and labels also ``$NAME`` of
envsubst, ``$(NAME)`` of OpenShift and kustomize, ``@name@``, ``__NAME__`` and ``<name>``: no API server takes these.
"""

import marshal
import re
from collections.abc import Iterable, Iterator

from render.admission import metadata
from render.diagnostics.codes import PLACEHOLDER
from render.diagnostics.diagnostic import Diagnostic, at
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.release import Version
from render.model.resource import Resource
from render.model.tree import Tree

#: Where objects of ours have metadata.
_METADATA: tuple[FieldPath, ...] = (
    ("metadata",),
    ("spec", "template", "metadata"),
    ("spec", "virtualMachineTemplate", "metadata"),
    ("spec", "virtualMachineTemplate", "spec", "template", "metadata"),
)
_ANY = "${X}"
#: What may hold anything: guests' own files and commands, annotations, and free words.
_FREE_TEXT = frozenset(
    {
        "annotations",
        "command",
        "description",
        "managedFields",
        "networkData",
        "status",
        "userData",
    }
)


def find(resource: Resource) -> Iterator[Diagnostic]:
    """Fields of an object of ours that still hold a placeholder, where it would be taken for a value."""
    seen = set()
    for path, text, pattern in _places(resource):
        match = re.search(pattern, text)
        if match and path not in seen:
            seen.add(path)
            yield PLACEHOLDER.at(
                at(resource, path),
                f"{f'${{{match[1]}}}' if match[1] else match[0]} is not filled in",
                help="render the template first, and pipe its output into `virt-render build -`",
            )


def are_in_name(resource: Resource) -> bool:
    """Whether the name of an object, or its namespace, is not filled in."""
    names = (resource.name, resource.namespace)
    return any("$" in name or "{" in name for name in names) and any(
        re.search(metadata.PLACEHOLDER_OF_NAME, name) for name in names
    )


def emptied(resource: Resource, paths: Iterable[FieldPath]) -> Resource | None:
    """*resource* with a placeholder in the place of each value at *paths*; None where none would count as one."""
    paths = tuple(paths)
    if not paths:
        return resource
    body = tree.copy(resource.body)
    for path in paths:
        if not path:  # it stands for more mistakes than are told
            return None
        if not _FREE_TEXT.isdisjoint(map(str, path)) or tree.get(body, *path) is None:
            return None
        tree.put(body, path, _ANY)
    return resource._replace(body=body, may_hold_placeholders=True)


def filled(
    resource: Resource, number: int, release: Version
) -> tuple[Tree, tuple[FieldPath, ...]] | None:
    """A machine with the example *number* (see `templates.example`) where a placeholder stands, and these fields.

    None where one stands for a list or a mapping, of which there is no example. What has one in its key is left out:
    nothing else depends on a label or an annotation that nobody knows.
    """
    from render.convert import templates

    body = tree.copy(resource.body)
    open_: list[FieldPath] = []
    kind = templates.type_of(resource.kind)
    for path, text, pattern in _places(resource):
        if path in open_:
            continue
        if path[-1] == text and path[-2:-1] in (("labels",), ("annotations",)):
            if re.search(pattern, text):
                tree.remove(body, *path)
                open_.append(path)
            continue
        type_name = templates.type_at(kind, path, release)
        pieces: list[str] = []
        end = 0
        for match in re.finditer(pattern, text):
            use = templates.Use(match[1] or match[0], path, type_name, match[0] == text)
            example = templates.example(use, number, release)
            if example is None or tree.get(resource.body, *path) != text:
                return None
            pieces += (text[end : match.start()], example)
            end = match.end()
        if pieces:
            whole = "".join((*pieces, text[end:]))
            # What is filled in is text that YAML is read from afterwards.
            is_text = type_name in ("", "string", "quantity")
            tree.put(body, path, whole if is_text else templates.as_json(whole))
            open_.append(path)
    return body, tuple(open_)


def _places(resource: Resource) -> Iterator[tuple[FieldPath, str, str]]:
    """The texts that may hold a placeholder, and the pattern of those that count there: most objects have none."""
    for place in _METADATA if "virtualMachineTemplate" in resource.spec else _METADATA[:2]:
        standing = tree.get(resource.body, *place)
        for path, text in metadata.open_names(standing) if standing else ():
            yield (*place, *path), text, metadata.PLACEHOLDER_OF_NAME
    if resource.may_hold_placeholders and _may_hold_any(resource.body):
        for path, text in _texts(resource.body, ()):
            yield path, text, metadata.PLACEHOLDER


def _may_hold_any(body: Tree) -> bool:
    """Whether the beginning of a placeholder may be in *body*: one call instead of a walk that few objects need."""
    try:
        data = marshal.dumps(body)
    except ValueError:  # a host's own types
        return True
    return b"${" in data or b"{{" in data


def _texts(value: Any, path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    """Every string that holds the beginning of a placeholder; most objects hold none."""
    if isinstance(value, str):
        if "${" in value or "{{" in value:
            yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _FREE_TEXT:
                yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
