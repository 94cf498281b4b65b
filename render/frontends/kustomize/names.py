"""The nameReference configuration by which kustomize renames what VMs refer to.

Without it namePrefix, nameSuffix and the hashes of generated Secrets leave VMs with names that nobody has any more.
"""

from collections.abc import Iterator

from render.frontends.kustomize.openapi import POOL
from render.model.resource import CDI, FLAVOR_GROUP, INSTANCETYPE_GROUP, KUBEVIRT, SNAPSHOT
from render.model.tree import Tree

_VM_SPECS = (
    (KUBEVIRT, "VirtualMachine", "spec"),
    (POOL, "VirtualMachinePool", "spec/virtualMachineTemplate/spec"),
)
#: What VMs of older APIs have, which are VMs of kubevirt.io too.
_FLAVOURED = ((KUBEVIRT, "VM", "metadata"), (KUBEVIRT, "VirtualMachine", "metadata"))
_FLAVOUR = ("annotations/kubevirt.io\\/flavour",)
_VMI_SPECS = (
    *((group, kind, f"{path}/template/spec") for group, kind, path in _VM_SPECS),
    (KUBEVIRT, "VirtualMachineInstanceReplicaSet", "spec/template/spec"),
    (KUBEVIRT, "VirtualMachineInstance", "spec"),
)
_DATA_VOLUME_SPECS = (
    *((group, kind, f"{path}/dataVolumeTemplates/spec") for group, kind, path in _VM_SPECS),
    (CDI, "DataVolume", "spec"),
)
_SOURCES = (*_DATA_VOLUME_SPECS, (CDI, "DataSource", "spec"))
_USES = (
    (INSTANCETYPE_GROUP, "VirtualMachineInstancetype", _VM_SPECS, ("instancetype/name",)),
    (INSTANCETYPE_GROUP, "VirtualMachineClusterInstancetype", _VM_SPECS, ("instancetype/name",)),
    (INSTANCETYPE_GROUP, "VirtualMachinePreference", _VM_SPECS, ("preference/name",)),
    (INSTANCETYPE_GROUP, "VirtualMachineClusterPreference", _VM_SPECS, ("preference/name",)),
    (FLAVOR_GROUP, "VirtualMachineFlavor", _VM_SPECS[:1], ("flavor/name",)),
    (FLAVOR_GROUP, "VirtualMachineClusterFlavor", _VM_SPECS[:1], ("flavor/name",)),
    (FLAVOR_GROUP, "VirtualMachinePreference", _VM_SPECS[:1], ("preference/name",)),
    (FLAVOR_GROUP, "VirtualMachineClusterPreference", _VM_SPECS[:1], ("preference/name",)),
    *((group, kind, _FLAVOURED, _FLAVOUR) for group, kind in (
        (FLAVOR_GROUP, "VirtualMachineFlavor"),
        (FLAVOR_GROUP, "VirtualMachineClusterFlavor"),
        (INSTANCETYPE_GROUP, "VirtualMachineInstancetype"),
        (INSTANCETYPE_GROUP, "VirtualMachineClusterInstancetype"),
        (KUBEVIRT, "VirtualMachineInstancePreset"),
        (KUBEVIRT, "VirtualMachinePreset"),
    )),
    ("apps", "ControllerRevision", _VM_SPECS, ("instancetype/revisionName", "preference/revisionName")),
    ("apps", "ControllerRevision", _VM_SPECS[:1], ("flavor/revisionName",)),
    (CDI, "DataVolume", _VMI_SPECS, ("volumes/dataVolume/name",)),
    (CDI, "DataSource", _DATA_VOLUME_SPECS, ("sourceRef",)),
    ("", "PersistentVolumeClaim", _VMI_SPECS, (
        "volumes/dataVolume/name",
        "volumes/ephemeral/persistentVolumeClaim/claimName",
        "volumes/persistentVolumeClaim/claimName",
    )),
    ("", "PersistentVolumeClaim", _SOURCES, ("source/pvc",)),
    (SNAPSHOT, "VolumeSnapshot", _SOURCES, ("source/snapshot",)),
    ("", "Secret", _VMI_SPECS, (
        "accessCredentials/sshPublicKey/source/secret/secretName",
        "accessCredentials/userPassword/source/secret/secretName",
        "volumes/cloudInitConfigDrive/networkDataSecretRef/name",
        "volumes/cloudInitConfigDrive/secretRef/name",
        "volumes/cloudInitNoCloud/networkDataSecretRef/name",
        "volumes/cloudInitNoCloud/secretRef/name",
        "volumes/secret/secretName",
        "volumes/sysprep/secret/name",
    )),
    ("", "ConfigMap", _VMI_SPECS, ("volumes/configMap/name", "volumes/sysprep/configMap/name")),
    ("", "ServiceAccount", _VMI_SPECS, ("volumes/serviceAccount/serviceAccountName",)),
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", _VMI_SPECS, ("networks/multus/networkName",)),
)  # fmt: skip
"""What is named, by which specs, and in which of their fields; a field of name and namespace is named as a whole."""


def configuration() -> Tree:
    """The configuration for ``configurations:`` of a kustomization."""
    references: dict[tuple[str, str], list[Tree]] = {}
    for group, kind, specs, fields in _USES:
        references.setdefault((group, kind), []).extend(_fields(specs, fields))
    return {
        "nameReference": [
            {
                **({"group": group} if group else {"version": "v1"}),
                "kind": kind,
                "fieldSpecs": fields,
            }
            for (group, kind), fields in references.items()
        ]
    }


def _fields(specs: tuple[tuple[str, str, str], ...], fields: tuple[str, ...]) -> Iterator[Tree]:
    for group, kind, spec in specs:
        for field in fields:
            yield {"group": group, "kind": kind, "path": f"{spec}/{field}"}
