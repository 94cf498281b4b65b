import contextlib
import os
import subprocess
import termios
import time
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.frontends import dispatch, progress
from render.frontends.progress import Work
from render.system import signals
from tests.support.manifests import vm
from tests.support.process import argv, environ

NOTE = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n"
VM = vm(memory="1Gi")
PARTS = {
    "build": ["start", "read", "render", "write", "all"],
    "check": ["start", "read", "render", "write", "all"],
    "pin": ["start", "read", "render", "write", "all"],
    "verify": ["start", "read", "verify", "write", "all"],
    "migrate": ["start", "read", "migrate", "write", "all"],
}


@pytest.mark.parametrize("command", PARTS)
def test_timings_name_every_part_of_the_work(
    command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "vm.yaml").write_text(VM)
    assert dispatch.invoke([command, str(tmp_path)]) is Exit.OK
    before = capfd.readouterr()
    (tmp_path / "virt-render.lock.yaml").unlink(missing_ok=True)
    assert dispatch.invoke([command, "--timings", str(tmp_path)]) is Exit.OK
    output, text = capfd.readouterr()
    assert (output, text[: len(before.err)]) == before
    rows = [line.split() for line in text[len(before.err) :].splitlines()[1:]]
    assert [row[0] for row in rows] == PARTS[command]
    seconds = [float(row[1]) for row in rows]
    assert seconds[-1] == pytest.approx(sum(seconds[:-1]), abs=0.003)


def test_a_part_that_comes_again_is_one_row() -> None:
    work = Work()
    for _ in range(2):
        work.begin("read", "reading .")
        work.begin("render", "rendering 1 objects")
    assert [row.split()[0] for row in work.timings().splitlines()[1:]] == [
        "start",
        "read",
        "render",
        "all",
    ]


def test_nobody_at_a_terminal_sees_no_progress(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    with Work().on_terminal():
        time.sleep(0.01)
    assert capfd.readouterr() == ("", "")


def test_what_is_done_at_once_needs_no_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "isatty", lambda stream: stream == 2)
    with Work().on_terminal():
        pass
    assert capsys.readouterr().err == ""


def until(terminal: int, word: str) -> str:
    """What is shown on *terminal* up to *word*."""
    printed = ""
    while word not in printed:
        printed += os.read(terminal, 4096).decode()
    return printed


@pytest.mark.parametrize("command", ["build", "check", "pin --lock lock.yaml", "verify"])
def test_progress_on_a_terminal(command: str, tmp_path: Path) -> None:
    """While standard input is waited for; the line is gone in the end."""
    (tmp_path / "vm.yaml").write_text(VM)
    terminal, upstream = os.openpty()
    with subprocess.Popen(
        argv(*command.split(), "vm.yaml", "-"), cwd=tmp_path, env=environ(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=upstream,
    ) as process:  # fmt: skip
        os.close(upstream)
        printed = until(terminal, "read")
        assert printed == "\r\x1b[K1 file, 1 object read"
        assert process.stdin
        process.stdin.write(NOTE.encode())
        process.communicate()
        assert process.returncode == Exit.OK
    assert rest(terminal).rpartition("\r\x1b[K")[2].startswith("1 VM: \x1b[32mno findings\x1b[0m")


def test_progress_of_a_part_that_counts_nothing(tmp_path: Path) -> None:
    """Who stops it sees the line no more, but what was being done."""
    (tmp_path / "vm.yaml").write_text(VM.replace("/v1", "/v1alpha3"))
    (tmp_path / "kustomization.yaml").write_text("resources: [vm.yaml]\n")
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec /bin/sleep 600\n")
    slow.chmod(0o755)
    terminal, upstream = os.openpty()
    with subprocess.Popen(
        argv("migrate", "--kustomize", "./slow"), cwd=tmp_path, env=environ(),
        stdout=subprocess.PIPE, stderr=upstream,
    ) as process:  # fmt: skip
        os.close(upstream)
        printed = until(terminal, "migrating 1 object")
        assert printed.endswith("1 file, 1 object read; migrating 1 object")
        process.terminate()
        assert process.wait(60) == Exit.TERMINATED
    assert rest(terminal).endswith("\r\x1b[Kvirt-render: terminated while migrating 1 object\r\n")


def test_progress_on_a_narrow_terminal(tmp_path: Path) -> None:
    """A line that is wrapped could not be erased."""
    (tmp_path / "vm.yaml").write_text(VM)
    terminal, upstream = os.openpty()
    termios.tcsetwinsize(upstream, (24, 12))
    with subprocess.Popen(
        argv("build", "vm.yaml", "-"), cwd=tmp_path, env=environ(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=upstream,
    ) as process:  # fmt: skip
        os.close(upstream)
        assert until(terminal, ", 1 ") == "\r\x1b[K1 file, 1 o"
        process.communicate(NOTE.encode())
    *printed, last, end = rest(terminal).replace("1 file, 1 o", "").split("\r")
    assert set(printed) == {""}
    assert last.startswith("\x1b[K1 VM: \x1b[32mno findings\x1b[0m")
    assert end == "\n"


def rest(terminal: int) -> str:
    """What else is shown on *terminal*, which is closed at the other end."""
    printed = ""
    with contextlib.suppress(OSError):  # how Linux tells the end
        while more := os.read(terminal, 4096):
            printed += more.decode()
    os.close(terminal)
    return printed


@pytest.mark.parametrize("is_printed", [False, True])
def test_who_stops_the_work_is_told_when(*, is_printed: bool) -> None:
    def stopped() -> None:
        with Work() as work:
            work.begin("write", "writing the answer")
            if is_printed:
                work.end_output()
            raise signals.Terminated

    with pytest.raises(signals.Terminated) as caught:
        stopped()
    when = "after printing everything" if is_printed else "while writing the answer"
    assert caught.value.args == (when,)
