"""Architecture and machine type (upstream: pkg/defaults/defaults.go)."""

from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft

PCI_TOPOLOGY = "kubevirt.io/pci-topology-version"


def fill_architecture(draft: Draft, config: ClusterConfig) -> None:
    """The cluster's default architecture where none is given."""
    if not draft.get("spec", "architecture") and config.default_architecture:
        draft.put(("spec", "architecture"), config.default_architecture)


def fill_machine_type(draft: Draft, config: ClusterConfig) -> None:
    """The cluster's machine type for the architecture where none is given."""
    if not draft.get("spec", "domain", "machine", "type"):
        machine_type = config.machine_type_for(draft.get("spec", "architecture") or "")
        draft.put(("spec", "domain", "machine", "type"), machine_type)


def annotate_pci_topology(draft: Draft) -> None:
    """Mark a new PCIe machine with the current PCI topology version."""
    if draft.get("spec", "architecture") not in ("amd64", "arm64", "", None):
        return
    machine = draft.get("spec", "domain", "machine")
    if machine is not None:
        machine_type = machine.get("type", "")
        if "q35" not in machine_type and not machine_type.startswith("virt"):
            return
    if PCI_TOPOLOGY not in (draft.get("metadata", "annotations") or {}):
        draft.put(("metadata", "annotations", PCI_TOPOLOGY), "v3")
