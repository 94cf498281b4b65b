"""A history as one HTML page: a timeline of commits, and what each did to which VMs."""

import os
from collections.abc import Sequence

from render.diff.impact import Impact
from render.model.counting import counted
from render.model.named_tuple import NamedTuple
from render.report.history.told import ToldCommit, ToldHistory, ToldRevision, effects
from render.report.impact.review import (
    MEANINGS,
    RANKED,
    MachineEntry,
    ReviewPart,
    changes,
    texts,
)
from render.report.impact.text import short
from render.report.page import bar, page
from render.report.page_origin import PageOrigin

_MEANINGS = {
    **MEANINGS,
    "gone": "no longer in the lock",
    "migrate": "changes with a live migration or a restart",
    "new": "first revision in the lock",
    "unrenderable": "cannot be rendered any more",
}
_NAMED = 6
#: So many locks are named in the first line.
_LOCKS = 2


class TimelineMachine(NamedTuple):
    """A VM that a commit changed, the *number* of its revision (0 where it is gone).

    *folder*: where its lock is if another has that name.
    """

    name: str
    folder: str
    number: int


class TimelineGroup(NamedTuple):
    """VMs to which a commit did the same.

    *changes* are fields, each with both values and its effect; *definitions* what they use since then.
    """

    effect: str
    machines: list[TimelineMachine]
    messages: Sequence[str]
    changes: Sequence[tuple[str, str, str, str]]
    definitions: str

    @property
    def named(self) -> list[TimelineMachine]:
        """The machines that stand there."""
        return self.machines if len(self.machines) <= _NAMED + 1 else self.machines[:_NAMED]


class TimelineEntry(NamedTuple):
    """A commit, and the groups of VMs that it changed, the worst effect first."""

    commit: ToldCommit
    groups: list[TimelineGroup]


def report(history: ToldHistory, origin: PageOrigin) -> str:
    """One page, whatever stands in the repository."""
    entries = _entries(history)
    machines = history.machines
    revisions = sum(len(machine.revisions) for machine in machines)
    found = effects(machines)
    since = f" since {history.since}" if history.since else ""
    commits = f" in {counted(len(entries), 'commit')}" if entries else ""
    title = f"{counted(revisions, 'revision')} of {counted(len(machines), 'VM')}{commits}{since}"
    dates = sorted({entry.commit.date for entry in entries})
    return page(
        "history/history.html.j2",
        data={},
        title=title,
        origin=origin,
        words=[
            ", ".join(history.locks)
            if len(history.locks) <= _LOCKS
            else counted(len(history.locks), "lock"),
            *([" to ".join(dict.fromkeys((dates[0], dates[-1])))] if dates else []),
        ],
        counts=bar((effect, number, _MEANINGS.get(effect, "")) for effect, number in found.items()),
        entries=entries,
    )


def _entries(history: ToldHistory) -> list[TimelineEntry]:
    """The commits, newest first: by git's order, since several may be of one day."""
    known: dict[ToldCommit, dict[object, TimelineGroup]] = {}
    for machine, lock in history.titled():
        folder = os.path.dirname(lock) or "." if lock else ""
        for revision in machine.revisions:
            group = _group(revision)
            groups = known.setdefault(revision.commit, {})
            same = groups.setdefault(
                (group.effect, group.messages, group.changes, group.definitions), group
            )
            same.machines.append(TimelineMachine(machine.name, folder, revision.number))
        for commit in machine.removals:
            removed = known.setdefault(commit, {}).setdefault("gone", _removal())
            removed.machines.append(TimelineMachine(machine.name, folder, 0))
        for move in machine.moves:
            at_commit = known.setdefault(move.commit, {})
            moved = at_commit.setdefault(
                move.words, TimelineGroup("same", [], (move.words,), (), "")
            )
            moved.machines.append(TimelineMachine(machine.name, folder, 0))
    places = {commit: place for place, commit in enumerate(history.commits)}
    ordered = sorted(known.items(), key=lambda entry: places[entry[0].id])
    return [
        TimelineEntry(commit, sorted(groups.values(), key=lambda group: RANKED.index(group.effect)))
        for commit, groups in ordered
    ]


def _removal() -> TimelineGroup:
    """The VMs that a commit takes out of their lock."""
    return TimelineGroup("gone", [], ("no longer in the lock",), (), "")


def _group(revision: ToldRevision) -> TimelineGroup:
    fields = tuple(
        (change.field, *short(change), change.effect)
        for impact in revision.impacts
        for change in changes(impact)
    )
    messages = tuple(
        " ".join(filter(None, (text.ours, text.quoted)))
        for impact in revision.impacts
        for text in texts(MachineEntry(ReviewPart("", Impact(())), impact))
    )
    definitions = ", ".join(f"{ref.kind} {ref.name}" for ref in revision.definitions.values())
    return TimelineGroup(
        revision.effect, [], (revision.fault,) if revision.fault else messages, fields, definitions
    )
