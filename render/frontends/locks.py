"""The revision lock as a file: which one counts, and what git left in it."""

import contextlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Severity, at
from render.frontends.request.request import Request
from render.manifests.discover import tidy
from render.manifests.documents import Documents
from render.manifests.kustomization import LOCK
from render.model.resource import LOCK_KIND, OWN, from_body, text_at
from render.pipeline.stages import pins
from render.system import files
from render.system.files import real_path, repository
from render.yaml.reader import read

_INDEX = 1 << 26
"""Bytes of the index of a large repository."""
#: What follows its signature where it leaves out how names begin, and where most names are in another file.
_SHORTENED = (4).to_bytes(4, "big")
_SPLIT = b"link\0\0"
_MOST_NAMES = 100
_MARKER = rb"(?m)^(<<<<<<< |>>>>>>> )"


def choose(
    loaded: Documents, request: Request, *, new: bool = False, written: bool = False
) -> None:
    """Let ``--lock FILE`` take the place of other locks on disk, and say where a merge is unfinished.

    *new*: the file may still have to be written; *written*: it will be, so that no other one is meant in its stead, but
    for loose files that had none of their own.
    """
    if request.reading.lock or request.settings.pins == "ignore":
        _pass_over(loaded)
    else:
        loaded.diagnostics.extend(_strangers(loaded))
        loaded.diagnostics.extend(_unused(loaded, request, written=written))
    if (
        request.reading.lock
        and request.settings.pins != "ignore"
        and not (new and not os.path.exists(request.reading.lock))
    ):
        _read_named(loaded, request)
    half_merged = {
        file: fault
        for file in dict.fromkeys(d.location.file for d in loaded.diagnostics if d.is_error)
        if (_is_lock(file) or file == request.reading.lock)
        and file in loaded.data
        and (fault := marked(loaded.data[file], file))
    }
    loaded.diagnostics[:] = [
        *(
            diagnostic
            for diagnostic in loaded.diagnostics
            if diagnostic.location.file not in half_merged
        ),
        *half_merged.values(),
    ]


def removed(folders: Iterable[str]) -> list[str]:
    """Those of *folders* whose lock git has, and somebody removed without telling it.

    The index has the names of files as they are: git is asked only where one of these is in it, and not here.
    """
    missing: dict[str, dict[bytes, str]] = {}
    for folder in folders:
        file = os.path.join(real_path(folder), LOCK)
        if not os.path.lexists(file) and (top := repository(os.path.dirname(file))):
            missing.setdefault(top, {})[os.fsencode(os.path.relpath(file, top))] = folder
    found = []
    for top, names in missing.items():
        index = os.path.join(files.git_folder(top), "index")
        data = files.read(index, index, _INDEX)
        locks = _locks(data, names) if isinstance(data, bytes) else set()
        known = [os.fsdecode(name) for name in names if name in locks]
        found += [names[os.fsencode(name)] for name in _removed(top, known[:_MOST_NAMES])]
    return found


def _locks(index: bytes, names: Collection[bytes]) -> set[bytes]:
    """What may be those *names* of locks that the *index* of a repository has: it is gone through once.

    All of them where it has no whole names: its fourth version leaves out how a name begins, and one that is split has
    most of them in another file.
    """
    if index[4:8] >= _SHORTENED or _SPLIT in index:
        return {*names}
    lengths = {*map(len, names)}
    ends = (match.end() for match in re.finditer(re.escape(LOCK.encode()), index))
    return {index[end - length : end] for end in ends for length in lengths if length <= end}


def _removed(top: str, names: Sequence[str]) -> list[str]:
    """Those files *names* of the repository *top* that git has, and that are not here; none where it does not say."""
    if not names:
        return []
    from render.system import git

    try:
        return git.removed(top, names)
    except git.GitError:
        return []


def tell_removed(inputs: Sequence[Documents], request: Request) -> None:
    """Say of each lock of *inputs* that git has, and that is not here, that the VMs have no pins."""
    if request.reading.lock or request.settings.pins == "ignore":
        return
    unpinned = {
        loaded.folder: loaded
        for loaded in inputs
        if not counts_for(loaded) and any(from_body(d.body, 0).spec for d in loaded.documents)
    }
    for folder in removed(unpinned):
        file = tidy(os.path.join(folder, LOCK))
        found = codes.PIN_MISSING.at(
            Location(file=file),
            f"{file} was removed, and git has it: the VMs that it pins have each edit of what they name from now on",
            help=f"{brought_back(file)}; if it is not wanted any more, git rm {file}",
            severity=None if request.settings.pins == "require" else Severity.WARNING,
        )
        unpinned[folder].diagnostics.append(found)


def brought_back(file: str) -> str:
    """What brings the lock *file* back that git has."""
    return f"git restore {file} brings it back"


def ignored(names: Iterable[str]) -> dict[str, Diagnostic]:
    """Of those locks *names* that git ignores, there or not, that nobody gets them with the repository."""
    import shlex

    from render.system import git

    by_folder: dict[str, dict[str, str]] = {}
    for name in names:
        file = real_path(name)
        if top := repository(os.path.dirname(file)):
            by_folder.setdefault(top, {})[file] = name
    found = {}
    for top, known in by_folder.items():
        with contextlib.suppress(git.GitError):
            for file, rule in git.ignoring(top, known).items():
                found[known[file]] = codes.PIN_MISSING.at(
                    Location(file=known[file]),
                    f"git ignores {known[file]} ({rule}): who has the repository from git has no pins",
                    help=f"take the pattern out, or add the lock by force: git add -f {shlex.quote(known[file])}",
                    severity=Severity.WARNING,
                )
    return found


def counts_for(loaded: Documents) -> bool:
    """Whether a lock counts for *loaded*."""
    return any(_is_own(document.body) for document in loaded.documents)


def faults(loaded: Documents) -> Iterator[Diagnostic]:
    """Why the locks that count for *loaded* say nothing of any VM: they were edited, say, or are of a later format."""
    from render.revisions import lockfile

    for index, document in enumerate(loaded.documents):
        if _is_own(document.body):
            yield from lockfile.read(document.body, at(from_body(document.body, index)))[1]


def in_use(inputs: Iterable[Documents]) -> dict[str, frozenset[str]]:
    """The machines of each of *inputs* that has a lock of its own, as locks name them, by that lock."""
    found: dict[str, frozenset[str]] = {}
    for loaded in inputs:
        files = [d.origin.file for d in loaded.documents if _is_own(d.body)]
        if files:
            every = (from_body(d.body, 0) for d in loaded.documents)
            own = frozenset(pins.name_of(resource) for resource in every if resource.spec)
            found[files[0]] = found.get(files[0], frozenset()) | own
    return found


def _pass_over(loaded: Documents) -> None:
    """Forget what files called like a lock hold, and what is wrong with it."""
    loaded.documents[:] = [d for d in loaded.documents if not _is_lock(d.origin.file)]
    loaded.diagnostics[:] = [d for d in loaded.diagnostics if not _is_lock(d.location.file)]


def _read_named(loaded: Documents, request: Request) -> None:
    """Read the lock that was named."""
    data = files.read(request.reading.lock, request.reading.lock, request.reading.limits.file_bytes)
    if isinstance(data, Diagnostic):
        loaded.diagnostics.append(data)
        return
    loaded.data.add_file(request.reading.lock, request.reading.limits.file_bytes)
    contents = read(data, request.reading.lock, request.reading.limits)
    loaded.diagnostics.extend(contents.diagnostics)
    loaded.documents.extend(document for document in contents.documents if _is_own(document.body))
    if not contents.diagnostics and not any(
        _is_own(document.body) for document in contents.documents
    ):
        message = f"{request.reading.lock} holds no {LOCK_KIND}"
        loaded.diagnostics.append(
            codes.LOCK_INVALID.at(Location(file=request.reading.lock), message)
        )


def _strangers(loaded: Documents) -> list[Diagnostic]:
    """That a file called like a lock holds something else: who edited it would miss what it pinned."""
    called = {file for file in loaded.files if _is_lock(file)}
    if not called:
        return []
    if loaded.unbuilt:
        return []  # nothing was printed, and so nothing of a lock either
    inside = {(d.origin.file, _is_own(d.body)) for d in loaded.documents if d.origin.file in called}
    unread = {fault.location.file for fault in loaded.diagnostics if fault.is_error}
    return [
        codes.LOCK_INVALID.at(
            Location(file=file),
            f"{file} is not one {LOCK_KIND}",
            help="take the lock from git again, or remove it and pin anew",
        )
        for file in sorted(called - unread)
        if (file, True) not in inside or (file, False) in inside
    ]


def _unused(loaded: Documents, request: Request, *, written: bool) -> Iterator[Diagnostic]:
    """That a lock above or below what was built pins VMs of it that its own does not, or not before it is *written*."""
    if written and (loaded.is_one_root or counts_for(loaded)):
        return
    others = [file for file in _elsewhere(loaded) if file not in loaded.data]
    if not others:
        return
    own_vms = {
        pins.name_of(resource) for d in loaded.documents if (resource := from_body(d.body, 0)).spec
    }
    for document in loaded.documents:
        if _is_own(document.body):
            own_vms -= (document.body.get("pins") or {}).keys()
    for file in others:
        data = request.reading.buffers.read(file, request.reading.limits.file_bytes)
        documents = (
            read(data, file, request.reading.limits).documents if isinstance(data, bytes) else []
        )
        known = {
            vm
            for document in documents
            if _is_own(document.body)
            for vm in document.body.get("pins") or ()
        }
        known -= loaded.locked.get(file, frozenset())
        if known & own_vms:
            yield _unused_lock(file, min(known & own_vms), loaded.folder, written=written)


def _unused_lock(file: str, vm: str, folder: str, *, written: bool) -> Diagnostic:
    """That the lock *file* pins a *vm* of *folder*, which has its own, from now on where that is *written*.

    What is pinned anew is pinned to what it names today: a copy of the lock keeps what it is pinned to.
    """
    place = Location(file=file)
    around, own = os.path.dirname(file) or os.curdir, tidy(os.path.join(folder, LOCK))
    copy = "" if os.path.lexists(own) else f"cp {file} {own}"
    if not written:
        keeping = f"run {copy}, which keeps what it pins, and virt-render pin {folder}"
        anew = f"run virt-render pin {folder}, which pins {vm} to what it names today"
        cure = f"{keeping if copy else anew}; remove this one if nothing else needs it"
        return codes.LOCK_UNUSED.at(
            place, f"{file} pins {vm}, and is not used for {folder}", help=cure
        )
    keeping = f"{copy} keeps what it pins, and " if copy else ""
    return codes.LOCK_UNUSED.at(
        place,
        f"{file} pins {vm} as well, and no longer counts for {folder}, which gets a lock of its own",
        help=f"if that is meant, {keeping}virt-render pin {around} leaves these VMs to the new lock;"
        f" else remove {own}, and pin {around} alone",
    )


def _elsewhere(loaded: Documents) -> Iterator[str]:
    """The locks in folders above that of *loaded*, up to its repository, and in those that it was built from."""
    here = real_path(loaded.folder)
    top = repository(here)
    folder = here
    while top and folder != top:
        folder = os.path.dirname(folder)
        yield from _lock_in(folder)
    for below in sorted(loaded.bases):
        for file in _lock_in(below):
            if real_path(below) != here:
                yield file


def _lock_in(folder: str) -> Iterator[str]:
    file = os.path.normpath(os.path.join(folder, LOCK))
    if os.path.lexists(file):
        yield tidy(os.path.relpath(file))


def _is_lock(file: str) -> bool:
    return os.path.basename(file) == LOCK


def _is_own(body: object) -> bool:
    group = text_at(body, "apiVersion").rpartition("/")[0]
    return group == OWN and text_at(body, "kind") == LOCK_KIND


def marked(data: bytes, file: str) -> Diagnostic | None:
    """That the lock *data* has conflict markers, with the place of the first; None if it has none."""
    marker = re.search(_MARKER, data)
    if marker is None:
        return None
    line = data.count(b"\n", 0, marker.start()) + 1
    return codes.LOCK_HALF_MERGED.at(
        Location(file=file, line=line, column=1),
        "the lock is half-merged: it has git's conflict markers",
        help="run virt-render pin --resolve",
    )
