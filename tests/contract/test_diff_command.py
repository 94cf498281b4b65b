"""``virt-render diff`` as a process in a real repository: what is compared, what is said, and the status."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest

from render.diagnostics.exits import Exit
from tests.support import manifests, process
from tests.support.cases import ROOT
from tests.support.repository import Repository

#: A disk without a volume.
REFUSED = manifests.vm("odd", namespace="prod", memory="1Gi").replace(
    "devices: {}", "devices: {disks: [{name: absent, disk: {}}]}"
)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    made.instancetype("small")
    made.vm("web")
    made.vm("db")
    made.commit("Two VMs")
    return made


def test_nothing_changed(repository: Repository) -> None:
    text = repository.fine("diff", "--exit-code").splitlines()
    assert text[0] == "2 VMs: 2 same"
    assert text[2:] == ["  2 same  stays as it is"]


def test_an_edited_instancetype_is_named_with_its_line(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "larger")
    repository.instancetype("small", cpus=4)
    text = repository.fine("diff", "--emit", "vm")
    assert "synced with --emit vm" in text.splitlines()[1]
    assert "2 VMs: 2 migrate" in text
    line = next(line for line in text.splitlines() if "domain.cpu.sockets" in line)
    assert "spec.domain.cpu.sockets: 2 -> 4 (migrate)  instancetypes/small.yaml:" in line
    assert "2 recreate" in repository.fine("diff")


def test_a_definition_that_loses_a_field_is_named_with_its_line(repository: Repository) -> None:
    """As it was: the VM never said so, though what is synced has it."""
    large = manifests.instancetype("large")
    dedicated = large.replace("  cpu:\n", "  cpu:\n    dedicatedCPUPlacement: true\n")
    repository.write("instancetypes/large.yaml", dedicated)
    text = manifests.vm("web", instancetype="large")
    repository.write(
        "vms/web.yaml", text.replace("domain:\n", "domain:\n        cpu: {model: x}\n")
    )
    repository.commit("Dedicated CPUs")
    repository.write("instancetypes/large.yaml", large)
    text = repository.fine("diff", "HEAD", "--emit", "vm")
    line = next(line for line in text.splitlines() if "dedicatedCpuPlacement: true" in line)
    number = dedicated.splitlines().index("    dedicatedCPUPlacement: true") + 1
    assert f"instancetypes/large.yaml:{number}:5 " in line


@pytest.mark.parametrize("words", [("stable",), ("stable~0..HEAD",), ("stable...HEAD",)])
def test_a_tag_that_is_called_as_a_branch_is_what_git_takes_the_name_for(
    repository: Repository, words: tuple[str, ...]
) -> None:
    repository.git("branch", "stable")
    repository.git("tag", "stable")
    line = repository.run("diff", *words).stdout.splitlines()[1]
    assert " (stable is the tag, not the branch) -> " in line
    plain = repository.run("diff", "refs/heads/stable").stdout.splitlines()[1]
    assert "the tag" not in plain


def test_two_revisions_leave_the_work_tree_alone(repository: Repository) -> None:
    repository.vm("web", instancetype="large")
    repository.instancetype("large", cpus=1)
    repository.commit("A smaller web")
    repository.write("vms/broken.yaml", "{")
    before = repository.git("status", "--porcelain")
    text = repository.fine("diff", "HEAD~1..HEAD")
    assert repository.fine("diff", "HEAD~1", "HEAD") == text
    assert "2 VMs: 1 restart, 1 same" in text
    assert "Reduction of CPU socket count requires a restart" in text
    assert repository.git("status", "--porcelain") == before


@pytest.mark.parametrize("mode", ["--cone", "--no-cone"])
def test_what_a_sparse_checkout_leaves_out_is_no_removal(repository: Repository, mode: str) -> None:
    """As git has it: what is not checked out is as in the index, and what is there as it stands there."""
    repository.vm("far", folder="others")
    repository.commit("A VM elsewhere")
    repository.git("sparse-checkout", "set", mode, "others")
    assert not (repository.folder / "vms").exists()
    before = repository.git("status", "--porcelain")
    assert repository.fine("diff", "HEAD").splitlines()[0] == "3 VMs: 3 same"
    text = repository.fine("diff", "HEAD~1")
    assert text.splitlines()[:2] == [
        "3 VMs: 1 new, 2 same",
        f"{repository.git('rev-parse', 'HEAD~1')[:10]} -> the working tree, synced with --emit source",
    ]
    text = (repository.folder / "others/far.yaml").read_text()
    repository.write("others/far.yaml", text.replace("Always", "Halted"))
    repository.write("others/untracked.yaml", text.replace("far", "untracked"))
    assert (
        repository.git("status", "--porcelain")
        == f"{before} M others/far.yaml\n?? others/untracked.yaml\n"
    )
    text = repository.fine("diff", "HEAD")
    assert text.splitlines()[0] == "4 VMs: 1 stop, 1 new, 2 same"
    assert "others/far.yaml:" in text
    # Where a file of another commit is in the index it counts, whether it is checked out or not.
    repository.git("rm", "--quiet", "--cached", "--sparse", "vms/web.yaml")
    assert "1 gone" in repository.fine("diff", "HEAD")


def test_a_closed_file_in_a_sparse_checkout_is_one_in_its_copy(repository: Repository) -> None:
    """The temporary folder is on another file system here, where no file can be linked."""
    where = repository.folder
    known = [path for path in ("/dev/shm", "/tmp", "/var/tmp") if os.access(path, os.W_OK)]
    other = next((path for path in known if os.stat(path).st_dev != where.stat().st_dev), "")
    if not other:
        pytest.skip("there is one file system alone")
    repository.vm("far", folder="others")
    repository.vm("closed", folder="others")
    repository.commit("VMs elsewhere")
    repository.git("sparse-checkout", "set", "others")
    closed = repository.folder / "others/closed.yaml"
    closed.chmod(0)
    done = process.run("diff", "HEAD", cwd=where, TMPDIR=other, VIRT_RENDER_TESTS_HELD_BACK="1")
    closed.chmod(0o600)
    assert "cannot be written" not in done.stdout + done.stderr
    assert "cannot read others/closed.yaml: Permission denied" in done.stdout + done.stderr
    assert done.stdout.startswith("4 VMs: ")


def test_a_sparse_checkout_of_a_partial_clone_compares_what_it_has(repository: Repository) -> None:
    """What neither state has here is alike in both."""
    repository.write("others/far.yaml", manifests.vm("far", memory="1Gi"))
    repository.commit("A VM elsewhere")
    for file in ("vms/web.yaml", "vms/db.yaml", "instancetypes/small.yaml"):
        lost = repository.git("rev-parse", f"HEAD:{file}").strip()
        (repository.folder / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    repository.git("sparse-checkout", "set", "others")
    text = repository.fine("diff", "HEAD")
    assert text.splitlines()[0] == "1 VM: 1 same"
    assert "; not compared: " in text


def test_two_folders(repository: Repository, tmp_path: Path) -> None:
    other = Repository(tmp_path / "other")
    other.instancetype("small", cpus=4)
    other.vm("web")
    text = repository.fine("diff", ".", str(other.folder), "--emit", "vm")
    assert "2 VMs: 1 gone, 1 migrate" in text or "2 VMs: 1 migrate, 1 gone" in text


def test_a_folder_that_was_not_there_held_nothing(repository: Repository) -> None:
    repository.vm("late", folder="more")
    repository.instancetype("small", folder="more")
    assert "1 VM: 1 new" in repository.fine("diff", "HEAD", "more")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ((), 0),
        (("--exit-code",), 1),
        (("--fail-on", "migrate"), 1),
        (("--fail-on", "restart"), 0),
    ],
)
def test_the_status_is_what_was_asked_for(
    repository: Repository, words: tuple[str, ...], status: int
) -> None:
    repository.instancetype("small", cpus=4)
    assert repository.run("diff", "HEAD", "--emit", "vm", *words).returncode == status


def test_a_vm_that_does_not_render_is_part_of_the_answer(repository: Repository) -> None:
    repository.vm("web", instancetype="nowhere")
    done = repository.run("diff", "--emit", "vm")
    assert done.returncode == 1
    assert "unrenderable  VirtualMachine prod/web" in done.stdout
    assert '"nowhere" not found' in done.stdout


def test_a_vm_that_build_refuses_for_its_preference_is_not_synced(repository: Repository) -> None:
    """What would be printed of it has no preference any more, and the cluster would take that."""
    preference = (
        "apiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineClusterPreference\n"
        "metadata: {name: linux}\nspec: {requirements: {cpu: {guest: %d}}}\n"
    )
    text = (repository.folder / "vms/web.yaml").read_text(encoding="utf-8")
    chosen = text.replace("  template:", "  preference: {name: linux}\n  template:", 1)
    repository.write("vms/web.yaml", chosen)
    repository.write("linux.yaml", preference % 2)
    repository.commit("A preference")
    repository.write("linux.yaml", preference % 4)
    done = repository.run("diff", "HEAD", "--emit", "vm")
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "2 VMs: 1 unrenderable, 1 same")
    assert "preference requires 4 vCPU" in done.stdout
    repository.commit("More than there is")
    assert "2 VMs: 1 repaired, 1 same" in repository.fine("diff", "HEAD..HEAD~1", "--emit", "vm")
    assert "unrenderable  VirtualMachine" not in repository.fine("diff", "--emit", "vm")
    anew = repository.run("diff", "HEAD~1..HEAD").stdout
    assert "made anew, the VM would not run: failure checking preference requirements" in anew


def settings(spec: str) -> str:
    return f"apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {spec}\n"


@pytest.mark.parametrize("before", ["", "{emit: vm}"])
def test_settings_that_have_pods_printed_do_not_hide_a_change(
    repository: Repository, before: str
) -> None:
    if before:
        repository.write(".virt-render.yaml", settings(before))
        repository.commit("Settings")
    repository.write(".virt-render.yaml", settings("{emit: pod}"))
    text = (repository.folder / "vms/web.yaml").read_text(encoding="utf-8")
    repository.write("vms/web.yaml", text.replace("devices: {}", "devices: {rng: {}}"))
    done = repository.run("diff", "--fail-on", "restart")
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "2 VMs: 1 restart, 1 same")
    refused = repository.run("diff", "--emit", "pod")
    assert refused.returncode == 2
    assert "--emit pod: no pod is synced" in refused.stderr


@pytest.mark.parametrize("words", [(), ("--fail-on", "error")])
def test_an_error_that_settings_of_the_change_bring_about_is_new(
    repository: Repository, words: tuple[str, ...]
) -> None:
    text = (repository.folder / "vms/web.yaml").read_text(encoding="utf-8")
    repository.write("vms/web.yaml", text.replace("devices: {}", "devices: {video: {type: vga}}"))
    repository.commit("A field of 1.6")
    repository.write(".virt-render.yaml", settings("{emit: vm, kubevirt: '1.4'}"))
    done = repository.run("diff", *words)
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "2 VMs: 1 unrenderable, 1 same")
    assert "after: 1 error (new), build prints nothing" in done.stdout
    repository.write(".virt-render.yaml", settings("{emit: vm, kubevirt: '1.6'}"))
    assert "2 VMs: 2 same" in repository.fine("diff")


@pytest.mark.parametrize(("limit", "status"), [("error", 0), ("gone", 1), ("restart", 1)])
def test_a_vm_that_goes_can_fail_the_command(
    repository: Repository, limit: str, status: int
) -> None:
    (repository.folder / "vms" / "db.yaml").unlink()
    assert repository.run("diff", "HEAD", "--fail-on", limit).returncode == status


@pytest.mark.parametrize("emit", ["source", "vm"])
def test_a_change_that_repairs_a_vm_is_no_error(repository: Repository, emit: str) -> None:
    repository.vm("web", instancetype="nowhere")
    repository.commit("A mistake")
    repository.vm("web")
    for form in ("text", "markdown"):
        text = repository.fine("diff", "HEAD", "--emit", emit, "--format", form)
        assert "could not be rendered before, and can be now" in text
        assert '"nowhere" not found' in text


def test_a_chart_that_fails_is_not_gone(repository: Repository, helm: str) -> None:
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n")
    repository.write("chart/values.yaml", "name: shop\n")
    template = manifests.vm("CHOSEN", namespace="shop", memory="1Gi")
    repository.write("chart/templates/vm.yaml", template.replace("CHOSEN", "{{ .Values.name }}"))
    repository.commit("A chart")
    words = ("--helm", helm)
    assert "3 VMs: 3 same" in repository.fine("diff", "HEAD", *words)
    repository.write(
        "chart/templates/vm.yaml",
        template.replace("CHOSEN", '{{ required "name it" .Values.nam }}'),
    )
    done = repository.run("diff", "HEAD", *words)
    assert done.returncode == 1
    assert "3 VMs: 1 unrenderable, 2 same" in done.stdout
    assert "name it" in done.stdout
    repository.commit("A mistake")
    repaired = repository.fine("diff", "HEAD..HEAD~1", *words)
    assert "could not be rendered before, and can be now" in repaired
    for file in (repository.folder / "chart").rglob("*.yaml"):
        file.unlink()
    assert "1 gone" in repository.fine("diff", "HEAD~1", *words)


def test_a_vm_that_cannot_be_rendered_for_another_reason_has_that_one(
    repository: Repository,
) -> None:
    repository.write("shop/vm.yaml", manifests.vm("shop", namespace="shop", instancetype="nowhere"))
    repository.write("shop/kustomization.yaml", "resources: [vm.yaml, gone.yaml]\n")
    repository.commit("One mistake")
    repository.write("shop/kustomization.yaml", "resources: [vm.yaml]\n")
    told = repository.run("diff", "HEAD").stdout
    reason = told.partition("already before; after:")[2].partition("assumed:")[0]
    assert '"nowhere" not found' in reason
    assert "gone.yaml" not in reason


def test_a_long_reason_is_told_once(repository: Repository) -> None:
    """Among the errors; below the VMs of each overlay stands where."""
    repository.write("base/vm.yaml", manifests.vm("web", memory="1Gi"))
    repository.write("base/kustomization.yaml", "resources: [vm.yaml]\n")
    for name in ("prod", "test"):
        text = f"namespace: {name}\nresources: [../../base]\n"
        repository.write(f"overlays/{name}/kustomization.yaml", text)
    repository.commit("Overlays")
    repository.write("base/kustomization.yaml", "resources: [vm.yaml, gone.yaml]\n")
    told = repository.run("diff", "HEAD").stdout
    assert told.count("accumulation err=") == 1
    place = "  after:  base/kustomization.yaml:1:22 of the working tree cannot be built\n"
    assert told.count(place) == 2


def test_a_row_of_markdown_leaves_a_long_reason_to_the_errors(repository: Repository) -> None:
    repository.write("shop/vm.yaml", manifests.vm("shop", namespace="shop", memory="1Gi"))
    repository.write("shop/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.commit("A kustomization")
    repository.write("shop/kustomization.yaml", "resources: [vm.yaml, gone.yaml]\n")
    told = repository.run("diff", "HEAD", "--format", "markdown").stdout.splitlines()
    (row,) = (line for line in told if line.startswith("| `VirtualMachine shop/shop`"))
    assert row.endswith(
        "after: `shop/kustomization.yaml:1:22 of the working tree cannot be built` |"
    )
    assert any(
        line.startswith("- `shop/kustomization.yaml:1:22`") and "gone.yaml" in line for line in told
    )


def test_the_vm_of_a_deleted_chart_stood_in_its_template(repository: Repository, helm: str) -> None:
    """Whatever the folder in which somebody asks holds."""
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n")
    repository.write("chart/values.yaml", "name: shop\n")
    template = manifests.vm("CHOSEN", namespace="shop", memory="1Gi")
    repository.write("chart/templates/vm.yaml", template.replace("CHOSEN", "{{ .Values.name }}"))
    repository.commit("A chart")
    repository.git("rm", "--quiet", "-r", "chart")
    repository.commit("None")
    repository.git("checkout", "--quiet", "HEAD~1")
    told = repository.fine("diff", "HEAD..main", "--helm", helm)
    assert "gone  VirtualMachine shop/shop  chart/templates/vm.yaml:1:1" in told


@pytest.mark.parametrize(
    ("file", "text", "word"),
    [
        ("templates/vm.yaml", "# kubevirt.io\n{{ bad", 'function "bad" not defined'),
        ("values.yaml", "name: [shop\n", "values.yaml"),
        ("Chart.yaml", "apiVersion: v2\nname: [shop\n", "Chart.yaml"),
    ],
)
def test_a_chart_that_nobody_can_read_is_not_gone(
    repository: Repository, helm: str, file: str, text: str, word: str
) -> None:
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n")
    repository.write("chart/values.yaml", "name: shop\n")
    template = manifests.vm("CHOSEN", namespace="shop", memory="1Gi")
    repository.write("chart/templates/vm.yaml", template.replace("CHOSEN", "{{ .Values.name }}"))
    repository.commit("A chart")
    repository.write(f"chart/{file}", text)
    repository.commit("A mistake")
    done = repository.run("diff", "HEAD~1..HEAD", "--helm", helm)
    assert done.returncode == 1
    assert "3 VMs: 1 unrenderable, 2 same" in done.stdout
    assert word in done.stdout
    assert "3 VMs: 1 repaired, 2 same" in repository.fine("diff", "HEAD..HEAD~1", "--helm", helm)


def test_a_new_vm_that_is_refused_can_fail_the_command(repository: Repository) -> None:
    repository.write("vms/odd.yaml", REFUSED)
    words = ("diff", "HEAD", "--emit", "source")
    assert "1 refused" in repository.run(*words).stdout
    assert repository.run(*words, "--fail-on", "refused").returncode == 1


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
@pytest.mark.parametrize("emit", ["source", "vm"])
def test_errors_that_stop_build_are_named(repository: Repository, form: str, emit: str) -> None:
    again = manifests.instancetype("small", namespace="prod", kind=manifests.NAMESPACED)
    repository.write("instancetypes/again.yaml", again)
    words = ("--emit", emit, "--format", form)
    done = repository.run("diff", "HEAD", *words)
    assert done.returncode == 1
    assert "after: 1 error (new), build prints nothing" in done.stdout
    assert "instancetypes/small.yaml:" in done.stdout or "instancetypes/again.yaml:" in done.stdout
    repository.commit("Twice")
    repository.instancetype("other")
    text = repository.fine("diff", "HEAD", *words)  # the change is not to blame
    assert "after: 1 error (as before), build prints nothing" in text
    (repository.folder / "instancetypes" / "again.yaml").unlink()
    assert "build prints nothing" not in repository.fine("diff", "HEAD", *words)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("nowhere",), "unknown revision"),
        (("one", "two"), "unknown revision one"),
        (("HEAD", "HEAD", "HEAD"), "cannot tell what to compare"),
        (("HEAD~1..HEAD..HEAD~2",), "cannot tell what to compare"),
        (("^HEAD",), "unknown revision ^HEAD"),
        (("v*",), "unknown revision v*"),
        (("HEAD:vms..HEAD",), "unknown revision HEAD:vms"),
        (("--output=/dev/null/x", "HEAD"), "/dev/null/x"),
    ],
)
def test_what_cannot_be_compared(repository: Repository, words: tuple[str, ...], text: str) -> None:
    done = repository.run("diff", *words)
    assert done.returncode
    assert text in done.stderr


@pytest.mark.parametrize(
    ("words", "near"),
    [(("mian",), "main"), (("mian~1..HEAD",), "main~1"), (("HEAD..v1.0.1",), "v1.0.0")],
)
def test_of_a_name_that_is_misspelt_the_near_one_is_said(
    repository: Repository, words: tuple[str, ...], near: str
) -> None:
    repository.git("tag", "v1.0.0")
    assert f"  help: did you mean {near}?" in repository.run("diff", *words).stderr


@pytest.mark.parametrize("words", [("master",), ("^HEAD",)])
def test_of_a_name_that_nothing_has_is_said_which_to_take(
    repository: Repository, words: tuple[str, ...]
) -> None:
    assert "  help: name a commit, or a branch that 'git branch --all' lists" in (
        repository.run("diff", *words).stderr
    )


def test_a_revision_is_not_compared_with_what_another_repository_has(
    repository: Repository, tmp_path: Path
) -> None:
    """HEAD of the one in the current folder, or of the other: nobody knows."""
    other = Repository(tmp_path / "other")
    other.write("vm.yaml", manifests.vm("web", memory="1Gi"))
    other.commit("One")
    repository.commit("All")
    for path in ("../other", "../other/vm.yaml", str(tmp_path)):
        done = repository.run("diff", "HEAD", path)
        assert done.returncode == 2
        assert f"{path} is not in the repository of the current folder" in done.stderr
    assert "1 VM: 1 same" in repository.fine("diff", "../other")
    done = process.run("diff", "HEAD", "other", cwd=tmp_path)
    assert "1 VM: 1 same" in done.stdout, "the current folder is in none"
    assert "same" in process.run("diff", "HEAD", "..", cwd=repository.folder / "vms").stdout


@pytest.mark.parametrize("name", ["vms", "v1"])
def test_a_name_of_a_revision_and_of_a_path_is_ambiguous(repository: Repository, name: str) -> None:
    repository.git("branch", "vms")
    repository.git("tag", "v1")
    repository.vm("late")
    repository.write("v1", "not a manifest\n")
    for words in ((name,), (name, "."), ("HEAD", name)):
        done = repository.run("diff", *words)
        assert done.returncode == 2
        assert f"{name} is the name of a revision, and of a file or folder" in done.stderr
    assert "3 VMs: 1 new, 2 same" in repository.fine("diff", name, "--")
    assert "3 VMs: " in repository.run("diff", name, "--", "vms").stdout
    assert "is the name of" not in repository.run("diff", "HEAD", f"./{name}").stderr
    repository.commit("Late")
    assert "3 VMs: 3 same" in repository.run("diff", "--", "vms").stdout
    assert "3 VMs: 3 " in repository.run("diff", "--", "instancetypes", "vms").stdout


def test_two_folders_have_their_own_configuration_or_that_of_the_current_folder(
    tmp_path: Path,
) -> None:
    def configure(folder: str, emit: str) -> None:
        spec = f"apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {{emit: {emit}}}\n"
        (tmp_path / folder / ".virt-render.yaml").write_text(spec, encoding="utf-8")

    def compared(*words: str, at: str = ".") -> str:
        done = process.run("diff", *words, cwd=tmp_path / at)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()[1]

    for side in ("a", "b"):
        (tmp_path / side).mkdir()
        text = manifests.vm("web", namespace="prod", memory="1Gi")
        (tmp_path / side / "web.yaml").write_text(text, encoding="utf-8")
    assert compared("a", "b") == "a -> b, synced with --emit source"
    configure(".", "vm")
    assert compared("a", "b") == "a -> b, synced with --emit vm"
    # What lies above a folder is not read from elsewhere, unless it is named.
    assert compared(".", "../b", at="a") == ". -> ../b, synced with --emit source"
    named = compared(".", "../b", "--config", "../.virt-render.yaml", at="a")
    assert named == ". -> ../b, synced with --emit vm"
    configure("b", "hashed")
    changed = ".virt-render.yaml changed: emit vm -> hashed"
    assert compared("a", "b") == f"a with --emit vm -> b with --emit hashed; {changed}"


CLUSTER = """\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: kubevirt, namespace: kubevirt}
spec:
  configuration:
"""
HYPERCONVERGED = """\
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}
spec:
"""
#: What the cluster says after the change, and the field of the VMI that changes because of it.
SETTINGS = [
    (CLUSTER, "    cpuModel: Haswell\n", ("spec.domain.cpu.model", "next")),
    (CLUSTER, "    evictionStrategy: LiveMigrate\n", ("spec.evictionStrategy", "next")),
    (CLUSTER, "    machineType: pc-q35-rhel9.4.0\n", ("spec.domain.machine.type", "recreate")),
    (CLUSTER, "    vmRolloutStrategy: Stage\n", ("spec.domain.cpu.maxSockets", "next")),
    (CLUSTER, "    liveUpdateConfiguration:\n      maxGuest: 9Gi\n", ("spec.domain.memory.maxGuest", "next")),
    (HYPERCONVERGED, "  defaultCPUModel: Haswell\n", ("spec.domain.cpu.model", "next")),
    (HYPERCONVERGED, "  evictionStrategy: None\n", ("spec.evictionStrategy", "next")),
]  # fmt: skip


@pytest.mark.parametrize("is_input", [True, False], ids=["input", "option"])
@pytest.mark.parametrize(("head", "setting", "expected"), SETTINGS)
def test_a_setting_of_the_cluster_is_named_with_its_line(
    repository: Repository, head: str, setting: str, expected: tuple[str, str], *, is_input: bool
) -> None:
    text = head.rstrip("\n").removesuffix(":") + ": {}\n"
    words: tuple[str, ...] = ("HEAD",)
    if is_input:
        repository.write("cluster.yaml", text)
        repository.commit("A cluster")
        repository.write("cluster.yaml", head + setting)
    else:
        repository.write("../a.yaml", text)
        repository.write("../b.yaml", head + setting)
        words = ("--cluster-config", "../a.yaml..../b.yaml")
    answer = json.loads(repository.fine("diff", *words, "--format", "json"))
    for machine in answer["machines"]:
        found = {
            (change["field"], change["effect"]): change["cause"] for change in machine["changes"]
        }
        cause = found[expected]
        line = f"{head}{setting}".count("\n") if setting.count("\n") > 1 else head.count("\n") + 1
        assert (cause["file"], cause["line"]) == ("cluster.yaml" if is_input else "../b.yaml", line)


def test_a_shallow_clone_says_what_to_fetch(repository: Repository, tmp_path: Path) -> None:
    repository.git("checkout", "--quiet", "-b", "edit")
    repository.vm("late")
    repository.commit("Another")
    repository.git("checkout", "--quiet", "main")
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", "--no-single-branch", "--branch=edit", f"file://{repository.folder}",
         str(tmp_path / "shallow")],
        check=True,
    )  # fmt: skip
    shallow = Repository(tmp_path / "shallow")
    done = shallow.run("diff")
    assert done.returncode
    assert "git fetch --unshallow" in done.stderr


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--depth=1", "origin/main..edit"),
        ("--depth=1", "origin/main...edit"),
        ("--depth=1", "origin/main~1"),
        ("--depth=1", "main"),
        ("--depth=1", "main...HEAD"),
        ("--depth=1", "HEAD~1"),
        ("--depth=1", "ID..HEAD"),
        ("--depth=1", "FETCH_HEAD...HEAD"),
        ("--depth=1", "FETCH_HEAD~1"),
        ("--depth=1", ""),
        ("--depth=1", "mian"),
        ("--single-branch", "origin/main"),
        ("--single-branch", "main"),
        ("--single-branch", ""),
    ],
)
def test_a_clone_of_a_single_branch_says_which_fetch_brings_another(
    repository: Repository, tmp_path: Path, option: str, words: str
) -> None:
    repository.git("checkout", "--quiet", "-b", "edit")
    repository.instancetype("small", cpus=4)
    repository.commit("Larger")
    repository.git("checkout", "--quiet", "main")
    repository.vm("late")
    words = words.replace("ID", repository.commit("Another"))
    branch = ("--branch=edit", f"file://{repository.folder}", str(tmp_path / "alone"))
    subprocess.run(["git", "clone", "--quiet", option, *branch], check=True)
    alone = Repository(tmp_path / "alone")
    if "FETCH_HEAD" in words:
        alone.git("fetch", "--quiet", "--depth=1", "origin", "main")
    _fetch_as_told(alone, *words.split())
    words = words.replace("mian", "main")
    assert "2 recreate" in alone.fine("diff", *words.split())


def test_a_clone_without_its_default_branch_says_what_it_can_compare(
    repository: Repository, tmp_path: Path
) -> None:
    """Whatever that is called: on the remote it is HEAD."""
    repository.git("branch", "--quiet", "-m", "main", "trunk")
    repository.git("checkout", "--quiet", "-b", "edit")
    repository.instancetype("small", cpus=4)
    repository.commit("Larger")
    repository.git("checkout", "--quiet", "trunk")
    branch = ("--branch=edit", f"file://{repository.folder}", str(tmp_path / "alone"))
    subprocess.run(["git", "clone", "--quiet", "--depth=1", *branch], check=True)
    alone = Repository(tmp_path / "alone")
    assert (
        "help: virt-render diff HEAD compares what is not committed; to compare this branch with the default one: git"
        " fetch --unshallow origin HEAD:refs/remotes/origin/HEAD\n"
    ) in alone.run("diff").stderr
    alone.instancetype("small", cpus=8)
    assert "2 recreate" in alone.fine("diff", "HEAD")
    _fetch_as_told(alone)
    assert "spec.domain.cpu.sockets: 2 -> 8" in alone.fine("diff")


def _fetch_as_told(clone: Repository, *words: str) -> None:
    """Fetch what *words*, which fail in *clone*, are told to lack."""
    fetch = re.search(r"git fetch ([^(\n]+)", clone.run("diff", *words).stderr)
    assert fetch
    clone.git("fetch", "--quiet", *fetch[1].split())


@pytest.mark.parametrize("words", [[], ["main"], ["upstream/main...HEAD"]])
def test_a_remote_of_another_name_is_fetched_from(
    repository: Repository, tmp_path: Path, words: list[str]
) -> None:
    repository.git("checkout", "--quiet", "-b", "edit")
    repository.instancetype("small", cpus=4)
    repository.commit("Larger")
    repository.git("checkout", "--quiet", "main")
    branch = ("--branch=edit", f"file://{repository.folder}", str(tmp_path / "alone"))
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", "--origin=upstream", *branch], check=True
    )
    alone = Repository(tmp_path / "alone")
    _fetch_as_told(alone, *words)
    assert "2 recreate" in alone.fine("diff", *words)


def test_nothing_fetched_yet_is_no_branch_of_that_name(repository: Repository) -> None:
    repository.git("remote", "add", "origin", "file:///nowhere")
    assert "help: git fetch origin BRANCH\n" in repository.run("diff", "FETCH_HEAD...HEAD").stderr


def test_without_a_remote_no_fetch_is_told(repository: Repository) -> None:
    repository.git("branch", "--quiet", "-m", "main", "trunk")
    cure = "help: virt-render diff HEAD compares what is not committed\n"
    assert cure in repository.run("diff").stderr


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_commit_that_is_compared_with_itself_is_told(repository: Repository, form: str) -> None:
    words = "both are the same state"
    assert words in repository.fine("diff", "HEAD...HEAD", "--format", form)
    assert words not in repository.fine("diff", "HEAD", "--format", form)


def test_a_branch_of_a_remote_is_looked_for_among_those_of_it(repository: Repository) -> None:
    for name in ("origin/topic", "origin/main"):
        repository.git("update-ref", f"refs/remotes/{name}", "HEAD")
    assert "did you mean origin/main?" in repository.run("diff", "origin/mian").stderr
    assert "did you mean origin/topic?" in repository.run("diff", "orgin/topic").stderr
    assert "did you mean" not in repository.run("diff", "origin/prod").stderr


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("HEAD -- vms/wbe.yaml", "vms/web.yaml"),
        ("HEAD vms/web.yml", "vms/web.yaml"),
        ("HEAD vsm/", "vms"),
        ("-- vms/webb.yaml", "vms/web.yaml"),
        ("HEAD~1..HEAD -- vms/later.yaml", "vms/late.yaml"),
        ("./vsm", "vms"),
        ("mian", "main"),
        ("HEAD -- elsewhere", ""),
    ],
)
def test_a_path_that_neither_state_has_may_be_a_slip(
    repository: Repository, words: str, meant: str
) -> None:
    """Of what one of the states has, be it in the work tree or not."""
    repository.vm("late")
    repository.commit("Another")
    repository.git("rm", "--quiet", "vms/late.yaml")
    done = repository.run("diff", *words.split())
    assert done.returncode
    assert f"help: did you mean {meant}?\n" in done.stderr if meant else "mean" not in done.stderr


def test_a_partial_clone_fetches_nothing(repository: Repository, tmp_path: Path) -> None:
    repository.instancetype("small", cpus=4)
    repository.commit("Larger")
    repository.git("config", "uploadpack.allowFilter", "true")
    subprocess.run(
        ["git", "clone", "--quiet", "--filter=blob:none", "--no-checkout",
         f"file://{repository.folder}", str(tmp_path / "partial")],
        check=True,
    )  # fmt: skip
    partial = Repository(tmp_path / "partial")
    # A choice of the repository's own does not let it fetch either.
    partial.git("config", "protocol.file.allow", "always")
    before = partial.git("count-objects", "-v")
    done = partial.run("diff", "HEAD~1..HEAD")
    assert done.returncode
    assert "the clone is partial" in done.stderr
    assert partial.git("count-objects", "-v") == before
    cure = done.stderr.partition("objects of this commit: git ")[2].split("\n")[0]
    partial.git(*cure.split())
    assert "2 VMs: 2 recreate" in partial.fine("diff", "HEAD~1..HEAD")


def test_a_bare_clone_compares_revisions(repository: Repository, tmp_path: Path) -> None:
    repository.instancetype("small", cpus=4)
    repository.commit("Larger")
    bare = tmp_path / "bare.git"
    subprocess.run(
        ["git", "clone", "--quiet", "--bare", str(repository.folder), str(bare)], check=True
    )
    done = process.run("diff", "HEAD~1..HEAD", "--emit", "vm", cwd=bare)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 VMs: 2 migrate" in done.stdout
    assert "name two revisions" in process.run("diff", "HEAD", cwd=bare).stderr


def test_a_revision_cannot_be_an_option(repository: Repository) -> None:
    done = repository.run("diff", "--", "--output=x..HEAD")
    assert done.returncode
    assert not (repository.folder / "x").exists()


def test_each_kustomization_is_compared_by_itself(tmp_path: Path, kustomize: str) -> None:
    repository = Repository(tmp_path / "repository")
    for name in ("blue", "green"):
        repository.instancetype("small", folder=name)
        repository.vm("web", folder=name)
        resources = "resources: [small.yaml, web.yaml]\n"
        repository.write(f"{name}/kustomization.yaml", resources)
    repository.commit("Two environments")
    repository.instancetype("small", cpus=4, folder="green")
    text = repository.fine("diff", "HEAD", "--emit", "vm", "--kustomize", kustomize).splitlines()
    assert text[0] == "2 VMs: 1 migrate, 1 same"
    assert "green: 1 VM: 1 migrate" in text
    assert "green/small.yaml:" in next(item for item in text if "cpu.sockets" in item)


def test_every_format_is_written_where_it_was_asked_for(repository: Repository) -> None:
    repository.instancetype("small", cpus=4)
    for name, begin in (
        ("json", "{"),
        ("markdown", "### 2 of 2 VMs cannot migrate and wait for a restart\n"),
        ("html", "<!doctype html>"),
    ):
        text = repository.fine("diff", "HEAD", "--emit", "vm", "--format", name)
        assert text.startswith(begin)
        repository.fine("diff", "HEAD", "--emit", "vm", "--format", name, "--output", f"x.{name}")
        assert (repository.folder / f"x.{name}").read_text(encoding="utf-8") == text


def test_an_answer_is_one_file(repository: Repository) -> None:
    done = repository.run("diff", "HEAD", "-o", "nodir/")
    assert (done.returncode, done.stdout) == (3, "")
    assert "nodir/" in done.stderr
    assert not (repository.folder / "nodir").exists()


def test_only_the_release_changes(repository: Repository) -> None:
    text = repository.fine("diff", "--kubevirt", "1.8..1.9").splitlines()
    assert text[1] == ". with KubeVirt 1.8 -> . with KubeVirt 1.9, synced with --emit source"
    assert "2 VMs: " in text[0]
    assert "restart" not in text[1]


def test_only_the_settings_of_the_cluster_change(repository: Repository, tmp_path: Path) -> None:
    for name, model in (("a", "host-model"), ("b", "Haswell")):
        text = f"""\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {{name: kubevirt, namespace: kubevirt}}
spec: {{configuration: {{cpuModel: {model}}}}}
"""
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    content = repository.fine("diff", "--cluster-config", f"{tmp_path}/a.yaml..{tmp_path}/b.yaml")
    assert "2 VMs: 2 next" in content
    assert "spec.domain.cpu.model: host-model -> Haswell" in content


@pytest.mark.parametrize(
    "words",
    [("--kubevirt", "1.2..1.9"), ("--cluster-config", "none..none"), ("--format", "pdf")],
)
def test_unfit_values_are_named(repository: Repository, words: tuple[str, str]) -> None:
    done = repository.run("diff", *words)
    assert done.returncode == 2 or "none" in words[1]
    assert done.returncode
    assert "error VR" in done.stderr


def test_a_pinned_vm_stays_and_is_counted(repository: Repository) -> None:
    repository.fine("pin")
    repository.commit("Pinned")
    repository.instancetype("small", cpus=4)
    text = repository.fine("diff", "HEAD", "--emit", "vm").splitlines()
    assert text[0] == "2 VMs: 2 same"
    assert "pinned by the lock, of those that stay as they are: 2" in text
    edited = text.index("edited, and nothing comes of it for VMs that use it:")
    assert text[edited + 1].startswith("  VirtualMachineInstancetype prod/small: pinned to small@")
    assert text[edited + 2] == "    prod/db, prod/web"


def test_vms_that_are_pinned_anew_alike_stand_together(repository: Repository) -> None:
    """Each has a line of its own in the lock, and what moved is the same."""
    repository.fine("pin")
    repository.commit("Pin")
    repository.instancetype("small", cpus=1)
    repository.commit("Smaller")
    repository.fine("pin", "--upgrade-all")
    text = repository.fine("diff")
    assert "\nrestart  2 VMs\n    prod/db, prod/web\n" in text
    markdown = repository.fine("diff", "--format", "markdown").splitlines()
    assert not any("pins.prod/" in line for line in (text, *markdown))
    assert [line for line in markdown if line.startswith("| `virt") and "pins.*" in line] == [
        (
            "| `virt-render.lock.yaml` `RevisionLock virt-render-lock pins.*.instancetype (VirtualMachineInstancetype"
            " prod/small in instancetypes/small.yaml:1:1)` | `sockets` `2` → `1` | 2 restart |"
        )
    ]
    assert sum("prod/web" in line and "<summary>" in line for line in markdown) == 0


def test_a_deleted_instancetype_is_named_with_the_pin(repository: Repository) -> None:
    repository.fine("pin")
    repository.commit("Pinned")
    repository.write("instancetypes/small.yaml", "")
    text = repository.fine("diff", "HEAD", "--emit", "vm").splitlines()
    assert text[0] == "2 VMs: 2 same"
    deleted = text.index("deleted, and nothing comes of it for VMs that use it:")
    assert text[deleted + 1].startswith("  VirtualMachineInstancetype prod/small: pinned to small@")
    assert text[deleted + 2] == "    prod/db, prod/web"


@pytest.mark.parametrize("releases", ["1.4..1.9", "1.9..1.4"])
def test_an_upgrade_restarts_nothing_where_the_vm_is_written_otherwise_for_it(
    tmp_path: Path, releases: str
) -> None:
    repository = Repository(tmp_path / "repository")
    # Its preference in the catalogue names an architecture only since 1.9.
    text = manifests.vm("web", instancetype="u1.medium")
    repository.write(
        "vm.yaml", text.replace("  template:", "  preference: {name: fedora}\n  template:", 1)
    )
    repository.commit("A VM of the catalogue")
    content = repository.fine("diff", "--emit", "vm", "--kubevirt", releases)
    assert "1 VM: 1 next" in content


def test_the_releases_are_named_where_the_configuration_changes_them(
    repository: Repository,
) -> None:
    for release in ("1.8", "1.9"):
        text = f'apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {{kubevirt: "{release}"}}\n'
        repository.write(".virt-render.yaml", text)
        repository.commit(release)
    first = repository.fine("diff", "HEAD~1..HEAD").splitlines()[1]
    assert "with KubeVirt 1.8 -> " in first
    assert "with KubeVirt 1.9, synced with --emit source" in first


CONFIGURATION = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {}\n"


PREFERENCE = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterPreference
metadata: {name: fine}
spec:
  devices: {preferredRng: {}, preferredDiskBus: virtio}
"""
RUNNING = """\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: kubevirt, namespace: kubevirt}
spec: {}
status: {observedKubeVirtVersion: v1.8.0}
"""


def configured(repository: Repository, spec: str) -> None:
    """Commit a configuration; nothing of it without *spec*."""
    text = CONFIGURATION.replace("{}", f"{{{spec}}}") if spec else ""
    repository.write(".virt-render.yaml", text)
    repository.commit(f"With {spec}")


def test_who_says_first_how_vms_are_synced_changes_none(repository: Repository) -> None:
    """One state says nothing of it; what would be if it was as by itself is counted."""
    repository.write("fine.yaml", PREFERENCE)
    for name in ("db", "web"):
        text = (repository.folder / f"vms/{name}.yaml").read_text(encoding="utf-8")
        own = "  preference: {name: fine}\n  template:"
        disk = "      volumes: [{name: root, containerDisk: {image: disk}}]\n      domain:"
        text = text.replace("  template:", own, 1).replace("      domain:", disk, 1)
        repository.write(f"vms/{name}.yaml", text)
    repository.commit("With a preference")
    configured(repository, "emit: vm")
    adopted = "emit none -> vm (taken for both states, since one says nothing of it)"
    for words in ("HEAD~1..HEAD", "HEAD..HEAD~1"):
        counts, header = repository.fine("diff", words).splitlines()[:2]
        assert counts == "2 VMs: 2 same"
        assert "synced with --emit vm (" in header
        assert "would fare otherwise with --emit source in " in header
        assert "(taken for both states, since one says nothing of it)" in header
    assert adopted in repository.fine("diff", "HEAD~1..HEAD")
    assert adopted in repository.fine("diff", "HEAD~1..HEAD", "--format", "markdown")
    document = json.loads(repository.fine("diff", "HEAD~1..HEAD", "--format", "json"))
    schema = json.loads((ROOT / "schemas/impact.schema.json").read_bytes())
    jsonschema.validate(document, schema)
    assert document["settings"] == [
        {"key": "emit", "before": None, "after": "vm", "applied": True, "adopted": True}
    ]
    assert document["otherwise"]["emit"] == "source"
    assert document["otherwise"]["state"] == document["before"]["name"]
    # Where both say it, a switch is one.
    configured(repository, "emit: source")
    switched = repository.fine("diff", "HEAD~1..HEAD").splitlines()[1]
    assert "with --emit vm -> " in switched
    assert "taken for both" not in switched


def test_who_says_first_which_release_runs_upgrades_none(repository: Repository) -> None:
    configured(repository, 'kubevirt: "1.6"')
    text = repository.fine("diff", "HEAD~1..HEAD").splitlines()
    assert text[0] == "2 VMs: 2 same"
    assert "with KubeVirt" not in text[1]
    assert "kubevirt none -> 1.6 (taken for both states" in text[1]
    # A resource of the cluster says it too.
    repository.git("rm", "--quiet", ".virt-render.yaml")
    repository.write("kubevirt.yaml", RUNNING)
    repository.commit("A cluster")
    configured(repository, 'kubevirt: "1.9"')
    text = repository.fine("diff", "HEAD~1..HEAD").splitlines()
    assert "taken for both" not in text[1]


@pytest.mark.parametrize("words", ["HEAD~1..HEAD", "HEAD..HEAD~1"])
def test_a_resource_that_tells_the_release_upgrades_none(
    words: str, repository: Repository
) -> None:
    """It comes, or goes elsewhere: memory of a VM is asked for otherwise since KubeVirt 1.9."""
    repository.write("platform/kubevirt.yaml", RUNNING.replace("1.8.0", "1.6.2"))
    repository.commit("A cluster")
    counts, header = repository.fine("diff", words).splitlines()[:2]
    assert counts == "2 VMs: 2 none"  # its other settings are those of the input
    why = "KubeVirt 1.6, since KubeVirt kubevirt/kubevirt says that it is 1.6.2"
    assert header.endswith(f"; {why} (taken for both states, since one says nothing of it)")


def test_a_definition_says_what_became_of_it(repository: Repository) -> None:
    repository.instancetype("old")
    repository.instancetype("kept")
    repository.commit("Two more")
    repository.git("rm", "--quiet", "instancetypes/old.yaml")
    repository.instancetype("new")
    repository.instancetype("kept", cpus=7)
    document = json.loads(repository.fine("diff", "HEAD", "--format", "json"))
    schema = json.loads((ROOT / "schemas/impact.schema.json").read_bytes())
    jsonschema.validate(document, schema)
    found = {item["resource"]["name"]: item["became"] for item in document["definitions"]}
    assert found == {"old": "deleted", "kept": "changed", "new": "new"}


def test_the_other_way_to_sync_is_named_where_nobody_chose_one(repository: Repository) -> None:
    repository.instancetype("small", cpus=4)
    text = repository.fine("diff", "HEAD").splitlines()[1]
    assert text.endswith("(2 VMs would fare otherwise with --emit vm)")
    assert "otherwise" not in repository.fine("diff", "HEAD", "--emit", "vm")


def test_a_revision_that_a_shallow_clone_lacks_says_what_to_fetch(
    repository: Repository, tmp_path: Path
) -> None:
    base = repository.git("rev-parse", "HEAD").strip()
    repository.instancetype("small", cpus=4)
    repository.commit("Larger")
    shallow = Repository(tmp_path / "shallow")
    shallow.git("fetch", "--quiet", "--depth=1", f"file://{repository.folder}", "main:edit")
    done = shallow.run("diff", f"{base}..edit")
    assert done.returncode
    assert f"unknown revision {base}," in done.stderr
    assert "help: the clone is shallow: git fetch --unshallow" in done.stderr
    shallow.git("fetch", "--quiet", "--depth=1", f"file://{repository.folder}", base)
    assert "2 VMs: 2 recreate" in shallow.fine("diff", f"{base}..edit")


@pytest.mark.parametrize(
    ("words", "effect"), [("HEAD~1..HEAD", "unrenderable"), ("HEAD..HEAD~1", "repaired")]
)
def test_a_file_that_one_state_cannot_read_takes_its_own_vms_along(
    repository: Repository, words: str, effect: str
) -> None:
    repository.write(
        "vms/two.yaml",
        manifests.vm("one", memory="1Gi") + "---\n" + manifests.vm("log", memory="1Gi"),
    )
    repository.commit("Another one")
    repository.write(
        "vms/two.yaml", manifests.vm("one", memory="1Gi") + "---\nkind: [ # of kubevirt.io\n"
    )
    repository.commit("A mistake")
    done = repository.run("diff", words)
    assert done.stdout.splitlines()[0] == f"4 VMs: 1 {effect}, 3 same"
    assert f"{effect}  VirtualMachine log" in done.stdout
    assert done.returncode == (effect == "unrenderable")
    broken = repository.git("rev-parse", "--short=10", "HEAD").strip()
    (machine,) = (
        machine
        for machine in json.loads(repository.run("diff", words, "--format", "json").stdout)[
            "machines"
        ]
        if machine["effects"] == [effect]
    )
    assert f" of {broken} cannot be read: " in machine["messages"][0]
    assert machine["messages"][0].startswith("vms/two.yaml:")
    # Of a file that can be read now everything is told.
    assert ("not compared" in done.stdout) == (effect == "unrenderable")


@pytest.mark.parametrize(
    ("words", "effect"), [("HEAD~1..HEAD", "unrenderable"), ("HEAD..HEAD~1", "repaired")]
)
def test_a_vm_of_such_a_file_had_its_instancetype(
    repository: Repository, words: str, effect: str
) -> None:
    """What it refers to stands in another file, and is no error of the state that can be read."""
    repository.vm("log", instancetype="small")
    repository.commit("Another one")
    file = repository.folder / "vms" / "log.yaml"
    file.write_text(file.read_text("utf-8") + "  broken: [\n", "utf-8")
    repository.commit("A mistake")
    output = repository.run("diff", words).stdout
    assert output.splitlines()[0] == f"3 VMs: 1 {effect}, 2 same"
    assert "already before" not in output
    assert "not found" not in output


def test_an_error_of_such_a_vm_has_its_line(repository: Repository) -> None:
    repository.vm("log", instancetype="nowhere")
    repository.commit("Another one")
    file = repository.folder / "vms" / "log.yaml"
    text = file.read_text("utf-8")
    file.write_text(text + "  broken: [\n", "utf-8")
    repository.commit("A mistake")
    output = repository.run("diff", "HEAD..HEAD~1").stdout
    assert "after: 1 error (new), build prints nothing; 1 error gone" in output
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "nowhere" in each)
    assert f"\n  vms/log.yaml:{line}:" in output
    assert '"nowhere" not found' in output


@pytest.mark.parametrize("emit", ["source", "vm"])
def test_a_definition_that_one_state_cannot_read_is_in_both_for_other_inputs(
    repository: Repository, kustomize: str, emit: str
) -> None:
    """Nobody has deleted it, and a kustomization looks it up elsewhere."""
    repository.write("vms/kustomization.yaml", "resources: [web.yaml, db.yaml]\n")
    repository.commit("A kustomization")
    definition = repository.folder / "instancetypes" / "small.yaml"
    definition.write_text(definition.read_text("utf-8") + "  broken: [\n", "utf-8")
    repository.vm("db", instancetype="nowhere")
    repository.commit("Two mistakes")
    done = repository.run("diff", "HEAD~1..HEAD", "--emit", emit, "--kustomize", kustomize)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].endswith(", 1 same")
    assert '"small" not found' not in done.stdout
    assert "\n  instancetypes/small.yaml:" in done.stdout
    assert "used by no VM" not in done.stdout


def test_a_lock_means_that_vms_are_synced_rendered(repository: Repository) -> None:
    """The edited instancetype of pinned VMs is no reason to make them anew."""
    repository.fine("pin", ".")
    repository.commit("Pinned")
    repository.instancetype("small", cpus=4)
    text = repository.fine("diff", "HEAD").splitlines()
    assert text[0] == "2 VMs: 2 same"
    assert ", synced with --emit vm, since a lock says so" in text[1]
    assert "2 recreate" in repository.fine("diff", "HEAD", "--emit", "source")
    repository.write(
        ".virt-render.yaml",
        "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {emit: source}\n",
    )
    assert "synced with --emit source" in repository.fine("diff", "HEAD")


def test_vms_of_a_lock_that_was_edited_cannot_be_rendered(repository: Repository) -> None:
    """Nothing is printed of them; where they are synced as they are written, the lock has no say."""
    repository.fine("pin", ".")
    repository.commit("Pinned")
    lock = repository.folder / "virt-render.lock.yaml"
    lock.write_text(lock.read_text().replace("guest: 2", "guest: 3", 1))
    done = repository.run("diff", "HEAD")
    assert done.returncode == 1
    assert done.stdout.startswith("2 VMs: 2 unrenderable\n"), done.stdout
    assert "no longer pinned" not in done.stdout
    assert "not compared: . (VR603)" in done.stdout
    written = repository.run("diff", "HEAD", "--emit", "source").stdout
    assert written.startswith("2 VMs: 2 same\n"), written


def test_the_other_way_to_sync_is_the_one_that_is_named(repository: Repository) -> None:
    """VMs with a lock are synced rendered already: with --emit vm nothing else becomes of them."""
    repository.write("other/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.write("other/vm.yaml", manifests.vm("other", memory="1Gi"))
    lock = repository.folder / "other/virt-render.lock.yaml"
    repository.fine("pin", ".")
    lock.unlink()
    repository.commit("Pinned")
    repository.instancetype("small", cpus=4)
    repository.fine("pin", ".", "--upgrade-all")
    lock.unlink()
    text = repository.fine("diff", "HEAD")
    assert text.startswith("3 VMs: 2 ")
    assert "and with a lock as vm" in text.splitlines()[1]
    assert "otherwise" not in text


def test_what_was_not_looked_at_is_named(repository: Repository) -> None:
    """A chart without a VM by default, say."""
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: none\nversion: 1.0.0\n")
    repository.write("chart/templates/vm.yaml", "{{ if .Values.isOn }}\n# kubevirt.io\n{{ end }}\n")
    repository.commit("A chart")
    repository.vm("more")
    text = repository.fine("diff", "HEAD", "--helm", "auto").splitlines()
    assert "; not looked at: 1 Helm chart" in text[1]


def test_a_vm_that_helm_prints_without_its_name_is_not_gone(repository: Repository) -> None:
    """Whoever fills in the chart may name it: `check` counts the chart, and says nothing of what it holds."""
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: win\nversion: 1.0.0\n")
    machine = manifests.vm("win", memory="1Gi").replace("name: win", "name: {{ .Values.name }}")
    repository.write("chart/templates/vm.yaml", machine)
    repository.write("chart/values.yaml", "name: win\n")
    repository.commit("A chart")
    repository.write("chart/values.yaml", "cores: 1\n")
    done = repository.run("diff", "HEAD", "--helm", "auto")
    assert done.returncode == Exit.FINDINGS
    title, about = done.stdout.splitlines()[:2]
    assert title == "3 VMs: 1 unrenderable, 2 same"
    assert "not compared: chart (VR127); not looked at: 1 chart that cannot be filled in" in about
    done = repository.run("check", "--helm", "auto", "--verbose", ".")
    assert done.returncode == Exit.OK, done.stdout
    assert "not looked at: 1 chart that cannot be filled in (-v)" in done.stderr
    assert "chart: info VR118" in done.stdout
    assert "metadata.name of VirtualMachine is missing" in done.stdout
    repository.write("chart/templates/other.yaml", manifests.vm("other", memory="1Gi"))
    done = repository.run("check", "--helm", "auto", ".")
    assert done.returncode == Exit.OK, done.stdout
    assert done.stderr.startswith("3 VMs in ")
    assert "not looked at: 1 chart that cannot be filled in (-v)" in done.stderr


def test_a_data_volume_is_no_vm(repository: Repository) -> None:
    volume = """\
apiVersion: cdi.kubevirt.io/v1beta1
kind: DataVolume
metadata: {name: disk}
spec:
  source: {blank: {}}
  storage: {resources: {requests: {storage: SIZE}}}
"""
    repository.write("vms/disk.yaml", volume.replace("SIZE", "1Gi"))
    repository.commit("A disk")
    repository.write("vms/disk.yaml", volume.replace("SIZE", "2Gi"))
    done = repository.run("diff", "HEAD")
    assert done.stdout.splitlines()[0] == "2 VMs and 1 DataVolume: 1 refused, 2 same"


def test_data_volumes_fare_alike_however_vms_are_synced(repository: Repository) -> None:
    """Also those that other inputs have, of the names to which VMs refer."""
    volume = """\
apiVersion: cdi.kubevirt.io/v1beta1
kind: DataVolume
metadata: {name: web}
spec:
  source: {blank: {}}
  storage: {resources: {requests: {storage: SIZE}}}
"""
    vm = manifests.vm("web", memory="1Gi")
    disk = "      volumes: [{name: root, dataVolume: {name: web}}]\n      domain:"
    repository.write("base/kustomization.yaml", "resources: [vm.yaml, disk.yaml]\n")
    repository.write("base/vm.yaml", vm.replace("      domain:", disk))
    repository.write("base/disk.yaml", volume.replace("SIZE", "2Gi"))
    for name in ("prod", "stage"):
        text = f"namespace: {name}\nresources: [../../base]\n"
        repository.write(f"over/{name}/kustomization.yaml", text)
    repository.commit("Disks")
    repository.write("base/disk.yaml", volume.replace("SIZE", "1Gi"))
    done = repository.run("diff", "HEAD")
    assert done.stdout.splitlines()[0] == "4 VMs and 2 DataVolumes: 2 refused, 4 same"
    assert "otherwise" not in done.stdout


def test_a_new_warning_is_told(repository: Repository) -> None:
    """Of what a guest boots with, and of quotas too: not in JSON alone."""
    text = manifests.vm("more", memory="1Gi").replace("runStrategy: Always", "running: true")
    repository.write("vms/more.yaml", text)
    content = repository.fine("diff", "HEAD").splitlines()
    assert "1 new warning" in content
    assert "  vms/more.yaml:" in content[content.index("1 new warning") + 1]
    markdown = repository.fine("diff", "HEAD", "--format", "markdown")
    assert "1 new warning:\n- `vms/more.yaml:" in markdown
    repository.commit("As it was")
    assert "new warning" not in repository.fine("diff", "HEAD")


def test_what_guests_boot_with_is_news_where_it_changes(repository: Repository) -> None:
    """Where nothing but a definition does, no text shows what was there before; JSON lists both states."""
    guest = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: guest}
spec:
  runStrategy: Always
  instancetype: {name: types}
  template:
    spec:
      domain: {devices: {disks: [{name: init, disk: {bus: virtio}}]}}
      volumes: [{name: init, cloudInitNoCloud: {userData: "#cloud-config\\nruncmd: COMMANDS"}}]
"""
    repository.write("vms/guest.yaml", guest.replace("COMMANDS", "[ls]"))
    repository.write("vms/types.yaml", manifests.instancetype("types"))
    repository.commit("A guest")
    repository.write("vms/guest.yaml", guest.replace("COMMANDS", "7"))
    assert "1 new warning" in repository.fine("diff", "HEAD")
    repository.commit("What it runs")
    repository.write("vms/types.yaml", manifests.instancetype("types", memory="3Gi"))
    assert "new warning" not in repository.fine("diff", "HEAD")
    found = json.loads(repository.fine("diff", "HEAD", "--format", "json"))["diagnostics"]
    for side in ("before", "after"):
        assert "VR450" in {each["code"] for each in found[side]}, found


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("HEAD~1..HEAD", 1, "after: 1 error (new), build prints nothing\n  vms/odd.yaml:1:"),
        ("HEAD..HEAD~1", 0, "1 error gone"),
    ],
)
def test_a_state_that_cannot_be_read_is_part_of_the_answer(
    repository: Repository, words: str, status: int, message: str
) -> None:
    repository.write("vms/odd.yaml", "kind: [ # of kubevirt.io")
    repository.commit("A mistake")
    done = repository.run("diff", words)
    assert (done.returncode, done.stderr) == (status, "")
    assert message in done.stdout
    assert "2 VMs: 2 same" in done.stdout
    assert "; not compared: vms/odd.yaml (VR101)" in done.stdout
    assert "not compared: vms/odd.yaml (VR101)" in repository.fine("diff", "HEAD..HEAD")


def test_what_a_branch_did_since_it_left(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "edit")
    repository.vm("late")
    repository.commit("A third VM")
    repository.git("checkout", "--quiet", "main")
    repository.vm("other")
    repository.commit("What others did")
    assert "3 VMs: 1 new, 2 same" in repository.fine("diff", "main...edit")
    assert "4 VMs: 1 gone, 1 new, 2 same" in repository.fine("diff", "main..edit")


def test_a_path_need_not_be_there_now(repository: Repository, tmp_path: Path) -> None:
    repository.git("rm", "--quiet", "-r", "vms")
    repository.commit("No VMs")
    bare = tmp_path / "bare.git"
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    for folder in (repository.folder, bare):
        done = process.run("diff", "HEAD~1..HEAD", "vms", cwd=folder)
        assert (done.returncode, done.stdout.splitlines()[:1]) == (0, ["2 VMs: 2 gone"])
        done = process.run("diff", "HEAD~1..HEAD", "nowhere", cwd=folder)
        assert "neither state has nowhere" in done.stderr


CONFIG = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec:\n"


def test_what_is_none_of_kubevirts_is_not_read(repository: Repository) -> None:
    repository.write("other/values.yaml", "a: {{ .b }}\n")
    repository.write("other/twice.yaml", "a: 1\na: 2\n")
    repository.commit("What no VM reads")
    repository.vm("web", instancetype="large")
    repository.instancetype("large", cpus=4)
    assert (
        repository.fine("diff", "HEAD", "--emit", "vm").splitlines()[0]
        == "2 VMs: 1 migrate, 1 same"
    )


@pytest.mark.parametrize("is_reported", [True, False])
def test_folders_that_are_applied_by_themselves_stay_apart(
    repository: Repository, *, is_reported: bool
) -> None:
    """The second VM of a name makes its folder a root, and that of the first, which had been none."""
    if is_reported:
        repository.write(".virt-render.yaml", f"{CONFIG}  roots: [team-*]\n")
    repository.instancetype("small", folder="team-a")
    repository.vm("app", folder="team-a")
    repository.commit("One team")
    repository.vm("app", folder="team-b")
    lines = repository.fine("diff", "HEAD").splitlines()
    assert lines[0] == "4 VMs: 1 new, 3 same"
    assert "team-b: 1 VM: 1 new" in lines


def test_what_is_excluded_is_not_compared(repository: Repository) -> None:
    repository.write(".virt-render.yaml", f"{CONFIG}  exclude: [old]\n")
    repository.vm("gone", folder="old")
    repository.commit("Excluded")
    repository.vm("gone", folder="old", instancetype="large")
    assert repository.fine("diff", "HEAD").splitlines()[0] == "2 VMs: 2 same"


def test_an_edit_in_another_folder_is_named(tmp_path: Path, kustomize: str) -> None:
    repository = Repository(tmp_path / "repository")
    repository.instancetype("small", folder="platform")
    repository.write("platform/kustomization.yaml", "resources: [small.yaml]\n")
    repository.vm("web", folder="apps")
    repository.write("apps/kustomization.yaml", "resources: [web.yaml]\n")
    repository.commit("Types of their own")
    repository.instancetype("small", cpus=4, folder="platform")
    text = repository.fine("diff", "HEAD", "--emit", "vm", "--kustomize", kustomize).splitlines()
    assert text[0] == "1 VM: 1 migrate"
    assert "platform/small.yaml:" in next(item for item in text if "cpu.sockets" in item)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((".", "../missing"), "there is no ../missing"),
        (("../missing", "../other"), "there is no ../missing and no ../other"),
        (("/missing",), "there is no /missing"),
        (("mian",), "unknown revision mian, and no file or folder is called so"),
        (("HEAD", "missing/"), "neither state has missing/"),
        (("HEAD~1..HEAD", "./missing"), "neither state has ./missing"),
        (("HEAD", "--", "missing"), "neither state has missing"),
        (("vms", "vms/web.yaml"), "vms/web.yaml is no folder, and two folders can be compared"),
    ],
)
def test_what_is_missing_is_named_as_it_was_written(
    repository: Repository, words: tuple[str, ...], text: str
) -> None:
    """A path that leads up, or from the root, was taken for a range of revisions."""
    repository.write("more.txt", "")
    repository.commit("More")
    done = repository.run("diff", *words)
    status = Exit.UNREADABLE if "neither" in text else Exit.USAGE
    assert (done.returncode, done.stdout) == (status, "")
    first, second = done.stderr.splitlines()
    assert first.endswith(f": {text}")
    assert second.startswith("  help: ")


def test_what_is_neither_a_folder_nor_a_revision_is_named(tmp_path: Path) -> None:
    outside = Repository(tmp_path / "outside")
    shutil.rmtree(outside.folder / ".git")
    (outside.folder / "lab").mkdir()
    done = outside.run("diff", "lab", "gone")
    assert done.returncode
    assert "gone is neither a folder nor a revision: lab is in no repository of git" in done.stderr
    done = outside.run("diff")
    assert "git: . is in no repository\n  help: name two folders, or a path in a" in done.stderr
