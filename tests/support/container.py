"""Starts a program as a default container would have it: without the calls of the system that its profile forbids.

The arguments are those of the program.
"""

import ctypes
import os
import struct
import sys

#: unshare, mount, umount2, pivot_root, setns, mount_setattr, open_tree, move_mount, fsopen, fsmount.
_FORBIDDEN = {
    "x86_64": (272, 165, 166, 155, 308, 442, 428, 429, 430, 432),
    "aarch64": (97, 40, 39, 41, 268, 442, 428, 429, 430, 432),
}
_LOAD, _JUMP_IF_EQUAL, _RETURN = (
    0x20,
    0x15,
    0x06,
)  # BPF_LD | BPF_W | BPF_ABS, BPF_JMP | BPF_JEQ | BPF_K, BPF_RET
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_EPERM = 1
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


def forbid() -> None:
    """Let the calls fail with EPERM in this process and all that it becomes."""
    numbers = _FORBIDDEN[os.uname().machine]
    lines = [struct.pack("=HBBI", _LOAD, 0, 0, 0)]
    for left, number in zip(range(len(numbers), 0, -1), numbers, strict=True):
        lines.append(struct.pack("=HBBI", _JUMP_IF_EQUAL, left, 0, number))
    lines.append(struct.pack("=HBBI", _RETURN, 0, 0, _ALLOW))
    lines.append(struct.pack("=HBBI", _RETURN, 0, 0, _ERRNO | _EPERM))
    code = ctypes.create_string_buffer(b"".join(lines))
    program = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code))
    )
    system = ctypes.CDLL(None, use_errno=True)
    for words in ((_NO_NEW_PRIVILEGES, 1, 0), (_SECCOMP, _FILTER, program)):
        if system.prctl(words[0], ctypes.c_ulong(words[1]), words[2], 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    forbid()
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 - no shell
