"""What becomes of an edit of a PersistentVolumeClaim: the API server refuses most.

Upstream: Kubernetes pkg/apis/core/validation/validation.go (ValidatePersistentVolumeClaimUpdate) and
pkg/api/persistentvolumeclaim/util.go (NormalizeDataSources).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from render import schemas
from render.diagnostics.codes import CONTENT_DROPPED, UNKNOWN_FIELD
from render.diff import compare
from render.diff.impact import MachineImpact
from render.diff.sync_annotations import is_applied_otherwise
from render.model import tree
from render.model.apimachinery import quantity
from render.model.hints import Any
from render.model.release import NEWEST
from render.model.resource import SNAPSHOT, Resource
from render.model.tree import Tree
from render.pipeline.comparison.imports import field_changes
from render.pipeline.input import placeholders

_TYPE = "core.PersistentVolumeClaimSpec"
_KIND = "PersistentVolumeClaim"
_TAKEN = (UNKNOWN_FIELD.slug, CONTENT_DROPPED.slug)
_IMMUTABLE = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName"
    " for bound claims"
)
_SHRUNK = "field can not be less than status.capacity"
#: What a `dataSource` may name; the API server leaves out any other.
_SOURCES = (("", _KIND), (SNAPSHOT, "VolumeSnapshot"))
_Key = tuple[str, str]


def claim_impacts(
    before: Sequence[Resource], after: Sequence[Resource], namespace: str
) -> Iterator[MachineImpact]:
    """Of the claims of both states those whose edit is refused; *namespace* is that of claims without one.

    Claims of the first state are bound, to a volume as large as they ask for.
    """
    known = dict(_claims(before, namespace))
    for key, new in _claims(after, namespace) if known else ():
        old = known.get(key)
        if old is None or old.spec == new.spec:
            continue
        if is_applied_otherwise(old.body) or is_applied_otherwise(new.body):
            continue
        if any(placeholders.find(old)) or any(placeholders.find(new)):
            continue
        specs = _typed(old), _typed(new)
        if specs[0] is None or specs[1] is None:
            continue  # what cannot be read is said of the object
        refused = _refusal(specs[0], specs[1])
        if refused:
            changes = field_changes(specs[0], specs[1], ("spec",), new)
            yield MachineImpact(new.ref, ("refused",), (refused,), (*changes,))


def _claims(resources: Iterable[Resource], namespace: str) -> Iterator[tuple[_Key, Resource]]:
    for resource in resources:
        if resource.kind == _KIND and not resource.group and resource.name:
            yield (resource.namespace or namespace, resource.name), resource


def _typed(resource: Resource) -> Tree | None:
    """The spec as the API server reads it, None where it cannot."""
    spec = resource.body.get("spec")
    if not isinstance(spec, dict):
        return None
    decoded, causes = schemas.decode(spec, _TYPE, NEWEST)
    return None if any(cause.check not in _TAKEN for cause in causes) else decoded


def _refusal(old: Tree, new: Tree) -> str:
    """Why an update from the spec *old* to *new* is refused; ``""`` if it is not."""
    if any(is_edited(old, new) for is_edited in _EDITED):
        return _IMMUTABLE
    sizes = [tree.get(spec, "resources", "requests", "storage") for spec in (old, new)]
    if None not in sizes and quantity.compare(sizes[1], sizes[0]) < 0:
        return _SHRUNK
    return ""


def _differ(path: tuple[str, ...], go_type: str) -> Callable[[Tree, Tree], bool]:
    return lambda old, new: not compare.same(tree.get(old, *path), tree.get(new, *path), go_type)


def _requests(spec: Tree) -> dict[str, Any]:
    """What is asked for beside storage."""
    requests = tree.get(spec, "resources", "requests") or {}
    return {key: value for key, value in requests.items() if key != "storage"}


def _other_requests(old: Tree, new: Tree) -> bool:
    return not compare.same(_requests(old), _requests(new), "map[string]quantity")


def _has_other(key: str) -> Callable[[Tree, Tree], bool]:
    """What the cluster fills in where it is open may be said later, and what was said stays so."""
    return lambda old, new: bool(old.get(key)) and old.get(key) != new.get(key)


def _other_mode(old: Tree, new: Tree) -> bool:
    old_mode, new_mode = (spec.get("volumeMode") or "Filesystem" for spec in (old, new))
    return bool(old_mode != new_mode)


def _other_modes_of_access(old: Tree, new: Tree) -> bool:
    return bool(old.get("accessModes") != new.get("accessModes"))


def _source(spec: Tree) -> tuple[str, ...]:
    """The source of the data, in whichever of the two fields; nothing without one."""
    reference, plain = spec.get("dataSourceRef"), spec.get("dataSource")
    if reference is None and plain is not None:
        reference = plain if (plain.get("apiGroup") or "", plain.get("kind")) in _SOURCES else None
    keys = ("apiGroup", "kind", "name", "namespace")
    return () if reference is None else tuple(reference.get(key) or "" for key in keys)


def _other_source(old: Tree, new: Tree) -> bool:
    """Of one that is taken out of the manifest the API server keeps what it has put into the other field."""
    return bool(_source(new)) and _source(old) != _source(new)


_EDITED: tuple[Callable[[Tree, Tree], bool], ...] = (
    _other_modes_of_access,
    _differ(("selector",), "*meta.LabelSelector"),
    _differ(("resources", "limits"), "map[string]quantity"),
    _other_requests,
    _has_other("volumeName"),
    _has_other("storageClassName"),
    _other_mode,
    _other_source,
)
