"""VMs of kubevirt.io/v1alpha1 as machines of today: what later became the VMI, and before that those of the VM store.

The VM of v0.2 to v0.6 has its ``domain`` directly under ``spec``, as a VMI has it today. The store of 2017 kept such
VMs, under the kind ``VM`` too, with a restart policy, the guest's OS type and the annotations for flavour and edit
revision. `modernise` makes objects of today of them, once a run; `in_manifest` says where their authors have a field.
"""

import re
from collections.abc import Iterable

from render.diagnostics.diagnostic import Diagnostic, Location, with_places
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Literal
from render.model.resource import KUBEVIRT, TEMPLATE, VM, VMI, Resource, text_at
from render.model.tree import Tree

VERSION = "v1alpha1"
API_VERSION = f"{KUBEVIRT}/v1"
PRESET = "VirtualMachinePreset"
FLAVOUR = "kubevirt.io/flavour"
REVISION = "kubevirt.io/revision"
RESTART_POLICY: FieldPath = ("spec", "restartPolicy")
OS: FieldPath = ("spec", "domain", "os")

_RUN_STRATEGIES = {"always": "Always", "never": "Once"}
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "s390x": "s390x"}
_OS_KEYS = frozenset({"os", "arch", "machine"})
#: pkg/virt-controller/watch/vm/firmware.go: the namespace of firmware uuids that follow from a VM's name.
_FIRMWARE = "6a1a24a1-4061-4607-8bf4-a3963d0c5895"

Age = Literal["", "runtime", "store"]


def age(resource: Resource) -> Age:
    """Which VM of kubevirt.io/v1alpha1 *resource*, as its author wrote it, is: ``""`` if it is none."""
    if resource.version != VERSION or resource.group != KUBEVIRT:
        return ""
    if resource.kind == "VM":
        return "store"
    if resource.kind != VM:
        return ""
    annotations = tree.get(resource.body, "metadata", "annotations") or {}
    stored = isinstance(annotations, dict) and (FLAVOUR in annotations or REVISION in annotations)
    stored = stored or any(
        tree.get(resource.body, *path) is not None for path in (RESTART_POLICY, OS)
    )
    return "store" if stored else "runtime"


def kind_today(resource: Resource) -> str:
    """The kind of the machine of today that *resource* is, or becomes."""
    return {"store": VM, "runtime": VMI}.get(age(resource), resource.kind)


def modernise(resource: Resource) -> Resource:
    """The machine of today that *resource* becomes, with what it was in `Resource.older`; any other object itself."""
    which = age(resource)
    if not which:
        return resource
    body = as_instance(resource.body)
    if which == "store":
        body = from_store(resource.body, body)
    else:
        body["apiVersion"], body["kind"] = API_VERSION, VMI
    return resource._replace(
        body=body, version=API_VERSION.rpartition("/")[2], kind=body["kind"], older=(resource,)
    )


def in_manifest(resource: Resource, path: FieldPath) -> FieldPath:
    """Where the author of *resource* has *path* of it: one of the store has no template around its spec."""
    unwrapped = resource.older and resource.kind == VM and path[: len(TEMPLATE)] == TEMPLATE
    return path[len(TEMPLATE) :] if unwrapped else path


def located(
    diagnostics: Iterable[Diagnostic], resources: Iterable[Resource]
) -> Iterable[Diagnostic]:
    """*diagnostics* with their places in *resources* where the authors of these have them."""
    older = {resource.index: resource for resource in resources if resource.older}
    if not older:
        return diagnostics

    def move(place: Location) -> Location:
        resource = None if place.index is None else older.get(place.index)
        return place._replace(path=in_manifest(resource, place.path)) if resource else place

    return (with_places(diagnostic, move) for diagnostic in diagnostics)


def in_machine(resource: Resource, path: FieldPath) -> FieldPath:
    """Where *resource* has what its author has at *path*."""
    wrapped = resource.older and resource.kind == VM and path[:1] == ("spec",)
    return (*TEMPLATE, *path) if wrapped else path


def flavour(resource: Resource) -> str:
    """The flavour that a stored VM names, ``""`` if none."""
    return text_at(tree.get(resource.body, "metadata", "annotations"), FLAVOUR)


def stored_revision(resource: Resource) -> int:
    """The number of the edit revision that the store gave a VM, 0 if none is written down as a number."""
    number = tree.get(resource.body, "metadata", "annotations", REVISION)
    if isinstance(number, str) and re.fullmatch("[0-9]{1,9}", number):
        number = int(number)
    return number if type(number) is int and number > 0 else 0


def as_instance(body: Tree) -> Tree:
    """*body* in the shape of today's VMI: without what only the store knew, with the devices that were optional.

    An edit revision was written as a number, and is a text in the annotations of today.
    """
    instance: Tree = {key: tree.copy(value) for key, value in body.items() if key != "version"}
    number = tree.get(instance, "metadata", "annotations", REVISION)
    if type(number) is int:
        instance["metadata"]["annotations"][REVISION] = str(number)
    for path in (RESTART_POLICY, OS):
        tree.remove(instance, *path)
    domain = tree.get(instance, "spec", "domain")
    if isinstance(domain, dict) and domain.get("devices") is None:
        domain["devices"] = {}
    return instance


#: What has no counterpart today: where, why, and what to do.
Fault = tuple[FieldPath, str, str]


def store_faults(body: Tree) -> list[Fault]:
    """What of a stored VM cannot be kept."""
    faults: list[Fault] = []
    policy = tree.get(body, *RESTART_POLICY)
    if policy is not None and policy not in tuple(_RUN_STRATEGIES):
        known = " and ".join(_RUN_STRATEGIES)
        from render.convert.presets import compact

        policy_text = policy if isinstance(policy, str) else compact(policy)
        message = f"restartPolicy {policy_text} has no run strategy: {known} have"
        faults.append((RESTART_POLICY, message, "write always (Always) or never (Once)"))
    guest_os = tree.get(body, *OS)
    type_ = tree.get(guest_os, "type")
    if guest_os is not None and (not isinstance(type_, dict) or guest_os.keys() != {"type"}):
        message = "domain.os says more than its type, which has no counterpart in kubevirt.io/v1"
        faults.append((OS, message, "keep domain.os.type only"))
    elif guest_os is not None:
        faults += _type_faults(type_)
    return faults


def _type_faults(type_: Tree) -> list[Fault]:
    faults: list[Fault] = []
    for key, value in type_.items():
        place: FieldPath = (*OS, "type", key)
        if key not in _OS_KEYS or not isinstance(value, str):
            message = f"domain.os.type.{key} has no counterpart in kubevirt.io/v1"
            faults.append((place, message, f"keep {', '.join(sorted(_OS_KEYS))}, each a text"))
        elif key == "os" and value != "hvm":
            message = f"domain.os.type.os is {value}, and KubeVirt runs hvm guests only"
            faults.append((place, message, "write hvm"))
        elif key == "arch" and value not in _ARCHITECTURES:
            message = f"domain.os.type.arch is {value}, which KubeVirt does not run"
            faults.append((place, message, f"one of {', '.join(_ARCHITECTURES)}"))
    return faults


def from_store(body: Tree, instance: Tree) -> Tree:
    """The VirtualMachine of kubevirt.io/v1 that a stored VM is.

    *instance* is `as_instance` of *body*, decoded. Labels and the two annotations go with the runtime too. A VM without
    a restart policy was stored for a later start.
    """
    metadata = instance.get("metadata") or {}
    labels, stored_annotations = tree.get(metadata, "labels"), tree.get(metadata, "annotations")
    annotations = stored_annotations if isinstance(stored_annotations, dict) else {}
    annotations = {key: value for key, value in annotations.items() if key in (FLAVOUR, REVISION)}
    carried = {"labels": labels, "annotations": annotations}
    written = instance.get("spec")
    spec: Tree = tree.copy(written) if isinstance(written, dict) else {}
    arch, machine = (text_at(tree.get(body, *OS, "type"), key) for key in ("arch", "machine"))
    if arch and not spec.get("architecture"):
        spec["architecture"] = _ARCHITECTURES.get(arch, "")
    present = tree.get(spec, "domain", "machine") or {}
    if machine and isinstance(present, dict) and not present.get("type"):
        tree.put(spec, ("domain", "machine", "type"), machine)
    policy = text_at(body.get("spec"), "restartPolicy")
    return {
        "apiVersion": f"{KUBEVIRT}/v1",
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": {
            "runStrategy": _RUN_STRATEGIES.get(policy, "Halted"),
            "template": {
                "metadata": {key: value for key, value in carried.items() if value},
                "spec": spec,
            },
        },
    }


def firmware_uuid(name: str) -> str:
    """The firmware uuid that KubeVirt derives for a VM *name* without one (it was random in v1alpha1)."""
    import uuid

    return str(uuid.uuid5(uuid.UUID(_FIRMWARE), name))
