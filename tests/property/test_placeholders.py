"""A value that is not filled in yet is no reason to find fault with what is right once it is."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from hypothesis import assume, event, given
from hypothesis import strategies as st

from render import Settings, render
from render.diagnostics import codes
from render.model import tree
from render.model.fieldpath import FieldPath
from tests.support import goldens

Json = dict[str, Any]
_CURRENT = ("kubevirt.io/v1", "kubevirt.io/v1alpha3")


def leaves(value: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Where a text, a number or a boolean stands."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    elif value is not None:
        yield path


@cache
def admitted() -> list[tuple[list[Json], int]]:
    """The objects of each recorded case, and which of them is a VM that KubeVirt admits and starts."""
    found: list[tuple[list[Json], int]] = []
    for family in goldens.FAMILIES:
        for case in goldens.cases(family):
            objects = case["objects"]
            names = {
                (entry.get("namespace"), entry["name"])
                for entry in case["want"]
                if (entry.get("admit") or {}).get("allowed")
                and (entry.get("vmi_admit") or {}).get("allowed", True)
            }
            found += (
                (objects, index)
                for index, body in enumerate(objects)
                if body.get("kind") == "VirtualMachine"
                and body["apiVersion"] in _CURRENT
                and (body["metadata"].get("namespace"), body["metadata"].get("name")) in names
            )
    return found


@given(st.data())
def test_a_placeholder_brings_no_other_error(data: st.DataObject) -> None:
    settings = Settings(preset_conflicts="override")
    objects, index = data.draw(st.sampled_from(admitted()))
    before = render(objects, settings).diagnostics
    assume(not any(found.is_error and found.location.index == index for found in before))
    body = tree.copy(objects[index])
    path = data.draw(
        st.sampled_from([path for path in leaves(body) if path[0] in ("metadata", "spec")])
    )
    value = tree.get(body, *path)
    partly = f"${{X}}{value[1:]}" if isinstance(value, str) else "${X}-${Y}"
    tree.put(body, path, data.draw(st.sampled_from(["${X}", "{{ x }}", partly])))
    diagnostics = render([*objects[:index], body, *objects[index + 1 :]], settings).diagnostics
    errors = [found for found in diagnostics if found.is_error and found.location.index == index]
    event("left open" if errors else "free text")
    assert {error.code for error in errors} <= {codes.PLACEHOLDER.number}, errors
