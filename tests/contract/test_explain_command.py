"""``virt-render explain`` and ``build --explain`` as processes: who decided each field of a VM, and who lost."""

import json
from pathlib import Path
from textwrap import indent
from typing import Any

import jsonschema
import pytest

from tests.support import manifests
from tests.support.repository import Repository, documents

ROOT = Path(__file__).parents[2]
CLUSTER = """\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata:
  name: kubevirt
  namespace: kubevirt
spec:
  configuration:
    evictionStrategy: LiveMigrate
"""
PRESET = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata:
  name: quiet
  namespace: prod
spec:
  selector:
    matchLabels:
      tier: quiet
  domain:
    cpu:
      model: Haswell
"""
PRESET_VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: quiet
  namespace: prod
spec:
  runStrategy: Always
  template:
    metadata:
      labels:
        tier: quiet
    spec:
      domain:
        memory:
          guest: 1Gi
        devices: {}
      volumes:
        - name: seed
          cloudInitNoCloud:
            userData: canary-horse
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    made.instancetype("small")
    made.vm("web")
    return made


CONTENDED = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
  namespace: prod
spec:
  runStrategy: Always
  instancetype:
    kind: VirtualMachineInstancetype
    name: small
  preference:
    kind: VirtualMachinePreference
    name: linux
  template:
    metadata:
      labels:
        tier: quiet
    spec:
      evictionStrategy: None
      domain:
        cpu:
          features:
            - name: vmx
              policy: disable
        features:
          acpi:
            enabled: true
        firmware:
          bootloader:
            bios: {}
        ioThreadsPolicy: auto
        devices:
          disks:
            - name: root
              disk:
                bus: sata
            - name: seed
              disk: {}
          interfaces:
            - name: default
              bridge: {}
      networks:
        - name: default
          pod: {}
      volumes:
        - name: root
          persistentVolumeClaim:
            claimName: root
        - name: seed
          cloudInitNoCloud:
            userData: |
              canary-horse
              password: canary-horse
"""
PREFERENCE = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachinePreference
metadata:
  name: linux
  namespace: prod
spec:
  cpu:
    preferredCPUFeatures:
      - name: vmx
        policy: require
  features:
    preferredAcpi:
      enabled: false
  firmware:
    preferredEfi:
      secureBoot: false
  devices:
    preferredDiskBus: virtio
    preferredInterfaceMasquerade: {}
"""
#: Where CONTENDED has the bus of its first disk.
BUS = "web.yaml:36:17"
THREADS_PRESET = PRESET.replace(
    "    cpu:\n      model: Haswell\n", "    devices: {}\n    ioThreadsPolicy: shared\n"
)
#: Field: its value and decider, and the value, the decider, the file and the line of who lost it.
LOST = {
    "spec.evictionStrategy": ("None", "vm", "LiveMigrate", "cluster", "cluster.yaml", 8),
    "spec.domain.cpu.features[vmx].policy": ("disable", "vm", "require", "preference", "preference.yaml", 8),
    "spec.domain.features.acpi.enabled": (False, "preference", True, "vm", "web.yaml", 27),
    "spec.domain.firmware.bootloader.bios": (
        {}, "vm", {"efi": {"secureBoot": False}}, "preference", "preference.yaml", 15,
    ),
    "spec.domain.ioThreadsPolicy": ("auto", "vm", "shared", "preset", "preset.yaml", 12),
    "spec.domain.devices.disks[root].disk.bus": ("sata", "vm", "virtio", "preference", "preference.yaml", 18),
    "spec.domain.devices.interfaces[default].bridge": (
        {}, "vm", {"masquerade": {}}, "preference", "preference.yaml", 19,
    ),
}  # fmt: skip


@pytest.fixture
def contended(repository: Repository) -> Repository:
    texts = {
        "web": CONTENDED,
        "preference": PREFERENCE,
        "preset": THREADS_PRESET,
        "cluster": CLUSTER,
    }
    (repository.folder / "vms" / "web.yaml").unlink()
    for name, text in texts.items():
        repository.write(f"{name}.yaml", text)
    return repository


def fields(repository: Repository, *words: str) -> dict[str, Any]:
    answer = json.loads(repository.fine("explain", *words, "--format", "json"))
    return {field["field"]: field for field in answer["fields"]}


def test_an_instancetype_is_named_with_its_line(repository: Repository) -> None:
    (line,) = repository.fine("explain", "web", "memory.guest").splitlines()[1:]
    assert line.strip() == (
        "spec.domain.memory.guest: 2Gi  instancetypes/small.yaml:10:5 "
        "VirtualMachineInstancetype prod/small spec.memory.guest"
    )


def test_what_the_vm_says_and_what_kubevirt_adds(repository: Repository) -> None:
    repository.write("vms/quiet.yaml", PRESET_VM)
    found = fields(repository, "prod/quiet")
    guest = found["spec.domain.memory.guest"]
    assert (guest["value"], guest["decider"]) == ("1Gi", "vm")
    assert guest["source"] == {
        "resource": {"kind": "VirtualMachine", "namespace": "prod", "name": "quiet"},
        "field": "spec.template.spec.domain.memory.guest",
        "file": "vms/quiet.yaml",
        "line": 15,
        "column": 11,
    }
    model = found["spec.domain.cpu.model"]
    assert (model["decider"], model["source"]) == ("kubevirt", None)


@pytest.mark.parametrize("path", ["vms", "vms/far.yaml", "built"])
def test_what_a_folder_misses_is_found_elsewhere_in_the_repository(
    repository: Repository, path: str
) -> None:
    """As ``check`` of that folder finds it: the VM had no instancetype there, and nothing was explained."""
    far = manifests.vm("far", namespace="prod", instancetype="wide")
    for name in ("vms", "built"):
        repository.write(f"{name}/far.yaml", far)
    repository.write("built/kustomization.yaml", "resources: [far.yaml]\n")
    repository.write("types/wide.yaml", manifests.instancetype("wide", cpus=6))
    repository.fine("check", path)
    (line,) = repository.fine("explain", "far", "cpu.sockets", path).splitlines()[1:]
    assert line.startswith("  spec.domain.cpu.sockets: 6  types/wide.yaml:")


def test_a_setting_and_a_preset_decide(repository: Repository) -> None:
    for name, text in (("cluster", CLUSTER), ("preset", PRESET), ("quiet", PRESET_VM)):
        repository.write(f"{name}.yaml", text)
    found = fields(repository, "quiet", "--kubevirt", "1.7")
    deciders = {name: item["decider"] for name, item in found.items()}
    assert deciders["spec.evictionStrategy"] == "cluster"
    assert found["spec.evictionStrategy"]["source"]["file"] == "cluster.yaml"
    assert deciders["spec.domain.cpu.model"] == "preset"
    assert found["spec.domain.cpu.model"]["source"]["field"] == "spec.domain.cpu.model"


def test_what_is_pinned_comes_from_the_lock(repository: Repository) -> None:
    repository.fine("pin")
    repository.instancetype("small", cpus=4)
    found = fields(repository, "web")["spec.domain.cpu.sockets"]
    assert (found["value"], found["decider"], found["pinned"]) == (2, "instancetype", True)
    content = repository.fine("explain", "web", "sockets")
    (lock,) = repository.folder.rglob("virt-render.lock.yaml")
    line = 1 + next(
        n
        for n, text in enumerate(lock.read_text(encoding="utf-8").splitlines())
        if "guest: 2" in text
    )
    file = lock.relative_to(repository.folder)
    assert (found["source"]["file"], found["source"]["line"]) == (str(file), line)
    kept = "VirtualMachineInstancetype small as the lock has it spec.cpu.guest"
    assert f"{file}:{line}:9 {kept}" in content
    other = str(repository.folder.parent / "other.lock.yaml")
    lock.rename(other)
    content = repository.fine("explain", "web", "sockets", "--lock", other)
    assert f"other.lock.yaml:{line}:9 {kept}" in content


POOL = """\
apiVersion: pool.kubevirt.io/v1beta1
kind: VirtualMachinePool
metadata:
  name: many
  namespace: prod
spec:
  replicas: 2
  selector:
    matchLabels:
      a: b
  virtualMachineTemplate:
    metadata:
      labels:
        a: b
    spec:
      runStrategy: Always
      instancetype:
        kind: VirtualMachineInstancetype
        name: small
      template:
        metadata:
          labels:
            a: b
        spec:
          domain:
            devices: {}
            ioThreadsPolicy: auto
"""
BARE = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata:
  name: bare
  namespace: prod
  labels:
    tier: quiet
spec:
  domain:
    devices: {}
    ioThreadsPolicy: auto
    memory:
      guest: 1Gi
"""


def test_of_a_pool_the_template_decides(repository: Repository) -> None:
    repository.write("pool.yaml", POOL)
    found = {
        field: (
            leaf["decider"],
            leaf["source"] and (leaf["source"]["field"], leaf["source"]["line"]),
        )
        for field, leaf in fields(repository, "many").items()
    }
    policy = "spec.virtualMachineTemplate.spec.template.spec.domain.ioThreadsPolicy"
    assert found["spec.domain.ioThreadsPolicy"] == ("vm", (policy, 27))
    assert found["spec.domain.memory.guest"] == ("instancetype", ("spec.memory.guest", 10))
    assert found["metadata.name"] == ("vm", ("metadata.name", 4))
    assert found["spec.domain.cpu.model"] == ("kubevirt", None)


def test_a_preset_loses_to_a_bare_instance(repository: Repository) -> None:
    repository.write("bare.yaml", BARE)
    repository.write("preset.yaml", THREADS_PRESET)
    found = fields(
        repository, "bare", "spec.domain.ioThreadsPolicy", "--preset-conflicts", "override"
    )
    policy = found["spec.domain.ioThreadsPolicy"]
    assert (policy["decider"], policy["source"]["line"]) == ("vm", 11)
    assert _loser(policy) == ("shared", "preset", "preset.yaml", 12)


@pytest.mark.parametrize("form", ["text", "json"])
def test_secrets_are_hidden(repository: Repository, form: str) -> None:
    repository.write("quiet.yaml", PRESET_VM)
    text = repository.fine("explain", "quiet", "--format", form)
    assert "(hidden)" in text
    assert "canary" not in text
    (line,) = [
        line
        for line in repository.fine("explain", "quiet", "pod").splitlines()
        if "automountServiceAccountToken" in line
    ]
    assert "automountServiceAccountToken: false" in line


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("nowhere",), "no VirtualMachine nowhere"),
        (("vm", "web"), "the VM stands without its kind: there are "),
        ((".", "web"), "the VM comes first, as in 'virt-render explain VM .': there are "),
        (("web", "spec.domain.cpu.socket"), "did you mean spec.domain.cpu.sockets"),
        (("web", "spec.domian"), "did you mean spec.domain?"),
        (("web", "memroy"), "did you mean memory?"),
        (("web", "memory.gest"), "did you mean memory.guest?"),
        (("web", "cpu", "/nonexistent"), "no file or folder /nonexistent"),
        (("web", "/nonexistent"), "no field /nonexistent, and no file or folder"),
        (("web", ".", "cpu"), "no file or folder cpu"),
        (("web", "cpu", "memory", "."), "cannot tell FIELD and PATH of cpu memory ."),
    ],
)
def test_what_cannot_be_explained(
    repository: Repository, words: tuple[str, ...], text: str
) -> None:
    done = repository.run("explain", *words)
    assert done.returncode == 2
    assert text in done.stderr


@pytest.mark.parametrize("name", ["vm/web", "virtualmachines/web", "vmi/prod/web"])
def test_a_vm_may_be_named_as_kubectl_does(repository: Repository, name: str) -> None:
    assert repository.fine("explain", name) == repository.fine("explain", "web")


def test_a_word_that_is_no_field_leads_to_one(contended: Repository) -> None:
    """A device, and the name of a disk, which is that of its volume: both were told to be what they are."""
    for word, fields_ in (("disk", "disks"), ("root", "disks[root] or volumes[root]")):
        done = contended.run("explain", "web", word, "--preset-conflicts", "override")
        assert done.returncode == 2
        assert f"starts with no field {word}," in done.stderr
        assert f"help: did you mean {fields_}?\n" in done.stderr


def test_a_step_may_begin_as_a_longer_one_before_it_does(contended: Repository) -> None:
    words = ("--preset-conflicts", "override")
    assert (
        fields(contended, "web", "disk.bus", *words).keys()
        == fields(contended, "web", "bus", *words).keys()
    )


def test_a_folder_may_be_called_as_a_field_is(repository: Repository) -> None:
    text = repository.fine("explain", "web", "cpu")
    (repository.folder / "cpu").mkdir()
    assert repository.fine("explain", "web", "cpu") == text
    assert repository.fine("explain", "web", "cpu", ".") == text
    done = repository.run("explain", "web", "./cpu")
    assert "no VirtualMachine web" in done.stderr
    repository.instancetype("small", folder="apps")
    repository.vm("late", folder="apps")
    assert "apps/small.yaml" in repository.fine("explain", "late", "cpu", "apps")
    assert repository.fine("explain", "late", "apps") == repository.fine(
        "explain", "late", "./apps"
    )


def test_a_vm_that_does_not_start_says_why(repository: Repository) -> None:
    repository.vm("web", instancetype="nowhere")
    done = repository.run("explain", "web")
    assert done.returncode == 1
    assert '"nowhere" not found' in done.stderr


@pytest.mark.parametrize(
    ("fault", "code"),
    [("resources: {requests: {cpu: 0.1}}", "VR108"), ("firmware: []", "VR106")],
)
def test_a_vm_that_cannot_be_read_as_one_says_why(
    repository: Repository, fault: str, code: str
) -> None:
    """One that gets through no stage is there all the same, and no name that someone may have meant."""
    text = manifests.vm("faulty").replace("devices: {}", fault)
    repository.write("vms/faulty.yaml", text)
    done = repository.run("explain", "faulty")
    assert done.returncode == 1
    assert "vms/faulty.yaml:10:" in done.stderr
    assert f"error {code}" in done.stderr
    assert "no VirtualMachine" not in done.stderr


def test_a_vm_beside_what_cannot_be_read_is_there(repository: Repository) -> None:
    """Settings that cannot be read keep a VM from being explained: they are named, and the VM is not looked for."""
    repository.write("vms/settings.yaml", f"{CLUSTER}    cpuModel: [\n")
    repository.vm("late", folder="vms")
    done = repository.run("explain", "late")
    assert done.returncode == 1
    assert "vms/settings.yaml" in done.stderr
    assert "no VirtualMachine" not in done.stderr
    assert "did you mean late" in repository.run("explain", "lat").stderr


def test_who_lost_is_named_with_the_line(contended: Repository) -> None:
    lost = {
        field: (leaf["value"], leaf["decider"], *_loser(leaf))
        for field, leaf in fields(contended, "web", "--preset-conflicts", "override").items()
        if leaf["losers"]
    }
    assert lost == LOST


def _loser(item: dict[str, Any]) -> tuple[Any, ...]:
    (loser,) = item["losers"]
    return loser["value"], loser["decider"], loser["source"]["file"], loser["source"]["line"]


def test_losers_stand_below_the_field(contended: Repository) -> None:
    text = contended.fine("explain", "web", "disks[0].disk", "--preset-conflicts", "override")
    assert text.splitlines()[1:] == [
        f"  spec.domain.devices.disks[root].disk.bus: sata  {BUS}",
        "    lost: virtio  preference.yaml:18:5 VirtualMachinePreference prod/linux spec.devices.preferredDiskBus",
    ]


def test_fields_that_diff_prints_are_those_of_explain(contended: Repository) -> None:
    contended.commit("Before")
    more = CONTENDED.replace(
        "            - name: seed\n              disk: {}\n",
        "            - name: data\n              disk: {bus: scsi}\n            - name: seed\n              disk: {}\n",
    ).replace(
        "      volumes:\n",
        "      volumes:\n        - name: data\n          persistentVolumeClaim: {claimName: data}\n",
    )
    contended.write("web.yaml", more.replace("bus: sata", "bus: scsi"))
    words = ("--preset-conflicts", "override")
    answer = json.loads(contended.fine("diff", "HEAD", "--format", "json", *words))
    (machine,) = (machine for machine in answer["machines"] if machine["changes"])
    assert "spec.domain.devices.disks[data]" in {change["field"] for change in machine["changes"]}
    for change in machine["changes"]:
        printed = fields(contended, "web", change["field"], *words)
        assert all(item.startswith(change["field"].removesuffix(" (order)")) for item in printed)
        written = change["cause"]["field"]  # where the manifest has it, by its position
        assert fields(contended, "web", written, *words) == printed


@pytest.mark.parametrize(
    "field",
    [
        "spec.domain.devices.disks[seed]",
        "spec.domain.devices.disks[1]",
        "spec.template.spec.domain.devices.disks[seed]",
        "template.spec.domain.devices.disks[1]",
        "spec.virtualMachineTemplate.spec.template.spec.domain.devices.disks[1]",
        "domain.devices.disks[seed]",
        "disks[seed]",
    ],
)
def test_a_field_may_be_called_by_name_or_position(contended: Repository, field: str) -> None:
    found = fields(contended, "web", field, "--preset-conflicts", "override")
    assert next(iter(found)) == "spec.domain.devices.disks[seed].name"


def test_a_patch_decides_and_the_manifest_loses(repository: Repository, kustomize: str) -> None:
    repository.write("vms/kustomization.yaml", KUSTOMIZATION)
    repository.write("vms/quiet.yaml", PRESET_VM)
    answer = repository.fine(
        "explain", "quiet", "memory.guest", "vms", "--kustomize", kustomize, "--format", "json"
    )
    (found,) = json.loads(answer)["fields"]
    assert (found["value"], found["decider"]) == ("3Gi", "patch")
    assert found["source"]["file"] == "vms/kustomization.yaml"
    assert _loser(found) == ("1Gi", "vm", "vms/quiet.yaml", 15)


KUSTOMIZATION = """\
resources:
  - quiet.yaml
patches:
  - patch: |
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata:
        name: quiet
        namespace: prod
      spec:
        template:
          spec:
            domain:
              memory:
                guest: 3Gi
"""


def test_the_answer_follows_its_schema(contended: Repository) -> None:
    schema = json.loads((ROOT / "schemas" / "explain.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    answer = contended.fine("explain", "web", "--format", "json", "--preset-conflicts", "override")
    jsonschema.validate(json.loads(answer), schema)


EXPLAINING = ("--emit", "vmi", "--preset-conflicts", "override", "--quiet")


def test_build_says_who_decided_behind_each_field(contended: Repository) -> None:
    plain = contended.fine("build", *EXPLAINING)
    text = contended.fine("build", *EXPLAINING, "--explain")
    assert documents(text) == documents(plain)
    assert [line.partition("  # ")[0] for line in text.splitlines()] == plain.splitlines()
    comments = {
        line.partition("  # ")[0].strip(): line.partition("  # ")[2] for line in text.splitlines()
    }
    assert comments["bus: sata"] == (
        f"{BUS}; lost: virtio, preference.yaml:18:5 VirtualMachinePreference prod/linux spec.devices.preferredDiskBus"
    )
    assert comments["userData: |"].startswith("web.yaml:51:13")
    assert comments["domain:"] == ""


def test_build_explains_into_files(contended: Repository) -> None:
    text = contended.fine("build", *EXPLAINING, "--explain")
    contended.fine("build", *EXPLAINING, "--explain", "-o", "made/")
    (made,) = (contended.folder / "made").rglob("virtualmachineinstance-*.yaml")
    assert made.read_text(encoding="utf-8") in text


@pytest.mark.parametrize("emit", ["vm", "source", "expand"])
def test_build_explains_nothing_else(contended: Repository, emit: str) -> None:
    done = contended.run("build", "--explain", "--emit", emit)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--explain is for --emit vmi, and not for --emit {emit}" in done.stderr


OLDER = """\
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachineFlavor
metadata: {name: small}
spec:
  cpu: {guest: 2}
  memory: {guest: 2Gi}
---
apiVersion: kubevirt.io/v1alpha1
kind: VM
metadata: {name: stored, annotations: {kubevirt.io/flavour: small}}
spec:
  domain:
    cpu: {model: host-model}
---
apiVersion: kubevirt.io/v1alpha1
kind: VirtualMachine
metadata: {name: runtime}
spec:
  domain:
    cpu: {cores: 2}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: flavored}
spec:
  runStrategy: Always
  flavor: {name: small, kind: VirtualMachineFlavor}
  template: {spec: {domain: {devices: {}}}}
"""


@pytest.mark.parametrize(
    ("vm", "field", "message"),
    [
        ("stored", "spec.domain.cpu.model", "older.yaml:13:11"),
        ("stored", "spec.domain.cpu.sockets", "older.yaml:5:9 VirtualMachineFlavor small spec.cpu.guest"),
        ("stored", "spec.domain.memory.guest", "older.yaml:6:12 VirtualMachineFlavor small spec.memory.guest"),
        ("runtime", "spec.domain.cpu.cores", "older.yaml:20:11"),
        ("runtime", "spec.domain.machine.type", "KubeVirt's default"),
        ("flavored", "spec.domain.cpu.sockets", "older.yaml:5:9 VirtualMachineFlavor small spec.cpu.guest"),
        (
            "flavored", "metadata.annotations[kubevirt.io/instancetype-name]",
            "older.yaml:27:12 spec.flavor.name",
        ),
    ],
)  # fmt: skip
def test_machines_of_every_time_are_explained(
    repository: Repository, vm: str, field: str, message: str
) -> None:
    repository.write("older.yaml", OLDER)
    (line,) = repository.fine("explain", vm, field, "older.yaml").splitlines()[1:]
    assert line.endswith(f"  {message}")


def test_a_template_is_said_to_be_none(repository: Repository) -> None:
    vm = indent(manifests.vm("made"), "    ").lstrip()
    repository.write(
        "vms/template.yaml",
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: recipe}\n"
        f"objects:\n  - {vm}",
    )
    done = repository.run("explain", "recipe")
    assert "help: Template recipe is no VM yet: " in done.stderr
    assert "no VM yet" not in repository.run("explain", "elsewhere/web").stderr
