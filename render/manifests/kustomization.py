"""What kustomization files refer to, known without running kustomize (its api/types/kustomization.go)."""

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.resource import OWN, Origin, text_at
from render.model.tree import Tree
from render.system import files
from render.system.files import real_path
from render.yaml.budget import Limits
from render.yaml.reader import Document, Read, locate, read
from render.yaml.stream import as_utf8

# What encoding/json, and so kustomize, calls a field, is compared without regard to case (`_folded`).
FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
#: What is meant for one of these.
_MISNAMED = r"(?i)kustomi[sz](?:ation|e)s?(?:\.(?:ya?ml|json))?"
_GROUP = "kustomize.config.k8s.io"
LOCK = "virt-render.lock.yaml"
"""The revision lock of a folder: kustomize knows nothing of it, and so it is read beside what kustomize builds."""
_RESOURCES = ("resources", "bases", "components")
_CHARTS = ("helmCharts", "helmChartInflationGenerator")
#: Where kustomize has charts, if nothing else is said.
_HOME = "charts"
#: The group of the configurations of kustomize's own plugins, and the one of them that runs helm.
_BUILT_IN = "builtin"
_INFLATOR = "HelmChartInflationGenerator"
#: Those whose `_LOADED` fields are the names of files, whatever they are.
_LOADING = frozenset(
    {
        "ConfigMapGenerator", "SecretGenerator", "PatchTransformer", "PatchJson6902Transformer",
        "PatchStrategicMergeTransformer", "ReplacementTransformer",
    }
)  # fmt: skip
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
#: All that a kustomization may say, as encoding/json compares it: kustomize refuses one with any other field.
_FIELDS = frozenset(
    {
        "apiversion", "kind", "metadata", "openapi", "nameprefix", "namesuffix", "namespace", "commonlabels", "labels",
        "commonannotations", "patchesstrategicmerge", "patchesjson6902", "patches", "images", "imagetags",
        "replacements", "replicas", "vars", "sortoptions", "resources", "components", "crds", "bases",
        "configmapgenerator", "secretgenerator", "helmglobals", "helmcharts", "helmchartinflationgenerator",
        "generatoroptions", "configurations", "generators", "transformers", "validators", "buildmetadata",
    }
)  # fmt: skip
_KINDS = frozenset({"", "Kustomization", "Component"})
_LOADED = frozenset({"path", "paths", "files", "envs", "env"})
GATHERING = frozenset({"apiversion", "kind", "metadata", "resources", "bases"})
"""What a kustomization says that changes nothing of its resources, which are what their files say."""
_EDITING = frozenset(
    {
        "patches", "patchesstrategicmerge", "patchesjson6902", "replacements", "vars", "transformers", "configurations",
        "nameprefix", "namesuffix",
    }
)  # fmt: skip
"""What may make of an Application or an object of Flux one that applies something else, or applies it otherwise."""
GENERATORS = frozenset({"configmapgenerator", "secretgenerator"})
"""What puts files into ConfigMaps and Secrets, whatever they say."""
RESOURCES = frozenset({"resources", "bases", "components"})


_MOST_FOLLOWED = 300_000
"""Kustomizations that are followed for one input, each again for those that lead to it: ten seconds of a processor."""
_MOST_BUILDS = 1_000_000
"""Kustomizations that kustomize may build for one folder: it has no time for more, and prints them all at the end."""
_MOST_MEANT = 20
"""Entries that lead out of which is said what they may mean: to look for one takes as long as its folder is full."""


class Reference(NamedTuple):
    """One entry of a kustomization: *path* is where it stands; resources may be folders, others are never resources."""

    path: FieldPath
    entry: str
    is_resource: bool


class AddedPatch(NamedTuple):
    """The *entry* of a patch that an object beside a kustomization adds to it: at *path* of the one of *origin*.

    *is_written*: its text stands there, and not in a patch of that object.
    """

    origin: Origin
    path: FieldPath
    entry: Tree
    is_written: bool = True


class Reach:
    """All that the build of one folder reads from disk, and why it should not be started.

    *kustomizations*, *resources* and *others* are file names, in the order of reading; *folders* the resolved folders
    of the kustomizations; *prefixes* and *suffixes* all that may be added to a name. *inflates*: kustomize would have
    helm fill in charts. *extended*: it would run plugins that are neither kustomize's nor ours. *remotes*: the
    resources that it would fetch from elsewhere; *fetches*: these, or anything else, of which *refused* says what is
    wrong with the first without the network. *bare*: folders that it lists, and
    in which there is no kustomization: kustomize refuses these (its api/internal/target/kusttarget.go). *edited* is the
    kustomization of the folder as others edit it, *patches* those of them that they add. *edits*: it says what may make
    other objects of those that it lists.
    """

    __slots__ = (
        "bare", "diagnostics", "edited", "edits", "extended", "fetches", "folders", "inflates", "kustomizations",
        "others", "patches", "prefixes", "refused", "remotes", "resources", "suffixes",
    )  # fmt: skip

    def __init__(self) -> None:
        self.kustomizations: list[str] = []
        self.resources: list[str] = []
        self.others: list[str] = []
        self.folders: set[str] = set()
        self.bare: list[str] = []
        self.prefixes: list[str] = []
        self.suffixes: list[str] = []
        self.diagnostics: list[Diagnostic] = []
        self.inflates = False
        self.edits = False
        self.extended = False
        self.fetches = False
        self.refused: Callable[[], Diagnostic] | None = None
        self.remotes: list[str] = []
        self.edited: Tree | None = None
        self.patches: list[AddedPatch] = []


def find(folder: str) -> str | None:
    """The kustomization file of *folder*, if it has one."""
    return next(_files(folder), None)


def is_misnamed(name: str) -> bool:
    """Whether a file called *name* is probably meant for a kustomization, and kustomize looks for none of that name."""
    return (
        name[:6].lower() == "kustom" and name not in FILES and bool(re.fullmatch(_MISNAMED, name))
    )


def is_meant(body: Tree) -> bool:
    """Whether *body*, of a file that is misnamed, is a kustomization: one of Flux is another kind of object."""
    group = text_at(body, "apiVersion").partition("/")[0]
    keys = {_folded(str(key)) for key in body}
    is_alike = group == _GROUP or not (group or text_at(body, "kind"))
    return is_alike and keys <= _FIELDS and not keys.isdisjoint(RESOURCES)


def _files(folder: str) -> Iterator[str]:
    paths = (os.path.join(folder, name) if folder != "." else name for name in FILES)
    return (path for path in paths if os.path.lexists(path))


def is_component(body: Tree) -> bool:
    """Whether this kustomization only makes sense inside another one."""
    return any(value == "Component" for _, value in _fields(body, "kind"))


def _folded(key: str) -> str:
    """*key* as encoding/json compares it with the name of a field: ``RESOURCES`` is ``resources``."""
    return key.casefold()


def _fields(body: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The entries of *body* that Go's decoder takes for its field *name*, under their own spelling."""
    if isinstance(body, dict):
        wanted = _folded(name)
        for key, value in body.items():
            if key == name or _folded(key) == wanted:
                yield key, value


def is_refused(loaded: "LoadedKustomization") -> bool:
    """Whether kustomize takes no such kustomization as *loaded*: it is no YAML, empty, or says what none may say."""
    bodies = [document.body for document in loaded.documents]
    if loaded.diagnostics or not bodies:
        return True
    keys = {_folded(str(key)) for body in bodies for key in body}
    kinds = [body.get("kind") or "" for body in bodies]
    return not (keys <= _FIELDS and all(isinstance(kind, str) and kind in _KINDS for kind in kinds))


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
            # What cannot be read as a manifest kustomize takes for a name, of several lines too.
            if not _is_inline(entry) or is_remote(entry):
                yield path, entry
    for key, fields in _IN_ITEMS.items():
        for path, item in _items(body, key):
            for name in fields:
                for below, entry in _texts(item, name):
                    yield (*path, *below), _file_of(entry) if name == "files" else entry


def _is_inline(entry: str) -> bool:
    """Whether *entry* is probably a manifest, in the place of the name of a file that holds one."""
    return "\n" in entry or entry.startswith("{")


def _file_of(source: str) -> str:
    """The file in ``key=file``, the way a generator may give its files a key."""
    return source.partition("=")[2] or source


def _items(body: Any, key: str) -> Iterator[tuple[FieldPath, Any]]:
    """The entries under *key*: of a list each, of anything else the value itself."""
    for name, value in _fields(body, key):
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield (name, index), item
        elif value is not None:
            yield (name,), value


def _texts(body: Any, key: str) -> Iterator[tuple[FieldPath, str]]:
    for path, item in _items(body, key):
        if isinstance(item, str) and item and "\0" not in item:  # no file has such a name
            yield path, item


class LoadedKustomization(NamedTuple):
    """The documents of a kustomization, what is wrong with it, its bytes, and what each document refers to."""

    documents: list[Document]
    diagnostics: list[Diagnostic]
    data: bytes
    references: list[list[Reference]]


_NOTHING = LoadedKustomization([], [], b"", [])


class _Stated(NamedTuple):
    """What a kustomization says of all that it leads to, as `Reach` has it; *plugins*: it has generators, say."""

    prefixes: Sequence[str]
    suffixes: Sequence[str]
    inflates: bool
    edits: bool
    plugins: bool

    @classmethod
    def of(cls, body: Tree) -> "_Stated":
        """That of *body*."""
        return cls(
            [text for _, text in _texts(body, "namePrefix")],
            [text for _, text in _texts(body, "nameSuffix")],
            any(any(_items(body, key)) for key in _CHARTS),
            any(_folded(str(key)) in _EDITING for key in body),
            any(any(_texts(body, key)) for key in _PLUGINS),
        )


class KnownKustomizations:
    """What kustomizations say that were read already, and where paths lead: overlays share their bases."""

    __slots__ = (
        "_contents", "_files", "_left", "_loaded", "_resolved", "_stated", "_targets"
    )  # fmt: skip

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}
        self._left = _MOST_FOLLOWED
        self._stated: dict[int, tuple[Document, _Stated]] = {}
        self._contents: dict[str, Read | Diagnostic] = {}
        self._loaded: dict[str, LoadedKustomization] = {}
        self._resolved: dict[str, str] = {}
        self._targets: dict[tuple[str, str], str] = {}

    def load(self, file: str, limits: Limits) -> LoadedKustomization:
        """What the kustomization *file* says."""
        if file not in self._loaded:
            self._loaded[file] = load(file, limits)
        return self._loaded[file]

    def files(self, folder: str) -> list[str]:
        """The kustomization files of *folder*; kustomize refuses several."""
        if folder not in self._files:
            self._files[folder] = [*_files(folder)]
        return self._files[folder]

    def may_follow(self) -> bool:
        """Whether one more kustomization may be followed to what it refers to; it counts."""
        self._left -= 1
        return not self.is_exhausted

    @property
    def is_exhausted(self) -> bool:
        """Whether one was not followed."""
        return self._left < 0

    def stated(self, document: Document) -> "_Stated":
        """What *document*, of a kustomization, says of all that it leads to, looked up once."""
        if id(document) not in self._stated:
            self._stated[id(document)] = document, _Stated.of(document.body)
        return self._stated[id(document)][1]

    def read(self, file: str, limits: Limits) -> Read | Diagnostic:
        """What the *file* of a generator or transformer says."""
        if file not in self._contents:
            data = files.read(file, file, limits.file_bytes)
            self._contents[file] = (
                data if isinstance(data, Diagnostic) else read(data, file, limits)
            )
        return self._contents[file]

    def named(self, file: str, limits: Limits) -> set[str]:
        """The resolved names of all that the kustomization *file* lists."""
        folder = os.path.dirname(file)
        references = chain.from_iterable(self.load(file, limits).references)
        return {self.resolve(os.path.join(folder, each.entry)) for each in references}

    def resolve(self, path: str) -> str:
        """*path* with all links followed."""
        if path not in self._resolved:
            self._resolved[path] = real_path(path)
        return self._resolved[path]

    def target(self, folder: str, entry: str) -> str:
        """The file or folder that *entry* in *folder* names, as kustomize finds it.

        That is from the resolved folder, with dots taken away.
        """
        if (folder, entry) not in self._targets:
            self._targets[folder, entry] = self._target(folder, entry)
        return self._targets[folder, entry]

    def _target(self, folder: str, entry: str) -> str:
        as_called = os.path.normpath(os.path.join(folder, entry))
        target = os.path.normpath(os.path.join(self.resolve(folder), entry))
        if os.path.abspath(as_called) == target:  # no link on the way to the folder
            return as_called
        same = self.resolve(as_called) == self.resolve(target)
        return as_called if same else os.path.relpath(target)


def load(file: str, limits: Limits) -> LoadedKustomization:
    """What the kustomization *file* says."""
    data = files.read(file, file, limits.file_bytes)
    if isinstance(data, Diagnostic):
        return LoadedKustomization([], [data], b"", [])
    data = as_utf8(data)  # of manifests only UTF-8 is read; kustomize reads its own file in either
    documents, diagnostics = read(data, file, limits)
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.is_error]
    if documents and not data.endswith(b"\n"):
        last_line = data.decode(errors="replace").rpartition("\n")[2].strip()
        body = _without_added_break(documents[-1].body, last_line)
        documents = [*documents[:-1], documents[-1]._replace(body=body)]
    return LoadedKustomization(
        documents, errors, data, [[*references(document.body)] for document in documents]
    )


def _without_added_break(value: Any, last_line: str) -> Any:
    """*value* as kustomize reads it from a file that ends in *last_line*, without a line break.

    A block that ends there has none, which kubectl adds to manifests, and the reader therefore to all that is read.
    """
    if isinstance(value, dict) and value:
        key = next(reversed(value))
        return {**value, key: _without_added_break(value[key], last_line)}
    if isinstance(value, list) and value:
        return [*value[:-1], _without_added_break(value[-1], last_line)]
    if not isinstance(value, str) or not last_line:
        return value
    text = value.removesuffix("\n")
    return text if last_line.endswith(text.rpartition("\n")[2]) else value


class Survey(NamedTuple):
    """How kustomizations hang together.

    *tops*: the folders that no other one refers to; *patches*: the files that are no resources, by resolved name, with
    the kustomization that says so.
    """

    tops: list[str]
    patches: dict[str, str]


def survey(
    folders: Sequence[str], limits: Limits, known: KnownKustomizations | None = None
) -> Survey:
    """Who refers to whom among the kustomizations of *folders*. A component is never a top.

    Kustomizations that cannot be read refer to nothing here; building them reports why. Those of a circle that nothing
    outside of it reaches are all tops, so that kustomize can say so; so are all, where each is referred to.
    """
    known = known or KnownKustomizations()
    targets: dict[str, list[str]] = {}
    patches: dict[str, str] = {}
    candidates: list[str] = []
    for folder in folders:
        file = find(folder)
        loaded = known.load(file, limits) if file else _NOTHING
        if not any(is_component(document.body) for document in loaded.documents):
            candidates.append(folder)
        real = known.resolve(folder)
        for reference in chain.from_iterable(loaded.references):
            target = os.path.normpath(os.path.join(real, reference.entry))
            if os.path.isdir(target):
                targets.setdefault(real, []).append(known.resolve(target))
            elif not reference.is_resource:
                patches.setdefault(known.resolve(target), file or folder)
    referred = {*chain.from_iterable(targets.values())}
    reached = _reached(map(known.resolve, folders), targets, referred)
    tops = [
        folder
        for folder in candidates
        if (real := known.resolve(folder)) not in referred or real not in reached
    ]
    return Survey(tops or candidates, patches)


def _reached(
    folders: Iterable[str], targets: Mapping[str, Sequence[str]], referred: Container[str]
) -> set[str]:
    """The *folders* that are not *referred* to, and all to which these lead by their *targets*."""
    reached: set[str] = set()
    pending = [folder for folder in folders if folder not in referred]
    while pending:
        folder = pending.pop()
        if folder not in reached:
            reached.add(folder)
            pending += targets.get(folder, ())
    return reached


def listed(
    folders: Sequence[str],
    limits: Limits,
    known: KnownKustomizations,
    fields: Container[str] | None = None,
) -> set[str]:
    """The resolved names of all files and folders to which the kustomizations of *folders* refer, in *fields* alone."""
    targets = set()
    for folder in folders:
        file = find(folder)
        real = known.resolve(folder)
        loaded = known.load(file, limits) if file else _NOTHING
        for reference in chain.from_iterable(loaded.references):
            if fields is None or _folded(str(reference.path[0])) in fields:
                targets.add(known.resolve(os.path.join(real, reference.entry)))
    return targets


def not_listing(file: str, limits: Limits) -> str:
    """The kustomization in the folder of *file*, if that lists no such file; ``""`` where there is none, or it does."""
    folder = os.path.dirname(file) or "."
    beside = find(folder)
    if beside is None or real_path(file) in listed([folder], limits, KnownKustomizations()):
        return ""
    return beside


def chart_homes(
    folder: str, limits: Limits, known: KnownKustomizations
) -> Iterator[tuple[str, str]]:
    """Where the kustomization of *folder* has the charts that helm fills in, each with the name of such a chart.

    Its own fields say so, or the configurations of generators that it lists (kustomize's HelmChartInflationGenerator).
    """
    file = find(folder)
    for document in known.load(file, limits).documents if file else ():
        of_all = next(
            (_text(value, "chartHome") for _, value in _fields(document.body, "helmGlobals")), ""
        )
        for key, field in zip(_CHARTS, ("name", "chartName"), strict=True):
            for _, item in _items(document.body, key):
                yield _text(item, "chartHome") or of_all or _HOME, _text(item, field)
        for entry in dict.fromkeys(entry for _, entry in _texts(document.body, "generators")):
            for config in _generators(folder, entry, limits, known):
                yield _text(config, "chartHome") or _HOME, _text(config, "name")


def _generators(
    folder: str, entry: str, limits: Limits, known: KnownKustomizations
) -> Iterator[Tree]:
    """What *entry*, a generator of the kustomization of *folder*, says if that runs helm; nothing of a folder's."""
    target = os.path.join(folder, entry)
    contents: Read | Diagnostic = Read([], [])
    if _is_inline(entry):
        contents = read(entry.encode(errors="replace"), target, limits)
    else:
        if os.path.isdir(target):
            yield {}
        if os.path.isfile(target) and files.is_below(known.resolve(target), known.resolve(folder)):
            contents = known.read(target, limits)
    if not isinstance(contents, Diagnostic):
        bodies = (document.body for document in contents.documents)
        yield from (body for body in bodies if text_at(body, "kind") == _INFLATOR)


def _text(body: Any, key: str) -> str:
    return next((text for _, text in _texts(body, key)), "")


def of_unused_components(
    folders: Sequence[str], limits: Limits, known: KnownKustomizations
) -> set[str]:
    """The resolved names of the resources that components among *folders* alone lead to, which none of these uses."""
    used = listed(folders, limits, known)
    unused = [folder for folder in folders if known.resolve(folder) not in used]
    components = {
        folder
        for folder in unused
        for document in known.load(find(folder) or folder, limits).documents
        if is_component(document.body)
    }
    of_components: set[str] = set()
    of_others: set[str] = set()
    for folder in unused if components else ():
        resources = reach(folder, limits, allow_remote=True, known=known).resources
        names = of_components if folder in components else of_others
        names.update(map(known.resolve, resources))
    return of_components - of_others


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


def reach(  # noqa: PLR0913 - where it begins, and how far it may go
    folder: str,
    limits: Limits,
    *,
    allow_remote: bool,
    bounds: str = "",
    known: KnownKustomizations | None = None,
    components: Sequence[str] = (),
) -> Reach:
    """Follow the kustomization of *folder* through bases and components, reading nothing but kustomizations.

    (And the configuration of generators and transformers, which may hold URLs too.) *components* are those that others
    add to it. A remote entry gives an error unless *allow_remote*; so does what leads out of the resolved folder
    *bounds*, and a kustomization that we cannot read, since nobody can say what it names.
    """
    known = known or KnownKustomizations()
    walk = _KustomizationWalk(limits, bounds, known, allow_remote=allow_remote)
    return walk.follow((folder, *components))


class _KustomizationWalk:
    """One way through kustomizations: what was seen, and what is still to be read."""

    __slots__ = ("allow_remote", "below", "bounds", "known", "limits", "pending", "reach")

    def __init__(
        self, limits: Limits, bounds: str, known: KnownKustomizations, *, allow_remote: bool
    ) -> None:
        self.limits = limits
        self.known = known
        self.bounds = bounds
        self.allow_remote = allow_remote
        self.reach = Reach()
        self.pending: list[str] = []
        #: The folders to which that in each resolved folder refers.
        self.below: dict[str, list[str]] = {}

    def follow(self, folders: Sequence[str]) -> Reach:
        """All that *folders* reach."""
        reach = self.reach
        self.pending.extend(folders)
        while self.pending:
            folder = self.pending.pop(0)
            real = self.known.resolve(folder)
            called = self.known.files(folder)
            if not called:
                reach.bare.append(folder)
                continue
            if real in reach.folders:
                continue
            if not self.known.may_follow():
                reach.diagnostics.append(too_many_followed(Location(file=find(folders[0]) or "")))
                break
            file = called[0]
            reach.folders.add(real)
            reach.kustomizations.append(file)
            loaded = self._load(folder, real, file)
            for document, named in zip(loaded.documents, loaded.references, strict=True):
                stated = self.known.stated(document)
                reach.prefixes += stated.prefixes
                reach.suffixes += stated.suffixes
                reach.inflates |= stated.inflates
                reach.edits |= stated.edits
                here = _Here(file, folder, real, loaded.data, document)
                for reference in named:
                    self._refer(here, reference)
                if stated.plugins:
                    self._look_at_plugins(here)
        below = {real: [*map(self.known.resolve, targets)] for real, targets in self.below.items()}
        builds = sum(_builds(self.known.resolve(folder), below) for folder in folders)
        if builds > _MOST_BUILDS:
            reach.diagnostics.append(_too_often(folders[0], builds, len(reach.folders)))
        return reach

    def _load(self, folder: str, real: str, file: str) -> LoadedKustomization:
        """The kustomization *file* of *folder*, resolved *real*; what speaks against building it is a finding."""
        others = self.known.files(folder)[1:]
        if others:  # kustomize takes another one where it may not read the first
            message = f"{folder} has several kustomizations: {', '.join([file, *others])}"
            cure = "leave one of them: kustomize refuses to choose"
            fault = codes.KUSTOMIZE_FAILED.at(Location(file=file), message, help=cure)
            self.reach.diagnostics.append(fault)
        if not self._is_inside(file, real):
            self.reach.diagnostics.append(outside(file))
            return _NOTHING
        loaded = self.known.load(file, self.limits)
        self.reach.diagnostics.extend(loaded.diagnostics)
        return loaded

    def _is_inside(self, path: str, otherwise: str = "/") -> bool:
        """Whether *path*, links followed, is inside of the bounds; where there are none, of *otherwise*."""
        return files.is_below(self.known.resolve(path), self.bounds or otherwise)

    def _near(self, here: "_Here", reference: Reference) -> str:
        """What *reference*, which leads out of the bounds, was probably meant to be inside of them."""
        from render.manifests.blame import missing

        if len(self.reach.diagnostics) >= _MOST_MEANT:
            return ""
        listed = self.known.named(here.file, self.limits)
        return missing.near(
            reference.entry, here.folder, listed, find if reference.is_resource else None
        )

    def _refer(self, here: "_Here", reference: Reference) -> None:
        """Keep in mind what *reference* leads to."""
        if is_remote(reference.entry):
            self.reach.fetches = True
            if reference.is_resource:
                self.reach.remotes.append(reference.entry)
            self._refuse(partial(_refusal, here, reference))
            return
        target = self.known.target(here.folder, reference.entry)
        if not self._is_inside(target):
            fault = outside(target)._replace(location=here.at(reference.path))
            near = self._near(here, reference)
            self.reach.diagnostics.append(
                fault._replace(help=f"did you mean {near}?") if near else fault
            )
        elif os.path.isdir(target):
            self.pending.append(target)
            self.below.setdefault(here.real, []).append(target)
        else:
            self._add(here, reference.path, target, is_resource=reference.is_resource)

    def _refuse(self, refusal: Callable[[], Diagnostic]) -> None:
        """Keep in mind what is *refused* without the network, and refuse it unless that is allowed."""
        self.reach.refused = self.reach.refused or refusal
        if not self.allow_remote:
            self.reach.diagnostics.append(refusal())

    def _add(self, here: "_Here", path: FieldPath, target: str, *, is_resource: bool) -> None:
        """Keep in mind the file *target*, which the entry at *path* names: for a pipe kustomize would wait for ever."""
        fault = files.unfit(target, self.limits.file_bytes)
        if fault:
            self.reach.diagnostics.append(fault._replace(location=here.at(path)))
        (self.reach.resources if is_resource else self.reach.others).append(target)

    def _look_at_plugins(self, here: "_Here") -> None:
        """What generators and transformers load, kustomize's own, which run without any flag.

        A URL is refused, unless it is allowed.
        """
        seen: set[str] = set()
        for key in _PLUGINS:
            for path, entry in _texts(here.document.body, key):
                if is_remote(entry):
                    continue  # refused where all references are
                # kustomize takes it for text if it can, else for the name of a file or folder.
                inline = read(entry.encode(errors="replace"), here.file, self.limits)
                self._look_at_loaded(here, path, inline.documents)
                if ":" in entry:  # without one nothing is a mapping, and the error is about a name
                    for fault in inline.diagnostics:
                        if fault.is_error and fault.code != codes.NOT_AN_OBJECT.number:
                            self.reach.diagnostics.append(
                                fault._replace(location=here.at(path), related=())
                            )
                self._look_at_plugin(here, path, entry, seen)

    def _look_at_plugin(self, here: "_Here", path: FieldPath, entry: str, seen: set[str]) -> None:
        """The same for the file or folder *entry*, at *path*, and all to which that leads; not for what was *seen*."""
        pending = [self.known.target(here.folder, entry)]
        while pending:
            target = pending.pop()
            real = self.known.resolve(target)
            if real in seen or not os.path.lexists(target) or not self._is_inside(target):
                continue
            seen.add(real)
            if os.path.isdir(target):
                pending += reversed([*self._look_at_plugin_folder(here, path, target)])
                continue
            contents = self.known.read(target, self.limits)
            if isinstance(contents, Diagnostic):
                self.reach.diagnostics.append(contents)
                continue
            # What we cannot read kustomize may: it is less strict about keys that stand twice.
            self.reach.diagnostics.extend(found for found in contents.diagnostics if found.is_error)
            self._look_at_loaded(here, path, contents.documents)

    def _look_at_plugin_folder(self, here: "_Here", path: FieldPath, folder: str) -> Iterator[str]:
        """What a folder hands over, which must be its files as they are: else nobody knows what they will say."""
        file = find(folder)
        if file is None or not self._is_inside(file):
            return  # kustomize refuses the one, and the other is an error already
        loaded = self.known.load(file, self.limits)
        for document, named in zip(loaded.documents, loaded.references, strict=True):
            making = sorted(k for k in document.body if _folded(k) not in GATHERING)
            if making:
                self._refuse(partial(_unknown_configurations, here, path, file, making[0]))
            for reference in named:
                if is_remote(reference.entry):
                    continue  # refused where all references are
                target = self.known.target(folder, reference.entry)
                if os.path.isfile(target) and self._is_inside(target):
                    self.reach.others.append(target)  # its words count like those of one listed
                yield target

    def _look_at_loaded(self, here: "_Here", path: FieldPath, documents: list[Document]) -> None:
        """The files that the configurations *documents* name are read from the folder of the kustomization."""
        named: set[str] = set()
        for body in (document.body for document in documents):
            group, kind = text_at(body, "apiVersion").partition("/")[0], text_at(body, "kind")
            self.reach.inflates |= group == _BUILT_IN and kind == _INFLATOR
            self.reach.extended |= group not in {_BUILT_IN, OWN}
            if group == _BUILT_IN and kind in _LOADING:
                named.update(_loaded({**body, "metadata": None}))
        for text in (
            text for document in documents for text in _loaded(document.body) if "\0" not in text
        ):
            if re.match(_URL, text):
                self.reach.fetches = True
                self._refuse(partial(_refusal, here, Reference(path, text, is_resource=False)))
                continue
            # Of others a path may be one of a field, and no file.
            is_file = text in named and not _is_inline(text)
            called = (text, _file_of(text))
            for target in dict.fromkeys(self.known.target(here.folder, name) for name in called):
                is_there = os.path.exists(target) and not os.path.isdir(target)
                if self._is_inside(target):
                    if is_there:
                        self._add(here, path, target, is_resource=False)
                elif is_file or (is_there and is_of_git(target)):
                    self.reach.diagnostics.append(outside(target)._replace(location=here.at(path)))


def _builds(top: str, below: Mapping[str, Sequence[str]]) -> int:
    """How often kustomize builds a folder for *top*, whose references are *below*: one again for each that names it."""
    builds: dict[str, int] = {}
    pending = [top]
    begun: set[str] = set()
    while pending:
        folder = pending[-1]
        if folder in begun:
            pending.pop()
            # In a circle, which kustomize refuses, one is not known yet.
            builds[folder] = 1 + sum(builds.get(other, 0) for other in below.get(folder, ()))
        else:
            begun.add(folder)
            pending += (other for other in below.get(folder, ()) if other not in begun)
    return builds[top]


def _too_often(folder: str, builds: int, kustomizations: int) -> Diagnostic:
    return codes.LIMIT_EXCEEDED.at(
        Location(file=find(folder) or folder),
        f"kustomize would build {builds:,} kustomizations for {folder}, which are {kustomizations:,}, each as often as"
        f" others list it: more than {_MOST_BUILDS:,}",
        help="list each base once on the way to it",
    )


class _Here(NamedTuple):
    """A document of a kustomization: its file, the folder as it is called and resolved, and the bytes of the file."""

    file: str
    folder: str
    real: str
    data: bytes
    document: Document

    def at(self, path: FieldPath) -> Location:
        """The place of *path*."""
        line, column = locate(self.data, self.document.origin, path)
        return Location(file=self.file, line=line, column=column)


def outside(display_name: str) -> Diagnostic:
    """The diagnostic for a file or folder that stands, or to which a link leads, outside of the repository.

    So does what git keeps beside its files.
    """
    fault = (
        "it belongs to git itself" if is_of_git(display_name) else "it leads out of the repository"
    )
    return codes.UNREADABLE.at(
        Location(file=display_name),
        f"cannot read {display_name}: {fault}",
        help="keep a copy in the repository",
    )


def is_of_git(path: str) -> bool:
    """Whether *path* stands, or leads, where git keeps what is its own."""
    return files.GIT in real_path(path).lower().split("/")


def too_many_followed(place: Location) -> Diagnostic:
    """That at *place* kustomizations are not followed any more to all that they lead to."""
    return codes.LIMIT_EXCEEDED.at(
        place,
        f"kustomizations lead to more than {_MOST_FOLLOWED:,} others, each counted again for all that lead to it: the"
        " last of them are not looked at",
        help="name fewer folders",
    )


def _unknown_configurations(here: _Here, path: FieldPath, file: str, making: str) -> Diagnostic:
    """That the kustomization *file*, to which the entry at *path* leads, has a field *making* configurations."""
    message = (
        f"{file} has {making}, and makes configurations of {path[0]}: what they will"
        " have kustomize load cannot be told"
    )
    cure = "name the files themselves, or allow the network with --allow-remote"
    return codes.REMOTE_BASE.at(here.at(path), message, help=cure)


def _refusal(here: _Here, reference: Reference) -> Diagnostic:
    from render.diagnostics import secrets

    return codes.REMOTE_BASE.at(
        here.at(reference.path),
        f"{here.file} refers to {secrets.without_credentials(reference.entry)}, which kustomize would"
        " fetch from elsewhere",
        help="keep a copy in the repository, or allow the network with --allow-remote",
    )


def _loaded(value: Any, key: str = "") -> Iterator[str]:
    """The strings below *value* that stand where kustomize's own plugins name the files they load."""
    if isinstance(value, str) and _folded(key) in _LOADED:
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _loaded(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _loaded(item, key)
