"""Twice the input is twice the work: each shape of a repository, counted in calls, which no other load changes."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from render.frontends import dispatch
from tests.support.calls import calls
from tests.support.manifests import put, vm
from tests.support.repository import Repository

MOST = 2.6
Shape = Callable[[int], Mapping[str, str]]


def machine(name: str = "a", labels: Mapping[str, str] | None = None, **more: Any) -> str:
    """A VM with parts of a VMI spec, as JSON, which is read in few calls."""
    domain = {
        "memory": {"guest": "1Gi"},
        "devices": more.pop("devices", {}),
        **more.pop("domain", {}),
    }
    template = {"metadata": {"labels": labels or {}}, "spec": {"domain": domain, **more}}
    return json.dumps(
        {
            "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": name},
            "spec": {"runStrategy": "Always", "template": template},
        }
    ) + "\n"  # fmt: skip


def machines(count: int) -> Mapping[str, str]:
    """Files with a VM each."""
    return {f"vm-{number}.yaml": vm(f"vm-{number}", memory="1Gi") for number in range(count)}


def in_one_file(count: int) -> Mapping[str, str]:
    """A file of VMs, in each of which something is wrong."""
    return {"vms.yaml": "---\n".join(vm(f"vm-{n}", memory="much") for n in range(count))}


def disks(count: int) -> Mapping[str, str]:
    """Disks that are as they should be."""
    names = [f"d{number}" for number in range(count)]
    volumes = [{"name": name, "emptyDisk": {"capacity": "1Gi"}} for name in names]
    devices = {"disks": [{"name": name, "disk": {"bus": "virtio"}} for name in names]}
    return {"vm.yaml": machine(devices=devices, volumes=volumes)}


def disks_of_one_order(count: int) -> Mapping[str, str]:
    """Disks called alike, with one boot order: KubeVirt has a cause for each pair."""
    return {"vm.yaml": machine(devices={"disks": [{"name": "a", "bootOrder": 1}] * count})}


def interfaces(count: int) -> Mapping[str, str]:
    """Interfaces, each with its network."""
    names = [f"n{number}" for number in range(count)]
    networks = [{"name": name, "multus": {"networkName": name}} for name in names]
    return {
        "vm.yaml": machine(
            devices={"interfaces": [{"name": name, "bridge": {}} for name in names]},
            networks=networks,
        )
    }


def interfaces_called_alike(count: int) -> Mapping[str, str]:
    """Interfaces and networks of one name."""
    devices = {
        "interfaces": [{"name": "n", "bridge": {}, "macAddress": "02:00:00:00:00:01"}] * count
    }
    return {"vm.yaml": machine(devices=devices, networks=[{"name": "n", "pod": {}}] * count)}


def volumes_without_disks(count: int) -> Mapping[str, str]:
    """Volumes that nothing uses, each called twice."""
    volumes = [
        {"name": f"v{n // 2}", "persistentVolumeClaim": {"claimName": "c"}} for n in range(count)
    ]
    return {"vm.yaml": machine(volumes=volumes)}


def presets(count: int, differing: Callable[[int], str]) -> Mapping[str, str]:
    """Presets that all reach a few VMIs."""
    objects: list[dict[str, Any]] = [
        {
            "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstancePreset", "metadata": {"name": f"p{number}"},
            "spec": {
                "selector": {"matchLabels": {"a": "b"}},
                "domain": {"devices": {}, "resources": {"requests": {"memory": differing(number)}}},
            },
        }
        for number in range(count)
    ]  # fmt: skip
    objects += (
        {
            "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance",
            "metadata": {"name": f"v{number}", "labels": {"a": "b"}}, "spec": {"domain": {"devices": {}}},
        }
        for number in range(3)
    )  # fmt: skip
    return {"all.yaml": "".join(f"{json.dumps(one)}\n" for one in objects)}


def presets_that_agree(count: int) -> Mapping[str, str]:
    """Presets that say the same."""
    return presets(count, lambda _: "1Gi")


def presets_in_conflict(count: int) -> Mapping[str, str]:
    """Presets of which each says something else."""
    return presets(count, lambda number: f"{number + 1}Gi")


def operations(count: int) -> Mapping[str, str]:
    """A JSON patch, of which each operation writes a field that nobody knows."""
    lines = (f"- {{op: add, path: /spec/x{number}, value: 1}}\n" for number in range(count))
    return {
        "kustomization.yaml": "resources: [vm.yaml]\npatches:\n- path: p.yaml\n  target: {kind: VirtualMachine}\n",
        "vm.yaml": vm(memory="1Gi"),
        "p.yaml": "".join(lines),
    }


def targets(count: int) -> Mapping[str, str]:
    """Patches with patterns for their targets, and one VM in which something is wrong."""
    entry = "- target: {{kind: VirtualMachine, name: '(a|aa)+{0}'}}\n  patch: '[]'\n"
    entries = "".join(entry.format(number) for number in range(count))
    return {
        "kustomization.yaml": f"resources: [vm.yaml]\npatches:\n{entries}",
        "vm.yaml": vm("aaaaaaaaaaaaaaaa", memory="much"),
    }


def overlays(count: int) -> Mapping[str, str]:
    """Overlays of one base."""
    files = {"base/kustomization.yaml": "resources: [vm.yaml]\n", "base/vm.yaml": vm(memory="1Gi")}
    for number in range(count // 10):
        files[f"o{number}/kustomization.yaml"] = f"resources: [../base]\nnamespace: n{number}\n"
    return files


def patterns(count: int) -> Mapping[str, str]:
    """Patterns for what is left out, none of which matches."""
    excluded = ", ".join(f'"**/*a*{number}*/**/**/x"' for number in range(count))
    settings = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec:\n  exclude: [{}]\n"
    return {".virt-render.yaml": settings.format(excluded), **machines(20)}


def unknown_fields(count: int) -> Mapping[str, str]:
    """A finding a line."""
    return {"vm.yaml": vm(memory="1Gi") + "".join(f"  k{number}: 1\n" for number in range(count))}


def labels(count: int) -> Mapping[str, str]:
    """Labels of one VM."""
    return {"vm.yaml": machine(labels={f"l{number}": "x" for number in range(count)})}


SHAPES: tuple[Shape, ...] = (
    machines, in_one_file, disks, disks_of_one_order, interfaces, interfaces_called_alike, volumes_without_disks,
    presets_that_agree, presets_in_conflict, operations, targets, overlays, patterns, unknown_fields, labels,
)  # fmt: skip


def work(shape: Shape, count: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The calls of a check of so many."""
    for name, text in shape(count).items():
        put(folder / name, text)
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)
    return calls(lambda: dispatch.invoke(["check", "."]))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_twice_the_input_is_twice_the_work(
    shape: Shape, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kustomize: str
) -> None:
    monkeypatch.setenv("VIRT_RENDER_KUSTOMIZE", kustomize)
    work(shape, 20, tmp_path / "first", monkeypatch)  # what is imported and remembered once
    less = work(shape, 100, tmp_path / "less", monkeypatch)
    more = work(shape, 200, tmp_path / "more", monkeypatch)
    assert more <= MOST * less, f"{less:,} calls, and {more:,} for twice as many"


def test_twice_the_commits_are_twice_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    for count in (5, 20, 40):
        repository = Repository(tmp_path / f"{count}")
        repository.write("vm.yaml", vm(memory="1Gi"))
        monkeypatch.chdir(repository.folder)
        dispatch.invoke(["pin"])
        for number in range(count):
            repository.write("vm.yaml", vm(memory=f"{number + 1}Gi"))
            dispatch.invoke(["pin"])
            repository.commit(f"{number}")
        counts.append(calls(lambda: dispatch.invoke(["history", "web"])))
    assert counts[2] <= MOST * counts[1]
    assert os.getcwd() == str(tmp_path / "40")
