"""What kustomization files refer to, known without running kustomize (its api/types/kustomization.go)."""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import files
from render.manifests.reader import Document, Limits, read
from render.model.fieldpath import FieldPath
from render.model.tree import Tree

FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_RESOURCES = ("resources", "bases", "components")
_PLUGINS = ("generators", "transformers", "validators")
_FILE_LISTS = ("crds", "configurations", "patchesStrategicMerge", *_PLUGINS)
_IN_ITEMS = {
    **dict.fromkeys(("patches", "patchesJson6902", "replacements", "openapi"), ("path",)),
    **dict.fromkeys(("configMapGenerator", "secretGenerator"), ("files", "envs", "env")),
}
# What kustomize takes for a URL or a git repository, whatever lies on disk under that name: its
# api/internal/git/repospec.go and api/internal/loader/fileloader.go.
_REMOTE = r"(?i)(git::)?(https?:|[a-z][a-z0-9+.-]*://|[a-z][a-z0-9-]*@[^/:]*[/:]|github\.com[/:])"
_URL = r"(?i)([^=]*=)?https?:"
_LOADED = frozenset({"path", "paths", "files", "envs", "env"})


class Reference(NamedTuple):
    """One entry of a kustomization: *path* is where it stands; resources may be folders, others are never resources."""

    path: FieldPath
    entry: str
    is_resource: bool


class Reach:
    """All that the build of one folder reads from disk, and why it should not be started.

    *kustomizations*, *resources* and *others* are file names, in the order of reading; *folders* the resolved folders
    of the kustomizations; *prefixes* and *suffixes* all that may be added to a name.
    """

    __slots__ = (
        "diagnostics", "folders", "kustomizations", "others", "prefixes", "resources", "suffixes",
    )  # fmt: skip

    def __init__(self) -> None:
        self.kustomizations: list[str] = []
        self.resources: list[str] = []
        self.others: list[str] = []
        self.folders: set[str] = set()
        self.prefixes: list[str] = []
        self.suffixes: list[str] = []
        self.diagnostics: list[Diagnostic] = []


def find(folder: str) -> str | None:
    """The kustomization file of *folder*, if it has one."""
    paths = (os.path.join(folder, name) if folder != "." else name for name in FILES)
    return next((path for path in paths if os.path.lexists(path)), None)


def is_component(body: Tree) -> bool:
    """Whether this kustomization only makes sense inside another one."""
    return body.get("kind") == "Component"


def is_remote(entry: str) -> bool:
    """Whether kustomize would fetch *entry* from the network or a git repository."""
    return re.match(_REMOTE, entry) is not None


def references(body: Tree) -> Iterator[Reference]:
    """Every file, folder and URL that the kustomization *body* names; manifests written inline are left out."""
    for key in _RESOURCES:
        for path, entry in _texts(body, key):
            yield Reference(path, entry, is_resource=True)
    for path, entry in _no_resources(body):
        yield Reference(path, entry, is_resource=False)


def _no_resources(body: Tree) -> Iterator[tuple[FieldPath, str]]:
    for key in _FILE_LISTS:
        for path, entry in _texts(body, key):
            if not _is_inline(entry):
                yield path, entry
    for key, fields in _IN_ITEMS.items():
        for path, item in _items(body, key):
            for name in fields:
                for below, entry in _texts(item, name):
                    yield (*path, *below), _file_of(entry) if name == "files" else entry


def _file_of(source: str) -> str:
    """The file in ``key=file``, the way a generator may give its files a key."""
    return source.partition("=")[2] or source


def _items(body: Any, key: str) -> Iterator[tuple[FieldPath, Any]]:
    """The entries under *key*: of a list each, of anything else the value itself."""
    value = body.get(key) if isinstance(body, dict) else None
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield (key, index), item
    elif value is not None:
        yield (key,), value


def _texts(body: Any, key: str) -> Iterator[tuple[FieldPath, str]]:
    for path, item in _items(body, key):
        if isinstance(item, str) and item and "\0" not in item:  # no file has such a name
            yield path, item


def _is_inline(entry: str) -> bool:
    return "\n" in entry or entry.startswith("{")


def load(file: str, limits: Limits) -> tuple[list[Document], list[Diagnostic], bytes]:
    """The documents of the kustomization *file*, what is wrong with it, and its bytes."""
    data = files.read(file, file, limits.file_bytes)
    if isinstance(data, Diagnostic):
        return [], [data], b""
    found = read(data, file, limits)
    return found.documents, [d for d in found.diagnostics if d.is_error], data


class Survey(NamedTuple):
    """How kustomizations hang together.

    *tops*: the folders that no other one refers to; *patches*: the files that are no resources, by resolved name, with
    the kustomization that says so.
    """

    tops: list[str]
    patches: dict[str, str]


def survey(folders: Sequence[str], limits: Limits) -> Survey:
    """Who refers to whom among the kustomizations of *folders*. A component is never a top.

    Kustomizations that cannot be read refer to nothing here; building them reports why. Where each one is referred to
    (a cycle), all are tops, so that kustomize can say so.
    """
    referred: set[str] = set()
    patches: dict[str, str] = {}
    candidates: list[str] = []
    for folder in folders:
        file = find(folder)
        documents = load(file, limits)[0] if file else []
        if not any(is_component(one.body) for one in documents):
            candidates.append(folder)
        for reference in (one for document in documents for one in references(document.body)):
            target = os.path.join(folder, reference.entry)
            if os.path.isdir(target):
                referred.add(os.path.realpath(target))
            elif not reference.is_resource:
                patches.setdefault(os.path.realpath(target), file or folder)
    tops = [folder for folder in candidates if os.path.realpath(folder) not in referred]
    return Survey(tops or candidates, patches)


def user_of(real: str, limits: Limits) -> str:
    """The kustomization that names the resolved file *real* as something other than a resource, else ``""``.

    kustomize reads files at or below its own folder only, so it stands in a folder above *real*, and in the same git
    repository.
    """
    folder = os.path.dirname(real)
    while True:
        file = find(folder)
        if file and real in survey([folder], limits).patches:
            return os.path.relpath(file)
        if os.path.lexists(os.path.join(folder, ".git")) or folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)


def reach(folder: str, limits: Limits, *, allow_remote: bool) -> Reach:
    """Follow the kustomization of *folder* through bases and components, reading nothing but kustomizations.

    (And the configuration of generators and transformers, which may hold URLs too.) A remote entry gives an error
    unless *allow_remote*; a kustomization that we cannot read gives one as well, since nobody can say what it names.
    """
    found = Reach()
    pending = [folder]
    while pending:
        folder = pending.pop(0)
        real = os.path.realpath(folder)
        file = find(folder)
        if file is None or real in found.folders:
            continue
        found.folders.add(real)
        found.kustomizations.append(file)
        documents, diagnostics, data = load(file, limits)
        found.diagnostics.extend(diagnostics)
        for document in documents:
            _note_affixes(found, document.body)
            for reference in references(document.body):
                if is_remote(reference.entry):
                    if not allow_remote:
                        found.diagnostics.append(_refusal(file, data, document, reference))
                    continue
                target = os.path.normpath(os.path.join(folder, reference.entry))
                if os.path.isdir(target):
                    pending.append(target)
                else:
                    (found.resources if reference.is_resource else found.others).append(target)
            if not allow_remote:
                found.diagnostics.extend(_remote_plugins(file, folder, data, document, limits))
    return found


def _note_affixes(found: Reach, body: Tree) -> None:
    for key, known in (("namePrefix", found.prefixes), ("nameSuffix", found.suffixes)):
        for _, text in _texts(body, key):
            known.append(text)


def _refusal(file: str, data: bytes, document: Document, reference: Reference) -> Diagnostic:
    from render.manifests import positions

    line, column = positions.locate(data, document.origin, reference.path)
    return codes.REMOTE_BASE.at(
        Location(file=file, line=line, column=column),
        f"{file} refers to {reference.entry}, which kustomize would fetch from elsewhere",
        help="keep a copy in the repository, or allow the network with --allow-remote",
    )


def _remote_plugins(
    file: str, folder: str, data: bytes, document: Document, limits: Limits
) -> Iterator[Diagnostic]:
    """Refusals for generators and transformers (kustomize's own run without any flag) that load a URL."""
    for key in _PLUGINS:
        for path, entry in _texts(document.body, key):
            if _is_inline(entry):
                content: bytes | Diagnostic = entry.encode()
            elif is_remote(entry):
                continue  # refused where all references are
            else:
                target = os.path.join(folder, entry)
                content = files.read(target, target, limits.file_bytes)
            if isinstance(content, bytes):
                for one in read(content, file, limits).documents:
                    for text in _loaded(one.body):
                        if re.match(_URL, text):
                            yield _refusal(
                                file, data, document, Reference(path, text, is_resource=False)
                            )


def _loaded(value: Any, key: str = "") -> Iterator[str]:
    """The strings below *value* that stand where kustomize's own plugins name the files they load."""
    if isinstance(value, str) and key in _LOADED:
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _loaded(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _loaded(item, key)
