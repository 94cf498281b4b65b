"""The pods that bring hotplugged volumes to a node.

Upstream: pkg/virt-controller/services/template.go (RenderHotplugAttachmentPodTemplate,
RenderHotplugAttachmentTriggerPodTemplate).
"""

from collections.abc import Callable
from itertools import groupby

from render.launcher import resources, security
from render.launcher.cluster import LauncherCluster
from render.launcher.devices import claim_name
from render.launcher.launch import Launch, PodError
from render.launcher.volumes import HOTPLUG_DISKS
from render.model import tree
from render.model.release import MAIN, Form, Rows, form, rows, since, until
from render.model.tree import Tree

NODE = "node01"
_MOUNTED = ("Ready", "MountedToPod")
_TAINTS = (
    "unschedulable",
    "network-unavailable",
    "disk-pressure",
    "memory-pressure",
    "pid-pressure",
)
_OWN_TOLERATIONS: list[Tree] = [
    {"key": f"node.kubernetes.io/{taint}", "operator": "Exists", "effect": "NoSchedule"}
    for taint in _TAINTS
]


def attachment(launch: Launch, owner: Tree) -> Tree | None:
    """The pod that attaches the hotplugged volumes of *launch*, whose pod is *owner*; None where there are none.

    Raises `PodError` where a claim is known not to be there, or the SELinux context is not known.
    """
    attached = _attached(launch, owner)
    if not attached:
        return None
    objects = launch.cluster.objects
    for volume in attached:
        if objects.is_complete and launch.claim(claim_name(volume)) is None:
            raise PodError(f"claim of {volume.get('name') or ''} not found")
    context = {"level": security.level_of_attachment(launch.status)}
    if launch.cluster.selinux_type:
        context["type"] = launch.cluster.selinux_type
    container = _container(launch.cluster, context, _COMMAND)
    pod_volumes: list[Tree] = [_FOLDER]
    for volume in attached:
        _attach(launch, volume, container, pod_volumes)
    selector = {"key": "kubernetes.io/hostname", "operator": "In", "values": [_node(launch)]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [selector]}]}
    tolerations = _TOLERATIONS(launch.release)(owner["spec"].get("tolerations") or [])
    return _pod(
        launch,
        {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}},
        container,
        pod_volumes,
        tolerations,
    )


def _node(launch: Launch) -> str:
    return launch.status.get("nodeName") or NODE


def _attached(launch: Launch, owner: Tree) -> list[Tree]:
    """The volumes with a claim that the pod *owner* does not have."""
    known = {volume["name"] for volume in owner["spec"]["volumes"]}
    volumes = [volume for volume in launch.volumes if claim_name(volume)]
    for more in _UTILITY(launch.release):
        volumes += more(launch)
    return [volume for volume in volumes if volume.get("name") not in known]


def _utility_volumes(launch: Launch) -> list[Tree]:
    return [
        {
            "name": volume.get("name") or "",
            "persistentVolumeClaim": {"claimName": volume.get("claimName") or ""},
        }
        for volume in launch.spec.get("utilityVolumes") or ()
    ]


_UTILITY: Rows[Callable[[Launch], list[Tree]]] = rows(since("1.8", _utility_volumes))


_FOLDER = {"name": HOTPLUG_DISKS, "emptyDir": {}}
_COMMAND = ["/bin/sh", "-c", "/usr/bin/container-disk --copy-path /path/hp"]


def _container(cluster: LauncherCluster, context: Tree, command: list[str]) -> Tree:
    return {
        "name": "hotplug-disk",
        "image": cluster.image,
        "command": command,
        "resources": resources.support(cluster, resources.HOTPLUG),
        "volumeMounts": [
            {"name": HOTPLUG_DISKS, "mountPath": "/path", "mountPropagation": "HostToContainer"}
        ],
        "securityContext": {
            **security.SUPPORT,
            "seccompProfile": {"type": "RuntimeDefault"},
            "seLinuxOptions": context,
        },
    }


def _pod(
    launch: Launch,
    affinity: Tree,
    container: Tree,
    pod_volumes: list[Tree],
    tolerations: list[Tree],
) -> Tree:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": "hp-volume-",
            "namespace": launch.namespace,
            "labels": {"kubevirt.io": "hotplug-disk"},
            **_OWNER(launch.release)(launch),
        },
        "spec": {
            "affinity": affinity,
            **({"tolerations": tolerations} if tolerations else {}),
            "containers": [container],
            "volumes": pod_volumes,
            "terminationGracePeriodSeconds": 0,
        },
    }


def _owner(launch: Launch) -> Tree:
    prefix = "kubevirt.io/owner-vmi"
    return {"annotations": {f"{prefix}-name": launch.name, f"{prefix}-uid": launch.uid}}


_OWNER: Form[Callable[[Launch], Tree]] = form(
    until(MAIN, lambda _launch: {}),
    since(MAIN, _owner),
)


def _attach(launch: Launch, volume: Tree, container: Tree, pod_volumes: list[Tree]) -> None:
    name, claim = volume.get("name") or "", launch.claim(claim_name(volume))
    source = {"persistentVolumeClaim": {"claimName": claim_name(volume)}}
    pod_volumes.append({"name": name, **source})
    if tree.get(claim, "spec", "volumeMode") == "Block":
        uid = tree.get(claim, "metadata", "uid") or ""
        devices = container.setdefault("volumeDevices", [])
        devices.append({"name": name, "devicePath": f"/path/{name}/{uid}"})
    elif not _is_mounted(launch, name):
        container["volumeMounts"].append({"name": name, "mountPath": f"/{name}"})


def _is_mounted(launch: Launch, name: str) -> bool:
    return any(
        status.get("name") == name
        and status.get("hotplugVolume") is not None
        and status.get("phase") in _MOUNTED
        for status in launch.status.get("volumeStatus") or ()
    )


def _with_own(inherited: list[Tree]) -> list[Tree]:
    tolerations = sorted(
        [*_OWN_TOLERATIONS, *inherited], key=lambda toleration: toleration.get("key") or ""
    )
    return [toleration for toleration, _ in groupby(tolerations)]


_TOLERATIONS: Form[Callable[[list[Tree]], list[Tree]]] = form(
    until("1.8", list),
    since("1.8", _with_own),
)


def trigger(launch: Launch, owner: Tree) -> Tree | None:
    """The pod that has the claim of the first hotplugged volume bound, which waits for a consumer.

    *owner* is the pod of *launch*. Raises `PodError` as `attachment` does.
    """
    attached = _attached(launch, owner)
    if not attached:
        return None
    volume = attached[0]
    name = volume.get("name") or ""
    claim = launch.claim(claim_name(volume))
    if claim is None and launch.cluster.objects.is_complete:
        raise PodError(f"claim of {name} not found")
    context = {"level": security.level_of_attachment(launch.status)}
    container = _container(launch.cluster, context, ["/bin/bash", "-c", "exit", "0"])
    is_block = tree.get(claim, "spec", "volumeMode") == "Block"
    if is_block:
        device = {"name": name, "devicePath": "/dev/hotplugblockdevice"}
        container["volumeDevices"] = [device]
    else:
        container["volumeMounts"].append({"name": name, "mountPath": "/pvc"})
    term = {
        "labelSelector": {"matchLabels": owner["metadata"]["labels"]},
        "topologyKey": "kubernetes.io/hostname",
    }
    source = {"name": name, "persistentVolumeClaim": {"claimName": claim_name(volume)}}
    pod = _pod(
        launch,
        {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        container,
        [source, _FOLDER],
        owner["spec"].get("tolerations") or [],
    )
    annotations = pod["metadata"].setdefault("annotations", {})
    annotations["kubevirt.io/ephemeral-provisioning"] = "true"
    if is_block:
        pod["spec"]["securityContext"] = {"runAsUser": 0}
    return pod
