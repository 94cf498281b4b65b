"""Codes VR4xx: requirements and validity."""

from render.diagnostics.explanations.examples import documents, instancetype, preference, vm
from render.diagnostics.explanations.explanation import Explanation

EXPLANATIONS = {
    "VR401": Explanation(
        "The preference requires more CPU or memory, or another architecture, than the VM gets.",
        documents(
            instancetype("small", cpus=1),
            preference("demanding", "requirements: {cpu: {guest: 2}}"),
            vm(
                "instancetype: {name: small, kind: VirtualMachineInstancetype}",
                "preference: {name: demanding, kind: VirtualMachinePreference}",
                namespace="prod",
            ),
        ),
        "insufficient CPU resources of 1 vCPU provided by instance type, preference requires 2 vCPU",
        "Choose a larger instancetype, or a preference that fits the guest.",
    ),
    "VR402": Explanation(
        "The preference spreads vCPUs over sockets, cores or threads, and their number cannot be divided that way.",
        documents(
            instancetype("odd", cpus=3),
            preference("spread", "cpu: {preferredCPUTopology: spread}"),
            vm(
                "instancetype: {name: odd, kind: VirtualMachineInstancetype}",
                "preference: {name: spread, kind: VirtualMachinePreference}",
                namespace="prod",
            ),
        ),
        "3 vCPUs provided by the instance type are not divisible by the Spec.PreferSpreadSocketToCoreRatio or"
        " Spec.CPU.PreferSpreadOptions.Ratio of 2 provided by the preference",
        "Choose an instancetype with a number of vCPUs that the ratio divides, or change the preference's"
        " spreadOptions.",
    ),
    "VR403": Explanation(
        "KubeVirt's webhook would refuse this instancetype.",
        """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineInstancetype
metadata: {name: small}
spec:
  cpu: {guest: 1}
  memory: {guest: 1Gi, overcommitPercent: 15, hugepages: {pageSize: 2Mi}}
""",
        "spec.memory.overcommitPercent and spec.memory.hugepages should not be requested together.",
        "Change the field that the message names.",
    ),
    "VR404": Explanation(
        "KubeVirt's webhook would refuse this preference.",
        """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachinePreference
metadata: {name: wide}
spec:
  cpu: {preferredCPUTopology: hyperspread}
""",
        "unknown preferredCPUTopology hyperspread",
        "Change the field that the message names.",
    ),
    "VR405": Explanation(
        "KubeVirt's webhook would refuse this VirtualMachineInstancePreset.",
        """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata: {name: small}
spec:
  selector: {matchLabels: {size: small}}
""",
        "missing domain.",
        "Change the field that the message names.",
    ),
    "VR406": Explanation(
        "The preference adds CPU features to a VM that has no CPU settings to add them to. KubeVirt's own code"
        " crashes here, so there is no right answer to give.",
        documents(
            preference("featured", "cpu: {preferredCPUFeatures: [{name: vmx, policy: require}]}"),
            vm("preference: {name: featured, kind: VirtualMachinePreference}", namespace="prod"),
        ),
        "VirtualMachinePreference prod/featured prefers CPU features, but the VM has neither an instancetype nor"
        " spec.template.spec.domain.cpu",
        "Give the VM an instancetype, or a CPU setting of its own such as 'cpu: {cores: 1}'.",
    ),
    "VR407": Explanation(
        "The preference spreads vCPUs with a ratio of 0. KubeVirt's own code divides by it and crashes.",
        documents(
            instancetype("small", cpus=2),
            preference("spread", "cpu: {preferredCPUTopology: spread, spreadOptions: {ratio: 0}}"),
            vm(
                "instancetype: {name: small, kind: VirtualMachineInstancetype}",
                "preference: {name: spread, kind: VirtualMachinePreference}",
                namespace="prod",
            ),
        ),
        "ratio",
        "Set spreadOptions.ratio to at least 1, or leave it out (2).",
    ),
}
