"""Which edit is behind an error in a line that nobody changed, for which an input cannot be read any more.

kustomize names the patch that finds nothing any more; who renamed or took away what it is for edited another file. Said
are the edits of the objects of which it was built that take away what kustomize names in its words: an object, or what
stands at a path of one.
"""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from render.diagnostics import codes
from render.diff.impact import FieldChange, without_secrets
from render.diff.source import ChangeSource, SideName
from render.frontends.commands.compare.states import NamedState
from render.frontends.commands.compare.values import differing
from render.manifests import kustomization
from render.model import fieldpath, tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.resource import ResourceRef, from_body
from render.report.findings import Finding
from render.report.places import Place
from render.system import files
from render.yaml.budget import Limits
from render.yaml.reader import Document, locate, read

#: How kustomize calls an object that a patch is for, and a path of which a patch wants something; helm, a line.
_OBJECT = r"(?:no matches for Id |strategic merge patch \")([^\s.]+)\.[^\s/]+/([^\s\[]*)\.(?:\[noNs\]|[\w-]+)"
_TEMPLATE = r"\(([^\s()]+?):(\d+)(?::\d+)?\)"
_POINTER = r"[\s'\"](/[^\s:'\"]+)"
#: What tells an object from others.
_IDENTITY: tuple[FieldPath, ...] = (
    ("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"), ("metadata", "namespace"),
)  # fmt: skip
_MOST, _LOOKED_AT = 3, 10
"""So many edits are told, and so many errors are traced back: the files behind each are read anew."""
_EFFECT = "unrenderable"


class SourceEdit(NamedTuple):
    """A *change* of a source of a kustomization, its *cause*, and where that was written."""

    change: FieldChange
    cause: ChangeSource
    place: Place


class _SourceObject(NamedTuple):
    """An object as a file has it, with the bytes of that, and what it is called."""

    ref: ResourceRef
    document: Document
    data: bytes

    @property
    def file(self) -> str:
        return self.document.origin.file

    def at(self, path: FieldPath) -> Place:
        return Place(self.file, *locate(self.data, self.document.origin, path))


def behind(old: NamedState, new: NamedState, limits: Limits) -> tuple[SourceEdit, ...]:
    """The edits for which *new* cannot be read, which *old* could, where an error is in a line that nobody edited."""
    if new.fault is None or not old.objects or not (old.working_folder and new.working_folder):
        return ()
    found: dict[ChangeSource, SourceEdit] = {}
    errors = (finding for finding in new.fault.findings if finding.diagnostic.is_error)
    for finding in islice(errors, _LOOKED_AT):
        if not _is_edited(finding.place, old, new, limits):
            for edit in islice(_behind(finding, old, new, limits), _MOST):
                found.setdefault(edit.cause, edit)
    return tuple(found.values())[:_MOST]


def entry(file: str, state: NamedState, other: NamedState, limits: Limits) -> Place | None:
    """Where the kustomization of *state* was edited by which it has a VM of *file* that *other* has not.

    None where the file itself was, or where somebody else fills the folder in.
    """
    if state.user or not (state.working_folder and other.working_folder):
        return None
    if _bytes(state, file, limits) != _bytes(other, file, limits):
        return None
    with contextlib.chdir(state.working_folder):
        folder = os.path.normpath(os.path.join(state.path, state.folder))
        reach = kustomization.reach(folder, limits, allow_remote=True)
    for name in reach.kustomizations:
        own, others = (_objects(name, each, limits) for each in (state, other))
        if own and not others:
            return own[0].at(())
        for source, now in zip(others, own, strict=False):
            for path in differing(source.document.body, now.document.body):
                was, lines = (tree.get(each.document.body, *path) for each in (source, now))
                added = (
                    [n for n, each in enumerate(lines) if each not in was]
                    if _are_lists(was, lines)
                    else []
                )
                return now.at((*path, *added[:1]))
    return None


def _are_lists(*values: Any) -> bool:
    return all(isinstance(value, list) for value in values)


def _bytes(state: NamedState, file: str, limits: Limits) -> object:
    return files.read(os.path.join(state.working_folder, file), file, limits.file_bytes)


def _behind(
    finding: Finding, old: NamedState, new: NamedState, limits: Limits
) -> Iterator[SourceEdit]:
    """The edits behind one error: of what is built, or below the field of the file that it is about."""
    if finding.diagnostic.code == codes.KUSTOMIZE_FAILED.number:
        pairs = _pairs(_sources(old, limits), _sources(new, limits))
        yield from _edits(pairs, finding.diagnostic.message)
        return
    if finding.diagnostic.code == codes.HELM_FAILED.number:
        yield from _of_templates(finding.diagnostic.message, old, new, limits)
        return
    file, field = finding.place.file, finding.diagnostic.location.path
    both = [_objects(file, state, limits) for state in (old, new)] if file else [[], []]
    for source, now in _pairs(both[0], both[1]):
        if now is None:
            continue
        for path in differing(source.document.body, now.document.body):
            if all(step == other for step, other in zip(path, field, strict=False)):
                yield _edit_of(source, now, path)


def _is_edited(place: Place, old: NamedState, new: NamedState, limits: Limits) -> bool:
    """Whether the line at *place* is another one than before."""
    if not place.line:
        return False
    texts = [_lines(state, place.file, limits) for state in (old, new)]
    line = texts[1][place.line - 1 : place.line]
    return line != [] and line[0] not in texts[0]


def _lines(state: NamedState, file: str, limits: Limits) -> list[bytes]:
    data = _bytes(state, file, limits)
    return data.splitlines() if isinstance(data, bytes) else []


def _of_templates(
    words: str, old: NamedState, new: NamedState, limits: Limits
) -> Iterator[SourceEdit]:
    """The lines of the chart that helm names in its *words*, if somebody edited them."""
    folder = os.path.normpath(os.path.join(old.path, old.folder))
    for name, number in re.findall(_TEMPLATE, words):
        chart, _, inside = name.partition("/")
        file, line = os.path.join(folder, inside), int(number)
        before, after = (_bytes(state, file, limits) for state in (old, new))
        if not (isinstance(before, bytes) and isinstance(after, bytes)):
            continue
        if not _is_edited(Place(file, line), old, new, limits):
            continue
        cause = ChangeSource(ResourceRef("Chart", "", chart), (), None, "after")
        was = _formerly(before.splitlines(), after.splitlines(), line)
        texts = [_excerpt(data, at) for data, at in ((before, was), (after, line))]
        change = FieldChange(inside, texts[0], texts[1], _EFFECT, cause)
        yield SourceEdit(change, cause, Place(file, line, 1))


def _excerpt(data: bytes, line: int) -> str | None:
    """What may be shown of *line*, None for that of the number 0."""
    from render.yaml.excerpts.lines import Excerpts

    return Excerpts(data).at(line, 1)[0].strip() if line else None


def _formerly(before: Sequence[bytes], after: Sequence[bytes], line: int) -> int:
    """The number of the line before that is the *line* after, 0 where it is new."""
    from difflib import SequenceMatcher

    for _, start, end, first, last in SequenceMatcher(None, before, after).get_opcodes():
        if first < line <= last and end - start == last - first:
            return start + line - first
    return 0


def _sources(state: NamedState, limits: Limits) -> list[_SourceObject]:
    """The objects of the files of which the kustomization of *state* is built."""
    with contextlib.chdir(state.working_folder):
        folder = os.path.normpath(os.path.join(state.path, state.folder))
        if kustomization.find(folder) is None:
            return []
        reach = kustomization.reach(folder, limits, allow_remote=True)
        return [
            source
            for file in dict.fromkeys(reach.resources)
            for source in _read(file, file, limits)
        ]


def _objects(file: str, state: NamedState, limits: Limits) -> list[_SourceObject]:
    """The objects that *file* has in *state*."""
    return [*_read(os.path.join(state.working_folder, file), file, limits)]


def _read(path: str, file: str, limits: Limits) -> Iterator[_SourceObject]:
    data = files.read(path, file, limits.file_bytes)
    if isinstance(data, bytes):
        for document in read(data, file, limits).documents:
            yield _SourceObject(from_body(document.body, 0).ref, document, data)


def _pairs(
    before: Sequence[_SourceObject], after: Sequence[_SourceObject]
) -> Iterator[tuple[_SourceObject, _SourceObject | None]]:
    """The objects *before*, each with what it is *after*: of its name, else what is left in its file or of its kind."""
    known: dict[ResourceRef, list[_SourceObject]] = {}
    for source in after:
        known.setdefault(source.ref, []).append(source)
    renamed = []
    for source in before:
        same = known.get(source.ref)
        if same:
            yield source, same.pop(0)
        else:
            renamed.append(source)
    left = [source for sources in known.values() for source in sources]
    for source in renamed:
        others = [each for each in left if each.ref.kind == source.ref.kind]
        here = [each for each in others if each.file == source.file]
        found = here[0] if here else others[0] if len(others) == 1 else None
        left = [each for each in left if each is not found]
        yield source, found


def _edits(
    pairs: Iterable[tuple[_SourceObject, _SourceObject | None]], words: str
) -> Iterator[SourceEdit]:
    """The edits that take away what kustomize names in its *words*."""
    named, pointers = {*re.findall(_OBJECT, words)}, {*re.findall(_POINTER, words)}
    for source, now in pairs:
        is_named = (source.ref.kind, source.ref.name) in named
        if now is None:
            if is_named:
                yield _edit(source, source, (), "before")
            continue
        for path in differing(source.document.body, now.document.body):
            if (is_named and path in _IDENTITY) or any(_concerns(path, each) for each in pointers):
                yield _edit_of(source, now, path)


def _concerns(path: FieldPath, pointer: str) -> bool:
    """Whether the JSON *pointer* leads to *path*, around it or into it."""
    steps = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    return all(str(step) == other for step, other in zip(path, steps, strict=False))


def _edit_of(source: _SourceObject, now: _SourceObject, path: FieldPath) -> SourceEdit:
    is_gone = tree.get(now.document.body, *path) is None
    return _edit(source, now, path, "before" if is_gone else "after")


def _edit(source: _SourceObject, now: _SourceObject, path: FieldPath, side: SideName) -> SourceEdit:
    """That *path* of *source* is what it is *now*; all of it is gone where there is no path."""
    before: Any = tree.get(source.document.body, *path) if path else str(source.ref)
    after: Any = tree.get(now.document.body, *path) if path else None
    cause = ChangeSource(source.ref if side == "before" else now.ref, path, None, side)
    change = FieldChange(
        fieldpath.text(path) or "resources",
        without_secrets(_route(path), before),
        without_secrets(_route(path), after),
        _EFFECT,
        cause,
    )
    return SourceEdit(change, cause, (source if side == "before" else now).at(path))


def _route(path: FieldPath) -> tuple[str, ...]:
    return tuple(step for step in path if isinstance(step, str))
