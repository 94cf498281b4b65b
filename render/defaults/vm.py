"""The defaults of the VM mutating webhook, on creation.

Upstream: pkg/virt-api/webhooks/mutating-webhook/mutators/vm-mutator.go, pkg/instancetype/webhooks/vm/mutator.go.
"""

from collections.abc import Callable

from render.defaults import identity
from render.model import tree
from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft
from render.model.hints import Final
from render.model.release import Rows, Version, holds, rows, since, until
from render.model.resource import text_at
from render.model.tree import Tree


class Unknown(str):
    """A value that only the cluster knows: it is set, and equal to nothing an author can write."""

    __slots__ = ()


#: What the webhook makes up for firmware uuid and serial; of characters that every release takes for a serial.
RANDOM: Final = Unknown("made-up-by-the-cluster")

FIRMWARE = ("spec", "domain", "firmware")
ARCHITECTURE_LABEL = "template.kubevirt.io/architecture"
#: Chosen once; another one would give every VM new hardware.
_NAMESPACE = "6f0b6a3e-6c4e-5d0a-9a53-0d9b0f5f7c11"
_ARCHITECTURES = ("amd64", "arm64", "s390x")
_ASKS_SOURCES = since("1.6.4", "the label of a DataSource gives the architecture")
#: namespace, name -> the DataSource, or None.
FindDataSource = Callable[[str, str], Tree | None]


def stable_identity(draft: Draft, namespace: str, name: str) -> None:
    """Derive firmware uuid and serial from *namespace* and *name* where a VM template has none."""
    from uuid import UUID, uuid5

    for key in ("uuid", "serial"):
        if not draft.get(*FIRMWARE, key):
            derived = uuid5(UUID(_NAMESPACE), f"{key}:{namespace}/{name}")
            draft.put((*FIRMWARE, key), str(derived))


def fill_template(
    draft: Draft,
    preference: Tree | None,
    config: ClusterConfig,
    data_source_architecture: str,
    release: Version,
) -> None:
    """Architecture, machine type, firmware identity and PCI topology of a VM template."""
    for fill in _PREFERRED(release):
        fill(draft, preference or {})
    firmware = draft.get(*FIRMWARE) or {}
    made_up = {key: RANDOM for key in _MADE_UP(release) if not firmware.get(key)}
    if made_up:
        draft.put(FIRMWARE, {**firmware, **made_up})
    if not draft.get("spec", "architecture") and data_source_architecture:
        draft.put(("spec", "architecture"), data_source_architecture)
    identity.fill_architecture(draft, config)
    identity.fill_machine_type(draft, config)
    identity.annotate_pci_topology(draft, release)


def _fill_architecture(draft: Draft, preference: Tree) -> None:
    architecture = preference.get("preferredArchitecture")
    if architecture and not draft.get("spec", "architecture"):
        draft.put(("spec", "architecture"), architecture)


def _fill_machine_type(draft: Draft, preference: Tree) -> None:
    machine_type = tree.get(preference, "machine", "preferredMachineType")
    if machine_type and not draft.get("spec", "domain", "machine", "type"):
        draft.put(("spec", "domain", "machine", "type"), machine_type)


_PREFERRED: Rows[Callable[[Draft, Tree], None]] = rows(
    since("1.7", _fill_architecture), _fill_machine_type
)
#: What of the firmware the webhook makes up.
_MADE_UP: Rows[str] = rows(
    since("1.6", "uuid"),
    since("1.5.3", until("1.6", "serial")),
    since("1.6.1", "serial"),
)


def fill_storage_class(templates: list[Tree], preference: Tree | None) -> list[Tree]:
    """DataVolumeTemplates with the preferred storage class where they name none."""
    preferred = tree.get(preference, "volumes", "preferredStorageClassName")
    if not preferred:
        return templates
    filled = []
    for template in templates:
        draft = Draft(template)
        for key in ("pvc", "storage"):
            claim = draft.get("spec", key)
            if claim is not None and claim.get("storageClassName") is None:
                draft.put(("spec", key, "storageClassName"), preferred)
        filled.append(draft.tree)
    return filled


def architecture_of_sources(
    templates: list[Tree], namespace: str, find: FindDataSource, release: Version
) -> str:
    """The architecture that the first DataSource behind *templates* is labelled with, else ``""``."""
    for template in templates if holds(_ASKS_SOURCES, release) else ():
        reference = tree.get(template, "spec", "sourceRef")
        if text_at(reference, "kind").lower() != "datasource":
            continue
        source = find(text_at(reference, "namespace") or namespace, text_at(reference, "name"))
        onward = tree.get(source, "spec", "source", "dataSource")
        if onward is not None:
            # One hop only.
            source = find(text_at(onward, "namespace"), text_at(onward, "name"))
        architecture = tree.get(source, "metadata", "labels", ARCHITECTURE_LABEL)
        if architecture in _ARCHITECTURES:
            return str(architecture)
    return ""
