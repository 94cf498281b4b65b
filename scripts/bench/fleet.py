"""Repositories to measure with: any number of virtual machines with the instancetypes and preferences they use.

The same for the same arguments: what varies from VM to VM follows from its number.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

INSTANCETYPES = 60
PREFERENCES = 80
TEAMS = 37
PER_DOCUMENT = 100

_ADDRESSES = 250
_SIZES = ("small", "medium", "large", "xlarge", "2xlarge", "4xlarge")
_SYSTEMS = (
    "fedora",
    "rhel.9",
    "ubuntu",
    "debian",
    "windows.2k22",
    "centos.stream9",
    "opensuse",
    "alpine",
)


class Tree(NamedTuple):
    """A repository to write: the number of its VMs, and whether a file holds one or a hundred of them.

    *alike*: all guests boot with the same texts.
    """

    vms: int
    several: bool = False
    alike: bool = False

    @property
    def name(self) -> str:
        """How the tree is called in folders and tables."""
        guests = "-alike" if self.alike else ""
        return f"{self.vms}-{'multi' if self.several else 'files'}{guests}"


def write(folder: str, tree: Tree) -> int:
    """Write *tree* below *folder*, with a kustomization that lists all of it; the bytes written.

    A single VM gets its own instancetype and preference and no others: that is the cold start.
    """
    files: dict[str, str] = {}
    machines = [machine(number, alike=tree.alike) for number in range(tree.vms)]
    if tree.several:
        for start in range(0, tree.vms, PER_DOCUMENT):
            text = "---\n".join(machines[start : start + PER_DOCUMENT])
            files[f"machines/{start // PER_DOCUMENT:04}.yaml"] = text
    else:
        for number, text in enumerate(machines):
            files[f"team-{number % TEAMS:02}/vm-{number:05}.yaml"] = text
    for count, kind, make in _definitions(tree):
        texts = [make(number) for number in range(count)]
        if tree.several:
            files[f"platform/{kind}s.yaml"] = "---\n".join(texts)
        else:
            files |= {
                f"platform/{kind}-{number:02}.yaml": text for number, text in enumerate(texts)
            }
    listed = "".join(f"- {name}\n" for name in sorted(files))
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _write(path, text)
    _write(os.path.join(folder, "kustomization.yaml"), f"resources:\n{listed}")
    return sum(len(text) for text in files.values())


def write_quotas(folder: str) -> None:
    """Write beside the tree of *folder* a quota for the namespace of each team, in which all of it has room."""
    hard = "{requests.memory: 9Pi, requests.cpu: 9k, pods: 9k}"
    texts = [
        f"apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: room, namespace: team-{team:02}}}\n"
        f"spec: {{hard: {hard}}}\n"
        for team in range(TEAMS)
    ]
    _write(os.path.join(folder, "quotas.yaml"), "---\n".join(texts))
    with open(os.path.join(folder, "kustomization.yaml"), "a", encoding="utf-8") as file:
        file.write("- quotas.yaml\n")


def write_overlays(folder: str, count: int) -> None:
    """Write *count* kustomizations below *folder*, each with a namespace for the one VM of a common base."""
    write(os.path.join(folder, "base"), Tree(1))
    _git(folder, "init", "--quiet")  # a build sees its repository
    for number in range(count):
        overlay = os.path.join(folder, f"overlay-{number:03}")
        os.makedirs(overlay)
        text = f"namespace: team-{number:03}\nresources: [../base]\n"
        _write(os.path.join(overlay, "kustomization.yaml"), text)


def commit_edit(folder: str) -> None:
    """Make of *folder* a repository of git with two commits, between which one instancetype was edited."""
    edited = os.path.join(folder, "platform", "instancetype-07.yaml")
    steps = (instancetype(7), instancetype(7).replace("guest: 8\n", "guest: 9\n"))
    _git(folder, "init", "--quiet")
    for text in steps:
        _write(edited, text)
        _git(folder, "add", "--all")
        _git(
            folder, "-c", "user.name=bench", "-c", "user.email=", "-c", "gc.auto=0",
            "commit", "--quiet", "-m", "x",
        )  # fmt: skip
    _git(folder, "gc", "--quiet")  # as in a clone


def _git(folder: str, *words: str) -> None:
    subprocess.run(["git", "-C", folder, *words], check=True)


def _definitions(tree: Tree) -> Iterator[tuple[int, str, Callable[[int], str]]]:
    yield (1 if tree.vms == 1 else INSTANCETYPES), "instancetype", instancetype
    yield (1 if tree.vms == 1 else PREFERENCES), "preference", preference


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _cycled(values: Sequence[str], number: int) -> str:
    return values[number % len(values)]


def instancetype_name(number: int) -> str:
    """The name of an instancetype."""
    return f"{'abef'[number // 15]}{number % 15 // 6 + 1}.{_cycled(_SIZES, number % 15)}"


def preference_name(number: int) -> str:
    """The name of a preference."""
    return f"{_cycled(_SYSTEMS, number)}.v{number // len(_SYSTEMS)}"


def instancetype(number: int) -> str:
    """The manifest of an instancetype."""
    extra = ("", "  ioThreadsPolicy: shared\n")[number % 2]
    return f"""\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterInstancetype
metadata:
  name: {instancetype_name(number)}
  labels:
    instancetype.kubevirt.io/cpu: "{number % 8 + 1}"
    instancetype.kubevirt.io/vendor: example.com
spec:
  annotations:
    example.com/class: class-{number % 5}
  cpu:
    guest: {number % 8 + 1}
  memory:
    guest: {1 << number % 6}Gi
{extra}"""


def preference(number: int) -> str:
    """The manifest of a preference."""
    return f"""\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterPreference
metadata:
  name: {preference_name(number)}
  annotations:
    openshift.io/display-name: "{_cycled(_SYSTEMS, number).title()} {number}"
spec:
  clock:
    preferredClockOffset:
      utc: {{}}
    preferredTimer:
      hpet:
        present: false
      rtc:
        tickPolicy: catchup
  cpu:
    preferredCPUTopology: {_cycled(("sockets", "cores", "threads"), number)}
  devices:
    preferredDiskBus: {_cycled(("virtio", "sata"), number // 3)}
    preferredInterfaceModel: virtio
    preferredRng: {{}}
  features:
    preferredAcpi: {{}}
    preferredSmm: {{}}
  firmware:
    preferredEfi:
      secureBoot: {_cycled(("true", "false"), number)}
  preferredTerminationGracePeriodSeconds: {_cycled(("180", "3600"), number)}
"""


def machine(number: int, *, alike: bool = False) -> str:
    """The manifest of a virtual machine with disks, networks and cloud-init, which may be *alike* for all."""
    name = f"vm-{number:05}"
    guest = 0 if alike else number
    second, third = guest % _ADDRESSES, guest // _ADDRESSES % _ADDRESSES
    chosen, preferred = number * 7 % INSTANCETYPES, number * 11 % PREFERENCES
    if number == 0:
        chosen = preferred = 0
    return f"""\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: {name}
  namespace: team-{number % TEAMS:02}
  labels:
    app.kubernetes.io/name: {name}
    app.kubernetes.io/part-of: {_cycled(("shop", "billing", "search", "mail"), number)}
  annotations:
    example.com/owner: "team {number % TEAMS}"
spec:
  runStrategy: {_cycled(("Always", "RerunOnFailure", "Halted"), number)}
  instancetype:
    name: {instancetype_name(chosen)}
  preference:
    name: {preference_name(preferred)}
  dataVolumeTemplates:
  - metadata:
      name: {name}-root
    spec:
      sourceRef:
        kind: DataSource
        name: {_cycled(_SYSTEMS, number)}
        namespace: golden-images
      storage:
        resources:
          requests:
            storage: {20 + number % 5 * 10}Gi
  template:
    metadata:
      labels:
        kubevirt.io/domain: {name}
        network.example.com/zone: zone-{number % 3}
    spec:
      domain:
        devices:
          disks:
          - name: root
            bootOrder: 1
            disk: {{}}
          - name: data
            disk:
              bus: virtio
          - name: cloudinit
            disk: {{}}
          interfaces:
          - name: default
            masquerade: {{}}
            ports:
            - name: ssh
              port: 22
          - name: backend
            bridge: {{}}
            macAddress: 52:54:00:{number // 65536 % 256:02x}:{number // 256 % 256:02x}:{number % 256:02x}
      networks:
      - name: default
        pod: {{}}
      - name: backend
        multus:
          networkName: networks/backend-{number % 9}
      volumes:
      - name: root
        dataVolume:
          name: {name}-root
      - name: data
        persistentVolumeClaim:
          claimName: {name}-data
      - name: cloudinit
        cloudInitNoCloud:
          userData: |
            #cloud-config
            hostname: vm-{guest:05}
            users:
            - name: admin
              groups: [wheel]
              ssh_authorized_keys:
              - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{guest:024}
            runcmd:
            - [systemctl, enable, --now, qemu-guest-agent]
          networkData: |
            version: 2
            ethernets:
              eth1:
                addresses: [10.{third}.{second}.2/24]
"""
