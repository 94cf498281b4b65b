"""What Argo CD and Flux say of a kustomization beside it: `kustomize edit` and patches, before kustomize builds it.

Upstream: argo-cd util/kustomize/kustomize.go (Build); kustomize/commands/edit of kustomize; fluxcd/pkg
kustomize/kustomize_generator.go (GenerateManifest), ssa/utils/meta.go (SetCommonMetadata).
"""

import os
from collections.abc import Iterator, Mapping

from render.manifests.kustomization import is_remote
from render.manifests.uses.repository import Home
from render.manifests.uses.use import AFFIXES, KustomizationEdit, UnevaluatedError, mappings, texts
from render.model.hints import Any
from render.model.resource import text_at
from render.model.tree import Tree, get

#: What makes a path a pattern for ``kustomize edit``.
_PATTERN = frozenset("*?[")
_TEXTS = (*AFFIXES, "namespace")
#: What is added to maps of the kustomization, and the option by which it may replace what is there.
_ADDED = {"commonLabels": "forceCommonLabels", "commonAnnotations": "forceCommonAnnotations"}
#: What reaches no object of KubeVirt's: kustomize knows images and replicas of other kinds alone, unless it is told of
#: more images, Argo CD the rest.
_WITHOUT_EFFECT = frozenset(
    {"images", "replicas", "version", "kubeVersion", "apiVersions", "commonAnnotationsEnvsubst",
     "labelWithoutSelector", "labelIncludeTemplates", "ignoreMissingComponents", *_ADDED.values()}
)  # fmt: skip
_MALFORMED = "object that edits a kustomization which kustomize cannot read"


def edit_of(options: Any, folder: str, home: Home) -> KustomizationEdit | None:
    """What the *options* of a source edit in the kustomization of *folder*, None for nothing that counts.

    Raises UnevaluatedError.
    """
    if not isinstance(options, dict):
        return None
    _refuse_images(options, folder, home)
    counting = {
        key: value for key, value in options.items() if value and key not in _WITHOUT_EFFECT
    }
    if not counting:
        return None
    unknown = sorted(counting.keys() - {*_TEXTS, *_ADDED, "patches", "components"})
    if unknown:
        raise UnevaluatedError(f"Application with kustomize {', '.join(unknown)}")
    if options.get("commonAnnotationsEnvsubst") and "$" in str(options.get("commonAnnotations")):
        raise UnevaluatedError("Application with variables in its commonAnnotations")
    files = []
    for _, patch in mappings(options, "patches"):
        path = text_at(patch, "path")
        if path and is_remote(path):
            raise UnevaluatedError("Application with a patch from elsewhere", path)
        if path:
            files.append(home.file(path, folder))
        elif not text_at(patch, "patch"):
            raise UnevaluatedError("Application with a patch that says nothing")
    return KustomizationEdit(options, tuple(files), tuple(_components(options, folder, home)))


def edit_of_flux(spec: Any, folder: str, home: Home) -> KustomizationEdit | None:
    """What the *spec* of a Kustomization of Flux edits in the kustomization of *folder*, None for nothing that counts.

    Its images reach no object of KubeVirt's, unless kustomize is told so. Raises UnevaluatedError.
    """
    _refuse_images(spec, folder, home)
    options: Tree = {key: text_at(spec, key) for key in AFFIXES if text_at(spec, key)}
    if text_at(spec, "targetNamespace"):
        options["namespace"] = text_at(spec, "targetNamespace")
    # That which Flux adds when kustomize and substitution are done ends up on the same objects, and wins as here.
    if _is_filled(get(spec, "commonMetadata", "labels")):
        options |= {"commonLabels": spec["commonMetadata"]["labels"], "labelWithoutSelector": True}
    if _is_filled(get(spec, "commonMetadata", "annotations")):
        options |= {
            "commonAnnotations": spec["commonMetadata"]["annotations"],
            "forceCommonAnnotations": True,
        }
    patches = [patch for _, patch in mappings(spec, "patches")]
    if patches:
        options["patches"] = [
            {key: value for key, value in patch.items() if key in ("patch", "target")}
            for patch in patches
        ]
    components = tuple(_components_of_flux(spec, folder, home))
    if not options and not components:
        return None
    return KustomizationEdit(options, components=components, place=("spec",))


def _refuse_images(options: Any, folder: str, home: Home) -> None:
    """Raise UnevaluatedError where *options* set images, and configurations of *folder* say where else one stands."""
    if get(options, "images") and home.is_configured(folder, b"images", options):
        raise UnevaluatedError("kustomization with images in fields of its own configurations")


def _is_filled(declared: Any) -> bool:
    return isinstance(declared, dict) and bool(declared)


def _components_of_flux(spec: Any, folder: str, home: Home) -> Iterator[str]:
    """The folders of the components that *spec* adds; whether those that are not there count, it says."""
    for path in texts(spec, "components"):
        if is_remote(path) or os.path.isabs(path):
            raise UnevaluatedError("Flux Kustomization with a component from elsewhere", path)
        component = home.file(path, folder)
        if os.path.isdir(component):
            yield component
        elif not get(spec, "ignoreMissingComponents"):
            raise UnevaluatedError("Flux Kustomization with a component that is not there", path)


def _components(options: Any, folder: str, home: Home) -> Iterator[str]:
    """The folders of the components that *options* add; ``kustomize edit`` passes over those that are not there."""
    for path in texts(options, "components"):
        if is_remote(path):
            raise UnevaluatedError("Application with a component from elsewhere", path)
        if _PATTERN.intersection(path):
            raise UnevaluatedError("Application with a pattern of components", path)
        component = home.file(path, folder)
        if os.path.isdir(component):
            yield component


def edited(body: Tree, edit: KustomizationEdit, folder: str) -> Tree:
    """The kustomization *body* of *folder* after *edit*. Raises UnevaluatedError where kustomize refuses that."""
    options = edit.options
    changed = {**body, **{key: text_at(options, key) for key in _TEXTS if text_at(options, key)}}
    for key, force in _ADDED.items():
        added = options.get(key)
        if not isinstance(added, dict) or not added:
            continue
        pairs = {name: str(value) for name, value in added.items()}
        if key == "commonLabels" and options.get("labelWithoutSelector"):
            label: Tree = {"pairs": pairs}
            if options.get("labelIncludeTemplates"):
                label["includeTemplates"] = True
            changed["labels"] = [*_listed(changed, "labels"), label]
            continue
        known = changed.get(key) or {}
        if not isinstance(known, dict):
            raise UnevaluatedError(_MALFORMED)
        if known.keys() & pairs.keys() and not options.get(force):
            raise UnevaluatedError(f"Application whose {key} its kustomization has already")
        changed[key] = {**known, **pairs}
    patches = [_patch(patch) for _, patch in mappings(options, "patches")]
    if patches:
        changed["patches"] = [*_listed(changed, "patches"), *patches]
    if edit.components:
        added = (os.path.relpath(component, folder) for component in edit.components)
        known_components = _listed(changed, "components")
        changed["components"] = [
            *known_components,
            *dict.fromkeys(each for each in added if each not in known_components),
        ]
    return changed


def _listed(body: Tree, key: str) -> list[Any]:
    """What the kustomization *body* lists at *key*. Raises UnevaluatedError where that is no list."""
    value = body.get(key) or []
    if not isinstance(value, list):
        raise UnevaluatedError(_MALFORMED)
    return value


def _patch(declared: Mapping[str, Any]) -> Tree:
    """The *declared* patch with the fields that Argo CD knows: kustomize would take others for them, in any case."""
    patch: Tree = {
        key: text_at(declared, key) for key in ("patch", "path") if text_at(declared, key)
    }
    for key in ("target", "options"):
        if isinstance(declared.get(key), dict):
            patch[key] = declared[key]
    return patch
