"""``virt-render history`` and ``show``: what a VM was, from the lock and the manifests that git has."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.diagnostics.exits import Exit
from render.frontends.answer import Answer, RefusedError, refused
from render.frontends.commands.snapshots import Rendering, asked_at, rendered
from render.frontends.commits import back_at
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.manifests.kustomization import LOCK
from render.model.naming import ambiguity, fitting, whole
from render.report.findings import find, merge
from render.report.impact.text import lines
from render.report.places import Sources
from render.report.text import printable
from render.revisions import lockfile
from render.revisions.hashes import rendered_hash
from render.revisions.lockfile import Lock, Pin
from render.system import git
from render.system.git import Commit, GitError
from render.yaml import writer
from render.yaml.reader import read


class _RepositoryPath(NamedTuple):
    """Where PATH is in its repository: *top* is the work tree; *folder* and *lock* are seen from there."""

    top: str
    folder: str
    lock: str


class _EditRevision(NamedTuple):
    """An edit revision: the commits, oldest first, whose lock has this pin without a break, and the pin.

    A number may come again with another step: where a lock was reverted, or a VM was away for a while.
    *before*: the step that it followed.
    """

    commits: list[Commit]
    pin: Pin
    before: "_EditRevision | None"


def history(asked: Request, work: Work) -> Answer:
    """List the edit revisions of a VM."""
    name, path = asked.own["vm"], asked.paths[0]
    work.begin("read", f"reading the history of {name}")
    place = _place(path, asked)
    commits = git.commits(place.top, place.lock)
    vm, steps = _steps(name, place, commits)
    told = [vm]
    renderings: dict[str, Rendering] = {}
    for step in steps:
        commit = step.commits[0]
        work.doing = f"rendering {name} as of {commit.id[:10]}"
        told.append(f"{step.pin.revision:>4}  {commit.id[:10]}  {commit.date}  {commit.subject}")
        try:
            now = _render_step(vm, place, asked, step, work)
        except RefusedError as error:
            first = next((f.diagnostic for f in error.findings if f.diagnostic.is_error), None)
            told.append(f"      cannot be rendered: {first.message if first else ''}")
            continue
        last = renderings.get(step.before.commits[0].id) if step.before else None
        told += (f"      {line}" for line in _changes(last, now))
        renderings[commit.id] = now
    lines_ = (f"{printable(line)}\n" for line in told)
    return Answer(lines_, merge(find(_ends(place, commits), Sources())), Exit.OK)


def show(asked: Request, work: Work) -> Answer:
    """Print a VM as it is, or as it was at an edit revision or at a commit."""
    name, path = asked.own["vm"], asked.paths[0]
    revision, at = asked.own["revision"], asked.own["at"]
    work.begin("render", f"rendering {name}")
    if not revision and not at:
        text = rendered(name, asked, work, whole=False).text
    elif at:
        place = _place(path, asked)
        commit = _commit(place, at)
        with _back_at(place, commit, asked) as folder:
            text = rendered(name, asked_at(asked, folder), work, whole=False).text
    else:
        place = _place(path, asked)
        commits = git.commits(place.top, place.lock)
        vm, steps = _steps(name, place, commits)
        step = _meant(vm, revision, steps, place, commits)
        text = _render_step(vm, place, asked, step, work).text
    return Answer([writer.write([text])], ())


def _meant(
    vm: str,
    revision: int | None,
    steps: list[_EditRevision],
    place: _RepositoryPath,
    commits: Sequence[Commit],
) -> _EditRevision:
    """The step that has the number *revision*; several are fine only where they render to the same."""
    matching = [step for step in steps if step.pin.revision == revision]
    if not matching:
        known = ", ".join(dict.fromkeys(str(step.pin.revision) for step in steps))
        message = (
            f"{vm} has no revision {revision} in the history of {place.lock}; there is {known}"
        )
        faults = [codes.HISTORY_UNREADABLE.at(Location(), message), *_ends(place, commits)]
        raise refused(*faults)
    if len({step.pin.rendered for step in matching}) > 1:
        ids = ", ".join(step.commits[0].id[:10] for step in matching)
        message = f"{vm} had a revision {revision} more than once, from the commits {ids}"
        cure = f"show one of them with --at: virt-render show {vm} --at {matching[-1].commits[0].id[:10]}"
        raise refused(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))
    return matching[0]


def _ends(place: _RepositoryPath, commits: Sequence[Commit]) -> list[Diagnostic]:
    """Where the history of the lock, which *commits* changed, ends though there was more."""
    oldest = [commit for commit in commits if not commit.parents]
    diagnostics = []
    if git.is_shallow(place.top):
        message = "the clone is shallow: what was before "
        message += f"{oldest[0].id[:10]} is not known here" if oldest else "it begins is not known"
        diagnostics.append(codes.HISTORY_ENDS.at(Location(), message, help="git fetch --unshallow"))
    for commit in oldest:
        former = git.moved_from(place.top, commit.id, place.lock)
        if former:
            message = f"{commit.id[:10]} moved {former} to {place.lock}: what was before is told where it was"
            cure = f"git worktree add ../before {commit.id[:10]}^, and ask there for {os.path.dirname(former) or '.'}"
            diagnostics.append(codes.HISTORY_ENDS.at(Location(), message, help=cure))
    return diagnostics


def _place(path: str, asked: Request) -> _RepositoryPath:
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
    top = os.path.realpath(git.root(folder))
    lock = asked.reading.lock or os.path.join(folder, LOCK)
    return _RepositoryPath(
        top,
        os.path.relpath(os.path.realpath(path), top),
        os.path.relpath(os.path.join(os.path.realpath(os.path.dirname(lock) or "."), os.path.basename(lock)), top),
    )  # fmt: skip


def _commit(place: _RepositoryPath, revision: str) -> Commit:
    try:
        return git.commit(place.top, revision)
    except GitError as error:
        message = f"git knows no revision {revision} ({error})"
        raise refused(codes.HISTORY_UNREADABLE.at(Location(), message)) from error


def _steps(
    name: str, place: _RepositoryPath, commits: Sequence[Commit]
) -> tuple[str, list[_EditRevision]]:
    """The VM that *name* means in the locks of *commits*, newest first, and its edit revisions, oldest first."""
    in_time = commits[::-1]
    texts = git.texts_of(place.top, [commit.id for commit in in_time], place.lock)
    locks = [(commit, _lock(text, place)) for commit, text in zip(in_time, texts, strict=True)]
    known = dict.fromkeys(vm for _, lock in locks if lock for vm in lock.pins)
    vms = fitting(name, known)
    if len(vms) != 1:
        message = f"no lock in the history of {place.lock} pins {name}"
        cure = "a VM is named NAME or NAMESPACE/NAME; 'virt-render pin' begins its history"
        if vms:
            message, cure = ambiguity(name, vms)
        faults = [
            codes.HISTORY_UNREADABLE.at(Location(), message, help=cure),
            *_ends(place, commits),
        ]
        raise refused(*faults)
    return vms[0], _steps_of(vms[0], locks)


def _lock(text: bytes, place: _RepositoryPath) -> Lock | None:
    """The lock in *text*; None where it cannot be read."""
    contents = read(text, place.lock)
    if contents.diagnostics:
        return None
    if not contents.documents:  # it was removed
        return lockfile.EMPTY
    lock, faults = lockfile.read(contents.documents[0].body, Location(file=place.lock))
    return None if faults else lock


def _steps_of(vm: str, locks: Sequence[tuple[Commit, Lock | None]]) -> list[_EditRevision]:
    """The steps of *vm*: a commit is part of a parent's, wherever that stands in the list, if it has the same pin."""
    steps: list[_EditRevision] = []
    at: dict[str, _EditRevision] = {}
    for commit, lock in locks:
        above = [at[parent] for parent in commit.parents if parent in at]
        if lock is None:  # what cannot be read changes nothing
            if above:
                at[commit.id] = above[0]
            continue
        pin = lock.pins.get(vm)
        if pin is None:
            continue
        mine = (pin.revision, pin.rendered)
        step = next((one for one in above if (one.pin.revision, one.pin.rendered) == mine), None)
        if step is None:
            before = above[0] if above else steps[-1] if steps else None
            step = _EditRevision([], pin, before)
            steps.append(step)
        step.commits.append(commit)
        at[commit.id] = step
    return steps


@contextlib.contextmanager
def _back_at(place: _RepositoryPath, commit: Commit, asked: Request) -> Iterator[str]:
    """Be where the caller is, at *commit*; yields PATH as seen from there."""
    with back_at(place.top, commit.id, asked.reading.limits) as top:
        yield os.path.relpath(os.path.join(top, place.folder))


def _render_step(
    vm: str, place: _RepositoryPath, asked: Request, step: _EditRevision, work: Work
) -> Rendering:
    """The VM at an edit revision: at the first of its commits that renders to what the lock says."""
    rendering: Rendering | None = None
    for commit in step.commits:
        with _back_at(place, commit, asked) as folder:
            rendering = rendered(whole(vm), asked_at(asked, folder), work)
        if rendered_hash(rendering.vm.get("spec") or {}) == step.pin.rendered:
            return rendering
    message = f"no commit renders {vm} to revision {step.pin.revision} of the lock"
    cure = "the lock and the manifests were committed apart; show them with --at"
    raise refused(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))


def _changes(last: Rendering | None, now: Rendering) -> list[str]:
    """What became of a VM that ran as in *last* when it was edited to what is *now*, a line each."""
    if last is None:
        return []
    from render.pipeline.comparison.fleet import compare

    machines = compare(last.objects, now.objects, last.settings, now.settings).machines
    return [line for machine in machines for line in lines(machine)]
