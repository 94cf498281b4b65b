"""Files written whole or not at all."""

import contextlib
import errno
import itertools
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.model.hints import TypeVar
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.system.files import read, real_path, reason, strays
from render.system.signals import deferred, lift_deadline

_PERMISSIONS = 0o777
_STRAY = "a link of the repository leads out of it from there; name the place that it leads to"
_NAMED = 3  # of many files, as many as a line holds
_T = TypeVar("_T")
#: What we have open, by the names that the system has for it.
_OPEN = pattern(r"/dev/(?P<stream>stdout|stderr)|/(dev|proc/self)/fd/(?P<number>\d{1,9})")
_STREAMS = {"stdout": 1, "stderr": 2}
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class ChangedError(OSError):
    """A file is gone, or says something else than when it was read."""


class TornError(OSError):
    """One of several files could not be replaced, and those before it, *replaced*, could not all be put back."""

    def __init__(self, error: OSError, replaced: Sequence[str]) -> None:
        super().__init__(error.errno, reason(error), error.filename)
        self.replaced = replaced


def unwritable(error: OSError, target: str) -> Diagnostic:
    """The diagnostic for what `write_all` raised; *target* is what to name where the error names no file."""
    file = os.fsdecode(error.filename or target)
    message, cure = f"cannot write {file}: {reason(error)}", ""
    if isinstance(error, ChangedError):
        message = f"nothing was written, since {file} has changed after it was read"
        cure = "run the same command again"
    elif error.errno == errno.EISDIR:
        cure = (
            "name a file in it"
            if os.path.isdir(file)
            else "name a file: with a / at its end this is a folder"
        )
    elif isinstance(error, TornError):
        others = len(error.replaced) - _NAMED
        named = [*error.replaced[:_NAMED], *([f"{others} more"] if others > 0 else [])]
        message += f"; replaced already, and not put back: {', '.join(named)}"
    return codes.UNWRITABLE.at(Location(file=file), message, help=cure)


def write_atomic(path: str, text: str, *, is_last: bool = True) -> None:
    """Replace the file *path* by *text* in one step, as `write_all` does, and wait for the disk.

    Raises OSError (disk full, read-only, no such folder); the old content is then still there and nothing is left
    beside it.
    """
    write_all([(path, text)], sync=True, is_last=is_last)


def write_all(
    contents: Iterable[tuple[str, str]],
    *,
    sync: bool = False,
    known: Iterable[tuple[str, bytes]] = (),
    is_last: bool = True,
) -> None:
    """Write (path, text) pairs, all or none: first all of them under temporary names, then all renames.

    What is replaced keeps its permissions, and its owner and group as far as we may set them: who runs us as root
    wants no files of root, and who may not give files away wants them written all the same. Access lists and
    attributes are not copied, and hard links to it keep the old text. A symbolic link stays and its target is
    written, unless it stands in a repository and leads out of it; a device or a pipe is written as it is, and what is
    open already (``/dev/stdout``) from where it stands on, as whoever redirected it to a file wants.

    *known*: files and what was read of them; where that is not what they say when all is ready, nothing is replaced
    (`ChangedError`). *sync* waits for the disk, which one file can afford and ten thousand cannot. No deadline passes
    once they are replaced, unless something comes after them that may have to wait: these are not what *is_last*.

    What is likely to fail (space, permissions) fails before the first file is replaced. Where one cannot be replaced,
    those before it are put back; `TornError` names those that cannot be, as on a file system without hard links. What
    is raised is an OSError whose *filename* is the path in question. Temporary files are removed; only a process that
    is killed leaves them, and they are in nobody's way.
    """
    temporary = _Temporary()
    try:
        staged = [_stage(path, text, temporary, sync=sync) for path, text in contents]
        known = [*known]
        with _in_turn({os.path.dirname(real_path(path)) for path, _ in known}):
            for path, data in known:
                if read(path, path, len(data)) != data:
                    raise ChangedError(errno.ESTALE, "it has changed", path)
            if is_last:
                lift_deadline()
            with deferred():
                _replace([staged_file for staged_file in staged if staged_file], temporary)
    finally:
        temporary.clear()


@contextlib.contextmanager
def _in_turn(folders: Iterable[str]) -> Iterator[None]:
    """Keep other runs of ours from writing in *folders* meanwhile, as far as the file system can."""
    import fcntl

    with contextlib.ExitStack() as opened:
        for folder in sorted(folders):
            with contextlib.suppress(OSError):
                descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                opened.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


class _Staged(NamedTuple):
    """A *path* whose new text stands in the file *temporary*, to become *target*; *is_new*: nothing is there yet."""

    path: str
    target: str
    temporary: str
    is_new: bool


class _Temporary:
    """The temporary files of one call."""

    __slots__ = ("_left", "_numbers")

    def __init__(self) -> None:
        self._left: set[str] = set()
        self._numbers = itertools.count()

    def make(self, target: str, make: Callable[[str], _T]) -> tuple[str, _T]:
        """A new name in the folder of *target*, and what *make* answers for it.

        What has that name already is left alone: of a process that was killed, or of one in another container, where
        numbers are the same.
        """
        while True:
            number = next(self._numbers)
            name = os.path.join(os.path.dirname(target), f".virt-render-{os.getpid()}-{number}.tmp")
            # Noted before it is there: whoever interrupts us must not leave it behind.
            self._left.add(name)
            try:
                return name, make(name)
            except FileExistsError:
                self._left.discard(name)

    def gone(self, name: str) -> None:
        """*name* has become something else."""
        self._left.discard(name)

    def clear(self) -> None:
        """Remove what is left."""
        for name in self._left:
            with contextlib.suppress(OSError):  # never there, or nothing to be done about it
                os.unlink(name)


def _stage(path: str, text: str, temporary: _Temporary, *, sync: bool) -> _Staged | None:
    """Write *text* beside *path*; None if *path* is written itself, being a device or a pipe."""
    with _about(path):
        if strays(path):
            raise OSError(errno.EPERM, _STRAY, path)
        if (open_ := _descriptor(path)) is not None:
            _write(os.dup(open_), text, sync=False)
            return None
        was = _status(path)
        if was and not stat.S_ISREG(was.st_mode):
            # By that name: that of a pipe behind /dev/stdout leads nowhere once it is resolved.
            _write(os.open(path, os.O_WRONLY | os.O_CLOEXEC), text, sync=False)
            return None
        target = real_path(path)
        # Never wider than it will be: the text may be secret.
        mode = was.st_mode & _PERMISSIONS if was else 0o666
        name, descriptor = temporary.make(target, lambda name: os.open(name, _CREATE, mode))
        if was:
            _copy_attributes(descriptor, was)
        _write(descriptor, text, sync=sync)
    return _Staged(path, target, name, was is None)


def _descriptor(path: str) -> int | None:
    """The number of our open file that *path* means by its name; no link is followed to one."""
    named = _OPEN.fullmatch(os.path.abspath(path))
    if not named:
        return None
    return int(named["number"]) if named["number"] else _STREAMS[named["stream"]]


def _replace(staged: Sequence[_Staged], temporary: _Temporary) -> None:
    """Give all of *staged* their names, or none."""
    replaced: list[tuple[_Staged, str]] = []
    try:
        for staged_file in staged:
            with _about(staged_file.path):
                aside = _aside(staged_file, temporary) if len(staged) > 1 else ""
                os.replace(staged_file.temporary, staged_file.target)
            temporary.gone(staged_file.temporary)
            replaced.append((staged_file, aside))
    except BaseException as error:  # also whoever cannot wait to stop us
        stuck = [
            staged_file.path
            for staged_file, aside in replaced
            if not _is_put_back(staged_file, aside)
        ]
        if stuck and isinstance(error, OSError):
            raise TornError(error, stuck) from error
        raise


def _aside(staged_file: _Staged, temporary: _Temporary) -> str:
    """Another name for the file that is to be replaced; ``""`` where there is none, or the system gives it none."""
    if not staged_file.is_new:
        with contextlib.suppress(OSError):
            return temporary.make(
                staged_file.target, lambda name: os.link(staged_file.target, name)
            )[0]
    return ""


def _is_put_back(staged_file: _Staged, aside: str) -> bool:
    """Whether all is as before again."""
    try:
        if staged_file.is_new:
            os.unlink(staged_file.target)
        else:
            os.replace(aside, staged_file.target)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _about(path: str) -> Iterator[None]:
    """Let what the system refuses be about *path*, whatever name it was asked for."""
    try:
        yield
    except OSError as error:
        error.filename = path
        raise


def _status(target: str) -> os.stat_result | None:
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
    return status


def _write(descriptor: int, text: str, *, sync: bool) -> None:
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode())
        file.flush()
        if sync:
            os.fsync(descriptor)


def _copy_attributes(descriptor: int, was: os.stat_result) -> None:
    """Give an open file the permissions, the owner and the group that another had, as far as we may."""
    with contextlib.suppress(OSError):
        os.fchmod(descriptor, was.st_mode & _PERMISSIONS)
    try:
        os.fchown(descriptor, was.st_uid, was.st_gid)
    except OSError:
        with contextlib.suppress(OSError):  # a group of ours
            os.fchown(descriptor, -1, was.st_gid)
