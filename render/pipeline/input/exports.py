"""What an object still has from the cluster that it was taken from: nobody applies that, and it changes nothing."""

from collections.abc import Iterator

from render.diagnostics.codes import SERVER_FIELDS
from render.diagnostics.diagnostic import Diagnostic, at
from render.diagnostics.fix import Fix, removal
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.resource import INSTANCETYPE_GROUP, KUBEVIRT, VM, Resource
from render.model.tree import Tree

_METADATA = (
    "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "selfLink",
    "managedFields",
)  # fmt: skip
#: What only an object of a cluster has; null is what code writes that never asked one.
TELLING = frozenset({"uid", "resourceVersion", "managedFields"})
#: Written by kubectl and by the controllers.
_ANNOTATIONS = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "kubevirt.io/latest-observed-api-version",
    "kubevirt.io/storage-observed-api-version",
)
#: What the controller has recorded of the definitions in force, which counts.
_RECORDED = frozenset({"instancetypeRef", "preferenceRef"})


def left_over(resource: Resource) -> Iterator[Diagnostic]:
    """That *resource*, a VM or a definition, was exported and not cleaned."""
    is_definition = resource.group == INSTANCETYPE_GROUP
    if not is_definition and (resource.group, resource.kind) != (KUBEVIRT, VM):
        return
    metadata = resource.body.get("metadata")
    if not isinstance(metadata, dict) or not any(metadata.get(key) for key in TELLING):
        return
    paths = [*_of_metadata(metadata), *_of_status(resource.body)]
    names = ", ".join(dict.fromkeys(".".join(map(str, path[:2])) for path in paths))
    cure = "remove what the cluster wrote"
    yield SERVER_FIELDS.at(
        at(resource, paths[0]),
        f"taken from a cluster, whose own fields have no effect here: {names}",
        help=cure,
        fixes=(Fix(cure, removal(resource.body, paths), safe=True),),
    )


def _of_metadata(metadata: Tree) -> Iterator[FieldPath]:
    yield from (("metadata", key) for key in _METADATA if key in metadata)
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict):
        yield from (("metadata", "annotations", key) for key in _ANNOTATIONS if key in annotations)


def _of_status(body: Tree) -> Iterator[FieldPath]:
    status = body.get("status")
    recorded = _RECORDED & status.keys() if isinstance(status, dict) else ()
    if "status" in body and not recorded:
        yield ("status",)
    elif recorded:
        yield from (("status", key) for key in tree.get(body, "status") if key not in _RECORDED)
