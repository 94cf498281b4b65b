"""We as a plugin of the real kustomize and kubectl: KRM function and legacy exec plugin."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from render.yaml.reader import read
from render.yaml.writer import dump
from tests.support.manifests import NAMESPACED, instancetype, put, vm
from tests.support.process import run
from tests.support.tools import required

KRM = str(Path(sys.executable).parent / "virt-render-krm")
FLAGS = ("--enable-alpha-plugins", "--enable-exec")
MATCHERS = ("instancetype", "preference")

VM = vm(instancetype="small", kind=NAMESPACED)
SMALL = instancetype(kind=NAMESPACED)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    monkeypatch.delenv("KUSTOMIZE_PLUGIN_HOME", raising=False)
    return tmp_path


@pytest.fixture
def kubectl() -> str:
    return required("kubectl")


def patch(target: str, path: str, value: str) -> str:
    return (
        f"patches:\n- target: {target}\n  patch: |-\n    - op: replace\n      path: {path}\n"
        f"      value: {value}\n"
    )


def function(spec: str = "{}", **extra: str) -> str:
    """A function config that starts us."""
    body: dict[str, Any] = {
        "apiVersion": "virt-render.dev/v1alpha1",
        "kind": "RenderConfig",
        "metadata": {
            "name": "render",
            "annotations": {
                "config.kubernetes.io/function": f"exec: {json.dumps({'path': KRM, **extra})}\n"
            },
        },
    }
    return dump(body) + f"spec: {spec}\n"


def build(tool: str, path: str, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [tool, "kustomize" if "kubectl" in os.path.basename(tool) else "build", *flags, path]
    with (
        tempfile.TemporaryDirectory() as folder
    ):  # kustomize leaves the config of a plugin that fails
        return subprocess.run(
            command,
            env={**os.environ, "TMPDIR": folder},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )


def built(tool: str, path: str, *flags: str) -> dict[tuple[str, str], Any]:
    done = build(tool, path, *(flags or FLAGS))
    assert done.returncode == 0, done.stderr
    found = read(done.stdout.encode(), "stdout")
    assert not found.diagnostics
    return {
        (document.body["kind"], document.body["metadata"]["name"]): document.body
        for document in found.documents
    }


def is_rendered(vm: Any) -> bool:
    domain = vm["spec"]["template"]["spec"]["domain"]
    return domain["memory"] == {"guest": "1Gi"} and not any(m in vm["spec"] for m in MATCHERS)


def plugin_home(monkeypatch: pytest.MonkeyPatch, command: str = "virt-render") -> None:
    home = Path("plugins/virt-render.dev/v1alpha1/renderconfig")
    home.mkdir(parents=True)
    (home / "RenderConfig").symlink_to(Path(sys.executable).parent / command)
    monkeypatch.setenv("KUSTOMIZE_PLUGIN_HOME", str(Path("plugins").resolve()))


LEGACY = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nmetadata:\n  name: render\n"


def test_transformer_in_a_base(kustomize: str) -> None:
    put("base/vm.yaml", f"{VM}---\n{SMALL}")
    put("base/render.yaml", function())
    put("base/kustomization.yaml", "resources: [vm.yaml]\ntransformers: [render.yaml]\n")
    put(
        "prod/kustomization.yaml",
        "resources: [../base]\nnamePrefix: p-\nnamespace: prod\nlabels: [{pairs: {tier: web}}]\n",
    )
    found = built(kustomize, "prod")
    vm = found["VirtualMachine", "p-web"]
    assert is_rendered(vm)
    assert vm["metadata"]["namespace"] == "prod"
    assert vm["metadata"]["labels"] == {"tier": "web"}
    assert "config" not in json.dumps(vm), "no private annotation of kustomize is left"
    assert ("VirtualMachineInstancetype", "p-small") in found
    assert not any(kind == "RenderConfig" for kind, _ in found)


def test_transformer_in_an_overlay_sees_patches_and_prefixes(kustomize: str) -> None:
    put(
        "base/vm.yaml",
        f"{VM}---\n{SMALL}---\n{SMALL.replace('small', 'tiny').replace('1Gi', '2Gi')}",
    )
    put("base/kustomization.yaml", "resources: [vm.yaml]\n")
    put("prod/render.yaml", function())
    put(
        "prod/kustomization.yaml",
        "resources: [../base]\nnamePrefix: p-\nnamespace: prod\ntransformers: [render.yaml]\n"
        + patch("{kind: VirtualMachine}", "/spec/instancetype/name", "tiny"),
    )
    vm = built(kustomize, "prod")["VirtualMachine", "p-web"]
    template = vm["spec"]["template"]
    assert template["spec"]["domain"]["memory"] == {"guest": "2Gi"}
    assert template["metadata"]["annotations"] == {"kubevirt.io/instancetype-name": "p-tiny"}


GENERATED = """\
resources: [vm.yaml]
secretGenerator: [{name: user-data, literals: [userData=x]}]
configMapGenerator: [{name: drivers, literals: [a=b]}]
transformers: [render.yaml]
configurations: [kubevirt-names.yaml]
"""
VOLUMES = """\
      volumes:
      - {name: init, cloudInitNoCloud: {secretRef: {name: user-data}}}
      - {name: drivers, configMap: {name: drivers}}
"""


def generating(emit: str) -> None:
    """A kustomization of a VM and of what it uses, which is generated."""
    disks = "{disks: [{name: init, disk: {}}, {name: drivers, disk: {}}]}"
    put("vm.yaml", f"{VM.replace('devices: {}', f'devices: {disks}')}{VOLUMES}---\n{SMALL}")
    put("render.yaml", function(f"{{emit: {emit}}}"))
    put("kustomization.yaml", "resources: [vm.yaml]\n")
    assert run("kustomize", "init").returncode == 0
    put("kustomization.yaml", GENERATED)


@pytest.mark.parametrize("emit", ["vm", "vmi", "expand", "hashed", "revisions", "source"])
def test_names_that_are_hashed_later_are_followed(kustomize: str, emit: str) -> None:
    generating(emit)
    found = built(kustomize, ".")
    machine = "VirtualMachineInstance" if emit == "vmi" else "VirtualMachine"
    (text,) = [json.dumps(body) for (kind, _), body in found.items() if kind == machine]
    for kind, name in (("Secret", "user-data"), ("ConfigMap", "drivers")):
        (hashed,) = [name for known, name in found if known == kind]
        assert hashed != name
        assert f'{{"name": "{hashed}"}}' in text


@pytest.mark.parametrize(
    ("old", "new", "is_fine"),
    [
        ("", "", True),
        ("drivers-", "others-", False),
        ("guest: 1Gi", "guest: 2Gi", False),
        ("kind: ConfigMap", "kind: Other", False),
    ],
)
def test_a_name_that_was_hashed_is_no_edit(
    kustomize: str, old: str, new: str, *, is_fine: bool
) -> None:
    generating("vm")
    printed = build(kustomize, ".", *FLAGS).stdout
    assert old in printed
    put("out.yaml", printed.replace(old, new))
    done = run("verify", "out.yaml")
    assert (done.returncode == 0) is is_fine
    assert ("VR613" in done.stdout) is not is_fine


def test_the_output_is_what_build_prints_for_the_same_files(kustomize: str) -> None:
    put("vm.yaml", f"{VM}---\n{SMALL}")
    put("plain/kustomization.yaml", "resources: [vm.yaml]\n")
    put("plain/vm.yaml", f"{VM}---\n{SMALL}")
    put("fn/kustomization.yaml", "resources: [vm.yaml]\ntransformers: [render.yaml]\n")
    put("fn/vm.yaml", f"{VM}---\n{SMALL}")
    put("fn/render.yaml", function())
    done = run("build", "plain", "--kustomize", kustomize)
    assert done.returncode == 0, done.stderr
    expected = [document.body for document in read(done.stdout.encode(), "stdout").documents]
    found = list(built(kustomize, "fn").values())
    assert sorted(found, key=str) == sorted(expected, key=str)


def test_generator(kustomize: str) -> None:
    put("vms/vm.yaml", f"{VM}---\n{SMALL}")
    put("render.yaml", function("{emit: vmi, resources: [vms]}"))
    put("kustomization.yaml", "generators: [render.yaml]\nnamePrefix: g-\n")
    found = built(kustomize, ".")
    assert sorted(found) == [
        ("VirtualMachineInstance", "g-web"), ("VirtualMachineInstancetype", "g-small"),
    ]  # fmt: skip


def test_a_vmi_in_the_place_of_its_vm(kustomize: str) -> None:
    put("vm.yaml", f"{VM}---\n{SMALL}")
    put("render.yaml", function("{emit: vmi}"))
    put("kustomization.yaml", "resources: [vm.yaml]\nnamePrefix: p-\ntransformers: [render.yaml]\n")
    found = built(kustomize, ".")
    assert ("VirtualMachineInstance", "p-web") in found
    assert ("VirtualMachine", "p-web") not in found


@pytest.mark.parametrize("emit", ["hashed", "revisions"])
@pytest.mark.parametrize("helped", [False, True])
def test_matchers_that_stay_lead_to_objects_of_the_build(
    kustomize: str, emit: str, *, helped: bool
) -> None:
    """Of the build with the function; an overlay that renames them needs `virt-render kustomize init`."""
    put("base/vm.yaml", f"{VM}---\n{SMALL}")
    put("base/render.yaml", function(f"{{emit: {emit}}}"))
    put(
        "base/kustomization.yaml",
        "resources: [vm.yaml]\nnamePrefix: a-\nnamespace: prod\ntransformers: [render.yaml]\n",
    )
    lines = ""
    if helped:
        Path("prod").mkdir()
        done = run("kustomize", "init", "prod")
        assert done.returncode == 0, done.stderr
        lines = done.stdout
    put("prod/kustomization.yaml", f"resources: [../base]\nnamePrefix: b-\n{lines}")
    for path, prefix in (("base", "a-"), ("prod", "b-a-")):
        found = built(kustomize, path)
        matcher = found["VirtualMachine", f"{prefix}web"]["spec"]["instancetype"]
        kind = "ControllerRevision" if emit == "revisions" else matcher["kind"]
        name = matcher["revisionName" if emit == "revisions" else "name"]
        assert ((kind, name) in found) is (helped or path == "base")
        assert ("VirtualMachineInstancetype", f"{prefix}small") in found


def test_references_between_other_objects_survive(kustomize: str) -> None:
    put("vm.yaml", f"{VM}---\n{SMALL}")
    put(
        "pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: a\n"
        "    envFrom: [{configMapRef: {name: settings}}]\n",
    )
    put("render.yaml", function())
    put(
        "kustomization.yaml",
        "resources: [vm.yaml, pod.yaml]\nnamePrefix: p-\ntransformers: [render.yaml]\n"
        "configMapGenerator: [{name: settings, literals: [a=yes]}]\n",
    )
    found = built(kustomize, ".")
    (config,) = (name for kind, name in found if kind == "ConfigMap")
    container = found["Pod", "p-a"]["spec"]["containers"][0]
    assert container["envFrom"] == [{"configMapRef": {"name": config}}]
    assert found["ConfigMap", config]["data"] == {"a": "yes"}


def test_of_several_renamed_objects_the_one_with_the_same_prefix_is_meant(kustomize: str) -> None:
    put("base/vm.yaml", f"{VM}---\n{SMALL}")
    put("base/kustomization.yaml", "resources: [vm.yaml]\n")
    for name, memory in (("a", "1Gi"), ("b", "2Gi")):
        put(
            f"{name}/kustomization.yaml",
            f"resources: [../base]\nnamePrefix: {name}-\n"
            + patch("{name: small}", "/spec/memory/guest", memory),
        )
    put("render.yaml", function())
    put("kustomization.yaml", "resources: [a, b]\ntransformers: [render.yaml]\n")
    found = built(kustomize, ".")
    for name, memory in (("a", "1Gi"), ("b", "2Gi")):
        domain = found["VirtualMachine", f"{name}-web"]["spec"]["template"]["spec"]["domain"]
        assert domain["memory"] == {"guest": memory}


def test_inference_follows_renamed_objects(kustomize: str) -> None:
    put(
        "vm.yaml",
        VM.replace(
            "    name: small\n    kind: VirtualMachineInstancetype\n", "    inferFromVolume: root\n"
        )
        + "      volumes:\n      - name: root\n        persistentVolumeClaim: {claimName: disk}\n",
    )
    put(
        "claim.yaml",
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: disk\n  labels:\n"
        "    instancetype.kubevirt.io/default-instancetype: u1.nano\n",
    )
    put("render.yaml", function())
    put(
        "kustomization.yaml",
        "resources: [vm.yaml, claim.yaml]\nnamePrefix: p-\nnamespace: prod\ntransformers: [render.yaml]\n",
    )
    vm = built(kustomize, ".")["VirtualMachine", "p-web"]
    assert vm["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "512Mi"}


def test_arguments_of_the_function_are_flags(kustomize: str) -> None:
    put("vm.yaml", f"{VM}---\n{SMALL}")
    put("render.yaml", function("{emit: source}", args=["--emit", "vmi"]))  # type: ignore[arg-type] # a list
    put("kustomization.yaml", "resources: [vm.yaml]\ntransformers: [render.yaml]\n")
    assert ("VirtualMachineInstance", "web") in built(kustomize, ".")


CONFLICT = vm(instancetype="small", kind=NAMESPACED, memory="4Gi")


def test_a_conflict_fails_the_build_and_is_told_in_full(kustomize: str) -> None:
    put("base/vm.yaml", CONFLICT)
    put("base/kustomization.yaml", "resources: [vm.yaml]\n")
    put("prod/small.yaml", SMALL)
    put("prod/render.yaml", function())
    put(
        "prod/kustomization.yaml",
        "resources: [../base, small.yaml]\nnamePrefix: p-\ntransformers: [render.yaml]\n",
    )
    done = build(kustomize, "prod", *FLAGS)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(
        "base/vm.yaml:15:11: error VR301 instancetype-conflict: VirtualMachine p-web: VM field(s) "
        "spec.template.spec.domain.memory.guest conflicts with selected instance type\n"
    )
    assert "prod/small.yaml:9:5: VirtualMachineInstancetype p-small sets memory.guest: 1Gi" in (
        done.stderr
    )


def test_what_a_patch_wrote_is_told_at_the_patch(kustomize: str) -> None:
    put("base/vm.yaml", vm(instancetype="small", kind=NAMESPACED))
    put("base/kustomization.yaml", "resources: [vm.yaml]\n")
    put("prod/render.yaml", function())
    head = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web}\n"
    put("prod/size.yaml", f"{head}spec:\n  instancetype: {{name: smal}}\n")
    put("prod/small.yaml", SMALL)
    lists = "resources: [../base, small.yaml]\npatches: [{path: size.yaml}]\n"
    put("prod/kustomization.yaml", f"{lists}transformers: [render.yaml]\n")
    done = build(kustomize, "prod", *FLAGS)
    assert done.stderr.startswith("prod/size.yaml:5:18: error VR201 "), done.stderr


def test_below_a_component_no_wrong_file_is_told(kustomize: str) -> None:
    """kustomize names files as seen from the folder that it builds, and tells a component nothing of that one."""
    put("prod/vm.yaml", CONFLICT)
    put("prod/small.yaml", SMALL)
    put("rendered/render.yaml", function())
    put(
        "rendered/kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
        "transformers: [render.yaml]\n",
    )
    put(
        "prod/kustomization.yaml",
        "resources: [vm.yaml, small.yaml]\ncomponents: [../rendered]\n"
        "buildMetadata: [originAnnotations]\n",
    )
    done = build(kustomize, "prod", *FLAGS)
    assert (done.returncode, done.stdout) == (1, "")
    assert "error VR301 instancetype-conflict: VirtualMachine web: " in done.stderr
    assert "rendered/vm.yaml" not in done.stderr


@pytest.mark.parametrize("command", ["virt-render", "virt-render-krm"])
def test_legacy_plugin(kustomize: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin_home(monkeypatch, command)
    put("vm.yaml", f"{VM}---\n{SMALL}")
    put("render.yaml", f"{LEGACY}spec: {{emit: vm}}\nargsOneLiner: --emit vmi\n")
    put("kustomization.yaml", "resources: [vm.yaml]\nnamePrefix: p-\ntransformers: [render.yaml]\n")
    assert ("VirtualMachineInstance", "p-web") in built(kustomize, ".", FLAGS[0])


@pytest.mark.parametrize(
    ("flags", "variable"),
    [
        ("--kustomize ./theirs", "VIRT_RENDER_KUSTOMIZE"),
        ("--kustomize=./theirs --allow-remote", "VIRT_RENDER_ALLOW_REMOTE"),
        ("--max-file-bytes 1000000000000", "VIRT_RENDER_MAX_FILE_BYTES"),
    ],
)
def test_a_legacy_plugin_does_not_decide_for_the_host(
    kustomize: str, flags: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its flags come from the repository, which must not name a program that is run."""
    plugin_home(monkeypatch)
    put("theirs", "#!/bin/sh\n: > ran\n")
    Path("theirs").chmod(0o755)
    put("sub/kustomization.yaml", "resources: []\n")
    put("vm.yaml", f"{VM}---\n{SMALL}")
    put("render.yaml", f"{LEGACY}spec: {{resources: [sub]}}\nargsOneLiner: {flags}\n")
    put("kustomization.yaml", "resources: [vm.yaml]\ntransformers: [render.yaml]\n")
    done = build(kustomize, ".", FLAGS[0])
    assert (done.returncode, done.stdout) == (1, "")
    assert "error VR801 invalid-setting: --" in done.stderr
    assert f"help: who runs kustomize may set {variable} in its environment" in done.stderr
    assert list(Path().rglob("ran")) == []


def test_legacy_plugin_under_kubectl(kubectl: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin_home(monkeypatch)
    put("vm.yaml", f"{VM}---\n{SMALL}")
    put("render.yaml", LEGACY)
    put("kustomization.yaml", "resources: [vm.yaml]\nnamePrefix: p-\ntransformers: [render.yaml]\n")
    assert is_rendered(built(kubectl, ".", FLAGS[0])["VirtualMachine", "p-web"])
    put("vm.yaml", f"{CONFLICT}---\n{SMALL}")
    done = build(kubectl, ".", FLAGS[0])
    assert done.returncode == 1
    assert done.stdout == ""
    assert "vm.yaml:15:11: error VR301" in done.stderr


def test_legacy_generator(kustomize: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin_home(monkeypatch)
    put("vms/vm.yaml", f"{VM}---\n{SMALL}")
    put("render.yaml", f"{LEGACY}spec: {{resources: [vms/vm.yaml]}}\n")
    put("kustomization.yaml", "generators: [render.yaml]\n")
    assert is_rendered(built(kustomize, ".", FLAGS[0])["VirtualMachine", "web"])


def verify(manifests: str) -> subprocess.CompletedProcess[str]:
    return run("verify", "-", stdin=manifests)


def test_without_enable_exec_nothing_is_rendered_and_only_verify_says_so(kustomize: str) -> None:
    put("base/vm.yaml", f"{VM}---\n{SMALL}")
    put("base/render.yaml", function())
    put("base/kustomization.yaml", "resources: [vm.yaml]\ntransformers: [render.yaml]\n")
    put(
        "prod/kustomization.yaml",
        "resources: [../base]\nnamePrefix: p-\nnamespace: prod\nlabels:\n- pairs: {tier: web}\n"
        "  includeTemplates: true\n",
    )
    done = build(kustomize, "prod", FLAGS[0])
    assert done.returncode == 0
    assert "instancetype:" in done.stdout, "kustomize leaves the function out without a word"
    checked = verify(done.stdout)
    assert checked.returncode == 1
    assert "VirtualMachine prod/p-web" in checked.stdout + checked.stderr
    rendered = build(kustomize, "prod", *FLAGS)
    checked = verify(rendered.stdout)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def krm(stdin: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [KRM, *words], input=stdin, capture_output=True, encoding="utf-8", check=False
    )


def resource_list(*manifests: str, config: str = "") -> str:
    bodies = [
        document.body for text in manifests for document in read(text.encode(), "x").documents
    ]
    message: dict[str, Any] = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "items": bodies,
    }
    if config:
        message["functionConfig"] = read(config.encode(), "x").documents[0].body
    return dump(message)


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    (document,) = read(done.stdout.encode(), "stdout").documents
    return document.body


CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: options}\n"


def test_a_config_map_has_the_options_in_its_data() -> None:
    put("more/small.yaml", SMALL)
    data = 'data: {emit: vmi, annotations: "false", catalog: "none more", resources: more}\n'
    done = krm(resource_list(VM, config=CONFIG_MAP + data))
    assert done.returncode == 0, done.stderr
    kinds = [item["kind"] for item in answer(done)["items"]]
    assert kinds == ["VirtualMachineInstance", "VirtualMachineInstancetype"]
    done = krm(resource_list(VM, SMALL, config=CONFIG_MAP))
    assert done.returncode == 0, done.stderr
    done = krm(resource_list(VM, SMALL, config=f"{CONFIG_MAP}data: {{emti: vmi}}\n"))
    assert done.returncode == 2
    assert "unknown function config key emti; did you mean emit?" in done.stderr
    done = krm(resource_list(VM, config=CONFIG_MAP.replace("ConfigMap", "Secret")))
    assert "a ConfigMap may have the options in its data" in done.stderr


def test_on_an_error_the_items_come_back_unchanged_with_results() -> None:
    sent = resource_list(CONFLICT, SMALL)
    done = krm(sent)
    assert done.returncode == 1
    text = answer(done)
    assert text["items"] == answer(subprocess.CompletedProcess([], 0, sent))["items"]
    (result,) = text["results"]
    assert result["severity"] == "error"
    assert result["tags"] == {"code": "VR301"}
    assert result["resourceRef"] == {
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "name": "web",
    }  # fmt: skip
    assert result["field"] == {"path": "spec.template.spec.domain.memory.guest"}
    assert "VR301 instancetype-conflict" in done.stderr


def test_warnings_and_notes_are_results_of_a_success() -> None:
    done = krm(resource_list(vm(instancetype="u1.nano"), instancetype("u1.nano", memory="3Gi")))
    assert done.returncode == 0
    (result,) = answer(done)["results"]
    assert (result["severity"], result["tags"]) == ("info", {"code": "VR210"})


@pytest.mark.parametrize(
    ("config", "words", "status"),
    [
        (
            f"{LEGACY}spec: {{emti: vm}}\n",
            "unknown function config key emti; did you mean emit?",
            2,
        ),
        (f"{LEGACY}spec: {{emit: vmx}}\n", "'vmx' is not one of vm, vmi", 2),
        (f"{LEGACY}spec: {{resources: vms}}\n", "should be a list of files and folders", 2),
        (f'{LEGACY}spec: {{resources: ["a\\0"]}}\n', "should be a list of files and folders", 2),
        (f"{LEGACY}spec: {{resources: [missing]}}\n", "cannot read missing", 3),
        (
            f"{LEGACY}spec: {{maxFileBytes: 1000000000}}\n",
            "function config key maxFileBytes is not for manifests and Applications to decide",
            2,
        ),
        ("apiVersion: v1\nkind: Secret\n", "should have apiVersion virt-render.dev/v1alpha1", 2),
    ],
)
def test_an_unfit_function_config(config: str, words: str, status: int) -> None:
    done = krm(resource_list(VM, SMALL, config=config))
    assert done.returncode == status
    assert words in done.stderr
    assert len(answer(done)["items"]) == 2
    assert [result["severity"] for result in answer(done)["results"]] == ["error"]


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        ("", "standard input should hold one ResourceList and holds 0 documents"),
        (VM, "should hold one ResourceList and holds VirtualMachine"),
        ("a: [", "error VR101"),
        (
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: [1]\n",
            "items[0] of the ResourceList is not an object",
        ),
        *(
            (
                f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: {items}\n",
                "items of the ResourceList is not a list",
            )
            for items in ("5", "true", "text", '""', "{a: 1}")
        ),
    ],
)
def test_what_is_no_message_gets_no_answer(stdin: str, words: str) -> None:
    done = krm(stdin)
    assert done.returncode == 1
    assert done.stdout == ""
    assert words in done.stderr


@pytest.mark.parametrize("command", ["krm", "build -", "check --quiet -"])
@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("--max-file-bytes", "<stdin> is larger than the limit of 100 bytes for one file"),
        (
            "--max-total-bytes",
            "the input is larger than the limit of 100 bytes in total: stopped at <stdin>",
        ),
    ],
)
def test_the_limit_of_a_stream_is_the_one_that_is_named(
    command: str, limit: str, words: str
) -> None:
    """A stream counts as one file."""
    done = run(*command.split(), limit, "100", stdin=resource_list(VM))
    report, nothing = done.stderr, done.stdout
    if command.startswith("check"):
        report, nothing = nothing, report
    assert (done.returncode, nothing) == (3, "")
    (first, cure) = report.splitlines()[:2]
    assert first == f"<stdin>: error VR111 limit-exceeded: {words}"
    assert cure.endswith(f"is meant to be read, raise {limit}")


def test_what_a_function_is_sent_counts_towards_the_total() -> None:
    put("vm.yaml", VM)
    sent = resource_list(SMALL, config=f"{LEGACY}spec: {{resources: [vm.yaml]}}\n")
    enough = len(sent.encode()) + len(VM.encode())
    assert krm(sent, "--max-total-bytes", str(enough)).returncode == 0
    done = krm(sent, "--max-total-bytes", str(enough - 1))
    assert done.returncode == 3
    assert f"limit of {enough - 1} bytes in total: stopped at vm.yaml" in done.stderr
    assert len(answer(done)["items"]) == 1


def test_a_stream_that_cannot_be_read() -> None:
    with Path(os.devnull).open("wb") as closed:
        done = subprocess.run([KRM], stdin=closed, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"error VR110 unreadable: cannot read <stdin>: " in done.stderr


def test_a_path_is_a_mistake() -> None:
    done = krm(resource_list(VM, SMALL), "vm.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "krm takes no path, and was given vm.yaml" in done.stderr


def test_an_empty_list_is_refused_unless_allowed() -> None:
    assert krm(resource_list()).returncode == 1
    done = krm(resource_list(), "--allow-empty")
    assert (done.returncode, answer(done)["items"]) == (0, [])
