"""What a kustomization generated a ConfigMap or Secret of: the file, or the entry, of each of its keys.

Upstream: kustomize's api/internal/generators, api/kv/kv.go, api/hasher/hasher.go.
"""

import os
from collections.abc import Iterator

from render.diagnostics.diagnostic import Diagnostic
from render.manifests import kustomization
from render.manifests.blame import origins
from render.manifests.blame.entries import FileEntry, Position
from render.manifests.kustomization import Reach
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.regex import pattern
from render.model.resource import from_body, text_at
from render.model.tree import Tree
from render.system import files
from render.yaml.budget import Limits

_GENERATORS = {"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"}
_HOLDERS = frozenset({"data", "stringData", "binaryData"})
_HASH = pattern(r"-[bcdfghkmt2456789]{10}\Z")
_LITERALS = "literals"


def position(
    body: Tree, path: FieldPath, reach: Reach, limits: Limits, within: tuple[int, int]
) -> Position | None:
    """Where what the generated object *body* has at *path* comes from; *within*: a place in the text there."""
    key = str(path[1]) if len(path) > 1 and path[0] in _HOLDERS else ""
    entries = [*_entries(body, reach, limits)]
    for entry in entries if key else ():
        found = _of_key(entry, key, limits, within)
        if found is not None:
            return found
    return entries[0].at("name") if entries else None


def _entries(body: Tree, reach: Reach, limits: Limits) -> Iterator[FileEntry]:
    """The entries of generators of *reach* that *body* may come from, those of outer kustomizations first."""
    resource = from_body(body, 0)
    generator = "" if resource.group else _GENERATORS.get(resource.kind, "")
    names = {
        former
        for name in (resource.name, _HASH.sub("", resource.name))
        for former in origins.former_names(name, reach)
    }
    for file in reach.kustomizations if generator else ():
        loaded = kustomization.load(file, limits)
        for document in loaded.documents:
            listed: Any = document.body.get(generator)
            for index, entry in enumerate(listed if isinstance(listed, list) else ()):
                if text_at(entry, "name") in names:
                    yield FileEntry(entry, file, loaded.data, document, (generator, index))


def _of_key(entry: FileEntry, key: str, limits: Limits, within: tuple[int, int]) -> Position | None:
    """Where *entry* says what stands at *key*."""
    for index, literal in _texts(entry.body, _LITERALS):
        if literal.partition("=")[0] == key:
            return entry.at(_LITERALS, index)
    for _, source in _texts(entry.body, "files"):
        named, has_key, file = source.partition("=")
        if (named if has_key else os.path.basename(source)) == key:
            name = entry.beside(file if has_key else source)
            return (name, max(1, within[0]), max(1, within[1]))
    for field in ("envs", "env"):
        for _, name in _texts(entry.body, field):
            line = _line_of(entry.beside(name), key, limits)
            if line:
                return entry.beside(name), line, 1
    return None


def _texts(body: Tree, field: str) -> Iterator[tuple[int, str]]:
    listed = body.get(field)
    listed = [listed] if isinstance(listed, str) else listed
    for index, text in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(text, str):
            yield index, text


def _line_of(file: str, key: str, limits: Limits) -> int:
    """The line of *file* in which the variable *key* stands, 0 where none has it."""
    data = files.read(file, file, limits.file_bytes)
    lines = [] if isinstance(data, Diagnostic) else data.split(b"\n")
    wanted = key.encode("utf-8", "replace")
    return next(
        (n for n, line in enumerate(lines, 1) if line.partition(b"=")[0].strip() == wanted), 0
    )
