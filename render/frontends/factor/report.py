"""What was found for each VM, as text and as JSON (``schemas/factor.schema.json``)."""

from collections import Counter
from collections.abc import Iterator, Sequence

from render.diagnostics.diagnostic import at
from render.frontends.factor.files import FactoredPart
from render.frontends.request.request import Request
from render.model import fieldpath
from render.model.counting import counted
from render.model.hints import Any
from render.model.resource import TEMPLATE
from render.pipeline.factor.answers import (
    OUTCOMES,
    DefinitionName,
    Hindrance,
    MachineFactoring,
    Nearest,
    NewDefinition,
    PresetFactoring,
)
from render.report import escaping
from render.report.deciders import brief
from render.report.impact.json import field_change
from render.report.places import Place, Sources
from render.report.text import printable

FORMAT_VERSION = 1
_SPEC = f"{fieldpath.text((*TEMPLATE, 'spec'))}."
_HOMES = {
    "input": "of the repository",
    "cluster": "beside the input",
    "bundled": "bundled",
    "new": "new",
}
_MEANINGS = {
    "exact": "definitions that exist give exactly the VMI that they have",
    "new": "with new definitions",
    "near": "only nearly: see what would change",
    "open": "nothing fits",
    "done": "have both already",
}


def as_text(factored: Sequence[FactoredPart], request: Request) -> str:
    """A paragraph a VM, the definitions that are added, and how many VMs came out how."""
    lines: list[str] = []
    for part in factored:
        places = _FactoredPlaces(part, request)
        for machine in part.factoring.machines:
            if machine.outcome != "done":
                lines += _machine_lines(machine, part, places)
        for definition in _definitions(part):
            lines += _definition_lines(definition, part)
        for preset in part.factoring.presets:
            lines += _preset_lines(preset, part, places)
    lines += _summary(factored, is_near_looked_for=request.own["near"])
    return "".join(f"{printable(line)}\n" for line in lines)


def _machine_lines(
    machine: MachineFactoring, part: FactoredPart, places: "_FactoredPlaces"
) -> Iterator[str]:
    inside = f" {fieldpath.text(machine.path)}" if machine.path else ""
    yield f"{machine.outcome:<6} {machine.resource}{inside}  {places.of(machine)}"
    names = (machine.instancetype, machine.preference)
    if any(names):
        yield f"  {', '.join(f'{name.kind} {name.name} ({_HOMES[name.home]})' for name in names if name)}"
        yield f"  {_removed_fields(machine)}"
    if machine.restarts:
        yield f"  the guest stays the same; {_restarts(machine)}"
    for preset in machine.presets:
        yield f"  {preset} says nothing any more that the VM would lack"
    for reason in machine.reasons:
        where = places.of(machine, reason)
        field = _field(machine, reason)
        words = f"{field}: {reason.message}" if field else reason.message
        head = f"no {reason.word}: " if reason.word else ""
        yield f"  {head}{words}{f'  {where}' if field else ''}"
    if machine.nearest is not None:
        yield from _nearest_lines(machine.nearest)
    if part.written is not None and machine.edits:
        why = part.written.refused.get((machine.index, machine.path))
        if why is not None:
            yield f"  not written: {why}"


def _field(machine: MachineFactoring, reason: Hindrance) -> str:
    """The field behind a *reason*, as its author counts, ``""`` if none is."""
    return fieldpath.text((*machine.path, *TEMPLATE, *reason.path)) if reason.path else ""


def _restarts(machine: MachineFactoring) -> str:
    """Who restarts the VM."""
    if machine.path:
        return "the pool restarts the VMs that it has made"
    return "KubeVirt asks for a restart if it runs"


def _removed_fields(machine: MachineFactoring) -> str:
    """The fields that the VM need not have, as seen from the spec of its template."""
    fields = (field.removeprefix(_SPEC) for field in machine.removed)
    return f"which bring {', '.join(fields)}" if machine.removed else "which bring nothing else"


def _nearest_lines(nearest: Nearest) -> Iterator[str]:
    names = (nearest.instancetype, nearest.preference)
    listing = ", ".join(f"{name.kind} {name.name} ({_HOMES[name.home]})" for name in names if name)
    yield f"  nearest: {listing}: {', '.join(nearest.effects)}"
    for message in nearest.messages:
        yield f"    {message}"
    for change in nearest.changes:
        yield f"    {change.field}: {_value(change.before)} -> {_value(change.after)} ({change.effect})"


def _value(value: Any) -> str:
    return "none" if value is None else brief(value)


def _definitions(part: FactoredPart) -> Sequence[NewDefinition]:
    return part.factoring.definitions if part.written is None else part.written.definitions


def _definition_lines(definition: NewDefinition, part: FactoredPart) -> Iterator[str]:
    body = definition.body
    where = part.written.file if part.written is not None else ""
    name = "/".join(filter(None, (body["metadata"].get("namespace"), body["metadata"]["name"])))
    yield f"add    {body['kind']} {name}  {where}".rstrip()
    yield f"  for {counted(len(definition.users), 'VM')}: {brief(body['spec'])}"


def _preset_lines(
    preset: PresetFactoring, part: FactoredPart, places: "_FactoredPlaces"
) -> Iterator[str]:
    word = "keep" if preset.reason else "drop"
    yield f"{word:<6} {preset.resource}  {places.of_object(preset.index)}"
    count = counted(len(preset.users), "object")
    yield f"  {preset.reason or f'what it selects ({count}) starts the same without it'}"
    why = part.written and part.written.refused.get((preset.index, ()))
    if why:
        yield f"  not written: {why}"


def _summary(factored: Sequence[FactoredPart], *, is_near_looked_for: bool) -> Iterator[str]:
    machines = [machine for part in factored for machine in part.factoring.machines]
    counts = Counter(machine.outcome for machine in machines)
    added = sum(len(_definitions(part)) for part in factored)
    yield f"{counted(len(machines), 'VM')}, {counted(added, 'new definition')}"
    for outcome in OUTCOMES:
        if counts[outcome]:
            yield f"  {counts[outcome]} {outcome}  {_MEANINGS[outcome]}"
    if not is_near_looked_for and (counts["new"] or counts["open"]):
        yield "  --near says which of those that exist nearly fit, and what would change"
    if any(part.written is not None for part in factored):
        count = sum(len(part.written.machines) for part in factored if part.written)
        refused = sum(map(_refused, factored))
        yield f"{counted(count, 'VM')} rewritten, {refused} not"
        dropped = sum(len(part.written.dropped) for part in factored if part.written)
        if dropped:
            yield f"{counted(dropped, 'preset')} dropped"


def _refused(part: FactoredPart) -> int:
    """How many VMs of *part* are not written."""
    keys = {(machine.index, machine.path) for machine in part.factoring.machines}
    return len(keys & part.written.refused.keys()) if part.written else 0


def as_json(factored: Sequence[FactoredPart], request: Request) -> str:
    """One JSON document; keys are stable within a `FORMAT_VERSION`, new ones may be added."""
    machines = [machine for part in factored for machine in part.factoring.machines]
    counts = Counter(machine.outcome for machine in machines)
    document = {
        "formatVersion": FORMAT_VERSION,
        "counts": {outcome: counts[outcome] for outcome in OUTCOMES},
        "machines": [
            _machine(machine, part, _FactoredPlaces(part, request))
            for part in factored
            for machine in part.factoring.machines
        ],
        "definitions": [
            {
                "folder": part.part.loaded.folder,
                "file": part.written.file if part.written is not None else None,
                "manifest": definition.body,
                "users": [ref._asdict() for ref in definition.users],
            }
            for part in factored
            for definition in _definitions(part)
        ],
        "presets": [
            _preset(preset, part, _FactoredPlaces(part, request))
            for part in factored
            for preset in part.factoring.presets
        ],
    }
    return escaping.dumps(document, indent=2) + "\n"


def _machine(
    machine: MachineFactoring, part: FactoredPart, places: "_FactoredPlaces"
) -> dict[str, Any]:
    written = part.written
    key = machine.index, machine.path
    return {
        "resource": machine.resource._asdict(),
        "path": fieldpath.text(machine.path) if machine.path else None,
        "folder": part.part.loaded.folder,
        **_place(places.of(machine)),
        "outcome": machine.outcome,
        "instancetype": _name(machine.instancetype),
        "preference": _name(machine.preference),
        "removed": list(machine.removed),
        "restarts": machine.restarts,
        "presets": [preset._asdict() for preset in machine.presets],
        "reasons": [
            {
                "word": reason.word or None,
                "message": reason.message,
                "field": _field(machine, reason) or None,
                **_place(places.of(machine, reason)),
            }
            for reason in machine.reasons
        ],
        "nearest": machine.nearest and _nearest(machine.nearest),
        "written": None if written is None else key in written.machines,
        "unwritten": None if written is None else written.refused.get(key),
    }


def _preset(
    preset: PresetFactoring, part: FactoredPart, places: "_FactoredPlaces"
) -> dict[str, Any]:
    written = part.written
    return {
        "resource": preset.resource._asdict(),
        "folder": part.part.loaded.folder,
        **_place(places.of_object(preset.index)),
        "users": [ref._asdict() for ref in preset.users],
        "reason": preset.reason or None,
        "written": None if written is None else preset.index in written.dropped,
        "unwritten": None if written is None else written.refused.get((preset.index, ())),
    }


def _nearest(nearest: Nearest) -> dict[str, Any]:
    return {
        "instancetype": _name(nearest.instancetype),
        "preference": _name(nearest.preference),
        "effects": list(nearest.effects),
        "messages": list(nearest.messages),
        "changes": list(map(field_change, nearest.changes)),
    }


def _name(name: DefinitionName | None) -> dict[str, str] | None:
    return None if name is None else name._asdict()


def _place(place: Place) -> dict[str, Any]:
    return {"file": place.file or None, "line": place.line or None, "column": place.column or None}


class _FactoredPlaces:
    """Where the VMs of a part, and their fields, were written."""

    def __init__(self, factored_part: FactoredPart, request: Request) -> None:
        loaded = factored_part.part.loaded
        origins = [document.origin for document in (*loaded.documents, *request.around)]
        self._resources = factored_part.part.resources
        self._sources = Sources(origins, loaded.data, loaded.blame, quotes=False)

    def of_object(self, index: int) -> Place:
        """The place of an object."""
        return self._sources.place(at(self._resources[index]))

    def of(self, machine: MachineFactoring, reason: Hindrance | None = None) -> Place:
        """The place of a VM, or of the field behind a *reason*."""
        path = (*TEMPLATE, *reason.path) if reason is not None and reason.path else ()
        return self._sources.place(at(self._resources[machine.index], (*machine.path, *path)))
