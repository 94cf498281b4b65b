"""HyperConverged: the KubeVirt custom resource that the operator of OpenShift Virtualization writes.

Upstream: the hyperconverged-cluster-operator, whose minor 1.N + 10 brings KubeVirt 1.N.
"""

from render.convert.hyperconverged.cluster import Cluster, ClusterNode
from render.convert.hyperconverged.translation import (
    KIND,
    Assumption,
    Pruned,
    Refusal,
    Translation,
    kubevirt_of,
)

__all__ = [
    "KIND",
    "Assumption",
    "Cluster",
    "ClusterNode",
    "Pruned",
    "Refusal",
    "Translation",
    "kubevirt_of",
]
