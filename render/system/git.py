"""What git knows, asked through its own binary; the work tree and the index stay as they are."""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.system import processes

_MARKER = re.compile(rb"^(<{7}|\|{7}|={7}|>{7})( |\r?$)")
#: No program that the repository's own configuration names is started.
_SETTLED = (
    "-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}",
)  # fmt: skip
#: What is missing is not fetched: by the first a git since 2.45, by the second, an empty list, any (transport.c).
_OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
#: How git names the remote of a partial clone that it would fetch an object from.
_PROMISED = "promisor remote"
#: What it says of a name that means no object.
_NO_REVISION = "Needed a single revision"
#: git tells a hook where it was called; whoever asks about a folder means the repository around that.
_OF_A_HOOK = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"})
_LINK, _SUBMODULE, _EXECUTABLE = b"120000", b"160000", b"100755"


class GitError(Exception):
    """Git answered with an error; the text is its own."""

    @property
    def diagnostic(self) -> Diagnostic:
        """The finding that says so."""
        return codes.HISTORY_UNREADABLE.at(Location(), f"git: {self}")


class Commit(NamedTuple):
    """A commit: its hash, those of its parents, the day of its author, and its subject."""

    id: str
    parents: tuple[str, ...]
    date: str
    subject: str


def run(
    folder: str,
    *words: str,
    environ: Mapping[str, str] | None = None,
    without: Collection[str] = (),
    stdin: bytes = b"",
) -> bytes:
    """What ``git WORDS`` prints in *folder*, given *stdin* and *environ*, but none of *without*. Raises GitError."""
    program = processes.program("git")
    if not program:
        raise GitError("git is not installed")
    command = [program, *_SETTLED, *words]
    inherited = {name: value for name, value in os.environ.items() if name not in without}
    fixed = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", **_OFFLINE}
    environment = {**inherited, **fixed, **(environ or {})}
    try:
        done = processes.run(command, folder=folder, environ=environment, stdin=stdin)
    except FileNotFoundError as error:
        raise GitError(f"no folder {folder}") from error
    if done.returncode:
        text = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        if _PROMISED in text:
            raise GitError(
                "the clone is partial and lacks objects of this commit: git fetch --refetch --no-filter"
            )
        raise GitError(text.split("\n")[0] or f"git {words[0]} failed")
    return done.stdout


def sides(file: str) -> tuple[bytes, bytes, bytes] | Diagnostic:
    """The base and both sides of the unfinished merge of *file*; a side that did not have it is empty.

    From git's index while it knows of the merge, else from the conflict markers in the file.
    """
    folder, name = os.path.split(os.path.abspath(file))
    try:
        with open(file, "rb") as stream:
            data = stream.read()
    except OSError as error:
        return codes.UNREADABLE.at(
            Location(file=file), f"cannot read {file}: {error.strerror or error}"
        )
    try:
        listed = run(folder, "ls-files", "--unmerged", "-z", "--", name).split(b"\0")
        stages = {line.split()[2]: line.split()[1].decode() for line in listed if line}
        if stages:
            base, ours, theirs = (
                run(folder, "cat-file", "blob", stages[stage]) if stage in stages else b""
                for stage in (b"1", b"2", b"3")
            )
            return _edited(data, (base, ours, theirs), file) or (base, ours, theirs)
    except GitError:
        pass  # no repository: the markers say it too
    return _from_markers(data, file)


def committed_sides(file: str) -> tuple[bytes, bytes, bytes] | None:
    """The base and both sides of the committed merge of which *file* is the outcome, None where it is not that of one.

    What git merges line by line without a conflict may be no whole file for all that.
    """
    folder, name = os.path.split(os.path.realpath(file))
    try:
        path = os.path.relpath(os.path.join(folder, name), root(folder))
        last = next(iter(commits(folder, name)), None)
        if last is None or len(last.parents) != 2:  # noqa: PLR2004 - ours and theirs
            return None
        with open(file, "rb") as stream:
            if stream.read() != file_at(folder, last.id, path):
                return None
        base = merge_base(folder, *last.parents)
        known, ours, theirs = (file_at(folder, one, path) for one in (base, *last.parents))
    except (GitError, OSError):
        return None
    return known, ours, theirs


def _edited(data: bytes, known: tuple[bytes, bytes, bytes], file: str) -> Diagnostic | None:
    """That *file* is no longer what git left at the conflict, and so holds the work of somebody.

    Git takes every line from one of the sides, leaves out none that a side added or both have, and puts markers.
    """
    lines = data.splitlines()
    base, ours, theirs = (set(side.splitlines()) for side in known)
    texts = {line for line in lines if not _MARKER.match(line)}
    needed = (ours & theirs) | (ours - base) | (theirs - base)
    is_marked = len(texts) < len(set(lines)) or not (ours and theirs)
    if is_marked and needed <= texts <= base | ours | theirs:
        return None
    return codes.MERGE_REFUSED.at(
        Location(file=file),
        f"{file} was edited since git left it with a conflict, and the edits would be lost",
        help=f"to merge both sides anew: git checkout --merge {file}; to keep the edits: git add {file}",
    )


def _from_markers(data: bytes, file: str) -> tuple[bytes, bytes, bytes] | Diagnostic:
    parts: dict[bytes, list[bytes]] = {b"<": [], b"|": [], b"=": []}
    inside, has_marker, has_base = b"", False, False
    for line in data.splitlines(keepends=True):
        marker = _MARKER.match(line)
        if marker:
            has_marker, inside = True, marker[1][:1]
            has_base |= inside == b"|"
        elif inside in parts:
            parts[inside].append(line)
        else:
            for part in parts.values():
                part.append(line)
    if not has_marker:
        message = f"{file} has no conflict, and git knows of none"
        return codes.USAGE.at(Location(file=file), message, help="'virt-render pin' updates a lock")
    base = b"".join(parts[b"|"]) if has_base else b""
    return base, b"".join(parts[b"<"]), b"".join(parts[b"="])


def root(folder: str) -> str:
    """The top of the work tree that holds *folder*. Raises GitError."""
    return run(folder, "rev-parse", "--show-toplevel").decode().rstrip("\n")


def is_bare(folder: str) -> bool:
    """Whether the repository of *folder* has no work tree. Raises GitError."""
    return run(folder, "rev-parse", "--is-bare-repository").strip() == b"true"


def commit(folder: str, revision: str) -> Commit:
    """The commit that *revision* names. Raises GitError."""
    try:
        answer = run(folder, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    except GitError as error:
        if str(error) == _NO_REVISION:
            raise GitError(f"unknown revision {revision}") from error
        raise
    id_ = answer.decode().strip()
    if id_.startswith("^"):  # what is left out of a walk, and so no revision to compare
        raise GitError(f"unknown revision {revision}")
    return _commits(folder, "--max-count=1", id_)[0]


def is_object(folder: str, name: str) -> bool:
    """Whether *name* means an object of the repository around *folder*, if there is one."""
    try:
        run(folder, "rev-parse", "--quiet", "--verify", "--end-of-options", name)
    except GitError:
        return False
    return True


def merge_base(folder: str, revision: str, head: str = "HEAD") -> str:
    """The commit at which *head* and *revision* parted. Raises GitError."""
    commit(folder, revision)  # it says what is wrong with a revision that nobody knows
    try:
        words = ("merge-base", "--end-of-options", head, revision)
        return run(folder, *words).decode().strip()
    except GitError as error:
        shallow = is_shallow(folder)
        cure = ": the clone is shallow, git fetch --unshallow" if shallow else ""
        raise GitError(f"{head} and {revision} have no commit in common{cure}") from error


def commits(folder: str, path: str) -> list[Commit]:
    """The commits that changed *path*, newest first; their parents are such commits too. Raises GitError."""
    try:
        run(folder, "rev-parse", "--quiet", "--verify", "HEAD")
    except GitError as error:
        raise GitError("the repository has no commit yet") from error
    return _commits(folder, "--topo-order", "--parents", "HEAD", "--", path)


def moved_from(folder: str, commit_id: str, path: str) -> str:
    """What *path* was called before the commit, ``""`` where it was not there under any name. Raises GitError."""
    words = ("-r", "-z", "--find-renames", "--diff-filter=R", "--name-status", "--no-commit-id")
    listed = run(folder, "diff-tree", *words, commit_id).decode(errors="replace").split("\0")
    renames = zip(listed[1::3], listed[2::3], strict=False)
    return next((old for old, new in renames if new == path), "")


def _commits(folder: str, *words: str) -> list[Commit]:
    text = run(
        folder, "log", "--no-show-signature", "--format=%H%x00%P%x00%as%x00%s", *words
    ).decode(errors="replace")
    lines = (line.split("\0", 3) for line in text.split("\n") if line)
    return [Commit(id_, tuple(above.split()), date, subject) for id_, above, date, subject in lines]


def ignored(folder: str) -> frozenset[str]:
    """What git ignores below the resolved *folder*; nothing where it ignores all of it. Raises GitError."""
    words = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    listed = run(folder, "ls-files", *words, without=_OF_A_HOOK).split(b"\0")
    if b"./" in listed:
        return frozenset()
    return frozenset(os.path.join(folder, os.fsdecode(one).rstrip("/")) for one in listed if one)


def is_submodule(folder: str) -> bool:
    """Whether the repository around *folder* holds it as a submodule. Raises GitError."""
    above, name = os.path.split(folder)
    words = ("--stage", "-z", "--", f":(literal){name}")
    return run(above, "ls-files", *words, without=_OF_A_HOOK).startswith(_SUBMODULE)


def is_shallow(folder: str) -> bool:
    """Whether the clone lacks history. Raises GitError."""
    return run(folder, "rev-parse", "--is-shallow-repository").strip() == b"true"


def has(top: str, revision: str, path: str) -> bool:
    """Whether *revision* has a file or a folder *path* (from *top*). Raises GitError."""
    return bool(run(top, "ls-tree", "-z", "--full-tree", revision, "--", path))


def file_at(top: str, revision: str, path: str) -> bytes:
    """The file *path* (from *top*) at *revision*, empty where it did not exist. Raises GitError."""
    listed = run(top, "ls-tree", "-z", "--full-tree", revision, "--", path)
    if not listed:
        return b""
    return run(top, "cat-file", "blob", listed.split()[2].decode())


@contextmanager
def checkout(top: str, revision: str, other: str = "") -> Iterator[str]:
    """A temporary folder with all files of *revision*, made without a look at the work tree. Raises GitError.

    The files are written as git stores them: filters of the repository (LFS) are not run. Those that the *other*
    checkout has too are hard links to its own: nobody writes to either.
    """
    with processes.temporary_folder() as folder:
        tree = os.path.join(folder, "tree")
        os.makedirs(os.path.join(tree, ".git"))  # by this others see where the repository begins
        # An index of its own, into which git takes no name that leads out of the folder.
        index = os.path.join(folder, "index")
        run(top, "read-tree", revision, environ={"GIT_INDEX_FILE": index})
        _lay_out(top, _files(top, index), tree, other)
        yield tree


def _lay_out(top: str, files: "list[_IndexEntry]", tree: str, other: str) -> None:
    """Write *files* below *tree*. Raises GitError, also for names that the file system does not take."""
    below = os.fsencode(tree)
    try:
        for name in {os.path.dirname(entry.name) for entry in files}:
            os.makedirs(os.path.join(below, name), exist_ok=True)
        if other:
            there = os.fsencode(other)
            known = frozenset(_files(top, os.path.join(os.path.dirname(other), "index")))
            files = [
                entry
                for entry in files
                if entry not in known or not _is_linked(there, below, entry)
            ]
        # Links come last, so that nothing is written through one.
        files.sort(key=lambda entry: entry.mode == _LINK)
        for entry, data in zip(files, _blobs(top, files), strict=True):
            _write(os.path.join(below, entry.name), entry.mode, data)
    except OSError as error:
        name = os.path.relpath(os.fsencode(error.filename or below), below)
        why = error.strerror or error
        raise GitError(
            f"a file of the commit cannot be written: {os.fsdecode(name)}: {why}"
        ) from error


class _IndexEntry(NamedTuple):
    """A file of a commit as its index has it."""

    mode: bytes
    id: bytes
    name: bytes


def _files(top: str, index: str) -> list[_IndexEntry]:
    """What *index* lists, but for submodules."""
    words = ("--stage", "--full-name", "-z")
    listed = run(top, "ls-files", *words, environ={"GIT_INDEX_FILE": index}).split(b"\0")
    return [entry for entry in map(_entry, filter(None, listed)) if entry.mode != _SUBMODULE]


def _is_linked(there: bytes, here: bytes, entry: _IndexEntry) -> bool:
    """Whether the file *entry* could be linked from one folder to the other: not every file system can."""
    if entry.mode == _LINK:
        return False
    try:
        os.link(os.path.join(there, entry.name), os.path.join(here, entry.name))
    except OSError:
        return False
    return True


def _entry(line: bytes) -> _IndexEntry:
    about, _, name = line.partition(b"\t")
    mode, id_, _ = about.split()
    return _IndexEntry(mode, id_, name)


def _blobs(top: str, files: list[_IndexEntry]) -> Iterator[bytes]:
    asked = b"".join(entry.id + b"\n" for entry in files)
    said, place = run(top, "cat-file", "--batch", "--buffer", stdin=asked), 0
    for entry in files:
        head, place = said[place : (end := said.index(b"\n", place))], end + 1
        size = head.rpartition(b" ")[2]
        if not size.isdigit():
            raise GitError(f"{os.fsdecode(entry.name)} is missing in the repository")
        yield said[place : (place := place + int(size))]
        place += 1


def _write(path: bytes, mode: bytes, data: bytes) -> None:
    if mode == _LINK:
        os.symlink(data, path)
        return
    with open(path, "xb") as file:
        file.write(data)
    if mode == _EXECUTABLE:
        os.chmod(path, 0o755)  # noqa: S103 - as git does
