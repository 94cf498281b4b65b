"""VirtualMachineInstancePresets: selection, conflicts and merging.

Upstream: pkg/virt-api/webhooks/mutating-webhook/mutators/preset.go. KubeVirt takes the presets of a namespace in random
order; here they are taken by name.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from render.diagnostics.cause import Cause
from render.diagnostics.codes import PRESET_SELECTOR
from render.model import tree
from render.model.apimachinery import quantity, selectors
from render.model.apimachinery.selectors import Holds, SelectorError
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Version
from render.model.resource import Resource
from render.model.tree import Tree

APPLIED = "virtualmachinepreset.kubevirt.io/"
_DOMAIN = ("spec", "domain")
_SELECTOR = ("spec", "selector")


class Era(NamedTuple):
    """What was renamed when the VM of kubevirt.io/v1alpha1 became the VMI: the rules of presets stayed.

    *kind* of the presets, the annotation that excludes a VM, the API version written into the annotations, and what is
    said of presets today.
    """

    kind: str
    exclude: str
    version: str
    fate: str


MODERN = Era(
    "VirtualMachineInstancePreset",
    "virtualmachineinstancepresets.admission.kubevirt.io/exclude",
    "kubevirt.io/v1",
    "is now deprecated and will be removed in v2.",
)
#: Upstream at v0.6: pkg/virt-controller/watch/preset.go.
HISTORIC = Era(
    "VirtualMachinePreset",
    "virtualmachinepresets.admission.kubevirt.io/exclude",
    "kubevirt.io/v1alpha1",
    "became VirtualMachineInstancePresets, which are deprecated and will be removed in v2.",
)
#: What marks a VM of kubevirt.io/v1alpha1 whose presets have been merged: they were merged once.
INITIALIZED = "presets.virtualmachines.kubevirt.io/presets-applied"


class Preset(NamedTuple):
    """A preset: its decoded spec, and its resource requests as they are written."""

    resource: Resource
    spec: Tree
    requests: dict[str, Any]

    @property
    def domain(self) -> Tree:
        """The part of the spec that presets merge."""
        return self.spec.get("domain") or {}


class PresetConflict(NamedTuple):
    """Two sides set one part differently: *path* below ``spec.domain``, KubeVirt's name of the part, both values."""

    path: FieldPath
    part: str
    preset: Any
    other: Any


def keep_empty_requests(written: Tree, draft: Draft) -> None:
    """Let ``requests: {}`` of a bare VMI, which decoding drops, count as the VMI's own.

    QUIRK(pkg/virt-api/webhooks/mutating-webhook/mutators/preset.go): an empty Go map is not nil, so that no requests
    are merged. That of a VM is gone once the VM is stored.
    """
    if tree.get(written, *_DOMAIN, *_REQUESTS) == {}:
        draft.put((*_DOMAIN, *_REQUESTS), {})


class DomainPart(NamedTuple):
    """A part of the domain that is merged whole."""

    path: FieldPath
    label: str


_WHOLE = (
    DomainPart(("cpu",), "spec.cpu"),
    DomainPart(("firmware",), "spec.firmware"),
    DomainPart(("features",), "spec.features"),
    DomainPart(("devices", "watchdog"), "spec.devices.watchdog"),
    DomainPart(("ioThreadsPolicy",), "spec.ioThreadsPolicy"),
)
_CLOCK = ("clock",)
_TIMER = ("clock", "timer")
_REQUESTS = ("resources", "requests")


class Candidate(NamedTuple):
    """A preset, its *position* among the others, and whether its selector matches labels."""

    position: int
    preset: Preset
    selects: Holds


_MERGE, _REQUEST = 20, 10  # steps of `PresetWork`


def steps_to_merge(presets: Sequence[Preset]) -> int:
    """What merging *presets* into one VM counts as."""
    return sum(_MERGE + _REQUEST * len(preset.requests) for preset in presets)


class Index(NamedTuple):
    """Presets of which only *candidates* are asked whether they select a VM.

    Each stands under one label of its ``matchLabels``, or under None if it has none; *requirements* counts what is
    asked there. *invalid*: the first one whose selector is invalid, and why; then there are no candidates, since
    KubeVirt merges no preset.
    """

    candidates: dict[tuple[str, str] | None, list[Candidate]]
    requirements: Counter[tuple[str, str] | None]
    invalid: tuple[Preset, Cause] | None = None

    def steps(self, labels: dict[str, str]) -> int:
        """What `select` asks of *labels*."""
        return sum(self.requirements[key] for key in (None, *labels.items()))

    def select(self, labels: dict[str, str]) -> list[Preset]:
        """The presets that select *labels*, in the order in which they were given."""
        selected = [
            candidate
            for key in (None, *labels.items())
            for candidate in self.candidates.get(key, ())
            if candidate.selects(labels)
        ]
        return [candidate.preset for candidate in sorted(selected)]  # no two have one position


def index(presets: Sequence[Preset], release: Version) -> Index:
    """Read the selectors of *presets* as *release* does, each once and none behind one that is invalid."""
    wanted = [tree.get(preset.spec, "selector", "matchLabels") or {} for preset in presets]
    # Under a label that all presets want, each VM would find all of them.
    wanting = Counter(label for labels in wanted for label in labels.items())
    candidates: dict[tuple[str, str] | None, list[Candidate]] = {}
    requirements: Counter[tuple[str, str] | None] = Counter()
    for position, (preset, labels) in enumerate(zip(presets, wanted, strict=True)):
        try:
            holds = selectors.compiled(preset.spec.get("selector") or {}, release)
        except SelectorError as error:
            return Index(
                {}, Counter(), (preset, Cause(PRESET_SELECTOR.slug, _SELECTOR, str(error)))
            )
        rarest = min(labels.items(), key=wanting.__getitem__, default=None)
        candidates.setdefault(rarest, []).append(Candidate(position, preset, holds))
        expressions = tree.get(preset.spec, "selector", "matchExpressions") or ()
        requirements[rarest] += 1 + len(labels) + len(expressions)
    return Index(candidates, requirements)


def never_merged(domain: Tree) -> Iterator[FieldPath]:
    """The parts of a decoded *domain* that KubeVirt takes from no preset."""
    known = {*(part.path for part in _WHOLE), _CLOCK, _REQUESTS}
    outer = {path[0] for path in known}
    for key, value in domain.items():
        if key not in outer:
            yield (key,)
        elif (key,) not in known:
            yield from ((key, inner) for inner in value or () if (key, inner) not in known)


def wanted(preset: Preset, path: FieldPath) -> Any:
    """What *preset* says of *path* below ``spec.domain``, if KubeVirt merges such a part; None for nothing."""
    known = (*(part.path for part in _WHOLE), _CLOCK, _REQUESTS)
    is_merged = any(path[: len(part)] == part for part in known)
    return tree.get(preset.domain, *path) if is_merged else None


def _offset(clock: Tree) -> Tree:
    return {key: clock[key] for key in ("utc", "timezone") if key in clock}


def _complete(value: Any, path: FieldPath) -> Any:
    """*value* with the struct that Go always has, so that an absent one equals an empty one."""
    return {"acpi": {}, **value} if path == ("features",) else value


def _same_requests(requests: dict[str, Any], other: dict[str, Any]) -> bool:
    return requests.keys() == other.keys() and all(
        quantity.compare(value, other[key]) == 0 for key, value in requests.items()
    )


def _identical(value: Any, other: Any) -> bool:
    """Go's ``==`` on two parsed quantities.

    QUIRK(pkg/virt-api/webhooks/mutating-webhook/mutators/preset.go): structs are compared, so that 1Gi and 1024Mi
    differ, and a value beyond the fast path differs even from itself.
    """
    left, right = quantity.parse(value), quantity.parse(other)
    return left.small and left == right


def unmerged_requests(preset: Preset, requests: dict[str, Any] | None) -> dict[str, Any]:
    """The requests of *preset* that a VM with *requests* of its own does not get: they are merged all or none."""
    if requests is None:
        return {}
    return {key: value for key, value in preset.requests.items() if key not in requests}


def loses(difference: PresetConflict) -> bool:
    """Whether a VM that wins means something else: one amount in two notations is no loss."""
    is_amount = difference.path[:-1] == _REQUESTS
    return not is_amount or quantity.compare(difference.preset, difference.other) != 0


def differences(preset: Preset, domain: Tree, requests: dict[str, Any]) -> Iterator[PresetConflict]:
    """Where *preset* and another domain, with its *requests* as written, contradict each other."""
    for key, value in sorted(preset.requests.items()):
        if key in requests and not _identical(value, requests[key]):
            part = f"spec.resources.requests[{key}]"
            yield PresetConflict((*_REQUESTS, key), part, value, requests[key])
    for path, label in (_WHOLE[0], _WHOLE[1]):
        yield from _difference(preset, domain, path, label)
    preset_clock, domain_clock = preset.domain.get("clock"), domain.get("clock")
    if preset_clock is not None and domain_clock is not None:
        if _offset(preset_clock) != _offset(domain_clock):
            yield PresetConflict(
                _CLOCK, "spec.clock.clockoffset", _offset(preset_clock), _offset(domain_clock)
            )
        yield from _difference(preset, domain, _TIMER, "spec.clock.timer")
    for path, label in _WHOLE[2:]:
        yield from _difference(preset, domain, path, label)


def _difference(
    preset: Preset, domain: Tree, path: FieldPath, label: str
) -> Iterator[PresetConflict]:
    preset_value, domain_value = tree.get(preset.domain, *path), tree.get(domain, *path)
    if preset_value is None or domain_value is None:
        return
    if _complete(preset_value, path) != _complete(domain_value, path):
        yield PresetConflict(path, label, preset_value, domain_value)


def conflicts(
    presets: Sequence[Preset],
) -> Iterator[tuple[Preset, Preset, tuple[PresetConflict, ...]]]:
    """Pairs of presets that contradict each other, the later one first.

    Only those are compared of which a part says something else.
    """
    saying: dict[str, dict[Any, list[int]]] = {}
    for index, later in enumerate(presets):
        parts = dict(_parts(later))
        others = {
            earlier
            for part, value in parts.items()
            for other, indexes in saying.get(part, {}).items()
            if other != value
            for earlier in indexes
        }
        for earlier in map(presets.__getitem__, sorted(others)):
            differing = tuple(differences(later, earlier.domain, earlier.requests))
            if differing:
                yield later, earlier, differing
        for part, value in parts.items():
            saying.setdefault(part, {}).setdefault(value, []).append(index)


def _parts(preset: Preset) -> Iterator[tuple[str, Any]]:
    """What *preset* says, by its parts, as values of which two are equal only where `differences` finds none."""
    for key, value in preset.requests.items():
        parsed = quantity.parse(value)
        yield f"request {key}", (parsed if parsed.small else object())
    clock = preset.domain.get("clock")
    if clock is not None:
        yield "clock", json.dumps(_offset(clock), sort_keys=True)
    for path, label in ((_TIMER, "timer"), *_WHOLE):
        value = tree.get(preset.domain, *path)
        if value is not None:
            yield label, json.dumps(_complete(value, path), sort_keys=True)


class Merged(NamedTuple):
    """What a preset changed, as paths below ``spec.domain``, and whether KubeVirt counts it as applied."""

    paths: tuple[FieldPath, ...]
    applied: bool


def merge(preset: Preset, draft: Draft, era: Era = MODERN) -> Merged:
    """Merge *preset* into the VMI *draft*, which wins wherever it has a part."""
    applied = False
    changed: list[FieldPath] = []

    def copy_if_absent(path: FieldPath, value: Any) -> bool:
        """Whether the VMI has *value* in the end."""
        if draft.get(*_DOMAIN, *path) is None:
            draft.put((*_DOMAIN, *path), value)
            changed.append(path)
        return bool(_complete(draft.get(*_DOMAIN, *path), path) == _complete(value, path))

    requests = tree.get(preset.domain, *_REQUESTS)
    if requests:
        if draft.get(*_DOMAIN, *_REQUESTS) is None:
            draft.put((*_DOMAIN, *_REQUESTS), requests)
            changed.append(_REQUESTS)
        applied |= _same_requests(draft.get(*_DOMAIN, *_REQUESTS), requests)
    clock = preset.domain.get("clock")
    if clock is not None:
        copy_if_absent(_CLOCK, _offset(clock))
        # QUIRK: compared before the timer is merged.
        applied |= draft.get(*_DOMAIN, *_CLOCK) == clock
        if clock.get("timer") is not None:
            applied |= copy_if_absent(_TIMER, clock["timer"])
    for path, _ in _WHOLE:
        value = tree.get(preset.domain, *path)
        if value is not None:
            applied |= copy_if_absent(path, value)
    if applied:
        draft.put(("metadata", "annotations", APPLIED + preset.resource.name), era.version)
    return Merged(tuple(changed), applied)
