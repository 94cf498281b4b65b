"""Measure what ten thousand pins cost: ``build`` and ``pin --check`` with a lock against ``build`` without one.

Usage: bench_pins.py [VMS]. CPU time of whole processes, the best of three runs each.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

SIZES, FLAVOURS, RUNS = 60, 80, 3
BUDGET = 1.2


def instancetype(number: int, cpus: int) -> str:
    """An instancetype, of which the fleet has SIZES."""
    return (
        "apiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineClusterInstancetype\n"
        f"metadata: {{name: it-{number}}}\n"
        f"spec: {{cpu: {{guest: {cpus}}}, memory: {{guest: {number + 1}Gi}}}}\n"
    )


def preference(number: int) -> str:
    """A preference, of which the fleet has FLAVOURS."""
    return (
        "apiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineClusterPreference\n"
        f"metadata: {{name: pf-{number}}}\n"
        "spec:\n  devices: {preferredDiskBus: virtio, preferredInterfaceModel: virtio}\n"
        f"  annotations: {{note: flavour-{number}}}\n"
    )


def vm(number: int) -> str:
    """A VM of usual size: two disks, a network, user data."""
    data = "\n".join(f"              - package-{number}-{line}" for line in range(20))
    return f"""apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: vm-{number:05}
  namespace: team-{number % 40}
  labels: {{app: app-{number % 300}, tier: backend}}
spec:
  runStrategy: Always
  instancetype: {{name: it-{number % SIZES}}}
  preference: {{name: pf-{number % FLAVOURS}}}
  template:
    metadata:
      labels: {{app: app-{number % 300}}}
    spec:
      domain:
        devices:
          disks:
          - name: root
            disk: {{}}
          - name: seed
            disk: {{}}
          interfaces:
          - name: default
            masquerade: {{}}
      networks:
      - name: default
        pod: {{}}
      volumes:
      - name: root
        persistentVolumeClaim: {{claimName: root-{number}}}
      - name: seed
        cloudInitNoCloud:
          userData: |
            #cloud-config
            packages:
{data}
"""


def cpu_seconds(folder: Path, *words: str) -> float:
    """CPU time of virt-render with *words* in *folder*, the best of RUNS."""
    best = float("inf")
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-m", "render", *words],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode:
            sys.exit(done.stderr.decode())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
        best = min(best, spent)
    return best


def main() -> None:
    """Measure and print a table; fails if the budget is not met."""
    vms = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "vms").mkdir()
        for number in range(vms):
            (folder / "vms" / f"{number:05}.yaml").write_text(vm(number), encoding="utf-8")
        shared = [instancetype(number, 2) for number in range(SIZES)]
        shared += [preference(number) for number in range(FLAVOURS)]
        (folder / "shared.yaml").write_text("---\n".join(shared), encoding="utf-8")
        without = cpu_seconds(folder, "build", "--no-annotations")
        stamped = cpu_seconds(folder, "build")
        cpu_seconds(folder, "pin")
        size = os.path.getsize(folder / "virt-render.lock.yaml")
        print(f"{vms} VMs, lock of {size / 1e6:.1f} MB; CPU time, best of {RUNS}")
        print(f"build --no-annotations, no lock   {without:6.2f} s")
        print(f"build, no lock                    {stamped:6.2f} s   1.00")
        missed = False
        for words in (("build",), ("pin", "--check")):
            spent = cpu_seconds(folder, *words)
            missed |= spent > BUDGET * stamped
            print(f"{' '.join(words):<16}, with the lock  {spent:6.2f} s   {spent / stamped:.2f}")
    sys.exit(missed)


if __name__ == "__main__":
    main()
