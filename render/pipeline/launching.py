"""The pods of what a rendering or a library call is about: the cluster of an input, and one VMI as it is found there."""

from collections.abc import Iterable, Mapping, Sequence

from render import schemas
from render.launcher import migration, placement, template
from render.launcher.cluster import LAUNCHER_IMAGE, ClusterObjects, LauncherCluster, Name
from render.launcher.launch import Launch, PodError
from render.model import tree
from render.model.release import Version
from render.model.resource import Resource
from render.model.tree import Tree
from render.pipeline.input import definitions
from render.pipeline.input.context import shared
from render.pipeline.machine import CONFIGURATION, Context
from render.settings import Settings

_VMI = "kubevirt.VirtualMachineInstance"
_USER = 107


def cluster_of(
    context: Context, resources: Iterable[Resource], *, is_complete: bool = False
) -> LauncherCluster:
    """The cluster that *resources* are in; *is_complete*: what is not among them is not there."""
    source = context.config_source
    configuration = tree.get(source.kubevirt, *CONFIGURATION) if source else None
    return LauncherCluster(
        context.config,
        configuration or {},
        context.release,
        _objects(resources, context.settings.namespace, is_complete=is_complete),
        context.settings.launcher_image or LAUNCHER_IMAGE,
    )


def _objects(resources: Iterable[Resource], namespace: str, *, is_complete: bool) -> ClusterObjects:
    claims: dict[Name, Tree] = {}
    made: dict[Name, Tree] = {}
    attachments: dict[Name, Tree] = {}
    config_maps: set[Name] = set()
    quotas: dict[str, tuple[Tree, ...]] = {}
    namespaces: dict[str, Mapping[str, str]] = {}
    nodes: list[Tree] = []
    for resource in resources:
        name = (resource.namespace or namespace, resource.name)
        match resource.group, resource.kind:
            case "", "PersistentVolumeClaim":
                claims[name] = resource.body
            case "cdi.kubevirt.io", "DataVolume":
                made[name] = claim_of(resource.body)
            case "k8s.cni.cncf.io", "NetworkAttachmentDefinition":
                attachments[name] = resource.body
            case "", "ConfigMap":
                config_maps.add(name)
            case "", "ResourceQuota":
                quotas[name[0]] = (*quotas.get(name[0], ()), resource.body)
            case "", "Namespace":
                namespaces[resource.name] = tree.get(resource.body, "metadata", "labels") or {}
            case "", "Node":
                nodes.append(resource.body)
            case _:
                pass
    return ClusterObjects(
        claims={**made, **claims},
        attachments=attachments,
        config_maps=frozenset(config_maps),
        quotas=quotas,
        namespaces=namespaces,
        nodes=tuple(nodes),
        is_complete=is_complete,
    )


def claim_of(data_volume: Tree) -> Tree:
    """The claim that becomes of a DataVolume."""
    spec = tree.get(data_volume, "spec") or {}
    return {
        "metadata": data_volume.get("metadata") or {},
        "spec": spec.get("pvc") or spec.get("storage") or {},
    }


def as_found(vmi: Tree, cluster: LauncherCluster) -> Tree:
    """*vmi* as virt-controller finds it: with the user of its pod, and the hints of its topology.

    Raises `PodError` where the settings of the cluster forbid it.
    """
    status = dict(vmi.get("status") or {})
    if "Root" not in cluster.gates:
        status.setdefault("runtimeUser", _USER)
    found = {**vmi, "status": status}
    hints = placement.topology_hints(Launch(found, cluster))
    if hints is not None:
        status["topologyHints"] = hints
    return found


def pod(
    vmi: Tree,
    resources: Iterable[Tree] = (),
    settings: Settings = Settings(),  # noqa: B008 - frozen
    target: bool = False,  # noqa: FBT001, FBT002 - the library's promise
) -> Tree:
    """The virt-launcher pod that virt-controller creates for *vmi* as it finds it, or a migration's with *target*."""
    cluster = library_cluster(resources, settings)
    found = as_found(decoded(vmi, cluster), cluster)
    made = migration.target(found, cluster) if target else template.pod(Launch(found, cluster))
    return tree.copy(made)


def library_cluster(resources: Iterable[Tree], settings: Settings) -> LauncherCluster:
    from render.pipeline.input import library

    objects = library.parse(resources).resources
    loaded = definitions.load(objects, settings)
    context = shared(objects, loaded, settings, len(objects), traced=False)
    return cluster_of(context, objects, is_complete=bool(objects))


def decoded(vmi: Tree, cluster: LauncherCluster) -> Tree:
    status = vmi.get("status")
    body, causes = schemas.decode(vmi, _VMI, cluster.release)
    encoded = schemas.encode(body, _VMI, cluster.release)
    return {**encoded, "status": status if isinstance(status, dict) else {}}
