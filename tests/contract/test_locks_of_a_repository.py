"""Where locks lie in a repository of several kustomizations and folders, and which of them count."""

import re
import shutil
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from tests.support.manifests import NAMESPACED, vm
from tests.support.manifests import instancetype as type_of
from tests.support.repository import LOCK, Repository

BASE = "resources: [vm.yaml, small.yaml]\n"


@pytest.fixture
def repository(tmp_path: Path, kustomize: str, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A base with two overlays, and two teams."""
    monkeypatch.setenv("VIRT_RENDER_KUSTOMIZE", kustomize)
    found = Repository(tmp_path / "repository")
    found.write("base/kustomization.yaml", BASE)
    found.write("base/vm.yaml", vm("web", namespace="prod", instancetype="small", kind=NAMESPACED))
    small = type_of("small", namespace="prod", kind=NAMESPACED, cpus=2)
    found.write("base/small.yaml", small)
    for overlay in ("prod", "test"):
        found.write(f"overlays/{overlay}/kustomization.yaml", "resources: [../../base]\n")
    for team in ("a", "b"):
        text = vm("db", namespace="vms", instancetype="own", kind=NAMESPACED)
        found.write(f"vms/team-{team}/db.yaml", text)
        own = type_of("own", namespace="vms", kind=NAMESPACED)
        found.write(f"vms/team-{team}/own.yaml", own)
    found.write("apps/kustomization.yaml", "resources: [gone.yaml]\n")
    return found


def locks(repository: Repository) -> set[str]:
    return {
        str(path.relative_to(repository.folder).parent) for path in repository.folder.rglob(LOCK)
    }


def test_each_root_gets_its_own_lock_and_uses_it(repository: Repository) -> None:
    told = repository.fine("pin")
    assert locks(repository) == {"overlays/prod", "overlays/test", "vms/team-a", "vms/team-b"}
    assert told.count("prod/web") == told.count("vms/db") == 2
    assert f"overlays/prod/{LOCK}\n" in told
    assert repository.fine("pin") == "nothing moved\n"
    assert repository.fine("pin", "--check") == ""
    assert "VR6" not in repository.fine("check")
    repository.write("base/small.yaml", type_of("small", namespace="prod", kind=NAMESPACED, cpus=4))
    for folder in ("overlays/prod", "overlays/test"):
        built = repository.run("build", folder, "--pins", "require")
        assert built.returncode == 0
        assert "sockets: 2\n" in built.stdout
        assert "VR608" in built.stderr
    told = repository.fine("pin", "overlays/prod", "--upgrade", "web")
    assert "1 -> 2" in told
    assert "sockets: 4\n" in repository.fine("build", "overlays/prod")
    assert "sockets: 2\n" in repository.fine("build", "overlays/test")
    assert repository.fine("pin", "--check") == ""


def test_a_lock_that_others_have_is_not_called_unused(repository: Repository) -> None:
    """A lock pins what stands beside it, also where another input below has a VM of the same name."""
    repository.write("web.yaml", vm("web", namespace="prod", memory="1Gi"))
    repository.fine("pin")
    assert (repository.folder / LOCK).exists()
    (repository.folder / "overlays/test" / LOCK).unlink()
    assert "VR617" not in repository.run("check").stdout
    repository.fine("pin", "base")
    assert "VR617" in repository.run("check").stdout
    written = repository.run("pin", "overlays/test")
    assert (written.returncode, "VR617" in written.stderr) == (0, False)
    assert "VR617" not in repository.run("check").stdout


def test_a_new_lock_below_the_one_that_counted_is_said(tmp_path: Path) -> None:
    """Loose files are pinned by the lock above them, until they have their own."""
    repository = Repository(tmp_path / "loose")
    for name in ("db", "web"):
        repository.write(f"{name}/vm.yaml", vm(name, namespace="vms", memory="1Gi"))
    repository.fine("pin")
    assert locks(repository) == {"."}
    done = repository.run("pin", "db")
    assert (done.returncode, locks(repository)) == (0, {".", "db"})
    assert f"{LOCK}: warning VR617 lock-unused: {LOCK} pins vms/db as well" in done.stderr
    assert "virt-render pin . leaves these VMs to the new lock" in done.stderr
    assert "VR617" not in repository.run("pin", "db").stderr
    assert "vms/db  -         no longer in the input" in repository.fine("pin", ".")


@pytest.mark.parametrize("words", [("build", "vms"), ("pin", "vms")])
def test_vms_that_get_a_lock_of_their_own_keep_their_pins_as_told(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    repository = Repository(tmp_path / "loose")
    repository.write("small.yaml", type_of("small", namespace="prod", kind=NAMESPACED, cpus=2))
    repository.write(
        "vms/web.yaml", vm("web", namespace="prod", instancetype="small", kind=NAMESPACED)
    )
    repository.fine("pin")
    repository.write("small.yaml", type_of("small", namespace="prod", kind=NAMESPACED, cpus=4))
    copy = re.search(rf"cp ({LOCK}) (vms/{LOCK})", repository.run(*words).stderr)
    assert copy
    shutil.copyfile(*(repository.folder / name for name in copy.groups()))
    assert repository.fine("pin", "vms") == "nothing moved\n"
    assert "no longer in the input" in repository.fine("pin", ".")
    built = repository.run("build", "vms")
    assert ("sockets: 2\n" in built.stdout, "VR617" in built.stderr) == (True, False)


def test_a_lock_that_git_ignores_is_told_with_the_pattern(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "loose")
    repository.write("web.yaml", vm("web", namespace="prod", memory="1Gi"))
    repository.write(".gitignore", "*.tmp\n*.lock.yaml\n")
    message = f"{LOCK}: warning VR606 pin-missing: git ignores {LOCK} (.gitignore:2: *.lock.yaml)"
    for words in (("pin",), ("pin", "--check")):
        assert message in repository.run(*words).stderr
    repository.git("add", "--force", LOCK)  # as the help says
    assert "VR606" not in repository.run("pin").stderr
    assert repository.run("pin", "--check").returncode == 0


def test_a_lock_that_a_later_pattern_takes_out_is_not_ignored(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.vm("web")
    repository.instancetype("small")
    repository.write(".gitignore", f"*.lock.yaml\n!{LOCK}\n")
    repository.fine("pin")
    assert "VR606" not in repository.run("pin", "--check").stderr


def test_check_names_every_lock_that_is_not_right(repository: Repository) -> None:
    repository.fine("pin")
    repository.write("vms/team-b/db.yaml", vm("other", namespace="vms", memory="1Gi"))
    done = repository.run("pin", "--check")
    assert done.returncode == Exit.FINDINGS
    assert done.stderr.count("error VR610") == 2
    assert "vms/team-b" in done.stderr


def test_what_has_an_error_gets_no_lock_and_the_others_do(repository: Repository) -> None:
    repository.write("vms/team-b/db.yaml", vm("db", namespace="vms", instancetype="gone"))
    done = repository.run("pin")
    assert done.returncode == Exit.FINDINGS
    assert done.stdout.startswith("not pinned: vms/team-b (VR201)\n")
    assert locks(repository) == {"overlays/prod", "overlays/test", "vms/team-a"}


def test_a_lock_that_is_not_used_is_said(repository: Repository) -> None:
    repository.fine("pin", "overlays/prod")
    prod = repository.folder / "overlays/prod" / LOCK
    for folder in (".", "base"):
        other = repository.folder / folder / LOCK
        prod.rename(other)
        for words in (("build", "overlays/prod"), ("check", "overlays"), ("check",)):
            done = repository.run(*words)
            output = done.stdout + done.stderr
            assert done.returncode == 0, output
            printed = LOCK if folder == "." else f"base/{LOCK}"
            assert f"{printed}: warning VR617 lock-unused: " in output
            assert "virt-render pin overlays/" in output
        other.rename(prod)
    repository.fine("pin", "overlays/test")
    assert "VR617" not in repository.run("check").stdout


def test_what_an_upgrade_would_change(repository: Repository) -> None:
    repository.fine("pin")
    repository.write("base/small.yaml", type_of("small", namespace="prod", kind=NAMESPACED, cpus=4))
    before = (repository.folder / "overlays/prod" / LOCK).read_bytes()
    told = repository.fine("pin", "overlays/prod", "--upgrade", "web", "--dry-run")
    assert "prod/web  1 -> 2" in told
    assert "spec.domain.cpu.sockets: 2 -> 4" in told
    assert (repository.folder / "overlays/prod" / LOCK).read_bytes() == before
    assert repository.fine("pin", "--dry-run") == "nothing moved\n"


def half_merged(lock: Path) -> None:
    head, pins, rest = lock.read_text(encoding="utf-8").partition("pins:\n")
    lock.write_text(f"{head}{pins}<<<<<<< a\n{rest}=======\n{rest}>>>>>>> b\n", encoding="utf-8")


def test_half_merged_locks_below_are_all_resolved(repository: Repository) -> None:
    repository.fine("pin")
    for folder in ("overlays/prod", "overlays/test"):
        half_merged(repository.folder / folder / LOCK)
    assert repository.run("check").returncode == Exit.FINDINGS
    repository.fine("pin", "--resolve")
    assert repository.fine("pin", "--check") == ""


def test_where_no_lock_is_half_merged_that_is_said(repository: Repository) -> None:
    """Of a folder without a lock of its own, too: it was one that cannot be read."""
    done = repository.run("pin", "--resolve", ".")
    assert "there is no lock in or below .\n" in done.stderr
    repository.fine("pin")
    done = repository.run("pin", "--resolve", ".")
    assert "no lock has a conflict in or below .\n" in done.stderr
    assert done.returncode == Exit.USAGE


@pytest.mark.parametrize("at_the_top", [False, True])
def test_half_merged_locks_below_a_lock_are_all_resolved(
    repository: Repository, *, at_the_top: bool
) -> None:
    """The top has a lock for loose VMs: it has no conflict, which was all that was said, or was resolved alone."""
    repository.write("loose.yaml", CHART_VM)
    repository.fine("pin")
    for folder in ("overlays/prod", "overlays/test", *(["."] if at_the_top else [])):
        half_merged(repository.folder / folder / LOCK)
    repository.fine("pin", "--resolve", ".")
    assert repository.fine("pin", "--check") == ""
    done = repository.run("pin", "--resolve", ".")
    assert f"{LOCK} has no conflict, and git knows of none" in done.stderr
    assert done.returncode == Exit.USAGE


CHART_VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  instancetype: {name: u1.small}
  template:
    spec:
      domain: {devices: {}}
"""


def test_the_lock_of_a_chart_lies_beside_it(
    tmp_path: Path, helm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRT_RENDER_HELM", helm)
    found = Repository(tmp_path / "charts")
    for chart in ("c", "d"):
        found.write(f"{chart}/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n")
        found.write(f"{chart}/templates/vm.yaml", CHART_VM)
    assert found.fine("pin").count("prod/web") == 2
    assert locks(found) == {"c", "d"}
    for path in (".", "c", "d"):
        assert found.fine("pin", path) == "nothing moved\n"
        assert found.fine("pin", "--check", path) == ""
        assert found.fine("check", path) == ""
    assert found.fine("check", "c/templates/vm.yaml") == ""
    assert "virt-render.dev/revision" in found.fine("build", "c", "--pins", "require")
    found.write("c/templates/vm.yaml", CHART_VM.replace("u1.small", "u1.large"))
    for path in (".", "c"):
        done = found.run("pin", "--check", path)
        assert (done.returncode, done.stderr.count("error VR610")) == (Exit.FINDINGS, 1)
    assert "1 -> 2" in found.fine("pin", "c", "--upgrade-all")
    assert found.fine("pin", "--check") == ""


def test_the_lock_of_the_only_chart_of_a_folder_counts_for_the_folder(
    tmp_path: Path, helm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRT_RENDER_HELM", helm)
    found = Repository(tmp_path / "charts")
    found.write("c/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n")
    found.write("c/templates/vm.yaml", CHART_VM)
    assert found.run("build", "--pins", "require").returncode == Exit.FINDINGS
    found.fine("pin")
    assert locks(found) == {"c"}
    assert "virt-render.dev/revision" in found.fine("build", "--pins", "require")


def test_history_tells_vms_of_one_name_apart_by_their_locks(repository: Repository) -> None:
    repository.fine("pin")
    repository.commit("Pinned")
    told = repository.fine("history")
    assert "prod/web (overlays/prod/virt-render.lock.yaml)" in told
    assert "vms/db (vms/team-b/virt-render.lock.yaml)" in told
    assert "cannot be rendered" not in told


def test_a_shared_definition_that_a_pin_keeps_out_has_a_place(repository: Repository) -> None:
    """VR608, of what another root brings."""
    settings = (
        "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {roots: ['vms/*']}\n"
    )
    repository.write(".virt-render.yaml", settings)
    (repository.folder / "vms/team-a/own.yaml").rename(repository.folder / "own.yaml")
    (repository.folder / "vms/team-b/own.yaml").unlink()
    repository.fine("pin")
    own = type_of("own", namespace="vms", kind=NAMESPACED, cpus=4)
    repository.write("own.yaml", own)
    assert "own.yaml:8:5: warning VR608" in repository.run("check", ".").stdout


def test_a_lock_that_git_has_and_nobody_else_is_told(tmp_path: Path) -> None:
    """Only where it was removed behind the back of git: who removes it with git means it."""
    repository = Repository(tmp_path / "repository")
    repository.write(
        "vms/web.yaml", vm("web", namespace="prod", instancetype="small", kind=NAMESPACED)
    )
    repository.write("vms/small.yaml", type_of("small", namespace="prod", kind=NAMESPACED))
    assert "was removed" not in repository.fine("check")
    repository.fine("pin")
    repository.commit("pins")
    repository.lock.unlink()
    told = repository.run("check")
    assert told.returncode == 0
    assert told.stdout.startswith(
        f"{LOCK}: warning VR606 pin-missing: {LOCK} was removed, and git has it"
    )
    assert f"\n  help: git restore {LOCK} brings it back;" in told.stdout
    assert "error VR606" in repository.run("check", "--pins", "require").stdout
    assert "was removed" not in repository.fine("check", "--pins", "ignore")
    outdated = repository.run("pin", "--check").stderr
    assert (
        f"\n  help: {LOCK} was removed: git restore {LOCK} brings it back, and virt-render pin would"
        in outdated
    )
    repository.git("rm", "--cached", "-q", LOCK)
    assert "was removed" not in repository.fine("check")
    assert (
        "\n  help: run virt-render pin and commit the lock"
        in repository.run("pin", "--check").stderr
    )


def test_each_lock_that_was_removed_is_told(repository: Repository) -> None:
    repository.fine("pin")
    repository.commit("pins")
    roots = locks(repository)
    for root in roots:
        (repository.folder / root / LOCK).unlink()
    told = repository.run("check").stdout
    assert told.count(f"{LOCK} was removed, and git has it") == len(roots) == 4


@pytest.mark.parametrize(
    "settings",
    [(), ("index.version=4",), ("core.splitIndex=true", "splitIndex.maxPercentChange=100")],
)
@pytest.mark.parametrize("linked", [False, True])
def test_a_lock_that_was_removed_is_told_however_git_keeps_its_index(
    tmp_path: Path, settings: tuple[str, ...], *, linked: bool
) -> None:
    """A linked work tree has its index elsewhere, and not each index has the names of files as they are."""
    repository = Repository(tmp_path / "repository")
    repository.vm("web")
    repository.instancetype("small")
    repository.fine("pin")
    repository.write("virt-render.lock", "")
    repository.commit("pins")
    here = repository
    if linked:
        repository.git("worktree", "add", "-q", "../linked")
        here = Repository(repository.folder.parent / "linked")
    chosen = [word for setting in settings for word in ("-c", setting)]
    (here.folder / "notes").write_text("", encoding="utf-8")
    here.git(*chosen, "add", "notes")
    if "index.version=4" in settings:
        here.git("update-index", "--index-version", "4")
    assert "was removed" not in here.fine("check")
    here.lock.unlink()
    assert f"{LOCK} was removed, and git has it" in here.run("check").stdout


def test_a_lock_that_a_commit_removed_is_not_said_to_be_uncommitted(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.vm("web")
    repository.instancetype("small")
    repository.fine("pin")
    repository.commit("Pin")
    repository.git("rm", "-q", LOCK)
    repository.commit("No pins")
    told = repository.run("show", "web", "--revision", "9").stderr
    assert "has no revision 9" in told
    assert "not committed" not in told


def test_a_kustomization_alone_holds_its_lock_against_the_repository(tmp_path: Path) -> None:
    """What the lock pins stands in another folder."""
    made = Repository(tmp_path / "repository")
    made.write("platform/small.yaml", type_of("small"))
    made.write("prod/vm.yaml", vm("web", instancetype="small"))
    made.write("prod/kustomization.yaml", "resources: [vm.yaml]\n")
    made.fine("pin", ".")
    assert "VR609" not in made.run("check", "prod").stdout
    made.write("platform/small.yaml", type_of("small", cpus=4))
    done = made.run("check", "prod")
    assert "platform/small.yaml:" in done.stdout
    assert "warning VR608 pinned-object-changed" in done.stdout
    (made.folder / "platform/small.yaml").unlink()
    assert "info VR609 pinned-object-gone" in made.run("check", "prod").stdout
