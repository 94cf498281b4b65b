"""``migrate --diff`` of a file with many VMs: the work grows with the file, not with its square."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from render.frontends.dispatch import invoke
from tests.support.manifests import vm

TELLING = ("difflib.py", "diff/unified.py", "migration/command.py")


def lines_run(work: Callable[[], Any]) -> int:
    """How many lines of those who tell differences *work* runs."""
    count = 0

    def line(_frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def call(frame: FrameType, _event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename.endswith(TELLING) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def old(number: int) -> str:
    text = vm(f"vm-{number}", memory="1Gi")
    return text.replace("runStrategy: Always", "running: true")


def separate(count: int) -> str:
    return "---\n".join(map(old, range(count)))


def in_a_list(count: int) -> str:
    items = ("- " + old(n).replace("\n", "\n  ").rstrip() + "\n" for n in range(count))
    return "apiVersion: v1\nkind: List\nitems:\n" + "".join(items)


@pytest.mark.parametrize("text", [separate, in_a_list], ids=lambda text: text.__name__)
def test_work_grows_in_proportion(
    text: Callable[[int], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.chdir(tmp_path)
    found = []
    for count in (60, 120):
        Path("vms.yaml").write_text(text(count), encoding="utf-8")
        found.append(lines_run(lambda: invoke(["migrate", "--diff", "vms.yaml"])))
        assert capfdbinary.readouterr().out.count(b"runStrategy: Always\n") == count
    assert found[1] <= 2.1 * found[0] + 200
