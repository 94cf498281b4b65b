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

Said = Callable[[str], list[str]]
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
def said(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Said:
    """What build says of a text in a file that is called as in the README, line by line."""

    def build(text: str) -> list[str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        execute(Call("build", ("-",), {}), {})
        return capfd.readouterr().err.replace("<stdin>", "web.yaml").splitlines()

    return build


def test_the_vm_that_comes_out_is_that_which_is_shown() -> None:
    source, shown, *_ = (
        [read(one.encode(), "web.yaml").documents[0].body] for one in blocks("A VM in:")[:2]
    )
    assert fits(shown[0], render(source, Settings()).resources[0])


def fits(shown: Any, printed: Any) -> bool:
    """Whether all that is *shown* is *printed*; what is left out of a text is dots."""
    if isinstance(shown, dict):
        return all(key in printed and fits(value, printed[key]) for key, value in shown.items())
    if isinstance(shown, list):
        return len(shown) == len(printed) and all(map(fits, shown, printed))
    pattern = ".*".join(map(re.escape, str(shown).split("...")))
    return re.fullmatch(pattern, str(printed)) is not None


def test_the_conflict_is_said_as_shown(said: Said) -> None:
    vm, *_ = blocks("A VM in:")
    shown, *_ = blocks("Had the VM set")
    set_by_itself = vm.replace("devices: {}\n", "devices: {}\n        memory: {guest: 8Gi}\n")
    *found, last = said(set_by_itself)
    assert found == shown.splitlines()
    assert last.startswith("1 VM: 1 error; ")


def test_the_five_mistakes_are_said_as_shown(said: Said) -> None:
    domain, shown, *_ = blocks("Five mistakes")
    found = said(ABOVE + domain + BELOW)
    lines = shown.splitlines()
    assert (
        sum(": error " in line for line in found) == sum(": error " in line for line in lines) == 5
    )
    for line in lines:
        start, _, end = line.partition("... ")
        assert any(one.startswith(start) and one.endswith(end) for one in found), line
