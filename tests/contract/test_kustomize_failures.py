"""What kustomize says when it fails, and what of it we pass on."""

from pathlib import Path

from render.diagnostics.diagnostic import Diagnostic
from render.manifests import kustomization
from render.manifests.boxed import ProgramBounds
from render.manifests.kustomize import KustomizeBuild, building
from render.system import processes
from render.yaml.budget import Limits


def refused(folder: Path, kustomize: str) -> Diagnostic:
    reach = kustomization.reach(str(folder), Limits(), allow_remote=False)
    steps = building(
        KustomizeBuild(
            str(folder), kustomize, reach, ProgramBounds(Limits(), 1 << 20), allow_remote=False
        )
    )
    found = processes.finish(steps)
    assert isinstance(found, Diagnostic)
    assert found.code == "VR116"
    return found


def failure(folder: Path, kustomize: str) -> str:
    return refused(folder, kustomize).message.removeprefix(f"kustomize build {folder}: ")


def test_warnings_do_not_stand_before_the_error(tmp_path: Path, kustomize: str) -> None:
    (tmp_path / "kustomization.yaml").write_text("commonLabels: {a: b}\nbases: [nowhere]\n")
    message = failure(tmp_path, kustomize)
    assert message.startswith("Error: accumulating resources")
    assert "is deprecated" not in message


def test_an_error_alone_is_passed_on_whole(tmp_path: Path, kustomize: str) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [nowhere]\n")
    assert failure(tmp_path, kustomize).startswith("Error: accumulating resources")


def test_charts_are_not_for_kustomize_to_render(tmp_path: Path, kustomize: str) -> None:
    (tmp_path / "kustomization.yaml").write_text("helmCharts: [{name: a}]\n")
    assert (refused(tmp_path, kustomize).help or "").startswith(
        "virt-render does not let kustomize run helm"
    )
    (tmp_path / "kustomization.yaml").write_text("resources: [nowhere]\n")
    assert "helm" not in (refused(tmp_path, kustomize).help or "")
