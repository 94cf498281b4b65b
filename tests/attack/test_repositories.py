"""What a repository has in store for git, and so for those who ask git about it."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from tests.support.manifests import put, vm
from tests.support.process import argv, environ, run
from tests.support.repository import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def test_a_folder_that_looks_like_a_repository_silences_nothing(repository: Repository) -> None:
    vms = repository.folder / "vms"
    for name in ("objects", "refs"):
        (vms / name).mkdir(parents=True)
    put(vms / "HEAD", "ref: refs/heads/main\n")
    put(vms / "all", "*\n")
    put(vms / "config", f"[core]\nbare = false\nworktree = .\nexcludesFile = {vms}/all\n")
    put(vms / "vm.yaml", vm(memory="much"))
    for words, cwd in ((["vms"], repository.folder), (["."], vms)):
        done = run("check", *words, cwd=cwd)
        assert done.returncode == 1
        assert "VR108" in done.stdout


def test_a_work_tree_elsewhere_misleads_nobody(repository: Repository, tmp_path: Path) -> None:
    put(tmp_path / "elsewhere/vm.yaml", vm(memory="9Gi"))
    repository.write("vm.yaml", vm(memory="1Gi"))
    repository.commit("One")
    repository.write("vm.yaml", vm(memory="2Gi"))
    repository.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    assert "1Gi -> 2Gi" in repository.fine("diff", "HEAD")
    repository.write("vm.yaml", vm(memory="much"))
    done = repository.run("check", ".", "--changed-since", "HEAD")
    assert (done.returncode, "VR108" in done.stdout) == (1, True), done.stderr


@pytest.mark.usefixtures("kustomize")
def test_an_overlay_hides_no_base_that_is_applied_too(repository: Repository) -> None:
    refused = vm("web", memory="1Gi").replace("domain:", "domain:\n        cpu: {sockets: -1}", 1)
    repository.write("base/vm.yaml", refused)
    repository.write("base/kustomization.yaml", "resources: [vm.yaml]\n")
    value = "{memory: {guest: 3Gi}, devices: {}}"
    repository.write(
        "over/kustomization.yaml",
        "resources: [../base]\npatches:\n  - target: {kind: VirtualMachine}\n    patch: |-\n"
        f"      - {{op: replace, path: /spec/template/spec/domain, value: {value}}}\n",
    )
    for name in ("base", "over"):
        application = (
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\n"
            f"metadata: {{name: {name}}}\nspec: {{source: {{repoURL: https://example.com/r, path: {name}}}}}\n"
        )
        repository.write(f"apps/{name}.yaml", application)
    repository.commit("One")
    done = repository.run("check", ".")
    assert (done.returncode, "VR109" in done.stdout) == (1, True), done.stdout
    repository.write("base/vm.yaml", vm("web", memory="1Gi"))
    repository.commit("Two")
    repository.write("base/vm.yaml", vm("web", memory="2Gi"))
    assert "memory.guest: 1Gi -> 2Gi" in repository.fine("diff", "HEAD")


def test_a_huge_tree_is_left_within_a_second(repository: Repository, tmp_path: Path) -> None:
    """Its temporary folder too."""
    repository.write("vm.yaml", vm(memory="1Gi"))
    blob = repository.git("hash-object", "-w", "vm.yaml").strip()
    tree = repository.git("mktree", stdin=f"100644 blob {blob}\tvm.yaml\n").strip()
    for width in (10, 10, 10, 40):
        lines = (f"040000 tree {tree}\t{number}\n" for number in range(width))
        tree = repository.git("mktree", stdin="".join(lines)).strip()
    commit = repository.git("commit-tree", tree, "-m", "Wide").strip()
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        argv("diff", f"{commit}..{commit}"), cwd=repository.folder, env=environ(TMPDIR=str(tmp_path / "tmp")),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not list((tmp_path / "tmp").glob("*/tree/0")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=20)
    assert not list((tmp_path / "tmp").iterdir())


def test_a_link_whose_text_git_cannot_lay_out_is_as_git_lays_it_out(repository: Repository) -> None:
    """It may have a NUL, behind which no system reads it."""
    repository.write("vm.yaml", vm("web", memory="1Gi"))
    repository.commit("One")
    for text in ("vm.yaml\0b", "\0", ""):
        target = repository.git("hash-object", "-w", "--stdin", stdin=text).strip()
        repository.git("update-index", "--add", "--cacheinfo", f"120000,{target},link.yaml")
        repository.git("commit", "-qm", "A link")
        repository.fine("diff", "HEAD~..HEAD")


@pytest.mark.parametrize("place", ["name", "namespace", "releaseName"])
def test_a_name_that_no_program_can_be_given_is_told(
    repository: Repository, helm: str, place: str
) -> None:
    names = {"name": "web", "namespace": "prod", "releaseName": "web", place: "a\0b"}
    release = {"helm": {"releaseName": names["releaseName"]}} if place == "releaseName" else {}
    application = {
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": names["name"]},
        "spec": {
            "destination": {"namespace": names["namespace"]},
            "source": {"repoURL": "https://example.com/r", "path": "chart", **release},
        },
    }  # fmt: skip
    repository.write("app.yaml", json.dumps(application))
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    repository.write("chart/templates/vm.yaml", vm("web", memory="1Gi"))
    done = repository.run("check", ".", "--helm", helm)
    assert "VR127" in done.stdout
    assert "1 chart that cannot be filled in" in done.stderr


@pytest.mark.parametrize(
    "name", [".hidden", ".virt-render.yaml", "x.virt-test.yaml", "vm.yaml", "folder", ".gitignore"]
)
@pytest.mark.parametrize("target", ["NAME", "web.yaml/x", "a" * 300])
def test_a_link_that_no_system_follows_ends_no_run(
    repository: Repository, name: str, target: str
) -> None:
    repository.write("web.yaml", vm("web", memory="1Gi"))
    (repository.folder / name).symlink_to(target.replace("NAME", name))
    repository.commit("A link")
    for words in ("check .", "build .", "diff HEAD", "test .", "argocd discover", "argocd inputs"):
        done = repository.run(*words.split())
        assert done.returncode < Exit.INTERNAL, done.stderr
        assert "VR901" not in done.stdout + done.stderr
