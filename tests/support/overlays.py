"""A VM in a base, and overlays that patch it."""

from pathlib import Path

from tests.support import manifests

_VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        memory:
          guest: {memory}
        devices:
          disks:
            - name: root
              disk: {{bus: virtio}}
            - name: data
              disk: {{bus: virtio}}
{devices}      {networks}volumes:
        - name: root
          containerDisk: {{image: registry.example.com/root:1}}
        - name: data
          {volume}
"""


def vm(
    memory: str = "2Gi",
    *,
    devices: str = "",
    networks: str = "",
    volume: str = "emptyDisk: {capacity: 1Gi}",
) -> str:
    """The VM ``web``; *devices* goes on after its disks, *networks* stands before its volumes."""
    return _VM.format(memory=memory, devices=devices, networks=networks, volume=volume)


def base(folder: Path, text: str) -> None:
    """Write a kustomization of the VM *text*."""
    manifests.put(folder / "kustomization.yaml", "resources:\n  - vm.yaml\n")
    manifests.put(folder / "vm.yaml", text)


def overlay(folder: Path, *patches: str, of: str = "../base", namespace: str = "") -> None:
    """Write a kustomization *of* a base, with *patches* of its VM in files `p0.yaml` and so on."""
    lines = [f"namespace: {namespace}\n"] if namespace else []
    lines += [f"resources: [{of}]\n", "patches:\n" if patches else ""]
    for number, patch in enumerate(patches):
        file = f"p{number}.yaml"
        target = ", target: {kind: VirtualMachine}" if patch.startswith("-") else ""
        lines.append(f"  - {{path: {file}{target}}}\n")
        manifests.put(folder / file, patch)
    manifests.put(folder / "kustomization.yaml", "".join(lines))
