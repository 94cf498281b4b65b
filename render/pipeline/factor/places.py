"""The fields of a VM that a definition may bring, and a template without some of them."""

from collections.abc import Collection, Iterable, Iterator
from functools import cache

from render.apply import instancetype, preference
from render.model import tree
from render.model.draft import Draft
from render.model.edits import Remove
from render.model.fieldpath import FieldPath
from render.model.release import Version, in_force
from render.model.resource import TEMPLATE
from render.model.tree import Tree

_DOMAIN = ("spec", "domain")
_DISKS = (*_DOMAIN, "devices", "disks")
_INTERFACES = (*_DOMAIN, "devices", "interfaces")
_INPUTS = (*_DOMAIN, "devices", "inputs")
_ANNOTATIONS = ("metadata", "annotations")
#: WrittenPart where something below it is: structures, and lists whose items are looked at.
_STRUCTURES: frozenset[FieldPath] = frozenset(
    {
        (*_DOMAIN, "clock"),
        (*_DOMAIN, "devices", "video"),
        (*_DOMAIN, "features"),
        (*_DOMAIN, "features", "hyperv"),
        (*_DOMAIN, "firmware", "bootloader"),
        _DISKS,
        _INTERFACES,
    }
)
#: What a preference fills in items of lists: the list, and the way in an item. The type of an input is required; the
#: binding of an interface stays, since an update of a VM without one is refused.
_ITEMS: tuple[tuple[FieldPath, FieldPath], ...] = (
    (_DISKS, ("disk", "bus")),
    (_DISKS, ("cdrom", "bus")),
    (_DISKS, ("lun", "bus")),
    (_DISKS, ("cache",)),
    (_DISKS, ("io",)),
    (_DISKS, ("blockSize",)),
    (_DISKS, ("dedicatedIOThread",)),
    (_INTERFACES, ("model",)),
    (_INPUTS, ("bus",)),
)
#: Below structures, what a preference fills by a rule of its own.
_BELOW: tuple[FieldPath, ...] = (
    (*_DOMAIN, "clock", "utc"),
    (*_DOMAIN, "clock", "timezone"),
    (*_DOMAIN, "firmware", "bootloader", "bios"),
    (*_DOMAIN, "firmware", "bootloader", "efi"),
)
#: Mappings that say nothing once they are empty, or that a definition writes again.
_HOLLOW: frozenset[FieldPath] = frozenset(
    {
        _ANNOTATIONS,
        ("metadata",),
        *(
            (*_DOMAIN, *path)
            for path in (
                ("clock",),
                ("cpu",),
                ("features",),
                ("features", "hyperv"),
                ("firmware",),
                ("firmware", "bootloader"),
                ("ioThreads",),
                ("machine",),
                ("memory",),
                ("resources",),
                ("resources", "limits"),
                ("resources", "requests"),
            )
        ),
    }
)


@cache
def _plain(release: Version) -> tuple[FieldPath, ...]:
    """The fields outside of lists that a preference of *release* fills whole."""
    apart = (_DISKS, _INTERFACES, _INPUTS, *_BELOW)
    written = (
        ("spec", *path) for rule in in_force(preference.RULES, release) for path in rule.writes
    )
    plain = (
        path
        for path in written
        if path not in _STRUCTURES and not any(path[: len(other)] == other for other in apart)
    )
    return tuple(dict.fromkeys((*plain, *_BELOW)))


def of_preference(template: Tree, release: Version) -> Iterator[FieldPath]:
    """The fields that *template* sets, and that some preference of *release* could set in its stead."""
    for path in _plain(release):
        if tree.get(template, *path) is not None:
            yield path
    for above, below in _ITEMS:
        for index, item in enumerate(tree.get(template, *above) or ()):
            if tree.get(item, *below) is not None:
                yield (*above, index, *below)
    for key in tree.get(template, *_ANNOTATIONS) or ():
        yield (*_ANNOTATIONS, key)


def is_structure(path: FieldPath) -> bool:
    """Whether rules of preferences write *path* only as the outside of something, or look at its items."""
    lists = (_DISKS, _INTERFACES, _INPUTS)
    return path in _STRUCTURES or any(path[: len(list_path)] == list_path for list_path in lists)


@cache
def claimed(release: Version) -> tuple[FieldPath, ...]:
    """The fields that an instancetype of *release* writes, but for the topology, in upstream's order."""
    rules = in_force(instancetype.RULES, release)
    return tuple(("spec", *path) for rule in rules for path in rule.writes)


def without(template: Tree, places: Iterable[FieldPath]) -> Tree:
    """A copy of *template* without what is at *places*."""
    draft = Draft(template)
    for path in places:
        draft.remove(path)
    return draft.tree


def removals(template: Tree, places: Collection[FieldPath]) -> tuple[Remove, ...]:
    """The edits of a VM that take *places* out of its *template*, and mappings that are left empty by that."""
    rest = without(template, places)
    emptied = {path[:end] for path in places for end in range(1, len(path))} & _HOLLOW

    removed: dict[FieldPath, None] = {}
    for path in places:
        place = path
        while _is_hollow(place[:-1], rest, emptied):
            place = place[:-1]
        removed[place] = None
    outermost = (
        place
        for place in removed
        if not any(place[:end] in removed for end in range(1, len(place)))
    )
    return tuple(Remove((*TEMPLATE, *place)) for place in outermost)


def _is_hollow(path: FieldPath, rest: Tree, emptied: Collection[FieldPath]) -> bool:
    """Whether *rest* has nothing at *path*, which is one of those *emptied*, or nothing but what is such a one."""
    inner = tree.get(rest, *path) or ()
    return path in emptied and all(_is_hollow((*path, key), rest, emptied) for key in inner)
