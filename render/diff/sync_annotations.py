"""By which annotations Argo CD, Helm or Flux apply an object otherwise than others, or leave it where it was."""

from enum import Enum

from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree, get

_ARGO_CD, _FLUX, _HELM = "argocd.argoproj.io", "kustomize.toolkit.fluxcd.io", "helm.sh"


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
    SyncAnnotation(f"{_ARGO_CD}/sync-options", "Force=true", Sync.REPLACES),
    SyncAnnotation(f"{_ARGO_CD}/sync-options", "Prune=false", Sync.KEEPS),
    SyncAnnotation(f"{_HELM}/hook", "", Sync.HOOK),
    SyncAnnotation("config.kubernetes.io/local-config", "true", Sync.HOOK),
    SyncAnnotation(f"{_HELM}/resource-policy", "keep", Sync.KEEPS),
    SyncAnnotation(f"{_FLUX}/force", "enabled", Sync.REPLACES),
    SyncAnnotation(f"{_FLUX}/prune", "disabled", Sync.KEEPS),
    SyncAnnotation(f"{_FLUX}/reconcile", "disabled", Sync.KEEPS),
    SyncAnnotation(f"{_FLUX}/reconcile", "disabled", Sync.LEAVES),
    SyncAnnotation(f"{_FLUX}/ssa", "IfNotPresent", Sync.LEAVES),
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
    annotations = get(body, "metadata", "annotations")
    return isinstance(annotations, dict) and any(
        row.does is does and row.word.lower() in _words(annotations.get(row.key))
        for row in SYNC_ANNOTATIONS
    )


def _words(value: Any) -> list[str]:
    """The words of an annotation, in lower case."""
    return [word.strip() for word in str(value or "").lower().split(",")]
