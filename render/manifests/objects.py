"""Which documents of a file are Kubernetes objects, and whether the file is meant to hold any."""

import re
from collections.abc import Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests.discover import skipped
from render.model.api_version import version_to_write
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.nearest import is_slip
from render.model.resource import MACHINES, OWN, ResourceRef, text_at
from render.model.tree import Tree, get
from render.yaml.budget import MISTAKES, TOO_MANY, Limits
from render.yaml.reader import Document, Read, locate, read

_LOOKS_KUBERNETES = rb"""(?m)^[ \t\r"'{\[,-]*+(apiVersion\b|kind["']?\s*+:)"""
_READ_AGAIN = 1 << 18
_NAMELESS_GROUPS = ("kustomize.config.k8s.io", OWN)
_NOT_AN_OBJECT = codes.NOT_AN_OBJECT.number
_KEYS = ("apiVersion", "kind", "metadata")
_API_VERSION: FieldPath = ("apiVersion",)
_NEAR = 3
_LOCATED = 100  # an exact place costs as much as reading the file up to it


def sift(
    contents: Read, data: bytes, file: str, *, named: bool
) -> tuple[list[Document], list[Diagnostic]]:
    """The objects of *file*, and what to say about the rest.

    A *named* file (or stdin) must hold objects only. A file found in a folder may be anything: what is clearly no
    manifest is left out with a note; with an object in it, or what may be one, every document has to be one.
    """
    if not named and (why := _dispensable(contents, data)):
        return [], [skipped(file, why)]
    documents: list[Document] = []
    diagnostics = list(contents.diagnostics)
    for document in contents.documents:
        fault = _lacking(document.body)
        if fault and len(diagnostics) > MISTAKES:
            place = Location(file=file, line=document.origin.line, column=1)
            diagnostics.append(codes.LIMIT_EXCEEDED.at(place, TOO_MANY))
            break
        if fault:
            path, message = fault
            if _is_secret(document.body, path):
                path = ()
            line, column = document.origin.line, 1
            if len(diagnostics) < _LOCATED:
                line, column = locate(data, document.origin, path)
            diagnostics.append(
                codes.NOT_AN_OBJECT.at(
                    Location(file=file, line=line, column=column),
                    f"not a Kubernetes object: {message}",
                    help=_cure(document.body, path),
                )
            )
        else:
            documents.append(document)
    return documents, diagnostics


def _dispensable(contents: Read, data: bytes) -> str:
    """Why nothing of a file can be a manifest, ``""`` where something may: who applies the rest would remove it."""
    refused = [
        diagnostic
        for diagnostic in contents.diagnostics
        if diagnostic.is_error
        and diagnostic.code != _NOT_AN_OBJECT
        and diagnostic.message != TOO_MANY
    ]
    if any(_is_object(document.body) for document in contents.documents):
        return ""
    if not refused:
        return "no document with apiVersion, kind and metadata"
    if _is_list(data):
        return "a list, and no object"
    if re.search(_LOOKS_KUBERNETES, data):
        return ""
    if all(diagnostic.code == codes.DUPLICATE_KEY.number for diagnostic in refused):
        return "no document with apiVersion and kind"  # well-formed, so every key can be seen
    lines = data.split(b"\n")
    return (
        "a template, not yet YAML"
        if all(_is_template(lines, diagnostic) for diagnostic in refused)
        else ""
    )


def _is_list(data: bytes) -> bool:
    """Whether *data* is one document, and a list, which no API server takes: a playbook of Ansible, say."""
    lines = [line for line in data.splitlines() if line.strip() and not line.startswith(b"#")]
    starts = [line.startswith(b"---") for line in lines]
    first = lines[1:2] if starts[:1] == [True] else lines[:1]
    return bool(first) and first[0].startswith(b"- ") and not any(starts[1:])


def _is_object(body: Tree) -> bool:
    """Whether *body* was meant as an object, complete or not."""
    if "kubevirt.io/" in text_at(body, "apiVersion"):
        return True
    named = isinstance(body.get("metadata"), dict) or _group(body) in _NAMELESS_GROUPS
    return named and bool(text_at(body, "kind") or text_at(body, "apiVersion"))


_WHOLE = "an object has apiVersion, kind and metadata.name: add what is missing"


def _lacking(body: Tree) -> tuple[FieldPath, str] | None:
    """Where and what keeps *body* from being an object, None where nothing does."""
    for key in ("apiVersion", "kind"):
        if not text_at(body, key):
            meant = _meant(body, key)
            return ((meant or key,), f"{key}{_of_whom(body)} is {_wrong(body.get(key))}")
    if _group(body) in _NAMELESS_GROUPS:
        return None
    metadata, kind = body.get("metadata"), body["kind"]
    if metadata is None and (meant := _meant(body, "metadata")):
        return ((meant,), f"metadata of {kind} is missing")
    if metadata is not None and not isinstance(metadata, dict):
        return (("metadata",), f"metadata of {kind} is not a mapping")
    if not (text_at(metadata, "name") or text_at(metadata, "generateName")):
        wrong = _wrong(get(metadata, "name"))
        called = _meant(metadata, "name") if metadata else ""
        return (("metadata", called or "name"), f"metadata.name of {kind} is {wrong}")
    return None


def may_define(file: str, data: bytes, limits: Limits) -> bool:
    """Whether *data*, which *file* says and which cannot all be read, may define what VMs name.

    A VM without its name defines nothing, though it is no object: what it names is missing all the same. Of a large
    text nobody finds out: it is read again for that.
    """
    if len(data) > _READ_AGAIN:
        return True
    contents = read(data, file, limits)
    lacking = [document.body for document in contents.documents if _lacking(document.body)]
    machines = [body for body in lacking if text_at(body, "kind") in MACHINES]
    return bool(contents.diagnostics) or not lacking or len(machines) < len(lacking)


def _is_secret(body: Tree, path: FieldPath) -> bool:
    """Whether what a Secret has at *path*, where a name belongs, may be what it holds: the line is not shown."""
    return text_at(body, "kind") == "Secret" and isinstance(get(body, *path), dict | list)


def _meant(body: Tree, key: str) -> str:
    """The key of *body* that was meant for *key*, which it lacks: an API server tells capital letters from small."""
    if key in body:
        return ""
    return next(
        (other for other in body if other.lower() == key.lower() or is_slip(other, key)), ""
    )


def _of_whom(body: Tree) -> str:
    """`` of KIND NAME`` where *body* is of one of KubeVirt's kinds: what kustomize prints shows no file."""
    kind, metadata = text_at(body, "kind"), body.get("metadata")
    if not version_to_write(kind):
        return ""
    name = text_at(metadata, "name") or text_at(metadata, "generateName")
    return (
        f" of {ResourceRef(kind, text_at(metadata, 'namespace'), name)}" if name else f" of {kind}"
    )


def _cure(body: Tree, path: FieldPath) -> str:
    """How what *path* of *body* lacks is written."""
    if path[0] in body and path[0] not in _KEYS:
        right = next(key for key in _KEYS if _meant(body, key) == path[0])
        return f"write {right} in the place of {path[0]}"
    version = version_to_write(text_at(body, "kind"))
    if path == _API_VERSION:
        return f"write apiVersion: {version}" if version else _WHOLE
    if len(path) > 1 and path[-1] != "name":
        return f"write name in the place of {path[-1]}"
    if path == ("metadata",):
        return "write metadata: {name: NAME}"
    if path == ("metadata", "name"):
        name = get(body, "metadata", "name")
        return (
            "write the name in quotes" if name is not None and name != "" else "add metadata.name"
        )
    return _WHOLE


def _wrong(value: Any) -> str:
    return "missing" if value is None or value == "" else "not a string"


def _group(body: Tree) -> str:
    return text_at(body, "apiVersion").rpartition("/")[0]


def _is_template(lines: Sequence[bytes], error: Diagnostic) -> bool:
    """Whether the YAML error stands at (or right after) a ``{{ }}`` or ``{% %}``."""
    if error.code == codes.LIMIT_EXCEEDED.number:
        return False
    line = error.location.line
    return any(b"{{" in text or b"{%" in text for text in lines[max(line - _NEAR, 0) : line])
