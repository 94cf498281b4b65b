"""What a replacement of a kustomization copies into a VM is told where it stands, and a field at who names it."""

from pathlib import Path

import pytest

from tests.support import manifests, process

KUSTOMIZATION = """\
resources: [vm.yaml, small.yaml, settings.yaml]
configMapGenerator:
  - name: made
    literals: [strategy=Always]
generatorOptions: {disableNameSuffixHash: true}
replacements:
  - source: {kind: ConfigMap, name: settings, fieldPath: data.size}
    targets:
      - select: {kind: VirtualMachine, name: web}
        fieldPaths: [spec.instancetype.name]
  - path: more.yaml
"""
MORE = """\
- source: {kind: ConfigMap, name: made, fieldPath: data.strategy}
  targets:
    - select: {kind: VirtualMachine}
      reject: [{name: other}]
      fieldPaths:
        - spec.runStrategy
- source: {kind: ConfigMap, name: settings, fieldPath: data.bus}
  targets:
    - select: {kind: VirtualMachine}
      fieldPaths:
        - spec.template.spec.domain.devices.disks.[name=root].disk.bus
"""
CREATED = "      options: {create: true}\n"
SETTINGS = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  size: small
  bus: virtio
"""
VM = (
    manifests.vm("web", instancetype="any", kind=manifests.NAMESPACED).replace(
        "devices: {}", "devices: {disks: [{name: root, disk: {bus: any}}]}"
    )
    + "      volumes: [{name: root, emptyDisk: {capacity: 1Gi}}]\n"
)
FILES = {
    "base/kustomization.yaml": KUSTOMIZATION,
    "base/more.yaml": MORE,
    "base/settings.yaml": SETTINGS,
    "base/vm.yaml": VM,
    "base/small.yaml": manifests.instancetype("small", kind=manifests.NAMESPACED),
    "prod/kustomization.yaml": "resources: [../base]\nnamespace: prod\n",
}


@pytest.fixture
def repository(tmp_path: Path, kustomize: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIRT_RENDER_KUSTOMIZE", kustomize)
    for name, text in FILES.items():
        manifests.put(tmp_path / name, text)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "change", "place"),
    [
        ("base/settings.yaml", ("size: small", "size: smal"), "base/settings.yaml:6:3: error VR201 "),
        ("base/settings.yaml", ("bus: virtio", "bus: virtoi"), "base/settings.yaml:7:3: error VR420 "),
        ("base/kustomization.yaml", ("=Always", "=Alwys"), "base/kustomization.yaml:4:16: error VR706 "),
        ("base/more.yaml", ("spec.runStrategy", "spec.template.spec.hostname.x"), ""),
        ("base/more.yaml", ("disk.bus\n", f"disk.bsu\n{CREATED}"), "base/more.yaml:11:11: error VR105 "),
    ],
)  # fmt: skip
def test_the_value_or_the_name_is_told_where_it_stands(
    repository: Path, file: str, change: tuple[str, str], place: str
) -> None:
    assert process.run("check", cwd=repository).stdout == ""
    assert change[0] in FILES[file]
    manifests.put(repository / file, FILES[file].replace(*change, 1))
    done = process.run("check", cwd=repository)
    assert done.stdout.startswith(place), done.stdout
    assert done.returncode
