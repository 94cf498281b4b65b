"""Findings about a name that nothing has any more: a patch of a kustomization dropped the item that was called so."""

from collections.abc import Callable, Iterator

from render.diagnostics.diagnostic import Diagnostic, Location, Related
from render.manifests.blame.removals import Removal
from render.model import fieldpath, tree
from render.model.fieldpath import FieldPath
from render.model.regex import pattern
from render.model.resource import text_at
from render.model.tree import Tree

REPEAT = (
    "a patch of a list replaces all of it: repeat the others in it, or use a JSON patch; or see"
    " 'virt-render kustomize init'"
)
"""What to do where a list of a patch drops what was meant to stay."""
_DEVICES = ("domain", "devices")
#: Checks that miss an item of this list of a VMI spec, and the first step in that of what asks for it.
_LISTS: dict[str, tuple[FieldPath, str]] = {
    "disks/volume": (("volumes",), "domain"),
    "network/interface-without-network": (("networks",), "domain"),
    "network/network-without-interface": ((*_DEVICES, "interfaces"), "networks"),
}
_MISSED = pattern(r"'([^']*)' not found\.")
_UNUSED = "data-volume-templates/used"
_VOLUMES: FieldPath = ("spec", "template", "spec", "volumes")
_NO_MEMORY = "memory/required"
#: What of a VMI spec says how much memory there is.
_MEMORY: tuple[FieldPath, ...] = (
    ("domain", "memory", "guest"),
    ("domain", "memory", "hugepages", "pageSize"),
    ("domain", "resources", "requests", "memory"),
)


Find = Callable[[FieldPath, str], tuple[Removal, tuple[str, int, int]] | None]
"""Which patch dropped what stood at a path, or the item of a name from the list there, and where that stands."""


def explained(diagnostic: Diagnostic, before: Tree, find: Find) -> Diagnostic:
    """*diagnostic* of what was *before* a kustomization, at the patch that dropped what it misses, if one did."""
    path = (diagnostic.position or diagnostic.location).path
    for missed, item, words in _missed(diagnostic, before, path):
        found = find(missed, item)
        if found is None:
            continue
        removal, (file, line, column) = found
        stood = Location(file=file, line=line, column=column)
        told = Related(f"{words} stands here, and is dropped by the patch", stood)
        return diagnostic._replace(
            position=Location(diagnostic.resource, path, None, *removal.position),
            related=(*diagnostic.related, told),
            help=REPEAT if removal.is_list else f"keep {words}, or drop what asks for it as well",
            fixes=(),
        )
    return diagnostic


def _missed(
    diagnostic: Diagnostic, before: Tree, path: FieldPath
) -> Iterator[tuple[FieldPath, str, str]]:
    """What *diagnostic*, at *path*, misses: where *before* has it, or the list that lacks an item, and its words."""
    if diagnostic.check == _NO_MEMORY:
        spec = path[: path.index("domain")] if "domain" in path else path
        for field in _MEMORY:
            if tree.get(before, *spec, *field) is not None:
                yield (*spec, *field), "", fieldpath.text(field)
        if tree.get(before, "spec", "instancetype") is not None:
            yield ("spec", "instancetype"), "", "spec.instancetype"
    elif diagnostic.check == _UNUSED:
        yield from _volumes_of(before, path)
    within, user = _LISTS.get(diagnostic.check, ((), ""))
    missed = _MISSED.search(diagnostic.message)
    if missed is None or user not in path:
        return
    place, name = (*path[: path.index(user)], *within), missed[1]
    items = tree.get(before, *place)
    names = [text_at(item, "name") for item in items] if isinstance(items, list) else []
    words = f"{name} of {place[-1]}"
    yield ((*place, names.index(name)), "", words) if name in names else (place, name, words)


def _volumes_of(before: Tree, path: FieldPath) -> Iterator[tuple[FieldPath, str, str]]:
    """The volumes of the VM *before* that are made of the template of a DataVolume at *path*."""
    name = tree.get(before, *path[:3], "metadata", "name")
    volumes = tree.get(before, *_VOLUMES)
    for index, volume in enumerate(volumes if isinstance(volumes, list) else ()):
        source = tree.get(volume, "dataVolume", "name") or tree.get(
            volume, "persistentVolumeClaim", "claimName"
        )
        if name and source == name:
            yield (*_VOLUMES, index), "", f"{text_at(volume, 'name')} of volumes"
