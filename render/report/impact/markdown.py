"""The impact of a change as Markdown for a pull request: counts first, then causes, then each VM, folded.

Text of the repository stands in code spans that it cannot close; in the one line of HTML that folds a VM every
character that could mean something is a reference.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from render.diff.impact import FieldChange
from render.report.impact.formats import ImpactStyle
from render.report.impact.review import (
    MEANINGS,
    ChangeCause,
    Locate,
    MachineEntry,
    Review,
    Totals,
    amounts,
    by_instancetype,
    by_namespace,
    causes,
    counts,
    entries,
    pinned,
    texts,
    total,
    worst,
)
from render.report.impact.text import short
from render.report.text import printable

_PLAIN = re.compile(r"[^A-Za-z0-9 /-]")
_TICKS = re.compile("`+")
#: Shares of what is left of the budget, section by section.
_CAUSES, _MACHINES, _DETAILS = 0.2, 0.35, 0.85
_NOTE_BYTES = 120


def report(review: Review, style: ImpactStyle) -> str:
    """All of *review*; what does not fit into `style.most` bytes is counted, and left out."""
    found = entries(review)
    head = "\n".join(_head(review))
    budget = _ByteBudget(style.most, _bytes(head))
    sections = [head]
    sections += _table(
        "Cause", "VMs", rows=map(_cause, causes(found)), budget=budget, share=_CAUSES
    )
    sections += _table("VM", "Effect", "Why", rows=map(_row, found), budget=budget, share=_MACHINES)
    shown = [entry for entry in found if entry.machine.changes or any(texts(entry.machine))]
    sections += budget.fitting(map(_folded, shown), _DETAILS, "details of {} VMs")
    machines = review.machines
    for word, totals in (
        ("Namespace", by_namespace(machines)),
        ("Instancetype", by_instancetype(machines)),
    ):
        if any(before != after for before, after in totals.values()):
            rows = (_totals(name, one) for name, one in totals.items() if one[0] != one[1])
            sections += _table(word, "VMs", "vCPU", "Memory", rows=rows, budget=budget, share=1)
    return "".join(sections)


class _ByteBudget:
    """How many bytes may still be written; *most* 0: any number."""

    def __init__(self, most: int, used: int) -> None:
        self._most = most
        self._left = most - used

    def fitting(self, blocks: Iterable[str], share: float, rest: str) -> Iterator[str]:
        """Those first *blocks* that fit into a *share* of what is left, and how many of the *rest* do not."""
        limit = self._left * share - _NOTE_BYTES
        used = cut = 0
        for block in blocks:
            size = _bytes(block)
            if self._most and (cut or used + size > limit):
                cut += 1
                continue
            used += size
            yield block
        if cut:
            note = f"\n{rest.format(f'{cut:,}')} left out here (--max-bytes); the counts above have all\n"
            used += _bytes(note)
            yield note
        self._left -= used


def _table(
    *titles: str, rows: Iterable[Sequence[str]], budget: _ByteBudget, share: float
) -> Iterator[str]:
    """A table, if it has a row."""
    lines = (f"| {' | '.join(cells)} |\n" for cells in rows)
    first = next(lines, None)
    if first is None:
        return
    head = f"\n| {' | '.join(titles)} |\n|{' --- |' * len(titles)}\n"
    yield from budget.fitting(chain([f"{head}{first}"], lines), share, "{} more rows")


def _head(review: Review) -> Iterator[str]:
    machines = review.machines
    numbers = counts(machines)
    said = ", ".join(f"{number:,} {effect}" for effect, number in numbers.items())
    count = f"{len(machines):,} VM{'s' if len(machines) != 1 else ''}"
    yield f"### {count}: {said}\n" if said else f"### {count}\n"
    yield f"{code(str(review.before))} → {code(str(review.after))}, synced with `--emit {review.emit}`\n"
    yield f"In all: {', '.join(amounts(total(machines)))}\n".replace("->", "→")
    if pinned(machines):
        yield f"{pinned(machines).capitalize()}\n"
    if numbers:
        yield "| VMs | Effect | What becomes of them |\n| ---: | --- | --- |"
        yield from (
            f"| {number:,} | **{effect}** | {MEANINGS[effect]} |"
            for effect, number in numbers.items()
        )
        yield ""


def _cause(cause: ChangeCause) -> tuple[str, str]:
    place = code(str(cause.place), cell=True) if cause.place.file else ""
    what = code(f"{cause.resource} {cause.field}".rstrip(), cell=True)
    numbers = ", ".join(f"{number:,} {effect}" for effect, number in cause.effects.items())
    return f"{place} {what}".lstrip(), numbers


def _row(entry: MachineEntry) -> tuple[str, str, str]:
    part, machine = entry
    where = f" in {code(part.name, cell=True)}" if part.name else ""
    first = code(machine.messages[0], cell=True) if machine.messages else ""
    if not first and machine.changes:
        change = machine.changes[0]
        old, new = (code(short(value), cell=True) for value in (change.before, change.after))
        first = f"{code(change.field, cell=True)} {old} → {new}"
    return f"{code(str(machine.resource), cell=True)}{where}", ", ".join(machine.effects), first


def _folded(entry: MachineEntry) -> str:
    part, machine = entry
    where = f" in <code>{_escaped(part.name)}</code>" if part.name else ""
    title = f"<b>{worst(machine)}</b> <code>{_escaped(str(machine.resource))}</code>{where}"
    said = [
        f"- {' '.join(filter(None, (ours, theirs and code(theirs))))}"
        for ours, theirs in texts(machine)
    ]
    said += (f"- {_change(change, part.locate)}" for change in machine.changes)
    return (
        f"\n<details><summary>{title}</summary>\n\n"
        + "".join(f"{one}\n" for one in said)
        + "\n</details>\n"
    )


def _change(change: FieldChange, locate: Locate) -> str:
    text = f"{code(change.field)}: {code(short(change.before))} → {code(short(change.after))} ({change.effect})"
    cause = change.cause
    if cause is None:
        return text
    place = locate(cause)
    where = f", {code(str(place))}" if place.file else ""
    return f"{text}{where}, {code(f'{cause.resource} {cause.field}'.rstrip())}"


def _totals(name: str, totals: Totals) -> tuple[str, str, str, str]:
    machines, vcpus, memory = (one.replace("->", "→") for one in amounts(totals))
    shown = code(name, cell=True) if name else "none"
    return shown, machines.removesuffix(" VMs"), vcpus.removesuffix(" vCPU"), memory


def code(text: str, *, cell: bool = False) -> str:
    """*text* as a code span that it cannot close; in a *cell* of a table a bar gives way to a broken one."""
    text = printable(text).replace("\t", " ")
    if cell:
        text = text.replace("|", "¦")
    fence = "`" * (max((len(run) for run in _TICKS.findall(text)), default=0) + 1)
    padded = not text or text[0] in "` " or text[-1] in "` "
    return f"{fence} {text} {fence}" if padded else f"{fence}{text}{fence}"


def _escaped(text: str) -> str:
    return _PLAIN.sub(lambda match: f"&#{ord(match[0])};", printable(text))


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
