"""A program of others at work on a repository, in its box: what kustomize and helm have in common."""

import contextlib
import errno
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from subprocess import TimeoutExpired

from render.diagnostics import secrets
from render.diagnostics.diagnostic import Diagnostic
from render.manifests.kustomization import Reach
from render.model.hints import TYPE_CHECKING, Final
from render.model.named_tuple import NamedTuple
from render.system import files
from render.system.files import real_path
from render.system.programs.box import Boxes, MissingWallError
from render.yaml.budget import Limits

if TYPE_CHECKING:
    from subprocess import CompletedProcess

    from render.system.programs.box import Allowance, Box, Boxes, Walls
    from render.system.programs.processes import Steps, Task

WALLS: "set[Walls]" = set()
"""Which walls stood around what this process has started: an answer a way in which that went."""
LOCALE: Final = ("LANG", "LC_ALL")
"""Of our environment, what such a program sees."""
NOBODY: Final = "http://127.0.0.1:9"
"""A proxy at which nobody listens."""
_LONGEST_MESSAGE: Final = 4096
"""Characters of what it says that are passed on."""
_GARBAGE = {"GOGC": "400"}
"""Programs in Go that live for milliseconds collect little garbage: a fifth of a small build would go there."""
_UNBOXED = "not started: the system lets us build no box around it, as --box require demands"
_UNBOXED_HELP = (
    "allow namespaces of users, networks and mounts (docs/security.md), or accept what there is with --box auto;"
    " --allow-remote opens the box"
)
_CLOSED_HELP = (
    "kustomize and helm run without the privileges of root, and its mode keeps them out: let its owner be who runs"
    " virt-render, or let others read it (chmod -R o+rX)"
)


class ProgramBounds(NamedTuple):
    """What a program is held to: the *limits* of what is read, and *most* bytes that it may print.

    *is_box_required*: without all walls of its box it is not started. Its box is one of *boxes*, with which it shares
    the `memory`; None: it runs alone.
    """

    limits: Limits
    most: int
    is_box_required: bool = False
    boxes: "Boxes | None" = None


class UnfinishedError(Exception):
    """A program did not come to its end: the arguments are why, and what to do."""


def shut_out(paths: Iterable[str]) -> Diagnostic | None:
    """The first of the files and folders *paths* that no such program may read: in its box it is not privileged."""
    for path in paths:
        with contextlib.suppress(OSError):  # it is not there: that is another fault
            if not _lets_in(path):
                error = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
                fault = files.unreadable(os.path.relpath(path), error)
                return fault._replace(help=_CLOSED_HELP) if os.geteuid() == 0 else fault
    return None


def _lets_in(path: str) -> bool:
    """Whether we may read *path*, as root too by its mode alone. Raises OSError."""
    found = os.stat(path)
    wanted = 0o5 if stat.S_ISDIR(found.st_mode) else 0o4
    if os.geteuid() != 0:
        return os.access(path, wanted)
    is_of_group = found.st_gid in {os.getegid(), *os.getgroups()}
    shift = 6 if found.st_uid == 0 else 3 if is_of_group else 0
    return (found.st_mode >> shift) & wanted == wanted


@contextlib.contextmanager
def explained(program: str) -> Iterator[None]:
    """Say in one way why *program* did not start, or did not end in time. Raises UnfinishedError."""
    try:
        yield
    except MissingWallError:
        raise UnfinishedError(_UNBOXED, _UNBOXED_HELP) from None
    except OSError as error:
        raise UnfinishedError(f"cannot start {program}: {error.strerror}") from error
    except TimeoutExpired as error:
        raise UnfinishedError(f"stopped after {error.timeout:g} seconds") from error


@contextlib.contextmanager
def opened(
    program: str,
    folder: str,
    seen: tuple[Sequence[str], Sequence[str]],
    allowance: "Allowance",
    boxes: "Boxes | None",
) -> Iterator["Box"]:
    """A box for *program*, to be started in *folder*: one of *boxes*, with which it shares the `memory`.

    *seen*: the files and folders that it sees, and those that are empty to it.
    """
    from render.system.processors import memory

    visible, hidden = seen
    with contextlib.ExitStack() as stack:
        boxes = boxes or stack.enter_context(Boxes())
        share = min(allowance.memory, memory() // boxes.beside)
        its = allowance._replace(memory=share)
        yield stack.enter_context(boxes.box(program, folder, visible, its, hidden=hidden))


def run(inside: "Box", task: "Task", limits: Limits) -> "Steps[CompletedProcess[bytes]]":
    """What *task* does *inside* a box, a program in Go with half of its memory as the limit of its heap.

    Raises UnfinishedError where the run has nothing left of *limits* for it.
    """
    budget = limits.budget
    refused = budget.begin_build() if budget else None
    if refused:
        raise UnfinishedError(*refused)
    spend = budget.programs.spend if budget else None
    environ = {**task.environ, **_GARBAGE, "GOMEMLIMIT": str(inside.memory // 2)}
    try:
        inside_ = task._replace(enter=inside.enter, environ=environ, spend=spend)
        return (yield inside_._replace(supervisor=inside.supervisor))
    finally:
        WALLS.add(inside.walls())


def ending(status: int) -> str:
    """How a program has ended that says nothing of why, by its exit *status*."""
    return f"exit status {status}" if status >= 0 else f"ended by signal {-status}"


def words(output: str) -> str:
    """The *output* of a program with names of files as we show them, without values, and without stacks of Go."""
    told = output.partition("\nruntime stack:")[0].partition("\n\ngoroutine ")[0]
    return secrets.without_values(told.replace(real_path(".") + "/", "")).strip()


def concealed(
    text: str, reach: Reach, limits: Limits, names: Collection[str] = (), values: Iterable[str] = ()
) -> str:
    """The *text* of a program as it is passed on: not too long, and without what is secret in *reach*, and *values*.

    *names* are those of more files, which may have a part of that in them.
    """
    from render.manifests.boxed import concealment

    parts = concealment.secret_parts(reach, limits, values)
    names = {*names, *concealment.file_names(reach)}
    return concealment.shortened(text, parts, _LONGEST_MESSAGE, names)
