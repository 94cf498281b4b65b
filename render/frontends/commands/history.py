"""``virt-render history`` and ``show``: what a VM was, from the lock and the manifests that git has."""

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.diagnostics.exits import Exit
from render.frontends.answer import Answer, RefusedError, refused
from render.frontends.commands.committed.locks import (
    EditRevision,
    LockHistory,
    LockMove,
    LocksInGit,
    RepositoryPath,
    VMHistory,
    states_beside,
)
from render.frontends.commands.committed.snapshots import Rendering, Snapshot, rendered, request_at
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
from render.report.history.told import ToldCommit, ToldHistory, ToldMachine, ToldMove, ToldRevision
from render.report.places import Sources
from render.revisions.hashes import rendered_hash
from render.system import files, git
from render.system.files import real_path
from render.system.git import Commit, GitError
from render.system.streams import STDOUT
from render.yaml import writer

if TYPE_CHECKING:
    from render.diff.impact import MachineImpact


class _Meant(NamedTuple):
    """The *vms*, each with its history, that are meant of the lock whose history is *known*."""

    known: LockHistory
    vms: dict[str, VMHistory]


def history(request: Request, work: Work) -> Answer:
    """List the edit revisions of a VM, or of all."""
    name, path = _words(request)
    work.begin("read", f"reading the history of {name or path}")
    locks, histories = _histories(path, request)
    meant = _meant_vms(name, histories, locks)
    told = _told(meant, locks, request, work)
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
    ends = merge(
        find((end for each in meant for end in _ends(each.known, each.vms.values())), Sources())
    )
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


def _told(meant: Sequence[_Meant], locks: LocksInGit, request: Request, work: Work) -> ToldHistory:
    """The history of the VMs that are *meant* of each lock. Raises RefusedError."""
    since = request.own["since"]
    known = meant[0].known
    top, commits = known.place.top, known.commits
    histories = {(each.known.place, vm): each.vms[vm] for each in meant for vm in each.vms}
    names = {lock: None for history_ in histories.values() for lock in _locks_of(history_)}
    if {*names} != {known.place.lock}:  # in the one order that git has for all of them
        commits = git.commits(top, *names)
    commit_ids = _since(since, top, commits)
    wanted = {
        key: [edit for edit in own.edits if edit.id in commit_ids] for key, own in histories.items()
    }
    needed = [
        (vm, revision)
        for (_, vm), edits in wanted.items()
        for edit in edits
        for revision in (edit.before, edit)
        if revision
    ]
    renderings = _renderings(needed, commits, request, work)
    impacts = _Impacts()
    machines = [
        ToldMachine(
            vm,
            [_revision(vm, edit, renderings, impacts) for edit in edits],
            place.lock,
            *_turns(vm, place.lock, histories[place, vm], locks, commit_ids),
        )
        for (place, vm), edits in wanted.items()
    ]
    told = [each for each in machines if each.revisions or each.removals or each.moves or not since]
    return ToldHistory(told, [commit.id for commit in commits], since)


def _locks_of(history_: VMHistory) -> Iterator[str]:
    """The locks that have what it tells."""
    return (at.place.lock for edit in history_.edits for at in edit.commits)


def _turns(
    vm: str, lock: str, history_: VMHistory, locks: LocksInGit, commit_ids: Collection[str]
) -> tuple[list[ToldCommit], list[ToldMove]]:
    """The removals and the moves of *vm* with one of the *commit_ids*, each oldest first."""
    ends = [end for edit in history_.edits for end in edit.removals]
    left = {end.id: other for end in ends if (other := locks.went_to(vm, lock, end.id))}
    moves = [
        *history_.moves,
        *(LockMove(end, lock, left[end.id]) for end in ends if end.id in left),
    ]
    return (
        [_told_commit(end) for end in ends if end.id in commit_ids and end.id not in left],
        [
            ToldMove(_told_commit(move.commit), move.before, move.after)
            for move in moves
            if move.commit.id in commit_ids
        ],
    )


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


_Key = tuple[str, str, str]
_Renderings = dict[_Key, Rendering | RefusedError]


def _key(vm: str, edit: EditRevision) -> _Key:
    return edit.commits[0].place.lock, vm, edit.id


def _renderings(
    needed: Sequence[tuple[str, EditRevision]],
    commits: Sequence[Commit],
    request: Request,
    work: Work,
) -> _Renderings:
    """The VMs at the edit revisions that are *needed*, by lock, name and first commit, or why there is no such thing.

    A commit is laid out and rendered once, however many VMs are looked at, and so are all with the same tree.
    """
    open_: dict[_Key, tuple[str, EditRevision]] = {}
    by_commit: dict[str, dict[str, list[_Opened]]] = {}
    for vm, edit in needed:
        key = _key(vm, edit)
        if key not in open_:
            open_[key] = vm, edit
            for place, commit in edit.commits:
                folders = by_commit.setdefault(commit.id, {})
                folders.setdefault(place.folder, []).append(_Opened(key, vm, edit, place))
    done: _Renderings = {}
    seen: dict[tuple[str, ...], Rendering | RefusedError | None] = {}
    beside = _states_beside(by_commit, commits)
    for commit in reversed(commits):
        for opened in by_commit.get(commit.id, {}).values():
            missing = {each.key: each for each in opened if each.key not in done}
            at = {key: each.at(beside[each.place, commit.id]) for key, each in missing.items()}
            done |= {key: known for key in missing if (known := seen.get(at[key]))}
            here = [each for key, each in missing.items() if at[key] not in seen]
            if not here:
                continue
            names = here[0].vm if len(here) == 1 else counted(len(here), "VM")
            work.doing = f"rendering {names} as of {commit.id[:10]}"
            with _back_at(here[0].place, commit, request) as folder:
                found = _at_commit(here, folder, request, work)
            seen |= {at[each.key]: found.get(each.key) for each in here}
            done |= found
    return {key: done[key] if key in done else _unknown(*open_[key]) for key in open_}


def _states_beside(
    by_commit: Mapping[str, Mapping[str, Sequence["_Opened"]]], commits: Iterable[Commit]
) -> dict[tuple[RepositoryPath, str], str]:
    """What stands beside each lock at each commit at which something is looked for. Raises GitError."""
    wanted: dict[RepositoryPath, list[Commit]] = {}
    for commit in commits:
        for opened in by_commit.get(commit.id, {}).values():
            for place in dict.fromkeys(each.place for each in opened):
                wanted.setdefault(place, []).append(commit)
    return {
        (place, commit_id): state
        for place, at in wanted.items()
        for commit_id, state in states_beside(place, at).items()
    }


class _Opened(NamedTuple):
    """The *edit* of *vm* that is looked for at a commit, where it stands in the lock at *place*."""

    key: _Key
    vm: str
    edit: EditRevision
    place: RepositoryPath

    def at(self, beside: str) -> tuple[str, ...]:
        """What decides what is found at a commit: what stands *beside* the lock, the VM, where, and its pin.

        But for the number that it has there.
        """
        pin = self.edit.pin
        return (beside, self.vm, repr(sorted(pin.entries.items())), pin.rendered, *self.place)


def _at_commit(here: Sequence[_Opened], folder: str, request: Request, work: Work) -> _Renderings:
    """What those of *here* are that the commit laid out in *folder* renders to what the lock says."""
    found: _Renderings = {}
    try:
        names = [whole(each.vm) for each in here]
        snapshot = Snapshot(request_at(request, folder), work, names)
    except RefusedError as error:
        return {each.key: error for each in here}
    for key, vm, edit, place in here:
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
    vm: str, edit: EditRevision, renderings: _Renderings, impacts: "_Impacts"
) -> ToldRevision:
    commit = edit.commits[0].commit
    refs = {word: entry.ref for word, entry in edit.pin.entries.items() if entry.ref}
    told = ToldRevision(
        edit.pin.revision, _told_commit(commit), refs, is_first=not edit.before,
    )  # fmt: skip
    now = renderings[_key(vm, edit)]
    last = renderings[_key(vm, edit.before)] if edit.before else None
    if isinstance(now, RefusedError):
        first = next((f.diagnostic for f in now.findings if f.diagnostic.is_error), None)
        return told._replace(fault=first.message if first else "why is not known")
    if last is None or isinstance(last, RefusedError):
        return told
    return told._replace(impacts=impacts.between(last, now))


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
        locks, histories = _histories(path, request)
        known, vm, past = _single_vm(name, _meant_vms(name, histories, locks))
        edit = _meant_edit(vm, revision, known, past)
        text = _render_edit(vm, request, edit, work).text
    return Answer([writer.write([text])], ())


def _meant_edit(
    vm: str, revision: int | None, history_: LockHistory, past: VMHistory
) -> EditRevision:
    """The edit revision that has the number *revision*; several are fine only where they render to the same."""
    edits = past.edits
    matching = [edit for edit in edits if edit.pin.revision == revision]
    if not matching:
        known = ", ".join(dict.fromkeys(str(edit.pin.revision) for edit in edits))
        message = (
            f"{vm} has no revision {revision} in the history of {history_.place.lock};"
            f" there is {known}"
        )
        found = codes.HISTORY_UNREADABLE.at(Location(), message, help=_uncommitted(history_))
        raise refused(found, *_ends(history_, [past]))
    if len({edit.pin.rendered for edit in matching}) > 1:
        ids = ", ".join(edit.id[:10] for edit in matching)
        message = f"{vm} had a revision {revision} more than once, from the commits {ids}"
        cure = f"show one of them with --at: virt-render show {vm} --at {matching[-1].id[:10]}"
        raise refused(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))
    return matching[0]


def _uncommitted(history_: LockHistory) -> str:
    """That the lock of *history_* is another one in the work tree; nothing where it is as it was committed."""
    place = history_.place
    committed = git.file_at(place.top, "HEAD", place.lock)
    path = os.path.join(place.top, place.lock)
    here = files.read(path, place.lock, len(committed))
    if here == committed or not (committed or os.path.lexists(path)):
        return ""
    return f"{place.lock} is not committed as it is here: the history ends with its last commit"


def _ends(history_: LockHistory, pasts: Iterable[VMHistory]) -> list[Diagnostic]:
    """Where the history of a lock, and the *pasts* of its VMs, end though there was more."""
    place, commits = history_.place, history_.commits
    followed = {move.before for past in pasts for move in past.moves}
    oldest = [commit for commit in commits if not commit.parents]
    diagnostics = []
    if git.is_shallow(place.top):
        message = "the clone is shallow: what was before "
        message += f"{oldest[0].id[:10]} is not known here" if oldest else "it begins is not known"
        diagnostics.append(codes.HISTORY_ENDS.at(Location(), message, help="git fetch --unshallow"))
    for commit in oldest:
        former = git.moved_from(place.top, commit.id, place.lock)
        if former and former not in followed:
            message = f"{commit.id[:10]} moved {former} to {place.lock}, with other VMs: what was before is told there"
            cure = f"virt-render history '*' {os.path.dirname(former) or '.'}"
            diagnostics.append(codes.HISTORY_ENDS.at(Location(), message, help=cure))
    return diagnostics


def _histories(path: str, request: Request) -> tuple[LocksInGit, list[LockHistory]]:
    """Those of the lock of *path* and, as `pin` writes them, of the locks of the roots below; and all locks in git.

    Those that only commits have are among them. Raises GitError.
    """
    own = _place(path, request)
    locks = LocksInGit(own)
    names = [own.lock]
    if not request.reading.lock and is_repository(path, request):
        names += [within(file, own.top) for file in walk.locks(path)]
    histories = [locks.at(name) for name in dict.fromkeys(names)]
    if not request.reading.lock and (is_repository(path, request) or not os.path.lexists(path)):
        git.require_commit(own.top)
        histories += [locks.at(name) for name in locks.gone() if name not in names]
    if not os.path.lexists(path) and not any(known.commits for known in histories):
        fault = codes.UNREADABLE.at(
            Location(file=path),
            f"cannot read {path}: it is not there, and git has never had a lock in it",
        )
        raise refused(fault)
    return locks, histories


def _place(path: str, request: Request) -> RepositoryPath:
    """Where *path* is in its repository, and its lock: what is not there any more may have been a folder."""
    folder = path if os.path.isdir(path) or not os.path.lexists(path) else os.path.dirname(path)
    present = folder or os.curdir
    while not os.path.lexists(present):
        present = os.path.dirname(present) or os.curdir
    top = real_path(git.root(present))
    lock = request.reading.lock or os.path.join(folder, LOCK)
    return RepositoryPath(
        top,
        within(path, top),
        os.path.relpath(os.path.join(real_path(os.path.dirname(lock) or "."), os.path.basename(lock)), top),
    )  # fmt: skip


def _meant_vms(name: str, histories: Sequence[LockHistory], locks: LocksInGit) -> list[_Meant]:
    """The VMs that *name*, a name or a pattern, means, by the lock that has them; all without one. Raises.

    One that has moved is told where it is, if that is asked about too.
    """
    found = [(known, vms) for known in histories if (vms := _vms_of(name, known))]
    if not found:
        raise _pins_none(name, histories)
    names = sorted({vm for _, vms in found for vm in vms})
    if name and not is_pattern(name) and len(names) > 1:
        message, cure = ambiguity(name, names)
        raise refused(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))
    places = {known.place.lock for known, _ in found}
    meant = []
    for known, vms in found:
        lock = known.place.lock
        pasts = {
            vm: locks.followed(vm, lock)
            for vm in vms
            if len(places) == 1 or locks.successor(vm, lock) not in places
        }
        meant += [_Meant(known, pasts)] if pasts else []
    return meant


def _vms_of(name: str, history_: LockHistory) -> list[str]:
    """Those of the lock that *name* may mean, all without one."""
    known = sorted(history_.vms)
    if not name:
        return known
    return (matching(name, known) if is_pattern(name) else []) or fitting(name, known)


def _pins_none(name: str, histories: Sequence[LockHistory]) -> RefusedError:
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
    if os.path.isdir(name):
        cure = f"to name the folder: virt-render history {os.path.join(os.curdir, name)}"
    elif known:
        cure = did_you_mean(name, [*spellings(known), *like(name, known)], cure)
    elif left and not begun:
        cure = f"{left[0]} is not committed yet: a history begins with the first commit of a lock"
    found = codes.HISTORY_UNREADABLE.at(Location(), message, help=cure)
    return refused(found, *(end for each in histories for end in _ends(each, ())))


def _single_vm(name: str, meant: Sequence[_Meant]) -> tuple[LockHistory, str, VMHistory]:
    """The one VM that *name* means, and the lock that has it. Raises RefusedError."""
    if len(meant) > 1:
        folders = [os.path.dirname(each.known.place.lock) or "." for each in meant]
        vm = next(iter(meant[0].vms))
        message = f"{vm} is in {', '.join(folders)}"
        cure = f"name one of them: virt-render show {vm} {folders[0]} --revision N"
        raise refused(codes.USAGE.at(Location(), message, help=cure))
    ((known, vms),) = meant
    if len(vms) > 1:
        message, cure = ambiguity(name, [*vms])
        raise refused(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))
    ((vm, past),) = vms.items()
    return known, vm, past


@contextlib.contextmanager
def _back_at(place: RepositoryPath, commit: Commit, request: Request) -> Iterator[str]:
    """Be where the caller is, at *commit*; yields PATH as seen from there."""
    with back_at(place.top, commit.id, request.reading.limits) as top:
        yield os.path.relpath(os.path.join(top, place.folder))


def _render_edit(vm: str, request: Request, edit: EditRevision, work: Work) -> Rendering:
    """The VM at an edit revision: at the first of its commits that renders to what the lock says."""
    rendering: Rendering | None = None
    for place, commit in edit.commits:
        with _back_at(place, commit, request) as folder:
            at_commit = request_at(request, folder)
            rendering = rendered(whole(vm), at_commit, work, home=place.home(folder))
        if rendered_hash(rendering.vm.get("spec") or {}) == edit.pin.rendered:
            return rendering
    raise _unknown(vm, edit)


def _unknown(vm: str, edit: EditRevision) -> RefusedError:
    message = f"no commit renders {vm} to revision {edit.pin.revision} of the lock"
    cure = "the lock and the manifests were committed apart; show them with --at"
    return refused(codes.HISTORY_UNREADABLE.at(Location(), message, help=cure))


class _Impacts:
    """What became of VMs that were edited, each asked once of the same renderings, which stay where they are."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[MachineImpact, ...]] = {}

    def between(self, last: Rendering, now: Rendering) -> "tuple[MachineImpact, ...]":
        """What became of a VM that ran as in *last* when it was edited to what is *now*."""
        key = id(last), id(now)
        if key not in self._known:
            from render.pipeline.comparison.fleet import compare

            compared = compare(last.objects, now.objects, last.settings, now.settings)
            self._known[key] = compared.machines
        return self._known[key]
