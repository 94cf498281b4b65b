"""git itself may take and do no more than it is given: whoever packs a repository decides what it has to unfold."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from render.frontends.dispatch import invoke
from render.system import git
from render.system.programs import seccomp
from render.system.programs.box import FencedPrograms
from tests.attack.test_supervisor import eventually, with_word
from tests.robustness.test_history import stub
from tests.support.cases import ROOT
from tests.support.loopback import Loopback
from tests.support.manifests import put, vm
from tests.support.probe import ALLOWED

TRYING = (
    ALLOWED
    + """
import json, os, socket, subprocess, sys
outside, port, number = sys.argv[1:]
print(json.dumps([name for name, work in {
    "reads": lambda: open(outside).read(),
    "starts": lambda: subprocess.run(["true"], check=True),
    "writes": lambda: open(outside, "w"),
    "makes": lambda: os.mkdir(outside + ".d"),
    "removes": lambda: os.remove(outside),
    "makes-public": lambda: os.chmod(outside, 0o666),
    "connects": lambda: socket.create_connection(("127.0.0.1", int(port)), timeout=2).close(),
    "sends": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "reaches-neighbours": lambda: socket.socket(socket.AF_UNIX),
    "signals": lambda: os.kill(int(number), 0),
    "leaves": os.setsid,
}.items() if allowed(work)]))
"""
)


@pytest.fixture
def fenced(monkeypatch: pytest.MonkeyPatch) -> Iterator[FencedPrograms]:
    """Programs of which none was started before."""
    programs = FencedPrograms()
    monkeypatch.setattr(git, "FENCED", programs)
    yield programs
    programs.close()


def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> list[bytes]:
    """What a git says that does *script*, where we start it, and where a supervisor does."""
    monkeypatch.setenv("PATH", stub(tmp_path / "bin", f"{script}; exit 0"))
    return [git.run(str(tmp_path), "version") for _ in range(2)]


@pytest.mark.usefixtures("fenced")
def test_git_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "sleep 0.3; echo $(ulimit -d) $(ulimit -t) $(ulimit -c)"
    assert answers(tmp_path, monkeypatch, script) == [f"{4 << 20} 300 0\n".encode()] * 2


@pytest.mark.usefixtures("fenced")
def test_git_reads_and_does_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loopback: Loopback
) -> None:
    (tmp_path / "outside").write_text("", encoding="utf-8")
    (tmp_path / "trying.py").write_text(TRYING, encoding="utf-8")
    port = loopback.url.rpartition(":")[2]
    words = (
        sys.executable,
        "-I",
        f"{tmp_path}/trying.py",
        f"{tmp_path}/outside",
        port,
        f"{os.getpid()}",
    )
    found = [set(json.loads(text)) for text in answers(tmp_path, monkeypatch, " ".join(words))]
    if os.uname().machine not in seccomp.ARCHITECTURES:
        pytest.skip("no filter of calls here")
    assert found == [{"reads", "starts"}] * 2


HARMING = (
    ALLOWED
    + """
import os, resource, signal
parent = os.getppid()
group = os.getpgid(0)
print([name for name, work in {
    "its parent": lambda: os.kill(parent, signal.SIGKILL),
    "its group": lambda: os.killpg(group, signal.SIGKILL),
    "a signal for all": lambda: os.kill(0, signal.SIGTERM),
    "every process": lambda: os.kill(-1, 0),
    "itself": lambda: signal.raise_signal(signal.SIGURG),
    "limits of its parent": lambda: resource.prlimit(parent, resource.RLIMIT_CPU, (1, 1)),
}.items() if allowed(work)], parent)
"""
)


@pytest.mark.skipif(os.uname().machine not in seccomp.ARCHITECTURES, reason="no filter of calls")
def test_git_cannot_harm_who_starts_it(
    fenced: FencedPrograms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "harming.py").write_text(HARMING, encoding="utf-8")
    monkeypatch.setenv(
        "PATH", stub(tmp_path / "bin", f"exec {sys.executable} -I {tmp_path}/harming.py")
    )
    by_us, first, second = (git.run(str(tmp_path), "version") for _ in range(3))
    assert by_us == f"['itself'] {os.getpid()}\n".encode()
    assert first == second
    assert first.startswith(b"[] ")
    number = int(first.split()[-1])
    assert number != os.getpid()
    fenced.close()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


@pytest.mark.skipif(os.uname().machine not in seccomp.ARCHITECTURES, reason="no filter of calls")
@pytest.mark.usefixtures("fenced")
def test_what_git_leaves_behind_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer counts all the same, and there is another one who starts the next."""
    mark = f"left-{os.getpid()}"
    left = f"{sys.executable} -c 'import time; time.sleep(600)' {mark} >/dev/null 2>&1 &"
    monkeypatch.setenv("PATH", stub(tmp_path / "bin", f"{left} echo $PPID; exit 0"))
    numbers = [int(git.run(str(tmp_path), "version")) for _ in range(3)]
    assert eventually(lambda: not with_word(mark))
    assert numbers[0] == os.getpid()
    assert len({*numbers}) == 3


@pytest.mark.skipif(os.uname().machine not in seccomp.ARCHITECTURES, reason="no filter of calls")
@pytest.mark.usefixtures("fenced")
def test_a_git_that_prints_too_much_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = f"endless-{os.getpid()}"
    script = f"exec {sys.executable} -c 'while True: print(1, flush=True)' {mark}"
    monkeypatch.setenv("PATH", stub(tmp_path / "bin", script))
    for _ in range(3):
        assert len(git.run(str(tmp_path), "version", most=10)) == 11
        assert eventually(lambda: not with_word(mark))


WAITING = """
import sys
sys.path.insert(0, {root!r})
from render.system import git
git.run({folder!r}, "version")
git.run({folder!r}, "version", "--wait")
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_git_ends_with_us(tmp_path: Path, number: signal.Signals) -> None:
    mark = f"waiting-{os.getpid()}-{number}"
    waits = f"{sys.executable} -c 'import time; time.sleep(600)' {mark}"
    script = f'for word; do [ "$word" != --wait ] || {waits}; done; exit 0'
    environ = {**os.environ, "PATH": stub(tmp_path / "bin", script)}
    words = [sys.executable, "-c", WAITING.format(root=str(ROOT), folder=str(tmp_path))]
    with subprocess.Popen(words, env=environ, stderr=subprocess.DEVNULL) as process:
        assert eventually(lambda: len(with_word(mark)) == 1)
        process.send_signal(number)
    assert eventually(lambda: not with_word(mark))


@pytest.mark.parametrize("place", ["", "below"])
def test_what_git_waits_for_without_an_end_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    place: str,
) -> None:
    """git opens a pipe in the place of its patterns, and nobody writes to it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(git, "_PATIENCE", 0.3)
    put(tmp_path / place / "vm.yaml", vm(memory="1Gi"))
    subprocess.run(["git", "init", "-q"], check=True)
    os.mkfifo(tmp_path / place / ".gitignore")
    assert invoke(["check", "."]) == 3
    out, err = capfd.readouterr()
    assert f"cannot read {os.path.join(place, '.gitignore')}: neither a regular file" in out
    assert "1 VM" in err


def test_patterns_that_take_git_for_ever_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It tries all ways in which the folders of a path can be those of a pattern."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(git, "_PATIENCE", 0.3)
    monkeypatch.setattr(git, "_IGNORING", 1)
    put(tmp_path / "/".join(["aaaa"] * 60) / "vm.yaml", vm(memory="1Gi"))
    subprocess.run(["git", "init", "-q"], check=True)
    (tmp_path / ".gitignore").write_text("**/*a*/" * 60 + "1\n", encoding="utf-8")
    assert invoke(["check", "."]) == 3
    out, err = capfd.readouterr()
    assert "VR111" in out
    assert "what git ignores here is not known: git ls-files took more than 1 seconds" in out
    assert "1 VM" in err
