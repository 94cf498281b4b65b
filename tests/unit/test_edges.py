"""Edges that a small change of the code would move, each with the value on it: what mutations once survived."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from render import Settings, render
from render.admission import pool, requirements
from render.apply.instancetype import memory
from render.apply.preference import devices
from render.defaults import hotplug, objects, vm
from render.defaults import spec as defaults
from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft
from render.model.release import NEWEST
from render.rules import Edit
from render.system import writing
from render.system.files import inside
from render.yaml import writer

CDI = "cdi.kubevirt.io/v1beta1"


def test_an_overcommit_of_one_percent_counts() -> None:
    draft = Draft({"spec": {"domain": {}}})
    found = memory._claim((), {"memory": {"guest": "100Mi", "overcommitPercent": 1}}, draft)  # noqa: SLF001 - its rule
    edits = {edit.path: edit.value for edit in found if isinstance(edit, Edit)}
    assert edits["spec", "domain", "resources", "requests", "memory"] == "99Mi"


def test_a_computed_request_is_in_the_notation_that_the_api_server_keeps() -> None:
    definition = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": "odd"},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1025Mi", "overcommitPercent": 16}},
    }
    machine = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "v", "namespace": "n"},
        "spec": {
            "runStrategy": "Always",
            "instancetype": {"name": "odd"},
            "template": {"spec": {"domain": {"devices": {}}}},
        },
    }
    vmi = render([definition, machine], Settings(emit="vmi")).resources[-1]
    assert vmi["spec"]["domain"]["resources"]["requests"]["memory"] == "902824k"


def test_a_panic_device_with_an_empty_model_keeps_it() -> None:
    """It is a pointer in Go: empty is not unset."""
    found = devices._panic_models(  # noqa: SLF001 - its rule
        {"devices": {"preferredPanicDeviceModel": "isa"}},
        Draft({"spec": {"domain": {"devices": {"panicDevices": [{"model": ""}, {}]}}}}),
    )
    assert [edit.path[-2] for edit in found] == [1]


def test_an_empty_storage_class_is_one() -> None:
    preference = {"volumes": {"preferredStorageClassName": "fast"}}
    for key in ("pvc", "storage"):
        templates: list[Any] = [{"spec": {key: {"storageClassName": ""}}}, {"spec": {key: {}}}]
        filled = vm.fill_storage_class(templates, preference)
        assert [body["spec"][key]["storageClassName"] for body in filled] == ["", "fast"]


def test_a_source_without_a_namespace_is_looked_up_in_the_machines() -> None:
    requested: list[tuple[str, str]] = []

    def find(namespace: str, name: str) -> None:
        requested.append((namespace, name))

    templates: list[Any] = [
        {"spec": {"sourceRef": {"kind": "DataSource", "name": "a"}}},
        {"spec": {"sourceRef": {"kind": "DataSource", "name": "b", "namespace": "golden"}}},
    ]
    assert vm.architecture_of_sources(templates, "prod", find, NEWEST) == ""
    assert requested == [("prod", "a"), ("golden", "b")]


@pytest.mark.parametrize("stated", [{}, {"namespace": "prod"}, {"namespace": "golden"}])
def test_inference_from_a_source_without_a_namespace(stated: dict[str, str]) -> None:
    source = {
        "apiVersion": CDI, "kind": "DataSource",
        "metadata": {
            "name": "a", "namespace": "prod",
            "labels": {"instancetype.kubevirt.io/default-instancetype": "u1.small"},
        },
        "spec": {"source": {}},
    }  # fmt: skip
    volume = {
        "apiVersion": CDI, "kind": "DataVolume", "metadata": {"name": "d", "namespace": "prod"},
        "spec": {"storage": {}, "sourceRef": {"kind": "DataSource", "name": "a", **stated}},
    }  # fmt: skip
    volumes = [{"name": "root", "dataVolume": {"name": "d"}}]
    machine = {
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine",
        "metadata": {"name": "v", "namespace": "prod"},
        "spec": {
            "runStrategy": "Halted", "instancetype": {"inferFromVolume": "root"},
            "template": {"spec": {"domain": {"devices": {}}, "volumes": volumes}},
        },
    }  # fmt: skip
    rendered = render([source, volume, machine], Settings(namespace="prod"))
    assert any(diagnostic.is_error for diagnostic in rendered.diagnostics) is (
        stated.get("namespace") == "golden"
    )


def test_nothing_is_plugged_without_a_maximum() -> None:
    draft = Draft({"spec": {"domain": {"cpu": {"sockets": 0, "cores": 1, "threads": 1}}}})
    hotplug._fill_max_sockets(draft, ClusterConfig(), NEWEST)  # noqa: SLF001 - its rule
    assert "maxSockets" not in draft.tree["spec"]["domain"]["cpu"]
    draft = Draft(
        {"spec": {"domain": {"cpu": {"sockets": 2, "cores": 1, "threads": 1, "maxSockets": 3}}}}
    )
    hotplug._fill_max_sockets(draft, ClusterConfig(), NEWEST)  # noqa: SLF001 - its rule
    assert draft.tree["spec"]["domain"]["cpu"]["maxSockets"] == 3


@pytest.mark.parametrize(
    ("sockets", "maximum"),
    [(127, 508), (128, 512), (129, 512), (513, 513)],  # no default goes beyond 512 vCPUs
)
def test_four_times_the_sockets_but_no_more_than_512(sockets: int, maximum: int) -> None:
    draft = Draft({"spec": {"domain": {"cpu": {"sockets": sockets, "cores": 1, "threads": 1}}}})
    hotplug._fill_max_sockets(draft, ClusterConfig(), NEWEST)  # noqa: SLF001 - its rule
    assert draft.tree["spec"]["domain"]["cpu"]["maxSockets"] == maximum


def test_spinlocks_without_a_count() -> None:
    features: dict[str, Any] = {"hyperv": {"spinlocks": {}}}
    draft = Draft({"spec": {"domain": {"features": features, "devices": {}}}})
    objects._fill_features(draft)  # noqa: SLF001 - its rule
    filled = draft.tree["spec"]["domain"]["features"]["hyperv"]["spinlocks"]
    assert filled == {"enabled": True, "spinlocks": 4096}


def test_no_vcpu_is_spread_across_nothing_that_is_known() -> None:
    preference = {
        "cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"across": "Elsewhere"}},
        "requirements": {"cpu": {"guest": 1}},
    }
    template: dict[str, Any] = {
        "spec": {"domain": {"cpu": {"sockets": 1, "cores": 1, "threads": 1}}}
    }
    assert requirements.check(template, None, preference) is not None


@pytest.mark.parametrize(
    ("percentage", "fault"),
    [
        ("100%", ""),
        (f"{'0' * 5000}1%", ""),
        ("+7%", ""),
        ("-1%", "value -1 must be between"),
        (f"{2**63 - 1}%", f"value {2**63 - 1} must be between"),
        (f"{-(2**63)}%", f"value {-(2**63)} must be between"),
        (f"{2**63}%", "out of range"),
        (f"{'9' * 5000}%", "out of range"),
        ("--1%", "invalid syntax"),
        ("%", "invalid syntax"),
    ],
)
def test_percentages_of_a_pool_are_64_bits_wide(percentage: str, fault: str) -> None:
    text = pool._fault(percentage)  # noqa: SLF001 - its rule
    assert fault in text if fault else not text


@pytest.mark.parametrize(("guest", "requested"), [("0", None), ("1", "1")])
def test_no_memory_is_requested_for_none(guest: str, requested: str | None) -> None:
    draft = Draft({"spec": {"domain": {"memory": {"guest": guest}}}})
    defaults._request_memory(draft, ClusterConfig())  # noqa: SLF001 - its rule
    assert draft.get("spec", "domain", "resources", "requests", "memory") == requested


@pytest.mark.parametrize(("label", "name"), [("mine", "pinned"), ("other", "live"), ("", "live")])
def test_a_recorded_revision_counts_while_its_label_is_the_matcher(label: str, name: str) -> None:
    def instancetype(cpus: int) -> dict[str, Any]:
        return {"cpu": {"guest": cpus}, "memory": {"guest": "1Gi"}}

    kind = {"apiVersion": "instancetype.kubevirt.io/v1beta1", "kind": "VirtualMachineInstancetype"}
    metadata = {"name": "mine", "namespace": "prod"}
    labels = {"instancetype.kubevirt.io/object-name": label} if label else {}
    revision = {
        "apiVersion": "apps/v1", "kind": "ControllerRevision",
        "metadata": {"name": "r", "namespace": "prod", "labels": labels}, "revision": 1,
        "data": {**kind, "metadata": metadata, "spec": instancetype(3)},
    }  # fmt: skip
    machine = {
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine",
        "metadata": {"name": "v", "namespace": "prod"},
        "spec": {
            "runStrategy": "Halted",
            "instancetype": {"name": "mine", "kind": "VirtualMachineInstancetype"},
            "template": {"spec": {"domain": {"devices": {}}}},
        },
        "status": {"instancetypeRef": {"controllerRevisionRef": {"name": "r"}}},
    }  # fmt: skip
    live = {**kind, "metadata": metadata, "spec": instancetype(2)}
    (found,) = (
        resource
        for resource in render([machine, live, revision]).resources
        if resource["kind"] == "VirtualMachine"
    )
    sockets = found["spec"]["template"]["spec"]["domain"]["cpu"]["sockets"]
    assert sockets == {"pinned": 3, "live": 2}[name]


@pytest.mark.parametrize("text", ["a\t\nb", "a \nb", "a\n\tb\t\nc"])
def test_blanks_before_a_line_break_are_quoted(text: str) -> None:
    assert writer.dump({"k": text}).startswith('k: "')


def test_counts_of_vcpus_are_32_bits_wide() -> None:
    template: dict[str, Any] = {
        "spec": {"domain": {"cpu": {"sockets": 1 << 16, "cores": 1 << 16, "threads": 1}}}
    }
    preference = {"cpu": {"preferredCPUTopology": "any"}, "requirements": {"cpu": {"guest": 1}}}
    assert requirements.check(template, None, preference) is not None
    template["spec"]["domain"]["cpu"]["cores"] = (1 << 16) + 1
    assert requirements.check(template, None, preference) is None
    draft = Draft({"spec": {"domain": {"resources": {"limits": {"cpu": str((1 << 32) + 3)}}}}})
    defaults._fill_topology(draft)  # noqa: SLF001 - its rule
    assert draft.tree["spec"]["domain"]["cpu"]["sockets"] == 3


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("a", "Always"),
        ("a:latest", "Always"),
        ("a:1", "IfNotPresent"),
        ("a@sha256:0", "IfNotPresent"),
        ("host:5000/a", "IfNotPresent"),  # the port counts as a tag
        ("host:5000/a:latest", "Always"),
    ],
)
def test_what_is_pulled_always(image: str, policy: str) -> None:
    draft = Draft({"spec": {"volumes": [{"name": "a", "containerDisk": {"image": image}}]}})
    defaults._fill_pull_policies(draft)  # noqa: SLF001 - its rule
    assert draft.tree["spec"]["volumes"][0]["containerDisk"]["imagePullPolicy"] == policy


def test_new_files_have_the_permissions_of_the_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    real = os.open

    def opened(path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
        if str(path).endswith(".tmp"):
            modes.append(mode)
        return real(path, flags, mode, **more)

    monkeypatch.setattr(os, "open", opened)
    before = os.umask(0o027)
    try:
        writing.write_atomic(str(tmp_path / "new"), "x")
        (tmp_path / "secret").touch(0o600)
        writing.write_atomic(str(tmp_path / "secret"), "x")
    finally:
        os.umask(before)
    assert modes == [0o666, 0o600]
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_a_name_that_begins_like_the_repository_is_not_inside() -> None:
    assert inside("/repo", ["/repo"])
    assert inside("/repo/a", ["/repo/"])
    assert not inside("/repo-evil", ["/repo"])
    assert not inside("/repo-evil/a", ["/repo"])
    assert inside("/any", ["/"])
