"""Presets that nobody needs any more: definitions bring what they merged, or the machines say it themselves."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from render.diff import compare
from render.kubevirt import replicas
from render.legacy import decoding
from render.model import tree
from render.model.release import Version
from render.model.resource import KUBEVIRT, REPLICA_SET, Resource
from render.model.tree import Tree
from render.model.types import VMI_TYPE
from render.pipeline.factor.answers import PresetFactoring
from render.pipeline.factor.standins import Held
from render.pipeline.factor.subject import MachineStart, without_marks
from render.pipeline.migration.selection import is_selected, labels_of
from render.presets import MODERN

Started = Mapping[int, MachineStart]
#: What VMs start, by index, of the objects without the presets at these indexes: all of them, or those at the others.
Trial = Callable[[Collection[int], Collection[int] | None], Started]
_Labels = tuple[Resource, dict[str, str]]

MOST_TRIAL_STEPS = 500_000
"""Trying what VMs start without presets may cost so many merges and objects in an input."""


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
    selection = Selection(held)
    selected = [
        (preset, users)
        for preset in filter(is_preset, held.resources)
        if (users := selection.users(preset, namespace, release))
    ]
    reasons = _Retiring(held, trial, restarts=restarts).objections(selected)
    for preset, users in selected:
        named = tuple(dict.fromkeys(held.written(resource.index)[0].ref for resource in users))
        yield PresetFactoring(preset.ref, preset.index, named, reasons.get(preset.index, ""))


class Selection:
    """Which of the machines in *held* presets select; VMs that templates may make are in every namespace."""

    def __init__(self, held: Held) -> None:
        self._machines: dict[str | None, list[_Labels]] = {}
        self._labelled: dict[tuple[str | None, str, str], list[_Labels]] = {}
        for resource in held.resources:
            labels = labels_of(_machine(resource))
            if labels is None:
                continue
            stand_in = held.by_index.get(resource.index)
            space = None if stand_in and stand_in.is_templated else resource.namespace
            self._machines.setdefault(space, []).append((resource, labels))
            for label in labels.items():
                self._labelled.setdefault((space, *label), []).append((resource, labels))

    def users(self, preset: Resource, namespace: str, release: Version) -> list[Resource]:
        """The machines that *preset* selects; *namespace* is that of objects that name none."""
        decoded, _ = decoding.decode(preset, release)
        selector = tree.get(decoded, "spec", "selector") or {}
        scope = preset.namespace or namespace
        spaces = (None, scope, *([""] if scope == namespace and scope else []))
        return sorted(
            (
                resource
                for space in spaces
                for resource, labels in self._likely(space, selector)
                if is_selected(labels, selector, release)
            ),
            key=lambda resource: resource.index,
        )

    def _likely(self, space: str | None, selector: Tree) -> Sequence[_Labels]:
        """The machines of a namespace with the rarest label that *selector* wants; all if it wants none."""
        wanted = (selector.get("matchLabels") or {}).items()
        having = (self._labelled.get((space, *label), ()) for label in wanted)
        return min(having, key=len, default=self._machines.get(space, ()))


def _machine(resource: Resource) -> Resource:
    """What a replica set makes, whose VMIs presets select too; a pool has a stand-in."""
    return replicas.machine_of(resource) if resource.kind == REPLICA_SET else resource


class _Retiring:
    """The presets that are *gone* by now, and what VMs start without them."""

    def __init__(self, held: Held, trial: Trial, *, restarts: bool) -> None:
        self._held = held
        self._restarts = restarts
        self._trial = trial
        self._gone: list[int] = []
        self._before = {**trial((), None)}
        self._steps = 0

    def objections(self, selected: Sequence[tuple[Resource, Sequence[Resource]]]) -> dict[int, str]:
        """Why presets stay that are *selected* with their users, by index; none for one that goes.

        Those without users in common are tried together: in the round after all before them that have any.
        """
        reasons: dict[int, str] = {}
        rounds: list[list[tuple[Resource, Sequence[Resource]]]] = []
        reached: dict[int, int] = {}
        merged = Counter(user.index for _, users in selected for user in users)
        for preset, users in selected:
            reason = self._hindrance(users)
            if reason:
                reasons[preset.index] = reason
                continue
            number = max(reached.get(user.index, 0) for user in users)
            reached.update((user.index, number + 1) for user in users)
            if number == len(rounds):
                rounds.append([])
            rounds[number].append((preset, users))
        for tried in rounds:
            self._steps += len(self._held.resources)
            self._steps += sum(merged[user.index] for _, users in tried for user in users)
            reasons |= self._try(tried)
        return reasons

    def _hindrance(self, users: Sequence[Resource]) -> str:
        """Why a preset with these *users* stays whatever they start without it."""
        for user in users:
            ref = self._held.written(user.index)[0].ref
            if user.index in self._held.by_index and self._held.by_index[user.index].is_templated:
                return f"{ref} may make VMs that it selects"
            if user.index not in self._before:
                return f"{ref} cannot be rendered, or can have no definitions"
        return ""

    def _try(self, tried: Sequence[tuple[Resource, Sequence[Resource]]]) -> dict[int, str]:
        """Let go those of *tried* without which their users start the same; why the others stay, by index."""
        if self._steps > MOST_TRIAL_STEPS:
            why = (
                f"not tried: it would take more than {MOST_TRIAL_STEPS:,} steps in this input;"
                " name fewer folders"
            )
            return {preset.index: why for preset, _ in tried}
        without = [*self._gone, *(preset.index for preset, _ in tried)]
        after = self._trial(without, {user.index for _, users in tried for user in users})
        reasons: dict[int, str] = {}
        for preset, users in tried:
            why = next(filter(None, (self._change(user, preset, after) for user in users)), "")
            if why:
                reasons[preset.index] = why
                continue
            self._gone.append(preset.index)
            self._before |= {user.index: after[user.index] for user in users}
        return reasons

    def _change(self, user: Resource, preset: Resource, after: Started) -> str:
        """What *user* loses without *preset*, as it starts *after*; ``""`` for nothing."""
        before = self._before[user.index]
        field = _differing(before, after.get(user.index), preset.name)
        if not field:
            return ""
        cure = "" if self._restarts or not before.applied else ": see --restart"
        return f"{self._held.written(user.index)[0].ref} would be without {field}{cure}"


def _differing(before: MachineStart, after: MachineStart | None, preset: str) -> str:
    """A field in which a VM starts otherwise, apart from the mark of *preset*; ``""`` if there is none."""
    if after is None:
        return "a VMI"
    old, new = (without_marks(start.vmi, {preset}) for start in (before, after))
    found = compare.differences(old, new, VMI_TYPE)
    return found[0].field if found else ""
