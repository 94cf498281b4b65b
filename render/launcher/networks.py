"""Networks: what Multus is told, the devices of NetworkAttachmentDefinitions, and what Istio is.

Upstream: pkg/network/pod/annotations/generator.go, pkg/network/multus/annotation.go, pkg/network/multus/nad.go.
"""

import hashlib
from collections.abc import Iterator, Mapping
from functools import lru_cache

from render.launcher.launch import Launch, PodError
from render.model import tree
from render.model.apimachinery.go import marshalled
from render.model.release import Rows, rows, since
from render.model.tree import Tree

_NETWORKS = "k8s.v1.cni.cncf.io/networks"
_DEFAULT_NETWORK = "v1.multus-cni.io/default-network"
_RESOURCE_NAME = "k8s.v1.cni.cncf.io/resourceName"
_HASHED = 11
_BRIDGE = "k6t-eth0"
_ISTIO: Rows[str] = rows(
    "traffic.sidecar.istio.io/kubevirtInterfaces",
    since("1.6", "istio.io/reroute-virtual-interfaces"),
)


def annotations(launch: Launch) -> Iterator[tuple[str, str]]:
    """The annotations of a pod for its networks. Raises `PodError` for an unknown network binding."""
    if launch.networks:
        elements = _selection(launch)
        if elements:
            yield _NETWORKS, marshalled(elements)
        for network in launch.networks:
            if tree.get(network, "multus", "default"):
                yield _DEFAULT_NETWORK, network["multus"].get("networkName") or ""
                break
    if "masquerade" in launch.bindings:
        for key in _ISTIO(launch.release):
            yield key, _BRIDGE


def _selection(launch: Launch) -> list[Tree]:
    networks = {network.get("name"): network for network in launch.networks}
    plugged = [interface for interface in launch.interfaces if interface.get("state") != "absent"]
    first = {interface.get("name"): interface for interface in reversed(plugged)}
    elements: list[Tree] = []
    for interface in plugged:
        name = interface.get("name")
        network = networks.get(name)
        if network is None:
            continue
        multus = network.get("multus")
        if multus is not None and not multus.get("default"):
            elements.append(_element(launch, network, first[name]))
        binding = first[name].get("binding")
        if binding is not None and "NetworkBindingPlugins" in launch.gates:
            elements += _element_of_binding(launch, binding.get("name") or "", network)
    return elements


def _element(launch: Launch, network: Tree, interface: Tree) -> Tree:
    namespace, name = namespaced(network["multus"].get("networkName") or "", launch.namespace)
    element = {"name": name, "namespace": namespace, "mac": interface.get("macAddress")}
    element["interface"] = _pod_interface(network.get("name") or "")
    return {key: value for key, value in element.items() if value or key == "name"}


@lru_cache(maxsize=1024)
def _pod_interface(network: str) -> str:
    """What the interface of a *network* is called in the pod."""
    return f"pod{hashlib.sha256(network.encode()).hexdigest()[:_HASHED]}"


def _element_of_binding(launch: Launch, name: str, network: Tree) -> Iterator[Tree]:
    plugin = launch.cluster.bindings.get(name)
    if plugin is None:
        raise PodError(
            f"unable to find the network binding plugin '{name}' in Kubevirt configuration"
        )
    definition = plugin.get("networkAttachmentDefinition")
    if definition:
        namespace, own = namespaced(definition, launch.namespace)
        element = {"name": own, "namespace": namespace}
        cni = {"logicNetworkName": network.get("name") or ""}
        yield {key: value for key, value in element.items() if value or key == "name"} | {
            "cni-args": cni
        }


def namespaced(name: str, namespace: str) -> tuple[str, str]:
    """Namespace and name of a NetworkAttachmentDefinition that is named from *namespace*."""
    before, slash, after = name.partition("/")
    return (before, after) if slash else (namespace, name)


def resources_of_networks(launch: Launch) -> Mapping[str, str]:
    """The devices that stand for the networks, by the names of these; ``""`` where a network has none.

    Raises `PodError` for a NetworkAttachmentDefinition that is known not to be there.
    """
    if "ExternalNetResourceInjection" in launch.gates:
        return {}
    objects = launch.cluster.objects
    devices = {}
    for network in launch.networks:
        multus = network.get("multus")
        if multus is None:
            continue
        key = namespaced(multus.get("networkName") or "", launch.namespace)
        definition = objects.attachments.get(key)
        if definition is None and objects.is_complete:
            raise PodError(f"failed to locate network attachment definition {key[0]}/{key[1]}")
        annotated = tree.get(definition, "metadata", "annotations", _RESOURCE_NAME)
        devices[network.get("name") or ""] = annotated or ""
    return devices


def network_devices(launch: Launch) -> Iterator[str]:
    """The devices of the networks, one for each that has one."""
    yield from filter(None, resources_of_networks(launch).values())


def shows_devices(launch: Launch) -> bool:
    """Whether the pod is told which devices its networks got."""
    if "binding" not in launch.bindings:
        return launch.has_sriov
    return launch.has_sriov or any(
        tree.get(
            launch.cluster.bindings.get(tree.get(interface, "binding", "name") or ""), "downwardAPI"
        )
        == "device-info"
        for interface in launch.interfaces
        if interface.get("binding") is not None
    )
