"""Files that hold settings: ``.virt-render.yaml``, and a KubeVirt or HyperConverged resource with the cluster's."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.manifests.discover import SETTINGS_FILE
from render.manifests.sources.reading import Reading
from render.model import resource
from render.model.globs import Globs
from render.model.globs import unmatched as matching_nothing
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.resource import Origin
from render.model.tree import Tree
from render.settings import OPTIONS, Layer, Option, Source
from render.system import files
from render.system.files import boundary, inside, is_file_name, real_path, repository
from render.yaml.budget import Limits
from render.yaml.reader import Document, locate, read

NAME = SETTINGS_FILE
_OTHER_ENDING = ".yml"
API_VERSION = f"{resource.OWN}/v1alpha1"
KIND = "RenderConfig"
_FUNCTION = b"config.kubernetes.io/"
_MOST_PATTERNS = 500
_NAME_IT = "put a copy there, or name the file with --config"


class Layout(NamedTuple):
    """How a repository is laid out, by patterns for its folders.

    *exclude*: what is not looked at; *roots*: what is applied by itself; *shared*: where what others refer to stands.
    """

    exclude: Globs = Globs()
    roots: Globs = Globs()
    shared: Globs = Globs()


class ConfigFile(NamedTuple):
    """The layer that the file gives (none without a file), what is wrong with it, and where its keys stand."""

    layers: tuple[Layer, ...] = ()
    layout: Layout = Layout()
    diagnostics: tuple[Diagnostic, ...] = ()
    path: str = ""
    origins: tuple[Origin, ...] = ()
    data: Mapping[str, bytes] = MappingProxyType({})


class ObjectFiles(NamedTuple):
    """The objects in files that settings name, what is wrong with these, and the bytes of those that are at fault."""

    documents: tuple[Document, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    data: Mapping[str, bytes] = MappingProxyType({})

    def adding(self, others: "ObjectFiles") -> "ObjectFiles":
        """These objects, and the *others* after them."""
        return ObjectFiles(
            (*self.documents, *others.documents),
            (*self.diagnostics, *others.diagnostics),
            {**self.data, **others.data},
        )


def load(
    paths: Sequence[str], named: str, limits: Limits, trusted: Sequence[str] = ()
) -> ConfigFile:
    """Read the file *named*, else the one of the first of *paths* that is a folder, else of the working directory.

    That is the one that stands there, else in the nearest folder around it in its repository. Paths in it are relative
    to its own folder. A file that was not *named* came with the manifests, from whoever wrote them: nothing in it leads
    out of their repository, unless into one of the folders *trusted*.
    """
    folders = [path for path in paths if os.path.isdir(path)][:1]
    around = [[*_candidates(folder)] for folder in dict.fromkeys((*folders, os.curdir))]
    path = named or next(filter(os.path.lexists, chain.from_iterable(around)), "")
    if not path:
        candidates = dict.fromkeys(own for own, *_ in around)
        others = [os.path.splitext(candidate)[0] + _OTHER_ENDING for candidate in candidates]
        seen = [
            os.path.join(os.path.dirname(candidate), NAME.removeprefix("."))
            for candidate in candidates
        ]
        found = [
            *filter(os.path.lexists, others),
            *(each for each in seen if _is_meant(each, limits)),
        ]
        return ConfigFile(diagnostics=tuple(map(_misnamed, found)))
    if not named and (fault := _link_out(path)):
        return ConfigFile(diagnostics=(fault,), path=path)
    return _read(path, "" if named else bounds(path), limits, trusted)


def _candidates(folder: str) -> Iterator[str]:
    """The files that may hold the settings of *folder*, the nearest first: its own, and those above in its repository.

    Without a repository none above the working directory counts.
    """
    own = os.path.join(folder, NAME) if folder != os.curdir else NAME
    yield own
    real = real_path(folder)
    top = repository(real) or bounds(own)
    while real != top and inside(real, [top]):
        real = os.path.dirname(real)
        yield os.path.relpath(os.path.join(real, NAME))


def _is_meant(path: str, limits: Limits) -> bool:
    """Whether the file *path*, whose name lacks the dot, has settings, and not those of a function of kustomize."""
    data = files.read(path, path, limits.file_bytes) if os.path.isfile(path) else b""
    return (
        isinstance(data, bytes)
        and all(word.encode() in data for word in (API_VERSION, KIND))
        and _FUNCTION not in data
    )


def _misnamed(path: str) -> Diagnostic:
    """That the configuration *path* would be read by another name."""
    message = f"{path} is not read: settings stand in {NAME}"
    return codes.INVALID_SETTING.at(Location(file=path), message, help="rename the file")


def _link_out(path: str) -> Diagnostic | None:
    """That the configuration *path*, which nobody named, is a link out of what it belongs to."""
    if inside(real_path(path), [bounds(path)]):
        return None
    message = f"{path} is a symbolic link that leads out of its repository"
    return codes.INVALID_SETTING.at(Location(file=path), message, help=_NAME_IT)


def _read(path: str, bounds: str, limits: Limits, trusted: Sequence[str]) -> ConfigFile:
    """The configuration *path*, in which nothing leads out of *bounds* (``""``: it may) and the folders *trusted*."""
    documents, diagnostics, data = _documents(path, limits)
    origins = tuple(document.origin for document in documents)
    loaded = ConfigFile((), Layout(), diagnostics, path, origins, {path: data})
    if diagnostics:
        return loaded
    if len(documents) != 1:
        message = f"{path} holds {len(documents)} documents and should hold one {KIND}"
        place = Location(file=path, line=1, column=1)
        empty = codes.INVALID_SETTING.at(place, message, help=_SHAPE)
        return loaded._replace(diagnostics=(empty,))
    body = documents[0].body
    fault = fault_of(body)
    if fault:
        wrong = [key for key, value in _HEAD.items() if body.get(key) not in (None, value)]
        is_headed = all(body.get(key) == value for key, value in _HEAD.items())
        key = min(body.keys() - _KEYS, default="spec") if is_headed else next(iter(wrong), "")
        place = Location(path=(key,) if key else (), file=path, index=0)
        return loaded._replace(diagnostics=(codes.INVALID_SETTING.at(place, fault, help=_SHAPE),))
    values = rebased(body.get("spec") or {}, os.path.dirname(path))
    layer = Layer(Source.FILE, values, Location(path=("spec",), index=0, file=path))
    layout, misfits = _layout(layer, real_path(os.path.dirname(path)))
    faults = (*misfits, *_escapes(layer, path, bounds, trusted))
    known = {
        key: value
        for key, value in values.items()
        if key not in Layout._fields and key not in _keys(faults)
    }
    layer = layer._replace(values=known, others=Layout._fields)
    return loaded._replace(layers=(layer,), layout=layout, diagnostics=faults)


def of_repository(paths: Sequence[str], limits: Limits) -> ConfigFile:
    """The file at the root of the git repository that holds the first of *paths*, or the working directory."""
    first = next((path for path in paths if path != "-"), ".")
    top = repository(real_path(first if os.path.isdir(first) else os.path.dirname(first)))
    path = os.path.relpath(os.path.join(top, NAME)) if top else ""
    if not path or not os.path.lexists(path):
        return ConfigFile()
    if fault := _link_out(path):
        return ConfigFile(diagnostics=(fault,), path=path)
    return _read(path, "", limits, ())  # of its layout alone use is made


def unmatched(layout: Layout, limits: Limits) -> Iterator[Diagnostic]:
    """The patterns of *layout* that match nothing below the folder of their file: a folder was renamed, or misspelt.

    What is to be left out may only be there at times.
    """
    for key, globs in layout._asdict().items():
        missed = set(matching_nothing(globs, _below(globs.top)))
        if not missed:
            continue
        file = os.path.relpath(os.path.join(globs.top, NAME))
        documents, _, data = _documents(file, limits)
        for place, pattern in enumerate(globs.patterns):
            if pattern not in missed:
                continue
            line, column = locate(data, documents[0].origin, ("spec", key, place))
            found = codes.PATTERN_UNMATCHED.at(
                Location(file=file, line=line, column=column),
                f"{key}: {pattern} matches no file and no folder",
                help=f"patterns are seen from the folder of {NAME}, as in a .gitignore",
            )
            yield found._replace(severity=Severity.INFO) if key == "exclude" else found


def _below(top: str) -> Iterator[str]:
    """Every folder and file below *top*, but for git's own."""
    for folder, folders, names in files.walk(top):
        folders[:] = [name for name in folders if name != ".git"]
        yield from (os.path.join(folder, name) for name in (*folders, *names))


def _layout(layer: Layer, top: str) -> tuple[Layout, tuple[Diagnostic, ...]]:
    """What *layer*, a file in the resolved folder *top*, says of the layout, and what is wrong with that."""
    globs = {}
    faults = []
    for key in Layout._fields:
        value = layer.values.get(key, [])
        if isinstance(value, list) and len(value) > _MOST_PATTERNS:
            # Each is tried on each path.
            message = f"has {len(value):,} patterns, and may have {_MOST_PATTERNS:,}"
            faults.append(codes.INVALID_SETTING.at(layer.at(key), message))
        elif isinstance(value, list) and all(
            isinstance(pattern, str) and pattern.strip("/") for pattern in value
        ):
            globs[key] = Globs(top, tuple(value))
        else:
            message = "should be a list of patterns for files and folders"
            faults.append(codes.INVALID_SETTING.at(layer.at(key), message))
    return Layout(**globs), tuple(faults)


def _keys(faults: Sequence[Diagnostic]) -> set[str | int]:
    return {fault.location.path[-1] for fault in faults}


def bounds(path: str) -> str:
    """The folder out of which nothing in the configuration *path* may lead.

    That is its git repository; without one the working directory, or its own folder where that is not below it.
    """
    folder, here = real_path(os.path.dirname(path)), real_path(".")
    return boundary(folder) or (here if inside(folder, [here]) else folder)


def is_ours(file: str) -> bool:
    """Whether *file* belongs to what is worked on, and its lines may be shown.

    Settings may name any file, and whoever may set them (in an Application) need not be allowed to read it.
    """
    return inside(real_path(file), [bounds("")])


def strays(layer: Layer, trusted: Sequence[str], path: str = "") -> Iterator[Diagnostic]:
    """The paths in *layer* that lead neither into the repository worked in nor into folders *trusted*.

    *path*: the file that the layer is of, whose own repository counts then.
    """
    return _escapes(layer, path, bounds(path), trusted)


def _escapes(layer: Layer, path: str, bounds: str, trusted: Sequence[str]) -> Iterator[Diagnostic]:
    """The paths in *layer*, the file *path*, that lead out of *bounds* (``""``: they may) and of *trusted* folders."""
    allowed = [bounds, *(real_path(folder) for folder in trusted if folder)]
    for option in OPTIONS if bounds else ():
        key = option.spelled(layer.source)
        for value in _as_list(layer.values.get(key)):
            if not _is_path(option, value) or inside(real_path(value), allowed):
                continue
            of = f" of {path}" if path else ""
            is_seen_from_file = path and not os.path.isabs(value)
            written = as_written(key, value, os.path.dirname(path)) if is_seen_from_file else value
            cure = f"keep a copy in the repository, or name it with --{option.name}"
            if layer.source is not Source.FILE:
                cure = "keep a copy in the repository; who runs virt-render may name its folder with --settings-folders"
            message = f"{written} leads out of the repository{of}"
            message = message if layer.location else f"{key}: {message}"
            yield codes.INVALID_SETTING.at(layer.at(key), message, help=cure)


_HEAD = {"apiVersion": API_VERSION, "kind": KIND}
_KEYS = frozenset({*_HEAD, "metadata", "spec"})
_SHAPE = f"write apiVersion: {API_VERSION}, kind: {KIND}, and the options below spec:"


def fault_of(body: Any) -> str:
    """What is wrong with a configuration apart from its options, ``""`` if nothing is."""
    if not isinstance(body, dict):
        return f"not a {KIND}"
    if any(body.get(key) != value for key, value in _HEAD.items()):
        return f"should have apiVersion {API_VERSION} and kind {KIND}"
    unknown = sorted(body.keys() - _KEYS)
    if unknown:
        return f"unknown key {unknown[0]}; the options stand below spec"
    if not isinstance(body.get("spec"), dict | None):
        return "spec should be a mapping of options"
    return ""


def rebased(spec: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """*spec* with its relative paths as seen from the working directory."""
    values = dict(spec)
    for option in OPTIONS:
        key = option.spelled(Source.FILE)
        value = values.get(key)
        if isinstance(value, list):
            values[key] = [
                os.path.join(folder, entry) if _is_path(option, entry) else entry for entry in value
            ]
        elif _is_path(option, value):
            values[key] = os.path.join(folder, values[key])
    return values


def as_written(key: str, value: Any, folder: str) -> Any:
    """The *value* of *key* in a configuration file in *folder* as its author wrote it, or might have."""
    if isinstance(value, list):
        return [as_written(key, entry, folder) for entry in value]
    options = (option for option in OPTIONS if option.spelled(Source.FILE) == key)
    return (
        os.path.relpath(value, folder or ".")
        if any(_is_path(option, value) for option in options)
        else value
    )


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_path(option: Option, value: Any) -> bool:
    named = option.kind == "path" and isinstance(value, str) and is_file_name(value)
    return named and value not in ("", *option.choices)


def cluster_config(path: str, limits: Limits) -> ObjectFiles:
    """The one KubeVirt or HyperConverged resource in the file *path*, or why there is none."""
    if os.path.isdir(path):
        message = (
            f"{path} is a folder, and should be a file with a KubeVirt or HyperConverged object"
        )
        return ObjectFiles((), (codes.INVALID_SETTING.at(Location(file=path), message),))
    documents, diagnostics, data = _documents(path, limits)
    if diagnostics:
        return ObjectFiles((), diagnostics, {path: data} if is_ours(path) else {})
    resources = [document for document in documents if _holds_settings(document.body)]
    if len(resources) != 1:
        message = (
            f"{path} holds {len(resources)} KubeVirt or HyperConverged objects and should hold one"
        )
        return ObjectFiles((), (codes.INVALID_SETTING.at(Location(file=path), message),))
    return ObjectFiles(tuple(resources))


def _holds_settings(body: Tree) -> bool:
    holder = resource.from_body(body, 0)
    return (holder.group, holder.kind) in resource.SETTINGS_HOLDERS


def catalog(paths: Sequence[str], limits: Limits) -> ObjectFiles:
    """The objects in the files and below the folders *paths*, which together have to keep to *limits*."""
    if not paths:
        return ObjectFiles()
    from render.manifests.sources.loading import load as read_all

    inputs = read_all(paths, Reading(limits, kustomize="never"))
    faults = tuple(diagnostic for diagnostic in inputs.diagnostics if diagnostic.is_error)
    files_ = {fault.location.file for fault in faults if fault.location.file in inputs.data}
    data = {file: inputs.data[file] for file in files_ if is_ours(file)}
    return ObjectFiles(tuple(inputs.documents), faults, data)


#: What says how much room a cluster has, by group and kind.
_OF_CLUSTER = frozenset(
    {
        *(("", kind) for kind in ("LimitRange", "Namespace", "Node", "ResourceQuota")),
        ("scheduling.k8s.io", "PriorityClass"),
        ("node.k8s.io", "RuntimeClass"),
    }
)


def cluster_objects(paths: Sequence[str], limits: Limits) -> ObjectFiles:
    """What says how much room a cluster has, in the files and below the folders *paths*; of nothing else a word."""
    found = catalog(paths, limits)
    return found._replace(documents=tuple(filter(_is_of_cluster, found.documents)))


def _is_of_cluster(document: Document) -> bool:
    cluster_object = resource.from_body(document.body, 0)
    return (cluster_object.group, cluster_object.kind) in _OF_CLUSTER


def _documents(path: str, limits: Limits) -> tuple[list[Document], tuple[Diagnostic, ...], bytes]:
    """The documents of the file *path*, or the errors that keep it from being used.

    What is wrong in a file of settings is wrong with the settings, whatever it would be in a manifest.
    """
    data = files.read(path, path, limits.file_bytes)
    if isinstance(data, Diagnostic):
        return [], (data,), b""
    contents = read(data, path, limits)
    faults = (
        diagnostic._replace(code=codes.INVALID_SETTING.number)
        for diagnostic in contents.diagnostics
    )
    return contents.documents, tuple(fault for fault in faults if fault.is_error), data
