"""Folders that are applied each by itself: the loose files of one are one input, and names count within it."""

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from render.manifests.documents import Apart, Documents
from render.manifests.kustomization import LOCK
from render.manifests.uses.destinations import namespace_of
from render.model.globs import Globs
from render.model.named_tuple import NamedTuple
from render.model.resource import CLUSTER_SCOPED, OWN, VM, ResourceRef, from_body, text_at
from render.system.files import real_path
from render.yaml.reader import Document

_Identity = tuple[str, ResourceRef]


def split(loose: Documents, named: Globs, namespace: str) -> list[Documents]:
    """*loose* in one part a root: the folders that *named* matches, else those with a lock or with the same names.

    Where two folders side by side hold an object of the same kind and name (in *namespace* where it names none), each
    folder beside them is a root too, as an ApplicationSet lays them out. What lies in no root stays together, first.
    """
    return parted(loose, of_files(loose, named, namespace))


def apart(loose: Documents, parts: Sequence[Documents], namespace: str) -> Apart | None:
    """Which *parts* of *loose* are roots since an object of one name stands in several, if that alone says so.

    What was taken out of the parts does not count. A VM is named before another object.
    """
    kept = {id(document) for part in parts for document in part.documents}
    documents = [document for document in loose.documents if id(document) in kept]
    folders = {document.origin.file: part.folder for part in parts for document in part.documents}
    locked = {os.path.dirname(file) for file in folders if os.path.basename(file) == LOCK}
    known = {use.folder for use in loose.destinations.values()} | locked
    alike = sorted(
        _identities(documents, namespace).items(), key=lambda pair: pair[0][1].kind != VM
    )
    for (_, ref), files in alike:
        roots = {folders[file] for file in files} - known - {loose.folder}
        if len(roots) > 1:
            return Apart(ref, tuple(sorted(roots)))
    return None


def of_files(loose: Documents, named: Globs, namespace: str) -> dict[str, str]:
    """The root of each file of *loose*, ``""`` where it lies in none; arguments as for `split`."""
    files = sorted({document.origin.file for document in loose.documents})
    if named.patterns:
        folders = {file: _named(file, named) for file in files}
    else:
        locked = [
            folder
            for file in files
            if os.path.basename(file) == LOCK
            # What stands beside the lock of the whole folder is in no root of its own, however that folder is named.
            and (folder := os.path.dirname(file)) not in ("", loose.folder)
        ]
        folders = {file: _around(file, locked) for file in files}
        rest = [file for file in files if not folders[file]]
        _detect(folders, _among(_identities(loose.documents, namespace), rest), rest)
        rest = [file for file in rest if not folders[file]]
        if not any(os.path.basename(file) == LOCK for file in rest):  # what has one stays together
            folders |= {
                file: loose.destinations[file].folder for file in rest if file in loose.destinations
            }
    return folders


def within(loose: Documents, roots: Iterable[str]) -> dict[str, str]:
    """The innermost of *roots* around each file of *loose*, ``""`` where it lies in none."""
    known = sorted(roots)
    return {
        document.origin.file: _around(document.origin.file, known) for document in loose.documents
    }


def parted(loose: Documents, folders: Mapping[str, str]) -> list[Documents]:
    """*loose* in one part for each of *folders*, by its files."""
    parts: dict[str, Documents] = {}
    for document in loose.documents:
        folder = folders[document.origin.file]
        _part(parts, folder, loose).documents.append(document)
    if len(parts) < 2:  # noqa: PLR2004 - one part is all of it
        loose.folder = next(iter(parts), "") or loose.folder
        loose.namespace = _namespace(loose, loose)
        return [loose]
    for diagnostic in loose.diagnostics:
        around = _around(diagnostic.location.file, parts)
        _part(parts, around, loose).diagnostics.append(diagnostic)
    for file in loose.data:
        loose.data.share(file, _part(parts, folders.get(file) or _around(file, parts), loose).data)
    for part in parts.values():
        part.namespace, part.users = _namespace(part, loose), loose.users
        part.destinations, part.plugins = loose.destinations, loose.plugins
    first, *others = (parts[folder] for folder in sorted(parts))
    first.passed, first.unseen, first.unopened = loose.passed, loose.unseen, loose.unopened
    first.revisions, first.namespaces = loose.revisions, loose.namespaces
    return [first, *others]


def _namespace(part: Documents, loose: Documents) -> str:
    return loose.namespace or namespace_of(part.documents, loose.destinations)


def _part(parts: dict[str, Documents], folder: str, loose: Documents) -> Documents:
    if folder not in parts:
        parts[folder] = Documents(folder=folder or loose.folder)
        parts[folder].data = loose.data.parted()
    return parts[folder]


def _around(file: str, folders: Iterable[str]) -> str:
    """The innermost of *folders* in which *file* lies, ``""`` where it lies in none."""
    known = [folder for folder in folders if folder and file.startswith(f"{folder}/")]
    return max(known, key=len, default="")


def _named(file: str, named: Globs) -> str:
    """The innermost folder around *file* that a pattern of *named* matches, ``""`` without one."""
    folder = os.path.dirname(file)
    while folder not in ("", "/"):
        if named.match_whole(real_path(folder)):
            return folder
        folder = os.path.dirname(folder)
    return ""


def _identities(documents: Iterable[Document], namespace: str) -> Mapping[_Identity, list[str]]:
    """The files of each object that stands in several, by what it is called."""
    named: dict[str, list[Document]] = {}
    for document in documents:
        named.setdefault(text_at(document.body.get("metadata"), "name"), []).append(document)
    folders: dict[_Identity, list[str]] = {}
    for name, alike in named.items():
        for document in alike if name and len(alike) > 1 else ():
            resource = from_body(document.body, 0)
            scope = "" if resource.kind in CLUSTER_SCOPED else resource.namespace or namespace
            if resource.group != OWN:
                identity = (resource.group, ResourceRef(resource.kind, scope, resource.name))
                folders.setdefault(identity, []).append(document.origin.file)
    return {identity: files for identity, files in folders.items() if len(files) > 1}


def _detect(
    folders: dict[str, str], same: Mapping[_Identity, Sequence[str]], files: Sequence[str]
) -> None:
    """Set for each of *files* the folder that is its root, as far as names that stand twice say so."""
    above = {_fork(group) for group in same.values()} - {None}
    if not above:
        return
    fork = min(
        (candidate for candidate in above if candidate is not None),
        key=lambda candidate: (len(candidate), candidate),
    )
    inside: dict[str, list[str]] = {}
    rest: list[str] = []
    for file in files:
        steps = file.split("/")
        if tuple(steps[: len(fork)]) == fork and len(steps) > len(fork) + 1:
            inside.setdefault("/".join(steps[: len(fork) + 1]), []).append(file)
        else:
            rest.append(file)
    for folder, members in inside.items():
        for file in members:
            folders[file] = folder
    for members in (*inside.values(), rest):
        if len(members) < len(files):
            _detect(folders, _among(same, members), members)


def _among(
    same: Mapping[_Identity, Sequence[str]], files: Sequence[str]
) -> dict[_Identity, list[str]]:
    """Of the objects that stand several times those that do so in *files*."""
    known = set(files)
    groups = {
        identity: [file for file in group if file in known] for identity, group in same.items()
    }
    return {identity: group for identity, group in groups.items() if len(group) > 1}


def _fork(files: Sequence[str]) -> tuple[str, ...] | None:
    """The steps to the folder below which *files* lie in different folders; None where they do not part so."""
    folders = sorted({tuple(file.split("/")[:-1]) for file in files})
    first, last = folders[0], folders[-1]  # what these share, all do
    common = tuple(
        part
        for part, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    )
    return common if first != last and common not in folders else None


class Distance(NamedTuple):
    """How far a folder is from another: steps up and down; the shown name decides where that is the same."""

    steps: int
    folder: str


def distance(folder: str, other: str) -> Distance:
    """How far the folder *other* is from *folder*."""
    path = os.path.relpath(other, folder)
    return Distance(0 if path == "." else path.count("/") + 1, other)
