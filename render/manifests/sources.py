"""Paths to documents: folders, files, stdin and kustomizations, with what may be reported about them."""

import os
from collections.abc import Sequence
from typing import BinaryIO, Literal, NamedTuple

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import discover, files, kustomization, kustomize, objects, origins
from render.manifests.contents import Contents
from render.manifests.discover import skipped, tidy
from render.manifests.reader import Document, Limits, read

STDIN = "<stdin>"
LOCK = kustomize.LOCK


class Loaded:
    """What was read.

    *documents* in the order of the paths, below each by file name; *data*: what positions are looked up in; *unbuilt*:
    of the *diagnostics*, why a kustomization was not built. *whole*: files are not read again, see `Contents`.
    """

    __slots__ = ("data", "diagnostics", "documents", "unbuilt")

    def __init__(self, *, whole: bool = False) -> None:
        self.documents: list[Document] = []
        self.diagnostics: list[Diagnostic] = []
        self.unbuilt: list[Diagnostic] = []
        self.data = Contents(whole=whole)

    @property
    def files(self) -> list[str]:
        """Every file that had a part in it, those that kustomize reads included, sorted."""
        return self.data.files()


class Reading(NamedTuple):
    """How input is read.

    *stdin* is what ``-`` means; *kustomize*: ``auto`` finds it on the PATH, ``never`` reads the plain files, anything
    else names the binary; *allow_remote*: whether it may use the network.
    """

    limits: Limits
    stdin: BinaryIO | None = None
    kustomize: str = "auto"
    allow_remote: bool = False
    before: int = 0


def load(
    paths: Sequence[str],
    reading: Reading,
    *,
    roots: Literal["one", "all"] = "one",
    whole: bool = False,
    watch: list[Loaded] | None = None,
) -> Loaded:
    """Read *paths* into one set of documents: what ``build`` renders.

    A folder with a kustomization is built; of another folder the YAML and JSON files below it are read, and the one
    kustomization that may be there is built; several are an error unless *roots* is ``all``. *whole*: see `Loaded`.
    What is read is noted in *watch* before it is complete. Nothing is raised: whatever is wrong is a diagnostic.
    """
    loader = _Loader(reading)
    loader.allow(paths)
    into = _watched(watch, Loaded(whole=whole))
    for path in paths:
        if loader.is_root(path):
            loader.build(tidy(path), into)
            continue
        tops = loader.plain(path, into)
        if len(tops) > 1 and roots == "one":
            into.diagnostics.append(_several(path, tops))
            continue
        for top in tops:
            loader.build(top, into)
    return into


def load_all(
    paths: Sequence[str],
    reading: Reading,
    *,
    anything: bool = False,
    watch: list[Loaded] | None = None,
) -> list[Loaded]:
    """Read *paths* as ``check`` does: each kustomization that no other refers to by itself, loose files together.

    *anything*: files among *paths* need not hold manifests, as little as those that are found in a folder; *watch*: as
    for `load`.
    """
    loader = _Loader(reading)
    loader.anything = anything
    loader.allow(paths)
    loose = _watched(watch, Loaded())
    built: list[Loaded] = []
    for path in paths:
        for top in loader.plain(path, loose):
            built.append(_watched(watch, Loaded()))
            loader.build(top, built[-1])
    return [loose, *built] if not built or loose.documents or loose.diagnostics else built


def _watched(watch: list[Loaded] | None, loaded: Loaded) -> Loaded:
    if watch is not None:
        watch.append(loaded)
    return loaded


def roots(path: str, limits: Limits) -> list[str]:
    """The folders at and below *path* with a kustomization that no other one there refers to; sorted."""
    found = discover.walk(tidy(path), (os.path.realpath(path),), plain=False)
    return kustomization.survey(found.kustomizations, limits).tops


def patches(path: str, limits: Limits) -> list[str]:
    """The kustomizations at and below *path*, and the files that they use beside their resources; sorted."""
    folders = discover.walk(tidy(path), (os.path.realpath(path),), plain=False).kustomizations
    used = (os.path.relpath(real) for real in kustomization.survey(folders, limits).patches)
    return sorted({*filter(None, map(kustomization.find, folders)), *used})


def room(limits: Limits, before: int = 0) -> int:
    """How many bytes a stream may have after *before* bytes of other input: it counts as one file."""
    return max(0, min(limits.file_bytes, limits.total_bytes - before))


def excess(shown: str, size: int, limits: Limits, before: int = 0) -> Diagnostic | None:
    """Which limit *size* bytes of *shown* break, after *before* bytes of other input."""
    if size > limits.file_bytes:
        return files.too_large(shown, limits.file_bytes)
    if before + size > limits.total_bytes:
        limit = limits.total_bytes
        message = (
            f"the input is larger than the limit of {limit} bytes in total: stopped at {shown}"
        )
        return codes.LIMIT_EXCEEDED.at(
            Location(file=shown),
            message,
            help="if all of it is meant to be read, raise --max-total-bytes",
        )
    return None


def piped(stdin: BinaryIO | None, most: int) -> bytes | Diagnostic:
    """What *stdin* holds, cut off after *most* bytes and one, by which `excess` knows; or why it cannot be read."""
    if stdin is None:
        return codes.UNREADABLE.at(Location(file=STDIN), "there is no standard input to read")
    try:
        return stdin.read(most + 1)
    except OSError as error:
        return files.unreadable(STDIN, error)


def _several(path: str, tops: list[str]) -> Diagnostic:
    folder = tidy(path)
    return codes.SEVERAL_ROOTS.at(
        Location(file=folder),
        f"{folder} holds {len(tops)} kustomizations that nothing refers to: {', '.join(tops)}",
        help="build one of them at a time; check takes them all",
    )


class _Loader:
    """One run: how it reads, and what was read so far."""

    __slots__ = ("allowed", "anything", "limits", "reading", "seen", "total")

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.limits = reading.limits
        self.anything = False
        self.allowed: list[str] = []
        self.seen: set[str] = set()
        self.total = reading.before

    def allow(self, paths: Sequence[str]) -> None:
        """Links may lead to anything in *paths*."""
        self.allowed = [os.path.realpath(path) for path in paths if path != "-"]

    def is_root(self, path: str) -> bool:
        """Whether *path* is a folder for kustomize."""
        return (
            self.reading.kustomize != "never"
            and path != "-"
            and kustomization.find(path) is not None
        )

    def plain(self, path: str, into: Loaded) -> list[str]:
        """Read *path* except for what kustomizations own; answer the folders to build."""
        if path == "-":
            self._stream(into)
        elif os.path.isdir(path):
            return self._folder(tidy(path), into)
        else:
            self._named(tidy(path), into)
        return []

    def build(self, top: str, into: Loaded) -> None:
        """Run kustomize on the folder *top*, if nothing speaks against it."""
        if self._is_repeated(os.path.realpath(top)):
            return
        reach = kustomization.reach(top, self.limits, allow_remote=self.reading.allow_remote)
        for file in (*reach.kustomizations, *reach.resources, *reach.others):
            into.data.note(file, self.limits.file_bytes)
        output = reach.diagnostics or self._built(top)
        if isinstance(output, list):
            into.diagnostics.extend(output)
            into.unbuilt.extend(output)
            return
        shown = f"{top} (kustomize build)"
        if self._fits(shown, output, into):
            into.data.keep(shown, output)
            found = read(output, shown, self.limits)
            documents, diagnostics = objects.sift(found, output, shown, named=True)
            into.documents.extend(origins.trace(top, documents, reach, self.limits))
            into.diagnostics.extend(diagnostics)
        lock = tidy(os.path.join(top, LOCK))
        if os.path.isfile(lock):
            self._file(lock, into, named=True)

    def _built(self, top: str) -> bytes | list[Diagnostic]:
        """What kustomize makes of the folder *top*, or why nothing."""
        program = kustomize.binary(self.reading.kustomize, top)
        if isinstance(program, Diagnostic):
            return [program]
        most = room(self.limits, self.total)
        output = kustomize.build(top, program, most=most, allow_remote=self.reading.allow_remote)
        return [output] if isinstance(output, Diagnostic) else output

    def _folder(self, folder: str, into: Loaded) -> list[str]:
        plain = self.reading.kustomize == "never"
        found = discover.walk(folder, self.allowed, plain=plain)
        into.diagnostics.extend(found.diagnostics)
        tops, patches = kustomization.survey(found.kustomizations, self.limits)
        for file, real in found.files:
            if real in patches:
                into.diagnostics.append(skipped(file, f"no resource: {patches[real]} refers to it"))
            elif not self._is_repeated(real):
                self._file(file, into, named=False)
        return [] if plain else tops

    def _named(self, file: str, into: Loaded) -> None:
        real = os.path.realpath(file)
        if os.path.basename(file) in kustomization.FILES:
            into.diagnostics.append(skipped(file, "a kustomization: name its folder to build it"))
        elif owner := kustomization.user_of(real, self.limits):
            into.diagnostics.append(skipped(file, f"no resource: {owner} refers to it"))
        elif not self._is_repeated(real):
            self._file(file, into, named=not self.anything)

    def _file(self, file: str, into: Loaded, *, named: bool) -> None:
        data = files.read(file, file, self.limits.file_bytes)
        if isinstance(data, Diagnostic):
            into.diagnostics.append(data)
        elif self._fits(file, data, into):
            into.data.note(file, self.limits.file_bytes, data)
            self._take(data, file, into, named=named)

    def _stream(self, into: Loaded) -> None:
        if self._is_repeated("-"):
            return
        data = piped(self.reading.stdin, room(self.limits, self.total))
        if isinstance(data, Diagnostic):
            into.diagnostics.append(data)
        elif self._fits(STDIN, data, into):
            into.data.keep(STDIN, data)
            self._take(data, STDIN, into, named=True)

    def _take(self, data: bytes, shown: str, into: Loaded, *, named: bool) -> None:
        found = read(data, shown, self.limits)
        documents, diagnostics = objects.sift(found, data, shown, named=named)
        into.documents.extend(documents)
        into.diagnostics.extend(diagnostics)

    def _fits(self, shown: str, data: bytes, into: Loaded) -> bool:
        """Count *data* towards the total; the first one too much is reported, the rest is left unread."""
        before, self.total = self.total, self.total + len(data)
        fault = excess(shown, len(data), self.limits, before)
        if fault and before <= self.limits.total_bytes:
            into.diagnostics.append(fault)
        return fault is None

    def _is_repeated(self, real: str) -> bool:
        repeated = real in self.seen
        self.seen.add(real)
        return repeated
