"""Pins in a real git repository: the story of a fleet, merges, and processes that die."""

import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from tests.support.process import run
from tests.support.repository import LOCK, Repository, vm_in

SOCKETS = ("spec", "template", "spec", "domain", "cpu", "sockets")


def sockets(text: str, name: str) -> int:
    value = vm_in(text, name)
    for step in SOCKETS:
        value = value[step]
    assert isinstance(value, int)
    return value


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    found = Repository(tmp_path / "repository")
    found.instancetype("small")
    found.vm("db")
    found.vm("web")
    return found


def test_story(repository: Repository) -> None:  # noqa: PLR0915 - one after the other
    printed: dict[tuple[str, int], str] = {}

    def build(step: str) -> str:
        output = repository.fine("build")
        for name in ("db", "web"):
            number = repository.pins[f"prod/{name}"]["revision"]
            printed.setdefault((name, number), output)
        repository.commit(step)
        return output

    # Create and pin.
    assert "new, instancetype small@" in repository.fine("pin")
    first = build("Pin the fleet")
    assert sockets(first, "web") == sockets(first, "db") == 2
    assert repository.fine("pin", "--check") == ""

    # Edit the instancetype: nothing changes, and that is said once for both.
    repository.instancetype("small", cpus=4)
    done = repository.run("build")
    assert done.returncode == 0
    assert done.stderr.count("VR608") == 1
    assert "prod/db, prod/web are pinned to" in done.stderr
    assert sockets(done.stdout, "web") == sockets(done.stdout, "db") == 2
    build("Edit small")
    assert repository.fine("pin") == "nothing moved\n"

    # Upgrade one of two.
    assert "prod/web  1 -> 2" in repository.fine("pin", "--upgrade", "web")
    upgraded = build("Upgrade web")
    assert (sockets(upgraded, "web"), sockets(upgraded, "db")) == (4, 2)
    assert vm_in(upgraded, "web")["metadata"]["annotations"]["virt-render.dev/revision"] == "2"
    assert vm_in(upgraded, "db")["metadata"]["annotations"]["virt-render.dev/revision"] == "1"

    # Delete the instancetype: pinned VMs still render, a new one fails.
    (repository.folder / "instancetypes/small.yaml").unlink()
    done = repository.run("build")
    assert done.returncode == 0
    assert "VR609" in done.stderr
    assert (sockets(done.stdout, "web"), sockets(done.stdout, "db")) == (4, 2)
    build("Delete small")
    repository.vm("late")
    done = repository.run("build")
    assert (done.returncode, done.stdout) == (1, "")
    assert 'virtualmachineinstancetypes.instancetype.kubevirt.io "small" not found' in done.stderr
    (repository.folder / "vms/late.yaml").unlink()

    # Revert the edit and the deletion, and upgrade: web is what it was at first.
    repository.instancetype("small")
    assert "prod/web  2 -> 3" in repository.fine("pin", "--upgrade-all")
    reverted = build("Revert")
    assert vm_in(reverted, "web")["spec"] == vm_in(first, "web")["spec"]

    # Edit the manifest of a VM.
    text = (repository.folder / "vms/db.yaml").read_text(encoding="utf-8")
    repository.write("vms/db.yaml", text.replace("devices: {}", "devices:\n          rng: {}"))
    assert "and would become revision 2" in repository.run("pin", "--check").stderr
    assert "prod/db  1 -> 2    renders to something else" in repository.fine("pin")
    build("Give db a random number generator")

    # History tells it, and every revision is what was printed then, to the byte.
    history = repository.fine("history", "web").splitlines()
    numbers = [line.split()[0] for line in history if line[:4].strip().isdecimal()]
    assert numbers == ["1", "2", "3"]
    assert "      spec.domain.cpu.sockets: 2 -> 4 (migrate)" in history
    assert "      spec.domain.cpu.sockets: 4 -> 2 (restart)" in history
    assert "devices.rng: none -> {} (restart)" in repository.fine("history", "prod/db")
    before = repository.git("status", "--porcelain")
    assert sorted(printed) == [("db", 1), ("db", 2), ("web", 1), ("web", 2), ("web", 3)]
    for (name, number), output in printed.items():
        documented = repository.fine("show", name, "--revision", str(number))
        (then,) = (
            part for part in output.split("---\n") if "VirtualMachine\n" in part and f"name: {name}\n" in part
        )  # fmt: skip
        assert documented == f"---\n{then}"
    assert repository.git("status", "--porcelain") == before
    assert sockets(repository.fine("show", "web", "--at", "HEAD~3"), "web") == 4
    assert sockets(repository.fine("show", "web"), "web") == 2


def branch(repository: Repository, name: str, *words: str) -> None:
    """A branch from main on which pin was run with *words*."""
    repository.git("checkout", "--quiet", "-b", name, "main")
    repository.fine("pin", *words)
    repository.commit(name)


def add_neighbours(repository: Repository) -> None:
    """Two branches with a VM more, mail and proxy, of which the second is checked out."""
    repository.fine("pin")
    repository.commit("main")
    for name in ("mail", "proxy"):
        repository.git("checkout", "--quiet", "main")
        repository.vm(name)
        branch(repository, name)


def conflicts(repository: Repository, name: str) -> bool:
    repository.git("merge", "--quiet", "--no-edit", name, check=False)
    return bool(repository.git("ls-files", "--unmerged"))


def test_edits_of_neighbours_merge_in_git(repository: Repository) -> None:
    repository.fine("pin")
    repository.instancetype("small", cpus=4)
    repository.commit("main")
    branch(repository, "one", "--upgrade", "db")
    branch(repository, "other", "--upgrade", "web")
    assert not conflicts(repository, "one")
    assert repository.fine("pin", "--check") == ""
    output = repository.fine("build")
    assert sockets(output, "db") == sockets(output, "web") == 4
    repository.commit("merge")
    for name in ("db", "web"):
        history = repository.fine("history", name).splitlines()
        assert [line.split()[0] for line in history if line[:4].strip().isdecimal()] == ["1", "2"]
        assert sockets(repository.fine("show", name, "--revision", "2"), name) == 4


def test_new_neighbours_merge_by_resolving(repository: Repository) -> None:
    add_neighbours(repository)
    assert conflicts(repository, "mail")
    done = repository.run("build")
    assert (done.returncode, done.stdout) == (1, "")
    assert "VR602" in done.stderr
    half_merged = repository.lock.read_bytes()
    assert repository.run("pin").returncode == 1
    assert repository.lock.read_bytes() == half_merged
    assert "prod/mail" in repository.fine("pin", "--resolve")
    repository.commit("merge")
    assert list(repository.pins) == ["prod/db", "prod/mail", "prod/proxy", "prod/web"]
    assert repository.fine("pin", "--check") == ""


def test_both_sides_changing_one_vm_is_refused(repository: Repository) -> None:
    repository.fine("pin")
    repository.commit("main")
    for cpus in (4, 8):
        repository.git("checkout", "--quiet", "main")
        repository.instancetype("small", cpus=cpus)
        branch(repository, f"cpus-{cpus}", "--upgrade", "web")
    assert conflicts(repository, "cpus-4")
    half_merged = repository.lock.read_bytes()
    done = repository.run("pin", "--resolve")
    assert (done.returncode, done.stdout) == (1, "")
    assert "both sides changed the pin of prod/web" in done.stderr
    assert f"take one side (git checkout --ours {LOCK}, or --theirs), then run" in done.stderr
    assert "prod/db" not in done.stderr
    assert repository.lock.read_bytes() == half_merged


def test_nothing_is_missed_that_a_conflict_may_hold(repository: Repository) -> None:
    """Both the lock and the definition are half-merged: what is not found may stand there."""
    text = "<<<<<<< HEAD\n"
    repository.fine("pin")
    for name in (LOCK, "instancetypes/small.yaml"):
        file = repository.folder / name
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        file.write_text("".join([*lines[:4], text, *lines[4:]]), encoding="utf-8")
    for words in (("check", "."), ("pin", "."), ("pin", "--check", ".")):
        done = repository.run(*words)
        assert done.returncode == 1
        printed = done.stdout + done.stderr
        assert "VR602" in printed
        assert "VR101" in printed
        assert "VR201" not in printed


def test_that_there_is_no_lock_is_said(repository: Repository) -> None:
    done = repository.run("pin", "--check")
    assert f"prod/web is not pinned: there is no {LOCK}" in done.stderr
    repository.fine("pin")
    repository.vm("mail")
    assert "prod/mail is not pinned\n" in repository.run("pin", "--check").stderr


@pytest.mark.parametrize(
    "edit",
    [
        (rb"revision: 1", b"revision: 7"),
        (rb"^ +prod/db:\n", b""),
        (rb"\A", b"# mine\n"),
        (rb"^(<|=|>){7}.*\n", b""),
    ],
)
def test_work_in_a_conflicted_lock_is_not_lost(
    repository: Repository, edit: tuple[bytes, bytes]
) -> None:
    add_neighbours(repository)
    assert conflicts(repository, "mail")
    edited = re.sub(*edit, repository.lock.read_bytes(), flags=re.MULTILINE)
    repository.lock.write_bytes(edited)
    done = repository.run("pin", "--resolve")
    assert (done.returncode, done.stdout) == (1, "")
    assert "was edited since git left it with a conflict" in done.stderr
    assert repository.lock.read_bytes() == edited
    repository.git("checkout", "--merge", LOCK)
    assert "prod/mail" in repository.fine("pin", "--resolve")


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_resolving_from_the_markers_alone(repository: Repository, style: str) -> None:
    add_neighbours(repository)
    repository.git("-c", f"merge.conflictStyle={style}", "merge", "mail", check=False)
    marked = repository.lock.read_bytes()
    assert b"<<<<<<<" in marked
    elsewhere = repository.folder.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / LOCK).write_bytes(marked)
    repository.fine("pin", "--resolve", str(elsewhere))
    repository.fine("pin", "--resolve")
    assert (elsewhere / LOCK).read_bytes() == repository.lock.read_bytes()


def torn(repository: Repository) -> None:
    """A merge without a conflict: one side no longer needs a content, of which the other has a new VM."""
    for number in range(6):
        repository.instancetype(f"size-{number}", cpus=10 + number)
        repository.vm(f"host-{number}", f"size-{number}")
    (repository.folder / "vms/web.yaml").unlink()
    repository.fine("pin")
    repository.commit("main")
    repository.git("checkout", "--quiet", "-b", "upgrade")
    for cpus in (4, 5):  # the lock holds the content before the last change, too
        repository.instancetype("small", cpus=cpus)
        repository.fine("pin", "--upgrade", "db")
    repository.commit("upgrade")
    repository.git("checkout", "--quiet", "main")
    repository.vm("zeta")
    repository.fine("pin")
    repository.commit("zeta")


def test_merge_without_a_conflict_is_mended_by_resolving(repository: Repository) -> None:
    torn(repository)
    assert not conflicts(repository, "upgrade")
    done = repository.run("build")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the pin of prod/zeta needs the instancetype small" in done.stderr
    assert "virt-render pin --resolve" in done.stderr
    assert "prod/db  1 -> 3" in repository.fine("pin", "--resolve")
    built = repository.fine("build", "--pins", "require")
    assert (sockets(built, "db"), sockets(built, "zeta")) == (5, 2)
    assert repository.fine("pin", "--check") == ""
    repository.commit("Merge by VM")
    assert repository.run("pin", "--resolve").returncode == 2


@pytest.mark.parametrize("what", ["edited since", "no merge", "no git"])
def test_what_no_merge_explains_is_left_alone(repository: Repository, what: str) -> None:
    torn(repository)
    whole = repository.lock.read_text(encoding="utf-8")
    if what == "edited since":
        assert not conflicts(repository, "upgrade")
    elif what == "no git":
        shutil.rmtree(repository.folder / ".git")
    text = repository.lock.read_text(encoding="utf-8")
    old = "guest: 10\n" if what == "edited since" else "guest: 2\n"
    repository.write(LOCK, text.replace(old, "guest: 9\n"))
    before = repository.lock.read_bytes()
    assert before != whole.encode()
    assert repository.run("pin", "--resolve").returncode == 2
    assert repository.lock.read_bytes() == before


def test_nothing_to_resolve(repository: Repository) -> None:
    repository.fine("pin")
    before = repository.lock.read_bytes()
    assert repository.run("pin", "--resolve").returncode == 2
    assert repository.lock.read_bytes() == before


def test_history_of_a_shallow_clone(repository: Repository, tmp_path: Path) -> None:
    repository.fine("pin")
    repository.commit("one")
    for cpus in (3, 4):
        repository.instancetype("small", cpus=cpus)
        repository.fine("pin", "--upgrade-all")
        repository.commit(f"cpus {cpus}")
    clone = Repository(tmp_path / "clone")
    clone.git("fetch", "--quiet", "--depth=2", f"file://{repository.folder}", "main")
    clone.git("checkout", "--quiet", "FETCH_HEAD")
    done = clone.run("history", "web")
    assert done.returncode == 0
    assert [
        line.split()[0] for line in done.stdout.splitlines() if line[:4].strip().isdecimal()
    ] == ["2", "3"]
    assert "VR616" in done.stderr
    assert "sockets: 3 -> 4 (migrate)" in done.stdout
    done = clone.run("show", "web", "--revision", "1")
    assert done.returncode == Exit.USAGE
    assert "has no revision 1" in done.stderr
    assert "the clone is shallow" in done.stderr


def rows(history: str) -> list[tuple[str, str]]:
    """The numbers of a history with the commits that they stand beside."""
    found = (line.split() for line in history.splitlines() if line[:4].strip().isdecimal())
    return [(words[0], words[1]) for words in found]


def test_a_number_that_comes_again_has_a_row_of_its_own(repository: Repository) -> None:
    """As after ``git revert``: each commit is told with what it made of the VM."""
    repository.fine("pin")
    first = repository.commit("Pin")
    repository.instancetype("small", cpus=4)
    repository.fine("pin", "--upgrade-all")
    second = repository.commit("Upgrade to four")
    repository.git("revert", "--no-edit", "HEAD")
    third = repository.git("rev-parse", "HEAD").strip()
    repository.instancetype("small", cpus=8)
    repository.fine("pin", "--upgrade-all")
    fourth = repository.commit("Upgrade to eight")
    history = repository.fine("history", "web")
    ids = [commit[:10] for commit in (first, second, third, fourth)]
    assert rows(history) == list(zip("1212", ids, strict=True))
    steps = [line.split()[1:4] for line in history.splitlines() if "cpu.sockets" in line]
    assert steps == [["2", "->", "4"], ["4", "->", "2"], ["2", "->", "8"]]
    # What the number means is said only where it means one thing.
    assert sockets(repository.fine("show", "web", "--revision", "1"), "web") == 2
    done = repository.run("show", "web", "--revision", "2")
    assert (done.returncode, done.stdout) == (Exit.USAGE, "")
    assert f"more than once, from the commits {ids[1]}, {ids[3]}" in done.stderr
    assert sockets(repository.fine("show", "web", "--at", ids[1]), "web") == 4
    assert sockets(repository.fine("show", "web", "--at", ids[3]), "web") == 8


def test_history_of_a_vm_that_was_away(repository: Repository) -> None:
    repository.fine("pin")
    first = repository.commit("Pin")
    (repository.folder / "vms/web.yaml").unlink()
    repository.fine("pin")
    repository.commit("Remove web")
    repository.instancetype("small", cpus=4)
    repository.vm("web")
    repository.fine("pin", "--upgrade-all")
    again = repository.commit("Add web again")
    assert rows(repository.fine("history", "web")) == [("1", first[:10]), ("1", again[:10])]
    assert repository.run("show", "web", "--revision", "1").returncode == Exit.USAGE


def test_history_across_a_merge_has_each_step_once(repository: Repository) -> None:
    repository.fine("pin")
    first = repository.commit("Pin")
    repository.instancetype("small", cpus=4)
    repository.git("checkout", "--quiet", "-b", "db")
    repository.fine("pin", "--upgrade", "db")
    repository.commit("Upgrade db")
    repository.git("checkout", "--quiet", "main")
    repository.instancetype("small", cpus=4)
    repository.fine("pin", "--upgrade", "web")
    upgraded = repository.commit("Upgrade web")
    repository.git("merge", "--quiet", "--no-edit", "db")
    expected = [("1", first[:10]), ("2", upgraded[:10])]
    assert rows(repository.fine("history", "web")) == expected


def test_history_of_a_moved_folder_goes_on(repository: Repository) -> None:
    repository.fine("pin")
    pinned = repository.commit("Pin")
    for folder in ("vms", "instancetypes", LOCK):
        (repository.folder / "fleet").mkdir(exist_ok=True)
        repository.git("mv", folder, f"fleet/{folder}")
    moved = repository.commit("Move")
    done = repository.run("history", "web", "fleet")
    assert rows(done.stdout) == [("1", pinned[:10])]
    assert f"   -  {moved[:10]}" in done.stdout
    assert "moved from . to fleet" in done.stdout
    assert "VR616" not in done.stderr
    assert sockets(repository.fine("show", "web", "fleet", "--revision", "1"), "web") == 2


def test_history_runs_nothing_that_the_repository_names(repository: Repository) -> None:
    """No filter, hook or monitor; and files that git would convert are as they were committed."""
    repository.fine("pin")
    repository.write(".gitattributes", "*.yaml filter=odd\n")
    repository.write("link.yaml", "")
    (repository.folder / "link.yaml").unlink()
    (repository.folder / "link.yaml").symlink_to("vms/web.yaml")
    repository.commit("Pin")
    (repository.folder / "link.yaml").unlink()
    program = f"touch {repository.folder}/ran; cat"
    for key in ("filter.odd.smudge", "filter.odd.clean", "filter.odd.process", "core.fsmonitor"):
        repository.git("config", key, program)
    repository.git("config", "filter.odd.required", "true")
    repository.write("hooks/post-index-change", f"#!/bin/sh\ntouch {repository.folder}/ran\n")
    (repository.folder / "hooks/post-index-change").chmod(0o755)
    repository.git("config", "core.hooksPath", str(repository.folder / "hooks"))
    assert sockets(repository.fine("show", "web", "--at", "HEAD"), "web") == 2
    assert rows(repository.fine("history", "web"))
    os.utime(repository.folder / "vms/web.yaml", (1, 1))  # git would look at what it says
    repository.fine("report", ".")
    assert not (repository.folder / "ran").exists()


def test_history_before_the_first_commit(repository: Repository) -> None:
    repository.fine("pin")
    for words in ("history web", "diff", "diff HEAD", "diff main", "show web --at main"):
        done = repository.run(*words.split())
        assert done.returncode == Exit.USAGE
        assert "the repository has no commit yet" in done.stderr
        assert "  help: make the first one: git add . && git commit" in done.stderr


def test_history_before_the_first_lock(repository: Repository) -> None:
    repository.commit("VMs")
    done = repository.run("history")
    assert "help: 'virt-render pin' writes a lock, and its first commit begins the history" in (
        done.stderr
    )


def test_at_needs_a_commit(repository: Repository) -> None:
    assert repository.run("show", "web", "--at", "").returncode == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "web", "--at", "nowhere"), "unknown revision nowhere"),
        (("show", "web", "--at", "--help"), "unknown revision --help"),
        (("show", "web", "--revision", "9"), "has no revision 9"),
        (("show", "nobody"), "no VirtualMachine nobody"),
        (("history", "nobody"), "pins nobody"),
    ],
)
def test_what_history_does_not_have(
    repository: Repository, words: tuple[str, ...], message: str
) -> None:
    repository.fine("pin")
    repository.commit("one")
    done = repository.run(*words)
    assert (done.returncode, done.stdout) == (Exit.USAGE, "")
    assert message in done.stderr


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("show", "wbe"), "web"),
        (("show", "web", "--at", "mian"), "main"),
        (("history", "wbe"), "web"),
        (("history", "--since", "mian"), "main"),
        (("history", "prdo/"), "prod/"),
        (("pin", "--upgrade", "prdo/"), "prod/"),
    ],
)
def test_of_a_misspelt_name_the_near_one_is_said(
    repository: Repository, words: tuple[str, ...], near: str
) -> None:
    repository.fine("pin")
    repository.commit("one")
    assert f"help: did you mean {near}?" in repository.run(*words).stderr


def test_history_without_git(tmp_path: Path) -> None:
    done = run("history", "web", cwd=tmp_path, GIT_CEILING_DIRECTORIES=str(tmp_path.parent))
    assert (done.returncode, done.stdout) == (Exit.USAGE, "")
    assert "VR615" in done.stderr
    assert "  help: name a PATH in a repository of git, or make one: git init\n" in done.stderr


def test_killed_at_any_moment_the_lock_is_old_or_new(repository: Repository) -> None:
    for number in range(60):
        repository.vm(f"vm{number:02}")
    repository.fine("pin")
    repository.instancetype("small", cpus=4)
    killed, new = repository.kill_upgrades(50)
    assert killed > 10
    repository.fine("pin", "--upgrade-all")
    assert repository.lock.read_bytes() == new


def test_history_of_an_overlay(tmp_path: Path, kustomize: str) -> None:
    """kustomize builds each commit from files of that commit, those outside the overlay included."""
    repository = Repository(tmp_path / "repository")
    repository.instancetype("small", folder="base")
    repository.vm("web", folder="base")
    head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    repository.write("base/kustomization.yaml", f"{head}resources: [small.yaml, web.yaml]\n")
    repository.write("live/kustomization.yaml", f"{head}resources: [../base]\n")
    words = ("live", "--kustomize", kustomize)
    repository.fine("pin", *words)
    repository.commit("one")
    repository.instancetype("small", cpus=4, folder="base")
    repository.commit("the lock keeps it")
    repository.fine("pin", "--upgrade-all", *words)
    repository.commit("two")
    (repository.folder / "live/kustomization.yaml").unlink()
    (repository.folder / "base/web.yaml").unlink()
    history = repository.fine("history", "web", *words)
    assert "cpu.sockets: 2 -> 4 (migrate)" in history
    assert sockets(repository.fine("show", "web", *words, "--revision", "1"), "web") == 2
    # From within the folder, with PATH as seen from there.
    inside = run(
        "history", "web", "../live", "--kustomize", kustomize, cwd=repository.folder / "base"
    )
    assert inside.stdout == history


def test_a_kustomization_is_pinned_to_what_folders_below_define(
    tmp_path: Path, kustomize: str
) -> None:
    """As `check .` finds it there; those folders get no lock for that."""
    repository = Repository(tmp_path / "repository")
    repository.instancetype("small", folder="platform")
    repository.vm("web")
    head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    repository.write("kustomization.yaml", f"{head}resources: [vms/web.yaml]\n")
    repository.write("platform/kustomization.yaml", f"{head}resources: [small.yaml]\n")
    words = (".", "--kustomize", kustomize)
    assert "VR201" not in repository.run("check", *words).stdout
    assert "error VR610" in repository.run("pin", "--check", *words).stderr
    assert "new, instancetype small@" in repository.fine("pin", *words)
    assert [path.relative_to(repository.folder) for path in repository.folder.rglob(LOCK)] == [
        Path(LOCK)
    ]
    assert sockets(repository.fine("build", *words), "web") == 2


def test_a_folder_is_pinned_to_what_the_repository_defines(tmp_path: Path) -> None:
    """As `check` of the folder finds it; edits of it reach the VM when its pin is upgraded."""
    repository = Repository(tmp_path / "repository")
    repository.instancetype("small", folder="platform")
    repository.vm("web", folder="apps/web")
    assert "VR201" not in repository.run("check", "apps/web").stdout
    assert "error VR610" in repository.run("pin", "--check", "apps/web").stderr
    assert "new, instancetype small@" in repository.fine("pin", "apps/web")
    assert [path.relative_to(repository.folder) for path in repository.folder.rglob(LOCK)] == [
        Path("apps/web") / LOCK
    ]
    repository.instancetype("small", cpus=4, folder="platform")
    assert "1 -> 2" in repository.fine("pin", "apps/web", "--upgrade", "web")


REVISION = """\
apiVersion: apps/v1
kind: ControllerRevision
metadata: {{name: {name}, namespace: prod}}
data:
  apiVersion: instancetype.kubevirt.io/v1beta1
  kind: VirtualMachineInstancetype
  metadata: {{name: small}}
  spec: {{cpu: {{guest: {cpus}}}, memory: {{guest: 2Gi}}}}
revision: 0
"""


def test_story_of_a_vm_that_was_pinned_by_hand(repository: Repository) -> None:
    def name(revision: str) -> None:
        repository.vm("web")
        text = (repository.folder / "vms/web.yaml").read_text(encoding="utf-8")
        kind = "    kind: VirtualMachineInstancetype\n"
        repository.write(
            "vms/web.yaml", text.replace(kind, f"{kind}    revisionName: {revision}\n")
        )

    repository.write("revisions/one.yaml", REVISION.format(name="web-1", cpus=3))
    name("web-1")
    assert " of ControllerRevision web-1" in repository.fine("pin")
    assert repository.pins["prod/web"]["instancetypeRevisionName"] == "web-1"
    assert "instancetypeRevisionName" not in repository.pins["prod/db"]
    first = repository.fine("build", "--pins", "require")
    assert (sockets(first, "web"), sockets(first, "db")) == (3, 2)
    repository.commit("Pin web by hand")

    # An edit of the instancetype is nothing to it, one of its revision an error wherever it is read.
    repository.instancetype("small", cpus=5)
    done = repository.run("build", "--pins", "require")
    assert (sockets(done.stdout, "web"), sockets(done.stdout, "db")) == (3, 2)
    assert "prod/db is pinned to" in done.stderr
    repository.write("revisions/one.yaml", REVISION.format(name="web-1", cpus=6))
    lock = repository.lock.read_bytes()
    for words in (
        ("build",),
        ("build", "--pins", "require"),
        ("check",),
        ("pin",),
        ("pin", "--check"),
    ):
        done = repository.run(*words)
        assert done.returncode == 1, words
        assert (done.stdout + done.stderr).count("error VR621") == 1
    assert repository.lock.read_bytes() == lock
    repository.git("checkout", "--", "revisions/one.yaml")
    assert repository.fine("pin", "--check") == ""

    # Another name is a change that the pin has to follow.
    repository.write("revisions/two.yaml", REVISION.format(name="web-2", cpus=6))
    name("web-2")
    assert "warning VR607" in repository.run("build").stderr
    assert repository.run("build", "--pins", "require").stdout == ""
    assert "would become revision 2" in repository.run("pin", "--check").stderr
    moved = repository.fine("pin")
    assert "prod/web  1 -> 2    instancetype small@" in moved
    assert "of ControllerRevision web-1 -> small@" in moved
    assert sockets(repository.fine("build", "--pins", "require"), "web") == 6
    repository.commit("Another revision for web")
    assert "      spec.domain.cpu.sockets: 3 -> 6" in repository.fine("history", "web")

    # Where the cluster's own was made anew, its new content is what upgrading asks for.
    repository.write("revisions/two.yaml", REVISION.format(name="web-2", cpus=7))
    assert "prod/web  2 -> 3" in repository.fine("pin", "--upgrade", "web")
    assert sockets(repository.fine("build", "--pins", "require"), "web") == 7


def test_a_lock_among_the_resources_can_be_ignored(repository: Repository) -> None:
    """What was said of the documents after it is about those still."""
    resources = "instancetypes/small.yaml, vms/db.yaml, vms/web.yaml"
    repository.write("kustomization.yaml", f"resources: [{resources}]\n")
    repository.fine("pin")
    listed = f"resources: [virt-render.lock.yaml, {resources}]\n"
    repository.write("kustomization.yaml", listed)
    assert sockets(repository.fine("build", "--pins", "ignore"), "db") == 2


def test_a_conflict_with_what_the_lock_has_names_its_line(repository: Repository) -> None:
    repository.fine("pin")
    repository.instancetype("small", memory="8Gi")
    manifest = repository.folder / "vms" / "db.yaml"
    text = manifest.read_text(encoding="utf-8")
    assert "      domain:\n" in text
    conflicting = text.replace("      domain:\n", "      domain:\n        memory: {guest: 16Gi}\n")
    manifest.write_text(conflicting, encoding="utf-8")
    done = repository.run("check")
    (line,) = (line for line in done.stdout.splitlines() if "sets memory.guest: " in line)
    place, _, message = line.strip().partition(": ")
    assert message.endswith("small sets memory.guest: 2Gi, as the lock has it")
    file, number, _ = place.split(":")
    assert file == LOCK
    assert (
        'guest: "2Gi"' in repository.lock.read_text(encoding="utf-8").splitlines()[int(number) - 1]
    )


def test_of_runs_side_by_side_none_loses_what_another_has_written(repository: Repository) -> None:
    names = [f"w{number}" for number in range(4)]
    for name in names:
        repository.vm(name)
    repository.fine("pin", ".")
    repository.instancetype("small", cpus=7)
    with ThreadPoolExecutor() as pool:
        done = [*pool.map(lambda name: repository.run("pin", "--upgrade", name, "."), names)]
    lost = [each for each in done if each.returncode]
    assert all(each.returncode == 3 and "VR121" in each.stdout + each.stderr for each in lost)
    upgraded = [name for name in names if repository.pins[f"prod/{name}"]["revision"] == 2]
    assert len(upgraded) == len(done) - len(lost) > 0
