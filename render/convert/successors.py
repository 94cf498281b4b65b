"""What a migration writes into one object, in place of what is deprecated: edits that keep comments and order."""

from collections.abc import Iterable, Iterator

from render.convert import flavors, instancetypes, presets, templates
from render.diagnostics.fix import Fix, edit_of
from render.model import topology, tree
from render.model.edits import Move, Operation, Put, Remove
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.kinds import FLAVOR
from render.model.named_tuple import NamedTuple
from render.model.release import Version, served
from render.model.resource import FLAVOR_GROUP, INSTANCETYPE_GROUP, KUBEVIRT, Resource, text_at
from render.model.tree import Tree

BETA = f"{INSTANCETYPE_GROUP}/v1beta1"
_TOPOLOGY: FieldPath = ("spec", "cpu", "preferredCPUTopology")
_FIRMWARE: FieldPath = ("spec", "firmware")
_POOLED: FieldPath = ("spec", "virtualMachineTemplate")
_EFI = ("preferredUseEfi", "preferredUseSecureBoot")


class Step(NamedTuple):
    """One change of an object, in words and in edits.

    *gone*: what a patch of a kustomization may look for, and would not find any more. *safe*: no VM can become another
    by it.
    """

    words: str
    edits: tuple[Operation, ...]
    gone: tuple[str, ...]
    safe: bool = True


def steps(resource: Resource, release: Version) -> Iterator[Step]:
    """What is to be done about *resource* alone, whatever refers to it, in a cluster of KubeVirt *release*."""
    if resource.group == INSTANCETYPE_GROUP:
        if resource.version in instancetypes.OLDER:
            yield _to_beta(resource, release)
        yield from _preference(resource)
    elif resource.group == FLAVOR_GROUP and resource.kind not in flavors.KINDS:
        yield _flavor_preference(resource)
        yield from _preference(resource)
    elif resource.group == KUBEVIRT and resource.version == "v1alpha3":
        changes = (Put(("apiVersion",), f"{KUBEVIRT}/v1"),)
        yield Step(f"apiVersion {KUBEVIRT}/v1", changes, ("v1alpha3",))
    for path, vm in _machines(resource):
        yield from _of_machine(path, vm)


def fixes(resource: Resource, release: Version, path: FieldPath) -> tuple[Fix, ...]:
    """What a migration would do about the outdated field at *path* of *resource*, as fixes of that finding."""
    return tuple(
        Fix(f"write {step.words}", tuple(map(edit_of, step.edits)), step.safe)
        for step in steps(resource, release)
        if any(edit.path == path for edit in step.edits)
    )


def _machines(resource: Resource) -> Iterator[tuple[FieldPath, Tree]]:
    """The VMs in *resource*, itself included, and where they stand.

    A pool leaves the VMIs of its VMs alone as long as their template is the same
    (pkg/virt-controller/watch/pool/pool.go, isOutdatedVMI).
    """
    if resource.group == KUBEVIRT and resource.kind == "VirtualMachine":
        yield (), resource.body
    elif resource.group == f"pool.{KUBEVIRT}" and resource.kind == "VirtualMachinePool":
        yield _POOLED, _mapping(tree.get(resource.body, *_POOLED))
    elif templates.is_template(resource):
        for path, kind, vm in templates.places(resource):
            group = text_at(vm, "apiVersion").partition("/")[0]
            if kind == "VirtualMachine" and group in ("", KUBEVIRT):
                yield path, vm


def _to_beta(resource: Resource, release: Version) -> Step:
    newer = []
    if resource.version not in served(resource.group, release):
        # A field that the older version does not know would come into force; where both are served, it is in force.
        newer = instancetypes.newer_fields(resource.kind, resource.version, resource.spec)
    changes = (Put(("apiVersion",), BETA),)
    return Step(f"apiVersion {BETA}", changes, (resource.version,), safe=not newer)


def _flavor_preference(resource: Resource) -> Step:
    idle = [
        Remove(("spec", group, key))
        for group in ("devices", "firmware")
        for key, value in _mapping(resource.spec.get(group)).items()
        if value is False
    ]
    changes: tuple[Operation, ...] = (Put(("apiVersion",), BETA), *idle)
    return Step(f"apiVersion {BETA}", changes, (FLAVOR_GROUP, resource.version), safe=False)


def _mapping(value: Any) -> Tree:
    return value if isinstance(value, dict) else {}


def _of_machine(path: FieldPath, vm: Tree) -> Iterator[Step]:
    """What is to be done about the VM at *path* of an object."""
    if path and vm.get("apiVersion") == f"{KUBEVIRT}/v1alpha3":
        changes: tuple[Operation, ...] = (Put((*path, "apiVersion"), f"{KUBEVIRT}/v1"),)
        yield Step(f"apiVersion {KUBEVIRT}/v1", changes, ("v1alpha3",))
    spec = _mapping(vm.get("spec"))
    running = spec.get("running")
    if isinstance(running, bool) and "runStrategy" not in spec:
        strategy = "Always" if running else "Halted"
        place = (*path, "spec", "runStrategy")
        changes = (Move((*path, "spec", "running"), place), Put(place, strategy))
        yield Step(f"runStrategy: {strategy}", changes, ("running",))


def _preference(resource: Resource) -> Iterator[Step]:
    preferred = tree.get(resource.body, *_TOPOLOGY)
    if isinstance(preferred, str) and preferred in topology.SUCCESSORS:
        value = topology.SUCCESSORS[preferred]
        yield Step(f"preferredCPUTopology: {value}", (Put(_TOPOLOGY, value),), ())
    firmware = tree.get(resource.body, *_FIRMWARE)
    if isinstance(firmware, dict) and firmware.get("preferredUseEfi") is not None:
        yield _efi(firmware)


def _efi(firmware: Tree) -> Step:
    old, new = (*_FIRMWARE, "preferredUseEfi"), (*_FIRMWARE, "preferredEfi")
    secure = (*_FIRMWARE, "preferredUseSecureBoot")
    if firmware["preferredUseEfi"] is not True or firmware.get("preferredEfi") is not None:
        return Step("no preferredUseEfi, which has no effect", (Remove(old),), _EFI, safe=False)
    value = {}
    edits: list[Operation] = [Move(old, new)]
    if firmware.get("preferredUseSecureBoot") is not None:
        value = {"secureBoot": firmware["preferredUseSecureBoot"]}
        edits.append(Remove(secure))
    # A VM with an EFI of its own got the secure boot of the old field, and gets none from the new one.
    return Step("preferredEfi", (*edits, Put(new, value)), _EFI, safe=False)


def flavor(resource: Resource) -> tuple[Operation, ...] | str:
    """The edits that make an instancetype of a flavor, or why there is none."""
    spec = resource.body.get("spec")
    if not isinstance(spec, dict):
        return "its profiles say nothing about memory, which an instancetype must"
    if not isinstance(spec.get("cpu"), dict) or not flavors.lists_vcpus(spec["cpu"]):
        return "its cpu is a topology, and that of an instancetype follows from a preference"
    if tree.get(spec, "memory", "guest") is None:
        return "it says nothing about memory, which an instancetype must"
    kind = flavors.SUCCESSORS[resource.kind]
    return Put(("apiVersion",), BETA), Put(("kind",), kind)


def flavor_matcher(flavor: Tree) -> tuple[Operation, ...]:
    """The edits that turn ``spec.flavor`` of a VM into a matcher of the instancetype of that name."""
    place: FieldPath = ("spec", "instancetype")
    edits: list[Operation] = [Move(("spec", "flavor"), place)]
    if flavor.get("kind"):
        edits.append(Put((*place, "kind"), flavors.SUCCESSORS[FLAVOR.kind_of(flavor["kind"])]))
    if "profile" in flavor:
        edits.append(Remove((*place, "profile")))
    return tuple(edits)


def preset(resource: Resource, idle: Iterable[FieldPath] = ()) -> tuple[Operation, ...] | str:
    """The edits that make a preference of a preset, or why there is none that says exactly the same.

    *idle*: what of its domain reaches no VM, and goes.
    """
    domain: FieldPath = ("spec", "domain")
    effective = tree.copy(_mapping(tree.get(resource.body, *domain)))
    for path in idle:
        tree.remove(effective, *path)
    parts = {key for key, value in effective.items() if value}
    if not parts:
        return "it says nothing that reaches a VM" if idle else "it says nothing"
    if parts - {"features", "clock"}:
        kept = ", ".join(sorted(parts - {"features", "clock"}))
        return f"no preference says the same about {kept}; `virt-render factor` looks at each VM"
    features, clock = (_mapping(effective.get(key)) for key in ("features", "clock"))
    if not features.keys() <= presets.FEATURES.keys():
        return "no preference knows all of its features"
    moves = [
        Move((*domain, "features", key), ("spec", "features", presets.FEATURES[key]))
        for key in features
    ]
    for key in clock:
        to = ("preferredTimer",) if key == "timer" else ("preferredClockOffset", key)
        moves.append(Move((*domain, "clock", key), ("spec", "clock", *to)))
    return (
        Put(("apiVersion",), BETA),
        Put(("kind",), "VirtualMachinePreference"),
        *moves,
        Remove(domain),
        Remove(("spec", "selector")),
    )
