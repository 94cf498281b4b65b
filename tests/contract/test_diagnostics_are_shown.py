"""The commands of docs/diagnostics that need files or a repository around them: each says what its page says.

What an example alone shows is in tests/unit/diagnostics/test_explanations.py.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from render.diagnostics.codes import CODES
from render.diagnostics.explanations import explanation
from tests.support import walkthrough
from tests.support.manifests import instancetype, put, vm
from tests.support.tools import required


class Situation(NamedTuple):
    """*files*, then commands that prepare what the reader has; *path*: programs are found there alone."""

    files: Mapping[str, str] = {}
    before: str = ""
    path: str = ""


WEB = vm("web", namespace="prod", memory="1Gi")
SMALL = vm("web", namespace="prod", instancetype="small")
PRESET = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata: {name: all, namespace: prod}
spec: {selector: {matchLabels: {a: b}}, domain: {devices: {watchdog: {name: dog, i6300esb: {action: reset}}}}}
"""
LABELLED = SMALL.replace("  template:\n", "  template:\n    metadata: {labels: {a: b}}\n")
KUBEVIRT = "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt, namespace: kubevirt}\nspec:\n"
DISKS = WEB.replace(
    "devices: {}", "devices:\n          disks: [{name: root, disk: {}, bootOrder: 1}]"
)
DISKS = (
    DISKS.rstrip("\n")
    + "\n      volumes: [{name: root, emptyDisk: {capacity: 1Gi}}, {name: data, emptyDisk: {capacity: 1Gi}}]\n"
)
PATCH = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec: {template: {spec: {domain: {devices: {disks: [{name: data, disk: {}}]}}}}}
"""
TEMPLATE = """\
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: web}
parameters: [{name: NAME}, {name: PASSWORD, generate: expression, from: "[a-z]{8}"}]
objects:
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata: {name: "${NAME}"}
  spec:
    runStrategy: Always
    template: {spec: {domain: {memory: {guest: 1Gi}, devices: {}, firmware: {serial: "${PASSWORD}"}}}}
"""
REPLICAS = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstanceReplicaSet
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {domain: {memory: {guest: 1Gi}, devices: {}}}}
"""
CHART = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
LINUX = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterPreference
metadata: {name: linux}
spec: {cpu: {preferredCPUTopology: cores}}
"""
LINUX_VM = WEB.replace("  template:\n", "  preference: {name: linux}\n  template:\n", 1)
PINNED = {"web.yaml": SMALL, "small.yaml": instancetype()}
PIN = "virt-render pin . && git add . && git commit -qm pinned"
LARGER = "sed -i 's/guest: 1$/guest: 2/' small.yaml"
BRANCHES = f"""{PIN}
git checkout -qb other-branch; {LARGER}; virt-render pin --upgrade web; git commit -qam larger
git checkout -q main
sed -i 's/guest: 1$/guest: 4/' small.yaml; virt-render pin --upgrade web; git commit -qam largest"""
EXPANDING = f"{KUBEVIRT}  configuration: {{instancetype: {{referencePolicy: expandAll}}}}\n"

SITUATIONS = {
    "VR110": Situation(),
    "VR111": Situation({"all.yaml": "---\n".join(vm(f"web-{n}") for n in range(11))}),
    "VR112": Situation(),
    "VR116": Situation({"overlay/kustomization.yaml": "resources: [missing.yaml]\n"}),
    "VR117": Situation({"overlay/kustomization.yaml": "resources: []\n"}, path="/nowhere"),
    "VR118": Situation({"chart/.hidden.yaml": WEB, "chart/vm.yaml": WEB}),
    "VR119": Situation({f"environments/{item}/{name}": text for item in ("a", "b") for name, text in (
        ("kustomization.yaml", "resources: [vm.yaml]\n"), ("vm.yaml", WEB))}),
    "VR121": Situation({"vm.yaml": WEB}),
    "VR122": Situation({"overlay/kustomization.yaml": "resources: [https://example.org/base]\n"}),
    "VR124": Situation({
        "base/kustomization.yaml": "resources: [vm.yaml]\n", "base/vm.yaml": DISKS,
        "overlays/prod/kustomization.yaml": "resources: [../../base]\npatches: [{path: patch.yaml}]\n",
        "overlays/prod/patch.yaml": PATCH,
    }),
    "VR126": Situation({"template.yaml": TEMPLATE}),
    "VR127": Situation({
        "chart/Chart.yaml": f"{CHART}dependencies: [{{name: db, version: 1.0.0, repository: 'https://example.org'}}]\n",
        "chart/templates/vm.yaml": WEB,
    }),
    "VR128": Situation({"chart/Chart.yaml": CHART, "chart/templates/vm.yaml": WEB}, path="/nowhere"),
    "VR130": Situation({"vms/vm.yaml": WEB.replace("1Gi", "1024Mi")}),
    "VR132": Situation({
        "base/kustomization.yaml": "resources: [vm.yaml]\n", "base/vm.yaml": WEB,
        "overlays/prod/kustomization.yaml": "resources: [../../base]\npatches:\n"
        "- target: {kind: VirtualMachine, name: wbe}\n  patch: '[]'\n",
    }),
    "VR133": Situation({
        "base/kustomization.yaml": "resources: [vm.yaml]\n", "base/vm.yaml": WEB,
        "overlays/prod/kustomize.yaml": "resources: [../../base]\n",
    }),
    "VR134": Situation(
        {"base/kustomization.yaml": "resources: [vm.yaml]\n", "base/vm.yaml": WEB},
        "git add base/kustomization.yaml",
    ),
    "VR211": Situation({"../platform/small.yaml": instancetype(), "vms/vm.yaml": SMALL}),
    "VR212": Situation({
        ".virt-render.yaml": "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {roots: ['*/']}\n",
        "vms/vm.yaml": SMALL, "a/small.yaml": instancetype(), "b/small.yaml": instancetype(cpus=2),
    }),
    "VR213": Situation({
        "overlays/prod/kustomization.yaml": "resources: [vm.yaml, linux.yaml]\nnamePrefix: dev-\n",
        "overlays/prod/vm.yaml": LINUX_VM, "overlays/prod/linux.yaml": LINUX,
    }),
    "VR447": Situation({"vm.yaml": WEB.replace(
        "  template:\n", "  template:\n    metadata: {annotations: {hooks.kubevirt.io/hookSidecars: '['}}\n")}),
    "VR505": Situation({"pool.yaml": REPLICAS}),
    "VR602": Situation(PINNED, BRANCHES),
    "VR606": Situation(PINNED),
    "VR610": Situation(PINNED, f"{PIN}; sed -i 's/Always/Halted/; s/devices: {{}}/devices: {{rng: {{}}}}/' web.yaml"),
    "VR611": Situation(PINNED, f"""{BRANCHES}
git merge -q other-branch || git checkout -q --ours small.yaml"""),
    "VR612": Situation(PINNED | {"kustomization.yaml": "resources: [web.yaml, small.yaml]\n"}),
    "VR613": Situation({"web.yaml": SMALL, "small.yaml": instancetype(memory="2Gi")}),
    "VR614": Situation(PINNED, """virt-render build . --emit hashed > hashed
name=$(sed -n 's/^  name: \\(small-.*\\)/\\1/p' hashed | head -1)
sed "s/name: small/name: $name/; s/guest: 1$/guest: 9/" small.yaml > taken.yaml; rm hashed"""),
    "VR615": Situation(PINNED, PIN),
    "VR616": Situation(PINNED, f"""{PIN}
{LARGER}; virt-render pin --upgrade web; git commit -qam larger
git clone -q --depth 1 "file://$PWD" ../clone; rm -rf .git *.yaml; cp -r ../clone/. ."""),
    "VR617": Situation(PINNED | {
        "overlays/prod/kustomization.yaml": "resources: [web.yaml, small.yaml]\n",
        "overlays/prod/web.yaml": SMALL, "overlays/prod/small.yaml": instancetype(),
    }, "mkdir ../once; cp *.yaml ../once; virt-render pin ../once; mv ../once/*.lock.yaml .; rm web.yaml small.yaml"),
    "VR618": Situation(PINNED | {"web.yaml": LABELLED, "preset.yaml": PRESET}, "virt-render pin ."),
    "VR620": Situation(PINNED, PIN),
    "VR710": Situation({"vm.yaml": WEB.replace("  name: web\n", "  generateName: web-\n")}),
    "VR711": Situation({"vm.yaml": WEB}),
    "VR716": Situation(PINNED | {"kubevirt.yaml": EXPANDING}),
    "VR801": Situation({"vm.yaml": WEB}),
    "VR802": Situation({"vm.yaml": WEB}),
    "VR803": Situation({
        ".virt-render.yaml": "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {roots: [cluster/*]}\n",
        "vm.yaml": WEB,
    }),
    "VR804": Situation({
        "vm.yaml": vm("db", namespace="prod", memory="6Gi"),
        "prod.virt-test.yaml": "apiVersion: virt-render.dev/v1alpha1\nkind: Test\n"
        "spec: {expect: [{vms: db, vmi: {spec: {domain: {memory: {guest: 8Gi}}}}}]}\n",
    }),
}  # fmt: skip
#: What nobody can bring about from outside.
OURS = {
    "VR901": "a defect of the program: tests/unit/diagnostics bring one about",
    "VR902": "takes its time: tests/robustness has a deadline pass",
}
COMMANDS = {code: told.example for code in CODES if (told := explanation(code)).example[0] == "$"}


def test_every_command_is_run_or_nobody_can() -> None:
    assert COMMANDS.keys() == SITUATIONS.keys() | OURS.keys()


@pytest.mark.parametrize("code", SITUATIONS)
def test_the_command_says_what_the_page_says(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    required("kustomize")
    required("helm")
    situation = SITUATIONS[code]
    here = tmp_path / "repository"
    here.mkdir()
    walkthrough.run("git init -q -b main", here)
    for name, text in situation.files.items():
        put(here / name, text)
    if situation.before:
        status, printed = walkthrough.run(situation.before, here)
        assert status == 0, printed
    if situation.path:
        monkeypatch.setenv("PATH", situation.path)
    command = COMMANDS[code].removeprefix("$ ")
    assert "\n" not in command.strip()
    command = (
        re.sub(r";", "||", command, count=1) if code == "VR602" else command
    )  # a merge that conflicts ends with 1
    _, printed = walkthrough.run(command, here)
    assert f" {code} " in printed, printed
    assert explanation(code).message in printed
