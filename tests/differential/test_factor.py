"""Rendering backwards: what `factor` makes of the recorded VMs starts what they start."""

from typing import Any

import pytest

from render import Settings, factor, render
from render.diff import compare
from render.model import tree
from render.model.edits import edited
from render.model.kinds import INSTANCETYPE, PREFERENCE
from render.model.release import VERSIONS, Version, minor
from render.model.types import VMI_TYPE
from render.resolve import bundled
from tests.support.goldens import FAMILIES, cases

Json = dict[str, Any]
NAMES = frozenset(
    f"kubevirt.io/{scope}{kind}-name"
    for scope in ("", "cluster-")
    for kind in ("instancetype", "preference")
)
EVERY = 12
SETTINGS = Settings(annotations=False)


def rewritten(objects: list[Json], settings: Settings = SETTINGS) -> list[Json]:
    """*objects* with the edits that factor proposes, and its definitions."""
    factoring = factor(objects, settings)
    bodies = [
        edited(
            body,
            [
                edit
                for machine in factoring.machines
                if machine.index == index
                for edit in machine.edits
            ],
        )
        for index, body in enumerate(objects)
    ]
    return [*bodies, *(definition.body for definition in factoring.definitions)]


Vmis = dict[tuple[str, str], Json]


def vmis(
    objects: list[Json], settings: Settings = SETTINGS
) -> tuple[Vmis, set[tuple[str, str, str]]]:
    """What each VM starts, without the names of definitions, and the errors there are about each."""
    rendered = render(objects, settings._replace(emit="vmi", preset_conflicts="override"))
    started = {}
    for body in rendered.resources:
        if body["kind"] == "VirtualMachineInstance":
            copy = tree.copy(body)
            annotations = copy["metadata"].get("annotations", {})
            copy["metadata"]["annotations"] = {
                key: value for key, value in annotations.items() if key not in NAMES
            }
            started[body["metadata"].get("namespace", ""), body["metadata"].get("name", "")] = copy
    errors = {
        (str(diagnostic.resource), diagnostic.code, diagnostic.message)
        for diagnostic in rendered.diagnostics
        if diagnostic.is_error
    }
    return started, errors


def same(before: Vmis, after: Vmis) -> bool:
    """Whether nothing differs but the notation of a quantity."""
    return before.keys() == after.keys() and all(
        compare.same(before[key], after[key], VMI_TYPE) for key in before
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_the_vmi_stays_what_it_is(family: str) -> None:
    for case in cases(family)[::EVERY]:
        objects = tree.copy(case["objects"])
        after = rewritten(objects)
        if after == objects:
            continue
        before = vmis(objects)
        now = vmis(after)
        assert same(before[0], now[0]), case["id"]
        assert now[1] <= before[1], case["id"]
        assert rewritten(after) == after, case["id"]


def test_many_recorded_vms_find_something() -> None:
    found = sum(
        bool(machine.edits)
        for family in ("admission-clean", "admission-disks")
        for case in cases(family)[::EVERY]
        for machine in factor(case["objects"]).machines
    )
    assert found > 5


def machine(instancetype: str, preference: str) -> Json:
    """A VM that writes nothing that a definition brings, with every kind of device that a preference is about."""
    matchers = {"instancetype": instancetype, "preference": preference}
    volumes: list[Json] = [
        {"name": "root", "containerDisk": {"image": "registry/disk"}},
        {"name": "tools", "dataVolume": {"name": "tools"}},
        {"name": "raw", "persistentVolumeClaim": {"claimName": "raw"}},
    ]
    devices: Json = {
        "disks": [
            {"name": "root", "disk": {}},
            {"name": "tools", "cdrom": {}},
            {"name": "raw", "lun": {}},
        ],
        "interfaces": [{"name": "pods", "masquerade": {}}],
        "inputs": [{"name": "tablet", "type": "tablet"}],
        "sound": {"name": "sound"},
    }
    networks: list[Json] = [{"name": "pods", "pod": {}}]
    spec = {"domain": {"devices": devices}, "networks": networks, "volumes": volumes}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "vm", "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            **{word: {"name": name} for word, name in matchers.items() if name},
            "template": {"spec": spec},
        },
    }


@pytest.mark.parametrize("release", [VERSIONS[0], VERSIONS[-1]], ids=minor)
def test_vms_that_were_rendered_from_the_catalogue_find_the_same_content_again(
    release: Version,
) -> None:
    """What preferences require is no content: it reaches no VM."""
    shipped = bundled.definitions(release)
    contents = {
        key: {field: value for field, value in spec.items() if field != "requirements"}
        for key, spec in shipped.items()
    }
    kinds = INSTANCETYPE.cluster, PREFERENCE.cluster
    sizes, preferences = (
        [name for kind, name in shipped if kind == each_kind] for each_kind in kinds
    )
    pairs = [
        *((size, "") for size in sizes),
        *((size, preferences[i * 7 % len(preferences)]) for i, size in enumerate(sizes)),
        *(("u1.2xlarge", preference) for preference in preferences),
    ]
    checked = 0
    for names in pairs:
        settings = Settings(kubevirt=minor(release), annotations=False)
        plain = render([machine(*names)], settings)
        if any(diagnostic.is_error for diagnostic in plain.diagnostics):
            continue  # too small for the preference, or of another architecture
        (found,) = factor(plain.resources, settings).machines
        chosen = [found.instancetype, found.preference]
        for kind, name, definition in zip(kinds, names, chosen, strict=True):
            assert bool(definition) == bool(name), names
            if definition is not None:
                assert definition.home == "bundled", names
                assert contents[kind, definition.name] == contents[kind, name], names
        checked += 1
    assert checked > 100
