"""Every command has something to say: each is called once, as its users call it, in one small repository."""

import ast
import re
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.frontends.request.commands import COMMANDS
from tests.conftest import ROOT
from tests.support.asking import Ask
from tests.support.manifests import instancetype, put, vm
from tests.support.repository import Repository

VM = vm("web", namespace="prod", instancetype="small")
FILES = {
    "small.yaml": instancetype(),
    "vm.yaml": VM,
    "web.virt-test.yaml": (
        "apiVersion: virt-render.dev/v1alpha1\nkind: Test\nspec:\n"
        "  expect: [{vmi: {spec: {domain: {memory: {guest: 1Gi}}}}}]\n"
    ),
}
LIST = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
ITEMS = "".join("- " + text.replace("\n", "\n  ").rstrip(" ") for text in (VM, instancetype()))
DEPRECATED = {"vm.yaml": VM.replace("runStrategy: Always", "running: true")}
#: Command -> the words after it, and something of what is said.
EXAMPLES: dict[str, tuple[tuple[str, ...], str]] = {
    "argocd discover": ((), "small.yaml\n"),
    "argocd generate": ((), '          guest: "1Gi"\n'),
    "argocd ignore-differences": ((".",), "ignoreDifferences:\n"),
    "argocd inputs": ((".",), "argocd.argoproj.io/manifest-generate-paths: .\n"),
    "argocd parameters": ((), '"name": "preset-conflicts"'),
    "build": ((".",), '          guest: "1Gi"\n'),
    "catalog list": ((), "VirtualMachineClusterInstancetype  u1.small "),
    "catalog show": (("u1.small",), "  name: u1.small\n"),
    "check": ((".",), "1 VM: no findings"),
    "diff": (("HEAD",), "1 VM: 1 "),
    "explain": (("prod/web", "domain.memory.guest"), "1Gi  small.yaml:9:5 "),
    "factor": ((".",), "VirtualMachine prod/web  vm.yaml:1:1\n"),
    "history": (("prod/web",), "Pin the fleet"),
    "krm": ((), '        guest: "1Gi"\n'),
    "kustomize init": ((".",), "openapi:\n"),
    "migrate": (("--diff", "."), "+  runStrategy: Always\n"),
    "pin": ((".",), "prod/web  1         new, instancetype small@"),
    "report": (("--format", "csv", "."), "VirtualMachine,prod,web,"),
    "rule": (("VR301",), "VR301 instancetype-conflict (error"),
    "schema": (("VirtualMachine",), '"title": "VirtualMachine as KubeVirt v'),
    "show": (("prod/web",), '          guest: "1Gi"\n'),
    "test": ((".",), "1 expectation in 1 file, 1 VM looked at: all met"),
    "used-by": (("small", "."), "prod/web  VirtualMachineClusterInstancetype small "),
    "verify": ((".",), "VR612 not-rendered: VirtualMachine prod/web"),
}
#: What takes the standard streams for itself, and is started as a process.
APART = {"lsp": "tests/contract/test_language_server.py"}
#: What says that something is wrong in the repository.
FINDING = {"verify"}


def test_each_command_is_called() -> None:
    known = EXAMPLES.keys() | APART.keys()
    untested = sorted(COMMANDS.keys() - known)
    assert not untested, (
        f"no row of EXAMPLES in {Path(__file__).relative_to(ROOT)} calls {untested}"
    )
    unknown = sorted(known - COMMANDS.keys())
    assert not unknown, f"render/frontends/request/commands.py has no row for {unknown}"
    for name, file in APART.items():
        assert f'"{name}"' in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("command", EXAMPLES)
def test_what_a_command_prints(command: str, ask: Ask, tmp_path: Path) -> None:
    words, printed = EXAMPLES[command]
    for name, text in {**FILES, **(DEPRECATED if command == "migrate" else {})}.items():
        put(tmp_path / name, text)
    if command in ("diff", "history"):
        assert ask("pin", ".").exit is Exit.OK
        Repository(tmp_path).commit("Pin the fleet")
    answer = ask(*command.split(), *words, stdin=LIST + ITEMS if command == "krm" else "")
    assert answer.exit is (Exit.FINDINGS if command in FINDING else Exit.OK), answer
    assert printed in answer.out + answer.err


@pytest.mark.parametrize("command", COMMANDS)
def test_each_row_has_its_function(command: str) -> None:
    module, _, name = COMMANDS[command].function.partition(":")
    path = ROOT / "render/frontends" / f"{module.replace('.', '/')}.py"
    assert path.is_file(), f"no {path.relative_to(ROOT)}, which the row of {command} names"
    assert re.search(rf"^def {name}\(", path.read_text(encoding="utf-8"), re.MULTILINE), (
        f"{path.relative_to(ROOT)} has no {name}, which the row of {command} names"
    )


def test_each_function_that_answers_is_that_of_a_row() -> None:
    functions = {row.function for row in COMMANDS.values()}
    for path in (ROOT / "render/frontends").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT / "render/frontends").with_suffix("").parts)
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body if ") -> Answer:" in text else ():
            if isinstance(node, ast.FunctionDef) and is_command(node):
                name = f"{module}:{node.name}"
                assert name in functions, (
                    f"no row of render/frontends/request/commands.py has {name}"
                )


def is_command(node: ast.FunctionDef) -> bool:
    """Whether the function *node* has the signature that `Command` asks of one."""
    inputs = [ast.unparse(arg.annotation) for arg in node.args.args if arg.annotation]
    answer = ast.unparse(node.returns) if node.returns else ""
    return not node.name.startswith("_") and inputs == ["Request", "Work"] and answer == "Answer"
