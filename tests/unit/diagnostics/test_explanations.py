import io
import json
import runpy
import sys
from pathlib import Path

import pytest

from render.diagnostics.codes import CODES
from render.diagnostics.explanations import EXPLANATIONS
from render.frontends.execute import execute
from render.frontends.request.request import Call

ROOT = Path(__file__).parents[3]
EXAMPLES = {code: told for code, told in EXPLANATIONS.items() if told.example[0] != "$"}


def test_every_code_is_explained_and_nothing_else() -> None:
    assert list(EXPLANATIONS) == sorted(CODES)
    for told in EXPLANATIONS.values():
        assert told.meaning
        assert told.example
        assert told.message
        assert told.meaning[-1] == told.cure[-1] == "."


@pytest.mark.parametrize("code", EXAMPLES)
def test_example_gives_the_message(
    code: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(EXAMPLES[code].example.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    execute(Call("build", ("-",), {"--format": "json"}), {})
    report = json.loads(capfd.readouterr().err)["diagnostics"]
    hits = [found["message"] for found in report if found["code"] == code]
    assert any(EXAMPLES[code].message in message for message in hits), report


@pytest.mark.parametrize("code", [code for code in EXAMPLES if EXAMPLES[code].accepted])
def test_what_is_accepted_has_no_errors(
    code: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(EXAMPLES[code].accepted.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    execute(Call("build", ("-",), {"--format": "json", "--admission": "strict"}), {})
    report = json.loads(capfd.readouterr().err)["diagnostics"]
    assert not [found for found in report if found["severity"] == "error"]


def test_generated_documents_are_up_to_date() -> None:
    pages = runpy.run_path(str(ROOT / "scripts" / "make_docs.py"))["pages"]()
    assert {
        "docs/diagnostics.md",
        "docs/admission.md",
        "docs/usage.md",
        "plugin.yaml",
    } < pages.keys()
    for name, content in pages.items():
        written = (ROOT / name).read_text(encoding="utf-8")
        assert written == content, f"{name}: run scripts/make_docs.py"


def test_documents_have_every_code() -> None:
    index = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    for code in CODES.values():
        file, _, anchor = code.uri.partition("/docs/")[2].partition("#")
        assert f"({file}.md#{anchor})" in index
        text = (ROOT / "docs" / f"{file}.md").read_text(encoding="utf-8")
        assert f'\n<a id="{anchor}"></a>\n\n## {code.number} {code.slug}\n' in text
