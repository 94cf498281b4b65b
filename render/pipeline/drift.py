"""What pins keep from reaching VMs, to be told once an object and not once a VM."""

from collections.abc import Iterator, Sequence

from render.diagnostics.codes import OBJECT_CHANGED, OBJECT_GONE
from render.diagnostics.diagnostic import Diagnostic, Location, at
from render.machine import Context, Machine
from render.model import tree
from render.model.catalogue import Key
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.kinds import KIND_CLASSES, class_of
from render.model.resource import Resource, ResourceRef
from render.model.tree import Tree
from render.pipeline.stages import pins
from render.revisions import differing
from render.revisions.hashes import content_hash


class PinDrift:
    """Collects what the pins of VMs hold that their objects no longer do."""

    def __init__(self, context: Context, _: Sequence[Resource]) -> None:
        self._context = context
        self._hashes: dict[Key, str] = {}
        self._vms: dict[tuple[Key, str], list[Resource]] = {}
        self._pinned: dict[tuple[Key, str], list[Tree]] = {}

    def observe(self, machine: Machine) -> None:
        """Remember what the pins of *machine* hold."""
        for word, definition in machine.pinned.items():
            pin = pins.pin_of(machine)
            ref = pin.entries[word].ref if pin else None
            if ref is not None:
                kinds = dict.fromkeys((*_default_kinds(machine, word), ref.kind))
                keys = [_key(kind, machine.namespace, definition.name) for kind in kinds]
                # What the matcher means by now comes first, if it is there: KubeVirt keeps the pin all the same.
                key = next(filter(self._current, keys), keys[-1])
                current = self._current(key)
                if current != ref.hash:
                    self._vms.setdefault((key, current), []).append(machine.resource)
                    contents = self._pinned.setdefault((key, current), [])
                    if definition.content not in contents[:1]:
                        contents.append(definition.content)

    def _current(self, key: Key) -> str:
        """The hash of the object as it is now, ``""`` where it is gone."""
        if key not in self._hashes:
            definition = self._context.catalogue.definition(key)
            spec = definition.content if definition else None
            if spec is None:
                spec = self._context.catalogue.bundled.get((key.kind, key.name))
            self._hashes[key] = "" if spec is None else content_hash(class_of(key.kind), spec)
        return self._hashes[key]

    def diagnostics(self) -> list[Diagnostic]:
        """One finding an object."""
        diagnostics = []
        for (key, current), vms in self._vms.items():
            names = [*map(pins.name_of, vms)]
            definition = self._context.catalogue.definition(key)
            place = Location(resource=ResourceRef(*key))
            resource = definition and (definition.resource or definition.elsewhere)
            if definition and resource:
                pinned = self._pinned[key, current]
                place = at(resource, _edited(pinned, definition.content, resource))
            if current:
                message = differing.message(str(ResourceRef(*key)), names)
                cure = "to let a VM have it, run virt-render pin --upgrade VM, or --upgrade-all"
                found = OBJECT_CHANGED.at(place, message, help=cure)
            else:
                are = "is" if len(vms) == 1 else "are"
                who = f"{differing.listed(names)} {are}"
                message = f"{ResourceRef(*key)} is not in the input: {who} rendered from the lock"
                cure = "if it stands elsewhere, --catalog PATH has it compared with the pin"
                found = OBJECT_GONE.at(place, message, help=cure)
            diagnostics.append(found._replace(concerned=tuple(vm.ref for vm in vms)))
        return diagnostics


def _edited(pinned: Sequence[Tree], content: Tree, resource: Resource) -> FieldPath:
    """The one field of *resource* that says otherwise than what VMs are *pinned* to; its spec where there are several.

    *content* is what it holds, in the newest version.
    """
    path: FieldPath = ("spec",)
    old: Any = pinned[0]
    new: Any = content
    while len(pinned) == 1 and isinstance(old, dict) and isinstance(new, dict):
        other = [key for key in {**old, **new} if old.get(key) != new.get(key)]
        if len(other) != 1 or tree.get(resource.body, *path, other[0]) is None:
            break
        path = (*path, other[0])
        old, new = old.get(other[0]), new.get(other[0])
    return path


def _key(kind: str, namespace: str, name: str) -> Key:
    return Key(kind, "" if "Cluster" in kind else namespace, name)


def _default_kinds(machine: Machine, word: str) -> Iterator[str]:
    """The kind that the matcher of *machine* under *word* means where it says none, and no volume does."""
    matcher = machine.resource.spec.get(word)
    if isinstance(matcher, dict) and not (matcher.get("inferFromVolume") or matcher.get("kind")):
        yield from (kind_class.cluster for kind_class in KIND_CLASSES if kind_class.word == word)
