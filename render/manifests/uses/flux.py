"""HelmReleases and Kustomizations of Flux: the charts and folders of this repository that they fill in.

Upstream: fluxcd/helm-controller internal/chartutil (values), api/v2 (GetReleaseName); fluxcd/pkg kustomize
(SubstituteVariables, LoadVariables).
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Location
from render.manifests import discover, kustomization
from render.manifests.discover import HelmRelease, ValuesText
from render.manifests.nearness import Nearness, nearest
from render.manifests.uses import values
from render.manifests.uses.kustomize_edit import edit_of_flux, edited
from render.manifests.uses.patterns import OF_FLUX
from render.manifests.uses.repository import Home
from render.manifests.uses.use import (
    BRANCHES,
    OF_ANOTHER,
    SUSPENDED,
    AbsentError,
    DemandedConfigMap,
    ElsewhereError,
    FolderUse,
    KustomizationEdit,
    UnevaluatedError,
    VariablePlace,
    Variables,
    mappings,
    named,
    texts,
)
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.resource import text_at
from render.model.tree import Tree, get
from render.yaml.reader import Document

HELM_GROUP = "helm.toolkit.fluxcd.io"
KUSTOMIZE_GROUP = "kustomize.toolkit.fluxcd.io"
SOURCE_GROUP = "source.toolkit.fluxcd.io"
_BOOTSTRAP = "flux-system"
"""What ``flux bootstrap`` calls the repository that it is told of."""
_KEEP = "keep the ConfigMap, which is deleted where the sync prunes, or make the reference optional"
_PATH = ("spec", "path")
_NO_FOLDER = "kustomization path not found"
"""What kustomize-controller says of a path that is not there (internal/controller/kustomization_controller.go)."""
#: Where a GitRepository says from where it takes what, and what it leaves out.
_OF_SOURCE = ("url", "ref", "ignore", "include")
#: What changes a build in ways of its own.
_OF_BUILD = ("patches", "components", "namePrefix", "nameSuffix", "commonMetadata")
_OF_OLD_BUILDS = ("patchesStrategicMerge", "patchesJson6902")


class NoText(NamedTuple):
    """A value that *document* has at *path*, as JSON writes it, where only texts may stand."""

    document: Document
    path: FieldPath
    written: str


class _ConfigMapData(NamedTuple):
    """What a ConfigMap holds as *texts*, and where each stands; as *variables*, without line breaks.

    *no_texts*: what it has in the place of texts.
    """

    texts: dict[str, str]
    variables: dict[str, str]
    places: dict[str, VariablePlace]
    no_texts: Sequence[NoText]

    def values(self, key: str, target: str) -> bytes:
        """The values that *key* has, at the path *target* if that says one. Raises UnevaluatedError."""
        if not target:
            return self.texts[key].encode("utf-8", "replace")
        tree: Tree = {}
        values.put_parameter(tree, target, self.texts[key], is_text=False)
        return values.as_text(tree)


class NamedDocuments:
    """The *documents* of one name: which of them an object means, asked by many."""

    __slots__ = ("_by_namespace", "_data", "_documents", "_nearness")

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._by_namespace: dict[str, list[Document]] = {}
        for document in documents:
            self._by_namespace.setdefault(_namespace(document), []).append(document)
        self._nearness: dict[str, Nearness[Document]] = {}
        self._data: dict[int, _ConfigMapData] = {}

    def nearest(self, namespace: str, asking: Document) -> Document | None:
        """That in *namespace*; a kustomization may give one to those that name none.

        Where several clusters have one, that in the folder nearest to the object *asking*.
        """
        exact = self._by_namespace.get(namespace)
        if exact and len(exact) > 1:
            return nearest(_own_folder(asking), [self._near(namespace, exact)])[0]
        fitting = exact or (self._by_namespace.get("", []) if namespace else self._documents)
        return fitting[0] if len(fitting) == 1 else None

    def _near(self, namespace: str, exact: Sequence[Document]) -> Nearness[Document]:
        """The *exact* ones, of *namespace*, by the folders around them."""
        if namespace not in self._nearness:
            near = self._nearness[namespace] = Nearness()
            for number, document in enumerate(exact):
                near.add(document, _own_folder(document), number, content=None)
        return self._nearness[namespace]

    def data(self, document: Document) -> _ConfigMapData:
        """What the ConfigMap *document*, one of these, holds."""
        known = self._data.get(id(document))
        if known is None:
            stated = document.body.get("data")
            pairs = stated.items() if isinstance(stated, dict) else ()
            texts_ = {key: _as_text(value) for key, value in pairs if _is_scalar(value)}
            known = self._data[id(document)] = _ConfigMapData(
                texts_,
                {key: text.replace("\n", "") for key, text in texts_.items()},
                {key: VariablePlace(document.origin, ("data", key)) for key in texts_},
                [*_no_texts(document, ("data",))],
            )
        return known


def _own_folder(document: Document) -> str:
    return os.path.dirname(document.origin.file)


class Referents(NamedTuple):
    """What objects of Flux may refer to, by name: *sources* and *config_maps*."""

    sources: Mapping[str, NamedDocuments]
    config_maps: Mapping[str, NamedDocuments]


def by_name(documents: Iterable[Document]) -> dict[str, NamedDocuments]:
    """*documents* by their names."""
    found: dict[str, list[Document]] = {}
    for document in documents:
        found.setdefault(text_at(document.body.get("metadata"), "name"), []).append(document)
    return {name: NamedDocuments(of_name) for name, of_name in found.items()}


def uses(
    document: Document, home: Home, base: HelmRelease, around: Referents
) -> Iterator[FolderUse | UnevaluatedError]:
    """What of this repository the object *document* of Flux fills in below what is read.

    *base* has what is true of all charts, *around* what it may refer to.
    """
    is_release = text_at(document.body, "apiVersion").startswith(f"{HELM_GROUP}/")
    try:
        use = (
            _release(document, home, base, around)
            if is_release
            else _kustomization(document, home, around)
        )
    except ElsewhereError:
        stated = get(document.body, "spec", "values") if is_release else None
        if values.may_hold_machines(stated):
            yield UnevaluatedError("HelmRelease of a chart from elsewhere with VMs in its values")
        elif values.may_hold_settings(stated):
            reason = "HelmRelease of a chart from elsewhere with settings of KubeVirt in its values"
            yield UnevaluatedError(reason)
        elif whose := _another(document, home, around):
            yield UnevaluatedError(f"{text_at(document.body, 'kind')} of {whose}")
    except UnevaluatedError as error:
        error.use = _folder_of(document, home), named(document)
        if isinstance(error, AbsentError):
            source = _source(document, _reference(document), around)
            error.is_certain = source is None or _is_read_branch(source)
            error.assumed = _claimed(document, _reference(document), home, around)
        yield error
    else:
        if use is not None:
            yield use._replace(revision=_revision(document, around))


def _reference(document: Document) -> Any:
    """What *document* names as its source."""
    spec = document.body.get("spec")
    chart = get(spec, "chart", "spec")
    return get(chart if isinstance(chart, dict) else spec, "sourceRef")


def _is_read_branch(source: Document) -> bool:
    """Whether *source* means the branch that is read, most likely, and no tag or commit."""
    revision = get(source.body.get("spec"), "ref")
    named = revision.keys() if isinstance(revision, dict) else ()
    return not {*named} - {"branch"} and text_at(revision, "branch") in BRANCHES


def _another(document: Document, home: Home, around: Referents) -> str:
    """Which repository *document* names instead of this one, where this one has VMs at its path; else ``""``.

    What is applied there as it is written is read so anyway.
    """
    spec = document.body.get("spec")
    chart = get(spec, "chart", "spec")
    reference = _reference(document)
    folder = _folder_of(document, home)
    if text_at(reference, "kind") != "GitRepository" or not folder or not home.is_read(folder):
        return ""
    is_known = bool(around.sources.get(text_at(reference, "name")))
    whose = OF_ANOTHER if is_known else "a GitRepository that is not in the input"
    if isinstance(chart, dict):
        return whose if home.is_chart_of_machines(folder) else ""
    changes = (*_OF_BUILD, *_OF_OLD_BUILDS, "targetNamespace")
    is_changed = any(get(spec, name) for name in changes) or get(spec, "postBuild", "substitute")
    return whose if is_changed and home.is_built_of_machines(folder, _edits(spec)) else ""


def _folder_of(document: Document, home: Home) -> str:
    """The folder that *document* fills in; nothing where that is none of the repository."""
    spec = document.body.get("spec")
    try:
        return _folder(home, text_at(get(spec, "chart", "spec"), "chart") or text_at(spec, "path"))
    except UnevaluatedError:
        return ""


def _folder(home: Home, path: str) -> str:
    """The folder or file *path*: above the top there is nothing, so that ``..`` ends there. Raises UnevaluatedError.

    Upstream: filepath-securejoin, by which Flux joins every path to the folder of its source.
    """
    return home.folder(os.path.normpath(f"/{path}"))


def _kustomization(document: Document, home: Home, around: Referents) -> FolderUse | None:
    """What a Kustomization makes of a folder that is built; None where there is no VM, or where it is of no account.

    Raises UnevaluatedError, ElsewhereError.
    """
    spec = document.body.get("spec")
    build = get(spec, "postBuild")
    if not isinstance(build, dict) or not (build.get("substitute") or build.get("substituteFrom")):
        return _plain(document, home, around)
    assumptions = _claimed(document, get(spec, "sourceRef"), home, around)
    folder = _folder(home, text_at(spec, "path"))
    if not home.is_read(folder):
        return None
    home.demand(folder, _PATH, _NO_FOLDER)
    if not home.is_built_of_machines(folder, _edits(spec)):
        return None
    if kustomization.find(folder) is None:
        raise UnevaluatedError("Flux Kustomization of a folder without a kustomization", folder)
    variables = _variables(document, build, around)
    return FolderUse(
        named(document),
        document,
        folder,
        variables=variables,
        is_complete=variables.is_complete,
        assumptions=assumptions,
        edit=_edit(spec, folder, home),
        namespace=text_at(spec, "targetNamespace"),
        references=_references(document, ("spec", "postBuild", "substituteFrom"), around),
        is_server_side=True,
    )


def _variables(document: Document, build: Mapping[str, Any], around: Referents) -> Variables:
    """What the Kustomization *document* substitutes after its *build*: what it says itself is the last word."""
    known: dict[str, str] = {}
    places: dict[str, VariablePlace] = {}
    held: dict[int, _ConfigMapData] = {}
    is_complete = True
    for _, reference in mappings(build, "substituteFrom"):
        config_map = _config_map(document, reference, around)
        if config_map is None:
            is_complete &= bool(reference.get("optional")) and _is_config_map(reference)
            continue
        data = config_map[1]
        held.pop(id(data), None)  # of one that is named twice the last time counts
        held[id(data)] = data
    for data in held.values():
        known |= data.variables
        places |= data.places
    substitute = build.get("substitute")
    if isinstance(substitute, dict):
        own = {key: _as_text(value) for key, value in substitute.items() if _is_scalar(value)}
        path = ("spec", "postBuild", "substitute")
        known |= {key: value.replace("\n", "") for key, value in own.items()}
        places |= {key: VariablePlace(document.origin, (*path, key)) for key in own}
    return Variables(known, is_complete, places)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _as_text(value: Any) -> str:
    """The text that was meant where *value* is another scalar, which has lost its quotes."""
    return value if isinstance(value, str) else json.dumps(value)


def no_texts(document: Document, around: Referents) -> Iterator[NoText]:
    """The values that a Kustomization *document* substitutes and that are no texts, for which it is refused.

    Or the ConfigMap that has them. (postBuild.substitute of kustomize.toolkit.fluxcd.io: additionalProperties are
    strings; so is what a ConfigMap holds.)
    """
    build = get(document.body.get("spec"), "postBuild")
    if not isinstance(build, dict):
        return
    yield from _no_texts(document, ("spec", "postBuild", "substitute"))
    for _, reference in mappings(build, "substituteFrom"):
        found = _config_map(document, reference, around)
        yield from found[1].no_texts if found else ()


def _no_texts(document: Document, path: FieldPath) -> Iterator[NoText]:
    stated = get(document.body, *path)
    for key, value in stated.items() if isinstance(stated, dict) else ():
        if _is_scalar(value) and not isinstance(value, str):
            yield NoText(document, (*path, key), json.dumps(value))


def _plain(document: Document, home: Home, around: Referents) -> FolderUse | None:
    """The folder that *document* applies without variables. Raises as `_kustomization`."""
    spec = document.body.get("spec")
    assumptions = _claimed(document, get(spec, "sourceRef"), home, around)
    folder = _folder(home, text_at(spec, "path"))
    if not home.is_read(folder):
        return None
    home.demand(folder, _PATH, _NO_FOLDER)
    namespace, edit = text_at(spec, "targetNamespace"), None
    is_changed = bool(namespace or _changes(spec))
    if (is_changed or get(spec, "images")) and home.is_built_of_machines(folder, _edits(spec)):
        if kustomization.find(folder) is not None:
            edit = _edit(spec, folder, home)
        elif is_changed:
            _refuse_changes(spec)
            if home.is_part(folder):
                reason = "Flux Kustomization of a folder without a kustomization"
                raise UnevaluatedError(reason, folder)
    return FolderUse(
        named(document), document, folder, assumptions=assumptions, edit=edit, is_deep=True,
        namespace=namespace, is_server_side=True, patterns=OF_FLUX,
    )  # fmt: skip


def _edit(spec: Any, folder: str, home: Home) -> KustomizationEdit | None:
    """What *spec* edits in the kustomization of *folder*. Raises UnevaluatedError where it is of a way of long ago."""
    old = [name for name in _OF_OLD_BUILDS if get(spec, name)]
    if old:
        raise UnevaluatedError(f"Flux Kustomization with {', '.join(old)}")
    edit = edit_of_flux(spec, folder, home)
    file = kustomization.find(folder)
    if edit is not None and file is not None:
        for document in home.known.load(file, home.limits).documents:
            edited(document.body, edit, folder)  # where kustomize refuses that, it is said here
    return edit


def _edits(spec: Any) -> Tree:
    """What of *spec* may change the objects that are built: not what it says of their health, say."""
    names = (*_changes(spec), "images", "postBuild")
    return {name: spec[name] for name in names if get(spec, name)}


def _changes(spec: Any) -> list[str]:
    """The fields by which *spec* changes the build."""
    return [name for name in (*_OF_BUILD, *_OF_OLD_BUILDS) if get(spec, name)]


def _refuse_changes(spec: Any) -> None:
    """Raise UnevaluatedError where *spec* changes the build: nobody makes the kustomization that it changes."""
    changed = _changes(spec)
    if changed:
        raise UnevaluatedError(f"Flux Kustomization with {', '.join(changed)}")


def _release(
    document: Document, home: Home, base: HelmRelease, around: Referents
) -> FolderUse | None:
    """What a HelmRelease makes of a chart of this repository. Raises UnevaluatedError, ElsewhereError."""
    spec = document.body.get("spec")
    chart = get(spec, "chart", "spec")
    if not isinstance(chart, dict):
        return None
    assumptions = _claimed(document, chart.get("sourceRef"), home, around)
    folder = _folder(home, text_at(chart, "chart"))
    if not home.is_read(folder):
        return None
    home.demand(folder, ("spec", "chart", "spec", "chart"), "invalid chart reference")
    rendered_after = get(spec, "postRenderers")
    stated = values.may_hold_machines(get(spec, "values")) or values.may_hold(rendered_after)
    if not home.is_chart_with(folder, stated):
        return None
    if rendered_after:
        raise UnevaluatedError("HelmRelease with postRenderers")
    files = texts(chart, "valuesFiles") or list(filter(None, [text_at(chart, "valuesFile")]))
    value_files = [_folder(home, file) for file in files]
    usual = discover.join(folder, "values.yaml")
    base = base._replace(has_defaults=not value_files or usual in value_files)
    if chart.get("ignoreMissingValuesFiles"):
        value_files = [file for file in value_files if os.path.lexists(file)]
    inline, is_complete = _values(document, around)
    metadata, name = document.body.get("metadata"), text_at(document.body.get("metadata"), "name")
    target = text_at(spec, "targetNamespace")
    release = base._replace(
        name=text_at(spec, "releaseName") or (f"{target}-{name}" if target else name),
        namespace=target or text_at(metadata, "namespace") or base.namespace,
        values=tuple(file for file in value_files if file != usual or not base.has_defaults),
        texts=inline,
    )
    return FolderUse(
        named(document), document, folder, release, is_complete=is_complete,
        assumptions=assumptions, namespace=release.namespace,
        references=_references(document, ("spec", "valuesFrom"), around),
    )  # fmt: skip


def _values(document: Document, around: Referents) -> tuple[tuple[ValuesText, ...], bool]:
    """The values that a HelmRelease states and refers to, and whether these are all. Raises UnevaluatedError."""
    found: dict[object, ValuesText] = {}
    is_complete = True
    for _, reference in mappings(document.body, "spec", "valuesFrom"):
        config_map = _config_map(document, reference, around)
        if config_map is None:
            is_complete &= bool(reference.get("optional")) and _is_config_map(reference)
            continue
        (config_map_, data), key = config_map, text_at(reference, "valuesKey") or "values.yaml"
        if key not in data.texts:
            is_complete &= bool(reference.get("optional"))
            continue
        target = text_at(reference, "targetPath")
        named_so = id(data), key, target
        known = found.pop(named_so, None)  # of what is named twice the last time counts
        found[named_so] = known or ValuesText(
            data.values(key, target), config_map_.origin, ("data", key), is_text=not target
        )
    stated = get(document.body, "spec", "values")
    if isinstance(stated, dict) and stated:
        text = values.as_text(stated)
        found[""] = ValuesText(text, document.origin, ("spec", "values"), has_places=True)
    return tuple(found.values()), is_complete


def _references(
    document: Document, path: FieldPath, around: Referents
) -> dict[str, DemandedConfigMap]:
    """The ConfigMaps at *path* of *document* that are not optional, each with what Flux says where it is missing."""
    found = {}
    place = Location(file=document.origin.file, line=document.origin.line, column=1)
    for _, reference in mappings(document.body, *path):
        if not _is_config_map(reference) or reference.get("optional"):
            continue
        config_map = _config_map(document, reference, around)
        of_values = path[-1] == "valuesFrom"
        key = (text_at(reference, "valuesKey") or "values.yaml") if of_values else ""
        is_known = config_map is not None and (not key or key in config_map[1].texts)
        code = codes.HELM_FAILED if of_values else codes.KUSTOMIZE_FAILED
        name = text_at(reference, "name")
        words = _missing(document, name, key, is_there=config_map is not None)
        fault = code.at(place, f"{named(document)}: {words}", help=_KEEP)
        found[f"{name} {key}"] = DemandedConfigMap(name, is_known, fault)
    return found


def _missing(document: Document, name: str, key: str, *, is_there: bool) -> str:
    """What Flux says of a ConfigMap of *document*'s, or of its *key* with values, that is missing.

    Upstream: fluxcd/pkg chartutil/values.go (ErrValuesReference), kustomize/kustomize_varsub.go (LoadVariables).
    """
    reason = "key not found" if is_there else f'configmaps "{name}" not found'
    if not key:
        return f"substitute from 'ConfigMap/{name}' error: {reason}"
    full = f"{_namespace(document)}/{name}"
    return f"could not resolve ConfigMap chart values reference '{full}' with key '{key}': {reason}"


def _claimed(document: Document, reference: Any, home: Home, around: Referents) -> tuple[str, ...]:
    """What is assumed so that *reference* means this repository. Raises ElsewhereError where it does not."""
    if text_at(reference, "kind") != "GitRepository":
        raise ElsewhereError
    known = _source(document, reference, around)
    if known is None:
        name = text_at(reference, "name")
        if name != _BOOTSTRAP:
            raise ElsewhereError
        return (f"GitRepository {name} is this repository",)
    return home.claimed(text_at(known.body.get("spec"), "url"))


def _source(document: Document, reference: Any, around: Referents) -> Document | None:
    """The GitRepository that *reference* of *document* means; None for what is not in the input."""
    sources = around.sources.get(text_at(reference, "name"))
    namespace = text_at(reference, "namespace") or _namespace(document)
    return sources.nearest(namespace, document) if sources else None


def _revision(document: Document, around: Referents) -> str:
    """From where *document* takes what it applies, and to which cluster, as it and its source say; or `SUSPENDED`."""
    spec = document.body.get("spec")
    if get(spec, "suspend") is True:
        return SUSPENDED
    known = _source(document, _reference(document), around)
    if known is None:
        return ""
    stated = known.body.get("spec")
    decided = [get(stated, key) for key in _OF_SOURCE]
    return json.dumps([*decided, get(spec, "kubeConfig")], sort_keys=True, default=str)


def _config_map(
    document: Document, reference: Mapping[str, Any], around: Referents
) -> tuple[Document, _ConfigMapData] | None:
    """The ConfigMap that *reference* means, and its data; None for a Secret, and for what is not in the input."""
    known = around.config_maps.get(text_at(reference, "name"))
    if known is None or not _is_config_map(reference):
        return None
    config_map = known.nearest(_namespace(document), document)
    return (config_map, known.data(config_map)) if config_map else None


def _is_config_map(reference: Mapping[str, Any]) -> bool:
    return text_at(reference, "kind") == "ConfigMap"


def _namespace(document: Document) -> str:
    return text_at(document.body.get("metadata"), "namespace")
