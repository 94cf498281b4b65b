"""The script that keeps the review comment: what a change leaves in the place of its text is read no further."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cases import ROOT

_TOKEN = "token-canary"  # noqa: S105 - of nothing


def comment(file: Path) -> "subprocess.CompletedProcess[str]":
    """What becomes of *file* where no forge answers: text that was taken leads to one that is no address."""
    environ = {"GITLAB_CI": "true", "CI_API_V4_URL": "none", "TOKEN": _TOKEN}
    return subprocess.run(
        [sys.executable, str(ROOT / "deploy/comment.py"), str(file)], env=environ, check=False,
        capture_output=True, encoding="utf-8", timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["environ", "link", "pipe", "folder", "binary", "large"])
def test_what_is_no_text_of_its_own_is_refused(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "virt-render-diff.md"
    if kind == "environ":
        file.symlink_to("/proc/self/environ")
    elif kind == "link":
        (tmp_path / "other").write_text("text")
        file.symlink_to("other")
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_bytes(b"\xff" if kind == "binary" else b"a" * 5_000_000)
    done = comment(file)
    assert done.returncode == 1
    assert "none is no address of a forge" not in done.stderr
    assert "Traceback" not in done.stderr
    assert _TOKEN not in done.stdout + done.stderr


def test_a_text_is_taken(tmp_path: Path) -> None:
    (tmp_path / "virt-render-diff.md").write_text("text")
    assert "none is no address of a forge" in comment(tmp_path / "virt-render-diff.md").stderr
