"""VMs of which no file has a word that says so: what makes them is built, or counted, all the same."""

import os
from pathlib import Path

import pytest

from tests.support.manifests import put
from tests.support.process import run
from tests.support.repository import Repository

BODY = """\
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Halted
  template:
    spec:
      domain: {devices: {disks: [{name: root, disk: {bus: ide}}]}, memory: {guest: 1Gi}}
      volumes: [{name: root, containerDisk: {image: image}}]
"""
MACHINE = f"apiVersion: kubevirt.io/v1\nkind: VirtualMachine\n{BODY}"
PART = f"apiVersion: virt.io/v1\nkind: VirtualMachine\n{BODY}"
CONFIG_MAP = f"apiVersion: v1\nkind: ConfigMap\n{BODY}"
PREFIXES = """\
apiVersion: builtin
kind: PrefixTransformer
metadata: {name: p}
prefix: kube
fieldSpecs: [{path: apiVersion}]
"""
OF_KIND = (
    "{apiVersion: builtin, kind: PrefixTransformer, metadata: {name: q}, prefix: Virtual,"
    " fieldSpecs: [{path: kind}]}"
)
INLINE = PREFIXES.strip().replace("\n", "\n  ")
VARIABLES = """\
resources: [vm.yaml, c.yaml]
configurations: [more.yaml]
vars: [{name: A, objref: {kind: ConfigMap, name: c, apiVersion: v1}, fieldref: {fieldpath: data.a}}]
"""
INSIDE = {
    "a prefix": (
        {"vm.yaml": PART, "c.yaml": "namePrefix: [{path: apiVersion}]\n"},
        "resources: [vm.yaml]\nconfigurations: [c.yaml]\nnamePrefix: kube\n",
    ),
    "a prefix, in other notation": (
        {"vm.yaml": PART, "c.yaml": '{"namePrefix":[{"path":"api\\x56ersion"}]}\n'},
        "resources: [vm.yaml]\nconfigurations: [c.yaml]\nnamePrefix: kube\n",
    ),
    "a file of transformers": (
        {"vm.yaml": PART.replace("VirtualM", "M"), "p.yaml": f"{PREFIXES}---\n{OF_KIND}\n"},
        "resources: [vm.yaml]\ntransformers: [p.yaml]\n",
    ),
    "transformers of an overlay": (
        {
            "base/vm.yaml": PART.replace("VirtualM", "M"),
            "base/kustomization.yaml": "resources: [vm.yaml]\n",
        },
        f"resources: [base]\ntransformers:\n- |-\n  {INLINE}\n- |-\n  {OF_KIND}\n",
    ),
    "a variable": (
        {
            "vm.yaml": PART.replace("virt.io", "$(A).io"),
            "c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: kubevirt}\n",
            "more.yaml": "varReference:\n- path:\n    apiVersion\n",
        },
        VARIABLES,
    ),
}


def test_a_manifest_that_stands_in_git_lfs_is_counted(tmp_path: Path) -> None:
    put(tmp_path / "vm.yaml", MACHINE.replace("ide", "virtio"))
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 400\n"
    put(tmp_path / "other.yaml", pointer)
    assert "not looked at: 1 file that stands in Git LFS" in run("check", ".", cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("attributes", "count"),
    [
        ("*.yaml working-tree-encoding=IBM037", "2 files"),
        ("a/* filter=made-up", "1 file"),
        ("[attr]hidden working-tree-encoding=UTF-7\nvm.yaml hidden", "1 file"),
        ("a/* ident", "1 file"),
        ("* -ident", ""),
        ("*.md filter=made-up\n* filter=lfs text eol=crlf working-tree-encoding=utf-8", ""),
    ],
)
def test_a_manifest_that_git_checks_out_otherwise_is_counted(
    tmp_path: Path, attributes: str, count: str
) -> None:
    repository = Repository(tmp_path)
    repository.write("vm.yaml", MACHINE)
    repository.write("a/other.yaml", MACHINE.replace("web", "other") + "# $Id$\n")
    first = repository.commit("VMs")
    repository.write(".gitattributes", f"{attributes}\n")
    second = repository.commit("Attributes")
    words = f"{count} whose bytes git may change at its checkout" if count else ""
    answer = run("diff", f"{first}..{second}", cwd=tmp_path).stdout
    assert (f"not looked at: {words}" in answer) if words else "not looked at" not in answer
    below = run("diff", f"{second}..{first}", "vm.yaml", cwd=tmp_path).stdout
    is_below = bool(words) and "a/" not in attributes
    assert ("first state alone: 1 file whose" in below) is is_below


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_manifest_in_utf_16_without_a_mark_is_no_text(tmp_path: Path, encoding: str) -> None:
    flow = "{apiVersion: kubevirt.io/v1, kind: VirtualMachine, spec: {password: hunter2}}\n"
    (tmp_path / "vm.yaml").write_bytes(flow.encode(encoding))
    (tmp_path / "picture.yaml").write_bytes(b"\x89PNG\0\0k\0v\0")
    done = run("check", ".", cwd=tmp_path)
    assert (done.returncode, done.stdout.count("error VR101")) == (1, 1), done.stdout
    assert "hunter2" not in done.stdout.replace("\ufffd", "")


@pytest.mark.parametrize("kind", ["KubeVirt", "HyperConverged"])
def test_settings_in_values_of_a_chart_from_elsewhere_are_counted(
    tmp_path: Path, kind: str
) -> None:
    put(
        tmp_path / "release.yaml",
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: kubevirt}\nspec:\n"
        "  chart: {spec: {chart: raw, sourceRef: {kind: HelmRepository, name: raw}}}\n"
        f"  values: {{resources: [{{apiVersion: x.kubevirt.io/v1, kind: {kind}}}]}}\n",
    )
    printed = run("check", ".", cwd=tmp_path).stderr
    assert (
        "1 HelmRelease of a chart from elsewhere with settings of KubeVirt in its values" in printed
    )


@pytest.mark.parametrize("name", INSIDE)
def test_a_kustomization_that_puts_the_kind_together(
    tmp_path: Path, kustomize: str, name: str
) -> None:
    files, kustomization = INSIDE[name]
    for file, text in files.items():
        put(tmp_path / file, text)
    put(tmp_path / "kustomization.yaml", kustomization)
    done = run("check", ".", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert "VR420" in done.stdout
    assert done.returncode == 1


def test_a_kustomization_in_utf_16(tmp_path: Path, kustomize: str) -> None:
    """As kustomize reads it; of the objects only UTF-8 is read."""
    put(tmp_path / "vm", MACHINE)
    (tmp_path / "kustomization.yaml").write_bytes("resources: [vm]\n".encode("utf-16"))
    for words in (("check", "."), ("build", ".")):
        done = run(*words, cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
        assert "VR420" in done.stdout + done.stderr
        assert "1 VM in 1 kustomization: 1 error" in done.stderr


FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  interval: 10m
  path: ./apps
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
"""
ARGO = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: apps, namespace: argocd}
spec:
  project: default
  destination: {server: "https://kubernetes.default.svc", namespace: prod}
  source: {repoURL: "https://git.example.com/a/r.git", path: apps, targetRevision: HEAD, WHAT}
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: apps, namespace: flux-system}
spec:
  interval: 10m
  chart: {spec: {chart: ./apps, sourceRef: {kind: GitRepository, name: flux-system}}}
  WHAT
"""
OPERATIONS = (
    "- {op: replace, path: /apiVersion, value: kubevirt.io/v1}\\n"
    "- {op: replace, path: /kind, value: VirtualMachine}"
)
PATCH = f'patches: [{{target: {{kind: ConfigMap}}, options: {{allowKindChange: true}}, patch: "{OPERATIONS}"}}]'
LISTING = {"vm.yaml": CONFIG_MAP, "kustomization.yaml": "resources: [vm.yaml]\n"}
PREFIXED = {
    "vm.yaml": PART,
    "c.yaml": "namePrefix: [{path: apiVersion}]\n",
    "kustomization.yaml": "resources: [vm.yaml]\nconfigurations: [c.yaml]\n",
}
COMPONENT = {
    "vm.yaml": PART,
    "kustomization.yaml": "resources: [vm.yaml]\n",
    "../c/c.yaml": "namePrefix: [{path: apiVersion}]\n",
    "../c/kustomization.yaml": (
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nconfigurations: [c.yaml]\n"
        "namePrefix: kube\n"
    ),
}
IMAGES = {
    **PREFIXED,
    "vm.yaml": PART.replace("virt.io", "x.io"),
    "c.yaml": "images: [{path: apiVersion}]\n",
}
CHART = {"Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\n", "values.yaml": "objs: {}\n"}
GENERIC = {**CHART, "templates/vm.yaml": "{{ toYaml .Values.objs }}\n"}
TEXT = {**CHART, "templates/vm.yaml": "{{ tpl .Values.objs . }}\n"}
PARAMETERS = (
    "helm: {parameters: [{name: objs.apiVersion, value: kubevirt.io/v1}, {name: objs.kind, value: VirtualMachine},"
    " {name: objs.metadata.name, value: web}]}"
)
WHOLE = MACHINE.replace("\n", "\\n")
#: What the object says, what stands in the folder, and what is said of it.
BESIDE = {
    "a prefix of Flux": (f"{FLUX}  namePrefix: kube\n", PREFIXED, "VR420"),
    "a prefix of Argo CD": (ARGO.replace("WHAT", "kustomize: {namePrefix: kube}"), PREFIXED, "VR420"),
    "a component": (ARGO.replace("WHAT", "kustomize: {components: [../c]}"), COMPONENT, "VR420"),
    "a patch of Argo CD": (ARGO.replace("WHAT", f"kustomize: {{{PATCH}}}"), LISTING, "VR420"),
    "a patch of Flux": (f"{FLUX}  {PATCH}\n", LISTING, "VR420"),
    "a patch of a folder": (
        f"{FLUX}  {PATCH}\n", {"vm.yaml": CONFIG_MAP}, "1 Flux Kustomization with patches",
    ),
    "a post renderer": (
        RELEASE.replace("WHAT", f"postRenderers: [{{kustomize: {{{PATCH}}}}}]"),
        {**CHART, "templates/vm.yaml": CONFIG_MAP},
        "1 HelmRelease with postRenderers",
    ),
    "images of Flux": (
        f"{FLUX}  images: [{{name: x.io/v1, newName: kubevirt.io/v1}}]\n",
        IMAGES,
        "1 kustomization with images in fields of its own configurations",
    ),
    "images of Argo CD": (
        ARGO.replace("WHAT", "kustomize: {images: ['x.io/v1=kubevirt.io/v1']}"),
        IMAGES,
        "1 kustomization with images in fields of its own configurations",
    ),
    "parameters": (ARGO.replace("WHAT", PARAMETERS), GENERIC, "VirtualMachine web"),
    "a text of values": (
        ARGO.replace("WHAT", f'helm: {{valuesObject: {{objs: "{WHOLE}"}}}}'), TEXT, "VR420",
    ),
    "a text of a HelmRelease": (
        RELEASE.replace("WHAT", f'values: {{objs: "{WHOLE}"}}'), TEXT, "VR420",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BESIDE)
def test_an_object_that_makes_the_kind(
    tmp_path: Path, kustomize: str, helm: str, name: str
) -> None:
    content, files, expected = BESIDE[name]
    put(tmp_path / "cluster/object.yaml", content)
    for file, text in files.items():
        put(tmp_path / "apps" / file, text)
    done = run("check", ".", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize, VIRT_RENDER_HELM=helm)
    assert expected in done.stdout + done.stderr


def test_what_is_said_of_the_health_of_others_makes_no_vm(tmp_path: Path, kustomize: str) -> None:
    checks = "healthChecks: [{apiVersion: kubevirt.io/v1, kind: KubeVirt, name: kubevirt}]"
    put(tmp_path / "cluster/object.yaml", f"{FLUX}  {checks}\n  targetNamespace: kubevirt\n")
    put(tmp_path / "apps/kustomization.yaml", "resources: [https://example.invalid/a.yaml]\n")
    done = run("check", ".", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert done.returncode == 0, done.stdout
    assert done.stderr.startswith(
        "no VM among what is in 1 file: no findings; not looked at: 1 kustomization "
    )


def test_a_template_that_prints_another_file(tmp_path: Path, helm: str) -> None:
    files = {**CHART, "d.txt": MACHINE, "templates/vm.yaml": '{{ .Files.Get "d.txt" }}\n'}
    for file, text in files.items():
        put(tmp_path / file, text)
    assert "VR420" in run("check", ".", cwd=tmp_path, VIRT_RENDER_HELM=helm).stdout
    assert "no VM" in run("check", ".", cwd=tmp_path, VIRT_RENDER_HELM="never").stderr


def test_jsonnet_is_counted(tmp_path: Path) -> None:
    """Argo CD evaluates what stands in a directory; a kustomization lists none."""
    for file in ("apps/a.jsonnet", "apps/b.libsonnet", "k/c.jsonnet"):
        put(tmp_path / file, "{apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine'}\n")
    put(tmp_path / "apps/d.jsonnet", "{apiVersion: 'v1', kind: 'ConfigMap'}\n")
    put(tmp_path / "k/kustomization.yaml", "resources: []\n")
    assert "2 VM files in Jsonnet" in run("check", ".", cwd=tmp_path).stderr


def test_a_vm_in_a_file_whose_name_is_no_text_is_an_error(tmp_path: Path) -> None:
    """kubectl and Argo CD read it."""
    put(tmp_path / "good.yaml", MACHINE)
    hidden = os.fsencode(tmp_path) + b"/a\xe9.yaml"
    Path(os.fsdecode(hidden)).write_text(MACHINE, encoding="utf-8")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/b\xe9.yaml")).write_text("a: b\n", encoding="utf-8")
    done = run("check", ".", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert done.stdout.count(" error VR110 ") == 1
    assert "a\\xe9.yaml: its name is not UTF-8" in done.stdout
