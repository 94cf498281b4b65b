"""Which replacement of a kustomization wrote a field, and where the value stands that it copies.

Upstream: kustomize's api/filters/replacement/replacement.go, api/types/replacement.go.
"""

import re
from collections.abc import Iterator, Sequence

from render.diagnostics.diagnostic import Diagnostic
from render.manifests import kustomization
from render.manifests.blame import generated, origins
from render.manifests.blame.entries import FileEntry, Position
from render.manifests.blame.selection import selects
from render.manifests.kustomization import Reach
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.regex import pattern
from render.model.resource import Resource, from_body, text_at
from render.model.tree import Tree
from render.system import files
from render.yaml.budget import Limits
from render.yaml.reader import locate, read

_FIELD = "replacements"
_STEP = pattern(r"\[[^\]]*\]|(?:\\.|[^.\[\\])+")
"""One step of the path of a field: an item by what it says, or a key in which dots are escaped."""
_ITEM = pattern(r"\[([^=]+)=(.*)\]")
_ANY = "*"


class CopiedValues:
    """The replacements of a *reach*, which are read once somebody asks."""

    __slots__ = ("_known", "_limits", "_reach")

    def __init__(self, reach: Reach, limits: Limits) -> None:
        self._reach = reach
        self._limits = limits
        self._known: list[FileEntry] | None = None

    def position(self, body: Tree, path: FieldPath) -> Position | None:
        """Where the value stands that one of them has copied to *path* of the built object *body*."""
        for replacement, _ in self._of(body, path):
            return self._source(replacement) or replacement.at("source")
        return None

    def target(self, body: Tree, path: FieldPath) -> Position | None:
        """Where one of them names *path* of the built object *body*."""
        return next((position.at(*place) for position, place in self._of(body, path)), None)

    def _of(self, body: Tree, path: FieldPath) -> Iterator[tuple[FileEntry, FieldPath]]:
        """The replacements that write *path* of *body*, the last one first, and where each names it."""
        if self._known is None:
            self._known = [*_replacements(self._reach, self._limits)]
        resource = from_body(body, 0)
        names = origins.former_names(resource.name, self._reach) if self._known else []
        for replacement in self._known:
            targets = replacement.body.get("targets")
            for index, target in enumerate(targets if isinstance(targets, list) else ()):
                fields = target.get("fieldPaths") if isinstance(target, dict) else None
                if not isinstance(fields, list) or not _selects(target, resource, names):
                    continue
                for number, field in enumerate(fields):
                    if isinstance(field, str) and _leads_to(field, body, path):
                        yield replacement, ("targets", index, "fieldPaths", number)

    def _source(self, replacement: FileEntry) -> Position | None:
        """Where the value stands that *replacement* copies, if it is in a file of the reach or generated."""
        source = replacement.body.get("source")
        kind, name = text_at(source, "kind"), text_at(source, "name")
        steps = [_key(step) for step in _steps(text_at(source, "fieldPath") or "metadata.name")]
        for resource in origins.sources(self._reach, self._limits, {}):
            if (resource.kind, resource.name) == (kind, name) and resource.origin:
                file = resource.origin.file
                data = files.read(file, file, self._limits.file_bytes)
                if isinstance(data, bytes):
                    return file, *locate(data, resource.origin, _known(steps, resource.body))
        body: Tree = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}
        return generated.position(body, tuple(steps), self._reach, self._limits, (0, 0))


def _replacements(reach: Reach, limits: Limits) -> Iterator[FileEntry]:
    """All that *reach* makes, the one that comes last first: what is built from is replaced before."""
    for file in reach.kustomizations:
        loaded = kustomization.load(file, limits)
        for document in loaded.documents:
            listed = document.body.get(_FIELD)
            entries = [*enumerate(listed if isinstance(listed, list) else ())]
            for index, entry in reversed(entries):
                if not isinstance(entry, dict):
                    continue
                listed_entry = FileEntry(entry, file, loaded.data, document, (_FIELD, index))
                if path := text_at(entry, "path"):
                    yield from _in_file(listed_entry.beside(path), limits)
                else:
                    yield listed_entry


def _in_file(file: str, limits: Limits) -> Iterator[FileEntry]:
    """Those that stand in *file*: one, or a list of them."""
    data = files.read(file, file, limits.file_bytes)
    if isinstance(data, Diagnostic):
        return
    head = data.lstrip()
    is_list = head.startswith((b"-", b"[")) and not head.startswith(b"---")
    if is_list:
        data = f"{_FIELD}:\n".encode() + re.sub(rb"(?m)^", b" ", data)
    for document in read(data, file, limits).documents:
        if not is_list:
            yield FileEntry(document.body, file, data, document, ())
            continue
        for index, entry in reversed([*enumerate(document.body.get(_FIELD) or ())]):
            if isinstance(entry, dict):
                yield FileEntry(entry, file, data, document, (_FIELD, index), shift=1)


def _selects(target: Tree, resource: Resource, names: Sequence[str]) -> bool:
    """Whether *target* selects *resource*, which had one of *names* before, and rejects it not."""
    rejected = target.get("reject")
    chosen = [target.get("select"), *(rejected if isinstance(rejected, list) else ())]
    is_chosen = [
        isinstance(each, dict)
        and selects(text_at(each, "kind"), (resource.kind,))
        and selects(text_at(each, "name"), names)
        for each in chosen
    ]
    return is_chosen[0] and not any(is_chosen[1:])


def _steps(field: str) -> list[str]:
    return [step.replace("\\.", ".") for step in _STEP.findall(field)]


def _key(step: str) -> str | int:
    return int(step) if step.isdecimal() else step


def _known(steps: Sequence[str | int], body: Any) -> FieldPath:
    """*steps* as far as *body* has them, items by their positions."""
    way: list[str | int] = []
    for step in steps:
        fits = [key for key in _keys(body) if _fits(str(step), key, body)]
        if not fits:
            break
        way.append(fits[0])
        body = body[fits[0]]
    return tuple(way)


def _keys(body: Any) -> Iterator[str | int]:
    if isinstance(body, dict):
        yield from body
    elif isinstance(body, list):
        yield from range(len(body))


def _leads_to(field: str, body: Any, path: FieldPath) -> bool:
    """Whether *field* of a target means *path* of *body*, or what is around that."""
    steps = _steps(field)
    if not steps or len(steps) > len(path):
        return False
    for step, key in zip(steps, path, strict=False):
        if not _fits(step, key, body):
            return False
        body = body[key]
    return True


def _fits(step: str, key: str | int, around: Any) -> bool:
    """Whether *step* of a field means the *key* of what is *around*."""
    is_there = key in around if isinstance(around, dict) else 0 <= int(key) < len(around)
    if not is_there or step in (_ANY, str(key)):
        return is_there
    item = _ITEM.fullmatch(step)
    found = around[key]
    return item is not None and isinstance(found, dict) and str(found.get(item[1])) == item[2]
