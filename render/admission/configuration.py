"""Why KubeVirt would not use the configuration of its custom resource: its built-in defaults then stay in force.

Upstream: validateConfig in pkg/virt-config/configuration.go.
"""

from collections.abc import Iterator

from render.diagnostics.cause import Cause
from render.diagnostics.codes import INVALID_CLUSTER_CONFIG
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.nearest import did_you_mean
from render.model.tree import Tree

_PATH: FieldPath = ("spec", "configuration")
_METHODS: FieldPath = ("spec", "workloadUpdateStrategy", "workloadUpdateMethods")
_KNOWN_METHODS = ("LiveMigrate", "Evict")
_NETWORKS = ("bridge", "slirp", "masquerade")
#: (key of the developer configuration, least and greatest value, name in KubeVirt's text); 0 is unset.
_BOUNDS = (
    ("memoryOvercommit", 1, 2**63 - 1, "memoryOvercommit"),
    ("cpuAllocationRatio", 1, 2**63 - 1, "cpu allocation ratio"),
    ("pvcTolerateLessSpaceUpToPercent", 0, 100, "lessPVCSpaceToleration"),
)


def is_used(decoded: Tree, body: Tree) -> bool:
    """Whether KubeVirt takes the configuration of its resource; *decoded* lacks what of *body* no schema allows."""
    policy = (*_PATH, "imagePullPolicy")
    is_known = not tree.get(body, *policy) or tree.get(decoded, *policy) is not None
    return is_known and refusal(decoded) is None


def unknown_methods(body: Tree) -> Iterator[Cause]:
    """The methods of updating workloads in a decoded KubeVirt resource that KubeVirt passes over, since it knows none.

    Upstream: pkg/virt-controller/watch/workload-updater/workload-updater.go; no schema and no webhook lists them.
    """
    for index, method in enumerate(tree.get(body, *_METHODS) or ()):
        if method not in _KNOWN_METHODS:
            yield Cause(
                f"{INVALID_CLUSTER_CONFIG.slug}/update-method",
                (*_METHODS, index),
                f"KubeVirt knows no method {method} of updating workloads, and passes it over",
                did_you_mean(method, _KNOWN_METHODS, "write LiveMigrate or Evict"),
            )


def refusal(body: Tree) -> Cause | None:
    """Why a decoded KubeVirt resource is not used, None if it is."""
    config: Tree = tree.get(body, *_PATH) or {}
    network = tree.get(config, "network", "defaultNetworkInterface")
    if network and network not in _NETWORKS:
        return Cause(
            f"{INVALID_CLUSTER_CONFIG.slug}/default-network",
            (*_PATH, "network", "defaultNetworkInterface"),
            f"invalid default-network-interface in config: {network}",
        )
    for key, least, most, text in _BOUNDS:
        value = tree.get(config, "developerConfiguration", key) or least
        if not least <= value <= most:
            path = (*_PATH, "developerConfiguration", key)
            return Cause(
                f"{INVALID_CLUSTER_CONFIG.slug}/bounds",
                path,
                f"invalid {text} in ConfigMap: {value}",
            )
    return None
