"""Who decides which field, said once more and without the rules: rows of fields, as KubeVirt documents them.

The promises compare answers of ours with each other; a rule that is wrong everywhere would keep them. Here an answer is
compared with what the VM, the instancetype and the preference say.
"""

import math
from collections.abc import Iterator
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from render import Settings, render
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.release import NEWEST
from render.schemas import decode
from tests.support import trees
from tests.support.generated import instancetype_specs, preference_specs, presets, templates

Json = dict[str, Any]


def rows(text: str) -> list[tuple[FieldPath, FieldPath]]:
    """Lines ``FIELD of the instancetype or preference -> FIELD of the VMI spec``."""
    lines = (line.split("->") for line in text.strip().splitlines())
    return [(tuple(a.strip().split(".")), tuple(b.strip().split("."))) for a, b in lines]


HYPERV = (
    "evmcs", "frequencies", "ipi", "reenlightenment", "relaxed", "reset", "runtime", "spinlocks", "synic", "synictimer",
    "tlbflush", "vapic", "vendorid", "vpindex",
)  # fmt: skip
#: What a preference says where the VM says nothing.
PREFERRED = rows(
    """
    clock.preferredTimer -> domain.clock.timer
    devices.preferredAutoattachGraphicsDevice -> domain.devices.autoattachGraphicsDevice
    devices.preferredAutoattachInputDevice -> domain.devices.autoattachInputDevice
    devices.preferredAutoattachMemBalloon -> domain.devices.autoattachMemBalloon
    devices.preferredAutoattachPodInterface -> domain.devices.autoattachPodInterface
    devices.preferredAutoattachSerialConsole -> domain.devices.autoattachSerialConsole
    devices.preferredBlockMultiQueue -> domain.devices.blockMultiQueue
    devices.preferredNetworkInterfaceMultiQueue -> domain.devices.networkInterfaceMultiqueue
    devices.preferredRng -> domain.devices.rng
    devices.preferredTPM -> domain.devices.tpm
    devices.preferredUseVirtioTransitional -> domain.devices.useVirtioTransitional
    features.preferredApic -> domain.features.apic
    features.preferredKvm -> domain.features.kvm
    features.preferredPvspinlock -> domain.features.pvspinlock
    features.preferredSmm -> domain.features.smm
    machine.preferredMachineType -> domain.machine.type
    preferredArchitecture -> architecture
    preferredLaunchSecurity -> domain.launchSecurity
    preferredSubdomain -> subdomain
    preferredTerminationGracePeriodSeconds -> terminationGracePeriodSeconds
    """
) + [
    (("features", "preferredHyperv", name), ("domain", "features", "hyperv", name))
    for name in HYPERV
]
#: What it says whatever the VM says.
OVERRIDING = rows(
    """
    features.preferredAcpi -> domain.features.acpi
    devices.preferredDisableHotplug -> domain.devices.disableHotplug
    """
)
#: What it says of each entry of a list.
EACH = (
    ("inputs", "bus", "preferredInputBus"),
    ("inputs", "type", "preferredInputType"),
    ("interfaces", "model", "preferredInterfaceModel"),
)
#: What an instancetype says, and the VM must not.
CLAIMED = rows(
    """
    cpu.dedicatedCPUPlacement -> domain.cpu.dedicatedCpuPlacement
    cpu.isolateEmulatorThread -> domain.cpu.isolateEmulatorThread
    cpu.model -> domain.cpu.model
    cpu.numa -> domain.cpu.numa
    cpu.realtime -> domain.cpu.realtime
    gpus -> domain.devices.gpus
    hostDevices -> domain.devices.hostDevices
    ioThreads.supplementalPoolThreadCount -> domain.ioThreads.supplementalPoolThreadCount
    ioThreadsPolicy -> domain.ioThreadsPolicy
    launchSecurity -> domain.launchSecurity
    memory.guest -> domain.memory.guest
    memory.hugepages -> domain.memory.hugepages
    memory.maxGuest -> domain.memory.maxGuest
    nodeSelector -> nodeSelector
    schedulerName -> schedulerName
    """
)
#: What else is its own, because of the vCPUs and the memory that it has.
SIZED = rows(
    """
    cpu.guest -> domain.cpu.cores
    cpu.guest -> domain.cpu.sockets
    cpu.guest -> domain.cpu.threads
    cpu.guest -> domain.resources.requests.cpu
    cpu.guest -> domain.resources.limits.cpu
    memory.guest -> domain.resources.requests.memory
    memory.guest -> domain.resources.limits.memory
    """
)
#: The dimension that takes all vCPUs.
DIMENSIONS = {
    "sockets": "sockets",
    "any": "sockets",
    "cores": "cores",
    "preferCores": "cores",
    "threads": "threads",
}
BINDINGS = ("bridge", "slirp", "masquerade", "sriov", "macvtap", "passt", "passtBinding", "binding")

#: The claims of each VM, one with a storage class of its own.
CLAIMS: dict[str, Json] = {
    "own": {"source": {"blank": {}}, "storage": {"storageClassName": "mine"}},
    "open": {"source": {"blank": {}}, "storage": {}},
}


def typed(value: Any, go_type: str) -> Json:
    """*value* in KubeVirt's notation, without what Go leaves out."""
    decoded: Json = decode(value, go_type, NEWEST)[0]
    return decoded


def leaves(value: Any) -> Iterator[tuple[FieldPath, Any]]:
    """Everything in *value* that holds nothing else."""
    return (
        (at, place)
        for at, place in trees.places(value)
        if not (place and isinstance(place, dict | list))
    )


class Scene:
    """A VM that uses *instancetype* and *preference*, both perhaps None: what it says, and what becomes of it."""

    def __init__(
        self, template: Json, instancetype: Json | None, preference: Json | None, *others: Json
    ) -> None:
        self.arguments = template, instancetype, preference
        parts: list[Json] = [*others]
        claims = [{"metadata": {"name": name}, "spec": spec} for name, spec in CLAIMS.items()]
        spec: Json = {
            "runStrategy": "Always",
            "template": template,
            "dataVolumeTemplates": claims,
        }
        for word, given_spec in (("instancetype", instancetype), ("preference", preference)):
            if given_spec is not None:
                spec[word] = {"name": "x"}
                parts.append(
                    {
                        "apiVersion": "instancetype.kubevirt.io/v1beta1",
                        "kind": f"VirtualMachineCluster{word.title()}",
                        "metadata": {"name": "x"},
                        "spec": given_spec,
                    }
                )
        body = {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "metadata": {"name": "v"},
            "spec": spec,
        }
        self.objects = [body, *parts]
        rendered = render(
            self.objects, Settings(annotations=False, preset_conflicts="override", admission="off")
        )
        self.errors = {found.code for found in rendered.diagnostics if found.is_error}
        self.written = typed(body, "kubevirt.VirtualMachine")["spec"]["template"]
        self.instancetype = typed(instancetype or {}, "instancetype.VirtualMachineInstancetypeSpec")
        if (instancetype or {}).get("nodeSelector") == {}:
            self.instancetype["nodeSelector"] = {}  # no less claimed for being empty
        self.preference = typed(preference or {}, "instancetype.VirtualMachinePreferenceSpec")
        found = {} if self.errors else rendered.resources[0]
        self.made = typed(found, "kubevirt.VirtualMachine")["spec"]["template"] if found else {}
        self.claims = tree.get(found, "spec", "dataVolumeTemplates")

    def __repr__(self) -> str:
        return repr(self.objects)

    def with_others(self, *others: Json) -> "Scene":
        return Scene(*self.arguments, *others)

    def vm(self, *path: str | int) -> Any:
        return tree.get(self.written, "spec", *path)

    def out(self, *path: str | int) -> Any:
        return tree.get(self.made, "spec", *path)

    def wants(self, *path: str | int) -> Any:
        return tree.get(self.preference, *path)

    def has(self, *path: str | int) -> Any:
        return tree.get(self.instancetype, *path)

    def conflicts(self) -> bool:
        """Whether the VM says something that is the instancetype's."""
        annotations = self.has("annotations") or {}
        own = tree.get(self.written, "metadata", "annotations") or {}
        return any(
            self.has(*source) is not None and self.vm(*target) is not None
            for source, target in (*CLAIMED, *SIZED)
        ) or any(own.get(key, value) != value for key, value in annotations.items())


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    instancetype = draw(instancetype_specs() | instancetype_specs() | st.none())
    preference = draw(preference_specs() | preference_specs() | preference_specs() | st.none())
    return Scene(draw(templates(sized=instancetype is not None)), instancetype, preference)


@given(scenes())
def test_every_field_is_decided_by_whom_it_belongs_to(scene: Scene) -> None:
    event("errors" if scene.errors else "rendered")
    others = scene.errors - {"VR301"}
    assert others or ("VR301" in scene.errors) == scene.conflicts()
    if scene.errors:
        return
    check_what_the_vm_says(scene)
    check_what_the_instancetype_says(scene)
    check_what_the_preference_says(scene)
    check_what_the_preference_says_of_devices(scene)
    check_that_nobody_else_says_anything(scene)


def check_what_the_vm_says(scene: Scene) -> None:
    taken = {("spec", *target) for source, target in OVERRIDING if scene.wants(*source) is not None}
    if scene.has("cpu", "maxSockets") is not None:
        taken.add(("spec", "domain", "cpu", "maxSockets"))  # without a conflict
    for path, value in leaves(scene.written):
        if not any(path[: len(start)] == start for start in taken) and value not in ({}, [], ""):
            assert tree.get(scene.made, *path) == value, path


def check_what_the_instancetype_says(scene: Scene) -> None:
    if not scene.instancetype:
        return
    for source, target in (*CLAIMED, (("cpu", "maxSockets"), ("domain", "cpu", "maxSockets"))):
        value = scene.has(*source)
        if value is not None:
            assert (scene.out(*target) or False) == (value or False), source
    cpu, vcpus = scene.out("domain", "cpu"), scene.has("cpu", "guest")
    assert math.prod(cpu[key] for key in ("cores", "sockets", "threads")) == vcpus
    preferred = scene.wants("cpu", "preferredCPUTopology") or "sockets"
    if preferred in DIMENSIONS:
        assert cpu[DIMENSIONS[preferred]] == vcpus
    annotations = (scene.has("annotations") or {}).items()
    assert annotations <= tree.get(scene.made, "metadata", "annotations").items()
    percent = scene.has("memory", "overcommitPercent")
    assert (scene.out("domain", "resources", "requests", "memory") is not None) == bool(percent)


def check_what_the_preference_says(scene: Scene) -> None:
    if not scene.preference:
        return
    for source, target in PREFERRED:
        value = scene.wants(*source)
        is_open = scene.vm(*target) in (None, "") and (
            target[-1] != "launchSecurity" or scene.has("launchSecurity") is None
        )
        if value is not None and value != "" and is_open:
            assert scene.out(*target) == value, source
    for source, target in OVERRIDING:
        if scene.wants(*source) is not None:
            assert (scene.out(*target) or {}) == (scene.wants(*source) or {}), source
    annotations = tree.get(scene.made, "metadata", "annotations") or {}
    assert (scene.wants("annotations") or {}).keys() <= annotations.keys()
    features = [item.get("name") for item in scene.out("domain", "cpu", "features") or ()]
    assert {item.get("name") for item in scene.wants("cpu", "preferredCPUFeatures") or ()} <= {
        *features
    }
    check_firmware(scene)
    preferred = scene.wants("volumes", "preferredStorageClassName") or None
    for claim, (name, expected) in zip(
        scene.claims, {"own": "mine", "open": preferred}.items(), strict=True
    ):
        assert claim["metadata"]["name"] == name
        assert tree.get(claim, "spec", "storage", "storageClassName") == expected


def check_firmware(scene: Scene) -> None:
    written = scene.vm("domain", "firmware", "bootloader") or {}
    made = scene.out("domain", "firmware", "bootloader") or {}
    wants = scene.wants("firmware") or {}
    if "efi" in written or "bios" in written:
        assert made.keys() == written.keys()
    else:
        assert ("bios" in made) == (wants.get("preferredUseBios") is True)
        if "bios" not in made and wants.get("preferredEfi") is not None:
            assert made["efi"] == wants["preferredEfi"]
        elif "bios" not in made:
            assert ("efi" in made) == (wants.get("preferredUseEfi") is True)


def check_what_the_preference_says_of_devices(scene: Scene) -> None:
    devices = scene.wants("devices")
    if devices is None:
        return
    for name, key, source in EACH:
        for index, entry in enumerate(scene.vm("domain", "devices", name) or ()):
            expected = entry.get(key) or devices.get(source) or None
            assert (scene.out("domain", "devices", name, index, key) or None) == expected, source
    pods = [item["name"] for item in scene.vm("networks") or () if "pod" in item]
    for index, entry in enumerate(scene.vm("domain", "devices", "interfaces") or ()):
        wanted = devices.get("preferredInterfaceMasquerade") is not None and entry["name"] in pods
        bound = any(binding in entry for binding in BINDINGS)
        made = scene.out("domain", "devices", "interfaces", index)
        assert ("masquerade" in made) == ("masquerade" in entry or (wanted and not bound))
    for index, disk in enumerate(scene.out("domain", "devices", "disks") or ()):
        check_disk(scene.vm("domain", "devices", "disks", index) or {}, disk, devices)
    sound = scene.vm("domain", "devices", "sound")
    if sound is not None:
        expected = sound.get("model") or devices.get("preferredSoundModel") or None
        assert scene.out("domain", "devices", "sound", "model") == expected
    video = scene.vm("domain", "devices", "video") or {}
    expected = video.get("type") or devices.get("preferredVideoType") or None
    assert scene.out("domain", "devices", "video", "type") == expected
    if devices.get("preferredPanicDeviceModel") is not None:
        given_devices = scene.vm("domain", "devices", "panicDevices") or [{}]
        models = [
            device.get("model", devices["preferredPanicDeviceModel"]) for device in given_devices
        ]
        made = scene.out("domain", "devices", "panicDevices")
        assert [item["model"] for item in made] == models


def check_disk(written: Json, made: Json, devices: Json) -> None:
    target = next((name for name in ("disk", "cdrom", "lun") if name in written), "disk")
    preferred = {"disk": "preferredDiskBus", "cdrom": "preferredCdromBus", "lun": "preferredLunBus"}
    bus = tree.get(written, target, "bus") or devices.get(preferred[target]) or None
    assert tree.get(made, target, "bus") == bus
    expected: Json = {}
    if target == "disk":
        expected = {
            "cache": devices.get("preferredDiskCache"),
            "io": devices.get("preferredDiskIO"),
            "blockSize": devices.get("preferredDiskBlockSize"),
            "dedicatedIOThread": devices.get("preferredDiskDedicatedIoThread")
            if bus == "virtio"
            else None,
        }
    for key in ("cache", "io", "blockSize", "dedicatedIOThread"):
        assert made.get(key) == written.get(key, expected.get(key)), key


def check_that_nobody_else_says_anything(scene: Scene) -> None:
    """A field that is not the VM's is one that the instancetype or the preference has something about."""
    text = [target for source, target in (*CLAIMED, *SIZED) if scene.has(*source) is not None]
    text += [
        target for source, target in (*PREFERRED, *OVERRIDING) if scene.wants(*source) is not None
    ]
    if scene.has("cpu") is not None:
        text.append(("domain", "cpu", "maxSockets"))
    for part, places in SAID_OF.items():
        if scene.wants(part) is not None:
            text += [tuple(place.split(".")) for place in places]
    for path, value in leaves(scene.made.get("spec")):
        if value not in ({}, [], "") and scene.vm(*path) in (None, ""):
            assert any(path[: len(start)] == start for start in text), path


#: Parts of a preference that the rows above do not follow field by field.
SAID_OF = {
    "clock": ("domain.clock",),
    "cpu": ("domain.cpu.features",),
    "devices": (
        "domain.devices.disks", "domain.devices.inputs", "domain.devices.interfaces", "domain.devices.sound.model",
        "domain.devices.video.type", "domain.devices.panicDevices", "networks",
    ),
    "firmware": ("domain.firmware.bootloader",),
}  # fmt: skip


@given(scenes(), presets("preset-x"))
def test_a_preset_says_what_is_left_open(scene: Scene, preset: Json) -> None:
    """The VM with its instancetype and preference wins; a part that it has nothing of is the preset's."""
    preset["metadata"].pop("namespace", None)
    preset["spec"]["selector"] = {}
    if scene.errors:
        return
    both = scene.with_others(preset)
    for path, value in leaves(scene.made):
        if value not in ({}, []):
            assert tree.get(both.made, *path) == value, path
    for path, value in leaves(typed(preset["spec"]["domain"], "kubevirt.DomainSpec")):
        # A VM has a firmware uuid before any preset is looked at.
        if scene.out("domain", path[0]) is None and path[0] != "firmware":
            assert both.out("domain", *path) == value, path


def test_an_input_with_an_empty_type_gets_the_preferred_one() -> None:
    inputs = [{"name": "one", "type": ""}]
    template = {"spec": {"domain": {"devices": {"inputs": inputs}}}}
    scene = Scene(template, None, {"devices": {"preferredInputType": "keyboard"}})
    assert scene.out("domain", "devices", "inputs", 0, "type") == "keyboard"
