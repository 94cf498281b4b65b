"""The manifests that many examples share: an example says only what it is about.

One that has a shape of its own is written out where it stands.
"""


def documents(*manifests: str) -> str:
    """One stream of YAML with these documents."""
    return "---\n".join(manifests)


def vm(*spec: str, namespace: str = "", labels: str = "", domain: str = "") -> str:
    """The smallest VM, called web, with the lines *spec*, *labels* on its template, and the line *domain*.

    It ends in spec.template.spec: a text behind it adds to that.
    """
    within = f", namespace: {namespace}" if namespace else ""
    fields = "".join(f"  {line}\n" for line in spec)
    labelled = f"    metadata: {{labels: {labels}}}\n" if labels else ""
    hardware = f"        {domain}\n" if domain else ""
    return f"""\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {{name: web{within}}}
spec:
  runStrategy: Always
{fields}  template:
{labelled}    spec:
      domain:
{hardware}        devices: {{}}
"""


def instancetype(name: str, *, cpus: int) -> str:
    """An instancetype in the namespace prod."""
    return f"""\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineInstancetype
metadata: {{name: {name}, namespace: prod}}
spec:
  cpu: {{guest: {cpus}}}
  memory: {{guest: 1Gi}}
"""


def preference(name: str, spec: str) -> str:
    """A preference in the namespace prod that consists of the line *spec*."""
    return f"""\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachinePreference
metadata: {{name: {name}, namespace: prod}}
spec:
  {spec}
"""


def preset(name: str, *, cores: int) -> str:
    """A preset in the namespace prod, for VMs with the labels {size: big}."""
    return f"""\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata: {{name: {name}, namespace: prod}}
spec:
  selector: {{matchLabels: {{size: big}}}}
  domain: {{cpu: {{cores: {cores}}}, devices: {{}}}}
"""
