"""What the README shows is what virt-render says."""

import io
import re
import sys
from pathlib import Path

import pytest

from render.frontends.execute import execute
from render.frontends.request.request import Call

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


def test_the_five_mistakes_are_said_as_shown(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    text = README.read_text(encoding="utf-8")
    domain, shown = re.findall(r"```\w*\n(.*?)```", text.partition("Five mistakes")[2], re.DOTALL)[
        :2
    ]
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO((ABOVE + domain + BELOW).encode()))
    )
    execute(Call("build", ("-",), {}), {})
    said = capfd.readouterr().err.replace("<stdin>", "web.yaml").splitlines()
    lines = shown.splitlines()
    assert (
        sum(": error " in line for line in said) == sum(": error " in line for line in lines) == 5
    )
    for line in lines:
        start, _, end = line.partition("... ")
        assert any(one.startswith(start) and one.endswith(end) for one in said), line
