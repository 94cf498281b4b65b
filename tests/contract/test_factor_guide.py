"""docs/factor.md: its commands, on an export as Forklift and kubectl leave it, leave VMs on instancetypes."""

from pathlib import Path

import pytest

from render import Settings, render
from render.frontends.dispatch import invoke
from render.yaml import reader
from render.yaml.budget import Limits
from tests.support import walkthrough
from tests.support.cases import ROOT


def test_the_commands_put_all_vms_on_instancetypes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "factor.md").read_text(encoding="utf-8")
    assert walkthrough.follow(page, tmp_path, lambda _: False) == 7
    (definitions,) = tmp_path.rglob("definitions.yaml")
    repository = definitions.parent
    monkeypatch.chdir(repository)
    bodies = [
        document.body
        for path in sorted(repository.glob("*.yaml"))
        for document in reader.read(path.read_bytes(), path.name, Limits()).documents
    ]
    machines = [body for body in bodies if body["kind"] == "VirtualMachine"]
    assert all(
        "instancetype" in machine["spec"] and "preference" in machine["spec"]
        for machine in machines
    )
    assert not any(diagnostic.is_error for diagnostic in render(bodies, Settings()).diagnostics)
    written = {path.name: path.read_text() for path in repository.glob("*.yaml")}
    assert invoke(["factor", "--restart", "--write", "."]) == 0
    assert {path.name: path.read_text() for path in repository.glob("*.yaml")} == written
