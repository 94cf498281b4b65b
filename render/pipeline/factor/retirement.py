"""Presets that nobody needs any more: definitions bring what they merged, or the machines say it themselves."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from render.diff import compare
from render.kubevirt import replicas
from render.legacy import decoding
from render.model import tree
from render.model.release import Version
from render.model.resource import KUBEVIRT, Resource
from render.model.types import VMI_TYPE
from render.pipeline.factor.answers import PresetFactoring
from render.pipeline.factor.standins import Held
from render.pipeline.factor.subject import MachineStart, without_marks
from render.pipeline.migration.selection import is_selected, labels_of
from render.presets import MODERN

Started = Mapping[int, MachineStart]
#: What the VMs start, by index, of the objects without the presets at these indexes.
Trial = Callable[[Collection[int]], Started]


def is_preset(resource: Resource) -> bool:
    """Whether *resource* is a preset of today."""
    return resource.group == KUBEVIRT and resource.kind == MODERN.kind


def judged(
    held: Held, namespace: str, release: Version, trial: Trial, *, restarts: bool
) -> Iterator[PresetFactoring]:
    """What becomes of each preset that selects machines; it goes if these start the same without it.

    *trial* knows the objects with all edits; *namespace* is that of objects that name none; *restarts*: whether
    definitions may bring to VMs that run what presets did.
    """
    retiring = _Retiring(held, trial, restarts=restarts)
    for preset in filter(is_preset, held.resources):
        selected = list(users(preset, held, namespace, release))
        if selected:
            named = tuple(
                dict.fromkeys(held.written(resource.index)[0].ref for resource in selected)
            )
            why = retiring.objection(preset, selected)
            yield PresetFactoring(preset.ref, preset.index, named, why)


def _selected(
    preset: Resource, resources: Sequence[Resource], namespace: str, release: Version
) -> list[Resource]:
    """Those machines among *resources* that *preset* selects."""
    decoded, _ = decoding.decode(preset, release)
    selector = tree.get(decoded, "spec", "selector") or {}
    scope = preset.namespace or namespace
    found = []
    for resource in resources:
        labels = (
            labels_of(_machine(resource)) if (resource.namespace or namespace) == scope else None
        )
        if labels is not None and is_selected(labels, selector, release):
            found.append(resource)
    return found


def _machine(resource: Resource) -> Resource:
    """What a replica set makes, whose VMIs presets select too; a pool has a stand-in."""
    return replicas.machine_of(resource) if resource.kind == replicas.REPLICA_SET else resource


def users(preset: Resource, held: Held, namespace: str, release: Version) -> Iterator[Resource]:
    """The machines that *preset* selects, and VMs that templates may make in its namespace."""
    scope = preset.namespace or namespace
    moved = [
        resource._replace(namespace=scope)
        if resource.index in held.by_index and held.by_index[resource.index].is_templated
        else resource
        for resource in held.resources
    ]
    yield from _selected(preset, moved, namespace, release)


class _Retiring:
    """The presets that are *gone* by now, and what VMs start without them."""

    def __init__(self, held: Held, trial: Trial, *, restarts: bool) -> None:
        self._held = held
        self._restarts = restarts
        self._trial = trial
        self._gone: list[int] = []
        self._before = trial(())

    def objection(self, preset: Resource, users: Sequence[Resource]) -> str:
        """Why *preset* stays, ``""`` if it goes."""
        for user in users:
            ref = self._held.written(user.index)[0].ref
            if user.index in self._held.by_index and self._held.by_index[user.index].is_templated:
                return f"{ref} may make VMs that it selects"
            if user.index not in self._before:
                return f"{ref} cannot be rendered, or can have no definitions"
        after = self._trial([*self._gone, preset.index])
        for user in users:
            ref = self._held.written(user.index)[0].ref
            before, now = (starts.get(user.index) for starts in (self._before, after))
            field = _differing(before, now, preset.name)
            if field:
                cure = (
                    "" if self._restarts or not (before and before.applied) else ": see --restart"
                )
                return f"{ref} would be without {field}{cure}"
        self._gone.append(preset.index)
        self._before = after
        return ""


def _differing(before: MachineStart | None, after: MachineStart | None, preset: str) -> str:
    """A field in which a VM starts otherwise, apart from the mark of *preset*; ``""`` if there is none."""
    if before is None or after is None:
        return "a VMI"
    old, new = (without_marks(start.vmi, {preset}) for start in (before, after))
    found = compare.differences(old, new, VMI_TYPE)
    return found[0].field if found else ""
