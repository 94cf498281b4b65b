"""The field of a VM that brought what is refused of its pod."""

from collections.abc import Iterable

from render.machine import Machine
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree
from render.room.amounts import HUGE
from render.room.refusal import PodRefusal

_DOMAIN: FieldPath = ("spec", "domain")
_DEVICES: FieldPath = (*_DOMAIN, "devices")
_FEATURES: FieldPath = (*_DOMAIN, "cpu", "features")
_ANNOTATIONS: FieldPath = ("metadata", "annotations")
_HOOKS = "hooks.kubevirt.io/hookSidecars"
_ISTIO = "sidecar.istio.io/inject"
#: Labels of nodes that KubeVirt asks for, and the fields of a VMI for which it does.
_NODE_LABELS = (
    ("cpu-model.node.kubevirt.io/", (*_DOMAIN, "cpu", "model")),
    ("machine-type.node.kubevirt.io/", (*_DOMAIN, "machine", "type")),
)
_FEATURE = "cpu-feature.node.kubevirt.io/"
#: What the containers of a setting are called.
_SUPPORT = (
    ("volume", "container-disk"), ("container-disk-binary", "container-disk"), ("virtiofs-", "virtiofs"),
    ("hook-sidecar-", "sidecar"), ("guest-console-log", "guest-console-log"),
)  # fmt: skip


class PodField(NamedTuple):
    """What brought a value of a pod: *path* of the VMI, or the VM's name with *is_name*, or a *setting*."""

    path: FieldPath = ()
    is_name: bool = False
    setting: FieldPath = ()


class Blamed(NamedTuple):
    """The refusals of a pod that one field brought."""

    field: PodField
    refusals: tuple[PodRefusal, ...]


def by_field(
    refusals: Iterable[PodRefusal], vmi: Tree, pod: Tree, configuration: Tree
) -> list[Blamed]:
    """*refusals* of the *pod* of *vmi* by the field that brought them, in their order."""
    groups: dict[PodField, list[PodRefusal]] = {}
    for refusal in refusals:
        groups.setdefault(_field(refusal, vmi, pod, configuration), []).append(refusal)
    return [Blamed(field, tuple(dict.fromkeys(same))) for field, same in groups.items()]


def place(field: PodField, machine: Machine) -> FieldPath:
    """Where *field* stands in the object that was written for *machine*."""
    path = ("metadata", "name") if field.is_name else field.path
    if path and not field.is_name:
        path = (*machine.template, *path)
    holder = machine.resource.holder
    if holder is None:
        return path
    from render.kubevirt import replicas

    return (*replicas.template_of(holder), *path) if path and not field.is_name else path


def _field(  # noqa: C901 - one case a place in a pod
    refusal: PodRefusal, vmi: Tree, pod: Tree, configuration: Tree
) -> PodField:
    match refusal.path:
        case ("metadata", "generateName" | "name", *_):
            return PodField(is_name=True)
        case ("metadata", "labels", key, *_):
            return _of_label(str(key), vmi)
        case ("spec", "hostname"):
            return _of_hostname(vmi)
        case ("spec", "nodeSelector", key):
            return _of_node_label(str(key), vmi, configuration)
        case ("spec", "affinity", *_):
            return _of_affinity(refusal.path, vmi, pod)
        case ("spec", "volumes", int(index), *_):
            return _of_volume(pod["spec"]["volumes"][index].get("name") or "", vmi)
        case ("spec", "runtimeClassName"):
            return PodField(setting=("defaultRuntimeClass",))
        case ("spec", "containers", 0, *rest):
            return _of_compute(tuple(rest), vmi, pod)
        case ("spec", "containers" | "initContainers" as group, int(index), *rest):
            return _of_support(pod["spec"][group][index], tuple(rest), vmi, configuration)
        case path if tree.get(vmi, *path[:2]) is not None:
            return PodField(_present(vmi, path))
        case _:
            return PodField()


def _present(vmi: Tree, path: FieldPath) -> FieldPath:
    """*path* as far as *vmi* has it."""
    while path and tree.get(vmi, *path) is None:
        path = path[:-1]
    return path


def _of_hostname(vmi: Tree) -> PodField:
    path = ("spec", "hostname")
    return PodField(path) if tree.get(vmi, *path) else PodField(is_name=True)


def _of_label(key: str, vmi: Tree) -> PodField:
    if tree.get(vmi, *_ANNOTATIONS, key) is not None and key == _ISTIO:
        return PodField((*_ANNOTATIONS, key))
    if tree.get(vmi, "metadata", "labels", key) is not None:
        return PodField(("metadata", "labels", key))
    return _of_hostname(vmi)


def _of_node_label(key: str, vmi: Tree, configuration: Tree) -> PodField:
    if tree.get(vmi, "spec", "nodeSelector", key) is not None:
        return PodField(("spec", "nodeSelector", key))
    if key.startswith(_FEATURE):
        return _of_feature(key, vmi)
    for beginning, path in _NODE_LABELS:
        if key.startswith(beginning):
            return PodField(path)
    selectors = ("developerConfiguration", "nodeSelectors")
    known = tree.get(configuration, *selectors, key) is not None
    return PodField(setting=(*selectors, key)) if known else PodField()


def _of_feature(key: str, vmi: Tree) -> PodField:
    name = key.removeprefix(_FEATURE)
    for index, feature in enumerate(tree.get(vmi, *_FEATURES) or ()):
        if (feature.get("name") or "") == name:
            return PodField((*_FEATURES, index, "name"))
    return PodField(_FEATURES)


def _of_affinity(path: FieldPath, vmi: Tree, pod: Tree) -> PodField:
    key = tree.get(pod, *path[: path.index("matchExpressions") + 2], "key")
    if isinstance(key, str) and key.startswith(_FEATURE):
        return _of_feature(key, vmi)
    return PodField(_present(vmi, path))


def _of_compute(path: FieldPath, vmi: Tree, pod: Tree) -> PodField:
    match path:
        case ("livenessProbe" | "readinessProbe", *_):
            return PodField(_present(vmi, ("spec", *path)))
        case ("ports", int(index), *rest):
            return PodField(_port(index, tuple(rest), vmi))
        case ("resources", "claims", int(index), *_):
            claim = pod["spec"]["containers"][0]["resources"]["claims"][index]
            return PodField(_claimant(claim, vmi))
        case ("resources", "requests" | "limits" as part, name, *_):
            return PodField(_amount(part, str(name), vmi))
        case ("volumeMounts", int(index), *_):
            mount = pod["spec"]["containers"][0]["volumeMounts"][index]
            return _of_volume(mount.get("name") or "", vmi)
        case _:
            return PodField()


def _amount(part: str, name: str, vmi: Tree) -> FieldPath:
    if name.startswith(HUGE):
        return (*_DOMAIN, "memory", "hugepages", "pageSize")
    # Two amounts that contradict each other: the one that the VM sets is to be mended.
    for section in (part, *({"requests", "limits"} - {part})):
        path = (*_DOMAIN, "resources", section, name)
        if tree.get(vmi, *path) is not None:
            return path
    for kind in ("gpus", "hostDevices"):
        for index, device in enumerate(tree.get(vmi, *_DEVICES, kind) or ()):
            if device.get("deviceName") == name:
                return (*_DEVICES, kind, index, "deviceName")
    return ()


def _port(number: int, rest: FieldPath, vmi: Tree) -> FieldPath:
    """Where the port *number* of all interfaces stands; a field of it may have another name there."""
    for index, interface in enumerate(tree.get(vmi, *_DEVICES, "interfaces") or ()):
        ports = interface.get("ports") or ()
        if number < len(ports):
            field = tuple("port" if step == "containerPort" else step for step in rest)
            return _present(vmi, (*_DEVICES, "interfaces", index, "ports", number, *field))
        number -= len(ports)
    return ()


def _claimant(claim: Tree, vmi: Tree) -> FieldPath:
    """The last device that has this *claim*."""
    devices = [
        (*_DEVICES, kind, index)
        for kind in ("gpus", "hostDevices")
        for index, device in enumerate(tree.get(vmi, *_DEVICES, kind) or ())
        if device.get("claimName") == claim.get("name")
    ]
    same = [path for path in devices if tree.get(vmi, *path, "requestName") == claim.get("request")]
    return (*(same or devices)[-1], "claimName") if devices else ()


def _of_volume(name: str, vmi: Tree) -> PodField:
    """Who brought the volume *name* of the pod: of several, the last."""
    own = {
        of_pod: ("spec", "volumes", index)
        for index, volume in enumerate(tree.get(vmi, "spec", "volumes") or ())
        for of_pod in (f"{volume.get('name')}{end}" for end in ("", "-udata", "-ndata"))
    }
    if name in own:
        return PodField(own[name])
    secrets = [
        (path, f"{secret}-access-cred")
        for path, secret in _secrets(tree.get(vmi, "spec", "accessCredentials") or ())
    ]
    same = [path for path, made in secrets if made == name]
    if same:
        return PodField(same[-1])
    is_hooked = tree.get(vmi, *_ANNOTATIONS, _HOOKS) is not None
    return PodField((*_ANNOTATIONS, _HOOKS)) if is_hooked else PodField()


def _secrets(credentials: Iterable[Tree]) -> Iterable[tuple[FieldPath, str]]:
    for index, credential in enumerate(credentials):
        for kind in ("sshPublicKey", "userPassword"):
            path: FieldPath = (kind, "source", "secret", "secretName")
            secret = tree.get(credential, *path)
            if secret is not None:
                yield ("spec", "accessCredentials", index, *path), secret


def _of_support(container: Tree, path: FieldPath, vmi: Tree, configuration: Tree) -> PodField:
    name = container.get("name") or ""
    if path[:1] == ("name",):
        for index, volume in enumerate(tree.get(vmi, "spec", "volumes") or ()):
            if volume.get("name") and volume["name"] in name:
                return PodField(("spec", "volumes", index, "name"))
    if path[:1] == ("resources",):
        kind = next((kind for beginning, kind in _SUPPORT if name.startswith(beginning)), "")
        for index, support_container in enumerate(
            configuration.get("supportContainerResources") or ()
        ):
            if support_container.get("type") == kind:
                return PodField(setting=("supportContainerResources", index))
    if name.startswith("hook-sidecar-"):
        return PodField((*_ANNOTATIONS, _HOOKS))
    return PodField()
