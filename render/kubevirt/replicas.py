"""Pools and replica sets: the VM or VMI that they make.

Upstream: pkg/virt-controller/watch/pool/pool.go, pkg/virt-controller/watch/replicaset/replicaset.go.
"""

from render import schemas
from render.diagnostics.codes import MISSING_FIELD
from render.diagnostics.diagnostic import Diagnostic, Location, at, with_places
from render.model import fieldpath, tree
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.release import Items, Version, in_force, since
from render.model.resource import (
    HOLDER_GROUPS,
    KUBEVIRT,
    POOL,
    REPLICA_SET,
    Resource,
    from_body,
    text_at,
)
from render.model.tree import Tree
from render.schemas import refusals


class Holder(NamedTuple):
    """Where a kind keeps what it makes, and the kind of that."""

    template: FieldPath
    kind: str

    @property
    def vmi(self) -> FieldPath:
        """The place of metadata and spec of the VMI."""
        return (
            (*self.template, "spec", "template") if self.kind == "VirtualMachine" else self.template
        )


_NAMES = ("name", "namespace", "generateName")
FIRST = "-0"
#: The spec of a VMI of which nothing is said, as Go writes it.
_EMPTY: Tree = {"domain": {"devices": {}}}
_VOLUMES = ("template", "spec", "volumes")
#: Of a volume what a pool gives the number of the VM: the field of nameGeneration that asks for it, or None where it
#: is done to the names of the VM's own DataVolumeTemplates.
_NUMBERED: Items[tuple[FieldPath, str | None]] = (
    (("persistentVolumeClaim", "claimName"), None),
    (("dataVolume", "name"), None),
    since("1.5", (("configMap", "name"), "appendIndexToConfigMapRefs")),
    since("1.5", (("secret", "secretName"), "appendIndexToSecretRefs")),
    since("1.8", (("cloudInitNoCloud", "secretRef", "name"), "appendIndexToSecretRefs")),
    since("1.8", (("cloudInitNoCloud", "networkDataSecretRef", "name"), "appendIndexToSecretRefs")),
    since("1.8", (("cloudInitConfigDrive", "secretRef", "name"), "appendIndexToSecretRefs")),
    since(
        "1.8", (("cloudInitConfigDrive", "networkDataSecretRef", "name"), "appendIndexToSecretRefs")
    ),
)
HOLDERS = {
    POOL: Holder(("spec", "virtualMachineTemplate"), "VirtualMachine"),
    REPLICA_SET: Holder(("spec", "template"), "VirtualMachineInstance"),
}


def is_holder(resource: Resource) -> bool:
    """Whether *resource* is a pool or a replica set."""
    return resource.kind in HOLDERS and resource.group == HOLDER_GROUPS[resource.kind]


def incomplete(resource: Resource) -> Diagnostic | None:
    """That a pool or a replica set does not say what it should make: the first field on the way that is no mapping."""
    whole: FieldPath = (*HOLDERS[resource.kind].template, "spec")
    ways = (whole[:end] for end in range(1, len(whole) + 1))
    path = next((way for way in ways if not isinstance(tree.get(resource.body, *way), dict)), None)
    if path is None or _is_empty(resource):
        return None
    value = tree.get(resource.body, *path)
    if value is None:
        found = MISSING_FIELD.at(at(resource, path), f"{fieldpath.text(path)} in body is required")
        return schemas.questioned(resource, [found])[0]
    cause = refusals.mistyped(value, "object", refusals.link_to(path))
    return schemas.located(resource, [cause])[0]


def _is_empty(resource: Resource) -> bool:
    """Whether KubeVirt reads *resource* with an empty spec in its template, which nobody wrote.

    No schema wants that of a replica set. Of a pool the template of the VM is missing with it.
    """
    template = tree.get(resource.body, *HOLDERS[resource.kind].template)
    return (
        resource.kind == REPLICA_SET and isinstance(template, dict) and template.get("spec") is None
    )


def first_replica(resource: Resource, *, numbered_by: Version | None = None) -> Resource:
    """The first VM or VMI that a pool or a replica set makes.

    *numbered_by*: as that release creates it: the DataVolumes of a VM, and what else the pool says, have its number.
    """
    holder = HOLDERS[resource.kind]
    written: Tree = tree.get(resource.body, *holder.template)
    metadata = {key: value for key, value in _metadata(written).items() if key not in _NAMES}
    if holder.kind == "VirtualMachine" and resource.name:
        metadata["name"] = f"{resource.name}{FIRST}"
    else:
        beginning = text_at(_metadata(written), "generateName")
        metadata["generateName"] = beginning or resource.ref.name
    if resource.namespace:
        metadata["namespace"] = resource.namespace
    spec = _EMPTY if _is_empty(resource) else written["spec"]
    if holder.kind == "VirtualMachine":
        metadata, spec = _without_nulls(metadata), _read(spec)
    body = {
        "apiVersion": f"{KUBEVIRT}/v1",
        "kind": holder.kind,
        "metadata": metadata,
        "spec": _numbered(resource, spec, numbered_by) if numbered_by else spec,
    }
    replica = from_body(
        body, resource.index, resource.origin, may_hold_placeholders=resource.may_hold_placeholders
    )
    return replica._replace(holders=(resource,))


def _read(spec: Tree) -> Tree:
    """The *spec* of the VM of a pool with its metadata as Go reads them: of null there no schema says anything."""
    draft = Draft(spec)
    templates = spec.get("dataVolumeTemplates")
    places: list[FieldPath] = [("template",)]
    if isinstance(templates, list):
        places += (("dataVolumeTemplates", index) for index in range(len(templates)))
    for place in places:
        template = tree.get(spec, *place)
        metadata = template.get("metadata", "") if isinstance(template, dict) else ""
        if metadata is None or isinstance(metadata, dict):
            draft.put((*place, "metadata"), _without_nulls(metadata or {}))
    return draft.tree


def _without_nulls(metadata: Tree) -> Tree:
    """*metadata* without null: in labels and annotations it is an empty text."""
    return {
        key: {name: "" if text is None else text for name, text in value.items()}
        if isinstance(value, dict)
        else value
        for key, value in metadata.items()
        if value is not None
    }


def machine_of(resource: Resource) -> Resource:
    """What *resource* makes, if it is a pool or a replica set that says so; any other object itself."""
    return first_replica(resource) if is_holder(resource) and not incomplete(resource) else resource


def _metadata(template: Tree) -> Tree:
    metadata = template.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _numbered(resource: Resource, spec: Tree, release: Version) -> Tree:
    """The *spec* of the first VM of a pool (upstream: indexVMSpec)."""
    templates = spec.get("dataVolumeTemplates")
    volumes = tree.get(spec, *_VOLUMES)
    if resource.kind != POOL or not isinstance(volumes, list):
        return spec
    own = set()
    draft = Draft(spec)
    for index, template in enumerate(templates if isinstance(templates, list) else ()):
        name = tree.get(template, "metadata", "name")
        if isinstance(name, str):
            own.add(name)
            draft.put(("dataVolumeTemplates", index, "metadata", "name"), name + FIRST)
    generation = resource.spec.get("nameGeneration")
    for index, volume in enumerate(volumes):
        for source, switch in in_force(_NUMBERED, release):
            name = tree.get(volume, *source)
            if not isinstance(name, str):
                continue
            if name in own if switch is None else tree.get(generation, switch) is True:
                draft.put((*_VOLUMES, index, *source), name + FIRST)
    return draft.tree


def with_replica(resource: Resource, replica: Resource, body: Tree) -> Tree:
    """The pool or replica set *resource* with *body*, to which the *replica* it makes was rendered, in its template."""
    if body is replica.body:
        return resource.body
    holder = HOLDERS[resource.kind]
    draft = Draft(resource.body)
    written = tree.get(resource.body, *holder.template)
    metadata = {key: value for key, value in body["metadata"].items() if key not in _NAMES}
    names = {key: value for key, value in _metadata(written).items() if key in _NAMES}
    template = {**written, "spec": body["spec"]}
    if names or metadata:
        template = {"metadata": {}, **template}
        template["metadata"] = {**names, **metadata}
    draft.put(holder.template, template)
    return draft.tree


def relocated(resource: Resource, diagnostic: Diagnostic) -> Diagnostic:
    """*diagnostic*, which is about what *resource* makes, at its place in the template."""
    template = HOLDERS[resource.kind].template

    def moved(place: Location) -> Location:
        if place.index != resource.index:
            return place
        return place._replace(resource=resource.ref, path=(*template, *place.path))

    return with_places(diagnostic, moved)


def template_of(resource: Resource) -> FieldPath:
    """Where a pool or a replica set keeps what it makes."""
    return HOLDERS[resource.kind].template
