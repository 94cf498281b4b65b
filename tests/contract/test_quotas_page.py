"""The manifest of docs/quotas.md; and quotas of a repository with several environments."""

import os
import re
from pathlib import Path

import pytest

from render.frontends.execute import execute
from render.frontends.request.request import Call

PAGE = (Path(__file__).parents[2] / "docs" / "quotas.md").read_text(encoding="utf-8")
MANIFEST = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]


@pytest.mark.parametrize("others", [(), ("test",)])
def test_a_quota_in_a_file_of_its_own(
    others: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Of environments that nobody calls roots, one name stands for several quotas: none of them is judged."""
    vm, quota = MANIFEST.split("---\n")
    monkeypatch.chdir(tmp_path)
    Path("prod").mkdir()
    Path("prod/vm.yaml").write_text(vm, encoding="utf-8")
    for folder in ("prod", *others):
        os.makedirs(folder, exist_ok=True)
        Path(folder, "quota.yaml").write_text(quota, encoding="utf-8")
    execute(Call("check", (".",), {"--admission": "strict"}), {})
    said = capfd.readouterr()
    assert ("VR444" in said.out + said.err) is not bool(others)
