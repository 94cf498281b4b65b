"""The bundled catalogue of cluster instancetypes and preferences."""

import pytest

from render import Settings, render, schemas
from render.model.release import NEWEST, VERSIONS, Version, tag
from render.resolve import bundled

CLASSES = {
    "VirtualMachineClusterInstancetype": "instancetype.VirtualMachineInstancetypeSpec",
    "VirtualMachineClusterPreference": "instancetype.VirtualMachinePreferenceSpec",
}


@pytest.mark.parametrize("release", VERSIONS)
@pytest.mark.parametrize("kind", bundled.KINDS)
def test_every_spec_is_what_a_typed_round_trip_makes_of_it(release: Version, kind: str) -> None:
    specs = {name: spec for (of, name), spec in bundled.definitions(release).items() if of == kind}
    assert len(specs) > 30
    for name, spec in specs.items():
        assert schemas.decode(spec, CLASSES[kind], release) == (spec, []), name


def vm(**spec: object) -> dict[str, object]:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            "template": {"spec": {"domain": {"devices": {}}}},
            **spec,
        },
    }


def test_using_a_bundled_object_is_said() -> None:
    rendered = render([vm(instancetype={"name": "u1.medium"})])
    assert [d.code for d in rendered.diagnostics] == ["VR209"]
    assert tag(NEWEST) in rendered.diagnostics[0].message
    assert rendered.resources[0]["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "4Gi"}


def test_without_the_catalogue_the_name_is_unknown() -> None:
    rendered = render([vm(instancetype={"name": "u1.medium"})], Settings(catalog="none"))
    assert [d.code for d in rendered.diagnostics] == ["VR201"]
    assert rendered.resources == []


def test_an_object_of_the_input_wins_and_a_difference_is_said() -> None:
    own = bundled.body(NEWEST, "VirtualMachineClusterInstancetype", "u1.medium")
    own = {**own, "spec": {"cpu": {"guest": 7}, "memory": {"guest": "4Gi"}}}
    rendered = render([own, vm(instancetype={"name": "u1.medium"})])
    assert [d.code for d in rendered.diagnostics] == ["VR210"]
    assert rendered.resources[1]["spec"]["template"]["spec"]["domain"]["cpu"]["sockets"] == 7
