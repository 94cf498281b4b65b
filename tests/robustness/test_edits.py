"""Ten thousand edits, scaled down: an editor stays open for weeks."""

import gc
import os
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from render.frontends.editor import notes
from render.frontends.editor.workspace import Workspace
from render.frontends.request.commands import Call
from scripts.bench import fleet
from scripts.bench.fleet import Tree
from tests.support.calls import calls
from tests.support.manifests import instancetype, put, vm

EDITS = int(os.environ.get("VIRT_RENDER_EDITS", "300"))
_NAMES, _WARM, _ROOM = 20, 120, 1000
"""Edits before anything is measured, and blocks of memory: of 300 edits that kept a VM each it would be ten thousand.

Bytes tell less: the interpreter's own table of interned words grows by leaps, whatever is in it.
"""


CALLS_A_MACHINE = 220
"""Of functions; to render one takes thousands."""


def test_edits_leave_nothing_behind(tmp_path: Path) -> None:
    folder = (tmp_path / "repository").resolve()
    for number in range(5):
        put(folder / f"vms/{number}.yaml", vm(f"vm-{number}", instancetype="small"))
    put(folder / "platform/instancetypes.yaml", instancetype())
    workspace = Workspace(str(folder), Call("lsp", (".",), {}), {}, trusted=False)
    file = "vms/0.yaml"
    sizes: list[int] = []
    with workspace.entered():
        workspace.read()
    for number in range(_WARM + EDITS):
        name = f"vm-{number % _NAMES}"  # what is remembered of words has its bounds elsewhere
        text = vm(name, instancetype="small", memory="1Gi" if number % 2 else "")
        text = text if number % 3 else text.replace("spec:", "spec: [")
        workspace.buffers[str(folder / file)] = f"# {number % _NAMES}\n{text}"
        with workspace.entered():  # a deadline each
            workspace.edit(file)
            if number % 10 == 0:
                workspace.read()
                workspace.plain()
            assert notes.by_file(workspace) or not workspace.findings
        if number in (_WARM - 1, _WARM + EDITS - 1):
            gc.collect()
            sizes.append(sys.getallocatedblocks())
    before, after = sizes
    assert after - before < _ROOM


def test_an_edit_asks_little_of_the_other_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them is looked at (two may use the same claim), and none is rendered again."""
    counted: list[int] = []
    for number in (100, 150, 200):
        folder = (tmp_path / str(number)).resolve()
        fleet.write(str(folder), Tree(number))
        (folder / "kustomization.yaml").unlink()
        file = min(folder.rglob("vm-*.yaml"))
        workspace = Workspace(str(folder), Call("lsp", (".",), {}), {}, trusted=False)
        monkeypatch.chdir(folder)
        workspace.read()
        text = file.read_text(encoding="utf-8")
        spent = 0
        for typed in ("one", "two"):  # the first imports what only edits need
            workspace.buffers[str(file)] = text.replace("spec:", f"spec:\n  {typed}: 1", 1)
            spent = calls(partial(workspace.edit, str(file.relative_to(folder))))
        counted.append(spent)
        assert [finding.diagnostic.code for finding in workspace.findings] == ["VR105"]
    for few, many in pairwise(counted):
        assert (many - few) / 50 < CALLS_A_MACHINE
