"""Codes VR5xx: older notations."""

from render.diagnostics.explanations.examples import vm
from render.diagnostics.explanations.explanation import Explanation

EXPLANATIONS = {
    "VR501": Explanation(
        "The object, or what a ControllerRevision holds, is written in an API version that current KubeVirt releases no"
        " longer serve, or will not. It is read with the meaning it had (docs/legacy.md).",
        vm().replace("kubevirt.io/v1", "kubevirt.io/v1alpha3"),
        "kubevirt.io/v1alpha3 is now deprecated and will be removed in a future release.",
        "Change apiVersion to the one that the message names, or let 'virt-render migrate' do it.",
    ),
    "VR502": Explanation(
        "The field still works, but KubeVirt has announced that it will go.",
        """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachinePreference
metadata: {name: flat}
spec:
  cpu: {preferredCPUTopology: preferSockets}
""",
        "PreferredCPUTopology preferSockets is deprecated for removal in a future release, please use sockets instead",
        "Use the successor that the message names. For 'running: true' that is 'runStrategy: Always', for false"
        " 'runStrategy: Halted'.",
    ),
    "VR503": Explanation(
        "The object of an older API version says something that has no counterpart today, or is one that no cluster"
        " serves and that the emit mode cannot turn into one of today. As a warning of"
        " 'virt-render migrate': it stays as it is, since no VM may become another one.",
        """\
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachineFlavor
metadata: {name: small}
profiles:
- {name: one, default: true, cpu: {cores: 1}}
- {name: two, default: true, cpu: {cores: 2}}
""",
        "Flavor contains more than one default profile. Found: 2",
        "Rewrite the object by hand as an instancetype or preference of instancetype.kubevirt.io/v1beta1. A machine"
        " that the emit mode cannot hold (docs/emit.md) is rendered by '--emit vm'.",
    ),
    "VR504": Explanation(
        "The definition is written in an API version that no cluster serves any more: a sync would fail with it. The"
        " machines that use it are written out, so that it is not printed.",
        """\
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachineFlavor
metadata: {name: small}
spec: {cpu: {guest: 2}, memory: {guest: 2Gi}}
""",
        "left out: no KubeVirt since v0.56 serves it",
        "Nothing, if the machines are all that the definition is for. 'virt-render migrate' writes its successor.",
    ),
    "VR505": Explanation(
        "With --emit expand virt-render answers what KubeVirt's expand-vm-spec does, which takes VirtualMachines"
        " only. A pool or a replica set is printed as it is.",
        "$ virt-render build --emit expand pool.yaml",
        "VirtualMachineInstanceReplicaSet web stays as it is: KubeVirt's expand-vm-spec takes VirtualMachines only",
        "Use --emit vm, which renders what a pool makes in place, or --emit vmi, which shows an instance.",
    ),
}
