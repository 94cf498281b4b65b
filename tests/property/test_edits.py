"""What an editor is told after an edit is what it would be told of the same texts at first sight."""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from render.frontends.editor.workspace import Workspace
from render.frontends.request.commands import Call
from render.report.findings import Finding
from tests.support.cases import ROOT

CASES = sorted(path.parent for path in (ROOT / "fixtures/cases").rglob("input") if path.is_dir())
_STEP = 12  # of many hundred cases; which ones changes as cases come


def halved(text: str) -> str:
    """As somebody leaves it in the middle of a word."""
    return text[: len(text) // 2]


def labelled(text: str) -> str:
    return text.replace("metadata:\n", "metadata:\n  labels: {typed: now}\n", 1)


def shifted(text: str) -> str:
    return f"# a line more\n{text}"


def turned(text: str) -> str:
    """The documents in another order."""
    return "---\n".join(reversed(text.split("---\n")))


def without_the_first(text: str) -> str:
    return text.partition("---\n")[2]


def renamed(text: str) -> str:
    return text.replace("  name: ", "  name: other-", 1)


EDITS: tuple[Callable[[str], str], ...] = (
    labelled, halved, shifted, turned, without_the_first, renamed
)  # fmt: skip


def workspace(folder: Path) -> Workspace:
    return Workspace(str(folder), Call("lsp", (".",), {}), os.environ, trusted=False)


def messages(findings: Sequence[Finding]) -> list[object]:
    """All that a reader sees, and where."""
    return [
        *sorted(
            (finding.place, finding.title, finding.text, finding.diagnostic.help, finding.related)
            for finding in findings
        )
    ]


@pytest.mark.parametrize(
    "case", CASES[::_STEP], ids=lambda resource: f"{resource.parent.name}/{resource.name}"
)
def test_after_an_edit(case: Path, tmp_path: Path) -> None:
    folder = (tmp_path / "repository").resolve()
    shutil.copytree(case / "input", folder)
    edited = workspace(folder)
    with edited.entered():
        edited.read()
    for path in sorted(folder.rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        file = str(path.relative_to(folder))
        for new in (*(edit(text) for edit in EDITS), text):
            edited.buffers[str(path)] = new
            with edited.entered():
                edited.edit(file)
            fresh = workspace(folder)
            fresh.buffers = edited.buffers
            with fresh.entered():
                fresh.read()
            assert messages(edited.findings) == messages(fresh.findings), (file, new)
