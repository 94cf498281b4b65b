"""The impact of a change as Markdown for a pull request: counts first, then causes, then each VM, folded.

ImpactText of the repository stands in code spans that it cannot close; in the one line of HTML that folds a VM every
character that could mean something is a reference.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from render.diff.impact import FieldChange
from render.report.impact.formats import ImpactStyle
from render.report.impact.review import (
    ASSUMED,
    MEANINGS,
    ChangeCause,
    EditedWithoutEffect,
    ImpactText,
    Locate,
    MachineEntry,
    MachineGroup,
    Review,
    Totals,
    alike,
    amounts,
    by_instancetype,
    by_namespace,
    causes,
    changes,
    counts,
    edited,
    entries,
    pinned,
    sizes,
    stopping,
    texts,
    total,
    unrendered,
    without_rest,
    worst,
)
from render.report.impact.text import STOPPING_SHOWN, short, stop_line
from render.report.summary import number
from render.report.text import printable

_PLAIN = re.compile(r"[^A-Za-z0-9 /-]")
_TICKS = re.compile("`+")
#: Effects of which KubeVirt's text says more than the fields do.
_QUOTED = ("unrenderable", "refused", "error")
#: Shares of what is left of the budget, section by section.
_CAUSES, _MACHINES, _DETAILS = 0.2, 0.35, 0.85
_EDITED = 0.3
_NOTE_BYTES = 120
_NAMED = 5


def report(review: Review, style: ImpactStyle) -> str:
    """All of *review*; what does not fit into `style.most` bytes is counted, and left out."""
    machine_entries = entries(review.parts)
    head = "\n".join(_head(review))
    tail = f"\nAssumed: {'; '.join(ASSUMED)}.\n" if machine_entries else ""
    budget = _ByteBudget(style.most, _bytes(head) + _bytes(tail))
    sections = [head]
    sections += _table(
        "Cause", "VMs", rows=map(_cause, causes(machine_entries)), budget=budget, share=_CAUSES
    )
    sections += _table(
        "VM", "Effect", "Why", rows=map(_row, machine_entries), budget=budget, share=_MACHINES
    )
    machines = review.machines
    sections += _table(
        "Edited, without an effect", "VMs", "Why",
        rows=map(_edited, edited(machines)), budget=budget, share=_EDITED,
    )  # fmt: skip
    shown = [one for one in machine_entries if one.machine.changes or any(texts(one))]
    sections += budget.fitting(
        ((len(one.machines), _folded(one)) for one in alike(shown)), _DETAILS, "details of {} VMs"
    )
    for word, totals in (
        ("Namespace", by_namespace(machines)),
        ("Instancetype", by_instancetype(machines)),
    ):
        if any(before != after for before, after in totals.values()):
            rows = (_totals(name, one) for name, one in totals.items() if one[0] != one[1])
            sections += _table(word, "VMs", "vCPU", "Memory", rows=rows, budget=budget, share=1)
    return "".join([*sections, tail])


class _ByteBudget:
    """How many bytes may still be written; *most* 0: any number."""

    def __init__(self, most: int, used: int) -> None:
        self._most = most
        self._left = most - used

    def fitting(self, blocks: Iterable[tuple[int, str]], share: float, rest: str) -> Iterator[str]:
        """Those first *blocks* that fit into a *share* of what is left, and how many of the *rest* do not.

        Each comes with the number of what it stands for.
        """
        limit = self._left * share - _NOTE_BYTES
        used = cut = 0
        for number_of, block in blocks:
            size = _bytes(block)
            if self._most and (cut or used + size > limit):
                cut += number_of
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
    lines = ((1, f"| {' | '.join(cells)} |\n") for cells in rows)
    first = next(lines, None)
    if first is None:
        return
    head = f"\n| {' | '.join(titles)} |\n|{' --- |' * len(titles)}\n"
    yield from budget.fitting(chain([(1, f"{head}{first[1]}")], lines), share, "{} more rows")


def _head(review: Review) -> Iterator[str]:
    machines = review.machines
    numbers = counts(machines)
    said = ", ".join(f"{count:,} {effect}" for effect, count in numbers.items())
    count = number(len(machines), "VM")
    yield f"### {count}: {said}\n" if said else f"### {count}\n"
    states = f"{code(str(review.before))} → {code(str(review.after))}"
    yield f"{states}, synced with `--emit {review.emit}`{_otherwise(review)}\n"
    sums = ", ".join(amounts(total(machines))).replace("->", "→")
    stops = stopping(review.parts).findings
    if stops:
        yield f"**{stop_line(len(stops))}**\n"
        for one in stops[:STOPPING_SHOWN]:
            place = f"{code(str(one.place))} " if one.place.file else ""
            yield f"- {place}{code(one.text)}"
        yield ""
    yield f"In all: {sums}{without_rest(machines)}\n"
    if pinned(machines):
        yield f"{pinned(machines).capitalize()}\n"
    if numbers:
        yield "| VMs | Effect | What becomes of them |\n| ---: | --- | --- |"
        yield from (
            f"| {count:,} | **{effect}** | {MEANINGS[effect]} |"
            for effect, count in numbers.items()
        )
        yield ""


def _cause(cause: ChangeCause) -> tuple[str, str]:
    place = code(str(cause.place), cell=True) if cause.place.file else ""
    what = code(f"{cause.resource} {cause.field}".rstrip(), cell=True)
    numbers = ", ".join(f"{count:,} {effect}" for effect, count in cause.effects.items())
    return f"{place} {what}".lstrip(), numbers


def _row(entry: MachineEntry) -> tuple[str, str, str]:
    part, machine = entry
    where = f" in {code(part.name, cell=True)}" if part.name else ""
    return (
        f"{code(str(machine.resource), cell=True)}{where}",
        ", ".join(machine.effects),
        _why(entry),
    )


def _why(entry: MachineEntry) -> str:
    """The first reason for the worst that happens to a VM: KubeVirt's text where it names it, else a change."""
    machine = entry.machine
    differences = changes(machine)
    if machine.messages and (not differences or worst(machine) in _QUOTED):
        said = unrendered(machine)
        text = code(machine.messages[0], cell=True)
        return f"{said}: {text}" if said else text
    if not differences:
        return "; ".join(
            f"{one.ours} {code(one.theirs, cell=True)}" if one.theirs else one.ours
            for one in sizes(machine)
        )
    change = differences[0]
    old, new = (code(short(value), cell=True) for value in (change.before, change.after))
    more = f", and {len(differences) - 1:,} more" if len(differences) > 1 else ""
    return f"{code(change.field, cell=True)} {old} → {new}{more}"


def _edited(one: EditedWithoutEffect) -> tuple[str, str, str]:
    names = [code(f"{vm.namespace}/{vm.name}", cell=True) for vm in one.machines[:_NAMED]]
    more = len(one.machines) - len(names)
    said = ", ".join(names) + (f" and {more:,} more" if more else "")
    why, _, pin = one.why.partition("pinned to ")
    return code(str(one.definition), cell=True), said, why or f"pinned to {code(pin, cell=True)}"


def _folded(group: MachineGroup) -> str:
    part, machines = group
    where = f" in <code>{_escaped(part.name)}</code>" if part.name else ""
    one = machines[0]
    several = f"{len(machines):,} VMs like " if len(machines) > 1 else ""
    title = f"<b>{worst(one)}</b> {several}<code>{_escaped(str(one.resource))}</code>{where}"
    said = [f"- {_text(text)}" for text in texts(MachineEntry(part, one))]
    said += (f"- {_change(change, part.locate)}" for change in changes(one))
    if several:
        said.append(f"- so too: {', '.join(code(str(other.resource)) for other in machines[1:])}")
    return (
        f"\n<details><summary>{title}</summary>\n\n"
        + "".join(f"{line}\n" for line in said)
        + "\n</details>\n"
    )


def _text(text: ImpactText) -> str:
    place = code(str(text.place)) if text.place.file else ""
    return " ".join(filter(None, (text.ours, text.theirs and code(text.theirs), place)))


def _otherwise(review: Review) -> str:
    """What another way to sync would change."""
    other = review.otherwise
    if other is None or not other.machines:
        return ""
    return f" ({number(other.machines, 'VM')} would fare otherwise with `--emit {other.emit}`)"


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
    return shown, machines.rpartition(" ")[0], vcpus.removesuffix(" vCPU"), memory


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
