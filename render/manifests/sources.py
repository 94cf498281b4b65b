"""Paths to documents: folders, files, stdin and kustomizations, with what may be reported about them."""

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import discover, kustomization, objects, relevance
from render.manifests.buffers import NO_BUFFERS, Buffers
from render.manifests.contents import Contents
from render.manifests.discover import HelmRelease, boundary, inside, skipped, tidy
from render.manifests.relevance import Scope, Texts
from render.model.counting import counted
from render.model.fieldpath import FieldPath
from render.system import files
from render.yaml.budget import Budget, Limits
from render.yaml.reader import Document, Read, read

if TYPE_CHECKING:
    from render.manifests.charts.templating import FilledChart
    from render.manifests.patches import Position
    from render.system.processes import Steps

STDIN = "<stdin>"
Blame = Callable[[int, FieldPath], "Position | None"]
"""What tells where the field at a path of the object at an index was written, None where that is not known."""
LOCK = kustomization.LOCK


def _is_referent(document: Document) -> bool:
    return relevance.is_referent(document.body)


def _is_limiting(document: Document) -> bool:
    return relevance.limits(document.body)


class Documents:
    """What was read.

    *documents* in the order of the paths, below each by file name; *data*: what positions are looked up in; *unbuilt*:
    of the *diagnostics*, why a kustomization was not built. *folder* is where all of it stands, and *is_built* whether
    kustomize did it, from the resolved folders *bases*.
    *blamed* know who else wrote fields: patches, and the charts that were *filled* in. *borrowed*: of what stands
    beside the documents, whose it is, and its index there. *passed* are the files that were looked at and hold nothing
    that counts, *referents* the positions of objects to which VMs refer, *locked* the machines of those inputs with
    a lock, by its file. *unseen* counts what may hold VMs, or decide them, and is not looked into. *whole*: files are
    not read again, see `Contents`.
    """

    __slots__ = (
        "bases", "blamed", "borrowed", "data", "diagnostics", "documents", "filled", "folder", "is_built",
        "locked", "passed", "referents", "unbuilt", "unseen",
    )  # fmt: skip

    def __init__(self, *, folder: str = ".", whole: bool = False) -> None:
        self.folder = folder
        self.is_built = False
        self.documents: list[Document] = []
        self.diagnostics: list[Diagnostic] = []
        self.unbuilt: list[Diagnostic] = []
        self.bases: frozenset[str] = frozenset()
        self.blamed: list[Blame] = []
        self.filled: list[FilledChart] = []
        self.borrowed: dict[int, tuple[Documents, int]] = {}
        self.passed: list[str] = []
        self.referents: dict[tuple[str, ...], int] = {}
        self.locked: Mapping[str, frozenset[str]] = MappingProxyType({})
        self.unseen: Counter[str] = Counter()
        self.data = Contents(whole=whole)

    def add(self, documents: Iterable[Document]) -> None:
        """Keep *documents*. Of objects to which VMs refer, or that limit them, the first of a name stands for all.

        They may belong to different clusters: then nobody knows what the one holds that is meant.
        """
        for document in documents:
            is_shared = _is_referent(document) or _is_limiting(document)
            identity = relevance.identity(document.body) if is_shared else None
            first = self.referents.get(identity) if identity else None
            if first is not None:
                known = self.documents[first]
                self.documents[first] = known._replace(body=relevance.named(known.body), text=None)
                continue
            if identity:
                self.referents[identity] = len(self.documents)
            self.documents.append(document)

    def blame(self, index: int, path: FieldPath) -> "Position | None":
        """Who else wrote the field at *path* of the object at *index*, None if nobody is known to have."""
        if index in self.borrowed:
            other, there = self.borrowed[index]
            position = other.blame(there, path)
            if position is not None:
                other.data.share(position[0], self.data)
            return position
        return next((position for one in self.blamed if (position := one(index, path))), None)

    def values(self, index: int, path: FieldPath) -> "list[Position]":
        """Where the value stands with which a chart filled in that field; without lines: the files where it may."""
        if index in self.borrowed:
            other, there = self.borrowed[index]
            return other.values(there, path)
        return [position for one in self.filled for position in one.values(index, path)]

    @property
    def is_one_root(self) -> bool:
        """Whether kustomize or helm made all of it, so that it is one root whatever files it comes from."""
        return self.is_built or bool(self.filled)

    @property
    def files(self) -> list[str]:
        """Every file that had a part in it, those that kustomize reads included, sorted."""
        return self.data.files()


class Reading(NamedTuple):
    """How input is read.

    *stdin* is what ``-`` means; *kustomize*: ``auto`` finds it on the PATH, ``never`` reads the plain files, anything
    else names the binary; *allow_remote*: whether it may use the network; *is_box_required*: whether
    either is started where a wall of the box around it is missing; *scope*: what of a repository counts, None
    for all that is there; *helm* is the same for charts, *chart* what they are installed as; *lock*: the revision lock
    that is used for all of it, if one is. *known*: where another input has many of the same texts, what those in which
    nothing is wrong hold, within which limits; each file adds its own. *jobs*: how many builds run at once, 0 for as
    many as there are processors for us. *buffers* win over the disk.
    """

    limits: Limits
    stdin: BinaryIO | None = None
    kustomize: str = "auto"
    allow_remote: bool = False
    is_box_required: bool = False
    before: int = 0
    scope: Scope | None = None
    helm: str = "never"
    chart: HelmRelease = HelmRelease()
    lock: str = ""
    known: dict[tuple[bytes, Limits], Read] | None = None
    jobs: int = 1
    buffers: Buffers = NO_BUFFERS


def load(
    paths: Sequence[str],
    reading: Reading,
    *,
    roots: Literal["one", "all"] = "one",
    whole: bool = False,
    watch: list[Documents] | None = None,
) -> Documents:
    """Read *paths* into one set of documents: what ``build`` renders.

    A folder with a kustomization is built; of another folder the YAML and JSON files below it are read, and the one
    kustomization that may be there is built, or, where there is nothing else, the one chart; several are an error
    unless *roots* is ``all``. *whole*: see `Documents`.
    What is read is noted in *watch* before it is complete. Nothing is raised: whatever is wrong is a diagnostic.
    """
    loader = _Loader(reading)
    loader.allow(paths)
    into = _watched(watch, Documents(folder=_folder_of(paths), whole=whole))
    for path in paths:
        if loader.is_root(path):
            loader.build(tidy(path), into)
            continue
        if loader.is_chart(path):
            loader.fill(tidy(path), into)
            continue
        tops = loader.plain(path, into)
        if len(tops) > 1 and roots == "one":
            into.diagnostics.append(_several(path, tops, "kustomizations that nothing refers to"))
            continue
        for top in tops:
            loader.build(top, into)
        if not into.documents and not tops:
            loader.fill_only(path, into, roots)
    return into


def load_all(
    paths: Sequence[str],
    reading: Reading,
    *,
    anything: bool = False,
    whole: bool = False,
    watch: list[Documents] | None = None,
) -> list[Documents]:
    """Read *paths* as ``check`` does: each kustomization that no other refers to by itself, loose files together.

    *anything*: files among *paths* need not hold manifests, as little as those that are found in a folder; *whole* and
    *watch*: as for `load`.
    """
    loader = _Loader(reading)
    loader.anything = anything
    loader.allow(paths)
    loose = _watched(watch, Documents(folder=_folder_of(paths), whole=whole))
    built: list[Documents] = []
    for path in paths:
        if loader.is_chart(path):
            built.append(_watched(watch, Documents(folder=tidy(path), whole=whole)))
            loader.fill(tidy(path), built[-1])
            continue
        tops = loader.plain(path, loose)
        empty = (Documents(folder=folder, whole=whole) for folder in (*tops, *loader.charts))
        tried = [_watched(watch, one) for one in empty]
        for one in loader.made(tops, tried):
            is_chart = one.folder not in tops
            if is_chart and not (one.documents or one.unbuilt):
                loose.unseen.update(one.unseen)
                loose.diagnostics += one.diagnostics
            elif is_chart or one.folder == tidy(path):
                built.append(one)
            elif loader.is_of_elsewhere(one):
                loose.unseen["kustomization of a remote base without VMs"] += 1
                loose.diagnostics.append(skipped(one.folder, one.unbuilt[0].message))
            elif not loader.is_for_helm(one):
                built.append(one)
            else:
                loose.unseen["helmCharts kustomization"] += 1
                why = "kustomize would have to run helm for it"
                loose.diagnostics.append(skipped(one.folder, why))
    return [loose, *built] if not built or loose.documents or loose.diagnostics else built


def _folder_of(paths: Sequence[str]) -> str:
    """The folder that *paths* are, if they are one."""
    return tidy(paths[0]) if len(paths) == 1 and os.path.isdir(paths[0]) else "."


def _watched(watch: list[Documents] | None, loaded: Documents) -> Documents:
    if watch is not None:
        watch.append(loaded)
    return loaded


def patch_files(path: str, limits: Limits) -> list[str]:
    """The kustomizations at and below *path*, and the files that they use beside their resources; sorted."""
    folders = discover.walk(tidy(path), (os.path.realpath(path),), plain=False).kustomizations
    used = (os.path.relpath(real) for real in kustomization.survey(folders, limits).patches)
    return sorted({*filter(None, map(kustomization.find, folders)), *used})


def locks(path: str, limits: Limits) -> list[str]:
    """The locks below the folder *path* that have git's conflict markers, sorted."""
    discovered = discover.walk(path, (os.path.realpath(path),), plain=True)
    names = (file for file, _ in discovered.files if os.path.basename(file) == LOCK)
    texts = ((name, files.read(name, name, limits.file_bytes)) for name in names)
    return [
        name for name, data in texts if isinstance(data, bytes) and b"\n<<<<<<< " in b"\n" + data
    ]


def leads_out(file: str) -> bool:
    """Whether *file*, which a repository brought along, is a link to the outside of it (without one: of its folder)."""
    folder = os.path.realpath(os.path.dirname(file))
    return not inside(os.path.realpath(file), (boundary(folder) or folder,))


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


def _several(path: str, tops: list[str], what: str) -> Diagnostic:
    folder = tidy(path)
    return codes.SEVERAL_ROOTS.at(
        Location(file=folder),
        f"{folder} holds {len(tops)} {what}: {', '.join(tops)}",
        help="build one of them at a time; check takes them all",
    )


class _Omitted:
    """What does not count below a resolved folder: what git ignores, other repositories, and what *scope* excludes."""

    __slots__ = ("_ignored", "_scope")

    def __init__(self, top: str, scope: Scope) -> None:
        from render.system import git

        self._scope = scope
        self._ignored: frozenset[str] = frozenset()
        with contextlib.suppress(git.GitError):  # not installed, or not for us to ask
            if files.repository(top):
                self._ignored = git.ignored(top)

    def path(self, real: str) -> str:
        """Why the file or folder *real* does not count."""
        if real in self._ignored:
            return "git ignores it"
        pattern = self._scope.exclude.match(real)
        return f"excluded by {pattern}" if pattern else ""

    def repository(self, real: str) -> str:
        """Why the repository in the folder *real* does not count: it is no submodule of the one around it."""
        from render.system import git

        with contextlib.suppress(git.GitError):
            if not git.is_submodule(real):
                return "another repository"
        return ""


def _printed_by_helm(folder: str) -> str:
    """What findings call the output of helm for the chart in *folder*."""
    return f"{folder} (helm template)"


_ReadOutput = Callable[[], None]
"""Reads what a program has printed."""


def _read_nothing() -> None:
    """There is no output to read."""


class _Loader:
    """One run: how it reads, and what was read so far."""

    __slots__ = (
        "allowed", "anything", "beside", "budget", "charts", "kustomizations", "limits", "reading", "scope", "seen",
        "texts", "total",
    )  # fmt: skip

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.limits = reading.limits
        self.scope = reading.scope
        self.texts = Texts(reading.limits)
        self.budget = Budget(reading.limits.alias_nodes)
        self.anything = False
        self.beside = 1
        self.kustomizations: kustomization.Known = {}
        self.allowed: list[str] = []
        self.charts: list[str] = []
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

    def is_chart(self, path: str) -> bool:
        """Whether *path* is a folder for helm."""
        is_asked = self.reading.helm != "never" and path != "-"
        return is_asked and not self.is_root(path) and discover.is_chart(path)

    def plain(self, path: str, into: Documents) -> list[str]:
        """Read *path* except for what kustomizations own; answer the folders to build."""
        self.charts = []
        if path == "-":
            self._stream(into)
        elif os.path.isdir(path):
            return self._folder(tidy(path), into)
        else:
            self._named(tidy(path), into)
        return []

    def made(self, tops: Sequence[str], empty: Sequence[Documents]) -> Iterator[Documents]:
        """What kustomize makes of each of *tops*, and helm of the charts, read into *empty*, one for each, in turn.

        The programs run side by side; what they print is read in order.
        """
        if not empty:
            return
        from render.system import processes, processors

        jobs = min(self.reading.jobs or processors.available(), len(empty))
        self.beside = jobs
        works = [
            self.trying(one.folder, one) if number >= len(tops) else self.building(one.folder, one)
            for number, one in enumerate(empty)
        ]
        with contextlib.closing(processes.finish_all(works, jobs)) as readings:
            for one, read_output in zip(empty, readings, strict=True):
                read_output()
                yield one
        self.beside = 1

    def build(self, top: str, into: Documents) -> None:
        """Read into *into* what kustomize makes of the folder *top*, if nothing speaks against it."""
        from render.system import processes

        processes.finish(self.building(top, into))()

    def building(self, top: str, into: Documents) -> "Steps[_ReadOutput]":
        """Run kustomize on the folder *top*; the answer reads what it printed."""
        if self._is_repeated(os.path.realpath(top)):
            return _read_nothing
        if not into.documents:
            into.folder, into.is_built = top, True
        reach = kustomization.reach(
            top,
            self.limits,
            allow_remote=self.reading.allow_remote,
            bounds=boundary(os.path.realpath(top)),
            known=self.kustomizations,
        )
        into.bases = frozenset(reach.folders)
        for file in (*reach.kustomizations, *reach.resources, *reach.others):
            into.data.add_file(file, self.limits.file_bytes)
        output = reach.diagnostics or (yield from self._built(top, reach))
        return lambda: self._read_built(top, reach, output, into)

    def _read_built(
        self,
        top: str,
        reach: kustomization.Reach,
        output: bytes | list[Diagnostic],
        into: Documents,
    ) -> None:
        if isinstance(output, list):
            into.diagnostics.extend(output)
            into.unbuilt.extend(output)
            return
        output = self._cut(output)
        shown = f"{top} (kustomize build)"
        if self._fits(shown, output, into):
            from render.manifests import origins, patches

            documents = self._printed(shown, output, into)
            into.documents.extend(origins.trace(top, documents, reach, self.limits))
            into.blamed.append(patches.blame(into.documents, shown, reach, self.limits))
        self._lock_of(top, into)

    def _cut(self, output: bytes) -> bytes:
        """*output* as long as a program would have printed it that began only now."""
        return output[: room(self.limits, self.total) + 1]

    def is_for_helm(self, tried: Documents) -> bool:
        """Whether the kustomization *tried* is one that others build, with helm, and that this is no error."""
        from render.manifests import kustomize

        lenient = self.scope is not None and self.scope.lenient
        return lenient and any(map(kustomize.wants_helm, tried.unbuilt))

    def is_of_elsewhere(self, tried: Documents) -> bool:
        """Whether the kustomization *tried* only wants for a remote base, and no file of its own has a VM."""
        lenient = self.scope is not None and self.scope.lenient
        is_remote = {one.code for one in tried.unbuilt} == {codes.REMOTE_BASE.number}
        return lenient and is_remote and not self.texts.any_of_machines(tried.data.files())

    def _lock_of(self, folder: str, into: Documents) -> None:
        """Read the lock in *folder*, where the one of what was made from that folder is."""
        lock = tidy(os.path.join(folder, LOCK))
        if os.path.isfile(lock) or lock in self.reading.buffers:
            if leads_out(lock):
                into.diagnostics.append(kustomization.outside(lock))
            else:
                self._file(lock, into, named=True)

    def _printed(self, shown: str, output: bytes, into: Documents) -> list[Document]:
        """Those documents of a program's *output* that count; *into* keeps it, and what is wrong with it."""
        into.data.add_stream(shown, output)
        contents = read(output, shown, self.limits, self.budget)
        documents, diagnostics = objects.sift(contents, output, shown, named=True)
        if self.scope is not None:
            diagnostics, _ = relevance.of_kubevirt(diagnostics, output)
        into.diagnostics.extend(diagnostics)
        return self._counting(documents)

    def fill(self, folder: str, into: Documents) -> None:
        """Read into *into* what helm makes of the chart in *folder*, if nothing speaks against it."""
        from render.system import processes

        processes.finish(self.filling(folder, into))()

    def filling(self, folder: str, into: Documents) -> "Steps[_ReadOutput]":
        """Run helm on the chart in *folder*; the answer reads what it printed."""
        if self._is_repeated(os.path.realpath(folder)):
            return _read_nothing
        output = yield from self._filled(folder)
        return lambda: self._read_filled(folder, output, into)

    def _read_filled(self, folder: str, output: bytes | list[Diagnostic], into: Documents) -> None:
        if isinstance(output, list):
            from render.manifests.charts import helm

            for file in helm.chart_files(folder):
                into.data.add_file(tidy(file), self.limits.file_bytes)
            into.diagnostics.extend(output)
            into.unbuilt.extend(output)
            return
        output = self._cut(output)
        shown = _printed_by_helm(folder)
        if self._fits(shown, output, into):
            from render.manifests.charts import helm
            from render.manifests.charts.templating import FilledChart

            printed = self._printed(shown, output, into)
            usual = discover.join(folder, "values.yaml")
            values = (usual, *self.reading.chart.values)
            filled = FilledChart(into.documents, shown, output, values, self.limits)
            into.blamed.append(filled.position)
            into.filled.append(filled)
            into.documents.extend(helm.trace(folder, output, printed))
            for file in (discover.join(folder, discover.CHART_FILE), *values):
                if os.path.isfile(file):
                    into.data.add_file(file, self.limits.file_bytes)
            self._lock_of(folder, into)

    def fill_only(self, path: str, into: Documents, roots: Literal["one", "all"]) -> None:
        """Run helm on the charts below *path*, where nothing else is: one, unless *roots* is ``all``."""
        filled = [chart for chart in self.charts if self._is_filled(chart)]
        if len(filled) > 1 and roots == "one":
            into.diagnostics.append(_several(path, filled, "Helm charts"))
            return
        for chart in filled:
            self.fill(chart, into)

    def trying(self, folder: str, into: Documents) -> "Steps[_ReadOutput]":
        """The same for a chart that nobody named: one that may only want for values of its own is passed over."""
        if not self._holds_kubevirt(folder):
            return _read_nothing
        filled: _ReadOutput = _read_nothing
        if self.reading.helm != "never":
            filled = yield from self.filling(folder, into)
        return lambda: self._read_tried(folder, filled, into)

    def _read_tried(self, folder: str, filled: "_ReadOutput", into: Documents) -> None:
        if self.reading.helm != "never":
            from render.manifests.charts import helm

            filled()
            if into.unbuilt and not any(map(helm.is_broken, into.unbuilt)):
                into.diagnostics = [skipped(folder, one.message) for one in into.unbuilt]
                into.unbuilt = []
            # An object that helm leaves without its name, say, may only want for a value too.
            printed = _printed_by_helm(folder)
            into.diagnostics = [one for one in into.diagnostics if one.location.file != printed]
        if not into.documents and not into.unbuilt:
            into.unseen["Helm chart"] += 1

    def _holds_kubevirt(self, chart: str) -> bool:
        """Whether the templates of *chart* may hold an object of KubeVirt's."""
        return self.texts.anywhere(os.path.join(chart, "templates"))

    def _is_filled(self, chart: str) -> bool:
        """Whether helm runs on *chart*, though nobody has named it."""
        return self.reading.helm != "never" and self._holds_kubevirt(chart)

    def _filled(self, folder: str) -> "Steps[bytes | list[Diagnostic]]":
        """What helm makes of the chart in *folder*, or why nothing."""
        from render.manifests.charts import helm

        program = helm.binary(self.reading.helm, folder)
        if isinstance(program, Diagnostic):
            return [program]
        release = self.reading.chart
        faults = helm.faults(folder, release, self.limits)
        if faults:
            return faults
        most = room(self.limits, self.total)
        output = yield from helm.template(
            folder,
            program,
            release,
            self.limits,
            most=most,
            is_box_required=self.reading.is_box_required,
            beside=self.beside,
        )
        return [output] if isinstance(output, Diagnostic) else output

    def _built(self, top: str, reach: kustomization.Reach) -> "Steps[bytes | list[Diagnostic]]":
        """What kustomize makes of the folder *top*, or why nothing."""
        from render.manifests import kustomize

        program = kustomize.binary(self.reading.kustomize, top)
        if isinstance(program, Diagnostic):
            return [program]
        most = room(self.limits, self.total)
        output = yield from kustomize.building(
            top,
            program,
            reach,
            self.limits,
            most=most,
            allow_remote=self.reading.allow_remote,
            is_box_required=self.reading.is_box_required,
            lock=self.reading.lock,
            beside=self.beside,
        )
        return [output] if isinstance(output, Diagnostic) else output

    def _folder(self, folder: str, into: Documents) -> list[str]:
        plain = self.reading.kustomize == "never"
        omitted = _Omitted(os.path.realpath(folder), self.scope) if self.scope else None
        discovered = discover.walk(
            folder, self.allowed, plain=plain, omitted=omitted, buffers=self.reading.buffers
        )
        into.diagnostics.extend(map(self._met, discovered.diagnostics))
        into.diagnostics += (
            skipped(
                discover.join(below, discover.SETTINGS_FILE),
                f"these settings count where {below} itself is named",
            )
            for below in discovered.settings
        )
        if discovered.settings:
            into.unseen[f"nested {discover.SETTINGS_FILE} file"] += len(discovered.settings)
        tops, named = kustomization.survey(
            discovered.kustomizations, self.limits, self.kustomizations
        )
        self.charts = discovered.charts
        wanted: list[str] = []
        locks = {discover.join(chart, LOCK) for chart in self.charts if self._is_filled(chart)}
        for file, real in discovered.files:
            if file in locks:
                continue  # read with the chart, whose lock it is
            if real in named:
                into.diagnostics.append(skipped(file, f"no resource: {named[real]} refers to it"))
            elif not self._is_repeated(real):
                wanted.append(file)
        if self.scope is None:
            for file in wanted:
                self._file(file, into, named=False)
            return [] if plain else tops
        self._search(wanted, into)
        reached = [] if plain else [top for top in tops if self._is_reached(top, into)]
        if into.passed or len(reached) < len(tops):
            passed = counted(len(into.passed), "file")
            unbuilt = counted(0 if plain else len(tops) - len(reached), "kustomization")
            why = f"no word of KubeVirt's in {passed} and {unbuilt} of it"
            into.diagnostics.append(skipped(folder, why))
        return reached

    def _is_reached(self, top: str, into: Documents) -> bool:
        """Whether the kustomization in *top* reaches what may hold an object of KubeVirt's; charts are a note."""
        reach = kustomization.reach(top, self.limits, allow_remote=True, known=self.kustomizations)
        found = self.texts.reached(reach)
        if reach.inflates and not found:
            into.diagnostics.append(
                skipped(top, "no word of KubeVirt's but in its helmCharts, perhaps")
            )
        return found

    def _search(self, wanted: Sequence[str], into: Documents) -> None:
        """Read those of the files *wanted* that may hold an object of KubeVirt's, or what one of these asks for."""
        referents: list[tuple[str, bytes]] = []
        refers = False
        limiting: list[tuple[str, bytes]] = []
        for file in wanted:
            data = self.reading.buffers.read(file, self.limits.file_bytes)
            if isinstance(data, Diagnostic):
                into.diagnostics.append(self._met(data))
            elif relevance.may_hold(data) or os.path.basename(file) == LOCK:
                refers = refers or relevance.refers(data)
                self._add(file, data, into, named=False)
            else:
                into.passed.append(file)
                if relevance.may_be_referent(data):
                    referents.append((file, data))
                if relevance.may_limit(data):
                    limiting.append((file, data))
        self._beside(referents if refers else (), _is_referent, into)
        self._beside(limiting if into.documents else (), _is_limiting, into)

    def _beside(
        self,
        found: Iterable[tuple[str, bytes]],
        counts: Callable[[Document], bool],
        into: Documents,
    ) -> None:
        """Take the documents that count of files without a word of KubeVirt's, as long as there is room for them."""
        for file, data in found:
            if excess(file, len(data), self.limits, self.total) is None:
                self.total += len(data)
                self._note(file, data, into)
                into.add(filter(counts, read(data, file, self.limits).documents))

    def _named(self, file: str, into: Documents) -> None:
        real = os.path.realpath(file)
        if self.scope and (pattern := self.scope.exclude.match(real)):
            into.passed.append(file)
            into.diagnostics.append(skipped(file, f"excluded by {pattern}"))
        elif os.path.basename(file) in kustomization.FILES:
            into.diagnostics.append(skipped(file, "a kustomization: name its folder to build it"))
        elif owner := kustomization.user_of(real, self.limits):
            into.diagnostics.append(skipped(file, f"no resource: {owner} refers to it"))
        elif not self._is_repeated(real):
            self._file(file, into, named=not self.anything)

    def _met(self, diagnostic: Diagnostic) -> Diagnostic:
        """*diagnostic* about what nobody has named: that it cannot be read is a note, where that is enough."""
        if not diagnostic.is_error or self.scope is None or not self.scope.lenient:
            return diagnostic
        return skipped(diagnostic.location.file, diagnostic.message)

    def _file(self, file: str, into: Documents, *, named: bool) -> None:
        data = self.reading.buffers.read(file, self.limits.file_bytes)
        if isinstance(data, Diagnostic):
            into.diagnostics.append(data)
        elif self.scope is None or relevance.may_hold(data) or os.path.basename(file) == LOCK:
            self._add(file, data, into, named=named)
        else:
            into.passed.append(file)
            into.diagnostics.append(skipped(file, "no word of KubeVirt's in it"))

    def _add(self, file: str, data: bytes, into: Documents, *, named: bool) -> None:
        """Take the documents of *file*, which says *data*."""
        if self._fits(file, data, into):
            self._note(file, data, into)
            self._parse(data, file, into, named=named)

    def _note(self, file: str, data: bytes, into: Documents) -> None:
        """Let *into* remember that *file* was read, which says *data*."""
        if file in self.reading.buffers:
            into.data.add_buffer(file, self.limits.file_bytes, data)
        else:
            into.data.add_file(file, self.limits.file_bytes, data)

    def _stream(self, into: Documents) -> None:
        if self._is_repeated("-"):
            return
        data = piped(self.reading.stdin, room(self.limits, self.total))
        if isinstance(data, Diagnostic):
            into.diagnostics.append(data)
        elif self._fits(STDIN, data, into):
            into.data.add_stream(STDIN, data)
            self._parse(data, STDIN, into, named=True)

    def _parse(self, data: bytes, shown: str, into: Documents, *, named: bool) -> None:
        contents = self._read(data, shown)
        documents, diagnostics = objects.sift(contents, data, shown, named=named)
        if self.scope is not None and self.scope.drop:
            into.add(self._counting(documents))
        else:
            into.documents.extend(documents)
        if self.scope is not None and os.path.basename(shown) != LOCK:
            diagnostics, templates = relevance.of_kubevirt(diagnostics, data)
            into.unseen.update({"Jinja or Go template": templates} if templates else {})
        into.diagnostics.extend(diagnostics)

    def _read(self, data: bytes, shown: str) -> Read:
        """What *data*, the text of the file *shown*, holds; what is known already is not parsed again."""
        known = self.reading.known
        if known is None:
            return read(data, shown, self.limits, self.budget)
        contents = known.get((data, self.limits))
        if contents is None:
            contents = read(data, shown, self.limits, self.budget)
            if not contents.diagnostics:
                known[data, self.limits] = contents
            return contents
        self.budget.read(len(data))
        documents = [
            one._replace(origin=one.origin._replace(file=shown)) for one in contents.documents
        ]
        return Read(documents, [])

    def _counting(self, documents: list[Document]) -> list[Document]:
        """Of *documents* those that count."""
        if self.scope is None or not self.scope.drop:
            return documents
        return [
            one
            for one in documents
            if relevance.concerns(one.body) or _is_referent(one) or _is_limiting(one)
        ]

    def _fits(self, shown: str, data: bytes, into: Documents) -> bool:
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
