"""Programs that run side by side: what they print is read in order, and none outlives the others' end."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.system import processors
from render.system.programs import processes
from render.system.programs.processes import Steps, Task
from tests.support.manifests import put, vm
from tests.support.process import argv, ended, environ

#: In the place of kustomize: fails in b, prints a VM elsewhere; later folders are done sooner.
SCRIPT = """\
#!/bin/sh
name=${PWD##*/}
case $name in
  a) /bin/sleep 0.6;; b) echo "no b" >&2; exit 1;; c) /bin/sleep 0.2;;
esac
/bin/sed s/NAME/$name/ "$PWD/vm.yaml"
"""
#: Says that it runs, and does so for long.
LONG = """\
#!/bin/sh
exec 3>{held}
echo x >&3
exec /bin/sleep 600
"""
#: Says that it runs, and does so until somebody lets it go.
WAITING = """\
#!/bin/sh
echo x > {held}
until [ -e {go} ]; do /bin/sleep 0.01; done
"""
_V1 = (("quota", 50_000), ("period", 100_000))
FOLDERS = ("a", "b", "c", "d", "e")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name in FOLDERS:
        put(tmp_path / f"repo/{name}/kustomization.yaml", "resources: [vm.yaml]\n")
        # Each begins as a fault of its own: the second folder cannot be built, the others have a word nobody knows.
        put(tmp_path / f"repo/{name}/vm.yaml", vm(name="NAME", memory="1Gi") + "unknown: 1\n")
    return tmp_path


def program(folder: Path, text: str) -> str:
    file = folder / "program"
    file.write_text(text)
    file.chmod(0o755)
    return str(file)


def check(repository: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv("check", ".", *words), cwd=repository / "repo", env=environ(), capture_output=True,
        encoding="utf-8", check=False,
    )  # fmt: skip


def test_the_answer_does_not_depend_on_how_many_run(repository: Path) -> None:
    words = ["--kustomize", program(repository, SCRIPT), "--format", "json"]
    alone = check(repository, *words, "--jobs", "1")
    found = json.loads(alone.stdout)["diagnostics"]
    assert {diagnostic["code"] for diagnostic in found} == {"VR105", "VR116"}
    assert len(found) == len(FOLDERS)
    for jobs in ("2", "8", "0"):
        together = check(repository, *words, "--jobs", jobs)
        assert (together.returncode, together.stdout) == (alone.returncode, alone.stdout)
    limit = ["--max-total-bytes", "400"]
    stopped = check(repository, *words, "--jobs", "1", *limit)
    assert "VR111" in stopped.stdout
    assert check(repository, *words, "--jobs", "4", *limit).stdout == stopped.stdout


class Held:
    """A pipe that programs hold open, and say in it that they run."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "held"
        os.mkfifo(self.file)
        self._descriptor = os.open(self.file, os.O_RDONLY | os.O_NONBLOCK)

    def wait(self, count: int) -> None:
        """Wait until as many run."""
        text = b""
        while text.count(b"x") < count:
            assert select.select([self._descriptor], [], [], 60)[0]
            text += os.read(self._descriptor, 100)

    def is_gone(self) -> bool:
        """Whether nobody holds it any more."""
        while select.select([self._descriptor], [], [], 5)[0]:
            if os.read(self._descriptor, 100) == b"":
                return True
        return False


@pytest.fixture
def held(tmp_path: Path) -> Held:
    return Held(tmp_path)


@pytest.fixture
def running(repository: Path, held: Held) -> Iterator["subprocess.Popen[bytes]"]:
    long = program(repository, LONG.format(held=held.file))
    # Without a box, which would keep them from the pipe.
    words = ("check", ".", "--jobs", "3", "--allow-remote", "--kustomize", long)
    with ended() as started:
        process = subprocess.Popen(
            argv(*words), cwd=repository / "repo", env=environ(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        held.wait(3)
        yield process


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGINT, Exit.INTERRUPTED),
        (signal.SIGTERM, Exit.TERMINATED),
        (signal.SIGQUIT, -signal.SIGQUIT),
    ],
)
def test_who_stops_us_stops_all_of_them(
    number: int, status: int, running: "subprocess.Popen[bytes]", held: Held
) -> None:
    running.send_signal(number)
    printed, _ = running.communicate(timeout=60)
    assert held.is_gone()
    assert (running.returncode, printed) == (status, b"")


def test_a_deadline_ends_all_of_them(repository: Path, held: Held) -> None:
    name = program(repository, LONG.format(held=held.file))
    done = check(
        repository, "--jobs", "3", "--allow-remote", "--kustomize", name, "--deadline", "3"
    )
    assert done.returncode == Exit.DEADLINE
    assert "the deadline of 3 s has passed while reading ." in done.stdout
    assert held.is_gone()


def steps(words: list[str], folder: Path, closed: list[str]) -> Steps[bytes]:
    try:
        done = yield Task(words, str(folder), dict(os.environ))
        return done.stdout
    finally:
        closed.append(words[-1])


def test_an_error_ends_all_of_them(tmp_path: Path, held: Held) -> None:
    long = program(tmp_path, LONG.format(held=held.file))
    closed: list[str] = []
    several = [steps([long, str(number)], tmp_path, closed) for number in range(3)]

    def failing() -> Steps[bytes]:
        held.wait(3)
        yield Task([], str(tmp_path), {})
        return b""

    with pytest.raises(IndexError):  # a command without a program
        list(processes.finish_all([*several, failing()], 4))
    assert held.is_gone()
    assert sorted(closed) == ["0", "1", "2"]


def test_what_is_to_be_done_meanwhile_is_done_while_the_first_of_them_run(
    tmp_path: Path, held: Held
) -> None:
    waiting = program(tmp_path, WAITING.format(held=held.file, go=tmp_path / "go"))
    done: list[str] = []

    def meanwhile() -> None:
        if not done:
            held.wait(2)
            done.append("meanwhile")
            (tmp_path / "go").touch()

    several = [steps([waiting, str(number)], tmp_path, done) for number in range(3)]
    assert [*processes.finish_all(several, 2, meanwhile)] == [b"", b"", b""]
    assert sorted(done) == ["0", "1", "2", "meanwhile"]


def test_one_that_cannot_be_started_or_is_late_does_not_end_the_others(tmp_path: Path) -> None:
    def tried(words: list[str], seconds: float | None = None) -> Steps[str]:
        try:
            done = yield Task(words, str(tmp_path), {}, seconds=seconds)
        except OSError:
            return "not there"
        except subprocess.TimeoutExpired:
            return "late"
        return done.stdout.decode()

    several = [
        tried(["/bin/sleep", "600"], 0.3),
        tried(["/no/such/program"]),
        tried([sys.executable, "-c", "print('x' * 300_000)"]),
        tried(["/bin/echo", "last"]),
    ]
    late, missing, long, last = processes.finish_all(several, 4)
    assert (late, missing, len(long), last) == ("late", "not there", 300_001, "last\n")


@pytest.mark.parametrize(
    ("groups", "files", "quotas"),
    [
        ("0::/a/b\n", {"a/cpu.max": "150000 100000\n", "a/b/cpu.max": "max 100000\n"}, [1.5]),
        (
            "3:cpu,cpuacct:/a\n",
            {f"cpu,cpuacct/a/cpu.cfs_{name}_us": f"{value}\n" for name, value in _V1},
            [0.5],
        ),
        ("1:cpu:/\n0::/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, []),
        ("nonsense", {}, []),
    ],
)  # fmt: skip
def test_quotas_of_control_groups(
    groups: str, files: dict[str, str], quotas: list[float], tmp_path: Path
) -> None:
    for name, text in files.items():
        put(tmp_path / "cgroup" / name, text)
    put(tmp_path / "groups", groups)
    found = list(processors.quotas(str(tmp_path / "cgroup"), str(tmp_path / "groups")))
    assert found == quotas


@pytest.mark.parametrize(
    ("groups", "files", "limits"),
    [
        ("0::/a/b\n", {"a/memory.max": f"{1 << 30}\n", "a/b/memory.max": "max\n"}, [1 << 30]),
        ("3:memory:/a\n", {"memory/a/memory.limit_in_bytes": "123456\n"}, [123456]),
        ("3:cpu:/a\n", {"cpu/a/memory.limit_in_bytes": "1\n"}, []),
    ],
)
def test_memory_of_control_groups(
    groups: str, files: dict[str, str], limits: list[int], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A container of 1 GiB is not ended with all that runs in it for what one kustomization takes."""
    for name, text in files.items():
        put(tmp_path / "cgroup" / name, text)
    put(tmp_path / "groups", groups)
    places = str(tmp_path / "cgroup"), str(tmp_path / "groups")
    assert list(processors.memory_limits(*places)) == limits
    for name, value in zip(("_ROOT", "_GROUPS"), places, strict=True):
        monkeypatch.setattr(processors, name, value)
    least, most = 256 << 20, 4 << 30
    known = {1 << 30: 768 << 20, 123456: least}
    assert processors.memory.__wrapped__() == (known[limits[0]] if limits else most)


def test_a_repository_does_not_say_how_many_run(repository: Path) -> None:
    text = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec:\n  jobs: 64\n"
    put(repository / "repo/.virt-render.yaml", text)
    done = check(repository, "--kustomize", program(repository, SCRIPT))
    assert done.returncode == Exit.USAGE
    assert "jobs is not for manifests and Applications to decide" in done.stdout
