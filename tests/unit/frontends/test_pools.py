"""Pools on the command line: shown, pinned and verified by their name."""

import os
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.frontends.execute import execute
from render.frontends.request.request import Call
from render.model import tree
from render.yaml import writer
from tests.support.asking import Ask
from tests.support.manifests import vm
from tests.support.pools import SMALL, VM, WITHIN, changed, pool
from tests.support.repository import Repository, RepositoryInProcess, documents


def test_a_pool_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pool.yaml").write_text(writer.write([SMALL, pool()]))
    call = Call("show", ("pool.yaml",), {}, (("vm", "web"),))
    assert execute(call, dict(os.environ)) is Exit.OK
    text = capfd.readouterr().out
    assert "kind: VirtualMachinePool" in text
    assert 'guest: "2Gi"' in text


def test_a_pool_is_counted_apart(tmp_path: Path, ask: Ask) -> None:
    """As by diff: whoever compares both figures must see why they differ."""
    repository = RepositoryInProcess(tmp_path, ask)
    repository.write("pool.yaml", writer.write([SMALL, pool()]))
    repository.write("vm.yaml", vm("single", memory="1Gi"))
    done = repository.run("check", ".", "--kubevirt", "1.9")
    assert done.stderr.startswith("2 VMs (1 of pools, replica sets and templates): ")
    repository.commit("A pool and a VM")
    assert repository.fine("diff", "HEAD").startswith("1 VM: 1 same\n")


def test_the_history_of_a_pool(tmp_path: Path, ask: Ask) -> None:
    repository = RepositoryInProcess(tmp_path, ask)
    repository.write("pool.yaml", writer.write([SMALL, pool()]))
    assert repository.run("pin").returncode == 0
    repository.commit("one")
    bigger = changed(SMALL, "4Gi", "spec", "memory", "guest")
    repository.write("pool.yaml", writer.write([bigger, pool()]))
    assert repository.run("pin", "--upgrade", "shop/web").returncode == 0
    repository.commit("two")
    done = repository.run("history", "web")
    assert done.returncode == 0, done.stderr
    assert "guest" in done.stdout
    assert "4Gi" in done.stdout
    assert "two" in done.stdout


def with_a_vm_of_the_same_name(tmp_path: Path, ask: Ask) -> Repository:
    """A pool and a VM shop/web, pinned."""
    repository = RepositoryInProcess(tmp_path, ask)
    vm = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": VM["spec"],
    }
    repository.write("small.yaml", writer.write([SMALL]))
    repository.write("web.yaml", writer.write([pool(), vm]))
    repository.fine("pin")
    repository.commit("one")
    return repository


BIGGER = changed(SMALL, "4Gi", "spec", "memory", "guest")
POOL_NAME = "VirtualMachinePool/shop/web"


def memories(repository: Repository) -> dict[str, str]:
    """The memory of each machine that is built, by kind."""
    found = {}
    for body in documents(repository.fine("build", "--pins", "require")):
        vm = tree.get(body, *WITHIN) or body
        memory = tree.get(vm, "spec", "template", "spec", "domain", "memory", "guest")
        if memory:
            found[body["kind"]] = memory
    return found


def test_a_pool_and_a_vm_of_one_name_are_pinned_apart(tmp_path: Path, ask: Ask) -> None:
    repository = with_a_vm_of_the_same_name(tmp_path, ask)
    assert list(repository.pins) == [POOL_NAME, "shop/web"]
    repository.write("small.yaml", writer.write([BIGGER]))
    assert repository.fine("pin") == "nothing moved\n"
    assert memories(repository) == {"VirtualMachinePool": "2Gi", "VirtualMachine": "2Gi"}
    output = repository.run("build").stderr
    assert f"differs from what {POOL_NAME}, shop/web are pinned to" in output
    for command in (["pin", "--upgrade"], ["show"], ["history"], ["explain"]):
        refused = repository.run(*command, "web")
        assert (refused.returncode != 0, refused.stdout) == (True, "")
        assert f"web may be {POOL_NAME} or VirtualMachine/shop/web" in refused.stderr
        assert f"name the kind too, like {POOL_NAME}" in refused.stderr
    assert f"{POOL_NAME}  1 -> 2" in repository.fine("pin", "--upgrade", "VirtualMachinePool/web")
    assert memories(repository) == {"VirtualMachinePool": "4Gi", "VirtualMachine": "2Gi"}
    repository.commit("two")
    assert repository.fine("pin", "--check") == ""
    assert "2  " in repository.fine("history", POOL_NAME)
    assert "4Gi" not in repository.fine("history", "VirtualMachine/shop/web")
    assert "kind: VirtualMachinePool" in repository.fine("show", POOL_NAME, "--revision", "1")
    assert "kind: VirtualMachine\n" in repository.fine("show", "VirtualMachine/web")
    output = repository.fine("explain", POOL_NAME, "spec.domain.memory.guest")
    assert "small.yaml:11:5 VirtualMachineInstancetype shop/small spec.memory.guest" in output


def test_branches_that_upgrade_the_one_and_the_other_merge(tmp_path: Path, ask: Ask) -> None:
    repository = with_a_vm_of_the_same_name(tmp_path, ask)
    repository.write("small.yaml", writer.write([BIGGER]))
    repository.commit("edit")
    for branch, name in (("pool", POOL_NAME), ("vm", "VirtualMachine/shop/web")):
        repository.git("checkout", "--quiet", "-b", branch, "main")
        repository.fine("pin", "--upgrade", name)
        repository.commit(branch)
    repository.git("merge", "--quiet", "--no-edit", "pool", check=False)
    if repository.git("ls-files", "--unmerged"):
        repository.fine("pin", "--resolve")
    repository.commit("merge")
    assert memories(repository) == {"VirtualMachinePool": "4Gi", "VirtualMachine": "4Gi"}
    assert repository.fine("pin", "--check") == ""


def test_an_entry_without_a_kind_is_that_of_a_vm(tmp_path: Path, ask: Ask) -> None:
    repository = with_a_vm_of_the_same_name(tmp_path, ask)
    text = repository.lock.read_text()
    begin, end = text.index(f"  {POOL_NAME}:"), text.index("  shop/web:")
    repository.lock.write_text(text[:begin] + text[end:])
    refused = repository.run("build", "--pins", "require").stderr
    assert f"the instancetype of {POOL_NAME} is not pinned" in refused
    assert f"{POOL_NAME} is not pinned" in repository.run("pin", "--check").stderr
    repository.fine("pin")
    assert repository.lock.read_text() == text


def test_what_runs_is_adopted_for_the_vm_alone(tmp_path: Path, ask: Ask) -> None:
    repository = with_a_vm_of_the_same_name(tmp_path, ask)
    revision = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": "web-1",
            "namespace": "shop",
            "labels": {"instancetype.kubevirt.io/object-name": "small"},
        },
        "data": BIGGER,
    }
    pool_, live = documents((repository.folder / "web.yaml").read_text())
    live["status"] = {"instancetypeRef": {"controllerRevisionRef": {"name": "web-1"}}}
    dump = tmp_path / "dump.txt"
    dump.write_text(writer.write([pool_, live, revision]))
    done = repository.run("pin", "--from", str(dump))
    assert done.returncode == 0, done.stderr
    assert "dump.txt:" in done.stderr
    assert "VirtualMachinePool shop/web: a pool records no revisions" in done.stderr
    assert memories(repository) == {"VirtualMachinePool": "2Gi", "VirtualMachine": "4Gi"}
