"""Odd input through the library: each a clear finding, never a traceback, never a quiet wrong answer."""

import re
from typing import Any

import pytest

from render import Settings, render
from render.model import tree

Json = dict[str, Any]


def vm(metadata: Json | None = None, template: Json | None = None, **spec: Any) -> Json:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": metadata or {"name": "web", "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            "template": {"spec": {"domain": {"devices": {}}, **(template or {})}},
            **spec,
        },
    }


def obj(
    kind: str, spec: Any, api_version: str = "instancetype.kubevirt.io/v1beta1", **more: Any
) -> Json:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "it", "namespace": "prod", **more},
        "spec": spec,
    }


def revision(data: Any) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": "r", "namespace": "prod"},
        "revision": 1,
        "data": data,
    }


def codes(*objects: Json, **settings: Any) -> list[str]:
    found = render(objects, Settings(**settings)).diagnostics
    return [diagnostic.code for diagnostic in found if diagnostic.severity != "info"]


PINNED = {"name": "it", "kind": "VirtualMachineInstancetype", "revisionName": "r"}
STORED = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineInstancetype",
    "metadata": {"name": "it"},
}


@pytest.mark.parametrize(
    "data",
    [
        {**STORED, "spec": {"cpu": {"guest": "seven"}, "memory": {"guest": "1Gi"}}},
        {**STORED, "spec": {"cpu": {"guest": 7}, "memory": {"guest": "7GB"}}},
        {**STORED, "spec": "text"},
        {**STORED, "kind": ["x"]},
        {**STORED, "apiVersion": 5},
        "text",
        None,
    ],
)
def test_a_revision_that_go_cannot_decode_is_unfit(data: Any) -> None:
    assert codes(vm(instancetype=PINNED), revision(data)) == ["VR208"]


def test_unknown_fields_of_a_revision_are_ignored_as_go_does() -> None:
    spec = {"cpu": {"guest": 1, "later": 1}, "memory": {"guest": "1Gi"}}
    assert codes(vm(instancetype=PINNED), revision({**STORED, "spec": spec})) == []


@pytest.mark.parametrize(
    ("body", "meant"),
    [
        (vm() | {"kind": "virtualmachine"}, "did you mean VirtualMachine?"),
        (vm() | {"apiVersion": "kubevirt.io"}, "write apiVersion: kubevirt.io/v1"),
        (vm() | {"apiVersion": "kubevirt.io/v2"}, "write apiVersion: kubevirt.io/v1"),
        (obj("VirtualMachineInstanceType", {}), "did you mean VirtualMachineInstancetype?"),
        (
            obj("VirtualMachineInstancetype", {}, "instancetype.kubevirt.io/v1"),
            "write apiVersion: instancetype.kubevirt.io/v1beta1",
        ),
        (
            obj("VirtualMachineInstancetype", {}, "kubevirt.io/v1"),
            "write apiVersion: instancetype.kubevirt.io/v1beta1",
        ),
        (obj("DataVolume", {}, "kubevirt.io/v1"), "write apiVersion: cdi.kubevirt.io/v1beta1"),
        (
            obj("VirtualMachinePool", {}, "kubevirt.io/v1"),
            "write apiVersion: pool.kubevirt.io/v1beta1",
        ),
        (
            vm() | {"apiVersion": "instancetype.kubevirt.io/v1beta1"},
            "write apiVersion: kubevirt.io/v1",
        ),
    ],
)
def test_a_kind_that_kubevirt_does_not_serve_is_an_error(body: Json, meant: str) -> None:
    (found,) = render([body]).diagnostics
    assert (found.code, found.severity, found.help) == ("VR123", "error", meant)


@pytest.mark.parametrize(
    ("kind", "version", "cure"),
    [
        ("DataVolumes", "v1beta1", "did you mean DataVolume?"),
        ("Datavolume", "v1beta1", "did you mean DataVolume?"),
        ("DataVolume", "v1", "write apiVersion: cdi.kubevirt.io/v1beta1"),
    ],
)
def test_a_kind_that_is_one_of_cdi_but_for_a_slip_is_a_warning(
    kind: str, version: str, cure: str
) -> None:
    body = obj(kind, {}, f"cdi.kubevirt.io/{version}")
    (found,) = [entry for entry in render([body]).diagnostics if entry.code == "VR123"]
    assert (found.severity, found.help) == ("warning", cure)


@pytest.mark.parametrize(
    ("kind", "api_version"),
    [
        ("VolumeCloneSource", "cdi.kubevirt.io/v1beta1"),
        ("CDIConfig", "cdi.kubevirt.io/v1alpha1"),
        ("CDI", "cdi.kubevirt.io/v1"),
        ("OvirtVolumePopulator", "cdi.kubevirt.io/v1beta1"),
        ("DataVolumeList", "cdi.kubevirt.io/v1beta1"),
        ("VirtualMachineInstanceMigration", "kubevirt.io/v1"),
        ("VirtualMachine", "virtualization.deckhouse.io/v1alpha2"),
    ],
)
def test_other_kinds_pass(kind: str, api_version: str) -> None:
    body = obj(kind, {}, api_version)
    rendered = render([body])
    assert (rendered.resources, rendered.diagnostics) == ([body], ())


def test_an_empty_node_selector_conflicts_but_writes_nothing() -> None:
    empty = obj(
        "VirtualMachineInstancetype",
        {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}, "nodeSelector": {}},
    )
    matcher = {"name": "it", "kind": "VirtualMachineInstancetype"}
    rendered = render([empty, vm(instancetype=matcher)])
    assert rendered.diagnostics == ()
    assert "nodeSelector" not in rendered.resources[1]["spec"]["template"]["spec"]
    assert codes(empty, vm(template={"nodeSelector": {"a": "b"}}, instancetype=matcher)) == [
        "VR301"
    ]


@pytest.mark.parametrize("guest", [1, 2])
def test_a_spread_ratio_of_zero_crashes_expand_only_where_it_divides(guest: int) -> None:
    objects = (
        obj("VirtualMachineInstancetype", {"cpu": {"guest": guest}, "memory": {"guest": "1Gi"}}),
        obj(
            "VirtualMachinePreference",
            {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 0}}},
        ),
        vm(
            instancetype={"name": "it", "kind": "VirtualMachineInstancetype"},
            preference={"name": "it", "kind": "VirtualMachinePreference"},
        ),
    )
    assert codes(*objects, emit="expand") == ([] if guest == 1 else ["VR407"])
    assert codes(*objects) == ["VR407"]


def test_a_generated_name_gives_no_stable_identity() -> None:
    memory = {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}
    body = vm(metadata={"generateName": "web-", "namespace": "prod"}, template=memory)
    rendered = render([body, body], Settings(firmware_uuid="stable"))
    assert [d.code for d in rendered.diagnostics] == ["VR710", "VR710"]
    assert tree.get(rendered.resources[0], "spec", "template", "spec", "domain", "firmware") is None
    (vmi,) = render([body], Settings(emit="vmi")).resources
    assert vmi["metadata"]["generateName"] == "web-"
    assert "name" not in vmi["metadata"]


@pytest.mark.parametrize(
    ("configuration", "code"),
    [
        ({"network": {"defaultNetworkInterface": "foo"}}, "VR707"),
        ({"developerConfiguration": {"cpuAllocationRatio": -1}}, "VR707"),
        ({"developerConfiguration": {"pvcTolerateLessSpaceUpToPercent": 101}}, "VR707"),
    ],
)
def test_a_configuration_that_kubevirt_refuses_leaves_its_defaults(
    configuration: Json, code: str
) -> None:
    configuration = {**configuration, "cpuModel": "Haswell"}
    cluster = obj("KubeVirt", {"configuration": configuration}, "kubevirt.io/v1")
    rendered = render([cluster, vm()], Settings(emit="vmi", admission="off"))
    assert [d.code for d in rendered.diagnostics if d.severity != "info"] == [code]
    assert rendered.resources[1]["spec"]["domain"]["cpu"]["model"] == "host-model"


@pytest.mark.parametrize("architecture", [{"a": "b"}, 5, None, ["arm64"]])
def test_a_strange_status_of_the_cluster_is_not_used(architecture: Any) -> None:
    cluster = obj("KubeVirt", {}, "kubevirt.io/v1") | {
        "status": {"defaultArchitecture": architecture}
    }
    rendered = render([cluster, vm()], Settings(emit="vmi"))
    assert rendered.resources[1]["spec"]["architecture"] == "amd64"


VOLUME = {"volumes": [{"name": "root", "dataVolume": {"name": "it"}}]}
INFERRED = {"inferFromVolume": "root"}


@pytest.mark.parametrize(
    "source",
    [
        obj("PersistentVolumeClaim", {}, "v1", labels=5),
        obj(
            "DataVolume",
            {"source": {"pvc": {"name": "p", "namespace": []}}},
            "cdi.kubevirt.io/v1beta1",
        ),
        obj("DataVolume", {"source": 5, "sourceRef": "x"}, "cdi.kubevirt.io/v1beta1"),
        obj("DataVolume", {"sourceRef": {"kind": ["DataSource"]}}, "cdi.kubevirt.io/v1beta1"),
        obj("DataVolume", "x", "cdi.kubevirt.io/v1beta1"),
    ],
)
def test_odd_objects_on_the_way_of_an_inference_are_read_as_lacking(source: Json) -> None:
    found = codes(vm(template=VOLUME, instancetype=INFERRED), source, admission="off")
    assert found == ["VR205"]


@pytest.mark.parametrize(
    "settings",
    [
        {"emit": "foo"},
        {"kubevirt": "v1.3"},
        {"firmware_uuid": "x"},
        {"namespace": 5},
        {"annotations": "yes"},
        {"stored": True},
        {"defaults": "cluster", "emit": "vmi"},
        {"cluster_config": "x"},
    ],
)
def test_settings_that_the_command_line_refuses_are_refused(settings: Json) -> None:
    rendered = render([vm()], Settings(**settings))
    assert [d.code for d in rendered.diagnostics] == ["VR801"]
    assert rendered.resources == []


@pytest.mark.parametrize(
    "text", ["${X}", "${X:=2Gi}", "${X:-2Gi}", "${X:-}", "a-${X:=b}", "${Y:-${X}}"]
)
def test_a_placeholder_with_a_value_to_fall_back_on_is_one_too(text: str) -> None:
    body = vm({"name": text}, {"domain": {"devices": {}, "memory": {"guest": text}}})
    found = render([body], Settings()).diagnostics
    assert {(diagnostic.code, diagnostic.message) for diagnostic in found} == {
        ("VR115", "${X} is not filled in")
    }
    assert {item.field for item in found} == {
        "metadata.name", "spec.template.spec.domain.memory.guest",
    }  # fmt: skip


UNFILLED = vm(
    {"name": "${X}", "annotations": {"virt-render.dev/ignore.VR424": "not yet"}},
    {
        "domain": {
            "cpu": {"cores": "${CORES}"},
            "memory": {"guest": "{{ size }}Gi"},
            "devices": {
                "disks": [{"name": "root", "disk": {"bus": "ide"}}, {"name": "data", "disk": {}}]
            },
        },
        "volumes": [{"name": "root", "containerDisk": {"image": "{{ image }}"}}],
    },
)


def test_of_a_vm_with_placeholders_the_rest_is_checked() -> None:
    """What is wrong with every value of them is said, and nothing of what may be right with one."""
    found = render([UNFILLED], Settings()).diagnostics
    disks = "spec.template.spec.domain.devices.disks"
    assert {(diagnostic.code, diagnostic.field) for diagnostic in found if diagnostic.code != "VR115"} == {
        ("VR420", f"{disks}[0].disk.bus"), ("VR420", f"{disks}[1].name"),
    }  # fmt: skip
    assert render([UNFILLED], Settings()).resources == []
    volumes = tree.copy(UNFILLED)
    tree.put(volumes, ("spec", "template", "spec", "volumes"), "${VOLUMES}")
    assert {diagnostic.code for diagnostic in render([volumes], Settings()).diagnostics} == {
        "VR115"
    }


@pytest.mark.parametrize("text", ["${{ values.space }}", "Team_{{ space }}"])
def test_no_finding_shows_what_stands_in_for_a_placeholder(text: str) -> None:
    """A namespace is what CDI's own objects get, and where others are looked for; a cure may name a disk."""
    body = vm(
        {"name": "web", "namespace": text},
        {
            "domain": {
                "devices": {"disks": [{"name": "data", "disk": {}}]},
                "memory": {"guest": "1Gi"},
            },
            "volumes": [{"name": "a-${{ values.disk }}", "dataVolume": {"name": "root"}}],
        },
    )
    storage = {"storage": {"resources": {"requests": {"storage": "1Gi"}}}, "source": {"blank": {}}}
    body["spec"]["dataVolumeTemplates"] = [{"metadata": {"name": "root"}, "spec": storage}]
    found = render([body], Settings()).diagnostics
    assert {diagnostic.code for diagnostic in found} == {"VR115", "VR420"}
    words = f"{text[text.index('{') - text.startswith('$') :]} is not filled in"
    assert [d.message for d in found if d.field == "metadata.namespace"] == [words]
    sentences = " ".join(f"{diagnostic.message} {diagnostic.help}" for diagnostic in found)
    assert not re.search(r"values-|-space|team_|a-x", sentences)


@pytest.mark.parametrize("kind", ["labels", "annotations"])
@pytest.mark.parametrize("key", ["${A}", "{{ a }}", "$(A)"])
@pytest.mark.parametrize("path", [("metadata",), ("spec", "template", "metadata")])
def test_a_key_that_is_not_filled_in_hides_nothing(
    path: tuple[str, ...], key: str, kind: str
) -> None:
    body = vm(
        {"name": "web"},
        {"domain": {"devices": {"disks": [{"name": "root", "disk": {"bus": "ide"}}]}}},
    )
    tree.put(body, (*path, kind, key), "b")
    assert {"VR115", "VR420"} <= set(codes(body))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("${A}", False),
        ("da${A}", False),
        ("${A}-${B}", True),
        ("x{{ a }}", True),
        ("da${A}b", True),
    ],
)
def test_a_name_that_is_not_filled_in_may_be_the_one_that_is_meant(name: str, wanted: int) -> None:
    body = tree.copy(UNFILLED)
    volume = {"name": name, "containerDisk": {"image": "x"}}
    tree.put(body, ("spec", "template", "spec", "volumes", 0), volume)
    body["spec"]["template"]["spec"]["domain"]["devices"]["disks"] = [{"name": "data", "disk": {}}]
    found = [diagnostic.code for diagnostic in render([body], Settings()).diagnostics]
    assert found.count("VR420") == wanted


@pytest.mark.parametrize("text", ["${X:2}", "${1:-a}", "${X:=", "$X", "${:=a}"])
def test_other_texts_with_braces_are_none(text: str) -> None:
    memory = {"domain": {"devices": {}, "memory": {"guest": text}}}
    assert "VR115" not in codes(vm(template=memory))


def test_commands_for_the_shell_of_a_guest_are_no_placeholders() -> None:
    probe = {"exec": {"command": ["sh", "-c", "test -e ${HOME:-/root}/${NAME}"]}}
    body = vm(
        template={"domain": {"devices": {}, "memory": {"guest": "1Gi"}}, "readinessProbe": probe}
    )
    assert codes(body) == []


@pytest.mark.parametrize(
    ("kind", "api", "refusing", "instead"),
    [
        ("VirtualMachineClone", "clone.kubevirt.io/v1beta1", ["1.4"], "v1alpha1"),
        ("VirtualMachineClone", "clone.kubevirt.io/v1alpha1", [], ""),
        ("VirtualMachineExport", "export.kubevirt.io/v1alpha1", ["1.9"], "v1"),
        ("VirtualMachineExport", "export.kubevirt.io/v1beta1", [], ""),
        (
            "VirtualMachineExport",
            "export.kubevirt.io/v1",
            ["1.4", "1.5", "1.6", "1.7", "1.8"],
            "v1beta1",
        ),
    ],
)
def test_api_versions_are_those_of_the_release(
    kind: str, api: str, refusing: list[str], instead: str
) -> None:
    for release in ("1.4", "1.5", "1.6", "1.7", "1.8", "1.9"):
        found = render([obj(kind, {}, api)], Settings(kubevirt=release)).diagnostics
        codes = [(diagnostic.code, diagnostic.field) for diagnostic in found]
        assert codes == ([("VR123", "apiVersion")] if release in refusing else []), release
        assert all(diagnostic.help.endswith(f"/{instead}") for diagnostic in found)


@pytest.mark.parametrize("release", ["1.4", "1.5", "1.6", "1.7", "1.8", "1.9"])
def test_pools_of_a_later_version_are_refused_before_it(release: str) -> None:
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": {"a": "b"}},
        "virtualMachineTemplate": {
            "metadata": {"labels": {"a": "b"}},
            "spec": vm(template={"domain": {"devices": {}, "memory": {"guest": "1Gi"}}})["spec"],
        },
    }
    for version, first in (("v1alpha1", "1.4"), ("v1beta1", "1.7")):
        pool = obj("VirtualMachinePool", spec, f"pool.kubevirt.io/{version}")
        assert ("VR123" in codes(pool, kubevirt=release)) is (release < first)
