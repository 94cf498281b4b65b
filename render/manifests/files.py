"""Files read whole and never too much of them; files written whole or not at all."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterable

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location

_COPY = 1 << 20
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def read(path: str, shown: str, limit: int) -> bytes | Diagnostic:
    """The bytes of the regular file *path*, or why it cannot be read (*shown* is its name in messages).

    The size is checked before anything is read and again while reading, since a file may grow. Opening does not
    wait, so that a pipe without a writer is refused like any other special file.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return unreadable(shown, error)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return special(shown)
        if status.st_size > limit:
            return too_large(shown, limit)
        data = os.read(descriptor, status.st_size + 1)
        # One byte more was asked for: where it did not come, the file has ended.
        while len(data) != status.st_size and len(data) <= limit:
            more = os.read(descriptor, _COPY)
            if not more:
                break
            data += more
    except OSError as error:
        return unreadable(shown, error)
    finally:
        os.close(descriptor)
    return data if len(data) <= limit else too_large(shown, limit)


def unreadable(shown: str, error: OSError) -> Diagnostic:
    """The diagnostic for what the system refused, in the system's own words."""
    return codes.UNREADABLE.at(Location(file=shown), f"cannot read {shown}: {reason(error)}")


def special(shown: str) -> Diagnostic:
    """The diagnostic for a pipe, socket or device in the place of a file."""
    return codes.UNREADABLE.at(
        Location(file=shown),
        f"cannot read {shown}: neither a regular file nor a folder",
        help="to read what another command prints, pipe it in and give - as the path",
    )


def too_large(shown: str, limit: int) -> Diagnostic:
    """The diagnostic for a file above the limit."""
    return codes.LIMIT_EXCEEDED.at(
        Location(file=shown),
        f"{shown} is larger than the limit of {limit} bytes for one file",
        help="if it is meant to be read, raise --max-file-bytes",
    )


def reason(error: OSError) -> str:
    """What the system said, without the path and the number."""
    return error.strerror or str(error)


def write_atomic(path: str, text: str) -> None:
    """Replace the file *path* by *text* in one step; its mode is kept, a symbolic link stays and its target is written.

    A device or a pipe is written as it is. Raises OSError (disk full, read-only, no such folder); the old content is
    then still there and nothing is left beside it.
    """
    write_all([(path, text)], sync=True)


def write_all(contents: Iterable[tuple[str, str]], *, sync: bool = False) -> None:
    """Write (path, text) pairs: first all of them under temporary names, then all renames.

    What is likely to fail (space, permissions) fails before the first file is replaced. *sync* waits for the disk,
    which one file can afford and ten thousand cannot. Raises OSError, whose *filename* is the path that could not be
    written; temporary files are removed.
    """
    staged: list[tuple[str, str, str]] = []
    path = ""
    try:
        for path, text in contents:
            target = os.path.realpath(path)
            if _is_special(target):
                _write(os.open(target, os.O_WRONLY | os.O_CLOEXEC), text, sync=False)
                continue
            temporary = os.path.join(
                os.path.dirname(target), f".virt-render-{os.getpid()}-{len(staged)}.tmp"
            )
            with contextlib.suppress(FileNotFoundError):
                os.unlink(
                    temporary
                )  # of a process that was killed: containers use the same numbers
            # Noted before it is there: whoever interrupts us must not leave it behind.
            staged.append((temporary, target, path))
            descriptor = os.open(temporary, _CREATE, 0o666)
            _write(descriptor, text, sync=sync)
            _keep_mode(temporary, target)
        while staged:
            temporary, target, path = staged[0]
            os.replace(temporary, target)
            del staged[0]
    except OSError as error:
        error.filename = path
        raise
    finally:
        for temporary, _, _ in staged:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)


def _is_special(target: str) -> bool:
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
    return not stat.S_ISREG(mode)


def _write(descriptor: int, text: str, *, sync: bool) -> None:
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode())
        file.flush()
        if sync:
            os.fsync(descriptor)


def _keep_mode(temporary: str, target: str) -> None:
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        return
    os.chmod(temporary, mode)
