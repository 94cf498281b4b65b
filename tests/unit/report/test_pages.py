"""The templates of pages are compiled ahead, and nothing stale of that is ever used."""

import json
import shutil
from pathlib import Path

import jinja2
import pytest
from jinja2 import Environment

from render.report import page
from scripts import make_pages

FILE = make_pages.TARGET
NAMES = ("fleet/fleet.html.j2", "impact/impact.html.j2", "history/history.html.j2")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The names of templates that Jinja compiles from now on."""
    names: list[str | None] = []
    compile_ = Environment.compile

    def noting(self: Environment, source: str, name: str | None = None, *rest: object) -> object:
        names.append(name)
        return compile_(self, source, name, *rest)  # type: ignore[call-overload]

    monkeypatch.setattr(Environment, "compile", noting)
    return names


def load(name: str) -> jinja2.Template:
    return page.environment(page.Templates()).get_template(name)


def test_they_are_what_jinja_makes_of_them_now() -> None:
    assert FILE.read_text(encoding="utf-8") == make_pages.text(), "make generate"


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_compiled_again(name: str, compiled: list[str | None]) -> None:
    load(name)
    assert compiled == []


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of pages, as somebody may change it."""
    folder = tmp_path / "report"
    shutil.copytree(FILE.parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(page, "_FOLDER", str(folder))
    return folder


def test_a_template_that_was_edited_counts(copied: Path, compiled: list[str | None]) -> None:
    (copied / "page.html.j2").write_text("edited", encoding="utf-8")
    assert load("page.html.j2").render() == "edited"
    assert compiled == ["page.html.j2"]


def test_another_jinja_compiles_them_itself(copied: Path, compiled: list[str | None]) -> None:
    known = json.loads(FILE.read_text(encoding="utf-8"))
    (copied / FILE.name).write_text(json.dumps({**known, "jinja2": "0.1"}), encoding="utf-8")
    load(NAMES[0])
    assert compiled == [NAMES[0]]
