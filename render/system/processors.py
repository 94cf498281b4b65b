"""What this process may use of the machine: what its affinity and the limits of its control groups leave."""

import os
import sys
from collections.abc import Iterator
from functools import cache

_ROOT = "/sys/fs/cgroup"
_GROUPS = "/proc/self/cgroup"
_LEAST, _MOST = 256 << 20, 4 << 30
"""Of the memory of programs, however little or much the machine has."""


def available() -> int:
    """As many programs as can run at once without waiting for each other; at least one."""
    affinity = getattr(os, "sched_getaffinity", None)
    count = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min((count, *(int(quota) for quota in quotas(_ROOT, _GROUPS)))))


@cache
def memory() -> int:
    """Bytes of data that programs beside us may have together: they leave a quarter of what a container has."""
    limit = min(memory_limits(_ROOT, _GROUPS), default=2 * _MOST)
    return max(_LEAST, min(_MOST, limit // 4 * 3))


def data() -> int:
    """Bytes of data that this process has itself, as Linux counts them for a limit."""
    pages = "".join(_lines("/proc/self/statm")).split()[5:6]
    return int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else sys.maxsize


def memory_limits(root: str, groups: str) -> Iterator[int]:
    """The bytes that each control group around this process has, of those that have a limit."""
    for folder, is_v1 in _folders(root, groups, "memory"):
        name = "memory.limit_in_bytes" if is_v1 else "memory.max"
        text = "".join(_lines(os.path.join(folder, name)))
        if text.isdecimal():
            yield int(text)


def quotas(root: str, groups: str) -> Iterator[float]:
    """The processors that each control group around this process has, of those that have a quota."""
    for folder, is_v1 in _folders(root, groups, "cpu"):
        yield from (_quota_of_v1 if is_v1 else _quota_of_v2)(folder)


def _folders(root: str, groups: str, controller: str) -> Iterator[tuple[str, bool]]:
    """The folders of the control groups of *controller*, the innermost first, and whether they are of version 1."""
    for line in _lines(groups):
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        names = controllers.split(",")
        if controllers and controller not in names:
            continue
        top = os.path.join(root, controllers) if controllers else root
        if controllers and not os.path.isdir(top):
            top = os.path.join(root, controller)
        folder = os.path.normpath(os.path.join(top, path.lstrip("/")))
        while folder.startswith(top):
            yield folder, bool(controllers)
            folder = os.path.dirname(folder)


def _quota_of_v2(folder: str) -> Iterator[float]:
    words = " ".join(_lines(os.path.join(folder, "cpu.max"))).split()
    if len(words) == 2 and words[0].isdecimal() and int(words[1]):  # noqa: PLR2004 - quota and period
        yield int(words[0]) / int(words[1])


def _quota_of_v1(folder: str) -> Iterator[float]:
    quota, period = (
        " ".join(_lines(os.path.join(folder, f"cpu.cfs_{name}_us"))) for name in ("quota", "period")
    )
    if quota.isdecimal() and period.isdecimal() and int(period):
        yield int(quota) / int(period)


def _lines(file: str) -> list[str]:
    """The lines of *file*, none where it cannot be read."""
    try:
        with open(file, encoding="ascii", errors="replace") as stream:
            return stream.read().splitlines()
    except OSError:
        return []
