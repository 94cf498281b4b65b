"""The default network and interface (upstream: pkg/network/vmispec/defaults.go)."""

from render.defaults.devices import devices_of
from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft
from render.model.named_tuple import NamedTuple

INTERFACES = ("spec", "domain", "devices", "interfaces")
NETWORKS = ("spec", "networks")


class Added(NamedTuple):
    """Whether interface and network were added, or why they cannot be (KubeVirt's text)."""

    added: bool = False
    error: str = ""


_NOTHING = Added()


def add_default(draft: Draft, config: ClusterConfig) -> Added:
    """Attach the pod network where the VM names no network, unless it opts out."""
    devices = devices_of(draft)
    if devices.get("autoattachPodInterface") is False:
        return _NOTHING
    if devices.get("interfaces") or draft.get(*NETWORKS):
        return _NOTHING
    match config.default_network:
        case "slirp":
            return Added(error="slirp interface is deprecated as of v1.3")
        case "bridge" if not config.bridge_on_pod_network:
            return Added(error="bridge interface is not enabled in kubevirt-config")
        case "bridge" | "masquerade" as binding:
            draft.put(INTERFACES, [{"name": "default", binding: {}}])
        case _:
            pass  # unreachable in a cluster: the network comes without an interface
    draft.put(NETWORKS, [{"name": "default", "pod": {}}])
    return Added(added=True)
