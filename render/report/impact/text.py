"""The impact of a change as text: counts, worst first, then the VMs that something happens to."""

import json
import textwrap
from collections.abc import Collection, Iterator, Sequence

from render.diagnostics.diagnostic import Severity
from render.diff.impact import FAILINGS, FieldChange, Impact, MachineImpact
from render.diff.source import ChangeSource
from render.model.counting import counted
from render.model.hints import Any
from render.model.regex import pattern
from render.model.resource import ResourceRef
from render.report.deciders import is_called_alike
from render.report.impact import room
from render.report.impact.formats import ImpactStyle
from render.report.impact.review import (
    OTHER_FILES,
    BlamedEdit,
    HolderEntry,
    ImpactText,
    Locate,
    MachineEntry,
    MachineGroup,
    Review,
    ReviewPart,
    alike,
    amounts,
    asides,
    changes,
    counts,
    defined_at,
    departures,
    effect_of,
    entries,
    errors,
    holders,
    holders_title,
    is_shown,
    leaves,
    meanings,
    new_warnings,
    not_compared,
    not_counted,
    not_seen,
    nowhere,
    pinned,
    quiet,
    same_state,
    settings_changed,
    sizes,
    subjects,
    synced,
    texts,
    total,
    unaffected,
    unknown,
    warned,
    without_rest,
    worst,
    written_at,
)
from render.report.places import Place
from render.report.terminal import BOLD, DIM, GREEN, RED, SEVERITY_STYLES, fold, painted
from render.report.text import printable

_COLOURS = {
    "refused": "31", "error": "31", "unrenderable": "31", "stop": "33", "start": "33", "restart": "33",
    "gone": "33", "repaired": "32", "migrate": "36", "live": "36", "next": "36", "recreate": "36", "new": "32",
}  # fmt: skip
_LONGEST = 100
_NONE = "none"
_WARNINGS = 10
#: So many VMs are named that are stored otherwise, and run as they did.
_STORED = 10
_WIDTH = 100
#: A string that YAML reads as itself, in a flow too.
_PLAIN = pattern(r"[A-Za-z0-9/][A-Za-z0-9._/@+-]*\Z")


def report(review: Review, style: ImpactStyle) -> str:
    """All of *review*; of several kustomizations each by itself."""
    machines = review.machines
    output = [
        _first_line(review, style),
        header(review),
        *_table(machines, colour=style.colour),
        *_errors(review, style),
    ]
    totals = total(machines)
    if totals[0] != totals[1]:
        output.append(f"in all: {', '.join(amounts(totals))}{without_rest(machines)}")
    output += map(printable, room.lines(review.parts))
    output += _asides(review)
    told = {printable(error.finding.text) for error in errors(review.parts).groups}
    for part in review.parts:
        details = [_without_reason(line, told) for line in _details(part, style)]
        if details and len(review.parts) > 1:
            output += [
                "",
                f"{_head(printable(part.title) or OTHER_FILES, style)}: {summary(part.impact.machines)}",
            ]
        output += details
    for word, users in unaffected(machines):
        output += ["", f"{word}, and nothing comes of it for VMs that use it:"]
        for unaffected_users in users:
            output.append(printable(f"  {unaffected_users.definition}: {unaffected_users.why}"))
            output += wrapped(printable(", ".join(map(_name, unaffected_users.machines))), style)
    listed = holders(review.parts)
    if listed:
        title = holders_title(listed)
        output += ["", f"{title[:1].lower()}{title[1:]}:"]
    for entry in listed:
        output += _holder(entry, style)
    if any(map(is_shown, machines)):
        assumed = wrapped(printable(f"assumed: {'; '.join(review.assumptions)}"), style, indent="")
        output += ["", *(painted(line, DIM, colour=style.colour) for line in assumed)]
    return fold("".join(f"{line}\n" for line in output), style.columns)


def _first_line(review: Review, style: ImpactStyle) -> str:
    """How many VMs fare how, and which inputs nobody knows that of."""
    unclear = printable(unknown(review.uncompared))
    parts = (
        summary(review.machines, colour=style.colour),
        painted(unclear, SEVERITY_STYLES[Severity.ERROR], colour=style.colour and bool(unclear)),
    )
    return "; ".join(filter(None, parts))


def _asides(review: Review) -> Iterator[str]:
    """What else there is to say of all: of pins, and of what is not counted, used or clear."""
    of_all = (pinned(review.machines), not_counted(review.parts))
    yield from map(printable, (*filter(None, of_all), *asides(review)))


def _head(text: str, style: ImpactStyle) -> str:
    return painted(text, BOLD, colour=style.colour)


def _holder(entry: HolderEntry, style: ImpactStyle) -> Iterator[str]:
    part, holder = entry
    where = f" in {part.title}" if part.title else ""
    yield printable(f"  {holder.resource}{where}, {entry.words}")
    yield from (f"    {_sentence(text)}" for text in departures(part, holder))
    for change in leaves(holder.changes):
        yield f"    {_line(change, part.locate, holder.resource, style)}"
    yield from (printable(f"    edited: {ref}") for ref in holder.edited)


def header(review: Review) -> str:
    """What was compared, in a line."""
    text = f"{review.before} -> {review.after}"
    emit, why = synced(review)
    if emit:
        text += f", synced with --emit {emit}{why}"
    other = review.otherwise
    if other is not None and other.machines:
        text += f" ({counted(other.machines, 'VM')} would fare otherwise with --emit {other.emit}{other.words})"
    parts = (
        text,
        same_state(review),
        not_compared(review),
        not_seen(review),
        settings_changed(review),
    )
    return printable("; ".join(filter(None, parts)))


def _errors(review: Review, style: ImpactStyle) -> Iterator[str]:
    """How many errors there are, and those that are new."""
    found = errors(review.parts)
    if str(found):
        yield painted(str(found), SEVERITY_STYLES[Severity.ERROR], colour=style.colour)
    told: tuple[BlamedEdit, ...] = ()
    for finding, others, edits in found.groups:
        if edits != told:
            yield from (f"  {edited(edit)}" for edit in edits)
        told = edits
        indent = "    " if edits else "  "
        place = f"{finding.place}  " if finding.place.file else ""
        yield printable(f"{indent}{place}{finding.text}")
        if others:
            same = printable(f"and the same of {', '.join(map(_named, others))}")
            yield from wrapped(same, style)
    warnings = new_warnings(review.parts)
    if warnings:
        yield painted(warned(warnings), SEVERITY_STYLES[Severity.WARNING], colour=style.colour)
    for warning in warnings[:_WARNINGS]:
        found_ = warning.finding
        more = f", and the same of {len(warning.others):,} more" if warning.others else ""
        yield printable(f"  {found_.place}  {found_.text}{more}")
    if len(warnings) > _WARNINGS:
        yield f"  and {counted(len(warnings) - _WARNINGS, 'other')} (--format json has all)"


def edited(edit: BlamedEdit) -> str:
    """An edit for which there is an error, first where it stands."""
    before, after = short(edit.change)
    place = f"{edit.place}  " if edit.place.file else ""
    return printable(f"{place}{edit.change.field}: {before} -> {after}")


def _named(subject: ResourceRef | Place) -> str:
    return _name(subject) if isinstance(subject, ResourceRef) else str(subject)


def _table(machines: Sequence[MachineImpact], *, colour: bool) -> Iterator[str]:
    """How many VMs have each effect, and what it means."""
    numbers, meaning = counts(machines), meanings(machines)
    width = max((len(f"{number:,}") for number in numbers.values()), default=0)
    word = max(map(len, numbers), default=0)
    for effect, count in numbers.items():
        effect_ = _effect(effect, f"{effect:<{word}}", colour=colour)
        yield f"  {count:>{width},} {effect_}  {meaning[effect]}"


def _details(part: ReviewPart, style: ImpactStyle) -> Iterator[str]:
    """The VMs of *part* that something happens to, the worst first, then the first of those stored otherwise."""
    stored = alike(quiet([part]))
    for group in (*alike(entries([part])), *stored[:_STORED]):
        yield ""
        yield from _title(group, style)
        yield from (f"  {line}" for line in lines(group.any, part, style=style))
    others = sum(len(group.machines) for group in stored[_STORED:])
    if others:
        yield from ("", f"none  {counted(others, 'other VM')} (--format json has all)")


def _without_reason(line: str, told: Collection[str]) -> str:
    """*line* without why a file cannot be read, if that is *told* above: kustomize's words are long."""
    parted = (line.partition(f"{failing}: ") for failing in FAILINGS)
    return next((f"{what}{failing[:-2]}" for what, failing, why in parted if why in told), line)


def _title(group: MachineGroup, style: ImpactStyle) -> Iterator[str]:
    first, *others = group.machines
    effects = _effect(first.effects[0], ", ".join(first.effects), colour=style.colour)
    if not others:
        place = str(written_at(MachineEntry(group.part, first)))
        where = f"  {painted(printable(place), DIM, colour=style.colour)}" if place else ""
        yield f"{effects}  {_head(printable(str(first.resource)), style)}{where}"
    else:
        yield f"{effects}  {_head(f'{len(group.machines):,} VMs', style)}"
        most = None if is_shown(first) else _STORED
        names = [_names(machine) for machine in group.machines[:most]]
        more = len(group.machines) - len(names)
        listing = ", ".join(names) + (f" and {more:,} more" if more else "")
        yield from wrapped(printable(listing), style)


def _names(machine: MachineImpact) -> str:
    """What a VM is called in a list of VMs, and what else it was, or will be."""
    own, other = _name(machine.resource), machine.renamed
    if other is None:
        return own
    return f"{own} -> {_name(other)}" if "gone" in machine.effects else f"{_name(other)} -> {own}"


def _name(resource: ResourceRef) -> str:
    """What a VM is called in a list of VMs."""
    return f"{resource.namespace}/{resource.name}" if resource.namespace else resource.name


def wrapped(text: str, style: ImpactStyle, indent: str = "    ") -> list[str]:
    """*text* in lines, as wide as the terminal if there is one."""
    return textwrap.wrap(
        text, style.columns or _WIDTH, initial_indent=indent, subsequent_indent=indent or "  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def summary(machines: Sequence[MachineImpact], *, colour: bool = False) -> str:
    """How many VMs there are, by the worst that happens to each."""
    parts = [
        _effect(effect, f"{count:,} {effect}", colour=colour)
        for effect, count in counts(machines).items()
    ]
    lost = [machine for machine in machines if worst(machine) == "unrenderable"]
    old = sum(len(machine.unrendered) > 1 for machine in lost)
    if old:  # the first of all
        parts[0] += f" ({'' if old == len(lost) else f'{old:,} '}already before)"
    others = sum(machine.renamed is not None for machine in machines) // 2
    if others:  # each is one that goes, and one that comes
        parts[-1] += f" ({others:,} renamed or moved)"
    count = subjects(machines)
    return f"{count}: {', '.join(parts)}" if parts else count


def lines(
    machine: MachineImpact,
    part: ReviewPart = ReviewPart("", Impact(())),  # noqa: B008 - a value
    *,
    style: ImpactStyle = ImpactStyle(),  # noqa: B008 - a value
) -> list[str]:
    """What is to be said of one VM of *part*: KubeVirt's texts, then each change."""
    sentences = map(_sentence, (*texts(MachineEntry(part, machine)), *sizes(machine)))
    resource = machine.resource
    told = (_line(change, part.locate, resource, style) for change in changes(machine))
    return [*sentences, *told]


def _sentence(text: ImpactText) -> str:
    place = str(text.place) if text.place.file else ""
    return printable("  ".join(filter(None, (text.ours, text.quoted, place))))


def _line(change: FieldChange, locate: Locate, of: ResourceRef, style: ImpactStyle) -> str:
    effect = f" ({effect_of(change)})" if change.effect else ""
    before, after = (
        painted(printable(value), paint, colour=style.colour)
        for value, paint in zip(short(change), (RED, GREEN), strict=True)
    )
    text = f"{printable(change.field)}: {before} -> {after}{effect}"
    where = painted(printable(_source(change, locate, of)), DIM, colour=style.colour)
    return f"{text}  {where}" if where else text


def _source(change: FieldChange, locate: Locate, of: ResourceRef) -> str:
    """Where a change *of* a machine comes from: file and line, object, field; of its own fields the line is enough."""
    cause = change.cause
    if cause is None or locate is nowhere:
        return ""
    place = locate(cause)
    line = str(place) if place.file else ""
    named = defined_at(cause, locate)
    parts = (line, blamed(change, cause, of if line else None), f"({named})" if named else "")
    return " ".join(filter(None, parts))


def blamed(change: FieldChange, cause: ChangeSource, of: ResourceRef | None) -> str:
    """The object and field of a *cause*, behind its line: of the machine *of* which all is told only another field."""
    if cause.resource != of:
        return f"{cause.resource} {cause.field}".rstrip()
    return "" if is_called_alike(cause.field, change.field) else cause.field


def short(change: FieldChange) -> tuple[str, str]:
    """Both values of *change* in a line each, as flows of YAML; of long ones, around their difference."""
    is_item = change.field.endswith("]")
    before, after = (
        _value(value, nested=isinstance(value, dict) and not is_item)
        for value in (change.before, change.after)
    )
    pairs = enumerate(zip(before, after, strict=False))
    parting = next((at for at, (old, new) in pairs if old != new), min(len(before), len(after)))
    begin = max(0, parting - _LONGEST // 3) if max(len(before), len(after)) > _LONGEST else 0
    return _cut(before, begin), _cut(after, begin)


def _cut(text: str, begin: int) -> str:
    """What *text* has from *begin* on, or a little before where it ends soon."""
    begin = max(0, min(begin, len(text) - _LONGEST // 3))
    rest = f"...{text[begin + 3 :]}" if begin else text
    return rest if len(rest) <= _LONGEST else f"{rest[: _LONGEST - 3]}..."


def _value(value: Any, *, nested: bool) -> str:
    """*value* as a flow, or that there is none; the text ``none``, which a disk may have as its cache, in quotes."""
    if value is None:
        return _NONE
    return f'"{_NONE}"' if value == _NONE else _flow(value, nested=nested)


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


def _effect(effect: str, text: str, *, colour: bool) -> str:
    """*text* in the colour of *effect*."""
    style = _COLOURS.get(effect, "")
    return painted(text, f"1;{style}", colour=colour and bool(style))
