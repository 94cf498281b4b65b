"""The impact of a change as one HTML page: readable without scripts, and without a network."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from render.diff.impact import UNREAD, FieldChange, MachineImpact
from render.diff.sizes import Size, gibibytes
from render.diff.source import ChangeSource
from render.model.counting import counted
from render.model.hints import Any
from render.model.resource import ResourceRef
from render.report.impact import room
from render.report.impact.formats import ImpactStyle
from render.report.impact.headline import VALUES, headline, values
from render.report.impact.review import (
    ErrorsOfChange,
    HolderEntry,
    ImpactText,
    MachineEntry,
    RepeatedError,
    Review,
    ReviewPart,
    Totals,
    asides,
    by_instancetype,
    by_namespace,
    causes,
    changes,
    counts,
    departures,
    effect_of,
    entries,
    errors,
    holders,
    holders_title,
    is_shown,
    leaves,
    meanings,
    messages,
    new_warnings,
    not_counted,
    pinned,
    texts,
    total,
    unaffected,
    unrendered,
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
#: So many causes are named at all.
_MOST_CAUSES = 500
#: So long are the values that stand in the line of a VM.
_SHORT = 40
#: A name, and its VMs, vCPUs and memory, each before and after.
_Sum = tuple[str, list[tuple[str, str]]]


def report(review: Review, style: ImpactStyle) -> str:
    """One page, whatever stands in the repository."""
    every = entries(review.parts, every=True)
    machines = review.machines
    found = errors(review.parts)
    affected = entries(review.parts)
    faults, meaning = _faults(affected), meanings(machines)
    return page(
        "impact/impact.html.j2",
        data=_rows(every),
        header=header(review).replace("->", "→"),
        summary=summary(machines),
        origin=style.origin,
        headline=headline(review, len(found.new)),
        counts=bar((effect, n, meaning[effect]) for effect, n in counts(machines).items()),
        first=_first(machines),
        most={"found": _OPEN, "changes": VALUES, "places": _OPEN, "causes": _MOST_CAUSES},
        found=_found(found, new_warnings(review.parts), affected),
        sentences=_sentences(review),
        without=without_rest(machines),
        unaffected=unaffected(machines),
        assumed=review.assumptions if any(map(is_shown, machines)) else (),
        total=_totals(total(machines)),
        room=[line.replace("->", "→") for line in room.lines(review.parts, with_figures=False)],
        causes=_edits_first(_causes(affected), [*faults.values()]),
        sums=[
            (word, _changed_first([(name, _totals(total)) for name, total in totals.items()]))
            for word, totals in (
                ("namespace", by_namespace(machines)),
                ("instancetype", by_instancetype(machines)),
            )
        ],
        machines=[
            _machine(entry, anchor, faults)
            for entry, anchor in zip(every, _anchors(every), strict=True)
        ],
        holders_title=holders_title(holders(review.parts)),
        holders=[_holder(entry) for entry in holders(review.parts)],
    )


def _edits_first(
    causes_: Iterable[dict[str, Any]], faults: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The edits for which VMs cannot be rendered before the *faults* that come of them, and the others behind."""
    listed = [*causes_]
    broken = [cause for cause in listed if cause["worst"] == "unrenderable"]
    return [*broken, *faults, *(cause for cause in listed if cause not in broken)]


def _found(
    found: ErrorsOfChange, warnings: Sequence[RepeatedError], affected: Sequence[MachineEntry]
) -> dict[str, Any]:
    """The errors that no cause of the VMs *affected* tells, how many do, and the *warnings*."""
    told = _told(affected)
    listed = [error for error in found.groups if not _is_told(error, told)]
    return {
        "words": str(found),
        "new": len(found.new),
        "errors": listed,
        "told": len(found.groups) - len(listed),
        "warnings": warnings,
        "warned": warned(warnings),
    }


def _sentences(review: Review) -> list[str]:
    """What else there is to say of the change: of pins, and of what is not counted or used."""
    of_all = (pinned(review.machines), not_counted(review.parts))
    return [f"{text[:1].upper()}{text[1:]}" for text in (*of_all, *asides(review)) if text]


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
                "places": [cause.place], "field": cause.field, "changes": done.get(cause.key, []),
                "machines": sum(cause.effects.values()),
            }
        )  # fmt: skip
    objects = [
        {
            "id": "",
            "name": f"{cause.name} is deleted" if cause.is_deleted else cause.name,
            "kind": "" if cause.is_deleted else cause.resources[0].kind,
            "effects": cause.effects,
            "machines": sum(cause.effects.values()),
            "worst": next(iter(cause.effects), "same"),
            "fault": "",
            "fields": [
                field
                for ref in cause.resources
                for field in fields.get((cause.place.file, ref), ())
            ],
        }
        for cause in causes(machines, _object_behind)
    ]
    return _alike(objects)


def _alike(objects: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """*objects*, those of one kind as one that say the same and do the same: a VM each, edited alike, is one cause."""
    known: dict[str, list[dict[str, Any]]] = {}
    for number, cause in enumerate(objects):
        fields = [(field["field"], field["changes"]) for field in cause["fields"]]
        is_whole = all(field["machines"] == cause["machines"] for field in cause["fields"])
        about = (
            (cause["kind"], [*cause["effects"]], fields) if cause["kind"] and is_whole else number
        )
        known.setdefault(repr(about), []).append(cause)
    return [_together(same) if len(same) > 1 else same[0] for same in known.values()]


def _together(same: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Causes that are the *same* but for where they stand."""
    effects = {
        effect: sum(cause["effects"][effect] for cause in same) for effect in same[0]["effects"]
    }
    machines = sum(effects.values())
    fields = [
        {
            **field,
            "places": [cause["fields"][number]["places"][0] for cause in same],
            "machines": machines,
        }
        for number, field in enumerate(same[0]["fields"])
    ]
    name = counted(len(same), same[0]["kind"])
    return {**same[0], "name": name, "effects": effects, "machines": machines, "fields": fields}


def _object_behind(part: ReviewPart, source: ChangeSource) -> tuple[Place, ResourceRef, str]:
    """The object in a file that is behind a change, whichever of its fields."""
    place, whole = part.locate(source), part.locate(source._replace(path=()))
    return whole if whole.file == place.file else Place(place.file), source.resource, ""


def _faults(machines: Sequence[MachineEntry]) -> dict[str, dict[str, Any]]:
    """The errors for which VMs cannot be rendered, those of most VMs first, by what is said of the VMs."""
    found: dict[str, list[tuple[str, Place]]] = {}
    for entry in machines:
        for text in messages(entry) if "after" in entry.machine.unrendered else ():
            found.setdefault(text.quoted, []).append((str(entry.machine.resource), text.place))
    by_machines = sorted(found.items(), key=lambda pair: -len(pair[1]))
    return {
        message: {
            "id": f"fault-{number}" if number < _MOST_CAUSES else "",
            "name": _first_named([name for name, _ in named]),
            "effects": {"unrenderable": len(named)},
            "machines": len(named),
            "worst": "unrenderable",
            "fault": message,
            "places": list(dict.fromkeys(place for _, place in named)),
            "fields": (),
        }
        for number, (message, named) in enumerate(by_machines)
    }


def _first_named(names: Sequence[str]) -> str:
    """The first of some VMs, and how many more there are."""
    more = f" and {counted(len(names) - 1, 'more VM')}" if len(names) > 1 else ""
    return f"{names[0]}{more}"


def _told(machines: Sequence[MachineEntry]) -> set[tuple[str, str]]:
    """What is said among the causes of the VMs that cannot be rendered: of which object, and the text."""
    told: set[tuple[str, str]] = set()
    for entry in machines:
        for text in messages(entry) if "after" in entry.machine.unrendered else ():
            told.add((str(entry.machine.resource), text.quoted))
            told.add(("", text.quoted.partition(f"{UNREAD}: ")[2] or text.quoted))
    return told


def _is_told(error: RepeatedError, told: Collection[tuple[str, str]]) -> bool:
    """Whether all that *error* says stands among the causes that are *told* already."""
    message = error.finding.diagnostic.message
    subjects = [error.finding.diagnostic.resource or error.finding.text, *error.others]
    return all(
        not {(str(subject), message), ("", f"{subject}: {message}"), ("", str(subject))}.isdisjoint(told)
        for subject in subjects
    )  # fmt: skip


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
        "texts": [*departures(part, holder)],
        "changes": [_change(change, part) for change in leaves(holder.changes)],
        "edited": holder.edited,
    }


def _written_at(entry: MachineEntry) -> list[ImpactText]:
    place = written_at(entry)
    return [ImpactText("", "", place)] if place.file else []


def _text(text: ImpactText, faults: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of a VM; of one of the *faults* that others have too, what leads to it."""
    fault = faults.get(text.quoted)
    if fault is None or fault["machines"] == 1 or not fault["id"]:
        return {**text._asdict(), "fault": None}
    what, unread, _ = text.quoted.partition(UNREAD)
    return {
        "ours": text.ours,
        "quoted": f"{what}{unread}" if unread else str(text.place) or fault["name"],
        "place": Place(),
        "fault": fault,
    }


def _instancetypes(
    machine: MachineImpact, first: Size | None, other: Size | None
) -> tuple[str, str]:
    """The instancetype of a VM before and after, as it asks for it where one state cannot render it."""
    if any(machine.named):
        return machine.named[0] or "none", machine.named[1] or "none"
    return (first.instancetype, other.instancetype) if first and other else ("", "")


def _known(machine: MachineImpact, texts_: Sequence[str | None]) -> tuple[str, str]:
    """A size before and after: what the state that cannot render a VM makes of it nobody knows."""
    before, after = texts_
    if not before and not after:
        return "", ""
    unknown = "?" if machine.unrendered else ""
    return before or unknown or after or "", after or unknown or before or ""


def _machine(entry: MachineEntry, anchor: str, faults: Mapping[str, Any]) -> dict[str, Any]:
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
        "instancetype": _instancetypes(machine, first, other),
        "vcpus": _known(machine, [size and f"{size.vcpus:,}" for size in (before, after)]),
        "memory": _known(
            machine, [size and f"{gibibytes(size.memory)} GiB" for size in (before, after)]
        ),
        "texts": [_text(text, faults) for text in (*texts(entry), *_written_at(entry))],
        "changes": fields,
        "unrendered": "as before" if len(machine.unrendered) > 1 else unrendered(machine),
    }
