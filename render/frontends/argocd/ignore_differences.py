"""What the cluster adds to a VirtualMachine when it is created, as Argo CD's ``ignoreDifferences``.

Upstream: pkg/virt-api/webhooks/mutating-webhook/mutators/vm-mutator.go. Only for VMs that are synced as they are
written: a rendered VM leaves these fields to the cluster in a way that Argo CD does not call a difference.
"""

from collections.abc import Iterable

from render.model.hints import Any
from render.model.kinds import INSTANCETYPE, KIND_CLASSES
from render.model.resource import KUBEVIRT, Resource
from render.model.tree import Tree

SEEDED = (
    "/spec/template/metadata/annotations/kubevirt.io~1pci-topology-version",
    "/spec/template/spec/architecture",
    "/spec/template/spec/domain/firmware/serial",
    "/spec/template/spec/domain/firmware/uuid",
    "/spec/template/spec/domain/machine",
)
"""Made up for a new VM and kept, or taken from the cluster's configuration or a preference."""
SEEDED_IN_LISTS = (
    ".spec.dataVolumeTemplates[]?.spec.pvc.storageClassName",
    ".spec.dataVolumeTemplates[]?.spec.storage.storageClassName",
)
"""Taken from a preference."""
_MATCHER = ("inferFromVolume", "inferFromVolumeFailurePolicy", "kind", "name")
_MEMORY = "/spec/template/spec/domain/memory"


def differences(resources: Iterable[Resource]) -> list[Tree]:
    """The entries for the VMs among *resources*: one for all of them, and one for each VM that infers.

    VMs of one name and namespace, in several overlays say, have an entry together where it is the same.
    """
    every: Tree = {
        "group": KUBEVIRT,
        "kind": "VirtualMachine",
        "jsonPointers": list(SEEDED),
        "jqPathExpressions": list(SEEDED_IN_LISTS),
    }
    entries = [every]
    for resource in resources:
        entries += (entry for entry in _inferring(resource) if entry not in entries)
    return entries


def _inferring(resource: Resource) -> Iterable[Tree]:
    if (resource.group, resource.kind) != (KUBEVIRT, "VirtualMachine"):
        return
    pointers: list[str] = []
    for kind_class in KIND_CLASSES:
        matcher: Any = resource.spec.get(kind_class.word)
        if not isinstance(matcher, dict) or not matcher.get("inferFromVolume"):
            continue
        pointers += (f"/spec/{kind_class.word}/{key}" for key in _MATCHER)
        # Under this policy the webhook also clears the memory, so that it cannot conflict.
        if kind_class is INSTANCETYPE and matcher.get("inferFromVolumeFailurePolicy") == "Ignore":
            pointers.append(_MEMORY)
    if pointers:
        named = {"name": resource.name, "namespace": resource.namespace}
        yield {
            "group": KUBEVIRT,
            "kind": "VirtualMachine",
            **{key: value for key, value in named.items() if value},
            "jsonPointers": pointers,
        }
