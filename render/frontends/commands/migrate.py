"""``virt-render migrate``: files that say the same in today's words, written only if no VM becomes another."""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Diagnostic
from render.diagnostics.exits import Exit
from render.diff import unified
from render.frontends.answer import Answer, Files
from render.frontends.commands.migrate_builds import Builds
from render.frontends.parts import FleetPart
from render.frontends.progress import Work, in_words
from render.frontends.request.request import Request
from render.manifests import discover
from render.manifests.documents import Documents
from render.manifests.relevance import Scope
from render.manifests.sources import loading, walk
from render.manifests.sources.reading import Reading
from render.model.counting import counted
from render.model.edits import Operation, edited
from render.model.fieldpath import FieldPath
from render.model.resource import Resource, from_body
from render.pipeline import migration
from render.pipeline.migration import Migration
from render.pipeline.migration_plan import Unit
from render.report.text import printable
from render.system import files
from render.yaml import reader, rewrite
from render.yaml.excerpts import Excerpts
from render.yaml.rewrite import Unwritten

Edits = Mapping[int, Sequence[Operation]]


class FileChange(NamedTuple):
    """A file with its text before and after."""

    file: str
    before: str
    after: str


def migrate(asked: Request, work: Work) -> Answer:
    """Rewrite the files below the paths; ``--diff`` prints instead, ``--check`` tells whether there is a need.

    What is in a kustomization is read file by file, since files are what is rewritten.
    """
    diff, check = asked.own["diff"], asked.own["check"]
    work.begin("read", f"reading {in_words(asked.paths)}")
    scope = Scope(asked.reading.layout.exclude, drop=False)
    how = Reading(asked.reading.limits, kustomize="never", scope=scope)
    loaded = loading.load(asked.paths or (".",), how, whole=True, watch=work.inputs)
    part = FleetPart(loaded, asked)
    work.parts.append(part)
    work.begin("migrate", f"migrating {counted(len(loaded.documents), 'object')}")
    if status(part.diagnostics) is not Exit.OK:
        return Answer()
    plan, changes, fault = _plan(loaded, asked)
    part.diagnostics += [*plan.diagnostics, *([fault] if fault and changes else [])]
    if status(part.diagnostics) is not Exit.OK:
        return Answer()
    known = ((file, loaded.data[file]) for file in loaded.files)
    texts = [(change.file, change.after) for change in changes]
    return Answer(
        [_diff(changes) if diff else _summary(plan)],
        exit=Exit.FINDINGS if check and changes else None,
        files=None if diff or check else Files(texts, known),
    )


def _plan(
    loaded: Documents, asked: Request
) -> tuple[Migration, list[FileChange], Diagnostic | None]:
    """What is to be done, the files that it changes, and why kustomizations of them could not be built."""
    resources = [from_body(d.body, i, d.origin) for i, d in enumerate(loaded.documents)]
    json = {
        file
        for file in {document.origin.file for document in loaded.documents}
        if not rewrite.is_yaml(loaded.data[file].decode())
    }
    fixed = frozenset(i for i, d in enumerate(loaded.documents) if d.origin.file in json)
    texts, builds = _FileTexts(loaded, resources, asked), Builds(asked)

    def objection(units: Sequence[Unit]) -> str:
        rewritten = texts.after(_edits(units))
        if isinstance(rewritten, str):
            return rewritten
        unsafe = {texts.file(i) for unit in units if not unit.safe for i in unit.edits}
        real = {os.path.realpath(file): text for file, text in rewritten.items()}
        return builds.objection(real, frozenset(map(os.path.realpath, unsafe)))

    plan = migration.migrate(resources, asked.settings, fixed, _patches(asked), objection)
    rewritten = texts.after(plan.edits)
    after = {} if isinstance(rewritten, str) else rewritten
    changes = [FileChange(file, texts.before(file), text) for file, text in sorted(after.items())]
    return plan, changes, builds.fault


def _patches(asked: Request) -> dict[str, str]:
    """The kustomizations below the paths, and what they use beside resources: text by file."""
    patches: dict[str, str] = {}
    for path in asked.paths or (".",):
        for file in walk.patch_files(path, asked.reading.limits):
            data = files.read(file, file, asked.reading.limits.file_bytes)
            if isinstance(data, bytes):
                patches[file] = data.decode("utf-8", "replace")
    return patches


def _edits(units: Sequence[Unit]) -> Edits:
    operations: dict[int, list[Operation]] = {}
    for unit in units:
        for index, edits in unit.edits.items():
            operations.setdefault(index, []).extend(edits)
    return operations


class _FileTexts:
    """The texts of files before and after edits of the objects in them."""

    __slots__ = ("_limits", "_loaded", "_resources", "_rewritten")

    def __init__(self, loaded: Documents, resources: list[Resource], asked: Request) -> None:
        self._loaded = loaded
        self._resources = resources
        self._limits = asked.reading.limits
        self._rewritten: dict[tuple[str, str], str | Unwritten] = {}

    def file(self, index: int) -> str:
        """The file that holds the object at *index*."""
        return self._loaded.documents[index].origin.file

    def before(self, file: str) -> str:
        """The text of *file* as it is."""
        return self._loaded.data[file].decode()

    def after(self, edits: Edits) -> dict[str, str] | str:
        """The new text of each file that *edits*, by the index of the object, change; or why there is none."""
        by_file: dict[str, dict[int, Sequence[Operation]]] = {}
        for index, changes in sorted(edits.items()):
            by_file.setdefault(self.file(index), {})[index] = changes
        rewritten: dict[str, str] = {}
        for file, changes_by_index in by_file.items():
            key = (file, repr(changes_by_index))
            if key not in self._rewritten:
                self._rewritten[key] = self._rewrite(file, changes_by_index)
            text = self._rewritten[key]
            if isinstance(text, Unwritten):
                return f"{file} cannot be rewritten: {text.why}"
            rewritten[file] = text
        return rewritten

    def _rewrite(self, file: str, edits: Edits) -> str | Unwritten:
        places: dict[int, list[tuple[FieldPath, Operation]]] = {}
        for index, changes in edits.items():
            origin = self._loaded.documents[index].origin
            route = tuple(step for item in origin.item for step in ("items", item))
            places.setdefault(origin.document, []).extend((route, change) for change in changes)
        after = rewrite.rewrite(self.before(file), places)
        if isinstance(after, Unwritten):
            return after
        meant = [
            edited(one.body, edits.get(one.index, ()))
            for one in self._resources
            if self.file(one.index) == file
        ]
        said = [one.body for one in reader.read(after.encode(), file, self._limits).documents]
        if said == meant:
            return after
        return Unwritten("anchors, aliases or merge keys in it would make it say something else")


def _summary(plan: Migration) -> str:
    lines = (
        f"{one.origin.file if one.origin else ''}: {one.ref}: {words}" for one, words in plan.done
    )
    return "".join(f"{printable(line)}\n" for line in lines)


def _diff(changes: list[FileChange]) -> str:
    """The *changes* as a patch, with the names that git and patch take: below a folder, through no link."""
    real = [os.path.realpath(one.file) for one in changes]
    folder = _folder(real)
    return "".join(
        unified.diff(one.before, one.after, os.path.relpath(file, folder), _private)
        for one, file in zip(changes, real, strict=True)
    )


def _private(text: str) -> frozenset[int]:
    return Excerpts(text.encode()).private()


def _folder(real: Collection[str]) -> str:
    """Where a patch of the files *real* is applied: one folder for all of them.

    It is the current one, else the root of their git repository, else that of the file system.
    """
    roots = {files.repository(os.path.dirname(file)) for file in real} - {""}
    for folder in (os.getcwd(), *roots):
        if all(discover.inside(file, (folder,)) for file in real):
            return folder
    return "/"
