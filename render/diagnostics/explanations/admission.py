"""Codes VR410 to VR442: what KubeVirt's webhooks and schemas refuse, a code a concern."""

from typing import NamedTuple

from render.diagnostics.explanations.explanation import Explanation

_POOL = """\
apiVersion: pool.kubevirt.io/v1beta1
kind: VirtualMachinePool
metadata: {{name: web}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  virtualMachineTemplate:
    metadata: {{labels: {{app: {label}}}}}
    spec:
      runStrategy: Always
      template:
        spec:
          domain: {{{domain}devices: {{}}}}
"""
_NETWORK = "networks: [{name: default, pod: {}}]"


def _vm(domain: str, *spec: str, holder: str = "", metadata: str = "") -> str:
    """A VM with memory and this in its domain, with lines of its VMI spec, of its own, and with template metadata."""
    devices = "" if "devices:" in domain else ", devices: {}"
    memory = "" if "memory:" in domain else "memory: {guest: 1Gi}, "
    lines = "".join(f"      {line}\n" for line in spec)
    labelled = f"    metadata: {{{metadata}}}\n" if metadata else ""
    own = f"  {holder}\n" if holder else ""
    content = f"{memory}{domain}{devices}".removeprefix(", ").replace(", , ", ", ")
    return f"""\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {{name: web}}
spec:
  runStrategy: Always
{own}  template:
{labelled}    spec:
      domain: {{{content}}}
{lines}"""


def _disk(settings: str) -> str:
    return _vm(f"devices: {{disks: [{{name: root, {settings}}}]}}", _ROOT)


def _interface(settings: str) -> str:
    return _vm(f"devices: {{interfaces: [{{name: default, {settings}}}]}}", _NETWORK)


_ROOT = "volumes: [{name: root, containerDisk: {image: quay.io/containerdisks/fedora}}]"


class _Row(NamedTuple):
    """An explanation whose cure needs no words beyond the help of the finding."""

    meaning: str
    refused: str
    accepted: str
    message: str
    cure: str = "Do what the help says."


_ROWS = {
    "VR410": _Row(
        "Labels or annotations of the VMI ask for what is reserved, or needs a feature gate.",
        _vm("", metadata="labels: {kubevirt.io/nodeName: node1}"),
        _vm("", "nodeSelector: {kubernetes.io/hostname: node1}"),
        "creation of the following reserved kubevirt.io/ labels on a VMI object is prohibited",
    ),
    "VR411": _Row(
        "Host name or subdomain are no names that DNS allows.",
        _vm("", "hostname: web_1"),
        _vm("", "hostname: web-1"),
        "spec.template.spec.hostname does not conform to the kubernetes DNS_LABEL rules",
    ),
    "VR412": _Row(
        "Guest memory, requests, limits and hugepages do not fit together, or there is no memory at all.",
        _vm("memory: {guest: 3Mi, hugepages: {pageSize: 2Mi}}"),
        _vm("memory: {guest: 4Mi, hugepages: {pageSize: 2Mi}}"),
        "is not a multiple of the page size spec.template.spec.domain.memory.hugepages.pageSize '2Mi'",
    ),
    "VR413": _Row(
        "CPU topology, requests, pinning, NUMA or realtime settings contradict each other.",
        _vm("cpu: {cores: 2, isolateEmulatorThread: true}"),
        _vm("cpu: {cores: 2, isolateEmulatorThread: true, dedicatedCpuPlacement: true}"),
        "IsolateEmulatorThread should be only set in combination with DedicatedCPUPlacement",
    ),
    "VR414": _Row(
        "The cluster does not allow the machine type.",
        _vm("machine: {type: pc-i440fx}"),
        _vm("machine: {type: q35}"),
        "spec.template.spec.domain.machine.type is not supported: pc-i440fx",
        "Choose a machine type that the KubeVirt CR lists under emulatedMachines.",
    ),
    "VR415": _Row(
        "ACPI tables come from volumes that are not there, or that are no secrets.",
        _vm("firmware: {acpi: {slicNameRef: slic}}"),
        _vm(
            "firmware: {acpi: {slicNameRef: slic}}",
            "volumes: [{name: slic, secret: {secretName: slic}}]",
        ),
        "spec.template.spec.acpi does not have a matching Volume.",
    ),
    "VR416": _Row(
        "The start strategy is unknown, or contradicts a liveness probe.",
        _vm("", "startStrategy: Stopped"),
        _vm("", "startStrategy: Paused"),
        "spec.template.spec.startStrategy is set with an unrecognized option: Stopped",
    ),
    "VR417": _Row(
        "Affinity or topology spread constraints break the rules that Kubernetes has for pods.",
        _vm(
            "",
            "topologySpreadConstraints:",
            "- {maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}",
        ),
        _vm(
            "",
            "topologySpreadConstraints:",
            "- {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}",
        ),
        "spec.template.spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
    ),
    "VR418": _Row(
        "Networks and interfaces do not fit together, or an interface has a setting that is malformed.",
        _interface("masquerade: {}, macAddress: '02:00'"),
        _interface("masquerade: {}, macAddress: '02:12:34:56:78:9a'"),
        "interface spec.template.spec.domain.devices.interfaces[0].name has malformed MAC address (02:00).",
    ),
    "VR419": _Row(
        "Resource claims, and the GPUs and host devices that use them, do not fit together.",
        _vm("", "resourceClaims: [{name: gpu}]"),
        _vm("", "resourceClaims: [{name: gpu, resourceClaimTemplateName: gpus}]"),
        "must specify one of: resourceClaimName, resourceClaimTemplateName",
    ),
    "VR420": _Row(
        "A disk has no volume, two targets, or a bus, a name or another setting that KubeVirt does not take.",
        _disk("disk: {bus: ide}"),
        _disk("disk: {bus: virtio}"),
        "IDE bus is not supported",
    ),
    "VR421": _Row(
        "Boot orders are numbers above 0, and each device has its own.",
        _disk("bootOrder: 0, disk: {bus: virtio}"),
        _disk("bootOrder: 1, disk: {bus: virtio}"),
        "must have a boot order > 0, if supplied",
    ),
    "VR422": _Row(
        "Input devices are tablets on the bus virtio or usb.",
        _vm("devices: {inputs: [{name: mouse, type: mouse, bus: usb}]}"),
        _vm("devices: {inputs: [{name: tablet, type: tablet, bus: usb}]}"),
        "Input device can have only tablet type.",
    ),
    "VR423": _Row(
        "The policy for I/O threads is unknown, or lacks their number.",
        _vm("ioThreadsPolicy: supplementalPool"),
        _vm("ioThreadsPolicy: supplementalPool, ioThreads: {supplementalPoolThreadCount: 2}"),
        "the number of iothreads needs to be set and positive for the dedicated policy",
    ),
    "VR424": _Row(
        "A probe asks in no way, in several, or over a pod network that the VM has not.",
        _vm("", "readinessProbe: {periodSeconds: 5}"),
        _vm("", "readinessProbe: {periodSeconds: 5, guestAgentPing: {}}"),
        "must be set if a spec.template.spec.readinessProbe is specified",
    ),
    "VR425": _Row(
        "Boot loader and kernel boot settings contradict each other.",
        _vm("firmware: {bootloader: {efi: {secureBoot: true}}}"),
        _vm("features: {smm: {}}, firmware: {bootloader: {efi: {secureBoot: true}}}"),
        "SecureBoot requires SMM, which is currently disabled.",
    ),
    "VR426": _Row(
        "A volume has no source, several, or one that lacks something; or two volumes share a name.",
        _vm("", "volumes: [{name: root}]"),
        _vm("", _ROOT),
        "spec.template.spec.volumes[0] must have exactly one source type set",
    ),
    "VR427": _Row(
        "The data of cloud-init is missing, given twice, too long, or no base64.",
        _vm("", "volumes: [{name: init, cloudInitNoCloud: {userDataBase64: '#cloud-config'}}]"),
        _vm("", "volumes: [{name: init, cloudInitNoCloud: {userData: '#cloud-config'}}]"),
        "is not a valid base64 value",
        "Data beyond 2,048 bytes belongs into a Secret that userDataSecretRef names.",
    ),
    "VR428": _Row(
        "Access credentials lack a source or a way into the guest.",
        _vm("", "accessCredentials: [{}]"),
        _vm(
            "",
            "accessCredentials:",
            "- sshPublicKey:",
            "    source: {secret: {secretName: keys}}",
            "    propagationMethod: {qemuGuestAgent: {users: [fedora]}}",
        ),
        "spec.template.spec.accessCredentials[0] must have exactly one access credential type set",
    ),
    "VR429": _Row(
        "Name servers, search domains or options break the rules that Kubernetes has for pods.",
        _vm("", "dnsPolicy: None"),
        _vm("", "dnsPolicy: None", "dnsConfig: {nameservers: [192.0.2.53]}"),
        "must provide `dnsConfig` when `dnsPolicy` is None",
    ),
    "VR430": _Row(
        "The eviction strategy is unknown.",
        _vm("", "evictionStrategy: Migrate"),
        _vm("", "evictionStrategy: LiveMigrate"),
        "spec.template.spec.evictionStrategy is set with an unrecognized option: Migrate",
    ),
    "VR431": _Row(
        "A device is not one that KubeVirt has, or the cluster does not allow it.",
        _vm("devices: {sound: {name: sound, model: sb16}}"),
        _vm("devices: {sound: {name: sound, model: ich9}}"),
        "Sound device type is not supported. Options: 'ich9' or 'ac97'",
    ),
    "VR432": _Row(
        "An NVIDIA Grace GPU asks for arm64, the machine type virt, dedicated CPUs and three feature gates.",
        """\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: kubevirt, namespace: kubevirt}
spec:
  configuration:
    permittedHostDevices:
      pciHostDevices: [{resourceName: nvidia.com/gh200, pciVendorSelector: '10DE:2342'}]
---
"""
        + _vm("devices: {gpus: [{name: gpu, deviceName: nvidia.com/gh200}]}"),
        _vm("devices: {gpus: [{name: gpu, deviceName: nvidia.com/t4}]}"),
        "GraceIOVirtualization feature gate must be enabled for NVIDIA Grace GPU passthrough resource",
    ),
    "VR433": _Row(
        "Launch security does not go with the architecture, the boot loader or another setting.",
        _vm("launchSecurity: {sev: {}}"),
        _vm("launchSecurity: {sev: {}}, firmware: {bootloader: {efi: {secureBoot: false}}}"),
        "SEV requires OVMF (UEFI)",
    ),
    "VR434": _Row(
        "A feature gate that is off in the cluster keeps the VM out.",
        _vm("memory: {guest: 1Gi, reservedOverhead: {addedOverhead: 100Mi}}"),
        _vm("memory: {guest: 1Gi}"),
        "Reserved overhead memlock feature gate is not enabled in kubevirt-config",
        "Enable the gate in the KubeVirt CR, or do without what it allows.",
    ),
    "VR435": _Row(
        "The service account of the VM has no valid name, or a volume names another one.",
        _vm("", "serviceAccountName: My_Account"),
        _vm("", "serviceAccountName: my-account"),
        "spec.template.spec.serviceAccountName is not a valid service account name",
    ),
    "VR436": _Row(
        "A DataVolumeTemplate has one target and one source, and a volume uses it.",
        _vm("", holder="dataVolumeTemplates: [{metadata: {name: data}, spec: {storage: {}}}]"),
        _vm(
            "",
            "volumes: [{name: data, dataVolume: {name: data}}]",
            holder="dataVolumeTemplates: [{metadata: {name: data}, spec: {storage: {}, source: {blank: {}}}}]",
        ),
        "Data volume should have either Source, SourceRef, or be externally populated",
    ),
    "VR437": _Row(
        "Memory that can grow while the VM runs has to be aligned, and not everything goes with it.",
        _vm("memory: {guest: 3Gi, maxGuest: 2Gi}"),
        _vm("memory: {guest: 1Gi, maxGuest: 2Gi}"),
        "Guest memory is greater than the configured maxGuest memory",
    ),
    "VR438": _Row(
        "Hyper-V features need each other, and cannot be named beside a passthrough.",
        _vm("features: {hyperv: {relaxed: {}}, hypervPassthrough: {enabled: true}}"),
        _vm("features: {hyperv: {relaxed: {}}}"),
        "Cannot explicitly set hyperV features if HypervPassthrough is being used.",
    ),
    "VR439": _Row(
        "The architecture is unknown, or has no such device.",
        _vm("devices: {watchdog: {name: dog, diag288: {action: reset}}}"),
        _vm("devices: {watchdog: {name: dog, i6300esb: {action: reset}}}"),
        "amd64 only supports I6300ESB watchdog device",
    ),
    "VR440": _Row(
        "The selector of a pool or replica set does not match what it makes, or its strategies contradict each other.",
        _POOL.format(label="db", domain="memory: {guest: 1Gi}, "),
        _POOL.format(label="web", domain="memory: {guest: 1Gi}, "),
        "selector does not match labels.",
    ),
    "VR441": _Row(
        "KubeVirt takes the pool or the replica set, since it checks only a part of what its VMs have to pass. They are"
        " refused, or never start.",
        _POOL.format(label="web", domain=""),
        _POOL.format(label="web", domain="memory: {guest: 1Gi}, "),
        "its VMs are refused or never start: no memory requested",
    ),
    "VR442": _Row(
        "The schema of the object refuses a list that is too long or repeats a key, or a path that is not absolute.",
        _vm(
            "",
            "resourceClaims:",
            "- {name: gpu, resourceClaimName: one}",
            "- {name: gpu, resourceClaimName: two}",
        ),
        _vm("", "resourceClaims:", "- {name: gpu, resourceClaimName: one}"),
        'spec.template.spec.resourceClaims[1]: Duplicate value: {"name":"gpu"}',
    ),
}

EXPLANATIONS = {
    number: Explanation(row.meaning, row.refused, row.message, row.cure, row.accepted)
    for number, row in _ROWS.items()
}
