"""Stages of the start path: the VMI that the controller creates, and the presets that its webhook merges.

Upstream: pkg/virt-controller/watch/vm/vm.go, pkg/virt-api/webhooks/mutating-webhook/mutators/preset.go.
"""

import json
from typing import Any

from render import presets
from render.apply import order as application
from render.convert import presets as convert
from render.defaults import devices, network
from render.defaults.vm import Unknown
from render.diagnostics.codes import (
    DEFAULT_NETWORK,
    PRESET_DEPRECATED,
    PRESET_OVERRIDDEN,
    PRESET_SELECTOR,
    PRESETS_CONFLICT,
)
from render.diagnostics.diagnostic import Diagnostic, Related, Severity, at
from render.model import tree
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.tree import Tree
from render.pipeline.machine import TEMPLATE, Additions, Machine
from render.pipeline.result import Provenance
from render.pipeline.webhook import check_conflicts, report_conflicts
from render.presets import Difference, Preset
from render.resolve.kinds import INSTANCETYPE, PREFERENCE


def create_vmi(machine: Machine) -> None:
    """The VMI as the controller creates it, in `machine.template`."""
    context = machine.context
    template = machine.spec.get("template") or {}
    preference = machine.preference
    draft = Draft(template)
    added = devices.add_disks(draft)
    if preference is not None:
        attached, edits = application.auto_attach(draft.tree, preference.spec, context.release)
        machine.record(preference, edits)
        draft = Draft(attached)
    has_input = devices.add_input(draft)
    net = network.add_default(draft, context.config)
    if net.error:
        refuse_network(machine, net.error)
        check_conflicts(machine)
        return
    _name_definitions(machine, draft)
    disks = draft.get(*devices.DISKS) or []
    machine.additions = Additions(
        disks=tuple(disks[len(disks) - added :]),
        inputs=tuple(draft.get(*devices.INPUTS)) if has_input else (),
        interfaces=tuple(draft.get(*network.INTERFACES)) if net.added else (),
    )
    machine.template = draft.tree
    apply_definitions(machine)


def refuse_network(machine: Machine, error: str) -> None:
    """The cluster's default network cannot be attached."""
    machine.report(
        DEFAULT_NETWORK,
        TEMPLATE,
        error,
        help="name networks and interfaces in the VM, or set autoattachPodInterface: false",
    )


def apply_definitions(machine: Machine) -> None:
    """Apply instancetype and preference to `machine.template`."""
    instancetype, preference = machine.instancetype, machine.preference
    applied = application.apply(
        machine.template,
        instancetype.spec if instancetype else None,
        preference.spec if preference else None,
        machine.context.release,
    )
    if applied.conflicts:
        report_conflicts(machine, applied.conflicts)
        return
    if instancetype is not None:
        machine.record(instancetype, applied.from_instancetype)
    if preference is not None:
        machine.record(preference, applied.from_preference)
    machine.template = applied.template


def _name_definitions(machine: Machine, draft: Draft) -> None:
    """Annotate the VMI with the names of its instancetype and preference, as the controller does."""
    for kind_class, definition in (
        (INSTANCETYPE, machine.instancetype),
        (PREFERENCE, machine.preference),
    ):
        given = machine.spec.get(kind_class.word)
        if given is not None and definition is not None:
            annotation = kind_class.annotation_for(given.get("kind", ""))
            draft.put(("metadata", "annotations", annotation), given.get("name", ""))


def merge_presets(machine: Machine) -> None:
    """Merge the presets of the namespace into the VMI."""
    matching = _select(machine)
    if not matching or _contradict(machine, matching):
        return
    machine.merged = tuple(matching)
    draft = Draft(machine.template)
    if machine.resource.kind == "VirtualMachineInstance":
        presets.keep_empty_requests(machine.resource.body, draft)
    for preset in matching:
        requests = draft.get("spec", "domain", "resources", "requests")
        domain = draft.get("spec", "domain") or {}
        differences = tuple(presets.differences(preset, domain, requests or {}))
        unmerged = presets.unmerged_requests(preset, requests)
        merged = presets.merge(preset, draft)
        machine.diagnostics.append(_deprecated(preset))
        _report_overridden(machine, preset, differences, unmerged, applied=merged.applied)
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
    machine.template = draft.tree


def _deprecated(preset: Preset) -> Diagnostic:
    """The same for every VM that the preset matches, and so told once."""
    name = preset.resource.name
    instancetype, preference, left = convert.replacement(preset.domain)
    parts = [
        f"{kind} {name} {_compact(spec)}"
        for kind, spec in (
            (INSTANCETYPE.namespaced, instancetype),
            (PREFERENCE.namespaced, preference),
        )
        if spec
    ]
    cure = f"use {' and '.join(parts)} instead" if parts else "nothing of it needs a replacement"
    if left:
        cure += f"; neither can say {', '.join(left)}"
    return PRESET_DEPRECATED.at(
        at(preset.resource),
        "kubevirt.io/v1 VirtualMachineInstancePresets is now deprecated and will be removed in v2.",
        help=cure,
    )


def _select(machine: Machine) -> list[Preset]:
    metadata = machine.template.get("metadata") or {}
    if (metadata.get("annotations") or {}).get(presets.EXCLUDE) == "true":
        return []
    matching = []
    for preset in machine.context.presets.get(machine.namespace, ()):
        try:
            if presets.selects(preset.spec.get("selector") or {}, metadata.get("labels") or {}):
                matching.append(preset)
        except presets.SelectorError as error:
            machine.report(
                PRESET_SELECTOR,
                (),
                str(error),
                Related(
                    f"{preset.resource.ref} has this selector",
                    at(preset.resource, ("spec", "selector")),
                ),
            )
            return []
    return matching


def _contradict(machine: Machine, matching: list[Preset]) -> bool:
    pairs = list(presets.conflicts(matching))
    if not pairs:
        return False
    texts = [
        f"presets '{later.resource.name}' and '{earlier.resource.name}' conflict: {_shown(found)}"
        for later, earlier, found in pairs
    ]
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    machine.report(
        PRESETS_CONFLICT,
        (),
        f"VirtualMachinePresets cannot be applied due to conflicts: {text}",
        *(
            Related(
                f"{preset.resource.ref} sets {difference.part}",
                at(preset.resource, _in_preset(difference.path)),
            )
            for later, earlier, found in pairs
            for difference in found
            for preset in (later, earlier)
        ),
        help="let one of the presets select fewer VMs, or make them agree",
    )
    return True


def _report_overridden(
    machine: Machine,
    preset: Preset,
    differences: tuple[Difference, ...],
    unmerged: Tree,
    *,
    applied: bool,
) -> None:
    """Say which parts of *preset* the VM does not get.

    A VM that is annotated with the preset has been rendered already: its values are what became of both, so that
    differences are worth no more than a warning.
    """
    name = preset.resource.name
    lead = (
        f"Some settings were not applied for VirtualMachineInstancePreset '{name}'"
        if applied
        else f"Unable to apply VirtualMachineInstancePreset '{name}'"
    )
    found = [
        (difference.path, difference.part, _shown((difference,)))
        for difference in differences
        if presets.loses(difference)
    ]
    if unmerged:
        part = "spec.resources.requests"
        text = f"{part}: {_compact(unmerged)} is not merged, since the VM has requests of its own"
        found.append((("resources", "requests"), part, text))
    annotations = tree.get(machine.template, "metadata", "annotations") or {}
    lenient = machine.context.settings.preset_conflicts == "override"
    lenient = lenient or presets.APPLIED + name in annotations
    machine.diagnostics += (
        PRESET_OVERRIDDEN.at(
            at(machine.resource, (*machine.vmi_path, "domain", *path)),
            f"{lead}: {text}",
            Related(f"{preset.resource.ref} sets {part}", at(preset.resource, _in_preset(path))),
            help=_FIRMWARE_HELP if path == ("firmware",) else _OVERRIDDEN_HELP,
            severity=Severity.WARNING if lenient else Severity.ERROR,
        )
        for path, part, text in found
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


def _shown(found: tuple[Difference, ...]) -> str:
    texts = [
        f"{difference.part}: {_compact(difference.preset)} != {_compact(difference.other)}"
        for difference in found
    ]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _compact(value: Any) -> str:
    return json.dumps(_known(value), separators=(",", ":"), sort_keys=True)


def _known(value: Any) -> Any:
    """*value* without what only the cluster knows."""
    if isinstance(value, dict):
        return {key: _known(v) for key, v in value.items() if not isinstance(v, Unknown)}
    return value
