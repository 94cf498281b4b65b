"""What a fix of each kind writes: the manifest before and after, and whether it is safe."""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from render.admission.vm import STRATEGIES
from render.frontends.dispatch import invoke

pytestmark = pytest.mark.process

VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
spec:
  runStrategy: Always
  instancetype: # how large
    name: small
  template:
    spec:
      domain:
        cpu:
          model: host-model
        devices:
          disks:
          - name: root
            disk: {bus: virtio}
          interfaces:
          - name: default
            masquerade: {}
      hostname: web
      networks:
      - name: default
        pod: {}
      volumes:
      - name: root
        containerDisk: {image: x}
"""
SMALL = """\
---
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterInstancetype
metadata: {name: small}
spec:
  cpu: {guest: 2}
  memory: {guest: 2Gi}
"""


class Mending(NamedTuple):
    """What is wrong is *wrong* in the place of *good* in the manifest, and what a fix makes of that."""

    good: str
    wrong: str
    fixed: str
    safe: bool = False
    setup: str = ""


REST = VM[VM.index("        cpu:") :]
DISKS = VM[VM.index("      domain:") : VM.index("          interfaces:")]
MODEL = "host-passthrough"
"""The only one on arm64."""
PLAIN = "  instancetype: # how large\n    name: small\n"
CASES = {
    "bus-case": Mending("bus: virtio", "bus: VirtIO", "bus: virtio", safe=True),
    "bus-spelling": Mending("bus: virtio", "bus: virto", "bus: virtio"),
    "boot-order": Mending(
        "disk: {bus: virtio}\n          interfaces:\n          - name: default",
        "disk: {bus: virtio}\n            bootOrder: 1\n          interfaces:\n          - name: default\n"
        "            bootOrder: 1 # net",
        "disk: {bus: virtio}\n            bootOrder: 1\n          interfaces:\n          - name: default\n"
        "            bootOrder: 2 # net",
    ),
    "host-name-case": Mending("hostname: web", "hostname: Web", "hostname: web", safe=True),
    "host-name": Mending("hostname: web", "hostname: web_1.example", "hostname: web-1-example"),
    "misplaced-field": Mending(
        REST,
        "        volumes:\n        - name: root\n          containerDisk: {image: x}\n"
        + REST[: REST.index("      volumes:")],
        REST,
    ),
    # The disk stays: what it lacks is there once the field has its name.
    "unknown-volumes": Mending("      volumes:", "      volums:", "      volumes:"),
    "unknown-field": Mending("model: host-model", "modle: host-model", "model: host-model"),
    "unknown-name": Mending("name: small", "name: smal", "name: small"),
    "kind": Mending(
        "name: small",
        "name: small\n    kind: VirtualMachineInstancetype",
        "name: small\n    kind: VirtualMachineClusterInstancetype",
    ),
    "equal-cpu": Mending(
        "model: host-model",
        "model: host-model\n          cores: 1 # one\n          sockets: 2",
        "model: host-model\n          # one",
        safe=True,
    ),
    "other-cpu": Mending(
        "model: host-model", "model: host-model\n          cores: 4", "model: host-model"
    ),
    "equal-memory": Mending(
        "        devices:",
        "        memory: {guest: 2048Mi}\n        devices:",
        "        devices:",
        safe=True,
    ),
    "other-memory": Mending(
        "        devices:", "        memory: {guest: 4Gi}\n        devices:", "        devices:"
    ),
    "fraction": Mending(
        PLAIN + "  template:\n    spec:\n      domain:\n",
        "  template:\n    spec:\n      domain:\n        resources: {requests: {cpu: 0.5, memory: 1Gi}}\n",
        '  template:\n    spec:\n      domain:\n        resources: {requests: {cpu: "0.5", memory: 1Gi}}\n',
        safe=True,
    ),
    "binary-prefix": Mending(
        PLAIN + "  template:\n    spec:\n      domain:\n",
        "  template:\n    spec:\n      domain:\n        memory: {guest: 2 GiB}\n",
        "  template:\n    spec:\n      domain:\n        memory: {guest: 2Gi}\n",
        safe=True,
    ),
    "null": Mending(
        "hostname: web",
        "hostname: web\n      subdomain: # none",
        "hostname: web\n      # none",
        safe=True,
    ),
    "null-that-names": Mending("masquerade: {}", "masquerade:", "masquerade: {}"),
    "first-line": Mending(
        "containerDisk: {image: x}",
        "cloudInitNoCloud:\n          userData: |\n            users: [default]\n",
        "cloudInitNoCloud:\n          userData: |\n            #cloud-config\n            users: [default]\n",
    ),
    "architecture": Mending(
        "hostname: web",
        "architecture: amd64\n      hostname: web",
        "architecture: arm64\n      hostname: web",
        setup="---\napiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineClusterPreference\n"
        "metadata: {name: arm}\nspec: {requirements: {architecture: arm64}}\n",
    ),
    "exported": Mending(
        "  name: web\nspec:",
        "  name: web\n  uid: 2b7e1516-28ae-d2a6-abf7-158809cf4f3c\n  resourceVersion: '1'\nspec:",
        "  name: web\nspec:",
        safe=True,
    ),
    "suppression": Mending(
        "  name: web\nspec:",
        "  name: web\n  annotations:\n    virt-render.dev/ignore.VR402: no\n    a: b\nspec:",
        "  name: web\n  annotations:\n    a: b\nspec:",
        safe=True,
    ),
    "enum": Mending(
        "          disks:\n",
        "          inputs: [{name: t, type: Tablet, bus: usb}]\n          disks:\n",
        "          inputs: [{name: t, type: tablet, bus: usb}]\n          disks:\n",
        safe=True,
    ),
    "number-in-quotes": Mending(
        PLAIN
        + "  template:\n    spec:\n      domain:\n        cpu:\n          model: host-model\n",
        "  template:\n    spec:\n      domain:\n        cpu:\n          cores: '2'\n        memory: {guest: 1Gi}\n",
        "  template:\n    spec:\n      domain:\n        cpu:\n          cores: 2\n        memory: {guest: 1Gi}\n",
        safe=True,
    ),
    "true-in-quotes": Mending(
        "masquerade: {}",
        'masquerade: {}\n          autoattachSerialConsole: "True"',
        "masquerade: {}\n          autoattachSerialConsole: true",
        safe=True,
    ),
    "missing-mapping": Mending(
        REST,
        "        machine: {type: q35}\n",
        "        machine: {type: q35}\n        devices: {}\n",
        safe=True,
    ),
    "kind-case": Mending(
        "kind: VirtualMachine\n", "kind: Virtualmachine\n", "kind: VirtualMachine\n", safe=True
    ),
    "kind-spelling": Mending(
        "kind: VirtualMachine\n", "kind: VirtualMachne\n", "kind: VirtualMachine\n"
    ),
    "api-version": Mending("kubevirt.io/v1\n", "kubevirt.io/v2\n", "kubevirt.io/v1\n"),
    "matcher-kind": Mending(
        "name: small",
        "name: small\n    kind: VirtualMachineFlavor",
        "name: small\n    kind: VirtualMachineClusterInstancetype",
    ),
    "object-name": Mending("  name: web\nspec:", "  name: Web_1\nspec:", "  name: web-1\nspec:"),
    "twice-the-same": Mending(
        "runStrategy: Always",
        "runStrategy: Always\n  running: true # at once",
        "runStrategy: Always\n  # at once",
        safe=True,
    ),
    "twice": Mending(
        "runStrategy: Always", "runStrategy: Manual\n  running: true", "runStrategy: Manual"
    ),
    "protocol": Mending(
        "masquerade: {}",
        "masquerade: {}\n            ports: [{port: 80, protocol: tcp}]",
        "masquerade: {}\n            ports: [{port: 80, protocol: TCP}]",
        safe=True,
    ),
    "pinned": Mending(
        PLAIN
        + "  template:\n    spec:\n      domain:\n        cpu:\n          model: host-model\n",
        "  template:\n    spec:\n      domain:\n        memory: {guest: 1Gi}\n        cpu:\n          cores: 2\n"
        "          isolateEmulatorThread: true\n",
        "  template:\n    spec:\n      domain:\n        memory: {guest: 1Gi}\n        cpu:\n          cores: 2\n"
        "          isolateEmulatorThread: true\n          dedicatedCpuPlacement: true\n",
    ),
    "start": Mending(
        "hostname: web",
        "startStrategy: paused\n      hostname: web",
        "startStrategy: Paused\n      hostname: web",
        safe=True,
    ),
    "eviction": Mending(
        "hostname: web",
        "evictionStrategy: LiveMigratIfPossible\n      hostname: web",
        "evictionStrategy: LiveMigrateIfPossible\n      hostname: web",
    ),
    "namespace": Mending(
        "  name: web\nspec:",
        "  name: web\n  namespace: My_Space\nspec:",
        "  name: web\n  namespace: my-space\nspec:",
    ),
    "realtime": Mending(
        PLAIN
        + "  template:\n    spec:\n      domain:\n        cpu:\n          model: host-model\n",
        "  template:\n    spec:\n      domain:\n        memory: {guest: 1Gi, hugepages: {pageSize: 2Mi}}\n"
        "        cpu:\n          cores: 2\n          dedicatedCpuPlacement: true\n          realtime: {}\n",
        "  template:\n    spec:\n      domain:\n        memory: {guest: 1Gi, hugepages: {pageSize: 2Mi}}\n"
        "        cpu:\n          cores: 2\n          dedicatedCpuPlacement: true\n          realtime: {}\n"
        "          numa:\n            guestMappingPassthrough: {}\n",
    ),
    "slip": Mending(
        "containerDisk: {image: x}",
        "persistentVolumeClaim: {claimName: databse}",
        "persistentVolumeClaim: {claimName: database}",
        setup="---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: database}\n",
    ),
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_what_a_fix_writes(name: str, repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    case = CASES[name]
    vm = VM
    if name == "architecture":
        vm = vm.replace("  template:", "  preference: {name: arm}\n  template:", 1)
    assert case.good in vm
    rest = SMALL + case.setup
    file = repository / "vm.yaml"
    file.write_text(vm.replace(case.good, case.wrong) + rest, encoding="utf-8")
    invoke(["check", "--fix", "--guest", "warning", "."])
    fixed = vm.replace(case.good, case.fixed) + rest
    if not case.safe:
        assert file.read_text(encoding="utf-8") == vm.replace(case.good, case.wrong) + rest
        invoke(["check", "--unsafe-fixes", "."])
    assert file.read_text(encoding="utf-8") == fixed, capfd.readouterr().err
    capfd.readouterr()
    assert invoke(["check", "--unsafe-fixes", "."]) == int(
        name == "architecture"
    )  # another error now
    assert file.read_text(encoding="utf-8") == fixed


CHOICES = {
    "disk without volume": (
        Mending("name: root\n        containerDisk", "name: data\n        containerDisk", ""),
        ["name it data", "drop the disk"],
    ),
    "network without interface": (
        Mending(
            "      networks:\n",
            "      networks:\n      - {name: b, multus: {networkName: b}}\n",
            "",
        ),
        ["add an interface with bridge", "drop the network"],
    ),
    "interface without network": (
        Mending("- name: default\n        pod", "- name: other\n        pod", ""),
        [
            "name it other",
            "drop the interface",
            "name it default",
            "add an interface with masquerade",
            "drop the network",
        ],
    ),
    "secure boot": (
        Mending(
            "        devices:\n",
            "        firmware: {bootloader: {efi: {}}}\n        devices:\n",
            "",
        ),
        ["enable SMM", "boot without secure boot"],
    ),
    "prefix": (
        Mending(
            "        devices:\n",
            "        memory: {hugepages: {pageSize: 2Mi}, maxGuest: 4GB}\n        devices:\n",
            "",
        ),
        ["write 4Gi", "write 4G"],
    ),
    "no strategy": (
        Mending("  runStrategy: Always\n", "", ""),
        [f"write runStrategy: {strategy}" for strategy in STRATEGIES],
    ),
    "no unit": (
        Mending(
            PLAIN + "  template:\n    spec:\n      domain:\n",
            "  template:\n    spec:\n      domain:\n        resources: {requests: {memory: 512}}\n",
            "",
        ),
        ["write 512Mi", "write 512Gi"],
    ),
    "key": (
        Mending(
            "  template:\n", "  template:\n    metadata:\n      labels:\n        on: x # in\n", ""
        ),
        ['call it "true"', 'call it "on"'],
    ),
    "label": (
        Mending("  name: web\nspec:", "  name: web\n  labels: {app: my app}\nspec:", ""),
        ["write my-app", "drop the label"],
    ),
    "annotation": (
        Mending("  name: web\nspec:", "  name: web\n  annotations: {my app: x}\nspec:", ""),
        ["call it my-app", "drop the annotation"],
    ),
    "bus of an architecture": (
        Mending(
            DISKS,
            f"      architecture: arm64\n{DISKS}".replace("virtio", "sata").replace(
                "host-model", MODEL
            ),
            "",
        ),
        ["write virtio", "write scsi"],
    ),
    "ide": (Mending("bus: virtio", "bus: ide", ""), ["write sata", "write virtio"]),
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_is_for_its_reader(
    name: str, repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    case, titles = CHOICES[name]
    file = repository / "vm.yaml"
    text = VM.replace(case.good, case.wrong) + SMALL
    assert case.wrong in text
    file.write_text(text, encoding="utf-8")
    assert invoke(["check", "--unsafe-fixes", "--format", "json", "."]) == int(name != "key")
    import json

    found = json.loads(capfd.readouterr().out)["diagnostics"]
    assert [fix["title"] for item in found for fix in item["fixes"]] == titles
    assert file.read_text(encoding="utf-8") == text


HYPERCONVERGED = """\
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}
spec:
  defaultCPUModel: Haswell # all have it
"""


@pytest.mark.parametrize(
    ("wrong", "fixed", "safe"),
    [
        ("featureGates: {downwardMetrics: 'true'}", "featureGates: {downwardMetrics: true}", True),
        ("evictionStrategy: livemigrate", "evictionStrategy: LiveMigrate", True),
        ("defaultRuntimeClas: x", "defaultRuntimeClass: x", False),
        (
            "liveMigrationConfig: {parallelMigrationsPerCluster: '5'}",
            "liveMigrationConfig: {parallelMigrationsPerCluster: 5}",
            True,
        ),
    ],
)
def test_settings_of_a_cluster_are_mended(
    wrong: str, fixed: str, *, safe: bool, repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = repository / "hyperconverged.yaml"
    file.write_text(f"{HYPERCONVERGED}  {wrong}\n", encoding="utf-8")
    assert invoke(["check", "--fix", "."]) == int(not safe)
    if not safe:
        assert wrong in file.read_text(encoding="utf-8")
        assert invoke(["check", "--unsafe-fixes", "."]) == 0
    assert file.read_text(encoding="utf-8") == f"{HYPERCONVERGED}  {fixed}\n", (
        capfd.readouterr().err
    )


def test_definitions_that_would_do_are_offered(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    preference = (
        "---\napiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineClusterPreference\n"
        "metadata: {name: large}\nspec: {requirements: {cpu: {guest: 4}}}\n"
    )
    middle = SMALL.replace("small", "middle").replace("guest: 2}", "guest: 4}")
    middle = re.sub(
        r"memory: \{guest: \w+", "memory: {guest: 96Gi", middle
    )  # and yet before those of others
    vm = VM.replace("  template:", "  preference: {name: large}\n  template:", 1)
    (repository / "vm.yaml").write_text(vm + SMALL + middle + preference, encoding="utf-8")
    assert invoke(["check", "--unsafe-fixes", "--catalog", "none", "."]) == 0
    assert "    name: middle\n" in (repository / "vm.yaml").read_text(encoding="utf-8")
    (repository / "vm.yaml").write_text(vm + SMALL + middle + preference, encoding="utf-8")
    assert invoke(["check", "."]) == 1
    assert "help: these would do: middle, u1.xlarge, u1.2xlarge\n" in capfd.readouterr().out
