"""What is taken from another program before it begins: the network and writing, where the system lets us, and memory.

Linux lets a process without privileges leave its network, and see its files read-only, by entering namespaces of its
own; many containers and some distributions forbid that. Nothing depends on it: it stands behind the checks of what a
kustomization names.
"""

import os
from collections.abc import Callable
from typing import NamedTuple

_NEW_MOUNTS, _NEW_USER, _NEW_NET = 0x20000, 0x10000000, 0x40000000  # CLONE_NEW... (linux/sched.h)
_BIND, _RECURSIVE, _PRIVATE = (
    1 << 12,
    1 << 14,
    1 << 18,
)  # MS_BIND, MS_REC, MS_PRIVATE (linux/mount.h)
_MOUNT_SETATTR = 442  # the number of the call, on every architecture (since Linux 5.12)
_HERE, _ALL_BELOW, _READ_ONLY = -100, 0x8000, 1  # AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY


class Taken(NamedTuple):
    """What a program in a box had not."""

    network: bool
    writing: bool


class Box(NamedTuple):
    """*enter* is to be called in the new process, before it becomes the program; *seal* afterwards in our own.

    The answer of *seal*: what was taken from the program.
    """

    enter: Callable[[], None]
    seal: Callable[[], Taken]


def box(memory: int, home: str, *, network: bool) -> Box:
    """A box for one program, with *memory* bytes of data of its own.

    Without *network* it has none, and of all files only those in the folder *home* are to be written.
    """
    import resource

    leave = None if network else _leaving(os.fsencode(os.path.realpath(home)))
    reading, writing = os.pipe()

    def enter() -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        if leave is not None:
            taken = leave()
            os.write(writing, bytes(taken))

    def seal() -> Taken:
        os.close(writing)
        try:
            answer = os.read(reading, len(Taken._fields))
        finally:
            os.close(reading)
        return Taken(*map(bool, answer)) if answer else Taken(network=False, writing=False)

    return Box(enter, seal)


def _leaving(home: bytes) -> Callable[[], Taken] | None:
    """What leaves network and files; None on a system that knows no such thing. All that it needs is loaded here."""
    try:
        import ctypes

        system = ctypes.CDLL(None)
        unshare, mount, call = system.unshare, system.mount, system.syscall
    except (ImportError, OSError, AttributeError):
        return None
    attributes = (
        ctypes.c_uint64 * 4
    )  # struct mount_attr: to set, to clear, propagation, user namespace
    read_only, writable = attributes(_READ_ONLY, 0, 0, 0), attributes(0, _READ_ONLY, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))

    def seal_files() -> bool:
        return bool(
            mount(None, b"/", None, ctypes.c_ulong(_RECURSIVE | _PRIVATE), None) == 0
            and mount(home, home, None, ctypes.c_ulong(_BIND), None) == 0
            and call(_MOUNT_SETATTR, _HERE, b"/", _ALL_BELOW, read_only, size) == 0
            and call(_MOUNT_SETATTR, _HERE, home, 0, writable, size) == 0
        )

    def leave() -> Taken:
        for users in (_NEW_USER, 0):
            if unshare(users | _NEW_NET | _NEW_MOUNTS) == 0:
                return Taken(network=True, writing=seal_files())
        for users in (_NEW_USER, 0):
            if unshare(users | _NEW_NET) == 0:
                return Taken(network=True, writing=False)
        return Taken(network=False, writing=False)

    return leave
