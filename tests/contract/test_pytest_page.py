"""docs/pytest.md: its tests run, and fail for what they are there for."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cases import ROOT
from tests.support.manifests import vm

PAGE = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")


def outcome(folder: Path, text: str) -> str:
    (folder / "vms").mkdir()
    (folder / "vms" / "vm.yaml").write_text(text, encoding="utf-8")
    ((program),) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    name = re.findall(r"# (\S+\.py)", program)[0]
    (folder / name).write_text(program, encoding="utf-8")
    (command,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    assert command.split() == ["pytest", name]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name],
        cwd=folder, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return done.stdout


MIGRATABLE = vm("web", namespace="prod", memory="1Gi").replace(
    "      domain:", "      evictionStrategy: LiveMigrate\n      domain:"
)


@pytest.mark.parametrize(
    ("text", "failing"),
    [
        (MIGRATABLE, ""),
        (vm("web", namespace="prod", memory="1Gi"), "test_production_can_be_migrated"),
        (MIGRATABLE.replace("namespace: prod", "namespace: dev"), "test_there_are_vms_in_prod"),
        (MIGRATABLE.replace("1Gi", "1 Gi"), "test_the_cluster_takes_them_all"),
    ],
)
def test_the_page_runs(text: str, failing: str, tmp_path: Path) -> None:
    printed = outcome(tmp_path, text)
    assert ("failed" in printed) is bool(failing), printed
    assert failing in printed
