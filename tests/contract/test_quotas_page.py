"""The manifest of docs/quotas.md; and quotas of a repository with several environments."""

import contextlib
import json
import os
import re
from pathlib import Path

import pytest

from render.frontends.execute import execute
from render.frontends.request.request import Call
from tests.support.manifests import put, vm

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
    machine, quota = MANIFEST.split("---\n")
    monkeypatch.chdir(tmp_path)
    Path("prod").mkdir()
    Path("prod/vm.yaml").write_text(machine, encoding="utf-8")
    for folder in ("prod", *others):
        os.makedirs(folder, exist_ok=True)
        Path(folder, "quota.yaml").write_text(quota, encoding="utf-8")
    execute(Call("check", (".",), {"--admission": "strict"}), {})
    text = capfd.readouterr()
    assert ("VR444" in text.out + text.err) is not bool(others)


def _quota(memory: str, namespace: str = "prod", name: str = "team") -> str:
    return (
        f"apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: {name}, namespace: {namespace}}}\n"
        f"spec: {{hard: {{requests.memory: {memory}}}}}\n"
    )


def _quotas_said(
    folder: Path, capfd: pytest.CaptureFixture[str], **words: str
) -> list[tuple[str, str]]:
    """The file of each finding on a quota below *folder*, and the VM that it names."""
    options = {"--admission": "strict", "--format": "json", **words}
    with contextlib.chdir(folder):
        execute(Call("check", (".",), options), {})
    data = json.loads(capfd.readouterr().out)["diagnostics"]
    assert {diagnostic["code"] for diagnostic in data if diagnostic["severity"] == "error"} <= {
        "VR444"
    }
    return sorted(
        (diagnostic["file"], diagnostic["related"][0]["message"].partition(":")[0])
        for diagnostic in data
        if diagnostic["code"] == "VR444"
    )


def _two_roots(folder: Path) -> None:
    """Two roots of one namespace name: *a* with a quota for the VM of 4 GiB there, *b* without any."""
    for root, name in (("a", "web"), ("b", "db")):
        put(folder / root / "vm.yaml", vm(name, namespace="prod", memory="4Gi"))
        put(folder / root / "kustomization.yaml", "resources: [vm.yaml]\n")
    put(folder / "a/quota.yaml", _quota("6Gi"))
    put(folder / "a/kustomization.yaml", "resources: [vm.yaml, quota.yaml]\n")


def test_the_quota_of_a_root_is_asked_of_its_own_vms(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Two Applications with one namespace name are two clusters as likely as one."""
    _two_roots(tmp_path)
    assert _quotas_said(tmp_path, capfd) == []
    put(tmp_path / "a/quota.yaml", _quota("4Gi"))
    assert _quotas_said(tmp_path, capfd) == [("a/quota.yaml", "web")]
    put(tmp_path / "b/quota.yaml", _quota("4Gi"))
    put(tmp_path / "b/kustomization.yaml", "resources: [vm.yaml, quota.yaml]\n")
    put(tmp_path / "a/quota.yaml", _quota("6Gi"))
    assert _quotas_said(tmp_path, capfd) == [("b/quota.yaml", "db")]


_SHARED = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec:\n  shared: [platform*]\n"


@pytest.mark.parametrize("is_built", [True, False])
def test_a_quota_in_a_folder_that_is_shared_is_asked_of_all(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    is_built: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """Without a word of KubeVirt's in it, built by kustomize or loose: the settings say that it is meant."""
    _two_roots(tmp_path)
    put(tmp_path / "platform/quota.yaml", _quota("4Gi", name="all"))
    if is_built:
        put(tmp_path / "platform/kustomization.yaml", "resources: [quota.yaml]\n")
    assert _quotas_said(tmp_path, capfd) == []
    put(tmp_path / ".virt-render.yaml", _SHARED)
    both = [("platform/quota.yaml", "db"), ("platform/quota.yaml", "web")]
    assert _quotas_said(tmp_path, capfd) == both
    # One of the same name in the root itself wins, another namespace is none of its business.
    put(tmp_path / "platform/quota.yaml", _quota("4Gi", name="team"))
    assert _quotas_said(tmp_path, capfd) == both[:1]
    put(tmp_path / "platform/quota.yaml", _quota("4Gi", namespace="test"))
    assert _quotas_said(tmp_path, capfd) == []
    # Where it is not clear which of two is meant, neither is.
    put(tmp_path / "platform/quota.yaml", _quota("4Gi", name="all"))
    put(tmp_path / "platform-2/quota.yaml", _quota("5Gi", name="all"))
    put(tmp_path / "platform-2/kustomization.yaml", "resources: [quota.yaml]\n")
    put(tmp_path / "platform/kustomization.yaml", "resources: [quota.yaml]\n")
    assert _quotas_said(tmp_path, capfd) == []


def test_a_quota_that_moves_with_its_vms_fails_because_of_the_edit(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A folder with another name asks for what it asked for before; what an edit adds is blamed on its line."""
    for state, folder, memory in (("old", "a", "2Gi"), ("new", "z", "6Gi")):
        put(tmp_path / state / folder / "vm.yaml", vm("db", namespace="prod", memory=memory))
        put(tmp_path / state / folder / "quota.yaml", _quota("3Gi"))
        text = "resources: [vm.yaml, quota.yaml]\n"
        put(tmp_path / state / folder / "kustomization.yaml", text)
    with contextlib.chdir(tmp_path):
        execute(Call("diff", ("old", "new"), {}), {})
    content = capfd.readouterr().out
    (requests,) = [line for line in content.splitlines() if "pods in prod request" in line]
    assert requests.endswith("request: 1 pods, 0.105 CPU, 2.29 -> 6.29 GiB of memory")
    (begins,) = [line for line in content.splitlines() if "begins to fail" in line]
    assert "because of new/z/vm.yaml:13:11 VirtualMachine prod/db" in begins
    assert "ResourceQuota prod/team" not in begins
    assert " (6.29 GiB) of 3Gi" in begins


def test_diff_asks_a_quota_that_is_shared(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for state, memory in (("old", "4Gi"), ("new", "9Gi")):
        _two_roots(tmp_path / state)
        put(tmp_path / state / "b/vm.yaml", vm("db", namespace="prod", memory=memory))
        put(tmp_path / state / "platform/quota.yaml", _quota("8Gi", name="all"))
        put(tmp_path / state / ".virt-render.yaml", _SHARED)
    with contextlib.chdir(tmp_path):
        execute(Call("diff", ("old", "new"), {}), {})
    assert "b: warning: quota prod/all begins to fail" in capfd.readouterr().out
