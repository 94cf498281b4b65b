"""What git keeps for itself, passwords in addresses among it, is read for nobody: with the box and without any."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.manifests import vm
from tests.support.process import environ, run
from tests.support.repository import Repository

CANARY = "hunter2canary"
#: Starts virt-render with a box that has no wall, as where the kernel forbids all of them.
UNBOXED = """
from render.system.programs import box
box._confining = lambda *_: None
from render.frontends.dispatch import main
main()
"""
#: Starts it with a git that no wall keeps from anything.
UNFENCED = UNBOXED.replace(
    "import box\n",
    "import box\nfrom render.system import git\ngit.fence = lambda: None\n"
    "git.FENCED.supervisor = lambda *_: None\n",
)
#: What may name a program in git's configuration.
PROGRAMS = (
    "alias.log",
    "alias.rev-parse",
    "core.alternateRefsCommand",
    "core.askPass",
    "core.editor",
    "core.fsmonitor",
    "core.gitProxy",
    "core.pager",
    "core.sshCommand",
    "credential.helper",
    "diff.external",
    "diff.x.command",
    "diff.x.textconv",
    "filter.x.clean",
    "filter.x.smudge",
    "filter.y.process",
    "gpg.openpgp.program",
    "gpg.program",
    "gpg.ssh.defaultKeyCommand",
    "gpg.ssh.program",
    "interactive.diffFilter",
    "merge.x.driver",
    "pager.log",
    "remote.origin.uploadpack",
    "tar.x.command",
    "uploadpack.packObjectsHook",
)
#: What changes what git prints, or which repository and files it means.
SETTINGS = {
    "blame.ignoreRevsFile": "/x", "color.ui": "always", "core.abbrev": "4", "core.attributesFile": "../attributes",
    "core.autocrlf": "true", "core.bare": "true", "core.ignoreCase": "true", "core.symlinks": "false",
    "core.worktree": "/", "diff.context": "0", "diff.ignoreSubmodules": "all", "diff.mnemonicPrefix": "true",
    "diff.noprefix": "true", "diff.orderFile": "../absent", "diff.relative": "true", "diff.renames": "copies",
    "filter.x.required": "true", "format.pretty": "raw", "i18n.logOutputEncoding": "utf-16",
    "log.abbrevCommit": "true", "log.date": "relative", "log.decorate": "full", "log.diffMerges": "on",
    "log.follow": "true", "log.mailmap": "true", "log.showRoot": "false", "log.showSignature": "true",
    "protocol.ext.allow": "always", "status.relativePaths": "false", "status.short": "true",
    "transfer.hideRefs": "refs/heads",
}  # fmt: skip
COMMANDS = (
    "check .",
    "check --changed-since HEAD~1 .",
    "diff HEAD~1..HEAD",
    "diff",
    "history web",
    "show web --revision 1",
    "pin --check",
)
#: Kustomizations beside a VM in `vm.yaml`; `link` leads to git's configuration.
KUSTOMIZATIONS = [
    "configMapGenerator: [{name: a, files: [.git/config]}]",
    "configMapGenerator: [{name: a, files: [x=./vms/../.git/config]}]",
    "configMapGenerator: [{name: a, files: [link]}]",
    "secretGenerator: [{name: a, envs: [.git/config]}]",
    "secretGenerator: [{name: a, env: .git/config}]",
    "patches: [{path: .git/config, target: {kind: VirtualMachine}}]",
    "openapi: {path: .git/config}",
    "generators: [generator.yaml]",
    "generators: ['{apiVersion: builtin, kind: SecretGenerator, metadata: {name: g}, files: [.git/config]}']",
]
GENERATOR = (
    "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: g}\nfiles: [.git/config]\n"
)
TEMPLATE = vm("web", memory="1Gi").replace(
    "spec:", '  annotations: {a: {{ .Files.Get "PLACE" | quote }}}\nspec:', 1
)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    made.git("remote", "add", "origin", f"https://user:{CANARY}@example.com/x.git")
    made.write("vm.yaml", vm("web", memory="1Gi"))
    (made.folder / "vms").mkdir()
    (made.folder / "link").symlink_to(".git/config")
    return made


def build(folder: Path, *words: str) -> list["subprocess.CompletedProcess[str]"]:
    """What becomes of a build with the box, with one that kustomize may leave, and without walls."""
    argvs = (
        [sys.executable, "-m", "render", "build", *words, "."],
        [sys.executable, "-m", "render", "build", "--allow-remote", *words, "."],
        [sys.executable, "-c", UNBOXED, "build", *words, "."],
    )
    return [
        subprocess.run(
            argv, cwd=folder, env=environ(), capture_output=True, encoding="utf-8", check=False
        )
        for argv in argvs
    ]


@pytest.mark.parametrize("text", KUSTOMIZATIONS)
def test_no_kustomization_reads_it(repository: Repository, kustomize: str, text: str) -> None:
    repository.write("generator.yaml", GENERATOR)
    repository.write("kustomization.yaml", f"resources: [vm.yaml]\n{text}\n")
    for done in build(repository.folder, "--kustomize", kustomize):
        assert (done.returncode, done.stdout) == (3, "")
        assert "VR110" in done.stderr
        assert "it belongs to git itself" in done.stderr
        assert CANARY not in done.stderr


@pytest.mark.parametrize("place", [".git/config", "link", "more/config"])
def test_no_chart_reads_it(repository: Repository, helm: str, place: str) -> None:
    (repository.folder / "vm.yaml").unlink()
    if place != "link":
        (repository.folder / "link").unlink()
    if place == "more/config":
        (repository.folder / "more").symlink_to(".git")
    repository.write("Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    repository.write("templates/vm.yaml", TEMPLATE.replace("PLACE", place))
    for done in build(repository.folder, "--helm", helm):
        assert CANARY not in done.stdout + done.stderr
        assert done.returncode == (0 if place == ".git/config" else 3), done.stderr
    assert os.listdir(repository.folder / ".git")


def test_no_setting_names_it(repository: Repository) -> None:
    head = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec:\n"
    repository.write(".virt-render.yaml", f"{head}  catalog: [.git/config]\n")
    for done in build(repository.folder):
        assert (done.returncode, done.stdout) == (2, "")
        assert CANARY not in done.stderr


@pytest.mark.parametrize("is_link", [True, False])
def test_git_follows_no_link_of_the_repository(
    repository: Repository, tmp_path: Path, *, is_link: bool
) -> None:
    """What it may read is not walled off, and so nothing that a tenant writes may name it another file."""
    outside = tmp_path / "outside"
    outside.write_text("hidden\n")
    repository.write("hidden/vm.yaml", vm("hidden", memory="1Gi"))
    rules = repository.folder / ".gitignore"
    if is_link:
        rules.symlink_to(outside)
    else:
        rules.write_bytes(outside.read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "render", "check", "."],
        cwd=repository.folder, env=environ(), capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ("2 VMs" if is_link else "1 VM:") in done.stderr


def test_a_commit_is_not_what_somebody_put_in_its_place(tmp_path: Path) -> None:
    """``git replace``: the name of a commit stands for what it holds."""
    repository = Repository(tmp_path / "fleet")
    repository.write("vm.yaml", vm("web", memory="1Gi"))
    repository.commit("One")
    repository.write("vm.yaml", vm("web", memory="2Gi"))
    repository.commit("Two")
    repository.git("replace", "HEAD", "HEAD~1")
    assert "1 VM: 1 restart" in repository.run("diff", "HEAD~1..HEAD").stdout


def test_a_commit_has_the_parents_that_it_says(tmp_path: Path) -> None:
    """``.git/info/grafts``: others are put in their place."""
    repository = Repository(tmp_path / "fleet")
    commits = []
    for memory in ("1Gi", "2Gi", "1Gi"):
        repository.write("vm.yaml", vm("web", memory=memory))
        commits.append(repository.commit(memory))
    repository.write(".git/info/grafts", f"{commits[2]} {commits[0]}\n")
    assert "1 VM: 1 restart" in repository.run("diff", "HEAD~1..HEAD").stdout


def test_a_check_says_that_the_clone_is_shallow(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "fleet")
    repository.write("vm.yaml", vm("web", memory="1Gi"))
    first = repository.commit("One")
    repository.commit("Two")
    repository.git("clone", "--quiet", "--depth=1", f"file://{tmp_path}/fleet", f"{tmp_path}/near")
    for since in (first, "main~1"):
        done = run("check", "--changed-since", since, ".", cwd=tmp_path / "near")
        assert "the clone is shallow: git fetch --unshallow" in done.stdout + done.stderr


def signed(repository: Repository) -> None:
    """Commit the index with what looks like a signature."""
    tree, head = (
        repository.git(*words).strip() for words in (["write-tree"], ["rev-parse", "HEAD"])
    )
    who = "a <a@example.com> 1700000000 +0000"
    text = (
        f"tree {tree}\nparent {head}\nauthor {who}\ncommitter {who}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n"
        " aaaa\n -----END PGP SIGNATURE-----\n\nTwo\n"
    )
    commit = repository.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=text).strip()
    repository.git("update-ref", "refs/heads/main", commit)


def test_no_program_of_its_configuration_is_run(tmp_path: Path) -> None:
    """Of a checkout that somebody else packed: not even where no wall would keep it from harm."""
    repository = Repository(tmp_path / "fleet")

    def answers() -> dict[str, tuple[int, str, str]]:
        found = {}
        for words in COMMANDS:
            done = subprocess.run(
                [sys.executable, "-c", UNFENCED, *words.split()],
                cwd=repository.folder, env=environ(), capture_output=True, encoding="utf-8", check=False,
            )  # fmt: skip
            found[words] = done.returncode, done.stdout, done.stderr
        return found

    for size in ("u1.small", "u1.large"):
        repository.write("vm.yaml", vm("web", instancetype=size))
        repository.fine("pin")
        repository.git("add", "--all")
        if size == "u1.small":
            repository.commit("One")
    signed(repository)
    before = answers()
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho x >> {tmp_path}/ran\ncat\n", encoding="utf-8")
    program.chmod(0o755)
    config = str(repository.folder / ".git/config")
    for key, value in {**dict.fromkeys(PROGRAMS, str(program)), **SETTINGS}.items():
        repository.git("config", "--file", config, key, value)
    filters = "* filter=x diff=x merge=x\n*.yaml filter=y working-tree-encoding=UTF-16\n"
    repository.write(".git/info/attributes", filters)
    for hook in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        repository.write(f".git/hooks/{hook}", program.read_text(encoding="utf-8"))
        (repository.folder / ".git/hooks" / hook).chmod(0o755)
    os.utime(repository.folder / "vm.yaml", (1, 1))  # so that git looks into it
    after = answers()
    assert not (tmp_path / "ran").exists()
    assert after == before
    assert {words: found for words, found in before.items() if found[0]} == {}
