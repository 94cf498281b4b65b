"""What is checked out of a repository."""

import os
from pathlib import Path

import pytest

from render.system import git
from tests.support.repository import Repository

BLOB_OF_A = "78981922613b2afb6025042ff6bd878ac1994e85"


def test_a_second_checkout_shares_the_files_that_are_the_same(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    for name in ("same", "edited", "run", "becomes-link", "gone", "folder/same"):
        repository.write(name, f"{name}\n")
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
    with git.checkout(top, first) as one, git.checkout(top, second, one) as two:
        old, new = Path(one), Path(two)
        found = {
            str(path.relative_to(new)): path.is_file() and (old / path.relative_to(new)).exists()
            and path.lstat().st_ino == (old / path.relative_to(new)).lstat().st_ino
            for path in new.rglob("*")
            if not path.is_dir() and not path.is_symlink()
        }  # fmt: skip
        assert found == {
            "same": True, "folder/same": True, "edited": False, "run": False, "new/file": False,
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
    for name in ("n" * 300, f"{'n' * 300}/a"):
        repository.git("update-index", "--add", "--cacheinfo", f"100644,{BLOB_OF_A},{name}")
        top = str(repository.folder)
        tree = git.run(top, "write-tree").decode().strip()
        refused = pytest.raises(git.GitError, match=r"cannot be written: n+: File name too long")
        with refused, git.checkout(top, tree):
            pass
        repository.git("update-index", "--force-remove", name)
