"""Stamps: annotations of a rendered VM that say what it was rendered from."""

from collections.abc import Iterable, Mapping

from render.model.hints import Any
from render.model.resource import OWN, annotations_of
from render.model.tree import Tree
from render.revisions.hashes import rendered_hash

PREFIX = f"{OWN}/"
INSTANCETYPE = f"{OWN}/instancetype"
PREFERENCE = f"{OWN}/preference"
FLAVOR = f"{OWN}/flavor"
PRESETS = f"{OWN}/presets"
REVISION = f"{OWN}/revision"
RENDERED = f"{OWN}/rendered"
KEYS = (INSTANCETYPE, PREFERENCE, FLAVOR, PRESETS, REVISION, RENDERED)
_MATCHERS = ("instancetype", "preference", "flavor")


def read(vm: Tree) -> dict[str, Any]:
    """The stamps of *vm*, by annotation."""
    known = annotations_of(vm)
    return {key: known[key] for key in KEYS if key in known}


def matchers(vm: Tree) -> list[str]:
    """The matchers that *vm* has."""
    spec = vm.get("spec")
    return [key for key in _MATCHERS if isinstance(spec, dict) and spec.get(key) is not None]


def is_rendered(vm: Tree) -> bool:
    """Whether *vm* is the outcome of a rendering: stamped, and without a matcher."""
    return RENDERED in read(vm) and not matchers(vm)


def is_genuine(vm: Tree) -> bool:
    """Whether the spec of the stamped *vm* is the one that was stamped."""
    spec = vm.get("spec")
    return isinstance(spec, dict) and read(vm).get(RENDERED) == rendered_hash(spec)


def put(vm: Tree, stamps: Mapping[str, str]) -> Tree:
    """*vm* with exactly these stamps; those that it had keep their place."""
    had = read(vm)
    if had == stamps:
        return vm
    metadata = vm.get("metadata") or {}
    annotations = dict(metadata.get("annotations") or {})
    annotations.update((key, stamps[key]) for key in KEYS if key in stamps)
    for key in had.keys() - stamps.keys():
        del annotations[key]
    metadata = {**metadata, "annotations": annotations}
    if had and not annotations:
        del metadata["annotations"]
    return {**vm, "metadata": metadata}


def join(parts: Iterable[str]) -> str:
    """Several values of one stamp."""
    return ", ".join(parts)
