from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.fuzz.targets import TARGETS

KEPT = sorted((ROOT / "fixtures" / "fuzz").glob("*/*"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_kept_case(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


def test_every_target_has_cases() -> None:
    assert {path.parent.name for path in KEPT} == set(TARGETS)
