"""What the page on the pod shows is what virt-render prints."""

import re
from pathlib import Path
from typing import Any

import pytest

from render import Settings, render
from render.diagnostics.exits import Exit
from render.frontends import dispatch
from render.model.resource import from_body
from render.pipeline.provenance import deciders
from render.yaml.reader import read

PAGE = Path(__file__).resolve().parents[2] / "docs" / "pod.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_vm_of_the_page_asks_for_what_is_shown() -> None:
    vm, documented = blocks("yaml")
    (document,) = read(vm.encode(), "vm.yaml").documents
    (pod,) = render([document.body], Settings(emit="pod")).resources
    (wanted,) = read(documented.encode(), "shown").documents
    assert pod["spec"]["containers"][0]["resources"]["requests"] == wanted.body["requests"]


def test_explain_says_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vm.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    command, _, documented = blocks("console")[1].partition("\n")
    assert dispatch.invoke(command.split()[2:]) == Exit.OK
    assert capfd.readouterr().out == documented


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        (
            "memory: {guest: 1Gi, hugepages: {pageSize: 2Mi}}",
            "overhead 268Mi (launcher and qemu 220Mi, 1 vCPU 8Mi, I/O thread 8Mi, video 32Mi)",
        ),
        (
            "memory: {guest: 1Gi}, resources: {overcommitGuestOverhead: true}",
            "guest 1024Mi, without overhead: overcommitGuestOverhead",
        ),
        (
            "resources: {requests: {memory: 1Gi}}",
            "memory of the VMI's resources 1024Mi + overhead 270Mi (page tables 2Mi, ",
        ),
    ],
)
def test_each_shape_of_memory_has_its_sum(domain: str, message: str) -> None:
    vm = blocks("yaml")[0].replace(
        "memory: {guest: 4Gi}", domain.replace("}, res", "}\n        res")
    )
    (document,) = read(vm.encode(), "vm.yaml").documents
    machine = deciders.explain([from_body(document.body, 0)], Settings(), pods=True)[0]
    (memory,) = (
        decision.sum
        for decision in machine.decisions
        if decision.text == "pod.spec.containers[compute].resources.requests.memory"
    )
    assert memory.startswith(message)


def test_the_python_of_the_page_runs() -> None:
    vm = read(blocks("yaml")[0].encode(), "vm.yaml").documents[0].body
    vmi = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": vm["spec"]["template"]["spec"],
    }
    names: dict[str, Any] = {"objects": [vm], "vmi": vmi, "cluster": []}
    exec(blocks("python")[0], names)  # noqa: S102 - ours
    (pod,) = names["pods"]
    assert pod["kind"] == "Pod"


@pytest.mark.parametrize(
    ("field", "help_"),
    [
        ("pod.foo", "as FIELD, pod lists all of the pod"),
        ("pod.spec.hostnme", "did you mean pod.spec.hostname?"),
    ],
)
def test_a_field_that_no_pod_has_is_named_as_it_was_asked_for(
    field: str,
    help_: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vm.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    assert dispatch.invoke(["explain", "web", field, "vm.yaml"]) == Exit.USAGE
    told = capfd.readouterr().err
    assert f"starts with no field {field}," in told
    assert help_ in told
