"""A VM that has its instancetype from the label of its disk changes with that label, which is the line to blame."""

from pathlib import Path

import pytest

from tests.support import manifests
from tests.support.asking import Ask
from tests.support.repository import RepositoryInProcess

LABEL = "instancetype.kubevirt.io/default-instancetype"
IMAGE = f"""\
apiVersion: cdi.kubevirt.io/v1beta1
kind: DataSource
metadata:
  name: fedora
  namespace: images
  labels:
    {LABEL}: small
    {LABEL}-kind: VirtualMachineClusterInstancetype
spec: {{}}
"""
VM = (
    manifests.vm("web", namespace="prod").replace(
        "  template:",
        """\
  instancetype: {inferFromVolume: root}
  dataVolumeTemplates:
    - metadata: {name: root}
      spec:
        sourceRef: {kind: DataSource, namespace: images, name: fedora}
        storage: {resources: {requests: {storage: 10Gi}}}
  template:""",
    )
    + "      volumes: [{name: root, dataVolume: {name: root}}]\n"
)


@pytest.mark.parametrize("edit", [": small\n", "-kind: VirtualMachineClusterInstancetype\n"])
def test_the_label_is_blamed(tmp_path: Path, ask: Ask, edit: str) -> None:
    repository = RepositoryInProcess(tmp_path, ask)
    repository.write("image.yaml", IMAGE)
    repository.write("vm.yaml", VM)
    repository.write("small.yaml", manifests.instancetype("small"))
    repository.write("large.yaml", manifests.instancetype("large", cpus=2, memory="2Gi"))
    own = manifests.instancetype("small", kind=manifests.NAMESPACED, namespace="prod", cpus=4)
    repository.write("own.yaml", own)
    repository.commit("a VM")
    value = ": large\n" if edit == ": small\n" else "-kind: VirtualMachineInstancetype\n"
    repository.write("image.yaml", IMAGE.replace(edit, value))
    text = repository.fine("diff", "--emit", "vm")
    line = 7 if edit == ": small\n" else 8
    place = f"  image.yaml:{line}:5 DataSource images/fedora metadata.labels[{LABEL}"
    assert f"spec.domain.cpu.sockets: 1 -> {2 if line == 7 else 4} (migrate){place}" in text
    assert "vm.yaml" not in text or line != 7
