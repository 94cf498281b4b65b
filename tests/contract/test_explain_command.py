"""``virt-render explain`` as a process: each field of a VM with who decided it, and where."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.repository import Repository

CLUSTER = """\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata:
  name: kubevirt
  namespace: kubevirt
spec:
  configuration:
    evictionStrategy: LiveMigrate
"""
PRESET = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata:
  name: quiet
  namespace: prod
spec:
  selector:
    matchLabels:
      tier: quiet
  domain:
    cpu:
      model: Haswell
"""
PRESET_VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: quiet
  namespace: prod
spec:
  runStrategy: Always
  template:
    metadata:
      labels:
        tier: quiet
    spec:
      domain:
        memory:
          guest: 1Gi
        devices: {}
      volumes:
        - name: seed
          cloudInitNoCloud:
            userData: canary-horse
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    made.instancetype("small")
    made.vm("web")
    return made


def fields(repository: Repository, *words: str) -> dict[str, Any]:
    answer = json.loads(repository.fine("explain", *words, "--format", "json"))
    return {one["field"]: one for one in answer["fields"]}


def test_an_instancetype_is_named_with_its_line(repository: Repository) -> None:
    (line,) = repository.fine("explain", "web", "memory.guest").splitlines()[1:]
    assert line.strip() == (
        "spec.domain.memory.guest: 2Gi  instancetypes/small.yaml:10:5 "
        "VirtualMachineInstancetype prod/small spec.memory.guest"
    )


def test_what_the_vm_says_and_what_kubevirt_adds(repository: Repository) -> None:
    repository.write("vms/quiet.yaml", PRESET_VM)
    found = fields(repository, "prod/quiet")
    guest = found["spec.domain.memory.guest"]
    assert (guest["value"], guest["decider"]) == ("1Gi", "vm")
    assert guest["source"] == {
        "resource": {"kind": "VirtualMachine", "namespace": "prod", "name": "quiet"},
        "field": "spec.template.spec.domain.memory.guest",
        "file": "vms/quiet.yaml",
        "line": 15,
        "column": 11,
    }
    model = found["spec.domain.cpu.model"]
    assert (model["decider"], model["source"]) == ("kubevirt", None)


def test_a_setting_and_a_preset_decide(repository: Repository) -> None:
    for name, text in (("cluster", CLUSTER), ("preset", PRESET), ("quiet", PRESET_VM)):
        repository.write(f"{name}.yaml", text)
    found = fields(repository, "quiet", "--kubevirt", "1.7")
    deciders = {name: one["decider"] for name, one in found.items()}
    assert deciders["spec.evictionStrategy"] == "cluster"
    assert found["spec.evictionStrategy"]["source"]["file"] == "cluster.yaml"
    assert deciders["spec.domain.cpu.model"] == "preset"


@pytest.mark.parametrize("form", ["text", "json"])
def test_secrets_are_hidden(repository: Repository, form: str) -> None:
    repository.write("quiet.yaml", PRESET_VM)
    said = repository.fine("explain", "quiet", "--format", form)
    assert "(hidden)" in said
    assert "canary" not in said


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("nowhere",), "no VirtualMachine nowhere"),
        (("web", "spec.domain.cpu.socket"), "did you mean spec.domain.cpu.sockets"),
    ],
)
def test_what_cannot_be_explained(
    repository: Repository, words: tuple[str, ...], text: str
) -> None:
    done = repository.run("explain", *words)
    assert done.returncode == 2
    assert text in done.stderr


def test_a_vm_that_does_not_start_says_why(repository: Repository) -> None:
    repository.vm("web", instancetype="nowhere")
    done = repository.run("explain", "web")
    assert done.returncode == 1
    assert '"nowhere" not found' in done.stderr


OLDER = """\
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachineFlavor
metadata: {name: small}
spec:
  cpu: {guest: 2}
  memory: {guest: 2Gi}
---
apiVersion: kubevirt.io/v1alpha1
kind: VM
metadata: {name: stored, annotations: {kubevirt.io/flavour: small}}
spec:
  domain:
    cpu: {model: host-model}
---
apiVersion: kubevirt.io/v1alpha1
kind: VirtualMachine
metadata: {name: runtime}
spec:
  domain:
    cpu: {cores: 2}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: flavored}
spec:
  runStrategy: Always
  flavor: {name: small, kind: VirtualMachineFlavor}
  template: {spec: {domain: {devices: {}}}}
"""


@pytest.mark.parametrize(
    ("vm", "field", "said"),
    [
        ("stored", "spec.domain.cpu.model", "older.yaml:13:11 VM stored spec.domain.cpu.model"),
        ("stored", "spec.domain.cpu.sockets", "older.yaml:5:9 VirtualMachineFlavor small spec.cpu.guest"),
        ("stored", "spec.domain.memory.guest", "older.yaml:6:12 VirtualMachineFlavor small spec.memory.guest"),
        ("runtime", "spec.domain.cpu.cores", "older.yaml:20:11 VirtualMachine runtime spec.domain.cpu.cores"),
        ("runtime", "spec.domain.machine.type", "KubeVirt's default"),
        ("flavored", "spec.domain.cpu.sockets", "older.yaml:5:9 VirtualMachineFlavor small spec.cpu.guest"),
        (
            "flavored", "metadata.annotations[kubevirt.io/instancetype-name]",
            "older.yaml:27:12 VirtualMachine flavored spec.flavor.name",
        ),
    ],
)  # fmt: skip
def test_machines_of_every_time_are_explained(
    repository: Repository, vm: str, field: str, said: str
) -> None:
    repository.write("older.yaml", OLDER)
    (line,) = repository.fine("explain", vm, "older.yaml", field).splitlines()[1:]
    assert line.endswith(f"  {said}")
