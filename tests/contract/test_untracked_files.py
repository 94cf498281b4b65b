"""Files that kustomizations list and git does not have: what is told of them, and where."""

import subprocess
from pathlib import Path

import pytest

from tests.support.manifests import put, vm
from tests.support.process import run

_WARNING, _NOTE = "warning VR134 not-in-git: ", "info VR134 not-in-git: "


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository in which an overlay lists a base with a VM, all of which git has."""
    put(tmp_path / "base/kustomization.yaml", "resources:\n- vm.yaml\n")
    put(tmp_path / "base/vm.yaml", vm("web", memory="1Gi"))
    put(tmp_path / "prod/kustomization.yaml", "resources:\n- ../base\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def found(folder: Path) -> list[str]:
    """The lines of what is told of files that git does not have."""
    done = run("check", ".", cwd=folder)
    assert done.returncode == 0, done.stdout
    return [line for line in done.stdout.splitlines() if " VR134 " in line]


def test_nothing_is_told_of_what_git_has(top: Path) -> None:
    assert found(top) == []


@pytest.mark.parametrize(
    ("lists", "file", "text"),
    [
        ("resources:\n- ../base\n- db.yaml\n", "prod/db.yaml", vm("db", memory="1Gi")),
        ("resources:\n- ../base\n- ../more\n", "more/kustomization.yaml", "resources: []\n"),
        (
            "resources:\n- ../base\npatches:\n- path: larger.yaml\n",
            "prod/larger.yaml",
            "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web}\n",
        ),
    ],
)
def test_a_file_that_git_does_not_have_is_told_at_the_entry(
    lists: str, file: str, text: str, top: Path
) -> None:
    put(top / "prod/kustomization.yaml", lists)
    put(top / file, text)
    assert found(top) == [], "git has no such entry either: somebody is at work"
    git(top, "add", "prod/kustomization.yaml")
    (line,) = found(top)
    assert line.startswith(f"prod/kustomization.yaml:{lists.count(chr(10))}:")
    assert f"{_WARNING}git does not have {file}: whoever builds prod from git" in line
    git(top, "add", file)
    assert found(top) == []


def test_a_file_that_git_ignores_is_a_note(top: Path) -> None:
    put(top / ".gitignore", "*.local.yaml\n")
    put(top / "prod/kustomization.yaml", "resources:\n- ../base\n- db.local.yaml\n")
    put(top / "prod/db.local.yaml", vm("db", memory="1Gi"))
    (line,) = found(top)
    pattern = ".gitignore:1: *.local.yaml"
    told = f"{_NOTE}git ignores prod/db.local.yaml ({pattern}): "
    assert line.startswith(f"prod/kustomization.yaml:3:3: {told}")
    git(top, "add", "--force", "prod/db.local.yaml")
    assert found(top) == []


def test_a_linked_work_tree_inside_of_the_repository_is_asked_itself(top: Path) -> None:
    git(top, "-c", "user.name=x", "-c", "user.email=", "commit", "--quiet", "-m", "x")
    git(top, "worktree", "add", "--quiet", "trees/one")
    tree = top / "trees/one"
    put(tree / "prod/kustomization.yaml", "resources:\n- ../base\n- db.yaml\n")
    put(tree / "prod/db.yaml", vm("db", memory="1Gi"))
    git(tree, "add", "prod/kustomization.yaml")
    (line,) = found(tree)
    assert f"{_WARNING}git does not have prod/db.yaml: " in line


def test_what_is_not_told_one_by_one_is_counted(top: Path) -> None:
    """Names so long that no command is started with all of them."""
    around = "/".join("x" * 250 for _ in range(12))
    names = [f"{around}/{number:03}.yaml" for number in range(800)]
    put(top / "prod/kustomization.yaml", f"resources:\n{''.join(f'- {n}{chr(10)}' for n in names)}")
    for number, name in enumerate(names):
        put(top / "prod" / name, vm(f"db-{number}", memory="1Gi"))
    git(top, "add", "prod/kustomization.yaml")
    lines = found(top)
    assert len(lines) == 5
    assert lines[-1].endswith(", fails; and 795 more files of kustomizations")


def test_a_kustomization_that_git_does_not_have_is_at_work(top: Path) -> None:
    put(top / ".gitignore", "local\n")
    for folder in ("local", "new"):
        put(top / folder / "kustomization.yaml", "resources: [../base, db.yaml]\n")
        put(top / folder / "db.yaml", vm("db", memory="1Gi"))
    assert found(top) == []


def test_without_a_repository_nothing_is_told(tmp_path: Path) -> None:
    put(tmp_path / "kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "vm.yaml", vm("web", memory="1Gi"))
    assert found(tmp_path) == []


def test_the_command_of_the_help_takes_a_name_with_blanks(top: Path) -> None:
    put(top / "prod/kustomization.yaml", "resources:\n- ../base\n- it's new.yaml\n")
    put(top / "prod/it's new.yaml", vm("new", memory="1Gi"))
    git(top, "add", "prod/kustomization.yaml")
    help_ = run("check", ".", cwd=top).stdout.partition("help: add it: ")[2].splitlines()[0]
    subprocess.run(["/bin/sh", "-c", help_], cwd=top, check=True)
    assert found(top) == []
