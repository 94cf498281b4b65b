"""Our hooks, run by the oldest and the newest pre-commit that they are meant for."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from render.yaml import reader as manifest
from tests.support import shared
from tests.support.cases import ROOT
from tests.support.manifests import instancetype, vm

GOOD = vm("good", instancetype="small")
BAD = vm("bad", instancetype="small", memory="4Gi")
CONFLICT = "vms/bad.yaml:14:11: error VR301 instancetype-conflict: VirtualMachine bad: "


@pytest.fixture(scope="module", params=["2.9.0", "4.7.0"])
def pre_commit(request: pytest.FixtureRequest) -> str:
    program = ROOT / ".tools" / f"pre-commit-{request.param}" / "bin" / "pre-commit"
    if program.exists():
        return str(program)
    if os.environ.get("VIRT_RENDER_REQUIRE_TOOLS") == "1":
        pytest.fail(f"no {program}, and tools are required; `make tools` installs it")
    pytest.skip("no pre-commit; `make tools` installs it")


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout.strip()


def put(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    git(folder, "add", name)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A user's repository with a good VM."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    put(folder, "vms/good.yaml", GOOD)
    put(folder, "platform/instancetypes.yaml", instancetype())
    put(folder, "values.yaml", "replicas: {{ no }}\n")
    git(folder, "commit", "--quiet", "--message", "start")
    return folder


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This repository as it is now, in a commit of its own."""

    def make(folder: Path) -> None:
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        found = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
        for name in (os.fsdecode(name) for name in found.split(b"\0") if name):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes((ROOT / name).read_bytes())
        git(folder, "init", "--quiet")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", "hooks")

    return shared.folder(tmp_path_factory, "hooks", make)


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*words], cwd=folder, capture_output=True, encoding="utf-8", check=False)


def test_try_repo_on_a_good_and_a_bad_vm(pre_commit: str, hooks: Path, repository: Path) -> None:
    """The bad one alone is told, with the instancetype that stands in another file."""
    put(repository, "vms/bad.yaml", BAD)
    words = (pre_commit, "try-repo", str(hooks), "virt-render-check")
    done = run(repository, *words, "--files", "vms/bad.yaml", "vms/good.yaml")
    assert done.returncode == 1
    assert CONFLICT in done.stdout
    assert "platform/instancetypes.yaml:9:5" in done.stdout
    assert "vms/good.yaml" not in done.stdout


@pytest.fixture(scope="module")
def home(pre_commit: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit, which waits for others of its kind, keeps its environments: one installation for all tests."""
    return shared.folder(tmp_path_factory, Path(pre_commit).parts[-3], lambda _: None)


@pytest.fixture
def configured(repository: Path, hooks: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's repository, configured with all hooks as its users would."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "protocol.file.allow")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "always")
    text = "hooks:\n" + (hooks / ".pre-commit-hooks.yaml").read_text()
    (document,) = manifest.read(text.encode(), "hooks").documents
    listed = "".join(f"  - id: {hook['id']}\n" for hook in document.body["hooks"])
    put(
        repository,
        ".pre-commit-config.yaml",
        f"repos:\n- repo: file://{hooks}\n  rev: {git(hooks, 'rev-parse', 'HEAD')}\n  hooks:\n{listed}",
    )
    return repository


def test_hooks_look_at_changed_files_and_at_the_repository(
    pre_commit: str, configured: Path
) -> None:
    put(configured, "vms/bad.yaml", BAD)
    git(configured, "commit", "--quiet", "--no-verify", "--message", "a bad one")
    put(configured, "vms/good.yaml", f"# changed\n{GOOD}")
    assert run(configured, pre_commit, "run", "virt-render-check").returncode == 0
    done = run(configured, pre_commit, "run", "virt-render-check-all")
    assert done.returncode == 1
    assert CONFLICT in done.stdout


def test_hooks_need_no_network_and_no_history(
    pre_commit: str, configured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(configured, pre_commit, "install-hooks")
    put(configured, "vms/bad.yaml", BAD)
    git(configured, "commit", "--quiet", "--message", "a bad one")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{configured}", "shallow")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    done = run(tmp_path / "shallow", pre_commit, "run", "--all-files", "virt-render-check")
    assert done.returncode == 1
    assert CONFLICT in done.stdout
    assert "Traceback" not in done.stdout


def test_options_can_be_given(pre_commit: str, configured: Path) -> None:
    path = configured / ".pre-commit-config.yaml"
    text = path.read_text()
    for name, last in (("virt-render-check", "--"), ("virt-render-check-all", "-v")):
        line = f"  - id: {name}\n"
        path.write_text(text.replace(line, f"{line}    args: [--catalog, missing, {last}]\n"))
        done = run(configured, pre_commit, "run", "--all-files", name)
        assert done.returncode != 0
        assert "cannot read missing" in done.stdout, "it is an option and no file"


def test_yaml_of_others_is_passed_over(pre_commit: str, configured: Path) -> None:
    put(configured, ".github/workflows/ci.yml", "on: push\njobs: {}\n")
    put(configured, "chart/Chart.yaml", "name: a\n")
    put(configured, "chart/templates/vm.yaml", "{{- if .Values.vm }}\nkind: VirtualMachine\n")
    put(configured, "patch.json", '[{"op": "remove", "path": "/spec"}]\n')
    for name in ("virt-render-check", "virt-render-check-all"):
        done = run(configured, pre_commit, "run", "--all-files", name)
        assert done.returncode == 0, done.stdout


def test_pins_are_checked(pre_commit: str, configured: Path) -> None:
    words = (pre_commit, "run", "--all-files", "virt-render-pin-check")
    assert run(configured, *words).returncode == 1, "there is a VM and no lock"
    git(configured, "rm", "--quiet", "-f", "vms/good.yaml")
    done = run(configured, *words)
    assert done.returncode == 0, f"there is nothing to pin: {done.stdout}"
    put(configured, "vms/good.yaml", GOOD)
    done = run(configured, str(Path(sys.executable).parent / "virt-render"), "pin", ".")
    assert done.returncode == 0, done.stderr
    git(configured, "add", "virt-render.lock.yaml")
    done = run(configured, *words)
    assert done.returncode == 0, done.stdout


def test_deprecated_fields_are_rewritten(pre_commit: str, configured: Path) -> None:
    old = f"# kept\n{GOOD}".replace("runStrategy: Always", "running: true # always")
    put(configured, "vms/good.yaml", old)
    words = (pre_commit, "run", "--all-files", "virt-render-migrate")
    done = run(configured, *words)
    assert done.returncode == 1, "a hook that changes files fails"
    text = (configured / "vms" / "good.yaml").read_text()
    assert text == old.replace("running: true", "runStrategy: Always")
    git(configured, "add", "vms/good.yaml")
    assert run(configured, *words).returncode == 0


def test_a_commit_that_only_removes_is_checked(pre_commit: str, configured: Path) -> None:
    put(configured, "vms/virt-render.lock.yaml", "")
    git(configured, "rm", "--quiet", "--force", "vms/virt-render.lock.yaml")
    git(configured, "commit", "--quiet", "--no-verify", "--message", "configured")
    git(configured, "rm", "--quiet", "platform/instancetypes.yaml")
    done = run(configured, pre_commit, "run", "virt-render-check-all")
    assert done.returncode == 1
    assert "vms/good.yaml:8:5: error VR201" in done.stdout
    assert run(configured, pre_commit, "run", "virt-render-pin-check").returncode == 1


def test_a_kustomization_by_its_plain_name_is_checked(pre_commit: str, configured: Path) -> None:
    put(configured, "app/vm.yaml", GOOD)
    put(configured, "app/Kustomization", "resources: [vm.yaml, gone.yaml]\n")
    done = run(configured, pre_commit, "run", "virt-render-check", "--files", "app/Kustomization")
    assert done.returncode == 1
    assert "app/Kustomization:1:22: error VR11" in done.stdout


def test_the_page_names_hooks_arguments_and_inputs_that_exist(repository: Path) -> None:
    page = (ROOT / "docs" / "pre-commit.md").read_text(encoding="utf-8")
    fragments = [
        manifest.read(f"all:\n{text}".encode(), "page").documents[0].body["all"][0]
        for text in re.findall(r"```yaml\n( *- .*?)```", page, re.DOTALL)
    ]
    hooks = (
        manifest.read(b"hooks:\n" + (ROOT / ".pre-commit-hooks.yaml").read_bytes(), "hooks")
        .documents[0]
        .body["hooks"]
    )
    entries = {hook["id"]: hook["entry"].split()[1:] for hook in hooks}
    *used, action = fragments
    assert len(used) == 2
    for hook in used:
        words = [
            sys.executable,
            "-m",
            "render",
            *entries[hook["id"]],
            *hook["args"],
            "vms/good.yaml",
        ]
        done = run(repository, *words)
        assert done.returncode == 0, done.stdout + done.stderr
    inputs = manifest.read((ROOT / "action.yml").read_bytes(), "action.yml").documents[0].body
    assert action["with"].keys() <= inputs["inputs"].keys()
