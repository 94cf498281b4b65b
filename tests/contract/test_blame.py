"""A finding about a value that a patch wrote names the patch, and every finding the overlays."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import manifests, process
from tests.support.manifests import instancetype, vm

STRATEGIC = """\
# memory of production
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec:
  template:
    spec:
      domain:
        memory: {guest: 8Gi}
"""
NAMELESS = STRATEGIC.replace("name: web", "name: any")
OPERATIONS = """\
- op: add
  path: /spec/template/spec/domain/memory
  value:
    guest: 8Gi
"""
DEEP = "- {op: replace, path: /spec/template/spec/domain/memory/guest, value: 8Gi}\n"
GUEST = '{"op": "add", "path": "/spec/template/spec/domain/memory", "value": {"guest": "8Gi"}}'
TARGET = "target: {kind: VirtualMachine, name: we.}"


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


@pytest.fixture
def repository(tmp_path: Path, kustomize: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIRT_RENDER_KUSTOMIZE", kustomize)
    manifests.put(tmp_path / "base/kustomization.yaml", "resources: [vm.yaml, small.yaml]\n")
    manifests.put(tmp_path / "base/vm.yaml", vm("web", instancetype="small"))
    manifests.put(tmp_path / "base/small.yaml", instancetype("small"))
    return tmp_path


def place(folder: Path, code: str = "VR301") -> tuple[str, int]:
    done = process.run("check", "--format", "json", cwd=folder)
    found = json.loads(done.stdout)["diagnostics"]
    (diagnostic,) = (diagnostic for diagnostic in found if diagnostic["code"] == code)
    return diagnostic["file"], diagnostic["line"]


@pytest.mark.parametrize(
    ("entry", "patch", "expected"),
    [
        ("patches: [{path: p.yaml}]", STRATEGIC, ("prod/p.yaml", 9)),
        ("patchesStrategicMerge: [p.yaml]", f"---\n{STRATEGIC}", ("prod/p.yaml", 10)),
        (f"patches: [{{path: p.yaml, {TARGET}}}]", NAMELESS, ("prod/p.yaml", 9)),
        (f"patches: [{{path: p.yaml, {TARGET}}}]", OPERATIONS, ("prod/p.yaml", 4)),
        (f"patches:\n- {TARGET}\n  patch: |-\n{indented(OPERATIONS)}", "", ("prod/kustomization.yaml", 8)),
        (f"patches:\n- patch: |\n{indented(STRATEGIC)}", "", ("prod/kustomization.yaml", 12)),
        (f"patchesStrategicMerge:\n- |\n{indented(STRATEGIC)}", "", ("prod/kustomization.yaml", 12)),
    ],
)  # fmt: skip
def test_the_patch_is_blamed(
    repository: Path, entry: str, patch: str, expected: tuple[str, int]
) -> None:
    manifests.put(repository / "prod/kustomization.yaml", f"resources: [../base]\n{entry}\n")
    if patch:
        manifests.put(repository / "prod/p.yaml", patch)
    assert place(repository) == expected


@pytest.mark.parametrize(
    ("entry", "patch"),
    [
        (f"patches: [{{path: p.yaml, {TARGET}}}]", OPERATIONS),
        ("patches: [{path: p.yaml}]", STRATEGIC),
        (f"patches:\n- {TARGET}\n  patch: |-\n{indented(OPERATIONS)}", ""),
        (f"patches:\n- {TARGET}\n  patch: |-\n{indented(f'- {GUEST}')}", ""),
        (f"patches:\n- {TARGET}\n  patch: '{json.dumps([json.loads(GUEST)])}'", ""),
        (f"patches:\n- patch: |\n{indented(STRATEGIC)}", ""),
        (f"patchesStrategicMerge:\n- |\n{indented(STRATEGIC)}", ""),
    ],
)
def test_the_column_is_that_of_the_file(repository: Path, entry: str, patch: str) -> None:
    """A text in a text stands further to the right than it says itself."""
    manifests.put(repository / "prod/kustomization.yaml", f"resources: [../base]\n{entry}\n")
    if patch:
        manifests.put(repository / "prod/p.yaml", patch)
    done = process.run("check", "--format", "json", cwd=repository)
    (found,) = (
        diagnostic
        for diagnostic in json.loads(done.stdout)["diagnostics"]
        if diagnostic["code"] == "VR301"
    )
    line = (repository / found["file"]).read_text().splitlines()[found["line"] - 1]
    assert line[found["column"] - 1 :].startswith(("guest", '"guest"', "value"))


def test_what_follows_of_a_patch_stands_below_it(repository: Path) -> None:
    """The requirement of the preference, which the base has, of the instancetype that a patch names."""
    preference = instancetype("linux", kind="VirtualMachinePreference").partition("spec:")[0]
    requirements = "spec: {requirements: {memory: {guest: 1Gi}}}\n"
    manifests.put(repository / "base/linux.yaml", preference + requirements)
    lists = "resources: [vm.yaml, small.yaml, linux.yaml]\n"
    manifests.put(repository / "base/kustomization.yaml", lists)
    matcher = "  preference: {name: linux, kind: VirtualMachinePreference}\n  template:"
    text = vm("web", instancetype="small").replace("  template:", matcher)
    manifests.put(repository / "base/vm.yaml", text)
    patch = "- {op: replace, path: /spec/instancetype/name, value: smal}\n"
    manifests.put(repository / "prod/p.yaml", patch)
    entry = f"resources: [../base]\npatches: [{{path: p.yaml, {TARGET}}}]\n"
    manifests.put(repository / "prod/kustomization.yaml", entry)
    done = process.run("check", cwd=repository)
    assert done.stdout.startswith("prod/p.yaml:1:48: error VR201 "), done.stdout
    assert "\n  also, until that is mended: base/vm.yaml:" in done.stdout
    assert "\nbase/vm.yaml" not in done.stdout


def test_what_an_item_of_a_patch_lacks_is_told_at_the_item(repository: Path) -> None:
    networks = "- op: add\n  path: /spec/template/spec/networks\n  value:\n    - name: a\n      multus: {}\n"
    manifests.put(repository / "prod/p.yaml", networks)
    entry = f"resources: [../base]\npatches: [{{path: p.yaml, {TARGET}}}]\n"
    manifests.put(repository / "prod/kustomization.yaml", entry)
    assert place(repository, "VR107") == ("prod/p.yaml", 5)


def test_a_field_that_is_none_is_told_where_an_operation_names_it(repository: Path) -> None:
    manifests.put(
        repository / "prod/p.yaml", DEEP.replace("replace", "add").replace("guest", "gest")
    )
    entry = f"resources: [../base]\npatches: [{{path: p.yaml, {TARGET}}}]\n"
    manifests.put(repository / "prod/kustomization.yaml", entry)
    memory = vm("web", memory="1Gi")
    manifests.put(repository / "base/vm.yaml", memory)
    done = process.run("check", cwd=repository)
    assert done.stdout.startswith("prod/p.yaml:1:13: error VR105 "), done.stdout


def test_the_last_patch_that_wrote_it_is_blamed(repository: Path) -> None:
    first = STRATEGIC.replace("8Gi", "4Gi")
    manifests.put(repository / "prod/first.yaml", first)
    manifests.put(repository / "prod/last.yaml", DEEP)
    entries = f"patches: [{{path: first.yaml}}, {{path: last.yaml, {TARGET}}}]"
    manifests.put(repository / "prod/kustomization.yaml", f"resources: [../base]\n{entries}\n")
    manifests.put(repository / "top/kustomization.yaml", 'resources: [../prod]\nnameSuffix: ""\n')
    assert place(repository) == ("prod/last.yaml", 1)


def test_what_no_patch_wrote_is_the_base_s(repository: Path) -> None:
    manifests.put(repository / "base/vm.yaml", vm("web", instancetype="small", memory="1Gi"))
    labels = (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web, labels: {a: b}}\n"
    )
    manifests.put(repository / "prod/p.yaml", labels)
    entry = "resources: [../base]\npatches: [{path: p.yaml}]\n"
    manifests.put(repository / "prod/kustomization.yaml", entry)
    assert place(repository) == ("base/vm.yaml", 14)


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ("labels: [{pairs: {tier: %s}}]", "metadata.labels.tier"),
        ("commonLabels: {tier: %s}", "metadata.labels.tier"),
        ("commonAnnotations: {tier: %s}", "metadata.annotations.tier"),
    ],
)
def test_what_a_kustomization_gives_all_its_objects_is_its_own(
    repository: Path, entry: str, field: str
) -> None:
    folders = [repository.parent / f"{repository.name}-{value}" for value in ("a", "b", "none")]
    for folder in folders:
        value = folder.name.rpartition("-")[2]
        text = "resources: [../base]\n" + (f"{entry % value}\n" if value != "none" else "")
        shutil.copytree(repository, folder)
        manifests.put(folder / "prod/kustomization.yaml", text)
    for before in (0, 2):
        words = ("diff", str(folders[before]), str(folders[1]), "--format", "json")
        listed = json.loads(process.run(*words, cwd=repository).stdout)
        (change,) = listed["machines"][0]["changes"]
        cause = change["cause"]
        assert field.startswith(change["field"])
        place = os.path.relpath(cause["file"], folders[1]), cause["line"]
        assert place == ("prod/kustomization.yaml", 2)


def test_overlays_are_named(repository: Path) -> None:
    manifests.put(repository / "base/vm.yaml", vm("web", instancetype="small", memory="1Gi"))
    for overlay in ("prod", "test"):
        manifests.put(repository / f"{overlay}/kustomization.yaml", "resources: [../base]\n")
    done = process.run("check", cwd=repository)
    assert done.stdout.count("error VR301") == 1
    assert "  built by prod, test\n" in done.stdout
    report = json.loads(process.run("check", "--format", "json", cwd=repository).stdout)
    (found,) = (diagnostic for diagnostic in report["diagnostics"] if diagnostic["code"] == "VR301")
    assert found["builds"] == ["prod", "test"]


def test_a_report_counts_what_overlays_share_once(repository: Path) -> None:
    """As ``check`` does, in the last line."""
    text = vm("web", memory="1Gi").replace("runStrategy: Always", "running: true")
    manifests.put(repository / "base/vm.yaml", text)
    for overlay in ("prod", "test"):
        manifests.put(repository / f"{overlay}/kustomization.yaml", "resources: [../base]\n")
    lines = [
        process.run(*words, cwd=repository).stderr.splitlines()[-1]
        for words in (("check",), ("report", "-o", "page.html"))
    ]
    assert lines[0] == lines[1]
    assert "2 VMs in 2 kustomizations: 1 warning" in lines[0]


def test_settings_beside_an_overlay_are_not_built_by_it(repository: Path) -> None:
    """All inputs heed them; none has them."""
    manifests.put(repository / "base/vm.yaml", vm("web", instancetype="small"))
    for overlay in ("prod", "test"):
        manifests.put(repository / f"{overlay}/kustomization.yaml", "resources: [../base]\n")
    manifests.put(
        repository / "cluster.yaml",
        "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt, namespace: kubevirt}\n"
        "spec: {configuration: {absent: 1}}\n",
    )
    done = process.run("check", "--format", "json", cwd=repository)
    (found,) = (
        diagnostic
        for diagnostic in json.loads(done.stdout)["diagnostics"]
        if diagnostic["code"] == "VR105"
    )
    assert not found.get("builds")


def test_a_patch_that_drops_the_boot_order_is_said(repository: Path) -> None:
    disks = "        devices: {disks: [{name: root, bootOrder: 1, disk: {}}, {name: data, bootOrder: 2, disk: {}}]}\n"
    volumes = "      volumes: [{name: root, emptyDisk: {capacity: 1Gi}}, {name: data, emptyDisk: {capacity: 1Gi}}]\n"
    text = vm("web", memory="1Gi").replace("        devices: {}\n", disks) + volumes
    manifests.put(repository / "base/vm.yaml", text)
    manifests.put(repository / "prod/kustomization.yaml", "resources: [../base]\n")
    assert "VR124" not in process.run("check", cwd=repository).stdout
    patch = STRATEGIC.replace(
        "memory: {guest: 8Gi}", "devices: {disks: [{name: data, disk: {bus: sata}}]}"
    )
    manifests.put(repository / "prod/p.yaml", patch)
    entry = "resources: [../base]\npatches: [{path: p.yaml}]\n"
    manifests.put(repository / "prod/kustomization.yaml", entry)
    done = process.run("check", cwd=repository)
    assert done.stdout.count("warning VR124 boot-order-lost: ") == 2
    assert "prod/p.yaml:9:27: warning VR124" in done.stdout
    assert "data had bootOrder 2" in done.stdout
    assert "root had bootOrder 1" in done.stdout
    reason = "metadata: {annotations: {virt-render.dev/ignore.VR124: meant}, name: web"
    manifests.put(repository / "prod/p.yaml", patch.replace("metadata: {name: web", reason))
    assert "VR124" not in process.run("check", cwd=repository).stdout


def test_a_bundled_name_that_kustomize_renamed_away_is_said_both_ways(repository: Path) -> None:
    own = instancetype("linux", kind="VirtualMachineClusterPreference").partition("spec:")[0]
    manifests.put(
        repository / "base/linux.yaml", f"{own}spec: {{devices: {{preferredDiskBus: sata}}}}\n"
    )
    text = vm("web", memory="1Gi").replace(
        "  template:", "  preference: {name: linux}\n  template:"
    )
    manifests.put(repository / "base/vm.yaml", text)
    manifests.put(repository / "base/kustomization.yaml", "resources: [vm.yaml, linux.yaml]\n")
    prefixed = "resources: [../base]\nnamePrefix: p-\n"
    manifests.put(repository / "prod/kustomization.yaml", prefixed)
    built = process.run("build", "prod", cwd=repository)
    assert "warning VR213 definition-renamed-away: VirtualMachine p-web" in built.stderr
    assert "renamed the one of the input to p-linux" in built.stderr
    function = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nmetadata:\n  name: r\n  annotations:\n"
    function += "    config.kubernetes.io/function: |\n      exec: {path: ./krm}\n"
    manifests.put(repository / "prod/r.yaml", function)
    krm = repository / "prod/krm"
    manifests.put(krm, f"#!/bin/sh\nexec {sys.executable} -m render krm\n")
    krm.chmod(0o755)
    manifests.put(repository / "prod/kustomization.yaml", f"{prefixed}transformers: [r.yaml]\n")
    argv = (
        os.environ["VIRT_RENDER_KUSTOMIZE"],
        "build",
        "--enable-alpha-plugins",
        "--enable-exec",
        "prod",
    )
    done = subprocess.run(
        argv,
        cwd=repository,
        env=process.environ(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "VR213" in done.stderr
    assert "preference: VirtualMachineClusterPreference/linux@" in done.stdout.replace('"', "")
