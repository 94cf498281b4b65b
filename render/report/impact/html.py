"""The impact of a change as one HTML page: readable without scripts, and without a network."""

from typing import Any

from render.diff.impact import FieldChange
from render.report.impact import room
from render.report.impact.formats import ImpactStyle
from render.report.impact.review import (
    ASSUMED,
    MEANINGS,
    HolderEntry,
    MachineEntry,
    Review,
    ReviewPart,
    Totals,
    by_instancetype,
    by_namespace,
    causes,
    changes,
    counts,
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
    texts,
    total,
    unaffected,
    unused,
    warned,
    without_rest,
    worst,
)
from render.report.impact.text import header, short, summary
from render.report.page import page


def report(review: Review, _: ImpactStyle) -> str:
    """One page, whatever stands in the repository."""
    every = entries(review.parts, every=True)
    machines = review.machines
    found = errors(review.parts)
    return page(
        "impact/impact.html.j2",
        data=_rows(every),
        header=header(review).replace("->", "→"),
        summary=summary(machines),
        counts=[(effect, number, MEANINGS[effect]) for effect, number in counts(machines).items()],
        errors=found.groups,
        warnings=new_warnings(review.parts),
        warned=warned(new_warnings(review.parts)),
        sentences=[
            *filter(None, [str(found)]),
            *(
                f"{said[:1].upper()}{said[1:]}"
                for said in (pinned(machines), not_counted(review.parts), unused(review.parts))
                if said
            ),
        ],
        without=without_rest(machines),
        unaffected=unaffected(machines),
        assumed=ASSUMED if any(map(is_shown, machines)) else (),
        total=_totals(total(machines)),
        room=room.lines(review.parts),
        causes=causes(entries(review.parts)),
        sums=[
            (word, [(name, _totals(one)) for name, one in totals.items()])
            for word, totals in (
                ("namespace", by_namespace(machines)),
                ("instancetype", by_instancetype(machines)),
            )
        ],
        machines=[_machine(one) for one in every],
        holders_title=holders_title(holders(review.parts)),
        holders=[_holder(one) for one in holders(review.parts)],
    )


def _rows(machines: list[MachineEntry]) -> list[list[Any]]:
    """What the script sorts and filters by, a row a VM."""
    rows: list[list[Any]] = []
    for part, machine in machines:
        size = machine.sizes[1] or machine.sizes[0]
        definitions = dict.fromkeys(str(one.cause.resource) for one in machine.changes if one.cause)
        rows.append(
            [
                worst(machine), machine.resource.namespace, machine.resource.name,
                size.instancetype if size else "", size.vcpus if size else 0, size.memory if size else 0,
                part.title, list(definitions),
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
        "effect": change.effect,
        "cause": change.cause,
        "place": part.locate(change.cause) if change.cause else "",
    }


def _holder(entry: HolderEntry) -> dict[str, Any]:
    part, holder = entry
    return {
        "resource": holder.resource,
        "part": part.title,
        "words": entry.words.replace("->", "→"),
        "changes": [_change(one, part) for one in leaves(holder.changes)],
        "edited": holder.edited,
    }


def _machine(entry: MachineEntry) -> dict[str, Any]:
    part, machine = entry
    before, after = machine.sizes
    one, other = before or after, after or before
    fields = [_change(change, part) for change in changes(machine)]
    return {
        "resource": machine.resource,
        "part": part.title,
        "worst": worst(machine),
        "effects": machine.effects,
        "instancetype": (one.instancetype, other.instancetype) if one and other else ("", ""),
        "vcpus": (one.vcpus, other.vcpus) if one and other else ("", ""),
        "memory": tuple(f"{gibibytes(size.memory)} GiB" for size in (one, other) if size)
        or ("", ""),
        "texts": list(texts(entry)),
        "changes": fields,
    }
