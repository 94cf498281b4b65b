"""``virt-render history`` and ``show``: what a VM was, from the lock and the manifests that git has."""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends import git
from render.frontends.exits import Exit, status
from render.frontends.git import Commit, GitError
from render.frontends.options import Request
from render.frontends.pin_commands import fitting
from render.frontends.run import (
    STDOUT,
    emit,
    tell,
)
from render.frontends.snapshots import RefusedError, Rendering, refuse, rendered
from render.manifests import writer
from render.manifests.reader import read
from render.manifests.sources import LOCK
from render.report.findings import find, merge
from render.report.places import Sources
from render.revisions import lock as revision_lock
from render.revisions.changes import changes
from render.revisions.hashes import rendered_hash
from render.revisions.lock import Pin

Ask = Callable[[tuple[str, ...]], Request]


class _Place(NamedTuple):
    """Where PATH is in its repository: *top* is the work tree; *folder* and *lock* are seen from there."""

    top: str
    folder: str
    lock: str


class _Step(NamedTuple):
    """An edit revision: the commits whose lock has its number, oldest first, and the pin there."""

    commits: list[Commit]
    pin: Pin


def history(name: str, path: str, ask: Ask) -> Exit:
    """List the edit revisions of the VM *name* of *path*."""
    asked = ask((path,))
    try:
        _refuse_asking(asked)
        place = _place(path, asked)
        vm, steps = _steps(name, place)
        emit(f"{vm}\n", STDOUT)
        last: Rendering | None = None
        for step in steps:
            commit = step.commits[0]
            head = f"{step.pin.revision:>4}  {commit.id[:10]}  {commit.date}  {commit.subject}\n"
            emit(head, STDOUT)
            try:
                now = _render_step(vm, place, ask, step)
            except RefusedError as refused:
                first = next(
                    (f.diagnostic for f in refused.findings if f.diagnostic.is_error), None
                )
                emit(f"      cannot be rendered: {first.message if first else ''}\n", STDOUT)
                last = None
                continue
            emit("".join(f"      {line}\n" for line in _told(last, now)), STDOUT)
            last = now
        if git.is_shallow(place.top):
            note = codes.HISTORY_ENDS.at(
                Location(),
                f"the clone is shallow: what was before {steps[0].commits[0].id[:10]} is not known here",
                help="git fetch --unshallow",
            )
            tell(merge(find([note], Sources())), asked)
    except RefusedError as refused:
        tell(refused.findings, asked)
        return refused.exit
    except GitError as error:
        return _fail(codes.HISTORY_UNREADABLE.at(Location(), f"git: {error}"), asked)
    return Exit.OK


def show(name: str, path: str, ask: Ask, *, revision: int | None, at: str) -> Exit:
    """Print the VM *name* of *path* as it is, or as it was at an edit *revision* or *at* a commit."""
    asked = ask((path,))
    try:
        _refuse_asking(asked)
        if revision is None and not at:
            text = rendered(name, asked, whole=False).text
        elif at:
            place = _place(path, asked)
            commit = _commit(place, at)
            with _back_at(place, commit) as folder:
                text = rendered(name, ask((folder,)), whole=False).text
        else:
            place = _place(path, asked)
            vm, steps = _steps(name, place)
            step = next((step for step in steps if step.pin.revision == revision), None)
            if step is None:
                known = ", ".join(str(step.pin.revision) for step in steps)
                message = f"{vm} has no revision {revision} in the history of {place.lock}; there is {known}"
                return _fail(codes.HISTORY_UNREADABLE.at(Location(), message), asked)
            text = _render_step(vm, place, ask, step).text
    except RefusedError as refused:
        tell(refused.findings, asked)
        return refused.exit
    except GitError as error:
        return _fail(codes.HISTORY_UNREADABLE.at(Location(), f"git: {error}"), asked)
    emit(writer.write([text]), STDOUT)
    return Exit.OK


def _fail(fault: Diagnostic, asked: Request) -> Exit:
    tell(merge(find([fault], Sources())), asked)
    return status([fault])


def _refuse_asking(asked: Request) -> None:
    if asked.diagnostics:
        raise RefusedError(merge(find(asked.diagnostics, asked.sources)), status(asked.diagnostics))


def _place(path: str, asked: Request) -> _Place:
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
    top = os.path.realpath(git.root(folder))
    lock = asked.lock or os.path.join(folder, LOCK)
    return _Place(
        top,
        os.path.relpath(os.path.realpath(path), top),
        os.path.relpath(os.path.join(os.path.realpath(os.path.dirname(lock) or "."), os.path.basename(lock)), top),
    )  # fmt: skip


def _commit(place: _Place, revision: str) -> Commit:
    try:
        return git.commit(place.top, revision)
    except GitError as error:
        message = f"git knows no revision {revision} ({error})"
        raise refuse(codes.HISTORY_UNREADABLE.at(Location(), message)) from error


def _steps(name: str, place: _Place) -> tuple[str, list[_Step]]:
    """The VM that *name* means in the locks of the history, and its edit revisions, oldest first."""
    locks = []
    for commit in reversed(git.commits(place.top, place.lock)):
        data = git.file_at(place.top, commit.id, place.lock)
        found = read(data, place.lock)
        for document in found.documents[:1]:
            lock, faults = revision_lock.read(document.body, Location(file=place.lock))
            if not faults and not found.diagnostics:
                locks.append((commit, lock))
    known = dict.fromkeys(vm for _, lock in locks for vm in lock.pins)
    vms = fitting(name, known)
    if len(vms) != 1:
        message = (
            f"{name} may be {' or '.join(vms)}"
            if vms
            else f"no lock in the history of {place.lock} pins {name}"
        )
        cure = "a VM is named NAME or NAMESPACE/NAME; 'virt-render pin' begins its history"
        raise refuse(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))
    steps: dict[int, _Step] = {}
    for commit, lock in locks:
        pin = lock.pins.get(vms[0])
        if pin is not None:
            # A number returns where branches alternate; what was merged in the end is meant.
            before = steps[pin.revision].commits if pin.revision in steps else []
            steps[pin.revision] = _Step([*before, commit], pin)
    return vms[0], list(steps.values())


@contextlib.contextmanager
def _back_at(place: _Place, commit: Commit) -> Iterator[str]:
    """Be where the caller is, at *commit*; yields PATH as seen from there."""
    here = os.path.relpath(os.path.realpath("."), place.top)
    with git.checkout(place.top, commit.id) as top:
        inside = os.path.join(top, here)
        within = not here.startswith("..") and os.path.isdir(inside)
        with contextlib.chdir(inside if within else top):
            yield os.path.relpath(os.path.join(os.path.realpath(top), place.folder))


def _render_step(vm: str, place: _Place, ask: Ask, step: _Step) -> Rendering:
    """The VM at an edit revision: at the first of its commits that renders to what the lock says."""
    found: Rendering | None = None
    for commit in step.commits:
        with _back_at(place, commit) as folder:
            found = rendered(vm, ask((folder,)))
        if rendered_hash(found.vm.get("spec") or {}) == step.pin.rendered:
            return found
    message = f"no commit renders {vm} to revision {step.pin.revision} of the lock"
    cure = "the lock and the manifests were committed apart; show them with --at"
    raise refuse(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))


def _told(last: Rendering | None, now: Rendering) -> list[str]:
    if last is None:
        return []
    return [str(one) for one in changes(last.vm, now.vm, last.vmi, live_update=now.live_update)]
