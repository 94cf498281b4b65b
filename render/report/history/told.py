"""The edit revisions of VMs, as every format shows them."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from render.diff.impact import MachineImpact
from render.model.named_tuple import NamedTuple
from render.report.impact.review import RANKED, worst
from render.revisions.hashes import Ref


class ToldCommit(NamedTuple):
    """A commit for people: its hash, the day of its author, and its subject."""

    id: str
    date: str
    subject: str


class ToldMove(NamedTuple):
    """That the *commit* took a VM out of the lock *before* and put it into the lock *after*."""

    commit: ToldCommit
    before: str
    after: str

    @property
    def words(self) -> str:
        """What it was, by the folders of the locks."""
        before, after = (os.path.dirname(lock) or os.curdir for lock in (self.before, self.after))
        return f"moved from {before} to {after}"


class ToldRevision(NamedTuple):
    """An edit revision: its *number*, since which *commit*, by which *definitions* (by kind class).

    *impacts*: what became of the VM as it was before; nothing of the first. *fault*: why it cannot be rendered.
    """

    number: int
    commit: ToldCommit
    definitions: Mapping[str, Ref]
    impacts: tuple[MachineImpact, ...] = ()
    is_first: bool = False
    fault: str = ""

    @property
    def effect(self) -> str:
        """The worst that became of the VM; ``new`` of the first, ``unrenderable`` where that is not known."""
        if self.fault:
            return "unrenderable"
        if self.is_first:
            return "new"
        return min(map(worst, self.impacts), key=RANKED.index, default="same")


class ToldMachine(NamedTuple):
    """A VM by its name, with its *revisions*, oldest first, as a *lock* has them.

    *removals* are the commits, oldest first, that took it out of the lock, in which it may stand again later; *moves*
    are those with which it went from one lock to another.
    """

    name: str
    revisions: Sequence[ToldRevision]
    lock: str
    removals: Sequence[ToldCommit] = ()
    moves: Sequence[ToldMove] = ()

    @property
    def is_changed(self) -> bool:
        """Whether there is more to say of it than its first revision."""
        return bool(self.removals or self.moves) or any(
            not revision.is_first for revision in self.revisions
        )


class ToldHistory(NamedTuple):
    """The VMs of locks, and the hashes of their *commits*, newest first; *since*: what alone is told, all without."""

    machines: Sequence[ToldMachine]
    commits: Sequence[str]
    since: str = ""

    @property
    def locks(self) -> list[str]:
        """The locks that have the machines."""
        return list(dict.fromkeys(machine.lock for machine in self.machines))

    def titled(self) -> Iterator[tuple[ToldMachine, str]]:
        """Each machine, with its lock where another lock has one of that name."""
        names = Counter(machine.name for machine in self.machines)
        for machine in self.machines:
            yield machine, machine.lock if names[machine.name] > 1 else ""


def effects(machines: Iterable[ToldMachine]) -> dict[str, int]:
    """How many revisions have each effect, and how often a VM is ``gone``, the worst first."""
    numbers: Counter[str] = Counter()
    for machine in machines:
        numbers.update(revision.effect for revision in machine.revisions)
        numbers["gone"] += len(machine.removals)
    return {effect: numbers[effect] for effect in RANKED if numbers[effect]}
