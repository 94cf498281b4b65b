"""What is printed drives neither a terminal nor a runner that reads logs, and a library raises nothing."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import render as package
from render import Settings, render
from render.frontends.dispatch import invoke
from render.report.formats import FORMATS
from tests.support.cases import ROOT
from tests.support.manifests import instancetype, put, vm
from tests.support.process import run
from tests.support.repository import Repository

#: What GitHub's runner, that of Azure Pipelines and TeamCity take for a command anywhere in a line.
COMMAND = r"(?i)##(vso|teamcity)?\["
EVIL = "x\\n::set-env name=A::b\\n##[set-output]##vso[task.a]##VSO[task.b]##teamcity[b]\\u009b31m\\u0085\\u202e\\u2028"

HOSTILE = "##[group]##vso[a]\x1b[31m\n::error::x\n"


@pytest.mark.parametrize("name", FORMATS)
def test_names_give_no_commands(tmp_path: Path, name: str) -> None:
    for file in ("::warning file=a::b.yaml", "##[group].yaml"):
        put(tmp_path / file, f'{vm("web")}  "{EVIL}": 1\n')
    put(tmp_path / "named.yaml", vm("web").replace("name: web", f'name: "{EVIL}"') + "  y: 1\n")
    put(tmp_path / "broken.yaml", "kind: VirtualMachine\nx: [\n::set-output a=b\n")
    done = run("check", "--format", name, cwd=tmp_path)
    assert done.returncode == 1
    for line in done.stdout.replace("\r", "\n").split("\n"):
        if name == "github":
            assert not line or line.startswith(("::error file=", "::notice ", "::warning file="))
            assert not line.startswith(("::warning file=a::", "::set"))
        else:
            assert not line.lstrip().startswith("::"), line
        assert not re.search(COMMAND, line)
    for character in "\u009b\u0085\u202e\u2028\x1b":
        assert character not in done.stdout


def test_json_says_the_same_escaped(tmp_path: Path) -> None:
    put(tmp_path / "vm.yaml", f'{vm("web")}  "{EVIL}\\U0001F600\\U000E0001": 1\n')
    done = run("check", "--format", "json", cwd=tmp_path)
    found = json.loads(done.stdout)["diagnostics"]
    assert any(
        "\u202e" in change["field"] and "\U0001f600\U000e0001" in change["field"]
        for change in found
    )


@pytest.mark.parametrize("command", ["pin", "verify", "migrate", "history web"])
def test_tables_give_no_commands(tmp_path: Path, command: str) -> None:
    text = vm("web").replace("name: web", 'name: "::warning::\\n::error::x"')
    put(
        tmp_path / "vm.yaml",
        text.replace("/v1\n", "/v1alpha3\n") + "  instancetype: {name: u1.small}\n",
    )
    done = run(*command.split(), cwd=tmp_path)
    assert not any(
        line.lstrip().startswith("::") for line in (done.stdout + done.stderr).split("\n")
    )


@pytest.mark.parametrize(
    "words",
    [
        "check", "check -v", "build", "build --explain", "diff HEAD~", "diff HEAD~ --emit vm",
        "diff HEAD~ --format markdown",
        "explain web", "factor", "pin", "verify", "migrate", "history", "history web", "show web", "used-by u1.small",
        "report --format json", "report --format csv", "test", "pin --dry-run", "factor --write", "check --fix",
        "argocd inputs .", "argocd ignore-differences .", "show nothing", "explain nothing",
    ],
)  # fmt: skip
def test_no_name_of_a_file_or_folder_is_a_command(tmp_path: Path, words: str) -> None:
    repository = Repository(tmp_path)
    sized = vm("sized").replace("spec:", "spec:\n  instancetype: {name: u1.small}", 1)
    repository.write(f"{HOSTILE}c/##[error]sized.yaml", sized)
    repository.write(f"{HOSTILE}c/##[error]web.virt-test.yaml", "web:\n  x: 1\n")
    repository.write(f"{HOSTILE}d/{HOSTILE}.yaml", vm("torn").replace("name: torn", "name: @"))
    for guest, size in (("1Gi", "u1.small"), ("2Gi", "u1.smaal")):
        repository.write(
            "##[error]broken.yaml", sized.replace("sized", "broken").replace("u1.small", size)
        )
        repository.write(f"{HOSTILE}a/##[error]web.yaml", vm("web", memory=guest))
        repository.write(
            f"{HOSTILE}b/##[error]other.yaml", f"{vm('other', memory=guest)}  '##[debug]y': 1\n"
        )
        repository.commit(guest)
    assert_plain(repository.run(*words.split()))


def assert_plain(done: subprocess.CompletedProcess[str]) -> None:
    """What was printed drives neither a terminal nor a runner."""
    assert done.stdout + done.stderr
    for line in f"{done.stdout}\n{done.stderr}".split("\n"):
        assert not re.search(COMMAND, line)
        assert "\x1b" not in line
        assert not line.lstrip().startswith("::")


@pytest.mark.parametrize(
    "words",
    ["pin --dry-run", "pin", "pin --check", "factor", "explain sound", "verify", "diff HEAD"],
)
def test_no_name_of_a_kustomization_is_a_command(tmp_path: Path, words: str) -> None:
    repository = Repository(tmp_path)
    sized = vm("sound").replace("spec:", "spec:\n  instancetype: {name: u1.small}", 1)
    for folder, text in (
        ("a", sized),
        ("b", sized.replace("name: sound", "name: @")),
        ("c", sized),
    ):
        repository.write(f"{HOSTILE}{folder}/kustomization.yaml", "resources: [vm.yaml]\n")
        repository.write(f"{HOSTILE}{folder}/vm.yaml", text.replace("sound", f"sound-{folder}", 1))
    repository.commit("Three")
    assert_plain(repository.run(*words.split()))


def machine(**domain: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "v"},
        "spec": {"runStrategy": "Always", "template": {"spec": {"domain": {"devices": {}, **domain}}}},
    }  # fmt: skip


GIANT = 10**5000


@pytest.mark.parametrize(
    ("objects", "settings"),
    [
        ([machine(memory={"guest": GIANT})], Settings()),
        ([machine(cpu={"cores": -GIANT})], Settings()),
        ([{**machine(), "metadata": {"name": "v", "labels": {"a": GIANT}}}], Settings()),
        ([machine(memory={"guest": "\ud800"})], Settings()),
        ([machine(**{"\ud800": 1})], Settings()),
        ([machine()], Settings(catalog="a\0b")),
        ([machine()], Settings(catalog="\ud800")),
        ([machine()], Settings(emit=GIANT)),  # type: ignore[arg-type]
        ([machine()], Settings(cluster_config={"spec": {"configuration": {"x": [GIANT]}}})),
        ([machine()], Settings(lock={"pins": GIANT})),
    ],
    ids=range(10),
)
def test_the_library_raises_nothing(objects: list[Any], settings: Settings) -> None:
    found = render(objects, settings).diagnostics
    assert any(diagnostic.is_error for diagnostic in found)
    assert all(diagnostic.message for diagnostic in found)


@pytest.mark.parametrize(
    "use", ["render([], Settings(catalog={!r}))", "load({!r}, Settings(allow_empty=True))"]
)
def test_a_host_keeps_its_ruamel(tmp_path: Path, use: str) -> None:
    put(tmp_path / "catalogue.yaml", vm() + "? x\n: &a !!str y\n")
    code = (
        "from render import Settings, load, render\n"
        f"{use.format(str(tmp_path / 'catalogue.yaml'))}\n"
        "import _ruamel_yaml, ruamel.yaml\n"
        "assert ruamel.yaml.YAML(typ='safe').load('a: [1]') == {'a': [1]}\n"
        "from ruamel.yaml.cyaml import CSafeLoader\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("entry", [".", "", "bin", "./bin"])
def test_no_program_of_the_repository_is_run(
    tmp_path: Path, entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("kustomize", "git", "bin/kustomize", "bin/git"):
        put(tmp_path / name, "#!/bin/sh\ntouch ran\n")
        (tmp_path / name).chmod(0o755)
    put(tmp_path / "kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "vm.yaml", vm())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{entry}:/nowhere")
    assert invoke(["build", "."]) == 2
    assert invoke(["history", "web"])
    assert not (tmp_path / "ran").exists()


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(package.__file__).parent / "py.typed").is_file()


def test_a_long_subject_fills_no_history(tmp_path: Path) -> None:
    made = Repository(tmp_path)
    made.write("vm.yaml", vm("web", instancetype="small"))
    made.write("small.yaml", instancetype("small"))
    made.fine("pin", ".")
    made.git("add", "--all")
    made.git("commit", "--quiet", "--file", "-", stdin=f"pin \x1b[31m{'x' * 3_000_000}\n\nbody\n")
    for words in ((), ("--format", "json"), ("--format", "html")):
        told = made.fine("history", "web", *words)
        assert "pin " in told
        assert "\x1b" not in told
        assert "x..." in told
        assert len(told) < 100_000
