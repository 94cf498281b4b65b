"""Templates: checked as VMs whatever fills them in, printed as they are, or filled in."""

from typing import Any

import pytest

from render import Rendered, Settings, render
from render.model import tree
from render.pipeline import templates
from render.pipeline.run import run
from tests.support.pools import SMALL, Json, changed, resources

VMI: Json = {
    "domain": {"devices": {}, "memory": {"guest": "${MEMORY}"}, "cpu": {"cores": "${{CORES}}"}},
    "volumes": [{"name": "${NAME}-root", "containerDisk": {"image": "${IMAGE}"}}],
}
VM: Json = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "${NAME}", "namespace": "elsewhere", "labels": {"${NAME}": "x"}},
    "spec": {"runStrategy": "Always", "template": {"spec": VMI}},
}
PARAMETERS: list[Json] = [
    {"name": "NAME", "generate": "expression", "from": "vm-[a-z0-9]{6}"},
    {"name": "MEMORY", "required": True},
    {"name": "CORES", "value": "2"},
    {"name": "IMAGE", "value": "quay.io/a/b"},
]


def openshift(*objects: Json, parameters: list[Json] = PARAMETERS) -> Json:
    return {
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": {"name": "linux", "namespace": "shop"},
        "labels": {"made-from": "${NAME}"},
        "objects": list(objects),
        "parameters": parameters,
    }


def kubevirt(vm: Json, parameters: list[Json] = PARAMETERS) -> Json:
    return {
        "apiVersion": "template.kubevirt.io/v1beta1",
        "kind": "VirtualMachineTemplate",
        "metadata": {"name": "linux", "namespace": "shop"},
        "spec": {"virtualMachine": vm, "parameters": parameters},
    }


BOTH = pytest.mark.parametrize("make", [openshift, kubevirt])
SPEC = ("spec", "template", "spec")


def above(body: Json) -> str:
    return "objects[0]" if body["kind"] == "Template" else "spec.virtualMachine"


def codes(result: Rendered) -> list[tuple[str, str]]:
    return [(found.code, found.field) for found in result.diagnostics]


@BOTH
@pytest.mark.parametrize("admission", ["full", "strict", "off"])
def test_a_template_is_printed_as_it_is(make: Any, admission: Any) -> None:
    body = make(VM)
    result = render([body], Settings(admission=admission))
    assert result.diagnostics == ()
    assert result.resources == [body]
    assert result.sources == (0,)


@BOTH
def test_what_no_parameter_can_mend_is_found_at_its_line(make: Any) -> None:
    disks = [{"name": "none", "disk": {}}]
    body = make(changed(VM, disks, *SPEC, "domain", "devices", "disks"))
    (found,) = render([body]).diagnostics
    assert found.code == "VR420"
    assert found.field == f"{above(body)}.spec.template.spec.domain.devices.disks[0].name"
    assert found.resource == (body["kind"], "shop", "linux")


@BOTH
def test_the_default_of_a_parameter_counts(make: Any) -> None:
    cores = [
        {**parameter, "value": "0.5"} if parameter["name"] == "CORES" else parameter
        for parameter in PARAMETERS
    ]
    body = make(VM, parameters=cores)
    assert codes(render([body])) == [
        ("VR106", f"{above(body)}.spec.template.spec.domain.cpu.cores")
    ]


@BOTH
def test_what_a_parameter_may_mend_is_no_error(make: Any) -> None:
    limited = changed(VM, "2Gi", *SPEC, "domain", "memory", "maxGuest")
    assert render([make(limited)]).diagnostics == ()
    too_many = changed(VM, "${{MEMORY}}", *SPEC, "volumes")
    assert render([make(too_many)]).diagnostics == ()


@BOTH
@pytest.mark.parametrize(
    ("matcher", "wanted"),
    [
        ({"name": "none"}, ["VR201"]),
        ({"name": "u1.small"}, ["VR301", "VR209"]),
        ({"name": "${NAME}"}, []),
        ({"name": "small", "kind": "VirtualMachineInstancetype"}, []),
        ({"inferFromVolume": "${NAME}-root"}, []),
    ],
)
def test_definitions_that_may_be_elsewhere_are_not_missed(
    make: Any, matcher: Json, wanted: list[str]
) -> None:
    body = make(changed(VM, matcher, "spec", "instancetype"))
    assert sorted(code for code, _ in codes(render([body]))) == sorted(wanted)


INTERFACE: Json = {"name": "default", "masquerade": {}}


@BOTH
@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("networks",), [{"name": "${NAME}", "pod": {}}]),
        (("domain", "devices", "disks"), [{"name": "${NAME}", "disk": {}}]),
        (("domain", "cpu"), {"cores": 2, "maxSockets": 1, "sockets": "${{MEMORY}}"}),
    ],
)
def test_what_refers_to_an_open_field_is_no_error(make: Any, path: Any, value: Any) -> None:
    vm = changed(VM, [INTERFACE], *SPEC, "domain", "devices", "interfaces")
    vm = changed(vm, [{"name": "default", "pod": {}}], *SPEC, "networks")
    assert render([make(changed(vm, value, *SPEC, *path))]).diagnostics == ()


@BOTH
@pytest.mark.parametrize("name", ["${NAME}", "small"])
def test_what_an_unknown_instancetype_may_bring_is_not_missed(make: Any, name: str) -> None:
    vm = changed(VM, {"devices": {}}, *SPEC, "domain")
    matcher = {"name": name, "kind": "VirtualMachineInstancetype"}
    vm = changed(vm, matcher, "spec", "instancetype")
    vm = changed(vm, {"name": "windows.11"}, "spec", "preference")
    found = render([make(vm)]).diagnostics
    assert [diagnostic.code for diagnostic in found if diagnostic.is_error] == []


@BOTH
def test_a_vm_in_a_template_silences_what_is_found_in_it(make: Any) -> None:
    reason = {"virt-render.dev/ignore.VR420.volume": "added later"}
    vm = changed(VM, [{"name": "none", "disk": {}}], *SPEC, "domain", "devices", "disks")
    vm = changed(vm, reason, "metadata", "annotations")
    assert render([make(vm)]).diagnostics == ()
    vm = changed(VM, reason, "metadata", "annotations")
    assert render([make(vm)]).diagnostics == ()
    (idle,) = render([make(vm, parameters=KNOWN)]).diagnostics
    key = "metadata.annotations[virt-render.dev/ignore.VR420.volume]"
    assert (idle.code, idle.field) == ("VR120", f"{above(make(vm))}.{key}")


def test_a_template_brings_its_own_definitions() -> None:
    small = changed(SMALL, {"name": "${NAME}"}, "metadata")
    vm = changed(
        VM, {"name": "${NAME}", "kind": "VirtualMachineInstancetype"}, "spec", "instancetype"
    )
    found = codes(render([openshift(small, vm)]))
    assert "VR301" in [code for code, _ in found]
    flawed = changed(small, {"cpu": {"guest": 1, "cores": 2}}, "spec")
    assert ("VR105", "objects[0].spec.cpu.cores") in codes(render([openshift(flawed)]))


def test_what_the_input_has_too_is_no_duplicate() -> None:
    assert render([SMALL, openshift(SMALL)]).diagnostics == ()
    assert "VR103" in [code for code, _ in codes(render([openshift(SMALL, SMALL)]))]


@BOTH
def test_settings_beside_the_input_stand_beside_it(make: Any) -> None:
    volume = {"name": "root", "hostDisk": {"path": "/x", "type": "Disk"}}
    body = make(changed(VM, [volume], *SPEC, "volumes"))
    settings = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
        "spec": {},
    }
    result = run(resources(body), Settings(catalog=[settings]))
    (found,) = [diagnostic for diagnostic in result.diagnostics if diagnostic.code == "VR426"]
    (other,) = found.related
    assert (found.location.index, other.location.index) == (0, 1)


@pytest.mark.parametrize("others", [(), (SMALL,)])
def test_a_release_that_nobody_named_is_assumed_in_a_template_too(others: tuple[Json, ...]) -> None:
    """A gate that only some releases have may be the one that is meant."""
    folder = [{"name": "shared", "virtiofs": {}}]
    volume = {"name": "shared", "persistentVolumeClaim": {"claimName": "x"}}
    vm = changed(VM, [volume], *SPEC, "volumes")
    vm = changed(vm, folder, *SPEC, "domain", "devices", "filesystems")
    gates = {"developerConfiguration": {"featureGates": ["ExperimentalVirtiofsSupport"]}}
    cluster = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
        "spec": {"configuration": gates},
    }
    found = render([openshift(vm, *others), cluster]).diagnostics
    (diagnostic,) = [diagnostic for diagnostic in found if diagnostic.code == "VR431"]
    assert (diagnostic.severity, "nothing says which release runs" in diagnostic.message) == (
        "warning",
        True,
    )


def test_kubevirt_refuses_references_to_no_parameter() -> None:
    vm = changed(VM, {"name": "${NONE}"}, "metadata")
    (found,) = [d for d in render([kubevirt(vm)]).diagnostics if "undefined" in d.message]
    assert (found.code, found.field) == ("VR115", "spec.virtualMachine.metadata.name")


def test_require_pins_asks_nothing_of_a_template() -> None:
    vm = changed(VM, {"name": "${NAME}"}, "spec", "instancetype")
    assert render([openshift(vm)], Settings(pins="require")).diagnostics == ()


INPUTS = (("NAME", "web"), ("MEMORY", "2Gi"))


@BOTH
def test_a_template_that_is_filled_in_is_what_it_makes(make: Any) -> None:
    result = render([make(VM), SMALL], Settings(parameters=INPUTS))
    assert result.diagnostics == ()
    assert result.sources == (None, 1)
    body = result.resources[0]
    assert (body["kind"], body["metadata"]["name"]) == ("VirtualMachine", "web")
    assert "namespace" not in body["metadata"]
    assert body["metadata"]["labels"]["web"] == "x"
    spec = tree.get(body, *SPEC)
    assert spec["domain"]["memory"]["guest"] == "2Gi"
    assert spec["domain"]["cpu"]["cores"] == 2
    assert spec["volumes"][0] == {"name": "web-root", "containerDisk": {"image": "quay.io/a/b"}}
    if make is openshift:
        assert body["metadata"]["labels"]["made-from"] == "web"


def test_findings_about_what_was_made_stand_in_the_template() -> None:
    body = openshift(changed(VM, {"name": "none"}, "spec", "instancetype"))
    (found,) = render([SMALL, body], Settings(parameters=INPUTS)).diagnostics
    assert (found.code, found.field) == ("VR201", "objects[0].spec.instancetype.name")
    assert found.location.index == 1


def test_a_template_without_the_parameter_stays() -> None:
    other = {**openshift(SMALL, parameters=[{"name": "OTHER"}]), "labels": {}}
    result = render([other], Settings(parameters=INPUTS))
    assert [d.message for d in result.diagnostics] == [
        "no template of the input has a parameter MEMORY",
        "no template of the input has a parameter NAME",
    ]
    assert result.diagnostics[0].help == "there are OTHER"
    assert result.resources == [other]


def test_a_parameter_without_a_template_is_told_what_it_is_for() -> None:
    (found,) = render([SMALL], Settings(parameters=(("memory", "2Gi"),))).diagnostics
    assert found.message == "no template of the input has a parameter memory"
    assert found.help.endswith("a chart takes values from a file: --values FILE")


@BOTH
def test_what_is_required_or_generated_is_asked_for(make: Any) -> None:
    result = render([make(VM)], Settings(parameters=(("IMAGE", "x"),)))
    assert [d.code for d in result.diagnostics] == ["VR126", "VR126"]
    generated, required = result.diagnostics
    assert "NAME" in generated.message
    assert "generated" in generated.message
    assert "--set MEMORY=VALUE" in required.help
    assert result.resources == []


def test_provenance_names_the_template() -> None:
    small = changed(SMALL, {"name": "small"}, "metadata")
    vm = changed(
        VM, {"name": "small", "kind": "VirtualMachineInstancetype"}, "spec", "instancetype"
    )
    vm = changed(vm, {"devices": {}}, *SPEC, "domain")
    rendered = run(resources(SMALL, openshift(small, vm)), Settings(parameters=INPUTS), traced=True)
    assert {item.position for item in rendered.provenance if not item.decider} == {1}


def test_what_templates_make_has_places_of_its_own() -> None:
    """Findings are told apart by the position of their object."""
    inputs = resources(openshift(VM, changed(VM, "two", "metadata", "name")), openshift(VM), SMALL)
    settings = Settings(parameters=(("NAME", "web"), ("MEMORY", "1Gi")))
    made, parts, faults = templates.expand(inputs, settings)
    assert faults == []
    assert [item.index for item in made] == [*sorted(parts), 2]
    assert len({item.index for item in (*inputs, *made)}) == len(inputs) + len(parts)


KNOWN: list[Json] = [
    {"name": name, "value": value}
    for name, value in (
        ("NAME", "web"),
        ("MEMORY", "1Gi"),
        ("CORES", "2"),
        ("IMAGE", "quay.io/a/b"),
    )
]


@BOTH
@pytest.mark.parametrize(
    ("value", "path"),
    [
        (3, ("metadata",)),
        ("${IMAGE}", ("metadata",)),
        (["a"], ("metadata",)),
        ("text", ("metadata", "labels")),
        ("${IMAGE}", ("metadata", "annotations")),
        (3, ("spec",)),
        ("${IMAGE}", ("spec", "template")),
        (["a"], ("spec", "template", "metadata")),
        ({}, ("spec", "dataVolumeTemplates")),
    ],
)
def test_what_is_no_mapping_in_a_template_is_of_a_wrong_type(
    make: Any, value: Any, path: Any
) -> None:
    result = render([make(changed(VM, value, *path), parameters=KNOWN)])
    assert {found.code for found in result.diagnostics if found.severity != "info"} == {"VR106"}
    filled = Settings(parameters=(("NAME", "x"),))
    assert render([make(changed(VM, "${NAME}", *path), parameters=KNOWN)], filled).resources == []
