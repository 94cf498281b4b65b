"""Guest memory that KubeVirt admits and no guest runs with (VR448)."""

import pytest

from render.diagnostics.diagnostic import Severity
from render.kubevirt.virt_launcher import unusable_memory
from render.model.resource import from_body
from render.model.tree import Tree
from tests.support.asking import Ask

PATH = ("spec", "memory", "guest")


def instancetype(amount: object) -> Tree:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": "small"},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": amount}},
    }


@pytest.mark.parametrize(
    ("amount", "severity", "units"),
    [
        ("4", Severity.WARNING, 2),
        (4096, Severity.WARNING, 2),
        ("999999", Severity.WARNING, 2),
        ("4096m", Severity.WARNING, 0),
        ("512Ki", Severity.WARNING, 0),
        ("1000000", Severity.WARNING, 0),
        ("4M", Severity.WARNING, 0),
        ("8Mi", Severity.WARNING, 0),
        ("1n", Severity.WARNING, 0),
        ("0", Severity.ERROR, 0),
        ("0Gi", Severity.ERROR, 0),
        ("-1", Severity.ERROR, 0),
        ("-4Gi", Severity.ERROR, 0),
    ],
)
def test_no_guest_runs_with_it(amount: object, severity: Severity, units: int) -> None:
    body = instancetype(amount)
    found = unusable_memory(from_body(body, 0), body, PATH)
    assert found is not None
    assert found.severity is severity
    assert len(found.fixes) == units
    assert ("the unit is missing" in found.help) is bool(units)


@pytest.mark.parametrize(("amount", "meant"), [("4M", "4Gi"), ("2048m", "2048Mi")])
def test_another_unit_was_meant(amount: str, meant: str) -> None:
    body = instancetype(amount)
    found = unusable_memory(from_body(body, 0), body, PATH)
    assert found is not None
    assert f"{meant} was meant, most likely" in found.help


@pytest.mark.parametrize("amount", ["16M", "16000000", "32Mi", "4Gi", "${MEMORY}", "", None, {}])
def test_a_guest_may_run_with_it(amount: object) -> None:
    body = instancetype(amount)
    assert unusable_memory(from_body(body, 0), body, PATH) is None


@pytest.mark.parametrize(("amount", "meant"), [("4M", "4Gi"), ("8Mi", "8Gi")])
def test_megabytes_are_a_slip_for_gigabytes(amount: str, meant: str) -> None:
    body = instancetype(amount)
    found = unusable_memory(from_body(body, 0), body, PATH)
    assert found is not None
    assert found.help == f"{meant} was meant, most likely"
    assert found.message.endswith(
        "is less than 16M: hardly any operating system starts in so little"
    )


LIMITED = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        memory: {guest: 4Gi}
        resources: {limits: {memory: 2Gi}}
        devices: {}
"""
STAGE = """\
---
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: kubevirt, namespace: kubevirt}
spec: {configuration: {vmRolloutStrategy: Stage}}
"""


@pytest.mark.parametrize(
    ("release", "text", "expected"),
    [
        ("1.9", LIMITED, "warning VR448 guest-memory"),
        ("1.6", LIMITED, "warning VR448 guest-memory"),
        # Where guests do not grow while they run, KubeVirt refuses it.
        ("1.9", LIMITED + STAGE, "error VR412 memory/guest-above-limit"),
        ("1.5", LIMITED, "warning VR412 memory/guest-above-limit"),
        ("1.9", LIMITED.replace("2Gi", "4Gi"), ""),
        # Of huge pages the pod has another limit.
        ("1.9", LIMITED.replace("guest: 4Gi", "guest: 4Gi, hugepages: {pageSize: 2Mi}"), ""),
    ],
)
def test_a_guest_above_the_limit_of_its_pod(
    ask: Ask, release: str, text: str, expected: str
) -> None:
    found = ask("check", "-", "--kubevirt", release, stdin=text).out
    assert found.count(" VR") == bool(expected), found
    assert expected in found
