"""The templates of pages, whose code is kept as that of modules is."""

import os
import sys
from pathlib import Path

import pytest

from render.report import page

BEFORE, AFTER = "one {{ name }}", "two {{ name }}"
LONG_AGO = 1_000_000_000


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A template of which some process has made a page."""
    monkeypatch.setattr(page, "_FOLDER", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "kept"))
    for name in ("page.css", "page.js"):
        (tmp_path / name).touch()
    file = tmp_path / "any.html.j2"
    written(file, BEFORE, LONG_AGO)
    assert made() == "one &lt;b&gt;"
    return file


def written(file: Path, text: str, when: int) -> None:
    file.write_text(text, encoding="utf-8")
    os.utime(file, (when, when))


def made() -> str:
    """What a new process would make of the template."""
    page._environment.cache_clear()  # noqa: SLF001 - a process has one
    return page.page("any.html.j2", data=None, name="<b>")


def test_the_next_process_makes_no_code(template: Path) -> None:
    written(template, AFTER, LONG_AGO)  # as long, and as old: nobody sees that it is another one
    assert made() == "one &lt;b&gt;"


def test_another_text_is_other_code(template: Path) -> None:
    for when in (LONG_AGO - 1, LONG_AGO + 1):
        written(template, AFTER, when)
        assert made() == "two &lt;b&gt;"
        written(template, BEFORE, LONG_AGO)
        assert made() == "one &lt;b&gt;"


def test_what_makes_code_is_newer(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = tmp_path / "page.py"
    newer.touch()
    monkeypatch.setattr(page, "__file__", str(newer))
    written(template, AFTER, LONG_AGO)
    assert made() == "two &lt;b&gt;"


def test_a_page_needs_no_place_for_it(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "pycache_prefix", str(template)
    )  # below a file nobody can keep anything
    written(template, AFTER, LONG_AGO)
    assert made() == "two &lt;b&gt;"
