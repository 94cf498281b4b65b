"""What the API server refuses of any object's metadata."""

from typing import Any

import pytest

from render import Settings, render
from render.admission.metadata import refusals


@pytest.mark.parametrize(
    ("metadata", "paths"),
    [
        ({"name": "web-1.example"}, []),
        ({"name": "a" * 253}, []),
        ({"name": "a" * 254}, ["name"]),
        ({"name": "-web"}, ["name"]),
        ({"name": "Web"}, ["name"]),
        ({"name": "web server"}, ["name"]),
        ({"generateName": "Web-"}, ["generateName"]),
        ({"generateName": "web-"}, []),
        ({"generateName": "web--"}, []),
        ({"generateName": "web."}, ["generateName"]),
        ({"finalizers": ["kubevirt.io/a", "orphan"]}, []),
        ({"finalizers": ["a", "b c", 1]}, [1]),
        ({"finalizers": ["orphan", "foregroundDeletion"]}, ["finalizers"]),
        ({"finalizers": "a"}, []),
        ({"namespace": "a" * 64}, ["namespace"]),
        ({"namespace": "1"}, []),
        ({"labels": {"a/b/c": ""}}, ["a/b/c"]),
        ({"labels": {"a": "-"}}, ["a"]),
        ({"labels": {"Example.com/a": ""}}, ["Example.com/a"]),
        ({"labels": {"a": 1, "b": None}}, []),
        ({"labels": "a"}, []),
        ({"annotations": {"Example.com/a": "- any text\n"}}, []),
        ({"annotations": {"a" * 64: ""}}, ["a" * 64]),
        ({"annotations": {"a": "b" * (256 * 1024 - 1)}}, []),
        ({"annotations": {"a": "b" * (256 * 1024)}}, ["annotations"]),
        ({"annotations": {"a": "\u00e9" * (128 * 1024)}}, ["annotations"]),
    ],
)
def test_what_is_refused(metadata: dict[str, Any], paths: list[str]) -> None:
    assert [refusal.path[-1] for refusal in refusals(metadata)] == paths


@pytest.mark.parametrize(
    "name",
    ["${NAME}", "$(NAME)", "{{ name }}", "<name>", "@name@", "__NAME__", "__VM_NAME__"],
)
def test_placeholders_are_for_others(name: str) -> None:
    metadata = {"name": name, "namespace": name, "labels": {"a": name}}
    assert list(refusals(metadata)) == []
    found = render([{**vm({}), "metadata": metadata}], Settings(kubevirt="1.9")).diagnostics
    places = [diagnostic.location.path[-1] for diagnostic in found if diagnostic.code == "VR115"]
    assert sorted(places) == ["a", "name", "namespace"]


@pytest.mark.parametrize(
    "text", ["web,1", "VM_A", "web__1", "web@1", "%NAME%", "a<b", "-", "WEB", "\u00fc", "[]", "*"]
)
def test_an_odd_character_is_no_placeholder(text: str) -> None:
    """What no template language fills in, the API server refuses, and so do we."""
    found = list(refusals({"name": text}))
    assert [reference.path for reference in found] == [("metadata", "name")]
    rendered = render([{**vm({}), "metadata": {"name": text}}], Settings(kubevirt="1.9"))
    assert [diagnostic.code for diagnostic in rendered.diagnostics if diagnostic.is_error] == [
        "VR129"
    ]


@pytest.mark.parametrize("value", ["\u00fc", "[]", "a,b", "a=b", "*", "web@1"])
def test_odd_characters_of_labels_are_refused(value: str) -> None:
    assert [refusal.path for refusal in refusals({"labels": {"app": value}})] == [
        ("metadata", "labels", "app")
    ]
    assert [refusal.path[:2] for refusal in refusals({"labels": {value: ""}})] == [
        ("metadata", "labels")
    ]


Json = dict[str, Any]
SMALL: Json = {"domain": {"memory": {"guest": "1Gi"}, "devices": {}}}
SPACED = {"labels": {"app": "a", "a": "b c"}}


def vm(metadata: Json, **spec: Any) -> Json:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            **spec,
            "template": {
                "metadata": metadata,
                "spec": {"domain": {"devices": {}}} if spec else SMALL,
            },
        },
    }


def holder(kind: str, group: str, **spec: Any) -> Json:
    return {
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "a"}}, **spec},
    }


def replica_set(metadata: Json) -> Json:
    template = {"metadata": metadata, "spec": SMALL}
    return holder("VirtualMachineInstanceReplicaSet", "kubevirt.io/v1", template=template)


def pool(metadata: Json, inner: Json) -> Json:
    spec = {"runStrategy": "Always", "template": {"metadata": inner, "spec": SMALL}}
    made = {"metadata": metadata, "spec": spec}
    return holder("VirtualMachinePool", "pool.kubevirt.io/v1beta1", virtualMachineTemplate=made)


KEY: Json = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineInstancetype",
    "metadata": {"name": "small", "namespace": "prod"},
    "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}, "annotations": {"bad key": "x"}},
}
NAMED = {"instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"}}
OK = {"labels": {"app": "a"}}


@pytest.mark.parametrize("kind", ["set", "pool"])
@pytest.mark.parametrize("key", ["labels", "annotations"])
def test_labels_and_annotations_of_pools_are_text(kind: str, key: str) -> None:
    body = replica_set(OK) if kind == "set" else pool(OK, OK)
    body["metadata"][key] = {"on": True, "off": None, "kept": "yes"}
    found = {
        diagnostic.code: diagnostic.location.path
        for diagnostic in render([body], Settings()).diagnostics
    }
    assert found["VR106"] == ("metadata", key, "on")
    assert found["VR114"] == ("metadata", key, "off")
    body["metadata"][key] = {"kept": "yes"}
    assert not any(diagnostic.is_error for diagnostic in render([body], Settings()).diagnostics)


@pytest.mark.parametrize(
    ("objects", "code", "path"),
    [
        ([vm(SPACED)], "VR129", "spec.template.metadata.labels.a"),
        ([vm({}, **NAMED), KEY], "VR129", "spec.template.metadata.annotations.bad key"),
        ([vm({"labels": {"a": "<name>"}})], "VR115", "spec.template.metadata.labels.a"),
        ([vm(OK)], "", ""),
        ([replica_set(SPACED)], "VR441", "spec.template.metadata.labels.a"),
        ([replica_set(OK)], "", ""),
        ([pool(SPACED, OK)], "VR441", "spec.virtualMachineTemplate.metadata.labels.a"),
        (
            [pool(OK, SPACED)],
            "VR441",
            "spec.virtualMachineTemplate.spec.template.metadata.labels.a",
        ),
        ([pool(OK, OK)], "", ""),
    ],
)
@pytest.mark.parametrize("emit", ["vm", "source", "vmi"])
def test_what_a_template_makes_is_an_object_too(
    objects: list[Json], code: str, path: str, emit: Any
) -> None:
    found = [
        diagnostic
        for diagnostic in render(objects, Settings(emit=emit)).diagnostics
        if diagnostic.is_error
    ]
    codes = [
        (diagnostic.code, ".".join(map(str, diagnostic.location.path))) for diagnostic in found
    ]
    assert codes == ([(code, path)] if code else [])
    if code == "VR129":
        assert found[0].help.startswith(
            "the VM is admitted, but KubeVirt refuses its VMI at every start"
        )
    without = render(objects, Settings(admission="off")).diagnostics
    assert not any(diagnostic.is_error for diagnostic in without if diagnostic.code != "VR115")


@pytest.mark.parametrize("kind", ["set", "pool"])
def test_a_list_without_items_counts_in_what_no_mutating_webhook_sees(kind: str) -> None:
    body = replica_set(OK) if kind == "set" else pool(OK, OK)
    template = (
        body["spec"]["template"]
        if kind == "set"
        else body["spec"]["virtualMachineTemplate"]["spec"]["template"]
    )
    interface = {"name": "a", "bridge": {}, "portRanges": []}
    template["spec"] = {
        "domain": {**SMALL["domain"], "devices": {"hostDevices": [], "interfaces": [interface]}},
        "networks": [{"name": "a", "pod": {}}],
    }
    found = render([body], Settings(admission="strict", kubevirt="1.9")).diagnostics
    assert {diagnostic.check for diagnostic in found if diagnostic.is_error} == {
        "devices/host-device-gate",
        "network/port-ranges-gate",
    }
