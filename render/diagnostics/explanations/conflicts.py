"""Stages 3 to 7: conflicts, requirements, older API versions, defaults and presets."""

from render.diagnostics.explanations.examples import documents, instancetype, preference, preset, vm
from render.diagnostics.explanations.explanation import Explanation

EXPLANATIONS = {
    "VR301": Explanation(
        "The VM sets a field that its instancetype decides. An instancetype cannot be overridden: KubeVirt refuses"
        " the VM, also where both values are the same.",
        documents(
            instancetype("small", cpus=1),
            vm(
                "instancetype: {name: small, kind: VirtualMachineInstancetype}",
                namespace="prod",
                domain="memory: {guest: 2Gi}",
            ),
        ),
        "VM field(s) spec.template.spec.domain.memory.guest conflicts with selected instance type",
        "Remove the field from the VM, or choose an instancetype that has the value you need.",
    ),
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
        "The object of an older API version says something that has no counterpart today. As a warning of"
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
        "Rewrite the object by hand as an instancetype or preference of instancetype.kubevirt.io/v1beta1.",
    ),
    "VR701": Explanation(
        "The VM names no network, and the cluster settings do not allow the default one.",
        documents(
            """\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: kubevirt, namespace: kubevirt}
spec:
  configuration:
    network: {permitBridgeInterfaceOnPodNetwork: false}
""",
            vm(),
        ),
        "bridge interface is not enabled in kubevirt-config",
        "Give the VM an interface and a network, or set spec.configuration.network.defaultNetworkInterface to"
        " masquerade in the KubeVirt CR.",
    ),
    "VR702": Explanation(
        "Two presets match the same VM and differ: KubeVirt refuses to start it.",
        documents(
            preset("four", cores=4),
            preset("six", cores=6),
            vm(namespace="prod", labels="{size: big}"),
        ),
        "VirtualMachinePresets cannot be applied due to conflicts: presets 'six' and 'four' conflict:",
        "Make the selectors exclusive, or the presets agree.",
    ),
    "VR703": Explanation(
        "A preset and the VM set the same part to different values. KubeVirt lets the VM win and only logs it; what"
        " the preset's author wanted does not happen.",
        documents(
            preset("four", cores=4),
            vm(namespace="prod", labels="{size: big}", domain="cpu: {cores: 6}"),
        ),
        'Unable to apply VirtualMachineInstancePreset \'four\': spec.cpu: {"cores":4} != {"cores":6}',
        "Remove one of the two, exclude the VM from presets, or accept KubeVirt's choice with"
        " --preset-conflicts override.",
    ),
    "VR704": Explanation(
        "Presets are deprecated and will be removed in KubeVirt v2.",
        documents(preset("four", cores=4), vm(namespace="prod", labels="{size: big}")),
        "kubevirt.io/v1 VirtualMachineInstancePresets is now deprecated and will be removed in v2.",
        "Use an instancetype and a preference instead.",
    ),
    "VR705": Explanation(
        "The selector of a preset is invalid: KubeVirt then starts no VM in its namespace.",
        documents(
            """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata: {name: four, namespace: prod}
spec:
  selector: {matchExpressions: [{key: size, operator: Near, values: [big]}]}
  domain: {cpu: {cores: 4}, devices: {}}
""",
            vm(namespace="prod"),
        ),
        '"Near" is not a valid label selector operator',
        "Use In, NotIn, Exists or DoesNotExist.",
    ),
    "VR706": Explanation(
        "KubeVirt would refuse the VM for its running or runStrategy.",
        vm("running: true"),
        "Running and RunStrategy are mutually exclusive. Note that Running is deprecated, please use RunStrategy"
        " instead",
        "Keep runStrategy (Always, Halted, Manual, RerunOnFailure or Once) and remove running.",
    ),
    "VR707": Explanation(
        "Something about the KubeVirt CR in the input, from which the cluster settings come, cannot be used.",
        """\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: blue, namespace: kubevirt}
spec: {}
---
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: green, namespace: kubevirt}
spec: {}
""",
        "KubeVirt kubevirt/green is not used: a cluster has one KubeVirt resource",
        "Render what belongs to one cluster at a time, and correct what the message names.",
    ),
    "VR708": Explanation(
        "Which KubeVirt CR the cluster settings were taken from. Shown with -v.",
        """\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: kubevirt, namespace: kubevirt}
spec:
  configuration:
    network: {defaultNetworkInterface: masquerade}
""",
        "cluster settings",
        "Nothing to do. A KubeVirt CR in the input comes before --cluster-config.",
    ),
    "VR709": Explanation(
        "KubeVirt takes only resources.requests, cpu, firmware, clock, features, devices.watchdog and ioThreadsPolicy"
        " from a preset. Whatever else stands there has no effect.",
        """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata: {name: large, namespace: prod}
spec:
  selector: {matchLabels: {size: large}}
  domain:
    memory: {guest: 8Gi}
    devices: {}
""",
        "KubeVirt takes no memory from a preset: it reaches no VM",
        "Write the part into the VMs, or use an instancetype or a preference, which know more parts.",
    ),
    "VR710": Explanation(
        "A VM with generateName gets its name from the cluster, each time another one. No firmware uuid can be derived"
        " from a name that nobody knows.",
        "$ virt-render build --firmware-uuid stable vm.yaml",
        "the cluster makes up the name, so no firmware uuid and serial follow from it",
        "Name the VM, or leave out --firmware-uuid stable.",
    ),
}
