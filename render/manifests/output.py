"""``-o FILE`` and ``-o DIR``: rendered documents into files."""

import collections
import contextlib
import errno
import os
from collections.abc import Iterable, Sequence

from render.diagnostics.diagnostic import Diagnostic
from render.model import resource
from render.model.tree import Tree
from render.system import writing
from render.system.signals import deferred
from render.yaml import writer

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def is_folder(target: str) -> bool:
    """Whether ``-o target`` means one file a resource: an existing folder, or a name that ends in a slash."""
    return target.endswith("/") or os.path.isdir(target)


def save(target: str, objects: Sequence[tuple[Tree, Tree | str]]) -> Diagnostic | None:
    """Write *objects*, pairs of the object and what is written for it (itself or its text), to *target*.

    All is written or nothing. Files of an earlier run that have no object any more stay. The answer is what the system
    refused.
    """
    try:
        if is_folder(target):
            _save_each(target, objects)
        else:
            writing.write_atomic(target, writer.write(content for _, content in objects))
    except OSError as error:
        return writing.unwritable(error, target)
    return None


def save_text(target: str, texts: Iterable[str | bytes]) -> Diagnostic | None:
    """Write *texts*, which make one file, to *target*; the answer is what the system refused."""
    try:
        if target.endswith(os.sep):  # a folder is meant, whether it is there or not
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        whole = b"".join(text if isinstance(text, bytes) else text.encode() for text in texts)
        writing.write_atomic(target, whole.decode())
    except OSError as error:
        return writing.unwritable(error, target)
    return None


def _save_each(folder: str, objects: Sequence[tuple[Tree, Tree | str]]) -> None:
    names = file_names([body for body, _ in objects])
    folders: list[str] = []
    try:
        for parent in sorted({folder, *(os.path.join(folder, os.path.dirname(n)) for n in names)}):
            _make(parent.rstrip("/"), folders)
        writing.write_all(
            (os.path.join(folder, name), writer.write([content]))
            for name, (_, content) in zip(names, objects, strict=True)
        )
    except BaseException:  # whoever stops us wants no empty folders either
        for parent in reversed(folders):
            with contextlib.suppress(OSError):  # holds a file that was already in its place
                os.rmdir(parent)
        raise


def _make(folder: str, folders: list[str]) -> None:
    """Create *folder* and its parents, noting in *folders* what did not exist."""
    if folder and not os.path.isdir(folder):
        _make(os.path.dirname(folder), folders)
        with deferred():
            os.mkdir(folder)
            folders.append(folder)


def file_names(bodies: Sequence[Tree]) -> list[str]:
    """A file name each, in order: ``NAMESPACE/KIND-NAME.yaml``, without a namespace ``KIND-NAME.yaml``.

    The kind is in lower case. Objects that would share a file (also where the file system ignores case) carry their
    API group, ``KIND.GROUP-NAME.yaml``, then a number. Nothing in an object leads out of the folder.
    """
    resources = [resource.from_body(body, index) for index, body in enumerate(bodies)]
    plain = [_name(manifest, manifest.kind.lower()) for manifest in resources]
    shared = _repeated(plain)
    names: list[str] = []
    taken: set[str] = set()
    counts: dict[
        str, int
    ] = {}  # the last number of each name: to begin at 1 again would take its square
    for manifest, name in zip(resources, plain, strict=True):
        if name.lower() in shared and manifest.group:
            name = _name(manifest, f"{manifest.kind.lower()}.{manifest.group}")  # noqa: PLW2901 - the better name
        unique, count = name, counts.get(name.lower(), 1)
        while unique.lower() in taken:
            count += 1
            unique = f"{name.removesuffix('.yaml')}-{count}.yaml"
        counts[name.lower()] = count
        taken.add(unique.lower())
        names.append(unique)
    return names


def folder_of(body: Tree, file: str) -> str:
    """The folder, with a slash, in which an object is saved as *file*; ``""`` where it would be called otherwise."""
    (name,) = file_names([body])
    return file.removesuffix(name) if file.endswith(f"/{name}") else ""


def _repeated(names: list[str]) -> set[str]:
    counts = collections.Counter(name.lower() for name in names)
    return {name for name, count in counts.items() if count > 1}


def _name(manifest: resource.Resource, kind: str) -> str:
    name = manifest.name or resource.text_at(manifest.body.get("metadata"), "generateName")
    file = f"{_quote(kind)}-{_quote(name)}.yaml"
    return f"{_quote(manifest.namespace)}/{file}" if manifest.namespace else file


def _quote(part: str) -> str:
    """*part* as a piece of a file name: what names of Kubernetes rarely hold becomes ``%XX``, a leading dot too."""
    quoted = "".join(
        c if c in _PLAIN else "".join(f"%{byte:02X}" for byte in c.encode()) for c in part
    )
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted
