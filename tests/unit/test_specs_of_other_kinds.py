"""Objects that have the spec of another kind: one question about the kind, and no field is taken away."""

from typing import Any

import pytest

from render import Diagnostic, render

Json = dict[str, Any]
CORE, POOLS, DEFINITIONS = (
    "kubevirt.io/v1",
    "pool.kubevirt.io/v1beta1",
    "instancetype.kubevirt.io/v1beta1",
)
VMI: Json = {"domain": {"memory": {"guest": "1Gi"}, "devices": {}}, "volumes": []}
LABELS: Json = {"labels": {"app": "web"}}
VM: Json = {"runStrategy": "Always", "template": {"spec": VMI}, "dataVolumeTemplates": []}
REPLICAS: Json = {"replicas": 2, "selector": {"matchLabels": LABELS["labels"]}}
SET: Json = REPLICAS | {"template": {"metadata": LABELS, "spec": VMI}}
POOL: Json = REPLICAS | {"virtualMachineTemplate": {"metadata": LABELS, "spec": VM}}
INSTANCETYPE: Json = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
PREFERENCE: Json = {"clock": {"preferredTimer": {}}, "machine": {"preferredMachineType": "q35"}}


def found(api_version: str, kind: str, spec: Json) -> list[Diagnostic]:
    metadata = {"name": "web"} | ({} if "Cluster" in kind else {"namespace": "prod"})
    body = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
    return [entry for entry in render([body]).diagnostics if entry.code in ("VR105", "VR107")]


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "meant"),
    [
        (CORE, "VirtualMachineInstance", VM, "VirtualMachine"),
        (CORE, "VirtualMachineInstanceReplicaSet", VM, "VirtualMachine"),
        (POOLS, "VirtualMachinePool", VM, "VirtualMachine"),
        (CORE, "VirtualMachine", VMI, "VirtualMachineInstance"),
        (CORE, "VirtualMachine", SET, "VirtualMachineInstanceReplicaSet"),
        (POOLS, "VirtualMachinePool", SET, "VirtualMachineInstanceReplicaSet"),
        (CORE, "VirtualMachine", POOL, "VirtualMachinePool"),
        (DEFINITIONS, "VirtualMachinePreference", INSTANCETYPE, "VirtualMachineInstancetype"),
        (
            DEFINITIONS,
            "VirtualMachineClusterInstancetype",
            PREFERENCE,
            "VirtualMachineClusterPreference",
        ),
    ],
)
def test_the_kind_is_questioned(api_version: str, kind: str, spec: Json, meant: str) -> None:
    entries = found(api_version, kind, spec)
    (question,) = [entry for entry in entries if entry.position is not None]
    assert question.position is not None
    assert question.position.path == ("kind",)
    assert question.help == f"did you mean kind: {meant}? that has each field of this spec"
    rest = [entry.help for entry in entries if entry is not question]
    assert not any("did you mean" in cure or "remove" in cure for cure in rest)
    assert not any(entry.fixes for entry in entries)


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("VirtualMachineInstance", VMI | {"memory": {"guest": "1Gi"}}),
        ("VirtualMachine", VM | {"replicas": 2}),
        ("VirtualMachine", VM | VMI),
    ],
)
def test_one_field_of_another_kind_is_no_question(kind: str, spec: Json) -> None:
    entries = found(CORE, kind, spec)
    assert entries
    assert all(entry.position is None and "kind:" not in entry.help for entry in entries)
