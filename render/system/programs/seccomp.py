"""A filter of what a program may ask of the system: the wall that a container without namespaces lets us build too.

What kustomize, helm and git never ask for is refused to them: sockets, another session or group, signals and traces to
other processes, memory and keys shared with those, and changes to files that are no writing. As containers do, what is
not listed is allowed: a program is not to fail because a newer one of it asks for something that nobody thought of.
"""

import functools
import os
import struct

from render.model.hints import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes

_LOAD, _EQUAL, _ABOVE, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF_... (linux/bpf_common.h)
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24  # of struct seccomp_data
_KILL = 9  # SIGKILL
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1  # SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO with EPERM
_SECCOMP, _FILTER = 22, 2  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
_OTHER_ABI = 0x40000000  # __X32_SYSCALL_BIT
#: The number of each call in the table of x86_64, and in that which all architectures since 2012 share (asm-generic).
_CALLS: dict[str, tuple[int, int]] = {
    "setsid": (112, 157), "setpgid": (109, 154),
    "socket": (41, 198), "io_uring_setup": (425, 425),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438), "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "shmget": (29, 194), "shmat": (30, 196), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "fchown": (93, 55), "fchownat": (260, 54),
    "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "setxattrat": (463, 463), "removexattrat": (466, 466),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118),
    "sched_setattr": (314, 274), "sched_setaffinity": (203, 122),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
}  # fmt: skip
#: Those that only the older architecture has.
_OLD_CALLS = {"chmod": 90, "chown": 92, "lchown": 94, "utime": 132, "utimes": 235, "futimesat": 261}
#: Allowed where they are about the process itself, whose number is the first argument; of limits that is 0 too.
_OF_ITSELF: dict[str, tuple[int, int]] = {
    "kill": (62, 129),
    "tgkill": (234, 131),
    "prlimit64": (302, 261),
}
ARCHITECTURES = {
    "x86_64": (0, 0xC000003E),
    "aarch64": (1, 0xC00000B7),
    "riscv64": (1, 0xC00000F3),
}
"""Which of the two numbers counts on each machine, and its AUDIT_ARCH_... (linux/audit.h)."""
_Line = tuple[int, int, int, int]


class Filter:
    """A filter to `enter` in the new process, before it becomes the program."""

    def __init__(self, system: "ctypes.CDLL", lines: list[_Line], own: list[int]) -> None:
        import ctypes

        self._system = system
        self._own = own
        size = struct.calcsize("=HBBI")
        self._code = ctypes.create_string_buffer(
            b"".join(struct.pack("=HBBI", *line) for line in lines)
        )
        self._places = [number * size + 4 for number in own]
        self._program = ctypes.create_string_buffer(
            struct.pack("HxxxxxxP", len(lines), ctypes.addressof(self._code))
        )

    def enter(self) -> bool:
        """Refuse the calls from now on, if the system lets us; privileges are given up already."""
        number = os.getpid()
        for place in self._places:
            struct.pack_into("=I", self._code, place, number)
        return bool(self._system.prctl(_SECCOMP, _FILTER, self._program, 0, 0) == 0)


@functools.cache
def make(system: "ctypes.CDLL", *, is_first: bool = False, is_group: bool = False) -> Filter | None:
    """The filter for this machine; None for one whose numbers we do not know.

    It is made once: a new process enters a copy of its own. *is_first*: the first of a namespace of processes enters
    it, and what that starts inherits it; the others in there are theirs, but the first. *is_group*: so does the first
    of a group of processes, which it may end as a whole, itself included, and send no other signal.
    """
    column, architecture = ARCHITECTURES.get(os.uname().machine, (0, 0))
    if not architecture:
        return None
    refused = [numbers[column] for numbers in _CALLS.values()]
    if not column:
        refused += _OLD_CALLS.values()
    lines: list[_Line] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER),
        (_ABOVE, 0, 1, _OTHER_ABI),
        (_RETURN, 0, 0, _REFUSE),
    ]
    for number in refused:
        lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    own: list[int] = []
    for name, numbers in _OF_ITSELF.items():
        is_limit = name == "prlimit64"
        if is_first or is_group:
            lines += _about_others(numbers[column], is_limit=is_limit, is_group=is_group)
            continue
        lines += [
            (_EQUAL, 0, 5 if is_limit else 4, numbers[column]),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
        ]
        if is_limit:
            lines.append((_EQUAL, 1, 0, 0))
        own.append(len(lines))
        lines += [(_EQUAL, 0, 1, 0), (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return Filter(system, lines, own)


def _about_others(number: int, *, is_limit: bool, is_group: bool) -> list[_Line]:
    """What refuses the call *number* that is about the first process of a namespace; of limits, about any other.

    Of a group, it refuses all signals but the one that ends all of it.
    """
    allowed, refused = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)
    if is_group and not is_limit:
        return [
            (_EQUAL, 0, 6, number),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            (_EQUAL, 0, 3, 0),
            (_LOAD, 0, 0, _SECOND_ARGUMENT),
            (_EQUAL, 0, 1, _KILL),
            allowed,
            refused,
        ]
    return [
        (_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        *(
            ((_EQUAL, 0, 1, 0), allowed, refused)
            if is_limit
            else ((_EQUAL, 0, 1, 1), refused, allowed)
        ),
    ]
