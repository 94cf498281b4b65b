"""Codes VR2xx: what a VM refers to."""

from render.diagnostics.explanations.examples import documents, vm
from render.diagnostics.explanations.explanation import Explanation

EXPLANATIONS = {
    "VR201": Explanation(
        "The VM names an instancetype that is neither in the input nor in the catalogue. KubeVirt admits such a VM"
        " and fails when it starts.",
        vm("instancetype: {name: u1.mediun}"),
        'virtualmachineclusterinstancetypes.instancetype.kubevirt.io "u1.mediun" not found',
        "Correct the name, add the object to the input, or give the cluster's own with --catalog PATH. Without a"
        " kind the cluster-wide VirtualMachineClusterInstancetype is meant; a namespaced one needs"
        " 'kind: VirtualMachineInstancetype'.",
    ),
    "VR202": Explanation(
        "The VM names a preference that is neither in the input nor in the catalogue.",
        vm("preference: {name: fedoro}"),
        'virtualmachineclusterpreferences.instancetype.kubevirt.io "fedoro" not found',
        "Correct the name, add the object to the input, or give the cluster's own with --catalog PATH. Without a"
        " kind the cluster-wide VirtualMachineClusterPreference is meant.",
    ),
    "VR203": Explanation(
        "A matcher's kind is none of the kinds of instancetypes or preferences.",
        vm("instancetype: {name: small, kind: Instancetype}"),
        "got unexpected kind in InstancetypeMatcher: Instancetype",
        "Write VirtualMachineInstancetype or VirtualMachineClusterInstancetype (VirtualMachinePreference or"
        " VirtualMachineClusterPreference for preferences).",
    ),
    "VR204": Explanation(
        "A matcher contradicts itself or says nothing: KubeVirt refuses the VM.",
        vm("instancetype: {kind: VirtualMachineInstancetype}"),
        "Either Name or InferFromVolume should be provided within the InstancetypeMatcher",
        "Give a name, or inferFromVolume without name and kind.",
    ),
    "VR205": Explanation(
        "The instancetype or preference should come from the labels of a volume's source, and they cannot be found"
        " there. KubeVirt refuses the VM.",
        vm("instancetype: {inferFromVolume: root}"),
        "unable to find volume root to infer defaults",
        "Put the volume's source (PersistentVolumeClaim, DataVolume, DataSource, VolumeSnapshot) with its labels"
        " instancetype.kubevirt.io/default-instancetype or default-preference into the input, or name the"
        " instancetype or preference in the VM.",
    ),
    "VR206": Explanation(
        "Nothing could be inferred from the volume, and inferFromVolumeFailurePolicy is Ignore: the VM is rendered"
        " without this matcher, as KubeVirt does.",
        vm("instancetype: {inferFromVolume: root, inferFromVolumeFailurePolicy: Ignore}")
        + """\
      volumes:
      - name: root
        containerDisk: {image: registry.example.com/containerdisks/fedora}
""",
        "unable to infer defaults from volume root as type is not supported",
        "Nothing to do if the VM should run without. To be told as an error: inferFromVolumeFailurePolicy Reject.",
    ),
    "VR207": Explanation(
        "The VM pins a ControllerRevision by revisionName, and it is not in the input. KubeVirt would not start the VM,"
        " and no lock stands in for it.",
        vm("instancetype: {name: small, revisionName: web-small-1}"),
        "web-small-1",
        "Put the ControllerRevision into the input (from the cluster: 'kubectl get controllerrevision NAME"
        " -o yaml'), or remove revisionName to use the current object.",
    ),
    "VR208": Explanation(
        "The pinned ControllerRevision holds something that cannot be used here: a preference where an instancetype"
        " is needed, another kind, or data that cannot be decoded.",
        documents(
            vm("instancetype: {name: small, revisionName: web-small-1}", namespace="prod"),
            """\
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: web-small-1, namespace: prod}
revision: 0
data:
  apiVersion: instancetype.kubevirt.io/v1beta1
  kind: VirtualMachinePreference
  metadata: {name: small}
  spec: {}
""",
        ),
        "unexpected type in ControllerRevision",
        "Name the revision of the right object, or remove revisionName.",
    ),
    "VR209": Explanation(
        "The VM uses an instancetype or preference that is not in the input but among those that KubeVirt itself"
        " deploys; the message says from which release the content was taken.",
        vm("instancetype: {name: u1.medium}"),
        "u1.medium",
        "Nothing to do if the cluster runs this release. Otherwise put the cluster's own objects into the input or"
        " name them with --catalog PATH; --catalog none forbids the bundled ones.",
    ),
    "VR210": Explanation(
        "The input defines a cluster instancetype or preference of the same name as one that KubeVirt deploys, with"
        " another content. The one in the input is used; in the cluster, KubeVirt's operator may put its own back.",
        documents(
            """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterInstancetype
metadata: {name: u1.medium}
spec:
  cpu: {guest: 2}
  memory: {guest: 4Gi}
""",
            vm("instancetype: {name: u1.medium}"),
        ),
        "u1.medium",
        "Rename your object, unless the cluster does not deploy the common instancetypes.",
    ),
    "VR211": Explanation(
        "The VM uses an instancetype or preference that is not in what is rendered, but in what was named with"
        " --catalog or, in a check of a whole repository, in another folder of it.",
        "$ virt-render check --catalog ../platform vms",
        "is not in the input, and taken from elsewhere",
        "Nothing to do if the cluster has that object.",
    ),
    "VR212": Explanation(
        "The VM uses an object that is not in its own folder or kustomization, while several other ones of the"
        " repository hold one of that name, equally near and with different contents.",
        "$ virt-render check .",
        "is not in vms, and stands several times elsewhere",
        "Say in .virt-render.yaml at the root of the repository which folders are meant (shared:), or leave the others"
        " out (exclude:).",
    ),
    "VR213": Explanation(
        "kustomize renamed an instancetype or preference (namePrefix, nameSuffix) and left the VM's matcher as it was,"
        " which now means one that KubeVirt itself deploys under the old name.",
        "$ virt-render build overlays/prod",
        "linux means the VirtualMachineClusterPreference that KubeVirt deploys",
        "Name the renamed object in the VM, or run 'virt-render kustomize init', by which kustomize renames what VMs"
        " refer to as well.",
    ),
}
