"""The VMI mutating webhook, after the presets.

Upstream: pkg/virt-api/webhooks/mutating-webhook/mutators/vmi-mutator.go.
"""

from render.defaults import architectures, hotplug, hyperv, identity, objects, spec
from render.model.cluster_config import EMULATOR_THREAD, ClusterConfig
from render.model.draft import Draft

QGS_SOCKET_PATH = "kubevirt.io/qgs-socket-path"


def fill(draft: Draft, config: ClusterConfig) -> str:
    """Everything that KubeVirt writes into a new VMI; returns why it cannot, or ``""``."""
    error = spec.fill(draft, config)
    if error:
        return error
    architectures.fill_s390x_features(draft)
    objects.fill(draft)
    hyperv.fill(draft)
    architectures.fill(draft, config)
    hotplug.fill(draft, config)
    identity.annotate_pci_topology(draft)
    _annotate(draft, config)
    return ""


def _annotate(draft: Draft, config: ClusterConfig) -> None:
    if (
        draft.get("spec", "domain", "cpu", "isolateEmulatorThread")
        and config.emulator_thread_to_even_parity
        and "AlignCPUs" in config.feature_gates
    ):
        draft.put(("metadata", "annotations", EMULATOR_THREAD), "")
    if draft.get("spec", "domain", "launchSecurity", "tdx") is not None and config.qgs_socket_path:
        draft.put(("metadata", "annotations", QGS_SOCKET_PATH), config.qgs_socket_path)
