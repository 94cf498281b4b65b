"""What git knows, asked through its own binary; the work tree and the index stay as they are."""

import contextlib
import os
import stat
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.model.named_tuple import NamedTuple
from render.model.nearest import nearest
from render.model.regex import pattern
from render.system import files
from render.system.files import real_path
from render.system.programs import processes
from render.system.programs.box import FENCED, fence

_MARKER = pattern(rb"^(<{7}|\|{7}|={7}|>{7})( |\r?$)")
#: No program that the repository's own configuration names is started, and what git says is text.
_SETTLED = (
    "-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}",
    "-c", "i18n.logOutputEncoding=UTF-8", "-c", "color.ui=never",
    "-c", f"diff.orderFile={os.devnull}", "-c", "log.showRoot=true",
    "-c", "log.follow=false",
)  # fmt: skip
#: A folder that has what a bare repository has, among the files of another one, is no repository.
_FOUND = ("-c", "safe.bareRepository=explicit")
#: What is missing is not fetched: by the first a git since 2.45, by the second, an empty list, any (transport.c).
_OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
#: A commit is what its name says, with the parents that it says, whatever is put in its place (replace, grafts).
_AS_COMMITTED = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull}
_FIXED = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", **_AS_COMMITTED, **_OFFLINE}
#: What it says, and what to do about it: of a repository that is another user's, and where there is none.
_CURES = {
    "detected dubious ownership":
        "run it as the owner of the files, or have git trust them: git config --global --add safe.directory FOLDER",
    "not a git repository": "name a PATH in a repository of git, or make one: git init",
}  # fmt: skip
#: How git names the remote of a partial clone that it would fetch an object from.
_PROMISED = "promisor remote"
#: What it says of a name that means no object.
_NO_REVISION = "Needed a single revision"
#: What stands in a revision behind the name of a branch or a tag: ``~2``, ``^``, ``@{1}``.
_STEPS_BACK = pattern(r"[~^@:]")
#: What may be the name of a branch, and needs no quotes in a shell; and the id of a commit.
_BRANCH = pattern(r"\w[\w./-]*\Z")
_ID = pattern(r"[0-9a-f]{40}\Z")
_FETCHED = "FETCH_HEAD"
#: What default branches are called, also where a clone has none.
_USUAL = ("main", "master")
#: How what it says begins that is not why it failed.
_ASIDE = ("warning: ", "hint: ")
#: How many settings more there are, of which variables have the keys and values.
_COUNT = "GIT_CONFIG_COUNT"
#: git tells a hook where it was called; whoever asks about a folder means the repository around that.
_OF_A_HOOK = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"})
SUBMODULE = b"160000"
#: What ``git check-ignore --verbose`` says of a path: the file, line and text of the pattern, and the path.
_FIELDS = 4
#: What it may take: a repository may be packed so that a little of it unfolds to much.
_BOUNDS = {"RLIMIT_DATA": 4 << 30, "RLIMIT_CPU": 300, "RLIMIT_CORE": 0}
#: What to do about a name that nothing has.
_CURE = "name a commit, or a branch that 'git branch --all' lists; 'git fetch' gets those that the clone lacks"
#: What to do where there is none at all.
_NO_COMMIT = "the repository has no commit yet"
_FIRST = "make the first one: git add . && git commit"
#: How git tags what is not compared with the work tree: what a sparse checkout leaves out.
_SKIPPED = b"S "
_IGNORE_FILE = ".gitignore"
_SUBMODULES_FILE = ".gitmodules"
_PATIENCE = 10.0
"""Seconds after which is looked for what git may wait for."""
_IGNORING = 20
"""Seconds of a processor for the patterns of a repository: some take git longer than anybody lives."""
#: How git is asked for the day of a commit, and what it prints of one that it cannot read.
_DAY = "%as"
_LONGEST_SUBJECT = 200
_WORDS_AT_ONCE = 400
"""Names, each as long as any path, that a command is started with: the system takes two megabytes."""
_AT_ONCE = 64
"""Objects, each as large as any file, that are asked of git at once."""


class GitError(Exception):
    """Git answered with an error; the text is its own, and *cure* says what to do."""

    def __init__(self, text: str, cure: str = "") -> None:
        super().__init__(text)
        self.cure = cure

    @property
    def diagnostic(self) -> Diagnostic:
        """The finding that says so."""
        return codes.HISTORY_UNREADABLE.at(Location(), f"git: {self}", help=self.cure)


class StuckError(GitError):
    """Git would wait without an end for what stands in the place of *file*, which it reads."""

    def __init__(self, file: str) -> None:
        super().__init__(f"{file} is no regular file, and git waits for it")
        self.file = file


class ExhaustedError(GitError):
    """Git was ended since it took more than *seconds* of a processor to do what *command* says."""

    def __init__(self, command: str, seconds: int) -> None:
        super().__init__(f"git {command} took more than {seconds} seconds of a processor")


class FolderError(GitError):
    """Git cannot be asked about *folder*, in which the system lets nobody work: *error* says why."""

    def __init__(self, folder: str, error: OSError) -> None:
        self._fault = files.unreadable(os.path.relpath(folder), error)
        super().__init__(self._fault.message)

    @property
    def diagnostic(self) -> Diagnostic:
        """The finding that says so: of a path that cannot be read, as whoever reads it says it."""
        return self._fault


class Commit(NamedTuple):
    """A commit: its hash, that of its tree, those of its parents, the day of its author, and how its subject begins.

    The day is ``""`` where the commit has none that git can read.
    """

    id: str
    tree: str
    parents: tuple[str, ...]
    date: str
    subject: str


def run(  # noqa: PLR0913 - what a program is started with
    folder: str,
    *words: str,
    around: Mapping[str, str] | None = None,
    without: Collection[str] = (),
    stdin: bytes = b"",
    most: int = sys.maxsize,
    seconds: float | None = None,
    processor_seconds: int = _BOUNDS["RLIMIT_CPU"],
    nothing: int = 0,
) -> bytes:
    """What ``git WORDS`` prints about the repository around *folder*, given *stdin*. Raises GitError.

    Which repository that is, we say in the variables *around*: git would take a folder for one that only has the files
    of one, and the work tree where its configuration has it. *without*: variables of ours that git is not given. Once
    it has printed more than *most* bytes it is stopped, and the answer is a byte longer than that. *nothing* is the
    status by which it says that there is no answer. Raises TimeoutExpired after *seconds*, ExhaustedError after
    *processor_seconds*.
    """
    if around is None:
        around = _around(folder, without)
    program = processes.program("git")
    if not program:
        raise GitError("git is not installed", "install git: it alone reads commits")
    command = [program, *_SETTLED, *words]
    inherited = {name: value for name, value in os.environ.items() if name not in without}
    environment = {**inherited, **_FIXED, **around}
    spent: list[float] = []
    bounds = {**_BOUNDS, "RLIMIT_CPU": processor_seconds}
    with _working_in(folder):
        done = processes.run(
            command, folder=folder, environ=environment, stdin=stdin, seconds=seconds, most=most, enter=fence(),
            bounds=bounds, spend=spent.append, supervisor=FENCED.supervisor(command, environment, bounds),
        )  # fmt: skip
    if done.returncode < 0 and sum(spent) > processor_seconds - 0.5:  # the kernel counts in ticks
        raise ExhaustedError(words[0], processor_seconds)
    if done.returncode not in {0, nothing} and len(done.stdout) <= most:
        raise _refusal(done.stderr, words[0])
    return done.stdout


def _around(folder: str, without: Collection[str] = ()) -> dict[str, str]:
    """The variables by which git knows the repository around *folder*, unless ours say which. Raises GitError."""
    return {} if "GIT_DIR" in os.environ.keys() - set(without) else _repository(folder)


def _repository(folder: str) -> dict[str, str]:
    """The variables by which git knows the repository around *folder*. Raises GitError."""
    top = files.repository(real_path(folder))
    return _repository_at(top) if top else {}


@cache
def _repository_at(top: str) -> dict[str, str]:
    """The same for the one whose ``.git`` stands in *top*; git itself says whether it trusts its owner."""
    words = ("rev-parse", "--absolute-git-dir")
    git_dir = os.fsdecode(run(top, *_FOUND, *words, around={}, without=_OF_A_HOOK)).rstrip("\n")
    above, name = os.path.split(git_dir)
    is_above = name == ".git" and f"{top}/".startswith(f"{above.rstrip('/')}/")
    return {"GIT_DIR": git_dir, "GIT_WORK_TREE": above if is_above else top}


@contextlib.contextmanager
def _working_in(folder: str) -> Iterator[None]:
    """Raise FolderError for what the system says of a *folder* in which nobody can work."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        raise FolderError(folder, error) from error


def _refusal(stderr: bytes, command: str) -> GitError:
    """What is wrong where git *command* failed and said *stderr*."""
    text = stderr.decode(errors="replace").strip().removeprefix("fatal: ")
    if _PROMISED in text:
        return GitError(
            "the clone is partial and lacks objects of this commit: git fetch --refetch --no-filter"
        )
    cure = next((advice for answer, advice in _CURES.items() if answer in text), "")
    lines = [line for line in text.split("\n") if not line.startswith(_ASIDE)]
    return GitError((lines or [""])[0].removeprefix("fatal: ") or f"git {command} failed", cure)


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
            base, ours, incoming = (
                run(folder, "cat-file", "blob", stages[stage]) if stage in stages else b""
                for stage in (b"1", b"2", b"3")
            )
            return _edited(data, (base, ours, incoming), file) or (base, ours, incoming)
    except GitError:
        pass  # no repository: the markers say it too
    return _from_markers(data, file)


def committed_sides(file: str) -> tuple[bytes, bytes, bytes] | None:
    """The base and both sides of the committed merge of which *file* is the outcome, None where it is not that of one.

    What git merges line by line without a conflict may be no whole file for all that.
    """
    folder, name = os.path.split(real_path(file))
    try:
        path = os.path.relpath(os.path.join(folder, name), root(folder))
        last = next(iter(commits(folder, name)), None)
        if last is None or len(last.parents) != 2:  # noqa: PLR2004 - ours and theirs
            return None
        with open(file, "rb") as stream:
            if stream.read() != file_at(folder, last.id, path):
                return None
        base = merge_base(folder, *last.parents)
        known, ours, incoming = (
            file_at(folder, revision, path) for revision in (base, *last.parents)
        )
    except (GitError, OSError):
        return None
    return known, ours, incoming


def _edited(data: bytes, known: tuple[bytes, bytes, bytes], file: str) -> Diagnostic | None:
    """That *file* is no longer what git left at the conflict, and so holds the work of somebody.

    Git takes every line from one of the sides, leaves out none that a side added or both have, and puts markers.
    """
    lines = data.splitlines()
    base, ours, incoming = (set(side.splitlines()) for side in known)
    texts = {line for line in lines if not _MARKER.match(line)}
    needed = (ours & incoming) | (ours - base) | (incoming - base)
    is_marked = len(texts) < len(set(lines)) or not (ours and incoming)
    if is_marked and needed <= texts <= base | ours | incoming:
        return None
    import shlex

    word = shlex.quote(file)
    return codes.MERGE_REFUSED.at(
        Location(file=file),
        f"{file} was edited since git left it with a conflict, and the edits would be lost",
        help=f"to merge both sides anew: git checkout --merge {word}; to keep the edits: git add {word}",
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
    known = _around(folder).get("GIT_WORK_TREE")
    if known is None:
        return run(folder, "rev-parse", "--show-toplevel").decode().rstrip("\n")
    with _working_in(folder):
        os.stat(os.path.join(folder, os.curdir))
    return known


def is_bare(folder: str) -> bool:
    """Whether the repository of *folder* has no work tree. Raises GitError."""
    if _around(folder):
        return False
    return run(folder, "rev-parse", "--is-bare-repository").strip() == b"true"


#: What every repository has, whether it was made there or not.
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def commit(folder: str, revision: str) -> Commit:
    """The commit that *revision* names. Raises GitError."""
    return _commits(folder, "--max-count=1", commit_id(folder, revision))[0]


def commit_id(folder: str, revision: str) -> str:
    """The id of the commit that *revision* names. Raises GitError."""
    try:
        answer = run(folder, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    except GitError as error:
        if str(error) == _NO_REVISION:
            raise _unknown(folder, revision) from error
        raise
    id_ = answer.decode().strip()
    if id_.startswith("^"):  # what is left out of a walk, and so no revision to compare
        raise _unknown(folder, revision)
    return id_


def tag_of_a_branch(folder: str, revision: str) -> str:
    """The tag that *revision* means though a branch is called so, too; ``""`` for others. Raises GitError.

    Upstream: git's gitrevisions, by which tags come first; git itself only warns that the name is ambiguous.
    """
    name = _STEPS_BACK.split(revision, maxsplit=1)[0]
    if name in ("", "HEAD") or name.startswith(("refs/", "-")):
        return ""
    both = {f"refs/{kind}/{name}" for kind in ("tags", "heads")}
    found = run(folder, "for-each-ref", "--format=%(refname)", *sorted(both))
    return name if both <= {*found.decode(errors="replace").split()} else ""


def _unknown(folder: str, revision: str) -> GitError:
    """That nothing is called *revision*, and the branch or tag that may be meant; or that there is no commit."""
    name = _STEPS_BACK.split(revision, maxsplit=1)[0]
    names = (
        run(folder, "for-each-ref", "--format=%(refname:lstrip=2)").decode(errors="replace").split()
    )
    if not names and not is_object(folder, "HEAD"):
        return GitError(_NO_COMMIT, _FIRST)
    is_known = name in {"HEAD", *names}
    near = "" if is_known else _nearest(name, names)
    usual = "" if is_known or near or name in _USUAL else nearest(name, _USUAL)
    if usual and (fetch := _fetch(folder, usual, is_known=False)):
        cure = f"did you mean {usual}{revision.removeprefix(name)}? It is not here: {fetch}"
        return GitError(f"unknown revision {revision}", cure)
    fetch, is_cut = _fetch(folder, name, is_known=is_known), is_shallow(folder)
    cure = f"the clone is shallow: {fetch}" if is_cut else fetch or _CURE
    if near:
        meant = f"did you mean {near}{revision.removeprefix(name)}?"
        cure = f"{meant} If not, {cure}" if is_cut else meant
    return GitError(f"unknown revision {revision}", cure)


def _nearest(name: str, names: Sequence[str]) -> str:
    """The one of *names* that *name* nearly is: of the same remote, which makes no two branches alike."""
    start = name[: name.find("/") + 1]
    same = [known.removeprefix(start) for known in names if known.startswith(start)]
    branches = [known for known in same or names if known != "HEAD"]
    near = nearest(name.removeprefix(start) if same else name, branches)
    return f"{start if same else ''}{near}" if near else ""


def remote_of(folder: str) -> str:
    """The remote whose default branch is meant: ``origin``, else the only one, ``""`` for none. Raises GitError."""
    remotes = run(folder, "remote").decode(errors="replace").split()
    return "origin" if "origin" in remotes else remotes[0] if len(remotes) == 1 else ""


def fetch_of_default(folder: str) -> str:
    """The command after which the default branch of the remote is known here, with its history, if there is a remote.

    What it is called there, nobody knows here: its name is HEAD, too. A clone of a single branch keeps what a plain
    ``git fetch`` brings under no name.
    """
    remote = remote_of(folder)
    deep = " --unshallow" if is_shallow(folder) else ""
    return f"git fetch{deep} {remote} HEAD:refs/remotes/{remote}/HEAD" if remote else ""


def _fetch(folder: str, name: str, *, is_known: bool) -> str:
    """The command that brings what *name* means, or what came before it; nothing where its name tells none."""
    remotes = run(folder, "remote").decode(errors="replace").split()
    deep = " --unshallow" if is_shallow(folder) else ""
    is_plain, (remote, _, rest) = bool(_BRANCH.match(name)) and not is_known, name.partition("/")
    if is_plain and rest and remote in remotes:
        return f"git fetch{deep} {remote} {rest}:refs/remotes/{name}"
    remote = remotes[0] if len(remotes) == 1 else "origin"
    if name == _FETCHED:  # any other fetch would make it another commit
        wanted = commit_id(folder, name) if is_object(folder, name) else "BRANCH"
        return f"git fetch{deep} {remote} {wanted}"
    if is_plain and remote in remotes and (deep or _is_of_one_branch(folder, remote)):
        wanted = name if _ID.match(name) else f"{name}:{name}"
        aside = " (for BASE..HEAD --depth=1 is enough)" if deep else ""
        return f"git fetch{deep} {remote} {wanted}{aside}"
    return f"git fetch{deep}" if deep else ""


def _is_of_one_branch(folder: str, remote: str) -> bool:
    """Whether a plain ``git fetch`` brings no other branches of *remote* than those that it names."""
    words = ("config", "--get-all", f"remote.{remote}.fetch")
    return b"*" not in run(folder, *words, nothing=1)


def is_object(folder: str, name: str) -> bool:
    """Whether *name* means an object of the repository around *folder*, if there is one."""
    try:
        run(folder, "rev-parse", "--quiet", "--verify", "--end-of-options", name)
    except GitError:
        return False
    return True


def merge_base(folder: str, revision: str, head: str = "HEAD") -> str:
    """The commit at which *head* and *revision* parted. Raises GitError."""
    try:
        words = ("merge-base", "--end-of-options", head, revision)
        return run(folder, *words).decode().strip()
    except GitError as error:
        commit_id(folder, revision)  # it says what is wrong with a revision that nobody knows
        name = _STEPS_BACK.split(revision, maxsplit=1)[0]
        fetch = _fetch(folder, name, is_known=True) if is_shallow(folder) else ""
        cure = f"the clone is shallow: {fetch}" if fetch else ""
        raise GitError(f"{head} and {revision} have no commit in common", cure) from error


def require_commit(folder: str) -> None:
    """Raise GitError where the repository of *folder* has no commit."""
    try:
        run(folder, "rev-parse", "--quiet", "--verify", "HEAD")
    except GitError as error:
        raise GitError(_NO_COMMIT, _FIRST) from error


def commits(folder: str, *paths: str) -> list[Commit]:
    """The commits that changed one of *paths*, newest first; their parents are such commits too. Raises GitError."""
    require_commit(folder)
    return _commits(folder, "--topo-order", "--parents", "HEAD", "--", *paths)


def later(folder: str, commit_id: str) -> frozenset[str]:
    """The commits of the history of HEAD that *commit_id* does not have in its own. Raises GitError."""
    listed = run(folder, "rev-list", "--end-of-options", f"{commit_id}..HEAD")
    return frozenset(listed.decode().split())


#: How git says that a commit adds a file.
ADDED = "A"
#: What has a meaning in a pattern of paths.
_PATTERN = str.maketrans({char: f"\\{char}" for char in "*?[\\"})


def changes(top: str, name: str) -> dict[str, dict[str, str]]:
    """What each commit of the history of HEAD does to files called *name*, by its id and the path. Raises GitError.

    As git says it: `ADDED`, or another letter.
    """
    words = (
        "--full-history",
        "--no-renames",
        "--name-status",
        "-z",
        "--no-show-signature",
        "--format=%H",
    )
    pathspec = f":(top,glob)**/{name.translate(_PATTERN)}"
    printed = iter(os.fsdecode(run(top, "log", *words, "HEAD", "--", pathspec)).split("\0")[:-1])
    found: dict[str, dict[str, str]] = {}
    id_ = ""
    for word in printed:
        status = word.lstrip("\n")
        if len(status) == 1:
            found[id_][next(printed)] = status
        else:
            found[id_ := status] = {}
    return found


def moved_from(folder: str, commit_id: str, path: str) -> str:
    """What *path* was called before the commit, ``""`` where it was not there under any name. Raises GitError."""
    words = ("-r", "-z", "--find-renames", "--diff-filter=R", "--name-status", "--no-commit-id")
    listed = run(folder, "diff-tree", *words, commit_id).decode(errors="replace").split("\0")
    renames = zip(listed[1::3], listed[2::3], strict=False)
    return next((old for old, new in renames if new == path), "")


def moved_since(top: str, commit_id: str) -> list[tuple[str, str]]:
    """What files that git knows now were called at the commit, each with its name of today. Raises GitError."""
    words = ("-z", "--cached", "--find-renames", "--diff-filter=R", "--name-status", commit_id)
    printed = run(top, "diff-index", *words, around=_without_filters(top))
    listed = os.fsdecode(printed).split("\0")
    return [*zip(listed[1::3], listed[2::3], strict=False)]


_MOVED_AS_IT_WAS = "R100"


def changed_since(top: str, commit_id: str) -> list[str]:
    """The files that git knows and that may be others than at the commit, from *top*. Raises GitError.

    Of one that moved as it was, that is its name of today alone.
    """
    compared = ("diff-index", "-z", "--find-renames", "--name-status", commit_id)
    listed = os.fsdecode(run(top, *compared, around=_without_filters(top)))
    words = iter(listed.split("\0")[:-1])
    names: list[str] = []
    for status in words:
        old = next(words)
        if status != _MOVED_AS_IT_WAS:
            names.append(old)
        if status.startswith("R"):
            names.append(next(words))
    return names


def _commits(folder: str, *words: str) -> list[Commit]:
    text = run(
        folder, "log", "--no-show-signature", f"--format=%H%x00%T%x00%P%x00{_DAY}%x00%s", *words
    ).decode(errors="replace")
    lines = (line.split("\0", 4) for line in text.split("\n") if line)
    return [
        Commit(id_, tree, tuple(above.split()), date.removeprefix(_DAY), _cut(subject))
        for id_, tree, above, date, subject in lines
    ]


def _cut(subject: str) -> str:
    """The beginning of *subject*, which git lets be as long as a message."""
    return subject if len(subject) <= _LONGEST_SUBJECT else f"{subject[:_LONGEST_SUBJECT]}..."


def ignored(folder: str) -> frozenset[str]:
    """What git ignores below the resolved *folder*; nothing where it ignores all of it.

    Raises GitError; StuckError where git takes long because a pipe, say, stands where patterns should; ExhaustedError
    where it takes longer than patterns are worth.
    """
    words = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    ask = partial(run, folder, *words, without=_OF_A_HOOK, processor_seconds=_IGNORING)
    try:
        listed = ask(seconds=_PATIENCE).split(b"\0")
    except subprocess.TimeoutExpired:
        stuck = _special_patterns(folder)
        if stuck:
            raise StuckError(stuck) from None
        listed = ask().split(b"\0")
    if b"./" in listed:
        return frozenset()
    return frozenset(os.path.join(folder, os.fsdecode(name).rstrip("/")) for name in listed if name)


def would_ignore(folder: str, paths: Collection[str]) -> frozenset[str]:
    """Those of the resolved *paths* of the repository around *folder* that git would ignore if they were there.

    As files or as folders. Raises GitError.
    """
    names = b"".join(os.fsencode(f"{path}\0{path}/\0") for path in paths)
    words = ("check-ignore", "-z", "--stdin")
    listed = run(folder, *words, stdin=names, without=_OF_A_HOOK, nothing=1).split(b"\0")
    return frozenset(os.fsdecode(name).rstrip("/") for name in listed if name)


def ignoring(folder: str, paths: Collection[str]) -> dict[str, str]:
    """Those of the resolved *paths* of the repository around *folder* that git ignores, and where the pattern stands.

    As ``FILE:LINE: PATTERN``. Raises GitError. git names the last pattern, also one that takes a path out (``!``).
    """
    names = b"".join(os.fsencode(f"{path}\0") for path in paths)
    words = ("check-ignore", "--verbose", "-z", "--stdin")
    listed = run(folder, *words, stdin=names, without=_OF_A_HOOK, nothing=1).split(b"\0")
    fields = [os.fsdecode(field) for field in listed[:-1]]
    told = zip(*(fields[start::_FIELDS] for start in range(_FIELDS)), strict=True)
    return {
        path: f"{source}:{line}: {rule}"
        for source, line, rule, path in told
        if not rule.startswith("!")
    }


def _special_patterns(folder: str) -> str:
    """The first file with patterns of what git ignores that is none, around and below the resolved *folder*."""
    top = files.repository(folder)
    around = [top]
    for step in os.path.relpath(folder, top).split(os.sep) if folder != top else ():
        around.append(os.path.join(around[-1], step))
    below = (path for path, _, names in files.walk(folder) if _IGNORE_FILE in names)
    for path in (*around, *below):
        file = os.path.join(path, _IGNORE_FILE)
        if os.path.exists(file) and stat.S_ISFIFO(os.stat(file).st_mode):
            return file
    return ""


def remotes(folder: str) -> tuple[str, ...]:
    """The addresses from which the repository around *folder* fetches. Raises GitError, also where there is none."""
    listed = run(folder, "config", "-z", "--get-regexp", r"^remote\..*\.url$", without=_OF_A_HOOK)
    return tuple(os.fsdecode(line).partition("\n")[2] for line in listed.split(b"\0") if line)


def is_edited(folder: str) -> bool:
    """Whether a file that git knows is another one in the work tree around *folder*. Raises GitError.

    No filter is run, see `_without_filters`.
    """
    words = ("status", "--porcelain", "--untracked-files=no")
    return bool(run(folder, *words, around=_without_filters(folder), most=1))


def _without_filters(folder: str) -> dict[str, str]:
    """The variables by which git knows the repository around *folder* and runs no filter. Raises GitError.

    A repository names filters for its files, and they are what the configuration says, be it that of the machine.
    """
    known: list[str] = []
    with contextlib.suppress(GitError):  # nobody has any
        listed = run(folder, "config", "-z", "--name-only", "--get-regexp", r"^filter\.")
        known = [os.fsdecode(key) for key in listed.split(b"\0") if key]
    count = int(os.environ.get(_COUNT) or 0)
    environ = {_COUNT: str(count + len(known))}
    for number, key in enumerate(known, count):
        environ[f"GIT_CONFIG_KEY_{number}"] = key
        environ[f"GIT_CONFIG_VALUE_{number}"] = "false" if key.endswith(".required") else ""
    return {**_around(folder), **environ}


def attributes(
    top: str, tree: str, names: Sequence[str], paths: Sequence[bytes], *, seconds: float
) -> list[tuple[bytes, str, str]]:
    """Path, attribute, value of each of *names* and *paths*, by the ``.gitattributes`` that stand in the folder *tree*.

    *top* is the repository, whose work tree and index do not count. Raises GitError; TimeoutExpired after *seconds*.
    """
    here = {"GIT_WORK_TREE": tree, "GIT_INDEX_FILE": os.path.join(tree, ".git", "index")}
    words = ("check-attr", "--stdin", "-z", *names)
    around = {**_around(top), **here}
    printed = run(tree, *words, around=around, stdin=b"\0".join(paths), seconds=seconds)
    fields = printed.split(b"\0")
    return [
        (path, os.fsdecode(name), os.fsdecode(value))
        for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False)
    ]


_Skipped = tuple[bytes, bytes, bytes]


def skipped(top: str) -> list[_Skipped]:
    """Mode, object and name of each file that is not here, and that git takes for unchanged. Raises GitError."""
    around = _around(top) or os.environ
    index = os.environ.get("GIT_INDEX_FILE") or os.path.join(around.get("GIT_DIR", ""), "index")
    try:
        status = os.stat(os.path.join(top, index))
    except OSError:
        listed = _skipped(top)
    else:
        listed = _skipped_in(top, index, (status.st_ino, status.st_size, status.st_mtime_ns))
    here = os.fsencode(top)
    return [entry for entry in listed if not os.path.lexists(os.path.join(here, entry[2]))]


@lru_cache(maxsize=1)
def _skipped_in(top: str, _index: str, _state: tuple[int, int, int]) -> list[_Skipped]:
    """What `_skipped` says of an index in this state, asked once: git writes each in a file of its own."""
    return _skipped(top)


def _skipped(top: str) -> list[_Skipped]:
    """The same as `skipped`, whether it is here or not."""
    found = []
    for line in run(top, "ls-files", "-t", "--stage", "-z").split(b"\0"):
        about, _, name = line.partition(b"\t")
        if about.startswith(_SKIPPED):
            _, mode, id_, _ = about.split()
            found.append((mode, id_, name))
    return found


def removed(top: str, names: Collection[str]) -> list[str]:
    """Those files *names* of the repository *top* that git has, and the work tree has no longer. Raises GitError."""
    words = (f":(literal){name}" for name in names)
    listed = run(top, "ls-files", "--deleted", "-z", "--", *words, without=_OF_A_HOOK)
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def untracked(top: str, names: Collection[str]) -> list[str]:
    """Those files *names* of the repository *top* that are here, and that git does not have. Raises GitError."""
    words, found = [f":(literal){name}" for name in names], []
    for start in range(0, len(words), _WORDS_AT_ONCE):
        batch = words[start : start + _WORDS_AT_ONCE]
        listed = run(top, "ls-files", "--others", "-z", "--", *batch, without=_OF_A_HOOK)
        found += [os.fsdecode(name) for name in listed.split(b"\0") if name]
    return found


def sizes(top: str, ids: Sequence[bytes]) -> list[bytes]:
    """How many bytes each of the objects has, ``-`` of one that the repository lacks. Raises GitError."""
    query = b"".join(id_ + b"\n" for id_ in ids)
    printed = run(top, "cat-file", "--batch-check=%(objectsize)", "--buffer", stdin=query)
    return [line if line.isdigit() else b"-" for line in printed.splitlines()]


def files_of(top: str, most: int) -> list[bytes]:
    """The files of the work tree that git knows, or would take: names of *most* bytes. Raises GitError."""
    words = ("-z", "--cached", "--others", "--exclude-standard")
    listed = run(top, "ls-files", *words, most=most)
    if len(listed) > most:
        raise GitError(
            f"the names of the files of the working tree take more than {most:,} bytes",
            "check out both states (git worktree add), and name the two folders",
        )
    return sorted({*listed.split(b"\0")} - {b""})


def is_submodule(folder: str) -> bool:
    """Whether the repository around *folder* holds it as a submodule. Raises GitError."""
    above, name = os.path.split(folder)
    words = ("--stage", "-z", "--", f":(literal){name}")
    return run(above, "ls-files", *words, without=_OF_A_HOOK).startswith(SUBMODULE)


def absent_submodules(folder: str) -> list[str]:
    """The submodules below the resolved *folder* that nobody has checked out, sorted. Raises GitError."""
    if not os.path.lexists(os.path.join(files.repository(folder), _SUBMODULES_FILE)):
        return []
    listed = run(folder, "ls-files", "--stage", "-z", without=_OF_A_HOOK).split(b"\0")
    names = (line.partition(b"\t")[2] for line in listed if line.startswith(SUBMODULE))
    paths = (os.path.join(folder, os.fsdecode(name)) for name in names)
    return [path for path in paths if not os.path.lexists(os.path.join(path, ".git"))]


def is_shallow(folder: str) -> bool:
    """Whether the clone lacks history. Raises GitError."""
    return run(folder, "rev-parse", "--is-shallow-repository").strip() == b"true"


def has(top: str, revision: str, path: str) -> bool:
    """Whether *revision* has a file or a folder *path* (from *top*). Raises GitError."""
    return bool(run(top, "ls-tree", "-z", "--full-tree", revision, "--", path))


def names_in(top: str, revision: str, folder: str) -> list[str]:
    """What stands in the *folder* (from *top*, ``""`` for that) at *revision*. Raises GitError."""
    below = ("--", f"{folder}/") if folder else ()
    listed = run(top, "ls-tree", "-z", "--name-only", "--full-tree", revision, *below)
    return [os.path.basename(os.fsdecode(name)) for name in listed.split(b"\0") if name]


def file_at(top: str, revision: str, path: str) -> bytes:
    """The file *path* (from *top*) at *revision*, empty where it did not exist. Raises GitError."""
    listed = run(top, "ls-tree", "-z", "--full-tree", revision, "--", path)
    if not listed:
        return b""
    return run(top, "cat-file", "blob", listed.split()[2].decode())


def texts_of(top: str, revisions: Sequence[str], path: str) -> Iterator[bytes]:
    """The file *path* (from *top*) at each of *revisions*, empty where it did not exist. Raises GitError."""
    for start in range(0, len(revisions), _AT_ONCE):
        names = [
            os.fsencode(f"{revision}:{path}") for revision in revisions[start : start + _AT_ONCE]
        ]
        if "\n" in path:  # git reads a name a line
            yield from (
                file_at(top, revision, path) for revision in revisions[start : start + _AT_ONCE]
            )
        else:
            yield from (text or b"" for text in objects(top, names))


def objects(top: str, names: Sequence[bytes]) -> Iterator[bytes | None]:
    """What the objects say that *names* mean, in this order; None for one that is not there. Raises GitError."""
    query = b"".join(name + b"\n" for name in names)
    printed, place = run(top, "cat-file", "--batch", "--buffer", stdin=query), 0
    for _ in names:
        head, place = printed[place : (end := printed.index(b"\n", place))], end + 1
        size = head.rpartition(b" ")[2]
        if not size.isdigit():
            yield None
            continue
        yield printed[place : (place := place + int(size))]
        place += 1
