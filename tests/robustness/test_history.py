"""A history of many commits is read by few programs, and knows a deadline."""

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from render.frontends import dispatch
from render.system.programs import processes
from tests.support.manifests import instancetype, vm
from tests.support.process import run
from tests.support.repository import LOCK, Repository


def with_commits(folder: Path, count: int) -> Repository:
    """A repository with a pinned VM and a lock of which *count* commits wrote a comment."""
    made = Repository(folder)
    made.write("vm.yaml", vm("web", instancetype="small"))
    made.write("small.yaml", instancetype("small"))
    made.fine("pin", ".")
    made.commit("pinned")
    lock = (made.folder / LOCK).read_text(encoding="utf-8")
    stream = ""
    for number in range(count):
        text = f"{lock}# {number}\n"
        above = "from refs/heads/main^0\n" if not number else ""
        stream += (
            f"commit refs/heads/main\ncommitter A <a@example.com> {1700000000 + number} +0000\ndata 1\nx\n{above}"
            f"M 100644 inline {LOCK}\ndata {len(text.encode())}\n{text}\n"
        )
    made.git("fast-import", "--quiet", "--force", stdin=stream)
    made.git("reset", "--quiet", "--hard")
    return made


def stub(folder: Path, before: str) -> str:
    """A PATH with a git that does *before*, with its words in ``$@``, and then what git does."""
    git = shutil.which("git")
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\n{before}\nexec {git} "$@"\n', encoding="utf-8")
    (folder / "git").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_more_commits_start_hardly_more_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words: list[str] = []
    start = processes.run

    def noted(command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[bytes]":
        words.append(" ".join(command))
        return start(command, **options)

    monkeypatch.setattr(processes, "run", noted)
    started = []
    for count in (20, 400):
        monkeypatch.chdir(with_commits(tmp_path / str(count), count).folder)
        words.clear()
        assert dispatch.invoke(["history", "web"]) == 0
        started.append(len(words))
        assert sum(" log " in word for word in words) == 2  # of the lock, and of all
    assert started[1] - started[0] <= 400 // 64 + 1


@pytest.mark.parametrize(
    ("revisions", "names"),
    [
        ("HEAD~1", ["HEAD~1"]),
        ("HEAD~1..HEAD", ["HEAD~1", "HEAD"]),
        ("HEAD~1...", ["HEAD", "HEAD~1"]),
    ],
)
def test_diff_asks_once_what_a_revision_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revisions: str, names: list[str]
) -> None:
    """And never where the work tree begins, nor whether there is one."""
    made = with_commits(tmp_path / "repository", 3)
    words: list[Sequence[str]] = []
    start = processes.run

    def noted(command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[bytes]":
        if options["folder"] == str(made.folder.resolve()):
            words.append(command)
        return start(command, **options)

    monkeypatch.setattr(processes, "run", noted)
    monkeypatch.chdir(made.folder)
    assert dispatch.invoke(["diff", revisions]) == 0
    parsed = [command for command in words if "rev-parse" in command]
    assert "--absolute-git-dir" in parsed[0]
    assert [command[-1] for command in parsed[1:]] == [f"{name}^{{commit}}" for name in names]


def test_a_deadline_ends_it(tmp_path: Path) -> None:
    made = with_commits(tmp_path / "repository", 1)
    path = stub(tmp_path / "bin", 'case "$*" in *cat-file*) sleep 60;; esac')
    for words in (("history", "web"), ("show", "web", "--revision", "1")):
        begin = time.monotonic()
        done = run(*words, "--deadline", "2", cwd=made.folder, PATH=path, timeout=50)
        assert (done.returncode, done.stdout) == (5, "")
        assert "VR902" in done.stderr
        assert time.monotonic() - begin < 40
