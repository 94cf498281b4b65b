"""``verify``: what is applied was rendered, the VMs of pools too."""

from pathlib import Path

import pytest

from render import render
from render.frontends.execute import execute
from render.frontends.request.request import Call
from render.yaml import writer
from tests.support.pools import SMALL, changed, pool


def verified(folder: Path, body: dict[str, object], capfd: pytest.CaptureFixture[str]) -> str:
    file = folder / "rendered.yaml"
    file.write_text(writer.write([body]))
    execute(Call("verify", (str(file),), {}), {})
    return capfd.readouterr().out


def test_a_pool_is_verified(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    body = render([SMALL, pool()]).resources[1]
    assert verified(tmp_path, body, capfd) == "1 VirtualMachinePool verified\n"
    place = ("spec", "virtualMachineTemplate", "spec", "template", "spec", "domain", "cpu")
    text = verified(tmp_path, changed(body, {"cores": 9}, *place), capfd)
    assert "VR613" in text
    text = verified(tmp_path, pool(), capfd)
    assert "VR612" in text
    line = text.partition("rendered.yaml:")[2].partition(":")[0]
    written = (tmp_path / "rendered.yaml").read_text().splitlines()
    assert written[int(line) - 1].strip() == "instancetype:"
