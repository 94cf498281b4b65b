import shlex
from typing import Any

import pytest

from render.diagnostics.exits import Exit
from render.frontends import cli
from render.frontends.request import arguments
from render.frontends.request.commands import COMMANDS
from render.frontends.request.request import Call

UNDERSTOOD = [
    "krm",
    "krm --emit vmi",
    "argocd generate",
    "argocd generate --deadline 5 app",
    "build",
    "build .",
    "build -",
    "build a b/c.yaml",
    "check a --root .",
    "check --format sarif a",
    "check -- -odd.yaml --emit",
    "build --emit vmi .",
    "build --emit=vmi .",
    "build . --emit vmi --emit vm",
    "build . --catalog=a=b",
    "build . --namespace 'a b'",
    "build . -o out/",
    "build . -o -",
    "build . --output out.yaml",
    "build -v .",
    "build . --verbose --no-verbose",
    "build . --stored --emit expand",
    "build . --no-annotations --allow-empty --allow-remote",
    "build . --max-documents 5",
    "build . --max-documents five --emit nonsense",
]
LEFT_TO_CLICK = [
    "argocd",
    "argocd parameters",
    "",
    "--help",
    "--version",
    "build --help",
    "build -h",
    "build --emti vm",
    "build --emit",
    "build --emit --stored",
    "build --emit=",
    "build --stored=true",
    "build -vo out.yaml",
    "build -oout.yaml",
    "check -o out.yaml",
    "rule VR301",
    "catalog list",
    "nonsense",
]


def clicked(line: str, monkeypatch: pytest.MonkeyPatch) -> Call | None:
    """The call that click makes of *line*, None where it makes none."""
    calls: list[Call] = []

    def remember(call: Call, _environ: Any) -> Exit:
        calls.append(call)
        return Exit.OK

    monkeypatch.setattr(cli, "execute", remember)
    cli.invoke(shlex.split(line))
    return calls[0] if calls else None


@pytest.mark.parametrize("line", UNDERSTOOD)
def test_click_understands_the_same(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call = arguments.parse(shlex.split(line))
    assert call is not None
    assert call == clicked(line, monkeypatch)


@pytest.mark.parametrize("line", LEFT_TO_CLICK)
def test_anything_in_doubt_is_left_to_click(line: str) -> None:
    assert arguments.parse(shlex.split(line)) is None


def test_every_option_of_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    for command, row in COMMANDS.items():
        for option in row.options if row.by_machine else ():
            words = [] if option.kind == "flag" else ["x"]
            spellings = [f"--{option.name}", *([f"-{option.short}"] if option.short else [])]
            spellings += [f"--no-{option.name}"] if option.kind == "flag" else []
            for spelling in spellings:
                line = shlex.join([*command.split(), spelling, *words, "path"])
                call = arguments.parse(shlex.split(line))
                assert call is not None
                assert call.paths == ("path",)
                assert call == clicked(line, monkeypatch), line
