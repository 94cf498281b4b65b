"""Every folder below fixtures/cases: what is printed and what is said, exactly."""

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from render import Diagnostic, render
from render.frontends.execute import execute
from render.frontends.request.request import Call
from tests.support import process
from tests.support.asking import without_last_line
from tests.support.cases import CASES, Case, read_case

FOLDERS = sorted(path.parent for path in CASES.glob("*/*/case.yaml"))


@pytest.fixture(params=FOLDERS, ids=lambda folder: str(folder.relative_to(CASES)))
def case(request: pytest.FixtureRequest) -> Case:
    return read_case(request.param)


def build(case: Case, path: str, captured: pytest.CaptureFixture[bytes]) -> tuple[str, str]:
    """What the command line prints on stdout for *path* with the settings of *case*, and its findings on stderr."""
    execute(Call("build", (path,), case.flags), {})
    printed = captured.readouterr()
    return printed.out.decode(), without_last_line(printed.err.decode())


def canonical(bodies: Iterable[Any]) -> list[str]:
    return sorted(json.dumps(body, sort_keys=True) for body in bodies)


def messages(diagnostics: Iterable[Diagnostic]) -> set[tuple[object, ...]]:
    return {(found.code, found.resource, found.field) for found in diagnostics}


def test_there_are_cases() -> None:
    assert FOLDERS
    stray = [path for path in CASES.glob("*/*") if path not in FOLDERS]
    assert not stray, "a folder without case.yaml is never run"


def test_prints_and_says_what_is_expected(
    case: Case,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.chdir(case.folder)
    output, report = build(case, "input", capfdbinary)
    assert output or report, "a case has an output or says why not"
    if request.config.getoption("--update"):
        case.update(output, report)
    meant = (
        f"if {case.folder.name} is meant to do this: make update, and read each line of the diff"
    )
    assert report == case.diagnostics, meant
    assert output == case.expected, meant


@pytest.mark.process
def test_real_process_prints_the_same(case: Case) -> None:
    done = process.run("build", "input", *case.argv, cwd=case.folder)
    assert (without_last_line(done.stderr), done.stdout) == (case.diagnostics, case.expected)
    assert done.returncode == (0 if case.expected else 1)


def test_rendering_the_output_again_changes_nothing(
    case: Case,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    if not case.expected:
        return
    monkeypatch.chdir(tmp_path)
    Path("again.yaml").write_text(case.expected, encoding="utf-8")
    assert build(case, "again.yaml", capfdbinary)[0] == case.expected


def test_order_of_the_input_changes_nothing(case: Case) -> None:
    bodies = case.bodies()
    first = render(bodies, case.settings)
    for seed in range(3):
        random.Random(seed).shuffle(bodies)  # noqa: S311 - no secret
        other = render(bodies, case.settings)
        assert canonical(other.resources) == canonical(first.resources)
        assert messages(other.diagnostics) == messages(first.diagnostics)


def test_library_gives_what_is_printed_and_leaves_the_input_alone(case: Case) -> None:
    bodies = case.bodies()
    before = json.dumps(bodies)
    rendered = render(bodies, case.settings)
    assert json.dumps(bodies) == before
    if case.expected:
        assert canonical(rendered.resources) == canonical(case.bodies("expected.yaml"))
