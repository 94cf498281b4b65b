"""Findings about a name that nothing has any more: a patch of a kustomization dropped the item that was called so."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from render.diagnostics.diagnostic import Diagnostic, Location, Related
from render.manifests.blame.removals import Removal
from render.model import fieldpath, tree
from render.model.fieldpath import FieldPath
from render.model.regex import pattern
from render.model.resource import text_at
from render.model.tree import Tree
from render.yaml.reader import Document, locate

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
_NO_MEMORY = "memory/required"
#: What of a VMI spec says how much memory there is.
_MEMORY: tuple[FieldPath, ...] = (
    ("domain", "memory", "guest"),
    ("domain", "memory", "hugepages", "pageSize"),
    ("domain", "resources", "requests", "memory"),
)


def explained(
    diagnostic: Diagnostic,
    documents: Sequence[Document],
    data: Mapping[str, bytes],
    find: Callable[[int, FieldPath, Tree], Removal | None],
) -> Diagnostic:
    """*diagnostic* of *documents*, at the patch that dropped what it misses, if one did; *find* knows which.

    *data*: what the files say that the documents come from.
    """
    at = diagnostic.position or diagnostic.location
    document = documents[at.index] if at.index is not None and at.index < len(documents) else None
    if at.index is None or document is None or document.before is None:
        return diagnostic
    for missed, name in _missed(diagnostic, document.before, at.path):
        removal = find(at.index, missed, document.before)
        if removal is not None:
            origin = document.origin
            line, column = locate(data[origin.file], origin, missed)
            stood = Location(file=origin.file, line=line, column=column)
            told = Related(f"{name} stands here, and is dropped by the patch", stood)
            return diagnostic._replace(
                position=Location(diagnostic.resource, at.path, None, *removal.position),
                related=(*diagnostic.related, told),
                help=REPEAT
                if removal.is_list
                else f"keep {name}, or drop what asks for it as well",
                fixes=(),
            )
    return diagnostic


def _missed(
    diagnostic: Diagnostic, before: Tree, path: FieldPath
) -> Iterator[tuple[FieldPath, str]]:
    """What *before* has and *diagnostic*, at *path*, misses: where it stands, and what it is called."""
    if diagnostic.check == _NO_MEMORY:
        spec = path[: path.index("domain")] if "domain" in path else path
        for field in _MEMORY:
            if tree.get(before, *spec, *field) is not None:
                yield (*spec, *field), fieldpath.text(field)
        if tree.get(before, "spec", "instancetype") is not None:
            yield ("spec", "instancetype"), "spec.instancetype"
    within, user = _LISTS.get(diagnostic.check, ((), ""))
    missed = _MISSED.search(diagnostic.message)
    if missed is None or user not in path:
        return
    place = (*path[: path.index(user)], *within)
    items = tree.get(before, *place)
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if text_at(item, "name") == missed[1]:
            yield (*place, index), f"{missed[1]} of {place[-1]}"
