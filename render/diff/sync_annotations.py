"""By which annotations Argo CD, Helm or Flux apply an object otherwise than others, or leave it where it was.

Upstream: Argo CD pkg/sync/resource/annotations.go of gitops-engine, Flux ssa/utils/meta.go and kustomize-controller
internal/controller/kustomization_controller.go, Helm pkg/action/resource_policy.go.
"""

from enum import Enum

from render.model.named_tuple import NamedTuple
from render.model.tree import Tree, get

_ARGO_CD, _FLUX, _HELM = "argocd.argoproj.io", "kustomize.toolkit.fluxcd.io", "helm.sh"
_OPTIONS = f"{_ARGO_CD}/sync-options"


class Sync(Enum):
    """What a sync does with an object."""

    HOOK = "makes it anew each time, or never makes it"
    KEEPS = "leaves it in the cluster when it is no longer in the repository"
    REPLACES = "makes it anew where its update is refused"
    LEAVES = "leaves it as it is, or does so once it is there"


class SyncAnnotation(NamedTuple):
    """An annotation of an object, the *word* among its words, ``""`` for any, and what a sync does then."""

    key: str
    word: str
    does: Sync


SYNC_ANNOTATIONS = (
    SyncAnnotation(f"{_ARGO_CD}/hook", "", Sync.HOOK),
    SyncAnnotation(_OPTIONS, "Force=true", Sync.REPLACES),
    SyncAnnotation(_OPTIONS, "Prune=false", Sync.KEEPS),
    SyncAnnotation(f"{_HELM}/hook", "", Sync.HOOK),
    SyncAnnotation("config.kubernetes.io/local-config", "true", Sync.HOOK),
    SyncAnnotation(f"{_HELM}/resource-policy", "keep", Sync.KEEPS),
    SyncAnnotation(f"{_FLUX}/force", "enabled", Sync.REPLACES),
    SyncAnnotation(f"{_FLUX}/prune", "disabled", Sync.KEEPS),
    SyncAnnotation(f"{_FLUX}/reconcile", "disabled", Sync.KEEPS),
    SyncAnnotation(f"{_FLUX}/reconcile", "disabled", Sync.LEAVES),
    SyncAnnotation(f"{_FLUX}/ssa", "IfNotPresent", Sync.LEAVES),
    SyncAnnotation(f"{_FLUX}/ssa", "Ignore", Sync.KEEPS),
    SyncAnnotation(f"{_FLUX}/ssa", "Ignore", Sync.LEAVES),
)
#: The annotations by which an object that is in the repository is applied otherwise.
ORDERS = tuple(dict.fromkeys(row.key for row in SYNC_ANNOTATIONS if row.does is not Sync.KEEPS))


def is_kept(body: Tree) -> bool:
    """Whether a sync leaves the object *body* in the cluster when it is no longer in the repository."""
    return _is(body, Sync.KEEPS)


def is_applied_otherwise(body: Tree) -> bool:
    """Whether no refusal of an update is the end of it for the object *body*: it is made anew, or left as it is."""
    return _is(body, Sync.REPLACES) or _is(body, Sync.LEAVES)


def _is(body: Tree, does: Sync) -> bool:
    return any(row.does is does and _says(body, row) for row in SYNC_ANNOTATIONS)


def _says(body: Tree, row: SyncAnnotation) -> bool:
    """Whether *body* has what *row* is about.

    Argo CD takes its options apart, and compares each as it is written. Flux compares the whole, in any case, and that
    of a label too. So does Helm, of annotations, where it uninstalls.
    """
    value = _text(body, "annotations", row.key)
    if row.key == _OPTIONS:
        return row.word in map(str.strip, value.split(","))
    texts = (
        [value.strip()] if row.key.startswith(_HELM) else [value, _text(body, "labels", row.key)]
    )
    return row.word.lower() in map(str.lower, texts)


def _text(body: Tree, where: str, key: str) -> str:
    value = get(body, "metadata", where, key)
    return value if isinstance(value, str) else ""
