"""What kustomize says when it fails, and what of it we pass on."""

from pathlib import Path

import pytest

from render.diagnostics.diagnostic import Diagnostic
from render.manifests import kustomization
from render.manifests.boxed.kustomize import KustomizeBuild, building
from render.manifests.boxed.program import ProgramBounds
from render.system.programs import processes
from render.yaml.budget import Limits


def refused(folder: Path, kustomize: str) -> Diagnostic:
    reach = kustomization.reach(str(folder), Limits(), allow_remote=False)
    steps = building(
        KustomizeBuild(
            str(folder), kustomize, reach, ProgramBounds(Limits(), 1 << 20), allow_remote=False
        )
    )
    found = processes.finish(steps)
    assert isinstance(found, Diagnostic)
    assert found.code == "VR116"
    return found


def failure(folder: Path, kustomize: str) -> str:
    return refused(folder, kustomize).message.removeprefix(f"kustomize build {folder}: ")


def test_warnings_do_not_stand_before_the_error(tmp_path: Path, kustomize: str) -> None:
    (tmp_path / "kustomization.yaml").write_text("commonLabels: {a: b}\nbases: [nowhere]\n")
    message = failure(tmp_path, kustomize)
    assert message.startswith("Error: accumulating resources")
    assert "is deprecated" not in message


def test_an_error_alone_is_passed_on_whole(tmp_path: Path, kustomize: str) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [nowhere]\n")
    assert failure(tmp_path, kustomize).startswith("Error: accumulating resources")


def test_charts_are_not_for_kustomize_to_render(tmp_path: Path, kustomize: str) -> None:
    (tmp_path / "kustomization.yaml").write_text("helmCharts: [{name: a}]\n")
    assert (refused(tmp_path, kustomize).help or "").startswith(
        "virt-render does not let kustomize run helm"
    )
    (tmp_path / "kustomization.yaml").write_text("resources: [nowhere]\n")
    assert "helm" not in (refused(tmp_path, kustomize).help or "")


def test_a_resource_without_a_kind_is_named(tmp_path: Path, kustomize: str) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [vm.yaml]\n")
    (tmp_path / "vm.yaml").write_text("apiVersion: v1\nKind: ConfigMap\nmetadata: {name: a}\n")
    found = refused(tmp_path, kustomize)
    place = found.position
    assert place is not None
    assert place.file == str(tmp_path / "kustomization.yaml")
    assert (place.line, place.column) == (1, 13)
    assert "apiVersion, kind and metadata.name" in (found.help or "")


OPERATION = "- op: {op}\n  path: /metadata/{key}\n  value: hunter2canary\n"
PATCHES = """\
resources: [config.yaml]
{key}:
- target: {{version: v1, kind: ConfigMap, name: c}}
  {patch}
"""
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, labels: {a: b}}\n"


@pytest.mark.parametrize("key", ["patches", "patchesJson6902"])
@pytest.mark.parametrize("op", ["replace", "remove"])
@pytest.mark.parametrize("is_inline", [True, False])
def test_the_operation_that_does_not_apply_is_named_with_its_line(
    tmp_path: Path, kustomize: str, key: str, op: str, *, is_inline: bool
) -> None:
    operations = OPERATION.format(op="add", key="labels/c") + OPERATION.format(
        op=op, key="nowhere/none"
    )
    block = "".join(f"    {line}\n" for line in operations.splitlines())
    patch = f"patch: |-\n{block}" if is_inline else "path: p.yaml"
    (tmp_path / "kustomization.yaml").write_text(PATCHES.format(key=key, patch=patch))
    (tmp_path / "config.yaml").write_text(CONFIG)
    (tmp_path / "p.yaml").write_text(operations)
    found = refused(tmp_path, kustomize)
    assert op in found.message
    assert "/metadata/nowhere/none" in found.message
    assert "hunter2canary" not in found.message
    assert found.help.startswith("the object has nothing at this path")
    assert found.position is not None
    file = tmp_path / ("kustomization.yaml" if is_inline else "p.yaml")
    assert found.position.file == str(file)
    line = file.read_text().splitlines()[found.position.line - 1]
    assert line.strip() == "path: /metadata/nowhere/none"


def test_of_two_operations_that_may_be_meant_none_is_named(tmp_path: Path, kustomize: str) -> None:
    operation = OPERATION.format(op="replace", key="nowhere/none")
    block = "".join(f"    {line}\n" for line in (operation * 2).splitlines())
    text = PATCHES.format(key="patches", patch=f"patch: |-\n{block}")
    (tmp_path / "kustomization.yaml").write_text(text)
    (tmp_path / "config.yaml").write_text(CONFIG)
    assert refused(tmp_path, kustomize).position is None


@pytest.mark.parametrize(
    ("entry", "cure"),
    [
        ("../../base", "did you mean ../base?"),
        ("../../other", "keep a copy in the repository"),
    ],
)
def test_an_entry_out_of_the_repository_may_be_meant_for_what_is_in_it(
    tmp_path: Path, entry: str, cure: str
) -> None:
    """A folder that was moved up a level; whether the entry leads to something is not told."""
    top = tmp_path / "fleet"
    for name, text in (
        ("base", "resources: []\n"),
        ("prod", f"resources: [{entry}]\n"),
    ):
        (top / name).mkdir(parents=True)
        (top / name / "kustomization.yaml").write_text(text)
    (top / ".git").mkdir()
    reach = kustomization.reach(str(top / "prod"), Limits(), allow_remote=False, bounds=str(top))
    assert [(each.code, each.help) for each in reach.diagnostics] == [("VR110", cure)]


_HEAD = "resources: [config.yaml]\npatches:\n"
_FOR_ALL = "- target: {kind: ConfigMap}\n  patch: |-\n"


@pytest.mark.parametrize(
    ("entries", "line", "cure"),
    [
        (f"{_FOR_ALL}    - op: add\n      value: 1\n", 5, "add path: "),
        (f"{_FOR_ALL}    - op: add\n      pth: /x\n", 6, "did you mean path?"),
        (f"{_FOR_ALL}    - path: /data/a\n      value: 1\n", 5, "add op: one of add, "),
        (f"{_FOR_ALL}    - Op: add\n      path: /data/a\n", 5, "did you mean op?"),
        (
            f"{_FOR_ALL}    - op: test\n      path: /kind\n      value: x\n",
            6,
            "the object has another value there",
        ),
        (
            (
                f"{_FOR_ALL}    - op: add\n      path: /data\n      value: []\n"
                "    - op: add\n      path: /data/x\n      value: 1\n"
            ),
            9,
            "items of a list have numbers",
        ),
        ("- patch: |-\n    - op: add\n      path: /x\n", 3, "add target: "),
        ("- patch: |-\n    - kind: ConfigMap\n      metadata: {name: a}\n", 3, "take the '- ' in front"),
        ("- target: {kind: ConfigMap}\n", 3, "add path: with the file of the patch"),
        ("- path: p.yaml\n- patch: ''\n", 4, "add path: with the file of the patch"),
        ("- target: {kind: ConfigMap}\n  patch:\n  - op: add\n", 4, "write 'patch: |-'"),
        ("- patch:\n    kind: ConfigMap\n", 3, "write 'patch: |-'"),
    ],
)  # fmt: skip
def test_each_slip_in_a_patch_is_told_at_its_line(
    entries: str, line: int, cure: str, tmp_path: Path, kustomize: str
) -> None:
    (tmp_path / "kustomization.yaml").write_text(_HEAD + entries)
    (tmp_path / "config.yaml").write_text(CONFIG)
    (tmp_path / "p.yaml").write_text("kind: ConfigMap\nmetadata: {name: a}\n")
    found = refused(tmp_path, kustomize)
    assert found.position is not None, found.message
    assert found.position.line == line, found.message
    assert (found.help or "").startswith(cure), found.message
