"""An input that cannot be read takes away itself: each command answers for the others, and names it."""

import json
import subprocess
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from tests.support import process
from tests.support.asking import without_last_line
from tests.support.manifests import instancetype, put, vm
from tests.support.repository import Repository

REMOTE = "resources: [https://example.invalid/operator.yaml, vm.yaml]\n"
LOCK = "virt-render.lock.yaml"
CONFIG = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two overlays, one kustomization that is not built, and a VM that KubeVirt refuses."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    put(tmp_path / "base/vm.yaml", vm(name="web", memory="1Gi"))
    put(tmp_path / "base/kustomization.yaml", "resources: [vm.yaml]\n")
    for name in ("prod", "test"):
        put(tmp_path / f"{name}/kustomization.yaml", f"namespace: {name}\nresources: [../base]\n")
    put(tmp_path / "infra/vm.yaml", vm(name="infra", memory="1Gi"))
    put(tmp_path / "infra/kustomization.yaml", REMOTE)
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "-c", "user.name=x", "-c", "user.email=", "commit", "--quiet", "-m", "x")


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return process.run(*words, cwd=folder)


def test_diff_compares_the_others(repository: Path) -> None:
    put(repository / "base/vm.yaml", vm(name="web", memory="2Gi"))
    done = run(repository, "diff", "HEAD")
    assert done.returncode == Exit.OK
    assert "; not compared: infra (VR122)" in done.stdout.splitlines()[1]
    assert "2 VMs: 2 restart" in done.stdout
    assert done.stderr == ""
    listed = json.loads(run(repository, "diff", "HEAD", "--format", "json").stdout)
    assert listed["uncompared"] == [
        {"name": "infra", "codes": ["VR122"], "before": True, "after": True, "changed": False}
    ]
    assert [machine["resource"]["namespace"] for machine in listed["machines"]] == ["prod", "test"]
    markdown = run(repository, "diff", "HEAD", "--format", "markdown").stdout
    assert "not compared: infra (VR122)" in markdown.splitlines()[4]


def test_what_a_change_makes_unreadable_is_an_error(repository: Path) -> None:
    put(repository / "infra/kustomization.yaml", "resources: [vm.yaml]\n")
    commit(repository)
    put(repository / "infra/kustomization.yaml", REMOTE)
    done = run(repository, "diff", "HEAD")
    assert done.returncode == Exit.FINDINGS
    assert "1 unrenderable" in done.stdout
    assert done.stdout.splitlines()[1].endswith("; not compared: infra (VR122)")
    listed = json.loads(run(repository, "diff", "HEAD", "--format", "json").stdout)
    assert listed["uncompared"] == [
        {"name": "infra", "codes": ["VR122"], "before": False, "after": True, "changed": True}
    ]


@pytest.mark.parametrize(
    ("broken", "edited", "name"),
    [
        ({"infra/kustomization.yaml": REMOTE}, "infra/vm.yaml", "infra"),
        (
            {"prod/kustomization.yaml": "namespace: prod\nresources: [../base, nowhere.yaml]\n"},
            "base/vm.yaml",
            "prod",
        ),
        ({"infra/kustomization.yaml": "resources: [vm.yaml\n"}, "infra/vm.yaml", "infra"),
        (
            {"loose/bad.yaml": vm("bad") + "kind: VirtualMachine\n"},
            "loose/bad.yaml",
            "loose/bad.yaml",
        ),
    ],
)
def test_what_changes_in_what_neither_state_can_read_is_not_known(
    broken: dict[str, str], edited: str, name: str, repository: Path
) -> None:
    """Neither the first line nor the status says that nothing changes; that another file changes is no reason."""
    put(repository / "infra/kustomization.yaml", "resources: [vm.yaml]\n")
    for file, text in broken.items():
        put(repository / file, text)
    put(repository / "notes.yaml", "kind: Note\n")
    commit(repository)
    put(repository / "notes.yaml", "kind: Notes\n")
    done = run(repository, "diff", "HEAD", "--exit-code")
    assert (done.returncode, "cannot be compared" in done.stdout) == (Exit.OK, False)
    with (repository / edited).open("a", encoding="utf-8") as stream:
        stream.write("# edited\n")
    unclear = f"{name} changed and cannot be compared"
    assert run(repository, "diff", "HEAD").returncode == Exit.OK
    for words in (["--exit-code"], ["--fail-on", "gone"]):
        done = run(repository, "diff", "HEAD", *words)
        assert done.returncode == Exit.FINDINGS
        assert done.stdout.splitlines()[0].endswith(f" same; {unclear}")
    listed = json.loads(run(repository, "diff", "HEAD", "--format", "json").stdout)["uncompared"]
    assert [item["changed"] for item in listed if item["name"] == name] == [True]
    markdown = run(repository, "diff", "HEAD", "--format", "markdown").stdout
    title = f"### `{name}` changed and cannot be compared; nothing changes for any other VM\n"
    assert markdown.startswith(title)
    page = run(repository, "diff", "HEAD", "--format", "html").stdout
    assert f"<h1>{unclear}; nothing changes for any other VM</h1>" in page


@pytest.mark.parametrize(
    ("settings", "mention", "status"),
    [
        ("emit: vm", "u.small", Exit.FINDINGS),
        ("emit: source", "u.small", Exit.OK),
        ("emit: vm", "u.small-2", Exit.OK),
    ],
)
def test_what_nobody_can_read_may_use_a_definition_that_changes(
    settings: str, mention: str, status: Exit, repository: Path
) -> None:
    """That no VM uses it is said only where its name stands in nothing that is not compared."""
    put(repository / ".virt-render.yaml", f"{CONFIG}spec: {{{settings}}}\n")
    put(repository / "definitions.yaml", instancetype("u.small"))
    put(repository / "infra/kustomization.yaml", REMOTE)
    put(
        repository / "infra/vm.yaml",
        vm("web", instancetype=mention),
    )
    commit(repository)
    put(repository / "definitions.yaml", instancetype("u.small", memory="3Gi"))
    unclear = "infra changed and cannot be compared"
    named = "1 definition changed, mentioned in what is not compared: VirtualMachineClusterInstancetype u.small"
    done = run(repository, "diff", "HEAD", "--exit-code")
    assert done.returncode == status
    assert (unclear in done.stdout.splitlines()[0]) is (status == Exit.FINDINGS)
    is_mentioned = mention == "u.small"
    assert (named in done.stdout.splitlines()) is is_mentioned
    assert ("used by no VM here" in done.stdout) is not is_mentioned
    listed = json.loads(run(repository, "diff", "HEAD", "--format", "json").stdout)
    assert [item["used"] for item in listed["definitions"]] == [None if is_mentioned else False]
    in_code = named.replace(": ", ": `") + "`"
    for style, text in (("markdown", in_code), ("html", named)):
        assert (text in run(repository, "diff", "HEAD", "--format", style).stdout) is is_mentioned


@pytest.mark.parametrize("word", ["kubevirt.io", "others.io"])
def test_the_change_of_a_chart_whose_dependency_is_not_there_cannot_be_compared(
    word: str, tmp_path: Path, helm: str
) -> None:
    """Where it may be of KubeVirt's; unchanged it is passed over, as by check."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    wanted = "dependencies: [{name: common, version: 1.x, repository: 'https://example.invalid'}]\n"
    put(tmp_path / "chart/Chart.yaml", f"apiVersion: v2\nname: web\nversion: 1.0.0\n{wanted}")
    put(tmp_path / "chart/values.yaml", "memory: 1Gi\n")
    text = vm(memory="1Gi").replace("1Gi", "{{ .Values.memory }}").replace("kubevirt.io", word)
    put(tmp_path / "chart/templates/vm.yaml", text)
    commit(tmp_path)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return process.run(*words, cwd=tmp_path, VIRT_RENDER_HELM=helm)

    assert run("check", ".").returncode == Exit.OK
    done = run("diff", "HEAD", "--exit-code")
    assert (done.returncode, "compared" in done.stdout) == (Exit.OK, False)
    put(tmp_path / "chart/values.yaml", "memory: 2Gi\n")
    is_known = word == "others.io"
    assert run("diff", "HEAD").returncode == Exit.OK
    done = run("diff", "HEAD", "--exit-code")
    assert done.returncode == (Exit.OK if is_known else Exit.FINDINGS), done.stdout
    first = "0 VMs" if is_known else "0 VMs; chart changed and cannot be compared"
    assert done.stdout.splitlines()[0] == first


def test_a_file_that_nobody_can_read_is_named_where_nothing_stands_beside_it(
    repository: Path,
) -> None:
    put(repository / "definitions/small.yaml", BROKEN)
    commit(repository)
    put(repository / "base/vm.yaml", vm(name="web", memory="2Gi"))
    second = run(repository, "diff", "HEAD").stdout.splitlines()[1]
    assert second.endswith("; not compared: definitions/small.yaml (VR102), infra (VR122)")


def test_diff_compares_the_files_beside_one_that_cannot_be_read(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    broken = vm(name="bad", memory="1Gi") + "kind: VirtualMachine\n"
    put(tmp_path / "vms/web.yaml", vm(name="web", memory="1Gi"))
    put(tmp_path / "vms/bad.yaml", broken)
    commit(tmp_path)
    put(tmp_path / "vms/web.yaml", vm(name="web", memory="2Gi"))
    for folder, item in ((".", "vms/bad.yaml"), ("vms", "bad.yaml")):
        done = run(tmp_path, "diff", "HEAD", folder)
        assert done.returncode == Exit.OK
        assert f"; not compared: {item} (VR102)" in done.stdout.splitlines()[1]
        assert "1 VM: 1 restart" in done.stdout
    (tmp_path / "vms/web.yaml").unlink()
    commit(tmp_path)
    done = run(tmp_path, "diff", "HEAD")
    assert done.returncode == Exit.FINDINGS
    assert "VR102" in done.stderr


def test_a_broken_file_hides_nothing_that_it_does_not_mention(tmp_path: Path) -> None:
    """An instancetype may stand in a file that cannot be read, if that has its name."""
    text = "kind: ConfigMap\nmetadata: {labels: [a}\ndata: {note: kubevirt.io NAME}\n"
    put(tmp_path / "vm.yaml", vm(instancetype="huge"))
    for name, is_said in (("other", True), ("huge", False)):
        put(tmp_path / "broken.yaml", text.replace("NAME", name))
        for words in (("check", "."), ("check", "vm.yaml", "--root", ".")):
            printed = run(tmp_path, *words).stdout
            assert ("vm.yaml:8:5: error VR201" in printed) == is_said, words


def test_what_follows_from_a_missing_definition_goes_with_it(tmp_path: Path) -> None:
    """Where the instancetype may stand in what cannot be read, it may be as large as the preference requires."""
    requires = vm(instancetype="huge").replace(
        "  template:\n", "  preference: {name: demanding}\n  template:\n"
    )
    put(tmp_path / "vm.yaml", requires)
    put(tmp_path / "good.yaml", vm("good", memory="1Gi"))
    named = instancetype("demanding", kind="VirtualMachineClusterPreference").partition("spec:")[0]
    put(tmp_path / "demanding.yaml", f"{named}spec: {{requirements: {{cpu: {{guest: 2}}}}}}\n")
    put(tmp_path / "broken.yaml", "data: [a}\nkubevirt.io: huge\n")
    printed = run(tmp_path, "check", ".").stdout
    assert "VR101" in printed
    assert "VR201" not in printed
    assert "VR401" not in printed
    pinned = run(tmp_path, "pin", ".")
    assert "VR401" not in pinned.stderr
    assert "good" in (tmp_path / LOCK).read_text("utf-8")
    (tmp_path / LOCK).unlink()
    (tmp_path / "broken.yaml").unlink()
    assert "VR401" in run(tmp_path, "check", ".").stdout


@pytest.mark.parametrize("target", ["nowhere.yaml", "/dev/null", "/etc"])
def test_what_a_change_makes_a_link_that_cannot_be_followed_is_not_gone(
    target: str, repository: Path
) -> None:
    """Nobody has deleted the VMs of the file, of a folder, and of a kustomization."""
    put(repository / "loose/web.yaml", vm(name="loose", memory="1Gi"))
    put(repository / "lists/kustomization.yaml", "resources: [vm.yaml]\n")
    put(repository / "lists/vm.yaml", vm(name="listed", memory="1Gi"))
    commit(repository)
    changed = [repository / "lists/vm.yaml", repository / "loose/web.yaml"]
    if target == "/etc":
        (repository / "loose/web.yaml").unlink()
        (repository / "loose").rmdir()
        changed[1] = repository / "loose"
    for path in changed:
        path.unlink(missing_ok=True)
        path.symlink_to(target)
    commit(repository)
    done = run(repository, "diff", "HEAD~1..HEAD")
    assert done.returncode == Exit.FINDINGS
    assert done.stdout.startswith("4 VMs: 2 unrenderable, 2 same\n")
    listed = json.loads(run(repository, "diff", "HEAD~1..HEAD", "--format", "json").stdout)
    assert len(listed["errors"]["new"]) == 2
    done = run(repository, "diff", "HEAD..HEAD~1")
    assert done.returncode == Exit.OK
    assert done.stdout.startswith("4 VMs: 2 repaired, 2 same\n")


def test_a_link_to_nothing_that_no_vm_stood_in_is_no_error(repository: Path) -> None:
    put(repository / "loose/web.yaml", vm(name="loose", memory="1Gi"))
    commit(repository)
    (repository / "loose/notes.yaml").symlink_to("nowhere.yaml")
    done = run(repository, "diff", "HEAD")
    assert done.returncode == Exit.OK
    assert "not looked at: 1 path that cannot be read" in done.stdout
    assert done.stdout.startswith("3 VMs: 3 same\n")


def test_where_nothing_can_be_compared_diff_says_why(repository: Path) -> None:
    done = run(repository, "diff", "HEAD", "infra")
    assert done.returncode == Exit.FINDINGS
    assert "error VR122" in done.stderr
    assert done.stdout.startswith("0 VMs\n")
    assert done.stdout.endswith("; not compared: . (VR122)\n")


def test_a_vm_that_moves_into_what_can_be_read_now_is_the_same(repository: Path) -> None:
    """Nobody knows that the kustomization had it before, and it was elsewhere."""
    put(repository / "infra/kustomization.yaml", "resources: [vm.yaml, gone.yaml]\n")
    (repository / "infra/vm.yaml").unlink()
    put(repository / "loose/vm.yaml", vm(name="infra", memory="1Gi"))
    commit(repository)
    put(repository / "infra/vm.yaml", vm(name="infra", memory="2Gi"))
    (repository / "loose/vm.yaml").unlink()
    put(repository / "infra/kustomization.yaml", "resources: [vm.yaml]\n")
    done = run(repository, "diff", "HEAD")
    assert done.stdout.startswith("3 VMs: 1 restart, 2 same\n")
    assert "guest: 1Gi -> 2Gi (restart)  infra/vm.yaml:" in done.stdout


@pytest.fixture
def gathered(tmp_path: Path) -> Path:
    """A kustomization that gathers two others and a file, by way of one more; one of them cannot be built."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    put(tmp_path / "all/kustomization.yaml", "resources: [../vms, claim.yaml]\n")
    put(tmp_path / "all/claim.yaml", claim("data"))
    put(tmp_path / "vms/kustomization.yaml", "resources: [good, bad]\n")
    for name in ("good", "bad"):
        put(tmp_path / f"vms/{name}/kustomization.yaml", "resources: [vm.yaml, other.yaml]\n")
        put(tmp_path / f"vms/{name}/vm.yaml", vm(name=name, memory="1Gi"))
    put(tmp_path / "vms/good/other.yaml", vm(name="other", memory="1Gi"))
    commit(tmp_path)
    return tmp_path


def claim(name: str) -> str:
    spec = "{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}"
    return (
        f"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}}}\nspec: {spec}\n"
    )


def test_what_a_broken_kustomization_only_gathers_is_compared(gathered: Path) -> None:
    """As if each part of it had been applied: what another part lacks says nothing of it."""
    put(gathered / "vms/good/vm.yaml", vm(name="good", memory="2Gi"))
    put(gathered / "vms/good/other.yaml", vm(name="new", memory="1Gi"))
    done = run(gathered, "diff", "HEAD")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    first, second = done.stdout.splitlines()[:2]
    assert first == "3 VMs: 1 gone, 1 restart, 1 new (1 renamed or moved)"
    assert second.endswith("; not compared: vms/bad (VR116)")
    assert "after: 1 error (as before), build prints nothing" in done.stdout
    put(gathered / "vms/bad/other.yaml", vm(name="third", memory="1Gi"))
    mended = json.loads(run(gathered, "diff", "HEAD", "--format", "json").stdout)
    effects = {machine["resource"]["name"]: machine["effects"] for machine in mended["machines"]}
    assert effects == {
        "good": ["restart"],
        "other": ["gone"],
        "new": ["new"],
        "bad": ["repaired"],
        "third": ["repaired"],
    }
    assert [len(mended["errors"][when]) for when in ("new", "remaining", "gone")] == [0, 0, 1]


def test_a_kustomization_that_a_change_breaks_takes_along_all_that_it_gathers(
    gathered: Path,
) -> None:
    """Nothing of it is synced."""
    put(gathered / "vms/bad/other.yaml", vm(name="third", memory="1Gi"))
    commit(gathered)
    (gathered / "vms/bad/other.yaml").unlink()
    done = run(gathered, "diff", "HEAD")
    assert done.returncode == Exit.FINDINGS
    assert done.stdout.startswith("4 VMs: 4 unrenderable\n")


def test_a_kustomization_says_itself_what_is_wrong_where_none_of_its_parts_does(
    gathered: Path,
) -> None:
    put(gathered / "vms/bad/other.yaml", vm(name="other", memory="1Gi"))
    put(gathered / "all/kustomization.yaml", "resources: [../vms, claim.yaml, absent.yaml]\n")
    commit(gathered)
    put(gathered / "vms/good/vm.yaml", vm(name="good", memory="2Gi"))
    data = json.loads(run(gathered, "diff", "HEAD", "--format", "json").stdout)
    (error,) = data["errors"]["remaining"]
    assert error["code"] == "VR116"
    assert error["message"].startswith("kustomize build vms: ")
    assert [item["name"] for item in data["uncompared"]] == ["all"]
    assert [
        machine["effects"] for machine in data["machines"] if machine["resource"]["name"] == "good"
    ] == [["restart"]]


def test_what_a_kustomization_gathers_outside_of_the_repository_is_not_looked_at(
    gathered: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    put(elsewhere / "kustomization.yaml", "resources: [inner]\n")
    put(elsewhere / "inner/kustomization.yaml", "resources: [vm.yaml]\n")
    put(elsewhere / "inner/vm.yaml", vm(name="stranger", memory="1Gi"))
    put(gathered / "all/kustomization.yaml", f"resources: [../vms, {elsewhere}, ../link]\n")
    (gathered / "link").symlink_to(elsewhere)
    commit(gathered)
    put(gathered / "vms/good/vm.yaml", vm(name="good", memory="2Gi"))
    for words in (("HEAD",), ("HEAD~1",)):
        done = run(gathered, "diff", *words)
        assert "stranger" not in done.stdout + done.stderr
        assert done.stdout.startswith("2 VMs: 1 restart, 1 same\n")


def test_a_vm_that_can_be_read_now_may_be_refused(gathered: Path) -> None:
    """Then it is not repaired."""
    bad = vm(name="bad", memory="1Gi").replace("spec:", "spec:\n  running: true", 1)
    put(gathered / "vms/bad/vm.yaml", bad)
    put(gathered / "vms/bad/other.yaml", vm(name="third", memory="1Gi"))
    done = run(gathered, "diff", "HEAD", "--format", "json")
    assert done.returncode == Exit.FINDINGS
    machines = {
        machine["resource"]["name"]: machine for machine in json.loads(done.stdout)["machines"]
    }
    assert machines["third"]["effects"] == ["repaired"]
    assert machines["bad"]["effects"] == ["refused"]
    (message,) = machines["bad"]["messages"]
    assert message.startswith("Running and RunStrategy are mutually exclusive.")


def test_a_base_that_lost_its_kustomization_breaks_its_overlays(repository: Path) -> None:
    """kustomize refuses the folder; its VM stands loose now, but nobody has deleted those of the overlays."""
    (repository / "base/kustomization.yaml").unlink()
    done = run(repository, "diff", "HEAD")
    assert done.returncode == Exit.FINDINGS
    assert done.stdout.startswith("3 VMs: 2 unrenderable, 1 new\n")
    done = run(repository, "check", ".")
    assert done.returncode == Exit.UNREADABLE
    for name in ("prod", "test"):
        assert f"error VR116 kustomize-failed: kustomize build {name}: " in done.stdout


def test_what_takes_a_folder_without_vms_and_without_kustomization_has_lost_them(
    repository: Path,
) -> None:
    (repository / "base/kustomization.yaml").unlink()
    put(repository / "base/notes.yaml", "a: b\n")
    (repository / "base/vm.yaml").unlink()
    done = run(repository, "diff", "HEAD")
    assert done.returncode == Exit.FINDINGS
    assert done.stdout.startswith("2 VMs: 2 unrenderable\n")
    assert "it lists base, which has no kustomization" in done.stdout


@pytest.mark.parametrize(
    ("file", "text", "is_error"),
    [
        ("notes.yaml", "a: b\n", False),  # others may add what it lists
        (LOCK, "", True),
        ("patch.yaml", "kind: VirtualMachine\nmetadata: {name: web}\n", True),
    ],
)
def test_what_lists_a_base_that_is_not_there_is_an_error_where_it_held_vms(
    file: str, text: str, tmp_path: Path, *, is_error: bool
) -> None:
    put(tmp_path / "vm.yaml", vm(name="web", memory="1Gi"))
    put(
        tmp_path / "prod/kustomization.yaml",
        "resources: [../gone]\npatches: [{path: patch.yaml}]\n",
    )
    put(tmp_path / "prod" / file, text)
    done = run(tmp_path, "check", ".")
    assert ("kustomize build prod: " in done.stdout) == is_error
    assert ("1 kustomization with missing resources" in done.stdout + done.stderr) != is_error


def test_what_an_overlay_that_cannot_be_built_lends_to_others_is_not_deleted(
    repository: Path,
) -> None:
    """Who cannot build it prunes nothing; where others take it out too, or it went, that is said."""
    put(repository / "platform/small.yaml", instancetype("small"))
    put(repository / "platform/kustomization.yaml", "resources: [small.yaml]\n")
    put(repository / "base/vm.yaml", vm(name="web", instancetype="small"))
    both = "namespace: prod\nresources: [../base, ../platform]\n"
    put(repository / "prod/kustomization.yaml", both)
    commit(repository)
    put(repository / "prod/kustomization.yaml", both.replace("]", ", quota.yaml]"))
    done = run(repository, "diff", "HEAD", "--emit", "vm")
    assert done.returncode == Exit.FINDINGS
    assert done.stdout.startswith("2 VMs: 1 unrenderable, 1 same\n")
    assert "deleted" not in done.stdout
    put(repository / "prod/kustomization.yaml", both.replace(", ../platform", ""))
    (repository / "platform/kustomization.yaml").unlink()
    (repository / "platform/small.yaml").unlink()
    done = run(repository, "diff", "HEAD", "--emit", "vm")
    assert done.stdout.startswith("2 VMs: 2 unrenderable\n")
    assert "it asks for what is deleted:" in done.stdout


@pytest.mark.parametrize("state", ["before", "after"])
def test_a_base_of_an_overlay_that_cannot_be_read_is_neither_new_nor_gone(
    state: str, tmp_path: Path
) -> None:
    """It stands for itself in one state alone, where nothing can be said of the overlay."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    put(tmp_path / "base/kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "base/vm.yaml", vm(name="web", memory="1Gi"))
    overlays = ["resources: [../base]\npatches: [patch.yaml]\n", "resources: [../bases]\n"]
    first, second = overlays if state == "before" else reversed(overlays)
    put(tmp_path / "overlay/kustomization.yaml", f"{first}# kubevirt.io\n")
    put(tmp_path / "overlay/patch.yaml", "# kubevirt.io\n")
    commit(tmp_path)
    put(tmp_path / "overlay/kustomization.yaml", f"{second}# kubevirt.io\n")
    done = run(tmp_path, "diff", "HEAD")
    assert "web" not in done.stdout
    assert "not compared: overlay (VR116)" in done.stdout


def test_beside_a_kind_that_nobody_serves_nothing_is_gone(repository: Path) -> None:
    """The sync fails before it prunes; of loose files each may be synced by itself."""
    for name in ("one", "two"):
        put(repository / f"loose/{name}.yaml", vm(name=name, memory="1Gi"))
    commit(repository)
    (repository / "loose/two.yaml").unlink()
    for file, name in (("base/vm.yaml", "web"), ("loose/one.yaml", "one")):
        put(
            repository / file,
            vm(name=name, memory="1Gi").replace("VirtualMachine", "VirtualMachin"),
        )
    done = run(repository, "diff", "HEAD", "--format", "json")
    assert done.returncode == Exit.FINDINGS
    machines = json.loads(done.stdout)["machines"]
    found = {each["resource"]["name"]: (each["effects"], each["messages"]) for each in machines}
    assert found["two"][0] == ["gone"]
    for name in ("web", "one"):
        assert found[name][0] == ["unrenderable"]
        assert "the sync fails before it prunes: " in found[name][1][0]


def test_the_base_that_a_broken_overlay_took_is_not_new(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    put(tmp_path / "base/kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "base/vm.yaml", vm(name="web", memory="1Gi"))
    put(tmp_path / "overlay/kustomization.yaml", "resources: [../base, more.yaml]\n")
    put(tmp_path / "overlay/more.yaml", "# kubevirt.io\n")
    commit(tmp_path)
    put(tmp_path / "overlay/kustomization.yaml", "resources: [../bases, more.yaml]\n")
    done = run(tmp_path, "diff", "HEAD")
    assert done.returncode == Exit.FINDINGS
    assert done.stdout.startswith("1 VM: 1 unrenderable\n")


def test_a_change_that_mends_or_breaks_all_there_is_has_an_answer(
    tmp_path: Path, helm: str
) -> None:
    """A chart at the top, of a pool alone."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    put(tmp_path / "Chart.yaml", "apiVersion: v2\nname: pool\nversion: 1.0.0\n")
    put(tmp_path / "templates/vm.yaml", "{{ if }}\n# kubevirt.io\n")
    commit(tmp_path)
    put(tmp_path / "templates/vm.yaml", "# kubevirt.io\n")
    commit(tmp_path)
    mended, broken = (
        process.run("diff", words, cwd=tmp_path, VIRT_RENDER_HELM=helm)
        for words in ("HEAD~1..HEAD", "HEAD..HEAD~1")
    )
    assert (mended.returncode, broken.returncode) == (Exit.OK, Exit.FINDINGS)
    assert "1 error gone" in mended.stdout.splitlines()
    assert "after: 1 error (new), build prints nothing" in broken.stdout.splitlines()


def test_pin_writes_the_locks_of_the_others(repository: Path) -> None:
    """E3."""
    dry = run(repository, "pin", "--dry-run", ".")
    assert dry.stdout.startswith("not pinned: infra (VR122)\n")
    done = run(repository, "pin", ".")
    assert done.returncode == Exit.FINDINGS
    assert done.stdout.splitlines()[:2] == ["not pinned: infra (VR122)", f"prod/{LOCK}"]
    assert "error VR122" in done.stderr
    written = {str(path.relative_to(repository)) for path in repository.rglob(LOCK)}
    assert written == {f"prod/{LOCK}", f"test/{LOCK}"}
    checked = run(repository, "pin", "--check", ".")
    assert checked.returncode == Exit.FINDINGS
    assert "VR122" in checked.stderr
    assert "VR606" not in checked.stderr


def test_pin_writes_the_lock_of_what_stands_beside_a_link_to_nothing(tmp_path: Path) -> None:
    """All but a VM that misses what may stand there; what was pinned there stays."""
    put(tmp_path / "vms/web.yaml", vm(name="web", memory="1Gi"))
    put(tmp_path / "vms/small.yaml", instance("one", "small"))
    put(tmp_path / "vms/known.yaml", instance("two", "known"))
    put(tmp_path / "vms/definition.yaml", KNOWN)
    put(tmp_path / "vms/old.yaml", vm(name="old", memory="1Gi"))
    (tmp_path / "vms/small.yaml").rename(tmp_path / "vms/small")
    assert run(tmp_path, "pin", ".").returncode == Exit.OK
    (tmp_path / "vms/small").rename(tmp_path / "vms/small.yaml")
    (tmp_path / "vms/old.yaml").unlink()
    (tmp_path / "vms/old.yaml").symlink_to("nowhere.yaml")
    done = run(tmp_path, "pin", ".")
    assert done.returncode == Exit.UNREADABLE
    assert done.stdout.splitlines()[:2] == [
        "not pinned: vms/old.yaml (VR110)",
        "not pinned: one, whose definitions may stand in what cannot be read",
    ]
    lock = (tmp_path / LOCK).read_text(encoding="utf-8")
    assert [name in lock for name in ("  web:", "  two:", "  old:", "  one:")] == [
        True,
        True,
        True,
        False,
    ]


def test_what_stands_in_the_current_folder_is_named_in_words(tmp_path: Path) -> None:
    """A dot alone says nothing."""
    put(tmp_path / "vm.yaml", vm(name="web", instancetype="absent"))
    put(tmp_path / "kustomization.yaml", "resources: [gone.yaml]\n")
    done = run(tmp_path, "report", ".", "-o", "page.html")
    assert "not read: the current folder (VR116); virt-render check says why\n" in done.stderr


def test_a_values_file_that_is_not_there_is_an_error_without_a_chart(tmp_path: Path) -> None:
    put(tmp_path / "vm.yaml", vm(name="web", memory="1Gi"))
    for command in ("build", "check", "report", "pin"):
        done = run(tmp_path, command, ".", "--values", "nosuch")
        assert done.returncode == Exit.UNREADABLE
        assert "nosuch: error VR110 unreadable: cannot read nosuch" in done.stdout + done.stderr


def test_a_values_file_may_be_in_a_commit_alone(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    put(tmp_path / "vm.yaml", vm(name="web", memory="1Gi"))
    put(tmp_path / "values.yaml", "a: 1\n")
    assert run(tmp_path, "pin", ".").returncode == Exit.OK
    commit(tmp_path)
    (tmp_path / "values.yaml").unlink()
    for words in (("diff", "HEAD"), ("history", "web"), ("show", "web", "--revision", "1")):
        done = run(tmp_path, *words, "--values", "values.yaml")
        assert (done.returncode, "VR110" in done.stderr) == (Exit.OK, False)


def test_pin_passes_over_a_remote_base_without_vms(repository: Path) -> None:
    """What installs an operator pins nothing, unless a lock says that there was something."""
    operator = "resources: ['https://example.invalid/operator.yaml', kubevirt.yaml, gone.yaml]\n"
    put(repository / "infra/kustomization.yaml", operator)
    put(repository / "infra/kubevirt.yaml", "apiVersion: kubevirt.io/v1\nkind: KubeVirt\n")
    done = run(repository, "pin", ".")
    assert done.returncode == Exit.OK
    assert "1 kustomization with a remote base" in done.stderr
    put(repository / "infra" / LOCK, "")
    done = run(repository, "pin", ".")
    assert done.returncode == Exit.FINDINGS
    assert "not pinned: infra (VR122)" in done.stdout.splitlines()


@pytest.mark.parametrize(
    ("more", "is_read"),
    [
        ("", True),
        ("namespace: kubevirt\nlabels: [{pairs: {a: b}}]\n", True),
        ("patches: [{target: {kind: CDI}, patch: '[]'}]\n", False),
    ],
)
def test_settings_beside_a_remote_base_count(repository: Path, more: str, *, is_read: bool) -> None:
    """What a kustomization hands over as it is needs no remote base to be known."""
    remote = "https://example.invalid/cdi-cr.yaml"
    put(repository / "infra/kustomization.yaml", f"resources: [cr.yaml, '{remote}']\n{more}")
    cluster = "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt}\nspec:\n"
    gates = "configuration: {developerConfiguration: {featureGates: [%s]}}"
    put(repository / "infra/cr.yaml", f"{cluster}  {gates % 'HostDevices'}\n")
    device = "devices: {hostDevices: [{name: usb, deviceName: example.com/usb}]}"
    put(repository / "base/vm.yaml", vm(name="web", memory="1Gi").replace("devices: {}", device))
    commit(repository)
    done = run(repository, "check", ".")
    assert done.returncode == Exit.OK
    assert ("VR431" in done.stdout) is not is_read
    assert "1 kustomization with a remote base" in done.stderr
    put(repository / "infra/cr.yaml", f"{cluster}  {gates % 'Snapshot'}\n")
    refused = run(repository, "check", ".")
    assert (refused.returncode == Exit.FINDINGS) is is_read


@pytest.mark.parametrize(
    ("kind", "named"),
    [("VirtualMachine", Exit.FINDINGS), ("VirtualMachinePool", Exit.FINDINGS), ("CDI", Exit.OK)],
)
def test_a_patch_for_vms_of_a_remote_base_is_seen(tmp_path: Path, kind: str, named: Exit) -> None:
    """Who names the folder hears what `build` says; without a word of VMs it is another project's."""
    patch = f"patches: [{{target: {{kind: {kind}, name: web}}, path: patch.yaml}}]\n"
    put(tmp_path / "over/kustomization.yaml", f"{REMOTE.replace(', vm.yaml', '')}{patch}")
    put(tmp_path / "over/patch.yaml", "- {op: replace, path: /spec/replicas, value: 1}\n")
    done = run(tmp_path, "check", "over")
    assert (done.returncode, "error VR122" in done.stdout) == (named, named != Exit.OK)
    done = run(tmp_path, "check", ".")
    assert done.returncode == Exit.OK
    assert "1 kustomization with a remote base" in done.stderr


_CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
_PATCHER = "{apiVersion: builtin, kind: PatchTransformer, metadata: {name: a}, path: 'https://example.invalid/a'}"
_FUNCTION = (
    "apiVersion: example.com/v1\nkind: A\nmetadata:\n  name: a\n  annotations:\n"
    "    config.kubernetes.io/function: 'container: {image: a}'\n"
)
_INFLATOR = "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: a}\nname: a\n"
_REMOTE_PART = "1 kustomization with a remote patch or plugin"


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A repository with a VM, which has no finding."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    put(tmp_path / "vm.yaml", vm(name="web", memory="1Gi"))
    commit(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("more", "plugin", "counted"),
    [
        *(
            (f"{key}: ['https://example.invalid/a.yaml']\n", "", _REMOTE_PART)
            for key in ("transformers", "generators", "validators", "patchesStrategicMerge")
        ),
        (
            "patches: [{path: 'https://example.invalid/a.yaml', target: {kind: ConfigMap}}]\n",
            "",
            _REMOTE_PART,
        ),
        ("replacements: [{path: 'https://example.invalid/a.yaml'}]\n", "", _REMOTE_PART),
        (f'transformers: ["{_PATCHER}"]\n', "", _REMOTE_PART),
        ("helmCharts: [{name: a, repo: 'https://example.invalid'}]\n", "", "1 helmCharts"),
        ("helmChartInflationGenerator: [{chartName: a}]\n", "", "1 helmCharts"),
        ("generators: [plugin.yaml]\n", _INFLATOR, "1 helmCharts"),
        ("generators: [plugin.yaml]\n", _FUNCTION, "1 kustomization with plugins of others"),
        ("transformers: [plugin.yaml]\n", _FUNCTION, "1 kustomization with plugins of others"),
        ("transformers: [plugin.yaml]\n", _PATCHER.replace("path: 'https:", "patch: 'a:"), ""),
        ("namePrefix: a-\n", "", ""),
    ],
)
def test_what_a_kustomization_without_vms_has_others_make_is_counted(
    sound: Path, more: str, plugin: str, counted: str
) -> None:
    """Whoever may make VMs of a ConfigMap, or beside it, is no news of "no findings"."""
    put(sound / "other/kustomization.yaml", f"resources: [a.yaml]\n{more}")
    put(sound / "other/a.yaml", _CONFIG_MAP)
    if plugin:
        put(sound / "other/plugin.yaml", plugin)
    for words in (("check", "."), ("check", "other"), ("diff", "HEAD")):
        done = run(sound, *words)
        assert done.returncode == Exit.OK
        told = done.stdout + done.stderr
        assert (f"not looked at: {counted}" in told) if counted else "not looked at" not in told


@pytest.mark.parametrize("is_vendored", [False, True])
def test_a_chart_without_vms_that_wants_others_is_counted(
    sound: Path, *, is_vendored: bool
) -> None:
    """Argo CD fetches what a chart depends on, and that may be anything."""
    wanted = "dependencies: [{name: b, version: 1.0.0, repository: 'https://example.invalid'}]\n"
    put(sound / "other/Chart.yaml", f"apiVersion: v2\nname: a\nversion: 1.0.0\n{wanted}")
    put(sound / "other/templates/a.yaml", _CONFIG_MAP)
    if is_vendored:
        chart = "apiVersion: v2\nname: b\nversion: 1.0.0\n"
        put(sound / "other/charts/b/Chart.yaml", chart)
    for words in (("check", "."), ("diff", "HEAD")):
        done = run(sound, *words)
        assert done.returncode == Exit.OK
        is_counted = "1 Helm chart with dependencies of elsewhere" in done.stdout + done.stderr
        assert is_counted is not is_vendored


def test_definitions_beside_a_remote_base_are_found(repository: Path) -> None:
    remote = "https://example.invalid/cdi-cr.yaml"
    put(repository / "infra/kustomization.yaml", f"resources: [it.yaml, '{remote}']\n")
    put(repository / "infra/it.yaml", instancetype(name="small"))
    put(repository / "base/vm.yaml", vm(name="web", instancetype="small"))
    done = run(repository, "check", ".")
    assert done.returncode == Exit.OK, done.stdout


def test_what_is_filled_in_later_is_left_aside(tmp_path: Path) -> None:
    """A scaffolder's template keeps nobody from pinning the others, and is no error of a report."""
    put(tmp_path / "web.yaml", vm(name="web", memory="1Gi"))
    put(tmp_path / "template/vm.yaml", vm(name="${NAME}", memory="1Gi"))
    put(tmp_path / "template/late.yaml", vm(name="late", memory="${MEMORY}"))
    done = run(tmp_path, "pin", ".")
    assert done.returncode == Exit.OK
    assert done.stdout.startswith("not pinned: ${NAME} (VR115)\nnot pinned: late (VR115)\n")
    assert (tmp_path / LOCK).read_text(encoding="utf-8").count("revision:") == 1
    assert run(tmp_path, "pin", "--check", ".").returncode == Exit.OK
    listed = json.loads(run(tmp_path, "report", "--format", "json", ".").stdout)["machines"]
    found = {
        machine["name"]: [each["severity"] for each in machine["findings"]] for machine in listed
    }
    assert found == {"web": [], "${NAME}": ["info"], "late": ["info"]}
    assert [machine["errors"] for machine in listed] == [0, 0, 0]
    put(tmp_path / "template/size.yaml", instancetype("${NAME}", cpus=1))
    assert run(tmp_path, "pin", "--check", ".").returncode == Exit.OK
    put(tmp_path / "size.yaml", instancetype("small", cpus=7).replace("guest: 7", "guest: ${CPUS}"))
    put(tmp_path / "user.yaml", vm(name="user", instancetype="small", memory=""))
    done = run(tmp_path, "pin", ".")
    assert done.returncode == Exit.FINDINGS
    assert "no lock was written: 1 error" in done.stderr
    for name in ("template/size.yaml", "size.yaml", "user.yaml"):
        (tmp_path / name).unlink()
    page = run(tmp_path, "report", ".").stdout
    assert "<h1>3 VMs: nothing is refused</h1>" in page


def test_pin_accepts_what_a_baseline_has(repository: Path) -> None:
    put(repository / "test/kustomization.yaml", "namespace: test\nresources: [../base, bad.yaml]\n")
    text = vm(name="bad", memory="1Gi").replace("  runStrategy", "  nonsense: 1\n  runStrategy")
    put(repository / "test/bad.yaml", text)
    assert run(repository, "check", "--json-file", "accepted.json", ".").returncode != Exit.OK
    done = run(repository, "pin", "--baseline", "accepted.json", ".")
    assert (done.returncode, without_last_line(done.stderr)) == (Exit.OK, "")
    assert done.stderr.startswith("waived: 2 findings accepted by the baseline\n3 VMs in 2 kustom")
    assert done.stdout.startswith("not pinned: infra (VR122)\n")
    assert (repository / f"test/{LOCK}").exists()
    assert run(repository, "pin", "--baseline", "accepted.json", "--check", ".").returncode == 0
    put(repository / "prod/kustomization.yaml", "namespace: prod\nresources: [../base, bad.yaml]\n")
    put(repository / "prod/bad.yaml", text.replace("bad", "worse"))
    done = run(repository, "pin", "--baseline", "accepted.json", ".")
    assert done.returncode == Exit.FINDINGS
    assert "not pinned: prod (VR105)" in done.stdout


@pytest.mark.parametrize("name", ["prod/web", "VirtualMachine/prod/web"])
def test_explain_finds_a_vm_in_the_kustomization_that_has_it(name: str, repository: Path) -> None:
    """E12."""
    done = run(repository, "explain", name, "spec.domain.memory.guest")
    assert done.returncode == Exit.OK
    assert "spec.domain.memory.guest: 1Gi  base/vm.yaml:" in done.stdout
    assert done.stderr == "not read: infra (VR122); virt-render check says why\n"


def test_explain_names_the_kustomizations_where_there_are_several(repository: Path) -> None:
    assert "web may be prod/web or test/web" in run(repository, "explain", "web").stderr
    put(repository / "other/kustomization.yaml", "namespace: prod\nresources: [../base]\n")
    done = run(repository, "explain", "prod/web")
    assert done.returncode == Exit.USAGE
    assert "prod/web is in other, prod" in done.stderr
    assert "virt-render explain prod/web other" in done.stderr
    assert run(repository, "explain", "prod/web", "other").returncode == Exit.OK


def test_explain_says_what_a_missing_vm_may_be(repository: Path) -> None:
    output = run(repository, "explain", "wob").stderr
    assert "VR122" in output  # it may stand there
    assert "no VirtualMachine wob in what can be read" in output
    assert "did you mean web?" in output
    put(repository / "infra/kustomization.yaml", "resources: [vm.yaml]\n")
    done = run(repository, "explain", "wob")
    assert done.returncode == Exit.USAGE
    assert "no VirtualMachine wob" in done.stderr
    assert "did you mean web?" in done.stderr


def test_verify_looks_at_the_others(repository: Path) -> None:
    built = run(repository, "build", "prod").stdout
    put(repository / "prod/rendered.yaml", built.replace("guest: 1Gi", "guest: 3Gi"))
    put(repository / "prod/kustomization.yaml", "resources: [rendered.yaml]\n")
    done = run(repository, "verify", ".")
    assert done.returncode == Exit.FINDINGS
    assert "VR122" in done.stdout
    assert "VR119" not in done.stdout


def test_ignored_differences_of_the_others(repository: Path) -> None:
    volume = "  preference: {inferFromVolume: root}\n  runStrategy"
    put(repository / "base/vm.yaml", vm(name="web", memory="1Gi").replace("  runStrategy", volume))
    done = run(repository, "argocd", "ignore-differences", ".")
    assert done.returncode == Exit.FINDINGS
    assert done.stdout.count("name: web") == 2
    assert "VR122" in done.stderr


BROKEN = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineInstancetype
metadata: {name: small}
spec: {cpu: {guest: 1}, memory: {guest: 1Gi}}
spec: {}
"""
SMALL = BROKEN.removesuffix("spec: {}\n")
KNOWN = SMALL.replace("{guest: 1}", "{guest: 2}").replace("1Gi", "3Gi").replace("small", "known")


def instance(name: str, instancetype: str, kind: str = "VirtualMachineInstancetype") -> str:
    """A VM of an instancetype."""
    matcher = f"  instancetype: {{kind: {kind}, name: {instancetype}}}\n  runStrategy"
    return vm(name=name).replace("  runStrategy", matcher)


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    """Loose VMs, one of an instancetype in a file of its own."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    put(tmp_path / "vms/web.yaml", vm(name="web", memory="1Gi"))
    put(tmp_path / "vms/small.yaml", instance("one", "small"))
    put(tmp_path / "vms/definition.yaml", SMALL)
    commit(tmp_path)
    return tmp_path


def test_pin_leaves_out_what_depends_on_a_broken_file_alone(loose: Path) -> None:
    assert run(loose, "pin", ".").returncode == Exit.OK
    before = (loose / LOCK).read_text()
    put(loose / "vms/definition.yaml", BROKEN)
    put(loose / "vms/new.yaml", vm(name="new", memory="1Gi"))
    (loose / "vms/web.yaml").rename(loose / "vms/gone")
    put(loose / "vms/web.yaml", vm(name="web", memory="1Gi") + "kind: VirtualMachine\n")
    done = run(loose, "pin", ".")
    assert done.returncode == Exit.FINDINGS
    assert done.stdout.splitlines()[:3] == [
        "not pinned: vms/definition.yaml (VR102)",
        "not pinned: vms/web.yaml (VR102)",
        "not pinned: one, whose definitions may stand in what cannot be read",
    ]
    assert "VR201" not in done.stderr
    after = (loose / LOCK).read_text()
    pins = before.split("pins:\n")[1]
    first, web = pins[: pins.index("  web:")], pins[pins.index("  web:") :]
    assert first in after
    assert web in after
    assert "  new:\n" in after


@pytest.mark.parametrize("word", ["VirtualMachineInstancePreset", "HyperConverged", "KubeVirt"])
def test_pin_writes_no_lock_where_a_broken_file_may_reach_all(word: str, loose: Path) -> None:
    put(loose / "vms/definition.yaml", BROKEN + f"# {word}\n")
    done = run(loose, "pin", ".")
    assert done.returncode == Exit.FINDINGS
    assert not list(loose.rglob(LOCK))


def test_what_is_not_found_may_stand_in_what_cannot_be_read(repository: Path) -> None:
    kind = "VirtualMachineClusterInstancetype"
    put(repository / "vms/kustomization.yaml", "resources: [big.yaml, typo.yaml]\n")
    put(repository / "vms/big.yaml", instance("big", "huge", kind))
    put(repository / "vms/typo.yaml", instance("typo", "hoge", kind))
    put(repository / "infra/huge.yaml", BROKEN.replace("small", "huge"))
    put(repository / "infra/kustomization.yaml", REMOTE.replace("vm.yaml", "vm.yaml, huge.yaml"))
    done = run(repository, "check", ".")
    assert done.returncode == Exit.FINDINGS
    output = [line for line in done.stdout.splitlines() if "VR201" in line]
    assert [line.split()[1] for line in output] == ["warning", "error"]
    assert output[0].endswith("not found; it may stand in infra (VR122), which cannot be read")
    pinned = run(repository, "pin", "--dry-run", ".").stdout.splitlines()
    assert "not pinned: vms (VR201)" in pinned  # of the name that stands nowhere
    (repository / "vms/typo.yaml").unlink()
    put(repository / "vms/kustomization.yaml", "resources: [big.yaml]\n")
    pinned = run(repository, "pin", "--dry-run", ".").stdout.splitlines()
    assert "not pinned: big, whose definitions may stand in what cannot be read" in pinned


def test_a_definition_of_a_bundled_name_may_stand_in_a_file_that_cannot_be_read(
    tmp_path: Path,
) -> None:
    """KubeVirt's own of its name is not taken for that of the repository: `test` and `diff` would compare the two."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    own = instancetype("u1.nano", memory="3Gi")
    put(tmp_path / "vms/vm.yaml", vm(instancetype="u1.nano"))
    put(tmp_path / "vms/other.yaml", vm("other", instancetype="own"))  # for `check` to look around
    put(tmp_path / "platform/own.yaml", instancetype("own"))
    put(tmp_path / "platform/nano.yaml", own)
    head = "apiVersion: virt-render.dev/v1alpha1\nkind: Test\n"
    expectation = "{name: web, vms: web, vmi: {spec: {domain: {memory: {guest: 3Gi}}}}}"
    put(tmp_path / "vms/a.virt-test.yaml", f"{head}spec:\n  expect:\n    - {expectation}\n")
    commit(tmp_path)
    assert run(tmp_path, "test").returncode == Exit.OK
    put(tmp_path / "platform/nano.yaml", f"{own}x: [\n")
    told = (
        "VirtualMachineClusterInstancetype u1.nano may stand in platform/nano.yaml (VR101), which"
    )
    checked = run(tmp_path, "check", "vms").stdout
    assert "warning VR201" in checked
    assert checked.count("may stand in") == 1
    assert told in checked
    tested = run(tmp_path, "test")
    assert tested.returncode == Exit.FINDINGS
    assert told in tested.stdout
    compared = run(tmp_path, "diff", "HEAD", "--", "vms")
    assert compared.returncode == Exit.FINDINGS
    assert told in compared.stdout
    assert "deleted" not in compared.stdout
    put(tmp_path / "platform/nano.yaml", f"{own.replace('u1.nano', 'u1.nanos')}x: [\n")
    assert "may stand in" not in run(tmp_path, "check", "vms").stdout


def test_what_is_not_found_may_stand_in_a_remote_base(repository: Path) -> None:
    """But in none that installs an operator: what that brings is known."""
    kind = "VirtualMachineClusterInstancetype"
    put(repository / "vms/kustomization.yaml", "resources: [big.yaml]\n")
    put(repository / "vms/big.yaml", instance("big", "huge", kind))

    def messages(remote: str) -> str:
        put(repository / "platform/kustomization.yaml", f"resources: ['{remote}']\n")
        done = run(repository, "check", ".")
        assert "secret" not in done.stdout + done.stderr
        (line,) = [line for line in done.stdout.splitlines() if "VR201" in line]
        return line

    assert ": error VR201 " in messages("https://example.invalid/kubevirt-operator.yaml")
    of_unknown = messages("https://user:secret@example.invalid/definitions?ref=v1")
    assert ": warning VR201 " in of_unknown
    assert of_unknown.endswith(
        "it may stand in https://[redacted]@example.invalid/definitions?ref=v1, which platform takes from elsewhere"
    )


def test_diff_takes_definitions_of_a_file_that_became_unreadable_as_they_were(loose: Path) -> None:
    """Nobody has deleted them, and whoever uses them is as he was; what they were before, nobody knows."""
    put(loose / "vms/definition.yaml", BROKEN)
    done = run(loose, "diff", "HEAD")
    lines = done.stdout.splitlines()
    assert lines[0] == "2 VMs: 2 same"
    assert lines[1].endswith("; not compared: vms/definition.yaml (VR102)")
    assert lines[3] == "after: 1 error (new), build prints nothing"
    assert done.returncode == Exit.FINDINGS
    commit(loose)
    put(loose / "vms/definition.yaml", SMALL.replace("guest: 1Gi", "guest: 2Gi"))
    put(loose / "vms/web.yaml", instance("web", "small"))
    done = run(loose, "diff", "HEAD")
    unclear = "vms/definition.yaml changed and cannot be compared"
    assert done.stdout.startswith(f"2 VMs: 1 restart, 1 repaired; {unclear}\n")
    assert "guest: 1Gi -> 2Gi (restart)  vms/web.yaml:" in done.stdout
    (line,) = (line for line in done.stdout.splitlines() if "and can be now: " in line)
    assert "  vms/definition.yaml:5:1 of " in line
    assert " cannot be read: key 'spec' is already set" in line
    assert done.returncode == Exit.OK
    assert run(loose, "diff", "--fail-on", "error", "HEAD").returncode == Exit.FINDINGS


def test_who_is_pinned_is_the_same_whatever_cannot_be_read(loose: Path) -> None:
    assert run(loose, "pin", ".").returncode == Exit.OK
    put(loose / "vms/definition.yaml", BROKEN)
    commit(loose)
    put(loose / "vms/definition.yaml", SMALL)
    assert run(loose, "diff", "HEAD").stdout.startswith("2 VMs: 2 same\n")


def test_explain_answers_beside_a_loose_file_that_cannot_be_read(loose: Path) -> None:
    put(loose / "vms/definition.yaml", BROKEN)
    done = run(loose, "explain", "web", "memory.guest")
    assert done.stdout == (
        "VirtualMachine web\n  spec.domain.memory.guest: 1Gi  vms/web.yaml:12:11\n"
    )
    assert done.stderr == "not read: vms/definition.yaml (VR102); virt-render check says why\n"
    # What may hang on it, or on a quota in it, is not told.
    for words in (("one",), ("web", "pod")):
        put(loose / "vms/definition.yaml", BROKEN + "# ResourceQuota\n")
        done = run(loose, "explain", *words)
        assert (done.returncode, done.stdout) == (Exit.FINDINGS, "")
        assert "VR102" in done.stderr


def test_explain_answers_beside_a_broken_vm_of_the_same_definitions(loose: Path) -> None:
    """What defines nothing has no other definition of that name; where it does, that is said."""
    put(loose / "vms/other.yaml", instance("other", "small") + "kind: VirtualMachine\n")
    done = run(loose, "explain", "one", "memory.guest")
    assert done.returncode == Exit.OK
    assert "1Gi  vms/definition.yaml:4:34 VirtualMachineInstancetype small" in done.stdout
    assert "not read: vms/other.yaml (VR102)" in done.stderr
    put(loose / "vms/other.yaml", f"{instance('other', 'small')}---\n{BROKEN}")
    done = run(loose, "explain", "one")
    assert (done.returncode, done.stdout) == (Exit.FINDINGS, "")
    assert "what decides one may stand in vms/other.yaml (VR102)" in done.stderr


def test_what_explain_does_not_find_may_stand_in_what_cannot_be_read(tmp_path: Path) -> None:
    put(tmp_path / "prod/kustomization.yaml", "namespace: prod\nresources: [vm.yaml]\n")
    put(tmp_path / "prod/vm.yaml", instance("web", "small"))
    put(tmp_path / "defs/small.yaml", BROKEN)
    done = run(tmp_path, "explain", "prod/web")
    assert done.returncode == Exit.FINDINGS
    assert "help: first mend defs/small.yaml (VR102), which cannot be read" in done.stderr
    (tmp_path / "defs/more.yaml").symlink_to("nowhere.yaml")
    (tmp_path / "defs/small.yaml").unlink()
    done = run(tmp_path, "explain", "wob")
    assert done.returncode == Exit.USAGE
    assert "no VirtualMachine wob in what can be read" in done.stderr
    assert "did you mean web?" in done.stderr
    assert "cannot read defs/more.yaml: No such file or directory" in done.stderr


def test_explain_names_the_chart_that_came_to_nothing(tmp_path: Path, helm: str) -> None:
    put(tmp_path / "chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
    put(tmp_path / "chart/templates/vm.yaml", vm(name="web", memory="1Gi") + '{{ fail "no" }}\n')
    done = process.run("explain", "web", cwd=tmp_path, VIRT_RENDER_HELM=helm)
    assert done.returncode == Exit.USAGE
    assert "chart skipped: helm template chart: Error" in done.stderr


@pytest.mark.parametrize("words", [("used-by", "small", "."), ("report", ".", "-o", "page.html")])
def test_a_list_of_vms_names_what_cannot_be_read(words: tuple[str, ...], loose: Path) -> None:
    put(loose / "vms/web.yaml", vm(name="web", memory="1Gi") + "kind: VirtualMachine\n")
    done = run(loose, *words)
    assert done.returncode == Exit.FINDINGS  # the list is there, and not whole
    assert "not read: vms/web.yaml (VR102); virt-render check says why\n" in done.stderr
    put(loose / "vms/definition.yaml", BROKEN)
    done = run(loose, "used-by", "tall", ".")
    assert (done.returncode, done.stdout) == (Exit.FINDINGS, "")
    assert "no instancetype or preference tall in what can be read, and no VM uses" in done.stderr
    for file in ("definition", "web"):
        assert f"vms/{file}.yaml:" in done.stderr


def test_nobody_knows_who_uses_a_definition_beside_what_cannot_be_read(loose: Path) -> None:
    put(loose / "vms/unused.yaml", KNOWN)
    assert run(loose, "used-by", "known", ".").stdout == "no VM uses known\n"
    (loose / "vms/more.yaml").symlink_to("nowhere.yaml")
    done = run(loose, "used-by", "known", ".")
    assert (done.returncode, done.stdout) == (Exit.OK, "no VM uses known in what can be read\n")
    assert done.stderr == "not looked at: vms/more.yaml, which cannot be read\n"
    put(loose / "vms/web.yaml", vm(name="web", memory="1Gi") + "kind: VirtualMachine\n")
    done = run(loose, "used-by", "known", ".")
    assert (done.returncode, done.stdout) == (
        Exit.FINDINGS,
        "no VM uses known in what can be read\n",
    )


def test_factor_answers_beside_a_loose_file_that_cannot_be_read(loose: Path) -> None:
    put(loose / "vms/definition.yaml", BROKEN)
    put(loose / "vms/known.yaml", KNOWN)
    text = vm(name="web").replace(
        "devices: {}",
        "cpu: {cores: 1, sockets: 2, threads: 1}\n        memory: {guest: 3Gi}\n        devices: {}",
    )
    put(loose / "vms/web.yaml", text)
    done = run(loose, "factor", ".")
    assert "exact  VirtualMachine web  vms/web.yaml" in done.stdout
    assert "VirtualMachineInstancetype known" in done.stdout
    assert "not read: vms/definition.yaml (VR102)" in done.stderr
    # Of a name that may mean something else in it nothing is given away.
    put(loose / "vms/definition.yaml", BROKEN + "# known\n")
    done = run(loose, "factor", ".")
    assert "known" not in done.stdout
    assert "not read: vms/definition.yaml (VR102)" in done.stderr


def test_a_field_that_the_api_server_drops_of_settings_elsewhere_stops_no_pin(
    repository: Path,
) -> None:
    settings = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\n"
    settings += "metadata: {name: kubevirt-hyperconverged}\nspec: {nonsense: 1}\n"
    put(repository / "cluster/settings.yaml", settings)
    done = run(repository, "pin", ".")
    assert done.returncode == Exit.FINDINGS
    assert "not pinned: prod" not in done.stdout
    assert (repository / f"prod/{LOCK}").exists()


def test_diff_answers_beside_a_file_that_the_repository_lacks(tmp_path: Path) -> None:
    """What both commits have alike, and a clone has not, takes away itself; what the change is about is fetched."""
    made = Repository(tmp_path / "repository")
    made.write("vms/web.yaml", vm(memory="1Gi"))
    made.write("crds/large.yaml", "kind: CustomResourceDefinition # of kubevirt.io\n")
    made.write("lib/large.so", "1\n")
    made.commit("A VM")
    made.write("vms/web.yaml", vm(memory="2Gi"))
    made.commit("Larger")
    for file in ("crds/large.yaml", "lib/large.so"):
        lost = made.git("rev-parse", f"HEAD:{file}").strip()
        (made.folder / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    done = made.run("diff", "HEAD~1..HEAD")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "1 VM: 1 restart"
    assert lines[1].endswith("; not compared: crds/large.yaml (VR110)")
    lost = made.git("rev-parse", "HEAD~1:vms/web.yaml").strip()
    (made.folder / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    done = made.run("diff", "HEAD~1..HEAD")
    assert done.returncode != 0
    assert "vms/web.yaml is missing in the repository" in done.stderr


def test_what_an_input_that_can_be_read_now_shares_with_others_is_no_news(tmp_path: Path) -> None:
    """Settings of elsewhere were wrong before, and are so in every input that reads them."""
    made = Repository(tmp_path / "repository")
    made.write("infra/kubevirt.yaml", SHARED_SETTINGS)
    made.write(
        "a/kustomization.yaml",
        "resources: [vm.yaml]\nconfigMapGenerator: [{name: x, files: [data.txt]}]\n",
    )
    made.write("a/vm.yaml", vm(memory="1Gi"))
    made.write("b/kustomization.yaml", "resources: [vm.yaml]\n")
    made.write("b/vm.yaml", vm(memory="1Gi"))
    made.commit("One cannot be built")
    made.write("a/data.txt", "1\n")
    made.commit("Both can")
    done = made.run("diff", "HEAD~1..HEAD")
    assert "2 VMs: 1 repaired, 1 same" in done.stdout
    assert "after: 1 error (as before), build prints nothing; 1 error gone" in done.stdout
    assert "new warning" not in done.stdout
    assert done.returncode == 0


SHARED_SETTINGS = """\
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}
spec:
  featureGates:
    sriovLiveMigration: true
    withHostPassthroughCPU: true
"""


def test_a_kustomization_that_cannot_be_read_may_list_the_vms_below_it(tmp_path: Path) -> None:
    """One without any stays nobody's business."""
    put(tmp_path / "apps/kustomization.yaml", "resources: [web\n")
    put(tmp_path / "apps/web/kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "apps/web/vm.yaml", vm("below", memory="1Gi"))
    put(tmp_path / "other/kustomization.yaml", "resources: [web\n")
    done = run(tmp_path, "check", ".")
    assert "apps/kustomization.yaml:1:12: error VR101" in done.stdout
    assert "other/" not in done.stdout
    assert done.returncode == Exit.FINDINGS


@pytest.mark.parametrize(
    ("text", "is_error"),
    [
        ("resourses: [vm.yaml]\n", True),
        ("", True),
        ("kind: Kustomisation\nresources: []\n", True),
        ("resources: [gone.yaml]\n", True),
        ("RESOURCES: []\n", False),
    ],
)
def test_a_kustomization_that_kustomize_refuses_may_be_meant_for_the_vms_below_it(
    text: str, tmp_path: Path, *, is_error: bool
) -> None:
    """One below without a word of KubeVirt's stays nobody's business; one that is named is built, as by build."""
    put(tmp_path / "apps/kustomization.yaml", text)
    put(tmp_path / "apps/vm.yaml", vm("below", memory="1Gi"))
    put(tmp_path / "others/kustomization.yaml", text)
    put(tmp_path / "others/notes.yaml", "a: b\n")
    done = run(tmp_path, "check", ".")
    assert ("kustomize build apps: " in done.stdout) == is_error
    assert "others" not in done.stdout
    assert done.returncode == (Exit.UNREADABLE if is_error else Exit.OK)
    for folder in ("apps", "others"):
        built, checked = (run(tmp_path, command, folder) for command in ("build", "check"))
        refused = "VR116" in built.stderr
        assert refused == (f"kustomize build {folder}: " in checked.stdout)
        assert (checked.returncode == Exit.UNREADABLE) == refused


@pytest.fixture
def overlays(tmp_path: Path) -> Path:
    """A base that two overlays list, of which one is called prod, and one of something else."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    put(tmp_path / "base/vm.yaml", vm(name="web", memory="1Gi"))
    put(tmp_path / "base/kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "notes/base/note.yaml", "apiVersion: v1\nkind: ConfigMap\n")
    put(tmp_path / "notes/base/kustomization.yaml", "resources: [note.yaml]\n")
    for folder in ("", "notes/"):
        for name in ("prod", "test"):
            text = f"namespace: {name}\nresources:\n- ../../base\n"
            put(tmp_path / f"{folder}overlays/{name}/kustomization.yaml", text)
    commit(tmp_path)
    return tmp_path


#: What kustomize refuses, each with its code.
_REFUSED = {
    "namespace: prod\nresources: [../../base]\nx: [\n": "VR101",
    "namespace: prod\nresource: [../../base/]\n": "VR116",
    "namespace: prod\nresources: [../../base\0]\n": "VR101",
    "namespace: prod\nresources:\n-../../base\n": "VR101",
    "resources: []\nfrom: '../../base/kustomization.yaml'\nfiles: 'vm=../../base/vm.yaml'\n": "VR116",
}


@pytest.mark.parametrize("text", _REFUSED)
def test_an_overlay_that_kustomize_refuses_may_be_meant_for_the_vms_of_what_it_names(
    text: str, overlays: Path
) -> None:
    """Whoever checks the repository, or its file, is told; what names nothing of KubeVirt's is nobody's business."""
    for folder in ("", "notes/"):
        put(overlays / f"{folder}overlays/prod/kustomization.yaml", text)
    done = run(overlays, "check", ".")
    assert done.returncode != Exit.OK
    assert f" error {_REFUSED[text]} " in done.stdout
    assert "notes" not in done.stdout
    assert run(overlays, "check", "overlays/prod/kustomization.yaml").returncode != Exit.OK
    assert run(overlays, "report", ".", "-o", "page.html").returncode != Exit.OK
    assert run(overlays, "check", "notes/overlays/prod/kustomization.yaml").returncode == Exit.OK
    done = run(overlays, "diff", "HEAD")
    assert done.stdout.startswith("2 VMs: 1 unrenderable, 1 same\n")
    commit(overlays)
    assert run(overlays, "diff", "HEAD", "--exit-code").returncode == Exit.OK
    for folder in ("notes/", ""):
        put(overlays / f"{folder}overlays/prod/kustomization.yaml", f"{text}# edited\n")
        done = run(overlays, "diff", "HEAD", "--exit-code")
        assert done.returncode == (Exit.OK if folder else Exit.FINDINGS)
    assert "overlays/prod changed and cannot be compared" in done.stdout


def test_a_base_that_kustomize_refuses_is_an_error_of_the_overlays_that_list_it(
    overlays: Path,
) -> None:
    """And of what these are refused for themselves, by whatever way they lead to VMs."""
    put(overlays / "base/kustomization.yaml", "resource: [vm.yaml]\n")
    put(overlays / "notes/base/kustomization.yaml", "resource: [note.yaml]\n")
    done = run(overlays, "check", ".")
    assert done.returncode == Exit.UNREADABLE
    assert "kustomize build base: " in done.stdout
    assert "needed by overlays/prod, overlays/test" in done.stdout
    assert "notes" not in done.stdout
    put(overlays / "base/more/kustomization.yaml", "resource: [../../vms]\n")
    put(overlays / "base/kustomization.yaml", "resource: [more]\n")
    (overlays / "base").rename(overlays / "moved")
    put(overlays / "vms/vm.yaml", vm(name="web", memory="1Gi"))
    (overlays / "moved/vm.yaml").unlink()
    for name in ("prod", "test"):
        put(overlays / f"overlays/{name}/kustomization.yaml", "resource: [../../moved]\n")
    done = run(overlays, "check", ".")
    assert "kustomize build overlays/prod: " in done.stdout


@pytest.mark.parametrize(
    "text", ["# resources: [../../base]\n", "x: ['', ' ', \"\\0\", ../.., ../../, ., /]\n"]
)
def test_no_comment_and_no_folder_around_it_is_what_a_kustomization_names(
    text: str, overlays: Path
) -> None:
    put(overlays / "overlays/prod/kustomization.yaml", text)
    assert run(overlays, "check", ".").returncode == Exit.OK


def test_nothing_out_of_the_repository_is_what_a_kustomization_names(overlays: Path) -> None:
    put(overlays / "notes/overlays/prod/kustomization.yaml", "x: [../../out, ../../../..]\n")
    (overlays / "notes/out").symlink_to(overlays / "elsewhere")
    put(overlays / "elsewhere/vm.yaml", vm(name="other", memory="1Gi"))
    assert run(overlays, "check", ".").returncode != Exit.OK
    (overlays / "elsewhere").rename(overlays.parent / f"{overlays.name}-elsewhere")
    (overlays / "notes/out").unlink()
    (overlays / "notes/out").symlink_to(overlays.parent / f"{overlays.name}-elsewhere")
    assert run(overlays, "check", ".").returncode == Exit.OK


def test_what_lists_a_file_that_is_missing_is_an_error_beside_a_vm_that_none_lists(
    overlays: Path,
) -> None:
    """Also where an overlay lists that folder, and not where another kustomization lists the VM."""
    for folder in ("", "notes/"):
        put(overlays / f"{folder}base/kustomization.yaml", "resources: [vmm.yaml]\n")
        put(overlays / f"{folder}base/README.md", "not of kubevirt.io\n")
    done = run(overlays, "check", ".")
    assert done.returncode == Exit.UNREADABLE
    assert "kustomize build base: " in done.stdout
    assert "needed by overlays/prod, overlays/test" in done.stdout
    assert "error VR116 kustomize-failed: kustomize build notes" not in done.stdout
    put(overlays / "other/kustomization.yaml", "resources: [../base/vm.yaml]\n")
    done = run(overlays, "check", ".")
    assert "kustomize build overlays" not in done.stdout
    assert "4 kustomizations with missing resources" in done.stderr
    (overlays / "other/kustomization.yaml").unlink()
    put(overlays / "base/sub/kustomization.yaml", "resources: []\n")
    (overlays / "base/vm.yaml").rename(overlays / "base/sub/vm.yaml")
    done = run(overlays, "check", ".")
    assert "kustomize build overlays" not in done.stdout


def test_what_lists_a_file_that_is_not_there_is_a_warning_where_nobody_knows_of_vms(
    overlays: Path,
) -> None:
    """Once for each path, at its entry; others may put there what git ignores, and what is not the repository's."""
    put(overlays / ".gitignore", "made/\n/local.yaml\n")
    for name in ("x", "y"):
        listed = "[../../notes/bas, ../../made, ../../../out, note.yaml]"
        put(overlays / f"others/{name}/kustomization.yaml", f"resources: {listed}\n")
    put(overlays / "kustomization.yaml", "resources: [local.yaml]\n")
    done = run(overlays, "check", ".")
    assert done.returncode == Exit.OK
    assert done.stdout == (
        "others/x/kustomization.yaml:1:13: warning VR116 kustomize-failed: kustomize cannot build others/x and 1"
        " more: notes/bas is not there\n"
        "  help: did you mean ../../notes/base?\n"
        "others/x/kustomization.yaml:1:56: warning VR116 kustomize-failed: kustomize cannot build others/x:"
        " others/x/note.yaml is not there\n"
        "  help: mend the path, or take the entry out: nothing is there\n"
        "others/y/kustomization.yaml:1:56: warning VR116 kustomize-failed: kustomize cannot build others/y:"
        " others/y/note.yaml is not there\n"
        "  help: mend the path, or take the entry out: nothing is there\n"
    )
    assert "3 kustomizations with missing resources" in done.stderr
    assert run(overlays, "check", "--fail-on", "warning", ".").returncode != Exit.OK


def test_of_many_files_that_are_not_there_a_handful_is_named(overlays: Path) -> None:
    names = ", ".join(f"n{n}.yaml" for n in range(8))
    put(overlays / "more/kustomization.yaml", f"resources: [{names}]\n")
    printed = run(overlays, "check", ".").stdout
    assert printed.count("warning VR116") == 5
    assert "more/n4.yaml is not there, and 3 more paths of kustomizations (-v)\n" in printed


def test_what_a_sparse_checkout_leaves_out_is_there_for_kustomizations(overlays: Path) -> None:
    put(overlays / "more/kustomization.yaml", "resources: [../notes/base]\n")
    commit(overlays)
    git(overlays, "sparse-checkout", "set", "more", "base")
    done = run(overlays, "check", ".")
    assert done.stdout == ""
    assert "1 kustomization with missing resources" in done.stderr


@pytest.mark.parametrize(
    ("listed", "is_error"),
    [("bases", True), ("bsae", True), ("base2", False), ("note", False), ("../nowhere", False)],
)
def test_what_lists_a_folder_that_is_nearly_called_as_one_with_vms_is_an_error(
    listed: str,
    is_error: bool,  # noqa: FBT001
    overlays: Path,
) -> None:
    """What is not there may be meant for who adds it, unless its name is one but for a slip."""
    put(overlays / "notes/note.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
    put(overlays / "more/kustomization.yaml", f"resources: [../{listed}]\n")
    done = run(overlays, "check", ".")
    assert (done.returncode == Exit.UNREADABLE) == is_error
    assert ("kustomize build more: " in done.stdout) == is_error
    assert ("1 kustomization with missing resources" in done.stderr) != is_error


@pytest.mark.parametrize(
    ("listed", "is_error"),
    [
        ("../vms", True),
        ("../../../vms", False),
        ("../group/held", True),
        ("../../gruop/held", True),
        ("../../group2/held", False),
        ("../made", False),
        ("../plain", False),
    ],
)
def test_what_lists_a_folder_of_vms_by_a_wrong_way_is_an_error(
    listed: str,
    is_error: bool,  # noqa: FBT001
    overlays: Path,
) -> None:
    """Not where git ignores what is missing, so that others make it, nor outside, nor of a folder without VMs."""
    for folder in ("vms", "group/held", "made"):
        put(overlays / folder / "kustomization.yaml", "resources: [vm.yaml]\n")
        put(overlays / folder / "vm.yaml", vm(name="web", memory="1Gi"))
    put(overlays / "plain/kustomization.yaml", "namePrefix: x\n")
    put(overlays / ".gitignore", "overlays/made\n")
    put(overlays / "overlays/wrong/kustomization.yaml", f"resources: [{listed}]\n")
    done = run(overlays, "check", ".")
    assert (done.returncode == Exit.UNREADABLE) == is_error, done.stdout
    assert ("kustomize build overlays/wrong: " in done.stdout) == is_error
    assert ("1 kustomization with missing resources" in done.stderr) != is_error


def test_what_lists_something_in_a_closed_folder_is_counted(overlays: Path) -> None:
    """Nobody knows what stands there; all else is read."""
    put(overlays / "more/kustomization.yaml", "resources: [../closed/bsae]\n")
    put(overlays / "closed/base/vm.yaml", vm(name="web", memory="1Gi"))
    (overlays / "closed").chmod(0)
    try:
        done = process.run("check", ".", cwd=overlays, VIRT_RENDER_TESTS_HELD_BACK="1")
    finally:
        (overlays / "closed").chmod(0o700)
    assert "VR901" not in done.stderr
    assert "1 kustomization with missing resources" in done.stderr
    assert done.returncode == Exit.UNREADABLE  # for the closed folder itself


def test_a_folder_outside_of_the_repository_is_not_asked_for_near_names(tmp_path: Path) -> None:
    """A repository that others wrote says by no status what folders are around it."""
    put(tmp_path / "around/base/vm.yaml", vm(name="web", memory="1Gi"))
    put((made := tmp_path / "made") / "vm.yaml", vm(name="db", memory="1Gi"))
    git(made, "init", "--quiet")
    put(made / "more/kustomization.yaml", "resources: [../../around/bsae]\n")
    done = run(made, "check", ".")
    assert done.returncode == Exit.OK, done.stdout
    assert "1 kustomization with missing resources" in done.stderr


@pytest.mark.parametrize(
    ("right", "wrong"), [("kubevirt.io/v1", "kubvirt.io/v1"), ("kind: VirtualM", "kind: VirtulM")]
)
def test_a_patch_finds_its_vm_once_the_kind_of_that_is_mended(
    tmp_path: Path, right: str, wrong: str
) -> None:
    """The patch is right: what cannot be built stands below the slip, and no help spreads that."""
    put(tmp_path / "base/vm.yaml", vm("web", memory="1Gi").replace(right, wrong, 1))
    put(tmp_path / "base/kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "dev/kustomization.yaml", "resources: [../base]\n")
    patch = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web}\n"
    put(tmp_path / "prod/patch.yaml", f"{patch}spec: {{runStrategy: Halted}}\n")
    put(
        tmp_path / "prod/kustomization.yaml",
        "resources: [../base]\npatches: [{path: patch.yaml}]\n",
    )
    printed = run(tmp_path, "check", ".").stdout
    assert printed.startswith("base/vm.yaml:")
    assert "\n  also, until that is mended: prod/patch.yaml:" in printed
    assert printed.count("\n  help: ") == 1


def test_a_definition_that_is_refused_has_no_other_name(tmp_path: Path) -> None:
    """It is there, under an apiVersion that no release serves: no near name is offered for it."""
    put(tmp_path / "size.yaml", instancetype("u1.smal").replace("v1beta1", "v1"))
    put(tmp_path / "vm.yaml", vm(instancetype="u1.smal"))
    printed = run(tmp_path, "check", ".").stdout
    assert "VR123" in printed
    assert "\n  also, until that is mended: vm.yaml:" in printed
    assert "did you mean" not in printed


def test_a_file_of_several_overlays_says_at_its_line_what_is_wrong(repository: Path) -> None:
    """kustomize says it in the words of each overlay."""
    with (repository / "base/vm.yaml").open("a", encoding="utf-8") as stream:
        stream.write("x: [\n")
    line = len((repository / "base/vm.yaml").read_text("utf-8").splitlines())
    checked = run(repository, "check", ".")
    assert checked.returncode == Exit.UNREADABLE
    (told,) = (text for text in checked.stdout.splitlines() if "base/vm.yaml" in text)
    assert told.startswith(f"base/vm.yaml:{line}:4: error VR116")
    assert "kustomize cannot read base/vm.yaml" in told
    compared = run(repository, "diff", "HEAD").stdout
    assert "(1 new, 1 as before)" in compared


@pytest.mark.parametrize("words", [("pin", "."), ("check", ".")])
def test_a_pinned_definition_may_stand_in_what_cannot_be_read(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    """It is not called gone, and no lock is made for the input that cannot be read."""
    put(tmp_path / "prod/kustomization.yaml", "namespace: prod\nresources: [vm.yaml]\n")
    put(tmp_path / "prod/vm.yaml", vm(name="web", instancetype="small"))
    put(tmp_path / "defs/small.yaml", instancetype())
    done = run(tmp_path, "pin", ".")
    assert done.returncode == Exit.OK, done.stderr
    written = (tmp_path / f"prod/{LOCK}").read_text()
    put(tmp_path / "defs/small.yaml", instancetype() + "a: [\n")
    done = run(tmp_path, *words)
    assert done.returncode == Exit.FINDINGS
    found = done.stdout + done.stderr
    assert (
        "rendered from the lock; it may stand in defs/small.yaml (VR101), which cannot be read"
        in found
    )
    assert "help: first mend defs/small.yaml" in found
    assert [path.parent.name for path in tmp_path.rglob(LOCK)] == ["prod"]
    assert (tmp_path / f"prod/{LOCK}").read_text() == written


#: What is wrong in a base, and what is said of it once.
_FAULTS_OF_A_BASE = {
    "resources: [vm.yaml, gone.yaml]\n": (
        "base/kustomization.yaml:1:22: error VR116 kustomize-failed: kustomize build base: Error: accumulating "
    ),
    "resources: [vm.yaml]\nresourcez: []\n": (
        "base/kustomization.yaml:2:1: error VR116 kustomize-failed: kustomize build base: Error: invalid "
    ),
    "resources: [vm.yaml]\npatches:\n- target: {kind: VirtualMachine}\n"
    "  patch: |-\n    - {op: remove, path: /spec/nothing}\n": (
        "base/kustomization.yaml:5:20: error VR116 kustomize-failed: kustomize build base: Error: error in remove for "
    ),
}


@pytest.mark.parametrize("text", _FAULTS_OF_A_BASE)
def test_what_is_wrong_in_a_base_is_said_once_of_all_its_overlays(
    text: str, tmp_path: Path
) -> None:
    """In kustomize's words they differ by the way to the base."""
    (tmp_path / ".git").mkdir()
    put(tmp_path / "base/kustomization.yaml", text)
    put(tmp_path / "base/vm.yaml", vm())
    for name in ("dev", "prod", "qa", "test"):
        put(tmp_path / f"overlays/{name}/kustomization.yaml", "resources: [../../base]\n")
    done = run(tmp_path, "check", ".")
    assert done.returncode == Exit.UNREADABLE
    assert done.stdout.count(" error VR") == 1
    assert done.stdout.startswith(_FAULTS_OF_A_BASE[text])
    needed = "\n  needed by overlays/dev, overlays/prod, overlays/qa and 1 more\n"
    assert needed in done.stdout
    for path in ("overlays/dev", "base/vm.yaml"):
        assert run(tmp_path, "check", path).stdout.startswith(_FAULTS_OF_A_BASE[text])


def test_what_an_overlay_or_a_component_does_is_said_of_each_overlay(tmp_path: Path) -> None:
    """Alone the component is no fault of anybody's."""
    patch = "patches:\n- target: {kind: VirtualMachine}\n  patch: |-\n    - {op: remove, path: /spec/nothing}\n"
    component = "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n"
    put(tmp_path / "base/kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "base/vm.yaml", vm())
    put(tmp_path / "part/kustomization.yaml", f"{component}{patch}")
    put(tmp_path / "a/kustomization.yaml", "resources: [../base]\ncomponents: [../part]\n")
    put(tmp_path / "b/kustomization.yaml", f"resources: [../base, gone.yaml]\n{patch}")
    done = run(tmp_path, "check", ".")
    assert "kustomize build a: Error: accumulating components: " in done.stdout
    assert "kustomize build b: Error: " in done.stdout
    assert done.stdout.count("needed by") == 1
    assert "part/kustomization.yaml:6:20: error VR116" in done.stdout


def test_a_pinned_definition_may_stand_in_a_loose_file_that_cannot_be_read(loose: Path) -> None:
    assert run(loose, "pin", "vms").returncode == Exit.OK
    put(loose / "vms/definition.yaml", BROKEN)
    done = run(loose, "check", ".")
    assert "it may stand in vms/definition.yaml (VR102), which cannot be read" in done.stdout


def test_a_document_that_is_no_yaml_beside_a_vm_is_said(tmp_path: Path) -> None:
    """kubectl, kustomize and Argo CD refuse the file; one without a VM nobody asked about, nor for a template."""
    put(tmp_path / "vm.yaml", f"{vm(memory='1Gi')}---\na: [[[[\n")
    put(tmp_path / "others.yaml", "a: [[[[\n")
    put(tmp_path / "template.yaml", f"{vm(name='other', memory='1Gi')}---\na: {{{{ b }}}}: c\n")
    done = run(tmp_path, "check", ".")
    assert done.stdout.startswith("vm.yaml:14:7: error VR101 yaml-syntax: ")
    assert done.stdout.count("VR101") == 1
    assert "2 VMs: 1 error" in done.stderr
    (tmp_path / "vm.yaml").unlink()
    assert run(tmp_path, "check", ".").returncode == Exit.OK


def test_what_a_vm_misses_may_stand_in_what_a_sparse_checkout_leaves_out(tmp_path: Path) -> None:
    """As the index has it: git takes these files for being there."""
    repository = Repository(tmp_path)
    repository.write("vms/vm.yaml", vm(name="web", instancetype="small"))
    repository.write("defs/small.yaml", instancetype("small"))
    repository.write("defs/other.yaml", vm(name="other", instancetype="large"))
    repository.commit("all")
    repository.git("sparse-checkout", "set", "vms")
    for words in (("check",), ("check", "vms"), ("check", "vms/vm.yaml")):
        done = repository.run(*words)
        assert done.returncode == Exit.OK
        assert "warning VR201" in done.stdout
        assert (
            "it may stand in defs/small.yaml, which the sparse checkout leaves out" in done.stdout
        )
        assert "help: take that along: git sparse-checkout add defs" in done.stdout
    built = repository.run("build", "vms")
    assert built.returncode == Exit.FINDINGS
    assert (
        "help: it may stand in defs/small.yaml, which the sparse checkout leaves out"
        in built.stderr
    )
    repository.write("vms/vm.yaml", vm(name="web", instancetype="large"))
    assert "error VR201" in repository.run("check").stdout  # a VM names it there, and none is it
    repository.git("sparse-checkout", "add", "defs")
    repository.write("vms/vm.yaml", vm(name="web", instancetype="small"))
    assert "VR201" not in repository.run("check", "vms").stdout


def test_a_diff_from_a_folder_below_says_what_one_from_the_top_says(tmp_path: Path) -> None:
    """Loose files beside the lock of all are one input, however their folder is named."""
    repository = Repository(tmp_path)
    for name in ("web", "db"):
        repository.write(f"{name}.yaml", vm(name=name, memory="1Gi"))
    repository.write("notes/note.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
    repository.write("team/vm.yaml", vm(name="own", memory="1Gi"))
    repository.fine("pin")
    repository.fine("pin", "team")
    repository.commit("all")
    repository.write("web.yaml", vm(name="web", memory="1Gi") + "spec: {}\n")
    told = repository.run("diff").stdout.partition("\n")[0]
    assert told == "3 VMs: 1 unrenderable, 2 same"
    for path, folder in (("..", tmp_path / "notes"), (tmp_path.name, tmp_path.parent)):
        assert process.run("diff", path, cwd=folder).stdout.partition("\n")[0] == told


def test_diff_says_that_edits_of_vms_of_a_remote_base_changed(tmp_path: Path) -> None:
    """An inline patch says of which kind its target is; what others take from elsewhere is no matter."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    put(tmp_path / "vm.yaml", vm(name="web", memory="1Gi"))
    patch = "patches: [{target: {kind: VirtualMachine}, patch: '[]'}]\n"
    for name, text in (("prod", patch), ("operator", "")):
        remote = f"resources: ['https://example.invalid/{name}?ref=v1']\n"
        put(tmp_path / f"{name}/kustomization.yaml", remote + text)
    commit(tmp_path)
    assert "cannot be compared" not in run(tmp_path, "diff", "HEAD").stdout
    for name in ("prod", "operator"):
        file = tmp_path / f"{name}/kustomization.yaml"
        put(file, file.read_text().replace("v1", "v2"))
    done = run(tmp_path, "diff", "HEAD")
    assert done.stdout.startswith("1 VM: 1 same; prod changed and cannot be compared\n")
    assert "; not compared: prod (VR122)" in done.stdout
    assert done.returncode == Exit.OK


def test_at_one_place_of_a_template_each_vm_has_a_value_of_its_own(tmp_path: Path) -> None:
    """That of one is a number where a text belongs, and nothing follows of that for the other."""
    disks = "devices: {disks: [{name: x, disk: {bus: {{ .bus }}}}]}"
    text = vm(name="{{ .name }}", memory="1Gi").replace("devices: {}", disks)
    volume = "      volumes: [{name: x, emptyDisk: {capacity: 1Gi}}]\n"
    machines = f"{{{{- range .Values.vms }}}}\n---\n{text}{volume}{{{{- end }}}}\n"
    put(tmp_path / "Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n")
    put(tmp_path / "values.yaml", "vms: [{name: a, bus: 1}, {name: b, bus: foo}]\n")
    put(tmp_path / "templates/vm.yaml", machines)
    printed = run(tmp_path, "check", ".").stdout
    assert " error VR106 wrong-type: VirtualMachine a: " in printed
    assert "\ntemplates/vm.yaml:" in printed
    assert " error VR420 disks/bus: VirtualMachine b: " in printed
    assert "until that is mended" not in printed


@pytest.mark.parametrize(
    ("kind", "is_told"), [("VirtualMachine", True), ("VirtualMachineInstancetype", False)]
)
def test_a_vm_without_a_name_brings_no_definition(
    tmp_path: Path, kind: str, *, is_told: bool
) -> None:
    """It is one more that names it; a definition without its name may be that one."""
    git(tmp_path, "init", "--quiet")
    put(tmp_path / "vms/web.yaml", vm(name="web", instancetype="own"))
    nameless = vm(name="other", instancetype="own").replace("  name: other\n", "  labels: {}\n", 1)
    put(
        tmp_path / "vms/other.yaml",
        nameless.replace("kind: VirtualMachine\n", f"kind: {kind}\n", 1),
    )
    for words in (("check", "."), ("check", "vms/web.yaml")):
        assert ("error VR201" in run(tmp_path, *words).stdout) == is_told
