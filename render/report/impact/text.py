"""The impact of a change as text: counts, worst first, then each VM that something happens to."""

import json
from typing import Any

from render.diff.impact import FieldChange, MachineImpact
from render.report.impact.formats import ImpactStyle
from render.report.impact.review import (
    Locate,
    Review,
    ReviewPart,
    amounts,
    counts,
    is_shown,
    nowhere,
    pinned,
    rank,
    texts,
    total,
)
from render.report.text import printable

_COLOURS = {
    "refused": "31", "error": "31", "unrenderable": "31", "stop": "33", "start": "33", "restart": "33",
    "gone": "33", "migrate": "36", "live": "36", "next": "36", "recreate": "36", "new": "32",
}  # fmt: skip
_SHOWN = 60


def report(review: Review, style: ImpactStyle) -> str:
    """All of *review*; of several kustomizations each by itself."""
    machines = review.machines
    said = [f"{header(review)}\n{summary(machines)}\n"]
    totals = total(machines)
    if totals[0] != totals[1]:
        said.append(f"in all: {', '.join(amounts(totals))}\n")
    if pinned(machines):
        said.append(f"{pinned(machines)}\n")
    for part in review.parts:
        found = _details(part, colour=style.colour)
        if found and len(review.parts) > 1:
            said.append(
                f"{printable(part.name) or 'other files'}: {summary(part.impact.machines)}\n"
            )
        said.append(found)
    return "".join(said)


def header(review: Review) -> str:
    """What was compared, in a line."""
    return printable(f"{review.before} -> {review.after}, synced with --emit {review.emit}")


def _details(part: ReviewPart, *, colour: bool) -> str:
    """Each VM of *part* that something happens to, the worst first."""
    blocks = []
    for machine in sorted(filter(is_shown, part.impact.machines), key=rank):
        title = f"{_painted(machine, colour=colour)}  {printable(str(machine.resource))}"
        blocks.append("\n".join((title, *(f"  {one}" for one in lines(machine, part.locate)))))
    return "".join(f"{block}\n" for block in blocks)


def summary(machines: list[MachineImpact] | tuple[MachineImpact, ...]) -> str:
    """How many VMs there are, by the worst that happens to each."""
    parts = [f"{number:,} {effect}" for effect, number in counts(machines).items()]
    count = f"{len(machines):,} VM{'s' if len(machines) != 1 else ''}"
    return f"{count}: {', '.join(parts)}" if parts else count


def lines(machine: MachineImpact, locate: Locate = nowhere) -> list[str]:
    """What is to be said of one VM: KubeVirt's texts, then each change."""
    said = (" ".join(filter(None, (ours, printable(theirs)))) for ours, theirs in texts(machine))
    return [*said, *(_line(change, locate) for change in machine.changes)]


def _line(change: FieldChange, locate: Locate) -> str:
    text = f"{change.field}: {short(change.before)} -> {short(change.after)} ({change.effect})"
    where = source(change, locate)
    return printable(f"{text}  {where}" if where else text)


def source(change: FieldChange, locate: Locate) -> str:
    """Where a change comes from: file and line, object, field."""
    cause = change.cause
    if cause is None or locate is nowhere:
        return ""
    place = locate(cause)
    return " ".join(
        filter(None, (str(place) if place.file else "", str(cause.resource), cause.field))
    )


def short(value: Any) -> str:
    """*value* in one line; of a long one the beginning."""
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _painted(machine: MachineImpact, *, colour: bool) -> str:
    text = ", ".join(machine.effects)
    style = _COLOURS.get(machine.effects[0], "")
    return f"\x1b[1;{style}m{text}\x1b[0m" if colour and style else text
