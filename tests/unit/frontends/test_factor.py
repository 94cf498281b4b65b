"""``virt-render factor``: files of VMs with definitions in the place of what these bring."""

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from render import render
from render.frontends.dispatch import invoke
from render.yaml import reader
from render.yaml.budget import Limits
from tests.differential.test_factor import vmis

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
VM = """\
# the shop
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: {name} # its name
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        # so much
        cpu: {cpu}
        memory:
          guest: {memory}
        devices:
          disks:
            - name: root # the first
              disk:
                bus: virtio
      volumes:
        - name: root
          containerDisk: {{image: registry/disk}}
"""
TWO = "{sockets: 2, cores: 1, threads: 1}"
KUSTOMIZATION = "resources: # all\n- vm.yaml\n"


def vm(name: str = "web", cpu: str = TWO, memory: str = "4Gi") -> str:
    return VM.format(name=name, cpu=cpu, memory=memory)


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def texts(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(paths)}


def objects(folder: Path) -> list[dict[str, Any]]:
    bodies = []
    for name, text in texts(folder).items():
        if not name.endswith("kustomization.yaml"):
            bodies += [
                document.body for document in reader.read(text.encode(), name, Limits()).documents
            ]
    return bodies


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_definitions_bring_leaves_the_manifest_and_comments_stay(repository: Path) -> None:
    put(repository, {"vm.yaml": vm()})
    before = vmis(objects(repository))
    assert invoke(["factor", "--write", "."]) == 0
    text = (repository / "vm.yaml").read_text()
    assert "guest: 4Gi" not in text
    assert "bus: virtio" not in text
    for comment in ("# the shop", "# its name", "# so much", "# the first"):
        assert text.count(comment) == 1
    assert "name: u1.2xmedium" in text
    assert (repository / "definitions.yaml").exists()
    assert vmis(objects(repository)) == before
    written = texts(repository)
    assert invoke(["factor", "--write", "."]) == 0
    assert texts(repository) == written


def test_only_what_is_asked_for_is_written(repository: Path) -> None:
    put(repository, {"a.yaml": vm("a"), "b.yaml": vm("b")})
    assert invoke(["factor", "--write", "--only", "a", "."]) == 0
    assert "instancetype" in (repository / "a.yaml").read_text()
    assert (repository / "b.yaml").read_text() == vm("b")


def test_a_name_that_is_not_there_is_refused(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository, {"vm.yaml": vm()})
    assert invoke(["factor", "--only", "wob", "."]) == 2
    assert "did you mean web?" in capfd.readouterr().err


def test_an_empty_patch_says_where_the_reasons_are(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Two overlays use the file that would be rewritten."""
    put(repository, {"base/vm.yaml": vm(), "base/kustomization.yaml": KUSTOMIZATION})
    for name in ("a", "b"):
        overlay = f"resources: [../base]\nnamespace: {name}\n"
        put(repository, {f"{name}/kustomization.yaml": overlay})
    assert invoke(["factor", "--diff", "."]) == 0
    out, err = capfd.readouterr()
    assert not out
    assert "nothing is to be written: --dry-run says why of each VM\n" in err
    assert invoke(["factor", "--dry-run", "."]) == 0
    assert "not written: a, b use base/vm.yaml" in capfd.readouterr().out


@pytest.mark.parametrize("flag", ["--dry-run", "--diff", "--near"])
def test_nothing_is_written_unless_that_is_asked_for(repository: Path, flag: str) -> None:
    put(repository, {"vm.yaml": vm()})
    before = texts(repository)
    assert invoke(["factor", flag, "."]) == 0
    assert texts(repository) == before


def test_the_patch_makes_the_same_files(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository, {"vm.yaml": vm(), "k/vm.yaml": vm("b"), "k/kustomization.yaml": KUSTOMIZATION})
    assert invoke(["factor", "--diff", "."]) == 0
    patch = capfd.readouterr().out
    before = texts(repository)
    assert invoke(["factor", "--write", "."]) == 0
    after = texts(repository)
    for name, text in before.items():
        (repository / name).write_text(text)
    for name in after.keys() - before.keys():
        (repository / name).unlink()
    subprocess.run(["git", "apply"], input=patch.encode(), check=True)
    assert texts(repository) == after != before


def test_new_definitions_join_the_kustomization(repository: Path) -> None:
    put(repository, {"k/vm.yaml": vm(), "k/kustomization.yaml": KUSTOMIZATION})
    assert invoke(["factor", "--write", "."]) == 0
    kustomization = (repository / "k/kustomization.yaml").read_text()
    assert kustomization == f"{KUSTOMIZATION}- definitions.yaml\n"
    assert invoke(["check", "--fail-on", "warning", "."]) == 0


NAME_REFERENCES = """\
nameReference:
- kind: VirtualMachinePreference
  fieldSpecs: [{kind: VirtualMachine, path: spec/preference/name}]
"""


@pytest.mark.parametrize("configurations", ["", "configurations: [names.yaml]\n"])
@pytest.mark.parametrize("folder", ["k", "o"])
def test_matchers_have_the_names_that_kustomize_gives_to_definitions(
    repository: Path, configurations: str, folder: str
) -> None:
    """With and without a configuration by which kustomize knows matchers, from the base and from an overlay."""
    own = f"namePrefix: dev-\nnameSuffix: -x\nnamespace: team\n{configurations}"
    base = {"k/vm.yaml": vm(memory="5Gi"), f"{folder}/names.yaml": NAME_REFERENCES}
    put(repository, base)
    if folder == "k":
        put(repository, {"k/kustomization.yaml": f"{own}resources: [vm.yaml]\n"})
    else:
        put(repository, {"k/kustomization.yaml": KUSTOMIZATION})
        put(repository, {"o/kustomization.yaml": f"{own}resources: [../k]\n"})
    assert invoke(["factor", "--write", "."]) == 0
    text = (repository / "k/vm.yaml").read_text()
    assert "name: dev-cpu2-5gi-x" in text
    assert "name: cpu2-5gi" in (repository / folder / "definitions.yaml").read_text()
    assert invoke(["check", "--fail-on", "warning", "."]) == 0
    written = texts(repository)
    assert invoke(["factor", "--write", "."]) == 0
    assert texts(repository) == written


def test_a_base_of_two_overlays_stays_as_it_is(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(
        repository,
        {
            "base/vm.yaml": vm(),
            "base/kustomization.yaml": KUSTOMIZATION,
            "a/kustomization.yaml": "namespace: a\nresources: [../base]\n",
            "b/kustomization.yaml": "namespace: b\nresources: [../base]\n",
        },
    )
    before = texts(repository)
    assert invoke(["factor", "--write", "."]) == 0
    assert texts(repository) == before
    assert "a, b use base/vm.yaml" in capfd.readouterr().out


def test_a_vm_that_an_overlay_patches_where_a_definition_would_stand_stays(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    patch = (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web}\n"
        "spec: {template: {spec: {domain: {memory: {guest: 8Gi}}}}}\n"
    )
    put(
        repository,
        {
            "base/vm.yaml": vm(),
            "base/kustomization.yaml": KUSTOMIZATION,
            "a/patch.yaml": patch,
            "a/kustomization.yaml": "resources: [../base]\npatches: [{path: patch.yaml}]\n",
        },
    )
    before = texts(repository)
    assert invoke(["factor", "--write", "."]) == 0
    assert texts(repository) == before
    assert "not written: " in capfd.readouterr().out


def test_a_file_behind_a_link_stays(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    put(other, {"vm.yaml": vm()})
    (repository / "vm.yaml").symlink_to(other / "vm.yaml")
    assert invoke(["factor", "--write", "."]) == 0
    assert (other / "vm.yaml").read_text() == vm()
    assert (repository / "vm.yaml").is_symlink()


def test_definitions_are_not_written_through_a_link(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    target = tmp_path_factory.mktemp("other") / "secret.yaml"
    target.write_text("a: 1\n")
    put(repository, {"vm.yaml": vm()})
    (repository / "definitions.yaml").symlink_to(target)
    assert invoke(["factor", "--write", "."]) == 0
    assert target.read_text() == "a: 1\n"
    assert (repository / "vm.yaml").read_text() == vm()


def test_a_topology_that_is_left_open_is_written_out_with_restart_alone(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository, {"vm.yaml": vm(cpu="{sockets: 2, cores: 1}")})
    assert invoke(["factor", "."]) == 0
    assert "an instancetype writes out threads" in capfd.readouterr().out
    assert invoke(["factor", "--write", "--restart", "."]) == 0
    assert "KubeVirt asks for a restart" in capfd.readouterr().out
    assert "name: u1.2xmedium" in (repository / "vm.yaml").read_text()
    assert invoke(["check", "."]) == 0


def test_what_is_nearest_is_said_in_the_words_of_diff(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository, {"vm.yaml": vm(memory="5Gi")})
    assert invoke(["factor", "--near", "."]) == 0
    out = capfd.readouterr().out
    assert "spec.domain.memory.guest: 5Gi -> 4Gi (restart)" in out
    assert "  --near says" not in out
    assert invoke(["factor", "."]) == 0
    assert "  --near says which of those that exist nearly fit" in capfd.readouterr().out


def test_no_more_definitions_are_made_than_asked_for(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository, {f"{n}.yaml": vm(f"vm{n}", memory=f"{5 + n % 3}Gi") for n in range(7)})
    assert invoke(["factor", "--write", "--max-new", "2", "."]) == 0
    capfd.readouterr()
    definitions = [body for body in objects(repository) if body["kind"] != "VirtualMachine"]
    assert len(definitions) == 2
    written = texts(repository)
    assert invoke(["factor", "--write", "--max-new", "2", "."]) == 0
    assert texts(repository) == written


def test_the_answer_keeps_to_its_schema(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository, {"vm.yaml": vm(), "b.yaml": vm("b", cpu="{cores: 2}", memory="3Gi")})
    assert invoke(["factor", "--near", "--dry-run", "--format", "json", "."]) == 0
    answer = json.loads(capfd.readouterr().out)
    schema = json.loads((ROOT / "schemas" / "factor.schema.json").read_text())
    jsonschema.validate(answer, schema)
    assert {machine["outcome"] for machine in answer["machines"]} == {"new"}
    assert [machine["written"] for machine in answer["machines"]] == [True, True]
    reason = next(machine for machine in answer["machines"] if machine["reasons"])["reasons"][0]
    assert (reason["file"], reason["line"]) == ("b.yaml", 12)


def test_a_part_that_cannot_be_read_is_named_and_the_rest_answered(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(
        repository,
        {
            "vm.yaml": vm(),
            "k/vm.yaml": vm("broken") + "a: [",
            "k/kustomization.yaml": KUSTOMIZATION,
            "l/vm.yaml": vm("other"),
            "l/kustomization.yaml": KUSTOMIZATION,
        },
    )
    assert invoke(["factor", "."]) == 3
    out, err = capfd.readouterr()
    assert "not read: k (" in err
    assert "VirtualMachine web" in out
    assert "VirtualMachine other" in out


def test_standard_input_is_not_rewritten(capfd: pytest.CaptureFixture[str]) -> None:
    assert invoke(["factor", "--write", "-"]) == 2
    assert "no file" in capfd.readouterr().err


def test_a_vm_with_errors_is_left_alone(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = vm().replace("bus: virtio", "bus: nonsense")
    put(repository, {"vm.yaml": text})
    assert invoke(["factor", "--write", "."]) == 0
    assert (repository / "vm.yaml").read_text() == text
    assert "see `virt-render check`" in capfd.readouterr().out


def test_a_vm_with_errors_keeps_no_other_from_being_written(repository: Path) -> None:
    broken = vm("broken").replace("bus: virtio", "bus: nonsense")
    twice = vm("twice") + "---\n" + vm("twice")
    put(repository, {"a/vm.yaml": vm(), "b/vm.yaml": broken, "c/vm.yaml": twice})
    assert invoke(["factor", "--write", "."]) == 0
    assert "u1.2xmedium" in (repository / "a/vm.yaml").read_text()
    assert (repository / "b/vm.yaml").read_text() == broken
    assert (repository / "a/definitions.yaml").exists()


def test_definitions_of_the_repository_come_first(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    own = (
        "apiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineClusterInstancetype\n"
        "metadata: {name: ours}\nspec: {cpu: {guest: 2}, memory: {guest: 4096Mi}}\n"
    )
    put(repository, {"vm.yaml": vm(), "own.yaml": own})
    assert invoke(["factor", "."]) == 0
    assert "VirtualMachineClusterInstancetype ours (of the repository)" in capfd.readouterr().out
    assert not any(diagnostic.is_error for diagnostic in render(objects(repository)).diagnostics)


ALIASED = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: b}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        cpu: {sockets: 2, cores: 1, threads: 1}
        memory: {guest: 4Gi}
        devices:
          disks:
            - {name: root, disk: &disk {bus: virtio}}
            - {name: data, disk: *disk}
      volumes:
        - {name: root, containerDisk: {image: registry/disk}}
        - {name: data, containerDisk: {image: registry/disk}}
"""


def test_one_vm_that_cannot_be_rewritten_keeps_no_other_of_its_file(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository, {"vm.yaml": f"{vm('a')}---\n{ALIASED}"})
    assert invoke(["factor", "--write", "."]) == 0
    text = (repository / "vm.yaml").read_text()
    assert text.count("u1.2xmedium") == 1
    assert text.endswith(ALIASED)
    assert "anchors, aliases or merge keys stand in the way" in capfd.readouterr().out
