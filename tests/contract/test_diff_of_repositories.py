"""``virt-render diff`` of repositories as people lay them out: moved folders, overlays, and errors old and new.

The ids in the docstrings are those of the findings that each test holds.
"""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.frontends.dispatch import invoke
from tests.support import manifests
from tests.support.repository import Repository

Json = dict[str, Any]


class Said(NamedTuple):
    """What became of a command."""

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
        return {one["resource"]["name"]: tuple(one["effects"]) for one in self.json["machines"]}


Run = Callable[..., Said]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path / "repository")
    monkeypatch.chdir(made.folder)
    return made


@pytest.fixture
def diff(repository: Repository, capfd: pytest.CaptureFixture[str]) -> Run:
    """``diff`` in the folder, of the last commit if nothing else is said."""

    def run(*words: str, revisions: str = "HEAD~1..HEAD") -> Said:
        assert Path.cwd() == repository.folder
        capfd.readouterr()
        status = invoke(["diff", revisions, *words])
        return Said(status, *capfd.readouterr())

    return run


def vm(name: str = "web", **options: str) -> str:
    return manifests.vm(name, **{"namespace": "prod", "memory": "1Gi", **options})


def test_a_moved_folder_holds_the_same_vms(repository: Repository, diff: Run) -> None:
    """E2: ``git mv vms machines``, with a kustomization in it."""
    repository.write("vms/kustomization.yaml", "resources: [web.yaml, db.yaml]\n")
    repository.write("vms/web.yaml", vm())
    repository.write("vms/db.yaml", vm("db"))
    repository.commit("Two VMs")
    repository.git("mv", "vms", "machines")
    repository.commit("Moved")
    assert diff("--format", "json").effects == {"web": ("same",), "db": ("same",)}
    repository.write("machines/web.yaml", vm(memory="2Gi"))
    repository.commit("Moved and edited")
    said = diff(revisions="HEAD~2..HEAD").text
    assert "2 VMs: 1 restart, 1 same" in said or "2 VMs: 1 migrate, 1 same" in said
    assert "vms -> machines" in said
    assert "machines/web.yaml:" in said
    (web, _) = diff("--format", "json", revisions="HEAD~2..HEAD").json["machines"]
    assert (web["kustomization"], web["movedFrom"]) == ("machines", "vms")


def test_a_kustomization_that_comes_or_goes_changes_no_vm(
    repository: Repository, diff: Run
) -> None:
    """E2: loose files get a kustomization, and lose it; others beside them stay as they are."""
    for name in ("a", "b"):
        repository.write(f"vms/{name}.yaml", vm(name))
    repository.write("other/c.yaml", vm("c"))
    repository.commit("Loose files")
    repository.write("vms/kustomization.yaml", "resources: [a.yaml, b.yaml]\n")
    repository.commit("A kustomization")
    same = dict.fromkeys(("a", "b", "c"), ("same",))
    assert diff("--format", "json").effects == same
    assert diff("--format", "json", revisions="HEAD..HEAD~1").effects == same


def test_a_vm_that_moves_to_an_overlay_is_compared(repository: Repository, diff: Run) -> None:
    """E2: base to overlay: the overlay's patch is an edit of the VM, and no new VM."""
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
    cause = next(one["cause"] for one in web["changes"] if one["field"].endswith("memory.guest"))
    assert (cause["file"], cause["line"]) == ("prod/more.yaml", 4)


def test_vms_of_one_name_move_with_folders_of_one_name(repository: Repository, diff: Run) -> None:
    """E2: where a VM stands in several overlays, the way must lead to a folder of the same name."""
    for name in ("dev", "prod"):
        repository.write(f"overlays/{name}/kustomization.yaml", "resources: [web.yaml]\n")
        repository.write(f"overlays/{name}/web.yaml", vm(memory="1Gi" if name == "dev" else "4Gi"))
    repository.commit("Two overlays")
    repository.git("mv", "overlays", "clusters")
    repository.commit("Moved")
    machines = diff("--format", "json").json["machines"]
    assert [(one["kustomization"], one["effects"]) for one in machines] == [
        ("clusters/dev", ["same"]),
        ("clusters/prod", ["same"]),
    ]
    repository.git("mv", "clusters/dev", "clusters/staging")
    repository.commit("Renamed")
    # Nobody can say that it is the same one, or a third: it counts as what it may be at worst.
    effects = [one["effects"] for one in diff("--format", "json").json["machines"]]
    assert sorted(effects) == [["gone"], ["new"], ["same"]]


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


def causes(said: Said, field: str) -> dict[str, tuple[str, int]]:
    """Where the change of *field* was written, by the namespace of the VM."""
    return {
        machine["resource"]["namespace"]: (change["cause"]["file"], change["cause"]["line"])
        for machine in said.json["machines"]
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


def expect_places(said: Said) -> None:
    assert causes(said, "spec.domain.memory.guest") == {
        "dev": ("overlays/dev/memory.yaml", 4),
        "prod": ("overlays/prod/memory.yaml", 4),
    }
    line = BASE[: BASE.index("devices: {}")].count("\n") + 1
    expected = dict.fromkeys(("dev", "prod"), ("base/web.yaml", line))
    assert causes(said, "spec.domain.devices.rng") == expected


def test_places_are_those_of_the_compared_commits(compared: str, diff: Run) -> None:
    """E5: base and patches are looked up in the commits, and not in the working tree."""
    expect_places(diff("--format", "json", revisions=compared))


def test_places_are_known_in_a_bare_clone(
    repository: Repository, compared: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """E5: a bare clone has no files but those of the commits."""
    bare = tmp_path / "bare.git"
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    capfd.readouterr()
    with contextlib.chdir(bare):
        status = invoke(["diff", compared, "--format", "json"])
    expect_places(Said(status, capfd.readouterr().out))
