import io
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from render.frontends import dispatch
from tests.support import manifests
from tests.support.asking import Answer, Ask


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Ask:
    """Run a command line in a folder of its own, with *files* in it and *stdin*."""
    monkeypatch.chdir(tmp_path)

    def answer(*argv: str, files: Mapping[str, str] = {}, stdin: str = "") -> Answer:
        for name, text in files.items():
            manifests.put(tmp_path / name, text)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        exit_ = dispatch.invoke(argv)
        captured = capfd.readouterr()
        return Answer(exit_, captured.out, captured.err)

    return answer
