"""The locks that git has: which VMs each had when, and where a VM was before it stood in another one.

A VM has moved with the commit that takes it out of one lock and puts it into another; where several give and as many
take a VM of that name, as git itself follows the file.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import islice

from render.diagnostics.diagnostic import Location
from render.model.hints import Self
from render.model.named_tuple import NamedTuple
from render.revisions import lockfile
from render.revisions.lockfile import Lock, Pin
from render.system import git
from render.system.git import Commit
from render.yaml.reader import read

_AT_ONCE = 512
"""Of so many commits the trees are read together."""


class RepositoryPath(NamedTuple):
    """Where PATH is in its repository: *top* is the work tree; *folder* and *lock* are seen from there."""

    top: str
    folder: str
    lock: str

    def home(self, folder: str) -> str:
        """The folder of the lock where *folder* is what is called so here."""
        return os.path.join(folder, os.path.relpath(os.path.dirname(self.lock) or ".", self.folder))


class LockHistory(NamedTuple):
    """The lock at *place*: the *commits* that changed it, newest first, and what it was at each, oldest first.

    *vms*: what it has ever had.
    """

    place: RepositoryPath
    commits: list[Commit]
    locks: Sequence[tuple[Commit, Lock | None]]
    vms: frozenset[str]

    @classmethod
    def read(cls, place: RepositoryPath) -> Self:
        """That of the lock at *place*. Raises GitError."""
        commits = git.commits(place.top, place.lock)
        in_time = commits[::-1]
        texts = git.texts_of(place.top, [commit.id for commit in in_time], place.lock)
        locks = [
            (commit, _lock(text, place)) for commit, text in zip(in_time, texts, strict=True)
        ]  # fmt: skip
        return cls(
            place, commits, locks, frozenset(vm for _, lock in locks if lock for vm in lock.pins)
        )


class LockCommit(NamedTuple):
    """A commit that has a pin, in the lock at *place*."""

    place: RepositoryPath
    commit: Commit


class LockMove(NamedTuple):
    """A VM that the *commit* takes out of the lock *before* and puts into *after*, both as seen from the top."""

    commit: Commit
    before: str
    after: str


class EditRevision(NamedTuple):
    """An edit revision: the commits, oldest first, whose lock has this pin without a break, and the pin.

    A number may come again at another edit: where a lock was reverted, or a VM was away for a while.
    *before*: the edit revision that it followed. *removals*: the commits with which it ended, and none followed.
    """

    commits: list[LockCommit]
    pin: Pin
    before: "EditRevision | None"
    removals: list[Commit]

    @property
    def id(self) -> str:
        """The id of its first commit."""
        return self.commits[0].commit.id


class VMHistory(NamedTuple):
    """The edit revisions of a VM in a lock and in those where it was before, oldest first, and its moves there."""

    edits: list[EditRevision]
    moves: list[LockMove]


class _Turns(NamedTuple):
    """The ids of the commits with which a VM *came* into a lock, and *went* out of it."""

    came: frozenset[str]
    went: frozenset[str]


_MOST_MOVES = 100
"""How often a VM is followed from a lock to where it was before: each time all before that is read again."""


class LocksInGit:
    """The locks called as that of *own*, what is asked about, in the commits of its repository; read when asked for."""

    def __init__(self, own: RepositoryPath) -> None:
        self._own = own
        self._histories: dict[str, LockHistory] = {}
        self._turns_of: dict[tuple[str, str], _Turns] = {}
        self._pasts: dict[tuple[str, str], VMHistory] = {}
        self._moves_left = 0

    def at(self, lock: str) -> LockHistory:
        """The history of the *lock*, as seen from the top. Raises GitError."""
        if lock not in self._histories:
            folder = os.path.dirname(lock) or os.curdir
            is_inside = lock == self._own.lock or _is_in(folder, self._own.folder)
            place = self._own._replace(lock=lock, folder=self._own.folder if is_inside else folder)
            self._histories[lock] = LockHistory.read(place)
        return self._histories[lock]

    def gone(self) -> list[str]:
        """The locks in and below what is asked about that are only in commits, sorted. Raises GitError."""
        names = {lock for changed in self._changes.values() for lock in changed}
        return sorted(
            name
            for name in names
            if _is_in(os.path.dirname(name), self._own.folder)
            and not os.path.lexists(os.path.join(self._own.top, name))
        )

    def followed(self, vm: str, lock: str) -> VMHistory:
        """The history of *vm* in the *lock* and where it was before. Raises GitError."""
        if (vm, lock) not in self._pasts:
            self._moves_left = _MOST_MOVES
            self._pasts[vm, lock] = self._past(vm, lock)
        return self._pasts[vm, lock]

    def _past(self, vm: str, lock: str, until: str = "") -> VMHistory:
        """That history, *until* a commit of that id; nobody else has it, as what goes on with it changes it."""
        known = VMHistory([], [])
        at: dict[str, EditRevision] = {}
        place = self.at(lock).place
        for commit, state in self.at(lock).locks:
            above = [at[parent] for parent in commit.parents if parent in at]
            if state is None:  # what cannot be read changes nothing
                if above:
                    at[commit.id] = above[0]
                continue
            pin = state.pins.get(vm)
            if pin is None:
                if _is_end(commit, above):
                    above[0].removals.append(commit)
            else:
                is_begun = not above and self._moves_left > 0
                if is_begun and (former := self._came_from(vm, lock, commit.id)):
                    self._moves_left -= 1
                    known = self._moved(vm, LockMove(commit, former, lock), known)
                    above = known.edits[-1:]
                at[commit.id] = _edit(pin, above, known.edits)
                at[commit.id].commits.append(LockCommit(place, commit))
            if commit.id == until:
                break
        return known

    def _moved(self, vm: str, move: LockMove, known: VMHistory) -> VMHistory:
        """The history of *vm* with the *move*, behind what is *known*; the last one is where it was before."""
        edits, moves = self._past(vm, move.before, until=move.commit.id)
        ends = ((edit, end) for edit in edits for end in edit.removals if end.id == move.commit.id)
        ended, end = next(ends, (None, None))
        if ended is None or end is None:  # a merge has it from another side
            return known
        ended.removals.remove(end)
        told = {commit for edit in edits for commit in edit.commits}
        earlier = [edit for edit in known.edits if told.isdisjoint(edit.commits)]
        others = [edit for edit in edits if edit is not ended]
        own_moves = [each for each in known.moves if each not in moves]
        return VMHistory([*earlier, *others, ended], [*own_moves, *moves, move])

    def successor(self, vm: str, lock: str) -> str:
        """The lock to which *vm* has moved that is no longer in *lock*; nothing where it ended. Raises GitError."""
        ((_, last),) = self.at(lock).locks[-1:] or ((None, None),)
        if last is None or vm in last.pins:
            return ""
        ends = [end for edit in self.followed(vm, lock).edits for end in edit.removals]
        return self.went_to(vm, lock, ends[-1].id) if ends else ""

    def went_to(self, vm: str, lock: str, commit_id: str) -> str:
        """The lock to which *vm* moved with the commit that takes it out of *lock*; nothing where it ended."""
        takers = (each for each in self._takers(vm, commit_id) if each != lock)
        return next((each for each in takers if self._came_from(vm, each, commit_id) == lock), "")

    def _came_from(self, vm: str, lock: str, commit_id: str) -> str:
        """The lock from which *vm* moved with the commit that puts it into *lock*; nothing where it began."""
        givers = [
            other
            for other, status in self._changes.get(commit_id, {}).items()
            if status != git.ADDED and commit_id in self._turns(vm, other).went
        ]
        if not givers or len(givers) != len(self._takers(vm, commit_id)):
            return ""
        if len(givers) == 1:
            return givers[0]
        former = git.moved_from(self._own.top, commit_id, lock)
        return former if former in givers else ""

    def _takers(self, vm: str, commit_id: str) -> list[str]:
        """The locks into which a commit puts *vm*."""
        changed = self._changes.get(commit_id, {})
        return [lock for lock in changed if commit_id in self._turns(vm, lock).came]

    def _turns(self, vm: str, lock: str) -> _Turns:
        if (vm, lock) not in self._turns_of:
            self._turns_of[vm, lock] = _turns(vm, self.at(lock))
        return self._turns_of[vm, lock]

    @cached_property
    def _changes(self) -> dict[str, dict[str, str]]:
        return git.changes(self._own.top, os.path.basename(self._own.lock))


def _is_in(folder: str, around: str) -> bool:
    """Whether *folder* is *around* or below it, both as seen from the top."""
    return around == os.curdir or f"{folder}/".startswith(f"{around}/")


def _is_end(commit: Commit, above: Sequence[object]) -> bool:
    """Whether *commit*, which lacks a pin, ends it: a merge removes nothing that a side of it has removed already."""
    return bool(above) and len(above) == len(commit.parents)


def _edit(pin: Pin, above: Sequence[EditRevision], edits: list[EditRevision]) -> EditRevision:
    """That of *pin*: one of those *above* if it is the same, wherever that is listed, or the next of *edits*."""
    for edit in above:
        if (edit.pin.revision, edit.pin.rendered) == (pin.revision, pin.rendered):
            return edit
    before = above[0] if above else edits[-1] if edits else None
    edits.append(EditRevision([], pin, before, []))
    return edits[-1]


def _turns(vm: str, history: LockHistory) -> _Turns:
    """When *vm* came into a lock, and went out of it."""
    came, went, has = set(), set(), set()
    for commit, lock in history.locks if vm in history.vms else ():
        above = [parent for parent in commit.parents if parent in has]
        if lock is None:
            has.update([commit.id] if above else [])
        elif vm in lock.pins:
            has.add(commit.id)
            came.update([] if above else [commit.id])
        elif _is_end(commit, above):
            went.add(commit.id)
    return _Turns(frozenset(came), frozenset(went))


def _lock(text: bytes, place: RepositoryPath) -> Lock | None:
    """The lock in *text*; None where it cannot be read."""
    contents = read(text, place.lock)
    if contents.diagnostics:
        return None
    if not contents.documents:  # it was removed
        return lockfile.EMPTY
    lock, faults = lockfile.read(contents.documents[0].body, Location(file=place.lock))
    return None if faults else lock


def states_beside(place: RepositoryPath, commits: Iterable[Commit]) -> dict[str, str]:
    """By the ids of *commits*, what says whether two of them have the same but for the lock at *place*.

    Raises GitError.
    """
    if "\n" in place.lock:  # git reads a name a line
        return {commit.id: commit.tree for commit in commits}
    *folders, _ = steps = place.lock.split("/")
    above = ["/".join(folders[:depth]) for depth in range(len(steps))]
    found = {
        commit.id: [os.fsencode(f"{commit.tree}:{folder}") for folder in above]
        for commit in commits
    }
    return dict(_states(place, found, steps))


def _states(
    place: RepositoryPath, trees: Mapping[str, Sequence[bytes]], steps: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """As `states_beside`: for each commit the *trees* around the lock, which *steps* lead to, as git calls them."""
    names = list(trees.items())
    for start in range(0, len(names), _AT_ONCE):
        batch = names[start : start + _AT_ONCE]
        stored = git.objects(place.top, [name for _, each in batch for name in each])
        for commit_id, each in batch:
            seen = sha256()
            for step, tree in zip(steps, islice(stored, len(each)), strict=True):
                seen.update(_without(tree or b"", os.fsencode(step), len(commit_id) // 2))
            yield commit_id, seen.hexdigest()


def _without(tree: bytes, name: bytes, id_bytes: int) -> bytes:
    """What git stores of a *tree*, without the entry *name*: mode, name, and the object's id of so many bytes."""
    start = 0
    while start < len(tree):
        end = tree.index(b"\0", start)
        if tree[start:end].partition(b" ")[2] == name:
            return tree[:start] + tree[end + 1 + id_bytes :]
        start = end + 1 + id_bytes
    return tree
