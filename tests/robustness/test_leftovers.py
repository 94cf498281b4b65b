"""After a process was killed: what it left behind is not read, and in nobody's way."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.frontends.dispatch import invoke
from tests.support.manifests import vm
from tests.support.process import environ

VM = vm(memory="1Gi").replace("runStrategy: Always", "running: true")
#: Under the number of the next run, as in containers, where numbers are few.
KILLED = """
import os, signal, sys
from render.frontends.dispatch import invoke

own = os.getpid()
os.getpid = lambda: int(sys.argv[1])
os.replace = lambda *_: os.kill(own, signal.SIGKILL)
invoke(sys.argv[2:])
"""
COMMANDS = {
    "migrate": ["migrate", "."],
    "one file": ["build", ".", "-o", "../out.yaml"],
    "a folder": ["build", ".", "-o", "../out/"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_next_run_is_as_if_nothing_were_there(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("vm.yaml").write_text(VM, encoding="utf-8")
    words = COMMANDS[command]
    before = messages(["check", "-v", "."], capfdbinary)
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(os.getpid()), *words],
            env=environ(), check=False,
        )  # fmt: skip
        assert done.returncode == -signal.SIGKILL
    assert Path("vm.yaml").read_text(encoding="utf-8") == VM
    left = {path: path.read_bytes() for path in tmp_path.rglob(".*.tmp")}
    assert len(left) == 2
    assert messages(["check", "-v", "."], capfdbinary) == before
    invoke(words)
    assert invoke(words) is Exit.OK
    assert {path: path.read_bytes() for path in tmp_path.rglob(".*.tmp")} == left
    (written,) = (path for path in tmp_path.rglob("*.yaml") if path.read_text() != VM)
    assert "kind: VirtualMachine\n" in written.read_text(encoding="utf-8")


def messages(words: list[str], captured: pytest.CaptureFixture[bytes]) -> bytes:
    invoke(words)
    return captured.readouterr().out
