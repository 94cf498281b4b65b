"""``history`` and ``show`` of VMs that moved from lock to lock, and of locks that a commit has removed."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from render.diagnostics.exits import Exit
from render.frontends.commands.committed import locks
from render.frontends.commands.committed.locks import LocksInGit, RepositoryPath
from tests.support.cases import ROOT
from tests.support.manifests import vm
from tests.support.repository import LOCK, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def step(repository: Repository, subject: str, *folders: str) -> str:
    """Pin the *folders* and commit all; the first characters of the id."""
    for folder in folders:
        repository.fine("pin", folder)
    return repository.commit(subject)[:10]


def write(repository: Repository, folder: str, memory: str = "1Gi", name: str = "web") -> None:
    repository.write(f"{folder}/{name}.yaml", vm(name, memory=memory))


def events(text: str) -> list[tuple[str, str]]:
    """Number and subject of each line of a commit."""
    lines = [line.split() for line in text.splitlines() if line[:4].strip() and line[0] == " "]
    return [(words[0], " ".join(words[3:])) for words in lines if len(words[1]) == 10]


def renamed(repository: Repository) -> None:
    """A folder with two revisions, which is called otherwise then, and edited again."""
    for memory, subject in (("1Gi", "Pin"), ("2Gi", "Larger")):
        write(repository, "overlays/prod", memory)
        step(repository, subject, "overlays/prod")
    repository.git("mv", "overlays/prod", "overlays/production")
    step(repository, "Rename")
    write(repository, "overlays/production", "3Gi")
    step(repository, "Largest", "overlays/production")


EXPECTED = [("1", "Pin"), ("2", "Larger"), ("-", "Rename"), ("3", "Largest")]


def test_a_history_goes_on_where_a_folder_is_renamed(repository: Repository) -> None:
    renamed(repository)
    for words in (("web",), (), ("web", "overlays/production"), ("*", "./overlays")):
        done = repository.run("history", *words)
        assert events(done.stdout) == EXPECTED, words
        assert done.stderr == ""
        assert "      moved from overlays/prod to overlays/production\n" in done.stdout
        assert "memory.guest: 2Gi -> 3Gi" in done.stdout
    assert events(repository.fine("history", "--since", "HEAD~2")) == EXPECTED[2:]
    for number, memory in enumerate(("1Gi", "2Gi", "3Gi"), 1):
        for words in ((), ("overlays/production",)):
            printed = repository.fine("show", "web", *words, "--revision", str(number))
            assert f'guest: "{memory}"' in printed


def test_a_move_is_told_in_every_format(repository: Repository) -> None:
    renamed(repository)
    document = json.loads(repository.fine("history", "--format", "json"))
    schema = json.loads((ROOT / "schemas/history.schema.json").read_bytes())
    jsonschema.validate(document, schema)
    (machine,) = document["machines"]
    assert machine["lock"] == document["lock"] == f"overlays/production/{LOCK}"
    assert [revision["number"] for revision in machine["revisions"]] == [1, 2, 3]
    assert [revision["class"] for revision in machine["revisions"]] == ["new", "restart", "restart"]
    (move,) = machine["moves"]
    assert (move["subject"], move["from"], move["to"]) == (
        "Rename", f"overlays/prod/{LOCK}", f"overlays/production/{LOCK}",
    )  # fmt: skip
    assert machine["removals"] == []
    page = repository.fine("history", "--format", "html")
    entry = page.partition("<strong>Rename</strong>")[2].partition("</div>")[0]
    assert "moved from overlays/prod to overlays/production" in entry


def test_the_old_folder_tells_where_it_went(repository: Repository) -> None:
    renamed(repository)
    told = repository.fine("history", "web", "overlays/prod")
    assert events(told) == EXPECTED[:3]
    assert "moved from overlays/prod to overlays/production" in told


def test_a_rename_may_bring_an_edit(repository: Repository) -> None:
    write(repository, "old")
    step(repository, "Pin", "old")
    repository.git("mv", "old", "new")
    write(repository, "new", "2Gi")
    step(repository, "Rename and edit", "new")
    told = repository.fine("history")
    assert events(told) == [("1", "Pin"), ("-", "Rename and edit"), ("2", "Rename and edit")]
    assert "memory.guest: 1Gi -> 2Gi" in told


def test_a_vm_that_moves_between_two_locks_and_back(repository: Repository) -> None:
    for folder in ("a", "b"):
        write(repository, folder, name=f"stays-in-{folder}")
    write(repository, "a")
    step(repository, "Pin", "a", "b")
    repository.git("mv", "a/web.yaml", "b/web.yaml")
    step(repository, "There", "a", "b")
    repository.git("mv", "b/web.yaml", "a/web.yaml")
    step(repository, "Back", "a", "b")
    told = repository.fine("history", "web", "a")
    assert "moved from a to b" in told
    assert "moved from b to a" in told
    assert [subject for _, subject in events(told)] == ["Pin", "There", "Back"]
    assert repository.fine("history").count("Back") == 1


def test_overlays_of_one_vm_are_followed_as_git_follows_the_lock(repository: Repository) -> None:
    for folder, memory in (("east", "1Gi"), ("west", "2Gi")):
        write(repository, folder, memory)
    step(repository, "Pin", "east", "west")
    for folder in ("east", "west"):
        repository.git("mv", folder, f"{folder}ern")
    step(repository, "Rename")
    told = repository.fine("history")
    for folder in ("east", "west"):
        title = f"web ({folder}ern/{LOCK})"
        section = told.partition(title)[2]
        assert f"moved from {folder} to {folder}ern" in section
    assert events(told) == [("1", "Pin"), ("-", "Rename")] * 2


def test_what_became_two_begins_anew(repository: Repository) -> None:
    write(repository, "base")
    step(repository, "Pin", "base")
    for folder in ("east", "west"):
        write(repository, folder)
    shutil.rmtree(repository.folder / "base")
    step(repository, "Split", "east", "west")
    told = repository.fine("history")
    assert "moved from" not in told
    assert told.count("no longer in the lock") == 1


def test_a_vm_of_another_name_is_another_vm(repository: Repository) -> None:
    """That of another namespace, too; the lock was moved with it, and that is said."""
    write(repository, "old")
    step(repository, "Pin", "old")
    repository.git("mv", "old", "new")
    repository.write("new/web.yaml", vm("web", namespace="new", memory="1Gi"))
    step(repository, "Rename", "new")
    done = repository.run("history", "new/web")
    assert events(done.stdout) == [("1", "Rename")]
    assert f"moved old/{LOCK} to new/{LOCK}, with other VMs" in done.stderr
    assert "help: virt-render history '*' old" in done.stderr
    assert events(repository.fine("history", "*", "old")) == [("1", "Pin"), ("-", "Rename")]


@pytest.mark.parametrize("folder", [".", "overlays/prod"])
@pytest.mark.parametrize("removed", ["lock", "folder"])
def test_a_lock_that_was_removed_has_its_history(
    folder: str, removed: str, repository: Repository
) -> None:
    repository.write("README", "")
    write(repository, folder)
    step(repository, "Pin", folder)
    paths = [f"{folder}/{LOCK}", *([f"{folder}/web.yaml"] if removed == "folder" else [])]
    repository.git("rm", "--quiet", *paths)
    step(repository, "Remove")
    for words in ((), ("web",), ("*", folder)):
        told = repository.fine("history", *words)
        assert events(told) == [("1", "Pin"), ("-", "Remove")], words
    assert 'guest: "1Gi"' in repository.fine("show", "web", "--revision", "1")
    (machine,) = json.loads(repository.fine("history", "--format", "json"))["machines"]
    assert [end["subject"] for end in machine["removals"]] == ["Remove"]


def test_a_revision_of_a_lock_that_is_not_committed_is_told_as_that(repository: Repository) -> None:
    write(repository, ".")
    step(repository, "Pin", ".")
    told = "virt-render.lock.yaml is not committed as it is here"
    assert told not in repository.run("show", "web", "--revision", "2").stderr
    lock = repository.folder / LOCK
    lock.write_text(f"{lock.read_text('utf-8')}# Edited\n", "utf-8")
    assert told in repository.run("show", "web", "--revision", "2").stderr


def test_a_rename_that_is_not_committed_hides_nothing(repository: Repository) -> None:
    for folder in ("east", "west"):
        write(repository, folder, name=folder)
    step(repository, "Pin", "east", "west")
    repository.git("mv", "east", "eastern")
    for words in ((), ("east",)):
        assert "   1  " in repository.fine("history", *words).partition("east")[2]


def test_a_merge_of_a_rename_is_followed(repository: Repository) -> None:
    write(repository, "old")
    step(repository, "Pin", "old")
    repository.git("checkout", "--quiet", "-b", "side")
    repository.git("mv", "old", "new")
    step(repository, "Rename")
    repository.git("checkout", "--quiet", "main")
    repository.write("note", "")
    step(repository, "Aside")
    repository.git("merge", "--quiet", "--no-edit", "side")
    assert events(repository.fine("history")) == [("1", "Pin"), ("-", "Rename")]


def test_a_folder_that_is_taken_for_a_vm_is_told_how_to_name_it(repository: Repository) -> None:
    renamed(repository)
    done = repository.run("history", "overlays")
    assert done.returncode == Exit.USAGE
    assert "help: to name the folder: virt-render history ./overlays" in done.stderr
    assert events(repository.fine("history", "./overlays")) == EXPECTED


def test_a_vm_that_moves_to_and_fro_is_followed_so_often(repository: Repository) -> None:
    """All that is before a move is read again for each, and for each of the moves in that."""
    for folder in ("a", "b"):
        write(repository, folder, name=f"stays-in-{folder}")
    write(repository, "a")
    step(repository, "Pin", "a", "b")
    for number in range(36):
        old, new = ("b", "a") if number % 2 else ("a", "b")
        repository.git("mv", f"{old}/web.yaml", f"{new}/web.yaml")
        step(repository, f"Move {number}", "a", "b")
    assert "Move 35" in repository.fine("history", "web", "a")


def test_each_overlay_of_one_name_is_followed(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Together they have more moves than one may have."""
    monkeypatch.setattr(locks, "_MOST_MOVES", 1)
    write(repository, "a")
    repository.fine("pin", "a")
    text = (repository.folder / "a" / LOCK).read_text(encoding="utf-8")
    for name in ("dev", "prod"):
        repository.write(f"overlays/{name}/{LOCK}", f"# {name}\n{text}")
    repository.commit("Pin")
    repository.git("mv", "overlays", "apps")
    repository.commit("Rename")
    known = LocksInGit(RepositoryPath(str(repository.folder), ".", LOCK))
    for name in ("dev", "prod"):
        (move,) = known.followed("web", f"apps/{name}/{LOCK}").moves
        assert move.before == f"overlays/{name}/{LOCK}"
