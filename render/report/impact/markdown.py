"""The impact of a change as Markdown for a pull request: causes first, then effects and VMs, one screen open.

ImpactText of the repository stands in code spans that it cannot close; in the lines of HTML that fold every
character that could mean something is a reference.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from render.diff.impact import FAILINGS, FieldChange, MachineImpact
from render.model.counting import counted
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.model.resource import MACHINES, ResourceRef
from render.report.impact import room
from render.report.impact.formats import ImpactStyle
from render.report.impact.headline import VALUES, headline, values
from render.report.impact.review import (
    ASSUMED,
    MEANINGS,
    ROLLOUT,
    CauseKey,
    ChangeCause,
    ErrorsOfChange,
    HolderEntry,
    ImpactText,
    Locate,
    MachineEntry,
    MachineGroup,
    RepeatedError,
    Review,
    Totals,
    UnaffectedUsers,
    alike,
    amounts,
    asides,
    by_instancetype,
    by_namespace,
    causes,
    changes,
    counts,
    defined_at,
    departures,
    effect_of,
    entries,
    errors,
    holders,
    holders_title,
    leaves,
    meanings,
    new_warnings,
    not_compared,
    not_counted,
    not_seen,
    pinned,
    quiet,
    renamed,
    same_state,
    settings_changed,
    sizes,
    synced,
    texts,
    total,
    unaffected,
    unrendered,
    warned,
    without_rest,
    worst,
    written_at,
)
from render.report.impact.text import blamed, edited, short, summary
from render.report.text import printable

_PLAIN = pattern(r"[^A-Za-z0-9 /-]")
_TICKS = pattern("`+")
_BLANK = pattern("\n{3,}")
_BRACED = pattern(r"\{(.*?)\}")
#: Effects of which KubeVirt's text says more than the fields do.
_QUOTED = ("unrenderable", "repaired", "refused", "error")
#: What is said of a VM that changes with a migration which does not come.
_WAITING = {
    "none": "; nothing migrates it by itself",
    "unmigratable": "; it cannot migrate: its guest has it after a restart",
}
#: Shares of what is left of the budget, section by section.
_ERRORS, _CAUSES, _MACHINES, _UNAFFECTED, _DETAILS, _HOLDERS, _TOTALS = (
    0.2,
    0.2,
    0.35,
    0.3,
    0.8,
    0.5,
    1,
)
#: All that may be cut, and how much saying so takes.
_SECTIONS, _NOTE_BYTES = 12, 320
_NAMED = 5
_FEW, _OPEN = 3, 10
"""So much of each section is open: what a change does is read on one screen, the rest unfolds."""


def report(review: Review, style: ImpactStyle) -> str:
    """All of *review*; what does not fit into `style.most` bytes is counted, and left out."""
    machine_entries = entries(review.parts)
    found = errors(review.parts)
    head, counted = map("\n".join, (_title(review, found), _counts(review, found)))
    tail = f"\nAssumed: {'; '.join(_assumptions(review))}.\n" if machine_entries else ""
    budget = _ByteBudget(style.most, sum(map(_bytes, (head, counted, tail))))
    listed = ((1 + len(error.others), _error(error)) for error in found.groups)
    fitting_errors = budget.fitting(listed, _ERRORS)
    done = values(machine_entries)
    lines = (
        (len(same), _cause(same, done.get(same[0].key, ())))
        for same in _alike_causes(causes(machine_entries), done)
    )
    head_of_causes = _head("Cause", "Change", "VMs")
    sections = [head, *_section(budget.fitting(lines, _CAUSES), "{more cause}", head_of_causes)]
    if found.new:
        present, *gone = str(found).split("; ")
        sections.append(f"\n{'; '.join([f'**{present}**', *gone])}\n\n")
    sections += _section(fitting_errors, "{} of these errors", most=_FEW)
    warnings = new_warnings(review.parts)
    if warnings:
        sections.append(f"\n{warned(warnings)[:1].upper()}{warned(warnings)[1:]}:\n")
        blocks_ = ((1 + len(warning.others), _error(warning)) for warning in warnings)
        fitting = budget.fitting(blocks_, _ERRORS)
        sections += _section(fitting, "{} of these warnings", most=_FEW)
    sections += ["\n", counted]
    sections += _machines(review, machine_entries, budget)
    listed_holders = holders(review.parts)
    blocks = ((1, _holder(entry)) for entry in listed_holders)
    rest = "{} more of these pools, replica sets and templates"
    title = holders_title(listed_holders)
    sections += _section(budget.fitting(_headed(blocks, title), _HOLDERS), rest)
    sections += _sums(review, budget)
    return _BLANK.sub("\n\n", "".join([*sections, tail]))


def _sums(review: Review, budget: "_ByteBudget") -> Iterator[str]:
    """What VMs and pods ask for, where that changes: folded."""
    for word, totals in (
        ("Namespace", by_namespace(review.machines)),
        ("Instancetype", by_instancetype(review.machines)),
    ):
        lines = (
            (1, _totals(name, group_totals))
            for name, group_totals in totals.items()
            if group_totals[0] != group_totals[1]
        )
        fitting = budget.fitting(lines, _TOTALS)
        head = _head(word, "VMs", "vCPU", "Memory")
        yield from _section(fitting, f"sums by {word.lower()}: {{}}", head, most=0)
    requests = ((1, f"- {code(line)}\n") for line in room.lines(review.parts))
    yield from _section(budget.fitting(requests, _TOTALS), "requests of pods: {}", most=0)


def _assumptions(review: Review) -> list[str]:
    """What is taken for granted; names of the repository stand in what says which release it runs."""
    return [*ASSUMED, *map(code, review.releases)]


def _machines(
    review: Review, listed: Sequence[MachineEntry], budget: "_ByteBudget"
) -> Iterator[str]:
    """The VMs, the definitions whose users stay as they are, and what changes in each VM."""
    yield from _section(
        budget.fitting(_rows(listed), _MACHINES), "{more VM}", _head("VM", "Effect", "Why")
    )
    for word, users in unaffected(review.machines):
        lines = ((1, _unaffected(definition)) for definition in users)
        head = _head(f"{word.capitalize()}, without an effect", "VMs", "Why")
        fitting = budget.fitting(lines, _UNAFFECTED)
        yield from _section(fitting, "{} more of these definitions", head)
    detailed = [entry for entry in listed if entry.machine.changes or any(texts(entry))]
    groups = (*alike(detailed), *alike(quiet(review.parts)))
    blocks = ((len(group.machines), _folded(group)) for group in groups)
    fitting = budget.fitting(blocks, _DETAILS)
    most = 0 if len(fitting.blocks) > _FEW else _FEW  # each is folded by itself
    yield from _section(fitting, "details of {VM}", most=most)


class _Fitting(NamedTuple):
    """Blocks that fit, each with the number of what it stands for; and how many did not fit."""

    blocks: list[tuple[int, str]]
    cut: int


class _ByteBudget:
    """How many bytes may still be written; *most* 0: any number. What says that something is left out has its own."""

    def __init__(self, most: int, used: int) -> None:
        self._most = most
        self._left = most - used - _SECTIONS * _NOTE_BYTES

    def fitting(self, blocks: Iterable[tuple[int, str]], share: float) -> _Fitting:
        """Those first *blocks* that fit into a *share* of what is left; each has the number of what it stands for."""
        limit = self._left * share
        used = cut = 0
        kept: list[tuple[int, str]] = []
        for number_of, block in blocks:
            size = _bytes(block)
            if self._most and (cut or used + size > limit):
                cut += number_of
                continue
            used += size
            kept.append((number_of, block))
        self._left -= used
        return _Fitting(kept, cut)


def _section(fitting: _Fitting, rest: str, head: str = "", *, most: int = _OPEN) -> Iterator[str]:
    """The first *most* blocks, the others folded, each below *head*; and how many were cut.

    *rest* says of what, with the number in place of ``{}``, or with a word of which there are so many (``{more VM}``).
    """
    opened, folded = fitting.blocks[:most], fitting.blocks[most:]
    if opened:
        yield head
        yield from (block for _, block in opened)
    if folded:
        summary_ = _counted_rest(rest, sum(number_of for number_of, _ in folded))
        yield f"\n<details><summary>{summary_}</summary>\n{head or chr(10)}"
        yield from (block for _, block in folded)
        yield "\n</details>\n"
    if fitting.cut:
        left_out = _counted_rest(rest, fitting.cut)
        yield f"\n{left_out} left out here (--max-bytes); the counts above have all\n"


def _counted_rest(rest: str, number: int) -> str:
    return _BRACED.sub(lambda word: counted(number, word[1]) if word[1] else f"{number:,}", rest)


def _head(*titles: str) -> str:
    """The head of a table."""
    return f"\n| {' | '.join(titles)} |\n|{' --- |' * len(titles)}\n"


def _line(*cells: str) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |\n"


def _title(review: Review, found: ErrorsOfChange) -> Iterator[str]:
    """The answer, the counts in a line, and what is compared."""
    yield f"### {headline(review, len(found.new), code)}\n"
    if review.machines:
        yield f"{summary(review.machines)}\n"
    states = f"{code(str(review.before))} → {code(str(review.after))}"
    emit, why = synced(review)
    how = f", synced with `--emit {emit}`{why}" if emit else ""
    told = (same_state(review), not_compared(review), not_seen(review), settings_changed(review))
    asides = "".join(f"; {code(aside)}" for aside in filter(None, told))
    yield f"{states}{how}{_otherwise(review)}{asides}\n"
    yield ""


def _error(error: RepeatedError) -> str:
    found = error.finding
    place = f"{code(str(found.place))} " if found.place.file else ""
    others = ", ".join(code(str(other)) for other in error.others)
    edits = "".join(f"{code(edited(edit).replace('->', '→'))}: " for edit in error.edits)
    return f"- {edits}{place}{code(found.text)}{f', and the same of {others}' if others else ''}\n"


def _counts(review: Review, found: ErrorsOfChange) -> Iterator[str]:
    """The sums, the errors where none is new, and how many VMs have each effect."""
    machines = review.machines
    sums = ", ".join(amounts(total(machines))).replace("->", "→")
    yield f"In all: {sums}{without_rest(machines)}\n"
    old_errors = "" if found.new else str(found)
    if old_errors:
        yield f"{old_errors}\n"
    for sentence in filter(None, (pinned(machines), not_counted(review.parts))):
        yield f"{sentence[:1].upper()}{sentence[1:]}\n"
    for sentence in asides(review):
        words, _, names = sentence.partition(": ")
        yield f"{words[:1].upper()}{words[1:]}: {code(names)}\n"
    numbers, meaning = counts(machines), meanings(machines)
    if numbers:
        yield "<details><summary>what these effects mean</summary>\n"
        yield "| VMs | Effect | What becomes of them |\n| ---: | --- | --- |"
        yield from (
            f"| {count:,} | **{effect}** | {meaning[effect]} |" for effect, count in numbers.items()
        )
        yield "\n</details>\n"


def _alike_causes(
    listed: Iterable[ChangeCause], done: Mapping[CauseKey, Sequence[tuple[str, str, str]]]
) -> Iterable[list[ChangeCause]]:
    """The causes *listed*, those together that do the same by the same field: a VM each, edited alike."""
    known: dict[str, list[ChangeCause]] = {}
    for cause in listed:
        kind, values_ = cause.resources[0].kind, done.get(cause.key)
        what = (kind, cause.field, cause.is_deleted, [*cause.effects], values_)
        about = what if kind in MACHINES else cause.key
        known.setdefault(repr(about), []).append(cause)
    return known.values()


def _cause(same: Sequence[ChangeCause], changes_of: Sequence[tuple[str, str, str]]) -> str:
    cause = same[0]
    place = code(str(cause.place), cell=True) if cause.place.file else ""
    what = code(f"{cause.name} {cause.field}".rstrip(), cell=True)
    deleted = " is deleted" if cause.is_deleted else ""
    others = f" and {len(same) - 1:,} more" if len(same) > 1 else ""
    numbers = ", ".join(
        f"{sum(each.effects[effect] for each in same):,} {effect}" for effect in cause.effects
    )
    pairs = [
        f"{f'{code(name, cell=True)} ' if name else ''}{code(old, cell=True)} → {code(new, cell=True)}"
        for name, old, new in changes_of[:VALUES]
    ]
    more = f" and {len(changes_of) - VALUES:,} more" if len(changes_of) > VALUES else ""
    return _line(f"{place} {what}{deleted}{others}".lstrip(), f"{'; '.join(pairs)}{more}", numbers)


def _rows(listed: Iterable[MachineEntry]) -> Iterator[tuple[int, str]]:
    """The rows of VMs, with their number: those of one input that break for the same words have one."""
    rows: dict[tuple[str, ...], tuple[str, int]] = {}
    for part, machines in alike(listed):
        where = f" in {code(part.title, cell=True)}" if part.title else ""
        first = machines[0]
        why = _why(MachineEntry(part, MachineGroup(part, machines).any))
        is_told = first.messages and worst(first) in _QUOTED
        same = first.resource.kind if is_told else str(first.resource)
        cells = where, same, ", ".join(first.effects), why
        name, number = rows.get(cells, (str(first.resource), 0))
        rows[cells] = name, number + len(machines)
    for (where, _, effects, why), (name, number) in rows.items():
        more = f" and {number - 1:,} more" if number > 1 else ""
        yield number, _line(f"{code(name, cell=True)}{more}{where}", effects, why)


def _why(entry: MachineEntry) -> str:
    """The first reason for the worst that happens to a VM: KubeVirt's text where it names it, else a change."""
    machine = entry.machine
    if machine.renamed is not None:
        other = machine.renamed
        return (
            f"{renamed(machine)} {code(str(other), cell=True)}" if other.kind else renamed(machine)
        )
    differences = changes(machine)
    if machine.messages and (not differences or worst(machine) in _QUOTED):
        reason = unrendered(machine)
        message = machine.messages[0]
        for failing in FAILINGS if "after" in machine.unrendered else ():
            what, found, _ = message.partition(f"{failing}: ")
            message = f"{what}{failing}" if found else message  # why stands above
        text = code(message, cell=True)
        return f"{reason}: {text}" if reason else text
    if not differences:
        amounts_ = "; ".join(
            f"{text.ours} {code(text.quoted, cell=True)}" if text.quoted else text.ours
            for text in sizes(machine)
        )
        if machine.departed:
            return _without_departed(machine)
        place = str(written_at(entry))
        written = code(place, cell=True) if place else ""
        return ", ".join(filter(None, (amounts_ or MEANINGS[worst(machine)], written)))
    change = differences[0]
    old, new = (code(value, cell=True) for value in short(change))
    more = f", and {len(differences) - 1:,} more" if len(differences) > 1 else ""
    rollout = machine.rollout
    aside = f"; {ROLLOUT} is {rollout.value}" if rollout else ""
    if worst(machine) == "migrate":
        aside += _WAITING.get(machine.workload, "")
    return f"{code(change.field, cell=True)} {old} → {new}{more}{aside}"


def _without_departed(machine: MachineImpact) -> str:
    """What the VM misses from now on, or what it is deleted with."""
    effect, words = ("gone", "is deleted with") if "gone" in machine.effects else ("next", "misses")
    left = (each.source for each in machine.departed if each.effect == effect)
    names = dict.fromkeys(str(source.resource) for source in left)
    return f"{words} {', '.join(code(name, cell=True) for name in names)}"


def _unaffected(unaffected_users: UnaffectedUsers) -> str:
    names = [
        code(f"{vm.namespace}/{vm.name}", cell=True) for vm in unaffected_users.machines[:_NAMED]
    ]
    more = len(unaffected_users.machines) - len(names)
    listing = ", ".join(names) + (f" and {more:,} more" if more else "")
    why, _, pin = unaffected_users.why.partition("pinned to ")
    return _line(
        code(str(unaffected_users.definition), cell=True),
        listing,
        why or f"pinned to {code(pin, cell=True)}",
    )


def _folded(group: MachineGroup) -> str:
    part, machines = group
    where = f" in <code>{_escaped(part.title)}</code>" if part.title else ""
    machine = group.any
    several = f"{len(machines):,} VMs like " if len(machines) > 1 else ""
    title = (
        f"<b>{worst(machine)}</b> {several}<code>{_escaped(str(machine.resource))}</code>{where}"
    )
    lines = [f"- {_text(text)}" for text in texts(MachineEntry(part, machine))]
    lines += (f"- {_change(change, part.locate, machine.resource)}" for change in changes(machine))
    if several:
        lines.append(f"- so too: {', '.join(code(str(other.resource)) for other in machines[1:])}")
    if not lines:
        return f"\n{title}\n"
    return (
        f"\n<details><summary>{title}</summary>\n\n"
        + "".join(f"{line}\n" for line in lines)
        + "\n</details>\n"
    )


def _headed(blocks: Iterable[tuple[int, str]], title: str) -> Iterator[tuple[int, str]]:
    """*blocks*, the first with the *title* of all."""
    title = f"\n{title}:\n\n"
    for number_of, block in blocks:
        yield number_of, f"{title}{block}"
        title = ""


def _holder(entry: HolderEntry) -> str:
    part, holder = entry
    where = f" in {code(part.title)}" if part.title else ""
    lines = [f"- {code(str(holder.resource))}{where}, {entry.words.replace('->', '→')}"]
    lines += (f"  - {_text(text)}" for text in departures(part, holder))
    lines += (
        f"  - {_change(change, part.locate, holder.resource)}" for change in leaves(holder.changes)
    )
    lines += (f"  - edited: {code(str(ref))}" for ref in holder.edited)
    return "".join(f"{line}\n" for line in lines)


def _text(text: ImpactText) -> str:
    place = code(str(text.place)) if text.place.file else ""
    return " ".join(filter(None, (text.ours, text.quoted and code(text.quoted), place)))


def _otherwise(review: Review) -> str:
    """What another way to sync would change."""
    other = review.otherwise
    if other is None or not other.machines:
        return ""
    return f" ({counted(other.machines, 'VM')} would fare otherwise with `--emit {other.emit}`{other.words})"


def _change(change: FieldChange, locate: Locate, of: ResourceRef) -> str:
    effect = f" ({effect_of(change)})" if change.effect else ""
    before, after = map(code, short(change))
    text = f"{code(change.field)}: {before} → {after}{effect}"
    cause = change.cause
    if cause is None:
        return text
    place = locate(cause)
    line = str(place) if place.file else ""
    named = defined_at(cause, locate)
    parts = (line, blamed(change, cause, of if line else None), named)
    return ", ".join((text, *map(code, filter(None, parts))))


def _totals(name: str, totals: Totals) -> str:
    machines, vcpus, memory = (amount.replace("->", "→") for amount in amounts(totals))
    label = code(name, cell=True) if name else "none"
    return _line(label, machines.rpartition(" ")[0], vcpus.removesuffix(" vCPU"), memory)


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
