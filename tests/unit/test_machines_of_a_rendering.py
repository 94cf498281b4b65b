"""`Rendered.machines`: a VM, the VMI that it starts, its findings; and a package of another project in our place."""

import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from render import Settings, render
from render.yaml.reader import read
from tests.support.cases import ROOT
from tests.support.manifests import instancetype, vm

Emit = Literal["vm", "vmi", "expand", "source", "hashed", "pod"]
EMITS: tuple[Emit, ...] = ("vm", "vmi", "expand", "source", "hashed", "pod")


def objects(*texts: str) -> list[dict[str, object]]:
    return [document.body for document in read("---\n".join(texts).encode(), "x").documents]


@pytest.mark.parametrize("emit", EMITS)
def test_each_vm_has_its_vmi_and_its_findings(emit: Emit) -> None:
    inputs = objects(
        instancetype("small", memory="3Gi"),
        vm("web", instancetype="small"),
        vm("odd", instancetype="small", memory="2Gi"),
        vm("lost", instancetype="nowhere"),
    )
    machines = render(inputs, Settings(emit=emit, kubevirt="1.9")).machines
    assert [machine.resource.name for machine in machines] == ["web", "odd", "lost"]
    web, odd, lost = machines
    assert web.vm is inputs[1]
    assert web.vmi is not None
    assert web.vmi["spec"]["domain"]["memory"]["guest"] == "3Gi"
    assert web.vmi["kind"] == "VirtualMachineInstance"
    assert {diagnostic.severity for diagnostic in web.diagnostics} <= {"info", "warning"}
    assert odd.vmi is None
    assert "VR301" in {diagnostic.code for diagnostic in odd.diagnostics}
    assert lost.vmi is None
    assert "VR201" in {diagnostic.code for diagnostic in lost.diagnostics}


def test_they_are_the_same_for_the_same_input() -> None:
    inputs = objects(vm("web", memory="1Gi"))
    first, second = render(inputs), render(inputs)
    assert first.machines == second.machines
    assert len(first.machines[:1]) == 1
    assert render([]).machines == ()


def test_another_project_called_render_is_named(tmp_path: Path) -> None:
    """Both in one environment overwrite each other's files."""
    (tmp_path / "render").mkdir()
    for path in (ROOT / "render").iterdir():
        if path.name not in ("__init__.py", "__pycache__"):
            (tmp_path / "render" / path.name).symlink_to(path)
    (tmp_path / "render" / "__init__.py").write_text('__version__ = "2.1"\n', encoding="utf-8")
    program = "from render.frontends.dispatch import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "check", "."], cwd=tmp_path, capture_output=True, encoding="utf-8",
        env={"PYTHONPATH": str(tmp_path)}, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "belongs to another project" in done.stderr
    assert "pipx" in done.stderr
