"""``virt-render migrate``: files that say the same in today's words, written only if no VM becomes another."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends.exits import Exit, status
from render.frontends.options import Request
from render.frontends.run import STDERR, STDOUT, emit, tell
from render.manifests import files, reader, rewrite, sources
from render.manifests.sources import Loaded
from render.model import edits as edited
from render.model.edits import Edit
from render.model.fieldpath import FieldPath
from render.model.resource import Resource, from_body
from render.pipeline import migrating
from render.pipeline.migrating import Migration
from render.report.findings import find, merge
from render.report.places import Sources

_Edits = dict[str, dict[int, list[tuple[FieldPath, Edit]]]]


class Change(NamedTuple):
    """A file with its text before and after."""

    file: str
    before: str
    after: str


def migrate(asked: Request, *, diff: bool, check: bool) -> Exit:
    """Rewrite the files below the paths of *asked*; *diff* prints instead, *check* tells whether there is a need.

    What is in a kustomization is read file by file, since files are what is rewritten.
    """
    loaded = sources.load(asked.paths or (".",), stdin=None, limits=asked.limits, kustomize="never")
    if any(found.is_error for found in loaded.diagnostics):
        return _tell(loaded, loaded.diagnostics, asked)
    resources = [from_body(d.body, i, d.origin) for i, d in enumerate(loaded.documents)]
    json = {
        file
        for file in {document.origin.file for document in loaded.documents}
        if not rewrite.is_yaml(loaded.data[file].decode())
    }
    fixed = frozenset(i for i, d in enumerate(loaded.documents) if d.origin.file in json)
    plan = migrating.migrate(resources, asked.settings, fixed, _patches(asked))
    changes = list(_changes(loaded, resources, plan, asked))
    refused = [change for change in changes if isinstance(change, Diagnostic)]
    outcome = _tell(loaded, [*loaded.diagnostics, *plan.diagnostics, *refused], asked)
    if outcome is not Exit.OK:
        return outcome
    ready = [change for change in changes if isinstance(change, Change)]
    if diff:
        emit("".join(map(_diff, ready)), STDOUT)
    else:
        emit(_summary(plan), STDOUT)
    if check:
        return Exit.FINDINGS if ready else Exit.OK
    return Exit.OK if diff else _write(loaded, ready, asked)


def _patches(asked: Request) -> dict[str, str]:
    """The kustomizations below the paths, and what they use beside resources: text by file."""
    found: dict[str, str] = {}
    for path in asked.paths or (".",):
        for file in sources.patches(path, asked.limits):
            data = files.read(file, file, asked.limits.file_bytes)
            if isinstance(data, bytes):
                found[file] = data.decode("utf-8", "replace")
    return found


def _tell(loaded: Loaded, diagnostics: list[Diagnostic], asked: Request) -> Exit:
    if diagnostics:
        origins = [document.origin for document in loaded.documents]
        tell(merge(find(diagnostics, Sources(origins, loaded.data))), asked, to=STDERR)
    return status(diagnostics)


def _changes(
    loaded: Loaded, resources: list[Resource], plan: Migration, asked: Request
) -> Iterator[Change | Diagnostic]:
    """The files that change; one whose new text would not say what is meant is refused."""
    by_file: _Edits = {}
    for index, changes in sorted(plan.edits.items()):
        origin = loaded.documents[index].origin
        route = tuple(step for item in origin.item for step in ("items", item))
        place = by_file.setdefault(origin.file, {}).setdefault(origin.document, [])
        place += ((route, change) for change in changes)
    for file, edits in by_file.items():
        before = loaded.data[file].decode()
        after = rewrite.rewrite(before, edits)
        meant = [
            edited.apply(one.body, plan.edits.get(one.index, ()))
            for one in resources
            if one.origin is not None and one.origin.file == file
        ]
        said = [
            document.body for document in reader.read(after.encode(), file, asked.limits).documents
        ]
        if said == meant:
            yield Change(file, before, after)
        else:
            yield codes.UNWRITABLE.at(
                Location(file=file),
                f"{file} cannot be rewritten without changing something else in it",
                help="anchors, aliases and merge keys stand in the way: write them out",
            )


def _summary(plan: Migration) -> str:
    return "".join(
        f"{one.origin.file if one.origin else ''}: {one.ref}: {words}\n" for one, words in plan.done
    )


def _diff(change: Change) -> str:
    import difflib

    lines = difflib.unified_diff(
        change.before.splitlines(keepends=True),
        change.after.splitlines(keepends=True),
        f"a/{change.file}",
        f"b/{change.file}",
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _write(loaded: Loaded, changes: list[Change], asked: Request) -> Exit:
    """All files or none."""
    try:
        files.write_all([(change.file, change.after) for change in changes], sync=True)
    except OSError as error:
        name = os.fsdecode(error.filename or "the files")
        fault = codes.UNWRITABLE.at(Location(), f"cannot write {name}: {files.reason(error)}")
        return _tell(loaded, [fault], asked)
    return Exit.OK
