"""Where a kustomization that cannot be built has to be mended, and how: kustomize's own words name no line."""

from pathlib import Path

import pytest

from tests.contract.test_kustomize_failures import refused

VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
  namespace: prod
spec:
  runStrategy: Always
"""
PATCH = """\
resources: [vm.yaml]
patches:
- patch: |-
    apiVersion: {api_version}
    kind: VirtualMachine
    metadata:
      name: {name}
"""
OPERATIONS = """\
resources: [vm.yaml]
patches:
- target: {kind: VirtualMachine}
  patch: |-
    - op: replace
      path: /spec/runStrategy
      value: Halted
    - op: replcae
      path: /spec/runStrategy
      value: Halted
"""
REPLACEMENT = """\
resources: [vm.yaml]
replacements:
- source: {kind: VirtualMachine, name: wbe}
  targets: [{select: {kind: VirtualMachine}, fieldPaths: [spec.x]}]
"""
ROWS = [
    ("resources:\n- vm.yaml\n- vm2.yaml\n", "kustomization.yaml:3:3", "nothing is there"),
    ("resources: [vm.yml]\n", "kustomization.yaml:1:13", "did you mean vm.yaml?"),
    ("resources: [vm]\n", "kustomization.yaml:1:13", "did you mean vm.yaml?"),
    ("resources: [bsae]\n", "kustomization.yaml:1:13", "did you mean base?"),
    ("resources: [common]\n", "kustomization.yaml:1:13", "did you mean lib/common?"),
    ("resources: [vm.yaml/x]\n", "kustomization.yaml:1:13", "nothing is there"),
    ("resource: [vm.yaml]\n", "kustomization.yaml:1:1", "did you mean resources?"),
    ("resources: [vm.yaml]\nnamePrefx: a\n", "kustomization.yaml:2:1", "did you mean namePrefix?"),
    ("resources: [vm.yaml]\nzzz: a\n", "kustomization.yaml:2:1", "no such field"),
    ("patches: [{pach: x}]\n", "kustomization.yaml:1:12", "did you mean patch?"),
    ("patches: [{path: p.yaml, target: {knd: x}}]\n", "kustomization.yaml:1:35", "kind?"),
    ("images: [{nme: x}, {nme: y}]\n", "", ""),
    ("resources: vm.yaml\n", "kustomization.yaml:1:1", "write a list there"),
    ("commonLabels: [a]\n", "kustomization.yaml:1:1", "write a mapping there"),
    ("resources: [vm.yaml, {path: x}]\n", "kustomization.yaml:1:22", "the name alone"),
    ("resources: [vm.yaml]\npatches: [p.yaml]\n", "kustomization.yaml:2:11", "- path: FILE"),
    ("resources: [vm.yaml]\npatches:\n- path: q.yaml\n", "kustomization.yaml:3:3", "did you mean p.yaml?"),
    ("resources: [vm.yaml]\npatches:\n- path: base\n", "kustomization.yaml:3:3", "name a file"),
    ("resources: [vm.yaml]\npatches:\n- {path: p.yaml, patch: 'a: b'}\n", "kustomization.yaml:3:3", "leave one"),
    ("resources: [vm.yaml]\npatches:\n- path: p.yaml\n", "kustomization.yaml:3:3", "a patch is an object"),
    ("resources: [vm.yaml]\npatches:\n- path: broken.yaml\n", "broken.yaml:2:4", "this quote is not closed"),
    ("resources: [vm.yaml]\npatches:\n- patch: 'a: b'\n", "kustomization.yaml:3:3", "a patch is an object"),
    ("resources: [vm.yaml]\npatches:\n- patch: |-\n    a: 1\n    b: [x\n", "kustomization.yaml:5:8", "close it with ]"),
    (OPERATIONS.replace("kind: VirtualMachine", "name: '['"), "kustomization.yaml:3:12", "a regular expression"),
    (PATCH.format(api_version="kubevirt.io/v1", name="wbe"), "kustomization.yaml:7:7", "did you mean web?"),
    (PATCH.format(api_version="kubevirt.io/v1", name="other"), "kustomization.yaml:7:7", "there is VirtualMachine web"),
    (PATCH.format(api_version="kubevirt.io/v1", name="web"), "kustomization.yaml:7:7", "in namespace prod"),
    (
        PATCH.format(api_version="kubevirt.io/v1", name="app").replace("vm.yaml", "slip.yaml"),
        "kustomization.yaml:7:7",
        "slip.yaml first: the patch has the VirtualMachine app",
    ),
    (OPERATIONS, "kustomization.yaml:8:7", "did you mean replace?"),
    (OPERATIONS.replace("op: replace", "op: replcae"), "", ""),
    ("resources: [vm.yaml, base]\n", "kustomization.yaml:1:22", "there already"),
    ("resources: [vm.yaml, vm.yaml]\n", "kustomization.yaml:1:22", "there already"),
    ("resources: [.]\n", "kustomization.yaml:1:13", "leads back"),
    ("resources: [empty]\n", "kustomization.yaml:1:13", "has no kustomization.yaml"),
    ("resources: [list.yaml]\n", "kustomization.yaml:1:13", "has to be objects"),
    ("resources: [../outside.yaml]\n", "kustomization.yaml:1:13", "its own folder alone"),
    ("resources:\n- vm.yaml\n-\n", "kustomization.yaml:3:2", "empty item"),
    ("components: [base]\n", "kustomization.yaml:1:14", "list it under resources"),
    ("resources: [part]\n", "kustomization.yaml:1:13", "list it under components"),
    ("configMapGenerator: [{name: a, files: [k=x.txt]}]\n", "kustomization.yaml:1:40", "nothing is there"),
    ("kind: Kustomisation\nresources: [vm.yaml]\n", "kustomization.yaml:1:1", "write kind: Kustomization"),
    ("apiVersion: kustomize.config.k8s.io/v1\nresources: [vm.yaml]\n", "kustomization.yaml:1:1", "k8s.io/v1beta1"),
    ("# nothing\n", "kustomization.yaml:1:1", "list under resources:"),
    (REPLACEMENT, "kustomization.yaml:3:3", "did you mean web?"),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "app"
    (tmp_path / "outside.yaml").write_text(VM)
    for name, text in {
        "vm.yaml": VM,
        "p.yaml": "spec: {}\n",
        "slip.yaml": VM.replace("kubevirt.io", "kubvirt.io").replace("web", "app"),
        "broken.yaml": "a: 1\nb: 'x\n",
        "list.yaml": "- a\n",
        "base/kustomization.yaml": "resources: [vm.yaml]\n",
        "base/vm.yaml": VM,
        "lib/common/kustomization.yaml": "resources: [vm.yaml]\n",
        "lib/common/vm.yaml": VM,
        "empty/notes.txt": "",
        "part/kustomization.yaml": "kind: Component\nnamePrefix: a-\n",
    }.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


@pytest.mark.parametrize(("text", "place", "cure"), ROWS)
def test_the_entry_that_kustomize_means_is_named_with_its_line(
    folder: Path, kustomize: str, text: str, place: str, cure: str
) -> None:
    (folder / "kustomization.yaml").write_text(text)
    found = refused(folder, kustomize)
    at = found.position
    told = f"{Path(at.file).relative_to(folder)}:{at.line}:{at.column}" if at else ""
    assert (told, cure in found.help) == (place, True), found.help


@pytest.mark.parametrize("field", ["resources", "components"])
def test_the_line_of_a_base_is_blamed_for_the_overlays(
    folder: Path, kustomize: str, field: str
) -> None:
    kind = "kind: Component\n" if field == "components" else ""
    (folder / "base" / "kustomization.yaml").write_text(f"{kind}resources: [nowhere.yaml]\n")
    (folder / "middle").mkdir()
    (folder / "middle" / "kustomization.yaml").write_text(f"{field}: [../base]\n")
    (folder / "kustomization.yaml").write_text("resources: [vm.yaml, middle]\n")
    at = refused(folder, kustomize).position
    assert at is not None
    assert at.file == str(folder / "base" / "kustomization.yaml")
    assert at.line == (2 if kind else 1)


def test_the_operation_of_a_component_that_finds_nothing_is_named(
    folder: Path, kustomize: str
) -> None:
    """What is said of a component is quoted, and the path in it once more."""
    component = OPERATIONS.replace("resources: [vm.yaml]", "kind: Component").replace(
        "replcae\n      path: /spec/runStrategy", "add\n      path: /spec/none/x"
    )
    (folder / "part" / "kustomization.yaml").write_text(component)
    (folder / "kustomization.yaml").write_text("resources: [vm.yaml]\ncomponents: [part]\n")
    at = refused(folder, kustomize).position
    assert at is not None
    assert (at.file, at.line) == (str(folder / "part" / "kustomization.yaml"), 9)


def test_a_field_that_go_quotes_as_json_does_not_has_no_place(folder: Path, kustomize: str) -> None:
    (folder / "kustomization.yaml").write_text('"\\aresources": [vm.yaml]\n')
    assert refused(folder, kustomize).position is None


def test_what_is_listed_already_is_not_meant(folder: Path, kustomize: str) -> None:
    (folder / "kustomization.yaml").write_text("resources: [vm.yaml, vm.yml]\n")
    assert "did you mean" not in refused(folder, kustomize).help


def test_nothing_outside_of_the_repository_is_meant(folder: Path, kustomize: str) -> None:
    (folder / ".git").mkdir()
    (folder.parent / "common2").mkdir()
    (folder.parent / "common2" / "kustomization.yaml").write_text("resources: []\n")
    (folder / "kustomization.yaml").write_text("resources: [../comon2]\n")
    assert "common2" not in refused(folder, kustomize).help


@pytest.mark.parametrize("name", ["hunter2canary", "hunter2canary: {x"])
def test_no_value_of_a_patch_is_in_the_help(folder: Path, kustomize: str, name: str) -> None:
    patch = f"- patch: |-\n    stringData:\n      password: {name}\n     x: y\n"
    (folder / "kustomization.yaml").write_text(f"resources: [vm.yaml]\npatches:\n{patch}")
    found = refused(folder, kustomize)
    assert "hunter2canary" not in found.help + found.message
    assert found.position is not None
