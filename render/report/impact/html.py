"""The impact of a change as one HTML page: readable without scripts, and without a network."""

from collections.abc import Sequence

from render.diff.impact import FieldChange, MachineImpact
from render.diff.source import ChangeSource
from render.model.hints import Any
from render.model.resource import ResourceRef
from render.report.impact import room
from render.report.impact.formats import ImpactStyle
from render.report.impact.headline import VALUES, headline, values
from render.report.impact.review import (
    LACKING,
    MEANINGS,
    HolderEntry,
    ImpactText,
    MachineEntry,
    Review,
    ReviewPart,
    Totals,
    by_instancetype,
    by_namespace,
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
    mentioned,
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
from render.report.page import anchors, bar, folded, page
from render.report.places import Place

#: So many errors and warnings are open; the others unfold.
_OPEN = 5
#: So long are the values that stand in the line of a VM.
_SHORT = 40
#: A name, and its VMs, vCPUs and memory, each before and after.
_Sum = tuple[str, list[tuple[str, str]]]


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
        headline=headline(review, len(found.new)),
        counts=bar((effect, n, MEANINGS[effect]) for effect, n in counts(machines).items()),
        first=_first(machines),
        most={"found": _OPEN, "changes": VALUES},
        new_errors=len(found.new),
        errors=found.groups,
        warnings=new_warnings(review.parts),
        warned=warned(new_warnings(review.parts)),
        errors_found=str(found),
        sentences=_sentences(review),
        without=without_rest(machines),
        unaffected=unaffected(machines),
        assumed=review.assumptions if any(map(is_shown, machines)) else (),
        total=_totals(total(machines)),
        room=[line.replace("->", "→") for line in room.lines(review.parts, with_figures=False)],
        causes=_causes(entries(review.parts)),
        sums=[
            (word, _changed_first([(name, _totals(total)) for name, total in totals.items()]))
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


def _sentences(review: Review) -> list[str]:
    """What else there is to say of the change: of pins, and of what is not counted or used."""
    parts = review.parts
    others = (
        pinned(review.machines), not_counted(parts), unused(review), mentioned(review), repeated(parts),
        relocated(parts), placed(review.machines),
    )  # fmt: skip
    return [f"{text[:1].upper()}{text[1:]}" for text in others if text]


def _first(machines: Sequence[MachineImpact]) -> list[tuple[str, str]]:
    """What is shown at first, and the other choice: all VMs, or those that something happens to."""
    numbers = counts(machines)
    if "same" not in numbers or len(numbers) == 1:
        return [("", "all")]
    return [("!same", "changes"), ("", "all")]


def _causes(machines: Sequence[MachineEntry]) -> list[dict[str, Any]]:
    """The objects behind the changes, each with its fields: what one does to the VMI.

    And to how many of the VMs, if not to all that the object reaches.
    """
    done = values(machines)
    fields: dict[tuple[str, ResourceRef], list[dict[str, Any]]] = {}
    for cause in causes(machines):
        fields.setdefault((cause.place.file, cause.resources[0]), []).append(
            {
                "place": cause.place, "field": cause.field, "changes": done.get(cause.key, []),
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
        (gibibytes(before.memory), gibibytes(after.memory)),
    ]


def _changed_first(rows: Sequence[_Sum]) -> tuple[Sequence[_Sum], Sequence[_Sum]]:
    """Of many *rows* those with a sum that changes are open, and the others folded."""
    if len(folded(rows)[0]) == len(rows):
        return rows, ()
    changed: list[_Sum] = []
    same: list[_Sum] = []
    for row in rows:
        (changed if any(before != after for before, after in row[1]) else same).append(row)
    return changed, same


def _change(change: FieldChange, part: ReviewPart) -> dict[str, Any]:
    before, after = short(change)
    return {
        "field": change.field,
        "before": before,
        "after": after,
        "is_short": len(before) + len(after) <= _SHORT,
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
        "unrendered": "as before" if len(machine.unrendered) > 1 else unrendered(machine),
    }
