"""A pool and a replica set, and what they need."""

from typing import Any

from render.model import tree
from render.model.resource import Resource, from_body

Json = dict[str, Any]
WITHIN = ("spec", "virtualMachineTemplate")
SMALL: Json = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineInstancetype",
    "metadata": {"name": "small", "namespace": "shop"},
    "spec": {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}},
}
VMI: Json = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {
        "domain": {"devices": {}},
        "volumes": [
            {"name": "root", "dataVolume": {"name": "root"}},
            {"name": "settings", "configMap": {"name": "settings"}},
            {"name": "key", "secret": {"secretName": "key"}},
        ],
    },
}
SOURCE: Json = {
    "storage": {"resources": {"requests": {"storage": "1Gi"}}},
    "source": {"blank": {}},
}
VM: Json = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {
        "runStrategy": "Always",
        "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
        "dataVolumeTemplates": [{"metadata": {"name": "root"}, "spec": SOURCE}],
        "template": VMI,
    },
}
SELECTOR: Json = {"matchLabels": {"app": "web"}}


def pool(**spec: Any) -> Json:
    body: Json = {
        "apiVersion": "pool.kubevirt.io/v1beta1",
        "kind": "VirtualMachinePool",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 3, "selector": SELECTOR, "virtualMachineTemplate": VM, **spec},
    }
    copied: Json = tree.copy(body)
    return copied


def resources(*bodies: Json) -> list[Resource]:
    """The objects of *bodies* at their positions."""
    return [from_body(body, index) for index, body in enumerate(bodies)]


def replica_set() -> Json:
    template = tree.copy(VMI)
    template["spec"]["domain"]["memory"] = {"guest": "1Gi"}
    template["spec"]["volumes"] = []
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstanceReplicaSet",
        "metadata": {"name": "set", "namespace": "shop"},
        "spec": {"replicas": 3, "selector": SELECTOR, "template": template},
    }


def changed(body: Json, value: Any, *path: str | int) -> Json:
    body = tree.copy(body)
    holder = body
    for step in path[:-1]:
        holder = holder[step]  # type: ignore[index]
    holder[path[-1]] = value  # type: ignore[index]
    return body
