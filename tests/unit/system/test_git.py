"""What is checked out of a repository."""

import os
import re
import resource
from pathlib import Path
from typing import Any

import pytest

from render.system import git
from render.system.checkout import WORK_TREE, CheckoutScope, Most, checkout
from render.system.programs import processes
from tests.support.manifests import put
from tests.support.repository import Repository

pytestmark = pytest.mark.process
MOST = Most(1 << 20, 1 << 20)
BLOB_OF_A = "78981922613b2afb6025042ff6bd878ac1994e85"


def test_a_second_checkout_shares_the_files_that_are_the_same(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    for name in ("same", "edited", "run", "becomes-link", "gone", "folder/same"):
        repository.write(name, f"{name}\n")
    repository.write("names.yaml", "[same, edited, run, becomes-link, gone, file]\n")
    os.symlink("same", repository.folder / "link")
    first = repository.commit("One")
    repository.write("edited", "else\n")
    (repository.folder / "run").chmod(0o755)
    (repository.folder / "gone").unlink()
    (repository.folder / "becomes-link").unlink()
    os.symlink("becomes-link\n", repository.folder / "becomes-link")
    repository.write("new/file", "new\n")
    second = repository.commit("Two")
    top = str(repository.folder)
    with (
        checkout(top, first, MOST) as single,
        checkout(top, second, MOST, CheckoutScope(single)) as two,
    ):
        old, new = Path(single), Path(two)
        found = {
            str(path.relative_to(new)): path.is_file() and (old / path.relative_to(new)).exists()
            and path.lstat().st_ino == (old / path.relative_to(new)).lstat().st_ino
            for path in new.rglob("*")
            if not path.is_dir() and not path.is_symlink()
        }  # fmt: skip
        assert found == {
            "same": True, "folder/same": True, "edited": False, "run": False, "new/file": False,
            "names.yaml": True,
        }  # fmt: skip
        assert (new / "edited").read_text() == "else\n"
        assert (old / "edited").read_text() == "edited\n"
        assert os.access(new / "run", os.X_OK)
        assert not os.access(old / "run", os.X_OK)
        assert os.readlink(new / "becomes-link") == "becomes-link\n"
        assert os.readlink(new / "link") == "same"
        assert (old / "becomes-link").read_text() == "becomes-link\n"


def test_a_file_whose_name_is_too_long_for_the_file_system(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.write("a", "a\n")
    repository.commit("One")
    for name in (f"{'n' * 300}.yaml", f"{'n' * 300}/a.yaml"):
        repository.git("update-index", "--add", "--cacheinfo", f"100644,{BLOB_OF_A},{name}")
        top = str(repository.folder)
        tree = repository.git("write-tree").strip()
        refused = pytest.raises(
            git.GitError, match=r"cannot be written: n+(\.yaml)?: File name too long"
        )
        with refused, checkout(top, tree, MOST):
            pass
        repository.git("update-index", "--force-remove", name)


def fake(folder: Path, config: str) -> None:
    """What git takes for a bare repository."""
    (folder / "objects").mkdir(parents=True)
    (folder / "refs").mkdir()
    put(folder / "HEAD", "ref: refs/heads/main\n")
    put(folder / "config", config)


def test_a_folder_that_looks_like_a_repository_is_none(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    folder = repository.folder / "vms"
    put(folder / "all", "*\n")
    fake(folder, f"[core]\n  bare = false\n  worktree = .\n  excludesFile = {folder}/all\n")
    repository.write(".gitignore", "ignored\n")
    repository.write("vms/ignored", "")
    repository.write("vms/file", "")
    assert git.ignored(str(folder)) == {str(folder / "ignored")}
    assert git.root(str(folder)) == str(repository.folder)
    assert not git.is_bare(str(folder))


def test_a_work_tree_is_where_it_is(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.write("folder/file", "")
    (tmp_path / "elsewhere").mkdir()
    repository.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    assert git.root(str(repository.folder / "folder")) == str(repository.folder)


def test_other_ways_to_have_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A linked work tree, a bare clone, a folder whose .git is none, and one that a hook tells."""
    repository = Repository(tmp_path / "repository")
    repository.write("file", "")
    commit = repository.commit("One")
    repository.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    assert git.root(str(tmp_path / "linked")) == str(tmp_path / "linked")
    assert git.is_bare(str(tmp_path / "bare.git"))
    assert git.commit(str(tmp_path / "bare.git"), "HEAD").id == commit
    (repository.folder / "inside/.git").mkdir(parents=True)
    assert git.root(str(repository.folder / "inside")) == str(repository.folder)
    with pytest.raises(git.GitError, match="not a git repository"):
        git.root(str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(repository.folder / ".git"))
    assert git.commit(str(tmp_path), "HEAD").id == commit


def test_of_a_repository_of_another_user_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Repository(tmp_path)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)  # it may trust every folder
    with pytest.raises(git.GitError, match="dubious ownership") as caught:
        git.root(str(tmp_path))
    assert "safe.directory" in caught.value.diagnostic.help


def test_of_what_is_too_large_the_size_is_true(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.write("a.yaml", "a" * 1000)
    repository.write("b.yaml", "b" * 2000)
    repository.write("aa", "c" * 900)
    repository.write("z.yaml", f"{'z' * 897} aa")
    commit = repository.commit("One")
    with checkout(str(repository.folder), commit, Most(1500, 2000)) as tree:
        assert (Path(tree) / "a.yaml").read_text() == "a" * 1000
        assert (Path(tree) / "z.yaml").read_text() == f"{'z' * 897} aa"
        assert (Path(tree) / "b.yaml").read_bytes() == bytes(2000)
        assert (Path(tree) / "aa").read_bytes() == bytes(900)
    refused = pytest.raises(
        git.GitError, match="YAML and JSON of the commit is larger than 1,500 bytes"
    )
    with refused, checkout(str(repository.folder), commit, Most(1500, 1500)):
        pass


def sparse(folder: Path) -> Repository:
    """A repository of which the folder ``left`` is not checked out."""
    repository = Repository(folder)
    repository.write("left/vm.yaml", "file: named\n")
    repository.write("here/vm.yaml", "a: 1\n")
    repository.commit("One")
    repository.git("sparse-checkout", "set", "here")
    return repository


def test_of_a_sparse_work_tree_is_copied_what_may_be_read(tmp_path: Path) -> None:
    """Whatever git does not ignore may stand beside: builds, images, links to nothing."""
    repository = sparse(tmp_path / "repository")
    repository.write("here/vm.yaml", "a: 2\nb: run\n")
    for name in ("here/named", "here/run", "here/image", "here/large.yaml"):
        repository.write(name, "x" * (3000 if "large" in name else 10))
    (repository.folder / "here/run").chmod(0o755)
    os.symlink("nowhere", repository.folder / "here/link")
    os.symlink("n" * 255, repository.folder / "left")
    os.mkfifo(repository.folder / "here/pipe.yaml")
    with checkout(str(repository.folder), WORK_TREE, Most(2000, 4000)) as tree:
        found = (path for path in Path(tree).rglob("*") if not path.is_dir())
        assert {str(path.relative_to(tree)) for path in found} == {
            "left/vm.yaml", "here/vm.yaml", "here/named", "here/run", "here/link", "here/large.yaml"
        }  # fmt: skip
        assert (Path(tree) / "here/vm.yaml").read_text() == "a: 2\nb: run\n"
        assert (Path(tree) / "here/large.yaml").read_bytes() == bytes(3000)
        assert os.access(Path(tree) / "here/run", os.X_OK)
        assert not os.access(Path(tree) / "here/named", os.X_OK)


def test_what_a_sparse_work_tree_leaves_out_is_asked_anew_of_another_index(tmp_path: Path) -> None:
    repository = sparse(tmp_path / "repository")
    top = str(repository.folder)
    for _ in range(2):
        assert [name for *_, name in git.skipped(top)] == [b"left/vm.yaml"]
    repository.write("left/vm.yaml", "here: again\n")
    assert git.skipped(top) == []
    (repository.folder / "left/vm.yaml").unlink()
    repository.git("rm", "--quiet", "--cached", "--sparse", "left/vm.yaml")
    assert git.skipped(top) == []
    other = sparse(tmp_path / "other")
    assert [name for *_, name in git.skipped(str(other.folder))] == [b"left/vm.yaml"]


def test_a_sparse_work_tree_has_the_limits_of_a_commit(tmp_path: Path) -> None:
    repository = sparse(tmp_path / "repository")
    top = str(repository.folder)
    for name in ("a", "b"):
        repository.write(f"here/{name}.yaml", "x" * 1000)
    refused = pytest.raises(git.GitError, match="JSON of the working tree is larger than 1,500")
    with refused, checkout(top, WORK_TREE, Most(1500, 1500)):
        pass
    names = [f"many/{number}\n" for number in range(100_001)]
    listed = "".join(f"100644 {BLOB_OF_A} 0\t{name}" for name in names)
    repository.git("update-index", "--index-info", stdin=listed)
    repository.git("update-index", "--skip-worktree", "--stdin", stdin="".join(names))
    refused = pytest.raises(git.GitError, match="the working tree has more than 100,000 files")
    with refused, checkout(top, WORK_TREE, MOST):
        pass


def test_zeros_take_no_memory(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    size = 20 << 20
    for number in range(20):
        with (repository.folder / f"zeros-{number}").open("wb") as file:
            file.truncate(size + number)
    repository.write("names.yaml", "".join(f"- zeros-{number}\n" for number in range(20)))
    commit = repository.commit("Zeros")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with checkout(str(repository.folder), commit, Most(64 << 20, 512 << 20)) as tree:
        assert (Path(tree) / "zeros-3").stat().st_size == size + 3
        assert (Path(tree) / "zeros-3").stat().st_blocks == 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_what_nobody_can_read_for_an_object_is_left_out(tmp_path: Path) -> None:
    """What no text names and no chart has; the folder that is asked for is there."""
    repository = Repository(tmp_path / "repository")
    for name in (
        "vm.yaml", "a/Kustomization", "a/named.txt", "a/other.txt", "a/late.txt", "src/main.go", "docs/page.md",
        "charts/vm/Chart.yaml", "charts/vm/templates/_helpers.tpl", "charts/vm/files/banner", "odd name.txt",
    ):  # fmt: skip
        repository.write(name, "{}\n")
    repository.write("a/Kustomization", "configMapGenerator: [{name: a, files: [x=./named.txt]}]\n")
    os.symlink("../linked.txt", repository.folder / "a" / "link.yaml")
    repository.write("linked.txt", "{}\n")
    first = repository.commit("One")
    repository.write("a/Kustomization", "configMapGenerator: [{name: a, files: [late.txt]}]\n")
    second = repository.commit("Two")
    repository.write("apps/set.yaml", "kind: ApplicationSet\n")
    third = repository.commit("Three")

    def names(tree: str) -> set[str]:
        found = (path for path in Path(tree).rglob("*") if not path.is_dir())
        return {str(item.relative_to(tree)) for item in found}

    top = str(repository.folder)
    with (
        checkout(top, first, MOST, CheckoutScope(paths=["src"])) as single,
        checkout(top, second, MOST, CheckoutScope(single)) as two,
    ):
        always = {
            "vm.yaml", "a/Kustomization", "a/link.yaml", "linked.txt", "charts/vm/Chart.yaml",
            "charts/vm/templates/_helpers.tpl", "charts/vm/files/banner", "odd name.txt", "a/named.txt",
        }  # fmt: skip
        assert names(single) == always
        assert names(two) == always | {"a/late.txt"}
        assert (Path(single) / "src").is_dir()
        assert not (Path(two) / "src").exists()
        with checkout(top, third, MOST, CheckoutScope(two)) as three:
            assert {"src/main.go", "docs/page.md"} < names(three)


def test_a_tree_that_holds_itself_many_times(tmp_path: Path) -> None:
    """A million and more files of a few objects."""
    repository = Repository(tmp_path / "repository")
    tree = repository.git(
        "mktree", stdin=f"100644 blob {repository.git('hash-object', '-w', '--stdin').strip()}\tf\n"
    ).strip()
    for _ in range(7):  # with long names git has printed enough to be stopped after fewer of them
        folders = "".join(f"040000 tree {tree}\t{n:040}\n" for n in range(10))
        tree = repository.git("mktree", stdin=folders).strip()
    with (
        pytest.raises(git.GitError, match="more than 100,000 files"),
        checkout(str(repository.folder), tree, MOST),
    ):
        pass


@pytest.mark.parametrize("name", ["..", ".git", ".GIT"])
def test_a_name_that_leads_out(tmp_path: Path, name: str) -> None:
    repository = Repository(tmp_path / "repository")
    blob = repository.git("hash-object", "-w", "--stdin").strip()
    inner = repository.git("mktree", stdin=f"100644 blob {blob}\tf\n").strip()
    tree = repository.git("mktree", stdin=f"040000 tree {inner}\t{name}\n").strip()
    with (
        pytest.raises(git.GitError, match="a name that git refuses"),
        checkout(str(repository.folder), tree, MOST),
    ):
        pass


def test_a_tree_that_is_very_deep(tmp_path: Path) -> None:
    """Of 1,000 folders and more, which git lays out, came an internal error."""
    repository = Repository(tmp_path / "repository")
    blob = repository.git("hash-object", "-w", "--stdin").strip()

    def nested(folders: int) -> str:
        repository.git("read-tree", "--empty")
        repository.git("update-index", "--index-info", stdin=f"100644 {blob}\t{'d/' * folders}f\n")
        return repository.git("write-tree").strip()

    with checkout(str(repository.folder), nested(200), MOST):
        pass
    with (
        pytest.raises(git.GitError, match=r"below more than 200 folders: d/d/d/d/d/d/d/d/\.\.\."),
        checkout(str(repository.folder), nested(201), MOST),
    ):
        pass


def test_a_history_is_asked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(tmp_path / "repository")
    commits = []
    for number in range(100):
        repository.write("file" if number else "none", f"{number}\n")
        commits.append(repository.commit(f"{number}"))
    top = str(repository.folder)
    git.root(top)
    started: list[Any] = []
    start = processes.run

    def run(*words: Any, **more: Any) -> Any:
        started.append(words)
        return start(*words, **more)

    monkeypatch.setattr(processes, "run", run)
    texts = list(git.texts_of(top, commits, "file"))
    assert texts == [b"", *(f"{number}\n".encode() for number in range(1, 100))]
    assert len(started) == 2


def test_a_commit_without_a_day_has_none(tmp_path: Path) -> None:
    """git itself writes none such; it prints how it was asked for the day."""
    repository = Repository(tmp_path)
    repository.write("a.yaml", "a: 1\n")
    first = repository.commit("One")
    text = repository.git("cat-file", "commit", first)
    (tmp_path / "odd").write_text(re.sub(r"(?m)^author .*$", "author a <a@b> -5 +0000", text))
    odd = repository.git("hash-object", "-t", "commit", "--literally", "-w", "odd").strip()
    repository.git("reset", "--quiet", odd)
    assert [commit.date for commit in git.commits(str(tmp_path))] == [""]
