"""What the VMI controller makes of a VMI: the status without which there is no pod, and the pod.

Upstream: pkg/virt-controller/watch/vmi/lifecycle.go.
"""

from collections.abc import Iterable, Mapping

from render.admission import configuration
from render.diagnostics.codes import NO_POD
from render.launcher import placement, template
from render.launcher.cluster import LAUNCHER_IMAGE, ClusterObjects, LauncherCluster, Name
from render.launcher.launch import NO_CLAIMS, Launch, PodError
from render.machine import CONFIGURATION, Context, Machine
from render.model import tree
from render.model.named_tuple import NamedTuple
from render.model.resource import CDI, Resource
from render.model.tree import Tree

_USER = 107
_NAMES = ("name", "generateName")


def cluster_of(context: Context, *, is_complete: bool = False) -> LauncherCluster:
    """The cluster of a rendering; *is_complete*: what is not in its input does not exist."""
    source, settings = context.config_source, context.settings
    used: Tree = {}
    if source is not None and has_settings(context):
        used = tree.get(source.kubevirt, *CONFIGURATION) or {}
    return LauncherCluster(
        context.config,
        used,
        context.release,
        _objects(context.catalogue.resources, settings.namespace)._replace(is_complete=is_complete),
        settings.launcher_image or LAUNCHER_IMAGE,
    )


def has_settings(context: Context) -> bool:
    """Whether anything says how the cluster of a rendering is set up, which its API server takes."""
    source = context.config_source
    return source is not None and configuration.refusal(source.kubevirt) is None


def _objects(resources: Iterable[Resource], namespace: str) -> ClusterObjects:
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
            case group, "DataVolume" if group == CDI:
                made[name] = _claim(resource.body)
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
    )


def _claim(data_volume: Tree) -> Tree:
    """The claim that becomes of a DataVolume."""
    spec = tree.get(data_volume, "spec") or {}
    return {
        "metadata": data_volume["metadata"],
        "spec": spec.get("pvc") or spec.get("storage") or {},
    }


def found(vmi: Tree, cluster: LauncherCluster, claims: Mapping[str, Tree] = NO_CLAIMS) -> Launch:
    """*vmi* as the controller makes a pod of it: with the user of the pod, and what its CPUs need of the node.

    *claims*: those that its VM has made, by name. Raises `PodError` where the settings of the cluster leave no node
    for it.
    """
    status = dict(vmi.get("status") or {})
    if "Root" not in cluster.gates:
        status.setdefault("runtimeUser", _USER)
    launch = Launch({**vmi, "status": status}, cluster, claims=claims)
    hints = placement.topology_hints(launch)
    if hints is not None:
        status["topologyHints"] = hints
    return launch


class Launched(NamedTuple):
    """The VMI of a machine on its way into a pod, and that *pod*."""

    launch: Launch
    pod: Tree


def launched(machine: Machine, vmi: Tree) -> Launched | None:
    """The pod of the *vmi* that *machine* starts; None where KubeVirt makes none, which is reported."""
    try:
        return launch(machine, vmi)
    except PodError as error:
        path = (*machine.vmi_path[:-1], *error.path)
        machine.report(NO_POD, path, f"KubeVirt makes no pod: {error}")
        return None


def launch(machine: Machine, vmi: Tree) -> Launched:
    """The pod of the *vmi* that *machine* starts. Raises `PodError` where KubeVirt makes none."""
    cluster = launcher_cluster(machine.context)
    metadata = {key: value for key, value in vmi["metadata"].items() if key not in _NAMES}
    # What is random in the name of an instance is not in that of its pod.
    beginning: str = vmi["metadata"].get("generateName") or ""
    name = vmi["metadata"].get("name") or beginning.rstrip("-")
    own = {**vmi, "metadata": {"name": name, **metadata, "namespace": machine.namespace}}
    starting = found(own, cluster, _claims(machine))
    pod = template.pod(starting)
    if not machine.resource.namespace:
        pod["metadata"].pop("namespace")
    return Launched(starting, pod)


def launcher_cluster(context: Context) -> LauncherCluster:
    """The cluster of all machines of a rendering."""
    if not context.clusters:
        context.clusters.append(cluster_of(context))
    return context.clusters[0]


def _claims(machine: Machine) -> Mapping[str, Tree]:
    """The claims that the VM itself has made, by their names."""
    return {
        tree.get(template, "metadata", "name") or "": _claim(template)
        for template in machine.spec.get("dataVolumeTemplates") or ()
    }
