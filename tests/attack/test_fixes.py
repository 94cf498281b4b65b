"""``check --fix`` in a repository that is not ours: what it writes stays inside, and is what was meant."""

import os
import subprocess
from pathlib import Path

import pytest

from render.frontends.dispatch import invoke

VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: {name}
spec:
  running: true
  template:
    spec:
      domain:
        devices: {{}}
        memory: {{guest: 1Gi}}
"""


def vm(name: str = "web") -> str:
    return VM.format(name=name)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    monkeypatch.chdir(top)
    return top


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def fix() -> int:
    return invoke(["check", "--fix", "--kustomize", "auto", "."])


def test_a_link_to_a_file_is_not_followed(repository: Path) -> None:
    target = put(repository / "hidden" / ".vm", vm())
    (repository / "vm.yaml").symlink_to(target)
    fix()
    assert (repository / "vm.yaml").is_symlink()
    assert target.read_text() == vm()


def test_a_link_out_of_the_repository_is_not_followed(repository: Path, tmp_path: Path) -> None:
    outside = put(tmp_path / "outside" / "vm.yaml", vm())
    (repository / "vm.yaml").symlink_to(outside)
    (repository / "folder").symlink_to(outside.parent)
    fix()
    invoke(["check", "--fix", "folder"])
    invoke(["check", "--fix", "vm.yaml"])
    assert outside.read_text() == vm()


def test_a_folder_that_is_a_link_is_left_alone(repository: Path) -> None:
    put(repository / "real" / "vm.yaml", vm())
    (repository / "other").symlink_to("real")
    assert invoke(["check", "--fix", "other"]) == 0
    assert (repository / "real" / "vm.yaml").read_text() == vm()


def test_a_submodule_is_left_alone(repository: Path) -> None:
    inner = repository / "module"
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    file = put(inner / "vm.yaml", vm("inner"))
    put(repository / "vm.yaml", vm())
    commands = (
        ["git", "-C", str(inner), "add", "-A"],
        [
            "git",
            "-C",
            str(inner),
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "a",
        ],
        ["git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", "./module", "module"],
    )
    for command in commands:
        subprocess.run(command, check=False, capture_output=True)
    fix()
    assert file.read_text() == vm("inner")
    assert "runStrategy: Always" in (repository / "vm.yaml").read_text()


def test_a_file_beside_the_path_is_left_alone(repository: Path, tmp_path: Path) -> None:
    """A kustomization may take in what stands above it, and outside of a repository nothing says whose that is."""
    put(repository / "vm.yaml", vm())
    other = put(tmp_path / "beside" / "vm.yaml", vm("beside"))
    invoke(["check", "--fix", ".", "--catalog", str(other)])
    assert other.read_text() == vm("beside")


BASE = "resources: [vm.yaml]\n"


def test_a_patch_and_a_base_that_another_root_uses(repository: Path) -> None:
    patch = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web}\nspec: {running: true}\n"
    files = {
        "base/kustomization.yaml": BASE,
        "base/vm.yaml": vm().replace("  running: true\n", ""),
        "shared.yaml": patch,
        "a/kustomization.yaml": "resources: [../base]\npatches: [{path: patch.yaml}]\n",
        "a/patch.yaml": patch,
        "b/kustomization.yaml": "resources: [../base, own.yaml]\npatches: [{path: patch.yaml}]\n",
        "b/patch.yaml": patch,
        "b/own.yaml": vm("own"),
    }
    for name, text in files.items():
        put(repository / name, text)
    fix()
    changed = {name for name, text in files.items() if (repository / name).read_text() != text}
    assert changed <= {"b/own.yaml"}


@pytest.mark.parametrize(
    ("text", "is_fixed"),
    [
        pytest.param(vm().replace("\n", "\r\n"), True, id="crlf"),
        pytest.param("\ufeff" + vm(), True, id="bom"),
        pytest.param(vm().replace("running: true", "running:\ttrue\t# on"), False, id="tabs"),
        pytest.param(
            f"{vm('a')}---\n{vm('b')}...\n---\n# nothing\n---\n{vm('c')}", True, id="documents"
        ),
        pytest.param(vm().replace("running: true", "{running: true"), False, id="broken"),
        pytest.param(
            vm().replace("spec:\n  running: true", "spec: &s\n  running: true") + "status: *s\n",
            False,
            id="alias",
        ),
        pytest.param(
            "x: &x {running: true}\n" + vm().replace("running: true", "<<: *x"),
            False,
            id="merge-key",
        ),
        pytest.param(
            "{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: a}, spec: {running: true,"
            " template: {spec: {domain: {devices: {}, memory: {guest: 1Gi}}}}}} # flow\n",
            True,
            id="flow",
        ),
        pytest.param(
            '{"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "a"},'
            ' "spec": {"running": true, "template": {"spec": {"domain": {"devices": {}}}}}}\n',
            False,
            id="json",
        ),
        pytest.param(vm().replace("running: true", "? running\n  : true"), True, id="complex-key"),
        pytest.param(vm().rstrip("\n"), True, id="no-last-line-break"),
    ],
)
def test_odd_yaml_is_written_rightly_or_not_at_all(
    text: str,
    is_fixed: bool,  # noqa: FBT001
    repository: Path,
) -> None:
    file = put(repository / "vm.yaml", text)
    assert fix() in (0, 1)
    after = file.read_bytes().decode()
    if not is_fixed:
        assert after == text
        return
    assert "running" not in after
    assert after.count("runStrategy") == text.count("running")
    kept = text.replace("running", "").replace("true", "")
    assert after.replace("runStrategy", "").replace("Always", "") == kept
    assert fix() in (0, 1)
    assert file.read_bytes().decode() == after


def test_a_file_that_changes_meanwhile_is_not_overwritten(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """kustomize is started to see what a fix does: this one edits the file that is to be fixed."""
    put(repository / "kustomization.yaml", BASE)
    file = put(repository / "vm.yaml", vm())
    program = repository.parent / "kustomize"
    real = subprocess.run(
        ["which", "kustomize"], check=True, capture_output=True, text=True
    ).stdout.strip()
    put(program, f"#!/bin/sh\necho '# by hand' >> {file}\nexec {real} \"$@\"\n").chmod(0o755)
    # No box stands around it with a network: else it could not write.
    assert invoke(["check", "--fix", "--kustomize", str(program), "--allow-remote", "."]) == 3
    text = file.read_text()
    assert "running: true" in text
    assert text.endswith("# by hand\n")
    assert "has changed after it was read" in capfd.readouterr().out


def test_a_folder_that_cannot_be_written(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository / "a" / "vm.yaml", vm("a"))
    put(repository / "b" / "vm.yaml", vm("b"))
    (repository / "b").chmod(0o555)
    if os.access(repository / "b", os.W_OK):
        # Root may write anywhere: a file that nobody may replace does as well.
        done = subprocess.run(
            ["chattr", "+i", str(repository / "b" / "vm.yaml")], check=False, capture_output=True
        )
        if done.returncode:
            pytest.skip("who may do anything is refused nothing")
    try:
        assert fix() == 3
        assert (repository / "a" / "vm.yaml").read_text() == vm("a")
        assert "VR121" in capfd.readouterr().out
    finally:
        subprocess.run(
            ["chattr", "-i", str(repository / "b" / "vm.yaml")], check=False, capture_output=True
        )
        (repository / "b").chmod(0o755)


def test_what_cannot_be_read_keeps_nothing_else_from_being_fixed(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(repository / "good" / "vm.yaml", vm())
    put(repository / "bad" / "kustomization.yaml", "resources: [https://example.com/x, vm.yaml]\n")
    put(repository / "bad" / "vm.yaml", vm("bad"))
    put(repository / "broken" / "vm.yaml", "apiVersion: kubevirt.io/v1\nkind: [\n")
    assert fix() in (1, 3)
    assert "runStrategy: Always" in (repository / "good" / "vm.yaml").read_text()
    assert (repository / "bad" / "vm.yaml").read_text() == vm("bad")
    assert "VR122" in capfd.readouterr().out


@pytest.mark.usefixtures("helm")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: web", "name: web-{{ randAlphaNum 5 | lower }}"),
        ("devices: {}", "devices: {disks: [{name: a, disk: {bus: '{{ randAlphaNum 5 }}'}}]}"),
    ],
)
def test_a_chart_that_draws_lots_keeps_nothing_else_from_being_fixed(
    repository: Path, old: str, new: str
) -> None:
    """Its VM is another one each time, whatever is edited."""
    put(repository / "chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n")
    drawn = vm().replace("running: true", "runStrategy: Always").replace(old, new)
    put(repository / "chart/templates/vm.yaml", drawn)
    fixed = put(repository / "vm.yaml", vm("other"))
    status = invoke(["check", "--fix", "."])
    assert status == (1 if "bus:" in new else 0)
    assert "runStrategy: Always" in fixed.read_text()
