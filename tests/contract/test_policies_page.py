"""docs/policies.md with the engines that it speaks of, where they are installed: building them takes too long."""

import shutil
from pathlib import Path

import pytest

from tests.support import walkthrough
from tests.support.cases import ROOT

PAGE = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", ["conftest", "kyverno"])
def test_the_page_runs_with(engine: str, tmp_path: Path) -> None:
    """Of github.com/open-policy-agent/conftest and github.com/kyverno/kyverno/cmd/cli/kubectl-kyverno."""
    if not shutil.which(engine):
        pytest.skip(f"no {engine}")
    others = {"conftest", "kyverno"} - {engine}
    walkthrough.follow(PAGE, tmp_path, lambda command: any(other in command for other in others))
