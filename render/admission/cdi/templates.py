"""The DataVolume that KubeVirt makes of a dataVolumeTemplate.

Upstream: pkg/storage/types/dv.go (GenerateDataVolumeFromTemplate, GetResolvedCloneSource),
pkg/virt-controller/watch/util/util.go (CreateDataVolumeManifest), pkg/virt-controller/watch/vm/vm.go.
"""

from collections.abc import Callable

from render.diagnostics.cause import Cause
from render.model import tree
from render.model.hints import Any
from render.model.resource import text_at
from render.model.tree import Tree

_ADOPTION = "cdi.kubevirt.io/allowClaimAdoption"
_CLONED = ("pvc", "snapshot")
#: The spec of the DataSource of a namespace and a name; None for one that nobody knows.
FindSource = Callable[[str, str], Tree | None]


def datavolume(template: Tree, namespace: str, priority: str, find: FindSource) -> Tree | Cause:
    """What KubeVirt creates of a decoded *template* of a VM in *namespace* with the priority class *priority*.

    A `Cause` where it creates nothing. A DataSource that nobody knows is taken to name a claim.
    """
    metadata: Tree = template.get("metadata") or {}
    spec: Tree = {**(template.get("spec") or {})}
    if priority and not spec.get("priorityClassName"):
        spec["priorityClassName"] = priority
    source = _cloned(spec, namespace, find)
    if source is not None:
        spec.pop("sourceRef", None)
        spec["source"] = source
    if spec.get("sourceRef") is not None:
        return Cause(
            "cdi/source-ref",
            ("spec", "sourceRef"),
            "DataVolume sourceRef not supported",
            "name a DataSource (kind: DataSource) that holds a pvc or a snapshot",
        )
    for key in ("pvc", "storage"):
        if spec.get(key) is not None:
            spec[key] = {"resources": {}, **spec[key]}
    kept = {key: metadata[key] for key in ("name", "labels") if metadata.get(key)}
    annotations = {**(metadata.get("annotations") or {}), _ADOPTION: "true"}
    return {
        "apiVersion": "cdi.kubevirt.io/v1beta1",
        "kind": "DataVolume",
        "metadata": {**kept, "namespace": namespace, "annotations": annotations},
        "spec": spec,
    }


def _cloned(spec: Tree, namespace: str, find: FindSource) -> Tree | None:
    """The claim or snapshot to clone, with its namespace; None where nothing is cloned."""
    source: Any = spec.get("source")
    reference = spec.get("sourceRef")
    if reference is not None and reference.get("kind") == "DataSource":
        source_namespace = reference.get("namespace")
        namespace = namespace if source_namespace is None else source_namespace
        known = find(namespace, reference.get("name", ""))
        source = tree.get(known, "source") if known is not None else _unknown(namespace)
        if tree.get(source, "dataSource") is not None:  # its status tells, which the cluster has
            source = _unknown(namespace)
    for key in _CLONED:
        cloned = source.get(key) if isinstance(source, dict) else None
        if isinstance(cloned, dict):
            # An empty structure behind a pointer of Go: there, and without a name.
            filled = {"name": text_at(cloned, "name"), "namespace": text_at(cloned, "namespace")}
            others = () if reference is not None else (other for other in source if other != key)
            whole = {key: {**filled, "namespace": filled["namespace"] or namespace}}
            return {**{other: source[other] for other in others}, **whole}
    return None


def _unknown(namespace: str) -> Tree:
    return {"pvc": {"namespace": namespace, "name": "of-the-cluster"}}
