"""Objects of KubeVirt's kinds whose API version nobody wrote: what is looked at for them, and what is not."""

import pytest

from render.diagnostics.exits import Exit
from render.model.unversioned import may_be_unversioned
from tests.support.asking import Ask
from tests.support.manifests import instancetype, vm

_NO_VERSION = "kind: VirtualMachine\nmetadata: {name: web}\nspec: {}\n"


@pytest.mark.parametrize(
    "text",
    [
        _NO_VERSION,
        "metadata: {name: web}\nkind: 'VirtualMachineInstancetype'  # small\n",
        "kind: VirtualMachinePool\r\nmetadata: {name: web}\r\n",
        "apiVersion:\nkind: VirtualMachineClusterPreference\n",
        "apiVersion: ''\nkind: VirtualMachine\n",
        f"apiVersion: v1\nkind: Service\n---\n{_NO_VERSION}",
        f"{_NO_VERSION}---\napiVersion: v1\nkind: Service\n",
        "kind: VirtualMachine\nmetadata:\n  ownerReferences:\n  - apiVersion: v1\n",
        '{"kind": "VirtualMachine", "metadata": {"name": "web"}}',
        '{\n  "kind": "VirtualMachineInstance",\n  "metadata": {}\n}\n',
    ],
)
def test_looked_at(text: str) -> None:
    assert may_be_unversioned(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: vmoperator.vmware.com/v1alpha1\nkind: VirtualMachine\n",
        "kind: VirtualMachine\napiVersion: vmoperator.vmware.com/v1alpha1\n",
        '{"apiVersion": "compute.azure.com/v1", "kind": "VirtualMachine"}',
        '{"kind": "VirtualMachine", "apiVersion": "compute.azure.com/v1"}',
        '{"spec": {"kind": "VirtualMachine"}, "kind": "Other"}',
        "kind: VirtualMachineClass\nmetadata: {name: web}\n",
        "kind: VirtualMachines\n",
        "spec:\n  kind: VirtualMachine\n",
        "# kind: VirtualMachine\n",
        f"apiVersion: v1\nkind: ConfigMap\ndata:\n  vm: |\n    {_NO_VERSION}",
        "apiVersion: example.com/v1\nkind: Claim\n---\nkind: Other\nof: VirtualMachine\n",
        "{{- if .Values.vm }}\nkind: VirtualMachine\nmetadata: {name: web}\n",
    ],
)
def test_not_looked_at(text: str) -> None:
    assert not may_be_unversioned(text.encode())


def test_a_folder_is_searched_for_them(ask: Ask) -> None:
    """Values of a chart, say, have a kind and no metadata."""
    files = {
        "vms/db.yaml": vm("db", memory="1Gi").partition("\n")[2],
        "types.yaml": instancetype("small").partition("\n")[2],
        "values.yaml": "kind: VirtualMachine\nmemory: 1Gi\n",
        "other.yaml": "kind: Service\nmetadata: {name: x}\n",
    }
    answer = ask("check", files=files)
    assert answer.exit == Exit.FINDINGS
    found = [line for line in answer.out.splitlines() if " VR" in line]
    assert [line.partition(" not-an-object: ")[0] for line in found] == [
        "types.yaml:1:1: error VR104",
        "vms/db.yaml:1:1: error VR104",
    ]
    assert "apiVersion of VirtualMachine db is missing" in answer.out
    assert "help: write apiVersion: instancetype.kubevirt.io/v1beta1" in answer.out
