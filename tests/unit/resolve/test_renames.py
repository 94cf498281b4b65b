"""What kustomize renamed is found again by the notes that it leaves on objects."""

from typing import Any

import pytest

from render import Settings, render

NOTES = "internal.config.kubernetes.io/"


def noted(body: Any, *former: tuple[str, str, str], prefixes: str = "") -> Any:
    """*body* with the notes that it was called (kind, namespace, name) before."""
    kinds, namespaces, names = (",".join(column) for column in zip(*former, strict=True))
    notes = {
        f"{NOTES}previousKinds": kinds,
        f"{NOTES}previousNamespaces": namespaces,
        f"{NOTES}previousNames": names,
    }
    if prefixes:
        notes[f"{NOTES}prefixes"] = prefixes
    body["metadata"]["annotations"] = notes
    return body


def instancetype(
    name: str, memory: str = "1Gi", namespace: str = "", kind: str = "VirtualMachineInstancetype"
) -> Any:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": kind,
        "metadata": metadata,
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": memory}},
    }


def machine(name: str = "small", namespace: str = "", **matcher: str) -> Any:
    matcher = {"kind": "VirtualMachineInstancetype", **matcher}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", **({"namespace": namespace} if namespace else {})},
        "spec": {
            "runStrategy": "Always",
            "instancetype": {"name": name, **matcher},
            "template": {"spec": {"domain": {"devices": {}}}},
        },
    }


SMALL = ("VirtualMachineInstancetype", "default", "small")


def memory(*bodies: Any) -> Any:
    """The memory of the VM among *bodies*, or the codes that keep it from having one."""
    rendered = render(bodies, Settings(annotations=False))
    for body in rendered.resources:
        if body["kind"] == "VirtualMachine":
            return body["spec"]["template"]["spec"]["domain"]["memory"]["guest"]
    return [diagnostic.code for diagnostic in rendered.diagnostics if diagnostic.is_error]


def test_a_renamed_instancetype_is_found() -> None:
    assert memory(machine(), noted(instancetype("p-small"), SMALL)) == "1Gi"


def test_a_current_name_wins_over_a_former_one() -> None:
    former = noted(instancetype("p-small", "1Gi"), SMALL)
    assert memory(machine(), former, instancetype("small", "2Gi")) == "2Gi"


def test_a_name_of_the_bundled_catalogue_means_that() -> None:
    cluster = "VirtualMachineClusterInstancetype"
    own = noted(instancetype("p-u1.nano", "3Gi", kind=cluster), (cluster, "default", "u1.nano"))
    assert memory(machine("u1.nano", kind=cluster), own) == "512Mi"


def test_several_steps_are_followed() -> None:
    twice = noted(instancetype("b-a-small"), SMALL, ("VirtualMachineInstancetype", "x", "a-small"))
    assert memory(machine("small"), twice) == "1Gi"
    assert memory(machine("a-small"), twice) == "1Gi"


def test_another_namespace_is_another_object() -> None:
    moved = noted(instancetype("p-small", namespace="test"), SMALL)
    assert memory(machine(namespace="prod"), moved) == ["VR201"]
    assert memory(machine(namespace="test"), moved) == "1Gi"


def test_a_changed_kind_is_followed_too() -> None:
    cluster = "VirtualMachineClusterInstancetype"
    assert memory(machine(), noted(instancetype("p-small", kind=cluster), SMALL)) == ["VR201"]
    namespaced = noted(instancetype("p-small"), (cluster, "default", "small"))
    assert memory(machine(kind=cluster), namespaced) == ["VR201"], "it has a namespace now"
    other = noted(instancetype("small-c", kind=cluster), (cluster, "default", "small"))
    assert memory(machine(kind=cluster), other) == "1Gi"


def test_of_several_the_one_with_the_same_prefix_is_meant() -> None:
    a = noted(instancetype("a-small", "1Gi"), SMALL, prefixes="a-")
    b = noted(instancetype("b-small", "2Gi"), SMALL, prefixes="b-")
    vm = noted(machine(), ("VirtualMachine", "default", "web"), prefixes="b-")
    assert memory(vm, a, b) == "2Gi"
    assert memory(machine(), a, b) == ["VR201"], "nobody can tell which"


def test_a_revision_decides_by_itself() -> None:
    renamed = noted(instancetype("p-small"), SMALL)
    assert memory(machine(revisionName="gone"), renamed) == ["VR207"]


@pytest.mark.parametrize("emit", ["source", "hashed", "revisions"])
def test_matchers_that_stay_have_the_current_name(emit: Any) -> None:
    vm = machine()
    bodies = [vm, noted(instancetype("p-small"), SMALL)]
    rendered = render(bodies, Settings(emit=emit, annotations=False))
    assert not [diagnostic.code for diagnostic in rendered.diagnostics if diagnostic.is_error]
    (found,) = (resource for resource in rendered.resources if resource["kind"] == "VirtualMachine")
    assert found["spec"]["instancetype"]["name"].startswith("p-small")
    assert vm["spec"]["instancetype"]["name"] == "small", "the input stays as it is"


def claim(name: str, namespace: str = "") -> Any:
    labels = {"instancetype.kubevirt.io/default-instancetype": "u1.nano"}
    metadata = {"name": name, "labels": labels, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}


def inferring(source: Any) -> Any:
    vm = machine()
    vm["spec"]["instancetype"] = {"inferFromVolume": "root"}
    vm["spec"]["dataVolumeTemplates"] = [
        {"metadata": {"name": "root"}, "spec": {"source": source, "storage": {}}}
    ]
    vm["spec"]["template"]["spec"]["volumes"] = [{"name": "root", "dataVolume": {"name": "root"}}]
    return vm


def test_inference_follows_names_and_namespaces() -> None:
    before = ("PersistentVolumeClaim", "images", "fedora")
    moved = noted(claim("p-fedora", "prod"), before)
    assert memory(inferring({"pvc": {"namespace": "images", "name": "fedora"}}), moved) == "512Mi"
    assert memory(inferring({"pvc": {"namespace": "prod", "name": "fedora"}}), moved) == "512Mi"
    other = inferring({"pvc": {"namespace": "other", "name": "fedora"}})
    assert memory(other, moved) == ["VR205"]


@pytest.mark.parametrize(
    "notes",
    [
        {f"{NOTES}previousNames": "small"},
        {f"{NOTES}previousNames": 1},
        {f"{NOTES}previousNames": "small,b", f"{NOTES}previousKinds": ""},
        "text",
    ],
)
def test_odd_notes_do_no_harm(notes: Any) -> None:
    odd = instancetype("p-small")
    odd["metadata"]["annotations"] = notes
    assert memory(machine("p-small"), odd) == "1Gi"


def test_the_kind_that_a_matcher_leaves_out_stays_out() -> None:
    cluster = "VirtualMachineClusterInstancetype"
    vm = machine()
    del vm["spec"]["instancetype"]["kind"]
    renamed = noted(instancetype("p-small", kind=cluster), (cluster, "default", "small"))
    rendered = render([vm, renamed], Settings(emit="source", annotations=False))
    assert rendered.resources[0]["spec"]["instancetype"] == {"name": "p-small"}
