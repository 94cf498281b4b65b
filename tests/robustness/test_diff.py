"""``migrate --diff`` of a file with many VMs, and ``diff`` of many files: the work grows with them, not its square."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from render.frontends.dispatch import invoke
from tests.support.manifests import vm
from tests.support.repository import Repository

TELLING = ("difflib.py", "diff/unified.py", "migration/command.py")
COMPARING = (
    "compare/moved/departures.py",
    "compare/moved/renames.py",
    "compare/edits.py",
    "manifests/kustomization.py",
)


def lines_run(work: Callable[[], Any], telling: tuple[str, ...] = TELLING) -> int:
    """How many lines of those who are *telling* differences *work* runs."""
    count = 0

    def line(_frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def call(frame: FrameType, _event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename.endswith(telling) else None

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


def overlay_of_all(repository: Repository, count: int) -> None:
    """A second overlay of a base of many files."""
    named = "".join(f"- vm-{number}.yaml\n" for number in range(count))
    repository.write("base/kustomization.yaml", f"resources:\n{named}")
    for number in range(count):
        repository.write(f"base/vm-{number}.yaml", vm(f"vm-{number}", memory="1Gi"))
    repository.write("one/kustomization.yaml", "resources: [../base]\nnamespace: one\n")
    repository.commit("All")
    repository.write("two/kustomization.yaml", "resources: [../base]\nnamespace: two\n")


def claims_that_leave(repository: Repository, count: int) -> None:
    """A file for each VM, and one for the claim that it names and that is deleted."""
    disks = "devices: {disks: [{name: root, disk: {bus: virtio}}]}"
    volume = "      volumes: [{name: root, persistentVolumeClaim: {claimName: root-#}}]\n"
    for number in range(count):
        text = vm(f"vm-{number}", memory="1Gi").replace("devices: {}", disks)
        repository.write(f"vm-{number}.yaml", text + volume.replace("#", str(number)))
        claim = f"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: root-{number}}}\n"
        spec = "spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}\n"
        repository.write(f"root-{number}.yaml", claim + spec)
    repository.commit("All")
    for number in range(count):
        (repository.folder / f"root-{number}.yaml").unlink()
        machine = repository.folder / f"vm-{number}.yaml"
        machine.write_text(machine.read_text(encoding="utf-8").replace("1Gi", "2Gi"), "utf-8")


def vms_of_other_names(repository: Repository, count: int) -> None:
    """Large VMs, each in a file of its own: which of the new ones an old one is, is seen by all that they say."""
    labels = "".join(f"        l{number}: a\n" for number in range(800))
    template = f"  template:\n    metadata:\n      labels:\n        of: NUMBER\n{labels}"
    for name in ("old", "young"):
        for number in range(count):
            text = vm(f"{name}-{number}", memory=f"{number + 1}Gi")
            text = text.replace("  template:\n", template.replace("NUMBER", f"vm-{number}"))
            repository.write(f"{name}-{number}.yaml", text)
        if name == "old":
            repository.commit("All")
            for number in range(count):
                (repository.folder / f"old-{number}.yaml").unlink()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (overlay_of_all, b"two/vm-0"),
        (claims_that_leave, b"no longer in the repository"),
        (vms_of_other_names, b"20 gone, 20 new"),
    ],
)
def test_a_comparison_grows_in_proportion(
    change: Callable[[Repository, int], None],
    told: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    found = []
    for count in (20, 40):
        repository = Repository(tmp_path / str(count))
        change(repository, count)
        monkeypatch.chdir(repository.folder)
        found.append(lines_run(lambda: invoke(["diff", "HEAD"]), COMPARING))
        printed = capfdbinary.readouterr().out
        assert told.replace(b"20", b"%d" % count) in printed
    assert found[1] <= 2.5 * found[0], found
