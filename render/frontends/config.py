"""Files that hold settings: ``.virt-render.yaml``, and a KubeVirt custom resource with the cluster's."""

import os
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import files
from render.manifests.discover import inside, repository
from render.manifests.reader import Document, Limits, read
from render.model import resource
from render.model.resource import Origin
from render.model.tree import Tree
from render.settings import OPTIONS, Layer, Option, Source, is_name

NAME = ".virt-render.yaml"
API_VERSION = f"{resource.OWN}/v1alpha1"
KIND = "RenderConfig"
_NAME_IT = "put a copy there, or name the file with --config"


class Loaded(NamedTuple):
    """The layer that the file gives (none without a file), what is wrong with it, and where its keys stand."""

    layers: tuple[Layer, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    path: str = ""
    origins: tuple[Origin, ...] = ()
    data: Mapping[str, bytes] = MappingProxyType({})


class ClusterConfig(NamedTuple):
    """The KubeVirt custom resource in a file, or what is wrong with it, and the bytes of the file."""

    body: Tree | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    data: Mapping[str, bytes] = MappingProxyType({})


def load(paths: Sequence[str], named: str, limits: Limits) -> Loaded:
    """Read the file *named*, else the one in the first of *paths* that is a folder, else that of the working directory.

    Paths in it are relative to its own folder. A file that was not *named* came with the manifests, from whoever wrote
    them: nothing in it leads out of their repository.
    """
    folders = [path for path in paths if os.path.isdir(path)][:1]
    candidates = [os.path.join(folder, NAME) for folder in folders if folder != "."] + [NAME]
    path = named or next((path for path in candidates if os.path.lexists(path)), "")
    if not path:
        return Loaded()
    bounds = "" if named else _bounds(path)
    if bounds and not inside(os.path.realpath(path), [bounds]):
        message = f"{path} is a symbolic link that leads out of its repository"
        return Loaded((), (codes.INVALID_SETTING.at(Location(file=path), message, help=_NAME_IT),))
    documents, diagnostics, data = _documents(path, limits)
    loaded = Loaded((), diagnostics, path, tuple(one.origin for one in documents), {path: data})
    if diagnostics:
        return loaded
    if len(documents) != 1:
        message = f"{path} holds {len(documents)} documents and should hold one {KIND}"
        return loaded._replace(
            diagnostics=(codes.INVALID_SETTING.at(Location(file=path), message),)
        )
    body = documents[0].body
    fault = fault_of(body)
    if fault:
        place = Location(file=path, index=0)
        return loaded._replace(diagnostics=(codes.INVALID_SETTING.at(place, fault),))
    values = _rebased(body.get("spec") or {}, os.path.dirname(path))
    layer = Layer(Source.FILE, values, Location(path=("spec",), index=0, file=path))
    escapes = tuple(_escapes(layer, path, bounds))
    kept = {key: value for key, value in values.items() if key not in _keys(escapes)}
    return loaded._replace(layers=(layer._replace(values=kept),), diagnostics=escapes)


def _keys(faults: Sequence[Diagnostic]) -> set[str | int]:
    return {fault.location.path[-1] for fault in faults}


def _bounds(path: str) -> str:
    """The folder out of which nothing in the configuration *path* may lead.

    That is its git repository; without one the working directory, or its own folder where that is not below it.
    """
    folder, here = os.path.realpath(os.path.dirname(path)), os.path.realpath(".")
    return repository(folder) or (here if inside(folder, [here]) else folder)


def is_ours(file: str) -> bool:
    """Whether *file* belongs to what is worked on, and its lines may be shown.

    Settings may name any file, and whoever may set them (in an Application) need not be allowed to read it.
    """
    return inside(os.path.realpath(file), [_bounds("")])


def _escapes(layer: Layer, path: str, bounds: str) -> Iterator[Diagnostic]:
    """The paths in *layer*, the file *path*, that lead out of *bounds* (``""``: they may)."""
    for option in OPTIONS if bounds else ():
        key = option.spelled(Source.FILE)
        value = layer.values.get(key, "")
        if _is_path(option, value) and not inside(os.path.realpath(value), [bounds]):
            message = f"{value} leads out of the repository of {path}"
            cure = f"keep a copy in the repository, or name it with --{option.name}"
            yield codes.INVALID_SETTING.at(layer.at(key), message, help=cure)


def fault_of(body: Any) -> str:
    """What is wrong with a configuration apart from its options, ``""`` if nothing is."""
    if not isinstance(body, dict):
        return f"not a {KIND}"
    if (body.get("apiVersion"), body.get("kind")) != (API_VERSION, KIND):
        return f"should have apiVersion {API_VERSION} and kind {KIND}"
    unknown = sorted(body.keys() - {"apiVersion", "kind", "metadata", "spec"})
    if unknown:
        return f"unknown key {unknown[0]}; the options stand below spec"
    if not isinstance(body.get("spec"), dict | None):
        return "spec should be a mapping of options"
    return ""


def _rebased(spec: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """*spec* with its relative paths as seen from the working directory."""
    values = dict(spec)
    for option in OPTIONS:
        key = option.spelled(Source.FILE)
        if _is_path(option, values.get(key)):
            values[key] = os.path.join(folder, values[key])
    return values


def _is_path(option: Option, value: Any) -> bool:
    named = option.kind == "path" and isinstance(value, str) and is_name(value)
    return named and value not in ("", *option.choices)


def cluster_config(path: str, limits: Limits) -> ClusterConfig:
    """The one KubeVirt custom resource in the file *path*, or why there is none."""
    documents, diagnostics, data = _documents(path, limits)
    if diagnostics:
        return ClusterConfig(None, diagnostics, {path: data} if is_ours(path) else {})
    objects = [resource.from_body(d.body, i) for i, d in enumerate(documents)]
    found = [one for one in objects if (one.group, one.kind) == (resource.KUBEVIRT, "KubeVirt")]
    if len(found) != 1:
        message = f"{path} holds {len(found)} KubeVirt objects and should hold one"
        return ClusterConfig(None, (codes.INVALID_SETTING.at(Location(file=path), message),))
    return ClusterConfig(found[0].body)


def _documents(path: str, limits: Limits) -> tuple[list[Document], tuple[Diagnostic, ...], bytes]:
    """The documents of the file *path*, or the errors that keep it from being used.

    What is wrong in a file of settings is wrong with the settings, whatever it would be in a manifest.
    """
    data = files.read(path, path, limits.file_bytes)
    if isinstance(data, Diagnostic):
        return [], (data,), b""
    found = read(data, path, limits)
    faults = (one._replace(code=codes.INVALID_SETTING.number) for one in found.diagnostics)
    return found.documents, tuple(one for one in faults if one.is_error), data
