"""The OpenAPI schema by which kustomize merges lists in VMs by name instead of replacing them.

KubeVirt publishes no merge keys, so that a strategic-merge patch with one disk drops all others. A schema of one's own
replaces the one that is built into kustomize, so this one also holds the merge keys of Kubernetes' own kinds.
Lists whose items have no name of their own in the first level (dataVolumeTemplates) cannot be merged by kustomize.
"""

from collections.abc import Iterable, Iterator, Mapping

from render.model.resource import INSTANCETYPE_GROUP, KUBEVIRT
from render.model.tree import Tree

POOL = "pool.kubevirt.io"
_VMI_LISTS = {
    "domain.devices.disks": "name",
    "domain.devices.filesystems": "name",
    "domain.devices.gpus": "name",
    "domain.devices.hostDevices": "name",
    "domain.devices.interfaces": "name",
    "networks": "name",
    "resourceClaims": "name",
    "utilityVolumes": "name",
    "volumes": "name",
}
_CONTAINER_LISTS = {
    "env": "name",
    "ports": "containerPort protocol",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
}
_POD_LISTS = {
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "topologySpreadConstraints": "topologyKey whenUnsatisfiable",
    "volumes": "name",
    **{
        path: key
        for group in ("containers", "initContainers", "ephemeralContainers")
        for path, key in (
            (group, "name"),
            *((f"{group}[].{name}", key) for name, key in _CONTAINER_LISTS.items()),
        )
    },
}
_DEVICES = {"gpus": "name", "hostDevices": "name"}
_WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
_KINDS: tuple[tuple[str, str, str, str, Mapping[str, str]], ...] = (
    (KUBEVIRT, "v1", "VirtualMachine", "spec.template.spec", _VMI_LISTS),
    (KUBEVIRT, "v1", "VirtualMachineInstance", "spec", _VMI_LISTS),
    (KUBEVIRT, "v1", "VirtualMachineInstanceReplicaSet", "spec.template.spec", _VMI_LISTS),
    (POOL, "v1beta1", "VirtualMachinePool", "spec.virtualMachineTemplate.spec.template.spec", _VMI_LISTS),
    (INSTANCETYPE_GROUP, "v1beta1", "VirtualMachineInstancetype", "spec", _DEVICES),
    (INSTANCETYPE_GROUP, "v1beta1", "VirtualMachineClusterInstancetype", "spec", _DEVICES),
    ("", "v1", "Pod", "spec", _POD_LISTS),
    ("", "v1", "PodTemplate", "template.spec", _POD_LISTS),
    ("", "v1", "ReplicationController", "spec.template.spec", _POD_LISTS),
    *(("apps", "v1", kind, "spec.template.spec", _POD_LISTS) for kind in _WORKLOADS),
    ("batch", "v1", "Job", "spec.template.spec", _POD_LISTS),
    ("batch", "v1", "CronJob", "spec.jobTemplate.spec.template.spec", _POD_LISTS),
    ("", "v1", "Service", "spec", {"ports": "port protocol"}),
    ("", "v1", "ServiceAccount", "", {"imagePullSecrets": "name", "secrets": "name"}),
    ("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "", {"webhooks": "name"}),
    ("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "", {"webhooks": "name"}),
    ("storage.k8s.io", "v1", "CSINode", "spec", {"drivers": "name"}),
)  # fmt: skip
"""Group, version, kind, where its lists stand, and the merge keys of each list."""
_CLUSTER_SCOPED = ("VirtualMachineClusterInstancetype", "VirtualMachineClusterPreference")


def schema() -> Tree:
    """The OpenAPI document.

    The paths tell kustomize which kinds have no namespace, so that it writes none into them.
    """
    return {
        "swagger": "2.0",
        "info": {"title": "merge keys for KubeVirt and Kubernetes", "version": "v1"},
        "paths": dict(_paths(INSTANCETYPE_GROUP, "v1beta1", _CLUSTER_SCOPED)),
        "definitions": {
            f"{group or 'core'}.{version}.{kind}": {
                **_object(_below(place, lists)),
                "x-kubernetes-group-version-kind": [_kind(group, version, kind)],
            }
            for group, version, kind, place, lists in _KINDS
        },
    }


def _kind(group: str, version: str, kind: str) -> Tree:
    return {"group": group, "kind": kind, "version": version}


def _paths(group: str, version: str, kinds: Iterable[str]) -> Iterator[tuple[str, Tree]]:
    for kind in kinds:
        get = {
            "x-kubernetes-action": "get",
            "x-kubernetes-group-version-kind": _kind(group, version, kind),
            "responses": {},
        }
        yield f"/apis/{group}/{version}/{kind.lower()}s/{{name}}", {"get": get}


def _below(place: str, lists: Mapping[str, str]) -> Tree:
    """The properties of an object whose *lists* stand at *place*."""
    properties: Tree = {}
    for path, keys in lists.items():
        node = properties
        *parents, last = [step for step in (*place.split("."), *path.split(".")) if step]
        for step in parents:
            name = step.removesuffix("[]")
            if step.endswith("[]"):
                node = node[name]["items"].setdefault("properties", {})
            else:
                node = node.setdefault(name, _object({}))["properties"]
        node[last] = _list(keys.split())
    return properties


def _object(properties: Tree) -> Tree:
    return {"type": "object", "properties": properties}


def _list(keys: list[str]) -> Tree:
    merged: Tree = {"type": "array", "items": {"type": "object"}}
    merged |= {"x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": keys[0]}
    return merged | ({"x-kubernetes-list-map-keys": keys} if keys[1:] else {})
