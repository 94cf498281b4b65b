"""git itself may take and do no more than it is given: whoever packs a repository decides what it has to unfold."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from render.frontends.dispatch import invoke
from render.system import git
from render.system.programs import seccomp
from tests.robustness.test_history import stub
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


def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> bytes:
    """What a git says that does *script*."""
    monkeypatch.setenv("PATH", stub(tmp_path / "bin", f"{script}; exit 0"))
    return git.run(str(tmp_path), "version")


def test_git_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "sleep 0.3; echo $(ulimit -d) $(ulimit -t) $(ulimit -c)"
    assert answer(tmp_path, monkeypatch, script) == f"{4 << 20} 300 0\n".encode()


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
    found = set(json.loads(answer(tmp_path, monkeypatch, " ".join(words))))
    if os.uname().machine not in seccomp.ARCHITECTURES:
        pytest.skip("no filter of calls here")
    assert found == {"reads", "starts"}


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
