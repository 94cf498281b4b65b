"""The script that keeps the review comment: what a change leaves in the place of its text is read no further."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from render.yaml.reader import read
from tests.support.cases import ROOT
from tests.support.process import environ
from tests.support.repository import Repository

_TOKEN = "token-canary"  # noqa: S105 - of nothing


def comment(file: Path) -> "subprocess.CompletedProcess[str]":
    """What becomes of *file* where no forge answers: text that was taken leads to one that is no address."""
    fields = {"GITLAB_CI": "true", "CI_API_V4_URL": "none", "TOKEN": _TOKEN}
    return subprocess.run(
        [sys.executable, str(ROOT / "deploy/comment.py"), str(file)], env=fields, check=False,
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


@pytest.mark.parametrize("base", ["HEAD", "no-such-revision"])
def test_the_action_takes_nothing_of_the_change_for_its_answer(base: str, tmp_path: Path) -> None:
    """A text, or a link that leads out, under the name that the action writes to."""
    repository = Repository(tmp_path / "repository")
    repository.vm("web")
    repository.write("out.html", "all is well")
    (repository.folder / "out.md").symlink_to("../outside")
    repository.commit("A VM")
    program = tmp_path / "temporary/virt-render/bin/virt-render"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m render "$@"\n')
    program.chmod(0o755)
    ((document,), _) = read((ROOT / "deploy/github/diff/action.yml").read_bytes(), "action.yml")
    (step,) = (step for step in document.body["runs"]["steps"] if step["name"] == "Compare")
    fields = {
        "RUNNER_TEMP": str(tmp_path / "temporary"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "BASE": base, "TARGET": "", "FOLDER": ".", "ARGUMENTS": "", "MARKDOWN": "out.md",
        "HTML": "out.html", "JSON": "", "DEADLINE": "60",
    }  # fmt: skip
    subprocess.run(
        ["bash", "-e", "-c", step["run"]], cwd=repository.folder, env=environ(**fields), check=False,
        capture_output=True, timeout=120,
    )  # fmt: skip
    assert not (tmp_path / "outside").exists()
    assert not (repository.folder / "out.md").is_symlink()
    assert (repository.folder / "out.md").exists() == (base == "HEAD")
    assert "all is well" not in "".join(
        path.read_text() for path in repository.folder.glob("out.*")
    )
