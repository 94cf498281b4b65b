"""Whose the memory and the CPU are that a pod asks for, for whom a quota refuses it."""

from collections.abc import Iterator, Mapping, Sequence

from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.tree import Tree

#: What quotas call what containers say under one of two keys.
_NAMES: dict[str, tuple[str, str]] = {
    **{
        f"{lead}{name}": ("requests", name)
        for lead in ("", "requests.")
        for name in ("cpu", "memory")
    },
    **{f"limits.{name}": ("limits", name) for name in ("cpu", "memory")},
}


_PODS = ("pods", "count/pods")
_BESIDE = "pods: its own, and the one that attaches what is hotplugged from the start"


def shares(specs: Sequence[Tree], sums: Mapping[FieldPath, str]) -> dict[str, str]:
    """What each container that runs on has of an amount, by the name that quotas have for it.

    *specs*: of the launcher pod, and of pods beside it; *sums*: how numbers of the first came about, by their paths.
    """
    texts = {
        name: text
        for name, (part, resource) in _NAMES.items()
        if (text := ", ".join(_of_pods(specs, sums, part, resource)))
    }
    if len(specs) > 1:
        texts |= dict.fromkeys(_PODS, _BESIDE)
    return texts


def _of_pods(
    specs: Sequence[Tree], sums: Mapping[FieldPath, str], part: str, resource: str
) -> Iterator[str]:
    for number, spec in enumerate(specs):
        yield from _of_containers(spec, {} if number else sums, part, resource)


def _of_containers(
    spec: Tree, sums: Mapping[FieldPath, str], part: str, resource: str
) -> Iterator[str]:
    for group in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(group) or ()):
            amount = tree.get(container, "resources", part, resource)
            runs_on = group == "containers" or container.get("restartPolicy") == "Always"
            if amount is not None and runs_on:
                why = sums.get(("spec", group, index, "resources", part, resource))
                yield f"{container['name']} {amount}{f' = {why}' if why else ''}"
    overhead = tree.get(spec, "overhead", resource)
    if overhead is not None:
        yield f"overhead of the RuntimeClass {overhead}"
