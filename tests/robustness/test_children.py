"""Programs that we start: read no further than the limits allow, and gone with all that they started."""

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.manifests.boxed import kustomize
from render.manifests.boxed.program import ProgramBounds
from render.manifests.kustomization import Reach
from render.system.programs import processes
from render.yaml.budget import Limits
from tests.support.process import ended, environ

UNATTENDED = "from render.frontends import dispatch; dispatch.main()"
AT_TERMINAL = f"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); {UNATTENDED}"
FAMILY = """\
#!/bin/sh
exec 3>{held}
/bin/sleep 60 &
echo $$ $! >&3
{then}
"""


class Family:
    """A program in the place of kustomize with a child of its own, and a pipe that both hold open."""

    def __init__(self, folder: Path, then: str) -> None:
        held = folder / "held"
        os.mkfifo(held)
        self._held = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
        self._numbers: list[int] = []
        self.program = folder / "family"
        self.program.write_text(FAMILY.format(held=held, then=then))
        self.program.chmod(0o755)

    def wait(self) -> None:
        """Wait until both are there."""
        assert select.select([self._held], [], [], 60)[0]
        self._numbers = [int(word) for word in os.read(self._held, 100).split()]

    def is_gone(self) -> bool:
        """Whether both have ended; one that has not is given a moment, and then ended."""
        if not self._numbers:
            self.wait()
        if select.select([self._held], [], [], 5)[0] and os.read(self._held, 1) == b"":
            return True
        for number in self._numbers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        return False


@pytest.fixture
def family(tmp_path: Path) -> Family:
    return Family(tmp_path, "wait")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "kustomization.yaml").write_text("# of kubevirt.io\nresources: []\n")
    return work


Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    with ended() as started:

        def start(*words: str, terminal: int | None = None) -> "subprocess.Popen[bytes]":
            process = subprocess.Popen(
                [sys.executable, "-c", AT_TERMINAL if terminal else UNATTENDED, *words], cwd=folder,
                env=environ(), stdin=terminal or subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            started.append(process)
            return process

        yield start


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGTERM, Exit.TERMINATED),
        (signal.SIGINT, Exit.INTERRUPTED),
        (signal.SIGHUP, Exit.HUNG_UP),
        (signal.SIGQUIT, -signal.SIGQUIT),
    ],
)
def test_who_stops_us_stops_all(number: int, status: int, family: Family, start: Start) -> None:
    process = start("build", "--allow-remote", "--kustomize", str(family.program))
    family.wait()
    process.send_signal(number)
    printed, _ = process.communicate(timeout=60)
    assert family.is_gone()
    assert (process.returncode, printed) == (status, b"")


def test_what_it_leaves_running_goes_when_it_ends(folder: Path, tmp_path: Path) -> None:
    left = Family(tmp_path, "exec >&- 2>&-; exit 0")
    left.program.write_text(left.program.read_text().replace("60 &", "60 <&- >&- 2>&- &"))
    found = processes.finish(
        kustomize.building(
            kustomize.KustomizeBuild(
                str(folder),
                str(left.program),
                Reach(),
                ProgramBounds(Limits(), 1 << 20),
                allow_remote=True,
            )
        )
    )
    assert found == b""
    assert left.is_gone()


IN_BETWEEN = """
import subprocess, sys
from render.system.programs import processes

class Popen(subprocess.Popen):
    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        sys.stdin.readline()

subprocess.Popen = Popen
processes.run([sys.argv[1]], folder=".", environ={})
"""


def test_between_the_start_of_a_child_and_our_knowing_of_it(family: Family) -> None:
    command = [sys.executable, "-c", IN_BETWEEN, str(family.program)]
    with subprocess.Popen(command, env=environ(), stdin=subprocess.PIPE) as process:
        family.wait()
        process.send_signal(signal.SIGHUP)
        process.communicate(b"\n", timeout=60)
    assert family.is_gone()
    assert process.returncode == -signal.SIGHUP


def test_our_deadline_stops_all(family: Family, start: Start) -> None:
    process = start(
        "argocd",
        "generate",
        "--allow-remote",
        "--kustomize",
        str(family.program),
        "--deadline",
        "1",
    )
    family.wait()
    _, text = process.communicate(timeout=60)
    assert family.is_gone()
    assert process.returncode == Exit.DEADLINE, text


@pytest.mark.parametrize(
    ("hang_up", "status"), [(False, Exit.INTERRUPTED), (True, Exit.HUNG_UP)], ids=["ctrl-C", "it"]
)
def test_a_terminal_stops_all(family: Family, start: Start, *, hang_up: bool, status: int) -> None:
    """It tells its foreground group, to which what we started does not belong."""
    ours, upstream = os.openpty()

    process = start(
        "build", "--allow-remote", "--kustomize", str(family.program), terminal=upstream
    )
    os.close(upstream)
    family.wait()
    if not hang_up:
        os.write(ours, b"\x03")
        process.wait(60)
    os.close(ours)
    process.communicate(timeout=60)
    assert family.is_gone()
    assert process.returncode == status


def test_kustomize_has_no_terminal_to_ask_at(tmp_path: Path, start: Start) -> None:
    """A question of git at a terminal would stop it, and us with it."""
    tool = tmp_path / "asking"
    tool.write_text("#!/bin/sh\nread answer < /dev/tty\n")
    tool.chmod(0o755)
    ours, upstream = os.openpty()

    process = start("build", "--kustomize", str(tool), terminal=upstream)
    _, text = process.communicate(timeout=60)
    os.close(ours)
    os.close(upstream)
    assert process.returncode == Exit.UNREADABLE
    assert b"/dev/tty" in text


@pytest.mark.parametrize("then", ["wait", "while :; do echo '# and so on'; done"])
def test_no_zombie_stays(then: str, tmp_path: Path) -> None:
    family = Family(tmp_path, then)
    building = kustomize.building(
        kustomize.KustomizeBuild(
            ".",
            str(family.program),
            Reach(),
            ProgramBounds(Limits(), 10_000),
            allow_remote=True,  # no box, in which it would not reach its pipe
            seconds=1 if then == "wait" else 60,
        )
    )
    processes.finish(building)
    assert family.is_gone()
    with contextlib.suppress(ChildProcessError):  # there is no child at all
        assert os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


@pytest.mark.parametrize("command", ["build", "check", "argocd generate", "pin", "verify"])
@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (
            "--max-file-bytes",
            ". (kustomize build) is larger than the limit of 1000 bytes for one file",
        ),
        (
            "--max-total-bytes",
            "the input is larger than the limit of 1000 bytes in total: stopped at . (kustomize build)",
        ),
    ],
)
def test_what_kustomize_prints_without_end(
    command: str, limit: str, words: str, tmp_path: Path, start: Start
) -> None:
    family = Family(tmp_path, "while :; do echo '# and so on'; done")
    process = start(
        *command.split(),
        "--allow-remote",
        "--allow-remote",
        "--kustomize",
        str(family.program),
        limit,
        "1000",
    )
    printed, text = process.communicate(timeout=20)
    assert family.is_gone()
    assert process.returncode == Exit.UNREADABLE
    last_line = b""
    if command in ("check", "verify"):
        printed, text = text, printed
        last_line = b"no VM among what is in 1 file: 1 error\n"
    assert printed == last_line
    assert text.startswith(f". (kustomize build): error VR111 limit-exceeded: {words}\n".encode())


def test_what_fits_exactly_is_read() -> None:
    words = [sys.executable, "-c", "print(end='x' * 200_000)"]
    whole = processes.run(words, folder=".", environ={}, most=200_000)
    assert (whole.returncode, whole.stdout) == (0, b"x" * 200_000)
    cut = processes.run(words, folder=".", environ={}, most=199_999)
    assert len(cut.stdout) == 200_000


def test_of_what_is_said_the_first_and_the_last_are_kept() -> None:
    script = "import sys; sys.stderr.write('first\\n' + 'x' * 20_000_000 + '\\nlast')"
    done = processes.run([sys.executable, "-c", script], folder=".", environ={})
    assert done.stderr.startswith(b"first\n")
    assert done.stderr.endswith(b"\nlast")
    assert len(done.stderr) < 1_000_000


@pytest.mark.parametrize(("program", "printed"), [("cat", 3_000_000), ("true", 0)])
def test_a_long_input_is_read_or_not(program: str, printed: int) -> None:
    done = processes.run([f"/bin/{program}"], folder=".", environ={}, stdin=b"x" * 3_000_000)
    assert (done.returncode, len(done.stdout)) == (0, printed)
