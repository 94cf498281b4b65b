"""What is taken from another program before it begins: the network, where the system lets us, and too much memory.

Linux lets a process without privileges leave its network by entering a user namespace of its own; many containers and
some distributions forbid that. Nothing depends on it: it stands behind the checks of what a kustomization names.
"""

import os
from collections.abc import Callable
from typing import NamedTuple

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000  # CLONE_NEWUSER, CLONE_NEWNET (linux/sched.h)


class Box(NamedTuple):
    """*enter* is to be called in the new process, before it becomes the program; *seal* afterwards in our own.

    The answer of *seal*: whether the program has no network.
    """

    enter: Callable[[], None]
    seal: Callable[[], bool]


def box(memory: int, *, network: bool) -> Box:
    """A box for one program, with *memory* bytes of data of its own, and *network* or none."""
    import resource

    leave = None if network else _leaving()
    reading, writing = os.pipe()

    def enter() -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        if leave is not None and leave():
            os.write(writing, b"1")

    def seal() -> bool:
        os.close(writing)
        try:
            return os.read(reading, 1) == b"1"
        finally:
            os.close(reading)

    return Box(enter, seal)


def _leaving() -> Callable[[], bool] | None:
    """What leaves the network; None on a system that knows no such thing. All that it needs is loaded here."""
    try:
        import ctypes

        unshare = ctypes.CDLL(None).unshare
    except (ImportError, OSError, AttributeError):
        return None

    def leave() -> bool:
        return any(unshare(flags) == 0 for flags in (_NEW_USER | _NEW_NET, _NEW_NET))

    return leave
