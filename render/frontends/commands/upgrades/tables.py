"""What moved in a lock, as tables: VMs with which the same happens stand together."""

from collections.abc import Iterable, Mapping, Sequence

from render.model.counting import counted
from render.model.named_tuple import NamedTuple
from render.model.naming import name_of
from render.model.resource import Resource
from render.pipeline import pinning
from render.pipeline.pinning import PinMove, Pinned
from render.report.text import printable, table
from render.revisions import lockfile
from render.revisions.hashes import suffix
from render.revisions.lockfile import Entry, Pin
from render.settings import Settings

#: So many VMs with which the same happens have a line each; of more, some are named.
_FEW = 3


class MoveRow(NamedTuple):
    """One move in words: the VM, the numbers of its revisions, and what of its pin changes."""

    vm: str
    number: str
    what: str


def row(move: PinMove) -> MoveRow:
    """*move* in words."""
    if move.new is None:
        return MoveRow(move.vm, "-", "no longer in the input")
    number = str(move.new.revision)
    if move.old is None:
        entries = (f"{word} {_entry_text(entry)}" for word, entry in move.new.entries.items())
        return MoveRow(move.vm, number, ", ".join(["new", *entries]))
    if move.new.revision != move.old.revision:
        number = f"{move.old.revision} -> {number}"
    what = ", ".join(changes(move.old, move.new))
    return MoveRow(move.vm, number, what.replace("rendered", "renders to something else"))


def changes(old: Pin, new: Pin) -> list[str]:
    """What differs between two pins of a VM, in words."""
    lines = []
    for word in lockfile.CLASSES:
        was, now = (pin.entries.get(word, Entry()) for pin in (old, new))
        if was._replace(before=None) != now._replace(before=None):
            lines.append(f"{word} {_entry_text(was)} -> {_entry_text(now)}")
    return lines or ["rendered"]


def _entry_text(entry: Entry) -> str:
    if entry.ref is None:
        return "none"
    named = f" of ControllerRevision {entry.revision_name}" if entry.revision_name else ""
    return f"{entry.ref.name}@{suffix(entry.ref.hash)}{named}"


def moved(moves: Sequence[PinMove], *, each: bool) -> str:
    """A table of *moves*; more than a few that are alike are one row, but for *each*."""
    rows: list[tuple[str, str, str]] = [("VM", "REVISION", "WHAT")]
    alike: dict[tuple[str, str], list[str]] = {}
    for move_row in map(row, moves):
        alike.setdefault((move_row.number, move_row.what), []).append(move_row.vm)
    for (number, what), vms in alike.items():
        if each or len(vms) <= _FEW:
            rows += [(vm, number, what) for vm in vms]
        else:
            rows.append((f"{vms[0]} and {len(vms) - 1:,} more", number, what))
    return "".join(table(rows))


def preview(
    pinned: Pinned, resources: Sequence[Resource], settings: Settings, *, each: bool
) -> str:
    """What the moves of *pinned* do to the VMs of *resources*: by what changes of pins, then by what comes of it."""
    effects = _effects(pinned, resources, settings)
    groups: dict[str, dict[tuple[str, ...], list[MoveRow]]] = {}
    for move in pinned.moves:
        told = tuple(effects.get(move.vm, ())) if move.old and move.new else ()
        move_row = row(move)
        groups.setdefault(move_row.what, {}).setdefault(told, []).append(move_row)
    lines: list[str] = []
    for what, outcomes in groups.items():
        lines += _group(what, outcomes, each=each)
    return "".join(f"{printable(line)}\n" for line in lines)


def _group(
    what: str, outcomes: Mapping[tuple[str, ...], Sequence[MoveRow]], *, each: bool
) -> Iterable[str]:
    """A single VM in a line, several below what happens to their pins; then what KubeVirt does with each change."""
    count = sum(map(len, outcomes.values()))
    if count > 1:
        yield f"{counted(count, 'VM')}: {what}"
    for told, rows in outcomes.items():
        if count == 1:
            yield "  ".join(rows[0])
        else:
            yield f"  {_named(rows, each=each)}"
        yield from (f"      {line}" for line in told)


def _named(rows: Sequence[MoveRow], *, each: bool) -> str:
    listed = rows if each or len(rows) <= _FEW else rows[:_FEW]
    names = ", ".join(move_row.vm for move_row in listed)
    rest = len(rows) - len(listed)
    return f"{names}, and {rest:,} more (-v)" if rest else names


def _effects(
    pinned: Pinned, resources: Sequence[Resource], settings: Settings
) -> Mapping[str, list[str]]:
    """What KubeVirt does with each VM that gets the new lock, by its name."""
    from render.pipeline.comparison.fleet import compare
    from render.report.impact.text import lines

    settings = settings._replace(
        emit="vm", stored=False, defaults="manifest", firmware_uuid="none", annotations=False
    )
    after = settings._replace(lock=lockfile.document(pinned.lock))
    bodies = [resource.body for resource in resources]
    rest = [resource.body for resource in pinning.without_locks(resources)]
    impact = compare(bodies, rest, settings, after)
    return {name_of(machine.resource): lines(machine) for machine in impact.machines}
