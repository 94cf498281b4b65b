"""The built wheel and sdist hold what they should, and the wheel works by itself."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys, render
from render.frontends.dispatch import main
print(render.__file__, file=sys.stderr)
main()
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return folder


def test_sdist_is_complete(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as sdist:
        held = {name.partition("/")[2] for name in sdist.getnames()}
    command = ["git", "ls-files", "-z"]
    tracked = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, encoding="utf-8")
    existing = {name for name in tracked.stdout.split("\0") if name and (ROOT / name).exists()}
    assert existing <= held


def test_wheel_renders_by_itself(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("*.whl")
    with zipfile.ZipFile(archive) as wheel:
        names = wheel.namelist()
        wheel.extractall(tmp_path)  # noqa: S202 - our own archive
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"render"}
    for schema in (ROOT / "schemas").rglob("*.*"):
        assert f"render/_schemas/{schema.relative_to(ROOT / 'schemas')}" in names
    for page in (ROOT / "docs" / "diagnostics").iterdir():
        assert f"render/_diagnostics/{page.name}" in names
    case = ROOT / "fixtures" / "cases" / "instancetype" / "bundled-when-not-in-the-input"
    rendered = subprocess.run(
        [sys.executable, "-c", PROGRAM, "build", str(case / "input"), "--no-annotations"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert str(tmp_path) in rendered.stderr
    assert rendered.stdout == (case / "expected.yaml").read_text(encoding="utf-8")
