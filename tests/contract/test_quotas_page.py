"""docs/quotas.md, tried as a newcomer would; and quotas of a repository with several environments."""

import os
import re
from pathlib import Path

import pytest

from render.frontends.execute import execute
from render.frontends.request.request import Call

PAGE = (Path(__file__).parents[2] / "docs" / "quotas.md").read_text(encoding="utf-8")
MANIFEST = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]
SHOWN = re.findall(r"^    \$ virt-render (check .*)\n((?:    .+\n)+)", PAGE, re.MULTILINE)


def test_the_page_shows_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ((command, expected),) = SHOWN
    assert command == "check --admission strict vm.yaml"
    monkeypatch.chdir(tmp_path)
    Path("vm.yaml").write_text(MANIFEST, encoding="utf-8")
    execute(Call("check", ("vm.yaml",), {"--admission": "strict"}), {})
    said = capfd.readouterr()
    lines = [line for line in (said.out + said.err).splitlines() if "VR444" in line]
    assert lines == [expected.strip()]


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
