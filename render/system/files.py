"""Files read whole and never too much of them."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from types import MappingProxyType

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location

GIT = ".git"
LISTING = "listing"
"""What git said of the commit of which the folder beside it is a checkout."""
MOST_AROUND = 200
"""Folders around a file that is copied elsewhere: Python makes and removes them by recursion."""
_COPY = 1 << 20
_OPENED, _DELETED = (os.O_PATH | os.O_CLOEXEC if hasattr(os, "O_PATH") else 0), " (deleted)"
"""How a file is opened that nobody reads, and how the kernel calls one that is gone."""
#: How a file begins that names the folder of git instead of being it, and how long it is at most.
_POINTER, _LONGEST_POINTER = b"gitdir: ", 1 << 13
_OVERLAY: ContextVar[Mapping[str, bytes]] = ContextVar("overlay", default=MappingProxyType({}))


@contextlib.contextmanager
def overlaid(contents: Mapping[str, bytes]) -> Iterator[None]:
    """Let files say what *contents* has for them, by their resolved names, whatever stands on disk."""
    token = _OVERLAY.set(contents)
    try:
        yield
    finally:
        _OVERLAY.reset(token)


def overlay() -> Mapping[str, bytes]:
    """What files say instead of what stands on disk, by their resolved names."""
    return _OVERLAY.get()


def read(path: str, display_name: str, limit: int) -> bytes | Diagnostic:
    """The bytes of the regular file *path*, or why it cannot be read (*display_name* is its name in messages).

    The size is checked before anything is read and again while reading, since a file may grow. Opening does not
    wait, so that a pipe without a writer is refused like any other special file. What no file can be called, a
    name with NUL say, is not there.
    """
    if contents := _OVERLAY.get():
        other = contents.get(real_path(path))
        if other is not None:
            return other if len(other) <= limit else too_large(display_name, limit)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:
        return unreadable(display_name, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
    except OSError as error:
        return unreadable(display_name, error)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return special(display_name)
        if status.st_size > limit:
            return too_large(display_name, limit)
        data = os.read(descriptor, status.st_size + 1)
        # One byte more was asked for: where it did not come, the file has ended.
        while len(data) != status.st_size and len(data) <= limit:
            more = os.read(descriptor, _COPY)
            if not more:
                break
            data += more
    except OSError as error:
        return unreadable(display_name, error)
    finally:
        os.close(descriptor)
    return data if len(data) <= limit else too_large(display_name, limit)


def unfit(path: str, limit: int) -> Diagnostic | None:
    """Why `read` would not read what stands at *path*, if that is told before it is opened; None of what is not there.

    For those who hand its name to a program.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return special(path)
    return too_large(path, limit) if status.st_size > limit else None


def unreadable(display_name: str, error: OSError) -> Diagnostic:
    """The diagnostic for what the system refused, in the system's own words."""
    return codes.UNREADABLE.at(
        Location(file=display_name), f"cannot read {display_name}: {reason(error)}"
    )


def is_denied(diagnostic: Diagnostic) -> bool:
    """Whether *diagnostic* says that whoever runs this may not read something that is there."""
    is_unreadable = diagnostic.code == codes.UNREADABLE.number
    return is_unreadable and diagnostic.message.endswith(f": {os.strerror(errno.EACCES)}")


def special(display_name: str) -> Diagnostic:
    """The diagnostic for a pipe, socket or device in the place of a file."""
    return codes.UNREADABLE.at(
        Location(file=display_name),
        f"cannot read {display_name}: neither a regular file nor a folder",
        help="keep a file there; to read what another command prints, pipe it in and give - as the path",
    )


def too_large(display_name: str, limit: int) -> Diagnostic:
    """The diagnostic for a file above the limit."""
    return codes.LIMIT_EXCEEDED.at(
        Location(file=display_name),
        f"{display_name} is larger than the limit of {limit} bytes for one file",
        help="if it is meant to be read, raise --max-file-bytes",
    )


def reason(error: OSError) -> str:
    """What the system said, without the path and the number."""
    return error.strerror or str(error)


def is_below(real: str, folder: str) -> bool:
    """Whether the resolved path *real* is *folder* or below it, and nothing of git's own there.

    What git keeps for itself, addresses with passwords in them among it, is no file of a repository.
    """
    top = folder.rstrip("/") + "/"
    below = f"{real}/".removeprefix(top)
    return f"{real}/".startswith(top) and GIT not in below.lower().split("/")


def strays(path: str) -> bool:
    """Whether *path*, which stands in a repository by its name, leads out of it, or to what git keeps for itself.

    Who names a file knows where that is, but not which links a change to the repository brings along.
    """
    top = repository(os.path.dirname(os.path.abspath(path)))
    return bool(top) and not is_below(real_path(path), real_path(top))


def is_checkout(top: str) -> bool:
    """Whether the folder *top* is a checkout of ours, by the empty ``.git`` in it and the `LISTING` beside it."""
    try:
        is_empty = not os.listdir(os.path.join(top, GIT))
    except OSError:
        return False
    return is_empty and os.path.isfile(os.path.join(os.path.dirname(top), LISTING))


def real_path(path: str) -> str:
    """*path* with all links resolved; what is behind more links than the kernel follows stands for itself.

    Nobody can open that, and Python calls itself for each link. So does what no file can be called: names with NUL, and
    with what is no character; and a link that somebody takes away meanwhile.
    """
    try:
        return _opened_path(path) or os.path.realpath(path)
    except (OSError, RecursionError, ValueError):
        return os.path.abspath(path)


def _opened_path(path: str) -> str:
    """What Linux says that it finds at *path*; ``""`` where it does not.

    Python looks at each folder on the way, which takes three times as long.
    """
    if not _OPENED:
        return ""
    try:
        descriptor = os.open(path, _OPENED)
    except (OSError, ValueError):
        return ""
    try:
        found = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    # What has no name says so in other words, and what was taken away meanwhile with one at the end.
    return found if found.startswith("/") and not found.endswith(_DELETED) else ""


def walk(top: str, *, follows: bool = False) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder from *top* downwards with the names of the folders and files in it, as ``os.walk`` has them.

    Links to folders are followed if it *follows*. Whoever takes folders out of the list is not led into them. Up to
    Python 3.11 ``os.walk`` calls itself for each step downwards, and a thousand are too many for that.
    """
    pending = [top]
    while pending:
        above = pending.pop()
        folders: list[str] = []
        names: list[str] = []
        try:
            with os.scandir(above) as entries:
                for entry in entries:
                    (folders if is_folder(entry) else names).append(entry.name)
        except (OSError, ValueError):
            continue
        yield above, folders, names
        below = (os.path.join(above, name) for name in reversed(folders))
        pending += (path for path in below if follows or not os.path.islink(path))


def is_folder(entry: "os.DirEntry[str]") -> bool:
    """Whether *entry* is a folder, or a link to one; a link to itself, which the system follows no further, is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def repository(folder: str) -> str:
    """The nearest folder, from the resolved *folder* upwards, that holds ``.git``; ``""`` without one."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def inside(real: str, allowed: Iterable[str]) -> bool:
    """Whether the resolved path *real* is one of *allowed* or below one, and nothing of git's own there.

    Of a set it is not asked one by one, but of the folders around it.
    """
    if not isinstance(allowed, set | frozenset | dict):
        return any(is_below(real, root) for root in allowed)
    while real not in allowed:
        above, name = os.path.split(real)
        if above == real or name.lower() == GIT:
            return False
        real = above
    return True


def is_file_name(text: str) -> bool:
    """Whether a system can have a file called *text*: not with a NUL, or half of a surrogate pair."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def boundary(folder: str) -> str:
    """The folder out of which nothing leads that belongs to the resolved *folder*; ``""`` where none is known.

    That is its git repository (the one around it, if it is a submodule of that); in a sidecar of Argo CD, which may
    send none, the folder into which the request was unpacked.
    """
    folders = repository(folder)
    while folders and os.path.isfile(os.path.join(folders, GIT)):
        around = repository(os.path.dirname(folders))
        if not around:
            break
        folders = around
    return folders or _unpacked(folder)


def bounds_of(folder: str) -> str:
    """The `boundary` of *folder*, and where none is known that itself, resolved."""
    real = real_path(folder)
    return boundary(real) or real


def _unpacked(folder: str) -> str:
    """The folder of one request to Argo CD's plugin server (its cmpserver/plugin/plugin.go) that holds *folder*."""
    before, server, below = f"{folder}/".partition("/_cmp_server/")
    return before + server + below.partition("/")[0] if below.strip("/") else ""


def git_folder(top: str) -> str:
    """Where git keeps what it knows of the work tree *top*: its ``.git``, or the folder that a file of that name names.

    A linked work tree has such a file (``git worktree add``), and so has a submodule.
    """
    own = os.path.join(top, ".git")
    text = read(own, own, _LONGEST_POINTER) if os.path.isfile(own) else b""
    if isinstance(text, Diagnostic) or not text.startswith(_POINTER):
        return own
    return os.path.join(top, os.fsdecode(text[len(_POINTER) :].rstrip(b"\r\n")))
