"""Real processes of the front ends that machines call: for any input the same answer as the library's."""

import json
from pathlib import Path
from typing import Any

import pytest

from render import Rendered, Settings, render
from render.settings import OPTIONS, Source
from render.yaml.reader import read
from render.yaml.writer import dump, write
from tests.support import process
from tests.support.cases import CASES, read_case
from tests.support.goldens import FAMILIES, sample

FOLDERS = sorted(path.parent for path in CASES.glob("*/*/case.yaml"))
KEYS = {option.spelled(Source.FLAG): option.spelled(Source.FILE) for option in OPTIONS}
SAMPLE = 8
FOUND = ("error", "warning")


def codes(rendered: Rendered) -> set[str]:
    return {diagnostic.code for diagnostic in rendered.diagnostics if diagnostic.severity in FOUND}


def failed(rendered: Rendered) -> bool:
    return any(diagnostic.is_error for diagnostic in rendered.diagnostics)


def through_krm(folder: Path, bodies: list[Any], spec: dict[str, Any], expected: Rendered) -> None:
    """Send *bodies* as kustomize does, and hold the answer against what the library says."""
    message = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "items": bodies,
        "functionConfig": {
            "apiVersion": "virt-render.dev/v1alpha1",
            "kind": "RenderConfig",
            "metadata": {"name": "render"},
            "spec": spec,
        },
    }
    done = process.run("krm", cwd=folder, stdin=dump(message))
    (document,) = read(done.stdout.encode(), "stdout").documents
    found = document.body.get("results", [])
    assert {
        diagnostic["tags"]["code"] for diagnostic in found if diagnostic["severity"] in FOUND
    } == codes(expected)
    if failed(expected):
        assert done.returncode == 1
        assert document.body["items"] == bodies
    else:
        assert done.returncode == 0, done.stderr
        assert document.body["items"] == expected.resources


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(CASES)))
def test_function_of_kustomize_on_every_case(folder: Path, tmp_path: Path) -> None:
    case = read_case(folder)
    bodies = case.bodies()
    expected = render(bodies, case.settings)
    if not bodies:
        pytest.skip("nothing in the input is an object")
    spec = {KEYS[flag]: value for flag, value in case.flags.items()}
    through_krm(tmp_path, bodies, spec, expected)


@pytest.mark.parametrize("family", FAMILIES)
def test_function_of_kustomize_on_recorded_cases(family: str, tmp_path: Path) -> None:
    for case in sample(family, SAMPLE):
        expected = render(case["objects"], Settings(annotations=False))
        through_krm(tmp_path, case["objects"], {"annotations": False}, expected)


@pytest.mark.parametrize("family", FAMILIES)
def test_build_and_plugin_of_argo_cd_on_recorded_cases(family: str, tmp_path: Path) -> None:
    parameters = json.dumps([{"name": "annotations", "string": "false"}])
    for number, case in enumerate(sample(family, SAMPLE)):
        expected = render(case["objects"], Settings(annotations=False))
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "objects.yaml").write_text(write(case["objects"]), encoding="utf-8")
        built = process.run("build", ".", "--no-annotations", "--format", "json", cwd=folder)
        generated = process.run("argocd", "generate", cwd=folder, ARGOCD_APP_PARAMETERS=parameters)
        assert generated.stdout == built.stdout
        assert generated.returncode == built.returncode == int(failed(expected))
        report = json.loads(built.stderr)["diagnostics"]
        assert {
            diagnostic["code"] for diagnostic in report if diagnostic["severity"] in FOUND
        } == codes(expected)
        if not failed(expected):
            printed = read(built.stdout.encode(), "stdout").documents
            assert [document.body for document in printed] == expected.resources
