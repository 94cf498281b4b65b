"""The front ends that machines call, as real processes for each case: for any input the answer of the library."""

import json
from pathlib import Path
from typing import Any

import pytest

from render import Rendered, Settings, render
from render.settings import OPTIONS, Source
from render.yaml.reader import read
from render.yaml.writer import dump, write
from tests.support import process
from tests.support.asking import Ask
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


def resource_list(bodies: list[Any], spec: dict[str, Any]) -> str:
    """*bodies* as kustomize sends them."""
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
    return dump(message)


def expect_answer(status: int, out: str, err: str, bodies: list[Any], expected: Rendered) -> None:
    """That the answer to *bodies* is what the library says."""
    (document,) = read(out.encode(), "stdout").documents
    found = document.body.get("results", [])
    assert {
        diagnostic["tags"]["code"] for diagnostic in found if diagnostic["severity"] in FOUND
    } == codes(expected)
    if failed(expected):
        assert status == 1
        assert document.body["items"] == bodies
    else:
        assert status == 0, err
        assert document.body["items"] == expected.resources


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(CASES)))
def test_function_of_kustomize_on_every_case(folder: Path, tmp_path: Path) -> None:
    case = read_case(folder)
    bodies = case.bodies()
    expected = render(bodies, case.settings)
    if not bodies:
        pytest.skip("nothing in the input is an object")
    spec = {KEYS[flag]: value for flag, value in case.flags.items()}
    done = process.run("krm", cwd=tmp_path, stdin=resource_list(bodies, spec))
    expect_answer(done.returncode, done.stdout, done.stderr, bodies, expected)


@pytest.mark.parametrize("family", FAMILIES)
def test_function_of_kustomize_on_recorded_cases(family: str, ask: Ask) -> None:
    for case in sample(family, SAMPLE):
        expected = render(case["objects"], Settings(annotations=False))
        bodies: list[Any] = case["objects"]
        answer = ask("krm", stdin=resource_list(bodies, {"annotations": False}))
        expect_answer(*answer, bodies, expected)


@pytest.mark.parametrize("family", FAMILIES)
def test_build_and_plugin_of_argo_cd_on_recorded_cases(
    family: str, tmp_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = json.dumps([{"name": "annotations", "string": "false"}])
    for number, case in enumerate(sample(family, SAMPLE)):
        expected = render(case["objects"], Settings(annotations=False))
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "objects.yaml").write_text(write(case["objects"]), encoding="utf-8")
        monkeypatch.chdir(folder)
        built = ask("build", ".", "--no-annotations", "--format", "json")
        with monkeypatch.context() as patch:
            patch.setenv("ARGOCD_APP_PARAMETERS", parameters)
            generated = ask("argocd", "generate")
        assert generated.out == built.out
        assert generated.exit == built.exit == int(failed(expected))
        report = json.loads(built.err)["diagnostics"]
        assert {
            diagnostic["code"] for diagnostic in report if diagnostic["severity"] in FOUND
        } == codes(expected)
        if not failed(expected):
            printed = read(built.out.encode(), "stdout").documents
            assert [document.body for document in printed] == expected.resources
