"""What the README shows is what virt-render says."""

import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from render import Settings, render
from render.frontends.execute import execute
from render.frontends.request.request import Call
from render.yaml.reader import read

Answer = Callable[[str], list[str]]
README = Path(__file__).resolve().parents[2] / "README.md"
ABOVE = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
  namespace: prod
spec:
  runStrategy: Always
  template:
    spec:
"""
BELOW = """\
      networks: [{name: default, pod: {}}]
      volumes: [{name: root, containerDisk: {image: "registry.example.com/golden/fedora:43"}}]
"""


def blocks(above: str) -> list[str]:
    """The blocks of code that stand below the words *above*."""
    text = README.read_text(encoding="utf-8")
    return re.findall(r"```\w*\n(.*?)```", text.partition(above)[2], re.DOTALL)


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Answer:
    """What build says of a text in a file that is called as in the README, line by line."""

    def build(text: str) -> list[str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        execute(Call("build", ("-",), {}), {})
        return capfd.readouterr().err.replace("<stdin>", "web.yaml").splitlines()

    return build


def test_the_vm_that_comes_out_is_that_which_is_shown() -> None:
    source, documented, *_ = (
        [read(block.encode(), "web.yaml").documents[0].body] for block in blocks("A VM in:")[:2]
    )
    printed = render(source, Settings()).resources[0]
    assert fits(documented[0], printed), f"README.md, a VM out: {printed}"


def fits(documented: Any, printed: Any) -> bool:
    """Whether all that is *documented* is *printed*; what is left out of a text is dots."""
    if isinstance(documented, dict):
        return all(
            key in printed and fits(value, printed[key]) for key, value in documented.items()
        )
    if isinstance(documented, list):
        return len(documented) == len(printed) and all(map(fits, documented, printed))
    pattern = ".*".join(map(re.escape, str(documented).split("...")))
    return re.fullmatch(pattern, str(printed)) is not None


def test_the_conflict_is_said_as_shown(messages: Answer) -> None:
    vm, *_ = blocks("A VM in:")
    documented, *_ = blocks("Had the VM set")
    set_by_itself = vm.replace("devices: {}\n", "devices: {}\n        memory: {guest: 8Gi}\n")
    *found, last = messages(set_by_itself)
    assert found == documented.splitlines()
    assert last.startswith("1 VM: 1 error; ")


def test_the_five_mistakes_are_said_as_shown(messages: Answer) -> None:
    domain, documented, *_ = blocks("Five mistakes")
    found = messages(ABOVE + domain + BELOW)
    lines = documented.splitlines()
    assert (
        sum(": error " in line for line in found) == sum(": error " in line for line in lines) == 5
    )
    for line in lines:
        start, _, end = line.partition("... ")
        assert any(item.startswith(start) and item.endswith(end) for item in found), line


def test_the_settings_that_are_shown_say_how_vms_are_synced_and_which_release_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (settings,) = [block for block in blocks("## Sixty seconds") if "kind: RenderConfig" in block]
    (tmp_path / ".virt-render.yaml").write_text(settings, encoding="utf-8")
    (tmp_path / "vm.yaml").write_text(
        f"{ABOVE}      domain: {{devices: {{}}, memory: {{guest: 1Gi}}}}\n{BELOW}", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    execute(Call("diff", (".", "."), {}), {})
    told = capfd.readouterr().out
    assert "synced with --emit vm" in told
    assert "nothing says which" not in told
