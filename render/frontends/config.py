"""Files that hold settings: ``.virt-render.yaml``, and a KubeVirt custom resource with the cluster's."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import files
from render.manifests.reader import Document, Limits, read
from render.model import resource
from render.model.tree import Tree
from render.report.places import Sources
from render.settings import OPTIONS, Layer, Source

NAME = ".virt-render.yaml"
API_VERSION = f"{resource.OWN}/v1alpha1"
KIND = "RenderConfig"


class Loaded(NamedTuple):
    """The layer that the file gives (none without a file), what is wrong with it, where its keys stand, its *path*."""

    layers: tuple[Layer, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: Sources = Sources()
    path: str = ""


def load(paths: Sequence[str], named: str, limits: Limits) -> Loaded:
    """Read the file *named*, else the one in the first of *paths* that is a folder, else that of the working directory.

    Paths in it are relative to its own folder.
    """
    folders = [path for path in paths if os.path.isdir(path)][:1]
    candidates = [os.path.join(folder, NAME) for folder in folders if folder != "."] + [NAME]
    path = named or next((path for path in candidates if os.path.lexists(path)), "")
    if not path:
        return Loaded()
    documents, diagnostics, data = _documents(path, limits)
    if diagnostics:
        return Loaded((), diagnostics)
    if len(documents) != 1:
        message = f"{path} holds {len(documents)} documents and should hold one {KIND}"
        return Loaded((), (codes.INVALID_SETTING.at(Location(file=path), message),))
    document = documents[0]
    sources = Sources([document.origin], {path: data})
    fault = fault_of(document.body)
    if fault:
        return Loaded((), (codes.INVALID_SETTING.at(Location(file=path, index=0), fault),), sources)
    values = _rebased(document.body.get("spec") or {}, os.path.dirname(path))
    layer = Layer(Source.FILE, values, Location(path=("spec",), index=0, file=path))
    return Loaded((layer,), (), sources, path)


def fault_of(body: Any) -> str:
    """What is wrong with a configuration apart from its options, ``""`` if nothing is."""
    if not isinstance(body, dict):
        return f"not a {KIND}"
    if (body.get("apiVersion"), body.get("kind")) != (API_VERSION, KIND):
        return f"should have apiVersion {API_VERSION} and kind {KIND}"
    unknown = sorted(body.keys() - {"apiVersion", "kind", "metadata", "spec"})
    if unknown:
        return f"unknown key {unknown[0]}; the options stand below spec"
    if not isinstance(body.get("spec") or {}, dict):
        return "spec should be a mapping of options"
    return ""


def _rebased(spec: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """*spec* with its relative paths as seen from the working directory."""
    values = dict(spec)
    for option in OPTIONS:
        key = option.spelled(Source.FILE)
        value = values.get(key)
        if option.kind == "path" and isinstance(value, str) and value not in ("", *option.choices):
            values[key] = os.path.join(folder, value)
    return values


def cluster_config(path: str, limits: Limits) -> tuple[Tree | None, tuple[Diagnostic, ...]]:
    """The one KubeVirt custom resource in the file *path*, or why there is none."""
    documents, diagnostics, _ = _documents(path, limits)
    if diagnostics:
        return None, diagnostics
    objects = [resource.from_body(d.body, i) for i, d in enumerate(documents)]
    found = [one for one in objects if (one.group, one.kind) == (resource.KUBEVIRT, "KubeVirt")]
    if len(found) != 1:
        message = f"{path} holds {len(found)} KubeVirt objects and should hold one"
        return None, (codes.INVALID_SETTING.at(Location(file=path), message),)
    return found[0].body, ()


def _documents(path: str, limits: Limits) -> tuple[list[Document], tuple[Diagnostic, ...], bytes]:
    """The documents of the file *path*, or the errors that keep it from being used."""
    data = files.read(path, path, limits.file_bytes)
    if isinstance(data, Diagnostic):
        return [], (data,), b""
    found = read(data, path, limits)
    return found.documents, tuple(d for d in found.diagnostics if d.is_error), data
