"""What names what: each field of an object that leads to other objects, of the folder or within the lock."""

from collections.abc import Iterable, Iterator

from render.model import tree
from render.model.apimachinery import selectors
from render.model.apimachinery.selectors import SelectorError
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.release import NEWEST
from render.model.resource import CDI, CLUSTER_SCOPED, KUBEVIRT, LOCK_KIND, OWN, SNAPSHOT, Resource
from render.model.tree import Tree
from render.resolve.references import named_in

PRESET = "VirtualMachineInstancePreset"
_REVISION = frozenset({("apps", "ControllerRevision")})
_SOURCES = {
    "pvc": frozenset({("", "PersistentVolumeClaim"), (CDI, "DataVolume")}),
    "snapshot": frozenset({(SNAPSHOT, "VolumeSnapshot")}),
    "dataSource": frozenset({(CDI, "DataSource")}),
}
_DATA_SOURCE = _SOURCES["dataSource"]
#: Where kinds have the spec of a VM and that of a VMI.
_OF_VM: dict[str, FieldPath] = {
    "VirtualMachine": ("spec",),
    "VirtualMachinePool": ("spec", "virtualMachineTemplate", "spec"),
}
_OF_VMI: dict[str, FieldPath] = {
    "VirtualMachineInstance": ("spec",),
    "VirtualMachineInstanceReplicaSet": ("spec", "template", "spec"),
    **{kind: (*path, "template", "spec") for kind, path in _OF_VM.items()},
}


class Link(NamedTuple):
    """That the field at *path* of an object names objects of *kinds*, by group and kind, called *name*.

    *namespace*: where these are, ``""`` if nobody says; *inner*: the field of the same object that is meant instead.
    """

    path: FieldPath
    kinds: frozenset[tuple[str, str]]
    namespace: str
    name: str
    inner: FieldPath = ()


def links(resource: Resource) -> Iterator[Link]:
    """What *resource* names."""
    body, namespace = resource.body, resource.namespace
    if (resource.group, resource.kind) == (OWN, LOCK_KIND):
        yield from _of_lock(body)
    vm = _OF_VM.get(resource.kind) if resource.group.endswith(KUBEVIRT) else None
    if vm:
        yield from _matchers(body, vm, namespace)
        templates = tree.get(body, *vm, "dataVolumeTemplates")
        for number, template in enumerate(templates if isinstance(templates, list) else ()):
            path = (*vm, "dataVolumeTemplates", number, "spec")
            yield from _sources(
                template.get("spec") if isinstance(template, dict) else None, path, namespace
            )
    vmi = _OF_VMI.get(resource.kind) if resource.group.endswith(KUBEVIRT) else None
    spec = tree.get(body, *vmi) if vmi else None
    if vmi and isinstance(spec, dict):
        for path, name, field in _named(spec):
            space, _, bare = name.rpartition("/")
            yield Link((*vmi, *path), field.target.kinds, space or namespace, bare)
    if resource.group == CDI:
        yield from _sources(resource.spec, ("spec",), namespace)
        managed = resource.spec.get("managedDataSource")
        if isinstance(managed, str):
            yield Link(("spec", "managedDataSource"), _DATA_SOURCE, namespace, managed)
    for kind_class in KIND_CLASSES:
        name = tree.get(body, "metadata", "labels", kind_class.name_label)
        if isinstance(name, str):
            kinds = _definitions((kind_class.namespaced, kind_class.cluster))
            yield Link(("metadata", "labels", kind_class.name_label), kinds, namespace, name)


def _named(spec: Tree) -> list[Any]:
    try:
        return list(named_in(spec))
    except (AttributeError, TypeError):  # half of it is still to be typed
        return []


def _matchers(body: Tree, vm: FieldPath, namespace: str) -> Iterator[Link]:
    for kind_class in KIND_CLASSES:
        matcher = tree.get(body, *vm, kind_class.word)
        if not isinstance(matcher, dict):
            continue
        name, kind, revision = (matcher.get(key) for key in ("name", "kind", "revisionName"))
        meant = kind_class.kind_of(kind if isinstance(kind, str) else "")
        if isinstance(name, str) and meant:
            yield Link((*vm, kind_class.word, "name"), _definitions((meant,)), namespace, name)
        if isinstance(revision, str):
            yield Link((*vm, kind_class.word, "revisionName"), _REVISION, namespace, revision)


def _definitions(kinds: Iterable[str]) -> frozenset[tuple[str, str]]:
    return frozenset((f"instancetype.{KUBEVIRT}", kind) for kind in kinds)


def _sources(spec: Any, path: FieldPath, namespace: str) -> Iterator[Link]:
    """What the *spec* of a DataVolume or of a DataSource is made of."""
    if not isinstance(spec, dict):
        return
    source, ref = spec.get("source"), spec.get("sourceRef")
    places = (
        [(("source", kind), kinds, source.get(kind)) for kind, kinds in _SOURCES.items()]
        if isinstance(source, dict)
        else []
    )
    for step, kinds, named in (*places, (("sourceRef",), _DATA_SOURCE, ref)):
        name = named.get("name") if isinstance(named, dict) else None
        if isinstance(named, dict) and isinstance(name, str):
            space = named.get("namespace")
            yield Link(
                (*path, *step, "name"), kinds, space if isinstance(space, str) else namespace, name
            )


def _of_lock(body: Tree) -> Iterator[Link]:
    """What a lock pins: VMs, and for each the contents that it has."""
    pins = body.get("pins")
    for key, pin in pins.items() if isinstance(pins, dict) else ():
        namespace, _, name = str(key).rpartition("/")
        machines = frozenset((KUBEVIRT, kind) for kind in _OF_VMI)
        yield Link(("pins", key), machines, namespace.rpartition("/")[2], name)
        for kind_class in KIND_CLASSES:
            ref = pin.get(kind_class.word) if isinstance(pin, dict) else None
            named, _, digest = ref.partition("@") if isinstance(ref, str) else ("", "", "")
            kind, _, definition = named.partition("/")
            if digest:
                path = ("pins", key, kind_class.word)
                yield Link(path, _definitions((kind,)), namespace, definition)
                yield Link(path, frozenset(), "", "", inner=("revisions", digest))


def leads_to(link: Link, resource: Resource, namespace: str) -> bool:
    """Whether *link* means *resource*; who names no namespace has *namespace*."""
    if resource.name != link.name or (resource.group, resource.kind) not in link.kinds:
        return False
    if resource.kind in CLUSTER_SCOPED:
        return True
    return (resource.namespace or namespace) == (link.namespace or namespace)


def selected(
    preset: Resource, machines: Iterable[Resource], namespace: str
) -> list[tuple[Resource, FieldPath]]:
    """Those of *machines* that *preset* reaches by their labels, and where these stand."""
    selector = preset.spec.get("selector")
    if not isinstance(selector, dict):
        return []
    reached = []
    for machine in machines:
        vmi = _OF_VMI.get(machine.kind) if machine.group.endswith(KUBEVIRT) else None
        path = (*vmi[:-1], "metadata", "labels") if vmi else ()
        labels = tree.get(machine.body, *path) if path else None
        same = (machine.namespace or namespace) == (preset.namespace or namespace)
        if same and isinstance(labels, dict) and _selects(selector, labels):
            reached.append((machine, path))
    return reached


def _selects(selector: Tree, labels: Tree) -> bool:
    try:
        return selectors.selects(
            selector, {k: v for k, v in labels.items() if isinstance(v, str)}, NEWEST
        )
    except (SelectorError, AttributeError, TypeError, LookupError):
        return False


def names_a_label(path: FieldPath, machine: Resource) -> bool:
    """Whether *path* is a label of the VMI that *machine* makes."""
    vmi = _OF_VMI.get(machine.kind)
    return bool(vmi) and path[: len(vmi) + 1] == (*vmi[:-1], "metadata", "labels") if vmi else False


def vm_spec(resource: Resource) -> FieldPath | None:
    """Where *resource* has the spec of a VM, None where it has none."""
    return _OF_VM.get(resource.kind) if resource.group.endswith(KUBEVIRT) else None


def vmi_spec(resource: Resource) -> FieldPath | None:
    """Where *resource* has the spec of a VMI, None where it has none."""
    return _OF_VMI.get(resource.kind) if resource.group.endswith(KUBEVIRT) else None
