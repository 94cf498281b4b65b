"""Whatever stands in a manifest, typed normalisation answers, and its answer is a fixed point."""

from functools import cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from render.model import tree, types
from render.model.release import NEWEST
from render.schemas import decode, encode
from tests.support.goldens import FAMILIES, cases

VM = "kubevirt.VirtualMachine"
NAMES = sorted({name for owner in types.type_names() for name in types.fields(owner, NEWEST)})


@cache
def machines() -> list[dict[str, Any]]:
    """Recorded VMs, which are read when a test asks for them: that takes longer than collecting all other tests."""
    return [
        body
        for family in FAMILIES
        for case in cases(family)[::10]
        for body in case["objects"]
        if body["kind"] == "VirtualMachine"
    ]


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["1Gi", "0", "", "010.0.0.1", "1e999999999", "-", "::1"])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner),
    max_leaves=8,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container with each of its keys or indexes."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    inner = [value[key] for key in keys if isinstance(value[key], dict | list)]
    return [(value, key) for key in keys] + [place for child in inner for place in places(child)]


@given(st.deferred(lambda: st.sampled_from(machines())), values, st.data())
def test_any_value_anywhere(machine: dict[str, Any], value: Any, data: st.DataObject) -> None:
    body = tree.copy(machine)
    container, key = data.draw(st.sampled_from(places(body["spec"])))
    container[key] = value
    once, problems = decode(body, VM, NEWEST)
    assert all(problem.path[0] == "spec" and problem.message for problem in problems)
    complete = encode(once, VM, NEWEST)
    if not problems:
        again, later = decode(complete, VM, NEWEST)
        assert later == []
        assert encode(again, VM, NEWEST) == complete


@given(st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), values))
def test_any_mapping_as_any_type(value: dict[str, Any]) -> None:
    for type_name in ("kubevirt.DomainSpec", "kubevirt.Volume", "meta.ObjectMeta"):
        encode(decode(value, type_name, NEWEST)[0], type_name, NEWEST)
