"""What the files of `virt-render kustomize init` change in the real kustomize."""

import json
import re
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import pytest

from render.yaml.reader import read
from tests.support.cases import ROOT
from tests.support.manifests import instancetype, vm
from tests.support.process import run

VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
spec:
  runStrategy: Always
  instancetype: {name: small, kind: VirtualMachineInstancetype}
  preference: {name: fast}
  dataVolumeTemplates:
  - metadata: {name: web-root}
    spec:
      sourceRef: {kind: DataSource, name: fedora}
      storage: {resources: {requests: {storage: 1Gi}}}
  - metadata: {name: web-copy}
    spec:
      source: {pvc: {name: golden, namespace: default}}
      storage: {resources: {requests: {storage: 2Gi}}}
  template:
    spec:
      domain:
        devices:
          disks:
          - {name: root, disk: {bus: virtio}}
          - {name: data, disk: {bus: virtio}}
          interfaces:
          - {name: default, masquerade: {}}
          - {name: second, bridge: {}}
      networks:
      - {name: default, pod: {}}
      - {name: second, multus: {networkName: lan}}
      volumes:
      - {name: root, dataVolume: {name: web-root}}
      - {name: data, persistentVolumeClaim: {claimName: disk}}
      - {name: more, dataVolume: {name: extra}}
      - {name: init, cloudInitNoCloud: {secretRef: {name: user-data}}}
"""
OTHERS = """\
---
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineInstancetype
metadata: {name: small}
spec: {cpu: {guest: 1}, memory: {guest: 1Gi}}
---
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterPreference
metadata: {name: fast}
spec: {}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: golden}
---
apiVersion: cdi.kubevirt.io/v1beta1
kind: DataVolume
metadata: {name: extra}
spec: {source: {pvc: {name: golden, namespace: default}}}
---
apiVersion: cdi.kubevirt.io/v1beta1
kind: DataSource
metadata: {name: fedora}
spec: {source: {pvc: {name: golden, namespace: default}}}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: lan}
"""
PATCH = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
spec:
  template:
    spec:
      domain:
        devices:
          disks:
          - {name: data, disk: {bus: sata}}
          - {name: scratch, disk: {bus: virtio}}
          interfaces:
          - {name: second, model: e1000}
      networks:
      - {name: second, multus: {networkName: wan}}
      volumes:
      - {name: scratch, emptyDisk: {capacity: 1Gi}}
"""
WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  template:
    spec:
      containers:
      - {name: a, image: a, ports: [{containerPort: 1}], env: [{name: X, value: x}]}
      - {name: b, image: b, volumeMounts: [{name: v, mountPath: /a}]}
      initContainers: [{name: i, image: i}]
      volumes: [{name: v, emptyDir: {}}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: app}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: a}, {name: b}]}}}}}
---
apiVersion: v1
kind: Service
metadata: {name: app}
spec: {ports: [{port: 80, protocol: TCP, name: web}, {port: 53, protocol: UDP}]}
"""
WORKLOAD_PATCH = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  template:
    spec:
      containers:
      - {name: b, image: c, volumeMounts: [{name: w, mountPath: /b}]}
      - {name: a, ports: [{containerPort: 2}], env: [{name: Y, value: y}]}
      initContainers: [{name: j, image: j}]
      volumes: [{name: w, emptyDir: {}}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: app}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: b, image: b}]}}}}}
---
apiVersion: v1
kind: Service
metadata: {name: app}
spec: {ports: [{port: 53, protocol: UDP, name: dns}]}
"""
MACHINE = ("VirtualMachine", "web")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def init(*words: str) -> subprocess.CompletedProcess[str]:
    return run("kustomize", "init", *words)


def built(kustomize: str, path: str = ".") -> dict[tuple[str, str], Any]:
    done = subprocess.run([kustomize, "build", path], capture_output=True, check=True)
    bodies = [document.body for document in read(done.stdout, "stdout").documents]
    return {(body["kind"], body["metadata"]["name"]): body for body in bodies}


def put(text: str, path: str = "kustomization.yaml") -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def names(items: Any) -> list[str]:
    return sorted(item["name"] for item in items)


@pytest.mark.parametrize("helped", [False, True])
def test_patches_keep_what_they_do_not_name(kustomize: str, *, helped: bool) -> None:
    put(VM, "vm.yaml")
    put(PATCH, "patch.yaml")
    lines = init().stdout if helped else ""
    put(f"resources: [vm.yaml]\npatches: [{{path: patch.yaml}}]\n{lines}")
    spec = built(kustomize)[MACHINE]["spec"]["template"]["spec"]
    devices = spec["domain"]["devices"]
    kept = ["data", "root", "scratch"] if helped else ["data", "scratch"]
    assert names(devices["disks"]) == kept
    assert names(devices["interfaces"]) == (["default", "second"] if helped else ["second"])
    assert names(spec["networks"]) == (["default", "second"] if helped else ["second"])
    if helped:
        assert names(spec["volumes"]) == ["data", "init", "more", "root", "scratch"]
        (data,) = (disk for disk in devices["disks"] if disk["name"] == "data")
        assert data["disk"] == {"bus": "sata"}
        (second,) = (
            interface for interface in devices["interfaces"] if interface["name"] == "second"
        )
        assert second == {"name": "second", "bridge": {}, "model": "e1000"}


def test_a_patch_in_an_overlay_works_with_a_schema_there(kustomize: str) -> None:
    put(VM, "base/vm.yaml")
    put("resources: [vm.yaml]\n", "base/kustomization.yaml")
    put(PATCH, "prod/patch.yaml")
    lines = init("prod").stdout
    put(
        f"resources: [../base]\npatches: [{{path: patch.yaml}}]\n{lines}", "prod/kustomization.yaml"
    )
    disks = built(kustomize, "prod")[MACHINE]["spec"]["template"]["spec"]["domain"]["devices"][
        "disks"
    ]
    assert names(disks) == ["data", "root", "scratch"]


def test_what_a_patch_names_moves_to_the_front(kustomize: str) -> None:
    """Stated in docs/kustomize.md: the order of disks is the order of booting."""
    put(VM, "vm.yaml")
    put(PATCH, "patch.yaml")
    put(f"resources: [vm.yaml]\npatches: [{{path: patch.yaml}}]\n{init().stdout}")
    disks = built(kustomize)[MACHINE]["spec"]["template"]["spec"]["domain"]["devices"]["disks"]
    assert [disk["name"] for disk in disks] == ["data", "scratch", "root"]


def test_templates_of_data_volumes_cannot_be_merged(kustomize: str) -> None:
    """Stated in docs/kustomize.md: their name stands one level too deep for kustomize."""
    put(VM, "vm.yaml")
    patch = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web}\n"
    put(f"{patch}spec: {{dataVolumeTemplates: [{{metadata: {{name: web-root}}}}]}}\n", "patch.yaml")
    put(f"resources: [vm.yaml]\npatches: [{{path: patch.yaml}}]\n{init().stdout}")
    assert len(built(kustomize)[MACHINE]["spec"]["dataVolumeTemplates"]) == 1


def test_the_patch_of_the_page_changes_them(kustomize: str) -> None:
    page = (ROOT / "docs" / "kustomize.md").read_text(encoding="utf-8")
    (patches,) = re.findall(r"```yaml\n( *patches:\n.*?)```", page, re.DOTALL)
    put(VM, "vm.yaml")
    put(f"resources: [vm.yaml]\n{textwrap.dedent(patches)}{init().stdout}")
    root, _ = built(kustomize)[MACHINE]["spec"]["dataVolumeTemplates"]
    assert root["spec"]["storage"]["resources"]["requests"]["storage"] == "50Gi"


def test_other_kinds_are_merged_as_without_the_schema(kustomize: str) -> None:
    put(WORKLOAD, "app.yaml")
    put(WORKLOAD_PATCH, "patch.yaml")
    put("resources: [app.yaml]\npatches: [{path: patch.yaml}]\n")
    before = built(kustomize)
    put(f"resources: [app.yaml]\npatches: [{{path: patch.yaml}}]\n{init().stdout}")
    assert built(kustomize) == before
    containers = before["Deployment", "app"]["spec"]["template"]["spec"]["containers"]
    assert names(containers) == ["a", "b"]


@pytest.mark.parametrize("helped", [False, True])
def test_names_in_vms_follow_a_prefix(kustomize: str, *, helped: bool) -> None:
    put(VM + OTHERS, "vm.yaml")
    lines = init().stdout if helped else ""
    put(
        "resources: [vm.yaml]\nnamePrefix: p-\nnamespace: prod\n"
        f"secretGenerator: [{{name: user-data, literals: [userdata=x]}}]\n{lines}"
    )
    found = built(kustomize)
    prefix = "p-" if helped else ""
    spec = found["VirtualMachine", "p-web"]["spec"]
    assert spec["instancetype"]["name"] == f"{prefix}small"
    assert spec["preference"]["name"] == f"{prefix}fast"
    root, copy = spec["dataVolumeTemplates"]
    assert root["spec"]["sourceRef"]["name"] == f"{prefix}fedora"
    assert copy["spec"]["source"]["pvc"]["name"] == f"{prefix}golden"
    assert found["DataSource", "p-fedora"]["spec"]["source"]["pvc"]["name"] == f"{prefix}golden"
    (secret,) = (name for kind, name in found if kind == "Secret")
    assert spec["template"]["spec"]["networks"][1]["multus"] == {"networkName": f"{prefix}lan"}
    assert spec["template"]["spec"]["volumes"] == [
        {"name": "root", "dataVolume": {"name": "web-root"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": f"{prefix}disk"}},
        {"name": "more", "dataVolume": {"name": f"{prefix}extra"}},
        {
            "name": "init",
            "cloudInitNoCloud": {"secretRef": {"name": secret if helped else "user-data"}},
        },
    ]
    metadata = found["VirtualMachineClusterPreference", "p-fast"]["metadata"]
    assert ("namespace" in metadata) is not helped


def test_what_is_built_so_can_be_rendered_without_a_function(kustomize: str) -> None:
    put(VM + OTHERS, "vm.yaml")
    generator = "secretGenerator: [{name: user-data, literals: [userdata=x]}]\n"
    put(f"resources: [vm.yaml]\nnamePrefix: p-\n{generator}")
    done = run("build", ".", "--admission", "off", "--kustomize", kustomize)
    assert done.returncode == 1
    assert "error VR201" in done.stderr
    assert "kustomize renamed it to p-small: have kustomize rename what VMs refer to" in done.stderr
    put(f"resources: [vm.yaml]\nnamePrefix: p-\n{generator}{init().stdout}")
    done = run("build", ".", "--admission", "off", "--kustomize", kustomize)
    assert done.returncode == 0, done.stderr


FLAVORED = """\
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachineFlavor
metadata: {name: small}
spec: {cpu: {guest: 2}, memory: {guest: 1Gi}}
---
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachinePreference
metadata: {name: virtio}
spec: {devices: {preferredDiskBus: virtio}}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec:
  runStrategy: Always
  flavor: {name: small, kind: VirtualMachineFlavor}
  preference: {name: virtio, kind: VirtualMachinePreference}
  template: {spec: {domain: {devices: {}}}}
---
apiVersion: kubevirt.io/v1alpha1
kind: VM
metadata: {name: stored, annotations: {kubevirt.io/flavour: small}}
spec: {domain: {}}
---
apiVersion: kubevirt.io/v1alpha1
kind: VirtualMachinePreset
metadata: {name: windows}
spec: {selector: {matchLabels: {for: none}}, domain: {cpu: {cores: 2}, devices: {}}}
---
apiVersion: kubevirt.io/v1alpha1
kind: VM
metadata: {name: older, annotations: {kubevirt.io/flavour: windows}}
spec: {domain: {}}
---
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: stored-1}
data:
  apiVersion: flavor.kubevirt.io/v1alpha1
  kind: VirtualMachineFlavor
  metadata: {name: small}
  spec: {cpu: {guest: 2}, memory: {guest: 1Gi}}
revision: 0
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: named}
spec:
  runStrategy: Always
  flavor: {name: small, kind: VirtualMachineFlavor, revisionName: stored-1}
  template: {spec: {domain: {devices: {}}}}
"""


def test_flavors_and_what_names_them_follow_a_prefix(kustomize: str) -> None:
    put(FLAVORED, "vm.yaml")
    put(f"resources: [vm.yaml]\nnamePrefix: p-\n{init().stdout}")
    found = built(kustomize)
    spec = found["VirtualMachine", "p-web"]["spec"]
    assert (spec["flavor"]["name"], spec["preference"]["name"]) == ("p-small", "p-virtio")
    annotations = found["VM", "p-stored"]["metadata"]["annotations"]
    assert annotations["kubevirt.io/flavour"] == "p-small"
    annotations = found["VM", "p-older"]["metadata"]["annotations"]
    assert annotations["kubevirt.io/flavour"] == "p-windows"
    assert found["VirtualMachine", "p-named"]["spec"]["flavor"]["revisionName"] == "p-stored-1"
    done = run("build", ".", "--admission", "off", "--kustomize", kustomize)
    assert done.returncode == 0, done.stderr


def test_files_of_others_are_left_alone() -> None:
    put("mine\n", "kubevirt-names.yaml")
    done = init()
    assert done.returncode == 3
    assert "kubevirt-names.yaml is there already and holds something else" in done.stderr
    assert Path("kubevirt-names.yaml").read_text() == "mine\n"
    assert init("--force").returncode == 0
    assert init().returncode == 0, "our own files may stay"
    assert init("nowhere").returncode == 3


_SMALL = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineInstancetype
metadata: {name: small}
spec: {cpu: {guest: 1}, memory: {guest: 1Gi}}
"""
_WEB = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec:
  runStrategy: Always
  instancetype: {kind: VirtualMachineInstancetype, name: small}
  template: {spec: {domain: {devices: {}}}}
"""


def _overlays(prod: str) -> None:
    """A base, and two overlays of it of which *prod* renames."""
    put(_WEB, "base/vm.yaml")
    put(_SMALL, "base/small.yaml")
    put("resources: [vm.yaml, small.yaml]\n", "base/kustomization.yaml")
    put("resources: [../../base]\n", "overlays/dev/kustomization.yaml")
    put(f"resources: [../../base]\n{prod}", "overlays/prod/kustomization.yaml")


def test_the_help_makes_kustomize_rename_what_the_vm_refers_to(kustomize: str) -> None:
    _overlays("nameSuffix: -prod\n")
    done = run("build", "overlays/prod", "--kustomize", kustomize)
    assert "error VR201" in done.stderr
    assert "kustomize renamed it to small-prod" in done.stderr
    (reference,) = re.findall(r"that holds (nameReference: .*\]), or see", done.stderr)
    put(f"{reference}\n", "overlays/prod/names.yaml")
    _overlays("nameSuffix: -prod\nconfigurations: [names.yaml]\n")
    done = run("build", "overlays/prod", "--kustomize", kustomize)
    assert (done.returncode, "VR201" in done.stderr) == (0, False)


def test_check_says_that_a_renamed_definition_is_taken_from_another_overlay(kustomize: str) -> None:
    """Which is in the cluster, if that overlay is applied too, and hardly what is meant."""
    _overlays("nameSuffix: -prod\n")
    done = run("check", ".", "--kustomize", kustomize)
    assert done.returncode == 0
    assert "warning VR213 definition-renamed-away: VirtualMachine web-prod" in done.stdout
    assert "the one that is meant stands here, and comes with overlays/dev" in done.stdout
    assert "takes 1 definition from overlays/dev (-v)" in done.stderr
    report = run("check", ".", "--kustomize", kustomize, "--format", "json")
    assert json.loads(report.stdout)["summary"]["borrowed"] == {"overlays/dev": 1}


def test_a_name_that_every_overlay_changes_is_in_no_cluster(kustomize: str) -> None:
    _overlays("nameSuffix: -prod\n")
    put("resources: [../../base]\nnameSuffix: -dev\n", "overlays/dev/kustomization.yaml")
    done = run("check", ".", "--kustomize", kustomize)
    assert done.returncode == 1
    assert done.stdout.count("error VR201") == 2
    assert "kustomize renamed it to small-dev" in done.stdout


def test_what_another_overlay_renames_is_told_with_its_name(kustomize: str) -> None:
    """The file that has it is read, so that to add it to the input is no way out."""
    subprocess.run(["git", "init", "--quiet"], check=True)
    put(instancetype("small"), "platform/types.yaml")
    put("resources: [types.yaml]\n", "platform/kustomization.yaml")
    put("resources: [../../platform]\nnameSuffix: -x\n", "overlays/prod/kustomization.yaml")
    put("resources: [vm.yaml]\n", "overlays/dev/kustomization.yaml")
    put(vm(instancetype="small"), "overlays/dev/vm.yaml")
    done = run("check", ".", "--kustomize", kustomize)
    assert (
        "help: VirtualMachineClusterInstancetype small stands in platform/types.yaml, but overlays/prod renames it to"
        " small-x: name that, or list platform/types.yaml where nothing renames it\n"
    ) in done.stdout


def test_what_is_wrong_in_a_named_overlay_is_told_though_its_vm_stands_in_the_base(
    kustomize: str,
) -> None:
    """Where the repository around it is read since the VM misses something: that passed."""
    _overlays("nameSuffix: -prod\n")
    put("ref: refs/heads/main\n", ".git/HEAD")
    for path in ("overlays/prod", "overlays"):
        warned = run("check", path, "--kustomize", kustomize)
        assert "warning VR213 definition-renamed-away: VirtualMachine web-prod" in warned.stdout
    put("resources: [../../base]\nnameSuffix: -dev\n", "overlays/dev/kustomization.yaml")
    done = run("check", "overlays/prod", "--kustomize", kustomize)
    assert (done.returncode, done.stdout.count("error VR201")) == (1, 1)
    assert "VirtualMachine web-prod" in done.stdout
    edited = run("check", "overlays/prod/kustomization.yaml", "--kustomize", kustomize)
    assert edited.stdout == done.stdout


def test_a_definition_of_another_namespace_has_not_been_renamed_away(kustomize: str) -> None:
    put(_SMALL, "shared/small.yaml")
    put("resources: [small.yaml]\nnamespace: vms\n", "shared/kustomization.yaml")
    put(_SMALL, "vms/away/small.yaml")
    put("resources: [small.yaml]\nnamespace: away\nnamePrefix: a-\n", "vms/away/kustomization.yaml")
    put(_WEB.replace("{name: web}", "{name: web, namespace: vms}"), "vms/vm.yaml")
    put("resources: [vm.yaml, away]\n", "vms/kustomization.yaml")
    done = run("check", ".", "--kustomize", kustomize)
    assert "VR213" not in done.stdout
    assert "takes 1 definition from shared (-v)" in done.stderr
