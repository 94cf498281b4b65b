"""``virt-render migrate``: files that say the same in today's words, written only if no VM becomes another."""

from collections.abc import Mapping, Sequence

from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Diagnostic
from render.diagnostics.exits import Exit
from render.frontends import patching
from render.frontends.answer import Answer, Files
from render.frontends.migration.builds import Builds
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
from render.system.files import real_path
from render.yaml.editing import rewrite


def migrate(request: Request, work: Work) -> Answer:
    """Rewrite the files below the paths; ``--diff`` prints instead, ``--check`` tells whether there is a need.

    What is in a kustomization is read file by file, since files are what is rewritten.
    """
    diff, check = request.own["diff"], request.own["check"]
    work.begin("read", f"reading {in_words(request.paths)}")
    scope = Scope(request.reading.layout.exclude, drop=False)
    how = Reading(request.reading.limits, kustomize="never", scope=scope)
    loaded = loading.load(request.paths or (".",), how, whole=True, watch=work.inputs)
    part = FleetPart(loaded, request)
    work.parts.append(part)
    work.begin("migrate", f"migrating {counted(len(loaded.documents), 'object')}")
    if status(part.diagnostics) is not Exit.OK:
        return Answer()
    plan, changes, fault = _plan(loaded, request)
    part.diagnostics += [*plan.diagnostics, *([fault] if fault and changes else [])]
    if status(part.diagnostics) is not Exit.OK:
        return Answer()
    known = ((file, loaded.data[file]) for file in loaded.files)
    texts = [(change.file, change.after) for change in changes]
    return Answer(
        [patching.painted(changes) if diff else _summary(plan)],
        for_people=not diff,
        exit=Exit.FINDINGS if check and changes else None,
        files=None if diff or check else Files(texts, known),
    )


def _plan(
    loaded: Documents, request: Request
) -> tuple[Migration, list[patching.FileChange], Diagnostic | None]:
    """What is to be done, the files that it changes, and why kustomizations of them could not be built."""
    resources = [from_body(d.body, i, d.origin) for i, d in enumerate(loaded.documents)]
    json = {
        file
        for file in {document.origin.file for document in loaded.documents}
        if not rewrite.is_yaml(loaded.data[file].decode())
    }
    fixed = frozenset(i for i, d in enumerate(loaded.documents) if d.origin.file in json)
    builds = Builds(request)
    texts = FileTexts(lambda file: loaded.data[file], request.reading.limits)

    def objection(units: Sequence[Unit]) -> str:
        rewritten = texts.after(_by_file(migration.combined(units), loaded))
        if isinstance(rewritten, str):
            return rewritten
        edited = {index for unit in units if not unit.safe for index in unit.edits}
        unsafe = {loaded.documents[index].origin.file for index in edited}
        real = {real_path(file): text for file, text in rewritten.items()}
        return builds.objection(real, frozenset(map(real_path, unsafe)))

    plan = migration.migrate(resources, request.settings, fixed, _patches(request), objection)
    rewritten = texts.after(_by_file(plan.edits, loaded))
    after = {} if isinstance(rewritten, str) else rewritten
    changes = [
        patching.FileChange(file, loaded.data[file].decode(), text)
        for file, text in sorted(after.items())
    ]
    return plan, changes, builds.fault


def _patches(request: Request) -> dict[str, str]:
    """The kustomizations below the paths, and what they use beside resources: text by file."""
    patches: dict[str, str] = {}
    for path in request.paths or (".",):
        for file in walk.patch_files(path, request.reading.limits):
            data = files.read(file, file, request.reading.limits.file_bytes)
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
        f"{resource.origin.file if resource.origin else ''}: {resource.ref}: {words}"
        for resource, words in plan.done
    )
    return "".join(f"{printable(line)}\n" for line in lines)
