"""The stage that merges presets into a VMI, and what it has to say.

Upstream: pkg/virt-api/webhooks/mutating-webhook/mutators/preset.go; for VMs of kubevirt.io/v1alpha1, at v0.6,
pkg/virt-controller/watch/preset.go.
"""

import json
from itertools import islice

from render import presets
from render.convert.presets import compact
from render.defaults.vm import Unknown
from render.diagnostics.codes import (
    LIMIT_EXCEEDED,
    PRESET_NOT_PINNED,
    PRESET_OVERRIDDEN,
    PRESET_SELECTOR,
    PRESETS_CONFLICT,
)
from render.diagnostics.diagnostic import Related, Severity, at
from render.machine import MOST_PRESET_STEPS, Context, Contradiction, Machine
from render.model import tree
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.provenance import Provenance
from render.model.resource import Resource
from render.model.tree import Tree
from render.presets import HISTORIC, MODERN, Era, Index, Preset, PresetConflict


def merge_presets(machine: Machine) -> None:
    """Merge the presets of the namespace into the VMI."""
    _merge(machine, MODERN)


def merge_historic_presets(machine: Machine) -> None:
    """Merge VirtualMachinePresets into a VM of kubevirt.io/v1alpha1, once, and mark it."""
    mark = ("metadata", "annotations", presets.INITIALIZED)
    if tree.get(machine.vmi, *mark) is not None:
        return
    _merge(machine, HISTORIC)
    draft = Draft(machine.vmi)
    draft.put(mark, HISTORIC.version)
    machine.vmi = draft.tree


def _merge(machine: Machine, era: Era) -> None:
    matching = _select(machine, era)
    if not _has_room(machine, presets.steps_to_merge(matching)):
        return
    machine.merged = (*machine.merged, *matching)
    if not matching or _contradict(machine, matching):
        return
    draft = Draft(machine.vmi)
    if "template" not in machine.spec:
        presets.keep_empty_requests(machine.raw, draft)
    for preset in matching:
        requests = draft.get("spec", "domain", "resources", "requests")
        domain = draft.get("spec", "domain") or {}
        differences = tuple(presets.differences(preset, domain, requests or {}))
        unmerged = presets.unmerged_requests(preset, requests)
        losses = _losses(differences, unmerged, era)
        merged = presets.merge(preset, draft, era)
        report_unpinned(machine, preset.resource)
        lead = "Some settings were not applied for" if merged.applied else "Unable to apply"
        _report(machine, preset, f"{lead} {era.kind} '{preset.resource.name}'", losses)
        machine.provenance += (
            Provenance(
                machine.resource.ref,
                (*machine.vmi_path, "domain", *path),
                preset.resource.ref,
                ("spec", "domain", *path),
                preset.resource.index,
            )
            for path in merged.paths
        )
    machine.vmi = draft.tree


def report_unpinned(machine: Machine, preset: Resource | None) -> None:
    """Where pins are required, say that *preset* decides without one: the same for all machines, and so told once."""
    if machine.context.settings.pins == "require" and preset is not None:
        machine.diagnostics.append(
            PRESET_NOT_PINNED.at(
                at(preset),
                "presets are not pinned: an edit reaches every machine that has it at the next rendering",
                help="use an instancetype or a preference in its place, which are pinned",
            )
        )


def _select(machine: Machine, era: Era) -> list[Preset]:
    metadata = machine.vmi.get("metadata") or {}
    if (metadata.get("annotations") or {}).get(era.exclude) == "true":
        return []
    index = _index(machine.context, machine.namespace, era)
    if index.invalid is None:
        labels = metadata.get("labels") or {}
        return index.select(labels) if _has_room(machine, index.steps(labels)) else []
    preset, cause = index.invalid
    machine.report(
        PRESET_SELECTOR,
        (),
        cause.message,
        Related(f"{preset.resource.ref} has this selector", at(preset.resource, cause.path)),
    )
    return []


def _has_room(machine: Machine, steps: int) -> bool:
    """Whether presets may take *steps* more for *machine*, which fails otherwise."""
    if machine.failed or machine.context.preset_work.has_room(steps):
        return not machine.failed
    machine.report(
        LIMIT_EXCEEDED,
        (),
        f"not rendered: matching and merging presets would take more than {MOST_PRESET_STEPS:,} steps in this input",
        help="let presets select fewer VMs, by labels that few have, or split the input",
    )
    return False


def _index(context: Context, namespace: str, era: Era) -> Index:
    """The presets of *era* in *namespace*."""
    known = context.selections
    key = (namespace, era.kind)
    if key not in known:
        known[key] = presets.index(
            [
                preset
                for preset in context.presets.get(namespace, ())
                if preset.resource.kind == era.kind
            ],
            context.release,
        )
    return known[key]


def _contradict(machine: Machine, matching: list[Preset]) -> bool:
    known = machine.context.contradictions
    which = tuple(preset.resource.index for preset in matching)
    if which not in known:
        known[which] = _contradiction(matching)
    text, parties = known[which]
    if not text:
        return False
    machine.report(
        PRESETS_CONFLICT,
        (),
        f"VirtualMachinePresets cannot be applied due to conflicts: {text}",
        *parties,
        help="let one of the presets select fewer VMs, or make them agree",
    )
    return True


_MOST_PAIRS = 100
"""Of presets that contradict each other; all of them are said of each machine that has them."""


def _contradiction(matching: list[Preset]) -> Contradiction:
    """What contradicts each other among presets, in KubeVirt's words, and where each of them says so."""
    pairs = list(islice(presets.conflicts(matching), _MOST_PAIRS))
    texts = [
        f"presets '{later.resource.name}' and '{earlier.resource.name}' conflict: {_conflict_text(differing)}"
        for later, earlier, differing in pairs
    ]
    parties = (
        Related(
            f"{preset.resource.ref} sets {difference.part}",
            at(preset.resource, _in_preset(difference.path)),
        )
        for later, earlier, differing in pairs
        for difference in differing
        for preset in (later, earlier)
    )
    return _listed(texts), tuple(dict.fromkeys(parties))


class Loss(NamedTuple):
    """A part of a preset that a VM does not get: below ``spec.domain``, in KubeVirt's words, and why."""

    path: FieldPath
    part: str
    text: str


def _losses(differences: tuple[PresetConflict, ...], unmerged: Tree, era: Era) -> list[Loss]:
    losses = [
        Loss(difference.path, difference.part, _conflict_text((difference,), era))
        for difference in differences
        if presets.loses(difference)
    ]
    if unmerged:
        part = "spec.resources.requests"
        text = f"{part}: {_compact(unmerged)} is not merged, since the VM has requests of its own"
        losses.append(Loss(("resources", "requests"), part, text))
    return losses


def _report(machine: Machine, preset: Preset, lead: str, losses: list[Loss]) -> None:
    """Say which parts of *preset* the VM does not get.

    A VM that is annotated with the preset has been rendered already: its values are what became of both, so that
    differences are worth no more than a warning.
    """
    annotations = tree.get(machine.vmi, "metadata", "annotations") or {}
    lenient = machine.context.settings.preset_conflicts == "override"
    lenient = lenient or presets.APPLIED + preset.resource.name in annotations
    machine.diagnostics += (
        PRESET_OVERRIDDEN.at(
            at(machine.resource, (*machine.vmi_path, "domain", *path)),
            f"{lead}: {text}",
            Related(f"{preset.resource.ref} sets {part}", at(preset.resource, _in_preset(path))),
            help=_FIRMWARE_HELP if path == ("firmware",) else _OVERRIDDEN_HELP,
            severity=Severity.WARNING if lenient else Severity.ERROR,
        )
        for path, part, text in losses
    )


_OVERRIDDEN_HELP = (
    "the VM wins in KubeVirt: remove the part from one of the two, exclude the VM from presets, or "
    "accept this with --preset-conflicts override"
)
_FIRMWARE_HELP = (
    "every VM has a firmware uuid before presets are merged, so that the firmware of a preset never "
    "reaches one: move it into the VM or a preference, or accept this with --preset-conflicts override"
)


def _in_preset(path: FieldPath) -> FieldPath:
    return ("spec", "domain", *path)


def _conflict_text(conflicts: tuple[PresetConflict, ...], era: Era = MODERN) -> str:
    texts = [
        f"{difference.part}: {_as_go(difference.other)} != {_as_go(difference.preset)}"
        if era is HISTORIC
        else f"{difference.part}: {' != '.join(_sides(difference))}"
        for difference in conflicts
    ]
    return _listed(texts)


def _listed(texts: list[str]) -> str:
    """As Kubernetes joins errors: one stands bare."""
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]" if texts else ""


def _sides(difference: PresetConflict) -> tuple[str, str]:
    """Both values, with what the cluster makes up where that is all they differ in."""
    values = (difference.preset, difference.other)
    preset, other = map(_compact, values)
    return (compact(values[0]), compact(values[1])) if preset == other else (preset, other)


def _compact(value: Any) -> str:
    return compact(_known(value))


def _as_go(value: Any) -> str:
    """*value* in the style of the events of its time: ``&{6}`` for a struct."""
    if isinstance(value, dict):
        return f"&{{{' '.join(map(_as_go, value.values()))}}}"
    return value if isinstance(value, str) else json.dumps(value)


def _known(value: Any) -> Any:
    """*value* without what only the cluster knows."""
    if isinstance(value, dict):
        return {key: _known(v) for key, v in value.items() if not isinstance(v, Unknown)}
    return value
