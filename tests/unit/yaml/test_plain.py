"""What the quick reader takes, and does not leave to the other one."""

import pytest

from render.yaml import plain


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: b\nlonger: c\n", {"a": "b", "longer": "c"}),
        ("a:\n  b: c\n  longer: d\ne: f\n", {"a": {"b": "c", "longer": "d"}, "e": "f"}),
        ("a:\n- b: c\n  longer: d\n- e: f\n", {"a": [{"b": "c", "longer": "d"}, {"e": "f"}]}),
        ("a:\n  - b\n  - longer\n", {"a": ["b", "longer"]}),
    ],
)
def test_what_most_manifests_are_made_of(text: str, value: object) -> None:
    read = plain.read(text, 30)
    assert read is not None
    assert read[0] == value


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("a:\n  b:\n    c: d\n", 3),
        ("a:\n- b:\n  - c: d\n", 5),
        ("a:\n- b: []\n", 4),
    ],
)
def test_each_collection_is_a_level_of_nesting(text: str, levels: int) -> None:
    assert plain.read(text, levels) is not None
    assert plain.read(text, levels - 1) is None
