"""A value that is not filled in yet is no reason to find fault with what is right once it is."""

from collections.abc import Iterator
from typing import Any

from hypothesis import assume, event, given
from hypothesis import strategies as st

from render import Settings, render
from render.diagnostics import codes
from render.model import tree
from render.model.fieldpath import FieldPath
from tests.support.generated import MACHINES, repositories

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


@given(repositories(), st.data())
def test_a_placeholder_brings_no_other_error(objects: list[Json], data: st.DataObject) -> None:
    settings = Settings(preset_conflicts="override")
    before = [one.location.index for one in render(objects, settings).diagnostics if one.is_error]
    fine = [
        index
        for index, one in enumerate(objects)
        if one["metadata"].get("name") in MACHINES
        and index not in before
        and one["apiVersion"] in _CURRENT
    ]
    assume(fine)
    index = data.draw(st.sampled_from(fine))
    body = tree.copy(objects[index])
    path = data.draw(
        st.sampled_from([one for one in leaves(body) if one[0] in ("metadata", "spec")])
    )
    value = tree.get(body, *path)
    partly = f"${{X}}{value[1:]}" if isinstance(value, str) else "${X}-${Y}"
    tree.put(body, path, data.draw(st.sampled_from(["${X}", "{{ x }}", partly])))
    found = render([*objects[:index], body, *objects[index + 1 :]], settings).diagnostics
    mine = {one.code for one in found if one.is_error and one.location.index == index}
    event("left open" if mine else "free text")
    assert mine <= {codes.PLACEHOLDER.number}, [one for one in found if one.is_error]
