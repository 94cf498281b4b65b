"""Every attack of fixtures/attacks against every front end: found, refused, and nothing given away."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from render.yaml.reader import read
from tests.support.cases import ROOT
from tests.support.loopback import Loopback
from tests.support.manifests import put
from tests.support.process import run

ATTACKS = sorted((ROOT / "fixtures" / "attacks").glob("*.yaml"))
#: The front ends; those that report every finding of theirs where it is looked for.
FINDING = ("build", "check", "check --format json", "argocd generate", "pin")
OTHERS = (
    "check --format sarif", "check --format github", "check --format junit", "verify",
    "migrate --diff --check", "argocd inputs", "argocd discover", "argocd ignore-differences",
    "history web", "show web", "explain web", "report", "build --emit vmi --explain", "krm",
)  # fmt: skip


def attack(path: Path) -> dict[str, Any]:
    (document,) = read(path.read_bytes(), path.name).documents
    return document.body


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return tmp_path / "repo"


def laid_out(case: dict[str, Any], folder: Path, url: str) -> None:
    for base, files in ((folder, case["files"]), (folder.parent, case.get("outside", {}))):
        for name, text in files.items():
            put(base / name, text.replace("SERVER", url))
    for name, target in case.get("links", {}).items():
        (folder / name).symlink_to(target)
    if (folder / "kustomize").exists():
        (folder / "kustomize").chmod(0o755)


def streams(folder: Path, command: str, kustomize: str) -> Iterator[tuple[int, str]]:
    function = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": []}
    path = f".:{Path(kustomize).parent}:{os.environ['PATH']}"
    done = run(*command.split(), cwd=folder, stdin=json.dumps(function), PATH=path)
    yield done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("path", ATTACKS, ids=lambda path: path.stem)
def test_attack(path: Path, folder: Path, kustomize: str, loopback: Loopback) -> None:
    case = attack(path)
    laid_out(case, folder, loopback.url)
    before = sorted(folder.parent.rglob("*"))
    for command in (*FINDING, *OTHERS):
        for status, stream in streams(folder, command, kustomize):
            for text in case["never"]:
                assert text not in stream, command
            assert "Traceback" not in stream
            assert status != 4, command
            unread = command.partition(" ")[0] in case.get("unread_by", ())
            if command in FINDING and not unread:
                assert case["finding"] in stream, f"{command}: {stream}"
                assert status in case["status"], command
    assert sorted(folder.parent.rglob("*")) == before
    assert loopback.requests == []
