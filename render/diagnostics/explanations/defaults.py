"""Codes VR7xx: defaults and presets."""

from render.diagnostics.explanations.examples import documents, preset, vm
from render.diagnostics.explanations.explanation import Explanation

EXPLANATIONS = {
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
        "Something about the KubeVirt CR or the HyperConverged, from which the cluster settings come, cannot be used,"
        " or the operator's webhook warns about it.",
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
        "Which KubeVirt CR or HyperConverged the cluster settings were taken from, and what was assumed of the cluster"
        " where the latter says nothing. Shown with -v.",
        """\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: kubevirt, namespace: kubevirt}
spec:
  configuration:
    network: {defaultNetworkInterface: masquerade}
""",
        "cluster settings",
        "Nothing to do. A HyperConverged comes before a KubeVirt CR, which its operator writes, and both of the input"
        " before --cluster-config.",
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
    "VR711": Explanation(
        "Rules, fields and defaults differ between releases of KubeVirt. Rendered for is the release of --kubevirt,"
        " else the one that a KubeVirt resource of the input names, else the newest; this says which and why where"
        " nobody asked, or where a patch release was asked for whose every difference is not known.",
        "$ virt-render build --kubevirt 1.7.2 vm.yaml",
        "KubeVirt v1.7.2 is rendered as v1.7.4, but for what is known to differ",
        "Nothing is wrong. Name the release with --kubevirt to choose another one.",
    ),
    "VR712": Explanation(
        "No machine of the namespace has the preset. Presets look at the labels of a VM's template, not of the VM, and"
        " those of kubevirt.io/v1alpha1 at VMs of that version only.",
        documents(preset("four", cores=4), vm(namespace="prod")),
        "it reaches no machine of namespace prod",
        "Remove the preset, or put the labels where it looks for them.",
    ),
    "VR713": Explanation(
        "Two VMs of different names, or all replicas of a pool or a replica set, have one MAC address on one network,"
        " one firmware uuid, or write to one claim."
        " KubeVirt takes them, and only one of them works. Disks that are shareable or read-only or reserve"
        " their LUN, and VMs that are halted, may share a claim.",
        """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        memory: {guest: 1Gi}
        devices: {disks: [{name: data, disk: {bus: virtio}}]}
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: db, namespace: prod}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        memory: {guest: 1Gi}
        devices: {disks: [{name: data, disk: {bus: virtio}}]}
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
""",
        "the claim data is that of VirtualMachine prod/db, too",
        "Give each VM its own, or silence it on the VM that is named.",
        """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        memory: {guest: 1Gi}
        devices: {disks: [{name: data, disk: {bus: virtio}}]}
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: db, namespace: prod}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        memory: {guest: 1Gi}
        devices: {disks: [{name: data, disk: {bus: virtio}}]}
      volumes: [{name: data, persistentVolumeClaim: {claimName: more-data}}]
""",
    ),
    "VR714": Explanation(
        "A VM with evictionStrategy LiveMigrate has something that cannot migrate: a bridge on the pod network,"
        " a device of its node, a claim that is not ReadWriteMany. A drain of its node would wait for ever.",
        """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  template:
    spec:
      evictionStrategy: LiveMigrate
      domain:
        memory: {guest: 1Gi}
        devices: {interfaces: [{name: default, bridge: {}}]}
      networks: [{name: default, pod: {}}]
""",
        "cannot migrate VMI which does not use masquerade or a migratable plugin to connect to the pod network",
        "Remove the obstacle, or use LiveMigrateIfPossible.",
        """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  template:
    spec:
      evictionStrategy: LiveMigrate
      domain:
        memory: {guest: 1Gi}
        devices: {interfaces: [{name: default, masquerade: {}}]}
      networks: [{name: default, pod: {}}]
""",
    ),
    "VR715": Explanation(
        "A cluster refuses the HyperConverged, or its operator writes no KubeVirt resource from it: by its schema, a"
        " webhook, or a JSON patch that does not fit. VMs are judged by KubeVirt's defaults then.",
        """\
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata: {name: kubevirt-hyperconverged, namespace: openshift-cnv}
spec:
  evictionStrategy: Sometimes
""",
        "refused by the schema",
        "Correct the field; docs/hyperconverged.md says what becomes of each.",
    ),
}
