"""Repositories made up by hypothesis: VMs, what they use and what stands beside it, from the type table.

Any field of a type may appear, with a value of its type; the parts that rules look at appear often. Few of the values
are refused: a repository with an error tells less.
"""

from functools import cache
from typing import Any

from hypothesis import strategies as st

from render.model import types
from render.model.release import NEWEST

Json = dict[str, Any]
#: Of objects that are to find each other, so mostly one; without one they are looked up in `default`.
NAMESPACES = ("prod", "prod", "prod", "test", "")
LABELS = {"tier": ("web", "db")}
#: Every name that another object refers to. None is part of another, nor of any other text here.
INSTANCETYPES = ("it-small", "it-large")
PREFERENCES = ("pref-linux", "pref-windows")
MACHINES = ("vm-one", "vm-two")
#: What an instancetype claims; a VM with any of it is in conflict.
CLAIMED = ("cpu", "memory", "resources", "ioThreadsPolicy", "ioThreads", "launchSecurity")
CLAIMED_OUTSIDE = ("nodeSelector", "schedulerName")
_DISKS = ("a", "b", "root")
_ARCHITECTURES = ("amd64", "amd64", "amd64", "arm64", "s390x")
_TOPOLOGIES = ("sockets", "cores", "threads", "any", "spread", "preferCores", "preferSpread")
_BUSES = ("virtio", "sata", "scsi", "usb")
_QUANTITIES = st.sampled_from(["1Gi", "512Mi", "2", "1500m", "1.5Gi", "4096Ki", "1e3", 2, 0])
_TEXTS = st.sampled_from(["", "a", "b", "virtio", "q35", "10.0.0.1", "yes", "true", "0x1F", "é: #"])
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "any": st.just({}),
    "bool": st.booleans(),
    "cidr": st.sampled_from(["10.0.2.0/24", "fd10::/120"]),
    "duration": st.just("30s"),
    "float32": st.sampled_from([0.5, 1, 2.5]),
    "intstr": st.sampled_from([80, "http"]),
    "ip": st.sampled_from(["10.0.0.1", "fd10::1"]),
    "quantity": _QUANTITIES,
    "time": st.just("2024-01-01T00:00:00Z"),
}
_INTEGERS = dict.fromkeys(
    ("int", "int32", "int64", "uint", "uint16", "uint32", "uint64"), st.integers(0, 4)
)
#: Fields that only some texts and numbers make sense for.
_BY_NAME: dict[str, st.SearchStrategy[Any]] = {
    name: st.sampled_from(values)
    for names, values in (
        (("across",), ("SocketsCores", "CoresThreads", "SocketsCoresThreads")),
        (("ratio", "preferSpreadSocketToCoreRatio"), (1, 2, 4)),
        (("architecture", "preferredArchitecture"), _ARCHITECTURES),
        (("preferredCPUTopology",), _TOPOLOGIES),
        (("preferredDiskBus", "preferredCdromBus", "preferredLunBus", "preferredInputBus"), _BUSES),
        (("preferredInputType",), ("tablet", "keyboard")),
        (("preferredInterfaceModel",), ("virtio", "e1000e")),
        (("preferredMachineType",), ("q35", "pc-q35-rhel9.4.0", "virt")),
        (("preferredSoundModel",), ("ich9", "ac97")),
        (("preferredPanicDeviceModel",), ("isa", "hyperv", "")),
        (("preferredVideoType",), ("vga", "virtio", "")),
        (("pageSize",), ("2Mi", "1Gi")),
        (("guest",), (1, 2, 4, 6, 8)),
        # KubeVirt 1.6 to 1.8 tell an empty one from none, and hashes do not: docs/releases.md.
        (("claimName", "requestName"), ("claim", "request")),
    )
    for name in names
}
_DEPTH = 4
_FEW, _MANY = 3, 10
_DENSE = ("kubevirt.Features", "kubevirt.FeatureHyperv")


@cache
def of_type(go_type: str, depth: int = 0) -> st.SearchStrategy[Any]:
    """Values of a Go type: all required fields of a struct, and a few of the others."""
    go_type = go_type.removeprefix("*")
    if go_type.startswith("[]"):
        return st.lists(of_type(go_type[2:], depth + 1), max_size=2)
    if go_type.startswith("map["):
        values = of_type(go_type.partition("]")[2], depth + 1)
        return st.dictionaries(st.sampled_from(["a", "b.c/d"]), values, max_size=2)
    if go_type.startswith("enum:"):
        return st.sampled_from(types.enum(go_type.removeprefix("enum:"), NEWEST))
    if types.is_struct(go_type):
        return _struct(go_type, depth)
    if go_type in _SCALARS:
        return _SCALARS[go_type]
    return _TEXTS if go_type == "string" else _INTEGERS[go_type]


def _field(name: str, go_type: str, depth: int) -> st.SearchStrategy[Any]:
    is_named = name in _BY_NAME and go_type != "quantity"
    return _BY_NAME[name] if is_named else of_type(go_type, depth)


@st.composite
def _struct(draw: st.DrawFn, go_type: str, depth: int) -> Json:
    fields = types.fields(go_type, NEWEST)
    names = [name for name, field in fields.items() if field.required]
    others = _others(go_type)
    if others is not None and depth < _DEPTH:
        names += draw(others)
    return {name: draw(_field(name, fields[name].type, depth + 1)) for name in names}


@cache
def _others(go_type: str) -> st.SearchStrategy[list[str]] | None:
    """Some of the fields of a struct that are not required; None where all are."""
    names = [name for name, field in types.fields(go_type, NEWEST).items() if not field.required]
    most = _MANY if go_type.startswith("instancetype.") or go_type in _DENSE else _FEW
    return st.lists(st.sampled_from(names), max_size=most, unique=True) if names else None


@cache
def _one_in(number: int) -> st.SearchStrategy[bool]:
    """True once in *number* times."""
    return st.integers(1, number).map(lambda drawn: drawn == number)


def _some(values: dict[str, list[Any]]) -> st.SearchStrategy[Json]:
    """Each of the keys or not, with one of its values."""
    optional = {key: st.sampled_from(found) for key, found in values.items()}
    return st.fixed_dictionaries({}, optional=optional)


@cache
@st.composite
def _metadata(draw: st.DrawFn, name: str, namespace: str) -> Json:
    metadata: Json = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if draw(_one_in(3)):
        metadata["annotations"] = {"example.com/note": draw(_TEXTS)}
    return metadata


@cache
@st.composite
def instancetype_specs(draw: st.DrawFn) -> Json:
    spec: Json = draw(of_type("instancetype.VirtualMachineInstancetypeSpec"))
    memory = {**spec["memory"], "guest": draw(st.sampled_from(["1Gi", "2048Mi"]))}
    if "overcommitPercent" in memory:
        memory.pop("hugepages", None)  # refused together
        memory["overcommitPercent"] = draw(st.sampled_from([0, 15, 50]))
    if "maxGuest" in memory:
        memory["maxGuest"] = "4Gi"
    return {**spec, "memory": memory}


@cache
@st.composite
def preference_specs(draw: st.DrawFn) -> Json:
    spec: Json = draw(of_type("instancetype.VirtualMachinePreferenceSpec"))
    if not draw(_one_in(4)):
        spec["devices"] = draw(of_type("instancetype.DevicePreferences"))
    for part, words in (("cpu", "CPU"), ("features", "Feature"), ("firmware", "Firmware")):
        if draw(st.booleans()):
            spec[part] = draw(of_type(f"instancetype.{words}Preferences"))
    if "requirements" in spec and not draw(_one_in(6)):
        spec["requirements"] = {"cpu": {"guest": 1}}
    return spec


#: Names, specs, and specs that the API version before this one had too.
SPECS = {
    "VirtualMachineInstancetype": (
        INSTANCETYPES,
        instancetype_specs(),
        st.builds(
            lambda guest, model: {"cpu": {"guest": guest, **model}, "memory": {"guest": "2048Mi"}},
            _BY_NAME["guest"],
            _some({"model": ["host-passthrough"], "dedicatedCPUPlacement": [True, False]}),
        ),
    ),
    "VirtualMachinePreference": (
        PREFERENCES,
        preference_specs(),
        _some({
            "cpu": [{"preferredCPUTopology": "preferCores"}],
            "devices": [{"preferredDiskBus": "sata", "preferredRng": {}}],
            "firmware": [{"preferredUseEfi": True, "preferredUseSecureBoot": True}],
        }),
    ),
}  # fmt: skip


@cache
@st.composite
def definitions(draw: st.DrawFn, kind: str) -> Json:
    """An instancetype or a preference, of the cluster or of a namespace."""
    names, specs, older = SPECS[kind]
    is_older = draw(_one_in(8))
    namespaced = draw(st.booleans())
    namespace = draw(st.sampled_from(NAMESPACES)) if namespaced else ""
    return {
        "apiVersion": f"instancetype.kubevirt.io/{'v1alpha2' if is_older else 'v1beta1'}",
        "kind": kind if namespaced else kind.replace("Machine", "MachineCluster"),
        "metadata": draw(_metadata(draw(st.sampled_from(names)), namespace)),
        "spec": draw(older if is_older else specs),
    }


def identity(body: Json) -> tuple[str, ...]:
    """What two objects of one repository must not have in common."""
    metadata = body["metadata"]
    return (
        body["apiVersion"].split("/")[0],
        body["kind"],
        metadata.get("namespace", ""),
        metadata["name"],
    )


def _usable(found: list[Json], namespace: str) -> list[Json]:
    return [
        body
        for body in found
        if "Cluster" in body["kind"] or body["metadata"].get("namespace", "") == namespace
    ]


@st.composite
def _matcher(draw: st.DrawFn, definition: Json) -> Json:
    kind = definition["kind"]
    spellings = [kind, kind.lower(), f"{kind}s"]
    matcher = {"name": definition["metadata"]["name"], "kind": draw(st.sampled_from(spellings))}
    if "Cluster" in kind and draw(st.booleans()):
        del matcher["kind"]
    return matcher


@st.composite
def _claim(draw: st.DrawFn, name: str, namespace: str, word: str, definition: Json) -> Json:
    """A claim whose labels name *definition*: what ``inferFromVolume`` follows."""
    label = f"instancetype.kubevirt.io/default-{word}"
    labels = {label: definition["metadata"]["name"], f"{label}-kind": definition["kind"]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {**draw(_metadata(name, namespace)), "labels": labels},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }


_INPUTS = st.lists(
    st.fixed_dictionaries(
        {"name": st.just("input"), "type": st.sampled_from(["tablet", "keyboard"])},
        optional={"bus": st.sampled_from(["usb", "virtio"])},
    ),
    max_size=2,
)
_INTERFACE = _some(
    {"model": ["virtio", "e1000"], "masquerade": [{}], "macAddress": ["02:00:00:00:00:01"]}
)


@st.composite
def _devices(draw: st.DrawFn, stated: Json) -> Json:
    """*stated* with inputs, interfaces, and what preferences complete."""
    more: Json = {"inputs": draw(_INPUTS)}
    if draw(st.booleans()):
        names = draw(st.sampled_from([["default"], ["default", "blue"], ["blue"]]))
        more["interfaces"] = [{"name": name, **draw(_INTERFACE)} for name in names]
    for name, values in (
        ("sound", [{"name": "audio"}, {"name": "audio", "model": "ac97"}]),
        ("video", [{}, {"type": "vga"}]),
        ("panicDevices", [[{}], [{"model": "isa"}, {}]]),
        ("tpm", [{}, {"persistent": True}]),
    ):
        if draw(st.booleans()):
            more[name] = draw(st.sampled_from(values))
    return {**stated, **more}


def _networks(interfaces: list[Json]) -> list[Json]:
    return [
        {"name": interface["name"], "pod": {}}
        if interface["name"] == "default"
        else {"name": interface["name"], "multus": {"networkName": interface["name"]}}
        for interface in interfaces
    ]


#: What a preference may say too; so do features, and devices.
_CONTESTED = _some({"subdomain": ["mine"], "terminationGracePeriodSeconds": [0, 30]})
_BOOTLOADERS = st.sampled_from(
    [{}, {"bios": {}}, {"bios": {"useSerial": True}}, {"efi": {}}, {"efi": {"secureBoot": False}}]
)


@cache
@st.composite
def templates(draw: st.DrawFn, *, sized: bool) -> Json:
    """A VMI template; where *sized* by an instancetype, nine times out of ten without what that claims."""
    spec: Json = draw(of_type("kubevirt.VirtualMachineInstanceSpec"))
    domain = spec["domain"]
    if sized and not draw(_one_in(10)):
        domain = {key: value for key, value in domain.items() if key not in CLAIMED}
        spec = {key: value for key, value in spec.items() if key not in CLAIMED_OUTSIDE}
        domain["devices"] = {
            k: v for k, v in domain["devices"].items() if k not in ("gpus", "hostDevices")
        }
        if draw(_one_in(4)):
            domain["cpu"] = {"features": [{"name": draw(st.sampled_from(["vmx", "apic"]))}]}
    spec = {**spec, **draw(_CONTESTED)}
    if draw(st.booleans()):
        domain["features"] = draw(of_type("kubevirt.Features"))
    if draw(st.booleans()):
        domain["firmware"] = {"bootloader": draw(_BOOTLOADERS)}
    devices = draw(_devices(domain["devices"]))
    spec["networks"] = _networks(devices.get("interfaces", []))
    volumes = draw(st.lists(st.sampled_from(_DISKS), max_size=3, unique=True))
    disks = [{**draw(of_type("kubevirt.Disk")), "name": name} for name in volumes]
    if draw(_one_in(3)):
        disks = disks[:-1]  # KubeVirt adds one for the volume
    spec["volumes"] = [
        {"name": volume, "containerDisk": {"image": "registry/disk:1"}} for volume in volumes
    ]
    if draw(_one_in(4)):
        spec["volumes"].append(
            {"name": "cloud", "cloudInitNoCloud": {"userData": "#cloud-config\nusers: []\n"}}
        )
    spec["domain"] = {**domain, "devices": {**devices, "disks": disks}}
    labels = {key: st.sampled_from(values) for key, values in LABELS.items()}
    metadata = {
        "labels": draw(st.fixed_dictionaries({"app": _TEXTS}, optional=labels)),
        "annotations": draw(st.dictionaries(st.sampled_from(["a", "example.com/x"]), _TEXTS)),
    }
    return {"metadata": metadata, "spec": spec}


@st.composite
def machines(draw: st.DrawFn, name: str, found: list[Json]) -> list[Json]:
    """A VM that uses some of the definitions *found*, and the claims that say so."""
    namespace = draw(st.sampled_from(NAMESPACES))
    spec: Json = draw(
        st.sampled_from([{"runStrategy": "Always"}, {"runStrategy": "Halted"}, {"running": True}])
    )
    spec = dict(spec)  # what is drawn is shared
    claims: list[Json] = []
    volumes: list[Json] = []
    for word, bundled in (("instancetype", "u1.medium"), ("preference", "fedora")):
        usable = [body for body in _usable(found, namespace) if word in body["kind"].lower()]
        definition = draw(st.sampled_from([*usable, *usable, None]))
        if definition is None:
            if draw(_one_in(3)):
                spec[word] = {"name": bundled}
        elif draw(_one_in(6)):
            volume, claim = f"{word}-root", f"claim-{MACHINES.index(name)}-{word}"
            spec[word] = {"inferFromVolume": volume}
            volumes.append({"name": volume, "persistentVolumeClaim": {"claimName": claim}})
            claims.append(draw(_claim(claim, namespace, word, definition)))
        else:
            spec[word] = draw(_matcher(definition))
    template = draw(templates(sized="instancetype" in spec))
    template["spec"]["volumes"] += volumes
    if draw(_one_in(4)):
        source = {
            "source": {"blank": {}},
            "storage": {"resources": {"requests": {"storage": "1024Mi"}}},
        }
        spec["dataVolumeTemplates"] = [{"metadata": {"name": "data"}, "spec": source}]
    body = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": draw(_metadata(name, namespace)),
        "spec": {**spec, "template": template},
    }
    return [body, *claims]


@cache
@st.composite
def presets(draw: st.DrawFn, name: str) -> Json:
    """A preset for some of the VMs of a namespace."""
    domain: Json = {"devices": {}, **draw(_some({
        "clock": [{"utc": {}, "timer": {"hpet": {"present": False}}}],
        "cpu": [{"cores": 2}],
        "features": [{"acpi": {}}, {"smm": {"enabled": False}}],
        "firmware": [{"uuid": "5d307ca9-b3ef-428c-8861-06e72d69f223"}],
        "ioThreadsPolicy": ["shared"],
        "resources": [{"requests": {"memory": "64Mi"}}],
    }))}  # fmt: skip
    if draw(st.booleans()):
        domain["devices"] = {"watchdog": {"name": "dog", "i6300esb": {"action": "reset"}}}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstancePreset",
        "metadata": draw(_metadata(name, draw(st.sampled_from(NAMESPACES)))),
        "spec": {"selector": {"matchLabels": {"tier": "web"}}, "domain": domain},
    }


OTHERS: tuple[Json, ...] = (
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"y": "yes", "text": "a\n  b\n"}},
    {"apiVersion": "example.com/v1", "kind": "VirtualMachine", "metadata": {"name": "foreign"}, "spec": {"cpus": 10.5,
     "empty": None, "list": [[], {}], "z": 1, "a": 2}},
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "prod", "finalizers": ["x"]},
     "spec": {"replicas": 1, "paused": None}},
)  # fmt: skip
CONFIGURATIONS: tuple[Json, ...] = (
    {"network": {"defaultNetworkInterface": "masquerade"}},
    {"cpuRequest": "200m", "cpuModel": "Skylake"},
    {"evictionStrategy": "LiveMigrate", "architectureConfiguration": {"amd64": {"machineType": "pc-q35-9"}}},
    {"vmRolloutStrategy": "Stage", "liveUpdateConfiguration": {"maxHotplugRatio": 2}},
)  # fmt: skip


def cluster(configuration: Json) -> Json:
    """The settings of a cluster."""
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
        "spec": {"configuration": configuration},
    }


@st.composite
def repositories(draw: st.DrawFn) -> list[Json]:
    """One or two VMs with what they use, perhaps presets and cluster settings, and objects that are not ours."""
    found: list[Json] = []
    for kind in SPECS:
        found += draw(st.lists(definitions(kind), min_size=1, max_size=2, unique_by=identity))
    objects: list[Json] = []
    for name in MACHINES[: draw(st.integers(1, 2))]:
        objects += draw(machines(name, found))
    objects += found
    if draw(_one_in(3)):
        objects += [draw(presets(name)) for name in ("preset-x", "preset-y")]
    if draw(_one_in(4)):
        objects.append(cluster(draw(st.sampled_from(CONFIGURATIONS))))
    objects.append(draw(st.sampled_from(OTHERS)))
    return objects
