"""The small manifests that many tests start from, as people write them."""

from pathlib import Path

#: The kind of an instancetype of one namespace.
NAMESPACED = "VirtualMachineInstancetype"


def vm(
    name: str = "web",
    *,
    namespace: str = "",
    instancetype: str = "",
    kind: str = "",
    memory: str = "",
) -> str:
    """A VM that always runs, with what is given: the instancetype is the cluster's unless *kind* says else."""
    place = f"  namespace: {namespace}\n" if namespace else ""
    matcher = f"  instancetype:\n    name: {instancetype}\n" if instancetype else ""
    matcher += f"    kind: {kind}\n" if kind else ""
    guest = f"        memory:\n          guest: {memory}\n" if memory else ""
    return f"""\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: {name}
{place}spec:
  runStrategy: Always
{matcher}  template:
    spec:
      domain:
        devices: {{}}
{guest}"""


def instancetype(
    name: str = "small",
    *,
    namespace: str = "",
    kind: str = "VirtualMachineClusterInstancetype",
    cpus: int = 1,
    memory: str = "1Gi",
) -> str:
    """An instancetype, the cluster's unless *kind* says else."""
    place = f"  namespace: {namespace}\n" if namespace else ""
    return f"""\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: {kind}
metadata:
  name: {name}
{place}spec:
  cpu:
    guest: {cpus}
  memory:
    guest: {memory}
"""


def put(path: str | Path, text: str) -> None:
    """Write a file, in folders that are made for it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
