"""Presets over all recorded cases: what is told, and a rendered VM that stays what it is."""

from functools import cache
from typing import Any

import pytest

from render import Rendered, Settings, render
from render.diagnostics.codes import PRESET_OVERRIDDEN
from tests.support import answers
from tests.support.goldens import cases

FAMILIES = ("preset", "fleet")
APPLIED = "virtualmachinepreset.kubevirt.io/"
OVERRIDE: dict[str, Any] = {"preset_conflicts": "override", "annotations": False}


def is_preset(body: dict[str, Any]) -> bool:
    return str(body["kind"]) == "VirtualMachineInstancePreset"


def with_presets(family: str) -> list[dict[str, Any]]:
    found = [case for case in cases(family) if any(map(is_preset, case["objects"]))]
    assert found
    return found


@cache
def overriding(family: str) -> list[tuple[dict[str, Any], Rendered]]:
    """Each case with what it renders to where the VM wins, which several tests look at."""
    settings = Settings(**OVERRIDE)
    return [(case, render(case["objects"], settings)) for case in with_presets(family)]


def machines_of(rendered: Rendered) -> list[dict[str, Any]]:
    return [body for body in rendered.resources if body["kind"] in answers.KINDS]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_rendered_vm_gives_the_same_vmi_with_its_presets_still_there(family: str) -> None:
    for case, first in overriding(family):
        if not machines_of(first):
            continue
        direct = render(case["objects"], Settings(emit="vmi", **OVERRIDE))
        through = render(first.resources, Settings(emit="vmi", **OVERRIDE))
        for machine in machines_of(first):
            want = answers.result_for(direct, machine)
            assert want is not None
            assert answers.result_for(through, machine) == want, case["id"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("defaults", ["manifest", "cluster"])
def test_rendering_again_changes_nothing_with_or_without_the_presets(
    family: str, defaults: Any
) -> None:
    settings = Settings(defaults=defaults, **OVERRIDE)
    merged = 0
    for case, lenient in overriding(family):
        first = lenient if defaults == "manifest" else render(case["objects"], settings)
        machines = machines_of(first)
        merged += APPLIED in str(machines)
        assert machines_of(render(first.resources, settings)) == machines, case["id"]
        without = [body for body in first.resources if not is_preset(body)]
        assert machines_of(render(without, settings)) == machines, case["id"]
    assert merged


@pytest.mark.parametrize("family", FAMILIES)
def test_what_became_of_vm_and_preset_is_no_error_again(family: str) -> None:
    """Under ``fail`` an output is a fit input: rendering it again finds nothing overridden."""
    for case in with_presets(family):
        first = render(case["objects"], Settings(admission="off"))
        if any(found.is_error for found in first.diagnostics):
            continue
        again = render(first.resources, Settings(admission="off"))
        assert not [found for found in again.diagnostics if found.is_error], case["id"]


@pytest.mark.parametrize("family", FAMILIES)
def test_each_overridden_part_is_an_error_that_names_both_sides(family: str) -> None:
    overridden = 0
    for case, override in overriding(family):
        strict, lenient = (
            [d for d in rendered.diagnostics if d.code == PRESET_OVERRIDDEN.number]
            for rendered in (render(case["objects"], Settings()), override)
        )
        assert [d.message for d in strict] == [d.message for d in lenient]
        overridden += len(strict)
        for found in strict:
            assert found.is_error
            (other,) = found.related
            assert found.location.index is not None
            assert other.location.index is not None
            assert is_preset(case["objects"][other.location.index])
            assert found.location.path[-1] == other.location.path[-1]
        assert not any(found.is_error for found in lenient)
    assert overridden
