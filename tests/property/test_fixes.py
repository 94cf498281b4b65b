"""What `check --fix` may do to any repository: mend, and nothing else."""

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from render.frontends.commands.check import _found
from render.frontends.dispatch import invoke
from render.frontends.progress import Work
from render.frontends.request.commands import Call
from render.frontends.request.request import request
from render.pipeline.migration import trial
from render.yaml import writer
from render.yaml.reader import read
from tests.support import goldens
from tests.support.cases import CASES, read_case

#: All of them are tried before a release, as by the other properties.
EVERY = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 8
FOLDERS = sorted(path.parent for path in CASES.glob("*/*/case.yaml"))[::EVERY]
FLAGS = {"--kustomize": "never", "--helm": "never"}


def texts() -> dict[str, bytes]:
    """What the files of the current folder hold."""
    return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


class State:
    """What a folder says, what its machines without an error start as, and what is found."""

    def __init__(self, flags: Mapping[str, Any], paths: tuple[str, ...]) -> None:
        requested = request(Call("check", paths, {**FLAGS, **flags}), {})
        found = _found(requested, Work())
        self.texts = texts()
        broken = {
            finding.diagnostic.resource for finding in found.findings if finding.diagnostic.is_error
        }
        self.vmis = {
            (part.loaded.folder, index): vmi
            for part in found.parts
            for index, vmi in trial.started(part.resources, part.request.settings).vmis.items()
            if index < len(part.resources) and part.resources[index].ref not in broken
        }
        self.findings = Counter(
            (finding.diagnostic.code, finding.diagnostic.resource, finding.diagnostic.message)
            for finding in found.findings
            if finding.diagnostic.resource not in broken
        )


def fixed(flags: Mapping[str, Any], paths: tuple[str, ...]) -> None:
    words = [part for flag, value in (FLAGS | dict(flags)).items() for part in spelled(flag, value)]
    assert invoke(["check", "--fix", *words, *paths]) in (0, 1)


def spelled(flag: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag[2:]}"]
    return [flag, str(value)]


def comments(text: str) -> Counter[str]:
    return Counter(re.findall(r"(?:^|\s)(#.*?)\s*$", text, re.MULTILINE))


def orders(value: Any) -> Iterator[tuple[str, str]]:
    """Which key follows which, everywhere."""
    if isinstance(value, dict):
        yield from pairwise(map(str, value))
        for item in value.values():
            yield from orders(item)
    elif isinstance(value, list):
        for item in value:
            yield from orders(item)


def assert_mended(before: State, after: State, again: Mapping[str, bytes]) -> None:
    for key, vmi in before.vmis.items():
        assert after.vmis.get(key) == vmi, key
    for name, data in after.texts.items():
        text = before.texts[name].decode()
        if data.decode() == text:
            continue
        assert not comments(text) - comments(data.decode()), name
        old = [document.body for document in read(text.encode(), name).documents]
        new = [document.body for document in read(data, name).documents]
        assert len(old) == len(new)
        for item, other in zip(old, new, strict=True):
            assert not {pair[::-1] for pair in orders(other)} & set(orders(item)) - set(
                orders(other)
            )
    assert before.texts.keys() == after.texts.keys()
    broken_before = {resource for _, resource, _ in after.findings} - {
        resource for _, resource, _ in before.findings
    }
    new_findings = after.findings - before.findings
    assert not [
        finding
        for finding in new_findings
        if finding[1] not in broken_before and finding[1] is not None
    ]
    assert again == after.texts


@pytest.mark.parametrize(
    "folder", FOLDERS, ids=lambda resource: f"{resource.parent.name}/{resource.name}"
)
def test_cases(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = {key: value for key, value in read_case(folder).flags.items() if key != "--locked"}
    shutil.copytree(folder, tmp_path / "case")
    (tmp_path / "case" / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "case")
    before = State(flags, ("input",))
    fixed(flags, ("input",))
    after = State(flags, ("input",))
    fixed(flags, ("input",))
    assert_mended(before, after, texts())


MENDED = ("admission-disks", "matcher", "schema", "apply")
"""Families in which every eighth case has something to fix."""
FAMILIES = goldens.FAMILIES if EVERY == 1 else MENDED


@pytest.mark.parametrize("family", FAMILIES)
def test_goldens(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each case is a folder of one repository, and so a root of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    cases = goldens.cases(family)
    for case in cases[:: max(1, len(cases) * EVERY // 400)]:
        file = tmp_path / case["id"] / "objects.yaml"
        file.parent.mkdir()
        objects = [body for body in case["objects"] if body.get("metadata", {}).get("name")]
        file.write_text(writer.write(objects), encoding="utf-8")
    before = State({}, (".",))
    fixed({}, (".",))
    after = State({}, (".",))
    assert after.texts != before.texts or family not in MENDED
    fixed({}, (".",))
    assert_mended(before, after, texts())
