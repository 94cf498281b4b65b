"""What another program is to see of this machine: some files, a home of its own, no network, so much memory and time.

Linux lets a process without privileges enter namespaces, in which it has no network and other mounts; many containers
and some distributions forbid that. Landlock, which they let us use, refuses it files and TCP from then on. Both are
taken where both are there, and behind them a filter of calls (`seccomp`). Nothing depends on any, unless it is
required: they stand behind the checks of what a repository names.
"""

import _thread
import contextlib
import functools
import itertools
import os
import resource
import shutil
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum

from render.model.hints import TYPE_CHECKING, Self
from render.model.named_tuple import NamedTuple
from render.system import processors
from render.system.files import real_path
from render.system.programs import processes, seccomp
from render.system.signals import PARENT_DEATH, deferred, signal

if TYPE_CHECKING:
    import ctypes

    from render.system.programs.supervisor import Bounds, Supervisor

_NEW_MOUNTS, _NEW_USER, _NEW_NET = 0x20000, 0x10000000, 0x40000000  # CLONE_NEW... (linux/sched.h)
_NEW_PROCESSES = 0x20000000
_BIND, _RECURSIVE, _PRIVATE = 1 << 12, 1 << 14, 1 << 18  # MS_... (linux/mount.h)
_DETACH = 2  # MNT_DETACH
_HERE, _ALL_BELOW = -100, 0x8000  # AT_FDCWD, AT_RECURSIVE
_READ_ONLY, _NO_SET_UID = 1, 2  # MOUNT_ATTR_...
_SECURE_BITS, _CHILD_SUBREAPER, _NO_NEW_PRIVILEGES = 28, 36, 38  # PR_SET_... (linux/prctl.h)
_NO_ROOT = 0b11  # SECBIT_NOROOT and its lock: who is root has no privileges by that
#: The same numbers on every architecture (since Linux 5.12 and 5.13), but for the one that is older.
_MOUNT_SETATTR, _CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 442, 444, 445, 446
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}
#: LANDLOCK_ACCESS_FS_... (linux/landlock.h): what each version of it knows, and what reads, or may be said of a file.
_ACCESS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_EXECUTE, _READ_FILE, _READ_FOLDER = 1, 1 << 2, 1 << 3
_READING = _EXECUTE | _READ_FILE | _READ_FOLDER
_OF_FILES = 1 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
_TCP = 0b11  # LANDLOCK_ACCESS_NET_BIND_TCP, ..._CONNECT_TCP, since the fourth version
_SIGNALS_AND_SOCKETS = 0b11  # LANDLOCK_SCOPE_..., since the sixth
_WITH_NETWORK, _WITH_SCOPES = 4, 6

#: What every program may open; where others than static ones have what they are linked with; what scripts are run by.
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
_LIBRARIES = (
    "/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local/lib", "/nix/store",
    "/gnu/store", "/etc/ld.so.cache",
)  # fmt: skip
_OF_SCRIPTS = ("/bin", "/usr/bin", "/usr/local/bin")
_HEAD, _ELF_HEADER = 4096, 64
_ELF_OF_64_BITS, _INTERPRETER, _PACKED = b"\x7fELF\x02\x01", 3, b"UPX!"
"""How a program begins, the number of the part that names who loads its libraries, and what hides one (elf.h)."""
_LARGEST_FILE = 256 << 20
_OWN_DATA = 64 << 20
"""Bytes beside our own that a supervisor may need: it lives within the bounds of what it starts."""
_PLENTY = 60
"""Seconds of a processor of which those that a supervisor takes for itself are no part to speak of."""


class Wall(IntEnum):
    """What keeps a program from something."""

    NONE = 0
    LANDLOCK = 1
    FILTER = 2
    NAMESPACE = 3


class Walls(NamedTuple):
    """What kept a program from the network, and from reading and writing what it was not to see."""

    network: Wall = Wall.NONE
    reading: Wall = Wall.NONE
    writing: Wall = Wall.NONE

    @property
    def all_stand(self) -> bool:
        """Whether there is none but what the box shows; of a network Landlock stops TCP alone."""
        return self.network is Wall.NAMESPACE and Wall.NONE not in self


class MissingWallError(Exception):
    """A wall that is required does not stand; the program was not started."""


class Allowance(NamedTuple):
    """What a program may have: bytes of data, and seconds.

    *is_required*: it is not started where a wall is missing. *is_open*: none is built; it may use the network.
    """

    memory: int
    seconds: float
    is_required: bool = False
    is_open: bool = False


class Box(NamedTuple):
    """A box for one program: *enter* is to be called in the new process, before it becomes the program.

    *home* is the empty folder that the program may write to, *memory* the bytes of data that it may have; *walls*
    answers afterwards which walls stood. Where there is a *supervisor*, it has entered already, and starts the program.
    """

    home: str
    memory: int
    enter: Callable[[], None]
    walls: Callable[[], Walls]
    supervisor: "Supervisor | None" = None


class _WallReport:
    """Which walls stand, on its way from the new process to this one."""

    def __init__(self) -> None:
        self._answer: Walls | None = None
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._reading, False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._writing)
        os.close(self._reading)

    def write(self, walls: Walls) -> None:
        """Say, in the new process, that *walls* stand."""
        os.write(self._writing, bytes(walls))

    def read(self) -> Walls:
        """What the new process has said; no wall where it was never started."""
        if self._answer is None:
            with contextlib.suppress(BlockingIOError):
                self._answer = Walls(*map(Wall, os.read(self._reading, len(Walls._fields))))
        return self._answer or Walls()


class Boxes:
    """Boxes for programs, of which so many run *beside* each other; none finds what another one left in its home.

    Places to mount files at are kept for the next box that shows the same: the kernel takes milliseconds to remove a
    folder that something was mounted at. Of supervisors there are twice as many as may work. *in_turn*: more programs
    come than run at once, and most see the same.
    """

    def __init__(self, beside: int = 1, *, in_turn: bool = False) -> None:
        self.beside = beside
        self._in_turn = in_turn
        self._supervised: set[_Stage] = set()
        self._stack = contextlib.ExitStack()
        self._free: dict[_Scene, list[_Stage]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for stage in itertools.chain.from_iterable(self._free.values()):
            stage.leave()  # all of them at once: the kernel takes milliseconds to remove what one was in
        self._stack.close()

    @contextlib.contextmanager
    def box(
        self,
        program: str,
        folder: str,
        visible: Sequence[str] | None,
        allowance: Allowance,
        *,
        hidden: Sequence[str] = (),
    ) -> Iterator[Box]:
        """A box for *program*, started in *folder*; of all files it sees those *visible* (all, without), and its own.

        Folders *hidden* are empty in it, where there are namespaces of mounts. Raises MissingWallError in the end, if
        the program was not started because a wall is missing.
        """
        paths = None if visible is None else _visible_paths(program, folder, visible)
        bounds = _bounds(allowance)
        with contextlib.ExitStack() as stack:
            stage = stack.enter_context(self._stage(_scene(paths, hidden)))
            if (supervisor := stage.supervisor(paths, allowance, bounds)) is not None:
                yield Box(stage.home, allowance.memory, _nothing, _all_walls, supervisor)
                return
            confine = None
            if not allowance.is_open:
                rules = _landlock(stage.home, paths)
                if rules.version:
                    stack.callback(os.close, rules.descriptor)
                confine = _confining(stage, folder, rules)
            bound = _bounding(bounds)
            report = stack.enter_context(_WallReport())

            def enter() -> None:
                walls = confine() if confine else Walls()
                report.write(walls)
                if allowance.is_required and not walls.all_stand:
                    os._exit(1)
                bound()  # last: until it is another program, the process has all the data of this one

            yield Box(stage.home, allowance.memory, enter, report.read)
            if allowance.is_required and not report.read().all_stand:
                raise MissingWallError

    @contextlib.contextmanager
    def _stage(self, scene: "_Scene") -> "Iterator[_Stage]":
        """A stage for *scene* that nobody else is on, with an empty home."""
        free = self._free.setdefault(scene, [])
        if free:
            stage = free.pop()
        else:
            base = real_path(self._stack.enter_context(processes.temporary_folder()))
            stage = _Stage(base, scene, self._supervised, 2 * self.beside)
            stage.is_returned_to = self._in_turn and len(self._free) == 1
            self._stack.callback(stage.dismiss)
        stage.begin()
        try:
            yield stage
        finally:
            if stage.end():
                free.append(stage)


@functools.cache
def fence() -> Callable[[], None] | None:
    """What a new process may call before it becomes a program that reads what we may, and is to do nothing else.

    It then writes nothing, has no network, reaches no other process, and stays in its session; namespaces, which cost
    more than git takes to answer, are none. None on a system that knows no such thing.
    """
    system = _system()
    if system is None:
        return None
    rules = _fence_rules()
    calls = seccomp.make(system)

    def enter() -> None:
        system.prctl(PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
        system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        if rules.version:
            system.syscall(_RESTRICT_SELF, rules.descriptor, 0)
        if calls is not None:
            calls.enter()

    return enter


@functools.cache
def _fence_rules() -> "_Ruleset":
    """The rules of Landlock in the `fence`: they are kept open, since they are the same for all."""
    return _landlock("", None)


class FencedPrograms:
    """Programs behind the `fence`: a supervisor starts all with the same bounds but the first of them.

    Each start by ourselves is one of a copy of all that we have in memory. A process that was forked from ours, and
    another thread, have none of it.
    """

    def __init__(self) -> None:
        self._known: set[Bounds] = set()
        self._supervisors: dict[Bounds, Supervisor | None] = {}
        self._owner = (0, 0)

    def supervisor(
        self, command: Sequence[str], environ: Mapping[str, str], bounds: Mapping[str, int]
    ) -> "Supervisor | None":
        """Who starts *command* within *bounds*, as `Task` has them; None where it has to come by itself."""
        owner = os.getpid(), _thread.get_ident()
        if owner[0] != self._owner[0]:
            self._owner, self._known, self._supervisors = owner, set(), {}
        elif owner != self._owner:
            return None
        limits = ((getattr(resource, name), most) for name, most in bounds.items())
        key = tuple((kind, min(most, _hard(kind, most))) for kind, most in limits)
        if key not in self._known:
            self._known.add(key)
            return None
        its = self._supervisors.get(key)
        if its is not None and (not its.is_alive or its.is_ready(0)):  # somebody has ended it
            self._supervisors.pop(key)
            its.close()
        if key not in self._supervisors:
            with deferred():
                its = self._supervisors[key] = _fenced_supervisor(key)
        its = self._supervisors.get(key)
        return its if its is not None and its.takes(command, environ) else None

    def close(self) -> None:
        """Let nothing of it stay: whoever started us may wait for no process but ours."""
        if self._owner[0] == os.getpid():
            for its in filter(None, self._supervisors.values()):
                its.close()
            self._supervisors = {}


FENCED = FencedPrograms()
"""Those of this process."""


def _hard(kind: int, most: int) -> int:
    """How much of a resource we may have at all, *most* where nothing bounds it."""
    _, hard = resource.getrlimit(kind)
    return most if hard == resource.RLIM_INFINITY else hard


def _fenced_supervisor(bounds: "Bounds") -> "Supervisor | None":
    """A supervisor behind the `fence`; None where the system knows no filter, or its own data exceed the *bounds*."""
    system = _system()
    calls = seccomp.make(system, is_group=True) if system else None
    memory = dict(bounds)[resource.RLIMIT_DATA]
    if system is None or calls is None or processors.data() + _OWN_DATA > memory:
        return None
    from render.system.programs.supervisor import Recipe, Supervisor

    rules = _fence_rules()

    def confine(descriptor: int) -> bool:
        system.prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
        system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        if rules.version:
            system.syscall(_RESTRICT_SELF, descriptor, 0)
        return calls.enter()

    kept = rules.descriptor if rules.version else None
    made = None
    with contextlib.suppress(OSError):  # no more files, or processes: one may do
        made = Supervisor.made(Recipe(None, confine, kept, system.prctl))
    if made is not None:
        made.bounds = bounds
    return made


def _bounds(allowance: Allowance) -> "Bounds":
    """What bounds the memory and the time of a process."""
    wanted = {resource.RLIMIT_CPU: int(allowance.seconds) + 1, resource.RLIMIT_CORE: 0}
    if not allowance.is_open:
        wanted[resource.RLIMIT_FSIZE] = _LARGEST_FILE
    wanted[resource.RLIMIT_DATA] = (
        allowance.memory
    )  # of the address space Go reserves more than it uses
    return [(kind, min(value, _hard(kind, value))) for kind, value in wanted.items()]


def _bounding(bounds: "Bounds") -> Callable[[], None]:
    """What sets *bounds* in a new process."""
    pairs = [(kind, (most, most)) for kind, most in bounds]

    def bound() -> None:
        # Nothing is made here: a process that has more data than it may have gets no more.
        for kind, values in pairs:
            resource.setrlimit(kind, values)

    return bound


def _visible_paths(program: str, folder: str, visible: Sequence[str]) -> list[str]:
    """The files and folders that a box shows: those *visible*, the *program*, and what it is linked with or run by."""
    real = real_path(program)
    paths = {real, *map(os.path.abspath, visible), *map(real_path, (*visible, folder))}
    return sorted({*_existing(_beside_program(real)), *filter(os.path.lexists, paths)})


def _beside_program(real: str) -> tuple[str, ...]:
    """What the program *real* may open of the system's files."""
    try:
        with open(real, "rb", buffering=0) as stream:
            head = stream.read(_HEAD)
    except OSError:
        head = b""
    if _is_static(head):
        return _DEVICES
    return (*_DEVICES, *_LIBRARIES, *(_OF_SCRIPTS if head.startswith(b"#!") else ()))


def _is_static(head: bytes) -> bool:
    """Whether the *head* of a program says that it is linked with nothing, as those in Go mostly are.

    Of what is packed it does not tell, and of other machines than ours not either.
    """
    if not head.startswith(_ELF_OF_64_BITS) or len(head) < _ELF_HEADER or _PACKED in head:
        return False
    begin, size, count = struct.unpack_from("<32xQ14xHH", head)
    rows = range(begin, begin + count * size, size or 1)
    is_whole = bool(rows) and rows[-1] + size <= len(head)
    return is_whole and all(struct.unpack_from("<I", head, row)[0] != _INTERPRETER for row in rows)


@functools.cache
def _existing(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the *paths* of a system that it has."""
    return tuple(filter(os.path.lexists, paths))


class _Scene(NamedTuple):
    """What processes are to see once they have mounts of their own: what is *mounted* (None: all) with its *links*."""

    mounted: tuple[str, ...] | None
    links: tuple[str, ...]
    hidden: tuple[str, ...]


def _scene(paths: Sequence[str] | None, hidden: Sequence[str]) -> _Scene:
    """What makes *paths* (None: all) visible, with folders *hidden* being empty.

    Links are made anew, and what is below another one comes with it.
    """
    links = tuple(filter(os.path.islink, paths or ()))
    mounted: list[str] = []
    for path in paths or ():
        is_below = any(path.startswith(f"{above.rstrip('/')}/") for above in mounted)
        if not is_below and path not in links:
            mounted.append(path)
    whole = None if paths is None else tuple(mounted)
    return _Scene(whole, links, tuple(filter(os.path.isdir, hidden)))


class _Stage:
    """Where *scene* is put up for one process at a time: a *home*, and *root* with what is mounted at it, below *base*.

    The *root* is made when the first process needs it, and by nothing but it. Where a stage *is_returned_to*, it gets a
    supervisor that lives on it: what the walls cost is paid once then. It is one of those *supervised* as long, of
    which there are no more than *most*.
    """

    def __init__(self, base: str, scene: _Scene, supervised: "set[_Stage]", most: int) -> None:
        self.home = os.path.join(base, "home")
        self.scene = scene
        self._base = base
        self.is_returned_to = False
        self._is_refused = False
        self._supervised, self._most = supervised, most
        self._supervisor: Supervisor | None = None

    def begin(self) -> None:
        """Let a process come, which finds an empty home."""
        if self._supervisor is None:
            os.mkdir(self.home)

    def end(self) -> bool:
        """Leave nothing of a process; whether another one may come."""
        if self._supervisor is not None:
            if self._supervisor.is_alive and _is_emptied(self.home):
                return True
            self.dismiss()
        shutil.rmtree(self.home, ignore_errors=True)
        return not os.path.lexists(self.home)

    def supervisor(
        self, paths: Sequence[str] | None, allowance: Allowance, bounds: "Bounds"
    ) -> "Supervisor | None":
        """Who starts a process within *bounds* here, that sees *paths*; None where it has to come by itself."""
        its = self._supervisor
        is_plenty = allowance.seconds >= _PLENTY and not allowance.is_open
        if its is not None and not (is_plenty and its.allows(bounds)):
            self.dismiss()
            its = None
        is_wanted = (
            self.is_returned_to and not self._is_refused and len(self._supervised) < self._most
        )
        self.is_returned_to = True
        if its is None and is_wanted and is_plenty and paths is not None:
            with deferred():
                self._supervisor = its = _supervisor(self, paths, allowance.memory)
            if its is None:
                self._is_refused = True  # the system will not let us next time either
        if its is not None:
            self._supervised.add(self)
            its.bounds = bounds
        return its

    def leave(self) -> None:
        """Nobody comes any more."""
        if self._supervisor is not None:
            self._supervisor.leave()

    def dismiss(self) -> None:
        """Wait until the supervisor has gone, if there is one."""
        if self._supervisor is not None:
            self._supervisor.close()
            self._supervisor = None
            self._supervised.discard(self)

    @functools.cached_property
    def root(self) -> str:
        """A folder with a place for each path of the scene, and for the home; ``""`` where all is shown."""
        if self.scene.mounted is None:
            return ""
        top = os.path.join(self._base, "root")
        for path in (*self.scene.mounted, self.home):
            if os.path.isdir(path):
                os.makedirs(top + path, exist_ok=True)
            else:
                os.makedirs(os.path.dirname(top + path), exist_ok=True)
                with open(top + path, "xb"):
                    pass
        for path in self.scene.links:
            os.makedirs(os.path.dirname(top + path), exist_ok=True)
            os.symlink(os.readlink(path), top + path)
        return top

    @functools.cached_property
    def empty(self) -> str:
        """An empty folder."""
        path = os.path.join(self._base, "empty")
        os.mkdir(path)
        return path

    @functools.cached_property
    def mounted(self) -> list[tuple[bytes, bytes]]:
        """What is mounted where, the home last."""
        pairs = [(path, self.root + path) for path in self.scene.mounted or ()]
        pairs += [(self.empty, self.root + real_path(path)) for path in self.scene.hidden]
        pairs.append((self.home, self.root + self.home))
        return [(os.fsencode(source), os.fsencode(target)) for source, target in pairs]


def _is_emptied(home: str) -> bool:
    """Remove all that is in the folder *home*; whether nothing is left."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(home):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
        return True
    return False


class _Ruleset(NamedTuple):
    """A set of Landlock's rules, by its *version*; 0 where there is none."""

    version: int = 0
    descriptor: int = -1


_NO_RULES = _Ruleset()


@functools.cache
def _system() -> "ctypes.CDLL | None":
    """What calls the system without Python's help; None where it knows no namespaces."""
    try:
        import ctypes

        system = ctypes.CDLL(None)
        _ = system.unshare, system.prctl, system.mount, system.umount2, system.syscall
    except (ImportError, OSError, AttributeError):
        return None
    return system


def _confining(stage: _Stage, folder: str, rules: _Ruleset) -> Callable[[], Walls] | None:
    """What confines a process to *stage*; None on a system that knows no such thing. All that it needs is loaded here.

    The process goes on in *folder*.
    """
    system = _system()
    if system is None:
        return None
    change_mounts = _mounting(system, stage, folder)
    fence = seccomp.make(system)
    is_whole = stage.scene.mounted is None

    def enter_namespaces() -> tuple[Wall, bool]:
        for users in (_NEW_USER, 0):
            if system.unshare(users | _NEW_NET | _NEW_MOUNTS) == 0:
                return Wall.NAMESPACE, change_mounts()
        for users in (_NEW_USER, 0):
            if system.unshare(users | _NEW_NET) == 0:
                return Wall.NAMESPACE, False
        return Wall.NONE, False

    def confine() -> Walls:
        network, has_mounts = enter_namespaces()
        system.prctl(PARENT_DEATH, signal.SIGKILL, 0, 0, 0)  # entering takes it back
        system.prctl(_SECURE_BITS, _NO_ROOT, 0, 0, 0)
        system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        is_ruled = rules.version and system.syscall(_RESTRICT_SELF, rules.descriptor, 0) == 0
        is_filtered = fence is not None and fence.enter()
        writing = Wall.NAMESPACE if has_mounts else Wall.LANDLOCK if is_ruled else Wall.NONE
        if network is Wall.NONE and is_filtered:
            network = Wall.FILTER
        elif network is Wall.NONE and is_ruled and rules.version >= _WITH_NETWORK:
            network = Wall.LANDLOCK
        return Walls(network, Wall.NONE if is_whole else writing, writing)

    return confine


def _nothing() -> None:
    """Enter nothing: who starts the program is inside."""


def _all_walls() -> Walls:
    return Walls(Wall.NAMESPACE, Wall.NAMESPACE, Wall.NAMESPACE)


def _supervisor(stage: _Stage, paths: Sequence[str], memory: int) -> "Supervisor | None":
    """A supervisor on *stage*, which sees *paths*; None where not all walls stand, or its own data exceed *memory*."""
    system = _system()
    fence = seccomp.make(system, is_first=True) if system else None
    if system is None or fence is None or processors.data() + _OWN_DATA > memory:
        return None
    from render.system.programs.supervisor import Recipe, Supervisor

    change_mounts = _mounting(system, stage, stage.home)
    rules = _landlock(stage.home, paths)

    def leave() -> bool:
        spaces = _NEW_NET | _NEW_MOUNTS | _NEW_PROCESSES
        return any(system.unshare(users | spaces) == 0 for users in (_NEW_USER, 0))

    def confine(descriptor: int) -> bool:
        has_mounts = change_mounts()
        system.prctl(_SECURE_BITS, _NO_ROOT, 0, 0, 0)
        system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        is_ruled = not rules.version or system.syscall(_RESTRICT_SELF, descriptor, 0) == 0
        return has_mounts and is_ruled and fence.enter()

    try:
        kept = rules.descriptor if rules.version else None
        return Supervisor.made(Recipe(leave, confine, kept, system.prctl))
    finally:
        if rules.version:
            os.close(rules.descriptor)


def _mounting(system: "ctypes.CDLL", stage: _Stage, folder: str) -> Callable[[], bool]:
    """What makes the files of *stage* all that there are, those outside of the home read-only, and goes to *folder*.

    The folders that they are mounted at are made now: in the new process nothing but calls of the system is to be done.
    """
    import ctypes

    mount, call = system.mount, system.syscall
    # struct mount_attr: to set, to clear, propagation, user namespace
    attributes = ctypes.c_uint64 * 4
    read_only, writable = attributes(_READ_ONLY | _NO_SET_UID), attributes(0, _READ_ONLY)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    private, bind = ctypes.c_ulong(_RECURSIVE | _PRIVATE), ctypes.c_ulong(_BIND | _RECURSIVE)
    is_whole = not stage.root
    root, place = os.fsencode(stage.root or "/"), os.fsencode(real_path(folder))
    pairs = stage.mounted
    home = pairs[-1][1]
    pivot = _PIVOT_ROOT.get(os.uname().machine)

    def show() -> bool:
        return bool(
            (is_whole or pivot is not None)
            and mount(None, b"/", None, private, None) == 0
            and (is_whole or mount(root, root, None, bind, None) == 0)
            and all(mount(source, target, None, bind, None) == 0 for source, target in pairs)
            and call(_MOUNT_SETATTR, _HERE, root, _ALL_BELOW, read_only, size) == 0
            and call(_MOUNT_SETATTR, _HERE, home, 0, writable, size) == 0
        )

    def leave_the_rest() -> bool:
        if is_whole:
            return True
        is_left = (
            system.chdir(root) == 0
            and call(pivot, b".", b".") == 0
            and system.umount2(b".", _DETACH) == 0
        )
        return bool(system.chdir(place) == 0 and is_left)

    return lambda: show() and leave_the_rest()


def _landlock(home: str, paths: Sequence[str] | None) -> _Ruleset:
    """Rules for a process that may read *paths* (None: all) and write in *home*, if it has one."""
    system = _system()
    if system is None:
        return _NO_RULES
    import ctypes

    call = system.syscall
    version = call(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)  # LANDLOCK_CREATE_RULESET_VERSION
    if version < 1:
        return _NO_RULES
    known = _ACCESS[min(version, max(_ACCESS))]
    handled = known if paths is not None else known & ~_READING
    words = (ctypes.c_uint64 * 3)(
        handled,
        _TCP if version >= _WITH_NETWORK else 0,
        _SIGNALS_AND_SOCKETS if version >= _WITH_SCOPES else 0,
    )
    size = 24 if version >= _WITH_SCOPES else 16 if version >= _WITH_NETWORK else 8
    rules = call(_CREATE_RULESET, words, ctypes.c_size_t(size), 0)
    if rules < 0:
        return _NO_RULES
    try:
        for path in paths or ():
            _allow(system, rules, path, handled & _READING)
        if home:
            _allow(system, rules, home, handled)
        _allow(system, rules, os.devnull, handled & _OF_FILES)
    except OSError:
        os.close(rules)
        return _NO_RULES
    return _Ruleset(version, rules)


def _allow(system: "ctypes.CDLL", rules: int, path: str, access: int) -> None:
    """Add to *rules* what may be done with *path* and what is below it. Raises OSError."""
    import ctypes

    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not os.path.isdir(path):
            access &= _OF_FILES
        rule = ctypes.create_string_buffer(struct.pack("=Qi", access, place), 12)
        if access and system.syscall(_ADD_RULE, rules, 1, rule, 0) != 0:  # ..._RULE_PATH_BENEATH
            raise OSError(path)
    finally:
        os.close(place)
