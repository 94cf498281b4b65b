"""What Argo CD says of a kustomization beside it: `kustomize edit` and patches, before kustomize builds it.

Upstream: argo-cd util/kustomize/kustomize.go (Build); kustomize/commands/edit of kustomize.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from render.manifests.kustomization import is_remote
from render.manifests.uses.repository import Home
from render.manifests.uses.use import UnevaluatedError, mappings
from render.model.resource import text_at
from render.model.tree import Tree

_AFFIXES = ("namePrefix", "nameSuffix")
_TEXTS = (*_AFFIXES, "namespace")
#: What is added to maps of the kustomization, and the option by which it may replace what is there.
_ADDED = {"commonLabels": "forceCommonLabels", "commonAnnotations": "forceCommonAnnotations"}
#: What reaches no object of KubeVirt's: kustomize knows images and replicas of other kinds alone, Argo CD the rest.
_WITHOUT_EFFECT = frozenset(
    {"images", "replicas", "version", "kubeVersion", "apiVersions", "commonAnnotationsEnvsubst",
     "labelWithoutSelector", "labelIncludeTemplates", "ignoreMissingComponents", *_ADDED.values()}
)  # fmt: skip


class KustomizationEdit(NamedTuple):
    """What an Application edits in a kustomization: its *options*, and the *files* that its patches stand in."""

    options: Mapping[str, Any]
    files: tuple[str, ...] = ()

    def affixes(self) -> tuple[str, str]:
        """What is put before and behind names."""
        before, after = (text_at(self.options, key) for key in _AFFIXES)
        return before, after


def edit_of(options: Any, folder: str, home: Home) -> KustomizationEdit | None:
    """What the *options* of a source edit in the kustomization of *folder*, None for nothing that counts.

    Raises UnevaluatedError.
    """
    if not isinstance(options, dict):
        return None
    counting = {
        key: value for key, value in options.items() if value and key not in _WITHOUT_EFFECT
    }
    if not counting:
        return None
    unknown = sorted(counting.keys() - {*_TEXTS, *_ADDED, "patches"})
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
    return KustomizationEdit(options, tuple(files))


def edited(body: Tree, edit: KustomizationEdit) -> Tree:
    """The kustomization *body* as *edit* leaves it. Raises UnevaluatedError where kustomize refuses that."""
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
            changed["labels"] = [*(changed.get("labels") or ()), label]
            continue
        known = changed.get(key) or {}
        if known.keys() & pairs.keys() and not options.get(force):
            raise UnevaluatedError(f"Application whose {key} its kustomization has already")
        changed[key] = {**known, **pairs}
    patches = [_patch(one) for _, one in mappings(options, "patches")]
    if patches:
        changed["patches"] = [*(changed.get("patches") or ()), *patches]
    return changed


def _patch(given: Mapping[str, Any]) -> Tree:
    """The patch *given* with the fields that Argo CD knows: kustomize would take others for them, in any case."""
    patch: Tree = {key: text_at(given, key) for key in ("patch", "path") if text_at(given, key)}
    for key in ("target", "options"):
        if isinstance(given.get(key), dict):
            patch[key] = given[key]
    return patch
