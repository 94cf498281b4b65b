"""The impact of a change as one HTML page: readable without scripts, and without a network."""

from collections.abc import Sequence
from typing import Any

from render.diff.impact import FieldChange, MachineImpact
from render.diff.source import ChangeSource
from render.model.counting import counted
from render.model.resource import ResourceRef
from render.report.impact import room
from render.report.impact.formats import ImpactStyle
from render.report.impact.review import (
    LACKING,
    MEANINGS,
    CauseKey,
    HolderEntry,
    ImpactText,
    MachineEntry,
    Review,
    ReviewPart,
    Totals,
    behind,
    by_instancetype,
    by_namespace,
    cause_key,
    causes,
    changes,
    counts,
    effect_of,
    entries,
    errors,
    gibibytes,
    holders,
    holders_title,
    is_shown,
    leaves,
    new_warnings,
    not_counted,
    pinned,
    placed,
    relocated,
    repeated,
    texts,
    total,
    unaffected,
    unrendered,
    unused,
    warned,
    without_rest,
    worst,
    written_at,
)
from render.report.impact.text import header, short, summary
from render.report.page import anchors, bar, page
from render.report.places import Place

#: So many effects are named in the answer; the bar below it has all.
_WORST = 3


def report(review: Review, style: ImpactStyle) -> str:
    """One page, whatever stands in the repository."""
    every = entries(review.parts, every=True)
    machines = review.machines
    found = errors(review.parts)
    return page(
        "impact/impact.html.j2",
        data=_rows(every),
        header=header(review).replace("->", "→"),
        summary=summary(machines),
        origin=style.origin,
        title=_title(machines),
        counts=bar((effect, n, MEANINGS[effect]) for effect, n in counts(machines).items()),
        first=_first(machines),
        new_errors=sum(1 + len(error.others) for error in found.groups),
        errors=found.groups,
        warnings=new_warnings(review.parts),
        warned=warned(new_warnings(review.parts)),
        errors_found=str(found),
        sentences=_sentences(review),
        without=without_rest(machines),
        unaffected=unaffected(machines),
        assumed=review.assumptions if any(map(is_shown, machines)) else (),
        total=_totals(_with_unrendered(machines)),
        room=[line.replace("->", "→") for line in room.lines(review.parts, with_figures=False)],
        causes=_causes(entries(review.parts)),
        sums=[
            (word, [(name, _totals(total)) for name, total in totals.items()])
            for word, totals in (
                ("namespace", by_namespace(machines)),
                ("instancetype", by_instancetype(machines)),
            )
        ],
        machines=[
            _machine(entry, anchor) for entry, anchor in zip(every, _anchors(every), strict=True)
        ],
        holders_title=holders_title(holders(review.parts)),
        holders=[_holder(entry) for entry in holders(review.parts)],
    )


def _with_unrendered(machines: Sequence[MachineImpact]) -> Totals:
    """The totals of all: a VM that cannot be rendered in a state is there, though nobody knows how large."""
    lost = [machine for machine in machines if machine.unrendered]
    before, after = (
        sums._replace(
            machines=sums.machines
            + sum(name in machine.unrendered or machine.sizes[side] is not None for machine in lost)
        )
        for side, (name, sums) in enumerate(zip(("before", "after"), total(machines), strict=True))
    )
    return before, after


def _sentences(review: Review) -> list[str]:
    """What else there is to say of the change: of pins, and of what is not counted or used."""
    parts = review.parts
    others = (
        pinned(review.machines), not_counted(parts), unused(parts), repeated(parts),
        relocated(parts), placed(review.machines),
    )  # fmt: skip
    return [f"{text[:1].upper()}{text[1:]}" for text in others if text]


def _title(machines: Sequence[MachineImpact]) -> str:
    """The answer: what happens to how many, and that nothing does to the others."""
    numbers = counts(machines)
    rest = numbers.pop("same", 0)
    if not numbers:
        return "Nothing changes for any VM" if rest else "There are no VMs"
    words = [f"{number:,} {effect}" for effect, number in numbers.items()]
    if len(words) > _WORST + 1:
        words[_WORST:] = [f"{sum(list(numbers.values())[_WORST:]):,} others"]
    others = f"; {counted(rest, 'VM')} same" if rest else ""
    return f"{', '.join(words)}{others}"


def _first(machines: Sequence[MachineImpact]) -> list[tuple[str, str]]:
    """What is shown at first, and the other choice: all VMs, or those that something happens to."""
    numbers = counts(machines)
    if "same" not in numbers or len(numbers) == 1:
        return [("", "all")]
    return [("!same", "changes"), ("", "all")]


def _causes(machines: Sequence[MachineEntry]) -> list[dict[str, Any]]:
    """The objects behind the changes, each with its fields: what one does to the VMI, if that is the same for all.

    And to how many of the VMs, if not to all that the object reaches.
    The field has a name where it is called otherwise there: an instancetype says ``guest`` of what becomes sockets.
    """
    values: dict[CauseKey, set[tuple[str, str, str]]] = {}
    for part, machine in machines:
        for change in leaves(machine.changes):
            if change.cause is not None:
                key = cause_key(*behind(part, change.cause))
                name = _last(change.field)
                named = "" if name == _last(change.cause.field) else name
                values.setdefault(key, set()).add((named, *short(change)))
    fields: dict[tuple[str, ResourceRef], list[dict[str, Any]]] = {}
    for cause in causes(machines):
        done = _same(values.get(cause.key, set()))
        fields.setdefault((cause.place.file, cause.resources[0]), []).append(
            {
                "place": cause.place, "field": cause.field, "change": done,
                "machines": sum(cause.effects.values()),
            }
        )  # fmt: skip
    objects = [
        {
            "name": f"{cause.name} is deleted" if cause.is_deleted else cause.name,
            "effects": cause.effects,
            "machines": sum(cause.effects.values()),
            "worst": next(iter(cause.effects), "same"),
            "faults": (),
            "fields": [
                field
                for ref in cause.resources
                for field in fields.get((cause.place.file, ref), ())
            ],
        }
        for cause in causes(machines, _object_behind)
    ]
    return [*_faults(machines), *objects]


def _object_behind(part: ReviewPart, source: ChangeSource) -> tuple[Place, ResourceRef, str]:
    """The object in a file that is behind a change, whichever of its fields."""
    place, whole = part.locate(source), part.locate(source._replace(path=()))
    return whole if whole.file == place.file else Place(place.file), source.resource, ""


def _faults(machines: Sequence[MachineEntry]) -> list[dict[str, Any]]:
    """The errors for which VMs cannot be rendered, those of most VMs first."""
    found: dict[tuple[Place, str], list[str]] = {}
    for entry in machines:
        for text in texts(entry) if "after" in entry.machine.unrendered else ():
            if text.ours == LACKING:
                continue  # a cause by itself
            found.setdefault((text.place, text.quoted), []).append(str(entry.machine.resource))
    return [
        {
            "name": names[0] if len(names) == 1 else f"{len(names):,} VMs",
            "effects": {"unrenderable": len(names)},
            "worst": "unrenderable",
            "faults": [ImpactText("", message, place)],
            "fields": (),
        }
        for (place, message), names in sorted(found.items(), key=lambda pair: -len(pair[1]))
    ]


def _last(field: str) -> str:
    """What the last step of *field* is called, whichever item of a list it is."""
    last = field.rpartition(".")[2]
    return (field.rpartition("[")[0].rpartition(".")[2] if last.endswith("]") else last).partition(
        "["
    )[0]


def _same(found: set[tuple[str, str, str]]) -> tuple[str, str, str] | None:
    return next(iter(found)) if len(found) == 1 else None


def _anchors(machines: Sequence[MachineEntry]) -> list[str]:
    return anchors(machine.resource for _, machine in machines)


def _rows(machines: list[MachineEntry]) -> list[list[Any]]:
    """What the script sorts and filters by, a row a VM."""
    rows: list[list[Any]] = []
    for part, machine in machines:
        size = machine.sizes[1] or machine.sizes[0]
        definitions = dict.fromkeys(
            str(change.cause.resource) for change in machine.changes if change.cause
        )
        rows.append(
            [
                worst(machine), machine.resource.namespace, machine.resource.name,
                size.instancetype if size else "", size.vcpus if size else 0, size.memory if size else 0,
                part.title, list(definitions), next((change.field for change in changes(machine)), ""),
            ]
        )  # fmt: skip
    return rows


def _totals(totals: Totals) -> list[tuple[str, str]]:
    """VMs, vCPUs and memory, each before and after."""
    before, after = totals
    return [
        (f"{before.machines:,}", f"{after.machines:,}"),
        (f"{before.vcpus:,}", f"{after.vcpus:,}"),
        (f"{gibibytes(before.memory)} GiB", f"{gibibytes(after.memory)} GiB"),
    ]


def _change(change: FieldChange, part: ReviewPart) -> dict[str, Any]:
    before, after = short(change)
    return {
        "field": change.field,
        "before": before,
        "after": after,
        "effect": effect_of(change),
        "cause": change.cause,
        "place": part.locate(change.cause) if change.cause else "",
    }


def _holder(entry: HolderEntry) -> dict[str, Any]:
    part, holder = entry
    return {
        "resource": holder.resource,
        "part": part.title,
        "words": entry.words.replace("->", "→"),
        "changes": [_change(change, part) for change in leaves(holder.changes)],
        "edited": holder.edited,
    }


def _written_at(entry: MachineEntry) -> list[ImpactText]:
    place = written_at(entry)
    return [ImpactText("", "", place)] if place.file else []


def _machine(entry: MachineEntry, anchor: str) -> dict[str, Any]:
    part, machine = entry
    before, after = machine.sizes
    first, other = before or after, after or before
    fields = [_change(change, part) for change in changes(machine)]
    return {
        "name": "/".join(filter(None, machine.resource[1:])),
        "id": anchor,
        "part": part.title,
        "worst": worst(machine),
        "effects": machine.effects,
        "instancetype": (first.instancetype, other.instancetype) if first and other else ("", ""),
        "vcpus": (first.vcpus, other.vcpus) if first and other else ("", ""),
        "memory": tuple(f"{gibibytes(size.memory)} GiB" for size in (first, other) if size)
        or ("", ""),
        "texts": [*texts(entry), *_written_at(entry)],
        "changes": fields,
        "unrendered": unrendered(machine),
    }
