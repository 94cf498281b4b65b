"""Pools on the command line: shown, pinned and verified by their name."""

import os
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.frontends.execute import execute
from render.frontends.request.request import Call
from render.yaml import writer
from tests.support.pools import SMALL, changed, pool
from tests.support.repository import Repository


def test_a_pool_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pool.yaml").write_text(writer.write([SMALL, pool()]))
    call = Call("show", ("pool.yaml",), {}, (("vm", "web"),))
    assert execute(call, dict(os.environ)) is Exit.OK
    said = capfd.readouterr().out
    assert "kind: VirtualMachinePool" in said
    assert 'guest: "2Gi"' in said


def test_the_history_of_a_pool(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write("pool.yaml", writer.write([SMALL, pool()]))
    assert repository.run("pin").returncode == 0
    repository.commit("one")
    bigger = changed(SMALL, "4Gi", "spec", "memory", "guest")
    repository.write("pool.yaml", writer.write([bigger, pool()]))
    assert repository.run("pin", "--upgrade", "shop/web").returncode == 0
    repository.commit("two")
    done = repository.run("history", "web")
    assert done.returncode == 0, done.stderr
    assert "guest" in done.stdout
    assert "4Gi" in done.stdout
    assert "two" in done.stdout
