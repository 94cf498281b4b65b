"""``virt-render migrate``: files that say the same in today's words, written only if no VM becomes another."""

import os
from collections.abc import Mapping, Sequence

from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Diagnostic
from render.diagnostics.exits import Exit
from render.frontends import patching
from render.frontends.answer import Answer, Files
from render.frontends.commands.migrate_builds import Builds
from render.frontends.parts import FleetPart
from render.frontends.progress import Work, in_words
from render.frontends.request.request import Request
from render.manifests.documents import Documents
from render.manifests.fixes import FileTexts
from render.manifests.relevance import Scope
from render.manifests.sources import loading, walk
from render.manifests.sources.reading import Reading
from render.model.counting import counted
from render.model.edits import Operation
from render.model.fieldpath import FieldPath
from render.model.resource import from_body
from render.pipeline.migration import migrate as migration
from render.pipeline.migration.migrate import Migration
from render.pipeline.migration.plan import Unit
from render.report.text import printable
from render.system import files
from render.yaml import rewrite


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
        [patching.diff(changes) if diff else _summary(plan)],
        exit=Exit.FINDINGS if check and changes else None,
        files=None if diff or check else Files(texts, known),
    )


def _plan(
    loaded: Documents, asked: Request
) -> tuple[Migration, list[patching.FileChange], Diagnostic | None]:
    """What is to be done, the files that it changes, and why kustomizations of them could not be built."""
    resources = [from_body(d.body, i, d.origin) for i, d in enumerate(loaded.documents)]
    json = {
        file
        for file in {document.origin.file for document in loaded.documents}
        if not rewrite.is_yaml(loaded.data[file].decode())
    }
    fixed = frozenset(i for i, d in enumerate(loaded.documents) if d.origin.file in json)
    builds = Builds(asked)
    texts = FileTexts(lambda file: loaded.data[file], asked.reading.limits)

    def objection(units: Sequence[Unit]) -> str:
        rewritten = texts.after(_by_file(migration.combined(units), loaded))
        if isinstance(rewritten, str):
            return rewritten
        edited = {index for unit in units if not unit.safe for index in unit.edits}
        unsafe = {loaded.documents[index].origin.file for index in edited}
        real = {os.path.realpath(file): text for file, text in rewritten.items()}
        return builds.objection(real, frozenset(map(os.path.realpath, unsafe)))

    plan = migration.migrate(resources, asked.settings, fixed, _patches(asked), objection)
    rewritten = texts.after(_by_file(plan.edits, loaded))
    after = {} if isinstance(rewritten, str) else rewritten
    changes = [
        patching.FileChange(file, loaded.data[file].decode(), text)
        for file, text in sorted(after.items())
    ]
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


def _by_file(
    edits: Mapping[int, Sequence[Operation]], loaded: Documents
) -> dict[str, rewrite.Edits]:
    """*edits*, by the index of the object, as the writer of files takes them."""
    placed: dict[str, dict[int, list[tuple[FieldPath, Operation]]]] = {}
    for index, changes in sorted(edits.items()):
        origin = loaded.documents[index].origin
        own = placed.setdefault(origin.file, {}).setdefault(origin.document, [])
        own += ((origin.route, change) for change in changes)
    return {**placed}


def _summary(plan: Migration) -> str:
    lines = (
        f"{one.origin.file if one.origin else ''}: {one.ref}: {words}" for one, words in plan.done
    )
    return "".join(f"{printable(line)}\n" for line in lines)
