"""A GitOps repository as people have them: four VMs, and around them everything that is none of KubeVirt's business."""

import os
import subprocess
from pathlib import Path

from tests.support import manifests
from tests.support.manifests import instancetype, vm

#: What ``check .`` has to say, by file: all that is planted.
PLANTED = {
    "apps/web/base/vm.yaml": "VR301",
    "vms/team-b/web.yaml": "VR105",
    "legacy/old.yaml": "VR201",
}
_FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, prune: true}
"""
_RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: ingress}
spec: {chart: {spec: {chart: ingress}}}
"""
_NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: prod}\n"
_CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: virtualmachines.kubevirt.io}
spec: {group: kubevirt.io, names: {kind: VirtualMachine}}
"""
_TEMPLATE = vm("{{ .Values.name }}").replace(
    "  runStrategy: Always\n", "{{- if .Values.on }}\n  x: 1\n{{- end }}\n"
)
_PLAYBOOK = """\
- name: create
  kubernetes.core.k8s:
    definition:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata:
        name: {{ name }}
"""
_KUBEVIRT = "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt}\nspec: {}\n"
_DUPLICATE_KEYS = "service:\n  port: 1\n  port: 2\n"
_FILES = {
    "clusters/a/flux.yaml": f"{_FLUX}---\n{_FLUX}---\n{_RELEASE}",
    "clusters/b/flux.yaml": f"{_FLUX}---\n{_RELEASE}---\n{_RELEASE}",
    "clusters/a/namespaces.yaml": f"{_NAMESPACE}---\n{_NAMESPACE}",
    "operators/kubevirt/crds.yaml": f"{_CRD}---\n{_CRD}",
    "operators/kubevirt/again/crds.yaml": _CRD,
    "charts/vm/Chart.yaml": "apiVersion: v2\nname: vm\nversion: 1.0.0\n",
    "charts/vm/values.yaml": f"{_DUPLICATE_KEYS}group: kubevirt.io\n",
    "charts/vm/templates/vm.yaml": _TEMPLATE,
    "ansible/playbook.yml": _PLAYBOOK,
    "ansible/templates/vm.yaml": _TEMPLATE,
    "ansible/group_vars/all.yml": f"{_DUPLICATE_KEYS}broken: [\n",
    "jinja/vm.yaml": vm("web").replace("runStrategy: Always", "runStrategy: {% if x %}Always{% endif %}"),
    "values/prod.yaml": _DUPLICATE_KEYS,
    "broken/kustomization.yaml": "resources: [../../gone.yaml]\n",
    "remote/kustomization.yaml": "resources: ['https://example.com/base?ref=v1']\n",
    "cyclic/a/kustomization.yaml": "resources: [../b]\n",
    "cyclic/b/kustomization.yaml": "resources: [../a]\n",
    "misspelt/kustomization.yaml": "resorces: [x.yaml]\nresources: {\n",
    "apps/other/kustomization.yaml": "resources: [deployment.yaml]\nhelmCharts: [{name: x}]\n",
    "apps/other/deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n",
    # The VMs, and what they refer to.
    "platform/types/kustomization.yaml": "resources: [types.yaml, kubevirt.yaml]\n",
    "platform/types/types.yaml": instancetype("small"),
    "platform/types/kubevirt.yaml": _KUBEVIRT,
    "apps/web/base/kustomization.yaml": "resources: [vm.yaml]\n",
    "apps/web/base/vm.yaml": vm("shop", namespace="prod", instancetype="small", memory="2Gi"),
    "apps/web/overlays/prod/kustomization.yaml": "resources: [../../base]\nnamePrefix: prod-\n",
    "apps/web/overlays/test/kustomization.yaml": "resources: [../../base]\nnamePrefix: test-\n",
    "vms/team-a/web.yaml": vm("web", namespace="vms", instancetype="small"),
    "vms/team-b/web.yaml": vm("web", namespace="vms", instancetype="small").replace(
        "devices: {}", "device: {}\n        devices: {}"
    ),
    "legacy/old.yaml": vm("old", namespace="vms", instancetype="nowhere-to-be-found"),
}  # fmt: skip
_UNRELATED = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: app-{0}, namespace: team-{1}}}
spec:
  replicas: 2
  template:
    spec:
      containers: [{{name: app, image: "registry.example.com/apps/app:{0}"}}]
"""


def write(folder: Path, unrelated: int = 0) -> None:
    """Write the repository into *folder*, under git, with as many *unrelated* files as asked for."""
    for name, text in _FILES.items():
        manifests.put(folder / name, text)
    for number in range(unrelated):
        path = folder / f"apps/teams/t{number // 50}/app-{number}.yaml"
        if not number % 50:
            path.parent.mkdir(parents=True)
        path.write_text(_UNRELATED.format(number, number // 50), encoding="utf-8")
    (folder / "dangling.yaml").symlink_to("gone.yaml")
    (folder / "outside.yaml").symlink_to("/etc/hostname")
    subprocess.run(["git", "init", "--quiet", folder], check=True, capture_output=True)
    bad = vm("web", namespace="vms") + "        cpus: {}\n"
    manifests.put(folder / ".gitignore", "out/\n*.tmp.yaml\n")
    for name in ("out/vm.yaml", "vms/team-a/new.tmp.yaml", "worktree/vm.yaml"):
        manifests.put(folder / name, bad)
    manifests.put(folder / "worktree/.git", f"gitdir: {os.devnull}\n")
