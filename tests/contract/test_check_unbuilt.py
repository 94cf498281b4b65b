"""``check FILE`` where the kustomization that reads the file cannot be built: silence would mean that all is well."""

from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.frontends import dispatch
from tests.support.manifests import vm

FUNCTION = """\
apiVersion: virt-render.dev/v1alpha1
kind: RenderConfig
metadata:
  name: render
  annotations:
    config.kubernetes.io/function: |
      exec: {path: virt-render-krm}
"""
MISSING = "resources: [vm.yaml, gone.yaml]\n"
REMOTE = "resources: [vm.yaml, 'https://example.com/more.yaml']\n"
TRANSFORMED = "resources: [vm.yaml]\ntransformers: [render.yaml]\n"


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a file of its own, and a folder whose kustomization a test writes."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "app").mkdir()
    (tmp_path / "loose.yaml").write_text(vm("loose", memory="1Gi"))
    (tmp_path / "app" / "vm.yaml").write_text(vm(memory="1Gi"))
    (tmp_path / "app" / "render.yaml").write_text(FUNCTION)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "exit_", "message"),
    [
        (MISSING, Exit.UNREADABLE, "app/kustomization.yaml:1:22: error VR116 kustomize-failed: "),
        (REMOTE, Exit.FINDINGS, "app/kustomization.yaml:1:22: error VR122 remote-base-refused: "),
        (TRANSFORMED, Exit.UNREADABLE, "help: this kustomization has kustomize run virt-render"),
    ],
    ids=["missing", "remote", "function"],
)
def test_a_named_file_was_not_checked(
    text: str, exit_: Exit, message: str, kustomize: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("app/kustomization.yaml").write_text(text)
    for file in ("app/vm.yaml", "app/kustomization.yaml"):
        assert dispatch.invoke(["check", "--kustomize", kustomize, "--", file]) is exit_
        assert message in capfd.readouterr().out


def test_without_kustomize_too(capfd: pytest.CaptureFixture[str]) -> None:
    Path("app/kustomization.yaml").write_text("resources: [vm.yaml]\n")
    words = ["check", "--kustomize", "./none", "--", "app/vm.yaml"]
    assert dispatch.invoke(words) is Exit.USAGE
    assert "app: error VR117 kustomize-missing: " in capfd.readouterr().out


@pytest.mark.parametrize("text", [MISSING, REMOTE, TRANSFORMED])
def test_a_file_elsewhere_is_not_held_up(
    text: str, kustomize: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("app/kustomization.yaml").write_text(text)
    assert dispatch.invoke(["check", "--kustomize", kustomize, "--", "loose.yaml"]) is Exit.OK
    assert capfd.readouterr().out == ""


def test_a_named_file_that_a_generator_reads_is_told_of(
    kustomize: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("app/kustomization.yaml").write_text(
        "resources: [vm.yaml]\nsecretGenerator: [{name: init, files: [userdata=init.yaml]}]\n"
        "generatorOptions: {disableNameSuffixHash: true}\n"
    )
    disk = "{name: init, cloudInitNoCloud: {secretRef: {name: init}}}"
    devices = "devices: {disks: [{name: init, disk: {}}]}"
    text = vm(memory="1Gi").rstrip().replace("devices: {}", devices)
    Path("app/vm.yaml").write_text(f"{text}\n      volumes: [{disk}]\n")
    Path("app/init.yaml").write_text("#cloud-config\nruncmd: 7\n")
    for file, is_told in (("app/init.yaml", True), ("loose.yaml", False)):
        dispatch.invoke(["check", "--kustomize", kustomize, "--", file])
        assert ("VR450" in capfd.readouterr().out) is is_told
