import os
import time
from pathlib import Path

import pytest

from render.frontends import dispatch, progress
from render.frontends.exits import Exit

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n"


def test_timings_name_every_part_of_the_work(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.yaml").write_text(OBJECT)
    assert dispatch.invoke(["build", "--timings", str(tmp_path)]) is Exit.OK
    output, said = capfd.readouterr()
    assert output == f"---\n{OBJECT}"
    rows = [line.split() for line in said.splitlines()[1:]]
    assert [row[0] for row in rows] == ["start", "read", "render", "write", "all"]
    seconds = [float(row[1]) for row in rows]
    assert seconds[-1] == pytest.approx(sum(seconds[:-1]), abs=0.003)


def test_nobody_at_a_terminal_sees_no_progress(capfd: pytest.CaptureFixture[str]) -> None:
    with progress.line(lambda: "never"):
        time.sleep(0.01)
    assert capfd.readouterr() == ("", "")


def test_progress_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "isatty", lambda stream: stream == 2)
    with progress.line(lambda: "quick"):
        pass
    assert capsys.readouterr().err == "", "what is done at once needs no progress"
    monkeypatch.setattr(progress, "_PATIENCE", 0.01)
    monkeypatch.setattr(progress, "_PAUSE", 0.02)
    said: list[str] = []

    def say() -> str:
        said.append(f"{len(said) + 1} read")
        return said[-1]

    with progress.line(say):
        while len(said) < 3:
            time.sleep(0.01)
    shown = capsys.readouterr().err
    assert shown.startswith("\r\x1b[K1 read\r\x1b[K2 read\r\x1b[K3 read")
    assert shown.endswith("\r\x1b[K"), "the line is gone in the end"
