"""docs/factor.md: every command of the guide, run on an export as Forklift and kubectl leave it."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from render import Settings, render
from render.frontends.dispatch import invoke
from render.yaml import reader
from render.yaml.budget import Limits

ROOT = Path(__file__).parents[2]
EXPORT = ROOT / "fixtures" / "exports" / "vms.yaml"
GUIDE = (ROOT / "docs" / "factor.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(EXPORT, tmp_path / "vms.yaml")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@example.com"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "export"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _unplaced(text: str) -> str:
    """*text* without lines and columns: other fixes of the export move them."""
    return re.sub(r":\d+:\d+", "", text)


def test_the_six_commands_do_what_the_guide_says(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said = ""
    commands = 0
    for language, text in BLOCK.findall(GUIDE):
        if language == "sh":
            for line in text.splitlines():
                program, *words = shlex.split(line)
                assert program == "virt-render"
                assert invoke(words) == 0, line
                said = capfd.readouterr().out
                commands += 1
        elif not language:
            assert _unplaced(text) in _unplaced(said)
    assert commands == 6
    bodies = [
        document.body
        for path in sorted(repository.glob("*.yaml"))
        for document in reader.read(path.read_bytes(), path.name, Limits()).documents
    ]
    machines = [one for one in bodies if one["kind"] == "VirtualMachine"]
    assert all("instancetype" in one["spec"] and "preference" in one["spec"] for one in machines)
    assert not any(one.is_error for one in render(bodies, Settings()).diagnostics)
    written = {path.name: path.read_text() for path in repository.glob("*.yaml")}
    assert invoke(["factor", "--restart", "--write", "."]) == 0
    assert {path.name: path.read_text() for path in repository.glob("*.yaml")} == written
