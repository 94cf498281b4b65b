"""Whatever its shape, a VM that somebody applies is looked at, or the last line says that it is not."""

import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent

import pytest

from tests.support.manifests import put, vm
from tests.support.process import run

GOOD = vm("good", memory="1Gi")
BAD = vm("bad", memory="1Gi").replace(
    "devices: {}", "devices: {disks: [{name: root, disk: {bus: ide}}]}"
)
OTHER = vm("other", memory="1Gi")
CHART = {"c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\n"}
LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 400\n"
GIT_CRYPT = "\0GITCRYPT\0\1\2\3"
SOPS = (
    "apiVersion: ENC[AES256_GCM,data:a,iv:b,tag:c,type:str]\nkind: ENC[AES256_GCM,data:a,iv:b,tag:c,type:str]\n"
    "sops: {version: 3.9.0}\n"
)
IN_LFS = "1 file that stands in Git LFS"
BY_GIT_CRYPT = "1 file that git-crypt has encrypted"
BY_ARGO_CD = "1 file that Argo CD passes over (+argocd:skip-file-rendering)"
OVERRIDDEN = "1 override of an Application of elsewhere"
BY_SOPS = "1 file that SOPS has encrypted"


def listed(text: str) -> Mapping[str, str]:
    """A kustomization that lists *text*, in a file whose name says nothing."""
    return {"k/x": text, "k/kustomization.yaml": "resources: [x]\n"}


class Link(str):
    """The target of a link."""

    __slots__ = ()


def application(path: str, more: str = "") -> str:
    """An Application of *path*, with *more* in its source."""
    return (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: argocd}\nspec:\n"
        "  destination: {server: 'https://kubernetes.default.svc', namespace: prod}\n"
        f"  source: {{repoURL: 'https://git.example.com/a/r.git', path: {path}{more}}}\n"
    )


IN_JSON = '{"apiVersion": "argoproj.io/v1alpha1", "path" : "c", "helm": {}}'
IN_JSONNET = "1 VM file in Jsonnet"
HIDDEN = "1 hidden VM file"
NO_MANIFEST = "1 file without a manifest"
BARE = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine"}
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"


def work(machine: str) -> str:
    """An object of others in which a *machine* stands."""
    name = (
        "apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata: {name: a}\n"
    )
    return f"{name}spec:\n  workload:\n    manifests:\n    -\n{indent(machine, '      ')}"


CARRIED = "1 object of others with a VM in it"
MASKED = {**CHART, "c/templates/x.yaml": f"# {{{{ if .Values.no }}}}\n{BAD}# {{{{ end }}}}\n"}
AS_IT_IS = "1 Helm chart without a VM by default, 1 VM file of a chart that is applied as it is"
SHAPES: Mapping[str, tuple[Mapping[str, str], str]] = {
    "in Git LFS": ({"x.yaml": LFS}, IN_LFS),
    "in Git LFS, listed": (listed(LFS), IN_LFS),
    "in Git LFS, of a chart": ({**CHART, "c/templates/x.yaml": LFS}, IN_LFS),
    "in Git LFS, hidden": ({".h/x.yaml": LFS}, IN_LFS),
    "in Git LFS, a kustomization": ({"k/kustomization.yaml": LFS}, IN_LFS),
    "in Git LFS, a patch": (
        {"k/kustomization.yaml": "patches: [{path: p.yaml}]\n", "k/p.yaml": LFS}, IN_LFS,
    ),
    "of git-crypt": ({"x.yaml": GIT_CRYPT}, BY_GIT_CRYPT),
    "of git-crypt, listed": (listed(GIT_CRYPT), BY_GIT_CRYPT),
    "of git-crypt, of a chart": ({**CHART, "c/templates/x.yaml": GIT_CRYPT}, BY_GIT_CRYPT),
    "of SOPS": ({"x.yaml": SOPS}, BY_SOPS),
    "of SOPS, listed": (listed(SOPS), BY_SOPS),
    "passed over by Argo CD": ({"x.yaml": f"{BAD}# +argocd:skip-file-rendering\n"}, BY_ARGO_CD),
    "passed over by Argo CD, of a directory": (
        {"d/x.yaml": f"# +argocd:skip-file-rendering\n{BAD}", "a.yaml": application("d", "")}, BY_ARGO_CD,
    ),
    "overridden by Argo CD": ({"d/x.yaml": OTHER, "d/.argocd-source.yaml": "directory: {exclude: '*'}"}, OVERRIDDEN),
    "overridden by Argo CD, built": (
        {**listed(OTHER), "k/.argocd-source-web.yaml": "kustomize: {namePrefix: a-}\n"}, OVERRIDDEN,
    ),
    "overridden by Argo CD, of a chart": (
        {**CHART, "c/templates/x.yaml": OTHER, "c/.argocd-source.yaml": "helm: {values: 'a: b'}"}, OVERRIDDEN,
    ),
    "in capitals": ({"x.YAML": BAD}, "1 VM file whose name ends in capitals"),
    "behind a hidden link": ({".x.yaml": Link("data.bin"), "data.bin": BAD}, HIDDEN),
    "behind a link in a hidden folder": ({".h/x.yaml": Link("../data.bin"), "data.bin": BAD}, HIDDEN),
    "behind a link with the name of a test": (
        {"x.virt-test.yaml": Link("data.bin"), "data.bin": BAD}, "1 VM file with the name of a test",
    ),
    "in a JSON list": ({"x.json": f"[{json.dumps(BARE)}]"}, NO_MANIFEST),
    "in items without a kind": ({"x.yaml": json.dumps({"items": [BARE]})}, NO_MANIFEST),
    "in Jsonnet": ({"x.jsonnet": BAD}, IN_JSONNET),
    "in hidden Jsonnet": ({".h/x.jsonnet": BAD}, IN_JSONNET),
    "in Jsonnet behind a link": ({"x.jsonnet": Link("data.bin"), "data.bin": BAD}, IN_JSONNET),
    "in Jsonnet below a kustomization": (
        {
            "k/kustomization.yaml": "resources: [c.yaml]\n", "k/c.yaml": CONFIG_MAP, "k/d/x.jsonnet": BAD,
            "a.yaml": application("k/d"),
        },
        IN_JSONNET,
    ),
    "by an Application in Jsonnet": (
        {**CHART, "c/templates/x.yaml": "# kubevirt.io\n", "x.jsonnet": application("c", ", helm: {values: x}")},
        "1 Application or object of Flux in Jsonnet, 1 Helm chart without a VM by default",
    ),
    "by a hidden Application in JSON": (
        {**CHART, "c/templates/x.yaml": "# kubevirt.io\n", ".x.json": IN_JSON},
        "1 Application or object of Flux in a hidden file, 1 Helm chart without a VM by default",
    ),
    "by a plugin": (
        {"k/x": GOOD, "k/kustomization.yaml": "resources: [x]\n", "a.yaml": application("k", ", plugin: {name: x}")},
        "1 Application with a plugin of others",
    ),
    "masked in a chart of which the templates are applied": (
        {**MASKED, "a.yaml": application("c/templates")}, AS_IT_IS,
    ),
    "masked in a chart that is applied as a directory": (
        {**MASKED, "a.yaml": application("c", ", directory: {recurse: true}")}, AS_IT_IS,
    ),
    "masked in a chart below a directory": (
        {**MASKED, "a.yaml": application(".", ", directory: {recurse: true}")}, AS_IT_IS,
    ),
    "in a ManifestWork": ({"x.yaml": work(BAD)}, CARRIED),
    "in a ManifestWork of a kustomization": (listed(work(BAD)), CARRIED),
    "in a text of a ConfigMap": ({"x.yaml": CONFIG_MAP + "data:\n  vm: |\n" + indent(BAD, "    ")}, CARRIED),
    "in a text of a ConfigMap, with an escape": (
        {"x.yaml": CONFIG_MAP + "data:\n  vm: |\n" + indent(BAD.replace("domain:", '"\\u0064omain":'), "    ")},
        CARRIED,
    ),
}  # fmt: skip
"""What stands beside a good VM, and what is counted of it."""


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_not_looked_at_is_counted(
    tmp_path: Path, kustomize: str, helm: str, name: str
) -> None:
    files, words = SHAPES[name]
    put(tmp_path / "good.yaml", GOOD)
    for file, text in files.items():
        if isinstance(text, Link):
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).symlink_to(text)
        else:
            put(tmp_path / file, text)
    done = run("check", ".", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize, VIRT_RENDER_HELM=helm)
    assert ": no findings; " in done.stderr, done.stdout
    assert f"not looked at: {words} (-v)" in done.stderr


def test_a_whole_vm_as_a_patch_of_flux_is_looked_at(tmp_path: Path, kustomize: str) -> None:
    put(tmp_path / "base/vm.yaml", GOOD)
    put(tmp_path / "base/kustomization.yaml", "resources: [vm.yaml]\n")
    put(
        tmp_path / "flux.yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
        "metadata: {name: a, namespace: flux-system}\nspec:\n  path: ./base\n"
        "  sourceRef: {kind: GitRepository, name: a}\n  patches:\n  - patch: |\n"
        + indent(GOOD, "      ")
        + "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n"
        "metadata: {name: a, namespace: flux-system}\nspec: {url: 'https://git.example.com/a/r.git'}\n",
    )
    done = run("check", ".", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert "1 VM in 1 kustomization: no findings; " in done.stderr, done.stdout
    assert "not looked at" not in done.stderr


@pytest.mark.parametrize(
    ("text", "words"), [(LFS, IN_LFS), (GIT_CRYPT, BY_GIT_CRYPT), (SOPS, BY_SOPS)]
)
def test_so_it_is_of_a_file_that_is_named(tmp_path: Path, text: str, words: str) -> None:
    put(tmp_path / "x.yaml", text)
    done = run("check", "x.yaml", cwd=tmp_path)
    assert f"not looked at: {words} (-v)" in done.stderr


WORDS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: w}\ndata: {g: ku, h: Virtual}\n"
PUT_TOGETHER = (
    "apiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: p}\nreplacements:\n"
    "- source: {kind: ConfigMap, name: w, fieldPath: data.g}\n  targets:\n"
    "  - {select: {name: bad}, fieldPaths: [apiVersion], options: {delimiter: be, index: 0}}\n"
    "- source: {kind: ConfigMap, name: w, fieldPath: data.h}\n  targets:\n"
    "  - {select: {name: bad}, fieldPaths: [kind], options: {delimiter: Mach, index: 0}}\n"
)
"""Makes a VM of what is called a FooMachine of xbevirt.io."""


@pytest.mark.parametrize(
    "files",
    [
        {
            "transformers/kustomization.yaml": "resources: [t.yaml]\n",
            "transformers/t.yaml": PUT_TOGETHER,
        },
        {
            "transformers/kustomization.yaml": "resources: [deeper]\n",
            "transformers/deeper/kustomization.yaml": "resources: [t.yaml]\n",
            "transformers/deeper/t.yaml": PUT_TOGETHER,
        },
    ],
)
def test_a_vm_that_a_folder_of_transformers_puts_together_is_one(
    tmp_path: Path, kustomize: str, files: Mapping[str, str]
) -> None:
    """Nothing of it is called a VM anywhere."""
    machine = BAD.replace("kubevirt.io", "xbevirt.io").replace("VirtualMachine", "FooMachine")
    kustomization = "resources: [vm.yaml, words.yaml]\ntransformers: [transformers]\n"
    put(tmp_path / "k/kustomization.yaml", kustomization)
    put(tmp_path / "k/vm.yaml", machine)
    put(tmp_path / "k/words.yaml", WORDS)
    for file, text in files.items():
        put(tmp_path / "k" / file, text)
    done = run("check", ".", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert "VR420" in done.stdout


def test_transformers_that_are_edited_themselves_are_counted(
    tmp_path: Path, kustomize: str
) -> None:
    put(tmp_path / "good.yaml", GOOD)
    put(tmp_path / "k/kustomization.yaml", "resources: [c.yaml]\ntransformers: [t]\n")
    put(tmp_path / "k/c.yaml", CONFIG_MAP)
    put(tmp_path / "k/t/kustomization.yaml", "resources: [t.yaml]\nnamePrefix: a-\n")
    put(
        tmp_path / "k/t/t.yaml",
        "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: p}\n",
    )
    done = run("check", ".", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert "not looked at: 1 kustomization with edited plugins (-v)" in done.stderr


VISIBLE = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: 'ENC[AES256_GCM,data:a]'}\n"


def test_a_secret_of_sops_and_a_key_of_git_crypt_are_no_vms(tmp_path: Path) -> None:
    put(tmp_path / "good.yaml", GOOD)
    put(tmp_path / "secret.yaml", VISIBLE)
    put(tmp_path / "k/key", GIT_CRYPT)
    put(tmp_path / "k/kustomization.yaml", "secretGenerator: [{name: s, files: [key]}]\n")
    assert "not looked at" not in run("check", ".", cwd=tmp_path).stderr


def test_a_hidden_link_to_what_is_read_or_outside_is_none(tmp_path: Path) -> None:
    put(tmp_path / "r/.git/HEAD", "ref: refs/heads/main\n")
    put(tmp_path / "r/good.yaml", GOOD)
    put(tmp_path / "outside.yaml", BAD)
    (tmp_path / "r/.a.yaml").symlink_to("good.yaml")
    (tmp_path / "r/.b.yaml").symlink_to("../outside.yaml")
    assert "not looked at" not in run("check", ".", cwd=tmp_path / "r").stderr


def test_the_dry_source_of_a_hydrator_fills_in(tmp_path: Path, helm: str) -> None:
    text = application("c", ", helm: {parameters: [{name: bus, value: ide}]}")
    hydrated = text.replace("  source: {", "  sourceHydrator: {drySource: {").replace(
        "}]}}", "}]}}}"
    )
    put(tmp_path / "a.yaml", hydrated)
    put(tmp_path / "c/Chart.yaml", CHART["c/Chart.yaml"])
    put(tmp_path / "c/values.yaml", "bus: virtio\n")
    put(tmp_path / "c/templates/x.yaml", BAD.replace("ide", "{{ .Values.bus }}"))
    done = run("check", ".", cwd=tmp_path, VIRT_RENDER_HELM=helm)
    assert "VR420" in done.stdout


def test_a_reference_to_a_vm_and_an_example_in_metadata_are_no_vms(tmp_path: Path) -> None:
    put(tmp_path / "good.yaml", GOOD)
    target = "{apiVersion: kubevirt.io/v1, kind: VirtualMachinePool, name: a}"
    put(
        tmp_path / "x.yaml",
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: a\n  annotations:\n"
        f"    example: |\n{indent(BAD, '      ')}spec: {{scaleTargetRef: {target}}}\n",
    )
    assert "not looked at" not in run("check", ".", cwd=tmp_path).stderr
