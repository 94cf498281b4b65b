"""A fault of ours in one object or one input: it is said, the others are looked at, and the status tells."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from render.frontends import dispatch, session
from render.model.resource import Resource
from tests.support.manifests import put, vm


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put(".git/HEAD", "")
    put("one/bad.yaml", vm("bad", memory="1Gi"))
    put("one/good.yaml", vm("good", memory="much"))


def fail_on_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    journey = vars(import_module("render.pipeline.run"))["_Journey"]
    begin = journey.begin

    def failing(self: Any, resource: Resource, *unchanged: Any) -> None:
        if resource.name == "bad":
            raise KeyError("secret-canary")
        begin(self, resource, *unchanged)

    monkeypatch.setattr(journey, "begin", failing)


@pytest.mark.parametrize("command", ["check", "build", "report -o page.html", "argocd generate"])
def test_of_an_object(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    fail_on_bad(monkeypatch)
    assert dispatch.invoke([*command.split(), "one"]) == 4
    printed, text = capfd.readouterr()
    assert (
        "one/bad.yaml:1:1: error VR901 internal-error: VirtualMachine bad: KeyError"
        in printed + text
    )
    page = Path("page.html").read_text() if Path("page.html").exists() else ""
    assert "VR108" in printed + text + page
    assert "secret-canary" not in printed + text
    assert "kind:" not in printed or command == "check"


def test_of_an_input(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """What is no object's: the other kustomization is checked."""
    for name in ("k1", "k2"):
        put(f"{name}/kustomization.yaml", "resources: [vm.yaml]\n")
        put(f"{name}/vm.yaml", vm(name, memory="much"))
    unordered = vars(session)["_unordered"]

    def failing(loaded: Any, resources: Any) -> Any:
        if loaded.folder == "k1":
            raise IndexError("secret-canary")
        return unordered(loaded, resources)

    monkeypatch.setattr(session, "_unordered", failing)
    assert dispatch.invoke(["check", "k1", "k2", "one"]) == 4
    printed, text = capfd.readouterr()
    assert "k1: error VR901 internal-error: IndexError in " in printed
    assert "k2/vm.yaml" in printed
    assert "one/good.yaml" in printed
    assert "secret-canary" not in printed + text


FOUNDING = """\
apiVersion: kubevirt.io/v1alpha1
kind: VirtualMachine
metadata: {name: old}
spec:
  domain:
    devices: {}
    memory: {guest: 64Mi}
"""


@pytest.mark.parametrize("names", [("old", "web"), ("old", "old")])
def test_a_machine_of_the_founding_time_and_one_of_today(
    capfd: pytest.CaptureFixture[str], names: tuple[str, str]
) -> None:
    old, new = names
    put("x/vm.yaml", FOUNDING.replace("old", old))
    put("y/vm.yaml", vm(new, memory="1Gi"))
    for states in (("x", "y"), ("y", "x")):
        assert dispatch.invoke(["diff", *states]) in {0, 1}
        assert f"VirtualMachine {old}" in capfd.readouterr().out
