import io
import json
import re
import runpy
import sys
import textwrap
from pathlib import Path

import pytest

from render.diagnostics.checks import recorded
from render.diagnostics.codes import CODES, page
from render.diagnostics.exits import Exit
from render.diagnostics.explanations import explanation
from render.frontends.dispatch import invoke
from render.frontends.execute import execute
from render.frontends.request.request import Call

ROOT = Path(__file__).parents[3]
EXPLANATIONS = {code: explanation(code) for code in CODES}
EXAMPLES = {code: told for code, told in EXPLANATIONS.items() if told.example[0] != "$"}


def test_every_code_is_explained() -> None:
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
    execute(Call("build", ("-",), {"--format": "json", "--guest": "warning"}), {})
    report = json.loads(capfd.readouterr().err)["diagnostics"]
    hits = [found["message"] for found in report if found["code"] == code]
    assert any(EXAMPLES[code].message in message for message in hits), (
        f"docs/diagnostics/{page(code)}.md, {code}: its example says {hits or report}"
    )


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_command_that_is_printed_says_it(
    code: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    invoke(["rule", code])
    printed = capfd.readouterr().out.partition("\n\n    $ virt-render ")[2]
    command, _, rest = printed.partition(" <<EOF\n")
    text = textwrap.dedent(rest[: rest.index("    EOF\n")])
    stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    invoke(command.split())
    assert f" {code} " in capfd.readouterr().err


@pytest.mark.parametrize("code", [code for code in EXAMPLES if EXAMPLES[code].accepted])
def test_what_is_accepted_has_no_errors(
    code: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(EXAMPLES[code].accepted.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    execute(
        Call("build", ("-",), {"--format": "json", "--admission": "strict", "--guest": "error"}), {}
    )
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
        assert written == content, f"{name}: make generate"


def test_pages_have_the_codes_of_the_registry() -> None:
    """In its order, each with its slug and what its row says of it, and in the index."""
    index = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    headings = []
    for path in sorted((ROOT / "docs" / "diagnostics").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        headings += re.findall(r"^## (VR\d+) .*$", text, re.MULTILINE)
        for code in (code for code in CODES.values() if page(code.number) == path.stem):
            file, _, anchor = code.uri.partition("/docs/")[2].partition("#")
            assert file == f"diagnostics/{path.stem}"
            assert f"({file}.md#{anchor})" in index
            fixed = "" if code.suppressible else ", cannot be suppressed"
            start = f"## {code.number} {code.slug}\n\n*{code.severity.capitalize()}{fixed}.* "
            assert f'\n<a id="{anchor}"></a>\n\n{start}' in text, f"{path.name}: {start!r}"
    assert headings == sorted(CODES)


@pytest.mark.parametrize("check", ["disks/ide-bus", "guest/first-line", "memory/guest-huge"])
def test_a_check_is_explained_by_its_name(check: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Findings print them."""
    known = check in recorded() or check.startswith("guest/")
    assert invoke(["rule", check]) == (Exit.OK if known else Exit.USAGE)
    printed = capfd.readouterr()
    assert printed.out.startswith(check) is known


def test_an_unknown_check_names_the_nearest(capfd: pytest.CaptureFixture[str]) -> None:
    assert invoke(["rule", "disks/ide-buss"]) == Exit.USAGE
    assert "did you mean disks/ide-bus?" in capfd.readouterr().err


def test_a_version_of_openshift_is_named_as_such(capfd: pytest.CaptureFixture[str]) -> None:
    assert invoke(["catalog", "list", "--kubevirt", "4.20"]) == Exit.USAGE
    assert "did you mean openshift-4.20?" in capfd.readouterr().err
