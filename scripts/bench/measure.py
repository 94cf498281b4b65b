"""What a process costs: CPU time with that of its children, wall time, and the memory of the largest."""

import os
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Cost(NamedTuple):
    """CPU and wall seconds, and the peak of resident memory in megabytes (10^6 bytes)."""

    cpu: float
    wall: float
    memory: float


def run(command: Sequence[str], environ: Mapping[str, str]) -> Cost:
    """Run *command* with its output thrown away. RuntimeError if it fails."""
    nowhere = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    start = time.perf_counter()
    process = os.posix_spawn(command[0], list(command), environ, file_actions=nowhere)
    _, status, used = os.wait4(process, 0)
    wall = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"{' '.join(command)} failed")
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * 1024 / 1e6)


def interleaved(
    commands: Mapping[str, Sequence[str]], rounds: int, environ: Mapping[str, str]
) -> dict[str, Cost]:
    """The medians of *rounds* runs of each command, taken in turn so that the machine's moods hit all alike."""
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            costs[name].append(run(command, environ))
    return {
        name: Cost(*map(statistics.median, zip(*found, strict=True)))
        for name, found in costs.items()
    }
