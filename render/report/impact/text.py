"""The impact of a change as text: counts, worst first, then the VMs that something happens to."""

import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from render.diff.impact import FieldChange, Impact, MachineImpact
from render.model.counting import counted
from render.model.resource import ResourceRef
from render.report.impact import room
from render.report.impact.formats import ImpactStyle
from render.report.impact.review import (
    ASSUMED,
    MEANINGS,
    OTHER_FILES,
    HolderEntry,
    Locate,
    MachineEntry,
    MachineGroup,
    Review,
    ReviewPart,
    alike,
    amounts,
    changes,
    counts,
    entries,
    errors,
    holders,
    holders_title,
    is_shown,
    leaves,
    new_warnings,
    not_compared,
    not_counted,
    not_seen,
    nowhere,
    pinned,
    settings_changed,
    sizes,
    subjects,
    synced,
    texts,
    total,
    unaffected,
    unused,
    warned,
    without_rest,
)
from render.report.places import Place
from render.report.terminal import DIM, GREEN, RED, fold, painted
from render.report.text import printable

_COLOURS = {
    "refused": "31", "error": "31", "unrenderable": "31", "stop": "33", "start": "33", "restart": "33",
    "gone": "33", "repaired": "32", "migrate": "36", "live": "36", "next": "36", "recreate": "36", "new": "32",
}  # fmt: skip
_SHOWN = 100
_WARNINGS = 10
_WIDTH = 100
#: A string that YAML reads as itself, in a flow too.
_PLAIN = re.compile(r"[A-Za-z0-9/][A-Za-z0-9._/@+-]*\Z")


def report(review: Review, style: ImpactStyle) -> str:
    """All of *review*; of several kustomizations each by itself."""
    machines = review.machines
    said = [summary(machines), header(review), *_table(machines), *_errors(review)]
    totals = total(machines)
    if totals[0] != totals[1]:
        said.append(f"in all: {', '.join(amounts(totals))}{without_rest(machines)}")
    said += map(printable, room.lines(review.parts))
    said += map(
        printable, filter(None, (pinned(machines), not_counted(review.parts), unused(review.parts)))
    )
    for part in review.parts:
        details = list(_details(part, colour=style.colour))
        if details and len(review.parts) > 1:
            said += [
                "",
                f"{printable(part.title) or OTHER_FILES}: {summary(part.impact.machines)}",
            ]
        said += details
    for word, users in unaffected(machines):
        said += ["", f"{word}, and nothing comes of it for VMs that use it:"]
        for one in users:
            said.append(printable(f"  {one.definition}: {one.why}"))
            said += _wrapped(printable(", ".join(map(_name, one.machines))))
    listed = holders(review.parts)
    if listed:
        title = holders_title(listed)
        said += ["", f"{title[:1].lower()}{title[1:]}:"]
    for entry in listed:
        said += _holder(entry)
    if any(map(is_shown, machines)):
        said += ["", *_wrapped(f"assumed: {'; '.join(ASSUMED)}", indent="")]
    return fold("".join(f"{line}\n" for line in said), style.columns)


def _holder(entry: HolderEntry) -> Iterator[str]:
    part, holder = entry
    where = f" in {part.title}" if part.title else ""
    yield printable(f"  {holder.resource}{where}, {entry.words}")
    yield from (f"    {_line(change, part.locate)}" for change in leaves(holder.changes))
    yield from (printable(f"    edited: {one}") for one in holder.edited)


def header(review: Review) -> str:
    """What was compared, in a line."""
    text = f"{review.before} -> {review.after}"
    emit, why = synced(review)
    if emit:
        text += f", synced with --emit {emit}{why}"
    other = review.otherwise
    if other is not None and other.machines:
        text += f" ({counted(other.machines, 'VM')} would fare otherwise with --emit {other.emit})"
    parts = (text, not_compared(review), not_seen(review), settings_changed(review))
    return printable("; ".join(filter(None, parts)))


def _errors(review: Review) -> Iterator[str]:
    """How many errors there are, and those that are new."""
    found = errors(review.parts)
    if str(found):
        yield str(found)
    for finding, others in found.groups:
        place = f"{finding.place}  " if finding.place.file else ""
        yield printable(f"  {place}{finding.text}")
        if others:
            yield from _wrapped(printable(f"and the same of {', '.join(map(_named, others))}"))
    warnings = new_warnings(review.parts)
    if warnings:
        yield warned(warnings)
    for warning in warnings[:_WARNINGS]:
        found_ = warning.finding
        more = f", and the same of {len(warning.others):,} more" if warning.others else ""
        yield printable(f"  {found_.place}  {found_.text}{more}")
    if len(warnings) > _WARNINGS:
        yield f"  and {len(warnings) - _WARNINGS:,} others (--format json has all)"


def _named(one: ResourceRef | Place) -> str:
    return _name(one) if isinstance(one, ResourceRef) else str(one)


def _table(machines: Sequence[MachineImpact]) -> Iterator[str]:
    """How many VMs have each effect, and what it means."""
    numbers = counts(machines)
    width = max((len(f"{one:,}") for one in numbers.values()), default=0)
    word = max(map(len, numbers), default=0)
    for effect, count in numbers.items():
        yield f"  {count:>{width},} {effect:<{word}}  {MEANINGS[effect]}"


def _details(part: ReviewPart, *, colour: bool) -> Iterator[str]:
    """The VMs of *part* that something happens to, the worst first."""
    for group in alike(entries([part])):
        yield ""
        yield from _title(group, colour=colour)
        yield from (f"  {line}" for line in lines(group.machines[0], part, colour=colour))


def _title(group: MachineGroup, *, colour: bool) -> Iterator[str]:
    first, *others = group.machines
    effects = _painted(first, colour=colour)
    if not others:
        yield f"{effects}  {printable(str(first.resource))}"
    else:
        yield f"{effects}  {len(group.machines):,} VMs"
        yield from _wrapped(printable(", ".join(_name(one.resource) for one in group.machines)))


def _name(resource: ResourceRef) -> str:
    """What a VM is called in a list of VMs."""
    return f"{resource.namespace}/{resource.name}" if resource.namespace else resource.name


def _wrapped(text: str, indent: str = "    ") -> list[str]:
    """*text* in lines."""
    return textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent or "  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def summary(machines: Sequence[MachineImpact]) -> str:
    """How many VMs there are, by the worst that happens to each."""
    parts = [f"{count:,} {effect}" for effect, count in counts(machines).items()]
    count = subjects(machines)
    return f"{count}: {', '.join(parts)}" if parts else count


def lines(
    machine: MachineImpact,
    part: ReviewPart = ReviewPart("", Impact(())),  # noqa: B008 - a value
    *,
    colour: bool = False,
) -> list[str]:
    """What is to be said of one VM of *part*: KubeVirt's texts, then each change."""
    said = [
        "  ".join(filter(None, (one.ours, printable(one.theirs), str(one.place) if one.place.file else "")))
        for one in (*texts(MachineEntry(part, machine)), *sizes(machine))
    ]  # fmt: skip
    return [*said, *(_line(change, part.locate, colour=colour) for change in changes(machine))]


def _line(change: FieldChange, locate: Locate, *, colour: bool = False) -> str:
    effect = f" ({change.effect})" if change.effect else ""
    before, after = (
        painted(printable(value), style, colour=colour)
        for value, style in zip(short(change), (RED, GREEN), strict=True)
    )
    text = f"{printable(change.field)}: {before} -> {after}{effect}"
    where = painted(printable(source(change, locate)), DIM, colour=colour)
    return f"{text}  {where}" if where else text


def source(change: FieldChange, locate: Locate) -> str:
    """Where a change comes from: file and line, object, field."""
    cause = change.cause
    if cause is None or locate is nowhere:
        return ""
    place = locate(cause)
    return " ".join(
        filter(None, (str(place) if place.file else "", str(cause.resource), cause.field))
    )


def short(change: FieldChange) -> tuple[str, str]:
    """Both values of *change* in a line each, as flows of YAML; of long ones, around their difference."""
    is_item = change.field.endswith("]")
    before, after = (
        "none" if value is None else _flow(value, nested=isinstance(value, dict) and not is_item)
        for value in (change.before, change.after)
    )
    pairs = enumerate(zip(before, after, strict=False))
    parting = next((at for at, (old, new) in pairs if old != new), min(len(before), len(after)))
    begin = max(0, parting - _SHOWN // 3) if max(len(before), len(after)) > _SHOWN else 0
    return _cut(before, begin), _cut(after, begin)


def _cut(text: str, begin: int) -> str:
    """What *text* has from *begin* on, or a little before where it ends soon."""
    begin = max(0, min(begin, len(text) - _SHOWN // 3))
    rest = f"...{text[begin + 3 :]}" if begin else text
    return rest if len(rest) <= _SHOWN else f"{rest[: _SHOWN - 3]}..."


def _flow(value: Any, *, nested: bool = True) -> str:
    if isinstance(value, dict):
        # What an item of a list is called, the path to it says.
        pairs = (
            f"{k}: {_flow(v)}" for k, v in value.items() if nested or k != "name" or len(value) == 1
        )
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str):
        return value if not nested or _PLAIN.match(value) else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)


def _painted(machine: MachineImpact, *, colour: bool) -> str:
    style = _COLOURS.get(machine.effects[0], "")
    return painted(", ".join(machine.effects), f"1;{style}", colour=colour and bool(style))
