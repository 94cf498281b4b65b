"""The index of presets says what asking every selector says."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from render.model.apimachinery.selectors import SelectorError, selects
from render.model.release import NEWEST
from render.model.resource import from_body
from render.presets import Preset, index

KEYS = st.sampled_from(["app", "os", "kubevirt.io/size"])
VALUES = st.sampled_from(["", "1", "2"])
LABELS = st.dictionaries(KEYS, VALUES)
EXPRESSIONS = st.one_of(
    st.fixed_dictionaries(
        {
            "key": KEYS,
            "operator": st.sampled_from(["In", "NotIn"]),
            "values": st.lists(VALUES, min_size=1),
        }
    ),
    st.fixed_dictionaries({"key": KEYS, "operator": st.sampled_from(["Exists", "DoesNotExist"])}),
)
SELECTORS = st.fixed_dictionaries(
    {}, optional={"matchLabels": LABELS, "matchExpressions": st.lists(EXPRESSIONS, max_size=2)}
)
INVALID = st.sampled_from(
    [
        {"matchLabels": {"a b": "1"}},
        {"matchLabels": {"os": "1 "}},
        {"matchExpressions": [{"key": "os", "operator": "Is"}]},
    ]
)
SPECS = st.fixed_dictionaries({}, optional={"selector": SELECTORS})


def presets(specs: list[dict[str, Any]]) -> list[Preset]:
    return [
        Preset(from_body({"metadata": {"name": f"n{number}"}}, number), spec, {})
        for number, spec in enumerate(specs)
    ]


def fault(preset: Preset) -> str:
    try:
        selects(preset.spec.get("selector") or {}, {}, NEWEST)
    except SelectorError as error:
        return str(error)
    return ""


@given(st.lists(SPECS, max_size=8), st.lists(LABELS, min_size=1, max_size=4))
def test_the_presets_that_select(
    specs: list[dict[str, Any]], machines: list[dict[str, str]]
) -> None:
    every = presets(specs)
    made = index(every, NEWEST)
    assert made.invalid is None
    for labels in machines:
        requested = [
            item for item in every if selects(item.spec.get("selector") or {}, labels, NEWEST)
        ]
        assert made.select(labels) == requested


@given(
    st.lists(SPECS, max_size=3),
    st.lists(st.one_of(SPECS, INVALID.map(lambda item: {"selector": item})), max_size=4),
    INVALID,
    LABELS,
)
def test_the_first_invalid_selector_is_told(
    valid: list[dict[str, Any]],
    mixed: list[dict[str, Any]],
    invalid: dict[str, Any],
    labels: dict[str, str],
) -> None:
    every = presets([*valid, *mixed, {"selector": invalid}])
    made = index(every, NEWEST)
    preset, cause = made.invalid or (None, None)
    assert (preset, cause and cause.message) == next(
        (item, fault(item)) for item in every if fault(item)
    )
    assert made.select(labels) == []
