"""Architecture and machine type (upstream: pkg/defaults/defaults.go)."""

from collections.abc import Callable

from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft
from render.model.release import Rows, Version, rows, since, until

PCI_TOPOLOGY = "kubevirt.io/pci-topology-version"


def fill_architecture(draft: Draft, config: ClusterConfig) -> None:
    """The cluster's default architecture where none is given."""
    if not _architecture(draft) and config.default_architecture:
        draft.put(("spec", "architecture"), config.default_architecture)


def fill_machine_type(draft: Draft, config: ClusterConfig) -> None:
    """The cluster's machine type for the architecture where none is given."""
    if not draft.get("spec", "domain", "machine", "type"):
        machine_type = config.machine_type_for(_architecture(draft) or "")
        draft.put(("spec", "domain", "machine", "type"), machine_type)


def annotate_pci_topology(draft: Draft, release: Version) -> None:
    """Mark a new PCIe machine with the current PCI topology version."""
    for has_pcie in _HAS_PCIE(release):
        if has_pcie(draft) and PCI_TOPOLOGY not in (draft.get("metadata", "annotations") or {}):
            draft.put(("metadata", "annotations", PCI_TOPOLOGY), "v3")


def _architecture(draft: Draft) -> str | None:
    architecture: str | None = (draft.tree.get("spec") or {}).get("architecture")
    return architecture


def _any(_draft: Draft) -> bool:
    return True


def _by_architecture(draft: Draft) -> bool:
    return _architecture(draft) in ("amd64", "arm64", "", None)


def _by_machine_type(draft: Draft) -> bool:
    if not _by_architecture(draft):
        return False
    machine = draft.get("spec", "domain", "machine")
    if machine is None:
        return True
    machine_type: str = machine.get("type", "")
    return "q35" in machine_type or machine_type.startswith("virt")


#: How a PCIe machine is told: each minor release learned it in three patches.
_HAS_PCIE: Rows[Callable[[Draft], bool]] = rows(
    since("1.6.4", until("1.6.5", _any)),
    since("1.6.5", until("1.6.6", _by_architecture)),
    since("1.6.6", until("1.7", _by_machine_type)),
    since("1.7.2", until("1.7.3", _any)),
    since("1.7.3", until("1.7.4", _by_architecture)),
    since("1.7.4", until("1.8", _by_machine_type)),
    since("1.8", until("1.8.2", _any)),
    since("1.8.2", until("1.8.3", _by_architecture)),
    since("1.8.3", _by_machine_type),
)
