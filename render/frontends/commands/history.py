"""``virt-render history`` and ``show``: what a VM was, from the lock and the manifests that git has."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.diagnostics.exits import Exit
from render.frontends.answer import Answer, RefusedError, refused
from render.frontends.commands.snapshots import Rendering, Snapshot, rendered, request_at
from render.frontends.commits import back_at, within
from render.frontends.origin import origin_of
from render.frontends.progress import Work
from render.frontends.request.request import Request
from render.frontends.session import is_repository
from render.manifests.kustomization import LOCK
from render.manifests.sources import walk
from render.model.counting import counted
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.model.naming import ambiguity, fitting, is_pattern, like, matching, spellings, whole
from render.model.nearest import did_you_mean
from render.model.regex import pattern
from render.report import terminal
from render.report.findings import find, merge
from render.report.history import text
from render.report.history.told import ToldCommit, ToldHistory, ToldMachine, ToldRevision
from render.report.places import Sources
from render.revisions import lockfile
from render.revisions.hashes import rendered_hash
from render.revisions.lockfile import Lock, Pin
from render.system import git
from render.system.git import Commit, GitError
from render.system.streams import STDOUT
from render.yaml import writer
from render.yaml.reader import read

if TYPE_CHECKING:
    from render.diff.impact import MachineImpact


class _RepositoryPath(NamedTuple):
    """Where PATH is in its repository: *top* is the work tree; *folder* and *lock* are seen from there."""

    top: str
    folder: str
    lock: str

    def home(self, folder: str) -> str:
        """The folder of the lock where *folder* is what is called so here."""
        return os.path.join(folder, os.path.relpath(os.path.dirname(self.lock) or ".", self.folder))


class _LockHistory(NamedTuple):
    """The lock at *place*: the *commits* that changed it, newest first, and what it was at each, oldest first."""

    place: _RepositoryPath
    commits: list[Commit]
    locks: "_Locks"


class _EditRevision(NamedTuple):
    """An edit revision: the commits, oldest first, whose lock has this pin without a break, and the pin.

    A number may come again at another edit: where a lock was reverted, or a VM was away for a while.
    *before*: the edit revision that it followed. *removals*: the commits with which it ended, and none followed.
    """

    commits: list[Commit]
    pin: Pin
    before: "_EditRevision | None"
    removals: list[Commit]


def history(request: Request, work: Work) -> Answer:
    """List the edit revisions of a VM, or of all."""
    name, path = _words(request)
    work.begin("read", f"reading the history of {name or path}")
    meant = _meant_vms(name, _histories(path, request))
    told = _told(meant, request, work)
    work.begin("write", "writing the answer")
    match request.own["format"]:
        case "json":
            from render.report.history import data

            output: Iterable[str] = [data.report(told)]
        case "html":
            from render.report.history import html

            output = [html.report(told, origin_of(request.reading_from(path)))]
        case _:
            output = text.report(told, colour=_is_coloured(request))
    is_text = request.own["format"] == "text"
    ends = merge(find((end for known, _ in meant for end in _ends(known)), Sources()))
    return Answer(output, ends, Exit.OK, for_people=is_text)


def _is_coloured(request: Request) -> bool:
    return not request.reporting.output and terminal.is_coloured(STDOUT)


def _words(request: Request) -> tuple[str, str]:
    """What ``[VM] [PATH]`` ask for; one word alone is a folder if a lock is in it, or more than a name. Raises."""
    words = request.paths
    if len(words) > _MOST_WORDS:
        message = f"cannot tell VM and PATH of {' '.join(words)}"
        raise refused(codes.USAGE.at(Location(), message, help="virt-render history [VM] [PATH]"))
    if len(words) == _MOST_WORDS:
        return words[0], words[1]
    word = words[0] if words else os.curdir
    is_name = word.strip(".") != "" and os.sep not in word
    if os.path.exists(word) and (not is_name or os.path.exists(os.path.join(word, LOCK))):
        return "", word
    return word, os.curdir


_Meant = Sequence[tuple[_LockHistory, list[str]]]


def _told(meant: _Meant, request: Request, work: Work) -> ToldHistory:
    """The history of the VMs that are *meant* of each lock. Raises RefusedError."""
    since = request.own["since"]
    (first, _), *others = meant
    top, commits = first.place.top, first.commits
    if others:  # in the one order that git has for all of them
        commits = git.commits(top, *(known.place.lock for known, _ in meant))
    commit_ids = _since(since, top, commits)
    edits = {(known.place, vm): _edits_of(vm, known.locks) for known, vms in meant for vm in vms}
    wanted = {
        key: [edit for edit in own_edits if edit.commits[0].id in commit_ids]
        for key, own_edits in edits.items()
    }
    removals = {
        key: [
            _told_commit(end) for edit in own_edits for end in edit.removals if end.id in commit_ids
        ]
        for key, own_edits in edits.items()
    }
    needed = [
        (place, vm, revision)
        for (place, vm), own_edits in wanted.items()
        for edit in own_edits
        for revision in (edit.before, edit)
        if revision
    ]
    renderings = _renderings(needed, commits, request, work)
    machines = [
        ToldMachine(
            vm,
            [_revision(place, vm, edit, renderings) for edit in own_edits],
            place.lock,
            removals[place, vm],
        )
        for (place, vm), own_edits in wanted.items()
        if own_edits or removals[place, vm] or not since
    ]
    return ToldHistory(machines, [commit.id for commit in commits], since)


_DAY = pattern(r"\d{4}-\d\d-\d\d")
_MOST_WORDS = 2


def _since(since: str, top: str, commits: Sequence[Commit]) -> frozenset[str]:
    """The *commits* that are told, all without *since*: a day, or a commit, which is not among them. Raises."""
    if not since:
        return frozenset(commit.id for commit in commits)
    if _DAY.fullmatch(since):
        return frozenset(commit.id for commit in commits if commit.date >= since)
    try:
        first = git.commit(top, since)
    except GitError as error:
        cure = "--since takes a day (2026-01-31), or a commit"
        raise GitError(str(error), "; ".join(filter(None, (error.cure, cure)))) from error
    later = git.later(top, first.id)
    return frozenset(commit.id for commit in commits if commit.id in later)


_Key = tuple[_RepositoryPath, str, str]
_Renderings = dict[_Key, Rendering | RefusedError]


def _renderings(
    needed: Sequence[tuple[_RepositoryPath, str, _EditRevision]],
    commits: Sequence[Commit],
    request: Request,
    work: Work,
) -> _Renderings:
    """The VMs at the edit revisions that are *needed*, by lock, name and first commit, or why there is no such thing.

    A commit is laid out and rendered once, however many VMs are looked at.
    """
    open_: dict[_Key, tuple[_Key, _EditRevision]] = {}
    by_commit: dict[str, list[tuple[_Key, _EditRevision]]] = {}
    for place, vm, edit in needed:
        key = place, vm, edit.commits[0].id
        if key not in open_:
            open_[key] = key, edit
            for commit in edit.commits:
                by_commit.setdefault(commit.id, []).append(open_[key])
    done: _Renderings = {}
    for commit in reversed(commits):
        here = [opened for opened in by_commit.get(commit.id, ()) if opened[0] not in done]
        if not here:
            continue
        names = here[0][0][1] if len(here) == 1 else counted(len(here), "VM")
        work.doing = f"rendering {names} as of {commit.id[:10]}"
        with _back_at(here[0][0][0], commit, request) as folder:
            done |= _at_commit(here, folder, request, work)
    for key, edit in open_.values():
        if key not in done:
            done[key] = _unknown(key[1], edit)
    return done


def _at_commit(
    here: Sequence[tuple[_Key, _EditRevision]], folder: str, request: Request, work: Work
) -> _Renderings:
    """What those of *here* are that the commit laid out in *folder* renders to what the lock says."""
    found: _Renderings = {}
    try:
        snapshot = Snapshot(request_at(request, folder), work)
    except RefusedError as error:
        return {key: error for key, _ in here}
    for key, edit in here:
        place, vm, _ = key
        try:
            rendering = snapshot.of(whole(vm), home=place.home(folder))
        except RefusedError as error:
            found[key] = error
        else:
            if rendered_hash(rendering.vm.get("spec") or {}) == edit.pin.rendered:
                found[key] = rendering
    return found


def _told_commit(commit: Commit) -> ToldCommit:
    return ToldCommit(commit.id, commit.date, commit.subject)


def _revision(
    place: _RepositoryPath, vm: str, edit: _EditRevision, renderings: _Renderings
) -> ToldRevision:
    commit = edit.commits[0]
    refs = {word: entry.ref for word, entry in edit.pin.entries.items() if entry.ref}
    told = ToldRevision(
        edit.pin.revision, _told_commit(commit), refs, is_first=not edit.before,
    )  # fmt: skip
    now = renderings[place, vm, commit.id]
    last = renderings[place, vm, edit.before.commits[0].id] if edit.before else None
    if isinstance(now, RefusedError):
        first = next((f.diagnostic for f in now.findings if f.diagnostic.is_error), None)
        return told._replace(fault=first.message if first else "why is not known")
    if last is None or isinstance(last, RefusedError):
        return told
    return told._replace(impacts=_impacts(last, now))


def show(request: Request, work: Work) -> Answer:
    """Print a VM as it is, or as it was at an edit revision or at a commit."""
    name, path = request.own["vm"], request.paths[0]
    revision, at = request.own["revision"], request.own["at"]
    work.begin("render", f"rendering {name}")
    if not revision and not at:
        text = rendered(name, request, work, whole=False).text
    elif at:
        place = _place(path, request)
        commit = git.commit(place.top, at)
        with _back_at(place, commit, request) as folder:
            text = rendered(name, request_at(request, folder), work, whole=False).text
    else:
        known, vm = _single_vm(name, _histories(path, request))
        edit = _meant(vm, revision, known)
        text = _render_edit(vm, known.place, request, edit, work).text
    return Answer([writer.write([text])], ())


def _meant(vm: str, revision: int | None, history_: _LockHistory) -> _EditRevision:
    """The edit revision that has the number *revision*; several are fine only where they render to the same."""
    edits = _edits_of(vm, history_.locks)
    matching = [edit for edit in edits if edit.pin.revision == revision]
    if not matching:
        known = ", ".join(dict.fromkeys(str(edit.pin.revision) for edit in edits))
        message = (
            f"{vm} has no revision {revision} in the history of {history_.place.lock};"
            f" there is {known}"
        )
        faults = [codes.HISTORY_UNREADABLE.at(Location(), message), *_ends(history_)]
        raise refused(*faults)
    if len({edit.pin.rendered for edit in matching}) > 1:
        ids = ", ".join(edit.commits[0].id[:10] for edit in matching)
        message = f"{vm} had a revision {revision} more than once, from the commits {ids}"
        cure = f"show one of them with --at: virt-render show {vm} --at {matching[-1].commits[0].id[:10]}"
        raise refused(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))
    return matching[0]


def _ends(history_: _LockHistory) -> list[Diagnostic]:
    """Where the history of a lock ends though there was more."""
    place, commits, _ = history_
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


def _histories(path: str, request: Request) -> list[_LockHistory]:
    """Those of the lock of *path* and, as `pin` writes them, of the locks of the roots below. Raises GitError."""
    own = _place(path, request)
    found = [own]
    if not request.reading.lock and is_repository(path, request):
        below = (within(file, own.top) for file in walk.locks(path))
        found += [own._replace(lock=file) for file in below if file != own.lock]
    histories = []
    for place in found:
        commits = git.commits(place.top, place.lock)
        histories.append(_LockHistory(place, commits, _locks(place, commits)))
    if not os.path.lexists(path) and not any(known.commits for known in histories):
        fault = codes.UNREADABLE.at(
            Location(file=path),
            f"cannot read {path}: it is not there, and git has never had a lock in it",
        )
        raise refused(fault)
    return histories


def _place(path: str, request: Request) -> _RepositoryPath:
    """Where *path* is in its repository, and its lock: what is not there any more may have been a folder."""
    folder = path if os.path.isdir(path) or not os.path.lexists(path) else os.path.dirname(path)
    present = folder or os.curdir
    while not os.path.lexists(present):
        present = os.path.dirname(present) or os.curdir
    top = os.path.realpath(git.root(present))
    lock = request.reading.lock or os.path.join(folder, LOCK)
    return _RepositoryPath(
        top,
        within(path, top),
        os.path.relpath(os.path.join(os.path.realpath(os.path.dirname(lock) or "."), os.path.basename(lock)), top),
    )  # fmt: skip


_Locks = Sequence[tuple[Commit, Lock | None]]


def _locks(place: _RepositoryPath, commits: Sequence[Commit]) -> _Locks:
    """The lock at each of *commits*, oldest first."""
    in_time = commits[::-1]
    texts = git.texts_of(place.top, [commit.id for commit in in_time], place.lock)
    return [(commit, _lock(text, place)) for commit, text in zip(in_time, texts, strict=True)]


def _meant_vms(name: str, histories: Sequence[_LockHistory]) -> _Meant:
    """The VMs that *name*, a name or a pattern, means, by the lock that has them; all without one. Raises."""
    meant = [(known, vms) for known in histories if (vms := _vms_of(name, known))]
    if not meant:
        raise _pins_none(name, histories)
    vms = sorted({vm for _, own in meant for vm in own})
    if name and not is_pattern(name) and len(vms) > 1:
        message, cure = ambiguity(name, vms)
        raise refused(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))
    return meant


def _vms_of(name: str, history_: _LockHistory) -> list[str]:
    """Those of the lock that *name* may mean, all without one."""
    known = dict.fromkeys(vm for _, lock in history_.locks if lock for vm in lock.pins)
    if not name:
        return sorted(known)
    return (matching(name, known) if is_pattern(name) else []) or fitting(name, known)


def _pins_none(name: str, histories: Sequence[_LockHistory]) -> RefusedError:
    """That no lock has ever had *name*, and why that may be."""
    place = histories[0].place
    known = {vm for each in histories for vm in _vms_of("", each)}
    message = f"no lock in the history of {place.lock} pins {name or 'a VM'}"
    naming = "a VM is named NAME or NAMESPACE/NAME; " if name else ""
    cure = f"{naming}'virt-render pin' writes a lock, and its first commit begins the history"
    begun = [each.place.lock for each in histories if each.commits]
    left = [
        each.place.lock
        for each in histories
        if not each.commits and os.path.lexists(os.path.join(place.top, each.place.lock))
    ]
    if known:
        cure = did_you_mean(name, [*spellings(known), *like(name, known)], cure)
    elif left and not begun:
        cure = f"{left[0]} is not committed yet: a history begins with the first commit of a lock"
    found = codes.HISTORY_UNREADABLE.at(Location(), message, help=cure)
    return refused(found, *(end for each in histories for end in _ends(each)))


def _single_vm(name: str, histories: Sequence[_LockHistory]) -> tuple[_LockHistory, str]:
    """The one VM that *name* means, and the lock that has it. Raises RefusedError."""
    meant = _meant_vms(name, histories)
    if len(meant) > 1:
        folders = [os.path.dirname(known.place.lock) or "." for known, _ in meant]
        vm = meant[0][1][0]
        message = f"{vm} is in {', '.join(folders)}"
        cure = f"name one of them: virt-render show {vm} {folders[0]} --revision N"
        raise refused(codes.USAGE.at(Location(), message, help=cure))
    ((known, vms),) = meant
    if len(vms) > 1:
        message, cure = ambiguity(name, vms)
        raise refused(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))
    return known, vms[0]


def _lock(text: bytes, place: _RepositoryPath) -> Lock | None:
    """The lock in *text*; None where it cannot be read."""
    contents = read(text, place.lock)
    if contents.diagnostics:
        return None
    if not contents.documents:  # it was removed
        return lockfile.EMPTY
    lock, faults = lockfile.read(contents.documents[0].body, Location(file=place.lock))
    return None if faults else lock


def _edits_of(vm: str, locks: Sequence[tuple[Commit, Lock | None]]) -> list[_EditRevision]:
    """The edit revisions of *vm*: a commit is part of a parent's, wherever that is listed, if it has the same pin."""
    edits: list[_EditRevision] = []
    at: dict[str, _EditRevision] = {}
    for commit, lock in locks:
        above = [at[parent] for parent in commit.parents if parent in at]
        if lock is None:  # what cannot be read changes nothing
            if above:
                at[commit.id] = above[0]
            continue
        pin = lock.pins.get(vm)
        if pin is None:
            # A merge removes nothing that a side of it has removed already.
            if above and len(above) == len(commit.parents):
                above[0].removals.append(commit)
            continue
        identity = (pin.revision, pin.rendered)
        edit = next(
            (
                candidate
                for candidate in above
                if (candidate.pin.revision, candidate.pin.rendered) == identity
            ),
            None,
        )
        if edit is None:
            before = above[0] if above else edits[-1] if edits else None
            edit = _EditRevision([], pin, before, [])
            edits.append(edit)
        edit.commits.append(commit)
        at[commit.id] = edit
    return edits


@contextlib.contextmanager
def _back_at(place: _RepositoryPath, commit: Commit, request: Request) -> Iterator[str]:
    """Be where the caller is, at *commit*; yields PATH as seen from there."""
    with back_at(place.top, commit.id, request.reading.limits) as top:
        yield os.path.relpath(os.path.join(top, place.folder))


def _render_edit(
    vm: str, place: _RepositoryPath, request: Request, edit: _EditRevision, work: Work
) -> Rendering:
    """The VM at an edit revision: at the first of its commits that renders to what the lock says."""
    rendering: Rendering | None = None
    for commit in edit.commits:
        with _back_at(place, commit, request) as folder:
            at_commit = request_at(request, folder)
            rendering = rendered(whole(vm), at_commit, work, home=place.home(folder))
        if rendered_hash(rendering.vm.get("spec") or {}) == edit.pin.rendered:
            return rendering
    raise _unknown(vm, edit)


def _unknown(vm: str, edit: _EditRevision) -> RefusedError:
    message = f"no commit renders {vm} to revision {edit.pin.revision} of the lock"
    cure = "the lock and the manifests were committed apart; show them with --at"
    return refused(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))


def _impacts(last: Rendering, now: Rendering) -> "tuple[MachineImpact, ...]":
    """What became of a VM that ran as in *last* when it was edited to what is *now*."""
    from render.pipeline.comparison.fleet import compare

    return compare(last.objects, now.objects, last.settings, now.settings).machines
