"""What kustomize says when it fails, and what of it we pass on."""

from pathlib import Path

from render.diagnostics.diagnostic import Diagnostic
from render.manifests import kustomization
from render.manifests.kustomize import build
from render.yaml.reader import Limits


def failure(folder: Path, kustomize: str) -> str:
    reach = kustomization.reach(str(folder), Limits(), allow_remote=False)
    found = build(str(folder), kustomize, reach, Limits(), most=1 << 20, allow_remote=False)
    assert isinstance(found, Diagnostic)
    assert found.code == "VR116"
    return found.message.removeprefix(f"kustomize build {folder}: ")


def test_warnings_do_not_stand_before_the_error(tmp_path: Path, kustomize: str) -> None:
    (tmp_path / "kustomization.yaml").write_text("commonLabels: {a: b}\nbases: [nowhere]\n")
    message = failure(tmp_path, kustomize)
    assert message.startswith("Error: accumulating resources")
    assert "is deprecated" not in message


def test_an_error_alone_is_passed_on_whole(tmp_path: Path, kustomize: str) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [nowhere]\n")
    assert failure(tmp_path, kustomize).startswith("Error: accumulating resources")
