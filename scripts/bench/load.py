"""Load: 64 runs as Argo CD's plugin at once over one repository, and 1,000 runs in a row: ``make load``.

Every run must print the same, and nothing may be left behind: no file and no process.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

from scripts.bench import fleet
from scripts.bench.fleet import Tree

AT_ONCE, IN_A_ROW, VMS = 64, 1000, 100


def main() -> int:
    """Run both, and say what they took."""
    program = os.path.join(os.path.dirname(sys.executable), "virt-render")
    with tempfile.TemporaryDirectory(prefix="virt-render-load-") as folder:
        tree = os.path.join(folder, "repository")
        fleet.write(tree, Tree(VMS))
        os.unlink(os.path.join(tree, "kustomization.yaml"))
        environ = {**os.environ, "TMPDIR": folder, "ARGOCD_APP_NAME": "load"}
        command = [program, "argocd", "generate", "."]
        wanted = subprocess.run(
            command, cwd=tree, env=environ, capture_output=True, check=True
        ).stdout
        before = _everything(folder)
        started = time.monotonic()
        runs = [_start(command, tree, environ) for _ in range(AT_ONCE)]
        memory = [_finish(process, output, wanted) for process, output in runs]
        print(
            f"{AT_ONCE} runs at once, {VMS} VMs each: {time.monotonic() - started:.1f} s, all alike; "
            f"peak memory of one: median {statistics.median(memory):.0f}, most {max(memory):.0f} MB"
        )
        started = time.monotonic()
        for _ in range(IN_A_ROW):
            _finish(*_start(command, tree, environ), wanted)
        print(f"{IN_A_ROW} runs in a row: {time.monotonic() - started:.1f} s, all alike")
        left = _everything(folder) - before
        if left:
            sys.exit(f"left behind: {sorted(left)}")
        print("no file and no process is left behind")
    return 0


def _start(command: list[str], tree: str, environ: dict[str, str]) -> tuple[int, int]:
    """The process, in a group of its own, and the file (nobody else's) that it prints to."""
    output = os.memfd_create("output")
    actions = [
        (os.POSIX_SPAWN_DUP2, output, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    here = os.getcwd()
    os.chdir(tree)
    process = os.posix_spawn(command[0], command, environ, file_actions=actions, setpgroup=0)
    os.chdir(here)
    return process, output


def _finish(process: int, output: int, wanted: bytes) -> float:
    """The peak memory of *process* in MB; it printed *wanted*, and no other process is left of its group."""
    _, status, used = os.wait4(process, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit("a run failed")
    if os.pread(output, len(wanted) + 1, 0) != wanted:
        sys.exit("a run printed something else")
    os.close(output)
    try:
        os.killpg(process, 0)
    except ProcessLookupError:
        return used.ru_maxrss * 1024 / 1e6
    sys.exit("a run left a process behind")


def _everything(folder: str) -> set[str]:
    return {os.path.join(top, name) for top, _, names in os.walk(folder) for name in names}


if __name__ == "__main__":
    sys.exit(main())
