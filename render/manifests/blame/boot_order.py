"""The boot order that a patch takes away: kustomize replaces lists whole, and KubeVirt attaches what is left over."""

from collections.abc import Iterator

from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.resource import text_at
from render.model.tree import Tree, get

_DEVICES: FieldPath = ("spec", "template", "spec", "domain", "devices")
_VOLUMES: FieldPath = ("spec", "template", "spec", "volumes")


class Lost(NamedTuple):
    """That the disk or interface *name* had a boot *order* before it was built; *path* is where that is missing now."""

    path: FieldPath
    name: str
    order: Any


def lost(before: Tree, built: Tree) -> Iterator[Lost]:
    """What lost its boot order between the VM *before* kustomize and the one that was *built*.

    A disk that is gone with its volume was meant to go; one whose volume stays is attached again, without an order.
    """
    volumes = {text_at(volume, "name") for volume in _items(built, _VOLUMES)}
    for key in ("disks", "interfaces"):
        path = (*_DEVICES, key)
        now = {
            text_at(device, "name"): (index, device)
            for index, device in enumerate(_items(built, path))
        }
        for device in _items(before, path):
            name, order = text_at(device, "name"), device.get("bootOrder")
            if order is None or not name:
                continue
            index, after = now.get(name, (-1, None))
            if after is not None and after.get("bootOrder") is None:
                yield Lost((*path, index), name, order)
            elif after is None and key == "disks" and name in volumes:
                yield Lost(path, name, order)


def _items(body: Tree, path: FieldPath) -> list[Tree]:
    items = get(body, *path)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
