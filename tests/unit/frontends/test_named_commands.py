"""Commands that prose, messages and files for other programs name exist, with the options that stand behind them.

Blocks of commands are run: tests/contract/test_pages_are_followed.py.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from render.frontends.request.commands import COMMANDS
from tests.test_repository import DOCUMENTS, ROOT

#: A span of code, or a command in quotes within a message.
_SPAN = re.compile(r"(?<!`)`(?P<code>[^`]+)`(?!`)|'(?P<quoted>virt-render [^']+)'")
_CALL = re.compile(r"\bvirt-render (?P<words>[^|;`]+)")
_FENCED = re.compile(r"^ *```.*?^ *``` *$", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"--[a-z][a-z-]*")
_EVERYWHERE = {"--help", "--help-all"}
#: What stands for any command, and what an option of all of them looks like.
_NO_COMMAND = re.compile(r"COMMAND\b|--help\b|--version\b")
#: A command whose program goes without saying: `check --fix`.
_BARE = re.compile(rf"(?:{'|'.join(sorted(COMMANDS))}) (?=[^|;]*--)[^|;]+")


def calls(text: str) -> Iterator[str]:
    """The words of each command of ours in the spans of code of *text*."""
    for span in _SPAN.finditer(text):
        if span["code"] and (bare := _BARE.fullmatch(span["code"])):
            yield " ".join(bare[0].split())
        for call in _CALL.finditer(span["code"] or span["quoted"]):
            yield " ".join(call["words"].split())


def told(text: str) -> list[str]:
    """What is wrong with the commands that *text* names."""
    wrong = []
    for call in calls(text):
        if _NO_COMMAND.match(call):
            continue
        words = call.split()
        row = COMMANDS.get(" ".join(words[:2])) or COMMANDS.get(words[0])
        if row is None:
            is_group = any(name.startswith(f"{words[0]} ") for name in COMMANDS)
            wrong += [] if is_group and len(words) == 1 else [f"no command: {call}"]
            continue
        options = {f"--{prefix}{option.name}" for option in row.options for prefix in ("", "no-")}
        unknown = set(_OPTION.findall(call)) - options - _EVERYWHERE
        wrong += [f"{row.name} has no {option}: {call}" for option in sorted(unknown)]
    return wrong


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_name_commands_and_options_that_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert not told(_FENCED.sub("", text))


def test_messages_name_commands_and_options_that_exist() -> None:
    wrong = []
    count = 0
    for path in sorted((ROOT / "render").rglob("*.py")):
        for text in _texts(ast.parse(path.read_text(encoding="utf-8"))):
            count += len(list(calls(text)))
            wrong += [f"{path.relative_to(ROOT)}: {line}" for line in told(text)]
    assert not wrong
    assert count > 20


def _texts(tree: ast.AST) -> Iterator[str]:
    """The texts of *tree*; what is filled in stands as ``X``."""
    parts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(value) for value in node.values}
            yield "".join(
                str(value.value) if isinstance(value, ast.Constant) else "X"
                for value in node.values
            )
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts
        ):
            yield node.value


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("`virt-render check --fix .`", []),
        ("`virt-render argocd`, `virt-render COMMAND --help`, `a \\| virt-render build -`", []),
        ("`virt-render lint .`", ["no command: lint ."]),
        ("'virt-render pin --fix' does it", ["pin has no --fix: pin --fix"]),
        ("`check --fix`, `pin --fix`, `git diff --stat`", ["pin has no --fix: pin --fix"]),
        ("`virt-render argocd sync`", ["no command: argocd sync"]),
    ],
)
def test_what_is_misnamed_is_told(text: str, wrong: list[str]) -> None:
    assert told(text) == wrong
