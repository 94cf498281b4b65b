"""What git knows, asked through its own binary; the work tree and the index stay as they are."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location

_MARKER = re.compile(rb"^(<{7}|\|{7}|={7}|>{7})( |\r?$)")


class GitError(Exception):
    """Git answered with an error; the text is its own."""


class Commit(NamedTuple):
    """A commit: its hash, the day of its author, and its subject."""

    id: str
    date: str
    subject: str


def run(folder: str, *words: str, environ: Mapping[str, str] | None = None) -> bytes:
    """What ``git WORDS`` prints in *folder*. Raises GitError."""
    command = ["git", "-c", "core.quotePath=false", *words]
    settled = {**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", **(environ or {})}
    try:
        done = subprocess.run(  # noqa: S603 - git with our own words, no shell
            command, cwd=folder, capture_output=True, check=False, env=settled
        )
    except FileNotFoundError as error:
        missing = "git is not installed" if error.filename == "git" else f"no folder {folder}"
        raise GitError(missing) from error
    if done.returncode:
        text = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        raise GitError(text.split("\n")[0] or f"git {words[0]} failed")
    return done.stdout


def sides(file: str) -> tuple[bytes, bytes, bytes] | Diagnostic:
    """The base and both sides of the unfinished merge of *file*; a side that did not have it is empty.

    From git's index while it knows of the merge, else from the conflict markers in the file.
    """
    folder, name = os.path.split(os.path.abspath(file))
    try:
        listed = run(folder, "ls-files", "--unmerged", "-z", "--", name).split(b"\0")
        stages = {line.split()[2]: line.split()[1].decode() for line in listed if line}
        if stages:
            base, ours, theirs = (
                run(folder, "cat-file", "blob", stages[stage]) if stage in stages else b""
                for stage in (b"1", b"2", b"3")
            )
            return base, ours, theirs
    except GitError:
        pass  # no repository: the markers say it too
    try:
        with open(file, "rb") as stream:
            data = stream.read()
    except OSError as error:
        return codes.UNREADABLE.at(
            Location(file=file), f"cannot read {file}: {error.strerror or error}"
        )
    return _from_markers(data, file)


def _from_markers(data: bytes, file: str) -> tuple[bytes, bytes, bytes] | Diagnostic:
    parts: dict[bytes, list[bytes]] = {b"<": [], b"|": [], b"=": []}
    inside, found, has_base = b"", False, False
    for line in data.splitlines(keepends=True):
        marker = _MARKER.match(line)
        if marker:
            found, inside = True, marker[1][:1]
            has_base |= inside == b"|"
        elif inside in parts:
            parts[inside].append(line)
        else:
            for part in parts.values():
                part.append(line)
    if not found:
        message = f"{file} has no conflict, and git knows of none"
        return codes.USAGE.at(Location(file=file), message, help="'virt-render pin' updates a lock")
    base = b"".join(parts[b"|"]) if has_base else b""
    return base, b"".join(parts[b"<"]), b"".join(parts[b"="])


def root(folder: str) -> str:
    """The top of the work tree that holds *folder*. Raises GitError."""
    return run(folder, "rev-parse", "--show-toplevel").decode().rstrip("\n")


def commit(folder: str, revision: str) -> Commit:
    """The commit that *revision* names. Raises GitError."""
    if revision.startswith("-"):
        raise GitError(f"no revision is called {revision}")
    return _commits(folder, "--max-count=1", "--end-of-options", f"{revision}^{{commit}}")[0]


def commits(folder: str, path: str) -> list[Commit]:
    """The commits that changed *path*, newest first. Raises GitError."""
    return _commits(folder, "--topo-order", "HEAD", "--", path)


def _commits(folder: str, *words: str) -> list[Commit]:
    text = run(folder, "log", "--no-show-signature", "--format=%H%x00%as%x00%s", *words).decode(
        errors="replace"
    )
    return [Commit(*line.split("\0", 2)) for line in text.splitlines()]


def is_shallow(folder: str) -> bool:
    """Whether the clone lacks history. Raises GitError."""
    return run(folder, "rev-parse", "--is-shallow-repository").strip() == b"true"


def file_at(top: str, revision: str, path: str) -> bytes:
    """The file *path* (from *top*) at *revision*, empty where it did not exist. Raises GitError."""
    listed = run(top, "ls-tree", "-z", "--full-tree", revision, "--", path)
    if not listed:
        return b""
    return run(top, "cat-file", "blob", listed.split()[2].decode())


@contextmanager
def checkout(top: str, revision: str) -> Iterator[str]:
    """A temporary folder with all files of *revision*, made without a look at the work tree. Raises GitError."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="virt-render-") as folder:
        tree = os.path.join(folder, "tree")
        os.makedirs(os.path.join(tree, ".git"))  # by this others see where the repository begins
        # An index of its own; filters that a repository may ask for (LFS) are not run.
        environ = {"GIT_INDEX_FILE": os.path.join(folder, "index"), "GIT_LFS_SKIP_SMUDGE": "1"}
        run(top, "read-tree", revision, environ=environ)
        run(top, "checkout-index", "--all", "--quiet", f"--prefix={tree}/", environ=environ)
        yield tree
