"""Guest memory that KubeVirt admits and no guest runs with (VR448)."""

import pytest

from render.diagnostics.diagnostic import Severity
from render.kubevirt.virt_launcher import unusable_memory
from render.model.resource import from_body
from render.model.tree import Tree

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


@pytest.mark.parametrize("amount", ["1M", "1000000", "1Mi", "4Gi", "${MEMORY}", "", None, {}])
def test_a_guest_may_run_with_it(amount: object) -> None:
    body = instancetype(amount)
    assert unusable_memory(from_body(body, 0), body, PATH) is None
