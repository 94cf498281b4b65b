"""The files of a commit in a folder of their own, within what that may cost."""

import os
import stat
import subprocess
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.system import git
from render.system.files import LISTING, MOST_AROUND, is_checkout, real_path, repository
from render.system.git import GitError
from render.system.programs import processes

_LINK, _EXECUTABLE, _REGULAR = b"120000", b"100755", b"100644"
_CLOSED = b"100000"
"""The mode of a file of the work tree that may not be read."""
_HERE = b"-"
"""Stands for the object of a file that is read in the work tree."""
_ORIGIN, _WORDS, _ABSENT = "origin", "words", "absent"
_CHANGED = "changed"
_NO_SIZE = -1
"""Of a file that is missing in the repository: a partial clone has not fetched it."""
MOST_FILES = 100_000
"""Of a commit; a small tree that holds itself many times over has any number."""
_FIRST_FOLDERS = 8
"""Of too many around a file of a commit those that are named."""
_LINE = 400
"""Bytes in which git lists a file, at most on average."""
_BATCH = 16 << 20
"""Bytes of files that are asked of git at once."""
_LARGE = 8 << 20
"""What is larger and no YAML, JSON or packed chart by its name is of no consequence for any object."""
_LONGEST_LINK = 4096
_CHART, _KUSTOMIZATION = b"Chart.yaml", b"Kustomization"
_WORD = pattern(rb"[\w.+-]+")
_ASKING = b"ApplicationSet"
_PACKED = b".tgz"
_ATTRIBUTES = b".gitattributes"
_LEAVING_OUT = (_ATTRIBUTES, b".sourceignore")
"""What says how others get the files: git, and Flux."""
_ENCODING, _FILTER, _IDENT = "working-tree-encoding", "filter", "ident"
_AS_STORED = frozenset({"unspecified", "unset", "set", "lfs", "utf-8", "utf8"})
"""Values of both with which git writes a text as it is stored; pointers of LFS are known by what they say."""
_PATIENCE = 30.0
"""Seconds for git to say which files have which attributes: patterns times files."""
_TEXTS = (b".yaml", b".yml", b".json", _PACKED)
_JSONNET = (b".jsonnet", b".libsonnet")
"""What nothing of ours evaluates, and is counted where it holds VMs."""


class Most(NamedTuple):
    """What is read: files of so many bytes, and so many bytes of all of them."""

    file_bytes: int
    total_bytes: int


class CheckoutScope(NamedTuple):
    """What of a revision is laid out, and what of it need not be there.

    Files that the *other* checkout has too are hard links to its own: nobody writes to either. What nobody can read
    for an object is left out, see `_counts`, but for *paths*; so is what is missing in the repository where the
    revision *beside* has the same file.
    """

    other: str = ""
    paths: Sequence[str] = ()
    beside: str = ""


EVERYTHING = CheckoutScope()
#: Stands for a revision: the work tree, with what a sparse checkout leaves out of it as the index has that.
WORK_TREE = ":"


@contextmanager
def checkout(
    top: str, revision: str, most: Most, scope: CheckoutScope = EVERYTHING
) -> Iterator[str]:
    """A temporary folder with the files of *revision*, made without a look at the work tree unless it is that.

    Raises GitError.

    The files are written as git stores them: filters of the repository (LFS) are not run. Of what is larger than
    *most* says, only the size is true. `absent` names what the *scope* leaves out because it is missing, `changed`
    what git would write otherwise.
    """
    with processes.temporary_folder() as folder:
        tree = os.path.join(folder, "tree")
        os.makedirs(os.path.join(tree, ".git"))  # by this others see where the repository begins
        listed = _listed(top, revision)
        submodules, entries = _submodules_apart(_entries(listed))
        _mark_submodules(tree, submodules)
        with open(os.path.join(folder, LISTING), "xb") as listing:
            listing.write(listed)
        with open(os.path.join(folder, _ORIGIN), "xb") as origin:
            origin.write(os.fsencode(real_path(top)))
        named = [os.fsencode(os.path.normpath(path)) for path in scope.paths]
        entries, missing = _but_for_missing(entries, named, top, scope.beside)
        with open(os.path.join(folder, _ABSENT), "xb") as names:
            names.write(b"\0".join(entry.name for entry in missing if entry.is_text))
        words = _lay_out(top, entries, tree, most, scope.other, named)
        with open(os.path.join(folder, _WORDS), "xb") as known:
            known.write(b"\n".join(words))
        with open(os.path.join(folder, _CHANGED), "xb") as names:
            names.write(b"\0".join(_changed(top, entries, tree)))
        yield tree


def absent(tree: str) -> list[str]:
    """The texts that the checkout *tree* has not, since they are missing in the repository."""
    return _names(tree, _ABSENT)


def changed(tree: str) -> list[str]:
    """The texts of the checkout *tree* that git may write otherwise than it stores them, by their attributes."""
    return _names(tree, _CHANGED)


def holds(top: str, path: str) -> bool:
    """Whether anything is at *path* in the repository *top*, or in the commit of which that is a checkout.

    Nobody knows what is in a submodule that is not here: then the answer is yes.
    """
    around = os.path.join(top, path)
    if os.path.lexists(around):
        return True
    while not os.path.lexists(around):
        around = os.path.dirname(around)
    try:
        if around != top and ((repository(around) or top) != top or not os.listdir(around)):
            return True
        if not is_checkout(top):
            return False
        with open(os.path.join(os.path.dirname(top), LISTING), "rb") as listing:
            listed = listing.read()
    except OSError:
        return False
    return b"\t%s/" % os.fsencode(path) in listed


def is_whole(top: str) -> bool:
    """Whether all that the repository *top* has is here: nothing is left out, and no submodule is missing."""
    try:
        return is_checkout(top) or not (git.skipped(top) or git.absent_submodules(top))
    except (OSError, GitError):  # no repository, which has what is there
        return True


def _names(tree: str, listing: str) -> list[str]:
    with open(os.path.join(os.path.dirname(tree), listing), "rb") as names:
        return [os.fsdecode(name) for name in names.read().split(b"\0") if name]


def remotes(top: str) -> tuple[str, ...]:
    """The addresses of the repository *top*, or of the one of which that is a checkout; none where nobody knows."""
    with suppress(OSError, GitError):
        if is_checkout(top):
            with open(os.path.join(os.path.dirname(top), _ORIGIN), "rb") as origin:
                top = os.fsdecode(origin.read())
        own = os.path.join(top, ".git")
        if os.path.isfile(own) or os.listdir(own):  # a worktree and a submodule have a file there
            return git.remotes(top)
    return ()


class _TreeEntry(NamedTuple):
    """A file of a commit as its tree has it."""

    mode: bytes
    id: bytes
    size: int
    name: bytes

    @property
    def state(self) -> str:
        """Of what it is a file, in words."""
        return "working tree" if self.id == _HERE else "commit"

    @property
    def is_text(self) -> bool:
        """Whether an object may stand in it, by its name."""
        return self.name.lower().endswith(_TEXTS)

    @property
    def is_reading(self) -> bool:
        """Whether what it says may be the name of another file: it is a text, or leads to one."""
        is_text = self.is_text and not self.name.lower().endswith(_PACKED)
        return is_text or self.mode == _LINK or os.path.basename(self.name) == _KUSTOMIZATION


def _listed(top: str, revision: str) -> bytes:
    """What git lists of *revision*, or the like of the work tree. Raises GitError, also where that is too much."""
    if revision == WORK_TREE:
        state, listed = "working tree", _listed_here(top)
    else:
        words = ("ls-tree", "-r", "-z", "--full-tree", "-l", revision)
        state, listed = "commit", git.run(top, *words, most=MOST_FILES * _LINE)
    if listed.count(b"\0") > MOST_FILES or len(listed) > MOST_FILES * _LINE:
        raise GitError(
            f"the {state} has more than {MOST_FILES:,} files; check out both states (git worktree add), and name the"
            " two folders"
        )
    return listed


def _listed_here(top: str) -> bytes:
    """The files of the work tree as git lists those of a commit; what is not here is as the index has it.

    Raises GitError.
    """
    found = git.skipped(top)
    sizes = git.sizes(top, [id_ for _, id_, _ in found])
    lines = [
        b"%s blob %s %s\t%s\0" % (mode, id_, size, name)
        for (mode, id_, name), size in zip(found, sizes, strict=True)
    ]
    for name in git.files_of(top, MOST_FILES * _LINE):
        with suppress(OSError):  # removed, or in a closed folder: git has no such file here either
            mode, size = _looked_up(os.path.join(os.fsencode(top), name))
            if mode:
                lines.append(b"%s blob %s %d\t%s\0" % (mode, _HERE, size, name.rstrip(b"/")))
    return b"".join(lines)


def _looked_up(path: bytes) -> tuple[bytes, int]:
    """The mode of what is at *path*, as git has it, and its size; no mode of what git does not read. Raises OSError."""
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        return _LINK, status.st_size
    if stat.S_ISDIR(status.st_mode):
        names = os.listdir(path)
        return (git.SUBMODULE if not names or ".git" in map(os.fsdecode, names) else b""), 0
    if not stat.S_ISREG(status.st_mode):
        return b"", 0
    if not os.access(path, os.R_OK):
        return _CLOSED, status.st_size
    return (_EXECUTABLE if status.st_mode & stat.S_IXUSR else _REGULAR), status.st_size


def _entries(listed: bytes) -> Iterator[_TreeEntry]:
    """All that git *listed*. Raises GitError for a name that leads out of the folder, or too deep into it."""
    for line in filter(None, listed.split(b"\0")):
        about, _, name = line.partition(b"\t")
        mode, _, id_, size = about.split()
        steps = name.split(b"/")
        if any(step.lower() in {b"", b".", b"..", b".git"} for step in steps):
            display_name = os.fsdecode(name)
            raise GitError(f"a file of the commit has a name that git refuses: {display_name}")
        if len(steps) > MOST_AROUND + 1:
            first = os.fsdecode(b"/".join(steps[:_FIRST_FOLDERS]))
            raise GitError(
                f"a file of the commit is below more than {MOST_AROUND} folders: {first}/..."
            )
        yield _TreeEntry(mode, id_, int(size) if size.isdigit() else _NO_SIZE, name)


def _submodules_apart(
    entries: Iterable[_TreeEntry],
) -> tuple[list[_TreeEntry], list[_TreeEntry]]:
    """The submodules among *entries*, and the files."""
    submodules: list[_TreeEntry] = []
    others: list[_TreeEntry] = []
    for entry in entries:
        (submodules if entry.mode == git.SUBMODULE else others).append(entry)
    return submodules, others


def _mark_submodules(tree: str, submodules: Iterable[_TreeEntry]) -> None:
    """Make the empty folders in *tree* that git makes of *submodules*, by their ``.git`` to be known as such.

    Raises GitError.
    """
    for entry in submodules:
        folder = os.path.join(os.fsencode(tree), entry.name)
        try:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, b".git"), "xb"):
                pass
        except OSError as error:
            raise _unwritable(os.fsdecode(entry.name), error) from error


def _but_for_missing(
    entries: Sequence[_TreeEntry], paths: Sequence[bytes], top: str, beside: str
) -> tuple[list[_TreeEntry], list[_TreeEntry]]:
    """Those of *entries* that the repository *top* has, and those that it has not.

    Raises GitError for one that may be read for an object, unless the revision *beside* has the same.
    """
    missing = [entry for entry in entries if entry.size == _NO_SIZE]
    if not missing:
        return [*entries], missing
    alike = frozenset(_entries(_listed(top, beside))) if beside else frozenset()
    charts = {os.path.dirname(entry.name) for entry in entries if _is_named(entry, _CHART)}
    for entry in missing:
        if entry not in alike and _counts(entry, charts, paths):
            raise GitError(f"{os.fsdecode(entry.name)} is missing in the repository")
    return [entry for entry in entries if entry.size != _NO_SIZE], missing


def _counts(entry: _TreeEntry, charts: Collection[bytes], paths: Sequence[bytes]) -> bool:
    """Whether *entry* may be read for an object, whatever others say: a text, or of one of the *charts*, or *paths*."""
    is_looked_at = entry.is_text or entry.is_reading or entry.name.endswith(_JSONNET)
    return is_looked_at or entry.name in paths or _is_in(entry, charts)


def _changed(top: str, entries: Sequence[_TreeEntry], tree: str) -> list[bytes]:
    """The texts among *entries* for which ``.gitattributes`` in *tree* have one of these: see convert.c.

    All of them where git takes too long to say. Raises GitError.
    """
    if not any(_is_named(entry, _ATTRIBUTES) for entry in entries):
        return []
    texts = [
        entry.name
        for entry in entries
        if entry.is_text and entry.mode != _LINK and entry.id != _HERE
    ]
    try:
        listed = git.attributes(top, tree, (_ENCODING, _FILTER, _IDENT), texts, seconds=_PATIENCE)
    except subprocess.TimeoutExpired:
        return texts
    names = {
        name
        for name, attribute, value in listed
        if (value == "set" if attribute == _IDENT else value.lower() not in _AS_STORED)
    }
    return [name for name in texts if name in names]


def _lay_out(  # noqa: PLR0913, PLR0917 - what is written, and where
    top: str,
    entries: Sequence[_TreeEntry],
    tree: str,
    most: Most,
    other: str,
    paths: Sequence[bytes],
) -> frozenset[bytes]:
    """Write those of *entries* below *tree* that may be read, and answer the words that texts among them have.

    Raises GitError, also for names that the file system does not take.
    """
    below = os.fsencode(tree)
    try:
        for path in paths:
            if any(entry.name.startswith(path + b"/") for entry in entries):
                os.makedirs(os.path.join(below, path), exist_ok=True)
        charts = {os.path.dirname(entry.name) for entry in entries if _is_named(entry, _CHART)}
        first = [
            entry
            for entry in entries
            if _counts(entry, charts, paths) or os.path.basename(entry.name) in _LEAVING_OUT
        ]
        writing = _Writing(top, below, other, most)
        # What may hold objects comes before all else: it says what else is read.
        words = writing.write(sorted(first, key=lambda entry: not entry.is_text))
        known = frozenset(first)
        writing.write(
            [entry for entry in entries if entry not in known and _may_be_read(entry, words)]
        )
        writing.link()
    except OSError as error:
        name = os.path.relpath(os.fsencode(error.filename or below), below)
        raise _unwritable(os.fsdecode(name), error) from error
    return words


def _unwritable(name: str, error: OSError) -> GitError:
    return GitError(f"a copy of a file cannot be written: {name}: {error.strerror or error}")


def _is_named(entry: _TreeEntry, name: bytes) -> bool:
    return os.path.basename(entry.name) == name


def _is_in(entry: _TreeEntry, folders: Collection[bytes]) -> bool:
    """Whether *entry* is in or below one of *folders*."""
    folder = entry.name
    while folders and folder:
        folder = os.path.dirname(folder)
        if folder in folders:
            return True
    return False


def _may_be_read(entry: _TreeEntry, words: Collection[bytes]) -> bool:
    """Whether an object may hang on *entry*, which is no text itself and in no chart: one of the texts names it.

    An ApplicationSet may ask for any file, and for folders, by patterns.
    """
    name = os.path.basename(entry.name)
    return name in words or _ASKING in words or _WORD.fullmatch(name) is None


class _Writing:
    """Writes files of the repository *top* into the folder *below*, or links those that the *other* checkout has."""

    def __init__(self, top: str, below: bytes, other: str, most: Most) -> None:
        self._top = top
        self._below = below
        self._other = os.fsencode(other)
        self._most = most
        self._total = 0
        self._links: list[tuple[bytes, bytes]] = []
        self._known: frozenset[_TreeEntry] = frozenset()
        self._words: frozenset[bytes] = frozenset()
        if other:
            beside = os.path.dirname(other)
            with open(os.path.join(beside, LISTING), "rb") as listing:
                self._known = frozenset(_entries(listing.read()))
            with open(os.path.join(beside, _WORDS), "rb") as words:
                self._words = frozenset(words.read().split(b"\n"))

    def write(self, entries: Sequence[_TreeEntry]) -> frozenset[bytes]:
        """Write *entries*, but for links; the answer is the words of all texts until now. Raises GitError, OSError."""
        for name in {os.path.dirname(entry.name) for entry in entries}:
            os.makedirs(os.path.join(self._below, name), exist_ok=True)
        left = [entry for entry in entries if not self._is_linked(entry)]
        unread = set()
        for entry in self._unread(left):
            unread.add(entry.name)
            _write_size(os.path.join(self._below, entry.name), entry.size)
            if entry.mode == _CLOSED:  # as whoever reads it is told
                os.chmod(os.path.join(self._below, entry.name), 0)
        words = set(self._words)
        for batch in _batches([entry for entry in left if entry.name not in unread]):
            for entry, data in zip(batch, _blobs(self._top, batch), strict=True):
                path = os.path.join(self._below, entry.name)
                if entry.is_reading:
                    words.update(_WORD.findall(data))
                if entry.mode == _LINK:
                    self._links.append((data, path))
                else:
                    _write(path, entry.mode, data)
        self._words = frozenset(words)
        return self._words

    def link(self) -> None:
        """Write the links, last, so that nothing is written through one."""
        for target, path in self._links:
            if os.path.lexists(path):  # of the work tree, where the index has a folder
                continue
            with suppress(OSError):  # git cannot lay out such a link either
                os.symlink(target.partition(b"\0")[0], path)  # as far as git passes it on

    def _is_linked(self, entry: _TreeEntry) -> bool:
        """Whether *entry* could be linked to the other checkout's: not every file system can."""
        if entry.mode == _LINK or entry not in self._known:
            return False
        try:
            os.link(os.path.join(self._other, entry.name), os.path.join(self._below, entry.name))
        except OSError:
            return False
        return True

    def _unread(self, entries: Sequence[_TreeEntry]) -> Iterator[_TreeEntry]:
        """Those of *entries* that are not read. Raises GitError where that would leave out what may hold objects."""
        for entry in entries:
            largest = self._most.file_bytes
            if not entry.is_text:
                largest = min(largest, _LARGE)
            is_large = entry.size > (_LONGEST_LINK if entry.mode == _LINK else largest)
            if is_large or entry.mode == _CLOSED:
                yield entry
            elif self._total + entry.size <= self._most.total_bytes:
                self._total += entry.size
            elif entry.is_text:
                raise GitError(
                    f"the YAML and JSON of the {entry.state} is larger than {self._most.total_bytes:,} bytes: raise"
                    " --max-total-bytes if all of it is meant to be read"
                )
            else:
                yield entry


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
    """What each of *entries* says. Raises GitError."""
    stored = git.objects(top, [entry.id for entry in entries if entry.id != _HERE])
    for entry in entries:
        data = _read_here(top, entry) if entry.id == _HERE else next(stored)
        if data is None:
            raise GitError(f"{os.fsdecode(entry.name)} is missing in the repository")
        yield data


def _read_here(top: str, entry: _TreeEntry) -> bytes:
    """What a file of the work tree says, as far as it was when it was listed. Raises GitError."""
    path = os.path.join(os.fsencode(top), entry.name)
    try:
        if entry.mode == _LINK:
            return os.readlink(path)
        with open(path, "rb") as file:
            return file.read(entry.size)
    except OSError as error:
        name = os.fsdecode(entry.name)
        message = f"a file of the working tree cannot be read: {name}: {error.strerror or error}"
        raise GitError(message) from error


def _write(path: bytes, mode: bytes, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)
    if mode == _EXECUTABLE:
        os.chmod(path, 0o755)  # noqa: S103 - as git does


def _write_size(path: bytes, size: int) -> None:
    """A file of *size* bytes, which takes no room: whoever is not to read so much refuses it by its size."""
    with open(path, "xb") as file:
        file.truncate(size)
