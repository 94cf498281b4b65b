"""Objects of KubeVirt's kinds whose API version nobody wrote: what is looked at for them, and what is not."""

import pytest

from render.diagnostics.exits import Exit
from render.model.api_version import may_be_meant, version_meant
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
        "apiVersion: v1\nkind: VirtualMachine\n",
        "kind: VirtualMachinePool # many\napiVersion: 'apps/v1beta1' # or so\n",
        '{"apiVersion": "v1", "kind": "VirtualMachine"}',
        '{\n  "kind": "VirtualMachineInstance",\n  "metadata": {}\n}\n',
    ],
)
def test_looked_at(text: str) -> None:
    assert may_be_meant(text.encode())


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
    assert not may_be_meant(text.encode())


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


@pytest.mark.parametrize(
    ("version", "kind", "spec", "right"),
    [
        ("v1", "VirtualMachine", {"template": {}}, "kubevirt.io/v1"),
        ("apps/v1", "VirtualMachine", {"runStrategy": "Always"}, "kubevirt.io/v1"),
        ("kubevirt/v1", "VirtualMachine", {}, "kubevirt.io/v1"),
        ("kubevirt/v1alpha3", "VirtualMachine", {}, "kubevirt.io/v1alpha3"),
        ("kubvirt.io/v1", "VirtualMachine", {}, "kubevirt.io/v1"),
        ("instancetype.kubevirt/v1beta1", "VirtualMachinePreference", {}, "instancetype.kubevirt.io/v1beta1"),
        ("v1", "VirtualMachineInstancetype", {}, "instancetype.kubevirt.io/v1beta1"),
        ("kubevirt.io", "VirtualMachine", {}, "kubevirt.io/v1"),
        ("kubevirt.io.v1alpha3", "VirtualMachine", {}, "kubevirt.io/v1alpha3"),
        ("KubeVirt.io/v1", "VirtualMachine", {}, "kubevirt.io/v1"),
        ("instancetypes.kubevirt.io/v1", "VirtualMachinePreference", {}, "instancetype.kubevirt.io/v1"),
        # What others call a VM too.
        ("example.com.v1", "VirtualMachine", {"template": {}}, ""),
        ("pools.kubevirt.io/v1", "VirtualMachine", {"template": {}}, ""),
        ("v1", "VirtualMachine", {"image": "a"}, ""),
        ("v1", "VirtualMachine", {"template": "ubuntu", "instancetype": "m5.large"}, ""),
        ("v1", "VirtualMachineClass", {"template": {}}, ""),
        ("vmoperator.vmware.com/v1", "VirtualMachine", {"template": {}}, ""),
        ("kubevirt.io/v1", "VirtualMachine", {"template": {}}, ""),
        # Said elsewhere.
        ("", "VirtualMachine", {"template": {}}, ""),
        ("kubevirt.io", "KubeVirt", {"template": {}}, ""),
        ("v1", "Pod", {"template": {}}, ""),
    ],
)  # fmt: skip
def test_what_a_version_was_meant_to_be(
    version: str, kind: str, spec: dict[str, object], right: str
) -> None:
    assert version_meant({"apiVersion": version, "kind": kind, "spec": spec}) == right


@pytest.mark.parametrize(
    ("version", "lack"),
    [
        ("v1", "no cluster has kind VirtualMachine in v1"),
        ("kubevirt/v1", "KubeVirt has no API group kubevirt"),
    ],
)
def test_a_version_without_a_group_of_its_own_is_told(ask: Ask, version: str, lack: str) -> None:
    text = vm("web", memory="1Gi").replace("kubevirt.io/v1", version, 1)
    answer = ask("check", files={"vm.yaml": text})
    assert (
        f"error VR123 unknown-kind: VirtualMachine web: apiVersion: {lack}: nothing" in answer.out
    )
    assert ask("check", "--unsafe-fixes").err.count("fixed: ") == 1
    assert ask("check").err.startswith("1 VM: no findings; ")
