"""The VMI mutating webhook, after the presets.

Upstream: pkg/virt-api/webhooks/mutating-webhook/mutators/vmi-mutator.go.
"""

from collections.abc import Callable

from render.defaults import architectures, hotplug, hyperv, identity, objects, spec
from render.model import tree
from render.model.cluster_config import EMULATOR_THREAD, ClusterConfig
from render.model.draft import Draft
from render.model.release import Items, Version, in_force, since, until

QGS_SOCKET_PATH = "kubevirt.io/qgs-socket-path"


def fill_vmi(draft: Draft, config: ClusterConfig, release: Version) -> str:
    """Everything that KubeVirt *release* writes into a new VMI; returns why it cannot, or ``""``."""
    error = spec.fill_spec(draft, config, release)
    if error:
        return error
    architectures.fill_s390x_features(draft)
    objects.fill(draft)
    hyperv.fill(draft)
    architectures.fill(draft, config, release)
    hotplug.fill(draft, config, release)
    identity.annotate_pci_topology(draft, release)
    for mark in in_force(_MARKS, release):
        mark(draft, config, release)
    return ""


def _align_emulator_thread(draft: Draft, config: ClusterConfig, release: Version) -> None:
    if (
        draft.get("spec", "domain", "cpu", "isolateEmulatorThread")
        and config.emulator_thread_to_even_parity
        and config.has_gate("AlignCPUs", release)
    ):
        draft.put(("metadata", "annotations", EMULATOR_THREAD), "")


def _name_qgs_socket(draft: Draft, config: ClusterConfig, _release: Version) -> None:
    if draft.get("spec", "domain", "launchSecurity", "tdx") is not None and config.qgs_socket_path:
        draft.put(("metadata", "annotations", QGS_SOCKET_PATH), config.qgs_socket_path)


def _select_nodes(draft: Draft, _config: ClusterConfig, _release: Version) -> None:
    """What the launcher pod asks for by itself today."""
    sev = draft.get("spec", "domain", "launchSecurity", "sev")
    wanted = {
        "kubevirt.io/realtime": draft.get("spec", "domain", "cpu", "realtime") is not None,
        "kubevirt.io/sev": sev is not None,
        "kubevirt.io/sev-es": bool(tree.get(sev, "policy", "encryptedState")),
    }
    for label, is_wanted in wanted.items():
        if is_wanted:
            draft.put(("spec", "nodeSelector", label), "")


_MARKS: "Items[Callable[[Draft, ClusterConfig, Version], None]]" = (
    until("1.5", _select_nodes),
    _align_emulator_thread,
    since("1.9", _name_qgs_socket),
)
