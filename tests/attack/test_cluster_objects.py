"""Dumps of a cluster: what is in them besides figures is taken by nobody, and no repository names one."""

import subprocess
from pathlib import Path

import pytest

from tests.support.process import run

VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  instancetype: {name: mine, kind: VirtualMachineInstancetype}
  template:
    spec: {domain: {memory: {guest: 1Gi}, devices: {}}}
"""
QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: prod, annotations: {virt-render.dev/ignore.VR444: hidden by the dump}}
spec: {hard: {pods: "0"}}
status: {used: {pods: "-5"}}
"""
TRUSTED = """\
apiVersion: v1
kind: List
items:
- apiVersion: instancetype.kubevirt.io/v1beta1
  kind: VirtualMachineInstancetype
  metadata: {name: mine, namespace: prod}
  spec: {cpu: {guest: 1}, memory: {guest: 1Gi}}
- apiVersion: kubevirt.io/v1
  kind: KubeVirt
  metadata: {name: kubevirt, namespace: kubevirt}
  spec: {configuration: {developerConfiguration: {memoryOvercommit: 1000}}}
- apiVersion: v1
  kind: Secret
  metadata: {name: token, namespace: prod}
  stringData: {token: hunter2-hunter2}
"""
PLAIN = VM.replace("  instancetype: {name: mine, kind: VirtualMachineInstancetype}\n", "")
#: Dumps that are none, and what is said of them.
BROKEN = {
    "no yaml": ("a: [", 1, "VR101"),
    "a page": ("<html><body>Forbidden</body></html>", 1, "VR104"),
    "a table": ("NAME  AGE\nteam  5d\n", 1, "VR104"),
    "empty": ("", 0, ""),
    "null items": ("apiVersion: v1\nkind: List\nitems: [null, 1, {}]\n", 1, "VR104"),
    "odd labels": (
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: prod, labels: {pod-security.kubernetes.io/enforce: [x]}}\n",
        0, "",
    ),
    "odd quota": ("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: prod}\nspec: 5\n", 1, "VR444"),
    "huge numbers": (
        "apiVersion: v1\nkind: Node\nmetadata: {name: node}\nstatus: {allocatable: {memory: 1e999999999, cpu: -1}}\n",
        0, "",
    ),
}  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / ".git").mkdir(parents=True)
    (folder / "vm.yaml").write_text(PLAIN, encoding="utf-8")
    return folder


def check(
    folder: Path,
    *words: str,
    VIRT_RENDER_CLUSTER_OBJECTS: str = "",  # noqa: N803 - as it is set
) -> subprocess.CompletedProcess[str]:
    fields = {"VIRT_RENDER_CLUSTER_OBJECTS": VIRT_RENDER_CLUSTER_OBJECTS}
    variables = {name: text for name, text in fields.items() if text}
    command = ("check", "--admission", "strict", *words, ".")
    return run(*command, cwd=folder, stdin="", timeout=None, **variables)


def dumped(folder: Path, text: str) -> str:
    path = folder.parent / "dump.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_no_repository_and_no_application_names_a_dump(repository: Path) -> None:
    dump = dumped(repository, QUOTA)
    (repository / ".virt-render.yaml").write_text(
        f"apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {{clusterObjects: [{dump}]}}\n",
        encoding="utf-8",
    )
    done = check(repository)
    assert "clusterObjects is not for manifests and Applications to decide" in (
        done.stdout + done.stderr
    )
    assert "VR444" not in done.stdout


def test_the_environment_of_who_runs_the_program_does(repository: Path) -> None:
    dump = dumped(repository, QUOTA)
    done = check(repository, VIRT_RENDER_CLUSTER_OBJECTS=dump)
    assert "exceeded quota: team, requested: pods=1, limited: pods=0" in done.stdout
    assert done.returncode == 1


def test_of_a_dump_only_room_is_taken(repository: Path) -> None:
    """No definition, no setting and no Secret of it counts or is shown; its own annotations silence nothing here."""
    (repository / "vm.yaml").write_text(VM, encoding="utf-8")
    dump = dumped(repository, f"{TRUSTED}---\n{QUOTA}")
    done = check(repository, "--cluster-objects", dump)
    assert "VR201" in done.stdout  # the instancetype is not in the repository
    assert "hunter2" not in done.stdout + done.stderr
    (repository / "vm.yaml").write_text(PLAIN, encoding="utf-8")
    done = check(repository, "--cluster-objects", dump)
    assert "VR444" in done.stdout


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_dump(name: str, repository: Path) -> None:
    text, status, code = BROKEN[name]
    for command in (("check",), ("report",)):
        done = run(*command, "--cluster-objects", dumped(repository, text), ".", cwd=repository)
        assert "Traceback" not in done.stderr
        if command == ("check",):
            assert (done.returncode != 0) is bool(status)
            assert code in done.stdout + done.stderr


def test_a_dump_keeps_to_the_limits(repository: Path) -> None:
    dump = dumped(repository, QUOTA * 3)
    done = check(repository, "--cluster-objects", dump, "--max-file-bytes", "400")
    assert done.returncode == 3
    missing = check(repository, "--cluster-objects", "nowhere.yaml")
    assert missing.returncode == 3
