"""Files with expectations, as somebody writes them who wants to know or to get at more than is theirs."""

import json
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.frontends.dispatch import invoke
from tests.support.manifests import put, vm

HEAD = "apiVersion: virt-render.dev/v1alpha1\nkind: Test\n"
CANARY = "hunter2canary"
SECRETIVE = f"""apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {{name: web, namespace: prod}}
spec:
  runStrategy: Always
  template:
    metadata:
      annotations: {{hooks.kubevirt.io/hookSidecars: '[{{"image": "a", "args": ["--password={CANARY}", "{CANARY}"]}}]'}}
    spec:
      domain: {{devices: {{disks: [{{name: ci, disk: {{bus: virtio}}}}]}}, memory: {{guest: 1Gi}}}}
      volumes: [{{name: ci, cloudInitNoCloud: {{userData: "password: {CANARY}"}}}}]
      livenessProbe: {{exec: {{command: [sh, {CANARY}]}}}}
"""


@pytest.fixture
def messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> "pytest.CaptureFixture[str]":
    monkeypatch.chdir(tmp_path)
    return capfd


@pytest.mark.parametrize(
    "wrong",
    [
        "vmi: {spec: {livenessProbe: {exec: a}}}",
        "vmi: {spec: {livenessProbe: {exec: null}}}",
        "vmi: {spec: {livenessProbe: a}}",
        "vmi: {spec: {livenessProbe: {exec: {command: [sh, a]}}}}",
        "vmi: {spec: {volumes: a}}",
        "vmi: {spec: {volumes: [{name: ci, cloudInitNoCloud: a}]}}",
        "vmi: {metadata: {annotations: {hooks.kubevirt.io/hookSidecars: a}}}",
        "vmi: {metadata: {annotations: {hooks.kubevirt.io/hookSidecars: null}}}",
        "pod: {spec: {containers: [{name: hook-sidecar-0, args: [a, b]}]}}",
        "pod: {spec: {containers: [{name: hook-sidecar-0, args: a}]}}",
        "pod: {spec: {containers: [{name: hook-sidecar-0, args: null}]}}",
    ],
)
def test_what_is_secret_is_in_no_message(
    wrong: str, messages: "pytest.CaptureFixture[str]"
) -> None:
    put("web.yaml", SECRETIVE)
    put("a.virt-test.yaml", f"{HEAD}spec: {{expect: [{{{wrong}}}]}}\n")
    assert invoke(["test"]) == Exit.FINDINGS
    printed = messages.readouterr()
    assert "VR804" in printed.out + printed.err
    assert CANARY not in printed.out + printed.err


@pytest.mark.parametrize(
    "spec",
    [
        "{expect: [{findings: [{a: b}]}]}",
        "{expect: [{findings: [[]]}]}",
        "{given: {before: .}, expect: [{change: {a: b}}]}",
        '{given: {paths: ["a\\0b"]}, expect: [{findings: []}]}',
        '{given: {before: "a\\0b"}, expect: [{change: same}]}',
        "{expect: [{vmi: {spec: {volumes: [{name: {a: b}}]}}}]}",
        "{expect: [{vmi: {spec: {volumes: [{name: [a]}, {name: null}]}}}]}",
    ],
)
def test_no_shape_is_a_defect_of_ours(spec: str, messages: "pytest.CaptureFixture[str]") -> None:
    put("web.yaml", vm("web", memory="1Gi"))
    put("a.virt-test.yaml", f"{HEAD}spec: {spec}\n")
    assert invoke(["test"]) in (Exit.FINDINGS, Exit.USAGE)
    printed = messages.readouterr()
    assert "a.virt-test.yaml:3:" in printed.out + printed.err


@pytest.mark.parametrize("form", ["text", "json", "github", "junit"])
def test_what_its_settings_turn_down_is_said(
    form: str, messages: "pytest.CaptureFixture[str]"
) -> None:
    put("web.yaml", vm("web", memory="1Gi"))
    inputs = "{settings: {admission: off, allowEmpty: true}}"
    put("a.virt-test.yaml", f"{HEAD}spec: {{given: {inputs}, expect: [{{findings: []}}]}}\n")
    assert invoke(["test", "-q", "--format", form]) == Exit.OK
    assert "waived: admission off, allowEmpty on by a.virt-test.yaml\n" in messages.readouterr().err
    assert invoke(["test", "--admission", "off", "--no-allow-empty"]) == Exit.OK
    assert "waived" not in messages.readouterr().err


def test_what_is_locked_is_not_for_its_settings(
    messages: "pytest.CaptureFixture[str]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRT_RENDER_LOCKED", "pins,admission")
    put("web.yaml", vm("web", memory="1Gi"))
    inputs = "{settings: {admission: off}}"
    put("a.virt-test.yaml", f"{HEAD}spec: {{given: {inputs}, expect: [{{findings: []}}]}}\n")
    assert invoke(["test"]) == Exit.USAGE
    printed = messages.readouterr()
    assert "a.virt-test.yaml:3:" in printed.out + printed.err
    assert "admission is locked by who runs virt-render" in printed.out + printed.err


def test_of_very_many_that_are_not_met_the_first_are_told(
    messages: "pytest.CaptureFixture[str]",
) -> None:
    put("web.yaml", vm("web", memory="1Gi"))
    names = ", ".join(f"web-{index}" for index in range(10_050))
    put("a.virt-test.yaml", f"{HEAD}spec: {{expect: [{{vms: [{names}], findings: []}}]}}\n")
    assert invoke(["test", "--format", "json"]) == Exit.UNREADABLE
    findings = json.loads(messages.readouterr().out)["diagnostics"]
    assert len(findings) == 10_001
    assert "and 50 more unmet expectations" in {finding["message"] for finding in findings}
