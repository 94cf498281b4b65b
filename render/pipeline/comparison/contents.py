"""What becomes of VMs whose Secrets and ConfigMaps have other contents, while they themselves are written alike.

The kubelet puts the new contents into the virt-launcher pod. The images of cloud-init, answer files and disks are made
of them at the start alone, and no condition says that they are old; a shared filesystem has them at once, and so have
the credentials that virt-launcher hands to the agent of the guest. Upstream: pkg/cloud-init/cloud-init.go, pkg/config,
pkg/virt-launcher/virtwrap/access-credentials.
"""

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping

from render.diff import impact
from render.diff.impact import FieldChange, MachineImpact
from render.diff.source import ChangeSource
from render.guest import volumes
from render.machine import Machine
from render.model import fieldpath, tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.resource import TEMPLATE, VM, Resource
from render.model.tree import Tree
from render.pipeline.comparison.sides import Key, Side, State

KINDS = ("ConfigMap", "Secret")
#: Effects beside which a start with the new contents can be told: the VM goes on, and starts again.
_GOES_ON = frozenset({"stop", "restart", "migrate", "live", "next", "recreate", "none", "same"})
_SOURCES: tuple[tuple[FieldPath, str, str], ...] = (
    (("secret",), "secretName", "Secret"),
    (("configMap",), "name", "ConfigMap"),
    (("sysprep", "secret"), "name", "Secret"),
    (("sysprep", "configMap"), "name", "ConfigMap"),
)
_CREDENTIALS = ("sshPublicKey", "userPassword")


class _ContentUse(NamedTuple):
    """A *field* of a VMI by which it reads the object *name*, its first of these *keys* or all; *is_live*: at once."""

    field: str
    kind: str
    name: str
    keys: tuple[str, ...] = ()
    is_live: bool = False


class _EditedContent(NamedTuple):
    """The contents of an object in both states, by key, and where each of them has the keys."""

    objects: tuple[Resource, Resource]
    contents: tuple[Mapping[str, bytes], Mapping[str, bytes]]


Edits = Mapping[Key, _EditedContent]


def edited_between(first: State, second: State) -> Edits:
    """The Secrets and ConfigMaps that both states have, each with other contents."""
    before, after = _objects(first), _objects(second)
    edits = {}
    for key in before.keys() & after.keys():
        old, new = before[key], after[key]
        # The API server refuses another content of what is immutable.
        if old.body == new.body or old.body.get("immutable") is True:
            continue
        contents = _contents(old), _contents(new)
        if contents[0] is not None and contents[1] is not None and contents[0] != contents[1]:
            edits[key] = _EditedContent((old, new), (contents[0], contents[1]))
    return edits


def _objects(state: State) -> dict[Key, Resource]:
    return {
        (resource.kind, resource.namespace or state.settings.namespace, resource.name): resource
        for resource in state.intake.resources
        if resource.kind in KINDS and not resource.group
    }


def _contents(resource: Resource) -> dict[str, bytes] | None:
    """What *resource* holds by key; None where nobody can tell: it is encrypted, or no such object."""
    contents: dict[str, bytes] = {}
    if "sops" in resource.body:
        return None
    for holder in ("data", "binaryData", "stringData"):
        values = resource.body.get(holder) or {}
        if not isinstance(values, dict):
            return None
        is_encoded = holder == "binaryData" or (holder == "data" and resource.kind == "Secret")
        for key, value in values.items():
            content = _content(value, is_encoded=is_encoded)
            if content is None:
                return None
            contents[key] = content
    return contents


def _content(value: Any, *, is_encoded: bool) -> bytes | None:
    if value is None:
        return b""
    if not isinstance(value, str):
        return None
    try:
        text = value.encode()
        return base64.b64decode(b"".join(text.split()), validate=True) if is_encoded else text
    except (binascii.Error, ValueError):
        return None


def reading(
    machine_impact: MachineImpact,
    machines: tuple[Machine | None, Machine | None],
    sides: tuple[Side, Side],
    edits: Edits,
) -> MachineImpact:
    """*machine_impact* of a VM, *machines* in both states, with what it reads of objects that have other contents."""
    before, after = machines
    effects = {*machine_impact.effects}
    if not edits or before is None or after is None or machine_impact.resource.kind != VM:
        return machine_impact
    if not _GOES_ON.issuperset(effects) or any(found.is_error for found in after.diagnostics):
        return machine_impact
    kept = {*_uses(before.decoded)}
    runs = impact.strategy_of(before.vm) != impact.HALTED and "stop" not in effects
    changes = []
    for use in _uses(after.decoded):
        edit = edits.get((use.kind, after.namespace, use.name))
        keys = _edited_keys(edit, use) if edit is not None and use in kept else ()
        if edit is None or not keys:
            continue
        effect = "live" if runs and use.is_live else "restart" if "restart" in effects else "next"
        cause = _cause(edit, keys, sides)
        waits = effect == "restart"
        hidden = impact.HIDDEN
        changes.append(FieldChange(use.field, hidden, hidden, effect, cause, waits=waits))
    if not changes:
        return machine_impact
    effects = effects - {"none", "same"} | {change.effect for change in changes}
    return machine_impact._replace(
        effects=impact.ordered(effects), changes=(*machine_impact.changes, *changes)
    )


def _edited_keys(edit: _EditedContent, use: _ContentUse) -> tuple[str, ...]:
    """The keys of an object that *use* reads, and that are others in both states."""
    before, after = edit.contents
    if use.keys:
        read = [next((key for key in use.keys if key in side), "") for side in edit.contents]
        if before.get(read[0], b"") == after.get(read[1], b""):
            return ()
        return tuple(dict.fromkeys(filter(None, read)))
    return tuple(key for key in {**before, **after} if before.get(key) != after.get(key))


def _cause(edit: _EditedContent, keys: Iterable[str], sides: tuple[Side, Side]) -> ChangeSource:
    """Where the *keys* stand that are others: of one key, in the second state if it is there."""
    resource, side = edit.objects[1], sides[1]
    places = _places(resource, keys)
    if not places:  # they are gone
        resource, side = edit.objects[0], sides[0]
        places = _places(resource, keys)
    path: FieldPath = places[0] if len(places) == 1 else ()
    index = side.places.places.get((resource.kind, resource.ref.namespace, resource.ref.name))
    return ChangeSource(resource.ref, path, index, side.places.side)


def _places(resource: Resource, keys: Iterable[str]) -> list[FieldPath]:
    """Where *resource* has the *keys*, those that count first."""
    return [
        (holder, key)
        for key in keys
        for holder in ("stringData", "data", "binaryData")
        if key in (resource.body.get(holder) or {})
    ]


def _uses(vm: Tree) -> Iterator[_ContentUse]:
    """By which fields the VMI of *vm* reads Secrets and ConfigMaps."""
    spec = tree.get(vm, *TEMPLATE, "spec") or {}
    chosen = volumes.cloud_init(spec)
    if chosen is not None:
        (_, index, kind), source = chosen
        volume = _volume(spec["volumes"][index])
        for reference, keys in volumes.SECRET_KEYS.items():
            name = tree.get(source, reference, "name")
            if isinstance(name, str):
                yield _ContentUse(f"{volume}.{kind}.{reference}", "Secret", name, keys)
        yield from _credentials(spec, volumes.METHODS[str(kind)])
    else:
        yield from _credentials(spec, "")
    shared = {
        filesystem.get("name")
        for filesystem in tree.get(spec, "domain", "devices", "filesystems") or ()
    }
    for each in spec.get("volumes") or ():
        for path, field, kind in _SOURCES:
            name = tree.get(each, *path, field)
            if isinstance(name, str):
                is_live = each.get("name") in shared
                where = f"{_volume(each)}.{fieldpath.text(path)}"
                yield _ContentUse(where, kind, name, is_live=is_live)


def _volume(volume: Tree) -> str:
    return f"spec.volumes[{volume.get('name')}]"


def _credentials(spec: Tree, method: str) -> Iterator[_ContentUse]:
    """The Secrets with credentials, which *method* of cloud-init or the agent of the guest brings there."""
    for index, credential in enumerate(spec.get("accessCredentials") or ()):
        for field in _CREDENTIALS:
            methods = tree.get(credential, field, "propagationMethod") or {}
            name = tree.get(credential, field, "source", "secret", "secretName")
            is_live = "qemuGuestAgent" in methods
            if isinstance(name, str) and (is_live or method in methods):
                where = f"spec.accessCredentials[{index}].{field}.source.secret"
                yield _ContentUse(where, "Secret", name, is_live=is_live)
