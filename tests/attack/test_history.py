"""What a history of few bytes costs: many commits of few states."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from render.frontends import commits
from render.yaml.budget import Limits
from tests.support.asking import Ask
from tests.support.repository import Repository


def test_commits_with_the_same_tree_are_rendered_once(
    tmp_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = Repository(tmp_path)
    repository.instancetype("small", cpus=1)
    repository.vm("web")
    repository.fine("pin", ".")
    repository.commit("One")
    repository.instancetype("small", cpus=2)
    repository.fine("pin", "--upgrade-all", ".")
    repository.commit("Two")
    for number in range(4):
        repository.git("checkout", "--quiet", "HEAD~", "--", ".")
        repository.commit(f"Again {number}")
    laid_out: list[str] = []
    back_at = commits.back_at

    @contextmanager
    def counted(top: str, commit: str, limits: Limits) -> Iterator[str]:
        laid_out.append(commit)
        with back_at(top, commit, limits) as folder:
            yield folder

    monkeypatch.setattr("render.frontends.commands.history.back_at", counted)
    done = ask("history", "web")
    assert len(laid_out) == 2
    assert done.out.count("spec.domain.cpu.sockets: 1 -> 2") == 3
    assert done.out.count("spec.domain.cpu.sockets: 2 -> 1") == 2
