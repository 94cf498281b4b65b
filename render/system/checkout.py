"""The files of a commit in a folder of their own, within what that may cost."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from render.system import git, processes
from render.system.git import GitError

_LINK, _EXECUTABLE = b"120000", b"100755"
_LISTING, _REMOTES = "listing", "remotes"
MOST_FILES = 100_000
"""Of a commit; a small tree that holds itself many times over has any number."""
_LINE = 400
"""Bytes in which git lists a file, at most on average."""
_BATCH = 16 << 20
"""Bytes of files that are asked of git at once."""
_LARGE = 8 << 20
"""What is larger and no YAML, JSON or packed chart by its name is of no consequence for any object."""
_LONGEST_LINK = 4096
_TEXTS = (b".yaml", b".yml", b".json", b".tgz")


class Most(NamedTuple):
    """What is read: files of so many bytes, and so many bytes of all of them."""

    file_bytes: int
    total_bytes: int


@contextmanager
def checkout(top: str, revision: str, most: Most, other: str = "") -> Iterator[str]:
    """A temporary folder with the files of *revision*, made without a look at the work tree. Raises GitError.

    The files are written as git stores them: filters of the repository (LFS) are not run. Those that the *other*
    checkout has too are hard links to its own: nobody writes to either. Of what is larger than *most* says, only
    the size is true.
    """
    with processes.temporary_folder() as folder:
        tree = os.path.join(folder, "tree")
        os.makedirs(os.path.join(tree, ".git"))  # by this others see where the repository begins
        listed = _listed(top, revision)
        with open(os.path.join(folder, _LISTING), "xb") as listing:
            listing.write(listed)
        with open(os.path.join(folder, _REMOTES), "x", encoding="utf-8") as addresses:
            addresses.write("\n".join(remotes(top)))
        _lay_out(top, _files(listed), tree, most, other)
        yield tree


def remotes(top: str) -> tuple[str, ...]:
    """The addresses of the repository *top*, or of the one of which that is a checkout; none where nobody knows."""
    try:
        if os.listdir(os.path.join(top, ".git")):
            return git.remotes(top)
        with open(os.path.join(os.path.dirname(top), _REMOTES), encoding="utf-8") as addresses:
            return tuple(filter(None, addresses.read().split("\n")))
    except NotADirectoryError:  # a worktree, or a submodule
        with suppress(GitError):
            return git.remotes(top)
    except (OSError, GitError):
        pass
    return ()


class _TreeEntry(NamedTuple):
    """A file of a commit as its tree has it."""

    mode: bytes
    id: bytes
    size: int
    name: bytes

    @property
    def is_text(self) -> bool:
        """Whether an object may stand in it, by its name."""
        return self.name.lower().endswith(_TEXTS)


def _listed(top: str, revision: str) -> bytes:
    """What git lists of *revision*. Raises GitError, also where that is too much."""
    words = ("ls-tree", "-r", "-z", "--full-tree", "-l", revision)
    listed = git.run(top, *words, most=MOST_FILES * _LINE)
    if listed.count(b"\0") > MOST_FILES or len(listed) > MOST_FILES * _LINE:
        raise GitError(
            f"the commit has more than {MOST_FILES:,} files; check out both states (git worktree add), and name the"
            " two folders"
        )
    return listed


def _files(listed: bytes) -> list[_TreeEntry]:
    """The files in what git *listed*, but for submodules. Raises GitError for a name that leads out of the folder."""
    entries = []
    for line in filter(None, listed.split(b"\0")):
        about, _, name = line.partition(b"\t")
        mode, _, id_, size = about.split()
        if mode == git.SUBMODULE:
            continue
        shown = os.fsdecode(name)
        if any(step.lower() in {b"", b".", b"..", b".git"} for step in name.split(b"/")):
            raise GitError(f"a file of the commit has a name that git refuses: {shown}")
        if not size.isdigit():
            raise GitError(f"{shown} is missing in the repository")
        entries.append(_TreeEntry(mode, id_, int(size), name))
    return entries


def _lay_out(top: str, entries: Sequence[_TreeEntry], tree: str, most: Most, other: str) -> None:
    """Write *entries* below *tree*. Raises GitError, also for names that the file system does not take."""
    below = os.fsencode(tree)
    try:
        for name in {os.path.dirname(entry.name) for entry in entries}:
            os.makedirs(os.path.join(below, name), exist_ok=True)
        left = _unlinked(entries, other, below) if other else entries
        # What may hold objects comes before all else, and links last, so that nothing is written through one.
        ordered = sorted(left, key=lambda entry: (entry.mode == _LINK, not entry.is_text))
        unread = {entry.name: entry.size for entry in _unread(ordered, most)}
        for name, size in unread.items():
            _write_size(os.path.join(below, name), size)
        for batch in _batches([entry for entry in ordered if entry.name not in unread]):
            for entry, data in zip(batch, _blobs(top, batch), strict=True):
                _write(os.path.join(below, entry.name), entry.mode, data)
    except OSError as error:
        name = os.path.relpath(os.fsencode(error.filename or below), below)
        why = error.strerror or error
        raise GitError(
            f"a file of the commit cannot be written: {os.fsdecode(name)}: {why}"
        ) from error


def _unread(entries: Sequence[_TreeEntry], most: Most) -> Iterator[_TreeEntry]:
    """Those of *entries* that are not read. Raises GitError where that would leave out what may hold objects."""
    total = 0
    for entry in entries:
        largest = most.file_bytes if entry.is_text else min(most.file_bytes, _LARGE)
        if entry.size > (_LONGEST_LINK if entry.mode == _LINK else largest):
            yield entry
        elif total + entry.size <= most.total_bytes:
            total += entry.size
        elif entry.is_text:
            raise GitError(
                f"the YAML and JSON of the commit is larger than {most.total_bytes:,} bytes: raise --max-total-bytes if"
                " all of it is meant to be read"
            )
        else:
            yield entry


def _unlinked(entries: Sequence[_TreeEntry], other: str, below: bytes) -> list[_TreeEntry]:
    """Those of *entries* that could not be linked from the *other* checkout to the folder *below*."""
    there = os.fsencode(other)
    with open(os.path.join(os.path.dirname(other), _LISTING), "rb") as listing:
        known = frozenset(_files(listing.read()))
    return [entry for entry in entries if entry not in known or not _is_linked(there, below, entry)]


def _is_linked(there: bytes, here: bytes, entry: _TreeEntry) -> bool:
    """Whether the file *entry* could be linked from one folder to the other: not every file system can."""
    if entry.mode == _LINK:
        return False
    try:
        os.link(os.path.join(there, entry.name), os.path.join(here, entry.name))
    except OSError:
        return False
    return True


def _batches(entries: Sequence[_TreeEntry]) -> Iterator[list[_TreeEntry]]:
    """*entries* in parts of about `_BATCH` bytes."""
    batch: list[_TreeEntry] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += entry.size
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _blobs(top: str, entries: Sequence[_TreeEntry]) -> Iterator[bytes]:
    for entry, data in zip(entries, git.objects(top, [entry.id for entry in entries]), strict=True):
        if data is None:
            raise GitError(f"{os.fsdecode(entry.name)} is missing in the repository")
        yield data


def _write(path: bytes, mode: bytes, data: bytes) -> None:
    if mode == _LINK:
        os.symlink(data, path)
        return
    with open(path, "xb") as file:
        file.write(data)
    if mode == _EXECUTABLE:
        os.chmod(path, 0o755)  # noqa: S103 - as git does


def _write_size(path: bytes, size: int) -> None:
    """A file of *size* bytes, which takes no room: whoever is not to read so much refuses it by its size."""
    with open(path, "xb") as file:
        file.truncate(size)
