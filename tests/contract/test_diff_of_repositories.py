"""``virt-render diff`` of repositories as people lay them out: moved folders, overlays, and errors old and new.

The ids in the docstrings are those of the findings that each test holds.
"""

import contextlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.frontends.dispatch import invoke
from render.system.git import EMPTY_TREE
from render.system.programs import processes
from tests.support import manifests
from tests.support.repository import Repository

Json = dict[str, Any]


class Review(NamedTuple):
    """What `diff` ended with and printed."""

    status: int
    text: str
    errors: str = ""

    @property
    def json(self) -> Json:
        """What it printed, as JSON."""
        document: Json = json.loads(self.text)
        return document

    @property
    def effects(self) -> dict[str, tuple[str, ...]]:
        """The effects of each VM, by its name."""
        return {
            machine["resource"]["name"]: tuple(machine["effects"])
            for machine in self.json["machines"]
        }


Run = Callable[..., Review]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path / "repository")
    monkeypatch.chdir(made.folder)
    return made


@pytest.fixture
def diff(repository: Repository, capfd: pytest.CaptureFixture[str]) -> Run:
    """``diff`` in the folder, of the last commit if nothing else is said."""

    def run(*words: str, revisions: str = "HEAD~1..HEAD") -> Review:
        assert Path.cwd() == repository.folder
        capfd.readouterr()
        status = invoke(["diff", revisions, *words])
        return Review(status, *capfd.readouterr())

    return run


def vm(name: str = "web", **options: str) -> str:
    return manifests.vm(name, **{"namespace": "prod", "memory": "1Gi", **options})


@pytest.mark.parametrize("path", ["apps/prod", "apps/base", "apps/base/web.yaml"])
def test_what_vms_of_a_path_refer_to_is_found_in_the_repository(
    path: str, repository: Repository, diff: Run
) -> None:
    """Definitions and the cluster's settings stand beside it; nothing is said of the VMs there."""
    web = manifests.vm("web", instancetype="small")
    repository.write("apps/base/web.yaml", web)
    repository.write("apps/base/kustomization.yaml", "resources: [web.yaml]\n")
    repository.write("apps/prod/kustomization.yaml", "namespace: prod\nresources: [../base]\n")
    repository.write("platform/small.yaml", manifests.instancetype("small"))
    repository.write("other/db.yaml", vm("db"))
    repository.commit("Two VMs")
    repository.write("apps/base/web.yaml", web.replace("devices: {}", "devices: {rng: {}}"))
    repository.write("other/db.yaml", vm("db", memory="2Gi"))
    repository.commit("Another image")
    assert diff(path, "--format", "json").effects == {"web": ("restart",)}
    assert diff(path, "--format", "json", revisions="HEAD~1").effects == {"web": ("restart",)}


def test_git_is_started_for_what_only_it_knows(
    repository: Repository, diff: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the repository is, what each revision means, and of each what is in it, by name and then whole."""
    repository.write("vms/web.yaml", vm())
    repository.commit("A VM")
    repository.write("vms/web.yaml", vm(memory="2Gi"))
    repository.commit("An edit")
    started: list[str] = []
    start = processes.run

    def noted(command: list[str], **options: Any) -> Any:
        started.append(next(word for word in command[1:] if word != "-c" and "=" not in word))
        return start(command, **options)

    monkeypatch.setattr(processes, "run", noted)
    assert diff("--format", "json").effects == {"web": ("restart",)}
    assert started == [*["rev-parse"] * 3, *["ls-tree", "cat-file"] * 2]


def test_a_link_below_a_path_may_lead_to_anything_in_the_repository(
    repository: Repository, diff: Run
) -> None:
    repository.write("vms/web.yaml", vm())
    repository.commit("A VM")
    repository.write("shared/web.yaml", vm(memory="2Gi"))
    (repository.folder / "vms/web.yaml").unlink()
    (repository.folder / "vms/web.yaml").symlink_to("../shared/web.yaml")
    repository.commit("The same VM, shared")
    assert diff("vms", "--format", "json").effects == {"web": ("restart",)}


def test_a_moved_folder_holds_the_same_vms(repository: Repository, diff: Run) -> None:
    """``git mv vms machines``, with a kustomization in it."""
    repository.write("vms/kustomization.yaml", "resources: [web.yaml, db.yaml]\n")
    repository.write("vms/web.yaml", vm())
    repository.write("vms/db.yaml", vm("db"))
    repository.commit("Two VMs")
    repository.git("mv", "vms", "machines")
    repository.commit("Moved")
    assert diff("--format", "json").effects == {"web": ("same",), "db": ("same",)}
    repository.write("machines/web.yaml", vm(memory="2Gi"))
    repository.commit("Moved and edited")
    text = diff(revisions="HEAD~2..HEAD").text
    assert "2 VMs: 1 restart, 1 same" in text or "2 VMs: 1 migrate, 1 same" in text
    assert "vms -> machines" in text
    assert "machines/web.yaml:" in text
    (web, _) = diff("--format", "json", revisions="HEAD~2..HEAD").json["machines"]
    assert (web["kustomization"], web["movedFrom"]) == ("machines", "vms")


def test_an_overlay_whose_base_has_moved_cannot_be_rendered(
    repository: Repository, diff: Run
) -> None:
    """Nothing that kustomize still finds for the overlay has a word of KubeVirt's."""
    repository.write("base/kustomization.yaml", "resources: [web.yaml]\n")
    repository.write("base/web.yaml", vm())
    repository.write("overlays/prod/kustomization.yaml", "resources: [../../base]\n")
    repository.commit("An overlay")
    repository.git("mv", "base", "base2")
    repository.commit("Moved")
    reviewed = diff()
    assert reviewed.status == 1
    assert "after: 1 error (new), build prints nothing" in reviewed.text
    assert "it lists base, which is not there" in reviewed.text
    # Nobody has applied the base by itself, wherever it stands.
    assert reviewed.text.startswith("1 VM: 1 unrenderable\n")
    assert invoke(["check", "."]) == 0
    repository.write("base2/db.yaml", vm("db"))
    repository.write("base2/kustomization.yaml", "resources: [web.yaml, db.yaml]\n")
    repository.commit("What no overlay has had")
    assert "1 unrenderable, 2 new" in diff(revisions="HEAD~2..HEAD").text


def test_submodules_are_compared_in_no_state(
    repository: Repository, diff: Run, tmp_path: Path
) -> None:
    """A commit has the name of one alone; in the working tree it may be there with all that it holds."""
    module = Repository(tmp_path / "module")
    module.write("vm.yaml", vm("inner"))
    module.commit("A VM")
    repository.write("web.yaml", vm())
    repository.commit("A VM")
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(module.folder), "sub")
    repository.git(*add)
    repository.commit("A submodule")
    for revisions in ("HEAD~1..HEAD", "HEAD", "HEAD~1"):
        reviewed = diff(revisions=revisions)
        assert reviewed.status == 0
        assert "1 VM: 1 same" in reviewed.text
        assert "not looked at: 1 submodule" in reviewed.text
    assert invoke(["check", "."]) == 0


def test_a_submodule_that_is_not_checked_out_is_counted(
    repository: Repository, tmp_path: Path
) -> None:
    """A clone has an empty folder for it, unless somebody asks for more; Argo CD does."""
    module = Repository(tmp_path / "module")
    module.write("vm.yaml", vm("inner"))
    module.commit("A VM")
    repository.write("web.yaml", vm())
    repository.commit("A VM")
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(module.folder))
    repository.git(*add, "infra/sub")
    repository.commit("A submodule")
    repository.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    for words in (("check", "."), ("check", "infra"), ("diff", "HEAD~1"), ("diff", "HEAD~1..")):
        done = clone.run(*words)
        assert done.returncode == 0
        assert "not looked at: 1 submodule" in done.stdout + done.stderr
    clone.write(
        ".virt-render.yaml",
        "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {exclude: [infra/sub]}\n",
    )
    assert "submodule" not in clone.run("check", ".").stderr


def test_a_kustomization_that_comes_or_goes_changes_no_vm(
    repository: Repository, diff: Run
) -> None:
    """Loose files get a kustomization, and lose it; others beside them stay as they are."""
    for name in ("a", "b"):
        repository.write(f"vms/{name}.yaml", vm(name))
    repository.write("other/c.yaml", vm("c"))
    repository.commit("Loose files")
    repository.write("vms/kustomization.yaml", "resources: [a.yaml, b.yaml]\n")
    repository.commit("A kustomization")
    same = dict.fromkeys(("a", "b", "c"), ("same",))
    assert diff("--format", "json").effects == same
    assert diff("--format", "json", revisions="HEAD..HEAD~1").effects == same


def test_a_move_that_changes_nothing_else_is_said(repository: Repository, diff: Run) -> None:
    repository.write("all/kustomization.yaml", "resources: [a, b]\n")
    for name in ("a", "b"):
        repository.write(f"all/{name}/kustomization.yaml", "resources: [vm.yaml]\n")
        repository.write(f"all/{name}/vm.yaml", vm(name))
    repository.commit("One kustomization of two")
    repository.write("all/kustomization.yaml", "resources: [a]\n")
    repository.commit("One of both")
    for form in ("text", "markdown", "html"):
        text = diff("--format", form).text.lower()
        assert "moved, and as they were if both places are applied: " in text
        assert re.search(r"all -(>|&gt;) all/b \(1 vm\)", text)
    repository.write("all/b/vm.yaml", vm("b", memory="2Gi"))
    repository.commit("An edit")
    assert "as they were" not in diff(revisions="HEAD~2..HEAD").text


def test_what_vms_of_other_folders_refer_to_is_told_where_it_stands(
    repository: Repository, diff: Run
) -> None:
    """Two inputs have VMs that clone a disk of a third one, whose edit is refused: once."""
    image = (
        "apiVersion: cdi.kubevirt.io/v1beta1\nkind: DataVolume\n"
        "metadata: {name: golden, namespace: images}\n"
        "spec:\n  source: {http: {url: 'https://example.com/1'}}\n"
        "  storage: {resources: {requests: {storage: 1Gi}}}\n"
    )
    template = (
        "  dataVolumeTemplates:\n  - metadata: {name: NAME-root}\n    spec:\n"
        "      source: {pvc: {name: golden, namespace: images}}\n"
        "      storage: {resources: {requests: {storage: 1Gi}}}\n"
    )
    repository.write("images/kustomization.yaml", "resources: [golden.yaml]\n")
    repository.write("images/golden.yaml", image)
    for name in ("a", "b"):
        text = vm(name).replace("spec:\n", f"spec:\n{template.replace('NAME', name)}", 1)
        repository.write(f"{name}/vm.yaml", text)
        repository.write(f"{name}/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.commit("Two that clone a third")
    repository.write("images/golden.yaml", image.replace("com/1", "com/2"))
    repository.commit("Another image")
    answer = diff()
    assert answer.text.startswith("2 VMs and 1 DataVolume: 1 refused, 2 same\n")
    assert answer.text.count("Cannot update DataVolume Spec") == 1


def test_a_vm_that_moves_to_an_overlay_is_compared(repository: Repository, diff: Run) -> None:
    """Base to overlay: the overlay's patch is an edit of the VM, and no new VM."""
    repository.write("base/kustomization.yaml", "resources: [web.yaml]\n")
    repository.write("base/web.yaml", vm())
    repository.commit("A base")
    patch = (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web, namespace: prod}\n"
    )
    patch += "spec: {template: {spec: {domain: {memory: {guest: 2Gi}}}}}\n"
    repository.write(
        "prod/kustomization.yaml", "resources: [../base]\npatches: [path: more.yaml]\n"
    )
    repository.write("prod/more.yaml", patch)
    repository.commit("An overlay")
    (web,) = diff("--format", "json").json["machines"]
    assert "new" not in web["effects"]
    assert "gone" not in web["effects"]
    cause = next(
        change["cause"] for change in web["changes"] if change["field"].endswith("memory.guest")
    )
    assert (cause["file"], cause["line"]) == ("prod/more.yaml", 4)


def test_vms_of_one_name_move_with_folders_of_one_name(repository: Repository, diff: Run) -> None:
    """Where a VM stands in several overlays, the way must lead to a folder of the same name."""
    for name in ("dev", "prod"):
        repository.write(f"overlays/{name}/kustomization.yaml", "resources: [web.yaml]\n")
        repository.write(f"overlays/{name}/web.yaml", vm(memory="1Gi" if name == "dev" else "4Gi"))
    repository.commit("Two overlays")
    repository.git("mv", "overlays", "clusters")
    repository.commit("Moved")
    machines = diff("--format", "json").json["machines"]
    assert [(machine["kustomization"], machine["effects"]) for machine in machines] == [
        ("clusters/dev", ["same"]),
        ("clusters/prod", ["same"]),
    ]
    repository.git("mv", "clusters/dev", "clusters/staging")
    repository.commit("Renamed")
    # Nobody can say that it is the same one, or a third: it counts as what it may be at worst.
    effects = [machine["effects"] for machine in diff("--format", "json").json["machines"]]
    assert sorted(effects) == [["gone"], ["new"], ["same"]]


@pytest.mark.parametrize(("is_pinned_before", "moves"), [(False, True), (True, False)])
def test_vms_of_a_renamed_folder_are_synced_as_they_were(
    repository: Repository, *, is_pinned_before: bool, moves: bool
) -> None:
    """A lock in one state alone says of both that its VMs are rendered, wherever their folder is in the other one."""
    repository.write("platform/large.yaml", manifests.instancetype("large"))
    repository.write("prod/web.yaml", manifests.vm("web", instancetype="large"))
    repository.write("prod/kustomization.yaml", "resources: [web.yaml]\n")
    repository.commit("An overlay")
    repository.fine("pin", ".")
    if is_pinned_before:
        repository.commit("A lock")
    repository.folder.joinpath("production").mkdir()
    for name in ("web.yaml", "kustomization.yaml", *(("virt-render.lock.yaml",) if moves else ())):
        (repository.folder / "prod" / name).rename(repository.folder / "production" / name)
    repository.commit("Renamed")
    lines = repository.fine("diff", "HEAD~1..HEAD").splitlines()
    assert lines[0] == "1 VM: 1 none"
    assert "prod -> production (1 VM)" in "".join(lines)


def test_a_vm_that_is_copied_on_its_way_is_not_gone(repository: Repository, diff: Run) -> None:
    repository.write("machines/web/kustomization.yaml", "resources: [web.yaml]\n")
    repository.write("machines/web/web.yaml", vm())
    repository.commit("A VM")
    repository.git("mv", "machines", "old")
    for folder in ("new/machines/web", "old/web"):
        repository.write(f"{folder}/kustomization.yaml", "resources: [web.yaml]\n")
        repository.write(f"{folder}/web.yaml", vm())
    repository.commit("Moved, and copied")
    machines = diff("--format", "json").json["machines"]
    assert [(machine["kustomization"], machine["effects"]) for machine in machines] == [
        ("old/web", ["new"]),
        ("new/machines/web", ["same"]),
    ]


BASE = manifests.vm("web", memory="1Gi")
PATCHED = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec: {template: {spec: {domain: {memory: {guest: AMOUNT}}}}}
"""


def overlays(repository: Repository, amount: str, above: str = "") -> None:
    """A base, and two overlays that patch it alike."""
    repository.write("base/kustomization.yaml", "resources: [web.yaml]\n")
    repository.write("base/web.yaml", above + BASE)
    for name in ("dev", "prod"):
        text = f"namespace: {name}\nresources: [../../base]\npatches: [path: memory.yaml]\n"
        repository.write(f"overlays/{name}/kustomization.yaml", text)
        repository.write(f"overlays/{name}/memory.yaml", above + PATCHED.replace("AMOUNT", amount))


def causes(messages: Review, field: str) -> dict[str, tuple[str, int]]:
    """Where the change of *field* was written, by the namespace of the VM."""
    return {
        machine["resource"]["namespace"]: (change["cause"]["file"], change["cause"]["line"])
        for machine in messages.json["machines"]
        for change in machine["changes"]
        if change["field"] == field
    }


@pytest.fixture
def compared(repository: Repository) -> str:
    """A range of commits in which overlays and their base change, before every line moved."""
    overlays(repository, "2Gi")
    repository.commit("Overlays")
    overlays(repository, "4Gi")
    repository.write("base/web.yaml", BASE.replace("devices: {}", "devices: {rng: {}}"))
    commit = repository.commit("Larger")
    overlays(repository, "4Gi", above="# a line\n" * 3)
    repository.commit("Lines above")
    return f"{commit}~1..{commit}"


def expect_places(messages: Review) -> None:
    assert causes(messages, "spec.domain.memory.guest") == {
        "dev": ("overlays/dev/memory.yaml", 4),
        "prod": ("overlays/prod/memory.yaml", 4),
    }
    line = BASE[: BASE.index("devices: {}")].count("\n") + 1
    expected = dict.fromkeys(("dev", "prod"), ("base/web.yaml", line))
    assert causes(messages, "spec.domain.devices.rng") == expected


def test_places_are_those_of_the_compared_commits(compared: str, diff: Run) -> None:
    """Base and patches are looked up in the commits, and not in the working tree."""
    expect_places(diff("--format", "json", revisions=compared))


@pytest.mark.parametrize("affix", ["namespace: NAME", "namePrefix: NAME-", "nameSuffix: -NAME"])
def test_the_patch_of_the_overlay_that_was_built_is_named(
    repository: Repository, diff: Run, affix: str
) -> None:
    """Both overlays, which patch one value alike, are built by one kustomization."""
    for amount in ("2Gi", "4Gi"):
        overlays(repository, amount)
        for name in ("dev", "prod"):
            text = f"{affix.replace('NAME', name)}\nresources: [../../base]\npatches: [path: memory.yaml]\n"
            repository.write(f"overlays/{name}/kustomization.yaml", text)
        repository.write("kustomization.yaml", "resources: [overlays/dev, overlays/prod]\n")
        repository.commit(amount)
    files = {
        change["cause"]["file"]
        for machine in diff("--format", "json").json["machines"]
        for change in machine["changes"]
    }
    assert files == {"overlays/dev/memory.yaml", "overlays/prod/memory.yaml"}


def test_a_requirement_names_the_patch_that_chose_the_instancetype(
    repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    """VR401, where a patch says another name, and the base the kind."""
    text = vm(instancetype="big", memory="", kind="VirtualMachineClusterInstancetype")
    preference = "  preference: {name: linux}\n  template:"
    repository.write("base/web.yaml", text.replace("  template:", preference, 1))
    for name, cpus in (("big", 4), ("tiny", 1)):
        repository.write(f"base/{name}.yaml", manifests.instancetype(name, cpus=cpus))
    linux = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterPreference
metadata: {name: linux}
spec: {requirements: {cpu: {guest: 2}}}
"""
    repository.write("base/linux.yaml", linux)
    resources = "resources: [web.yaml, big.yaml, tiny.yaml, linux.yaml]\n"
    repository.write("base/kustomization.yaml", resources)
    repository.write(
        "prod/kustomization.yaml", "resources: [../base]\npatches: [path: tiny.yaml]\n"
    )
    head = (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web, namespace: prod}\n"
    )
    repository.write("prod/tiny.yaml", f"{head}spec:\n  instancetype:\n    name: tiny\n")
    invoke(["check", "--format", "json"])
    found = json.loads(capfd.readouterr().out)["diagnostics"]
    (unmet,) = (diagnostic for diagnostic in found if diagnostic["code"] == "VR401")
    assert (unmet["file"], unmet["line"]) == ("prod/tiny.yaml", 5)


def test_places_are_known_in_a_bare_clone(
    repository: Repository, compared: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A bare clone has no files but those of the commits."""
    bare = tmp_path / "bare.git"
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    capfd.readouterr()
    with contextlib.chdir(bare):
        status = invoke(["diff", compared, "--format", "json"])
    expect_places(Review(status, capfd.readouterr().out))


BROKEN = vm("broken", instancetype="nowhere", memory="")
UNRENDERED = f"{BROKEN}{{{{ nonsense }}}}\n"
#: A field that KubeVirt does not know.
UNKNOWN = vm("odd").replace("devices: {}", "devices: {}\n        nonsense: 1")


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_old_errors_fail_no_later_commit(repository: Repository, diff: Run, form: str) -> None:
    """A commit that touches a README ends with 0, whatever was wrong before; old errors are a number."""
    repository.write("web.yaml", vm())
    repository.write("broken.yaml", BROKEN)
    repository.write("odd.yaml", UNKNOWN)
    repository.commit("One VM of three renders")
    repository.write("README.md", "Hello\n")
    repository.commit("Words")
    answer = diff("--emit", "vm", "--format", form)
    assert answer.status == 0
    assert "after: 2 errors" in answer.text
    assert "(as before)" in answer.text
    assert "nonsense" not in answer.text
    assert "not found" not in answer.text


def test_new_gone_and_remaining_errors_are_told_apart(repository: Repository, diff: Run) -> None:
    """Each by itself, in words and as JSON; only new ones fail."""
    repository.write("broken.yaml", BROKEN)
    repository.write("odd.yaml", UNKNOWN)
    repository.commit("Two errors")
    repository.write("odd.yaml", vm("odd"))
    repository.write("late.yaml", vm("late", instancetype="absent", memory=""))
    repository.commit("One mended, one made")
    answer = diff("--emit", "vm")
    assert answer.status == 1
    assert "after: 2 errors (1 new, 1 as before), build prints nothing; 1 error gone" in answer.text
    found = diff("--emit", "vm", "--format", "json").json["errors"]
    names = {key: [item["resource"]["name"] for item in found[key]] for key in found}
    assert names == {"new": ["late"], "remaining": ["broken"], "gone": ["odd"]}
    assert diff("--emit", "vm", revisions="HEAD~1..HEAD~1").status == 0


@pytest.mark.parametrize("emit", ["source", "vm"])
def test_repaired_vms_are_no_failure(repository: Repository, diff: Run, emit: str) -> None:
    """Five VMs that can be rendered again are ``5 repaired``."""
    names = [f"vm-{number}" for number in range(5)]
    for name in names:
        repository.write(f"{name}.yaml", vm(name, instancetype="small", memory=""))
    repository.commit("The instancetype is missing")
    small = manifests.instancetype("small", cpus=2, memory="2Gi")
    repository.write("small.yaml", small)
    repository.commit("Here it is")
    answer = diff("--emit", emit)
    assert answer.status == 0
    assert "5 VMs: 5 repaired" in answer.text
    assert "could not be rendered before, and can be now: " in answer.text


def test_an_error_moves_with_its_vm(repository: Repository, diff: Run) -> None:
    """The errors of a VM whose folder moves are neither new nor gone."""
    repository.write("a/kustomization.yaml", "resources: [broken.yaml]\n")
    repository.write("a/broken.yaml", BROKEN)
    repository.commit("An error")
    repository.git("mv", "a", "b")
    repository.commit("Moved")
    answer = diff("--emit", "vm")
    assert answer.status == 0
    assert "after: 1 error (as before), build prints nothing" in answer.text


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"kustomization.yaml": "resources: [broken.yaml]\nfoo: 1\n", "broken.yaml": BROKEN}, "VR116"),
        ({"kustomization.yaml": "resources: [broken.yaml\n", "broken.yaml": BROKEN}, "VR101"),
        ({"Chart.yaml": "name: x\nversion: 1\napiVersion: v2\n", "templates/vm.yaml": UNRENDERED}, "VR127"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_may_move(
    repository: Repository, diff: Run, files: dict[str, str], code: str
) -> None:
    """A broken kustomization or chart of another folder is as broken as it was."""
    for name, text in files.items():
        repository.write(f"parts/a/{name}", text)
    repository.write("sound/kustomization.yaml", "resources: [web.yaml]\n")
    repository.write("sound/web.yaml", vm())
    repository.commit("An error")
    repository.git("mv", "parts/a", "b")
    repository.commit("Moved")
    answer = diff("--emit", "vm")
    assert answer.status == 0
    assert f"not compared: b ({code})" in answer.text
    assert "(as before), build prints nothing\n" in answer.text


def test_an_error_of_a_vm_that_moves_and_is_lost_is_not_gone(
    repository: Repository, diff: Run
) -> None:
    """What cannot be rendered where it is now may have the error that it had."""
    repository.write("a/kustomization.yaml", "resources: [odd.yaml]\n")
    odd = vm("odd").replace("devices: {}", "devices: {disks: [{name: absent}]}")
    repository.write("a/odd.yaml", odd)
    repository.commit("An error")
    repository.git("mv", "a", "b")
    repository.write("b/odd.yaml", vm("odd", instancetype="absent", memory=""))
    repository.commit("Moved, and lost")
    answer = diff("--emit", "vm")
    assert answer.status == 1
    assert "after: 1 error (new), build prints nothing" in answer.text
    assert "gone" not in answer.text


def test_a_warning_moves_with_its_vm(repository: Repository, diff: Run) -> None:
    """What was said of a VM before its folder moved is no news."""
    repository.write("a/kustomization.yaml", "resources: [web.yaml]\n")
    repository.write("a/web.yaml", vm().replace("runStrategy: Always", "running: true"))
    repository.commit("A warning")
    repository.git("mv", "a", "b")
    repository.commit("Moved")
    assert "warning" not in diff().text
    repository.write("b/db.yaml", vm("db").replace("runStrategy: Always", "running: true"))
    repository.write("b/kustomization.yaml", "resources: [web.yaml, db.yaml]\n")
    repository.commit("Another one")
    text = diff(revisions="HEAD~2..HEAD").text
    assert "1 new warning\n  b/db.yaml:" in text


SIZED = """\
  dataVolumeTemplates:
  - metadata: {name: root}
    spec: {source: {blank: {}}, storage: {resources: {requests: {storage: SIZE}}}}
  template:
"""


def test_what_makes_a_data_volume_another_one_is_said_beside_the_rest(
    repository: Repository, diff: Run
) -> None:
    text = vm().replace("  template:\n", SIZED)
    text += "      volumes:\n      - {name: root, dataVolume: {name: root}}\n"
    repository.write("web.yaml", text.replace("SIZE", "1Gi"))
    repository.commit("A disk")
    changed = text.replace("SIZE", "2Gi").replace("volumes:", "hostname: x\n      volumes:")
    repository.write("web.yaml", changed)
    repository.commit("A larger disk, and a name")
    answer = diff()
    assert "restart, recreate  VirtualMachine prod/web" in answer.text
    changes = [
        (change["field"], change["effect"])
        for change in diff("--format", "json").json["machines"][0]["changes"]
    ]
    size = "spec.dataVolumeTemplates[root].spec.storage.resources.requests.storage"
    assert changes == [("spec.hostname", "restart"), (size, "none")]
    assert f"  {size}: 1Gi -> 2Gi (none)  web.yaml:" in answer.text


SETTINGS = """\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: kubevirt, namespace: kubevirt}
spec: {configuration: {migrations: {bandwidthPerMigration: SIZE}}}
"""


@pytest.mark.parametrize("emit", ["source", "vm", "vmi"])
def test_a_vm_that_comes_or_goes_is_named_with_its_line(
    emit: str, repository: Repository, diff: Run
) -> None:
    """Where its own file stays as it is, that is the line of the kustomization that was edited."""
    repository.write("web.yaml", vm())
    repository.write("db.yaml", vm("db"))
    for resources in ("[db.yaml, web.yaml]", "[db.yaml]", "[db.yaml, web.yaml]"):
        repository.write("kustomization.yaml", f"resources: {resources}\n")
        repository.commit(f"Now {resources}")
    for revisions, effect, side in (
        ("HEAD~2..HEAD~1", "gone", "before"),
        ("HEAD~1..HEAD", "new", "after"),
    ):
        text = diff("--emit", emit, revisions=revisions).text
        (name,) = (line for line in text.splitlines() if line.startswith(f"{effect}  "))
        assert name.endswith("  kustomization.yaml:1:22")
        data = diff("--format", "json", "--emit", emit, revisions=revisions).json
        (source,) = (machine["source"] for machine in data["machines"] if machine["source"])
        assert (source["file"], source["line"], source["side"]) == ("kustomization.yaml", 1, side)
        assert "`kustomization.yaml:1:22`" in diff("--format", "markdown", revisions=revisions).text


def test_an_edited_template_of_others_is_no_error(repository: Repository, diff: Run) -> None:
    """What a scaffolder fills in is a note, as in ``check``: nobody applies it as it is."""
    repository.write("skeleton/vm.yaml", vm("${{values.name}}"))
    repository.commit("A template")
    repository.write("skeleton/vm.yaml", vm("${{values.name}}-vm", namespace="${{values.space}}"))
    repository.commit("Edited")
    for revisions in (f"{EMPTY_TREE}..HEAD~1", "HEAD~1..HEAD"):
        done = diff(revisions=revisions)
        assert done.status == 0, done.text
        assert "error" not in done.text
    assert repository.run("check", ".").returncode == 0


def test_names_that_are_not_filled_in_are_no_duplicates(repository: Repository) -> None:
    """Files that others fill in, each by itself; and what ``envsubst`` fills in is no name."""
    for name in ("a", "b"):
        repository.write(f"{name}.yaml", MACHINES_OF_CAPK.replace("MACHINES", "'${CLUSTER_NAME}'"))
    repository.write("c.yaml", vm("$VM_NAME"))
    done = repository.run("check", ".")
    assert done.returncode == 0, done.stdout
    repository.write("b.yaml", MACHINES_OF_CAPK.replace("MACHINES", "web"))
    repository.write("c.yaml", MACHINES_OF_CAPK.replace("MACHINES", "web"))
    assert "KubevirtMachineTemplate prod/web is there twice" in repository.run("check", ".").stdout


MACHINES_OF_CAPK = """\
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: KubevirtMachineTemplate
metadata: {name: MACHINES, namespace: prod}
spec:
  template:
    spec:
      virtualMachineTemplate:
        metadata: {labels: null, cluster.x-k8s.io/role: worker}
        spec:
          runStrategy: Always
          template: {spec: {domain: {memory: {guest: 1Gi}, devices: {}}}}
"""


def test_settings_that_change_nothing_of_a_vm_have_no_effect(
    repository: Repository, diff: Run
) -> None:
    repository.write("web.yaml", vm())
    repository.write("kubevirt.yaml", SETTINGS.replace("SIZE", "1Gi"))
    repository.commit("A VM")
    repository.write("kubevirt.yaml", SETTINGS.replace("SIZE", "2Gi"))
    repository.commit("Faster migrations")
    assert diff("--format", "json").effects == {"web": ("none",)}


@pytest.mark.parametrize("words", [(), ("--fail-on", "refused")])
@pytest.mark.parametrize("emit", ["source", "vm"])
def test_an_error_is_said_whatever_else_happens(
    repository: Repository, diff: Run, emit: str, words: tuple[str, ...]
) -> None:
    """A requirement that the instancetype does not meet, and a bus, in one commit."""
    repository.write("small.yaml", manifests.instancetype("small", cpus=2, memory="2Gi"))
    preference = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterPreference
metadata: {name: linux}
spec: {requirements: {cpu: {guest: 1}}}
"""
    text = vm(instancetype="small", memory="").replace(
        "  template:", "  preference: {name: linux}\n  template:", 1
    )
    repository.write("web.yaml", text)
    repository.write("linux.yaml", preference)
    repository.commit("A VM")
    repository.write("linux.yaml", preference.replace("guest: 1", "guest: 4"))
    disk = "devices: {disks: [{name: a, disk: {bus: scsi}}]}"
    volume = "\n      volumes: [{name: a, emptyDisk: {capacity: 1Gi}}]\n"
    repository.write("web.yaml", text.replace("devices: {}", disk).rstrip("\n") + volume)
    repository.commit("More CPUs wanted, and a disk")
    answer = diff("--emit", emit, *words)
    assert answer.status == 1
    assert "after: 1 error (new), build prints nothing" in answer.text
    assert "insufficient CPU resources of 2 vCPU provided by instance type" in answer.text


def test_an_unknown_field_that_is_new_fails_beside_a_restart(
    repository: Repository, diff: Run
) -> None:
    """VR105 with another change of the VM."""
    repository.write("odd.yaml", vm("odd"))
    repository.commit("A VM")
    repository.write("odd.yaml", UNKNOWN.replace("1Gi", "3Gi"))
    repository.commit("More memory, and nonsense")
    for emit in ("source", "vm"):
        text = diff("--emit", emit)
        assert text.status == 1
        assert "nonsense" in text.text


REFUSED = "devices: {interfaces: [{name: default}]}"


@pytest.mark.parametrize("emit", ["source", "vm"])
def test_a_refusal_names_the_fields_that_are_refused(
    repository: Repository, diff: Run, emit: str
) -> None:
    """Neither what else was edited, nor our stamp; and it ends with 1."""
    networks = "      networks: [{name: default, pod: {}}]\n"
    text = vm().replace("devices: {}", "devices: {interfaces: [{name: default, bridge: {}}]}")
    repository.write("web.yaml", text + networks)
    repository.commit("A VM")
    changed = vm(memory="4Gi").replace("devices: {}", "devices: {disks: [{name: absent}]}")
    repository.write("web.yaml", changed.replace("runStrategy: Always", "runStrategy: Manual"))
    repository.commit("A disk without a volume, and other edits")
    answer = diff("--emit", emit, "--format", "json")
    assert answer.status == 1
    (web,) = answer.json["machines"]
    assert answer.json["errors"]["new"]
    if emit == "source":
        assert web["effects"] == ["refused"]
        fields = [change["field"] for change in web["changes"]]
        assert fields == ["spec.template.spec.domain.devices.disks"]
    assert "build prints nothing" in diff("--emit", emit).text


def test_what_is_computed_names_what_it_is_computed_from(repository: Repository, diff: Run) -> None:
    """``maxGuest`` follows from the memory request, and not from the CPUs edited beside it."""
    requests = "resources: {requests: {memory: 1Gi}}"
    text = vm(memory="").replace("devices: {}", f"devices: {{}}\n        {requests}")
    text = text.replace("devices: {}", "devices: {}\n        cpu: {sockets: 1}")
    repository.write("web.yaml", text)
    repository.commit("A VM")
    repository.write("web.yaml", text.replace("1Gi", "2Gi").replace("sockets: 1", "sockets: 2"))
    repository.commit("More of both")
    (web,) = diff("--format", "json").json["machines"]
    causes_of = {change["field"]: change["cause"]["field"] for change in web["changes"]}
    domain = "spec.template.spec.domain"
    assert causes_of["spec.domain.memory.maxGuest"] == f"{domain}.resources.requests.memory"
    assert causes_of["spec.domain.cpu.maxSockets"] == f"{domain}.cpu.sockets"


TEMPLATES = """\
  dataVolumeTemplates:
  - metadata: {name: web-root}
    spec:
      source: {blank: {}}
      storage: {resources: {requests: {storage: SIZE}}}
"""
VOLUMES = """\
      volumes: [{name: root, dataVolume: {name: web-root}}]
"""


def test_lists_are_told_by_item_and_leaf(repository: Repository, diff: Run) -> None:
    """The commonest edit: the size of a disk, with the line of the size."""
    text = ""
    for size in ("140Gi", "200Gi"):
        disk = "devices: {disks: [{name: root, disk: {}}]}"
        text = vm().replace("devices: {}", disk) + VOLUMES + TEMPLATES.replace("SIZE", size)
        repository.write("web.yaml", text)
        repository.commit(size)
    field = "spec.dataVolumeTemplates[web-root].spec.storage.resources.requests.storage"
    line = text[: text.index("200Gi")].count("\n") + 1
    answer = diff()
    assert f"{field}: 140Gi -> 200Gi" in answer.text
    assert f"web.yaml:{line}:" in answer.text
    assert f"`{field}` `140Gi` → `200Gi`" in diff("--format", "markdown").text
    (web,) = diff("--format", "json").json["machines"]
    assert [(change["field"], change["cause"]["line"]) for change in web["changes"]] == [
        (field, line)
    ]


def test_items_without_a_name_are_told_by_their_place(repository: Repository, diff: Run) -> None:
    """Access credentials have no key."""
    key = "sshPublicKey: {source: {secret: {secretName: NAME}}, propagationMethod: {noCloud: {}}}"
    for name in ("one", "two"):
        credentials = f"\n      accessCredentials:\n      - {key.replace('NAME', name)}\n"
        disk = "devices: {disks: [{name: a, disk: {}}]}"
        volume = "      volumes: [{name: a, cloudInitNoCloud: {userData: '#cloud-config'}}]"
        text = vm().replace("devices: {}", disk).rstrip("\n")
        repository.write("web.yaml", text + credentials + volume + "\n")
        repository.commit(name)
    field = "spec.accessCredentials[0].sshPublicKey.source.secret.secretName"
    assert f"{field}: one -> two" in diff().text


def test_long_values_are_cut_around_what_differs(repository: Repository, diff: Run) -> None:
    """Both sides show the difference, wherever in them it stands."""
    for word in ("hither", "thither"):
        text = f"{'x' * 300} {word} {'y' * 300}"
        metadata = f"  template:\n    metadata: {{annotations: {{note: {text}}}}}\n"
        repository.write("web.yaml", vm().replace("  template:\n", metadata))
        repository.commit(word)
    line = next(line for line in diff().text.splitlines() if "metadata.annotations" in line)
    before, after = line.split(" -> ")
    assert " hither " in before
    assert " thither " in after
    assert len(line) < 400


TEMPLATE = """\
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: web}
parameters:
- {name: NAME, required: true}
objects:
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata: {name: "${NAME}"}
  spec:
    runStrategy: Always
    template:
      spec:
        domain:
          devices: {}
          memory: {guest: SIZE}
"""
HARVESTER = """\
apiVersion: harvesterhci.io/v1beta1
kind: VirtualMachineTemplateVersion
metadata: {name: ubuntu-1, namespace: default}
spec:
  templateId: default/ubuntu
  vm:
    spec:
      runStrategy: Always
      template:
        spec:
          domain:
            devices: {disks: DISKS}
            memory: {guest: SIZE}
"""
CLUSTER_API = """\
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: KubevirtMachineTemplate
metadata: {name: workers, namespace: "${NAMESPACE}"}
spec:
  template:
    spec:
      virtualMachineTemplate:
        metadata: {namespace: "${NAMESPACE}"}
        spec:
          runStrategy: Always
          template:
            spec:
              domain:
                devices: {disks: DISKS}
                memory: {guest: SIZE}
              volumes: [{name: root, containerDisk: {image: "${IMAGE}"}}]
"""


@pytest.mark.parametrize(
    "text",
    [TEMPLATE, TEMPLATE.replace("template.openshift.io/v1", "v1"), HARVESTER, CLUSTER_API],
    ids=["openshift", "openshift-3", "harvester", "capi"],
)
def test_templates_take_part(repository: Repository, diff: Run, text: str) -> None:
    """What a template makes changes, with the line in the template; what was made of it stays."""
    written = ""
    for size in ("1Gi", "2Gi"):
        written = text.replace("SIZE", size).replace("DISKS", "[]")
        repository.write("template.yaml", written)
        repository.commit(size)
    answer = diff()
    assert (
        "1 VM: what it has made stays as it is; what it makes later has the change" in answer.text
    )
    assert "spec.template.spec.domain.memory.guest: 1Gi -> 2Gi" in answer.text
    line = written[: written.index("2Gi")].count("\n") + 1
    assert f"template.yaml:{line}:" in answer.text
    (holder,) = diff("--format", "json").json["holders"]
    assert (holder["outcome"], holder["replicas"]) == ("later", {"before": 1, "after": 1})
    refused = text.replace("{guest: SIZE}", "{guest: 1Gi, hugepages: {pageSize: 1}}")
    refused = refused.replace("DISKS", "[]")
    repository.write("template.yaml", refused)
    repository.commit("Refused")
    answer = diff()
    assert answer.status == 1
    assert "1 VM: what it makes of this is refused, or never starts" in answer.text
    (repository.folder / "template.yaml").unlink()
    repository.commit("Gone")
    assert "is no longer in the repository; what was made of it stays" in diff().text
    for form in ("markdown", "html"):
        assert "emplates, whose VMs are not in the counts" in diff("--format", form).text


@pytest.mark.parametrize("text", [HARVESTER, CLUSTER_API], ids=["harvester", "capi"])
def test_vms_that_others_make_are_checked(
    repository: Repository, capfd: pytest.CaptureFixture[str], text: str
) -> None:
    """A disk without a volume, at its line in the holder; what is not filled in is no error."""
    disks = text.replace("DISKS", "[{name: absent, disk: {}}]")
    repository.write("template.yaml", disks.replace("SIZE", "1Gi"))
    assert invoke(["check", "--format", "json"]) == 1
    found = json.loads(capfd.readouterr().out)["diagnostics"]
    errors = [diagnostic for diagnostic in found if diagnostic["severity"] == "error"]
    line = text[: text.index("DISKS")].count("\n") + 1
    assert [(error["code"], error["line"]) for error in errors] == [("VR420", line)]


def test_definitions_that_nobody_touched_are_no_changed_ones(
    repository: Repository, diff: Run
) -> None:
    """An overlay that is called otherwise has taken them along; one that is new, or gone, is called so."""
    for name in ("east", "west"):
        repository.write(f"{name}/kustomization.yaml", f"namespace: {name}\nresources: [../base]\n")
    repository.write("base/kustomization.yaml", "resources: [vm.yaml, size.yaml, old.yaml]\n")
    repository.write("base/vm.yaml", vm())
    repository.write("base/size.yaml", manifests.instancetype("size", cpus=1))
    repository.write("base/old.yaml", manifests.instancetype("old", cpus=1))
    repository.commit("Two overlays")
    repository.git("mv", "west", "north")
    repository.write("north/kustomization.yaml", "namespace: west\nresources: [../base]\n")
    repository.commit("One is called otherwise")
    assert "definition" not in diff().text
    assert diff("--format", "json").json["definitions"] == []
    repository.git("rm", "-q", "-r", "north")
    repository.commit("And is gone")
    assert "definition" not in diff().text
    repository.write("base/kustomization.yaml", "resources: [vm.yaml, size.yaml, new.yaml]\n")
    repository.write("base/size.yaml", manifests.instancetype("size", cpus=2))
    repository.write("base/new.yaml", manifests.instancetype("new", cpus=1))
    repository.git("rm", "-q", "base/old.yaml")
    repository.commit("One changed, one new, one deleted")
    assert diff().text.count("\n1 definition") == 1
    assert (
        "1 definition changed, used by no VM here: VirtualMachineClusterInstancetype size;"
        " 1 definition new, used by no VM here: VirtualMachineClusterInstancetype new;"
        " 1 definition deleted, used by no VM here: VirtualMachineClusterInstancetype old\n"
    ) in diff().text
    repository.git("mv", "east", "south")
    repository.write("base/size.yaml", manifests.instancetype("size", cpus=4))
    repository.commit("Called otherwise, with an edit")
    words = "1 definition changed, used by no VM here: VirtualMachineClusterInstancetype size"
    assert words in diff().text
    assert "definition new" not in diff().text


def test_definitions_that_no_vm_uses_are_said(repository: Repository, diff: Run) -> None:
    """A repository of instancetypes has no VM, and its changes are no silence."""
    for cpus in (2, 4):
        for name in ("small", "large", "other"):
            count = cpus if name != "other" else 1
            repository.write(f"{name}.yaml", manifests.instancetype(name, cpus=count))
        repository.commit("Definitions")
    words = "2 definitions changed, used by no VM here: VirtualMachineClusterInstancetype large"
    for form in ("text", "markdown", "html"):
        assert words.partition(":")[0] in diff("--format", form).text
    assert words in diff().text
    repository.write("vms/web.yaml", vm(instancetype="small", memory=""))
    repository.commit("A VM")
    answer = diff(revisions="HEAD~2..HEAD")
    assert "1 definition changed, used by no VM here" in answer.text
    definitions = diff("--format", "json", revisions="HEAD~2..HEAD").json["definitions"]
    assert {definition["resource"]["name"]: definition["used"] for definition in definitions} == {
        "large": False,
        "small": True,
    }


ELSEWHERE = "https://github.com/kubevirt/kubevirt/releases/download/v1.6.0/kubevirt-operator.yaml"


@pytest.mark.parametrize(
    ("text", "codes"),
    [("apiVersion: kubevirt.io/v1\nkind: KubeVirt\nspec: {}\n", []), (BASE, ["VR122"])],
    ids=["operator", "vm"],
)
def test_an_operator_from_elsewhere_is_no_error(
    repository: Repository, capfd: pytest.CaptureFixture[str], text: str, codes: list[str]
) -> None:
    """VR122 is a note where no file of the repository that the kustomization reads has a VM."""
    repository.write("operator/kustomization.yaml", f"resources: [{ELSEWHERE}, own.yaml]\n")
    repository.write(
        "operator/own.yaml", text.replace("KubeVirt\n", "KubeVirt\nmetadata: {name: k}\n")
    )
    repository.write("web.yaml", vm())
    invoke(["check", ".", "--format", "json"])
    found = json.loads(capfd.readouterr().out)["diagnostics"]
    assert [
        diagnostic["code"] for diagnostic in found if diagnostic["severity"] == "error"
    ] == codes


def test_a_fraction_is_to_be_quoted(
    repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    """The help of ``cpu: 0.1`` is what to write."""
    text = vm().replace("devices: {}", "devices: {}\n        resources: {requests: {cpu: 0.1}}")
    repository.write("web.yaml", text)
    assert invoke(["check", "."]) == 1
    assert 'help: write "0.1", in quotes' in capfd.readouterr().out


def test_kinds_of_other_projects_are_theirs(
    repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    """No VR123 for what node-maintenance-operator served in KubeVirt's group; a slip is one still."""
    text = "apiVersion: kubevirt.io/v1alpha1\nkind: KIND\nmetadata: {name: maintenance}\n"
    repository.write("a.yaml", text.replace("KIND", "NodeMaintenance"))
    assert invoke(["check", "."]) == 0
    repository.write("a.yaml", text.replace("KIND", "NodeMaintenances"))
    assert invoke(["check", "."]) == 1
    assert "VR123" in capfd.readouterr().out


def test_lists_and_values_are_no_objects(
    repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    """Tasks of Ansible with a key twice, and the values of a chart."""
    tasks = "- name: a VM\n  kubevirt.core.kubevirt_vm:\n    api_version: kubevirt.io/v1\n    state: a\n    state: b\n"
    repository.write("tasks.yaml", tasks)
    play = "- hosts: all\n  vars:\n    guid: a\n    guid: b\n  tasks:\n  - k8s:\n"
    play += "      definition:\n        apiVersion: kubevirt.io/v1\n        kind: VirtualMachine\n"
    repository.write("play.yaml", f"---\n# a playbook\n{play}")
    repository.write("values.yaml", "image: quay.io/kubevirt.io/x\nreplicas: 1\nreplicas: 2\n")
    repository.write("web.yaml", vm())
    assert invoke(["check", "."]) == 0
    assert "VR102" not in capfd.readouterr().out


def test_transformers_in_a_folder_of_the_repository_are_local(
    repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    """A folder of transformers whose own resources lie above it."""
    repository.write("over/kustomization.yaml", "resources: [web.yaml]\ntransformers: [here]\n")
    repository.write("over/web.yaml", vm())
    repository.write("over/here/kustomization.yaml", "resources: [../../labels]\n")
    repository.write("labels/kustomization.yaml", "resources: [labels.yaml]\n")
    labels = "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: l}\nlabels: {a: b}\n"
    fields = "fieldSpecs: [{path: metadata/labels, create: true}]\n"
    repository.write("labels/labels.yaml", labels + fields)
    assert invoke(["check", "."]) == 0, capfd.readouterr().out


def test_what_a_patch_switches_on_is_no_secret(
    repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    """``value: true`` of a JSON patch is quoted; a text stays hidden, as does what leads to a secret."""
    repository.write("base/web.yaml", vm())
    repository.write("base/kustomization.yaml", "resources: [web.yaml]\n")
    entry = "patches: [{path: patch.yaml, target: {kind: VirtualMachine}}]\n"
    repository.write("prod/kustomization.yaml", f"resources: [../base]\n{entry}")
    path = "/spec/template/spec/domain/cpu"
    repository.write("prod/patch.yaml", f"- op: add\n  path: {path}\n  value: true\n")
    assert invoke(["check", "prod"]) == 1
    assert "value: true" in capfd.readouterr().out
    for value, place in (("hunter2", path), ("true", "/spec/template/spec/domain/password")):
        repository.write("prod/patch.yaml", f"- op: add\n  path: {place}\n  value: {value}\n")
        assert invoke(["check", "prod"]) == 1
        assert f"value: {value}" not in capfd.readouterr().out


def test_values_of_the_command_line_are_those_of_each_commit(
    repository: Repository, helm: str
) -> None:
    """Also where no text of the commit names their file, which is no YAML by its name."""
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    repository.write("chart/templates/vm.yaml", vm(memory="{{ .Values.memory }}"))
    for memory in ("1Gi", "2Gi"):
        repository.write("prod.values", f"memory: {memory}\n")
        repository.commit(memory)
    words = ("--values", "prod.values", "--helm", helm)
    assert "1Gi -> 2Gi" in repository.fine("diff", "HEAD~1..HEAD", "chart", *words)


def test_of_a_vm_that_is_there_twice_the_last_is_compared(
    repository: Repository, diff: Run
) -> None:
    """What is synced is the last of two files, and places are those of that file; the first changes nothing."""
    repository.write("a.yaml", vm())
    repository.write("b.yaml", f"# Another one\n{vm()}")
    repository.commit("A VM, twice")
    repository.write("b.yaml", f"# Another one\n{vm(memory='2Gi')}")
    repository.commit("The last is edited")
    for emit in ("source", "vm"):
        answer = diff("--emit", emit)
        assert "1 VM: 1 restart" in answer.text
        assert "spec.domain.memory.guest: 1Gi -> 2Gi (restart)  b.yaml:14:11" in answer.text
        assert "after: 1 error (as before), build prints nothing" in answer.text
        assert "VirtualMachine prod/web" in answer.text.partition("the last is compared")[2]
        assert answer.status == 0
    repository.write("a.yaml", vm(memory="4Gi"))
    repository.commit("The first is edited")
    answer = diff()
    assert "1 VM: 1 same" in answer.text
    assert "the last is compared, which Argo CD syncs: VirtualMachine prod/web" in answer.text
    assert "the last is compared" in diff("--format", "markdown").text
    repository.write("a.yaml", "kind: List\napiVersion: v1\nitems: []\n")
    repository.commit("Only one is left")
    answer = diff()
    assert "1 error gone" in answer.text
    assert "the last" not in answer.text


def test_an_object_that_comes_a_second_time_is_a_new_error(
    repository: Repository, diff: Run
) -> None:
    """The last of two is compared with the only one that was there; that there are two is an error of the change."""
    repository.write("a.yaml", vm())
    repository.commit("A VM")
    repository.write("b.yaml", vm(memory="2Gi"))
    repository.write("c.yaml", vm(memory="3Gi"))
    repository.commit("The same name in two more files")
    answer = diff()
    assert answer.status == 1
    assert "1Gi -> 3Gi (restart)  c.yaml:13:11" in answer.text
    assert "after: 2 errors (new), build prints nothing" in answer.text
    assert "b.yaml:4:3  metadata.name: VirtualMachine prod/web is there twice" in answer.text


@pytest.mark.parametrize("count", [1, 14])
def test_vms_that_are_stored_otherwise_are_named(
    repository: Repository, diff: Run, count: int
) -> None:
    """Who reads text or Markdown alone learns which VMs a commit touches, though nothing that runs changes."""
    names = [f"web-{number:02}" for number in range(count)]
    for name in names:
        repository.write(f"{name}.yaml", vm(name))
    repository.commit("VMs")
    for name in names:
        edited = vm(name).replace("metadata:\n", "metadata:\n  labels: {a: b}\n", 1)
        repository.write(f"{name}.yaml", edited)
    repository.commit("Labels")
    text = diff().text
    label = "metadata.labels: none -> {a: b} (none)"
    assert f"none  VirtualMachine prod/web-00\n  {label}  web-00.yaml:4:3\n" in text
    assert text.count(label) == min(count, 10)
    assert ("none  4 other VMs (--format json has all)" in text) == (count > 10)
    markdown = diff("--format", "markdown").text
    assert markdown.count("<b>none</b>") == count


def test_vms_that_only_we_mark_otherwise_are_named_together(
    repository: Repository, diff: Run
) -> None:
    """What our own stamps say of VMs that run as before is no news of each."""
    names = [f"web-{number:02}" for number in range(12)]
    for name in names:
        repository.write(f"{name}.yaml", vm(name))
    repository.commit("VMs")
    note = "  annotations: {virt-render.dev/note: %s}\n"
    for name in names:
        edited = vm(name).replace("metadata:\n", f"metadata:\n{note % name}", 1)
        repository.write(f"{name}.yaml", edited)
    repository.commit("Notes")
    text = diff().text
    assert "none  12 VMs\n    prod/web-00, prod/web-01" in text
    assert "prod/web-09 and 2 more\n" in text
    assert "annotations of virt-render.dev alone change" in text
    assert "virt-render.dev/note" not in text


def test_a_kustomization_that_nobody_can_build_leaves_the_others_in_its_folder(
    repository: Repository, diff: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    """At the top of a repository stands a kustomization of somebody's first try; VMs are applied from below it."""
    repository.write("kustomization.yaml", "resources: [../../base]\n")
    repository.write("vms/kustomization.yaml", "resources: [web.yaml]\n")
    repository.write("vms/web.yaml", vm())
    repository.commit("A VM")
    repository.write("vms/web.yaml", vm(memory="2Gi"))
    repository.commit("More memory")
    answer = diff()
    assert answer.status == 0
    assert answer.text.startswith("1 VM: 1 restart\n")
    assert "vms/web.yaml" in answer.text
    for words in (["explain", "web", "spec.domain.memory.guest"], ["verify", "."], ["pin", "."]):
        capfd.readouterr()
        status = invoke(words)
        out, _ = capfd.readouterr()
        assert status == 0
        assert "web" in out or "1 VirtualMachine without a stamp" in out
    assert (repository.folder / "vms/virt-render.lock.yaml").exists()


def test_what_could_not_be_rendered_before_for_another_reason_is_told_apart(
    repository: Repository, diff: Run
) -> None:
    """What stands behind ``after`` is not said of the first state."""
    repository.write("web.yaml", vm().replace("      domain:\n", "      domian:\n"))
    repository.commit("A VM without a domain")
    repository.write("web.yaml", vm().replace("        devices: {}\n", ""))
    repository.commit("One without devices")
    text = diff().text
    assert 'already before; after:  missing field "devices"' in text


def test_the_error_of_a_vm_has_its_own_place(repository: Repository, diff: Run) -> None:
    """Another VM may be refused in the same words."""
    for name in ("a", "b"):
        repository.write(f"{name}.yaml", vm(name).replace("devices: {}", "devises: {}"))
    repository.commit("Two VMs with the same slip")
    repository.write("b.yaml", vm("b", memory="2Gi").replace("devices: {}", "devises: {}"))
    repository.commit("One is edited")
    text = diff("--format", "markdown").text
    assert text.startswith("### 1 of 2 VMs stays broken\n")
    assert "b.yaml:" in text
    assert "a.yaml:" not in text


def test_what_kustomize_says_in_lines_is_one(repository: Repository, diff: Run) -> None:
    """Its words come without a mark where a line ended."""
    repository.write("vms/kustomization.yaml", "resources: [web.yaml]\n")
    repository.write("vms/web.yaml", vm())
    repository.commit("A VM")
    repository.write("vms/web.yaml", vm().replace("  name: web\n", "  name: web\n  name: web\n"))
    repository.commit("A key twice")
    text = diff().text
    assert "already " in text
    assert "\ufffd" not in text


@pytest.mark.parametrize(("before", "after"), [("", "prod"), ("prod", "")])
def test_a_namespace_that_is_named_now_may_be_the_one_of_before(
    repository: Repository, diff: Run, before: str, after: str
) -> None:
    """What is applied in a namespace that it does not name is the VM that names it: nobody here can know."""
    repository.write("web.yaml", vm(namespace=before))
    repository.commit("A VM")
    repository.write("web.yaml", vm(namespace=after))
    repository.commit("In another namespace")
    old, new = (f"VirtualMachine {f'{name}/' if name else ''}web" for name in (before, after))
    remark = "if what names no namespace is applied in that one"
    answer = diff()
    assert "2 VMs: 1 gone, 1 new" in answer.text
    assert f"{remark}: {old} -> {new}\n" in answer.text
    assert remark in diff("--format", "markdown").text
    repository.write("web.yaml", vm(namespace="test"))
    repository.commit("In a third one")
    assert (remark in diff().text) == (not after)


def test_vms_that_settings_of_the_cluster_touch_are_named_with_that(
    repository: Repository, diff: Run
) -> None:
    """No field of theirs is there to be shown."""
    settings = (
        "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt, namespace: kubevirt}\n"
        "spec: {configuration: {developerConfiguration: {logVerbosity: {virtAPI: %d}}}}\n"
    )
    repository.write("web.yaml", vm())
    repository.write("kubevirt.yaml", settings % 3)
    repository.commit("A VM, and settings")
    repository.write("kubevirt.yaml", settings % 4)
    repository.commit("Other settings")
    reason = "settings of the cluster change, and nothing of it:"
    field = "spec.configuration.developerConfiguration.logVerbosity.virtAPI"
    edit = f"KubeVirt kubevirt/kubevirt {field}"
    place = "kubevirt.yaml:4:64"
    assert f"none  VirtualMachine prod/web\n  {reason}  {edit}  {place}\n" in diff().text
    assert f"- {reason} `{edit}` `{place}`\n" in diff("--format", "markdown").text
    ((cause,),) = (machine["configured"] for machine in diff("--format", "json").json["machines"])
    assert (cause["field"], cause["file"], cause["side"]) == (field, "kubevirt.yaml", "after")
    repository.git("rm", "-q", "kubevirt.yaml")
    repository.commit("None")
    assert f"{reason}  KubeVirt kubevirt/kubevirt spec  kubevirt.yaml:4:1\n" in diff().text


@pytest.mark.parametrize("emit", ["source", "vm"])
def test_a_definition_that_only_says_a_zero_is_named_and_no_setting(
    repository: Repository, diff: Run, emit: str
) -> None:
    """What is written otherwise was edited, though what is stored of it is the same."""
    repository.write("web.yaml", manifests.vm("web", namespace="prod", instancetype="small"))
    repository.write("small.yaml", manifests.instancetype())
    repository.commit("A VM")
    repository.write("small.yaml", f"{manifests.instancetype()}    overcommitPercent: 0\n")
    repository.commit("A zero")
    text = diff("--emit", emit).text
    assert "VirtualMachineClusterInstancetype small: what they run is the same" in text
    assert "settings of the cluster" not in text


def test_a_new_pin_is_blamed_on_the_edit_that_it_brings(repository: Repository, diff: Run) -> None:
    """Where the change has both; else on the pin, of which each VM has its own."""
    for name in ("a", "b"):
        repository.write(f"{name}.yaml", manifests.vm(name, namespace="prod", instancetype="small"))
    repository.write("small.yaml", manifests.instancetype())
    repository.fine("pin", ".")
    repository.commit("Pinned")
    repository.write("small.yaml", manifests.instancetype(cpus=2))
    repository.commit("Edited")
    repository.fine("pin", "--upgrade-all", ".")
    repository.commit("Upgraded")
    for form in ("text", "markdown"):
        alone, both = (
            diff("--format", form, revisions=revisions).text
            for revisions in ("HEAD~1..HEAD", "HEAD~2..HEAD")
        )
        assert "pins.*.instancetype" in alone
        assert "pins.prod/" not in alone
        assert "small.yaml:7:" in both
        assert "virt-render.lock.yaml" not in both


def test_the_first_commit_is_compared_with_nothing(repository: Repository, diff: Run) -> None:
    """As git has it: every repository has the empty tree."""
    repository.write("web.yaml", vm())
    repository.commit("The first")
    assert diff("--format", "json", revisions=f"{EMPTY_TREE}..HEAD").effects == {"web": ("new",)}
    assert diff("--format", "json", revisions=EMPTY_TREE).effects == {"web": ("new",)}
    assert diff("--format", "json", revisions=f"HEAD..{EMPTY_TREE}").effects == {"web": ("gone",)}
    assert diff("--", "web.yaml", revisions=f"{EMPTY_TREE}..HEAD").status == 0


def test_vms_of_a_definition_that_the_api_server_refuses_get_nothing_of_it(
    repository: Repository, diff: Run
) -> None:
    """The cluster keeps the older one: they are as unrenderable as with such an error of their own."""
    small = manifests.instancetype(cpus=4)
    repository.write("small.yaml", small)
    for name, instancetype in (("web", "small"), ("db", "")):
        memory = "" if instancetype else "1Gi"
        repository.write(f"{name}.yaml", vm(name, instancetype=instancetype, memory=memory))
    repository.commit("VMs")
    repository.write("small.yaml", small.replace("guest: 4", 'guest: "4"'))
    repository.commit("A text")
    words = ("--emit", "vm", "--format", "json")
    assert diff(*words).effects == {"web": ("unrenderable",), "db": ("same",)}
    text = diff("--emit", "vm").text
    broken = text.partition("unrenderable  VirtualMachine prod/web\n")[2].splitlines()[0]
    assert broken.startswith("  after:  VirtualMachineClusterInstancetype small: expected a whole")
    assert broken.endswith("  small.yaml:7:5")
    answer = diff("--emit", "source", "--format", "json")
    assert answer.effects == {"web": ("same",), "db": ("same",)}
    assert answer.json["totals"]["all"]["after"] == answer.json["totals"]["all"]["before"]
    repository.write("small.yaml", small.replace("guest: 4", 'guest: "4"') + "# a note\n")
    repository.commit("A note")
    assert diff(*words).effects["web"] == ("unrenderable",)
    assert "1 unrenderable (already before)" in diff("--emit", "vm").text
    repository.write("small.yaml", small)
    repository.commit("A number")
    assert diff(*words).effects["web"] == ("repaired",)
    pinned = diff(*words, revisions="HEAD~3..HEAD")
    assert pinned.effects["web"] == ("same",)


def test_a_kustomization_at_the_top_hides_nothing_beside_it(
    repository: Repository, diff: Run
) -> None:
    repository.write("web.yaml", vm())
    repository.write("sub/kustomization.yaml", "resources: [db.yaml]\n")
    repository.write("sub/db.yaml", vm("db"))
    repository.commit("Two VMs")
    repository.write("kustomization.yaml", "resources: [web.yaml]\n")
    repository.write("sub/db.yaml", vm("db", memory="2Gi"))
    repository.write("loose/cache.yaml", vm("cache"))
    repository.commit("A kustomization at the top, and an edit beside it")
    reviewed = diff("--format", "json").json
    effects = {m["resource"]["name"]: m["effects"] for m in reviewed["machines"]}
    assert effects == {"web": ["same"], "db": ["restart"]}
    assert "1 VM file that no kustomization lists" in diff().text
    repository.write("sub/db.yaml", vm("db", memory="3Gi"))
    repository.commit("Another edit beside it")
    assert diff("--format", "json").effects == {"web": ("same",), "db": ("restart",)}


@pytest.mark.parametrize("address", ["https://example.invalid/vm.yaml", "github.com/example/vms"])
def test_vms_that_a_remote_base_has_now_are_not_gone(
    repository: Repository, diff: Run, address: str
) -> None:
    """Nobody knows what stands there; whoever looks at the repository alone is told that it was not looked at."""
    repository.write("sub/kustomization.yaml", "resources: [db.yaml]\n")
    repository.write("sub/db.yaml", vm("db"))
    repository.write("web.yaml", vm())
    repository.commit("Two VMs")
    repository.write("sub/kustomization.yaml", f"resources: ['{address}']\n")
    repository.git("rm", "-q", "sub/db.yaml")
    repository.commit("One of them is elsewhere")
    reviewed = diff()
    assert reviewed.status == 1
    assert "not compared: sub (VR122)" in reviewed.text
    assert (
        f"sub/kustomization.yaml refers to {address}, which kustomize would fetch" in reviewed.text
    )
    assert diff("--format", "json").effects == {"web": ("same",), "db": ("unrenderable",)}
    assert "1 kustomization with a remote base" in repository.run("check", ".").stderr
    named = repository.run("diff", "HEAD~1..HEAD", "--", "sub").stdout
    assert named.startswith("1 VM: 1 unrenderable\n")
    assert "not compared: . (VR122)" in named


@pytest.mark.parametrize(
    ("field", "what"),
    [
        ("helmCharts: [{name: web, releaseName: web}]", "helmCharts kustomization"),
        ("generators: [policy.yaml]", "kustomization with plugins of others"),
    ],
)
def test_vms_of_what_wants_a_program_now_are_not_gone(
    repository: Repository, diff: Run, field: str, what: str
) -> None:
    """An overlay that kustomize no longer builds here is not compared: where it is applied its VMs may well stay."""
    policy = "apiVersion: policy.open-cluster-management.io/v1\nkind: PolicyGenerator\n"
    repository.write("over/policy.yaml", f"{policy}metadata: {{name: x}}\n")
    repository.write("over/kustomization.yaml", "resources: [../base]\n")
    repository.write("base/kustomization.yaml", "resources: [db.yaml]\n")
    repository.write("base/db.yaml", vm("db"))
    repository.write("web.yaml", vm())
    repository.commit("Two VMs")
    repository.write("over/kustomization.yaml", f"resources: [settings.yaml]\n{field}\n")
    settings = "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt}\n"
    repository.write("over/settings.yaml", settings)
    repository.write("base/db.yaml", vm("db").replace("kind: VirtualMachine", "kind: Other"))
    repository.commit("What the overlay makes nobody knows")
    reviewed = diff()
    assert reviewed.status == 1
    assert "not compared: over (VR116)" in reviewed.text
    assert diff("--format", "json").effects == {"web": ("same",), "db": ("unrenderable",)}
    assert f"1 {what}" in repository.run("check", ".").stderr


def test_a_vm_that_another_input_has_too_is_said(repository: Repository, diff: Run) -> None:
    """Two objects would apply it in turn; where the folders are clusters, nothing is said of that."""
    for name in ("dev", "prod", "east", "west"):
        repository.write(f"{name}/vm.yaml", vm(name if name in {"dev", "prod"} else "shop"))
        repository.write(f"{name}/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.write("west/vm.yaml", f"{vm('shop')}---\n{vm('mail')}")
    repository.write("loose.yaml", vm("prod"))
    repository.commit("Before")
    repository.write("dev/vm.yaml", vm("prod"))
    repository.write("east/vm.yaml", f"{vm('shop')}---\n{vm('mail')}")
    repository.commit("Two VMs more")
    told = diff().text
    assert told.count("stands in") == 1
    assert "  stands in loose.yaml, prod, too\n" in told
    repository.git("rm", "-q", "-r", "prod", "west")
    repository.commit("Two folders gone")
    told = diff().text
    assert told.count("stands in") == 1
    assert "  still stands in loose.yaml\n" in told


@pytest.mark.parametrize("folders", [("prod", "stage"), ("east", "west"), ("prod",)])
def test_a_copied_overlay_whose_namespace_was_forgotten_is_said(
    repository: Repository, diff: Run, folders: tuple[str, ...]
) -> None:
    """Not where folders are clusters, or where that is not known."""
    repository.write("base/vm.yaml", vm("web"))
    repository.write("base/kustomization.yaml", "resources: [vm.yaml]\n")
    for name in folders:
        namespace = name if name in {"prod", "stage"} else "shop"
        text = f"namespace: {namespace}\nresources: [../base]\n"
        repository.write(f"{name}/kustomization.yaml", text)
    repository.commit("Overlays")
    text = (repository.folder / folders[0] / "kustomization.yaml").read_text(encoding="utf-8")
    repository.write("qa/kustomization.yaml", text)
    repository.commit("A copy")
    assert ("  stands in prod, too\n" in diff().text) == ("stage" in folders)


@pytest.mark.parametrize("path", ["base", "base/vm.yaml"])
def test_a_base_is_taken_to_be_applied_by_itself(repository: Repository, path: str) -> None:
    repository.write("base/vm.yaml", vm("web"))
    repository.write("base/kustomization.yaml", "resources: [vm.yaml]\n")
    for name in ("dev", "prod"):
        repository.write(f"{name}/kustomization.yaml", "resources: [../base]\n")
    repository.commit("A base")
    repository.write("base/vm.yaml", vm("web", memory="3Gi"))
    text = " ".join(repository.fine("diff", "HEAD", path).split())
    assert f"; {path} is applied by itself, as well as with dev, prod" in text
    assert "by itself" not in repository.fine("diff", "HEAD")
    assert "by itself" not in repository.fine("diff", "HEAD", "dev")


def test_a_tag_called_as_the_default_branch_is_not_what_is_compared(
    repository: Repository, diff: Run
) -> None:
    """git takes a tag for the branch of its name, and who pushes one would say what is compared."""
    repository.write("web.yaml", vm())
    repository.commit("A VM")
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repository.git("checkout", "-q", "-b", "larger")
    repository.write("web.yaml", vm(memory="2Gi"))
    repository.commit("More memory")
    for name in ("origin/main", "origin/HEAD", "main"):
        repository.git("tag", name, "HEAD")
    assert diff("--format", "json", revisions=".").effects == {"web": ("restart",)}


def test_vms_in_jsonnet_are_counted(repository: Repository, diff: Run) -> None:
    repository.write("web.yaml", vm())
    repository.commit("A VM")
    repository.write("b.jsonnet", "{apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine'}\n")
    repository.commit("Another one in Jsonnet")
    assert "not looked at: 1 VM file in Jsonnet" in diff().text
