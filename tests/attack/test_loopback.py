"""No spelling of a kustomization has kustomize ask the network, this machine's own included."""

import json
from pathlib import Path

import pytest

from render.manifests import kustomization
from render.yaml.budget import Limits
from tests.support.loopback import Loopback
from tests.support.manifests import put, vm
from tests.support.process import run

URL = "URL"
PATCH = "kind: PatchTransformer\nmetadata: {name: p}\n"
FLOW = "apiVersion: builtin, kind: PatchTransformer, metadata: {name: p}"
BUILTIN = f"apiVersion: builtin\n{PATCH}"
GENERATOR = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: g}\n"
LEGACY = "apiVersion: builtin\nkind: PatchStrategicMergeTransformer\nmetadata: {name: s}\n"
JSON6902 = (
    "apiVersion: builtin\nkind: PatchJson6902Transformer\nmetadata: {name: j}\n"
    "target: {kind: VirtualMachine, name: web, version: v1}\n"
)
REPLACING = "apiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: r}\n"

#: What each kustomization.yaml adds to `resources: [vm.yaml]`, and the files beside it.
SPELLINGS: dict[str, tuple[str, dict[str, str]]] = {
    "resources": ("Resources: [URL/a]", {}),
    "upper-case": ("RESOURCES: [URL/a]", {}),
    "long-s": ('"re\\u017fources": [URL/a]', {}),
    "escaped": ('"\\x52esources": [URL/a]', {}),
    "merged": ("x: &x {Resources: [URL/a]}\n<<: *x", {}),
    "bases": ("Bases: [URL/a]", {}),
    "components": ("Components: [URL/a]", {}),
    "configurations": ("Configurations: [URL/a]", {}),
    "crds": ("Crds: [URL/a]", {}),
    "openapi": ("Openapi: {path: URL/a}", {}),
    "openAPI": ("openAPI: {path: URL/a}", {}),
    "patches": ("Patches: [{path: URL/a}]", {}),
    "several-lines": ('transformers: ["URL/a\\n: b"]', {}),
    "several-lines-for-git": ('transformers: ["a@127.0.0.1:a\\nb: c)"]', {}),
    "patches-path": ("patches: [{Path: URL/a}]", {}),
    "patchesStrategicMerge": ("PatchesStrategicMerge: [URL/a]", {}),
    "patchesJson6902": (
        "patchesJson6902: [{PATH: URL/a, target: {kind: VirtualMachine, name: web, version: v1}}]", {},
    ),
    "configMapGenerator": ("ConfigMapGenerator: [{name: c, files: [URL/a]}]", {}),
    "configMapGenerator-files": ("configMapGenerator: [{name: c, Files: [k=URL/a]}]", {}),
    "configMapGenerator-envs": ("configMapGenerator: [{name: c, ENVS: [URL/a]}]", {}),
    "secretGenerator-env": ("secretGenerator: [{name: c, Env: URL/a}]", {}),
    "generators": ("Generators: [URL/a]", {}),
    "transformers": ("TRANSFORMERS: [URL/a]", {}),
    "validators": ("Validators: [URL/a]", {}),
    "replacements": ("Replacements: [{path: URL/a}]", {}),
    "plugin-path": ("transformers: [t.yaml]", {"t.yaml": f"{BUILTIN}Path: URL/a\n"}),
    "plugin-kelvin": ("generators: [t.yaml]", {"t.yaml": f'{GENERATOR}"file\\u017f": [URL/a]\n'}),
    "plugin-files": ("generators: [t.yaml]", {"t.yaml": f"{GENERATOR}Files: [k=URL/a]\n"}),
    "plugin-envs": ("generators: [t.yaml]", {"t.yaml": f"{GENERATOR}Envs: [URL/a]\n"}),
    "plugin-paths": ("transformers: [t.yaml]", {"t.yaml": f"{LEGACY}Paths: [URL/a]\n"}),
    "plugin-json": ("transformers: [t.yaml]", {"t.yaml": f"{JSON6902}Path: URL/a\n"}),
    "plugin-replacements": (
        "transformers: [t.yaml]", {"t.yaml": f"{REPLACING}Replacements: [{{Path: URL/a}}]\n"},
    ),
    "plugin-binary": (
        "transformers: [t.yaml]", {"t.yaml": f"{BUILTIN}path: !!binary BINARY\n"},
    ),
    "plugin-twice": ("transformers: [t.yaml]", {"t.yaml": f"{BUILTIN}path: a\npath: URL/a\n"}),
    "plugin-in-list": (
        "transformers: [t.yaml]",
        {"t.yaml": f"apiVersion: v1\nkind: List\nitems:\n- {{{FLOW}, path: URL/a}}\n"},
    ),
    "plugin-large": (
        "transformers: [t.yaml]", {"t.yaml": f"{BUILTIN}path: URL/a\n# {'x' * (1 << 16)}\n"},
    ),
    "inline": (f"transformers:\n- |\n  {BUILTIN.replace(chr(10), chr(10) + '  ')}Path: URL/a\n", {}),
    "inline-flow": (
        "transformers: ['{FLOW, Path: \"URL/a\"}']", {},
    ),
    "inline-blank": (
        "transformers: [' {FLOW, path: \"URL/a\"}']", {},
    ),
    "inline-tagged": (
        "transformers: ['!!map {FLOW, path: \"URL/a\"}']", {},
    ),
    "inline-twice": (
        "transformers: ['{FLOW, path: a, path: \"URL/a\"}']", {},
    ),
    "name-with-a-line-break": ('transformers: ["a\\nb"]', {"a\nb": f"{BUILTIN}path: URL/a\n"}),
    "folder": (
        "transformers: [t]",
        {"t/kustomization.yaml": "Resources: [p.yaml]\n", "t/p.yaml": f"{BUILTIN}path: URL/a\n"},
    ),
    "folder-remote": ("transformers: [t]", {"t/kustomization.yaml": "Resources: [URL/a]\n"}),
    "folder-patched": (
        "transformers: [t]",
        {
            "t/kustomization.yaml": "resources: [p.yaml]\npatches: [{target: {kind: PatchTransformer},"
            " patch: '[{op: replace, path: /path, value: \"URL/a\"}]'}]\n",
            "t/p.yaml": f"{BUILTIN}path: a\n",
        },
    ),
    "folder-prefixed": (
        "transformers: [t]",
        {
            "t/kustomization.yaml": "resources: [p.yaml]\nnamePrefix: 'http:'\nconfigurations: [c.yaml]\n",
            "t/c.yaml": "namePrefix: [{path: path}]\n",
            "t/p.yaml": f"{BUILTIN}path: //127.0.0.1/a\n",
        },
    ),
    "folder-in-folder": (
        "transformers: [t]",
        {
            "t/kustomization.yaml": "resources: [u]\n",
            "t/u/kustomization.yaml": "resources: [p.yaml]\n",
            "t/u/p.yaml": f"{BUILTIN}path: URL/a\n",
        },
    ),
    "base": ("Resources: [b]", {"b/kustomization.yaml": "resources: [URL/a]\n"}),
    "component": (
        "Components: [c]",
        {"c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nKind: Component\nResources: [URL/a]\n"},
    ),
}  # fmt: skip


def written(folder: Path, spelling: str, url: str) -> None:
    import base64

    text, files = SPELLINGS[spelling]
    own = "" if "ources" in text.partition(":")[0] else "resources: [vm.yaml]\n"
    files = {"vm.yaml": vm(memory="1Gi"), "kustomization.yaml": f"{own}{text}\n", **files}
    encoded = base64.b64encode(f"{url}/a".encode()).decode()
    for name, content in files.items():
        put(
            folder / name,
            content.replace("FLOW", FLOW).replace(URL, url).replace("BINARY", encoded),
        )


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_spelling_is_refused(
    tmp_path: Path, kustomize: str, loopback: Loopback, spelling: str
) -> None:
    (tmp_path / ".git").mkdir()
    written(tmp_path, spelling, loopback.url)
    done = run(
        "build", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize,
        VIRT_RENDER_MAX_FILE_BYTES="60000",
    )  # fmt: skip
    assert done.returncode in (1, 3), done.stderr
    assert "fetched-from-loopback" not in done.stdout + done.stderr
    assert done.stdout == ""
    expected = {
        "merged": "VR1", "plugin-large": "VR111", "plugin-twice": "VR102", "inline-twice": "VR102",
    }  # fmt: skip
    assert f"error {expected.get(spelling, 'VR122')}" in done.stderr


def test_a_second_kustomization_is_no_way_around(
    tmp_path: Path, kustomize: str, loopback: Loopback
) -> None:
    """kustomize passes over one that it may not read, as behind a link, and takes the next."""
    put(tmp_path / "base/harmless.yaml", "resources: []\n")
    (tmp_path / "app").mkdir()
    (tmp_path / "app/kustomization.yaml").symlink_to("../base/harmless.yaml")
    put(tmp_path / "app/Kustomization", f"resources: [{loopback.url}/a]\n")
    (tmp_path / ".git").mkdir()
    done = run("build", "app", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert (done.returncode, done.stdout) == (3, "")
    assert "several kustomizations" in done.stderr


def test_dots_behind_a_link_lead_where_kustomize_goes(
    tmp_path: Path, kustomize: str, loopback: Loopback
) -> None:
    put(tmp_path / "deep/er/kustomization.yaml", "resources: [../there]\n")
    put(tmp_path / "deep/there/kustomization.yaml", f"resources: [{loopback.url}/a]\n")
    put(tmp_path / "there/kustomization.yaml", "resources: []\n")
    put(tmp_path / "kustomization.yaml", "resources: [link]\n")
    (tmp_path / "link").symlink_to("deep/er")
    (tmp_path / ".git").mkdir()
    done = run("build", ".", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert (done.returncode, done.stdout) == (1, "")
    assert "VR122" in done.stderr


def test_plain_folders_of_plugins_are_built(tmp_path: Path, kustomize: str) -> None:
    """What can be told is not refused."""
    put(tmp_path / "vm.yaml", vm(memory="1Gi"))
    put(tmp_path / "kustomization.yaml", "resources: [vm.yaml]\ntransformers: [t]\n")
    put(tmp_path / "t/kustomization.yaml", "resources: [p.yaml]\n")
    prefix = "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: prod-\n"
    put(tmp_path / "t/p.yaml", prefix + "fieldSpecs: [{path: metadata/name}]\n")
    done = run("build", ".", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert done.returncode == 0, done.stderr
    assert "name: prod-web" in done.stdout


@pytest.mark.parametrize("key", ["resources", "Resources", "RESOURCES", "re\u017fources"])
def test_every_spelling_that_encoding_json_takes_is_the_field(tmp_path: Path, key: str) -> None:
    put(tmp_path / "kustomization.yaml", json.dumps({key: ["https://example.com/a"]}))
    reach = kustomization.reach(str(tmp_path), Limits(), allow_remote=False)
    assert [found.code for found in reach.diagnostics] == ["VR122"]
