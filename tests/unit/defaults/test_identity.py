"""The annotation of PCIe machines, by release."""

import pytest

from render.defaults.identity import PCI_TOPOLOGY, annotate_pci_topology
from render.model.draft import Draft
from render.model.release import version

_ANY = ("amd64 q35", "amd64 pc", "arm64 virt", "s390x s390-ccw-virtio", "amd64", "-")
_BY_ARCHITECTURE = ("amd64 q35", "amd64 pc", "arm64 virt", "amd64", "-")
_BY_MACHINE_TYPE = ("amd64 q35", "arm64 virt", "amd64", "-")


@pytest.mark.parametrize(
    ("release", "marked"),
    [
        ("1.6.3", ()),
        ("1.6.4", _ANY),
        ("1.6.5", _BY_ARCHITECTURE),
        ("1.6.6", _BY_MACHINE_TYPE),
        ("1.7.1", ()),
        ("1.7.2", _ANY),
        ("1.7.3", _BY_ARCHITECTURE),
        ("1.7.4", _BY_MACHINE_TYPE),
        ("1.8.1", _ANY),
        ("1.8.2", _BY_ARCHITECTURE),
        ("1.8.3", _BY_MACHINE_TYPE),
        ("1.9.0", _BY_MACHINE_TYPE),
    ],
)
def test_which_machines_are_marked(release: str, marked: tuple[str, ...]) -> None:
    assert tuple(item for item in _ANY if _is_marked(item, release)) == marked


def _is_marked(machine: str, release: str) -> bool:
    """*machine*: its architecture, ``-`` for none, and its type if it has one."""
    architecture, _, machine_type = machine.partition(" ")
    spec = {"architecture": architecture.strip("-"), "domain": {}}
    if machine_type:
        spec["domain"] = {"machine": {"type": machine_type}}
    draft = Draft({"metadata": {}, "spec": spec})
    annotate_pci_topology(draft, version(release))
    return bool(draft.get("metadata", "annotations", PCI_TOPOLOGY) == "v3")
